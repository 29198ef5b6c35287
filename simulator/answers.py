"""What is said: composed from the question, the same for the same seed, system, prompt and sample.

An answer here is blocks of sentences, each with the pages that it rests on. How a citation looks in the
text, and where its address stands, is a system's own business: it brings the mark, `markdown` places it;
or it has no marks, and tells by `spans` which words rest on which page.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from simulator.dice import dice
from simulator.pages import Page, found
from simulator.questions import Subject, read_question

REFUSAL = "I'm sorry, but I can't help with that."


class Kind(StrEnum):
    HEADING = "## "
    PARAGRAPH = ""
    ITEM = "- "


@dataclass(frozen=True)
class Sentence:
    text: str
    cites: tuple[int, ...] = ()
    """Positions in the answer's pages."""


@dataclass(frozen=True)
class Block:
    kind: Kind
    sentences: tuple[Sentence, ...]


@dataclass(frozen=True)
class Answer:
    blocks: tuple[Block, ...]
    pages: tuple[Page, ...] = ()
    """All that the search found; only some of them are cited."""
    queries: tuple[str, ...] = ()


@dataclass(frozen=True)
class Mark:
    start: int
    end: int
    page: int


@dataclass(frozen=True)
class Span:
    """A sentence that rests on pages."""

    start: int
    end: int
    pages: tuple[int, ...]


def compose(seed: int, system: str, prompt: str, sample: int, *, searches: bool = True) -> Answer:
    chance = dice(seed, system, prompt, sample, "answer")
    subject = read_question(prompt)
    brands = _named(chance, seed, system, subject)
    pages = found(chance, subject.label, brands) if searches else []
    blocks = tuple(_blocks(_Writer(chance, subject, pages), brands))
    return Answer(blocks, tuple(pages), _queries(chance, subject) if searches else ())


def markdown(answer: Answer, mark: Callable[[Page, int], str], gap: str) -> tuple[str, list[Mark]]:
    """The text, and where in it the marks stand, in characters. `mark` gets a page and its number from 1."""
    text, marks = "", []
    for before, sentence in _sentences(answer):
        text += before + sentence.text
        for page in sentence.cites:
            text += gap
            start = len(text)
            text += mark(answer.pages[page], page + 1)
            marks.append(Mark(start, len(text), page))
    return text, marks


def spans(answer: Answer) -> tuple[str, list[Span]]:
    """The text without any marks, and the sentences that rest on pages, in characters."""
    text, found_spans = "", []
    for before, sentence in _sentences(answer):
        text += before
        start = len(text)
        text += sentence.text
        if sentence.cites:
            found_spans.append(Span(start, len(text), sentence.cites))
    return text, found_spans


def _sentences(answer: Answer) -> Iterator[tuple[str, Sentence]]:
    """Each with what stands before it."""
    last: Kind | None = None
    for block in answer.blocks:
        for position, sentence in enumerate(block.sentences):
            yield " " if position else _separator(last, block.kind) + block.kind.value, sentence
        last = block.kind


def _separator(last: Kind | None, kind: Kind) -> str:
    if last is None:
        return ""
    return "\n" if last is kind is Kind.ITEM else "\n\n"


# who is named


def _named(chance: random.Random, seed: int, system: str, subject: Subject) -> list[str]:
    """Two to five brands, the best known of this system first, with some luck. Nobody is in every answer."""
    fame = {name: _fame(seed, system, name, asked_for=True) for name in subject.brands}
    fame |= {name: _fame(seed, system, name, asked_for=False) for name in subject.competitors}
    chosen = [name for name, known in fame.items() if chance.random() < known]
    rest = sorted((name for name in fame if name not in chosen), key=fame.__getitem__, reverse=True)
    chosen += rest[: max(0, 2 - len(chosen))]
    return sorted(chosen, key=lambda name: fame[name] + chance.uniform(-0.3, 0.3), reverse=True)[:5]


