"""Two hosts, one database: neither can look at the other's processes, and each can be cut off from the database.

Leases and beats are the product's own, so each of these tests takes a minute. `-s` shows the figures.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from datetime import datetime

import pytest
from django.db.models import Q

from capture import lanes
from capture.heartbeat import INTERVAL
from capture.models import Attempt, AttemptOutcome, Capture, CaptureJob, Lane, Status
from capture.models import Worker as WorkerRow
from capture.models.workers import LEASE
from tests.factories import make_check
from tests.killtest import ledgers
from tests.killtest.ledgers import Books
from tests.killtest.logs import Logs
from tests.killtest.run import jobs as all_jobs
from tests.process.hosts import hosts
from tests.process.running import simulator, until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240), pytest.mark.django_db(transaction=True)]

LIMIT = 3  # calls in hand, of each lane
LONG = {"delay_s": 20}  # an exchange that is under way when its host dies, or is cut off
EXCHANGE = {"CAPTURE_EXCHANGE_DEADLINE": "28"}  # longer than that, and shorter than a lease
SEATS = ("--concurrency", "16")
BOUND = LEASE.total_seconds() + 2 * INTERVAL


@pytest.fixture
def system():
    with simulator("--host", "0.0.0.0", "--speed", "20") as running:
        yield running


@pytest.fixture(autouse=True)
def _lanes():
    lanes.make_missing()
    Lane.objects.update(limit=LIMIT)


# ------------------------------------------------------------------------------------------------------- what is asked


def ask(mark, count, *providers):
    """So many questions, which are known again by a word."""
    make_check(prompts=tuple(f"Which {mark} is best for {number}?" for number in range(count)), providers=providers)


def order(system, mark, call, times, do):
    system.script({"call": call, "times": times, "prompt_contains": mark, "do": do})


def of(*marks):
    chosen = Q()
    for mark in marks:
        chosen |= Q(prompt__text__contains=mark)
    return CaptureJob.objects.filter(chosen)


def being_sent(*marks):
    return of(*marks).filter(status=Status.RUNNING).count()


def being_polled(*marks):
    return of(*marks).filter(status=Status.CLAIMED, remote_id__isnull=False).count()


def all_done(*marks):
    return not of(*marks).exclude(status=Status.DONE).exists()


# ---------------------------------------------------------------------------------------------------- what came of it


def the_only_worker():
    return until(lambda: WorkerRow.objects.first())


def another_worker_than(worker):
    return until(lambda: WorkerRow.objects.exclude(pk=worker.pk).first())


def in_the_hands_of(worker):
    return CaptureJob.objects.filter(worker=worker.pk).exists()


def books(system, *logs):
    """All three ledgers. A reply that two hosts have brought is said to be done by both; rows tell what was kept."""
    written = Logs()
    for log in logs:
        written.read(log.name, log.read_text().splitlines())
    written.done.clear()
    asked = list(CaptureJob.objects.values_list("provider", "prompt__text"))
    return Books(asked=asked, jobs=list(all_jobs()), counts=system.counts(), logs=written)


def wrong(found):
    return {finding.what: finding.count for finding in ledgers.compare(found) if finding.count}


def starts(system, *marks):
    """How often each question was asked, by the simulator's own count."""
    counted = system.counts()["starts"]
    places = of(*marks).order_by("pk").values_list("provider", "prompt__text")
    return [counted[provider]["by_prompt"].get(question, 0) for provider, question in places]


def most_in_hand(system):
    return {slug: flow["max_in_hand"] for slug, flow in system.counts()["by_system"].items() if flow["max_in_hand"]}


def outcomes(*marks):
    """How the attempts of these ended, job by job."""
    rows = Attempt.objects.filter(job__in=of(*marks)).order_by("job", "number").values_list("job", "outcome")
    return Counter(tuple(outcome for job, outcome in rows if job == each) for each in {job for job, _ in rows})


# ------------------------------------------------------------------------------------------------- one of them dies


def test_fault_1_what_a_worker_that_was_killed_on_another_host_had_is_back_within_a_lease_and_two_beats(
    system, tmp_path
):
    order(system, "kettle", "poll", 2, LONG)
    order(system, "grinder", "start", 2, LONG)
    with hosts(tmp_path, "a", "b") as (a, b), a.worker(system, *SEATS, **EXCHANGE) as doomed:
        dead = the_only_worker()
        ask("kettle", 2, "gemini")
        until(lambda: being_polled("kettle") == 2)
        ask("grinder", 2, "chatgpt")
        until(lambda: being_sent("grinder") == 2)
        with b.worker(system, *SEATS, **EXCHANGE):
            another_worker_than(dead)

            a.kill(doomed)
            killed = time.monotonic()
            ask("teapot", 8, "perplexity")
            until(lambda: not in_the_hands_of(dead))
            back = time.monotonic() - killed
            until(lambda: all_done("kettle", "grinder", "teapot"))
            done = time.monotonic() - killed

    print(f"killed on host a; host b had its jobs after {back:.1f} s (bound: {BOUND:g} s), all done after {done:.1f} s")
    assert back < BOUND
    assert_given_up_by_silence(dead, b.log.read_text())
    assert starts(system, "kettle", "teapot") == [1] * 10  # a call with an id is only looked after
    assert outcomes("grinder") == {(AttemptOutcome.UNKNOWN, AttemptOutcome.REPLIED): 2}
    assert wrong(books(system, a.log, b.log)) == {}
    assert max(most_in_hand(system).values()) <= LIMIT


