"""Numbers with what they count, for commands and logs, which are in English; pages have gettext's plurals."""

from __future__ import annotations


def counted(number: int, one: str, many: str = "") -> str:
    """As in "1 check", "1,200 checks" and "0 branches".

    Arguments:
        one: the words for one of them.
        many: for any other number, where that is not `one` with an s.
    """
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"
