"""What HTML of an answer may hold, whoever made it. The last door before a page.

Nothing on the list makes a browser ask for anything by itself, runs, or has a style of its own, so that a strict
Content-Security-Policy holds.
"""

from __future__ import annotations

import nh3

_TAGS = {
    *("p", "br", "hr", "h3", "h4", "h5", "h6", "blockquote", "ul", "ol", "li", "pre", "code"),
    *("em", "strong", "s", "a", "sup", "mark", "div", "table", "thead", "tbody", "tr", "th", "td"),
}


def _within_page(url: str) -> str | None:
    """Of addresses without a host only those within the page; any other would lead into AI Control itself."""
    return url if url.startswith("#") else None


_cleaner = nh3.Cleaner(
    tags=_TAGS,
    clean_content_tags={"script", "style"},
    attributes={"a": {"href", "title"}, "ol": {"start"}, "div": {"aria-label"}},
    tag_attribute_values={
        **{tag: {"dir": {"auto"}} for tag in _TAGS - {"a", "div"}},
        "a": {"target": {"_blank"}},
        "div": {"dir": {"auto"}, "tabindex": {"0"}, "role": {"region"}},
    },
    allowed_classes={
        "sup": {"reference"},
        "mark": {"own", "rival"},
        "div": {"wide"},
        "th": {"center", "right"},
        "td": {"center", "right"},
        "p": {"plain"},
    },
    url_schemes={"http", "https"},
    url_relative=_within_page,
    link_rel="nofollow noopener noreferrer",
)


def safe(html: str) -> str:
    """The HTML with everything taken out that is not on the list."""
    return _cleaner.clean(html)
