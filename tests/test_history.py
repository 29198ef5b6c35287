"""A brand's history: the database adds up what the analysis would."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.db import connection, transaction
from django.utils import timezone

from capture.analysis import metrics
from capture.analysis.answers import Answer, tally
from capture.analysis.intervals import Cell
from capture.analysis.mentions import Entity
from capture.analysis.metrics import Verdict, Window
from capture.models import Competitor, HistoryMark
from capture.models.brands import editing
from capture.reports.history import LEFT_OUT, history_of
from capture.reports.history_counts import FIGURES, figures_of
from capture.reports.history_rivals import rivals_of
from capture.reports.history_scope import Scope
from capture.reports.history_sources import SITES, sites_over_time
from capture.reports.history_voices import BRAND, VOICES, voices_of
from tests.factories import make_user
from tests.histories import Kept, Told

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("simulated")]

LAST = date(2026, 6, 30)
BOTH = (Entity("brand", "Northwind"), Entity("rival", "Contoso"))


@pytest.fixture
def kept():
    return Kept.make(make_user("ada"))


def scope_of(kept: Kept, days: int = 28, **fields) -> Scope:
    usual: dict[str, Any] = {"since": LAST - timedelta(days=days - 1), "until": LAST, "zone": UTC}
    return Scope(brand=kept.brand, **usual | fields)


def figures(kept: Kept, scope: Scope):
    return figures_of(scope, [kept.rival.pk])


class TestSums:
    """Against the pure analysis, over answers that a seed makes up."""

    @pytest.fixture
    def answers(self, kept):
        random = Random(11)
        made, told = [], []
        for days_ago in range(56):
            day = LAST - timedelta(days=days_ago)
            for question in ("A?", "B?", "C?"):
                # One question is new, and one system was not asked at first.
                for provider in ("chatgpt", "gemini") if days_ago < 40 else ("chatgpt",):
                    if (question == "C?" and days_ago > 20) or random.random() < 0.2:
                        continue
                    for _ in range(random.choice((1, 2))):
                        whom = [who for who in ("brand", "rival") if random.random() < 0.5]
                        random.shuffle(whom)
                        told.append(Told(day, tuple(whom), question, provider))
                        made.append(Answer(Cell(question, provider, provider), day, named=tuple(whom)))
        kept.keep(told)
        return made

    def counts(self, answers, metric, days, system=None):
        told = [each for each in answers if each.day in days and system in (None, each.cell.provider)]
        tallies = tally(told, BOTH)
        return {
            "visibility": lambda: metrics.visibility(tallies, "brand"),
            "voice": lambda: metrics.share_of_voice(tallies, "brand", ["brand", "rival"]),
            "first": lambda: metrics.first_named(tallies, "brand"),
        }[metric]()

    @pytest.mark.parametrize("system", [None, "chatgpt", "gemini"])
    @pytest.mark.parametrize("metric", ["visibility", "voice", "first"])
    def test_figures_and_changes_are_those_of_the_analysis(self, kept, answers, metric, system):
        scope = scope_of(kept)
        period = {scope.since + timedelta(days=day) for day in range(28)}
        before = {scope.before + timedelta(days=day) for day in range(28)}

        found = figures(kept, scope)

        same(found.of(metric, system), metrics.figure(self.counts(answers, metric, period, system)))
        change = metrics.compare(
            Window(self.counts(answers, metric, before, system)), Window(self.counts(answers, metric, period, system))
        )
        same(found.change(metric, system).before, change.before)
        same(found.change(metric, system).after, change.after)
        assert found.change(metric, system).verdict is change.verdict

    @pytest.mark.parametrize("metric", ["visibility", "voice"])
    def test_each_stretch_is_that_of_the_analysis(self, kept, answers, metric):
        scope = scope_of(kept, days=40)
        assert scope.stretch == 7

        found = figures(kept, scope)

        for stretch, first in enumerate(scope.stretches):
            days = {first + timedelta(days=day) for day in range(7)} - {
                scope.since - timedelta(days=day) for day in range(1, 8)
            }
            same(found.at(stretch, metric), metrics.figure(self.counts(answers, metric, days)))

    @pytest.mark.parametrize("system", [None, "chatgpt", "gemini"])
    def test_the_share_of_voice_of_each_is_that_of_the_analysis(self, kept, answers, system):
        scope = scope_of(kept, days=35)
        whole = {scope.since + timedelta(days=day) for day in range(35)}
        second = {scope.stretches[1] + timedelta(days=day) for day in range(7)}

        found = voices_of(scope, [kept.rival.pk])

        for whom, key in ((BRAND, "brand"), (kept.rival.pk, "rival")):
            for told, days in ((found.of(whom, system), whole), (found.at(1, whom, system), second)):
                asked = [each for each in answers if each.day in days and system in (None, each.cell.provider)]
                counts = metrics.share_of_voice(tally(asked, BOTH), key, ["brand", "rival"])
                same(told, metrics.figure(counts))

    def test_the_brands_is_the_same_on_both_pages(self, kept, answers):
        scope = scope_of(kept, days=40)

        voices, found = voices_of(scope, [kept.rival.pk]), figures(kept, scope)

        for system in (None, "chatgpt", "gemini"):
            same(voices.of(BRAND, system), found.of("voice", system))
            for stretch in range(len(scope.stretches)):
                same(voices.at(stretch, BRAND, system), found.at(stretch, "voice", system))

    def test_position_is_that_of_the_analysis(self, kept, answers):
        scope = scope_of(kept, days=56)

        assert figures(kept, scope).position() == metrics.position(tally(answers, BOTH), "brand")


def same(found, wanted) -> None:
    """The same figure, but for the last bits of its interval."""
    assert (found.hits, found.of, found.answers) == (wanted.hits, wanted.of, wanted.answers)
    assert found.single_check == wanted.single_check
    assert found.bounds == (pytest.approx(wanted.bounds) if wanted.bounds else None)


class TestWhatCounts:
    def test_real_answers_that_are_read_and_no_copies(self, kept):
        kept.answer(LAST, ["brand"])
        kept.answer(LAST, ["brand"], simulated=True)
        kept.answer(LAST, cached=True)
        kept.answer(LAST, matcher=0)
        kept.answer(LAST, edition=0)  # its names had changed when it came
        kept.answer(LAST, outcome="refused")
        kept.answer(LAST, ["brand"], branded=True)

        assert figures(kept, scope_of(kept)).of("visibility").counts == "1 of 1"
        assert figures(kept, scope_of(kept, simulated=True)).of("visibility").counts == "1 of 1"
        assert figures(kept, scope_of(kept, branded=True)).of("visibility").counts == "1 of 1"

    def test_what_does_not_is_told_by_its_reason(self, kept):
        kept.answer(LAST, ["brand"])
        kept.answer(LAST, cached=True)
        kept.answer(LAST, matcher=0)
        kept.answer(LAST, outcome="refused")
        kept.answer(LAST, outcome="failed", provider="gemini")
        kept.answer(LAST, outcome="cancelled", attempts=0)
        kept.answer(LAST - timedelta(days=40), outcome="blocked")

        history = history_of(scope_of(kept))

        assert {slug: dict(counts) for slug, counts in history.left_out.items()} == {
            "chatgpt": {"refused": 1, "cached": 1, "unread": 1},
            "gemini": {"failed": 1},
        }
        gemini = next(line.figures for line in history.lines if line.figures.label == "Gemini")
        assert [said.words for said in gemini.said] == ["not measured"] * 3

    def test_only_of_the_brand_systems_and_country_asked_for(self, kept):
        kept.answer(LAST, ["brand"], country="DE")
        kept.answer(LAST, country="")
        kept.answer(LAST, provider="gemini", country="DE")
        Kept.make(make_user("bob")).answer(LAST)

        assert figures(kept, scope_of(kept)).of("visibility").counts == "1 of 3"
        assert figures(kept, scope_of(kept, country="DE")).of("visibility").counts == "1 of 2"
        assert figures(kept, scope_of(kept, country="")).of("visibility").counts == "0 of 1"
        assert figures(kept, scope_of(kept, systems=("gemini",))).of("visibility").counts == "0 of 1"

    def test_a_competitor_that_is_archived_has_no_voice_any_more(self, kept):
        kept.answer(LAST, ["rival", "brand"])
        assert history_of(scope_of(kept)).figures.of("voice").counts == "1 of 2"

        Competitor.objects.update(archived_at=timezone.now())

        assert history_of(scope_of(kept)).figures.of("voice").counts == "—"

    def test_days_are_of_the_teams_zone_also_those_of_23_hours(self, kept):
        berlin = ZoneInfo("Europe/Berlin")
        spring = date(2026, 3, 29)
        kept.answer(datetime(2026, 3, 28, 22, 59, tzinfo=UTC))
        kept.answer(datetime(2026, 3, 28, 23, 0, tzinfo=UTC), ["brand"])
        kept.answer(datetime(2026, 3, 29, 21, 59, tzinfo=UTC), ["brand"])
        kept.answer(datetime(2026, 3, 29, 22, 0, tzinfo=UTC))

        found = figures(kept, scope_of(kept, since=spring, until=spring, zone=berlin))

        assert found.of("visibility").counts == "2 of 2"


class TestChange:
    def year(self, kept, before, after):
        for days_ago in range(56):
            named = ["brand"] if Random(days_ago).random() < (after if days_ago < 28 else before) else []
            kept.answer(LAST - timedelta(days=days_ago), named)

    @pytest.mark.parametrize(
        ("before", "after", "verdict"),
        [(0.1, 0.9, Verdict.UP), (0.9, 0.1, Verdict.DOWN), (0.5, 0.5, Verdict.WITHIN_NOISE)],
    )
    def test_it_is_up_or_down_or_within_noise(self, kept, before, after, verdict):
        self.year(kept, before, after)

        assert figures(kept, scope_of(kept)).change("visibility").verdict is verdict

    def test_answers_read_by_other_names_are_not_compared(self, kept):
        self.year(kept, 0.1, 0.9)
        kept.answer(LAST, edition=2)

        assert figures(kept, scope_of(kept)).change("visibility").verdict is Verdict.NOT_COMPARABLE

    def test_with_few_answers_nothing_is_said(self, kept):
        kept.answer(LAST, ["brand"])
        kept.answer(LAST - timedelta(days=28))

        assert figures(kept, scope_of(kept)).change("visibility").verdict is Verdict.TOO_FEW

    def test_without_a_period_before_nothing_is_compared(self, kept):
        kept.answer(LAST, ["brand"])

        assert figures(kept, scope_of(kept)).change("visibility").verdict is Verdict.NOT_COMPARABLE


class TestStretches:
    @pytest.mark.parametrize(
        ("days", "stretch", "count"), [(1, 1, 1), (31, 1, 31), (32, 7, 5), (91, 7, 13), (364, 28, 13), (1830, 91, 21)]
    )
    def test_they_are_as_short_as_there_is_room_and_end_with_the_period(self, kept, days, stretch, count):
        scope = scope_of(kept, days)

        assert (scope.stretch, len(scope.stretches)) == (stretch, count)
        assert scope.stretches[-1] == LAST - timedelta(days=stretch - 1)
        assert scope.stretches[0] <= scope.since

    def test_where_nothing_was_asked_there_is_a_gap(self, kept):
        kept.answer(LAST, ["brand"])
        kept.answer(LAST - timedelta(days=2), ["brand"])

        drawing = next(history_of(scope_of(kept, 3)).drawings)

        assert [dot.few for dot in drawing.chart.dots] == [True, True]
        assert drawing.chart.lines == ()
        assert drawing.words == "from 28 Jun: 1 of 1 to 30 Jun: 1 of 1"


class TestMarks:
    def test_names_rules_and_models_are_marked_on_their_day(self, kept):
        kept.answer(LAST - timedelta(days=40), model="old")
        kept.answer(LAST - timedelta(days=9), model="old")
        kept.answer(LAST - timedelta(days=5), model="new")
        kept.answer(LAST - timedelta(days=4), model="first", provider="gemini")
        for kind, days in (("names", 3), ("matcher", 2), ("names", 50)):
            at = datetime.combine(LAST - timedelta(days=days), datetime.min.time(), tzinfo=UTC)
            HistoryMark.objects.create(brand=kept.brand, kind=kind, at=at, before={}, after={})

        marks = history_of(scope_of(kept)).marks

        assert [(mark.day.day, mark.words) for mark in marks] == [
            (25, "ChatGPT answers by new"),
            (27, "names changed"),
            (28, "rules for finding names changed"),
        ]


class TestRivals:
    def test_the_most_named_come_first_and_the_others_are_counted(self, kept):
        others = [Competitor.objects.create(brand=kept.brand, name=f"R{number}") for number in range(3)]
        kept.answer(LAST, ["brand", "rival"])
        kept.answer(LAST - timedelta(days=1), ["rival"])

        rivals = rivals_of(scope_of(kept), most=2)

        assert [rival.name for rival in rivals.shown] == ["Northwind", "Contoso", others[0].name]
        assert rivals.more == 2
        assert [figures[0][1].counts for _, figures in rivals.lines] == ["1 of 3", "2 of 3", "0 of 3"]

    def test_a_competitors_chart_has_the_brands_line_beside_it_and_says_so(self, kept):
        for day in range(3):
            kept.answer(LAST - timedelta(days=day), ["brand", "rival"])

        brand, rival = rivals_of(scope_of(kept, 3)).drawings

        assert (brand.chart.beside, rival.chart.beside) == ((), brand.chart.lines)
        assert rival.words == (
            "from 28 Jun: 1 of 2 to 30 Jun: 1 of 2. Northwind: from 28 Jun: 1 of 2 to 30 Jun: 1 of 2"
        )

    def test_where_nobody_is_named_there_is_no_share(self, kept):
        kept.answer(LAST)
        kept.answer(LAST, ["rival"], provider="gemini")

        rivals = rivals_of(scope_of(kept))

        told = {rival.name: [str(figure) for _, figure in figures] for rival, figures in rivals.lines}
        assert told == {"Northwind": ["0 of 1", "—", "0 of 1"], "Contoso": ["1 of 1", "—", "1 of 1"]}

    def test_without_competitors_nobody_is_compared(self, kept):
        kept.answer(LAST, ["brand"])
        Competitor.objects.all().delete()

        rivals = rivals_of(scope_of(kept))

        assert (len(rivals.all), rivals.measured) == (1, False)

    def test_one_that_is_archived_is_left_out_also_before_answers_are_read_again(self, kept):
        Competitor.objects.create(brand=kept.brand, name="Fabrikam")
        kept.answer(LAST, ["rival", "brand"])

        with transaction.atomic(), editing(kept.brand):
            Competitor.objects.filter(pk=kept.rival.pk).update(archived_at=timezone.now())
        kept.brand.refresh_from_db()

        assert [str(figures[0][1]) for _, figures in rivals_of(scope_of(kept)).lines] == ["1 of 1", "0 of 1"]
        assert history_of(scope_of(kept)).figures.of("voice").counts == "1 of 1"


class TestSites:
    def test_each_has_its_kind_its_days_and_who_cites_it(self, kept):
        kept.answer(LAST - timedelta(days=9), hosts=["shop.northwind.example", "northwind.example", "news.example"])
        kept.answer(LAST - timedelta(days=2), hosts=["contoso.example"], provider="gemini")
        kept.answer(LAST, hosts=["northwind.example"], provider="gemini")
        kept.answer(LAST, hosts=[""])
        kept.answer(LAST)
        kept.answer(LAST - timedelta(days=30), hosts=["northwind.example"])

        sites = sites_over_time(scope_of(kept))

        told = [(s.domain, s.kind.value, s.answers, s.of, s.first.day, s.last.day, s.days, s.systems) for s in sites]
        assert told == [
            ("northwind.example", "own", 2, 4, 21, 30, 2, ("ChatGPT", "Gemini")),
            ("contoso.example", "competitor", 1, 4, 28, 28, 1, ("Gemini",)),
            ("news.example", "other", 1, 4, 21, 21, 1, ("ChatGPT",)),
        ]


class TestQueries:
    @pytest.mark.parametrize("days", [2, 20])
    def test_their_number_does_not_depend_on_the_answers(self, kept, days, django_assert_num_queries):
        for day in range(days):
            kept.answer(LAST - timedelta(days=day), ["brand"], hosts=["a.example"], provider="gemini")
        scope = scope_of(kept)

        # Two statements with a savepoint and its settings each; competitors, marks, models.
        with django_assert_num_queries(2 * 4 + 3):
            history_of(scope)
        with django_assert_num_queries(4):
            sites_over_time(scope)
        with django_assert_num_queries(4 + 3):
            rivals_of(scope)

    @pytest.mark.slow
    def test_with_many_answers_all_is_read_from_indexes(self, kept):
        for seed in range(3):
            kept.answer(LAST - timedelta(days=seed), ["brand", "rival"], hosts=["a.example"])
        multiply()
        scope = scope_of(kept)
        told = scope.parameters() | {"rivals": [kept.rival.pk]}
        told["since"] = told["begin"]

        plans = [plan_of(statement, told) for statement in (FIGURES, VOICES, SITES, LEFT_OUT)]

        figures, voices, sites, left_out = plans
        assert "Index Only Scan using gist_by_brand" in figures
        assert "Index Only Scan using gist_by_brand" in voices
        assert "Index Scan using gist_by_brand" in sites or "Bitmap Index Scan on gist_by_brand" in sites
        assert "Index Scan using capture_in_no_figure" in left_out
        for plan in plans:
            assert "Seq Scan on capture_gist" not in plan
            assert "Seq Scan on capture_capture" not in plan


def multiply() -> None:
    """Another team has thousands of such answers, of years ago."""
    other = Kept.make(make_user("bob"))
    old = other.answer(date(2020, 1, 1), ["brand"], hosts=["a.example"])
    with connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO capture_capture (team_id, of_check_id, prompt_id, provider, sample, remote_id, outcome, reason,
                detail, text, model, surface, attempts, unknowns, cost, simulated, cached, answered_at, named, matcher,
                edition)
            SELECT team_id, of_check_id, prompt_id, provider, sample + n, '', outcome, '', '', repeat(text, 50), '',
                surface, 1, 0, 0, simulated, cached, answered_at, '[]', matcher, edition
            FROM capture_capture, generate_series(1, 5000) n WHERE id = %(old)s;
            INSERT INTO capture_gist (capture_id, brand_id, provider, country, branded, simulated, answered_at, model,
                question, cell, rank, rivals, sites, kinds, matcher, edition)
            SELECT capture.id, brand_id, gist.provider, '', false, false, gist.answered_at, '', question, cell, rank,
                rivals, sites, kinds, gist.matcher, gist.edition
            FROM capture_gist gist JOIN capture_capture capture ON capture.sample > 1
            WHERE gist.capture_id = %(old)s;
            ANALYZE;
            """,
            {"old": old.pk},
        )


def plan_of(statement: str, parameters) -> str:
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN {statement}", parameters)
        return "\n".join(line for (line,) in cursor.fetchall())
