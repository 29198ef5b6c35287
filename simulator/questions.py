"""What a question is about: the names in it, its topic, and a few words to speak of it."""

import re
from dataclasses import dataclass

from simulator.topics import ANYTHING, PREFIXES, TOPICS, Topic


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


OPENERS = _listed(
    "a an are is am was were be can could should would will do does did has have had how what which who whom whose "
    "where when why if i i'm im we my our you your the this that these those there it its in on at for from with "
    "and or but not best top good great cheap cheapest better list name tell give recommend suggest show find "
    "compare explain describe help please looking need want any some most many more me us them they near hello hi "
    "than think thinks people about like reliable small big large make makes made use uses used buy between other "
    "over into right popular people's leading worth while vs versus alternative alternatives review reviews "
    "welche welcher welches was wer wie wo warum gibt ist sind die der das ein eine einen für mit und oder beste "
    "besten bester gute guten empfehlen kann ich wir"
)
PLACE_BEFORE = _listed("in near around across within aus nahe")
COMPARES_AFTER = _listed(
    "vs vs. versus or and is any better good worth alternative alternatives review reviews compared oder und"
)
NOT_BRANDS = _listed(
    "AI API B2B CRM CMS DE DIY EAN ERP ETF EU EV FAQ GPS HR I IDE IT LED NAS OLED PC PDF SEO SQL SUV SaaS TV UK URL "
    "US USA USB VPN VPS American Asia Austria Austrian Berlin British Dutch England English Europe European France "
    "French German Germany Italian Italy London Paris Spain Spanish Swiss Switzerland Vienna Monday Tuesday "
    "Wednesday Thursday Friday Saturday Sunday January February March April May June July August September October "
    "November December Christmas Deutschland Europa Österreich Schweiz"
)
GERMAN = _listed("der die das ist sind welche welcher welches für und oder mit beste besten ich wir wie wo")

WORD = re.compile(r"[^\W_][\w'’&.+-]*")


@dataclass(frozen=True)
class Subject:
    brands: tuple[str, ...]
    """Named in the question, in its order."""
    label: str
    """Words for a heading or an address: "espresso machines"."""
    topic: Topic
    competitors: tuple[str, ...]
    """Invented ones, the best known first."""


@dataclass(frozen=True)
class _Word:
    text: str
    opens: bool
    """First of a sentence, where a capital says nothing."""
    joined: bool
    """Only a space lies between this word and the one before."""

    @property
    def capital(self) -> bool:
        return any(character.isupper() for character in self.text[:2])

    @property
    def plain(self) -> str:
        return self.text.lower()


def read_question(prompt: str) -> Subject:
    words = _words(prompt[:2_000])
    brands = _brands(words)
    topic = _topic(words)
    spoken_of = _label(words, brands)
    label = topic.noun if topic is not ANYTHING else spoken_of or _lacking_label(brands)
    competitors = topic.brands if topic is not ANYTHING else _made_up(spoken_of)
    named = {brand.lower() for brand in brands}
    return Subject(brands, label, topic, tuple(name for name in competitors if name.lower() not in named))


def _words(prompt: str) -> list[_Word]:
    words: list[_Word] = []
    end = 0
    for match in WORD.finditer(prompt):
        before = prompt[:end].rstrip()[-1:] + prompt[end : match.start()]
        text = match.group().rstrip(".'’-&")
        opens = not words or before[:1] in (".", "!", "?", ":") or "\n" in before
        words.append(_Word(text, opens, prompt[end : match.start()] == " " and not opens))
        end = match.start() + len(text)
    return words


def _topic(words: list[_Word]) -> Topic:
    """The one with most of its words in the question; the first of equals."""
    said = {word.plain for word in words}
    best = max(TOPICS, key=lambda topic: len(said.intersection(topic.words)))
    return best if said.intersection(best.words) else ANYTHING


def _brands(words: list[_Word]) -> tuple[str, ...]:
    """Runs of capitalised words, but for places, acronyms and the opening of a sentence."""
    german = len({word.plain for word in words} & GERMAN) >= 2
    found: list[str] = []
    for first, run in _runs(words):
        name = re.sub(r"['’]s$", "", " ".join(word.text for word in run))
        if not _is_place(words, first) and not (german and not _stands_out(name)) and name not in found:
            found.append(name)
    return tuple(found[:4])


def _runs(words: list[_Word]) -> list[tuple[int, list[_Word]]]:
    runs: list[tuple[int, list[_Word]]] = []
    for index, word in enumerate(words):
        if not _may_name(words, index):
            continue
        if runs and word.joined and runs[-1][0] + len(runs[-1][1]) == index:
            runs[-1][1].append(word)
        else:
            runs.append((index, [word]))
    return runs


def _may_name(words: list[_Word], index: int) -> bool:
    word = words[index]
    if not word.capital or word.text in NOT_BRANDS or (word.plain in OPENERS and word.opens) or len(word.text) < 2:
        return False
    if not word.opens or _stands_out(word.text):
        return True
    after = words[index + 1] if index + 1 < len(words) else None
    return after is None or after.plain in COMPARES_AFTER or (after.capital and after.joined)


def _is_place(words: list[_Word], first: int) -> bool:
    return first > 0 and words[first - 1].plain in PLACE_BEFORE


def _stands_out(name: str) -> bool:
    """Written as only a name is: inner capitals, digits, signs. In German every noun has its capital."""
    return bool(re.search(r"[a-zß][A-Z]|\d|[&+]|\w\.\w", name))


def _label(words: list[_Word], brands: tuple[str, ...]) -> str:
    """The first words in a row that carry meaning."""
    named = {part for brand in brands for part in brand.split()}
    label: list[str] = []
    for word in words:
        place = word.text in NOT_BRANDS and not word.text.isupper()
        if word.plain not in OPENERS and word.text not in named and not place and len(word.text) > 2:
            label.append(word.text if word.text.isupper() else word.plain)
        elif label:
            break
    return " ".join(label[:3])[:60]


def _lacking_label(brands: tuple[str, ...]) -> str:
    return f"{brands[0]} and similar brands" if brands else "everyday products"


def _made_up(label: str) -> tuple[str, ...]:
    core = max(re.findall(r"[^\W\d_]+", label), key=len, default="works").lower()[:10]
    derived = [prefix + core for prefix in PREFIXES[:3]]
    return tuple(name for pair in zip(derived, ANYTHING.brands, strict=True) for name in pair)
