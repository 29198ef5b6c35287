"""What has been read in answers, as it is kept: at once when they come, and again when names or the rules change."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet

from capture import gists
from capture.analysis.mentions import MATCHER_VERSION, Entity
from capture.analysis.reading import Named, Reading, Watch, read
from capture.models import Brand, Capture, HistoryMark, Mention
from capture.models.captures import UNREAD
from capture.models.clock import StatementTimestamp
from capture.models.fields import storable

log = logging.getLogger(__name__)

BATCH = 10  # answers that are read in one transaction, most often in less than a tenth of a second
# A transaction that began before names changed keeps its answer by the old ones within this time, or never.
OVERLAP = timedelta(seconds=60)


def columns(reading: Reading | None) -> dict[str, Any]:
    """What a capture itself says of whom it names."""
    if reading is None:
        return {"named": [], "matcher": 0, "edition": UNREAD}
    return {
        "named": [_as_stored(named) for named in reading.asked],
        "matcher": reading.matcher,
        "edition": reading.watch.edition,
    }


def _as_stored(named: Named) -> dict[str, Any]:
    return {
        "key": named.key,
        "start": named.first.start,
        "end": named.first.end,
        "words": storable(named.first.words, most=1000),
        "hits": named.hits,
        "flags": list(named.flags),
    }


def columns_of_new(reading: Reading | None, brand: Brand) -> dict[str, Any]:
    """The same of an answer that has just come; names may have changed while it was on its way: then it is unread.

    Arguments:
        brand: as it is now; its row is not locked, since many answers come at once.
    """
    found = columns(reading)
    same = brand.edition == found["edition"] and brand.read_matcher <= found["matcher"]
    return found if same or reading is None else found | {"edition": UNREAD}


def keep(capture: Capture, reading: Reading, hosts: Iterable[str]) -> None:
    """Keep whom a new answer names by the names of today, and what history reads of it.

    Arguments:
        capture: with its prompt and check.
        hosts: of its sources.
    """
    Mention.objects.bulk_create(mentions_of(capture, reading))
    gists.keep({capture: [named.key for named in reading.today]}, {capture.pk: hosts}, reading.watch.today)


def told_of(reading: Reading, hosts: Iterable[str]) -> dict[str, Any]:
    """What history is told of an answer with sources on these hosts."""
    return gists.told([named.key for named in reading.today], hosts, reading.watch.today)


def mentions(reading: Reading) -> Iterator[dict[str, Any]]:
    """What is kept of whom an answer names by the names of today."""
    for rank, named in enumerate(reading.today, start=1):
        whom, number = named.key.split(":")
        yield {
            "brand_id": int(number) if whom == "brand" else None,
            "competitor_id": int(number) if whom == "competitor" else None,
            "rank": rank,
            "hits": named.hits,
            "start": named.first.start,
            "end": named.first.end,
            "words": named.first.words,
            "flags": list(named.flags),
            "matcher": reading.matcher,
        }


def mentions_of(capture: Capture, reading: Reading) -> Iterator[Mention]:
    """Its rows of whom it names by the names of today."""
    return (Mention(capture=capture, **each) for each in mentions(reading))


def unread_brands() -> QuerySet[Brand]:
    """Brands of which answers may have to be read again, in any order, so that no one waits for the largest."""
    late = Brand.objects.filter(pk__in=Capture.objects.new_unread().values("of_check__brand"))
    return (Brand.objects.unread() | late).prefetch_related("competitors").order_by("?")


def read_on(seconds: float, is_wanted: Callable[[], bool] = lambda: False) -> int:
    """Read stored answers again where names or rules have changed, for about so long; says how many.

    Arguments:
        is_wanted: asked after each batch, whether there is something else to do now.
    """
    until = time.monotonic() + seconds
    count = 0
    for brand in unread_brands():
        while batch := read_again(brand, until):
            count += batch
            if time.monotonic() >= until or is_wanted():
                return count
        settle(brand)
    return count


def read_again(brand: Brand, until: float = math.inf, most: int = BATCH) -> int:
    """Read a batch of a brand's stored answers that are not yet read by its names of today; says how many.

    Any number of processes may do so at once, and be killed: what another has in its hands is passed over, and what is
    read says so itself.

    Arguments:
        brand: with its competitors.
        until: by the monotonic clock, when to be content with what is read; at least one answer is.
    """
    with transaction.atomic():
        unread = Capture.objects.unread(brand).select_related("of_check", "prompt").order_by("pk")
        captures = unread.select_for_update(skip_locked=True, of=("self",), no_key=True)[:most]
        readings = dict(_read_until(captures, brand, until))
        _replace(readings, brand)
    return len(readings)


def _read_until(captures: Iterable[Capture], brand: Brand, until: float) -> Iterator[tuple[Capture, Reading | None]]:
    today = brand.entities()
    for capture in captures:
        yield capture, _read(capture, today, brand.edition)
        if time.monotonic() >= until:
            return


def _read(capture: Capture, today: tuple[Entity, ...], edition: int) -> Reading | None:
    # Whom it names by the names of then is found once for all, unless the rules change.
    asked = capture.of_check.entities() if capture.matcher < MATCHER_VERSION else ()
    try:
        return read(capture.text, Watch(asked, today, edition))
    except Exception:
        log.exception("capture %s: its answer cannot be read", capture.pk)
        return None


def _replace(readings: Mapping[Capture, Reading | None], brand: Brand) -> None:
    for capture, reading in readings.items():
        if reading is None or capture.matcher < MATCHER_VERSION:
            capture.named, capture.matcher = columns(reading)["named"], columns(reading)["matcher"]
        capture.edition = brand.edition  # also of one that cannot be read, so that it is not tried for ever
    Capture.objects.bulk_update(readings, ["named", "matcher", "edition"])
    Mention.objects.filter(capture__in=readings).delete()
    Mention.objects.bulk_create(
        mention for capture, reading in readings.items() if reading for mention in mentions_of(capture, reading)
    )
    named = {capture: [each.key for each in reading.today] if reading else [] for capture, reading in readings.items()}
    gists.keep(named, gists.hosts_of(capture.pk for capture in readings), brand.entities())


def settle(brand: Brand) -> bool:
    """Note that all answers of a brand are read by its names of today, if they are; says whether that is so.

    A change of the rules leaves a mark in its history.
    """
    with transaction.atomic():
        same = Brand.objects.filter(_undisturbed(), pk=brand.pk, edition=brand.edition)
        locked = same.select_for_update(no_key=True).first()
        if locked is None or Capture.objects.unread(locked).exists():
            return False
        if 0 < locked.read_matcher < MATCHER_VERSION:
            kind = HistoryMark.Kind.MATCHER
            HistoryMark.objects.create(brand=locked, kind=kind, before=locked.read_matcher, after=MATCHER_VERSION)
        latest = max(locked.read_matcher, MATCHER_VERSION)
        same.update(read_edition=brand.edition, read_matcher=latest)
    return True


def _undisturbed() -> Q:
    return Q(edited_at__isnull=True) | Q(edited_at__lt=StatementTimestamp() - OVERLAP)
