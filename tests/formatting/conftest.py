"""What the tests of formatting share: HTML, taken apart as a browser would."""

from __future__ import annotations

from html.parser import HTMLParser

VOID = {"br", "hr"}


class Page(HTMLParser):
    """The tags of a piece of HTML with their attributes, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.open: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data

    def of(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.tags if tag == name]


BLOCKS = {"p", "h3", "h4", "h5", "h6", "blockquote", "ul", "ol", "li", "pre", "table", "th", "td"}
HARMLESS = BLOCKS | {"br", "hr", "code", "em", "strong", "s", "a", "sup", "mark", "div", "thead", "tbody", "tr"}
ATTRIBUTES = {"dir", "href", "title", "target", "rel", "class", "start", "role", "aria-label", "tabindex"}


def assert_harmless(html: str) -> None:
    """Nothing in it runs, loads or has a style of its own, and its tags are balanced."""
    page = Page(html)
    assert not page.open
    for tag, attributes in page.tags:
        assert tag in HARMLESS
        assert attributes.keys() <= ATTRIBUTES
        assert tag not in BLOCKS or attributes["dir"] == "auto"
    for link in page.of("a"):
        assert link["rel"] == "nofollow noopener noreferrer"
        assert (link["href"] or "").startswith(("http://", "https://", "#"))
