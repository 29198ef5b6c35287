"""The list of jobs: by what staff narrow it, how they find one, and that none of it reads all jobs."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from capture import queue
from capture.admin import base
from capture.admin.base import AtLeast
from capture.models import Attempt, CaptureJob
from capture.models.clock import database_now
from tests.admin.staff import ATTEMPTS, JOBS, get
from tests.factories import (
    WORKER,
    answer,
    claim_one,
    complete_one,
    error,
    make_check,
    make_job,
    prompts,
    unknown_error,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("simulated")]


def shown(client, query: str, path: str = JOBS) -> set[int]:
    html = get(client, f"{path}?{query}")
    return {int(number) for number in re.findall(r'name="_selected_action" value="(\d+)"', html)}


@pytest.fixture
def jobs():
    """One of each kind that staff tell apart, by name."""
    done, failed = make_job(), make_job(providers=("gemini",))
    complete_one(done)
    queue.fail(claim_one(failed), error("http_429"))
    unknown = make_job()
    queue.fail(claim_one(unknown), unknown_error())
    waits = make_job()
    queue.wait(claim_one(waits), "resp_1", 600)
    pending = make_job()
    found = {"done": done, "failed": failed, "unknown": unknown, "waits": waits, "pending": pending}
    return {name: job.pk for name, job in found.items()}


class TestFilters:
    @pytest.mark.parametrize(
        ("query", "names"),
        [
            ("state=open", {"waits", "pending"}),
            ("state=waiting", {"waits"}),
            ("state=failed", {"failed", "unknown"}),
            ("state=no-such-state", set()),
            ("provider=gemini", {"failed"}),
            ("reason=http_429", {"failed"}),
            ("unsettled=yes", {"unknown"}),
            ("state=failed&unsettled=yes&reason=timeout&provider=chatgpt", {"unknown"}),
            ("state=failed&unsettled=yes&provider=gemini", set()),
        ],
    )
    def test_jobs_are_found_by_state_system_reason_and_unknown_outcome(self, admin_client, jobs, query, names):
        assert shown(admin_client, query) == {jobs[name] for name in names}

    def test_jobs_are_found_by_team(self, admin_client, jobs):
        team = CaptureJob.objects.get(pk=jobs["done"]).team

        assert shown(admin_client, f"team={team.pk}") == {jobs["done"]}
        assert f"team={team.pk}" in get(admin_client, f"/admin/capture/team/{team.pk}/change/")

    @pytest.mark.parametrize("value", ["0", "x", "9" * 30, "-1"])
    def test_a_team_that_is_none_has_no_jobs(self, admin_client, jobs, value):
        assert shown(admin_client, f"team={value}") == set()

    def test_a_team_beyond_those_that_are_listed_can_be_chosen(self, admin_client, jobs, monkeypatch):
        monkeypatch.setattr("capture.admin.job_filters.MOST_TEAMS", 1)
        last = CaptureJob.objects.select_related("team").order_by("-team__name", "-team").first()
        assert last

        html = get(admin_client, f"{JOBS}?team={last.team_id}")

        assert f'<a href="?team={last.team_id}">' in html

    def test_jobs_are_found_by_how_long_they_are_open_and_when_they_ended(self, admin_client, jobs):
        ago = database_now() - timedelta(hours=2)
        CaptureJob.objects.filter(pk=jobs["pending"]).update(created_at=ago)
        CaptureJob.objects.filter(pk=jobs["done"]).update(finished_at=ago)

        assert shown(admin_client, "age=open-10min") == {jobs["pending"]}
        assert shown(admin_client, "age=open-1d") == set()
        assert shown(admin_client, "age=ended-1h") == {jobs["failed"], jobs["unknown"]}
        assert shown(admin_client, "age=ended-1d") == {jobs["done"], jobs["failed"], jobs["unknown"]}

    @pytest.mark.parametrize("value", ["", "x", "open-", "open-2d", "ended-10min-1h"])
    def test_an_age_that_is_none_is_left_out(self, admin_client, jobs, value):
        assert admin_client.get(f"{JOBS}?age={value}").url == f"{JOBS}?e=1"

    def test_reasons_that_some_job_has_can_be_chosen_in_words(self, admin_client, jobs):
        html = get(admin_client, JOBS)

        assert "too many questions at once for this account (http_429)" in html
        assert set(re.findall(r'href="\?reason=(\w+)"', html)) == {"http_429", "timeout"}


class TestSearch:
    def test_a_job_is_found_by_its_number(self, admin_client, jobs):
        for words in (f"{jobs['failed']}", f"%23{jobs['failed']}", f"job+{jobs['failed']}", f"+{jobs['failed']}+"):
            assert shown(admin_client, f"q={words}") == {jobs["failed"]}

    def test_jobs_are_found_by_their_check_an_attempt_and_their_worker(self, admin_client, jobs):
        job = CaptureJob.objects.select_related("of_check").get(pk=jobs["failed"])
        held = make_job(providers=("perplexity",))
        claim_one(held)

        assert shown(admin_client, f"q={job.of_check.uuid}") == {job.pk}
        assert shown(admin_client, f"q={Attempt.objects.get(job=job).pk}") == {job.pk}
        assert shown(admin_client, f"q={WORKER}") == {held.pk}
        CaptureJob.objects.filter(pk=held.pk).update(status="pending", worker=None, claim_token=None)
        assert shown(admin_client, f"q={WORKER}") == set(Attempt.objects.values_list("job", flat=True))

    def test_jobs_are_found_by_their_call(self, admin_client, jobs):
        ended = make_job(providers=("perplexity",))
        ticket = claim_one(ended)
        queue.wait(ticket, "resp_2", 0)
        assert queue.complete(claim_one(ended), answer())

        assert shown(admin_client, "q=resp_1") == {jobs["waits"]}
        assert shown(admin_client, "q=resp_2") == {ended.pk}

    @pytest.mark.parametrize("words", ["northwind", "99999999999999999999999", "%F0%9F%98%80", "'", "a" * 3000])
    def test_what_names_no_job_finds_none(self, admin_client, jobs, words):
        assert shown(admin_client, f"q={words}") == set()

    def test_attempts_are_found_by_number_and_job(self, admin_client, jobs):
        attempt = Attempt.objects.get(job=jobs["failed"])

        for words in (attempt.pk, jobs["failed"]):
            assert str(attempt.pk) in get(admin_client, f"{ATTEMPTS}?q={words}")
        assert "0 attempts" in get(admin_client, f"{ATTEMPTS}?q=x")


class TestCounts:
    def test_more_than_the_most_is_not_counted(self, admin_client, monkeypatch):
        monkeypatch.setattr(base, "MOST_COUNTED", 60)
        make_check(prompts=prompts(70))

        html = get(admin_client, JOBS)

        assert "over 60 jobs" in html
        assert "Select all over 60 jobs" in html
        assert 'href="?p=2"' in html
        assert len(shown(admin_client, "p=2")) == 11  # no page lies beyond what is counted
        assert "70 jobs" not in html

    def test_at_least_so_many_is_a_number_that_says_so(self):
        number = AtLeast(10_001)

        assert (str(number), number > 10_000, number - 1) == ("over 10,000", True, 10_000)

    def test_no_column_is_sorted_by(self, admin_client, jobs):
        html = get(admin_client, f"{JOBS}?o=2.4")

        assert 'class="sortable' not in html

    def test_nothing_is_counted_for_each_filter(self, admin_client, jobs):
        html = get(admin_client, f"{JOBS}?_facets=True")

        assert "Show counts" not in html
        assert "Hide counts" not in html


# ------------------------------------------------------------------------------------------------------- the plans

MANY = """
    INSERT INTO capture_capturejob (team_id, of_check_id, prompt_id, provider, lane, sample, polls, attempts,
        unknowns, crashes, reason, estimate, status, turn, created_at, finished_at)
    SELECT team_id, of_check_id, prompt_id, 'chatgpt' || n / 30000, 'openai', 1 + n % 30000, 0, 0, 0, 0,
        CASE WHEN n % 100 = 0 THEN 'reason ' || n % 7 ELSE '' END, 0.02,
        CASE WHEN n % 100 = 0 THEN 'failed' ELSE 'done' END, 0,
        now() - (30000 - n) * interval '1 minute', now() - (30000 - n) * interval '1 minute'
    FROM (SELECT * FROM capture_capturejob LIMIT 1) job, generate_series(1, 30000) n
