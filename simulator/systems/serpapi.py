"""SerpApi, at whose one address several engines are asked: a search is a GET with the key in its query.

A search that was made within the hour is given again, free and under its id, to the same account, unless it
says `no_cache=true`. Only searches that succeed are charged.
"""

import re
import secrets
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby
from typing import ClassVar

from simulator import answers
from simulator.answers import Answer, Block, Kind
from simulator.calls import Call, State
from simulator.counts import Usage
from simulator.dice import dice, digest
from simulator.exchange import JSON, Reply, Request, json_reply
from simulator.pages import Page
from simulator.systems.base import MOST_CHARACTERS, Asked, Route, System, answer_to, ending, field_names, valid_key

BASE = "/serpapi"
STARTS = (f"{BASE}/search.json", f"{BASE}/search")
ARCHIVE = f"{BASE}/searches/"
NOT_ECHOED = field_names("api_key async no_cache output")
EVERY_ENGINE = NOT_ECHOED | field_names("engine q zero_trace json_restrictor")
PLAN_SEARCHES, HOURLY_SEARCHES = 5_000, 1_000
EMPTY = "{} hasn't returned any results for this query."


BOLD = re.compile(r"\*\*(.+?)\*\*")

Entry = Callable[[Block], JSON]
"""A block's sentences as one snippet with what it rests on."""


def error(status: int, message: str) -> Reply:
    return json_reply({"error": message}, status)


def _over_throughput(hint: str = "") -> Reply:
    return error(429, f"Your account is over its hourly throughput limit of {HOURLY_SEARCHES} searches.{hint}")


def _out_of_searches(wait_s: float) -> Reply:
    return error(429, "Your account has run out of searches.")


def _expired(wait_s: float) -> Reply:
    return error(410, "The search has expired and was deleted from the archive.")


