"""A visit to the site: one browser context, and what went wrong in it."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore
from playwright.sync_api import BrowserContext, ConsoleMessage, Page, Request


class Complaints:
    """What no page may do: write an error to the console (a breach of its policy is one), throw, or leave the site.

    Arguments:
        site: its address; whatever a page asks for has to begin with it.
    """

    def __init__(self, context: BrowserContext, site: str) -> None:
        self.found: list[str] = []
        self._site = site
        self._forgiven: list[str] = []
        context.on("console", self._read)
        context.on("weberror", lambda error: self.found.append(f"thrown: {error.error}"))
        context.on("request", self._see)

    def forgive(self, words: str) -> None:
        """Let pass what holds these words: a test makes it happen on purpose."""
        self._forgiven.append(words)

    def left(self) -> list[str]:
        """Return what nobody forgave."""
        return [line for line in self.found if not any(words in line for words in self._forgiven)]

    def _read(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.found.append(f"console: {message.text} ({message.location.get('url', '')})")

    def _see(self, request: Request) -> None:
        if not request.url.startswith((f"{self._site}/", "data:", "blob:")):
            self.found.append(f"left the site: {request.url}")


class Visit:
    """A page to act on, and the complaints of everything that happens in its browser context."""

    def __init__(self, context: BrowserContext, site: str) -> None:
        self.context = context
        self.site = site
        self.complaints = Complaints(context, site)
        self.page: Page = context.new_page()

    def log_in(self, user: User) -> None:
        """Have a session, without the login page; no password is hashed for it."""
        session = SessionStore()
        session[SESSION_KEY] = str(user.pk)
        session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[-1]
        session[HASH_SESSION_KEY] = user.get_session_auth_hash()
        session.save()
        self.context.add_cookies(
            [{"name": settings.SESSION_COOKIE_NAME, "value": str(session.session_key), "url": self.site}]
        )

    def go(self, path: str) -> Page:
        """Load a page of the site by its path."""
        self.page.goto(self.site + path)
        return self.page

    def end(self) -> None:
        """Close it. Fails if anything went wrong that nobody forgave."""
        self.context.close()
        assert not self.complaints.left(), "\n".join(self.complaints.left())
