"""Starts `runworkers` as a worker that kills itself at a named point: the product has no hooks for that.

KILLTEST_POINT="while sending" KILLTEST_PASSAGE=3 python -m tests.killtest.doomed --concurrency 4
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tests.killtest import points

if TYPE_CHECKING:
    from capture.calls import Ticket


class Doom:
    """The death of this process, at the n-th passage of one point."""

    def __init__(self, point: str, passage: int) -> None:
        self.point = point
        self._left = passage
        self._lock = threading.Lock()

    def is_near(self, point: str) -> bool:
        """Count a passage; says whether this is the one."""
        if point != self.point:
            return False
        with self._lock:
            self._left -= 1
            return self._left <= 0

    def passes(self, point: str, *, really: bool = True) -> None:
        """Strike if this is the passage.

        Arguments:
            really: whether what happens there is what the point is about.
        """
        if really and self.is_near(point):
            self.strike()

    def strike(self) -> None:
        """Die as by `kill -9`: nothing is tidied up. The time is told, as nobody else can know it."""
        os.write(2, f"{points.LAST_WORDS} {self.point}: {time.time():.6f}\n".encode())
        os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    """Set the traps, and be a worker."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "aicontrol.settings")
    import django

    django.setup()
    set_traps(Doom(os.environ[points.POINT_VARIABLE], int(os.environ[points.PASSAGE_VARIABLE])))
    import manage

    sys.argv = ["manage.py", "runworkers", *sys.argv[1:]]
    manage.main()


def set_traps(doom: Doom) -> None:
    """Put the doom at all points; it strikes at its own."""
    from capture import first_replies, heartbeat, ledger, queue
    from capture.queue import forsaken
    from capture.worker import Worker

    _after(
        queue, "claim", lambda claimed: doom.passes(points.AFTER_CLAIM, really=bool(claimed) and not starts(claimed))
    )
    _after(queue, "claim", lambda taken: doom.passes(points.AFTER_INTENT, really=starts(taken)))
    _before(queue, "wait", lambda ticket, *_: doom.passes(points.ID_ARRIVED, really=ticket.remote_id is None))
    _before(queue, "complete_all", lambda *_: doom.passes(points.ANSWER_IN_HAND))
    _after(ledger, "keep_reply", lambda _: doom.passes(points.COMPLETING))
    _after(first_replies, "keep", lambda kept: doom.passes(points.COMPLETING, really=bool(kept)))
    _after(heartbeat, "beat", lambda _: doom.passes(points.IN_A_BEAT))
    _after(forsaken, "_close_forsaken", lambda _: doom.passes(points.RECOVERING))
    _after(Worker, "_begin_to_stop", lambda _: doom.passes(points.DRAINING))
    _trap_exchanges(doom)
    _trap_commits(doom)


def starts(taken: Sequence[Ticket]) -> bool:
    """Whether any of them is to be asked, and not only to be looked after."""
    return any(ticket.remote_id is None for ticket in taken)


def commit_of(taken: Sequence[Ticket]) -> str:
    return points.COMMIT_OF_START if starts(taken) else points.COMMIT_OF_CLAIM


def _before(owner: Any, name: str, trap: Callable[..., object]) -> None:
    inner = getattr(owner, name)

    def trapped(*arguments: Any, **named: Any) -> Any:
        trap(*arguments)
        return inner(*arguments, **named)

    setattr(owner, name, trapped)


def _after(owner: Any, name: str, trap: Callable[[Any], object]) -> None:
    inner = getattr(owner, name)

    def trapped(*arguments: Any, **named: Any) -> Any:
        result = inner(*arguments, **named)
        trap(result)
        return result

    setattr(owner, name, trapped)


def _during(owner: Any, name: str, now: Any, point: str | None) -> None:
    """Note in a thread's own `now` what it is about."""
    inner = getattr(owner, name)

    def noted(*arguments: Any, **named: Any) -> Any:
        now.point = point
        try:
            return inner(*arguments, **named)
        finally:
            now.point = None

    setattr(owner, name, noted)


def _trap_exchanges(doom: Doom) -> None:
    """Die when a request is written and its reply is about to be read; once an exchange."""
    from capture.providers.base import Provider
    from capture.providers.deadline import DeadlineStream

    now = threading.local()
    _during(Provider, "start", now, points.SENDING)
    _during(Provider, "poll", now, points.POLLING)

    def reads(*_: Any) -> None:
        point, now.point = getattr(now, "point", None), None
        if point:
            doom.passes(point)

    _before(DeadlineStream, "read", reads)


def _trap_commits(doom: Doom) -> None:
    """Die when a COMMIT is on its way to the server and nobody has read what came of it."""
    import psycopg
    from psycopg.pq import TransactionStatus

    from capture import queue
    from capture.queue import tickets

    now = threading.local()
    _during(queue, "claim", now, None)
    # Only a claim that has found something makes tickets; the COMMIT of one that has not matters to nobody.
    _after(tickets, "take", lambda taken: setattr(now, "point", commit_of(taken)))
    _during(queue, "wait", now, points.COMMIT_OF_WAIT)
    _during(queue, "complete_all", now, points.COMMIT_OF_COMPLETE)

    def commits(connection: psycopg.Connection[Any]) -> None:
        point, server = getattr(now, "point", None), connection.pgconn
        if point and server.transaction_status == TransactionStatus.INTRANS and doom.is_near(point):
            server.send_query(b"COMMIT")
            while server.flush():
                pass
            doom.strike()

    _before(psycopg.Connection, "commit", commits)


if __name__ == "__main__":
    main()
