"""`manage.py eraseuser`: erase a person with all that is theirs alone."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from capture.management.commands.startcheck import user_named
from capture.privacy import Erasure, Person, RefusedToEraseError


class Command(BaseCommand):
    help = (
        "Erase a person for good: account, memberships, sessions, log entries, and the teams of which nobody else is "
        "a member, with everything in them. Charges stay, of nobody. What was sent to AI systems stays there; "
        "docs/privacy.md says how long."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--dry-run", action="store_true", help="only say what would be erased")
        parser.add_argument("--cancel", action="store_true", help="call off open questions first")
        parser.add_argument("--yes", action="store_true", help="do not ask whether that is meant")

    def handle(self, *args: Any, **options: Any) -> None:
        erasure = Erasure(Person(user_named(options["username"])))
        for line in (*erasure.in_words(), *(f"In the way: {why}" for why in erasure.obstacles())):
            self.stdout.write(line)
        if options["dry_run"]:
            return
        if not (options["yes"] or self._is_meant(options["username"])):
            raise CommandError("Nothing was erased.")
        try:
            if options["cancel"]:
                erasure.cancel()
            erasure.run()
        except RefusedToEraseError as refusal:
            raise CommandError(f"Not erased: {refusal}") from None
        self.stdout.write("Erased.")

    def _is_meant(self, username: str) -> bool:
        if not sys.stdin.isatty():
            raise CommandError("Nothing was erased: without a terminal, --yes has to say that it is meant.")
        return input("Type the username to erase all of this for good: ") == username
