"""One question outside the queue."""

from __future__ import annotations

import pytest

from capture import trial
from capture.providers.replies import Kind, Pending, ProviderError, Question
from tests.factories import answer, error

QUESTION = Question("Which espresso machine?")


class Scripted:
    """A provider whose replies are a list, and a clock that its waits move on."""

    def __init__(self, *replies):
        self.replies = list(replies)
        self.now = 0.0
        self.waits = []

    def start(self, question):
        return self._next()

    def poll(self, remote_id):
        return self._next()

    def _next(self):
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if isinstance(reply, ProviderError):
            raise reply
        return reply

    def sleep(self, seconds):
        self.waits.append(seconds)
        self.now += seconds


def ask(scripted, **options):
    return trial.ask(scripted, QUESTION, sleep=scripted.sleep, clock=lambda: scripted.now, **options)


def test_it_looks_after_the_call_until_it_ends():
    reply = answer()
    scripted = Scripted(Pending("r"), Pending("r"), Pending("r", after=7), reply)

    assert ask(scripted) is reply
    assert scripted.waits == [2, 3, 7]


def test_a_passing_error_on_a_poll_is_waited_out():
    reply = answer()

    assert ask(Scripted(Pending("r"), error("overloaded", wait=4), reply)) is reply


@pytest.mark.parametrize(("asked", "waited"), [(0, 1), (80_000, 60)])
def test_a_systems_own_pace_is_kept_within_bounds(asked, waited):
    scripted = Scripted(Pending("r", after=asked), answer())

    ask(scripted, patience=60)

    assert scripted.waits == [waited]


@pytest.mark.parametrize("trouble", [error("gone", ended=True), error("invalid_api_key", kind=Kind.FATAL)])
def test_an_error_that_cannot_pass_is_told(trouble):
    with pytest.raises(ProviderError) as caught:
        ask(Scripted(Pending("r"), trouble))

    assert caught.value.reason == trouble.reason


def test_it_does_not_wait_for_ever():
    scripted = Scripted(Pending("r"))

    with pytest.raises(ProviderError, match="no answer yet"):
        ask(scripted, patience=60)

    assert scripted.now == 60
