"""What history reads of answers: it says what captures, prompts, mentions and sources say."""

from __future__ import annotations

import importlib
from datetime import timedelta
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from django.apps import apps
from django.db import connection, transaction
from django.utils import timezone
from hypothesis import given, settings
from hypothesis import strategies as st

from capture import gists, ledger, queue, readings
from capture.analysis.mentions import MATCHER_VERSION, Entity
from capture.analysis.sites import KINDS, sites_of
from capture.analysis.sources import kind_of, registrable_domain
from capture.models import Brand, Capture, Competitor, Gist, Mention
from capture.models.brands import editing
from capture.models.clock import ClockTimestamp
from capture.models.gists import MOST_RIVALS
from capture.providers.replies import Refused, Source
from tests.factories import answer, claim_one, complete_one, finish, make_check, make_job, make_user
from tests.histories import Kept

TEXT = "Contoso leads. **Northwind** is fine, and Northwind is cheap."


@pytest.fixture(autouse=True)
def long_ago(monkeypatch):
    """Names that were changed just now were changed a while ago."""
    monkeypatch.setattr(readings, "OVERLAP", timedelta(0))


def source(host: str, **fields: Any) -> Source:
    return Source(f"https://{host}/a", f"https://{host}/a", "A title", **fields)


def rename(whom: type[Brand] | type[Competitor] = Brand, **fields: Any) -> None:
    with transaction.atomic(), editing(Brand.objects.get()):
        whom.objects.update(**fields)


def derived(capture: Capture) -> dict[str, Any]:
    """A gist made of all that it repeats, in the plainest way."""
    brand = capture.of_check.brand
    mentions = list(Mention.objects.filter(capture=capture).order_by("rank"))
    rivals = [domain for rival in brand.competitors.filter(archived_at=None) for domain in rival.domains]
    sites: dict[str, int] = {}
    for (host,) in capture.sources.values_list("domain"):
        kind = KINDS.index(kind_of(host, brand.domains, rivals))
        site = registrable_domain(host)
        sites[site] = min(kind, sites.get(site, kind))
    return {
        "capture_id": capture.pk,
        "brand_id": brand.pk,
        "provider": capture.provider,
        "country": capture.of_check.country,
        "branded": capture.prompt.branded,
        "simulated": capture.simulated,
        "answered_at": capture.answered_at,
        "model": capture.model,
        "question": gists.number_of(capture.prompt.key),
        "cell": gists.number_of(capture.prompt.key, capture.provider, capture.surface),
        "rank": next((mention.rank for mention in mentions if mention.brand_id), None),
        "rivals": [mention.competitor_id for mention in mentions if mention.competitor_id],
        "sites": sorted(sites),
        "kinds": [sites[site] for site in sorted(sites)],
        "matcher": capture.matcher,
        "edition": capture.edition,
    }


def all_derived() -> list[dict[str, Any]]:
    counting = Capture.objects.originals().filter(matcher__gt=0, edition__gt=0).order_by("pk")
    return [derived(capture) for capture in counting]


def all_kept() -> list[dict[str, Any]]:
    return [dict(row) for row in Gist.objects.order_by("capture").values()]


@pytest.mark.django_db
class TestWhenAnAnswerComes:
    def test_it_says_whom_the_answer_names_and_which_sites_it_cites(self):
        job = make_job()
        Brand.objects.update(domains=["northwind.example"])

        complete_one(
            job, TEXT, sources=(source("shop.northwind.example"), source("news.example"), source("news.example"))
        )

        gist = Gist.objects.get()
        assert (gist.rank, gist.rivals) == (2, [Competitor.objects.get().pk])
        assert list(zip(gist.sites, gist.kinds, strict=True)) == [("news.example", 2), ("northwind.example", 0)]
        assert all_kept() == all_derived()

    def test_only_an_answer_that_counts_has_one(self):
        queue.complete(claim_one(make_job()), answer(TEXT))  # nobody has looked for names in it yet
        queue.complete(claim_one(make_job()), Refused(TEXT))
        ticket = claim_one(make_job())
        rename_of(ticket, "Else")
        finish(ticket, answer(TEXT))

        assert not Gist.objects.exists()

    def test_a_source_that_nobody_knows_the_page_of_is_a_source_of_no_site(self):
        complete_one(make_job(), TEXT, sources=(source("x.example", redirect=True),))

        assert (Gist.objects.get().sites, Gist.objects.get().kinds) == ([""], [2])

    def test_texts_that_cannot_be_stored_lose_no_answer(self):
        long = f"{'a' * 60}." * 5
        hosts = ("\x00.example", "\ud800.example", "[::1", "..", f"{long}example")

        complete_one(make_job(), TEXT, sources=tuple(source("x", domain=host) for host in hosts), model="\x00\ud800")

        assert Capture.objects.get().text == TEXT
        assert all_kept() == all_derived()

    def test_as_many_competitors_as_there_is_room_for_are_told(self):
        kept = Kept.make(make_user())
        rivals = Competitor.objects.bulk_create(
            Competitor(brand=kept.brand, name=f"R{number}") for number in range(MOST_RIVALS + 1)
        )
        capture = kept.answer(timezone.now(), model="漢" * 200, surface="漢" * 200)
        keys = [rival.key for rival in rivals]

        gists.keep({capture: keys}, {}, kept.brand.entities())

        assert Gist.objects.get().rivals == [rival.pk for rival in rivals][:MOST_RIVALS]

    @settings(deadline=None)
    @given(st.lists(st.text() | st.from_regex(r"[a-zé漢.\[\]:0-9-]{0,40}", fullmatch=True)))
    def test_no_host_is_too_strange(self, hosts):
        sites = sites_of(hosts, [Entity("brand", "B", domains=("b.example",)), Entity("r", "R", domains=("co.uk",))])

        assert set(sites.domains) == set(filter(None, hosts))
        assert set(sites.kinds) == set(sites.domains.values())


