"""The start of a check: the form, what is typed into it, and what it sends."""

from __future__ import annotations

import re
from datetime import timedelta
from html import unescape

import pytest
from django.db import OperationalError
from django.test import Client
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from capture import heartbeat, lanes, reports
from capture.forms import CheckForm, new_nonce
from capture.models import Brand, CaptureJob, Check, Lane
from capture.providers import registry
from tests.factories import WORKER, make_check, make_user
from tests.test_views import Tags

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("simulated")]

NEW, DRAFT = "/checks/new/", "/checks/new/draft/"


def htmx(target: str) -> dict[str, str]:
    """The headers of a question for the part that replaces this element."""
    return {"HX-Request": "true", "HX-Target": target}


def typed(**fields):
    usual = {
        "brand": "Northwind",
        "competitors": "Contoso",
        "prompts": "Which espresso machine is best?\nWhich is cheapest?",
        "providers": ["chatgpt", "perplexity"],
        "country": "",
        "language": "",
        "samples": "1",
        "nonce": "abc",
    }
    return usual | fields


@pytest.fixture
def user():
    lanes.make_missing()
    return make_user("ada")


@pytest.fixture
def ada(client: Client, user) -> Client:
    client.force_login(user)
    return client


@pytest.fixture
def post(ada):
    """Sends the form as Ada; gives back the page."""

    def send(path: str = DRAFT, *, target: str = "", status: int = 200, **fields):
        response = ada.post(path, typed(**fields), headers=htmx(target) if target else {})
        assert response.status_code == status
        return str(response.content.decode())

    return send


def prompts_in(html: str) -> list[str]:
    return text_in(html, "prompts").splitlines()


def text_in(html: str, name: str) -> str:
    """What stands in one of the large fields."""
    (text,) = re.findall(rf'<textarea name="{name}"[^>]*>\n?(.*?)</textarea>', html, re.DOTALL)
    return unescape(text)


def value_of(html: str, name: str) -> str:
    (value,) = [tag.get("value") or "" for tag in Tags(html).of("input") if tag.get("name") == name]
    return value


