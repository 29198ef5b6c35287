"""axe-core, which looks for barriers in a page. It comes from npm when tests run, and is kept in the data folder."""

from __future__ import annotations

import base64
import functools
import hashlib
import subprocess
import tarfile
from pathlib import Path

from django.conf import settings
from playwright.sync_api import Page

from tests.neighbours import missing, program

VERSION = "4.14.1"
SHA512 = "FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ=="

# All rules of WCAG 2.2 A and AA, and what axe holds for good practice.
# Preloading would write a style into the page, which its policy forbids; target-size, of WCAG 2.2, is off by itself.
RUN = """async ([without, only]) => {
  // Colours that are on their way, as when the scheme has just changed, are nobody's.
  const underway = document.getAnimations().filter(one => one instanceof CSSTransition);
  await Promise.allSettled(underway.map(one => one.finished));
  const exclude = without.map(selector => [selector]);
  const options = {resultTypes: ["violations"], preload: false, rules: {"target-size": {enabled: true}}};
  if (only.length) options.runOnly = {type: "rule", values: only};
  const found = await axe.run({exclude}, options);
  return found.violations.flatMap(rule => rule.nodes.map(node => `${rule.id}: ${node.html} (${rule.help})`));
}"""

# The rules that are about colours, all that a page's dark form could break when its light one breaks none.
COLOURS = ("color-contrast", "link-in-text-block")


def violations(page: Page, *, without: tuple[str, ...] = (), only: tuple[str, ...] = ()) -> list[str]:
    """Return what axe objects to in a page, a line each.

    Arguments:
        without: selectors of parts that are not looked at.
        only: the rules to look for, if not all.
    """
    if page.evaluate("() => typeof axe === 'undefined'"):
        page.evaluate(script())
    return [str(line) for line in page.evaluate(RUN, [list(without), list(only)])]


@functools.cache
def script() -> str:
    """Return the source of axe."""
    with tarfile.open(_package()) as package:
        member = package.extractfile("package/axe.min.js")
        assert member
        return member.read().decode()


def _package() -> Path:
    """The package, whose content must be what was pinned, wherever it came from."""
    package = settings.DATA_DIR / "npm" / f"axe-core-{VERSION}.tgz"
    if not package.exists():
        _fetch(package)
    digest = base64.b64encode(hashlib.sha512(package.read_bytes()).digest()).decode()
    assert digest == SHA512, f"{package} is not what it should be; delete it"
    return Path(package)


def _fetch(package: Path) -> None:
    npm = program("npm", "by which axe-core comes (Debian's package npm)")
    package.parent.mkdir(parents=True, exist_ok=True)
    command = [npm, "pack", "--silent", f"axe-core@{VERSION}", f"--pack-destination={package.parent}"]
    result = subprocess.run(command, cwd=package.parent, capture_output=True, text=True, timeout=100, check=False)
    if result.returncode:
        missing(f"npm could not get axe-core: {result.stderr.strip()[-300:]}")
