"""What is read in answers, as it is kept: when they come, and when names or rules change."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from capture import calls, queue, readings
from capture.analysis import mentions
from capture.analysis.reading import read
from capture.models import Brand, Capture, Competitor, Gist, HistoryMark, Mention
from capture.models.brands import editing
from capture.models.clock import ClockTimestamp, database_now
from capture.providers.replies import Refused
from tests.factories import answer, claim_one, complete_one, error, finish, make_check, make_job, make_user, prompts

TEXT = "Contoso leads. **Northwind** is fine, and Northwind is cheap. We would not recommend Contoso."


@pytest.fixture
def long_ago(monkeypatch):
    """Names that were changed just now were changed a while ago."""
    monkeypatch.setattr(readings, "OVERLAP", timedelta(0))


def brand_now() -> Brand:
    return Brand.objects.prefetch_related("competitors").get()


def rename(**fields):
    with transaction.atomic(), editing(Brand.objects.get()) as brand:
        Brand.objects.filter(pk=brand.pk).update(**fields)


def named(capture=None):
    capture = capture or Capture.objects.get()
    return [(found["key"], found["words"], found["hits"]) for found in capture.named]


def user_of_all() -> User:
    return User.objects.first() or make_user()


def another_job():
    """Of one and the same brand."""
    return make_check(user_of_all()).jobs.get()


def mentioned():
    return [
        (str(row.brand or row.competitor), row.rank, row.hits, row.words) for row in Mention.objects.order_by("rank")
    ]


@pytest.mark.django_db
class TestWhenAnAnswerComes:
    def test_it_is_kept_whom_it_names_in_the_order_in_which_they_are_named(self):
        complete_one(make_job(), TEXT)

        capture = Capture.objects.get()
        assert named() == [("competitor:0", "Contoso", 2), ("brand", "Northwind", 2)]
        assert [TEXT[found["start"] : found["end"]] for found in capture.named] == ["Contoso", "Northwind"]
        assert capture.named[0]["flags"] == ["not_recommended"]
        assert (capture.matcher, capture.edition) == (mentions.MATCHER_VERSION, brand_now().edition)

    def test_there_is_a_mention_for_each_by_the_names_of_today(self):
        complete_one(make_job(), TEXT)

        assert mentioned() == [("Contoso", 1, 2, "Contoso"), ("Northwind", 2, 2, "Northwind")]

    def test_competitors_of_other_checks_are_mentioned_but_not_named_in_this_one(self):
        job = make_job(competitors=())
        Competitor.objects.create(brand=brand_now(), name="Contoso")

        complete_one(job, TEXT)

        assert named() == [("brand", "Northwind", 2)]
        assert [row[:2] for row in mentioned()] == [("Contoso", 1), ("Northwind", 2)]

    def test_an_archived_competitor_is_no_longer_mentioned(self):
        job = make_job()
        Competitor.objects.update(archived_at=ClockTimestamp())

        complete_one(job, TEXT)

        assert [row[0] for row in mentioned()] == ["Northwind"]
        assert [key for key, _, _ in named()] == ["competitor:0", "brand"]

    def test_an_answer_that_names_nobody_is_read_as_well(self):
        complete_one(make_job(), "Nobody knows.")

        assert (named(), Capture.objects.get().matcher) == ([], mentions.MATCHER_VERSION)
        assert not Mention.objects.exists()

    def test_only_an_answer_is_read(self):
        ticket = claim_one(make_job())

        queue.complete(ticket, Refused(TEXT), calls.reading_of(ticket, Refused(TEXT)))

        assert (named(), Capture.objects.get().matcher) == ([], 0)
        assert not Mention.objects.exists()

    def test_the_same_answer_written_twice_is_read_once(self):
        ticket = claim_one(make_job())

        finish(ticket, answer(TEXT))
        finish(ticket, answer(TEXT))

        assert len(mentioned()) == 2

    def test_an_answer_in_place_of_a_failure_is_read(self):
        ticket = claim_one(make_job())
        queue.fail(ticket, error())

        finish(ticket, answer(TEXT))

        assert len(named()) == len(mentioned()) == 2

    def test_words_that_cannot_be_stored_lose_no_answer(self):
        complete_one(make_job(), "\x00Northwind\x00 and\x00 Contoso")

        assert named() == [("brand", "Northwind", 1), ("competitor:0", "Contoso", 1)]

    def test_it_takes_no_statement_more_than_an_answer_that_is_not_read(self):
        unread, read = (claim_one(make_job()) for _ in range(2))
        without = _queries(lambda: queue.complete(unread, answer(TEXT)))

        with_reading = _queries(lambda: finish(read, answer(TEXT)))

        assert with_reading - without == 0  # all that is kept of it is kept at once


def _queries(do) -> int:
    with CaptureQueriesContext(connection) as queries:
        do()
    return len(queries)


@pytest.mark.django_db
class TestAnAnswerThatIsNotRead:
    def test_it_is_kept_and_read_later(self):
        queue.complete(claim_one(make_job()), answer(TEXT))
        assert Capture.objects.get().matcher == 0

        assert readings.read_on(1) == 1

        assert named() == [("competitor:0", "Contoso", 2), ("brand", "Northwind", 2)]
        assert len(mentioned()) == 2

    def test_it_is_found_by_an_index(self):
        check = make_check(prompts=prompts(500))
        same = {"team": check.team, "of_check": check, "provider": "chatgpt", "outcome": "answered", "text": "Contoso."}
        read_ones = {
            **same,
            "attempts": 1,
            "simulated": True,
            "answered_at": database_now(),
            "matcher": 1,
            "edition": 1,
        }
        Capture.objects.bulk_create(Capture(prompt=prompt, **read_ones) for prompt in check.prompts.all())
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE capture_capture")

        assert "capture_unread" in Capture.objects.new_unread().explain()

    @pytest.mark.usefixtures("long_ago")
    def test_a_brand_whose_answers_were_all_read_is_looked_through_again(self):
        complete_one(make_job(), TEXT)
        readings.read_on(1)
        assert not readings.unread_brands()

        queue.complete(claim_one(another_job()), answer(TEXT))

        assert list(readings.unread_brands()) == [brand_now()]

    @pytest.mark.usefixtures("long_ago")
    def test_one_that_cannot_be_read_keeps_no_other_from_it_and_is_not_tried_for_ever(self, monkeypatch):
        for text in ("a bad one", TEXT):
            queue.complete(claim_one(another_job()), answer(text))
        monkeypatch.setattr(readings, "read", _stumbling(read))

        assert readings.read_on(1) == 2

        assert sorted(Capture.objects.values_list("matcher", flat=True)) == [0, mentions.MATCHER_VERSION]
        assert readings.read_on(1) == 0
        assert not readings.unread_brands()


def _stumbling(read):
    def stumble(text, watch):
        if "bad" in text:
            raise ValueError(text)
        return read(text, watch)

    return stumble


@pytest.mark.django_db
class TestAfterAChangeOfNames:
    @pytest.mark.usefixtures("long_ago")
    def test_mentions_are_found_by_the_new_names_and_what_a_check_says_stays(self):
        complete_one(make_job(), TEXT)
        before = Capture.objects.get().named

        rename(name="Fine", aliases=["cheap"])
        readings.read_on(1)

        assert mentioned() == [("Contoso", 1, 2, "Contoso"), ("Fine", 2, 2, "fine")]
        assert Capture.objects.get().named == before
        assert Capture.objects.get().edition == brand_now().edition == 3

    def test_it_is_a_new_edition_with_a_mark(self):
        complete_one(make_job(), TEXT)

        rename(name="Fine")

        mark = HistoryMark.objects.get()
        assert (mark.kind, mark.before["brand"]["name"], mark.after["brand"]["name"]) == ("names", "Northwind", "Fine")
        assert brand_now().edited_at is not None

    def test_a_check_with_a_new_competitor_is_one_too(self):
        user = user_of_all()
        make_check(user)

        make_check(user, competitors=("Contoso", "Fabrikam"))

        mark = HistoryMark.objects.get()
        assert [names["name"] for names in mark.after["competitors"]] == ["Contoso", "Fabrikam"]

    def test_a_check_with_the_same_names_is_none(self):
        user = user_of_all()
        make_check(user)
        edition = brand_now().edition

        make_check(user)

        assert brand_now().edition == edition
        assert not HistoryMark.objects.exists()

    @pytest.mark.usefixtures("long_ago")
    def test_nothing_is_read_twice(self):
        complete_one(make_job(), TEXT)
        rename(name="Fine")

        assert [readings.read_on(1), readings.read_on(1)] == [1, 0]

    @pytest.mark.usefixtures("long_ago")
    def test_an_answer_that_was_on_its_way_is_read_again(self):
        ticket = claim_one(make_job())
        rename(name="Fine")
        readings.read_on(1)
        assert not readings.unread_brands()

        finish(ticket, answer(TEXT))

        assert "Northwind" in str(mentioned()[1])
        assert readings.read_on(1) == 1
        assert mentioned()[1] == ("Fine", 2, 1, "fine")
        assert not readings.unread_brands()

    def test_a_brand_is_not_done_with_while_transactions_of_before_may_go_on(self):
        complete_one(make_job(), TEXT)
        rename(name="Fine")

        readings.read_on(1)

        assert list(readings.unread_brands()) == [brand_now()]

    def test_whoever_is_wanted_elsewhere_reads_no_more_than_a_batch(self):
        for _ in range(readings.BATCH + 1):
            queue.complete(claim_one(another_job()), answer(TEXT))

        assert readings.read_on(60, lambda: True) == readings.BATCH

    def test_little_time_is_enough_for_one_answer(self):
        for _ in range(3):
            queue.complete(claim_one(another_job()), answer(TEXT))

        assert [readings.read_on(0) for _ in range(4)] == [1, 1, 1, 0]


@pytest.mark.django_db
class TestAfterAChangeOfTheRules:
    @pytest.mark.usefixtures("long_ago")
    def test_answers_are_read_by_the_new_ones_and_history_has_a_mark(self, monkeypatch):
        complete_one(make_job(), TEXT)
        readings.read_on(1)
        Capture.objects.update(matcher=1, named=[])
        Brand.objects.update(read_matcher=1)
        for module in (
            "capture.analysis.reading",
            "capture.readings",
            "capture.models.brands",
            "capture.models.captures",
        ):
            monkeypatch.setattr(f"{module}.MATCHER_VERSION", 2)

        assert readings.read_on(1) == 1

        assert named() == [("competitor:0", "Contoso", 2), ("brand", "Northwind", 2)]
        mark = HistoryMark.objects.get(kind="matcher")
        assert (mark.before, mark.after) == (1, 2)
        assert not readings.unread_brands()

    @pytest.mark.usefixtures("long_ago")
    def test_a_worker_of_before_leaves_what_a_newer_one_has_read(self):
        complete_one(make_job(), TEXT)
        readings.read_on(1)
        Capture.objects.update(matcher=mentions.MATCHER_VERSION + 1)
        Brand.objects.update(read_matcher=mentions.MATCHER_VERSION + 1)

        assert readings.read_on(1) == 0


@pytest.mark.django_db(transaction=True)
def test_two_at_once_leave_each_answer_read_once():
    for _ in range(4):
        queue.complete(claim_one(another_job()), answer(TEXT))
    counts: list[int] = []

    def read_all():
        counts.append(sum(iter(lambda: readings.read_again(brand_now(), most=1), 0)))
        connection.close()

    threads = [threading.Thread(target=read_all) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert Mention.objects.count() == 8
    assert Gist.objects.count() == 4
    assert sum(counts) >= 4  # what the other has just read may be read again, to the same end
