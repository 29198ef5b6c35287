"""Faults to order: a list of steps, each saying which calls it catches and what is done to them.

    [{"system": "chatgpt", "call": "start", "after": 2, "times": 1, "do": {"drop": "after_accept"}},
     {"system": "perplexity", "call": "poll", "times": null, "prompt_contains": "espresso",
      "do": {"shape": "html_502"}}]

A call is caught by the first step that fits it and is neither used up nor still skipping. Besides starts and
polls, steps catch `redirect` (a link of Gemini's that is followed) and `other` (model lists, an account's state).
`delay_s`, `pending_for_s` and `trickle` are real seconds: `--speed` does not touch them.
"""

import threading
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from simulator.exchange import JSON

INSTEAD_SHAPES = (
    "rate_limit_header",
    "rate_limit_ms",
    "rate_limit_date",
    "rate_limit_message",
    "no_money",
    "bad_key",
    "html_502",
    "html_401",
    "overloaded",
)
"""Answered in place of the work: nothing is accepted, nothing charged."""

BODY_SHAPES = ("truncated", "empty")
"""The work is accepted and charged; its reply arrives unusable under a 200."""

ENDING_SHAPES = (
    "failed",
    "refusal",
    "incomplete",
    "blocked",
    "no_text",
    "hostile",
    "no_citations",
    "odd_citations",
)
"""The call is accepted, runs its time and ends so."""

SHAPES = INSTEAD_SHAPES + BODY_SHAPES + ENDING_SHAPES
"""What every system has. Some have shapes of their own besides, which only a step for that system may order."""

NAME_A_WAIT = ("rate_limit_", "quota_minute", "quota_day")
"""How the shapes begin that take a `wait_s`."""

DROPS = ("before_accept", "after_accept")
CALLS = ("start", "poll", "redirect", "other")
ACTIONS = ("respond", "drop", "delay_s", "cut_body", "trickle", "pending_for_s", "finish_as", "shape")


class ScriptError(ValueError):
    """Says where in the script, and what was expected there."""


@dataclass(frozen=True)
class Response:
    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = ""
    """A string is sent as it is, anything else as JSON."""


@dataclass(frozen=True)
class Do:
    """Exactly one of these is set; none of them is what happens without a script."""

    respond: Response | None = None
    drop: str | None = None
    delay_s: float = 0.0
    cut_body: int | None = None
    trickle: float | None = None
    holds: bool = False
    pending_for_s: float | None = None
    """Read only when `holds`: None is for ever."""
    finish_as: JSON | None = None
    shape: str | None = None
    wait_s: float | None = None
    """With a shape of a limit: the wait that it names."""


NORMALLY = Do()


@dataclass
class Step:
    do: Do
    raw: JSON
    call: str
    system: str | None = None
    """None: whichever."""
    prompt_contains: str | None = None
    skips_left: int = 0
    times_left: int | None = 1
    """None: until a reset."""

    def fits(self, system: str, call: str, prompt: str) -> bool:
        return (
            self.call == call
            and self.system in (None, system)
            and (self.prompt_contains is None or self.prompt_contains in prompt)
            and self.times_left != 0
        )

    def catch(self) -> bool:
        if self.skips_left:
            self.skips_left -= 1
            return False
        if self.times_left is not None:
            self.times_left -= 1
        return True


class Script:
    def __init__(self, steps: Iterable[Step] = ()) -> None:
        self._steps = list(steps)
        self._lock = threading.Lock()

    def add(self, steps: Iterable[Step]) -> None:
        with self._lock:
            self._steps.extend(steps)

    def clear(self) -> None:
        with self._lock:
            self._steps.clear()

    def take(self, system: str, call: str, prompt: str) -> Do:
        with self._lock:
            for step in self._steps:
                if step.fits(system, call, prompt) and step.catch():
                    return step.do
        return NORMALLY

    def as_json(self) -> list[JSON]:
        with self._lock:
            return [{**step.raw, "times": step.times_left, "after": step.skips_left} for step in self._steps]


# reading


def read_script(raw: Any, systems: Mapping[str, Collection[str]]) -> list[Step]:
    """`systems`: the shapes of each."""
    if not isinstance(raw, list):
        raise ScriptError("a script is a JSON list of steps")
    return [_step(item, f"step {number}", systems) for number, item in enumerate(raw, start=1)]


