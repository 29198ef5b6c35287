"""Invitations: an account without a password, and a mail with a link to choose one."""

from __future__ import annotations

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.contrib.auth.tokens import default_token_generator
from django.core.mail import send_mail
from django.db import transaction
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from capture.models import Membership, Team


@transaction.atomic
def invite(address: str, team: Team, request: HttpRequest) -> User:
    """Make an account in a team, and mail its link; neither is there without the other.

    Arguments:
        address: of the mail, and the new account's username.
        team: may be one that is not saved yet.
        request: of whoever invites.

    Raises:
        OSError: the mail could not be sent.
        IntegrityError: there is such a username by now.
    """
    if team.pk is None:
        team.save()
    user = get_user_model().objects.create_user(address, address)
    Membership.objects.create(team=team, user=user)
    send(user, request)
    return user


def send(user: User, request: HttpRequest) -> None:
    """Mail the link, for the first time or again. It works once, and until PASSWORD_RESET_TIMEOUT has passed.

    Raises:
        OSError: the mail could not be sent.
    """
    words = {
        "inviter": request.user,
        "name": user.get_username(),
        "team": Team.objects.of(user),
        "link": request.build_absolute_uri(_path_of(user)),
    }
    subject = render_to_string("registration/invitation_subject.txt", words).strip()
    send_mail(subject, render_to_string("registration/invitation_email.txt", words), None, [user.email])


def _path_of(user: User) -> str:
    """The page on which a user sets a password, by Django's token."""
    uid = urlsafe_base64_encode(force_bytes(user.pk))
    return reverse("password_reset_confirm", args=[uid, default_token_generator.make_token(user)])
