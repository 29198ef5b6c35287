"""Brands and competitors: what is looked for in answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from django.contrib.postgres.fields import ArrayField
from django.db import models, transaction
from django.db.models import Q, QuerySet, Value
from django.db.models.functions import Lower, Now

from capture.models.teams import Team

NAME_LENGTH = 100

NamedT = TypeVar("NamedT", bound="Named")


class Named(models.Model):
    """Somebody who may be named in an answer.

    Archived rather than deleted, since checks of the past asked about it.
    """

    name = models.CharField(max_length=NAME_LENGTH)
    aliases = ArrayField(models.CharField(max_length=NAME_LENGTH), default=list, blank=True)
    domains = ArrayField(models.CharField(max_length=253), default=list, blank=True)
    match_case = models.BooleanField(default=False)
    created_at = models.DateTimeField(db_default=Now())
    archived_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.name

    def as_asked(self) -> dict[str, Any]:
        """The names as they are now, to be frozen in a check."""
        return {"name": self.name, "aliases": self.aliases, "domains": self.domains, "match_case": self.match_case}


class BrandQuerySet(models.QuerySet["Brand"]):
    def current(self) -> BrandQuerySet:
        return self.filter(archived_at__isnull=True)

    def remember(self, team: Team, name: str) -> Brand:
        """The team's brand of that name, in any case; made if it is new."""
        with transaction.atomic():
            # Locking the team lets one of two first checks of a brand make it, and the other find it.
            Team.objects.lock(team)
            return _named(self.current().filter(team=team), name) or self.create(team=team, name=name)


class Brand(Named):
    team = models.ForeignKey(Team, models.CASCADE, related_name="brands")

    objects = BrandQuerySet.as_manager()

    class Meta:
        constraints = (
            models.UniqueConstraint("team", Lower("name"), name="brand_once", condition=Q(archived_at__isnull=True)),
        )


class CompetitorQuerySet(models.QuerySet["Competitor"]):
    def current(self) -> CompetitorQuerySet:
        return self.filter(archived_at__isnull=True)


class Competitor(Named):
    brand = models.ForeignKey(Brand, models.CASCADE, related_name="competitors")

    objects = CompetitorQuerySet.as_manager()

    class Meta:
        constraints = (
            models.UniqueConstraint(
                "brand", Lower("name"), name="competitor_once", condition=Q(archived_at__isnull=True)
            ),
        )


def remember_competitors(brand: Brand, names: Sequence[str]) -> list[Competitor]:
    """The brand's competitors of those names, in that order; made if they are new."""
    with transaction.atomic():
        Brand.objects.select_for_update(no_key=True).get(pk=brand.pk)
        current = brand.competitors.current()
        found = [_named(current, name) or Competitor.objects.create(brand=brand, name=name) for name in names]
        return list(dict.fromkeys(found))


def _named(rows: QuerySet[NamedT], name: str) -> NamedT | None:
    """The row of that name in any case; PostgreSQL compares, as in the constraint, since Python does so otherwise."""
    return rows.annotate(key=Lower("name")).filter(key=Lower(Value(name))).first()
