"""A brand's history as pages and as files."""

from __future__ import annotations

import csv
import io
import json
from datetime import date, timedelta

import pytest
from django.utils import timezone
from django.utils.html import strip_tags

from capture.models import Brand, Competitor, Team
from tests.factories import make_user
from tests.histories import Kept
from tests.test_views import Tags


@pytest.fixture
def kept(ada) -> Kept:
    return Kept.make(ada)


def days_ago(days: int) -> date:
    return timezone.now().date() - timedelta(days=days)


@pytest.fixture
def fifty_days(kept: Kept) -> Kept:
    """Every day one answer of ChatGPT that names the brand on two days of three, and one of Gemini that never does."""
    for day in range(50):
        kept.answer(days_ago(day), ["brand", "rival"] if day % 3 else ["rival"], hosts=["northwind.example"])
        kept.answer(days_ago(day), [], provider="gemini", hosts=["news.example"])
    return kept


def page(browser, kept, query: str = "") -> str:
    response = browser.get(f"/brands/{kept.brand.uuid}/{query}")
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def rows(browser, kept, name: str) -> list[dict[str, str]]:
    response = browser.get(f"/brands/{kept.brand.uuid}/{name}")
    assert response.headers["Content-Disposition"].startswith('attachment; filename="northwind-')
    return list(csv.DictReader(io.StringIO(b"".join(response.streaming_content).decode()[1:], newline="")))


class TestPage:
    def test_each_figure_has_its_n_its_interval_and_its_definition(self, browser, fifty_days):
        html = page(browser, fifty_days)

        assert "33 of 50 · 66 % (52–78)" in strip_tags(html)
        assert "0 of 50 · 0 % (0–7)" in strip_tags(html)
        assert "33 of 100 · 33 % (" in strip_tags(html)
        for name in ("visibility", "voice", "first", "position", "change", "left-out"):
            assert f'href="/figures/#{name}"' in html

    def test_charts_are_drawn_by_classes_and_told_in_words(self, browser, fifty_days):
        html = page(browser, fifty_days)

        charts = [tag for tag in Tags(html).of("svg") if "chart" in (tag["class"] or "")]
        # Visibility and share of voice, overall and of two systems; at one of them nobody has a voice.
        assert len(charts) == 2 * 3 - 1
        assert '<figcaption><bdi>Gemini</bdi></figcaption><p class="facts">—</p>' in html
        assert all(tag["role"] == "img" for tag in charts)
        assert "style=" not in html
        assert '<title id="visibility-gemini-title">Visibility: Gemini</title>' in html
        assert html.count("<polygon") >= 3

    def test_few_answers_are_counts_and_hollow(self, browser, kept):
        kept.answer(days_ago(0), ["brand"])

        html = page(browser, kept)

        assert "1 of 1 ·" not in html
        assert "too few answers" in html or "not comparable" in html
        assert 'class="dot few"' in html

    def test_a_brand_without_answers_says_so(self, browser, kept):
        assert "Nothing was measured in this period." in page(browser, kept)

    def test_what_failed_alone_is_told_and_no_zero(self, browser, kept):
        kept.answer(days_ago(0), outcome="failed", text="")

        html = page(browser, kept)

        assert "ChatGPT: 1 failed" in html
        assert "0 %" not in html

    def test_simulated_answers_are_shown_where_there_are_no_others_and_said_to_be(self, browser, kept):
        kept.answer(days_ago(0), ["brand"], simulated=True)
        assert "Simulated." in page(browser, kept)

        kept.answer(days_ago(0))

        assert "Simulated." not in page(browser, kept)
        assert "Simulated." in page(browser, kept, "?answers=simulated")

    @pytest.mark.parametrize("tab", ["", "competitors/", "sources/", "names/"])
    def test_while_answers_are_still_to_be_read_by_new_names_each_page_says_so(self, browser, kept, tab):
        kept.answer(days_ago(0), ["brand"])
        assert "still to be read" not in page(browser, kept, tab)

        Brand.objects.update(edition=2)

        assert "Some stored answers are still to be read by the names of today." in page(browser, kept, tab)

    def test_once_all_are_read_it_says_nothing_although_nobody_has_noted_that_yet(self, browser, kept):
        kept.answer(days_ago(0), ["brand"], edition=2)
        Brand.objects.update(edition=2)

        assert "still to be read" not in page(browser, kept)

    @pytest.mark.parametrize("days", [2, 20])
    def test_a_constant_number_of_queries(self, browser, kept, days, django_assert_num_queries):
        for day in range(days):
            kept.answer(days_ago(day), ["brand"], provider=("chatgpt", "gemini")[day % 2])

        # Session, user, team; the brand with its competitors; what there is to choose from; the history.
        with django_assert_num_queries(3 + 2 + 2 + 11):
            page(browser, kept)


