"""Cells that a spreadsheet would run are text."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capture.formatting.spreadsheet import csv_lines


def cells_after(*cells: object, separator: str = ",") -> list[list[str]]:
    """The cells as a spreadsheet reads them."""
    text = "".join(csv_lines([cells]))
    assert text.startswith("\ufeff")
    return list(csv.reader(io.StringIO(text[1:], newline=""), delimiter=separator))


def read(cell: object) -> str:
    ((found,),) = cells_after(cell)
    return found


@pytest.mark.parametrize("first", ["=", "+", "-", "@", "＝", "＋", "－", "＠"])
@pytest.mark.parametrize("before", ["", " ", "\u00a0", "\u200b", "\ufeff", "\u202e \u00ad"])
def test_what_begins_like_a_formula_is_text(before, first):
    assert read(f"{before}{first}cmd|' /C calc'!A0") == f"'{before}{first}cmd|' /C calc'!A0"


@pytest.mark.parametrize("first", ["\t", "\r"])
def test_what_begins_with_a_separator_is_text(first):
    assert read(f"{first}1") == f"'{first}1"
    assert read(f"{first}=1") == f"'{first}'=1"


@pytest.mark.parametrize("cell", ["a=b", "1+1", "mail: a@b.example", "5 - 3", "", "'=1", "Ünïcödé", "a\n- item"])
def test_ordinary_text_stays_as_it_is(cell):
    assert read(cell) == cell


def test_numbers_stay_numbers():
    assert cells_after(-1.5, 3, None) == [["-1.5", "3", ""]]


@pytest.mark.parametrize("separator", [";", "\t"])
@pytest.mark.parametrize("cell", ["x;=cmd()", "x\n=cmd()", "x\t=cmd()", 'x"\n\n @SUM(1)', "x;＝cmd()"])
def test_where_another_separator_is_usual_no_cell_becomes_a_formula_either(separator, cell):
    for row in cells_after("1", cell, separator=separator):
        for found in row:
            assert not found.strip().startswith(("=", "@", "+", "＝"))


@given(st.lists(st.text(), min_size=1, max_size=5))
def test_no_cell_of_any_text_is_a_formula_and_nothing_but_apostrophes_is_added(cells):
    (found,) = cells_after(*cells)

    for before, after in zip(cells, found, strict=True):
        assert not after.lstrip().startswith(("=", "+", "-", "@", "＝", "＋", "－", "＠"))
        assert after.replace("'", "") == before.replace("'", "")
