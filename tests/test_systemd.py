"""What systemd is told: over real sockets, and never at the price of the work."""

from __future__ import annotations

import os
from contextlib import closing

import pytest

from capture.systemd import ServiceManager
from tests.service_manager import notifications

TEN_SECONDS = {"WATCHDOG_USEC": "10000000"}


@pytest.fixture
def address(tmp_path):
    return str(tmp_path / "notify")


def manager(address, **variables):
    return closing(ServiceManager({"NOTIFY_SOCKET": address, **variables}))


@pytest.mark.parametrize("kind", ["a path", "an abstract name"])
def test_the_first_turn_says_ready_and_feeds_the_watchdog(address, kind):
    address = address if kind == "a path" else f"@aicontrol-test-{os.getpid()}"

    with notifications(address) as heard, manager(address, **TEN_SECONDS) as told:
        told.turned("all is well")

        assert heard.next() == {"READY": "1", "WATCHDOG": "1", "STATUS": "all is well"}


@pytest.mark.parametrize(("watchdog", "times"), [(4, range(0, 21, 2)), (10, range(0, 21, 5)), (60, range(0, 21, 5))])
def test_the_watchdog_is_fed_within_half_of_its_time_however_often_the_loop_turns(
    address, monkeypatch, watchdog, times
):
    seconds, fed = [0], []
    monkeypatch.setattr("capture.systemd.time.monotonic", lambda: seconds[0])
    monkeypatch.setattr(ServiceManager, "_tell", lambda _, *lines: fed.append(seconds[0]))

    with notifications(address), manager(address, WATCHDOG_USEC=f"{watchdog}000000") as told:
        for seconds[0] in range(21):
            told.turned("")

    assert fed == list(times)


def test_the_loop_waits_no_longer_than_until_the_watchdog_is_to_be_fed(address):
    with notifications(address), manager(address, **TEN_SECONDS) as told:
        told.turned("")

        assert 4 < told.until_due() <= 5


@pytest.mark.parametrize(
    "variables",
    [{}, {"WATCHDOG_USEC": "soon"}, {"WATCHDOG_USEC": "10000000", "WATCHDOG_PID": "1"}],
    ids=["none", "not a number", "of another process"],
)
def test_without_a_watchdog_the_loop_is_not_woken_for_it_and_says_all_the_same_how_it_goes(address, variables):
    with notifications(address) as heard, manager(address, **variables) as told:
        told.turned("all is well")

        assert told.until_due() is None
        assert heard.next()["STATUS"] == "all is well"


def test_the_end_is_told_once(address):
    with notifications(address) as heard, manager(address) as told:
        told.stopping("one exchange in flight")
        told.stopping("ended")
        told.turned("still draining")

        assert [heard.next().get("STOPPING"), heard.next().get("STOPPING")] == ["1", None]


@pytest.mark.parametrize("address", ["", "nonsense", "/nonexistent/notify"])
def test_without_a_service_manager_nothing_is_said(address):
    with manager(address, **TEN_SECONDS) as told:
        told.turned("")
        told.stopping("")

        assert told.until_due() is None


def test_a_service_manager_that_hears_nothing_does_not_hold_up_the_loop(address, monkeypatch):
    monkeypatch.setattr("capture.systemd.OFTEN", 0.0)

    with notifications(address), manager(address) as told:
        for _ in range(10_000):
            told.turned("x" * 200)
