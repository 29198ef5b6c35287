"""What awaits a check that is only typed so far: who can be asked now, how many jobs, how long, and for how much."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

from django.conf import settings
from django.db.models import Count

from capture import systems
from capture.models import CaptureJob, Team
from capture.providers import registry
from capture.reports import pace
from capture.reports.standings import Standing, standings
from capture.reports.waiting import Alive, Wait, alive_workers, obstacles


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is typed so far, counted.

    Arguments:
        providers: slugs of AI systems that can be asked.
    """

    prompts: int = 0
    competitors: int = 0
    providers: Sequence[str] = ()
    samples: int = 1

    @property
    def jobs(self) -> dict[str, int]:
        """How many jobs there will be for each system."""
        return {slug: self.prompts * systems.samples_of(slug, self.samples) for slug in self.providers}

    @property
    def total(self) -> int:
        return sum(self.jobs.values())

    @property
    def asked_less(self) -> list[str]:
        """The names of the systems that take fewer samples."""
        slugs = (slug for slug in self.providers if systems.samples_of(slug, self.samples) < self.samples)
        return [registry.by_slug[slug].label for slug in slugs]

    @property
    def too_many_prompts(self) -> bool:
        return self.prompts > settings.CAPTURE_MAX_PROMPTS

    @property
    def too_many_competitors(self) -> bool:
        return self.competitors > settings.CAPTURE_MAX_COMPETITORS

    @property
    def too_many_jobs(self) -> bool:
        return self.total > settings.CAPTURE_MAX_JOBS


@dataclass(frozen=True)
class Outlook:
    """How things stand for a team that is about to ask."""

    team: Team
    wanted: Wanted
    lanes: Mapping[str, Standing]
    alive: Alive

    @cached_property
    def obstacles(self) -> Mapping[str, Wait]:
        """What would hold a new job of a system back beyond its turn, by system."""
        return obstacles(systems.configured(), self.lanes, self.alive)

    @property
    def most(self) -> Mapping[str, int]:
        """How much of each is allowed."""
        return {
            "prompts": settings.CAPTURE_MAX_PROMPTS,
            "competitors": settings.CAPTURE_MAX_COMPETITORS,
            "jobs": settings.CAPTURE_MAX_JOBS,
        }

    @property
    def time(self) -> str:
        """How long it will take, in words; empty where that cannot be told."""
        wanted = self.wanted
        if not wanted.total or self.held:
            return ""
        seconds = pace.seconds_of(self._loads(), self.lanes)
        return "" if seconds is None else pace.in_words(seconds)

    @property
    def held(self) -> list[str]:
        """The names of the chosen systems that nobody asks now."""
        return [registry.by_slug[slug].label for slug in self.wanted.providers if slug in self.obstacles]

    @property
    def dollars(self) -> Decimal:
        """What it will probably cost; the simulator's answers cost nothing."""
        estimates, asked = systems.estimates(), systems.configured()
        paid = (slug for slug in self.wanted.providers if not asked[slug].account.simulated)
        return sum((estimates[slug] * self.wanted.jobs[slug] for slug in paid), Decimal(0))

    def _loads(self) -> dict[str, pace.Load]:
        lengths, waiting = pace.lengths(), _waiting()
        jobs: dict[str, dict[str, int]] = defaultdict(dict)
        for slug, count in self.wanted.jobs.items():
            jobs[registry.by_slug[slug].lane][slug] = count
        return {
            lane: pace.Load(_lengths(counts, lengths), _line(sum(counts.values()), waiting[lane], self.team))
            for lane, counts in jobs.items()
        }


def outlook_for(team: Team, wanted: Wanted) -> Outlook:
    """How things stand now. Two queries, and one for the time, and now and then one for how long calls take."""
    return Outlook(team, wanted, standings(), alive_workers())


def _waiting() -> Mapping[str, Mapping[int, int]]:
    """How many jobs wait in each lane, by team."""
    found: dict[str, dict[int, int]] = defaultdict(dict)
    counts = CaptureJob.objects.claimable().order_by().values_list("lane", "team").annotate(count=Count("pk"))
    for lane, team, count in counts:
        found[lane][team] = count
    return found


def _line(new: int, waiting: Mapping[int, int], team: Team) -> int:
    """Jobs up to the last of the new ones: the team's own wait before them, and teams take turns."""
    own = waiting.get(team.pk, 0) + new
    return own + sum(min(count, own) for other, count in waiting.items() if other != team.pk)


def _lengths(counts: Mapping[str, int], lengths: pace.Lengths) -> tuple[float, ...]:
    asked = systems.configured()
    slugs = ((slug, asked[slug].account.simulated) for slug, count in counts.items() for _ in range(count))
    return pace.known(slugs, lengths)
