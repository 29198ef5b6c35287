"""What a reader sees of an answer's markdown."""

from __future__ import annotations

import pytest

from capture.analysis.text import MARKER, OBJECT, visible


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("plain words", "plain words"),
        ("**bold** and ~~gone~~", "bold and gone"),
        ("a_b *c* _d_", "a_b *c* _d_"),
        ('[label](https://x.example "title") on', f"{MARKER}label{MARKER} on"),
        ("[label](https://x.example/a_(b)) on", f"{MARKER}label{MARKER} on"),
        ("[label](<https://x.example/a b>) on", f"{MARKER}label{MARKER} on"),
        ("[a [b] c](x) on", f"{MARKER}a [b] c{MARKER} on"),
        ("[x.example](https://x.example) on", f"{OBJECT} on"),
        ("![alt](https://x.example/a.png) on", f"{OBJECT} on"),
        ("[![alt](a.png)](b) on", f"{MARKER}{OBJECT}{MARKER} on"),
        ("[not a link] (on)", "[not a link] (on)"),
        ("[a\n\nb](x)", "[a\n\nb](x)"),
        ("[a][1]\n\n[1]: https://x.example 'T'", f"{MARKER}a{MARKER}\n\n{OBJECT}"),
        ("[a][2] and [b][]", "[a][2] and [b][]"),
        ("[1]: is what I mean", "[1]: is what I mean"),
        ("see https://x.example/a?b=1.", f"see {OBJECT}"),
        ("see <https://x.example>.", f"see {OBJECT}."),
        ("mail a.b@x.example now", f"mail {OBJECT} now"),
        ("we use monday.com daily", "we use monday.com daily"),
        ("we use www.monday.com or monday.com/x", f"we use {OBJECT} or {OBJECT}"),
        ("a note[^1]\n\n[^1]: here", f"a note{MARKER}\n\n{MARKER} here"),
        ("a note【3†x】 on", f"a note{MARKER} on"),
        ("AT&amp;T &lt;b&gt; &bogus; &", "AT&T <b> &bogus; &"),
        ("\\*a\\* \\[b\\](c)", "*a* [b](c)"),
        ("a<br>b<b>c</b><i >d</i> <3 x<y", "a\nbcd <3 x<y"),
        ("a<sup>1</sup>", f"a{MARKER}1{MARKER}"),
        ("a <!-- b --> c<script>d</script>", "a  c"),
        ("```python\ncode\n```", "\ncode\n"),
        ("a\n   ~~~~ \nb\n    ```\nc ```\n", "a\n\nb\n    ```\nc ```\n"),
        ("no\u00adw\u200b\ufeff", "now"),
    ],
)
def test_only_what_is_seen_remains(text, seen):
    assert visible(text).seen.text == seen


def test_every_piece_knows_where_it_comes_from():
    text = "a &amp; **b** [c](d)"
    seen = visible(text).seen

    assert seen.text == f"a & b {MARKER}c{MARKER}"
    assert [text[slice(*seen.origin(place, place + 1))] for place in (0, 2, 4, 7)] == ["a", "&amp;", "b", "c"]
    assert text[slice(*seen.origin(0, 5))] == "a &amp; **b"


@pytest.mark.parametrize(
    ("text", "domains"),
    [
        ("monday.com, Booking.com and яндекс.рф", ["monday.com", "Booking.com", "яндекс.рф"]),
        ("node.js, e.g. this. 3.5 of v1.2", []),
        ("I like it.It is good", []),
        ("https://a.com b.com/c www.d.com", []),
        ("我们用monday.com管理", ["monday.com"]),
        ("- monday.com\n-x", ["monday.com"]),
    ],
)
def test_bare_domains_in_prose_are_told_apart(text, domains):
    assert [text[start:end] for start, end in visible(text).domains] == domains
