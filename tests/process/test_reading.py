"""Answers of the simulator are read by real workers, and again after names have changed."""

from __future__ import annotations

import subprocess

import pytest
from django.db import transaction

from capture import lanes, queue
from capture.analysis.mentions import MATCHER_VERSION
from capture.models import Brand, Capture, Lane, Mention
from capture.models.brands import editing
from tests.factories import answer, claim, make_check
from tests.process.running import MANAGE, ROOT, environment, simulator, until, worker

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

BRAND = "Brewhollow"  # the simulator's own


@pytest.fixture(autouse=True)
def _lanes():
    """Emptying the tables after a test empties the lanes as well."""
    lanes.make_missing()
    Lane.objects.update(limit=1000)


@pytest.fixture
def system():
    with simulator("--speed", "1000") as running:
        yield running


def ask_about_espresso():
    prompts = tuple(f"Which espresso machine is best for {number} people?" for number in range(1, 7))
    make_check(brand=BRAND, competitors=("Kaffingo",), prompts=prompts, providers=("chatgpt", "perplexity"))


def mentioning(name: str) -> set[int]:
    """The captures whose text has a name in it, as a plain search finds it."""
    return {capture.pk for capture in Capture.objects.answered() if name in capture.text}


def keep_unread_answers(count: int) -> None:
    """Answers of one brand, as a worker keeps them that cannot read."""
    make_check(prompts=tuple(f"Which is best, {number}?" for number in range(count)))
    for ticket in claim(seats=count):
        queue.complete(ticket, answer("Northwind leads, Contoso follows."))


def test_answers_that_name_the_brand_or_a_competitor_have_a_mention(system, tmp_path):
    ask_about_espresso()

    with worker("--drain", log=tmp_path / "log", SIMULATOR_URL=system.url) as process:
        assert process.wait(60) == 0

    answered = Capture.objects.answered()
    assert {capture.matcher for capture in answered} == {MATCHER_VERSION}
    assert (
        set(Mention.objects.filter(brand__name=BRAND).values_list("capture", flat=True)) == mentioning(BRAND) != set()
    )
    rivals = Mention.objects.filter(competitor__name="Kaffingo").values_list("capture", flat=True)
    assert set(rivals) == mentioning("Kaffingo")
    assert {each.pk for each in answered if any(found["key"] == "brand" for found in each.named)} == mentioning(BRAND)


def test_a_worker_reads_stored_answers_again_after_a_change_of_names(system, tmp_path):
    ask_about_espresso()
    with worker(log=tmp_path / "log", SIMULATOR_URL=system.url):
        until(lambda: Capture.objects.answered().count() == 12)

        with transaction.atomic(), editing(Brand.objects.get()) as brand:
            Brand.objects.filter(pk=brand.pk).update(name="Crematto")

        edition = Brand.objects.get().edition
        until(lambda: Capture.objects.filter(edition=edition).count() == 12)

    assert set(Mention.objects.filter(brand__isnull=False).values_list("capture", flat=True)) == mentioning("Crematto")


def test_reanalyse_goes_on_where_it_was_killed():
    keep_unread_answers(400)
    command = [*MANAGE, "reanalyse"]
    with subprocess.Popen(command, cwd=ROOT, env=environment(), stderr=subprocess.DEVNULL) as first:
        until(lambda: Mention.objects.exists())
        first.kill()
    unread = Capture.objects.filter(matcher=0).count()

    second = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, check=True)

    assert 0 < unread < 400
    assert second.stdout == f"Read {unread} answers of Northwind\n"
    assert Mention.objects.count() == 800
