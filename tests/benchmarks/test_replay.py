"""What is read in a trace of libpq: the statements that were sent, byte for byte."""

from __future__ import annotations

import psycopg
import pytest
from django.db import connection
from psycopg import pq

from benchmarks.frame.replay import ALL_ELSE, part_of, statements
from capture import first_replies
from capture.queue import claims, ends, outlook, tickets
from capture.queue.moves import HELD


def message(who: str, kind: str, text: str) -> bytes:
    """As libpq writes it."""
    return f'{who}\t{len(text.encode()) + 5}\t{kind}\t "{text}"\n'.encode()


def test_what_was_sent_is_read_in_order_and_what_came_back_is_not():
    trace = (
        message("F", "Query", "BEGIN")
        + b'B\t10\tCommandComplete\t "BEGIN"\n'
        + b"B\t5\tReadyForQuery\t T\n"
        + message("F", "Query", "SELECT 1")
        + message("F", "Query", "COMMIT")
    )

    assert list(statements(trace)) == ["BEGIN", "SELECT 1", "COMMIT"]


def test_a_text_with_quotes_lines_and_another_message_in_it_is_one_statement():
    text = 'SELECT \'Größe "2"\nF\t13\tQuery\t "COMMIT"\n\''

    assert list(statements(message("F", "Query", text))) == [text]


def test_a_statement_with_parameters_apart_cannot_be_sent_again():
    trace = message("F", "Query", "BEGIN") + b'F\t20\tParse\t "" "SELECT $1" 0\n'

    with pytest.raises(ValueError, match="Parse"):
        list(statements(trace))


@pytest.mark.django_db(transaction=True)
def test_libpq_writes_what_is_read(tmp_path):
    parameters = connection.get_connection_params() | {"dbname": connection.settings_dict["NAME"]}
    kept = {name: parameters[name] for name in ("host", "port", "user", "password", "dbname") if parameters.get(name)}
    sent = ["SELECT 'ä \"x\"\n; --'", "SELECT 2"]
    path = tmp_path / "trace"

    with psycopg.connect(**kept, autocommit=True) as session, path.open("wb") as file:
        session.pgconn.trace(file.fileno())
        session.pgconn.set_trace_flags(pq.Trace.SUPPRESS_TIMESTAMPS)
        for statement in sent:
            psycopg.ClientCursor(session).execute(statement)

    assert list(statements(path.read_bytes())) == sent


@pytest.mark.parametrize(
    ("statement", "part"),
    [
        ("COMMIT", "COMMIT"),
        (first_replies.KEEP, "keep"),
        (tickets.TAKE_STARTS, "take"),
        (HELD + ends.FINISH, "finish"),
        (outlook.LOOK, "look"),
        ("BEGIN", ALL_ELSE),
    ],
)
def test_what_a_statement_of_ours_is_for(statement, part):
    assert part_of(statement).startswith(part)


@pytest.mark.django_db
def test_the_pick_of_jobs_is_known_as_such():
    statement, _ = claims._to_start("openai", ("chatgpt",), 8, True).query.sql_with_params()

    assert part_of(statement).startswith("pick")
