"""What is kept of jobs whose first call has brought a reply: of most jobs, and of many in one statement.

The rows are those that `ledger.keep_reply` leaves, which writes them one by one and whatever came before. Called by
`capture.queue` inside the transaction of the move, which has the jobs' rows locked.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Model

from capture import gists, ledger, readings
from capture.analysis.reading import Reading
from capture.calls import Ticket
from capture.models import Capture, Mention, Source
from capture.models.fields import CleanCharField, CleanTextField
from capture.providers import registry
from capture.providers.replies import Answered, Basis, Cost, FinalReply

Came = tuple[Ticket, FinalReply, Reading | None]

# `first` are attempts that are open and their job's only one, where nothing has been kept yet.
KEEP = """
    WITH came AS (
        SELECT * FROM jsonb_to_recordset(%(came)s::jsonb) AS came (
            attempt uuid, team_id bigint, of_check_id bigint, check_uuid uuid, prompt_id bigint, provider text,
            sample smallint, remote_id text, outcome text, reason text, text text, model text, surface text,
            paid numeric, paid_by text, named jsonb, matcher integer, edition integer, sources jsonb, mentions jsonb,
            brand_id bigint, country text, question bigint, cell bigint, rank smallint, rivals bigint[], sites text[],
            kinds smallint[]
        )
    ), first AS MATERIALIZED (
        SELECT
            came.*, nextval(pg_get_serial_sequence('capture_capture', 'id')) AS id, clock_timestamp() AS now,
            coalesce(attempt.remote_id, came.remote_id) AS call_id, attempt.started_at, attempt.simulated,
            CASE WHEN brand.edition = came.edition AND brand.read_matcher <= came.matcher THEN came.edition ELSE 0
                END AS read_edition, prompt.branded
        FROM came
        JOIN capture_attempt attempt ON attempt.id = came.attempt AND attempt.ended_at IS NULL
        JOIN capture_brand brand ON brand.id = came.brand_id
        JOIN capture_prompt prompt ON prompt.id = came.prompt_id
        WHERE attempt.id = ANY(%(attempts)s)  -- tells the planner how few they are
            AND NOT EXISTS (
                SELECT FROM capture_attempt other WHERE other.job_id = attempt.job_id AND other.id <> attempt.id
            )
            AND NOT EXISTS (
                SELECT FROM capture_capture held
                WHERE held.prompt_id = came.prompt_id AND held.provider = came.provider AND held.sample = came.sample
            )
    ), ended AS (
        UPDATE capture_attempt attempt
        SET ended_at = first.now, outcome = 'replied', live = false, reason = '', error = '',
            remote_id = nullif(first.call_id, ''),
            remote_at = CASE WHEN first.call_id <> '' THEN coalesce(attempt.remote_at, first.now) END
        FROM first
        WHERE attempt.id = first.attempt
    ), charged AS (
        INSERT INTO capture_charge (attempt, team_id, day, provider, amount, basis, check_uuid, simulated)
        SELECT attempt, team_id, (now AT TIME ZONE 'UTC')::date, provider, paid, paid_by, check_uuid, simulated
        FROM first
        ON CONFLICT (attempt) DO UPDATE SET amount = excluded.amount, basis = excluded.basis
    ), kept AS (
        INSERT INTO capture_capture (
            id, team_id, of_check_id, prompt_id, provider, sample, attempt, remote_id, outcome, reason, detail, text,
            model, surface, attempts, unknowns, seconds, cost, simulated, cached, answered_at, named, matcher, edition
        )
        SELECT
            id, team_id, of_check_id, prompt_id, provider, sample, attempt, call_id, outcome, reason, '', text,
            model, surface, 1, 0, extract(epoch FROM now - started_at), paid, simulated, false, now, named, matcher,
            read_edition
        FROM first
    ), cited AS (
        INSERT INTO capture_source (capture_id, position, url, raw_url, domain, title, cited, spans)
        SELECT first.id, source.*
        FROM first, jsonb_to_recordset(first.sources) AS source (
            position integer, url text, raw_url text, domain text, title text, cited boolean, spans jsonb
        )
    ), mentioned AS (
        INSERT INTO capture_mention
            (capture_id, brand_id, competitor_id, rank, hits, start, "end", words, flags, matcher)
        SELECT first.id, mention.*
        FROM first, jsonb_to_recordset(first.mentions) AS mention (
            brand_id bigint, competitor_id bigint, rank integer, hits integer, start integer, "end" integer,
            words text, flags text[], matcher integer
        )
    ), told AS (
        INSERT INTO capture_gist (
            capture_id, brand_id, provider, country, branded, simulated, answered_at, model, question, cell, rank,
            rivals, sites, kinds, matcher, edition
        )
        SELECT
            id, brand_id, provider, country, branded, simulated, now, model, question, cell, rank, rivals, sites, kinds,
            matcher, read_edition
        FROM first
        WHERE outcome = 'answered' AND matcher > 0 AND read_edition > 0
    )
    SELECT attempt FROM first
