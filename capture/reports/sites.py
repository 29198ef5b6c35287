"""Whose a site is, in words."""

from __future__ import annotations

from django.utils.translation import gettext as _

from capture.analysis.sources import SourceKind


def kind_in_words(kind: SourceKind) -> str:
    return {SourceKind.OWN: _("own"), SourceKind.COMPETITOR: _("competitor"), SourceKind.OTHER: _("other")}[kind]
