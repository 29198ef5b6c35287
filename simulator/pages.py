"""The invented web that answers cite. All of it lies under .example, where no real site can be."""

import random
import re
import unicodedata
from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True)
class Page:
    url: str
    domain: str
    title: str
    snippet: str
    date: str = ""


class Site(NamedTuple):
    domain: str
    path: str
    title: str


SITES = (
    Site("brightreview.example", "/best-{slug}", "The best {label}, tested"),
    Site("testbench.example", "/reports/{slug}?srsltid=AfmBOoq7", "{label}: our long test"),
    Site("consumerledger.example", "/guides/{slug}", "How to choose {label}"),
    Site("dailycompare.example", "/{slug}/comparison", "{label} compared"),
    Site("forumhaus.example", "/t/{slug}/4711", ""),
    Site("buyersnotebook.example", "/{slug}", "Buyer's notebook: {label}"),
    Site("marktblick.example", "/vergleich/{slug}", "Marktblick – {label} im Überblick"),
    Site("honestshelf.example", "/2026/{slug}", "What owners say about {label}"),
)


def found(chance: random.Random, label: str, brands: list[str]) -> list[Page]:
    """The results of a search: some sites of others, some of the brands' own."""
    sites = chance.sample(SITES, chance.randint(4, 6))
    pages = [_article(site, label, chance) for site in sites]
    for brand in brands[:3]:
        if chance.random() < 0.5:
            pages.insert(chance.randrange(len(pages) + 1), _own(brand, label))
    return pages


def slug(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-") or "topic"


def _article(site: Site, label: str, chance: random.Random) -> Page:
    title = site.title.format(label=label)
    date = f"2026-{chance.randint(1, 10):02}-{chance.randint(1, 28):02}" if chance.random() < 0.8 else ""
    return Page(
        url=f"https://www.{site.domain}{site.path.format(slug=slug(label))}",
        domain=site.domain,
        title=title[:1].upper() + title[1:],
        snippet=f"We looked at {label} over several weeks and wrote down what was good and what was not.",
        date=date,
    )


def _own(brand: str, label: str) -> Page:
    domain = f"{slug(brand).replace('-', '')}.example"
    return Page(f"https://www.{domain}/{slug(label)}", domain, f"{brand} – official site", f"{brand} and {label}.")
