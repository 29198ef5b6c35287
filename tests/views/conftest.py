"""What the tests of the views share: somebody who is logged in, and checks in every state."""

from __future__ import annotations

import pytest
from django.test import Client

from capture import queue, reports
from capture.calls import Ticket
from capture.models import CaptureJob, Check
from capture.providers.replies import Kind
from tests.factories import answer, claim, error, make_check, make_user


@pytest.fixture
def ada(simulated, db):
    return make_user("ada")


@pytest.fixture
def browser(client: Client, ada) -> Client:
    """Ada's browser, without JavaScript."""
    client.force_login(ada)
    return client


def path_of(check: Check, *rest: object) -> str:
    """A path under that of a check."""
    return reports.check_url(check) + "".join(f"{part}/" for part in rest)


def place_of(check: Check, position: int = 1, provider: str = "chatgpt", sample: int = 1) -> str:
    return path_of(check, "answers", position, provider, sample)


def start_first(job: CaptureJob) -> Ticket:
    """Bring a job to RUNNING that is the first of several in its lane."""
    (ticket,) = claim(job.lane, seats=1)
    assert ticket.job == job.pk
    return ticket


def mixed_check(user) -> Check:
    """Three questions to ChatGPT: one is answered, one has failed, and one is not asked yet."""
    check = make_check(user, prompts=("Answered?", "Failed?", "Waiting?"))
    answered, failed = claim("openai", seats=2)
    queue.complete(answered, answer())
    queue.fail(failed, error("invalid_api_key", kind=Kind.FATAL))
    return check


def said(response) -> str:
    """What a page says happened, after a form has led to it."""
    return " ".join(str(message) for message in response.context["messages"])
