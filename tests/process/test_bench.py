"""bin/bench: that all of it still runs, and that its ratios can be true. What it measures here means nothing."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.__main__ import NAMES
from tests.process.running import ROOT

# About half of what the page shows, as a quick run has few jobs, on a machine that does other things.
LEAST_OF_PROCRASTINATE = 0.5


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bench")
    variables = {"AICONTROL_DATA": str(folder), "AICONTROL_FSYNC": "off", "PYTHONWARNINGS": "default"}
    command = [sys.executable, "-m", "benchmarks", "--quick"]

    process = subprocess.run(
        command, cwd=ROOT, env=os.environ | variables, capture_output=True, text=True, timeout=550, check=False
    )

    assert process.returncode == 0, process.stdout + process.stderr
    return json.loads((folder / "quick.json").read_text())


pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def rows(one):
    return {row["what"]: row for table in one["tables"] for row in table["rows"]}


def test_each_benchmark_finds_something(found):
    assert list(found) == list(NAMES)
    for one in found.values():
        values = [value for row in rows(one).values() for value in row["values"]]
        assert values
        assert all(math.isfinite(value) and value >= 0 for value in values)


def test_ratios_are_sane(found):
    for one in found.values():
        ratios = [row["ratio"] for row in rows(one).values() if "ratio" in row]
        assert all(0.0001 < ratio < 10_000 for ratio in ratios)
    throughput = rows(found["throughput"])
    bound = throughput["bound: the same statements by pgbench, 1 client"]
    assert bound["median"] > throughput["AI Control"]["median"] / 2  # statements alone are no slower than a worker
    if "Procrastinate" in throughput:
        assert throughput["AI Control"]["median"] > LEAST_OF_PROCRASTINATE * throughput["Procrastinate"]["median"]


def test_it_says_on_what_it_has_measured(found):
    measured = found["throughput"]["measured"]

    assert measured["seed"] == 1
    assert measured["rounds"] == 1
    assert measured["versions"]["Django"].startswith("5.2")


def test_a_name_that_is_none_is_told():
    command = [sys.executable, "-m", "benchmarks", "speed"]

    process = subprocess.run(command, cwd=Path(ROOT), capture_output=True, text=True, check=False)

    assert process.returncode == 2
    assert "'speed' is none of throughput" in process.stderr
