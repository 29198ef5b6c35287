"""An answer, on its page and in the page of its check."""

from __future__ import annotations

import re
from html import unescape

import pytest

from capture import queue
from capture.models import Attempt, Brand, Capture, CaptureJob
from capture.providers.replies import Refused, Source
from tests.factories import FOR_MONEY, answer, claim_one, complete_one, error, make_check, make_job, unknown_error
from tests.formatting.conftest import Page
from tests.views.conftest import path_of, place_of, start_first

HTMX = {"HX-Request": "true"}
LINK = "([a.example](https://a.example/x))"
TEXT = f"**Northwind** is liked. {LINK}"
SOURCES = (
    Source("https://a.example/x", "https://a.example/x", "Title A", cited=True, spans=((24, 24 + len(LINK)),)),
    Source("https://www.b.example/", "https://www.b.example/", "Title B"),
)


@pytest.fixture
def page(browser):
    """Gets a page as Ada."""

    def get(path: str, **headers: str) -> str:
        response = browser.get(path, headers=headers)
        assert response.status_code == 200
        return str(response.content.decode())

    return get


class TestAnswer:
    def test_its_text_is_formatted_and_its_sources_are_numbered(self, page, ada):
        job = make_job(user=ada)
        complete_one(job, TEXT, sources=SOURCES)

        html = page(place_of(job.of_check))

        assert '<strong><mark class="own">Northwind</mark></strong> is liked.<sup' in html
        assert 'href="#source-1-chatgpt-1-1" title="a.example – Title A"' in html
        assert '<li value="1" id="source-1-chatgpt-1-1">' in html
        assert "([a.example]" not in html

    def test_what_is_cited_stands_apart_from_what_is_only_listed(self, page, ada):
        job = make_job(user=ada)
        complete_one(job, TEXT, sources=SOURCES)

        html = words_of(page(place_of(job.of_check)))

        assert html.index("Cited sources") < html.index("Title A") < html.index("Listed, but not cited")
        assert html.index("Listed, but not cited") < html.index("Title B") < html.index("b.example")

    def test_links_lead_out_in_a_page_of_their_own_and_say_nothing_of_us(self, page, ada):
        job = make_job(user=ada)
        complete_one(job, TEXT, sources=SOURCES)

        links = [
            link for link in Page(article(page(place_of(job.of_check)))).of("a") if "example" in (link["href"] or "")
        ]

        assert len(links) == 2
        assert {(link["target"], link["rel"]) for link in links} == {("_blank", "nofollow noopener noreferrer")}

    def test_it_says_how_it_was_asked_when_and_at_what_cost(self, page, ada):
        job = make_job(user=ada)
        complete_one(job)

        words = words_of(page(place_of(job.of_check)))

        assert "System ChatGPT, asked through the OpenAI API" in words
        assert "Model gpt-test" in words
        assert re.search(r"Answered \d+ \w+ 20\d\d, \d\d:\d\d UTC", words)
        assert "Cost nothing: simulated (a real one: about $0.013)" in words
        assert "Attempts 1" in words
        assert "simulated" in words
        assert "cached" not in words

    def test_times_are_the_teams(self, page, ada):
        job = make_job(user=ada)
        complete_one(job)
        job.team.time_zone = "Asia/Kolkata"
        job.team.save()

        assert " IST" in page(place_of(job.of_check))

    def test_a_copy_says_so_and_leads_to_the_original(self, page, ada):
        original = make_job(user=ada)
        complete_one(original)
        copy = make_job(user=ada)
        complete_one(copy)
        first = Capture.objects.get(prompt=original.prompt_id)
        Capture.objects.filter(prompt=copy.prompt_id).update(cached=True, copy_of=first)

        html = page(place_of(copy.of_check))

        assert "counts in no figure" in html
        assert f'href="{place_of(original.of_check)}"' in html

    def test_a_refusal_is_in_the_systems_words(self, page, ada):
        job = make_job(user=ada)
        queue.complete(claim_one(job), Refused("I would rather not."))

        words = words_of(page(place_of(job.of_check)))

        assert "refused" in words
        assert "I would rather not." in words

    def test_what_came_to_nothing_says_why_and_can_be_asked_again(self, page, ada):
        job = make_job(user=ada)
        queue.fail(claim_one(job), error("invalid_api_key"))

        html = page(place_of(job.of_check))

        assert "the key was refused: something went wrong" in words_of(html)
        assert f'action="{path_of(job.of_check, "ask-again")}"' in html
        assert 'name="place" value="1-chatgpt-1"' in html

    def test_an_answer_cannot_be_asked_again(self, page, ada):
        job = make_job(user=ada)
        complete_one(job)

        assert "ask-again" not in page(place_of(job.of_check))

    def test_an_unknown_outcome_is_told(self, page, ada):
        job = make_job(user=ada)
        queue.fail(claim_one(job, FOR_MONEY), unknown_error())

        assert "nobody knows whether it was charged" in page(place_of(job.of_check))

    def test_of_the_simulator_everybody_knows_that_it_costs_nothing(self, page, ada):
        job = make_job(user=ada)
        queue.fail(claim_one(job), unknown_error())

        html = page(place_of(job.of_check))

        assert "nobody knows" not in html
        assert "1 attempt had no whole reply." in html
        assert "Cost nothing: simulated (a real one: about $0.02)" in words_of(html)

    def test_one_that_is_still_to_come_says_so(self, page, ada):
        html = page(place_of(make_check(ada)))

        assert "There is no answer yet." in html
        assert "ask-again" not in html

    def test_a_very_long_one_is_there_as_a_whole(self, page, ada):
        job = make_job(user=ada)
        complete_one(job, "Northwind <b>is liked</b>.\n\n" * 20_000)

        html = page(place_of(job.of_check))

        assert html.count("&lt;b&gt;is liked&lt;/b&gt;") == 20_000


