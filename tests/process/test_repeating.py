"""A check that is repeated by real processes, over two months of a clock of ours."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from capture import schedules
from capture.models import Check, Schedule, Team
from tests.factories import make_check, make_user
from tests.process.running import ROOT, environment

DAYS = 60
BEATS_A_DAY = 12

# Berlin puts its clocks forward on 29 March 2026 at 2 o'clock, the very hour at which the check is to be asked.
FIRST = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOUR = 2


class Repeater:
    """One process of `tests.process.repeating`."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def tell(self, now: datetime) -> None:
        assert self.process.stdin
        self.process.stdin.write(f"{now.isoformat()}\n")
        self.process.stdin.flush()

    def made(self) -> int:
        assert self.process.stdout
        return int(self.process.stdout.readline())


@contextmanager
def repeater() -> Iterator[Repeater]:
    with subprocess.Popen(
        [sys.executable, "-m", "tests.process.repeating"],
        cwd=ROOT,
        env=environment(SIMULATOR_URL="http://127.0.0.1:9"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield Repeater(process)
        finally:
            process.kill()


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("simulated")
def test_sixty_days_of_two_processes_that_are_killed_again_and_again_make_sixty_checks():
    check = make_check(make_user())
    Team.objects.update(time_zone="Europe/Berlin")
    planned = schedules.plan(check, "daily", HOUR)
    assert planned
    first_due = planned.due_after(FIRST)
    Schedule.objects.update(next_due=first_due)
    random = Random(60)
    made = kills = 0

    with ExitStack() as running:
        crew = [running.enter_context(repeater()) for _ in range(2)]
        for beat in range(DAYS * BEATS_A_DAY):
            now = FIRST + beat * timedelta(days=1) / BEATS_A_DAY + timedelta(seconds=random.uniform(0, 60))
            for one in crew:
                one.tell(now)
            if beat % 90 == 50:  # one of them is killed while both are at it, and another is started
                crew[kills % 2].process.kill()
                crew[kills % 2] = running.enter_context(repeater())
                kills += 1
                made += crew[kills % 2].made()
            else:
                made += sum(one.made() for one in crew)

    zone = planned.team.zone
    due = [time.astimezone(zone) for time in schedules_of(planned)]
    assert len(due) == DAYS
    assert [time.date() for time in due] == [due[0].date() + timedelta(day) for day in range(DAYS)]
    assert {(time.hour, time.date().isoformat()) for time in due if time.hour != HOUR} == {(3, "2026-03-29")}
    assert Check.objects.count() == DAYS + 1
    assert kills >= 7
    assert DAYS - kills <= made <= DAYS  # what a process made just before it was killed, it could not tell


def schedules_of(schedule: Schedule) -> list[datetime]:
    due = Check.objects.filter(schedule=schedule, due__isnull=False).order_by("due")
    return [time for time in due.values_list("due", flat=True) if time]
