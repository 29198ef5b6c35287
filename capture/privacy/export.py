"""All that is held on a person as one JSON object: rows as they stand in the tables, so that nothing is left out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import Model, QuerySet

from capture.models import Prompt
from capture.models.clock import database_now
from capture.privacy.person import BY_TEAM, Person

AT_ONCE = 500

# What opens the account to whoever has it, and says nothing of the person.
SECRETS = {User: {"password"}, Session: {"session_key", "session_data"}}


def json_pieces(person: Person) -> Iterator[str]:
    """One JSON object in pieces that make it up: by table, the rows with all their columns."""
    yield f'{{"user": {_json(person.user.get_username())}, "exported_at": {_json(database_now())}, "rows": {{'
    for number, (name, records) in enumerate(_tables(person)):
        yield f"{',' if number else ''}\n{_json(name)}: ["
        for place, record in enumerate(records):
            yield f"{',' if place else ''}\n{_json(record)}"
        yield "]"
    yield "\n}}\n"


def _tables(person: Person) -> Iterator[tuple[str, Iterator[dict[str, Any]]]]:
    """What there is, under the names of its tables; what only shared teams hold, under names of its own."""
    yield "account", _records(User.objects.filter(pk=person.user.pk))
    yield "memberships", _records(person.memberships())
    yield "shared_teams", ({"id": team.pk, "name": team.name} for team in person.shared)
    yield "sessions", (_record(session) for session in person.sessions())
    yield "log_entries", _records(person.log_entries())
    yield "staff_actions", _records(person.staff_actions())
    for attempts in person.logins():
        yield attempts.model._meta.db_table, _records(attempts)
    for model in BY_TEAM:
        yield model._meta.db_table, _records(person.of_own_teams(model))
    asked = person.asked_for_others()
    yield "checks_asked_for_shared_teams", _records(asked)
    yield "questions_asked_for_shared_teams", _records(Prompt.objects.filter(of_check__in=asked).order_by("pk"))


def _records(rows: QuerySet[Any]) -> Iterator[dict[str, Any]]:
    return (_record(row) for row in rows.iterator(chunk_size=AT_ONCE))


def _record(row: Model) -> dict[str, Any]:
    hidden = SECRETS.get(type(row), set())
    return {
        field.attname: field.value_from_object(row) for field in row._meta.concrete_fields if field.name not in hidden
    }


def _json(value: Any) -> str:
    return json.dumps(value, cls=DjangoJSONEncoder, ensure_ascii=False)
