"""The sites behind sources: which hosts are one site, and whose it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.utils.translation import gettext as _

from capture.analysis.mentions import Entity
from capture.analysis.sources import SourceKind, belongs, kind_of, registrable_domain

# Where hosts of one site are of several kinds, this one goes before those after it.
_FIRST = (SourceKind.OWN, SourceKind.COMPETITOR, SourceKind.OTHER)


@dataclass(frozen=True, slots=True)
class Sites:
    """The hosts of some sources, told apart.

    Arguments:
        domains: the registrable domain of each host.
        kinds: whose each domain is.
        own: the hosts that are the brand's.
    """

    domains: Mapping[str, str]
    kinds: Mapping[str, SourceKind]
    own: frozenset[str]


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
        kinds[domain] = min(kind, kinds.get(domain, kind), key=_FIRST.index)
    own = frozenset(host for host in domains if any(belongs(host, domain) for domain in brand.domains))
    return Sites(domains, kinds, own)


def kind_in_words(kind: SourceKind) -> str:
    return {SourceKind.OWN: _("own"), SourceKind.COMPETITOR: _("competitor"), SourceKind.OTHER: _("other")}[kind]