def _fame(seed: int, system: str, brand: str, *, asked_for: bool) -> float:
    """The same in all questions, so that figures over many answers mean something."""
    low, high = (0.6, 0.92) if asked_for else (0.2, 0.85)
    return dice(seed, system, brand.lower(), "fame").uniform(low, high)


# what is said


class _Writer:
    """Draws sentences, and pages to rest them on, from one source of chance."""

    def __init__(self, chance: random.Random, subject: Subject, pages: list[Page]) -> None:
        self.chance = chance
        self.subject = subject
        self._pages = len(pages)

    def pick(self, *choices: str) -> str:
        return self.chance.choice(choices)

    def say(self, text: str, cited: float = 0.0) -> Sentence:
        """`cited`: how likely it is that the sentence rests on a page; a few rest on two."""
        if not self._pages or self.chance.random() >= cited:
            return Sentence(text)
        count = 2 if self.chance.random() < 0.15 else 1
        # The last pages found are never cited: what was read is more than what is quoted.
        return Sentence(text, tuple(self.chance.sample(range(max(2, self._pages - 2)), count)))


def _blocks(write: _Writer, brands: list[str]) -> Iterator[Block]:
    yield Block(Kind.PARAGRAPH, tuple(_opening(write, brands)))
    yield Block(Kind.HEADING, (Sentence(write.pick("Options worth a look", "Our short list", "What is recommended")),))
    strengths = write.chance.sample(write.subject.topic.strengths, len(write.subject.topic.strengths))
    for brand, strength in zip(brands, strengths, strict=False):
        yield Block(Kind.ITEM, tuple(_item(write, brand, strength)))
    yield Block(Kind.HEADING, (Sentence(write.pick("How to choose", "What to look at", "Before you decide")),))
    yield Block(Kind.PARAGRAPH, tuple(write.say(text, 0.5) for text in _criteria(write)))
    if write.chance.random() < 0.7:
        yield Block(Kind.PARAGRAPH, (write.say(_closing(write, brands[0])),))


def _opening(write: _Writer, brands: list[str]) -> Iterator[Sentence]:
    label, first, second = write.subject.label, brands[0], brands[1]
    mood = write.chance.random()
    lead = f"{write.subject.topic.emoji} " if mood < 0.35 else "Good question – " if mood < 0.5 else ""
    text = write.pick(
        f"people who compare {label} often end up with {first} or {second}.",
        f"when it comes to {label}, {first} and {second} are named most often.",
        f"recent reviews of {label} put {first} ahead, with {second} close behind.",
    )
    yield write.say(lead + (text if lead.endswith("– ") else text[0].upper() + text[1:]), 0.9)
    yield write.say("The right choice depends on your budget and on how you will use it.")


def _item(write: _Writer, brand: str, strength: str) -> Iterator[Sentence]:
    yield write.say(f"**{brand}** {strength}.", 0.7)
    if write.chance.random() < 0.5:
        concern = write.chance.choice(write.subject.topic.concerns)
        source = write.pick("Some buyers say that it", "A few owners write that it", "Critics note that it")
        yield write.say(f"{source} {concern}.", 0.4)


def _criteria(write: _Writer) -> list[str]:
    criteria = write.subject.topic.criteria
    return write.chance.sample(criteria, write.chance.randint(2, len(criteria)))


def _closing(write: _Writer, first: str) -> str:
    return write.pick(
        f"If you want one name to start with, try {first}.",
        f"In short: {first} is a safe first choice – and à la carte is fine, too. 🙂",
        "Prices change often, so check them again before you buy.",
        "Tell me your budget and I can narrow the list down.",
    )


def _queries(chance: random.Random, subject: Subject) -> tuple[str, ...]:
    label = subject.label
    queries = [f"best {label} 2026", f"{label} comparison test", f"{label} reviews"]
    if subject.brands:
        queries.append(f"{subject.brands[0]} {label} review")
    return tuple(chance.sample(queries, chance.randint(1, 2)))


# what a reader of citations must survive

