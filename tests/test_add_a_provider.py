"""README's "Add a provider" is true: what it lists is what each AI system has, and nothing else names one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from capture.providers import prices, registry

ROOT = Path(__file__).resolve().parent.parent
SECTION = (ROOT / "README.md").read_text().partition("## Add a provider")[2].partition("\n## ")[0]


@pytest.mark.parametrize("slug", registry.by_slug)
def test_each_system_has_the_files_that_the_readme_lists(slug):
    assert (ROOT / "capture/providers" / f"{slug}.py").is_file()
    assert (ROOT / "simulator/systems" / f"{slug}.py").is_file() or (ROOT / "simulator/systems" / slug).is_dir()
    tests = (path.read_text() for path in (ROOT / "tests/providers").glob("test_*.py"))
    assert any(f"make_{slug}" in text for text in tests)
    assert registry.by_slug[slug].lane in prices.TARIFFS


@pytest.mark.parametrize("slug", registry.by_slug)
def test_nothing_else_of_the_product_names_a_system(slug):
    files = [path for path in (ROOT / "capture").rglob("*.py") if "providers" not in path.parts]
    naming = [path for path in files if re.search(rf'"{slug}"', path.read_text())]

    assert naming == []


def test_the_readme_names_each_place():
    for place in ("capture/providers/", "registry.py", "prices.py", "simulator/systems/", "tests/providers/"):
        assert place in SECTION