def assert_given_up_by_silence(dead, said):
    """Nobody elsewhere can prove that a process is gone, and so no crash is counted."""
    dead.refresh_from_db()
    assert WorkerRow.objects.values("boot_id", "pid_namespace").distinct().count() == 2
    assert (dead.lost_at is not None, dead.proven_dead) == (True, False)
    assert "it has been silent for a lease" in said
    assert "its process is gone" not in said
    assert set(CaptureJob.objects.values_list("crashes", flat=True)) == {0}


# ----------------------------------------------------------------------------------------------- one of them is cut off


@dataclass(frozen=True)
class Absence:
    """How it went while a host was cut off, and after; in seconds.

    Arguments:
        taken_over: from the cut until it had nothing any more.
        away: until it was connected again.
        brought_home: from then until its late ids and answers had ended their jobs.
        captured: what had come of jobs when it was connected again.
    """

    taken_over: float
    away: float
    brought_home: float
    captured: dict[int, datetime]


def test_a_host_cut_off_from_the_database_for_longer_than_its_lease_brings_home_all_that_it_paid_for(system, tmp_path):
    order(system, "kettle", "poll", 2, LONG)  # host b looks after these, and is first
    order(system, "teapot", "poll", 2, LONG)  # host b looks after these and sees nothing: host a has the answers
    order(system, "teapot", "poll", None, {"shape": "html_502"})
    order(system, "grinder", "start", 2, LONG)  # nobody starts these anew, and host a has their ids
    order(system, "roaster", "start", 2, LONG)  # host b starts these anew
    with hosts(tmp_path, "a", "b") as (a, b), a.worker(system, *SEATS, **EXCHANGE) as process:
        worker = the_only_worker()
        give_it_all_kinds_of_work()
        with b.worker(system, *SEATS, **EXCHANGE):
            another_worker_than(worker)

            seen = cut_off_until_all_else_is_done(a, worker)
            both_work_on()
            assert process.poll() is None

    tell(seen, system)
    assert LEASE.total_seconds() - INTERVAL < seen.taken_over < BOUND
    assert starts(system, "kettle", "teapot", "grinder", "saucer", "spoon") == [1] * 39
    assert outcomes("kettle", "teapot", "grinder") == {(AttemptOutcome.REPLIED,): 6}
    assert starts(system, "roaster") == [2, 2]
    assert outcomes("roaster") == {(AttemptOutcome.UNKNOWN, AttemptOutcome.REPLIED): 2}
    # Late ids of the two that were started anew: kept, and looked after first if they are ever asked again.
    assert wrong(books(system, a.log, b.log)) == {"attempts still open": 2}
    assert Attempt.objects.filter(live=True, job__in=of("roaster"), outcome=AttemptOutcome.UNKNOWN).count() == 2
    assert seen.captured.items() <= captures().items()
    assert max(most_in_hand(system).values()) <= LIMIT


def give_it_all_kinds_of_work():
    ask("kettle", 1, "gemini", "copilot")
    ask("teapot", 1, "gemini", "copilot")
    until(lambda: being_polled("kettle", "teapot") == 4)
    ask("grinder", 2, "chatgpt")
    ask("roaster", 2, "perplexity")
    until(lambda: being_sent("grinder", "roaster") == 4)


def cut_off_until_all_else_is_done(host, worker):
    host.pull_cable()
    pulled = time.monotonic()
    Lane.objects.filter(name="openai").update(paused=True)  # as staff may do when something is wrong
    ask("saucer", 3, "gemini", "copilot", "perplexity")
    until(lambda: not in_the_hands_of(worker))
    taken_over = time.monotonic() - pulled
    until(lambda: all_done("kettle", "roaster", "saucer"))
    assert of("teapot", "grinder").open().count() == 4
    captured = captures()

    host.plug_cable()
    plugged = time.monotonic()
    until(lambda: all_done("grinder", "teapot"))
    return Absence(taken_over, plugged - pulled, time.monotonic() - plugged, captured)


def both_work_on():
    Lane.objects.update(paused=False)
    ask("spoon", 6, "chatgpt", "gemini", "copilot", "perplexity")
    until(lambda: all_done("spoon"))
    until(lambda: WorkerRow.objects.alive().count() == 2)


def captures():
    return dict(Capture.objects.values_list("pk", "answered_at"))


def tell(seen, system):
    print(f"cut off for {seen.away:.1f} s; its work was taken over after {seen.taken_over:.1f} s (bound: {BOUND:g} s)")
    print(f"{seen.brought_home:.1f} s after it was back, its 2 late ids and 2 late answers had ended their jobs")
    print(f"most calls in hand at once, with a limit of {LIMIT} for both hosts: {most_in_hand(system)}")
    print(f"start calls: {sum(starts(system, ''))} for {CaptureJob.objects.count()} jobs, of which 2 were started anew")
