"""The one clock is the database's."""

from __future__ import annotations

import re

import pytest
from django.db import connection

from capture import heartbeat
from capture.models import Attempt, CaptureJob, Worker
from tests.conftest import CHECKOUT
from tests.factories import claim_one, make_job
from tests.lost_workers import make_worker

pytestmark = pytest.mark.django_db


def test_fault_15_what_is_written_in_a_long_transaction_is_not_dated_at_its_beginning():
    worker = make_worker()
    job = make_job()
    claim_one(job)
    heartbeat.beat(worker)

    (beginning,) = ask("SELECT now()")

    # The test itself is the long transaction.
    row, attempt = Worker.objects.get(), Attempt.objects.get()
    assert beginning < row.started_at < attempt.started_at < row.beat_at


@pytest.mark.parametrize(
    ("rows", "bound"),
    [
        (lambda: CaptureJob.objects.to_poll("openai", ["chatgpt"]), "run_after <= statement_timestamp()"),
        (lambda: CaptureJob.objects.to_promote(), "run_after <= statement_timestamp()"),
        (lambda: Worker.objects.silent(), "beat_at < (statement_timestamp() - "),
    ],
)
def test_fault_15_an_index_serves_each_bound_by_time(rows, bound):
    ask("SELECT set_config('enable_seqscan', 'off', true)")

    plan = str(rows().explain())

    assert re.search(rf"Index Cond: .*{re.escape(bound)}", plan), plan


def test_fault_15_no_time_of_the_host_is_written_or_compared():
    host_clock = re.compile(r"timezone\.(now|localtime)|datetime\.(now|today|utcnow)|date\.today|time\.time\(")
    kept = ["heartbeat", "recovery", "lanes", "ledger", "worker", "seats", "schedules", "recurrence"]
    modules = [CHECKOUT / "capture" / f"{name}.py" for name in kept]
    modules += [path for name in ("queue", "models") for path in (CHECKOUT / "capture" / name).glob("*.py")]

    assert [path.name for path in modules if host_clock.search(path.read_text())] == []


def ask(query):
    with connection.cursor() as cursor:
        cursor.execute(query)
        return cursor.fetchone()