class TestFilters:
    def test_days_systems_country_and_questions_narrow_it(self, browser, kept):
        kept.answer(days_ago(0), ["brand"], country="DE")
        kept.answer(days_ago(1), [], provider="gemini")
        kept.answer(days_ago(2), ["brand"], branded=True)

        def answers(query: str) -> str:
            response = browser.get(f"/brands/{kept.brand.uuid}/?{query}")
            return str(response.context["history"].figures.of("visibility").counts)

        assert answers("") == "1 of 2"
        assert answers(f"until={days_ago(1)}") == "0 of 1"
        assert answers(f"since={days_ago(0)}") == "1 of 1"
        assert answers("systems=gemini") == "0 of 1"
        assert answers("country=DE") == "1 of 1"
        assert answers("country=none") == "0 of 1"
        assert answers("prompts=branded") == "1 of 1"

    @pytest.mark.parametrize(
        ("query", "words"),
        [
            ("since=2026-02-30", "Enter a valid date."),
            ("since=2020-01-02&until=2020-01-01", "This is after the last day."),
            ("since=2001-01-01", "At most five years are shown at once."),
            ("since=0001-01-01", "There are no answers of that day."),
            ("until=9999-12-31", "There are no answers of that day."),
            ("systems=nobody", "nobody is not one of the available choices"),
            ("country=XX", "XX is not one of the available choices"),
            ("answers=x", "x is not one of the available choices"),
        ],
    )
    def test_what_cannot_be_is_said_and_the_usual_shown(self, browser, kept, query, words):
        kept.answer(days_ago(0), ["brand"])

        html = page(browser, kept, f"?{query}")

        assert words in html
        assert "1 of 1" in html

    @pytest.mark.parametrize("query", ["until=0001-01-01", "since=0001-01-01", "until=9999-12-31", "since=9999-12-31"])
    @pytest.mark.parametrize("page", ["", "history.csv", "sources/"])
    def test_the_first_and_the_last_day_there_is_are_no_days_of_answers(self, browser, kept, page, query):
        assert browser.get(f"/brands/{kept.brand.uuid}/{page}?{query}").status_code == 200

    def test_days_are_of_the_teams_zone(self, browser, ada, kept):
        Team.objects.update(time_zone="Pacific/Kiritimati")
        kept.answer(timezone.now(), ["brand"])

        html = page(browser, kept)

        assert "days of Pacific/Kiritimati" in html
        assert "1 of 1" in html


class TestCompetitors:
    def test_each_has_its_share_at_each_system_and_a_chart(self, browser, fifty_days):
        html = page(browser, fifty_days, "competitors/")

        assert "33 of 83 · 40 % (" in strip_tags(html)
        assert "50 of 83 · 60 % (" in strip_tags(html)
        charts = [tag for tag in Tags(html).of("svg") if "chart" in (tag["class"] or "")]
        assert len(charts) == 2
        assert html.count('<polyline class="beside"') == 1
        assert "style=" not in html
        assert f'<desc id="voice-rival-{fifty_days.rival.pk}-words">from ' in html
        assert ". Northwind: from " in html

    def test_the_page_over_time_leads_there_with_its_filters(self, browser, fifty_days):
        html = page(browser, fifty_days, "?systems=chatgpt")

        assert (
            f'<a href="/brands/{fifty_days.brand.uuid}/competitors/?systems=chatgpt">Against each competitor</a>'
            in html
        )

    def test_without_any_it_says_where_to_add_them(self, browser, kept):
        kept.answer(days_ago(0), ["brand"])
        Competitor.objects.all().delete()

        html = page(browser, kept, "competitors/")

        assert "No competitors are looked for" in html
        assert f'href="/brands/{kept.brand.uuid}/names/">Add competitors' in html

    def test_without_answers_it_says_so(self, browser, kept):
        assert "Nothing was measured in this period." in page(browser, kept, "competitors/")

    def test_a_name_is_text_and_nothing_else(self, browser, kept):
        Competitor.objects.update(name="<b>Contoso</b> & \u202eSons")
        kept.answer(days_ago(0), ["rival"])

        html = page(browser, kept, "competitors/")

        assert "<b>Contoso" not in html
        assert "<bdi>&lt;b&gt;Contoso&lt;/b&gt; &amp; \u202eSons</bdi>" in html


class TestSources:
    def test_each_site_has_its_kind_and_its_days(self, browser, fifty_days):
        html = page(browser, fifty_days, "sources/")

        assert '<span class="kind own">own</span>' in html
        assert "50 of 100" in html
        assert "Gemini" in html

    def test_each_column_is_defined_a_click_away(self, browser, fifty_days):
        html = page(browser, fifty_days, "sources/")

        for name in ("site", "kind", "source-share", "seen"):
            assert f'href="/figures/#{name}"' in html

    def test_without_any_it_says_so(self, browser, kept):
        assert "No answer of this period has a source." in page(browser, kept, "sources/")


