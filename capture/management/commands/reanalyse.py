"""`manage.py reanalyse`: read stored answers again after a change of names or of the rules.

Workers do so as well, a little at each heartbeat; this does it at once, and beside them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError
from tqdm import tqdm

from capture import readings
from capture.formatting.counts import counted
from capture.models import Brand, Capture


class Command(BaseCommand):
    help = (
        "Read the stored answers of brands whose names, or the rules of finding them, have changed since. It may be "
        "broken off and started again at any time."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--brand", type=UUID, metavar="UUID", help="only this one; its page's address has it")
        parser.add_argument("--dry-run", action="store_true", help="only say how many answers there are to read")

    def handle(self, *args: Any, **options: Any) -> None:
        brands = _chosen(options["brand"])
        counts = {brand: Capture.objects.unread(brand).count() for brand in brands}
        concerned = [brand for brand in brands if counts[brand]]
        if options["dry_run"]:
            self.stdout.write(_told("Would read", sum(counts.values()), concerned))
            return
        with tqdm(total=sum(counts.values()), unit="answer", file=sys.stderr, dynamic_ncols=True) as progress:
            for brand in brands:
                _read(brand, progress)
        self.stdout.write(_told("Read", int(progress.n), concerned))


def _chosen(uuid: UUID | None) -> Sequence[Brand]:
    if uuid is None:
        return list(readings.unread_brands())
    chosen = Brand.objects.filter(uuid=uuid).prefetch_related("competitors")
    if not chosen:
        raise CommandError(f"there is no brand {uuid}")
    return list(chosen)


def _read(brand: Brand, progress: tqdm[Any]) -> None:
    while batch := readings.read_again(brand):
        progress.update(batch)
    readings.settle(brand)


def _told(what: str, answers: int, brands: Sequence[Brand]) -> str:
    return f"{what} {counted(answers, 'answer')} of {', '.join(map(str, brands)) or 'no brand'}"
