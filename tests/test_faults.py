"""Faults that real queues had, where what holds belongs to no single module; docs/faults.md lists all of them."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse

from capture import heartbeat, queue, recovery
from capture.models import Brand, Capture, Check, Lane, Outcome, Status
from capture.reports import board_of
from capture.worker import Stop, Worker
from tests.conftest import CHECKOUT
from tests.factories import (
    answer,
    claim,
    complete_one,
    fresh,
    hand_back,
    make_check,
    make_job,
    make_user,
    prompts,
)
from tests.lost_workers import LIMITS, die
from tests.lost_workers import claim as claim_for
from tests.lost_workers import make_worker as make_worker_row
from tests.test_new_check import typed
from tests.test_worker import Scripted, _one_connection, make_worker, stop_when

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("_one_connection")]

__all__ = ["_one_connection"]


# -------------------------------------------------------------------------------------------------- how a worker ends


def test_fault_4_beats_go_on_while_a_worker_drains_and_stop_last(monkeypatch):
    monkeypatch.setattr(heartbeat, "INTERVAL", 0.0)
    make_job()
    script = Scripted()
    script.gate.clear()
    worker = make_worker(script=script, grace=60)
    worker.fill_seats()
    beat, close, said = heartbeat.beat, heartbeat.close, []

    def beat_and_let_go(*args):
        said.append(f"beat while stopping: {worker.stopping}, in hand: {worker.in_hand()}")
        if len(said) == 4:
            script.gate.set()
        return beat(*args)

    def close_and_say(*args):
        said.append("closed")
        return close(*args)

    monkeypatch.setattr(heartbeat, "beat", beat_and_let_go)
    monkeypatch.setattr(heartbeat, "close", close_and_say)
    worker.seats.mailbox.put(Stop())

    assert worker.run()

    assert said[1:4] == ["beat while stopping: True, in hand: 1"] * 3
    assert said[-1] == "closed"


# --------------------------------------------------------------------------------------------- what is done at all


def test_fault_7_a_job_of_which_no_word_reached_the_worker_is_found_by_polling(monkeypatch):
    worker = make_worker()
    waits, wait = [], Worker.wait

    def wait_and_ask(self):
        wait(self)
        waits.append(self)
        if len(waits) == 3:
            make_job()

    monkeypatch.setattr(Worker, "wait", wait_and_ask)
    stop_when(monkeypatch, lambda: Capture.objects.exists())

    assert worker.run()

    assert Capture.objects.get().outcome == Outcome.ANSWERED


def test_fault_17_a_full_lane_with_many_jobs_hides_none_of_another_lane():
    make_check(prompts=prompts(200))
    Lane.objects.filter(name="openai").update(limit=1)
    assert len(claim("openai")) == 1
    newcomers = make_check(prompts=prompts(4), providers=("perplexity",))
    script = Scripted()
    script.gate.clear()
    worker = make_worker(script=script, seats=4)

    worker.fill_seats()

    assert newcomers.jobs.held().count() == 4
    script.gate.set()


def test_fault_20_the_places_of_a_worker_that_died_are_free_again():
    Lane.objects.filter(name="openai").update(limit=1)
    job = make_job()
    worker = make_worker_row()
    claim_for(worker, job)
    assert claim("openai") == []
    die(worker)
    recovery.recover(LIMITS)

    complete_one(job)

    assert fresh(job).status == Status.DONE


def test_fault_31_a_check_goes_on_when_its_tab_is_closed(client, simulated):
    client.force_login(make_user())

    client.post(reverse("capture:new_check"), typed())

    assert make_worker(drain=True).run()
    assert set(Check.objects.get().captures.values_list("outcome", flat=True)) == {Outcome.ANSWERED}


# ------------------------------------------------------------------------------------------------- what is spent


def test_fault_12_restarts_and_pauses_of_any_number_spend_no_attempt():
    job = make_job()

    for _ in range(2 * LIMITS.attempts):
        claim()
        hand_back()
        Lane.objects.update(paused=True)
        assert claim() == []
        Lane.objects.update(paused=False)

    assert (fresh(job).attempts, fresh(job).status) == (0, Status.PENDING)


# ------------------------------------------------------------------------------------------------- what is shown


def test_fault_22_counts_have_no_cap(simulated):
    check = make_check(prompts=prompts(401), providers=("chatgpt", "perplexity", "gemini"))
    (ticket,) = claim(seats=1)
    queue.complete(ticket, answer())

    board = board_of(check)

    assert (board.total, board.open, board.answered) == (1203, 1202, 1)


def test_fault_33_editing_brand_competitors_and_questions_rewrites_no_old_check(client, simulated):
    client.force_login(make_user())
    client.post(reverse("capture:new_check"), typed())
    check = Check.objects.get()
    asked = as_asked(check)

    brand = Brand.objects.get()
    brand.name = "Southwind"
    brand.save()
    brand.competitors.update(name="Fabrikam")
    brand.competitors.all().delete()
    client.post(reverse("capture:new_check"), typed(prompts="Another question?"))

    assert Check.objects.count() == 2
    assert as_asked(Check.objects.get(pk=check.pk)) == asked
    assert asked[0]["brand"]["name"] == "Northwind"


def as_asked(check):
    return check.names, list(check.prompts.order_by("position").values("text", "key", "branded"))


# ------------------------------------------------------------------------------------------------------- the table


def test_each_fault_of_the_table_has_tests_and_they_are_there():
    table = (CHECKOUT / "docs" / "faults.md").read_text()
    rows = re.findall(r"^\| (\d+) \| [^|]+ \| ([^|]+) \|$", table, re.MULTILINE)

    assert len(rows) > 20
    for number, tests in rows:
        named = re.findall(r"`([\w/]+\.py)` (\w+)", tests)
        assert named, f"fault {number}"
        for path, name in named:
            assert f"def test_fault_{number}_{name}(" in (CHECKOUT / "tests" / path).read_text(), f"{path}: {name}"
