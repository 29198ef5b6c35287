"""What nobody needs any more goes, in small batches; no page, no answer and no money changes by it."""

from __future__ import annotations

import re
import threading
from collections import Counter
from datetime import timedelta

import pytest
from axes.models import AccessAttempt
from django.contrib.sessions.models import Session
from django.db import connection

from capture import ledger, queue
from capture.cleanup import Cleanup, Tally
from capture.models import Attempt, Capture, CaptureJob, Charge, Source, Status, Worker
from capture.models.clock import ClockTimestamp, database_now
from capture.models.jobs import FINAL
from capture.queue.cleanup import Cursor, old_jobs
from capture.reports import check_url
from tests import lost_workers
from tests.factories import (
    answer,
    claim,
    claim_one,
    complete_one,
    error,
    make_check,
    make_job,
    make_user,
    unknown_error,
)
from tests.lost_workers import make_worker
from tests.test_queue import _plan, _rows
from tests.test_races import elsewhere, held_open
from tests.views.conftest import ada, browser, mixed_check, path_of, place_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("simulated")]

__all__ = ["ada", "browser", "elsewhere"]


class Restless(threading.Event):
    """Lets a cleanup go on at once; in a test's one transaction a rest may be longer than that may be idle."""

    def wait(self, timeout: float | None = None) -> bool:
        return self.is_set()


def clean(days: float = 14, failed_days: float = 30, most: int = 500, stop: threading.Event | None = None) -> Tally:
    ages = timedelta(days=days), timedelta(days=failed_days)
    return Cleanup(*ages, most, stop or Restless()).run()


def ended(job: CaptureJob, days: float) -> CaptureJob:
    """The job ended so long ago."""
    CaptureJob.objects.filter(pk=job.pk).update(finished_at=ClockTimestamp() - timedelta(days=days))
    return job


def done_job() -> CaptureJob:
    job = make_job()
    complete_one(job)
    return job


def failed_job() -> CaptureJob:
    job = make_job()
    queue.fail(claim_one(job), error())
    return job


def cancelled_job() -> CaptureJob:
    job = make_job()
    queue.cancel(CaptureJob.objects.filter(pk=job.pk))
    return job


class TestWhatIsOldEnough:
    @pytest.mark.parametrize("make", [done_job, cancelled_job])
    def test_done_and_cancelled_jobs_go_after_days(self, make):
        old, young = ended(make(), 14.01), ended(make(), 13.99)

        clean()

        assert not CaptureJob.objects.filter(pk=old.pk).exists()
        assert list(CaptureJob.objects.all()) == [young]

    def test_failed_jobs_go_after_days_of_their_own(self):
        ended(failed_job(), 30.01)
        young = ended(failed_job(), 29.99)

        clean()

        assert list(CaptureJob.objects.all()) == [young]

    def test_attempts_go_with_their_jobs(self):
        ended(done_job(), 15)
        stays = done_job()

        tally = clean()

        assert (tally.jobs, tally.attempts) == (1, 1)
        assert [attempt.job for attempt in Attempt.objects.all()] == [stays]

    def test_0_means_0(self):
        for make in (done_job, failed_job, cancelled_job):
            make()

        assert clean(0, 0).jobs == 3
        assert not CaptureJob.objects.exists()

    def test_a_job_that_ends_after_the_cleanup_began_is_not_its_own(self):
        begun = Cleanup(timedelta(), timedelta(), 500, threading.Event())
        done_job()

        assert begun.run().jobs == 0


class TestWhatStays:
    def test_fault_23_open_jobs_stay_however_old_they_are(self):
        for _ in range(4):
            make_job(user=make_user())
        claimed, waiting, _running = claim(seats=3)
        queue.wait(claimed, "resp_1", 0)
        queue.wait(waiting, "resp_2", 60)
        claim(seats=1)
        CaptureJob.objects.update(created_at=ClockTimestamp() - timedelta(days=1000))

        assert clean(0, 0).jobs == 0
        assert Counter(CaptureJob.objects.values_list("status", flat=True)) == dict.fromkeys(
            ("pending", "claimed", "running", "waiting"), 1
        )

    def test_fault_23_a_job_with_an_unknown_outcome_stays_until_somebody_has_settled_it(self):
        job = make_job()
        queue.fail(claim_one(job), unknown_error())

        assert clean(0, 0) == Tally(kept=1)
        ledger.settle(Attempt.objects.get(), charged=True)
        assert clean(0, 0) == Tally(jobs=1, attempts=1)

    def test_fault_23_a_job_whose_call_may_still_end_stays(self):
        job = make_job()
        queue.wait(claim_one(job), "resp_1", 0)
        queue.fail(claim_one(job), error("too_long"), live=True)

        assert clean(0, 0) == Tally(kept=1)
        assert CaptureJob.objects.get().remote_id == "resp_1"
        ledger.settle(Attempt.objects.get(), charged=False)
        assert clean(0, 0) == Tally(jobs=1, attempts=1)

    def test_a_done_job_with_another_call_that_is_live_stays(self):
        done_job()
        Attempt.objects.update(live=True, remote_id="resp_1")

        assert clean(0, 0) == Tally(kept=1)

    def test_fault_23_answers_and_charges_stay(self):
        done_job()
        failed_job()
        rows = (Capture, Source, Charge)
        before = [list(model.objects.order_by("pk").values()) for model in rows]

        clean(0, 0)

        assert not CaptureJob.objects.exists()
        assert [list(model.objects.order_by("pk").values()) for model in rows] == before
        assert all(before)