ODD = Answer(
    blocks=(
        Block(
            Kind.PARAGRAPH,
            (
                Sentence("🧴 Крем Дермалюна хвалят чаще всего.", (0,)),
                Sentence("Café Montelumo – à la carte – comes second. 👩‍👩‍👧‍👦", (1,)),
                Sentence("Both last long.", (0, 1)),
            ),
        ),
        Block(
            Kind.ITEM,
            (Sentence("**Дермалюна** feels light.", (2,)), Sentence("It is the e\u0301lite choice ☕.", (2, 3))),
        ),
        Block(Kind.ITEM, (Sentence("**Peelwood** is cheaper 💶.", (4,)), Sentence("Prices change.", (6,)))),
        Block(Kind.PARAGRAPH, (Sentence("皮肤科医生也推荐它。", (5, 0)), Sentence("No source says so."))),
    ),
    pages=(
        Page(
            "https://www.marktblick.example/creme?srsltid=AfmBOoInvented",
            "marktblick.example",
            "Обзор",
            "",
        ),
        Page("https://WWW.Marktblick.example/creme?utm_source=newsletter", "marktblick.example", "Marktblick", ""),
        Page("https://forumhaus.example/t/крем/4711", "", "", ""),
        Page(
            "https://translate.google.com/translate?u=https://brightreview.example/best&hl=de&sl=en&tl=de&client=sge",
            "brightreview.example",
            "Die beste Creme",
            "",
        ),
        Page("https://www.google.com/goto?url=CAESInvented", "testbench.example", "Our long test", ""),
        Page("https://www.google.com/searchviewer/10?svid=CAwInvented", "google.com", "Peelwood", ""),
        Page("https://www.google.com/search?q=price+of+Peelwood", "google.com", "Prices of Peelwood", ""),
        Page("https://www.marktblick.example/creme?srsltid=AfmBOoAgain", "marktblick.example", "Обзор", ""),
    ),
    queries=("лучший крем", "best cream 2026"),
)
"""One page under several addresses, addresses of a search engine's own, no titles, and text of which a character
takes one to four bytes."""

# what a page must survive

HOSTILE = Answer(
    blocks=(
        Block(Kind.HEADING, (Sentence("<h1 onclick=\"alert('h')\">Results</h1>"),)),
        Block(
            Kind.PARAGRAPH,
            (
                Sentence("<script>alert('answer')</script><img src=x onerror=alert(1)>", (0,)),
                Sentence("[click here](javascript:alert(document.cookie)) and [here](JaVaScRiPt:alert(2)).", (1,)),
                Sentence("![pixel](https://tracker.example/p.gif?u=1) <iframe src='//frame.example'></iframe>"),
            ),
        ),
        Block(
            Kind.PARAGRAPH,
            (
                Sentence(
                    "A zero \x00 byte, a lone surrogate \ud800, an override \u202egnp.exe\u202c, a bell \x07.", (2,)
                ),
                Sentence("Zal̷̢̛̫go, ﷽, 👩‍👩‍👧‍👦, a soft\u00adhyphen, a zero\u200bwidth space, \ufeffa byte order mark."),
                Sentence("'; DROP TABLE capture; -- {{ 7*7 }} {% debug %} ${7*7} %s %(x)s"),
            ),
        ),
        Block(Kind.ITEM, (Sentence("x" * 5_000),)),
        Block(Kind.ITEM, (Sentence('=HYPERLINK("http://sheet.example","open")', (3,)), Sentence("</div></body>"))),
    ),
    pages=(
        Page("javascript:alert('source')", "javascript", "<script>alert('title')</script>", "<b>bold</b>"),
        Page("data:text/html,<script>alert(1)</script>", "data", "\x00", "\x00"),
        Page(
            "https://user:secret@xn--80ak6aa92e.example:99999/ä?q=<>&utm_source=x#\u202e",
            "xn--80ak6aa92e.example",
            "",
            "",
        ),
        Page("//no-scheme.example/" + "a" * 3_000, "no-scheme.example", "t" * 3_000, ""),
        Page("not an address", "", "\ud83d", ""),
    ),
    queries=("<script>alert('query')</script>",),
)
