"""What an open page says that it shows, and what can be said about the rest of a check."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core.cache import cache

from capture import heartbeat, queue, reports
from capture.models import Lane
from capture.models.clock import database_now
from capture.providers import registry
from capture.reports import Shown, cells, progress
from capture.reports.cells import told_ahead
from tests.factories import WORKER, answer, claim, claim_one, make_check, make_job, make_user

pytestmark = pytest.mark.usefixtures("simulated")

STAMP = "0123456789abcdef" * 2


class TestShown:
    def test_it_reads_what_it_writes(self):
        shown = Shown(STAMP, ("AAAA", "b-_9"))

        assert Shown.read(str(shown)) == shown
        assert Shown.read(str(Shown(STAMP))) == Shown(STAMP)

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "x",
            STAMP,
            f"{STAMP} AAA",
            f"{STAMP}  AAAA",
            f"{STAMP[:-1]} AAAA",
            f"{STAMP.upper()} AAAA",
            f"{STAMP} ÄÄÄÄ",
        ],
    )
    def test_what_it_does_not_understand_shows_nothing(self, text):
        assert Shown.read(text) == Shown()


class TestAhead:
    @pytest.mark.parametrize(
        ("ahead", "words"),
        [
            (0, "next in line"),
            (1, "1 ahead"),
            (2, "2 ahead"),
            (3, "3 to 4 ahead"),
            (5, "5 to 9 ahead"),
            (19, "10 to 19 ahead"),
            (999, "500 to 999 ahead"),
            (1_000, "over 1,000 ahead"),
            (5_000, "over 1,000 ahead"),
        ],
    )
    def test_it_is_told_in_steps(self, ahead, words):
        assert told_ahead(ahead) == words


@pytest.mark.django_db
class TestProgress:
    @pytest.fixture(autouse=True)
    def _worker(self):
        cache.clear()
        heartbeat.register(WORKER, list(registry.by_slug), 8)

    @pytest.fixture
    def user(self):
        return make_user("ada")

    @pytest.fixture
    def progress_of(self, user):
        def look(check) -> reports.Progress:
            glance = reports.glance_at(user, check.uuid)
            assert glance
            return reports.progress_of(glance)

        return look

    def measure(self, *seconds: float, **fields) -> None:
        """Somebody else's calls took so long."""
        check = make_check(
            brand="Measured", prompts=tuple(f"Question {number}?" for number in range(len(seconds))), **fields
        )
        for ticket in claim(seats=100):
            queue.complete(ticket, answer())
        for capture, length in zip(check.captures.order_by("pk"), seconds, strict=True):
            capture.seconds = length
            capture.save(update_fields=["seconds"])

    def test_a_page_with_too_many_cells_is_sent_all_of_them(self, user, progress_of, monkeypatch):
        monkeypatch.setattr(progress, "MOST_CODES", 1)
        check = make_check(user, prompts=("One?", "Two?"))

        shown = progress_of(check).shown

        assert shown.codes == ()
        assert len(progress_of(check).news(shown)) == 2

    def test_the_codes_of_two_cells_that_say_the_same_differ(self, user, progress_of):
        Lane.objects.update(paused=True)

        first, second = progress_of(make_check(user, prompts=("One?", "Two?"))).shown.codes

        assert first != second

    def test_seconds_that_pass_are_no_news(self, user, progress_of):
        job = make_job(user=user)
        claim_one(job)
        before = progress_of(job.of_check).shown

        later = progress_of(job.of_check)

        assert later.shown == before
        assert later.news(before) == []

    def test_nothing_is_left_to_say_before_anything_was_measured(self, user, progress_of):
        assert progress_of(make_check(user)).left == ""

    def test_the_rest_takes_its_turns_in_the_lane(self, user, progress_of):
        self.measure(100, 140)
        Lane.objects.filter(name="openai").update(limit=2)
        check = make_check(user, prompts=tuple(f"Question {number}?" for number in range(10)))

        # Of ten, two start at once; eight wait for places that come free every minute; the last takes two.
        assert progress_of(check).left == "about 10 minutes"

    def test_others_that_go_first_count(self, user, progress_of):
        self.measure(60, 60)
        Lane.objects.filter(name="openai").update(limit=1)
        make_check(user, brand="Other", prompts=tuple(f"Question {number}?" for number in range(9)))

        assert progress_of(make_check(user)).left == "about 10 minutes"

    def test_cooling_comes_on_top(self, user, progress_of):
        self.measure(60)
        now = database_now()
        cools = {"cooling_since": now, "cooling_until": now + timedelta(minutes=15)}
        Lane.objects.filter(name="openai").update(**cools)

        assert progress_of(make_check(user)).left == "about 16 minutes"

    @pytest.mark.parametrize("fields", [{"paused": True}, {"enabled": False}], ids=["paused", "off"])
    def test_nobody_can_say_how_long_staff_hold_a_lane(self, user, progress_of, fields):
        self.measure(60)
        check = make_check(user)
        Lane.objects.filter(name="openai").update(**fields)

        assert progress_of(check).left == ""

    def test_a_lane_whose_places_are_taken_says_so(self, user, progress_of):
        Lane.objects.filter(name="openai").update(limit=1)
        claim_one(make_job())

        (hold,) = progress_of(make_check(user)).holds

        assert hold.startswith("ChatGPT: the one place of the account is taken")

    def test_a_full_lane_holds_nothing_that_is_asked_already(self, user, progress_of):
        Lane.objects.filter(name="openai").update(limit=1)
        job = make_job(user=user)
        claim_one(job)

        assert progress_of(job.of_check).holds == []


def test_every_state_has_words():
    assert all(state.words for state in cells.State)
