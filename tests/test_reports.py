"""How a check stands, from open jobs and captures."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from capture import queue, reports
from capture.models import Attempt, Capture, CaptureJob, Check, Team, Worker
from capture.models.jobs import FINAL
from capture.providers import registry
from capture.providers.replies import Blocked, Empty, Incomplete, Kind, Refused, Source
from capture.reports import State, board_of
from tests.factories import (
    answer,
    claim,
    claim_one,
    complete_one,
    error,
    make_check,
    make_job,
    make_team,
    make_user,
    stranger,
    unknown_error,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("simulated")]


def only_cell(job: CaptureJob) -> reports.Cell:
    (cell,) = reports.board_of(job.of_check).cells
    return cell


def state_of(job: CaptureJob) -> State:
    return only_cell(job).state


def make_wide_check(prompts: int = 3, **fields):
    return make_check(
        prompts=tuple(f"Question {number}?" for number in range(prompts)),
        providers=("chatgpt", "perplexity"),
        **fields,
    )


def complete_at_chatgpt(seats: int = 100, reply=None):
    """Let ChatGPT answer what waits for it, whichever check it is of."""
    for ticket in claim("openai", seats):
        assert queue.complete(ticket, reply or answer())


class TestStates:
    def test_a_new_job_is_waiting(self):
        assert state_of(make_job()) is State.WAITING

    def test_a_claimed_and_a_started_job_are_being_asked(self):
        claimed, started = make_job(), make_job(providers=("perplexity",))

        claim_one(claimed)
        claim_one(started)

        assert state_of(claimed) is State.ASKING
        assert state_of(started) is State.ASKING

    def test_a_job_with_a_live_call_is_being_worked_at_the_system(self):
        job = make_job()

        queue.wait(claim_one(job), "resp_1", after=0)

        assert state_of(job) is State.WORKING
        assert State.WORKING.words == "working at the system"

    def test_a_live_call_that_is_looked_after_is_still_being_worked(self):
        job = make_job()
        queue.wait(claim_one(job), "resp_1", after=0)

        claim_one(job)

        assert state_of(job) is State.WORKING

    @pytest.mark.parametrize(
        ("reply", "state"),
        [
            (answer(), State.ANSWERED),
            (Refused("I would rather not."), State.REFUSED),
            (Blocked("content_filter"), State.BLOCKED),
            (Incomplete("max_output_tokens", "The best"), State.INCOMPLETE),
            (Empty("no_text"), State.EMPTY),
        ],
    )
    def test_every_reply_has_its_state(self, reply, state):
        job = make_job()

        queue.complete(claim_one(job), reply)

        assert state_of(job) is state

    def test_a_failed_job_says_why_in_words(self):
        job = make_job()

        queue.fail(claim_one(job), error("invalid_api_key", kind=Kind.FATAL))

        assert state_of(job) is State.FAILED
        assert only_cell(job).why == "the key was refused"

    def test_a_reason_that_nobody_has_put_into_words_is_shown_as_it_is_named(self):
        job = make_job()

        queue.fail(claim_one(job), error("strange_new_code"))

        assert only_cell(job).why == "strange new code"

    def test_a_cancelled_job_is_cancelled(self):
        job = make_job()

        queue.cancel(CaptureJob.objects.filter(pk=job.pk))

        assert state_of(job) is State.CANCELLED

    def test_a_job_that_goes_back_in_line_is_waiting_and_says_why(self):
        job = make_job()

        queue.ask_again(claim_one(job), unknown_error(), after=60)

        assert state_of(job) is State.WAITING
        assert only_cell(job).reason == "timeout"
        assert only_cell(job).attempts == 1

    def test_an_open_job_wins_over_what_its_earlier_turn_left_behind(self):
        job = make_job()
        queue.fail(claim_one(job), error())
        assert Capture.objects.filter(prompt=job.prompt_id).exists()

        queue.requeue(CaptureJob.objects.filter(pk=job.pk))

        assert state_of(job) is State.WAITING
        (answer,) = reports.answers_on(reports.board_of(job.of_check))
        assert answer.capture is None

    def test_a_place_of_which_nothing_is_left_is_not_open(self):
        job = make_job()
        CaptureJob.objects.filter(pk=job.pk).delete()

        cell = only_cell(job)

        assert cell.state is State.CANCELLED
        assert cell.why == "taken out of the queue"


class TestStatus:
    def test_it_names_every_place_once_in_the_order_of_the_page(self):
        check = make_wide_check(prompts=2, samples=2)

        status = reports.check_status(check)

        places = [(job["prompt"], job["provider"], job["sample"]) for job in status["jobs"]]
        assert places == [
            (f"Question {number}?", provider, sample)
            for number in range(2)
            for provider in ("chatgpt", "perplexity")
            for sample in (1, 2)
        ]

    def test_it_counts_by_status(self):
        check = make_check(prompts=("One?", "Two?", "Three?"))
        complete_at_chatgpt(seats=1)
        complete_at_chatgpt(seats=1, reply=Refused("No."))

        counts = reports.check_status(check)["counts"]

        assert counts == {
            "pending": 1,
            "claimed": 0,
            "running": 0,
            "waiting": 0,
            "done": 2,
            "failed": 0,
            "cancelled": 0,
            "total": 3,
            "open": 1,
            "answered": 1,
        }

    def test_it_says_what_a_job_came_to(self):
        job = make_job()
        complete_one(job)

        status = reports.check_status(job.of_check)

        assert status["check"] == str(job.of_check.uuid)
        assert status["url"] == f"/checks/{job.of_check.uuid}/"
        assert status["jobs"] == [
            {
                "prompt": "Which espresso machine is best?",
                "provider": "chatgpt",
                "sample": 1,
                "status": "done",
                "outcome": "answered",
                "attempts": 1,
                "simulated": True,
                "reason": "",
            }
        ]

    def test_nothing_changes_when_all_final_jobs_are_deleted(self):
        done = make_job()
        complete_one(done)
        failed = make_job()
        queue.fail(claim_one(failed), error())
        cancelled = make_job()
        queue.cancel(CaptureJob.objects.filter(pk=cancelled.pk))
        checks = [job.of_check for job in (done, failed, cancelled)]
        before = [reports.check_status(check) for check in checks]
        shown = [list(reports.answers_on(reports.board_of(check))) for check in checks]

        Attempt.objects.all().delete()
        CaptureJob.objects.filter(status__in=FINAL).delete()

        assert not CaptureJob.objects.exists()
        assert [reports.check_status(check) for check in checks] == before
        assert [list(reports.answers_on(reports.board_of(check))) for check in checks] == shown

    @pytest.mark.parametrize("prompts", [1, 12])
    def test_three_queries_whatever_the_size(self, prompts, django_assert_num_queries):
        check = make_wide_check(prompts)
        complete_at_chatgpt()

        with django_assert_num_queries(3):
            reports.check_status(check)


class TestBoard:
    def test_totals_are_by_state_and_leave_out_what_there_is_none_of(self):
        check = make_wide_check(prompts=1)
        complete_at_chatgpt()

        board = reports.board_of(check)

        assert board.by_state == [(State.ANSWERED, 1), (State.WAITING, 1)]
        assert (board.total, board.finished, board.open, board.answered) == (2, 1, 1, 1)

    def test_a_system_that_was_taken_out_of_the_product_is_still_shown(self):
        job = make_job()
        complete_one(job)
        check = job.of_check
        check.providers = ["chatgpt", "bygone"]

        labels = [system.label for system in reports.board_of(check).systems]

        assert labels == ["ChatGPT", "bygone"]


class TestAnswers:
    @pytest.mark.parametrize(("prompts", "queries"), [(1, 2), (10, 2), (20, 4)])
    def test_two_queries_for_as_many_as_are_kept_at_once(self, prompts, queries, django_assert_num_queries):
        check = make_wide_check(prompts)
        complete_at_chatgpt(prompts)
        board = reports.board_of(check)

        with django_assert_num_queries(queries):
            answers = list(reports.answers_on(board))

        assert [answer.cell for answer in answers] == list(board.cells)
        assert sum(answer.capture is not None for answer in answers) == prompts

    def test_sources_are_numbered_and_have_domain_and_title(self):
        sources = (
            Source("https://www.a.example/x", "https://www.a.example/x", "A", cited=True),
            Source("https://b.example/", "https://b.example/"),
        )
        job = make_job()
        complete_one(job, sources=sources)

        (shown,) = reports.answers_on(reports.board_of(job.of_check))

        assert [(link.number, link.domain, link.title, link.cited) for link in shown.links] == [
            (1, "a.example", "A", True),
            (2, "b.example", "https://b.example/", False),
        ]

    @pytest.mark.parametrize("url", ["javascript:alert(1)", "data:text/html,x", "//evil.example", "http://[", ""])
    def test_only_web_addresses_become_links(self, url):
        job = make_job()
        complete_one(job)
        capture = Capture.objects.get(prompt=job.prompt_id)
        capture.sources.update(url=url)

        (shown,) = reports.answers_on(reports.board_of(job.of_check))

        assert [link.href for link in shown.links] == [""]


def list_of(team, words=""):
    return list(reports.lines(reports.checks_of(team, words).values_list("pk", flat=True)).values())


class TestListOfChecks:
    def test_newest_first_with_counts(self):
        user = make_user()
        make_check(user, brand="First")
        complete_at_chatgpt()
        make_wide_check(prompts=2, brand="Second", user=user)
        Check.objects.filter(brand__name="First").update(created_at=timezone.now() - timedelta(days=1))

        lines = list_of(Team.objects.of(user))

        counts = [(line.brand, line.prompts, line.total, line.open, line.answered, line.simulated) for line in lines]
        assert counts == [("Second", 2, 4, 4, 0, True), ("First", 1, 1, 0, 1, True)]

    def test_two_queries_whatever_the_number(self, django_assert_num_queries):
        user = make_user()
        for _ in range(5):
            make_wide_check(user=user)
        team = Team.objects.of(user)

        with django_assert_num_queries(2):  # which, and what of them
            lines = list_of(team)

        assert len(lines) == 5

    def test_another_team_has_none_of_them(self):
        make_check()

        assert list_of(make_team()) == []


class TestUnserved:
    def add_worker(self, *providers: str, silent: timedelta = timedelta(0), **fields) -> None:
        now = timezone.now()
        usual = {"host": "here", "pid": 1, "seats": 8, "started_at": now, "beat_at": now - silent, "steady_since": now}
        Worker.objects.create(pk=stranger(), providers=list(providers), **usual | fields)

    def slugs(self, check) -> list[str]:
        return [system.slug for system in reports.unserved(reports.board_of(check))]

    def test_without_a_worker_nothing_that_is_open_is_served(self):
        assert self.slugs(make_wide_check()) == ["chatgpt", "perplexity"]

    def test_a_living_worker_serves_the_systems_that_it_asks(self):
        self.add_worker("chatgpt")

        assert self.slugs(make_wide_check()) == ["perplexity"]

    def test_a_silent_stopped_or_lost_worker_serves_nothing(self):
        self.add_worker("chatgpt", silent=timedelta(minutes=1))
        self.add_worker("chatgpt", stopped_at=timezone.now())
        self.add_worker("chatgpt", lost_at=timezone.now())

        assert self.slugs(make_check()) == ["chatgpt"]

    def test_what_is_final_needs_no_worker(self):
        job = make_job()
        complete_one(job)

        assert self.slugs(job.of_check) == []


class TestNotes:
    """What does not go as a check says for one of its systems is said on its page."""

    def test_a_system_that_takes_no_country_says_so_where_a_country_is_given(self):
        note = registry.by_slug["copilot"].locale_note

        assert note in board_of(make_check(providers=("copilot",), country="DE")).notes
        assert board_of(make_check(providers=("copilot",))).notes == []

    def test_a_system_that_takes_one_sample_says_why_where_more_are_wanted_and_only_once(self):
        board = board_of(make_check(providers=("copilot", "google_ai", "chatgpt"), samples=2))

        assert board.notes == [registry.by_slug["copilot"].samples_note]
