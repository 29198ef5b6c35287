"""`python -m simulator`: parses, then serves until SIGTERM or SIGINT."""

import argparse
import json
import logging
import math
import signal
import sys
import textwrap
import threading
from collections.abc import Sequence
from pathlib import Path

from simulator import control, script
from simulator.app import App
from simulator.journal import Journal, JournalError
from simulator.script import Script, ScriptError, Step, read_script
from simulator.server import Server
from simulator.store import Store
from simulator.systems import SYSTEMS
from simulator.systems.base import System

SHAPES = {system.slug: system.shapes for system in SYSTEMS}


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    logging.basicConfig(level=logging.INFO if options.verbose else logging.WARNING, format="%(asctime)s %(message)s")
    try:
        server = _server(options)
    except (JournalError, OSError) as error:
        sys.stderr.write(f"simulator: cannot serve on {options.host}:{options.port}: {error}\n")
        return 2
    _serve(server)
    return 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m simulator",
        description="AI systems offline, over HTTP.",
        epilog=_epilog(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--port", type=_port, required=True, help="0 picks a free one")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--seed", type=int, default=0, help="another seed gives other answers and other times")
    parser.add_argument("--speed", type=_speed, default=1.0, help="10: ten times as fast; inf: no waiting at all")
    parser.add_argument("--state", type=Path, metavar="FILE", help="calls and counts outlive the process in this file")
    parser.add_argument("--script", type=_script, default=[], metavar="FILE", help="JSON list of faults to order")
    parser.add_argument("--verbose", action="store_true", help="one line for each start call, on stderr")
    return parser.parse_args(arguments)


def _epilog() -> str:
    """All that a script can order, told by what reads it."""
    systems = [f"  {system.slug:<12}{system.prefix.rstrip('/'):<14}{_own_shapes(system)}" for system in SYSTEMS]
    return "\n".join(
        [
            "systems, the paths under which they speak, and shapes that only they have:",
            *systems,
            "",
            'Any key is accepted, but for those that begin with "invalid". It stands where the real system wants it:',
            "authorization: Bearer, at Gemini x-goog-api-key, at SerpApi the parameter api_key.",
            "",
            (script.__doc__ or "").strip(),
            "",
            f'"do" is one of: {", ".join(script.ACTIONS)}.',
            f'"drop" is one of: {", ".join(script.DROPS)}. Shapes of a limit may say wait_s beside.',
            *textwrap.wrap(f"Shapes that every system has: {', '.join(script.SHAPES)}.", 100),
            "",
            (control.__doc__ or "").strip(),
        ]
    )


def _own_shapes(system: System) -> str:
    return " ".join((*system.own_endings, *system.own_errors))


def _server(options: argparse.Namespace) -> Server:
    """The port is taken before the state is opened: a second simulator must not touch the first one's file."""
    server = Server(options.host, options.port)
    try:
        server.app = _app(options)
    except BaseException:
        server.server_close()
        raise
    return server


def _app(options: argparse.Namespace) -> App:
    store = Store(SHAPES, Journal(options.state) if options.state else None)
    return App(seed=options.seed, speed=options.speed, store=store, script=Script(options.script))


def _serve(server: Server) -> None:
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    loop = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    loop.start()
    sys.stdout.write(f"simulator listening on {server.url}\n")
    sys.stdout.flush()
    stop.wait()
    server.stop()
    loop.join()


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65_535:
        raise argparse.ArgumentTypeError("a number from 0 to 65535")
    return int(text)


def _speed(text: str) -> float:
    try:
        speed = float(text)
    except ValueError:
        speed = math.nan
    if not speed > 0:
        raise argparse.ArgumentTypeError("a number above 0, or inf")
    return speed


def _script(text: str) -> list[Step]:
    try:
        return read_script(json.loads(Path(text).read_text(encoding="utf-8")), SHAPES)
    except (OSError, ScriptError, ValueError) as error:
        raise argparse.ArgumentTypeError(f"{text}: {error}") from error


if __name__ == "__main__":
    sys.exit(main())
