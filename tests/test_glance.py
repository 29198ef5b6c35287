"""One glance at a check: its stamp changes exactly with what the page shows."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from capture import heartbeat, queue, reports
from capture.models import CaptureJob, Lane, Membership, Worker
from capture.models.clock import database_now
from capture.providers import registry
from capture.reports import glance, places, waits_of
from capture.reports.glance import Glance
from tests.factories import (
    WORKER,
    answer,
    claim,
    claim_one,
    complete_one,
    error,
    hand_back,
    make_check,
    make_job,
    make_team,
    make_user,
    prompts,
    stranger,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("simulated")]


@pytest.fixture(autouse=True)
def _worker():
    heartbeat.register(WORKER, list(registry.by_slug), 8)


@pytest.fixture
def user():
    return make_user("ada")


def look(check, user) -> Glance:
    found = reports.glance_at(user, check.uuid)
    assert found
    return found


class TestWhoLooks:
    def test_a_member_of_the_checks_team(self, user):
        check = make_check(user)

        assert look(check, user).check == check

    def test_nobody_else(self, user):
        assert reports.glance_at(user, make_check().uuid) is None

    def test_somebody_in_two_teams_works_in_the_first(self, user):
        mine, other = make_check(user), make_check()
        Membership.objects.create(team=other.team, user=user)

        assert look(mine, user)
        assert reports.glance_at(user, other.uuid) is None

    def test_a_check_that_there_is_none_of(self, user):
        make_team(user)

        assert reports.glance_at(user, stranger()) is None


class TestWhatIsSeen:
    """The same as others read of lanes, workers and lines in queries of their own."""

    def test_lanes_and_workers_and_places_give_the_same_reasons(self, user):
        make_check(prompts=("Ahead?", "Ahead too?"))
        check = make_check(user, prompts=("One?", "Two?", "Three?"), providers=("chatgpt", "perplexity", "gemini"))
        Lane.objects.filter(name="gemini").update(
            cooling_since=database_now(),
            cooling_until=database_now() + timedelta(minutes=5),
            cooling_reason="invalid_api_key",
        )
        Lane.objects.filter(name="perplexity").update(least_seconds_between_starts=600, last_start_at=database_now())

        progress = reports.progress_of(look(check, user))

        waits = waits_of(CaptureJob.objects.filter(of_check=check))
        assert sorted(cell.wait.words for cell in progress.board.cells if cell.wait) == sorted(
            wait.words for wait in waits.values()
        )

    def test_beyond_the_longest_line_that_is_told_nothing_is_counted(self, user, monkeypatch):
        monkeypatch.setattr(places, "MOST", 2)
        check = make_check(user, prompts=("One?", "Two?", "Three?", "Four?"))

        assert sorted(look(check, user).ahead.values()) == [0, 1, 2, 2]


class TestStamp:
    @pytest.fixture
    def job(self, user):
        return make_job(user=user)

    @pytest.fixture
    def changes(self, job, user):
        """Whether the stamp is another than when this was asked last."""
        seen = [look(job.of_check, user).stamp]

        def ask() -> bool:
            seen.append(look(job.of_check, user).stamp)
            return seen[-1] != seen[-2]

        return ask

    def test_it_stays_while_nothing_happens(self, changes):
        assert not changes()

    def test_it_changes_with_each_step_of_a_job(self, job, changes):
        ticket = claim_one(job)
        assert changes()

        queue.wait(ticket, "resp_1", after=0)
        assert changes()

        ticket = claim_one(job)
        assert not changes()  # it is looked after; the page says that it is worked at all the while

        queue.wait(ticket, "resp_1", after=10)
        assert not changes()

        CaptureJob.objects.update(run_after=database_now())
        queue.complete(claim_one(job), answer())
        assert changes()

    def test_it_changes_when_a_job_is_put_off(self, job, changes):
        queue.ask_again(claim_one(job), error("rate_limit_exceeded"), 600)

        assert changes()

    @pytest.mark.parametrize(
        "fields",
        [
            {"enabled": False},
            {"paused": True},
            {"cooling_until": timezone.now() + timedelta(minutes=5), "cooling_reason": "invalid_api_key"},
        ],
        ids=lambda fields: next(iter(fields)),
    )
    def test_it_changes_with_the_lane(self, changes, fields):
        Lane.objects.filter(name="openai").update(**fields)

        assert changes()

    def test_it_does_not_change_with_another_lane(self, changes):
        Lane.objects.filter(name="gemini").update(paused=True)

        assert not changes()

    def test_cooling_that_is_over_is_no_change(self, changes):
        Lane.objects.filter(name="openai").update(cooling_until=timezone.now() - timedelta(minutes=5))

        assert not changes()

    def test_it_changes_when_the_lane_is_full_and_when_it_is_not(self, changes):
        Lane.objects.filter(name="openai").update(limit=1)
        changes()
        other = make_job()
        CaptureJob.objects.filter(pk=other.pk).update(turn=-1)
        changes()

        claim(seats=1)
        assert changes()

        hand_back()
        assert changes()

    def test_it_changes_when_the_last_worker_is_lost(self, changes):
        Worker.objects.update(beat_at=timezone.now() - timedelta(minutes=1))

        assert changes()

    def test_it_does_not_change_with_a_beat(self, changes):
        heartbeat.beat(WORKER)

        assert not changes()

    def test_it_changes_when_the_worker_that_holds_a_job_falls_silent(self, job, changes):
        other = stranger()
        heartbeat.register(other, list(registry.by_slug), 8)
        claim_one(job)
        changes()

        Worker.objects.filter(pk=WORKER).update(beat_at=timezone.now() - timedelta(minutes=1))

        assert changes()

    def test_it_changes_with_the_line_ahead_in_steps(self, user):
        make_check(user, prompts=tuple(f"Question {number}?" for number in range(12)))
        job = make_job(user=user)
        stamps = []

        for _ in claim(seats=3):
            stamps.append(look(job.of_check, user).stamp)

        assert len(set(stamps)) == 1

    def test_of_several_in_line_only_the_first_of_each_system_tells_how_many_are_ahead(self, user):
        make_check(user, prompts=prompts(3))
        check = make_check(user, prompts=prompts(9), providers=("chatgpt", "perplexity"))
        before = look(check, user)

        claim(seats=1)
        after = look(check, user)

        told = [cell.why for cell in reports.progress_of(after).board.cells if cell.wait]
        assert sorted(set(told)) == ["2 ahead", "after others of this check", "next in line"]
        assert told.count("after others of this check") == 16
        assert before.stamp != after.stamp

    def test_who_is_ahead_of_those_that_follow_is_no_change(self, user):
        """The first is far from a step, and those behind it are not."""
        make_check(user, prompts=prompts(8))
        check = make_check(user, prompts=prompts(4))
        before = look(check, user).stamp

        claim(seats=1)

        assert look(check, user).stamp == before

    def test_what_happens_in_other_checks_is_no_change(self, changes):
        others = make_check(providers=("perplexity",))
        complete_one(others.jobs.get())

        assert not changes()

    def test_a_finished_check_does_not_care_for_lanes_and_workers(self, job, user):
        complete_one(job)
        before = look(job.of_check, user).stamp

        Lane.objects.update(paused=True)
        Worker.objects.all().delete()

        assert look(job.of_check, user).stamp == before


class TestCost:
    def test_one_query(self, user, django_assert_num_queries):
        check = make_check(user, prompts=tuple(f"Question {number}?" for number in range(50)))

        with django_assert_num_queries(1):
            look(check, user)

    def test_open_jobs_and_lines_are_read_off_their_indexes(self, user):
        check = make_check(user, prompts=tuple(f"Question {number}?" for number in range(50)))
        asked = {
            "uuid": check.uuid,
            "user": user.pk,
            "staff": False,
            "lease": timedelta(seconds=30),
            "parked": timedelta(minutes=30),
            "most": places.MOST,
            "steps": list(glance.STEPS),
            "busy": glance.BUSY,
        }
        with connection.cursor() as cursor:
            # Else the plan would go by what other tests have left in the tables' statistics.
            cursor.execute("ANALYZE capture_capturejob, capture_capture, capture_attempt")
            cursor.execute("SET LOCAL enable_seqscan = off")
            cursor.execute(f"EXPLAIN {glance.GLANCE}", asked)
            plan = "\n".join(line for (line,) in cursor.fetchall())

        assert "job_in_flight" in plan
        assert "Seq Scan on capture_capturejob" not in plan
        assert "Seq Scan on capture_capture " not in plan