def _step(raw: Any, where: str, systems: Mapping[str, Collection[str]]) -> Step:
    _fields(raw, where, ("system", "call", "times", "after", "prompt_contains", "do"))
    system, contains = raw.get("system"), raw.get("prompt_contains")
    if system is not None:
        _one_of(system, f"{where}: system", tuple(systems))
    if contains is not None and not isinstance(contains, str):
        raise ScriptError(f"{where}: prompt_contains is a string")
    do = _do(raw.get("do"), f"{where}: do", SHAPES if system is None else systems[system])
    call = _one_of(raw.get("call"), f"{where}: call", CALLS)
    if call not in ("start", "poll") and (do.holds or do.finish_as is not None or do.shape in ENDING_SHAPES):
        raise ScriptError(f"{where}: do: no call is there to be held up or ended")
    return Step(
        do=do,
        raw=raw,
        call=call,
        system=system,
        prompt_contains=contains,
        skips_left=_count(raw.get("after", 0), f"{where}: after"),
        times_left=None if raw.get("times", 1) is None else _count(raw.get("times", 1), f"{where}: times"),
    )


def _do(raw: Any, where: str, shapes: Collection[str]) -> Do:
    _fields(raw, where, (*ACTIONS, "wait_s"))
    actions = [name for name in ACTIONS if name in raw]
    if len(actions) != 1:
        raise ScriptError(f"{where}: exactly one of {', '.join(ACTIONS)}, not {', '.join(actions) or 'none'}")
    if "wait_s" in raw and not str(raw.get("shape")).startswith(NAME_A_WAIT):
        raise ScriptError(f"{where}: wait_s goes with a shape of a limit only")
    return _action(actions[0], raw, where, shapes)


def _action(name: str, raw: JSON, where: str, shapes: Collection[str]) -> Do:
    value, where_value = raw[name], f"{where}.{name}"
    match name:
        case "respond":
            return Do(respond=_response(value, where_value))
        case "drop":
            return Do(drop=_one_of(value, where_value, DROPS))
        case "delay_s":
            return Do(delay_s=_number(value, where_value))
        case "cut_body":
            return Do(cut_body=_count(value, where_value))
        case "trickle":
            return Do(trickle=_number(value, where_value, above=0.0))
        case "pending_for_s":
            return Do(holds=True, pending_for_s=None if value is None else _number(value, where_value))
        case "finish_as":
            _fields(value, where_value)
            return Do(finish_as=value)
        case _:
            wait_s = _number(raw["wait_s"], f"{where}.wait_s") if "wait_s" in raw else None
            return Do(shape=_one_of(value, where_value, shapes), wait_s=wait_s)


def _response(raw: Any, where: str) -> Response:
    _fields(raw, where, ("status", "headers", "body"))
    status, headers = raw.get("status"), raw.get("headers", {})
    if isinstance(status, bool) or not isinstance(status, int) or not 200 <= status <= 599:
        raise ScriptError(f"{where}.status: a number from 200 to 599")
    if not isinstance(headers, dict) or not all(isinstance(value, str) for value in headers.values()):
        raise ScriptError(f"{where}.headers: an object of strings")
    if any(character in text for pair in headers.items() for text in pair for character in "\r\n"):
        raise ScriptError(f"{where}.headers: no line breaks")
    return Response(status, headers, raw.get("body", ""))


def _fields(raw: Any, where: str, allowed: tuple[str, ...] | None = None) -> None:
    if not isinstance(raw, dict):
        raise ScriptError(f"{where}: an object was expected")
    unknown = [] if allowed is None else [name for name in raw if name not in allowed]
    if unknown:
        raise ScriptError(f"{where}: unknown {', '.join(unknown)}; known are {', '.join(allowed or ())}")


def _one_of(value: Any, where: str, allowed: Collection[str]) -> str:
    if not isinstance(value, str) or value not in allowed:
        raise ScriptError(f"{where}: {value!r} is none of {', '.join(allowed)}")
    return value


def _count(value: Any, where: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ScriptError(f"{where}: a whole number from 0 up, not {value!r}")
    return value


def _number(value: Any, where: str, above: float | None = None) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e9 or value == above:
        raise ScriptError(f"{where}: a number {'above 0' if above is not None else 'from 0 up'}, not {value!r}")
    return float(value)
