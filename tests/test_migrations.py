"""Migrations only add: the previous release can work with the new tables while an upgrade is under way."""

from __future__ import annotations

import pytest
from django.db import migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.models.functions import Now

from tests import previous_release

LANE, JOB = "lane", "capturejob"


def test_no_migration_since_the_last_release_breaks_its_code():
    old = previous_release.tables(previous_release.MIGRATION)

    assert list(previous_release.broken(old, previous_release.tables())) == []


@pytest.mark.parametrize(
    ("operation", "words"),
    [
        (migrations.RemoveField(LANE, "probe"), "capture_lane.probe is gone"),
        (migrations.RenameField(LANE, "probe", "trial"), "capture_lane.probe is gone"),
        (migrations.DeleteModel("Mention"), "capture_mention is gone"),
        (migrations.RenameModel("Mention", "Found"), "capture_mention is gone"),
        (migrations.AlterField(LANE, "probe", models.UUIDField()), "capture_lane.probe may be empty no more"),
        (migrations.AlterField(JOB, "sample", models.TextField()), "capture_capturejob.sample is another kind"),
        (
            migrations.AddField(LANE, "colour", models.CharField(max_length=9, default="red")),
            "capture_lane.colour is new and the database has no value for it",
        ),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_a_migration_that_would_break_it_is_found(operation, words):
    assert words in found_after(operation)


@pytest.mark.parametrize(
    "operation",
    [
        migrations.AddField(LANE, "colour", models.CharField(max_length=9, null=True)),
        migrations.AddField(LANE, "painted_at", models.DateTimeField(db_default=Now())),
        migrations.AlterField(LANE, "cooling_reason", models.CharField(max_length=300, blank=True, default="")),
        migrations.CreateModel("Colour", [("name", models.CharField(primary_key=True, max_length=9))]),
    ],
    ids=lambda operation: type(operation).__name__,
)
def test_one_that_only_adds_is_right(operation):
    assert found_after(operation) == []


def found_after(operation):
    """What a release would find broken whose database an operation has changed."""
    state = MigrationLoader(None).project_state()
    old = state.clone().apps
    operation.state_forwards("capture", state)
    return list(previous_release.broken(old, state.apps))
