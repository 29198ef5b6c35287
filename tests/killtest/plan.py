"""All that will be done to the workers and to what they rely on, derived from the seed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import cycle, islice
from random import Random
from typing import Any

from tests.killtest.arguments import Arguments
from tests.killtest.points import MOST_PASSAGES, POINTS

SHARE_AT_POINTS = 0.6  # of all kills; the others come at random moments
LONGEST_LIFE = 3.0  # seconds that a worker serves before it is killed at a random moment
KILLS_PER_CUT = 8
KILLS_PER_SIMULATOR_CRASH = 40

GENERATE_CONTENT = "generate_content"  # how Gemini is asked when its calls cannot be resumed
INTERACTIONS = "interactions"


class Interruption(Enum):
    """What happens to what the workers rely on."""

    TIDY_RESTART = "restarts the database tidily"
    IMMEDIATE_RESTART = "restarts the database immediately"
    POSTMASTER_KILLED = "kills the database's first process"
    CONNECTION_CUT = "cuts a worker's connection"
    SIMULATOR_KILLED = "kills the simulator"


CRASHES = (Interruption.TIDY_RESTART, Interruption.IMMEDIATE_RESTART, Interruption.POSTMASTER_KILLED)


@dataclass(frozen=True, slots=True)
class Kill:
    """The death of one worker.

    Arguments:
        point: where, or None for a random moment.
        passage: at which passage of the point.
        life: seconds of serving before a random moment, or before the signal to drain.
        gemini: how the worker asks Gemini until then.
    """

    point: str | None
    passage: int
    life: float
    gemini: str


# What a question's mark has the simulator do: the call it is about, how often, and the fault.
FAULTS: Mapping[str, tuple[str, int | None, dict[str, Any]]] = {
    "slow": ("start", None, {"pending_for_s": 4}),
    "limited": ("start", 1, {"shape": "rate_limit_header", "wait_s": 1}),
    "overloaded": ("start", 1, {"shape": "overloaded"}),
    "bad gateway": ("start", 1, {"shape": "html_502"}),
    "dropped": ("start", 1, {"drop": "after_accept"}),
    "cut": ("start", 1, {"cut_body": 20}),
    "unseen": ("poll", 2, {"shape": "html_502"}),
    "out of sight": ("poll", 1, {"drop": "after_accept"}),
}
SLOW, PLAIN = "slow", ""
SHARE_SLOW, SHARE_FAULTY = 0.25, 0.25


@dataclass(frozen=True, slots=True)
class Plan:
    """Arguments:
    kills: in the order in which workers are given them.
    interruptions: by the number of kills after which they come.
    questions: all that are asked, each once.
    """

    kills: Sequence[Kill]
    interruptions: Mapping[int, Sequence[Interruption]]
    questions: Sequence[str]
    script: Sequence[dict[str, Any]]


def make(arguments: Arguments, systems: int) -> Plan:
    """Make the plan.

    Arguments:
        systems: how many AI systems each question goes to.
    """
    random = Random(arguments.seed)
    marks = [_mark(random) for _ in range(-(-arguments.jobs // systems))]
    return Plan(
        kills=_kills(arguments.kills, random),
        interruptions=_interruptions(arguments, random),
        questions=[question(number, mark) for number, mark in enumerate(marks, start=1)],
        script=[_step(number, mark) for number, mark in enumerate(marks, start=1) if mark],
    )


def _kills(count: int, random: Random) -> list[Kill]:
    """Every point at least once where there are kills enough."""
    at_points = min(count, max(len(POINTS), round(count * SHARE_AT_POINTS)))
    points: list[str | None] = [*islice(cycle(POINTS), at_points), *[None] * (count - at_points)]
    random.shuffle(points)
    return [_kill(point, random) for point in points]


def _kill(point: str | None, random: Random) -> Kill:
    return Kill(
        point=point,
        passage=random.randint(1, MOST_PASSAGES[point]) if point else 0,
        life=random.uniform(0, LONGEST_LIFE),
        gemini=random.choice((INTERACTIONS, GENERATE_CONTENT)),
    )


def _interruptions(arguments: Arguments, random: Random) -> dict[int, list[Interruption]]:
    planned: dict[int, list[Interruption]] = defaultdict(list)
    for number, crash in enumerate(islice(cycle(CRASHES), arguments.crashes), start=1):
        planned[round(number * arguments.kills / (arguments.crashes + 1))].append(crash)
    for _ in range(arguments.kills // KILLS_PER_CUT):
        planned[random.randrange(arguments.kills)].append(Interruption.CONNECTION_CUT)
    for _ in range(arguments.kills // KILLS_PER_SIMULATOR_CRASH):
        planned[random.randrange(arguments.kills)].append(Interruption.SIMULATOR_KILLED)
    return planned


def _mark(random: Random) -> str:
    dice = random.random()
    if dice < SHARE_SLOW:
        return SLOW
    faulty = [mark for mark in FAULTS if mark != SLOW]
    return random.choice(faulty) if dice < SHARE_SLOW + SHARE_FAULTY else PLAIN


def question(number: int, mark: str = PLAIN) -> str:
    """A question that no other is equal to."""
    text = f"Which espresso machine is best for an office of {number} people?"
    return f"{text} ({mark} {number})" if mark else text


def _step(number: int, mark: str) -> dict[str, Any]:
    call, times, do = FAULTS[mark]
    return {"call": call, "times": times, "prompt_contains": f"({mark} {number})", "do": do}
