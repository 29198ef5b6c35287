"""Changing the names of a brand and of its competitors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import IntegrityError, transaction

from capture.analysis.mentions import Entity
from capture.models import Brand, Competitor
from capture.models.brands import Named, editing
from capture.models.clock import database_now


class OutdatedError(Exception):
    """Somebody else has changed the names since they were shown."""


class TakenError(Exception):
    """The team has another brand of that name, or the brand another competitor."""


@dataclass(frozen=True, slots=True)
class Names:
    """All names of somebody, as they are to be.

    Arguments:
        number: of the competitor; None for the brand and for a new competitor.
        archived: not looked for any more.
    """

    name: str
    aliases: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    match_case: bool = False
    number: int | None = None
    archived: bool = False

    def entity(self, key: str) -> Entity:
        return Entity(key, self.name, self.aliases, self.domains, self.match_case)


def change(brand: Brand, own: Names, rivals: Sequence[Names], edition: int) -> bool:
    """Change names; says whether that is another edition. Stored answers are read again by it in time.

    Arguments:
        rivals: those that are new or may have changed; others stay as they are.
        edition: that was shown to whoever changes it.

    Raises:
        OutdatedError: it is another edition by now; nothing is changed.
        TakenError: a name is taken; nothing is changed.
    """
    try:
        with transaction.atomic():
            with editing(brand) as locked:
                if locked.edition != edition:
                    raise OutdatedError
                _write(locked, own)
                _change_rivals(locked, rivals)
            return Brand.objects.values_list("edition", flat=True).get(pk=brand.pk) != edition
    except IntegrityError as error:
        raise TakenError from error


def _change_rivals(brand: Brand, rivals: Sequence[Names]) -> None:
    known = {competitor.pk: competitor for competitor in brand.competitors.all()}
    # Whoever leaves goes first, since a name may go on to another.
    for names in sorted(rivals, key=lambda names: not names.archived):
        competitor = known[names.number] if names.number else Competitor(brand=brand)
        if names.archived != (competitor.archived_at is not None):
            competitor.archived_at = database_now() if names.archived else None
        _write(competitor, names)


def _write(row: Named, names: Names) -> None:
    row.name, row.match_case = names.name, names.match_case
    row.aliases, row.domains = list(names.aliases), list(names.domains)
    row.save()
