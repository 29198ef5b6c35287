"""Every page of ours, for tests that look at them all. Add yours to PAGES."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from django.contrib.auth.models import User
from django.contrib.auth.tokens import default_token_generator
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from capture import queue
from capture.calls import Ticket
from capture.models import Check
from capture.providers.replies import Kind, Refused
from capture.reports import check_url
from tests.factories import ACCOUNT, PATIENCE, WORKER, answer, claim, complete_one, error, make_check

LONG_TEXT = (
    "For a small office, **Northwind** is liked for its quiet grinder and its price.\n\n"
    "- It makes two cups at once.\n- Contoso is faster, and costs twice as much.\n\n"
    "Somebody who wants milk should look at both: https://reviews.example/a-very-long-address/that/does/not/wrap."
)


@dataclass
class Scene:
    """What there is to see: a user with checks in all states.

    Arguments:
        user: whose checks they are.
        checks: by name; ``mixed`` has cells of every kind, ``done`` is answered whole.
    """

    user: User
    checks: dict[str, Check] = field(default_factory=dict)

    @classmethod
    def make(cls, user: User) -> Scene:
        return cls(user, {"done": _done(user), "half": _half(user), "mixed": _mixed(user)})

    def path(self, name: str) -> str:
        return check_url(self.checks[name])

    def path_of_link(self) -> str:
        """The link of a mail to set a password."""
        uid = urlsafe_base64_encode(force_bytes(self.user.pk))
        return f"/password/set/{uid}/{default_token_generator.make_token(self.user)}/"


@dataclass(frozen=True)
class SomePage:
    """A page to look at.

    Arguments:
        name: tells the test and the picture.
        path: from the scene to the address.
        stranger: it is seen by somebody who is not logged in.
        empty: there is no check yet.
        status: that it answers with.
        press: the name of a button to press first, such as one that sends a form with nothing in it.
    """

    name: str
    path: Callable[[Scene], str]
    stranger: bool = False
    empty: bool = False
    status: int = 200
    press: str = ""


def at(path: str) -> Callable[[Scene], str]:
    return lambda scene: path


PAGES = (
    SomePage("checks", at("/")),
    SomePage("no-checks", at("/"), empty=True),
    SomePage("new-check", at("/checks/new/")),
    SomePage("new-check-errors", at("/checks/new/"), press="Check"),
    SomePage("new-check-of-a-brand", lambda scene: f"/checks/new/?brand={scene.checks['mixed'].brand_id}"),
    SomePage("check-under-way", lambda scene: scene.path("mixed")),
    SomePage("check-called-off", lambda scene: scene.path("half")),
    SomePage("confirm", lambda scene: scene.path("half"), press="Ask all 3 questions again as a new check, free"),
    SomePage("check-done", lambda scene: scene.path("done")),
    SomePage("answer", lambda scene: f"{scene.path('mixed')}answers/1/chatgpt/1/"),
    SomePage("answer-failed", lambda scene: f"{scene.path('mixed')}answers/1/perplexity/1/"),
    SomePage("answer-to-come", lambda scene: f"{scene.path('mixed')}answers/3/chatgpt/1/"),
    SomePage("delete-check", lambda scene: f"{scene.path('done')}delete/"),
    SomePage("brands", at("/brands/")),
    SomePage("no-brands", at("/brands/"), empty=True),
    SomePage("nothing-found", at("/?search=nowhere")),
    SomePage("login", at("/login/"), stranger=True),
    SomePage("password", at("/password/")),
    SomePage("password-forgotten", at("/password/forgotten/"), stranger=True),
    SomePage("password-mailed", at("/password/mailed/"), stranger=True),
    SomePage("password-set", lambda scene: scene.path_of_link(), stranger=True),
    SomePage("password-link-old", at("/password/set/MQ/old/"), stranger=True),
    SomePage("not-found", at("/nothing-here/"), status=404),
    SomePage("not-found-stranger", at("/nothing-here/"), stranger=True, status=404),
    SomePage("broken", at("/breaks/"), status=500),
    SomePage("not-allowed", at("/refuses/"), status=403),
    SomePage("bad-request", at("/?page=%00"), status=400),
)


def _half(user: User) -> Check:
    """One is answered, one has failed, one was called off."""
    check = make_check(user, prompts=("Which is best?", "Which is cheapest?", "Which is quietest?"))
    answered, failed = claim("openai", 2)
    for ticket in (answered, failed):
        queue.start(ticket, WORKER, ACCOUNT, PATIENCE)
    queue.complete(answered, answer())
    queue.fail(failed, error("invalid_api_key", kind=Kind.FATAL))
    queue.cancel(check.jobs.all())
    return check


def _done(user: User) -> Check:
    check = make_check(user, brand="Northwind", prompts=("Which espresso machine is best for a small office?",))
    complete_one(check.jobs.get(), LONG_TEXT)
    return check


def _mixed(user: User) -> Check:
    """Answered, refused, asking; failed, cancelled and waiting at the system."""
    prompts = tuple(f"Which espresso machine is best for an office of {number} people?" for number in (5, 20, 80))
    check = make_check(user, brand="Contoso Coffee & Sons", prompts=prompts, providers=("chatgpt", "perplexity"))
    answered, refused, _ = (_start(ticket) for ticket in claim("openai"))
    failed, waiting = (_start(ticket) for ticket in claim("perplexity", seats=2))
    queue.complete(answered, answer(LONG_TEXT))
    queue.complete(refused, Refused(text="I would rather not."))
    queue.fail(failed, error("refused_key", kind=Kind.FATAL))
    queue.wait(waiting, "a remote id", 600)
    queue.cancel(check.jobs.filter(provider="perplexity"))
    return check


def _start(ticket: Ticket) -> Ticket:
    assert queue.start(ticket, WORKER, ACCOUNT, PATIENCE)
    return ticket
