"""`manage.py startcheck`: start a check from a terminal, and wait for it if that is asked for."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError
from django.db import InterfaceError, OperationalError, connection
from tqdm import tqdm

from capture import queue, reports, systems
from capture.forms import CheckForm, new_nonce
from capture.models import Check, Team
from capture.orders import RefusedError
from capture.reports import Board

SOME_WITHOUT_ANSWER = 1
BAD_INPUT = 2
REFUSED = 2
INTERRUPTED = 130  # as shells count Ctrl-C

STANDSTILL = 60.0  # seconds of nobody working on it, after which waiting makes no sense
PAUSE = 1.0  # seconds between looks at the database

# Which option fills in which field of the form.
OPTIONS = {
    "brand": "--brand",
    "competitors": "--competitor",
    "prompts": "--prompt",
    "providers": "--provider",
    "country": "--country",
    "language": "--language",
    "samples": "--samples",
}

Say = Callable[[str], object]


def text(value: str) -> str:
    """An argparse type: text that can be written as UTF-8."""
    try:
        value.encode()
    except UnicodeEncodeError:
        raise argparse.ArgumentTypeError("is not UTF-8") from None
    return value


class Command(BaseCommand):
    help = (
        "Start a check. Exit code 0: all answered, or nothing was waited for; 1: some have no answer; "
        "2: bad input, over the budget, or too many within a minute."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        several: dict[str, Any] = {"action": "append", "default": [], "type": text}
        parser.add_argument("--user", required=True, type=text, help="whose team it is for")
        parser.add_argument("--brand", required=True, type=text, help="the name to look for")
        parser.add_argument("--competitor", **several, help="a competitor's name; may be given several times")
        parser.add_argument("--prompt", **several, help="a question; may be given several times")
        parser.add_argument("--provider", **several, help="an AI system, such as chatgpt; may be given several times")
        parser.add_argument("--country", default="", type=text, help="two letters, such as DE")
        parser.add_argument("--language", default="", type=text, help="two letters, such as de")
        parser.add_argument("--samples", default="1", type=text, help="how often each question is asked")
        parser.add_argument("--wait", action="store_true", help="until every job is final")
        parser.add_argument("--json", action="store_true", help="print one object; all else goes to standard error")

    def handle(self, *args: Any, **options: Any) -> None:
        say: Say = self._note if options["json"] else self.stdout.write
        user = user_named(options["user"])
        check = start(user, filled_in(options))
        say(f"Check started: {reports.check_url(check)}")
        board = self._follow(check) if options["wait"] else reports.board_of(check)
        if options["json"]:
            self.stdout.write(json.dumps(reports.status_of(board)))
        if options["wait"]:
            self._conclude(board, say)

    def _note(self, message: str) -> None:
        self.stderr.write(message, style_func=str)

    def _follow(self, check: Check) -> Board:
        try:
            with meter(self._note, bar=self.stderr.isatty()) as show:
                return follow(check, show, self._note)
        except KeyboardInterrupt:
            self._note(f"No longer waiting. The check goes on: {reports.check_url(check)}")
            sys.exit(INTERRUPTED)

    def _conclude(self, board: Board, say: Say) -> None:
        for cell in board.cells:
            if cell.outcome and cell.state is not reports.State.ANSWERED:
                why = f": {cell.why}" if cell.reason else ""
                say(f"{cell.state.words}: {cell.system.label}, “{cell.prompt.text}”{why}")
        say(f"{board.answered} of {board.total} answered")
        if board.answered < board.total:
            sys.exit(SOME_WITHOUT_ANSWER)


# ------------------------------------------------------------------------------------------------------- starting


def user_named(name: str) -> User:
    """The user of that name, who must be there."""
    try:
        return User.objects.get_by_natural_key(name)
    except User.DoesNotExist:
        raise CommandError(f"There is no user “{name}”.", returncode=BAD_INPUT) from None


def filled_in(options: dict[str, Any]) -> CheckForm:
    """The form of the check page, filled in with the options."""
    return CheckForm(
        {
            "brand": options["brand"],
            "competitors": lines(options["competitor"]),
            "prompts": lines(options["prompt"]),
            "providers": options["provider"],
            "country": options["country"],
            "language": options["language"],
            "samples": options["samples"],
            "nonce": new_nonce(),
        }
    )


def lines(values: Sequence[str]) -> str:
    """One line for each value, whatever spaces are in it."""
    return "\n".join(" ".join(value.split()) for value in values)


def start(user: User, form: CheckForm) -> Check:
    """Enqueue what the form says."""
    if not form.is_valid():
        told = (f"{OPTIONS[field]}: {messages[0]}" for field, messages in form.errors.items())
        raise CommandError("\n".join(told), returncode=BAD_INPUT)
    most = settings.CAPTURE_CHECKS_A_MINUTE
    try:
        check, _ = queue.enqueue(form.to_order(), Team.objects.of(user), user, systems.estimates(), most_a_minute=most)
    except RefusedError as refusal:
        raise CommandError(str(refusal), returncode=REFUSED) from None
    return check


# -------------------------------------------------------------------------------------------------------- waiting


def follow(check: Check, show: Callable[[Board], object], note: Say) -> Board:
    """Look at a check until all of it is final.

    Says when nobody works on it and when the database is away, and does not wait for that to end for ever.

    Raises:
        CommandError: it did not end.
    """
    told, since = "", time.monotonic()
    while True:
        board, trouble = look(check)
        if board is not None:
            show(board)
            if not board.open:
                return board
        if trouble != told:
            note(trouble or "It goes on.")
            told, since = trouble, time.monotonic()
        if trouble and time.monotonic() - since > STANDSTILL:
            kept = f"No longer waiting. The check is kept, and goes on when it can: {reports.check_url(check)}"
            raise CommandError(kept, returncode=SOME_WITHOUT_ANSWER)
        time.sleep(PAUSE)


def look(check: Check) -> tuple[Board | None, str]:
    """How the check stands, if that can be seen, and what keeps it from going on, if anything does."""
    try:
        board = reports.board_of(check)
        idle = ", ".join(system.label for system in reports.unserved(board))
    except (OperationalError, InterfaceError):
        connection.close()
        return None, "The database cannot be reached; trying again. The check is not lost."
    return board, f"No worker is running that asks {idle}. Start one: manage.py runworkers" if idle else ""


@contextmanager
def meter(note: Say, *, bar: bool) -> Iterator[Callable[[Board], object]]:
    """Show progress: as a bar on a terminal, and elsewhere as a line for each change."""
    if not bar:
        yield Lines(note).show
        return
    with tqdm(unit="job", file=sys.stderr, dynamic_ncols=True) as progress:

        def show(board: Board) -> None:
            progress.total, progress.n = board.total, board.finished
            progress.set_postfix_str(states(board))

        yield show


class Lines:
    """Progress where there is no terminal."""

    def __init__(self, note: Say) -> None:
        self._note = note
        self._told = ""

    def show(self, board: Board) -> None:
        line = f"{board.finished} of {board.total} finished: {states(board)}"
        if line != self._told:
            self._note(line)
        self._told = line


def states(board: Board) -> str:
    return ", ".join(f"{count} {state.words}" for state, count in board.by_state)
