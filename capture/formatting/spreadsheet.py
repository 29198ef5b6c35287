"""Rows as CSV that a spreadsheet can open without harm.

A cell that begins like a formula is one to a spreadsheet, and a formula can send what stands beside it elsewhere. The
apostrophe before it makes it text: https://owasp.org/www-community/attacks/CSV_Injection.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator

# By it Excel knows UTF-8.
BYTE_ORDER_MARK = "\ufeff"

# With what a formula begins, in both widths; white space and characters that nobody sees may stand before it.
_UNSEEN = r"[\s\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\u00ad]*"
_FORMULA = re.compile(rf"\A(?=[\t\r])|\A(?={_UNSEEN}[=+\-@＝＋－＠])")
# A spreadsheet that takes semicolons or tabs for separators, as in many countries, takes a line or what follows one of
# them for a new cell. Hyphens stay there: they begin the items of lists, and such a cell can do no more than fail.
_WITHIN = re.compile(r"([\r\n;\t][ \u00a0]*)(?=[=+@＝＋＠])")


class _Line:
    """Gives a line of CSV back to whoever asked for it, where a file would keep it."""

    def write(self, line: str) -> str:
        return line


def csv_lines(rows: Iterable[Iterable[object]]) -> Iterator[str]:
    """The rows as lines of CSV, one at a time, in front of them the mark by which Excel knows UTF-8."""
    writer = csv.writer(_Line(), quoting=csv.QUOTE_ALL)
    yield BYTE_ORDER_MARK
    for row in rows:
        # Given back by `_Line.write`; the stubs do not know that.
        yield str(writer.writerow([_harmless(cell) for cell in row]))


def _harmless(cell: object) -> object:
    if not isinstance(cell, str):
        return cell
    return _FORMULA.sub("'", _WITHIN.sub(r"\1'", cell))
