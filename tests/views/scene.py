"""Every address there is, and a scene in which each has something to show: for tests that walk through all of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import Group, User
from django.contrib.auth.tokens import default_token_generator
from django.contrib.contenttypes.models import ContentType
from django.db.models import Model
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from capture import lanes, schedules, staff_actions
from capture.models import Check, Schedule
from tests.factories import complete_one, make_job, make_user
from tests.lost_workers import make_worker

PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>")
STRANGER = "stranger"


def addresses(resolver: URLResolver | None = None, before: str = "") -> Iterator[str]:
    """Every address as the resolver writes it, such as `checks/<uuid:uuid>/`."""
    for pattern in (resolver or get_resolver()).url_patterns:
        path = before + str(pattern.pattern)
        if isinstance(pattern, URLPattern):
            yield path
        else:
            yield from addresses(pattern, path)


@dataclass
class Scene:
    """A check that is answered, and people who may or may not see it.

    Arguments:
        people: by what they are; a stranger is not logged in.
    """

    people: Mapping[str, User | None]
    check: Check

    @classmethod
    def make(cls) -> Scene:
        people: dict[str, User | None] = {
            STRANGER: None,
            "other": make_user("other"),
            "member": make_user("member", email="member@mail.example"),
            "clerk": make_user("clerk", is_staff=True),
            "boss": make_user("boss", is_staff=True, is_superuser=True),
        }
        lanes.make_missing()
        make_worker()
        Group.objects.create(name="Support")
        job = make_job(user=people["member"])
        targets = staff_actions.targets_of("fail", job.of_check.jobs.all())
        assert staff_actions.propose(people["boss"], "fail", targets, "/admin/")
        complete_one(job)
        schedules.plan(job.of_check, Schedule.Every.DAILY, 6)
        LogEntry.objects.log_actions(people["boss"].pk, [job.of_check], CHANGE, "Looked at it.")  # type: ignore[union-attr]
        return cls(people, job.of_check)

    def browser(self, who: str) -> Client:
        client = Client()
        if user := self.people[who]:
            client.force_login(user)
        return client

    def path(self, address: str) -> str:
        """An address with what it names in this scene."""
        values = self._values() | _named_in_admin(address)
        if address.startswith("brands/"):
            values["uuid"] = self.check.brand.uuid
        if "^" in address or "(?P" in address:
            return _of_regular(address)
        return "/" + PARAMETER.sub(lambda found: str(values[found[1]]), address)

    def _values(self) -> dict[str, Any]:
        member = self.people["member"]
        assert member
        return {
            "uuid": self.check.uuid,
            "position": 1,
            "provider": "chatgpt",
            "sample": 1,
            "uidb64": urlsafe_base64_encode(force_bytes(member.pk)),
            "token": default_token_generator.make_token(member),
            "id": member.pk,
            "content_type_id": ContentType.objects.get_for_model(Check).pk,
            "object_id": self.check.pk,
        }


def _of_regular(address: str) -> str:
    """The two addresses of Django's admin that are regular expressions."""
    return "/admin/capture/" if "app_label" in address else "/admin/nothing/here/"


def _named_in_admin(address: str) -> dict[str, Any]:
    """The number of a row of the table that an address of the admin is about."""
    found = re.match(r"admin/(auth|capture|admin)/(\w+)/<(?:path:object_id|int:number)>", address)
    if not found:
        return {}
    row = model_named(found[1], found[2])._default_manager.order_by("pk").first()
    assert row, f"the scene has no {found[2]}"
    return {"object_id": row.pk, "number": row.pk}


def model_named(app: str, name: str) -> type[Model]:
    model = ContentType.objects.get_by_natural_key(app, name).model_class()
    assert model
    return model
