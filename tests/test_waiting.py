"""Why an open job is waiting: one reason each, whatever else holds it as well."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from capture import heartbeat, queue
from capture.models import CaptureJob, Lane, Worker
from capture.models.clock import ClockTimestamp, database_now
from capture.reports import WaitKind, places, waits_of
from capture.reports.waiting import Wait, digest_of
from tests.factories import WORKER, claim_one, complete_one, error, fresh, make_check, make_job, make_user
from tests.lost_workers import fall_silent, make_worker

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("simulated")]

MINUTES = timedelta(minutes=1)


@pytest.fixture
def worker():
    """The worker that the builders claim for; it asks ChatGPT and Perplexity."""
    heartbeat.register(WORKER, ["chatgpt", "perplexity"], 8)
    return WORKER


def wait_of(job: CaptureJob) -> Wait:
    return waits_of([fresh(job)])[job.pk]


def words_of(job: CaptureJob) -> str:
    return wait_of(job).words


def set_lane(name: str = "openai", **fields) -> None:
    Lane.objects.filter(name=name).update(**fields)


def cool(minutes: float = 15, reason: str = "invalid_api_key", name: str = "openai") -> None:
    now = database_now()
    set_lane(name, cooling_since=now, cooling_until=now + minutes * MINUTES, cooling_reason=reason)


def clock(at) -> str:
    """The minute by which a moment has come."""
    return (timezone.localtime(at) + timedelta(minutes=1, microseconds=-1)).strftime("%H:%M %Z")


def put_off(job: CaptureJob, minutes: float) -> None:
    queue.ask_again(claim_one(job), error("rate_limit_exceeded"), minutes * 60)


@pytest.mark.usefixtures("worker")
class TestBeforeItsStart:
    def test_the_first_in_line_is_next(self):
        assert words_of(make_job()) == "next in line"

    def test_others_of_the_lane_are_ahead_whichever_check_they_are_of(self):
        user = make_user()
        make_check(user, prompts=tuple(f"Question {number}?" for number in range(12)))
        make_job(providers=("perplexity",))
        job = make_check(user).jobs.get()

        assert words_of(job) == "about 12 ahead"

    def test_a_team_that_comes_later_has_few_of_a_large_check_ahead(self):
        make_check(prompts=tuple(f"Question {number}?" for number in range(12)))

        assert words_of(make_job()) == "about 1 ahead"

    def test_the_order_is_by_turn_and_then_by_number(self):
        late, early = make_job(), make_job()
        CaptureJob.objects.filter(pk=late.pk).update(turn=5)

        waits = waits_of([fresh(late), fresh(early)])

        assert (waits[late.pk].ahead, waits[early.pk].ahead) == (1, 0)

    @pytest.mark.parametrize(
        ("ahead", "words"),
        [(0, "next in line"), (1, "about 1 ahead"), (99, "about 99 ahead"), (256, "about 260 ahead")],
    )
    def test_large_numbers_are_told_roughly(self, ahead, words):
        assert Wait(kind=WaitKind.IN_LINE, system="ChatGPT", ahead=ahead).words == words

    def test_nothing_exact_is_told_of_a_long_line(self, monkeypatch):
        monkeypatch.setattr(places, "MOST", 3)
        check = make_check(prompts=tuple(f"Question {number}?" for number in range(6)))

        waits = waits_of(check.jobs.order_by("pk"))

        assert [wait.words for wait in waits.values()] == [
            "next in line",
            "about 1 ahead",
            "about 2 ahead",
            *["over 3 ahead"] * 3,
        ]

    def test_a_job_that_is_claimed_while_this_is_read_has_nobody_ahead(self):
        make_job()
        job = make_job()
        start_one_of_two = fresh(job)
        CaptureJob.objects.filter(pk=job.pk).update(run_after=ClockTimestamp())

        assert waits_of([start_one_of_two])[job.pk].words == "next in line"

    def test_a_full_lane_says_so_and_who_is_ahead(self):
        claim_one(make_job())
        set_lane(limit=1)
        make_job()
        job = make_job()

        assert words_of(job) == "ChatGPT is full: 1 of 1 in hand, about 1 ahead"

    def test_a_call_that_is_parked_takes_no_place(self):
        parked = make_job()
        queue.wait(claim_one(parked), "resp_1", 3600)
        CaptureJob.objects.filter(pk=parked.pk).update(asked_at=database_now() - 31 * MINUTES)
        set_lane(limit=1)

        assert words_of(make_job()) == "next in line"

    def test_starts_that_are_spaced(self):
        set_lane(least_seconds_between_starts=600, last_start_at=database_now())

        assert words_of(make_job()) == "starts are spaced 600 s apart, next in line"

    def test_spacing_that_is_over_holds_nothing(self):
        set_lane(least_seconds_between_starts=2, last_start_at=database_now() - MINUTES)

        assert words_of(make_job()) == "next in line"

    def test_a_job_that_is_put_off_says_until_when_and_why(self):
        job = make_job()
        put_off(job, 3)

        at = clock(fresh(job).run_after)
        assert words_of(job).startswith(f"asked again at {at}")
        assert words_of(job).endswith("after: too many questions at once for this account")

    def test_a_cooling_lane_says_why_and_until_when(self):
        job = make_job()
        cool()

        until = Lane.objects.get(name="openai").cooling_until
        assert words_of(job).startswith(f"waiting: the ChatGPT key was refused; next try at {clock(until)}")
        assert wait_of(job).until == until

    def test_the_time_is_of_the_active_time_zone_and_names_the_day_if_it_is_another(self):
        noon = timezone.now().replace(hour=12, minute=0, second=0, microsecond=0)
        wait = Wait(kind=WaitKind.RETRY, system="ChatGPT", until=noon, reason="timeout")
        later = Wait(kind=WaitKind.RETRY, system="ChatGPT", until=noon + timedelta(days=1, seconds=1), reason="timeout")

        with timezone.override("Asia/Kolkata"):
            told = wait.words

        assert "at 12:00" in wait.words
        assert "at 17:30" in told
        assert f"at 12:01 UTC, {noon + timedelta(days=1):%-d %B}" in later.words

    def test_after_the_cooling_one_call_is_tried_first(self):
        cool(minutes=-1)

        assert words_of(make_job()) == "waiting: the ChatGPT key was refused; one call is tried first"

    def test_a_lane_that_is_open_again_holds_nothing(self):
        cool(minutes=-1)
        set_lane(cooling_since=None, cooling_reason="")

        assert words_of(make_job()) == "next in line"

    @pytest.mark.parametrize(("retry", "kind"), [(3, WaitKind.COOLING), (60, WaitKind.RETRY)])
    def test_of_two_times_the_later_is_told(self, retry, kind):
        job = make_job()
        put_off(job, retry)
        cool(minutes=15)

        assert wait_of(job).kind is kind

    def test_another_lanes_trouble_holds_nothing(self):
        set_lane("perplexity", paused=True, limit=1)
        cool(name="gemini")

        assert words_of(make_job()) == "next in line"

    def test_what_lasts_longest_is_told_first(self):
        """Each of these is added to the ones before; each time the one that is added is told."""
        claim_one(make_job())
        job = make_job()
        kinds = [wait_of(job).kind]
        for hold in (
            lambda: set_lane(least_seconds_between_starts=600, last_start_at=database_now()),
            lambda: set_lane(limit=1),
            cool,
            lambda: set_lane(paused=True),
            lambda: set_lane(enabled=False),
            lambda: Worker.objects.update(providers=["perplexity"]),
            lambda: fall_silent(WORKER),
        ):
            hold()
            kinds.append(wait_of(job).kind)

        assert kinds == [
            WaitKind.IN_LINE,
            WaitKind.SPACED,
            WaitKind.FULL,
            WaitKind.COOLING,
            WaitKind.PAUSED,
            WaitKind.OFF,
            WaitKind.NOT_ASKED,
            WaitKind.NO_WORKER,
        ]

    def test_words_for_what_only_people_can_change(self):
        job = make_job()
        told = []
        for hold in (
            lambda: set_lane(paused=True),
            lambda: set_lane(enabled=False),
            lambda: Worker.objects.update(providers=["perplexity"]),
            lambda: Worker.objects.update(stopped_at=database_now()),
        ):
            hold()
            told.append(words_of(job))

        assert told == [
            "paused by staff",
            "ChatGPT is switched off by staff",
            "no worker asks ChatGPT",
            "no worker is alive",
        ]


@pytest.mark.usefixtures("worker")
class TestOnceItIsAsked:
    def test_a_job_in_a_workers_hands_is_being_asked(self):
        job = make_job()

        claim_one(job)

        assert words_of(job) == "asking"

    def test_a_call_in_hand_is_worked_at_by_the_system_and_looked_after(self):
        job = make_job()
        queue.wait(claim_one(job), "resp_1", 0)

        working = words_of(job)
        claim_one(job)

        assert (working, words_of(job)) == ("working at the system", "being looked after")

    def test_pausing_a_lane_and_its_places_hold_no_call_in_hand(self):
        job = make_job()
        queue.wait(claim_one(job), "resp_1", 0)
        set_lane(paused=True, limit=1)

        assert wait_of(job).kind is WaitKind.WORKING

    def test_cooling_holds_a_call_once_it_is_due_to_be_looked_after(self):
        due, later = make_job(), make_job(providers=("perplexity",))
        queue.wait(claim_one(due), "resp_1", 0)
        queue.wait(claim_one(later), "resp_2", 60)
        cool()
        cool(name="perplexity")

        assert wait_of(due).kind is WaitKind.COOLING
        assert wait_of(later).kind is WaitKind.WORKING

    def test_a_lane_that_is_switched_off_holds_a_call_in_hand_too(self):
        job = make_job()
        queue.wait(claim_one(job), "resp_1", 60)
        set_lane(enabled=False)

        assert wait_of(job).kind is WaitKind.OFF

    def test_a_job_whose_worker_is_silent_says_so_while_others_are_alive(self):
        job = make_job()
        claim_one(job)
        fall_silent(WORKER)

        alone = words_of(job)
        make_worker()

        assert alone == "no worker is alive"
        assert words_of(job) == "nothing is heard of its worker; another will take it over"

    def test_a_final_job_waits_for_nothing(self):
        job = make_job()
        complete_one(job)

        assert waits_of([fresh(job)]) == {}


@pytest.mark.usefixtures("worker")
class TestDigest:
    def test_it_stays_while_nothing_changes(self):
        job = make_job()

        assert digest_of(waits_of([job])) == digest_of(waits_of([job]))

    def test_it_changes_with_lanes_and_workers(self):
        job = make_job()
        seen = [digest_of(waits_of([job]))]
        for change in (
            lambda: set_lane(paused=True),
            lambda: set_lane(paused=False, enabled=False),
            lambda: set_lane(enabled=True, least_seconds_between_starts=60, last_start_at=database_now()),
            lambda: cool(15),
            lambda: cool(15, reason="insufficient_quota"),
            lambda: cool(30),
            lambda: fall_silent(WORKER),
        ):
            change()
            seen.append(digest_of(waits_of([job])))

        assert len(set(seen)) == len(seen)


@pytest.mark.usefixtures("worker")
class TestCost:
    @pytest.mark.parametrize("prompts", [1, 40])
    def test_three_queries_whatever_the_number_of_jobs(self, prompts, django_assert_num_queries):
        check = make_check(
            prompts=tuple(f"Question {number}?" for number in range(prompts)),
            providers=("chatgpt", "perplexity", "gemini"),
        )
        jobs = list(check.jobs.all())

        with django_assert_num_queries(3):
            assert len(waits_of(jobs)) == 3 * prompts

    def test_no_query_for_no_job(self, django_assert_num_queries):
        with django_assert_num_queries(0):
            assert waits_of([]) == {}

    @pytest.mark.slow
    def test_places_in_a_line_of_100_000_are_read_off_the_front_of_the_index(self):
        job = make_job()
        rows = """
            INSERT INTO capture_capturejob (team_id, of_check_id, prompt_id, provider, lane, sample, status, turn,
                polls, attempts, unknowns, crashes, reason, estimate)
            SELECT team_id, of_check_id, prompt_id, 'p' || n / 30000, lane, 1 + n % 30000, 'pending', n,
                0, 0, 0, 0, '', 0
            FROM (SELECT * FROM capture_capturejob LIMIT 1) job, generate_series(1, 100000) n
        """
        with connection.cursor() as cursor:
            cursor.execute(rows)
            cursor.execute("ANALYZE capture_capturejob")
            wanted: dict[str, Any] = {"jobs": [job.pk], "lanes": ["openai", "perplexity"], "most": places.MOST}
            cursor.execute("EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) " + places.PLACES, wanted)
            ((plan,),) = cursor.fetchall()

        scans = [node for node in nodes(plan[0]["Plan"]) if node.get("Relation Name") == "capture_capturejob"]
        assert [scan.get("Index Name") for scan in scans] == ["job_claimable"]
        assert scans[0]["Actual Rows"] * scans[0]["Actual Loops"] <= 2 * (places.MOST + 1)
        last = CaptureJob.objects.order_by("-turn")[:1]
        assert [wait.words for wait in waits_of(last).values()] == ["no worker asks p3"]
        CaptureJob.objects.filter(pk__in=[job.pk for job in last]).update(provider="chatgpt")
        assert words_of(last[0]) == "over 1,000 ahead"


def nodes(plan):
    yield plan
    for below in plan.get("Plans", ()):
        yield from nodes(below)
