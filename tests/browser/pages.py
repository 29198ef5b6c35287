"""Every page of ours, for tests that look at them all. Add yours to PAGES."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property

from axes.models import AccessAttempt
from django.contrib.auth.models import User
from django.contrib.auth.tokens import default_token_generator
from django.db import transaction
from django.utils import timezone
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from playwright.sync_api import Page

from capture import queue, schedules
from capture.calls import Ticket
from capture.models import Brand, Check, HistoryMark, Schedule
from capture.providers.replies import Kind, Refused
from capture.reports import check_url
from tests.browser.visits import Visit
from tests.factories import answer, claim, complete_one, error, finish, make_check
from tests.histories import Kept, Told

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
    @transaction.atomic  # which is quicker than a transaction for each step
    def make(cls, user: User) -> Scene:
        checks = {"done": _done(user), "half": _half(user), "mixed": _mixed(user)}
        return cls(user, checks | {"repeated": _repeated(user), "paused": _paused(user)})

    def path(self, name: str) -> str:
        return check_url(self.checks[name])

    def path_of_history(self, rest: str = "") -> str:
        """Of a brand with answers of three months, in which names and a model have changed."""
        return f"/brands/{self._history.uuid}/{rest}"

    @cached_property
    def _history(self) -> Brand:
        return _with_history(self.user)

    def path_of_names(self, name: str) -> str:
        return f"/brands/{self.checks[name].brand.uuid}/names/"

    def path_of_locked_login(self) -> str:
        """Of the login, where somebody has tried too often."""
        AccessAttempt.objects.create(username="ada", ip_address="127.0.0.1", failures_since_start=10)
        return "/login/"

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
        typed: what is typed first, by the labels of fields.
        press: the name of a button to press then, such as one that sends a form with nothing in it.
    """

    name: str
    path: Callable[[Scene], str]
    stranger: bool = False
    empty: bool = False
    status: int = 200
    typed: tuple[tuple[str, str], ...] = ()
    press: str = ""

    def show(self, visit: Visit, scene: Scene) -> Page:
        """Go there in a visit of whoever sees it, type and press."""
        page = visit.go(self.path(scene))
        for label, text in self.typed:
            page.get_by_label(label).fill(text)
        if self.press:
            page.get_by_role("button", name=self.press, exact=True).click()
            page.wait_for_function("() => !document.querySelector('.htmx-request')")  # what it brings has come
        return page


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
    SomePage("check-repeated", lambda scene: scene.path("repeated")),
    SomePage("check-paused", lambda scene: scene.path("paused")),
    SomePage("answer", lambda scene: f"{scene.path('mixed')}answers/1/chatgpt/1/"),
    SomePage("answer-naming-both", lambda scene: f"{scene.path('done')}answers/1/chatgpt/1/"),
    SomePage("answer-failed", lambda scene: f"{scene.path('mixed')}answers/1/perplexity/1/"),
    SomePage("answer-to-come", lambda scene: f"{scene.path('mixed')}answers/3/chatgpt/1/"),
    SomePage("delete-check", lambda scene: f"{scene.path('done')}delete/"),
    SomePage("brands", at("/brands/")),
    SomePage("brand", lambda scene: scene.path_of_history()),
    SomePage("brand-wrong-days", lambda scene: scene.path_of_history("?since=2020-01-02&until=2020-01-01")),
    SomePage("brand-unmeasured", lambda scene: f"/brands/{scene.checks['mixed'].brand.uuid}/?answers=real"),
    SomePage("brand-competitors", lambda scene: scene.path_of_history("competitors/")),
    SomePage("brand-sources", lambda scene: scene.path_of_history("sources/")),
    SomePage("definitions", at("/figures/#visibility")),
    SomePage("brand-names", lambda scene: scene.path_of_names("mixed")),
    SomePage("brand-names-tried", lambda scene: scene.path_of_names("done"), press="Try these names on stored answers"),
    SomePage("no-brands", at("/brands/"), empty=True),
    SomePage("nothing-found", at("/?search=nowhere")),
    SomePage("login", at("/login/"), stranger=True),
    SomePage(
        "login-locked",
        lambda scene: scene.path_of_locked_login(),
        stranger=True,
        status=429,
        typed=(("Username", "ada"), ("Password", "secret")),
        press="Log in",
    ),
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
    queue.complete(answered, answer())
    queue.fail(failed, error("invalid_api_key", kind=Kind.FATAL))
    queue.cancel(check.jobs.all())
    return check


def _done(user: User) -> Check:
    check = make_check(user, brand="Northwind", prompts=("Which espresso machine is best for a small office?",))
    complete_one(check.jobs.get(), LONG_TEXT)
    return check


def _repeated(user: User) -> Check:
    """The second of three runs."""
    runs = [make_check(user, brand="Fabrikam") for _ in range(3)]
    schedule = schedules.plan(runs[0], Schedule.Every.DAILY, 6)
    for day, run in enumerate(runs):
        queue.cancel(run.jobs.all())
        Check.objects.filter(pk=run.pk).update(schedule=schedule, due=run.created_at + timedelta(days=day))
    return runs[1]


def _paused(user: User) -> Check:
    check = make_check(user, brand="Woodgrove")
    queue.cancel(check.jobs.all())
    schedule = schedules.plan(check, Schedule.Every.WEEKLY, 23)
    assert schedule
    Schedule.objects.filter(pk=schedule.pk).update(
        paused_because="This check would cost about $1.20; $0.34 of this month's $100.00 is left."
    )
    return check


def _mixed(user: User) -> Check:
    """Answered, refused, asking; failed, cancelled and waiting at the system."""
    prompts = tuple(f"Which espresso machine is best for an office of {number} people?" for number in (5, 20, 80))
    check = make_check(user, brand="Contoso Coffee & Sons", prompts=prompts, providers=("chatgpt", "perplexity"))
    answered, refused, _ = (_start(ticket) for ticket in claim("openai"))
    failed, waiting = (_start(ticket) for ticket in claim("perplexity", seats=2))
    finish(answered, answer(LONG_TEXT))
    queue.complete(refused, Refused(text="I would rather not."))
    queue.fail(failed, error("refused_key", kind=Kind.FATAL))
    queue.wait(waiting, "a remote id", 600)
    queue.cancel(check.jobs.filter(provider="perplexity"))
    return check


@transaction.atomic
def _with_history(user: User) -> Brand:
    kept = Kept.make(user, name="Tailspin", domains=["tailspin.example"])
    today, told = timezone.localdate(), []
    for day in range(84):
        for provider, often in (("chatgpt", 3), ("perplexity", 2)):
            if provider == "perplexity" and 28 <= day < 42:
                continue  # it could not be asked
            for question in ("Which is best?", "Which is cheapest?"):
                whom = ["brand", "rival"] if (day + len(question)) % (often + day // 28) else ["rival"]
                hosts = ["www.tailspin.example", "reviews.example"] if day % 2 else ["contoso.example"]
                model = {"model": "gpt-new" if day < 20 else "gpt-old"}
                moment = today - timedelta(days=day + 1)
                told.append(Told(moment, tuple(whom), question, provider, hosts=tuple(hosts), fields=model))
    kept.keep(told)
    kept.answer(today - timedelta(days=3), outcome="failed", text="", provider="gemini")
    at = timezone.now() - timedelta(days=50)
    HistoryMark.objects.create(brand=kept.brand, kind=HistoryMark.Kind.NAMES, at=at, before={}, after={})
    return kept.brand


def _start(ticket: Ticket) -> Ticket:
    return ticket
