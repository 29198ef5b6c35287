"""Connections: kept alive, many at once, ended tidily."""

import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from simulator.app import App
from tests.simulator.conftest import KEY, Simulator, chatgpt_form, serving


def raw(simulator: Simulator, request: bytes) -> bytes:
    with socket.create_connection(simulator.address, timeout=5) as connection:
        connection.sendall(request)
        return connection.recv(65_536)


def test_a_connection_is_kept_for_several_requests(simulator: Simulator):
    with socket.create_connection(simulator.address, timeout=5) as connection:
        for _ in range(3):
            connection.sendall(b"GET /__control__/script HTTP/1.1\r\nhost: x\r\n\r\n")
            assert connection.recv(65_536).endswith(b"\r\n\r\n[]")


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"content-length: -1", b"400"),
        (b"content-length: many", b"400"),
        (b"content-length: 99999999", b"413"),
        (b"transfer-encoding: chunked", b"411"),
    ],
)
def test_a_body_of_no_good_length_is_refused(simulator: Simulator, head: bytes, status: bytes):
    reply = raw(simulator, b"POST /openai/v1/responses HTTP/1.1\r\nhost: x\r\n" + head + b"\r\n\r\n")

    assert reply.startswith(b"HTTP/1.1 " + status)
    assert b"connection: close" in reply


def test_more_than_a_hundred_connections_are_served_at_once():
    count = 120
    meet = threading.Barrier(count)

    def ask(url: str) -> int:
        path, body = chatgpt_form("Best bikes?")
        with httpx.Client(base_url=url, timeout=30) as http:
            http.get("/__control__/script")
            meet.wait(30)
            return http.post(path, json=body, headers=KEY).status_code

    app = App(speed=float("inf"))
    with serving(app) as server, ThreadPoolExecutor(count) as pool:
        statuses = list(pool.map(ask, [server.url] * count))
        counts = app.store.counts(time.time())

    assert set(statuses) == {200}
    assert counts["charges"]["chatgpt"]["total"] == count


def test_samples_are_given_out_once_each():
    app = App(speed=float("inf"))

    def ask(url: str) -> int:
        path, body = chatgpt_form("Best bikes?")
        reply = httpx.post(url + path, json=body, headers=KEY)
        call = app.store.find(reply.json()["id"])
        assert call
        return call.sample

    with serving(app) as server, ThreadPoolExecutor(8) as pool:
        samples = list(pool.map(ask, [server.url] * 24))

    assert sorted(samples) == list(range(24))


def test_stopping_ends_calls_that_wait_and_connections_that_idle():
    app = App(speed=0.001)
    with serving(app) as server, ThreadPoolExecutor(1) as pool, httpx.Client(base_url=server.url) as idle:
        idle.get("/__control__/script")
        path, body = chatgpt_form("Best bikes?")
        waiting = pool.submit(httpx.post, server.url + path, json=body, headers=KEY, timeout=30)
        while not app.store.counts(time.time())["starts"]["chatgpt"]["total"]:
            time.sleep(0.005)
        began = time.monotonic()
        server.stop()
        waiting.exception(10)

        assert time.monotonic() - began < 5


def test_speed_shortens_every_wait():
    app = App(speed=1e9)
    with serving(app) as server, httpx.Client(base_url=server.url) as http:
        path, body = chatgpt_form("Best bikes?")
        began = time.monotonic()
        reply = http.post(path, json=body | {"background": False}, headers=KEY)

        assert reply.json()["status"] == "completed"
        assert time.monotonic() - began < 1
