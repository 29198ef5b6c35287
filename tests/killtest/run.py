"""The test from its beginning to its end. Needs Django set up on the scratch database."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from django.core.management import call_command
from django.db import connection
from django.db.models import Count

from capture import queue
from capture.models import Attempt as AttemptRow
from capture.models import Capture, CaptureJob, Charge, Status, Worker
from capture.providers import registry
from tests.factories import make_check, make_user
from tests.killtest.arguments import Arguments
from tests.killtest.fleet import Death, Fleet
from tests.killtest.ledgers import Attempt, Books, Job
from tests.killtest.logs import read_all, recovery
from tests.killtest.plan import Interruption, Plan
from tests.killtest.server import Server
from tests.killtest.systems import Systems

SYSTEMS = tuple(registry.by_slug)
TICK = 0.02  # seconds
AT_FIRST = 0.3  # of all questions; the others come with the kills
TO_THE_END = 240.0  # seconds for what is open once nobody is killed any more
PER_KILL = 15.0  # seconds on average, after which the killing counts as stuck


class Run:
    """One kill test."""

    def __init__(self, arguments: Arguments, plan: Plan, server: Server, systems: Systems, folder: Path) -> None:
        self._arguments = arguments
        self._plan = plan
        self._server = server
        self._systems = systems
        self._folder = folder
        self._asked: list[tuple[str, str]] = []
        self.deaths: list[Death] = []
        self.interruptions: list[Interruption] = []
        self.requeued = 0

    def run(self) -> Books:
        """Kill as planned, let the workers finish, and open the books."""
        call_command("migrate", verbosity=0)
        self._user = make_user()
        self._enqueue()
        variables = {
            "DATABASE_URL": self._server.url,
            "SIMULATOR_URL": self._systems.url,
            "GEMINI_API_KEY": "killtest",
            "GEMINI_BASE_URL": f"{self._systems.url}/gemini",
        }
        fleet = Fleet(self._arguments.workers, self._folder, variables, iter(self._plan.kills))
        try:
            self._kill(fleet)
            self._finish(fleet)
            untidy = fleet.stop()
        finally:
            fleet.kill_all()
        unasked = fleet.ended_by_themselves
        return self._books([*unasked, *[f"{untidy} did not stop tidily"] * bool(untidy)])

    # -------------------------------------------------------------------------------------------------- killing

    def _kill(self, fleet: Fleet) -> None:
        deadline = time.monotonic() + PER_KILL * self._arguments.kills
        while len(self.deaths) < self._arguments.kills:
            assert time.monotonic() < deadline, "the workers do not die as planned"
            for death in fleet.advance():
                self._interrupt(len(self.deaths))
                self.deaths.append(death)
                self._say()
            self._enqueue()
            time.sleep(TICK)

    def _interrupt(self, kills: int) -> None:
        for interruption in self._plan.interruptions.get(kills, ()):
            match interruption:
                case Interruption.SIMULATOR_KILLED:
                    self._systems.kill()
                case Interruption.CONNECTION_CUT:
                    self._server.cut_a_connection()
                case _ if self._server.can_crash:
                    self._server.crash(interruption)
                    connection.close()  # the test's own, which has broken as well
                case _:
                    continue
            self.interruptions.append(interruption)

    def _enqueue(self) -> None:
        """Ask as much as is to be asked by now, so that there is always work in hand when somebody dies."""
        share = AT_FIRST + (1 - AT_FIRST) * len(self.deaths) / self._arguments.kills
        done = len(self._asked) // len(SYSTEMS)
        questions = self._plan.questions[done : round(share * len(self._plan.questions))]
        if questions:
            make_check(self._user, prompts=tuple(questions), providers=SYSTEMS)
            self._asked += [(system, question) for question in questions for system in SYSTEMS]

    def _finish(self, fleet: Fleet) -> None:
        """Let all come to its end, also what was given up while its call was live: a person asks for that again."""
        self._work_off(fleet)
        self.requeued = queue.requeue(CaptureJob.objects.filter(status=Status.FAILED, remote_id__isnull=False))
        self._work_off(fleet)

    def _work_off(self, fleet: Fleet) -> None:
        deadline = time.monotonic() + TO_THE_END
        while CaptureJob.objects.open().exists() and time.monotonic() < deadline:
            fleet.advance()
            time.sleep(10 * TICK)

    def _say(self) -> None:
        if len(self.deaths) % 10 == 0:
            print(f"{len(self.deaths)} of {self._arguments.kills} killed", file=sys.stderr, flush=True)

    # -------------------------------------------------------------------------------------------------- the books

    def _books(self, untidy: Sequence[str]) -> Books:
        logs = read_all(self._folder)
        return Books(
            asked=self._asked,
            jobs=list(jobs()),
            counts=self._systems.counts(),
            logs=logs,
            connections=self._server.connections_of_workers(),
            serving=Worker.objects.serving().count(),
            untidy=untidy,
            recovery=recovery(logs, [(death.log.name, death.at) for death in self.deaths]),
        )


def jobs() -> Iterator[Job]:
    """The first ledger, job by job."""
    charged = set(Charge.objects.filter(amount__gt=0).values_list("attempt", flat=True))
    captures = dict(_captures())
    for job in CaptureJob.objects.select_related("prompt").prefetch_related("tries").order_by("pk"):
        yield Job(
            id=job.pk,
            system=job.provider,
            question=job.prompt.text,
            status=job.status,
            attempts=[_attempt(row, charged=row.pk in charged) for row in job.tries.all()],
            captures=captures.get((job.prompt_id, job.provider), 0),
            reason=job.reason,
        )


def _captures() -> Iterator[tuple[tuple[int, str], int]]:
    rows = Capture.objects.values_list("prompt", "provider").annotate(count=Count("pk"))
    return (((prompt, provider), count) for prompt, provider, count in rows)


def _attempt(row: AttemptRow, *, charged: bool) -> Attempt:
    return Attempt(id=str(row.pk), outcome=row.outcome, remote_id=row.remote_id, live=row.live, charged=charged)
