"""What people do with a check: asked again, called off, repeated, deleted."""

from __future__ import annotations

from decimal import Decimal
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client

from capture import queue, reports, systems
from capture.formatting.money import dollars
from capture.models import Attempt, Brand, Capture, CaptureJob, Charge, Check, Source
from tests.factories import claim_one, complete_one, make_check, make_job, unknown_error
from tests.test_check_page import progress_on
from tests.test_views import Tags
from tests.views.conftest import mixed_check, path_of, place_of, said, start_first

YES = {"confirmed": "yes"}


@pytest.fixture
def real(simulated, settings):
    """ChatGPT is asked for money."""
    settings.CAPTURE_PROVIDER_KEYS = {"OPENAI_API_KEY": "sk-test"}
    settings.SIMULATOR_URL = ""


class TestAskAgain:
    def test_one_place(self, browser, ada):
        check = mixed_check(ada)
        Capture.objects.filter(prompt__position=3).delete()

        response = browser.post(path_of(check, "ask-again"), {"place": "2-chatgpt-1"}, follow=True)

        assert response.redirect_chain == [(path_of(check), 302)]
        assert said(response) == "1 question is asked again."
        assert list(check.jobs.order_by("pk").values_list("status", flat=True)) == ["done", "pending", "pending"]

    def test_all_that_have_no_answer(self, browser, ada):
        check = mixed_check(ada)
        queue.cancel(check.jobs.all())

        response = browser.post(path_of(check, "ask-again"), YES, follow=True)

        assert said(response) == "2 questions are asked again."
        assert list(check.jobs.order_by("pk").values_list("status", flat=True)) == ["done", "pending", "pending"]

    def test_a_ticket_that_was_cleaned_up_is_made_anew(self, browser, ada):
        check = mixed_check(ada)
        queue.cancel(check.jobs.all())
        check.jobs.all().delete()

        browser.post(path_of(check, "ask-again"), YES)

        assert sorted(check.jobs.values_list("prompt__position", "status")) == [(2, "pending"), (3, "pending")]

    def test_twice_is_once(self, browser, ada):
        check = mixed_check(ada)
        check.jobs.all().delete()

        browser.post(path_of(check, "ask-again"), YES, follow=True)
        response = browser.post(path_of(check, "ask-again"), YES, follow=True)

        assert said(response) == "Nothing is asked again: all of it has an answer or is being asked."
        assert check.jobs.count() == 2

    def test_a_system_that_cannot_be_asked_any_more_is_left_out_and_named(self, browser, ada, settings):
        check = mixed_check(ada)
        settings.SIMULATOR_URL = ""

        response = browser.post(path_of(check, "ask-again"), {"place": "2-chatgpt-1"}, follow=True)

        assert "Left out, since it cannot be asked here now: ChatGPT." in said(response)
        assert not check.jobs.filter(prompt__position=2, status="pending").exists()

    def test_of_several_it_says_first_how_many_and_for_how_much(self, browser, ada, settings):
        check = mixed_check(ada)
        queue.cancel(check.jobs.all())
        free = browser.post(path_of(check, "ask-again")).content.decode()
        settings.CAPTURE_PROVIDER_KEYS = {"OPENAI_API_KEY": "sk-test"}
        settings.SIMULATOR_URL = ""

        dear = browser.post(path_of(check, "ask-again")).content.decode()

        assert "Ask 2 questions, free" in free
        assert "Ask 2 questions, about $0.0" in dear
        assert not check.jobs.open().exists()

    def test_its_button_there_asks_them(self, browser, ada):
        check = mixed_check(ada)
        queue.cancel(check.jobs.all())
        html = browser.post(path_of(check, "ask-again"), {"kind": "cancelled"}).content.decode()
        sent = {tag["name"]: tag["value"] for tag in Tags(html).of("input") if tag["name"] != "csrfmiddlewaretoken"}

        response = browser.post(path_of(check, "ask-again"), sent, follow=True)

        assert said(response) == "1 question is asked again."
        assert check.jobs.open().get().prompt.position == 3

    @pytest.mark.parametrize(("kind", "position"), [("cancelled", 3), ("unanswered", 2)])
    def test_what_was_called_off_is_told_apart_from_what_has_failed(self, browser, ada, kind, position):
        check = mixed_check(ada)
        queue.cancel(check.jobs.all())

        browser.post(path_of(check, "ask-again"), {"kind": kind, **YES})

        assert check.jobs.open().get().prompt.position == position

    @pytest.mark.parametrize("place", ["9-chatgpt-1", "1-gemini-1", "nonsense", "1-chatgpt-1 "])
    def test_a_place_that_is_not_there(self, browser, ada, place):
        assert browser.post(path_of(mixed_check(ada), "ask-again"), {"place": place}).status_code == 404


