"""The sites behind sources: which hosts are one site, and whose it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from capture.analysis.mentions import Entity
from capture.analysis.sources import SourceKind, kind_of, registrable_domain

# Where hosts of one site are of several kinds, this one goes before those after it.
KINDS = (SourceKind.OWN, SourceKind.COMPETITOR, SourceKind.OTHER)


@dataclass(frozen=True, slots=True)
class Sites:
    """The hosts of some sources, told apart.

    Arguments:
        domains: the registrable domain of each host.
        kinds: whose each domain is.
    """

    domains: Mapping[str, str]
    kinds: Mapping[str, SourceKind]


def sites_of(hosts: Iterable[str], entities: Iterable[Entity]) -> Sites:
    """Tell hosts apart.

    Arguments:
        hosts: each once; an empty one, of a page that nobody knows, is no site.
        entities: the brand, then its competitors.
    """
    brand, *competitors = entities
    others = [domain for competitor in competitors for domain in competitor.domains]
    domains = {host: registrable_domain(host) for host in hosts if host}
    kinds: dict[str, SourceKind] = {}
    for host, domain in domains.items():
        kind = kind_of(host, brand.domains, others)
        kinds[domain] = min(kind, kinds.get(domain, kind), key=KINDS.index)
    return Sites(domains, kinds)
