"""`manage.py reanalyse`: which answers it reads, and what it says."""

from __future__ import annotations

import pytest
from django.core.management import CommandError, call_command

from capture import queue
from capture.models import Brand, Capture, Mention
from tests.factories import answer, claim_one, make_job

pytestmark = pytest.mark.django_db


NOBODYS = "00000000-0000-0000-0000-000000000000"


@pytest.fixture
def _two_unread():
    """Answers about the brands of two teams, neither of them read."""
    for _ in range(2):
        queue.complete(claim_one(make_job()), answer())


def told(capsys, *arguments):
    call_command("reanalyse", *arguments)
    return capsys.readouterr()


@pytest.mark.usefixtures("_two_unread")
def test_it_reads_all_that_is_not_read_and_shows_how_far_it_is(capsys):
    shown = told(capsys)

    assert shown.out == "Read 2 answers of Northwind, Northwind\n"
    assert "2/2" in shown.err
    assert Mention.objects.count() == 2


@pytest.mark.usefixtures("_two_unread")
def test_one_brand(capsys):
    brand = Brand.objects.latest("pk")

    shown = told(capsys, "--brand", str(brand.uuid))

    assert shown.out == "Read 1 answer of Northwind\n"
    assert Mention.objects.get().brand == brand


@pytest.mark.usefixtures("_two_unread")
def test_a_dry_run_reads_nothing(capsys):
    shown = told(capsys, "--dry-run")

    assert shown.out == "Would read 2 answers of Northwind, Northwind\n"
    assert set(Capture.objects.values_list("matcher", flat=True)) == {0}


@pytest.mark.usefixtures("_two_unread")
def test_the_second_time_there_is_nothing_to_read(capsys):
    told(capsys)

    assert told(capsys).out == "Read 0 answers of no brand\n"


def test_a_brand_that_there_is_not():
    with pytest.raises(CommandError, match=f"there is no brand {NOBODYS}"):
        call_command("reanalyse", "--brand", NOBODYS)
