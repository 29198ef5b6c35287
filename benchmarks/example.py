"""The example: 8 questions to 4 AI systems that take their time, asked by 8 seats, beside the best that 8 could do."""

from __future__ import annotations

import time

from benchmarks.frame.durations import list_schedule
from benchmarks.frame.found import Found, Measured, Requirement, Table
from benchmarks.frame.queues import Queue
from benchmarks.frame.world import World

TITLE = "An example: 8 questions, 4 AI systems"
SAYS = (
    "A check of 8 questions to ChatGPT, Perplexity, Copilot and Gemini, with 8 seats. Every call takes as long as one "
    "of its system has been seen to take, but a twentieth of that, and holds its seat for as long: as if no system let "
    "itself be asked now and looked after later. (With those that do, and all five real ones do, a call in hand takes "
    "no seat; see *Waiting*.)",
    "*One after the other* is the sum of the calls, which is what a web request or a plain loop would take. The bound "
    "is what 8 seats need that take the same calls in the same order and lose no time in between (Graham's list "
    "scheduling).",
)
PROMPTS, SYSTEMS, SEATS = 8, ("chatgpt", "perplexity", "copilot", "gemini"), 8
SCALE = 1 / 20
PICK_UP = 0.015  # seconds, which the requirement grants
MOST = 1.05
LOOK = 0.005  # seconds


def run(world: World) -> Found:
    queue = world.ours()
    rounds = [_round(queue, f"{world.seed}.{number}") for number in range(world.rounds)]
    what = ("first answer", "all answers", "bound of all, for the same calls", "one after the other")
    first, last, bound, each = (
        Measured(name, values) for name, values in zip(what, zip(*rounds, strict=True), strict=True)
    )
    granted = Measured("", [value + PICK_UP for value in bound.values])
    required = Requirement.at_most("all answers ÷ (bound + 15 ms to pick up)", last.over(granted), MOST)
    return Found(TITLE, SAYS, [Table("s", [first, last, bound, each], to=bound, digits=2)], [required])


def _round(queue: Queue, seed: str) -> tuple[float, float, float, float]:
    """Seconds from the COMMIT of the check to its first answer and to its last; then the bound, and the sum."""
    with queue.working(variables={"BENCH_SCALE": str(SCALE), "BENCH_SEED": seed}) as work:
        queue.hand("one")
        work.until(1)
        queue.settle()
        before = int(queue.hand("done"))
        committing = float(queue.hand("ask", prompts=PROMPTS, systems=list(SYSTEMS)))
        first = _until(queue, before + 1)
        last = _until(queue, before + PROMPTS * len(SYSTEMS))
        seconds = [stamp.seconds for stamp in work.until(1 + PROMPTS * len(SYSTEMS))[1:]]
    return first - committing, last - committing, list_schedule(seconds, SEATS), sum(seconds)


def _until(queue: Queue, answers: int) -> float:
    """The moment at which so many answers are kept."""
    while int(queue.hand("done")) < answers:
        time.sleep(LOOK)
    return time.monotonic()
