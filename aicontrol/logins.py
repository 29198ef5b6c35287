"""Who may log in, and how often it may be tried: by username and address together, so that nobody locks out others.

django-axes counts; here it is told what to count by, and what a person sees who has tried too often.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from ipaddress import IPv6Address, ip_network
from math import ceil
from typing import Any

from django.conf import settings
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth import get_user_model
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.forms import PasswordResetForm
from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from aicontrol.proxies import address_in

NOWHERE = "0.0.0.0"  # noqa: S104  stands for an address that nobody told
ONE_NETWORK = 64  # bits of an IPv6 address that a provider hands to one customer at least
LONGEST_NAME = 150

TOO_MANY = 429

# Mails with a link to set a password, to one person.
MOST_MAILS = 3
MAILS_WITHIN = timedelta(hours=1)
MAILED = "A link to set a new password was asked for."


class AnyCase(ModelBackend):
    """Log in with the username in any case, as long as that tells who is meant."""

    def authenticate(
        self, request: HttpRequest | None, username: str | None = None, password: str | None = None, **kwargs: Any
    ) -> User | None:
        return super().authenticate(request, _as_registered(username or ""), password, **kwargs)


def _as_registered(username: str) -> str:
    users = get_user_model().objects
    if not users.filter(username=username).exists():
        alike = list(users.filter(username__iexact=username).values_list("username", flat=True)[:2])
        if len(alike) == 1:
            return str(alike[0])
    return username


def username_of(request: HttpRequest, credentials: dict[str, Any] | None = None) -> str:
    """The name by which attempts are counted: that of the account which they would log in to, however it is written."""
    return _as_registered(str((credentials or {}).get("username") or "")).casefold()[:LONGEST_NAME]


def address_of(request: HttpRequest) -> str:
    """The address by which attempts are counted. All of an IPv6 customer's addresses are one, as there is no end."""
    found = address_in(request.META.get("REMOTE_ADDR", ""))
    if isinstance(found, IPv6Address):
        return str(ip_network((found.packed, ONE_NETWORK), strict=False).network_address)
    return str(found or NOWHERE)


def locked_out(request: HttpRequest, response: HttpResponse | None, credentials: Any) -> HttpResponse:
    """What is seen by somebody who has tried too often; a right password is not looked at any more either."""
    wait: timedelta = settings.AXES_COOLOFF_TIME
    context = {"minutes": ceil(wait / timedelta(minutes=1)), "attempts": settings.AXES_FAILURE_LIMIT}
    page = render(request, "registration/locked_out.html", context, status=TOO_MANY)
    page.headers["Retry-After"] = str(ceil(wait.total_seconds()))
    return page


class FewMails(PasswordResetForm):
    """Mails a link to whoever has forgotten the password, but nobody's mailbox can be filled by it."""

    def get_users(self, email: str) -> Iterator[User]:
        """Those with that address who were not mailed too often of late."""
        return (user for user in super().get_users(email) if _may_be_mailed(user))


@transaction.atomic
def _may_be_mailed(user: User) -> bool:
    """Whether another mail may go to a user; it is then in the log of the admin, which remembers it for the next."""
    User.objects.select_for_update(no_key=True).get(pk=user.pk)  # of two at once, the second counts the first
    lately = LogEntry.objects.filter(user=user, change_message=MAILED, action_time__gte=timezone.now() - MAILS_WITHIN)
    if lately.count() >= MOST_MAILS:
        return False
    LogEntry.objects.log_actions(user.pk, [user], CHANGE, MAILED)
    return True
