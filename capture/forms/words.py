"""Numbers of things, in words."""

from __future__ import annotations

from django.utils.translation import gettext as _
from django.utils.translation import ngettext


def questions(number: int) -> str:
    return ngettext("%(number)s question", "%(number)s questions", number) % {"number": f"{number:,}"}


def competitors(number: int) -> str:
    return ngettext("%(number)s competitor", "%(number)s competitors", number) % {"number": f"{number:,}"}


def ai_systems(number: int) -> str:
    return ngettext("%(number)s AI system", "%(number)s AI systems", number) % {"number": f"{number:,}"}


def too_many(what: str, most: int) -> str:
    return _("These are %(what)s; at most %(most)s are allowed.") % {"what": what, "most": f"{most:,}"}
