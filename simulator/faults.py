"""What a step of a script does to one exchange, whichever system it is with."""

from dataclasses import replace
from email.utils import formatdate
from typing import Any

from simulator.exchange import RESET, Reply, encode
from simulator.script import INSTEAD_SHAPES, Do, Response
from simulator.systems.base import System

DEFAULT_WAIT_S = 1.0


def instead(system: System, do: Do, now: float) -> Reply | None:
    """The reply that replaces the work, if the step is of that kind."""
    if do.drop == "before_accept":
        return RESET
    if do.respond:
        return _as_told(do.respond)
    wait_s = DEFAULT_WAIT_S if do.wait_s is None else do.wait_s
    if do.shape is not None and do.shape in system.own_errors:
        return system.own_errors[do.shape](wait_s)
    return _shaped(system, do.shape, wait_s, now) if do.shape in INSTEAD_SHAPES else None


def changes(system: System, do: Do, now: float) -> dict[str, Any]:
    """What the step changes about the call itself."""
    changed: dict[str, Any] = {}
    if do.holds:
        changed["due_at"] = None if do.pending_for_s is None else now + do.pending_for_s
    if do.finish_as is not None:
        changed["finish_as"] = do.finish_as
    if do.shape in system.endings:
        changed["shape"] = do.shape
    return changed


def delivered(do: Do, reply: Reply) -> Reply:
    """The reply as it reaches the client."""
    if do.drop:
        return RESET
    if do.shape == "truncated":
        return replace(reply, body=reply.body[: len(reply.body) // 2])
    if do.shape == "empty":
        return replace(reply, body=b"")
    return replace(reply, cut_at=do.cut_body, bytes_per_s=do.trickle)


def _as_told(response: Response) -> Reply:
    if isinstance(response.body, str):
        kind, body = "text/plain; charset=utf-8", response.body.encode(errors="surrogatepass")
    else:
        kind, body = "application/json", encode(response.body)
    given = {name.lower(): value for name, value in response.headers.items()}
    return Reply(response.status, {"content-type": kind, **given}, body)


def _shaped(system: System, shape: str | None, wait_s: float, now: float) -> Reply:
    match shape:
        case "rate_limit_header":
            return system.rate_limited("").with_headers({"retry-after": f"{wait_s:g}"})
        case "rate_limit_ms":
            return system.rate_limited("").with_headers({"retry-after-ms": f"{wait_s * 1000:.0f}"})
        case "rate_limit_date":
            return system.rate_limited("").with_headers({"retry-after": formatdate(now + wait_s, usegmt=True)})
        case "rate_limit_message":
            return system.rate_limited(f" Please try again in {_spoken(wait_s)}.")
        case "no_money":
            return system.no_money()
        case "bad_key":
            return system.bad_key("simulated")
        case "overloaded":
            return system.overloaded()
        case "html_401":
            return _page(401, "401 Authorization Required", "openresty")
        case _:
            return _page(502, "502 Bad Gateway", "cloudflare")


def _spoken(wait_s: float) -> str:
    """As a Go duration, which is how these messages give it: 350ms, 3.5s, 6m0s."""
    if wait_s < 1:
        return f"{wait_s * 1000:.0f}ms"
    minutes, seconds = divmod(wait_s, 60)
    return f"{minutes:.0f}m{seconds:g}s" if minutes else f"{seconds:g}s"


def _page(status: int, title: str, server: str) -> Reply:
    html = f"<html>\r\n<head><title>{title}</title></head>\r\n<body>\r\n<center><h1>{title}</h1></center>\r\n"
    html += f"<hr><center>{server}</center>\r\n</body>\r\n</html>\r\n"
    return Reply(status, {"content-type": "text/html"}, html.encode())
