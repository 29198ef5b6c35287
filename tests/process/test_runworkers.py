"""Real `runworkers` processes against the simulator."""

from __future__ import annotations

import signal
from contextlib import ExitStack

import pytest
from django.db import connection

from capture import lanes
from capture.models import Attempt, AttemptOutcome, Capture, CaptureJob, Charge, Lane, Outcome, Status
from capture.models import Worker as WorkerRow
from tests.factories import make_check, make_job
from tests.process.running import simulator, until, worker

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


@pytest.fixture(autouse=True)
def _lanes():
    """Emptying the tables after a test empties the lanes as well."""
    lanes.make_missing()
    Lane.objects.update(limit=1000)


@pytest.fixture
def system():
    with simulator("--speed", "1000") as running:
        yield running


def prompts(count):
    return tuple(f"Which espresso machine is best for {number} people?" for number in range(1, count + 1))


def test_two_workers_and_200_jobs_give_200_captures_200_attempts_and_200_start_calls(system, tmp_path):
    make_check(prompts=prompts(100), providers=("chatgpt", "perplexity"))

    with ExitStack() as stack:
        processes = [
            stack.enter_context(
                worker("--drain", "--concurrency", "4", log=tmp_path / f"{name}.log", SIMULATOR_URL=system.url)
            )
            for name in "ab"
        ]
        codes = [process.wait(60) for process in processes]

    starts = system.counts()["starts"]
    assert codes == [0, 0]
    assert Capture.objects.answered().count() == Capture.objects.count() == 200
    assert Attempt.objects.count() == 200
    assert sum(each["total"] for each in starts.values()) == 200
    assert set(starts["chatgpt"]["by_run"].values()) == {1}
    assert Charge.objects.count() == 200
    assert Capture.objects.filter(sources__isnull=False).distinct().count() == 200
    assert Attempt.objects.values("worker").distinct().count() == 2


def _connections():
    with connection.cursor() as cursor:
        cursor.execute("SELECT application_name FROM pg_stat_activity WHERE application_name LIKE 'aicontrol worker%'")
        return sorted(row[0] for row in cursor.fetchall())


def test_fault_25_a_worker_with_8_calls_in_flight_and_100_waiting_has_one_connection_and_one_to_listen(
    system, tmp_path
):
    make_check(prompts=prompts(100), providers=("chatgpt",))
    system.script({"system": "chatgpt", "call": "poll", "times": None, "do": {"pending_for_s": None}})

    with worker("--concurrency", "8", log=tmp_path / "log", SIMULATOR_URL=system.url):
        until(lambda: CaptureJob.objects.waiting().count() == 100)
        # Only now are there calls that hold their seats: 8 of 12 starts that are slow to be accepted.
        system.script({"system": "perplexity", "call": "start", "times": None, "do": {"delay_s": 30}})
        make_check(prompts=prompts(12), providers=("perplexity",))
        until(lambda: CaptureJob.objects.filter(status=Status.RUNNING).count() >= 7)

        assert _connections() == ["aicontrol worker", "aicontrol worker listener"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_signal_waits_for_the_exchange_and_leaves_the_waiting_jobs(system, tmp_path, number):
    job = make_job()
    system.script({"system": "chatgpt", "call": "poll", "times": None, "do": {"pending_for_s": None}})

    with worker(log=tmp_path / "log", SIMULATOR_URL=system.url) as process:
        until(lambda: CaptureJob.objects.waiting().count() == 1)
        process.send_signal(number)
        code = process.wait(20)

    assert code == 0
    assert CaptureJob.objects.get(pk=job.pk).status == Status.WAITING
    assert WorkerRow.objects.get().stopped_at is not None


def test_a_call_in_hand_survives_a_restart_and_is_not_asked_again(system, tmp_path):
    make_job()
    system.script({"system": "chatgpt", "call": "poll", "times": 1, "do": {"pending_for_s": 1}})
    with worker(log=tmp_path / "first.log", SIMULATOR_URL=system.url) as process:
        until(lambda: CaptureJob.objects.waiting().count() == 1)
        process.terminate()
        process.wait(20)

    with worker("--drain", log=tmp_path / "second.log", SIMULATOR_URL=system.url) as process:
        code = process.wait(60)

    assert code == 0
    assert Capture.objects.get().outcome == Outcome.ANSWERED
    assert system.counts()["starts"]["chatgpt"]["total"] == 1


def test_a_second_signal_ends_at_once(system, tmp_path):
    make_job()
    system.script({"system": "chatgpt", "call": "start", "times": None, "do": {"delay_s": 60}})

    with worker("--grace", "600", log=tmp_path / "log", SIMULATOR_URL=system.url) as process:
        until(lambda: CaptureJob.objects.filter(status=Status.RUNNING).count() == 1)
        process.terminate()
        until(lambda: b"stopping" in (tmp_path / "log").read_bytes())
        process.terminate()
        code = process.wait(10)

    assert code == 1


def test_a_refused_key_stops_its_lane_with_one_clear_reason_and_is_shown_nowhere(system, tmp_path):
    job = make_job()
    key = "invalid-key-8c1f2e"

    with worker(log=tmp_path / "log", OPENAI_API_KEY=key, OPENAI_BASE_URL=f"{system.url}/openai/v1"):
        until(lambda: CaptureJob.objects.get(pk=job.pk).reason)

    (attempt,) = Attempt.objects.all()
    assert (attempt.outcome, attempt.reason) == (AttemptOutcome.ERROR, "invalid_api_key")
    assert "key" in attempt.error
    assert Lane.objects.get(name="openai").cooling_reason == "invalid_api_key"
    everything = str(list(Attempt.objects.values())) + str(list(CaptureJob.objects.values()))
    assert key not in everything + (tmp_path / "log").read_text()


def test_a_worker_without_a_database_says_so_and_waits(tmp_path):
    log = tmp_path / "log"

    with worker(log=log, DATABASE_URL="postgres://nobody@127.0.0.1:1/none") as process:
        until(lambda: b"the database cannot be used now" in log.read_bytes())
        process.terminate()
        code = process.wait(20)

    assert code == 0
    assert "Traceback" not in log.read_text()


def test_wrong_arguments_are_refused_with_one_clear_line(tmp_path):
    with worker("--concurrency", "0", log=tmp_path / "log") as process:
        code = process.wait(20)

    assert code == 2
    assert "--concurrency: must be from 1 to 256" in (tmp_path / "log").read_text()
