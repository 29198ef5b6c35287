"""What the answers of one check come to."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from capture import queue
from capture.models import Brand, Capture, CaptureJob, Competitor, Source
from capture.providers.replies import Kind, Refused
from capture.reports.summary import Summary, summary_of
from tests.factories import ACCOUNT, answer, claim, error, make_check, read_as

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("simulated")]

NAMED, SECOND, RIVAL, NOBODY = ("brand",), ("competitor:0", "brand"), ("competitor:0",), ()
LANES = {"chatgpt": "openai", "perplexity": "perplexity"}


def checked(answers: dict[str, list[tuple[str, ...]]], account=ACCOUNT, **fields):
    """A check whose systems' answers name these; a system of which there are none has failed throughout."""
    questions = max(len(each) for each in answers.values())
    fields.setdefault("prompts", tuple(f"Question {number}?" for number in range(questions)))
    check = make_check(providers=tuple(answers), **fields)
    for slug, named in answers.items():
        for ticket in claim(LANES[slug]):
            if named:
                queue.complete(ticket, answer())
            else:
                queue.fail(ticket, error("refused_key", kind=Kind.FATAL))
        for capture, keys in zip(
            check.captures.filter(provider=slug).order_by("prompt__position"), named, strict=False
        ):
            read_as(capture, *keys)
    return check


def said(summary: Summary, part: int = 0, table: int = 0) -> dict[str, list[str]]:
    """The words of each line of a table."""
    found = summary.parts[part].tables[table]
    return {line.label: [said.words for said in line.said] for line in (*found.lines, found.overall)}


def cite(capture: Capture, *domains: str) -> None:
    capture.sources.all().delete()
    for position, domain in enumerate(domains, start=1):
        Source.objects.create(
            capture=capture, position=position, url=f"https://{domain}/", raw_url="", domain=domain, cited=True
        )


class TestFigures:
    def test_each_is_a_count_a_share_and_an_interval_by_system_and_overall(self):
        check = checked({"chatgpt": [NAMED, SECOND, RIVAL, NOBODY], "perplexity": [NAMED, NAMED, NAMED, NOBODY]})

        found = said(summary_of(check))

        assert found["ChatGPT"] == [
            "2 of 4 · 50 % (15–85)",
            "2 of 4 · 50 % (13–87)",
            "1 of 4 · 25 % (5–70)",
            "0 of 4 · 0 % (0–49)",
        ]
        assert found["Perplexity"][:3] == ["3 of 4 · 75 % (30–95)", "3 of 3 · 100 % (44–100)", "3 of 4 · 75 % (30–95)"]
        assert found["Overall"][0] == "5 of 8 · 62 % (31–86)"

    def test_position_is_the_mean_place_among_those_named(self):
        check = checked({"chatgpt": [NAMED, SECOND, RIVAL]})

        assert str(summary_of(check).parts[0].tables[0].overall.position) == "1.5 (n = 2)"

    def test_without_competitors_there_is_no_share_of_voice(self):
        check = checked({"chatgpt": [NAMED, NOBODY]}, competitors=())

        assert said(summary_of(check))["ChatGPT"][1] == "—"

    def test_where_nobody_is_named_there_is_no_share_of_voice(self):
        check = checked({"chatgpt": [NOBODY, NOBODY]})

        assert said(summary_of(check))["ChatGPT"][:2] == ["0 of 2 · 0 % (0–66)", "—"]

    def test_without_sources_nothing_is_cited(self):
        check = checked({"chatgpt": [NAMED]})
        Source.objects.all().delete()

        assert said(summary_of(check))["ChatGPT"][3] == "—"

    def test_answers_of_one_day_are_a_single_check(self):
        check = checked({"chatgpt": [NAMED, NOBODY]})
        assert summary_of(check).parts[0].tables[0].overall.single_check

        first = check.captures.first()
        Capture.objects.filter(pk=first.pk).update(answered_at=timezone.now() - timedelta(days=2))

        assert not summary_of(check).parts[0].tables[0].overall.single_check


