"""Figures in templates."""

from __future__ import annotations

import re

from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

register = template.Library()

_PIECES = re.compile(r"\d+ %|\(\d+–\d+\)")


@register.filter
def unbroken(words: object) -> SafeString:
    """Return a figure in words, as HTML in which neither `58 %` nor `(36–78)` breaks into two lines."""
    return mark_safe(_PIECES.sub(r'<span class="unbroken">\g<0></span>', escape(str(words))))  # noqa: S308  escaped just here