class TestBatches:
    @pytest.mark.parametrize("most", [1, 2, 3, 500])
    def test_fault_23_what_has_to_stay_hides_nothing_behind_it(self, most):
        jobs = [done_job() for _ in range(8)]
        at = database_now() - timedelta(days=20)
        Attempt.objects.filter(job__in=jobs[:3] + jobs[4:5]).update(outcome="unknown")
        CaptureJob.objects.update(finished_at=at)
        CaptureJob.objects.filter(pk__in=[job.pk for job in jobs[5:]]).update(finished_at=at + timedelta(hours=1))

        tally = clean(most=most)

        assert (tally.jobs, tally.kept) == (4, 4)
        assert set(CaptureJob.objects.all()) == {*jobs[:3], jobs[4]}

    def test_fault_23_no_transaction_deletes_more_than_a_batch(self, monkeypatch):
        for _ in range(5):
            done_job()
        batches = []
        delete = queue.delete_old_jobs

        def deleted(*args):
            batches.append(delete(*args))
            return batches[-1]

        monkeypatch.setattr(queue, "delete_old_jobs", deleted)

        clean(0, 0, most=2)

        assert [batch.jobs for batch in batches] == [2, 2, 1, 0]  # the last is that of failed jobs

    def test_it_rests_after_each_batch_for_three_times_as_long_as_that_took(self, monkeypatch):
        for _ in range(3):
            done_job()
        rests: list[float] = []
        stop = threading.Event()
        monkeypatch.setattr(stop, "wait", rests.append)
        times = iter(range(0, 1000, 7))
        monkeypatch.setattr("capture.cleanup.time.monotonic", lambda: next(times))

        clean(0, 0, most=2, stop=stop)

        assert set(rests) == {21}

    def test_told_to_stop_it_ends_with_the_batch_that_is_under_way(self, monkeypatch):
        for _ in range(5):
            done_job()
        stop = Restless()
        delete = queue.delete_old_jobs

        def and_stop(*args):
            stop.set()
            return delete(*args)

        monkeypatch.setattr(queue, "delete_old_jobs", and_stop)

        assert clean(0, 0, most=2, stop=stop).jobs == 2
        assert CaptureJob.objects.count() == 3

    def test_what_it_foresees_is_what_it_does(self):
        done_job()
        failed_job()
        queue.fail(claim_one(make_job()), unknown_error())
        Worker.objects.filter(pk=make_worker()).update(stopped_at=ClockTimestamp())
        Session.objects.create(session_key="old", session_data="", expire_date=database_now() - timedelta(days=1))
        failed_login(minutes=16)

        foreseen = Cleanup(timedelta(), timedelta(), 500, threading.Event()).foresee()

        assert CaptureJob.objects.count() == 3
        assert foreseen == clean(0, 0) == Tally(jobs=2, attempts=2, kept=1, workers=1, sessions=1, logins=1)


class TestWorkersAndSessions:
    def test_workers_go_once_they_have_been_gone_for_days(self):
        stopped, lost, lately, alive = (make_worker() for _ in range(4))
        long_ago = ClockTimestamp() - timedelta(days=15)
        Worker.objects.filter(pk=stopped).update(stopped_at=long_ago)
        Worker.objects.filter(pk=lost).update(lost_at=long_ago)
        Worker.objects.filter(pk=lately).update(stopped_at=ClockTimestamp())
        Worker.objects.filter(pk=alive).update(started_at=long_ago)

        assert clean().workers == 2
        assert set(Worker.objects.values_list("pk", flat=True)) == {lately, alive}

    def test_a_lost_worker_from_which_jobs_are_to_be_taken_back_stays(self):
        worker = make_worker()
        lost_workers.claim(worker, make_job())
        Worker.objects.update(lost_at=ClockTimestamp() - timedelta(days=15))

        assert clean().workers == 0

    def test_expired_sessions_go(self):
        for key, days in {"old": -1, "new": 1}.items():
            Session.objects.create(session_key=key, session_data="", expire_date=database_now() + timedelta(days=days))

        assert clean().sessions == 1
        assert Session.objects.get().session_key == "new"

    def test_failed_logins_go_once_they_count_no_more(self):
        for minutes in (14, 16):
            failed_login(minutes)

        assert clean().logins == 1
        assert AccessAttempt.objects.get().username == "after 14"


