"""Builds what history is told of: answers of many days, as they are kept, without asking for them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Any

from capture import gists
from capture.analysis.mentions import MATCHER_VERSION
from capture.models import Brand, Capture, Check, Competitor, Mention, Prompt, Source, Team

NOON = time(12, tzinfo=UTC)

_numbers = itertools.count(1)


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
        named = list(named)
        check = Check.objects.create(
            team=self.team,
            brand=self.brand,
            names=self.brand.names(),
            providers=[provider],
            country=country,
            submit_token=f"history {next(_numbers)}",
        )
        prompt = Prompt.objects.create(
            of_check=check, position=1, text=question, key=Prompt.key_of(question, country, ""), branded=branded
        )
        usual: dict[str, Any] = {
            "outcome": "answered",
            "text": "An answer.",
            "surface": provider,
            "attempts": 1,
            "simulated": False,
            "answered_at": day if isinstance(day, datetime) else datetime.combine(day, NOON),
            "matcher": MATCHER_VERSION,
            "edition": 1,
        }
        capture = Capture.objects.create(
            team=self.team, of_check=check, prompt=prompt, provider=provider, **usual | fields
        )
        self._mention(capture, named)
        sources = Source.objects.bulk_create(
            Source(capture=capture, position=position, url=f"https://{host}/", raw_url="", domain=host, cited=True)
            for position, host in enumerate(hosts, start=1)
        )
        keys = {"brand": self.brand.key, "rival": self.rival.key}
        found = {capture: [keys[whom] for whom in named]}
        gists.keep(found, {capture.pk: {source.domain for source in sources}}, self.brand.entities())
        return capture

    def _mention(self, capture: Capture, named: Iterable[str]) -> None:
        for rank, whom in enumerate(named, start=1):
            who = {"brand": self.brand} if whom == "brand" else {"competitor": self.rival}
            Mention.objects.create(
                capture=capture, rank=rank, hits=1, start=0, end=1, words="x", matcher=MATCHER_VERSION, **who
            )
