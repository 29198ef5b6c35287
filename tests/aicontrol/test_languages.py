"""A language can be added, as locale/README.md says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys

import pytest

from tests.conftest import CHECKOUT
from tests.neighbours import program

PARTS = ("aicontrol", "capture", "locale", "static", "templates", "manage.py")
LOGIN_PAGE = (
    "import django; django.setup(); from django.test import Client; "
    "print(Client().get('/login/', headers={'Accept-Language': 'de', 'Host': 'localhost'}).content.decode())"
)


@pytest.fixture
def checkout(tmp_path):
    for part in PARTS:
        source = CHECKOUT / part
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, tmp_path / part)
    return tmp_path


def run(checkout, *arguments) -> str:
    variables = {"AICONTROL_ENV": os.devnull, "DEBUG": "on", "DJANGO_SETTINGS_MODULE": "aicontrol.settings"}
    result = subprocess.run(
        [sys.executable, *arguments],
        cwd=checkout,
        env={"PATH": os.environ["PATH"], **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.slow
def test_a_language_is_added_by_its_words_and_one_line(checkout):
    program("msgfmt", "compiles translations (Debian's package gettext)")
    run(checkout, "manage.py", "makemessages", "-l", "de")
    words = checkout / "locale" / "de" / "LC_MESSAGES" / "django.po"
    text = words.read_text()
    for kind_of_mark in ("paused by staff", "ChatGPT takes a country, but no language", "%(key)s was refused"):
        assert kind_of_mark in text
    words.write_text(
        text.replace('msgid "Forgot your password?"\nmsgstr ""', 'msgid "Forgot your password?"\nmsgstr "X!"')
    )
    settings = checkout / "aicontrol" / "settings.py"
    settings.write_text(settings.read_text().replace("LANGUAGES = [", 'LANGUAGES = [("de", "Deutsch"), '))

    run(checkout, "manage.py", "compilemessages")
    html = run(checkout, "-c", LOGIN_PAGE)

    assert '<html lang="de">' in html
    assert ">X!</a>" in html
    assert "Passwort" in html  # Django's own words come with it


TRANSLATED = re.compile(r"{% blocktranslate.*?{% endblocktranslate %}", re.DOTALL)
MARKS = re.compile(r"{%.*?%}|{{.*?}}|{#.*?#}|&\w+;|<[^>]*>", re.DOTALL)
TOLD_IN_AN_ATTRIBUTE = re.compile(r'(?:alt|title|aria-label|placeholder)="[^"{]*[^\W\d_]{2,}[^"]*"')
PAGES = [path for path in (CHECKOUT / "templates").rglob("*.html") if "admin" not in path.parts]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_a_page_has_no_words_that_nobody_can_translate(path):
    html = TRANSLATED.sub("", path.read_text())

    words = MARKS.sub(" ", html).replace("AI Control", "")

    assert re.findall(r"[^\W\d_]{2,}", words) == []
    assert TOLD_IN_AN_ATTRIBUTE.findall(html) == []