def words(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


class TestPressingCheck:
    def test_it_makes_a_check_and_goes_there(self, ada, user):
        response = ada.post(NEW, typed())

        check = Check.objects.get()
        assert response.status_code == 302
        assert response.url == reports.check_url(check)
        assert check.jobs.pending().count() == 4
        assert check.created_by == user

    def test_twice_makes_one_check(self, ada):
        first, second = ada.post(NEW, typed()), ada.post(NEW, typed())

        assert first.url == second.url
        assert CaptureJob.objects.count() == 4

    def test_an_edited_form_makes_another_check(self, ada):
        first, second = ada.post(NEW, typed()), ada.post(NEW, typed(prompts="Another?"))

        assert first.url != second.url

    def test_without_any_system_nothing_can_be_sent(self, ada, settings):
        settings.SIMULATOR_URL = ""

        html = ada.get(NEW, follow=True).content.decode()

        assert "None can be asked yet." in html
        assert 'button class="main" disabled' in html


class TestAskedAlready:
    @pytest.fixture
    def check(self, ada):
        ada.post(NEW, typed())
        check = Check.objects.get()
        Check.objects.update(created_at=check.created_at - timedelta(minutes=5))
        return check

    def test_an_unchanged_form_gives_the_old_check_and_asks_whether_to_run_it_again(self, ada, check):
        response = ada.post(NEW, typed())

        html = response.content.decode()
        assert Check.objects.count() == 1
        assert "You have asked this already" in html
        assert f'href="{reports.check_url(check)}"' in html

    def test_running_it_again_makes_a_new_check_of_the_same(self, ada, check):
        html = ada.post(NEW, typed(samples="2", prompts="One?\n  Two?\n", country="DE")).content.decode()
        check = Check.objects.latest("pk")
        Check.objects.update(created_at=check.created_at - timedelta(minutes=5))
        html = ada.post(NEW, typed(samples="2", prompts="One?\n  Two?\n", country="DE")).content.decode()
        form = [(tag["name"] or "", tag.get("value") or "") for tag in Tags(html).of("input") if tag.get("name")]
        sent: dict[str, list[str]] = {}
        for name, value in form:
            sent.setdefault(name, []).append(value)

        ada.post(NEW, sent)

        again = Check.objects.latest("pk")
        assert again != check
        assert [prompt.text for prompt in again.prompts.order_by("position")] == ["One?", "Two?"]
        same = ("brand_id", "names", "providers", "samples", "country", "language")
        assert [getattr(again, name) for name in same] == [getattr(check, name) for name in same]


class TestErrors:
    def test_they_stand_beside_their_fields_and_nothing_is_lost(self, ada):
        sent = typed(brand="123", prompts="Is <b>this</b> kept?", providers=["perplexity"], country="de", samples="9")

        html = ada.post(NEW, sent).content.decode()

        assert not Check.objects.exists()
        tags = Tags(html)
        inputs = {(attributes["name"], attributes.get("value")): attributes for attributes in tags.of("input")}
        brand = inputs["brand", "123"]
        assert brand["aria-invalid"] == "true"
        assert f'id="{brand["aria-describedby"]}">“123” has no letters' in html
        assert "From 1 to 5, please." in html
        assert "Is &lt;b&gt;this&lt;/b&gt; kept?" in html
        assert text_in(html, "competitors") == "Contoso"
        assert "checked" in inputs["providers", "perplexity"]
        assert "checked" not in inputs["providers", "chatgpt"]
        assert '<option value="DE" selected>Germany</option>' in html
        assert ("samples", "9") in inputs
        assert ("nonce", "abc") in inputs

    @pytest.mark.parametrize(
        ("field", "value", "focused"),
        [
            ("brand", "123", "brand"),
            ("prompts", "", "prompts"),
            ("samples", "9", "samples"),
            ("country", "XX", "country"),
        ],
    )
    def test_the_first_field_that_is_wrong_has_the_focus(self, post, field, value, focused):
        html = post(NEW, **{field: value})

        (tag,) = [tag for kind in ("input", "textarea", "select") for tag in Tags(html).of(kind) if "autofocus" in tag]
        assert tag["name"] == focused

    def test_without_a_system_the_first_of_them_has_the_focus(self, ada):
        html = ada.post(NEW, typed(providers=[])).content.decode()

        (box,) = [tag for tag in Tags(html).of("input") if "autofocus" in tag]
        assert (box["name"], box["value"]) == ("providers", "chatgpt")

    def test_what_is_said_of_them_goes_with_them(self, post):
        html = post(NEW, brand="123")
        (form,) = re.findall(r"<form id=\"check-form\".*?</form>", html, re.DOTALL)

        assert "Please look at what is marked below." in form
        assert "Please look" not in post(target="check-form", do="count")

    def test_an_empty_request_is_a_bad_form(self, ada):
        html = ada.post(NEW, {}).content.decode()

        assert "Which brand is it about?" in html
        assert "Ask at least one question." in html
        assert "Choose an AI system." in html

    @pytest.mark.parametrize(("field", "code"), [("country", "XX"), ("country", "EU"), ("language", "zz")])
    def test_a_code_that_there_is_none_of_is_refused(self, post, field, code):
        html = post(NEW, **{field: code})

        assert f"There is no {field} “{code}”." in html
        assert not Check.objects.exists()


class TestAddress:
    """The random value of a form is in its address, so that going back finds the same form."""

    def test_a_new_form_has_an_address_of_its_own(self, ada):
        first, second = ada.get(NEW).url, ada.get(NEW).url

        assert first != second
        assert first.startswith("/checks/new/?form=")

    def test_going_back_and_pressing_check_again_finds_the_same_check(self, ada):
        address = ada.get(NEW).url
        nonce = value_of(ada.get(address).content.decode(), "nonce")
        first = ada.post(address, typed(nonce=nonce)).url
        again = value_of(ada.get(address).content.decode(), "nonce")

        assert ada.post(address, typed(nonce=again)).url == first
        assert Check.objects.count() == 1

    def test_it_can_name_a_brand_to_begin_with(self, ada, user):
        make_check(user, competitors=("Contoso", "Fabrikam"))

        html = ada.get(f"{NEW}?brand={Brand.objects.get().pk}", follow=True).content.decode()

        assert value_of(html, "brand") == "Northwind"
        assert text_in(html, "competitors") == "Contoso\nFabrikam"


class TestNothingTypedIsLost:
    """Whatever keeps a form from being taken, it comes back as it was sent."""

    def is_kept(self, html: str) -> bool:
        return (
            value_of(html, "brand") == "Northwind"
            and prompts_in(html) == ["Which espresso machine is best?", "Which is cheapest?"]
            and text_in(html, "competitors") == "Contoso"
            and value_of(html, "nonce") == "abc"
        )

    def test_when_the_session_has_ended(self, client):
        response = client.post(NEW, typed())

        html = response.content.decode()
        assert response.status_code == 401
        assert "Your session has ended, and nothing was asked yet." in html
        assert '<a href="/login/" target="_blank">' in html
        assert self.is_kept(html)

    def test_when_the_database_is_away(self, ada, monkeypatch):
        ada.raise_request_exception = False

        def away(*_):
            raise OperationalError("connection refused")

        monkeypatch.setattr("django.contrib.sessions.backends.db.SessionStore.load", away)

        response = ada.post(NEW, typed())

        html = response.content.decode()
        assert response.status_code == 503
        assert response.headers["Retry-After"] == "5"
        assert "The database cannot be reached at the moment, and nothing was asked yet." in html
        assert self.is_kept(html)

    def test_when_somebody_has_logged_in_anew_in_another_tab(self, user):
        strict = Client(enforce_csrf_checks=True)
        strict.force_login(user)

        response = strict.post(NEW, typed())

        html = response.content.decode()
        assert response.status_code == 403
        assert "You have logged in since this form was opened, and nothing was asked yet." in html
        assert self.is_kept(html)
        token = value_of(html, "csrfmiddlewaretoken")
        assert strict.post(NEW, typed(csrfmiddlewaretoken=token)).status_code == 302

    def test_other_forms_without_their_token_are_not_taken(self, user):
        strict = Client(enforce_csrf_checks=True)
        strict.force_login(user)

        response = strict.post("/logout/")

        assert response.status_code == 403
        assert "Please send it again" in response.content.decode()


class TestSum:
    def test_it_multiplies_what_is_typed(self, post):
        html = words(post(target="sum", samples="3"))

        assert "2 questions × 2 AI systems × 3 samples = 12 jobs" in html
        assert "Costs nothing: the answers are simulated." in html

    def test_it_says_what_takes_fewer_samples(self, post):
        html = words(post(target="sum", samples="3", providers=["chatgpt", "copilot", "google_ai"]))

        assert "= 10 jobs (one sample of Copilot, Google AI)" in html

    @pytest.mark.usefixtures("only_chatgpt")
    def test_it_says_what_it_will_cost(self, post):
        html = words(post(target="sum", providers=["chatgpt"]))

        assert re.search(r"About \$0\.\d+\.", html)

    def test_counts_stand_beside_the_limits_and_warn(self, post, settings):
        settings.CAPTURE_MAX_PROMPTS = 1

        html = post(target="sum")

        assert '<span class="count error" id="count-prompts" hx-swap-oob="true">2 of at most 1</span>' in html
        assert '<span class="count" id="count-competitors" hx-swap-oob="true">1 of at most 20</span>' in html

    def test_more_jobs_than_allowed_are_told_before_check_is_pressed(self, post, settings):
        settings.CAPTURE_MAX_JOBS = 3

        assert "At most 3 jobs are allowed." in post(target="sum")

    def test_it_is_a_part_and_no_page_and_makes_no_check(self, post):
        html = post(target="sum")

        assert "<html" not in html
        assert 'id="check-form"' not in html
        assert not Check.objects.exists()

    def test_without_javascript_a_button_gives_it_in_the_page_with_all_that_was_typed(self, post):
        html = post(do="count", brand="", samples="2")

        assert "<html" in html
        assert "2 questions × 2 AI systems × 2 samples = 8 jobs" in words(html)
        assert prompts_in(html) == ["Which espresso machine is best?", "Which is cheapest?"]
        assert "Which brand is it about?" not in html

    @pytest.mark.parametrize("samples", ["", "0", "6", "x", "99999999999999999999", "²"])
    def test_what_the_form_would_not_take_counts_as_one_sample(self, post, samples):
        assert "× 1 sample = 4 jobs" in words(post(target="sum", samples=samples))

    def test_a_lapsed_session_is_401_with_a_link_to_log_in(self, client):
        here = "http://testserver/checks/new/?form=abc"

        response = client.post(DRAFT, typed(), headers={**htmx("sum"), "HX-Current-URL": here})

        assert response.status_code == 401
        assert '<a href="/login/?next=/checks/new/%3Fform%3Dabc">Log in</a>' in response.content.decode()

    def test_a_constant_number_of_queries(self, ada, user, django_assert_max_num_queries):
        for number in range(12):
            make_check(user, brand=f"Brand {number}")
        ada.post(DRAFT, typed(), headers=htmx("sum"))  # how long calls take is measured once for all

        with django_assert_max_num_queries(10):
            ada.post(DRAFT, typed(), headers=htmx("sum"))


class TestSystems:
    @pytest.mark.usefixtures("only_chatgpt")
    def test_one_without_a_key_is_shown_and_cannot_be_chosen(self, ada):
        html = ada.get(NEW, follow=True).content.decode()

        boxes = {attributes.get("value"): attributes for attributes in Tags(html).of("input")}
        assert "disabled" in boxes["perplexity"]
        assert "disabled" not in boxes["chatgpt"]
        assert "<code>PERPLEXITY_API_KEY</code> is not set" in html
        assert "simulated" not in html

    def test_each_says_its_surface_and_whether_it_is_simulated(self, ada):
        html = ada.get(NEW, follow=True).content.decode()

        assert html.count('<span class="tag">simulated</span>') == len(registry.PROVIDERS)
        assert all(provider.surface in html for provider in registry.PROVIDERS)

    def test_all_say_so_when_no_worker_is_alive(self, ada):
        html = ada.get(NEW, follow=True).content.decode()

        assert html.count("Not now: nothing is being asked at the moment.") == len(registry.PROVIDERS)

    def test_one_that_is_held_says_why(self, ada, user):
        heartbeat.register(WORKER, list(registry.by_slug), 8)
        Lane.objects.filter(name="openai").update(paused=True)
        Lane.objects.filter(name="perplexity").update(enabled=False)
        now = timezone.now()
        cools = {"cooling_since": now, "cooling_until": now + timedelta(minutes=10)}
        Lane.objects.filter(name="gemini").update(cooling_reason="invalid_api_key", **cools)

        html = ada.get(NEW, follow=True).content.decode()

        assert html.count("Not now:") == 3
        assert "Not now: paused by staff." in html
        assert "Not now: Perplexity is switched off by staff." in html
        assert "the Gemini key was refused; next try at" in html


class TestEarlier:
    @pytest.fixture
    def asked(self, user):
        make_check(user, brand="Northwind", competitors=("Contoso",), prompts=("Old one?", "Old two?"))
        make_check(user, brand="Fabrikam", competitors=("Adatum", "Litware"), prompts=("Another?",))
        make_check(brand="Secret", prompts=("Somebody else's?",))

    def number(self, brand: str) -> int:
        return Brand.objects.get(name=brand).pk

    @pytest.mark.usefixtures("asked")
    def test_brands_asked_about_before_can_be_picked_the_last_first(self, ada):
        html = ada.get(NEW, follow=True).content.decode()

        assert re.findall(r'<option value="(\w+)"></option>', html) == ["Fabrikam", "Northwind"]
        assert f'value="brand:{self.number("Fabrikam")}"' in html
        assert "Secret" not in html

    @pytest.mark.usefixtures("asked")
    @pytest.mark.parametrize("target", ["", "check-form"])
    def test_a_brand_brings_its_competitors_and_leaves_the_rest(self, post, target):
        html = post(target=target, do=f"brand:{self.number('Fabrikam')}")

        assert value_of(html, "brand") == "Fabrikam"
        assert text_in(html, "competitors") == "Contoso\nAdatum\nLitware"
        assert prompts_in(html) == ["Which espresso machine is best?", "Which is cheapest?"]
        assert "1 question asked before about Fabrikam" in words(html)

    @pytest.mark.usefixtures("asked")
    def test_a_brand_brings_no_competitor_twice_nor_itself(self, post):
        html = post(do=f"brand:{self.number('Fabrikam')}", competitors="LITWARE\n  My   own \nfabrikam")

        assert text_in(html, "competitors") == "LITWARE\nMy own\nfabrikam\nAdatum"

    @pytest.mark.usefixtures("asked")
    @pytest.mark.parametrize("do", ["brand:{theirs}", "brand:0", "brand:x", "brand:", "brand", "nonsense", ""])
    def test_what_is_not_the_teams_or_nothing_changes_nothing(self, post, do):
        html = post(do=do.format(theirs=self.number("Secret")))

        assert value_of(html, "brand") == "Northwind"
        assert text_in(html, "competitors") == "Contoso"

    @pytest.mark.usefixtures("asked")
    def test_questions_asked_before_are_offered_but_for_those_that_are_there(self, post):
        html = words(post(target="earlier", brand="NORTHWIND", prompts="old  ONE?"))

        assert "Old two?" in html
        assert "Old one?" not in html
        assert "Another?" not in html

    @pytest.mark.usefixtures("asked")
    def test_those_that_are_chosen_come_below_what_is_typed_and_once(self, post):
        chosen = [prompt.pk for check in Check.objects.order_by("pk") for prompt in check.prompts.order_by("position")]

        html = post(
            target="check-form",
            do="earlier",
            earlier=[*chosen, "x", "²", str(10**30), "9" * 5000],
            prompts="Mine?\nold two?",
        )

        assert prompts_in(html) == ["Mine?", "old two?", "Another?", "Old one?"]


class TestStarters:
    def test_they_come_below_what_is_typed_without_the_brand(self, post):
        html = post(target="check-form", do="starters", category="software", thing="  CRM  systems ", prompts="Mine?")

        mine, first, *others = prompts_in(html)
        assert mine == "Mine?"
        assert first == "Which CRM systems are best for a small company?"
        assert len(others) >= 4
        assert not [question for question in others if "Northwind" in question or "{" in question]

    def test_twice_adds_nothing(self, post):
        once = prompts_in(post(do="starters", category="product", thing="espresso machines"))
        twice = prompts_in(post(do="starters", category="product", thing="espresso machines", prompts="\n".join(once)))

        assert once == twice

    def test_without_a_thing_they_ask_for_one_and_lose_nothing(self, post):
        html = post(target="check-form", do="starters", category="product", thing=" ")

        assert "Say first what it is that you sell or offer" in html
        assert prompts_in(html) == ["Which espresso machine is best?", "Which is cheapest?"]

    def test_what_is_typed_there_is_only_text(self, post):
        html = post(do="starters", category="product", thing="<script>alert(1)</script>{thing}")

        assert "<script>alert" not in html
        assert "Which <script>alert(1)</script>{thing} are best?" in prompts_in(html)

    @pytest.mark.parametrize("thing", ["northwind", "Northwind espresso  machines"])
    def test_a_thing_that_names_the_brand_adds_nothing_and_says_why(self, post, thing):
        html = post(do="starters", category="product", thing=thing)

        assert "That names your brand." in html
        assert prompts_in(html) == ["Which espresso machine is best?", "Which is cheapest?"]

    def test_what_is_added_is_done_with(self, post):
        assert value_of(post(do="starters", category="product", thing="espresso machines"), "thing") == ""

    def test_enter_adds_what_stands_there_and_starts_no_check(self, post):
        html = post(NEW, do="enter", category="product", thing="espresso machines")

        assert "Which espresso machines are best?" in prompts_in(html)
        assert not Check.objects.exists()

    @pytest.mark.parametrize("thing", ["", "  "])
    def test_enter_presses_check_where_nothing_stands_there(self, ada, thing):
        response = ada.post(NEW, typed(do="enter", category="product", thing=thing))

        assert response.url == reports.check_url(Check.objects.get())

    def test_check_itself_starts_a_check_whatever_stands_there(self, ada):
        response = ada.post(NEW, typed(category="product", thing="espresso machines"))

        assert response.url == reports.check_url(Check.objects.get())


# Fields of the form, and of its parts that send something to the draft.
FIELDS = (*typed(), "do", "category", "thing", "earlier", "target")
CONTROL = "".join(map(chr, [*range(9), 11, 12, *range(14, 32), *range(127, 160)]))


class TestAnyCharacters:
    """Nothing that anybody can send breaks a page."""

    @pytest.fixture
    def _earlier(self, user):
        make_check(user, prompts=("Old one?",))

    @pytest.mark.usefixtures("_earlier")
    @given(
        path=st.sampled_from([NEW, DRAFT]),
        target=st.sampled_from(["", "check-form", "sum", "earlier"]),
        fields=st.dictionaries(
            st.sampled_from(FIELDS),
            st.text(st.characters(codec="utf-8") | st.sampled_from(f"\x00{CONTROL}")) | st.just("starters"),
        ),
        utf7=st.booleans(),
    )
    @settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    def test_no_field_of_any_content_is_an_error(self, ada, path, target, fields, utf7):
        sent = {**typed(do="starters", category="product", thing="x"), **fields}
        # In UTF-7 even half of a surrogate pair could be sent.
        kind = f"{MULTIPART_CONTENT}; charset=utf-7" if utf7 else MULTIPART_CONTENT
        body = encode_multipart(BOUNDARY, {**sent, "brand": "a+2AA-b"} if utf7 else sent)

        response = ada.generic("POST", path, body, content_type=kind, headers=htmx(target) if target else {})

        assert response.status_code in ({400} if utf7 else {200, 302})
        assert not set(CONTROL) & set(response.content.decode())

    @pytest.mark.parametrize("name", [name for name in FIELDS if name not in {"providers", "samples"}])
    @pytest.mark.parametrize("character", ["\x00", "\x07", "\x1b", "\x9f"])
    def test_what_is_no_text_is_left_out(self, ada, name, character):
        sent = typed(do="starters", category="product", thing="espresso machines")

        html = ada.post(DRAFT, {**sent, name: f"{sent.get(name, '')}{character}"}).content.decode()

        assert character not in html
        assert "Which espresso machines are best?" in prompts_in(html)

    @pytest.mark.parametrize("character", ["\x00", "\x07", "\x1b"])
    def test_a_check_is_asked_without_it(self, ada, character):
        ada.post(NEW, typed(brand=f"North{character}wind", prompts=f"Which{character} is best?"))

        check = Check.objects.get()
        assert check.names["brand"]["name"] == "Northwind"
        assert check.prompts.get().text == "Which is best?"

    @pytest.mark.parametrize("character", ["\x0b", "\x0c", "\x1e", "\x85"])
    def test_lines_stay_lines_however_they_are_broken(self, post, character):
        assert prompts_in(post(prompts=f"One?{character}Two?")) == ["One?", "Two?"]

    @pytest.mark.parametrize("name", ["brand", "competitors", "prompts"])
    @pytest.mark.parametrize("character", ["\x00", "\x07", "\x1b"])
    def test_the_form_itself_refuses_it(self, name, character):
        form = CheckForm(typed(**{name: f"North{character}wind"}))

        assert "There is a character in it that is no text" in form.errors[name][0]


def test_two_random_values_differ():
    assert new_nonce() != new_nonce()