class TestCancel:
    def test_what_was_not_asked_is_called_off_and_the_rest_goes_on(self, browser, ada):
        check = make_check(ada, prompts=("One?", "Two?"), providers=("chatgpt", "perplexity"))
        first = check.jobs.get(provider="chatgpt", prompt__position=1)
        ticket = start_first(first)

        response = browser.post(path_of(check, "cancel"), follow=True)

        assert said(response) == "3 questions are called off. 1 was asked before; its answer still comes."
        assert check.jobs.get(pk=ticket.job).status == "running"
        assert "3 cancelled" in " ".join(response.content.decode().split())

    def test_nothing_left_to_call_off(self, browser, ada):
        job = make_job(user=ada)
        complete_one(job)

        response = browser.post(path_of(job.of_check, "cancel"), follow=True)

        assert said(response) == "Nothing was left to call off."


class TestRepeat:
    def test_it_is_a_new_check_that_asks_the_same(self, browser, ada):
        asked = {"prompts": ("One?", "Two?"), "providers": ("chatgpt", "gemini"), "samples": 2, "country": "DE"}
        old = make_check(ada, **asked)

        response = browser.post(path_of(old, "repeat"), {"nonce": "fresh", **YES})

        new = Check.objects.exclude(pk=old.pk).get()
        assert response.url == path_of(new)
        for name in ("names", "brand_id", "providers", "samples", "country", "language"):
            assert getattr(new, name) == getattr(old, name)
        assert texts(new) == texts(old)
        assert new.jobs.pending().count() == old.jobs.count() == 8
        assert new.created_by == ada

    def test_of_several_it_says_first_how_many_and_for_how_much(self, browser, ada):
        old = make_check(ada, prompts=("One?", "Two?"))

        html = browser.post(path_of(old, "repeat"), {"nonce": "fresh"}).content.decode()

        assert "Ask 2 questions, free" in html
        assert Check.objects.count() == 1
        sent = {tag["name"]: tag["value"] for tag in Tags(html).of("input") if tag["name"] != "csrfmiddlewaretoken"}
        browser.post(path_of(old, "repeat"), sent)
        assert Check.objects.exclude(pk=old.pk).get().jobs.count() == 2

    def test_pressed_twice_it_makes_one(self, browser, ada):
        old = make_check(ada)

        first, second = (browser.post(path_of(old, "repeat"), {"nonce": "fresh"}) for _ in range(2))

        assert first.url == second.url
        assert Check.objects.count() == 2

    def test_from_a_page_loaded_anew_it_makes_another(self, browser, ada):
        old = make_check(ada)

        for _ in range(2):
            nonce = browser.get(path_of(old)).context["nonce"]
            browser.post(path_of(old, "repeat"), {"nonce": nonce})

        assert Check.objects.count() == 3

    def test_names_stay_as_they_were_when_it_was_asked(self, browser, ada):
        old = make_check(ada, brand="Northwind", competitors=("Contoso",))
        Brand.objects.update(name="Southwind", aliases=["SW"])

        browser.post(path_of(old, "repeat"), {"nonce": "fresh"})

        assert Check.objects.exclude(pk=old.pk).get().names == old.names
        assert Brand.objects.count() == 1

    def test_a_system_that_cannot_be_asked_any_more_is_left_out_and_named(self, browser, ada, settings):
        old = make_check(ada, providers=("chatgpt", "perplexity"))
        settings.CAPTURE_PROVIDER_KEYS = {"OPENAI_API_KEY": "sk-test"}
        settings.SIMULATOR_URL = ""

        response = browser.post(path_of(old, "repeat"), {"nonce": "fresh", **YES}, follow=True)

        assert Check.objects.exclude(pk=old.pk).get().providers == ["chatgpt"]
        assert said(response) == "Left out, since it cannot be asked here now: Perplexity."

    def test_what_would_not_be_taken_now_is_not_asked(self, browser, ada, settings):
        old = make_check(ada, prompts=("One?", "Two?"))
        settings.CAPTURE_MAX_PROMPTS = 1

        response = browser.post(path_of(old, "repeat"), {"nonce": "fresh"}, follow=True)

        assert said(response) == "Nothing was asked. These are 2 questions; at most 1 are allowed."
        assert Check.objects.count() == 1