"""


def keep(came: Iterable[Came]) -> set[UUID]:
    """Keep replies of attempts that are their job's first; says of which. The others are not touched.

    Arguments:
        came: tickets, with what came back for them and whom that names.
    """
    # A reply that says when it was made may be a copy of an earlier answer.
    plain = [_row(ticket, reply, reading) for ticket, reply, reading in came if reply.made_at is None]
    if not plain:
        return set()
    with connection.cursor() as cursor:
        cursor.execute(KEEP, {"came": json.dumps(plain, default=str), "attempts": [row["attempt"] for row in plain]})
        return {attempt for (attempt,) in cursor.fetchall()}


def _row(ticket: Ticket, reply: FinalReply, reading: Reading | None) -> dict[str, Any]:
    outcome, reason, text = ledger.told_apart(reply)
    cost = ledger.bounded(reply.cost or Cost(ticket.origin.estimate, Basis.ESTIMATED))
    surface = registry.by_slug[ticket.provider].surface
    answer = reply if isinstance(reply, Answered) else None
    sources = list(ledger.sources(answer)) if answer else []
    capture = {
        "remote_id": reply.remote_id,
        "outcome": outcome,
        "reason": reason,
        "text": text,
        "model": reply.model,
        "surface": surface,
        **readings.columns(reading),
    }
    row = _origin(ticket) | _stored(Capture, capture) | gists.numbers(ticket.origin.key, ticket.provider, surface)
    row |= {
        "paid": cost.amount,
        "paid_by": cost.basis,
        "sources": [_stored(Source, source) for source in sources],
        "mentions": [],
    }
    if answer and reading:
        row["mentions"] = [_stored(Mention, mention) for mention in readings.mentions(reading)]
        row |= readings.told_of(reading, {source["domain"] for source in sources})
    return row


def _origin(ticket: Ticket) -> dict[str, Any]:
    origin = ticket.origin
    return {
        "attempt": ticket.attempt,
        "team_id": origin.team,
        "of_check_id": origin.check,
        "check_uuid": origin.check_uuid,
        "brand_id": origin.brand,
        "prompt_id": origin.prompt,
        "provider": ticket.provider,
        "sample": origin.sample,
        "country": ticket.question.country,
    }


def _stored(model: type[Model], values: Mapping[str, Any]) -> dict[str, Any]:
    """Values of a row as its fields store them: text from outside is cleaned, all else is as it is."""
    cleaned = {name: clean(values[name]) for name, clean in _cleaners(model) if name in values}
    return {**values, **cleaned}


@cache
def _cleaners(model: type[Model]) -> list[tuple[str, Callable[[Any], Any]]]:
    """The fields for text from outside, each by its attribute, which has the name of its column."""
    fields = model._meta.concrete_fields
    return [
        (field.attname, field.get_prep_value) for field in fields if isinstance(field, CleanCharField | CleanTextField)
    ]