class TestAddress:
    def test_it_stays_when_all_jobs_are_cleaned_up(self, page, ada):
        job = make_job(user=ada)
        complete_one(job, TEXT, sources=SOURCES)
        before = article(page(place_of(job.of_check)))

        Attempt.objects.all().delete()
        CaptureJob.objects.all().delete()

        assert article(page(place_of(job.of_check))) == before

    @pytest.mark.parametrize(
        "place",
        [(2, "chatgpt", 1), (0, "chatgpt", 1), (1, "perplexity", 1), (1, "chatgpt", 2), (10**30, "chatgpt", 10**30)],
    )
    def test_a_place_that_the_check_has_not_is_not_there(self, browser, ada, place):
        check = make_check(ada)

        assert browser.get(place_of(check, *place)).status_code == 404
        assert browser.get(f"{place_of(check, *place)}answer.txt").status_code == 404

    def test_one_leads_to_the_next_and_back(self, page, ada):
        check = make_check(ada, prompts=("One?", "Two?"), providers=("chatgpt", "perplexity"))

        html = page(place_of(check, 1, "perplexity"))

        assert f'href="{place_of(check, 1, "chatgpt")}" rel="prev"' in html
        assert f'href="{place_of(check, 2, "chatgpt")}" rel="next"' in html
        assert 'rel="prev"' not in page(place_of(check, 1, "chatgpt"))
        assert 'rel="next"' not in page(place_of(check, 2, "perplexity"))

    @pytest.mark.parametrize("number", [1, 12])
    def test_a_constant_number_of_queries(self, browser, ada, number, django_assert_num_queries):
        job = make_check(ada, prompts=tuple(f"Question {place}?" for place in range(number))).jobs.get(
            prompt__position=1
        )
        queue.complete(start_first(job), answer(TEXT, sources=SOURCES))

        with django_assert_num_queries(9):  # session, user, team, check; three of the board; the answer, its sources
            browser.get(place_of(job.of_check))


class TestWhomItNames:
    def test_they_are_told_in_the_order_in_which_they_are_named_and_marked_in_the_text(self, page, ada):
        job = make_job(user=ada)
        complete_one(job, "Contoso, **Northwind**; Contoso")

        html = page(place_of(job.of_check))

        told = words_of(html)
        assert "Named, in this order 1. Contoso competitor, 2 times 2. Northwind brand, once" in told
        assert html.count('<mark class="rival">Contoso</mark>') == 2
        assert "is not named" not in told

    def test_it_says_that_the_brand_is_not_named(self, page, ada):
        job = make_job(user=ada)
        complete_one(job, "Contoso leads.")

        assert "Northwind is not named." in words_of(page(place_of(job.of_check)))

    def test_nothing_is_said_of_an_answer_that_is_not_read_yet(self, page, ada):
        job = make_job(user=ada)
        queue.complete(claim_one(job), answer("Contoso leads."))

        assert "not named" not in page(place_of(job.of_check))

    def test_names_stay_as_they_were_when_it_was_asked(self, page, ada):
        job = make_job(user=ada)
        complete_one(job, "Northwind leads.")
        Brand.objects.update(name="Else", aliases=["leads"])

        html = page(place_of(job.of_check))

        assert '<mark class="own">Northwind</mark> leads.' in html


