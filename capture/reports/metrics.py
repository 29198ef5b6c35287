"""The queue's figures in the form in which Prometheus reads them, read from the database at each scrape.

All are gauges of the whole installation, whichever web process answers; what a single process could count for itself
would be one of many. Counts "of the last hour" or "day" stand in place of counters, since old jobs are cleaned up.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping

from django.db import Error as DatabaseTrouble
from django.db import connection
from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from capture.models.jobs import FINAL, OPEN
from capture.reports.backlog import Backlog
from capture.reports.crew import Crew, Health
from capture.reports.queue_status import QueueStatus, queue_status
from capture.reports.recent import QUANTILES, Recent, Seconds, recent_at
from capture.reports.spend import Spend, spent_today_by_system
from capture.reports.standings import Standing

Samples = Iterable[tuple[tuple[object, ...], float]]

OPENMETRICS = "application/openmetrics-text"

TROUBLES = ("no_worker", "not_asked", "orphans", "cooling")


def exposition(accept: str) -> tuple[bytes, str]:
    """All figures as text, and its content type: OpenMetrics for whoever names it, Prometheus's own for all others.

    A version that somebody names is not looked at: the library would take their word for one that it does not write.

    Arguments:
        accept: what the scraper would like, as in its Accept header, whatever that holds.
    """
    registry = CollectorRegistry(auto_describe=False)
    registry.register(QueueCollector())
    offers = [offer.partition(";")[0].strip().lower() for offer in accept.split(",")]
    encode, content_type = choose_encoder(OPENMETRICS if OPENMETRICS in offers else "")
    return encode(registry), content_type


class QueueCollector(Collector):
    """Reads the database once a scrape, in a fixed number of queries; while that is away, it says so and no more."""

    def collect(self) -> Iterator[Metric]:
        began = time.monotonic()
        try:
            status = queue_status()
            figures = [*of_status(status), *of_recent(recent_at(status.at)), of_spend(spent_today_by_system())]
        except DatabaseTrouble:
            connection.close()
            figures = []
        yield gauge("database_up", "Whether the database could be asked.", [((), bool(figures))])
        yield from figures
        yield gauge("scrape_seconds", "How long these figures took.", [((), time.monotonic() - began)])


def gauge(name: str, about: str, samples: Samples, labels: tuple[str, ...] = ()) -> Metric:
    """A figure of ours, one value for each combination of its labels."""
    family = GaugeMetricFamily(f"aicontrol_{name}", about, labels=labels)
    for values, value in samples:
        family.add_metric([str(each) for each in values], float(value))
    return family


# ---------------------------------------------------------------------------------------------------------- status


def of_status(status: QueueStatus) -> Iterator[Metric]:
    """What `queuestatus` says."""
    yield from of_backlog(status.backlog)
    yield from of_lanes(status.lanes.values())
    yield from of_crew(status.crew)
    unsettled = "Attempts of which nobody knows whether they were charged, and that nobody has settled; up to 10,000."
    yield gauge("unknown_outcomes", unsettled, [((), status.unsettled)])
    kinds = [trouble.kind for trouble in status.troubles]
    troubles = "What needs a person, by kind, as `queuestatus` says it."
    yield gauge("troubles", troubles, [((kind,), kinds.count(kind)) for kind in TROUBLES], ("kind",))


def of_backlog(backlog: Backlog) -> Iterator[Metric]:
    def counts(states: Iterable[str]) -> Samples:
        return [((slug, state), found[state]) for slug, found in backlog.jobs.items() for state in states]

    keys = ("system", "state")
    yield gauge("jobs", "Open jobs.", counts(OPEN), keys)
    yield gauge("jobs_ended_last_day", "Jobs that ended in the last 24 hours, up to 100,000.", counts(FINAL), keys)
    oldest = backlog.oldest.seconds if backlog.oldest else 0
    yield gauge("oldest_pending_seconds", "Since the oldest pending job was enqueued; 0 without one.", [((), oldest)])


def of_lanes(lanes: Iterable[Standing]) -> Iterator[Metric]:
    def each(name: str, about: str, values: Mapping[str, float]) -> Metric:
        return gauge(name, about, [((lane,), value) for lane, value in values.items()], ("lane",))

    lanes = list(lanes)
    yield each("lane_limit", "Most calls in flight.", {lane.name: lane.limit for lane in lanes})
    yield each("lane_in_flight", "Calls that hold a place.", {lane.name: lane.in_flight for lane in lanes})
    yield each("lane_enabled", "0: switched off by staff.", {lane.name: lane.enabled for lane in lanes})
    yield each("lane_paused", "1: paused by staff.", {lane.name: lane.paused for lane in lanes})
    yield each(
        "lane_cooling_seconds", "For how long it has been cooling.", {lane.name: _cooled(lane) for lane in lanes}
    )


def _cooled(lane: Standing) -> float:
    return (lane.now - lane.cooling_since).total_seconds() if lane.cooling_since else 0.0


def of_crew(crew: Crew) -> Iterator[Metric]:
    health = [worker.health for worker in crew.workers]
    states = [((state.value,), health.count(state)) for state in (Health.ALIVE, Health.SILENT)]
    yield gauge("workers", "Workers that have not stopped or been given up.", states, ("health",))
    yield gauge("seats", "Seats of workers that are alive.", [((), sum(each.seats for each in crew.alive))])
    yield gauge("seats_stuck", "Seats of those whose exchange hangs.", [((), sum(each.stuck for each in crew.alive))])
    yield gauge("orphans", "Jobs held by workers of whom nothing is heard.", [((), crew.orphans.jobs)])
    yield gauge("orphans_overdue", "Those that somebody should have taken back.", [((), crew.orphans.overdue)])
    recovered = crew.recovered
    yield gauge("workers_lost_last_day", "Workers given up in the last 24 hours.", [((), recovered.workers_lost)])
    yield gauge("jobs_taken_back_last_day", "Jobs taken back from workers.", [((), recovered.jobs_taken_back)])
    yield gauge("jobs_open_after_crash", "Open jobs with which a worker died.", [((), recovered.crashed_open)])


# ------------------------------------------------------------------------------------------------- recent and spend


def of_recent(recent: Recent) -> Iterator[Metric]:
    """How it went in the last hour."""
    keys = ("system", "state")

    def ended(name: str, about: str, values: Iterable[int]) -> Metric:
        places = ((each.provider, each.status) for each in recent.ended)
        return gauge(f"{name}_last_hour", about, zip(places, values, strict=True), keys)

    yield ended("jobs_ended", "Jobs that ended, up to 5,000.", (each.jobs for each in recent.ended))
    yield ended("attempts", "Start calls of those jobs.", (each.attempts for each in recent.ended))
    yield ended("retries", "Start calls of those jobs but the first.", (each.retries for each in recent.ended))
    yield ended("unknown_outcomes", "Those with an unknown outcome.", (each.unknown for each in recent.ended))
    waits = [sample for each in recent.waits for sample in _quantiles(each, each.provider)]
    yield gauge("wait_seconds", "From enqueueing to the first start.", waits, ("system", "quantile"))
    calls = [sample for each in recent.calls for sample in _quantiles(each, each.provider, _flag(each.simulated))]
    yield gauge("call_seconds", "From a call's start to its answer.", calls, ("system", "simulated", "quantile"))


def _quantiles(seconds: Seconds, *labels: str) -> Samples:
    return [((*labels, quantile), value) for quantile, value in zip(QUANTILES, seconds.quantiles, strict=True)]


def _flag(value: bool | None) -> str:
    return "true" if value else "false"


def of_spend(spend: Mapping[str, Spend]) -> Metric:
    """What today has cost; `estimated` is part of `real`."""
    samples = [
        ((slug, kind), float(amount))
        for slug, each in spend.items()
        for kind, amount in (("real", each.amount), ("estimated", each.estimated), ("simulated", each.simulated))
    ]
    about = "US dollars on this day in UTC; what is estimated is part of what is real."
    return gauge("spend_today_dollars", about, samples, ("system", "kind"))
