"""Members of staff, and what they see and press."""

from __future__ import annotations

import re

from django.contrib.auth.models import Permission, User
from django.test import Client

from tests.factories import make_user

LOOK = ("view_capturejob", "view_attempt", "view_capture", "view_check", "view_charge", "view_worker", "view_lane")
JOBS = "/admin/capture/capturejob/"
ATTEMPTS = "/admin/capture/attempt/"


def staff(*permissions: str) -> User:
    user = make_user(is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    return user


def get(client: Client, path: str) -> str:
    response = client.get(path)
    assert response.status_code == 200, response
    return response.content.decode()


def choose(client: Client, action: str, *rows, path: str = JOBS, **more: str) -> str:
    """Choose rows and an action in a list; gives the page that follows."""
    sent = {"action": action, "_selected_action": [row.pk for row in rows], **more}
    return client.post(path, sent, follow=True).content.decode()


def say_yes(client: Client, page: str) -> str:
    """Press the button of a page that asks; gives the page that follows."""
    found = re.search(r'action="(/admin/capture/staffaction/\d+/confirm/)"', page)
    assert found, page
    return client.post(found[1], follow=True).content.decode()