class TestWithinThePageOfItsCheck:
    def test_it_is_the_answer_alone_and_takes_the_focus(self, browser, ada):
        job = make_job(user=ada)
        complete_one(job)

        response = browser.get(place_of(job.of_check), headers=HTMX)

        html = response.content.decode()
        assert html.strip().startswith("<article")
        assert "autofocus" in html
        assert f'href="{place_of(job.of_check)}"' in html

    def test_the_address_stays_that_of_the_check(self, browser, ada):
        response = browser.get(place_of(make_check(ada)), headers=HTMX)

        assert response.headers["HX-Push-Url"] == "false"
        assert "HX-Request" in response.headers["Vary"]

    def test_a_cell_is_a_link_to_it(self, page, ada):
        job = make_job(user=ada)
        complete_one(job)

        assert 'href="answers/1/chatgpt/1/"' in page(path_of(job.of_check))

    def test_it_stands_outside_what_polling_puts_in(self, page, ada):
        job = make_check(ada, prompts=("One?", "Two?")).jobs.get(prompt__position=1)
        queue.complete(start_first(job), answer())

        assert '<section id="opened"' in page(path_of(job.of_check))
        assert "opened" not in page(path_of(job.of_check), **HTMX)


class TestPlainText:
    def test_it_is_what_came_with_the_addresses_of_its_sources(self, browser, ada):
        job = make_job(user=ada)
        complete_one(job, TEXT, sources=SOURCES)

        response = browser.get(f"{place_of(job.of_check)}answer.txt")

        assert response.headers["Content-Type"] == "text/plain; charset=utf-8"
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert response.content.decode() == (
            f"{TEXT}\n\n[1] Title A https://a.example/x\n[2] Title B https://www.b.example/\n"
        )


HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>[x](javascript:alert(1))\"'</div></article></main>"


class TestHostileText:
    @pytest.fixture
    def html(self, page, ada):
        sources = (
            Source("javascript:alert(1)", "javascript:alert(1)", HOSTILE, cited=True, spans=((0, 5),)),
            Source('https://a.example/"><script>alert(1)</script>', "https://a.example/", HOSTILE, cited=True),
        )
        job = make_job(user=ada, prompts=(HOSTILE,), brand=HOSTILE[:90])
        complete_one(job, HOSTILE, sources=sources, model=HOSTILE)
        return page(place_of(job.of_check))

    def test_it_is_shown_as_text(self, html):
        assert HOSTILE not in html
        assert words_of(html).count("<script>alert(1)</script>") >= 4

    def test_it_makes_no_tag_and_no_attribute(self, html):
        tags = Page(article(html)).tags

        assert not {"script", "img", "style"} & {tag for tag, _ in tags}
        assert not [name for _, attributes in tags for name in attributes if name.startswith("on") or name == "style"]

    def test_no_link_leads_into_a_script(self, html):
        targets = [link["href"] or "" for link in Page(article(html)).of("a")]

        assert not [target for target in targets if target.lower().startswith("javascript")]

    def test_the_parts_of_the_page_stay_balanced(self, html):
        for tag in ("main", "article", "div", "ol"):
            assert html.count(f"<{tag}") == html.count(f"</{tag}>")

    def test_a_failures_words_are_text_as_well(self, page, ada):
        job = make_job(user=ada)
        queue.fail(claim_one(job), error(HOSTILE[:60]))

        assert "<script>alert" not in page(place_of(job.of_check))


def article(html: str) -> str:
    """The answer in its page, without the tokens of forms, which change."""
    (found,) = re.findall(r"<article.*?</article>", html, re.DOTALL)
    return re.sub(r'csrfmiddlewaretoken" value="\w+"', "", found)


def words_of(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", html)).split())
