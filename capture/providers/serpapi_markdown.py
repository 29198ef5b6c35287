"""Plain text out of the Markdown that SerpApi puts together, for pages whose blocks say nothing."""

from __future__ import annotations

import re

_REFERENCES = re.compile(r"(?:^|\n)#+ References\s*\n")
# From the first mark of a row on only, and without giving one back: else a long row is looked at again from each mark.
_MARKERS = re.compile(r"(?<!\])(?<!\] )(?: ?\[[0-9]{1,4}\])++(?=\s|$)")
# Its links lead to Google, which redirects; only their words are of use.
_LINK = re.compile(r"\[([^\[\]]{0,1000})\]\(https?://(?:www\.)?google\.[^()\s]{1,5000}\)")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")


def plain(markdown: str) -> str:
    """The answer's text, without the list of references, their marks, links to Google and backslashes."""
    text = _REFERENCES.split(f"{markdown}\n", maxsplit=1)[0]
    text = _MARKERS.sub("", _LINK.sub(r"\1", text))
    return _ESCAPED.sub(r"\1", text).strip()
