"""Whether a name begins and ends where its letters were found, or is only a part of a longer word."""

from __future__ import annotations

from capture.analysis.endings import MOST_BEFORE, are_particles, may_follow_an_apostrophe, may_precede
from capture.analysis.scripts import Script, is_mark, run_after, run_before, script_of


def begins_at(text: str, start: int, first: Script, *, led: bool) -> bool:
    """Whether a name begins at a place of a folded text.

    Arguments:
        first: the script of its first letter.
        led: a sign of its own stands there, as in `.NET`.
    """
    before = text[start - 1 : start]
    if led:
        return script_of(before) is not Script.ALPHABETIC and before != text[start]
    match first:
        case Script.ALPHABETIC:
            return script_of(before) is not first and not _is_led(text, start) and not _in_number(text, start - 1)
        case Script.ARABIC | Script.HEBREW:
            return may_precede(run_before(text, start, first, MOST_BEFORE))
        case Script.UNSPACED:
            return True
        case _:
            return script_of(before) is not first


def end_of(text: str, end: int, last: Script, *, edge: str, endings: frozenset[str] | None) -> int | None:
    """Where a name ends whose letters end at a place of a folded text, or None when a longer word goes on there.

    Arguments:
        last: the script of its last letter.
        edge: the signs that it ends with, as in `C++`; they stand before the place.
        endings: the case endings, of which one has to follow.
    """
    if edge:
        return end if _ends_with_sign(text, end) else None
    if endings is not None:
        rest = run_after(text, end, last)
        if rest not in endings:
            return None
        end += len(rest)
    return end if _ends_at(text, end, last) else None


def _ends_with_sign(text: str, end: int) -> bool:
    following = text[end : end + 1]
    # A version's number may follow: C++20.
    return following != text[end - 1] and (script_of(following) is not Script.ALPHABETIC or following.isdecimal())


def _ends_at(text: str, end: int, last: Script) -> bool:
    following = text[end : end + 1]
    match last:
        case Script.ALPHABETIC:
            return script_of(following) is not last and not _goes_on(text, end)
        case Script.HANGUL:
            return are_particles(run_after(text, end, last))
        case Script.UNSPACED:
            return not is_mark(following)
        case Script.HEBREW if following in ("'", '"'):
            return script_of(text[end + 1 : end + 2]) is not last
        case _:
            return script_of(following) is not last


def _goes_on(text: str, end: int) -> bool:
    """Whether a sign right behind a name makes it another: `Arc'teryx`, `C++`, `3.5`."""
    match text[end : end + 1]:
        case "'":
            return not _ends_before_apostrophe(text, end)
        case "+" | "#" as sign:
            following = text[end + 1 : end + 2]
            return following == sign or script_of(following) is not Script.ALPHABETIC
        case _:
            return _in_number(text, end)


def _ends_before_apostrophe(text: str, end: int) -> bool:
    rest = run_after(text, end + 1, Script.ALPHABETIC)
    # Russian puts its endings behind Latin names likewise.
    return not rest or may_follow_an_apostrophe(rest) or (text[end - 1].isascii() and "а" <= rest[0] <= "ё")


def _in_number(text: str, place: int) -> bool:
    """Whether a point or a comma at a place is one of a number."""
    around = text[place - 1 : place] + text[place + 1 : place + 2] if place > 0 else ""
    return text[place : place + 1] in (".", ",") and len(around) == 2 and around.isdecimal()


def _is_led(text: str, start: int) -> bool:
    """Whether a dot before a word begins it, as in `.NET`."""
    return text[start - 1 : start] == "." and (start == 1 or text[start - 2] in " \n(")
