"""A browser, the site, and visits to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, Literal

import pytest
from django.contrib.auth.models import User
from django.db.backends.postgresql.operations import DatabaseOperations
from playwright.sync_api import Browser, Page

from capture import lanes
from tests.browser.chromium import chromium
from tests.browser.site import Site
from tests.browser.visits import Visit
from tests.factories import make_user
from tests.process.running import Simulator, simulator, worker

Scheme = Literal["light", "dark"]
Visitor = Callable[..., Visit]

WIDEST, WIDE, NARROW = 2000, 1280, 320  # CSS pixels
HEIGHT = 800


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All tests here need committed rows, since another process reads them."""
    for item in items:
        if "tests/browser/" in item.path.as_posix():
            item.add_marker(pytest.mark.slow)
            item.add_marker(pytest.mark.django_db(transaction=True))


@pytest.fixture(autouse=True, scope="package")
def _few_rows_are_deleted() -> Iterator[None]:
    """Tables are emptied after each test. Where they hold a few rows, TRUNCATE takes many times as long as DELETE."""

    def delete(self: DatabaseOperations, style: Any, tables: list[str], **_: Any) -> list[str]:
        names = [self.quote_name(table) for table in tables]
        # As TRUNCATE does, it waits for whoever is still at work, such as a request of a page that is closed.
        return [f"LOCK TABLE {', '.join(names)}", *(f"DELETE FROM {name}" for name in names)]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DatabaseOperations, "sql_flush", delete)
        yield


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with pytest.MonkeyPatch.context() as patch, chromium() as running:
        # Playwright runs an event loop in this thread, which Django takes for asynchronous code.
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        yield running


@pytest.fixture(scope="package")
def system() -> Iterator[Simulator]:
    """The AI systems, quick; nobody works for them unless a test has a worker."""
    with simulator("--speed", "1000") as running:
        yield running


@pytest.fixture(scope="package")
def site(system: Simulator, django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The web server that all tests here share. One that kills it has a Site of its own."""
    site = Site(tmp_path_factory.mktemp("site") / "log", SIMULATOR_URL=system.url)
    site.prepare()
    try:
        site.start()
        yield site
    finally:
        site.stop()


@pytest.fixture
def user(transactional_db: None) -> User:
    lanes.make_missing()
    return make_user("ada")


@pytest.fixture
def visitor(browser: Browser, site: Site, transactional_db: None) -> Iterator[Visitor]:
    """Begins visits; when the test is over, each must have gone without a complaint."""
    with ExitStack() as ends:

        def begin(
            user: User | None = None,
            *,
            scheme: Scheme = "light",
            width: int = WIDE,
            javascript: bool = True,
            at: Site = site,
        ) -> Visit:
            context = browser.new_context(
                color_scheme=scheme,
                viewport={"width": width, "height": HEIGHT},
                java_script_enabled=javascript,
                reduced_motion="reduce",
                locale="en-GB",
            )
            visit = Visit(context, at.url)
            ends.callback(visit.end)
            if user:
                visit.log_in(user)
            return visit

        yield begin


@pytest.fixture
def visit(visitor: Visitor, user: User) -> Visit:
    """A visit of somebody who is logged in, wide and light."""
    return visitor(user)


@pytest.fixture
def page(visit: Visit) -> Page:
    """Its page; nothing is loaded yet."""
    return visit.page


@pytest.fixture
def work(system: Simulator, tmp_path) -> Iterator[Callable[..., None]]:
    """Starts a real worker, with arguments of runworkers; it ends with the test."""
    with ExitStack() as workers:

        def start(*arguments: str, **variables: str) -> None:
            variables = {"SIMULATOR_URL": system.url, **variables}
            workers.enter_context(worker(*arguments, log=tmp_path / "worker.log", **variables))

        yield start
