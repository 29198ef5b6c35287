"""The example of alert rules names figures that there are, with labels that they have."""

from __future__ import annotations

import re
import shutil
import subprocess
from decimal import Decimal
from typing import Any

import pytest
import yaml
from prometheus_client.core import Metric
from prometheus_client.parser import text_string_to_metric_families

from capture import lanes, queue
from capture.models import Charge
from capture.models.clock import database_today
from capture.reports import metrics
from tests.conftest import CHECKOUT
from tests.factories import claim_one, complete_one, error, make_job, make_team
from tests.lost_workers import make_worker

ALERTS = CHECKOUT / "deploy" / "alerts.yml"

FIGURE = re.compile(r"(aicontrol_\w+)(?:\{([^}]*)\})?")
LABEL = re.compile(r'(\w+)="([^"]*)"')
SHOWN = re.compile(r"\$labels\.(\w+)")


def rules() -> list[dict[str, Any]]:
    return [rule for group in yaml.safe_load(ALERTS.read_text())["groups"] for rule in group["rules"]]


@pytest.fixture
def figures(db, simulated) -> dict[str, Metric]:
    """Every figure there is, of a queue with something of each kind."""
    lanes.make_missing()
    make_worker()
    complete_one(make_job())
    queue.fail(claim_one(make_job(providers=("perplexity",))), error())
    Charge.objects.create(
        attempt="00000000-0000-0000-0000-000000000001",
        team=make_team(),
        day=database_today(),
        provider="chatgpt",
        amount=Decimal(1),
        basis="computed",
        check_uuid="00000000-0000-0000-0000-000000000002",
        simulated=False,
    )
    return {family.name: family for family in text_string_to_metric_families(metrics.exposition("")[0].decode())}


def test_each_rule_has_a_name_of_its_own_a_severity_and_words():
    names = [rule["alert"] for rule in rules()]

    assert len(set(names)) == len(names) > 10
    assert {rule["labels"]["severity"] for rule in rules()} == {"page", "ticket"}
    assert all(rule["annotations"]["summary"] for rule in rules())


def test_each_rule_asks_for_figures_that_there_are(figures):
    asked = {(name, label) for rule in rules() for name, labels in FIGURE.findall(rule["expr"]) for label in [labels]}

    unknown = [name for name, _ in asked if name not in figures]
    assert unknown == []
    for name, labels in asked:
        had = {label for sample in figures[name].samples for label in sample.labels}
        assert {label for label, _ in LABEL.findall(labels)} <= had, name


def test_each_label_that_is_shown_is_one_of_the_figures(figures):
    for rule in rules():
        had = {
            label
            for name, _ in FIGURE.findall(rule["expr"])
            for sample in figures[name].samples
            for label in sample.labels
        }

        assert set(SHOWN.findall(rule["annotations"]["summary"])) <= had, rule["alert"]


def test_each_alert_has_its_advice_in_the_guide():
    guide = (CHECKOUT / "docs" / "operations.md").read_text()

    assert [rule["alert"] for rule in rules() if f"`{rule['alert']}`" not in guide] == []


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool comes with Debian's package prometheus")
def test_prometheus_takes_the_rules():
    result = subprocess.run(["promtool", "check", "rules", str(ALERTS)], capture_output=True, text=True, check=False)

    assert result.returncode == 0, result.stdout + result.stderr
