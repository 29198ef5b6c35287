"""`manage.py checkproviders`: which AI systems can be asked here, by calls that cost nothing. Needs no database."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, dataclass
from typing import Any

from django.core.management.base import BaseCommand

from capture import systems
from capture.providers import registry
from capture.providers.base import Provider
from capture.providers.replies import ProviderError

SOMETHING_WRONG = 1


@dataclass(frozen=True, slots=True)
class Found:
    """How it stands with one system.

    Arguments:
        works: None where it is not configured, so nothing was tried.
        detail: for people; never holds a key.
    """

    provider: str
    label: str
    configured: bool
    simulated: bool
    works: bool | None
    detail: str


class Command(BaseCommand):
    help = "Say for each AI system whether it is configured, can be reached, and takes the key. Exit code 1: one fails."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print one list on standard output")

    def handle(self, *args: Any, **options: Any) -> None:
        found = [look_at(provider) for provider in registry.PROVIDERS]
        if options["json"]:
            self.stdout.write(json.dumps([asdict(each) for each in found], ensure_ascii=False))
        else:
            self.stdout.write("\n".join(in_words(each) for each in found))
        if any(each.works is False for each in found):
            raise SystemExit(SOMETHING_WRONG)


def look_at(wanted: type[Provider]) -> Found:
    """Try one system's key, if there is one."""
    provider = systems.configured().get(wanted.slug)
    if provider is None:
        missing = f"set {wanted.env_prefix}_API_KEY to ask it"
        return Found(wanted.slug, wanted.label, configured=False, simulated=False, works=None, detail=missing)
    try:
        works, detail = True, provider.check()
    except ProviderError as error:
        works, detail = False, str(error)
    return Found(wanted.slug, wanted.label, True, provider.account.simulated, works, detail)


def in_words(found: Found) -> str:
    state = {None: "not configured", True: "works", False: "does not work"}[found.works]
    return f"{found.label}: {state}{' (simulated)' if found.simulated else ''}: {found.detail}"