def rename_of(ticket: Any, name: str) -> None:
    brand = Brand.objects.get(checks__jobs=ticket.job)
    with transaction.atomic(), editing(brand):
        Brand.objects.filter(pk=brand.pk).update(name=name)


@pytest.mark.django_db
class TestWhenItIsReadAgain:
    def test_it_says_what_the_names_of_today_find(self):
        complete_one(make_job(), TEXT, sources=(source("contoso.example"),))

        rename(name="Fine", domains=["contoso.example"])
        rename(Competitor, archived_at=ClockTimestamp())
        readings.read_on(1)

        gist = Gist.objects.get()
        assert (gist.rank, gist.rivals, gist.kinds, gist.edition) == (1, [], [0], Brand.objects.get().edition)
        assert all_kept() == all_derived()

    def test_one_that_cannot_be_read_any_more_has_none(self, monkeypatch):
        complete_one(make_job(), TEXT)
        rename(name="Fine")
        monkeypatch.setattr(readings, "read", _broken)

        readings.read_on(1)

        assert not Gist.objects.exists()

    def test_an_answer_without_one_gets_it(self):
        complete_one(make_job(), TEXT)
        Gist.objects.all().delete()

        assert readings.read_again(Brand.objects.prefetch_related("competitors").get()) == 1

        assert all_kept() == all_derived() != []

    def test_a_copy_without_one_is_not_read_for_ever(self):
        complete_one(make_job(), TEXT)
        Capture.objects.update(cached=True)
        Gist.objects.all().delete()

        assert not Capture.objects.unread(Brand.objects.get()).exists()


def _broken(*_: Any) -> None:
    raise ValueError


@pytest.mark.django_db
def test_it_goes_with_its_capture_also_when_that_is_deleted_by_who_knows_of_no_gists():
    complete_one(make_job(), TEXT)

    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM capture_mention; DELETE FROM capture_source; DELETE FROM capture_capture")
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")

    assert not Gist.objects.exists()


@pytest.mark.django_db
def test_a_source_that_moves_is_of_another_site():
    redirect = "https://system.example/r/1"
    ticket = claim_one(make_job())
    finish(ticket, answer(TEXT, sources=(Source(redirect, redirect, redirect=True), source("news.example"))))

    ledger.move_source(ticket.attempt, redirect, "https://www.reviews.example/a")

    assert Gist.objects.get().sites == ["news.example", "reviews.example"]
    assert all_kept() == all_derived()


@pytest.mark.django_db
@pytest.mark.parametrize("seed", range(4))
def test_whatever_happens_it_says_what_all_others_say(seed):
    random = Random(seed)
    user = make_user()
    attempts = []

    def answered() -> None:
        ticket = claim_one(make_check(user, country=random.choice(("", "DE"))).jobs.get())
        text = " and ".join(random.sample(("Northwind", "Contoso", "Fabrikam", "Fine", "nobody"), 3))
        hosts = random.choices(("a.example", "b.a.example", "c.example", ""), k=random.randrange(4))
        finish(ticket, answer(text, sources=tuple(source(host or "x.example", redirect=not host) for host in hosts)))
        attempts.append(ticket.attempt)

    doings = (
        answered,
        lambda: rename(aliases=random.choice(([], ["Fine"]))),
        lambda: rename(domains=random.choice(([], ["a.example"], ["b.a.example"]))),
        lambda: rename(Competitor, domains=random.choice(([], ["c.example"]))),
        lambda: rename(Competitor, archived_at=random.choice((None, ClockTimestamp()))),
        lambda: make_check(user, competitors=("Contoso", "Fabrikam")).jobs.all().delete(),
        lambda: ledger.move_source(random.choice(attempts), "https://x.example/a", "https://c.example/b"),
        lambda: readings.read_on(0),
    )
    answered()
    for _ in range(25):
        random.choice(doings)()
    while readings.read_on(1):
        pass

    assert all_kept() == all_derived() != []


@pytest.mark.django_db
def test_the_migration_writes_them_as_they_would_have_been_written():
    user = make_user()
    hosts = ("shop.northwind.example", "a.co.uk", "a.co.uk", "contoso.example")
    for country in ("", "DE"):
        job = make_check(user, country=country).jobs.get()
        complete_one(job, TEXT, sources=(*map(source, hosts), source("x.example", redirect=True)))
    rename(domains=["northwind.example"])
    rename(Competitor, domains=["contoso.example"])
    readings.read_on(1)
    queue.complete(claim_one(make_check(user).jobs.get()), answer(TEXT))
    before = all_kept()
    Gist.objects.all().delete()

    fill = importlib.import_module("capture.migrations.0014_gists").fill
    fill(apps, SimpleNamespace(connection=connection))

    assert all_kept() == before
    assert len(before) == 2
    assert {gist["matcher"] for gist in before} == {MATCHER_VERSION}
