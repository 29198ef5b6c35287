"""A check's answers and sources as records, for files that people take elsewhere. One at a time, however many."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.utils.timezone import localtime

from capture.models import Check
from capture.reports.answers import Answer, Link, answers_on
from capture.reports.board import board_of

Record = dict[str, Any]

# Columns, in their order.
ANSWER = (
    *("brand", "question_number", "question", "system", "provider", "sample", "state", "reason", "why", "answer"),
    *("model", "surface", "simulated", "cached", "answered_at", "seconds", "attempts", "unknown_outcomes", "cost_usd"),
    *("sources_cited", "sources_listed", "country", "language", "asked_at", "check"),
)
SOURCE = (
    *("brand", "question_number", "question", "system", "provider", "sample", "number", "cited", "domain", "title"),
    *("url", "simulated", "cached", "answered_at", "check"),
)


def answer_rows(check: Check) -> Iterator[list[Any]]:
    """A table of answers: its heading, then a row for every place, answered or not."""
    yield list(ANSWER)
    for answer in _answers(check):
        record = _answer_record(answer)
        yield [_cell(record[name]) for name in ANSWER]


def source_rows(check: Check) -> Iterator[list[Any]]:
    """A table of sources: its heading, then a row for each source of each answer."""
    yield list(SOURCE)
    for answer in _answers(check):
        about = _answer_record(answer)
        for link in answer.links:
            record = about | _source_record(link)
            yield [_cell(record[name]) for name in SOURCE]


def json_pieces(check: Check) -> Iterator[str]:
    """One JSON object: the check, and its answers with their sources; in pieces that make it up."""
    yield f'{{"check": {_json(_check_record(check))}, "answers": ['
    for number, answer in enumerate(_answers(check)):
        record = {name: value for name, value in _answer_record(answer).items() if name not in _check_record(check)}
        record["sources"] = [_source_record(link) for link in answer.links]
        yield f"{',' if number else ''}\n{_json(record)}"
    yield "\n]}\n"


def _answers(check: Check) -> Iterator[Answer]:
    return answers_on(board_of(check))


def _check_record(check: Check) -> Record:
    return {
        "check": str(check.uuid),
        "brand": check.names["brand"]["name"],
        "competitors": [competitor["name"] for competitor in check.names["competitors"]],
        "country": check.country,
        "language": check.language,
        "samples": check.samples,
        "asked_at": _time(check, check.created_at),
    }


def _answer_record(answer: Answer) -> Record:
    cell, capture = answer.cell, answer.capture
    return _check_record(answer.check) | {
        "question_number": cell.prompt.position,
        "question": cell.prompt.text,
        "system": cell.system.label,
        "provider": cell.system.slug,
        "sample": cell.sample,
        "state": cell.state.value,
        "reason": cell.reason,
        "why": cell.why,
        "answer": capture.text if capture else "",
        "model": capture.model if capture else "",
        "surface": capture.surface if capture else cell.system.surface,
        "simulated": cell.simulated,
        "cached": capture is not None and capture.cached,
        "answered_at": _time(answer.check, capture.answered_at) if capture else None,
        "seconds": round(capture.seconds, 1) if capture and capture.seconds is not None else None,
        "attempts": cell.attempts,
        "unknown_outcomes": capture.unknowns if capture else 0,
        "cost_usd": float(capture.cost) if capture else 0,
        "sources_cited": len(answer.cited),
        "sources_listed": len(answer.listed),
    }


def _source_record(link: Link) -> Record:
    return {
        "number": link.number,
        "cited": link.cited,
        "domain": link.domain,
        "title": link.title,
        "url": link.url,
    }


def _time(check: Check, moment: datetime) -> str:
    """By the clock of the team, with its distance from UTC."""
    return localtime(moment, check.team.zone).isoformat(timespec="seconds")


def _cell(value: Any) -> Any:
    if isinstance(value, float):
        return f"{Decimal(repr(value)):f}"  # not as 6.7e-05, which is text to many a program
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else value


def _json(record: Record) -> str:
    return json.dumps(record, ensure_ascii=False)
