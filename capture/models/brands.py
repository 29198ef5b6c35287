"""Brands and competitors: what is looked for in answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.functions import RandomUUID
from django.db import models, transaction
from django.db.models import F, Q, QuerySet, Value
from django.db.models.functions import Lower, Now

from capture.analysis.mentions import MATCHER_VERSION, Entity
from capture.models.clock import ClockTimestamp
from capture.models.teams import Team

NAME_LENGTH = 100

NamedT = TypeVar("NamedT", bound="Named")


def entity_as_asked(key: str, names: Mapping[str, Any]) -> Entity:
    """As the analysis looks for somebody of whom the names are kept as `as_asked` gives them."""
    return Entity(key, names["name"], tuple(names["aliases"]), tuple(names["domains"]), names["match_case"])


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

    @property
    def key(self) -> str:
        """Tells this one from all others among those who are looked for by the names of today."""
        return f"{self._meta.model_name}:{self.pk}"

    def entity(self) -> Entity:
        """As the analysis looks for it."""
        return entity_as_asked(self.key, self.as_asked())


class BrandQuerySet(models.QuerySet["Brand"]):
    def current(self) -> BrandQuerySet:
        return self.filter(archived_at__isnull=True)

    def remember(self, team: Team, name: str) -> Brand:
        """The team's brand of that name, in any case; made if it is new."""
        with transaction.atomic():
            # Locking the team lets one of two first checks of a brand make it, and the other find it.
            Team.objects.lock(team)
            return _named(self.current().filter(team=team), name) or self.create(team=team, name=name)

    def unread(self) -> BrandQuerySet:
        """Those of which stored answers may have to be read again, as names or the rules have changed since."""
        return self.exclude(read_edition=F("edition"), read_matcher__gte=MATCHER_VERSION)


class Brand(Named):
    """Whose visibility is measured.

    Its names and its competitors' together are an edition; a capture knows by which edition its mentions were found.
    """

    uuid = models.UUIDField(unique=True, db_default=RandomUUID(), editable=False, help_text="by which it is addressed")
    team = models.ForeignKey(Team, models.CASCADE, related_name="brands")
    edition = models.PositiveIntegerField(default=1, help_text="goes up when a name changes, its competitors' included")
    edited_at = models.DateTimeField(null=True, blank=True, help_text="when it last went up")
    read_edition = models.PositiveIntegerField(default=0, help_text="by which all its stored answers have been read")
    read_matcher = models.PositiveSmallIntegerField(default=0, help_text="by whose rules that was")

    objects = BrandQuerySet.as_manager()

    class Meta:
        constraints = (
            models.UniqueConstraint("team", Lower("name"), name="brand_once", condition=Q(archived_at__isnull=True)),
        )

    def names(self) -> dict[str, Any]:
        """All names of today, of the brand and of its competitors, to be frozen in a check."""
        current = self.competitors.current().order_by("pk")
        return {"brand": self.as_asked(), "competitors": [competitor.as_asked() for competitor in current]}

    def entities(self) -> tuple[Entity, ...]:
        """Who is looked for today: the brand, then its competitors; without a query where those are prefetched."""
        current = [competitor for competitor in self.competitors.all() if competitor.archived_at is None]
        return self.entity(), *(competitor.entity() for competitor in sorted(current, key=lambda each: each.pk))


class HistoryMark(models.Model):
    """A day on which figures of a brand changed for another reason than the answers.

    `before` and `after` are all names as `Brand.names` gives them, or the versions of the matcher.
    """

    class Kind(models.TextChoices):
        NAMES = "names"
        MATCHER = "matcher"

    brand = models.ForeignKey(Brand, models.CASCADE, related_name="marks", db_index=False)
    kind = models.CharField(max_length=7, choices=Kind)
    at = models.DateTimeField(db_default=Now())
    before = models.JSONField()
    after = models.JSONField()

    class Meta:
        constraints = (models.CheckConstraint(name="mark_kind", condition=Q(kind__in=["names", "matcher"])),)
        indexes = (models.Index(fields=["brand", "at"], name="mark_by_brand"),)

    def __str__(self) -> str:
        return f"{self.kind} of {self.brand_id}"


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
    with transaction.atomic(), editing(brand):
        current = brand.competitors.current()
        found = [_named(current, name) or Competitor.objects.create(brand=brand, name=name) for name in names]
        return list(dict.fromkeys(found))


@contextmanager
def editing(brand: Brand) -> Iterator[Brand]:
    """Lock a brand while its names or its competitors' are changed; if any were, that is a new edition.

    Stored answers are read again by it in time, and history has a mark. To be used inside a transaction.

    Yields:
        The brand as it is now.
    """
    locked = Brand.objects.select_for_update(no_key=True).get(pk=brand.pk)
    before = locked.names()
    yield locked
    after = Brand.objects.get(pk=brand.pk).names()
    if after == before:
        return
    Brand.objects.filter(pk=brand.pk).update(edition=F("edition") + 1, edited_at=ClockTimestamp())
    if locked.checks.exists():
        HistoryMark.objects.create(brand=locked, kind=HistoryMark.Kind.NAMES, before=before, after=after)


def _named(rows: QuerySet[NamedT], name: str) -> NamedT | None:
    """The row of that name in any case; PostgreSQL compares, as in the constraint, since Python does so otherwise."""
    return rows.annotate(lowered=Lower("name")).filter(lowered=Lower(Value(name))).first()