class TestDelete:
    def test_it_asks_first(self, browser, ada):
        job = make_job(user=ada)
        complete_one(job)

        html = browser.get(path_of(job.of_check, "delete")).content.decode()

        assert "Delete this check?" in html
        assert "Its 1 answer with all sources goes for good." in html
        assert Check.objects.exists()

    def test_everything_goes_but_what_it_cost(self, browser, ada):
        job = make_job(user=ada)
        complete_one(job)

        response = browser.post(path_of(job.of_check, "delete"), follow=True)

        assert response.redirect_chain == [("/", 302)]
        assert said(response) == "The check is deleted."
        for model in (Check, CaptureJob, Attempt, Capture, Source):
            assert not model.objects.exists()
        assert [charge.amount for charge in Charge.objects.all()] == [Decimal("0.013")]
        assert browser.get(path_of(job.of_check)).status_code == 404

    def test_an_unknown_outcome_stays_counted_at_its_estimate(self, browser, ada):
        job = make_job(user=ada)
        queue.fail(claim_one(job), unknown_error())

        browser.post(path_of(job.of_check, "delete"))

        assert not Check.objects.exists()
        assert [(charge.amount, charge.basis) for charge in Charge.objects.all()] == [(Decimal("0.02"), "estimated")]

    def test_a_check_under_way_is_not_deleted(self, browser, ada):
        check = make_check(ada)

        page = browser.get(path_of(check, "delete")).content.decode()
        response = browser.post(path_of(check, "delete"), follow=True)

        assert "it cannot be deleted yet" in page
        assert "Delete for good" not in page
        assert said(response) == "Nothing was deleted: the check is still under way."
        assert Check.objects.exists()

    def test_a_check_whose_jobs_were_cleaned_up(self, browser, ada):
        job = make_job(user=ada)
        complete_one(job)
        job.delete()

        browser.post(path_of(job.of_check, "delete"))

        assert not Check.objects.exists()

    def test_twice_is_once(self, browser, ada):
        job = make_job(user=ada)
        complete_one(job)

        browser.post(path_of(job.of_check, "delete"))

        assert browser.post(path_of(job.of_check, "delete")).status_code == 404

    def test_a_copy_elsewhere_stays(self, browser, ada):
        original = make_job(user=ada)
        complete_one(original)
        copy = make_job(user=ada)
        complete_one(copy)
        first = Capture.objects.get(prompt=original.prompt_id)
        Capture.objects.filter(prompt=copy.prompt_id).update(cached=True, copy_of=first)

        browser.post(path_of(original.of_check, "delete"))

        assert browser.get(place_of(copy.of_check)).status_code == 200


