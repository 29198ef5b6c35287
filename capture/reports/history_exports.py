"""A brand's history as records, for files that people take elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from capture.reports.figure_exports import MEASURE, Record, cells, measure, place
from capture.reports.history import DRAWN, History
from capture.reports.history_counts import COUNTED
from capture.reports.history_rivals import Rivals
from capture.reports.history_scope import Scope
from capture.reports.history_sources import SeenSite, sites_over_time

ABOUT = ("brand", "simulated", "branded_questions", "country")
FIGURE = (*ABOUT, "from", "to", "provider", "figure", *MEASURE, "mean", "change")
VOICE = (*ABOUT, "from", "to", "whose", "provider", "figure", *MEASURE)
SITE = (*ABOUT, "from", "to", "domain", "kind", "answers", "of", "first_seen", "last_seen", "days", "systems")


def history_rows(history: History) -> Iterator[list[Any]]:
    """A table of figures: its heading, then the whole period and each stretch of it, system by system."""
    yield list(FIGURE)
    for record in _figures(history):
        yield cells(_about(history.scope) | record, FIGURE)


def rival_rows(rivals: Rivals) -> Iterator[list[Any]]:
    """A table of shares of voice: its heading, then of each one the whole period and each stretch of it."""
    yield list(VOICE)
    for record in _voices(rivals):
        yield cells(_about(rivals.scope) | record, VOICE)


def seen_site_rows(scope: Scope) -> Iterator[list[Any]]:
    """A table of sites: its heading, then a row for each."""
    yield list(SITE)
    for site in sites_over_time(scope):
        yield cells(_about(scope) | _period(scope) | _site(site), SITE)


def history_json(history: History, rivals: Rivals) -> str:
    """All of it as one JSON object."""
    marks = [{"day": mark.day.isoformat(), "what": mark.words} for mark in history.marks]
    sites = [_site(site) for site in sites_over_time(history.scope)]
    record = _about(history.scope) | _period(history.scope)
    figures = {"figures": list(_figures(history)), "voices": list(_voices(rivals))}
    return json.dumps(record | figures | {"marks": marks, "sites": sites}, ensure_ascii=False)


def _figures(history: History) -> Iterator[Record]:
    """Of the whole period, then of each stretch; without a provider they are of all of them."""
    figures = history.figures
    for slug in (None, *history.systems):
        about = _period(history.scope) | {"provider": slug}
        for metric in COUNTED:
            change = figures.change(metric, slug).verdict.value
            yield about | {"figure": metric} | measure(figures.of(metric, slug)) | {"change": change}
        yield about | place(figures.position(slug))
    for stretch, about in enumerate(_stretches(history.scope)):
        for slug in (None, *history.systems):
            for metric in DRAWN:
                yield about | {"provider": slug, "figure": metric} | measure(figures.at(stretch, metric, slug))


def _voices(rivals: Rivals) -> Iterator[Record]:
    """Of the brand, then of each competitor: of the whole period, then of each stretch."""
    for rival in rivals.all:
        for slug in (None, *rivals.voices.systems):
            about = {"whose": rival.name, "provider": slug, "figure": "voice"}
            yield _period(rivals.scope) | about | measure(rivals.voices.of(rival.key, slug))
            for stretch, period in enumerate(_stretches(rivals.scope)):
                yield period | about | measure(rivals.voices.at(stretch, rival.key, slug))


def _stretches(scope: Scope) -> Iterator[Record]:
    """The first and the last day of each."""
    starts = scope.stretches
    for first, following in zip(starts, [*starts[1:], None], strict=True):
        last = scope.last_day_before(following)
        yield {"from": max(first, scope.since).isoformat(), "to": last.isoformat()}


def _about(scope: Scope) -> Record:
    return {
        "brand": scope.brand.name,
        "simulated": scope.simulated,
        "branded_questions": scope.branded,
        "country": scope.country,
    }


def _period(scope: Scope) -> Record:
    return {"from": scope.since.isoformat(), "to": scope.until.isoformat()}


def _site(site: SeenSite) -> Record:
    return {
        "domain": site.domain,
        "kind": site.kind.value,
        "answers": site.answers,
        "of": site.of,
        "first_seen": site.first.isoformat(),
        "last_seen": site.last.isoformat(),
        "days": site.days,
        "systems": ", ".join(site.systems),
    }