class TestFiles:
    def test_figures_are_rows_of_counts_and_what_is_made_of_them(self, browser, fifty_days):
        first, *rest = rows(browser, fifty_days, "history.csv")

        assert {
            name: first[name] for name in ("brand", "provider", "figure", "hits", "of", "percent", "simulated")
        } == {
            "brand": "Northwind",
            "provider": "",
            "figure": "visibility",
            "hits": "33",
            "of": "100",
            "percent": "33.0",
            "simulated": "no",
        }
        assert any(row["provider"] == "gemini" and row["figure"] == "voice" for row in rest)

    def test_the_mean_position_is_told(self, browser, fifty_days):
        found = [row for row in rows(browser, fifty_days, "history.csv") if row["figure"] == "position"]

        assert [(row["provider"], row["answers"], row["mean"], row["percent"]) for row in found] == [
            ("", "33", "1.0", ""),
            ("chatgpt", "33", "1.0", ""),
            ("gemini", "0", "", ""),
        ]

    def test_competitors_are_rows(self, browser, fifty_days):
        found = rows(browser, fifty_days, "competitors.csv")

        period = (found[0]["from"], found[0]["to"])
        told = [row for row in found if (row["from"], row["to"]) == period]
        whole = {(row["whose"], row["provider"]): (row["hits"], row["of"]) for row in told}
        assert whole == {
            ("Northwind", ""): ("33", "83"),
            ("Northwind", "chatgpt"): ("33", "83"),
            ("Northwind", "gemini"): ("0", "0"),
            ("Contoso", ""): ("50", "83"),
            ("Contoso", "chatgpt"): ("50", "83"),
            ("Contoso", "gemini"): ("0", "0"),
        }

    @pytest.mark.parametrize("file", ["history.csv", "competitors.csv", "sources.csv"])
    def test_a_formula_is_text(self, browser, kept, file):
        Brand.objects.update(name="=1+1")
        Competitor.objects.update(name="@SUM(1)")
        kept.answer(days_ago(0), ["rival"], hosts=["a.example"])
        response = browser.get(f"/brands/{kept.brand.uuid}/{file}")

        text = b"".join(response.streaming_content).decode()[1:]

        found = [cell for row in csv.reader(io.StringIO(text, newline="")) for cell in row]
        assert "'=1+1" in found
        assert not [cell for cell in found if cell.startswith(("=", "@"))]

    def test_sources_are_rows(self, browser, fifty_days):
        found = rows(browser, fifty_days, "sources.csv")

        assert {row["domain"]: (row["kind"], row["answers"], row["days"]) for row in found} == {
            "northwind.example": ("own", "50", "50"),
            "news.example": ("other", "50", "50"),
        }

    def test_json_has_all_of_it(self, browser, fifty_days):
        response = browser.get(f"/brands/{fifty_days.brand.uuid}/history.json")

        found = json.loads(b"".join(response.streaming_content))

        assert (found["brand"], found["marks"], len(found["sites"])) == ("Northwind", [], 2)
        assert {"figure": "position", "answers": 33, "mean": 1.0}.items() <= found["figures"][3].items()
        assert {voice["whose"] for voice in found["voices"]} == {"Northwind", "Contoso"}
        assert found["figures"][0]["figure"] == "visibility"


class TestArchived:
    @pytest.mark.parametrize("tab", ["", "competitors/", "sources/"])
    def test_its_history_stays_and_leads_to_no_page_that_is_gone(self, browser, kept, tab):
        Brand.objects.update(archived_at=timezone.now())
        Competitor.objects.all().delete()
        kept.answer(days_ago(0), ["brand"])

        html = page(browser, kept, tab)

        assert "Northwind" in html
        assert "/names/" not in html


class TestWhose:
    @pytest.mark.parametrize(
        "rest", ["", "competitors/", "sources/", "history.csv", "history.json", "competitors.csv", "sources.csv"]
    )
    def test_another_teams_brand_is_not_there(self, browser, rest):
        other = Kept.make(make_user("bob"))

        assert browser.get(f"/brands/{other.brand.uuid}/{rest}").status_code == 404

    def test_a_stranger_is_sent_to_log_in(self, client, kept):
        assert client.get(f"/brands/{kept.brand.uuid}/").status_code == 302


class TestDefinitions:
    def test_every_figure_is_defined_at_its_name(self, browser):
        html = browser.get("/figures/").content.decode()

        for name in (
            "visibility",
            "voice",
            "first",
            "position",
            "cited",
            "site",
            "source-share",
            "seen",
            "kind",
            "left-out",
            "change",
        ):
            assert f'<div id="{name}">' in html