class TestWhatIsInNoFigure:
    def test_a_system_that_failed_is_not_measured_and_not_zero(self):
        check = checked({"chatgpt": [NAMED], "perplexity": []})

        table = summary_of(check).parts[0].tables[0]

        assert [said.words for said in table.lines[1].said] == ["not measured"] * 4
        assert table.lines[1].reasons == [(1, "failed")]
        assert said(summary_of(check))["Overall"][0] == "1 of 1 · 100 % (21–100)"

    def test_what_brought_no_answer_is_counted_by_its_reason(self):
        check = make_check(prompts=("One?", "Two?", "Three?"))
        first, second, _ = claim(seats=3)
        queue.complete(first, answer())
        queue.complete(second, Refused("No."))
        read_as(check.captures.get(outcome="answered"), *NAMED)

        table = summary_of(check).parts[0].tables[0]

        assert table.overall.reasons == [(1, "refused")]
        assert table.overall.figures["visibility"].counts == "1 of 1"

    def test_what_was_called_off_is_told_beside_the_answers_of_the_simulator(self):
        check = make_check(prompts=("One?", "Two?"))
        (ticket,) = claim(seats=1)
        queue.complete(ticket, answer())
        queue.cancel(check.jobs.all())
        read_as(check.captures.get(outcome="answered"), *NAMED)

        (part,) = summary_of(check).parts

        assert part.simulated
        assert part.tables[0].overall.reasons == [(1, "cancelled")]

    def test_a_copy_and_an_answer_that_nobody_has_read_count_in_nothing(self):
        check = checked({"chatgpt": [NAMED, NAMED, NAMED]})
        copy, unread, _ = check.captures.order_by("pk")
        Capture.objects.filter(pk=copy.pk).update(cached=True)
        Capture.objects.filter(pk=unread.pk).update(matcher=0, named=[])

        overall = summary_of(check).parts[0].tables[0].overall

        assert overall.answers == 1
        assert overall.reasons == [(1, "copied from the system’s cache"), (1, "not searched for names")]

    def test_without_any_answer_there_is_no_part(self):
        assert summary_of(make_check()).parts == ()
        assert summary_of(checked({"chatgpt": [NAMED]})).answers == 1


class TestWhatIsNeverInOneFigure:
    def test_simulated_and_real_answers(self):
        check = checked({"chatgpt": [NAMED, NAMED], "perplexity": [NOBODY, NOBODY]})
        check.captures.filter(provider="perplexity").update(simulated=False)

        real, simulated = summary_of(check).parts

        assert (real.simulated, simulated.simulated) == (False, True)
        assert real.tables[0].overall.figures["visibility"].counts == "0 of 2"
        assert simulated.tables[0].overall.figures["visibility"].counts == "2 of 2"
        assert [line.label for line in real.tables[0].lines] == ["Perplexity"]

    def test_questions_that_name_the_brand_and_others(self):
        check = checked({"chatgpt": [NAMED, NOBODY]}, prompts=("Is Northwind any good?", "Which is best?"))

        plain, branded = summary_of(check).parts[0].tables

        assert (plain.branded, plain.overall.figures["visibility"].counts) == (False, "0 of 1")
        assert (branded.branded, branded.overall.figures["visibility"].counts) == (True, "1 of 1")


class TestSites:
    def test_they_are_counted_once_an_answer_with_whose_they_are_and_who_cites_them(self):
        Brand.objects.all().delete()
        check = checked({"chatgpt": [NAMED, NAMED], "perplexity": [NAMED, NOBODY]})
        check.names["brand"]["domains"] = ["northwind.example"]
        check.names["competitors"][0]["domains"] = ["https://www.contoso.co.uk"]
        check.save()
        first, second = check.captures.filter(provider="chatgpt").order_by("pk")
        third, fourth = check.captures.filter(provider="perplexity").order_by("pk")
        cite(first, "shop.northwind.example", "northwind.example", "reviews.example")
        cite(second, "reviews.example", "notnorthwind.example")
        cite(third, "blog.contoso.co.uk", "reviews.example", "")
        cite(fourth)

        sites = summary_of(check).parts[0].sites

        assert [(site.domain, site.kind.value, site.share.counts, site.systems) for site in sites] == [
            ("reviews.example", "other", "3 of 3", ("ChatGPT", "Perplexity")),
            ("contoso.co.uk", "competitor", "1 of 3", ("Perplexity",)),
            ("northwind.example", "own", "1 of 3", ("ChatGPT",)),
            ("notnorthwind.example", "other", "1 of 3", ("ChatGPT",)),
        ]
        assert said(summary_of(check))["Overall"][3] == "1 of 3 · 33 % (6–79)"

    def test_a_page_has_the_first_and_says_how_many_more(self):
        check = checked({"chatgpt": [NAMED]})
        cite(check.captures.get(), *(f"site{number}.example" for number in range(13)))

        (part,) = summary_of(check).parts

        assert (len(part.sites), part.more) == (10, 3)
        assert len(summary_of(check, most=None).parts[0].sites) == 13


class TestItStays:
    def test_when_names_are_edited_and_jobs_are_cleaned_up(self):
        check = checked({"chatgpt": [NAMED, SECOND, RIVAL], "perplexity": []})
        before = summary_of(check).parts

        Brand.objects.update(name="Another", aliases=["Other"], domains=["reviews.example"])
        Competitor.objects.update(name="Someone", archived_at=timezone.now())
        CaptureJob.objects.all().delete()
        check.refresh_from_db()

        assert summary_of(check).parts == before


@pytest.mark.parametrize("questions", [2, 20])
def test_it_takes_two_queries_whatever_its_size(questions, django_assert_num_queries):
    check = checked({"chatgpt": [NAMED] * questions})

    with django_assert_num_queries(2):
        summary_of(check)
