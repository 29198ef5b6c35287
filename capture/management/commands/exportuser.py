"""`manage.py exportuser`: all that is held on a person, as JSON."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from capture.management.commands.startcheck import user_named
from capture.privacy import Person, json_pieces

ONLY_OURS = 0o600


class Command(BaseCommand):
    help = "Print all that is held on a person as one JSON object, to be given to them."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--output", type=Path, metavar="FILE", help="write a new file, which only you can read")

    def handle(self, *args: Any, **options: Any) -> None:
        pieces = json_pieces(Person(user_named(options["username"])))
        if options["output"] is None:
            for piece in pieces:
                self.stdout.write(piece, ending="")
            return
        try:
            descriptor = os.open(options["output"], os.O_WRONLY | os.O_CREAT | os.O_EXCL, ONLY_OURS)
        except OSError as error:
            raise CommandError(f"{options['output']} cannot be made: {error.strerror}.") from error
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.writelines(pieces)