class TestPageOfTheCheck:
    def test_while_it_goes_on_what_was_not_asked_can_be_called_off(self, browser, ada):
        html = browser.get(path_of(make_check(ada))).content.decode()

        assert "Call off what was not asked yet" in html
        assert '<a class="grave gone"' in html
        assert "that has no answer" not in html

    def test_what_is_in_hand_cannot_be_called_off(self, browser, ada):
        check = make_check(ada, prompts=("One?", "Two?"))

        def unasked() -> str:
            return str(progress_on(browser.get(path_of(check)).content.decode())["data-unasked"])

        assert unasked() == "2"
        start_first(check.jobs.get(prompt__position=1))
        assert unasked() == "1"
        start_first(check.jobs.get(prompt__position=2))
        assert unasked() == "0"

    def test_when_it_is_over_what_has_no_answer_can_be_asked_again(self, browser, ada):
        check = mixed_check(ada)
        queue.cancel(check.jobs.all())

        html = browser.get(path_of(check)).content.decode()

        assert "Ask 1 question again that has no answer, free" in html
        assert "Ask 1 question that was called off, free" in html
        assert "Ask all 3 questions again as a new check, free" in html
        assert '<a class="grave" ' in html
        assert "Call off" not in html

    @pytest.mark.usefixtures("real")
    def test_buttons_say_what_they_cost(self, browser, ada):
        check = mixed_check(ada)
        queue.cancel(check.jobs.all())
        cost = dollars(3 * systems.estimates()["chatgpt"])

        html = browser.get(path_of(check)).content.decode()

        assert f"Ask all 3 questions again as a new check, about {cost}" in html
        place = browser.get(place_of(check, 2)).content.decode()
        assert f"Ask again, about {dollars(systems.estimates()['chatgpt'])}" in place

    def test_what_was_called_off_does_not_count_as_done(self, browser, ada):
        check = mixed_check(ada)
        queue.cancel(check.jobs.all())

        html = browser.get(path_of(check)).content.decode()

        assert progress_on(html)["data-spoken"] == "Finished: 1 of 3 answered, 1 called off"
        assert '<progress max="3" value="2"' in html

    def test_when_all_is_answered_there_is_nothing_to_ask_again(self, browser, ada):
        job = make_job(user=ada)
        complete_one(job)

        assert "that has no answer" not in browser.get(path_of(job.of_check)).content.decode()

    def test_the_last_news_brings_what_can_be_done_now(self, browser, ada):
        job = make_job(user=ada)
        complete_one(job)

        news = browser.get(path_of(job.of_check), headers={"HX-Request": "true"}).content.decode()

        assert 'id="actions"' in news
        assert 'hx-swap-oob="true"' in news
        assert "Delete this check" in news

    def test_news_before_that_leave_the_buttons_alone(self, browser, ada):
        news = browser.get(path_of(make_check(ada)), headers={"HX-Request": "true"}).content.decode()

        assert 'id="actions"' not in news


ACTIONS = ["ask-again", "cancel", "repeat", "delete"]


class TestWhoMay:
    @pytest.mark.parametrize("action", ACTIONS)
    def test_a_form_without_its_token_does_nothing(self, ada, action):
        job = make_job(user=ada)
        complete_one(job)
        strict = Client(enforce_csrf_checks=True)
        strict.force_login(ada)

        assert strict.post(path_of(job.of_check, action)).status_code == 403
        assert Check.objects.count() == 1

    @pytest.mark.parametrize("action", ["ask-again", "cancel", "repeat"])
    def test_after_logging_in_one_is_back_at_the_check_and_nothing_was_done(self, client, ada, action):
        check = make_check(ada)
        login = client.post(path_of(check, action)).url
        client.force_login(ada)

        response = client.get(parse_qs(urlsplit(login).query)["next"][0], follow=True)

        assert response.redirect_chain == [(path_of(check), 302)]
        assert said(response) == "Nothing was done: you had to log in first. Please press again."
        assert check.jobs.pending().count() == Check.objects.count() == 1

    @pytest.mark.parametrize("action", ["ask-again", "cancel", "repeat"])
    def test_another_teams_check_is_not_there(self, browser, action):
        assert browser.get(path_of(make_check(), action)).status_code == 404

    @pytest.mark.parametrize("action", ACTIONS)
    def test_other_methods_are_refused_with_a_page(self, browser, ada, action):
        response = browser.put(path_of(make_check(ada), action))

        assert response.status_code == 405
        assert "Nothing was done" in response.content.decode()

    @pytest.mark.django_db
    @pytest.mark.parametrize("action", ACTIONS)
    def test_a_stranger_is_sent_to_log_in_and_nothing_is_done(self, client, action):
        check = make_check()

        response = client.post(path_of(check, action))

        assert response.url.startswith("/login/")
        assert Check.objects.count() == 1
        assert check.jobs.pending().count() == 1


def texts(check: Check) -> list[str]:
    return [cell.prompt.text for cell in reports.board_of(check).cells]
