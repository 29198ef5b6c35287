"""Builds what history is told of: answers of many days, as they are kept, without asking for them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from typing import Any

from capture import gists
from capture.analysis.mentions import MATCHER_VERSION
from capture.models import Brand, Capture, Check, Competitor, Mention, Prompt, Source, Team

NOON = time(12, tzinfo=UTC)

_numbers = itertools.count(1)


@dataclass(frozen=True)
class Told:
    """An answer that is to be kept."""

    day: date | datetime
    named: tuple[str, ...] = ()
    question: str = "Which is best?"
    provider: str = "chatgpt"
    country: str = ""
    branded: bool = False
    hosts: tuple[str, ...] = ()
    fields: Mapping[str, Any] = field(default_factory=dict)

    def prompt(self, check: Check) -> Prompt:
        key = Prompt.key_of(self.question, self.country, "")
        return Prompt(of_check=check, position=1, text=self.question, key=key, branded=self.branded)


@dataclass(frozen=True)
class Kept:
    """A brand with one competitor, and how to keep answers about it."""

    team: Team
    brand: Brand
    rival: Competitor

    @classmethod
    def make(cls, user: Any, **fields: Any) -> Kept:
        team = Team.objects.of(user)
        names = {"name": "Northwind", "domains": ["northwind.example"], "read_edition": 1, **fields}
        brand = Brand.objects.create(team=team, read_matcher=MATCHER_VERSION, **names)
        return cls(team, brand, Competitor.objects.create(brand=brand, name="Contoso", domains=["contoso.example"]))

    def answer(
        self,
        day: date | datetime,
        named: Iterable[str] = (),
        *,
        question: str = "Which is best?",
        provider: str = "chatgpt",
        country: str = "",
        branded: bool = False,
        hosts: Iterable[str] = (),
        **fields: Any,
    ) -> Capture:
        """Keep an answer that names these, "brand" and "rival", in this order, and rests on pages of these hosts."""
        told = Told(day, tuple(named), question, provider, country, branded, tuple(hosts), fields)
        return self.keep([told])[0]

    def keep(self, told: Sequence[Told]) -> list[Capture]:
        """Keep many answers, each of a check of its own, by one statement a table."""
        checks = Check.objects.bulk_create(self._check(each) for each in told)
        asked = list(zip(told, checks, strict=True))
        prompts = Prompt.objects.bulk_create(each.prompt(check) for each, check in asked)
        answered = list(zip(told, prompts, strict=True))
        captures = Capture.objects.bulk_create(self._capture(each, prompt) for each, prompt in answered)
        kept = dict(zip(captures, told, strict=True))
        Mention.objects.bulk_create(self._mention(to, *said) for to in kept for said in enumerate(kept[to].named, 1))
        Source.objects.bulk_create(_source(of, *on) for of in kept for on in enumerate(kept[of].hosts, 1))
        keys = {"brand": self.brand.key, "rival": self.rival.key}
        found = {capture: [keys[whom] for whom in each.named] for capture, each in kept.items()}
        gists.keep(found, {capture.pk: set(each.hosts) for capture, each in kept.items()}, self.brand.entities())
        return captures

    def _check(self, told: Told) -> Check:
        return Check(
            team=self.team,
            brand=self.brand,
            names=self.brand.names(),
            providers=[told.provider],
            country=told.country,
            submit_token=f"history {next(_numbers)}",
        )

    def _capture(self, told: Told, prompt: Prompt) -> Capture:
        usual: dict[str, Any] = {
            "outcome": "answered",
            "text": "An answer.",
            "surface": told.provider,
            "attempts": 1,
            "simulated": False,
            "answered_at": told.day if isinstance(told.day, datetime) else datetime.combine(told.day, NOON),
            "matcher": MATCHER_VERSION,
            "edition": 1,
        }
        of = {"team": self.team, "of_check": prompt.of_check, "prompt": prompt, "provider": told.provider}
        return Capture(**of | usual | {**told.fields})

    def _mention(self, capture: Capture, rank: int, whom: str) -> Mention:
        who = {"brand": self.brand} if whom == "brand" else {"competitor": self.rival}
        return Mention(capture=capture, rank=rank, hits=1, start=0, end=1, words="x", matcher=MATCHER_VERSION, **who)


def _source(capture: Capture, position: int, host: str) -> Source:
    return Source(capture=capture, position=position, url=f"https://{host}/", raw_url="", domain=host, cited=True)
