"""The hand that enqueues jobs of ours for a benchmark: exactly as many as it is asked for."""

from __future__ import annotations

import pytest

from benchmarks.frame.queues import SYSTEMS
from benchmarks.ours.hand import Ours
from capture.models import CaptureJob

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("simulated")]


@pytest.fixture
def hand(db) -> Ours:
    ours = Ours()
    ours.prepare(made=True)
    return ours


@pytest.mark.parametrize(("jobs", "systems"), [(256, ["chatgpt"]), (1, ["chatgpt"]), (605, list(SYSTEMS))])
def test_so_many_jobs_are_written(hand, jobs, systems):
    hand.enqueue(jobs, systems)

    assert CaptureJob.objects.pending().count() == jobs


def test_what_cannot_be_dealt_alike_is_told(hand):
    with pytest.raises(ValueError, match="7 jobs for 5 AI systems"):
        hand.enqueue(7, list(SYSTEMS))

    assert not CaptureJob.objects.exists()