class SerpApi(System):
    """One engine. Several of them share paths, key, archive and account."""

    prefix = f"{BASE}/"
    engine: ClassVar[str]
    site: ClassVar[str]
    """In the words of error messages."""
    engine_fields: ClassVar[frozenset[str]] = frozenset()
    """What it takes besides `EVERY_ENGINE`."""

    own_endings = ("no_results", "status_error")
    own_errors: ClassVar[Mapping[str, Callable[[float], Reply]]] = {
        "out_of_searches": _out_of_searches,
        "throughput": lambda wait_s: _over_throughput(),
        "expired": _expired,
    }
    free_endings = ("failed", "status_error")

    # an engine's own

    @abstractmethod
    def parameters(self, asked: Mapping[str, str]) -> JSON:
        """How the search's parameters are given back."""

    @abstractmethod
    def result(self, call: Call, answer: Answer) -> JSON:
        """The fields of a result, from an answer."""

    @abstractmethod
    def site_url(self, call: Call) -> str:
        """Where the same could be seen by a person."""

    # requests

    def route(self, request: Request) -> Route | None:
        if request.method != "GET":
            return None
        if request.path in STARTS:
            return Route("start") if request.parameters().get("engine") == self.engine else None
        if request.path == f"{BASE}/account.json":
            return Route("account")
        return _archive_route(request)

    def key(self, request: Request) -> str:
        return request.parameters().get("api_key", "")

    def asked(self, request: Request) -> Asked:
        asked = request.parameters()
        told = {name: value for name, value in asked.items() if name not in NOT_ECHOED}
        account = digest(self.key(request), 16)
        return Asked(
            prompt=told.get("q", ""),
            body=told,
            background=asked.get("async") == "true",
            cache=digest(f"{account} {sorted(told.items())}", 32),
            fresh=asked.get("no_cache") == "true",
        )

    def refusal(self, request: Request) -> Reply | None:
        asked = request.parameters()
        for name in asked:
            if name not in EVERY_ENGINE | self.engine_fields:
                return error(400, f"Unsupported `{name}` parameter.")
        if not asked.get("q", "").strip():
            return error(400, "Missing query `q` parameter.")
        if asked.get("async") == asked.get("no_cache") == "true":
            return error(400, "The parameters `async` and `no_cache` cannot be used together.")
        if len(asked["q"]) > MOST_CHARACTERS:
            return error(400, "The query `q` is too long.")
        return None

    # bodies

    def new_id(self) -> str:
        return secrets.token_hex(12)

    def unfinished(self, call: Call, state: State, request: Request) -> JSON:
        return {
            "search_metadata": self._metadata(call, request, "Processing"),
            "search_parameters": self.parameters(call.request),
        }

    def finished(self, call: Call, request: Request) -> JSON:
        ordered = ending(call, self._endings())
        if ordered is None:
            ordered = self.result(call, answer_to(call))
        status = "Error" if call.shape in self.free_endings else "Success"
        metadata = self._metadata(call, request, status) | self._timing(call)
        return {"search_metadata": metadata, "search_parameters": self.parameters(call.request), **ordered}

    def final_status(self, call: Call) -> int:
        return 503 if call.shape == "status_error" else 200

    def _metadata(self, call: Call, request: Request, status: str) -> JSON:
        return {
            "id": call.id,
            "status": status,
            "json_endpoint": f"{request.origin()}{ARCHIVE}{call.id}.json",
            "created_at": _time(call.created_at),
        }

    def _timing(self, call: Call) -> JSON:
        ended_at = call.due_at or call.created_at
        return {
            "processed_at": _time(call.created_at),
            f"{self.engine}_url": self.site_url(call),
            "total_time_taken": round(ended_at - call.created_at, 2),
        }

    def account(self, request: Request, usage: Usage) -> Reply:
        """Tells the key, as the real one does: a reader that shows this body shows the key."""
        left = max(0, PLAN_SEARCHES - usage.total)
        return self.reply(
            {
                "account_id": "0123456789abcdef01234567",
                "api_key": self.key(request),
                "account_email": "somebody@simulator.example",
                "account_status": "Active",
                "plan_id": "developer",
                "plan_name": "Developer Plan",
                "searches_per_month": PLAN_SEARCHES,
                "plan_searches_left": left,
                "extra_credits": 0,
                "total_searches_left": left,
                "this_month_usage": usage.total,
                "this_hour_searches": usage.last_hour,
                "last_hour_searches": usage.last_hour,
                "account_rate_limit_per_hour": HOURLY_SEARCHES,
            }
        )

    def other(self, request: Request) -> Reply:
        """A path of the archive with more than a key in its query."""
        too_many = next(name for name in request.parameters() if name != "api_key")
        return error(400, f"Unsupported `{too_many}` parameter.")

    # errors

    def bad_key(self, key: str) -> Reply:
        return error(401, "Invalid API key. Your API key should be here: https://serpapi.com/manage-api-key")

    def unknown_call(self, call_id: str) -> Reply:
        return error(404, f"The search {call_id} was not found.")

    def unknown_path(self, request: Request) -> Reply:
        """Also what no engine has taken."""
        if request.path not in STARTS:
            return error(404, "The requested page was not found.")
        if not valid_key(self.key(request)):
            return self.bad_key(self.key(request))
        return error(400, f"Unsupported `{request.parameters().get('engine', 'google')}` search engine.")

    def rate_limited(self, hint: str) -> Reply:
        return _over_throughput(hint)

    def no_money(self) -> Reply:
        return _out_of_searches(0)

    def overloaded(self) -> Reply:
        return error(503, "Something went wrong on our side. Please try again later.")

    # endings to order

    def _endings(self) -> Mapping[str, Callable[[Call], JSON]]:
        return {
            "failed": self._failed,
            "status_error": self._failed,
            "refusal": lambda call: self.result(call, _saying(answers.REFUSAL)),
            "incomplete": self._incomplete,
            "blocked": lambda call: {},
            "no_text": self._no_text,
            "no_results": lambda call: {"error": EMPTY.format(self.site)},
            "hostile": lambda call: self.result(call, answers.HOSTILE),
            "no_citations": lambda call: self.result(call, answer_to(call, searches=False)),
            "odd_citations": lambda call: self.result(call, answers.ODD),
        }

    def _failed(self, call: Call) -> JSON:
        return {"error": "No valid results came for this search. Please try again later."}

    def _incomplete(self, call: Call) -> JSON:
        """Nothing tells that a text was cut off here but its end."""
        answer = answer_to(call)
        first = answer.blocks[0].sentences[0]
        cut = answers.Sentence(first.text[: len(first.text) // 2], first.cites)
        return self.result(call, Answer((Block(Kind.PARAGRAPH, (cut,)),), answer.pages))

    def _no_text(self, call: Call) -> JSON:
        """Pages were found, and nothing was said about them."""
        return {"text_blocks": [], "references": references(answer_to(call).pages)}


def _archive_route(request: Request) -> Route | None:
    """One path for all engines' searches, which takes a key and nothing else."""
    head, _, name = request.path.partition(ARCHIVE)
    call_id, _, form = name.partition(".")
    if head or not call_id or form != "json":
        return None
    return Route("poll", call_id) if set(request.query) <= {"api_key"} else Route("other")


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _saying(text: str) -> Answer:
    return Answer((Block(Kind.PARAGRAPH, (answers.Sentence(text),)),))


# what results are made of


def text_blocks(blocks: Iterable[Block], entry: Entry, heading: JSON) -> Iterator[JSON]:
    """`heading`: what an engine adds to each."""
    for kind, group in groupby(blocks, key=lambda block: block.kind):
        if kind is Kind.ITEM:
            yield {"type": "list", "list": [entry(block) for block in group]}
            continue
        for block in group:
            yield (
                {"type": "heading", **entry(block), **heading}
                if kind is Kind.HEADING
                else {
                    "type": "paragraph",
                    **entry(block),
                }
            )


def snippet(block: Block, ends: str = "") -> JSON:
    """Without marks for bold, which are told beside it. `ends` takes the place of the last full stop."""
    text = " ".join(sentence.text for sentence in block.sentences)
    made = {
        "snippet": BOLD.sub(r"\1", text.removesuffix(".") + ends if ends else text),
        "snippet_highlighted_words": BOLD.findall(text),
        "reference_indexes": cited(block),
    }
    return {name: value for name, value in made.items() if value}


def cited(block: Block) -> list[int]:
    return list(dict.fromkeys(page for sentence in block.sentences for page in sentence.cites))


def references(pages: Sequence[Page]) -> list[JSON]:
    """All that the search found, whether a sentence rests on it or not."""
    return [_reference(page, index) for index, page in enumerate(pages)]


def _reference(page: Page, index: int) -> JSON:
    found = {"title": page.title, "link": page.url, "snippet": page.snippet, "source": source(page)}
    return {"index": index} | {name: value for name, value in found.items() if value}


def source(page: Page) -> str:
    """A site's name as it shows itself."""
    return page.domain.removesuffix(".example").capitalize()


def rows(call: Call, answer: Answer) -> list[list[str]]:
    """Brands and their strengths, for the answers that have a table."""
    first = [block.sentences[0].text for block in answer.blocks if block.kind is Kind.ITEM]
    said = [(match.group(1), text[match.end() :].strip(" .")) for text in first if (match := BOLD.match(text))]
    chance = dice(call.seed, call.system, call.prompt, call.sample, "table")
    return [list(pair) for pair in said] if len(said) > 1 and chance.random() < 0.4 else []