"""


@pytest.fixture
def _many():
    """Thirty thousand final jobs, of which a hundredth has failed."""
    make_job()
    with connection.cursor() as cursor:
        cursor.execute(MANY)
        cursor.execute("ANALYZE capture_capturejob, capture_attempt")


@pytest.mark.slow
@pytest.mark.usefixtures("_many")
def test_nothing_that_staff_look_at_reads_all_jobs(admin_client):
    queries_of = [
        *("", "p=200", "state=open", "state=done", "state=failed", "state=cancelled"),
        *("reason=reason+2", "reason=nothing", "unsettled=yes", "team=0", "age=open-1h", "age=ended-1h"),
        *("state=failed&reason=reason+2&age=ended-1d", "q=27777", "q=resp_1", f"q={WORKER}", "q=northwind"),
    ]

    for path in ("/admin/", *(f"{JOBS}?{query}" for query in queries_of)):
        asked = queries(admin_client, path)
        assert asked
        for sql in asked:
            assert rows_read(sql) <= 1.1 * base.MOST_COUNTED, (path, sql)


@pytest.mark.slow
@pytest.mark.usefixtures("_many")
def test_jobs_are_counted_up_to_a_bound_and_rare_ones_by_an_index(admin_client):
    counts = {}
    for query in ("", "state=done", "reason=reason+2", "state=cancelled", "state=open"):
        asked = queries(admin_client, f"{JOBS}?{query}")
        (counts[query],) = (sql for sql in asked if sql.startswith("SELECT COUNT(*) FROM (SELECT"))

    assert all(f"LIMIT {base.MOST_COUNTED + 1}" in sql for sql in counts.values())
    assert "over 10,000 jobs" in get(admin_client, JOBS)
    for query, index in (("reason=reason+2", "job_reason"), ("state=cancelled", "job_failed"), ("state=open", "job_")):
        assert index in str(plan(counts[query]))


def queries(client, path: str) -> list[str]:
    """What a page asks of the table of jobs."""
    with CaptureQueriesContext(connection) as captured:
        get(client, path)
    return [query["sql"] for query in captured if "capture_capturejob" in query["sql"]]


def plan(sql: str) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) {sql}")
        return cursor.fetchone()[0][0]["Plan"]


def rows_read(sql: str) -> float:
    """How many rows of jobs a statement has looked at, those that it passed by among them."""

    def read(node: Any) -> float:
        here = node.get("Relation Name") == "capture_capturejob"
        looked_at = node["Actual Rows"] + node.get("Rows Removed by Filter", 0) if here else 0
        below = sum(read(below) for below in node.get("Plans", ()))
        return float(looked_at * node["Actual Loops"] + below)

    return read(plan(sql))