def failed_login(minutes: int) -> None:
    """Somebody has failed to log in so long ago."""
    about = {"username": f"after {minutes}", "ip_address": "192.0.2.1", "failures_since_start": 1}
    attempt = AccessAttempt.objects.create(**about)
    AccessAttempt.objects.filter(pk=attempt.pk).update(attempt_time=ClockTimestamp() - timedelta(minutes=minutes))


class TestPagesAfterwards:
    """No page reads a final job."""

    @pytest.fixture
    def check(self, browser, ada):
        check = mixed_check(ada)
        queue.cancel(check.jobs.pending())
        return check

    def test_fault_23_no_page_changes(self, browser, admin_client, check):
        own = ["/", "/brands/", check_url(check), place_of(check), place_of(check, 2), place_of(check, 3)]
        own += [check_url(check) + name for name in ("status.json", "answers.csv", "answers.json", "sources.csv")]
        own += [place_of(check) + "answer.txt", path_of(check, "delete"), "/checks/new/?form=x&brand=1"]
        own += [
            f"/brands/{check.brand.uuid}/{name}" for name in ("", "history.csv", "history.json", "sources/", "names/")
        ]
        staff = ["/admin/capture/charge/", "/admin/capture/capture/"]
        before = [shown(browser, path) for path in own] + [shown(admin_client, path) for path in staff]

        assert clean(0, 0).jobs == 3

        after = [shown(browser, path) for path in own] + [shown(admin_client, path) for path in staff]
        assert after == before
        assert "answered" in before[2]
        assert "is liked by many." in before[3]

    def test_what_has_no_answer_can_still_be_asked_again(self, browser, check):
        clean(0, 0)

        browser.post(path_of(check, "ask-again"), {"confirmed": "yes"})

        assert check.jobs.pending().count() == 2

    def test_an_answer_that_comes_late_to_a_job_that_is_gone_changes_nothing(self):
        job = make_job()
        ticket = claim_one(job)
        queue.complete(ticket, answer("The first."))
        clean(0, 0)

        assert queue.complete(ticket, answer("The second."))
        assert Capture.objects.get().text == "The first."
        assert Charge.objects.count() == 1


def shown(browser, path: str) -> str:
    """A page without what is random in it."""
    response = browser.get(path)
    assert response.status_code == 200, path
    body = b"".join(response.streaming_content) if response.streaming else response.content
    return re.sub(r'name="(csrfmiddlewaretoken|nonce)" value="[^"]*"|"csrf_token": "[^"]*"', "", body.decode())


class TestThePlan:
    @pytest.mark.slow
    def test_fault_23_a_batch_of_100_000_old_rows_is_found_along_its_index(self):
        make_job()
        _rows(100_000, "done", status="'done'", turn="0", finished_at="clock_timestamp() - n * interval '1 minute'")
        now = database_now()

        first = _plan(old_jobs(FINAL, now - timedelta(days=14))[:500])
        later = _plan(
            old_jobs([Status.FAILED], now - timedelta(days=14)).filter(finished_at__gte=now - timedelta(days=50))[:500]
        )

        for plan, index in ((first, "job_finished"), (later, "job_failed")):
            assert f"Index Scan using {index}" in plan
            assert re.search(r"Index Cond: .*\(finished_at ", plan)
            assert "Sort" not in plan

    def test_the_hot_tables_are_vacuumed_long_before_a_fifth_of_them_is_dead(self):
        with connection.cursor() as cursor:
            cursor.execute("SELECT relname, reloptions FROM pg_class WHERE relname LIKE 'capture_%' AND relkind = 'r'")
            options = {name.removeprefix("capture_"): set(found or ()) for name, found in cursor.fetchall()}

        for table in ("capturejob", "attempt"):
            assert "autovacuum_vacuum_scale_factor=0.01" in options[table]
        for table in ("lane", "worker"):
            assert "autovacuum_vacuum_scale_factor=0" in options[table]


@pytest.mark.django_db(transaction=True)
class TestBesideOthers:
    def test_fault_23_a_job_that_somebody_is_at_is_passed_over(self, elsewhere):
        first, second = done_job(), done_job()

        with held_open(elsewhere, lambda: CaptureJob.objects.select_for_update(no_key=True).get(pk=first.pk)):
            assert clean(0, 0, most=1).jobs == 1
            assert list(CaptureJob.objects.all()) == [first]

        assert clean(0, 0).jobs == 1
        assert not CaptureJob.objects.filter(pk=second.pk).exists()

    def test_two_cleanups_at_once_share_the_work(self, elsewhere):
        for _ in range(6):
            done_job()

        def batch():
            return queue.delete_old_jobs(FINAL, database_now(), Cursor(), 4).jobs

        with held_open(elsewhere, batch) as first:
            assert batch() == 2

        assert first.result(30) == 4

    def test_a_job_that_is_asked_again_meanwhile_stays(self, elsewhere):
        check = make_check()
        queue.cancel(check.jobs.all())

        with held_open(elsewhere, lambda: queue.requeue(check.jobs.all())):
            assert clean(0, 0).jobs == 0

        assert CaptureJob.objects.get().status == Status.PENDING
