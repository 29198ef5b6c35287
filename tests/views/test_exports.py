"""A check's answers and sources as files."""

from __future__ import annotations

import csv
import io
import json
import re
from urllib.parse import quote

import pytest

from capture import queue
from capture.providers.replies import Kind, Source
from capture.reports.answers import AT_ONCE
from tests.factories import (
    answer,
    claim,
    claim_one,
    complete_one,
    error,
    finish,
    make_check,
    make_job,
    unknown_error,
)
from tests.views.conftest import mixed_check, path_of

SOURCES = (
    Source("https://a.example/x", "https://a.example/x", "Title A", cited=True),
    Source("https://b.example/", "https://b.example/", "=HYPERLINK(1)"),
)


def text_of(browser, check, name: str) -> str:
    response = browser.get(f"{path_of(check)}{name}")
    assert response.status_code == 200
    assert response.streaming
    return b"".join(response.streaming_content).decode()


def rows_of(browser, check, name: str = "answers.csv") -> list[dict[str, str]]:
    text = text_of(browser, check, name)
    assert text.startswith("\ufeff")
    return list(csv.DictReader(io.StringIO(text[1:], newline="")))


class TestAnswers:
    def test_a_row_for_every_place_with_all_that_is_known(self, browser, ada):
        check = mixed_check(ada)

        answered, failed, waiting = rows_of(browser, check)

        assert answered | {"answered_at": "", "seconds": "", "asked_at": ""} == {
            "brand": "Northwind",
            "question_number": "1",
            "question": "Answered?",
            "system": "ChatGPT",
            "provider": "chatgpt",
            "sample": "1",
            "state": "answered",
            "reason": "",
            "why": "",
            "answer": "Northwind is liked by many.",
            "model": "gpt-test",
            "surface": "ChatGPT, asked through the OpenAI API",
            "simulated": "yes",
            "cached": "no",
            "answered_at": "",
            "seconds": "",
            "attempts": "1",
            "unknown_outcomes": "0",
            "cost_usd": "0.013",
            "sources_cited": "1",
            "sources_listed": "0",
            "country": "",
            "language": "",
            "asked_at": "",
            "check": str(check.uuid),
        }
        assert (failed["state"], failed["reason"], failed["why"], failed["answer"]) == (
            "failed",
            "invalid_api_key",
            "the key was refused",
            "",
        )
        assert (waiting["state"], waiting["answer"], waiting["answered_at"], waiting["cost_usd"]) == (
            "waiting",
            "",
            "",
            "0",
        )

    def test_times_are_the_teams_and_name_their_zone(self, browser, ada):
        job = make_job(user=ada)
        complete_one(job)
        job.team.time_zone = "Asia/Kolkata"
        job.team.save()

        (row,) = rows_of(browser, job.of_check)

        for name in ("asked_at", "answered_at"):
            assert re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\+05:30", row[name])

    def test_a_small_cost_is_written_out(self, browser, ada):
        job = make_job(user=ada)
        complete_one(job)
        job.of_check.captures.update(cost="0.000067")

        (row,) = rows_of(browser, job.of_check)

        assert row["cost_usd"] == "0.000067"

    def test_unknown_outcomes_are_told(self, browser, ada):
        job = make_job(user=ada)
        queue.fail(claim_one(job), unknown_error())

        (row,) = rows_of(browser, job.of_check)

        assert (row["unknown_outcomes"], row["cost_usd"], row["reason"]) == ("1", "0.02", "timeout")

    def test_an_answer_of_many_lines_is_one_cell(self, browser, ada):
        job = make_job(user=ada)
        complete_one(job, 'One,\n"two"; three\r\nשלום')

        (row,) = rows_of(browser, job.of_check)

        assert row["answer"] == 'One,\n"two"; three\r\nשלום'

    @pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(1)", "＝1", "\tx", "  =1", "\u200b=1"])
    def test_a_formula_is_text(self, browser, ada, text):
        job = make_job(user=ada, prompts=(f"{text}?",), brand=f"{text} Northwind")
        complete_one(job, text)

        (row,) = rows_of(browser, job.of_check)

        assert row["answer"] == f"'{text}"
        assert row["question"].startswith("'")
        assert row["brand"].startswith("'")


class TestSources:
    def test_a_row_for_each(self, browser, ada):
        job = make_job(user=ada)
        complete_one(job, sources=SOURCES)

        first, second = rows_of(browser, job.of_check, "sources.csv")

        assert (first["number"], first["cited"], first["domain"], first["title"], first["url"]) == (
            "1",
            "yes",
            "a.example",
            "Title A",
            "https://a.example/x",
        )
        assert (second["cited"], second["title"]) == ("no", "'=HYPERLINK(1)")
        assert first["question"] == "Which espresso machine is best?"

    def test_a_check_without_any_is_a_heading(self, browser, ada):
        assert text_of(browser, make_check(ada), "sources.csv").count("\r\n") == 1


class TestJson:
    def test_it_is_one_object_with_everything(self, browser, ada):
        job = make_job(user=ada)
        complete_one(job, "=1+1 “quoted”", sources=SOURCES)

        found = json.loads(text_of(browser, job.of_check, "answers.json"))

        assert found["check"]["brand"] == "Northwind"
        assert found["check"]["competitors"] == ["Contoso"]
        (answer,) = found["answers"]
        assert answer["answer"] == "=1+1 “quoted”"
        assert (answer["state"], answer["simulated"], answer["cached"], answer["cost_usd"]) == (
            "answered",
            True,
            False,
            0.013,
        )
        assert [source["cited"] for source in answer["sources"]] == [True, False]
        assert answer["sources"][1]["title"] == "=HYPERLINK(1)"

    def test_a_check_that_has_just_begun(self, browser, ada):
        (answer,) = json.loads(text_of(browser, make_check(ada), "answers.json"))["answers"]

        assert (answer["state"], answer["answered_at"], answer["sources"]) == ("waiting", None, [])


class TestFigures:
    @pytest.fixture
    def check(self, ada):
        check = make_check(ada, providers=("chatgpt", "perplexity"), prompts=("One?", "Two?", "Is Northwind good?"))
        for ticket in claim("openai"):
            finish(ticket, answer("Northwind, then Contoso." if ticket.question.text == "One?" else "Contoso."))
        for ticket in claim("perplexity"):
            queue.fail(ticket, error("invalid_api_key", kind=Kind.FATAL))
        return check

    def test_a_row_for_each_figure_of_each_system_and_of_all(self, browser, check):
        rows = rows_of(browser, check, "figures.csv")

        assert len(rows) == 2 * 3 * 5  # questions that name the brand and others; two systems and all; figures
        assert rows[0] == {
            "brand": "Northwind",
            "simulated": "yes",
            "branded_questions": "no",
            "system": "ChatGPT",
            "figure": "visibility",
            "hits": "1",
            "of": "2",
            "answers": "2",
            "percent": "50.0",
            "low_percent": "9.5",
            "high_percent": "90.5",
            "single_check": "yes",
            "mean": "",
            "left_out": "",
            "check": str(check.uuid),
        }
        assert (rows[4]["figure"], rows[4]["answers"], rows[4]["mean"], rows[4]["hits"]) == ("position", "1", "1.0", "")
        failed = next(row for row in rows if row["system"] == "Perplexity")
        assert (failed["answers"], failed["percent"], failed["left_out"]) == ("0", "", "2 failed")

    def test_a_row_for_each_site(self, browser, check):
        (row,) = rows_of(browser, check, "sites.csv")

        assert (row["domain"], row["kind"], row["systems"], row["hits"], row["of"]) == (
            "reviews.example",
            "other",
            "ChatGPT",
            "3",
            "3",
        )

    def test_json_has_both(self, browser, check):
        (part,) = json.loads(text_of(browser, check, "figures.json"))["parts"]

        assert part["simulated"] is True
        assert len(part["figures"]) == 2 * 3 * 5
        assert part["figures"][0]["percent"] == 50.0
        assert (part["figures"][4]["figure"], part["figures"][4]["mean"]) == ("position", 1.0)
        assert [site["domain"] for site in part["sites"]] == ["reviews.example"]

    def test_a_check_without_answers_is_a_heading(self, browser, ada):
        check = make_check(ada)

        assert text_of(browser, check, "figures.csv").count("\r\n") == 1
        assert text_of(browser, check, "sites.csv").count("\r\n") == 1
        assert json.loads(text_of(browser, check, "figures.json"))["parts"] == []


class TestFile:
    @pytest.mark.parametrize(
        ("name", "kind"),
        [
            ("answers.csv", "text/csv; charset=utf-8"),
            ("sources.csv", "text/csv; charset=utf-8"),
            ("figures.csv", "text/csv; charset=utf-8"),
            ("sites.csv", "text/csv; charset=utf-8"),
            ("figures.json", "application/json"),
            ("answers.json", "application/json"),
        ],
    )
    def test_it_is_a_download_with_a_name_that_tells_what_it_is(self, browser, ada, name, kind):
        check = make_check(ada, brand="Café Müller & Söhne")

        response = browser.get(f"{path_of(check)}{name}")

        disposition = response.headers["Content-Disposition"]
        assert disposition.startswith("attachment; ")
        assert quote("café-müller-söhne") in disposition
        assert re.search(rf"-20\d\d-\d\d-\d\d-{name}$", disposition)
        assert response.headers["Content-Type"] == kind
        assert "no-store" in response.headers["Cache-Control"]

    def test_a_name_of_symbols_alone_gets_one(self, browser, ada):
        check = make_check(ada)
        check.names["brand"]["name"] = "../../<>"
        check.save()

        disposition = browser.get(f"{path_of(check)}answers.csv").headers["Content-Disposition"]

        assert re.fullmatch(r'attachment; filename="check-[\d-]+-answers.csv"', disposition)

    def test_whoever_asks_for_its_headers_has_nothing_read(self, browser, ada, django_assert_max_num_queries):
        check = mixed_check(ada)

        with django_assert_max_num_queries(4):
            response = browser.head(f"{path_of(check)}answers.csv")

        assert response.headers["Content-Type"] == "text/csv; charset=utf-8"

    def test_a_large_check_is_read_a_few_answers_at_a_time(self, browser, ada, django_assert_num_queries):
        check = make_check(ada, prompts=tuple(f"Question {number}?" for number in range(2 * AT_ONCE + 1)))
        path = f"{path_of(check)}answers.csv"

        with django_assert_num_queries(4 + 3 + 3):  # session to check; the board; then the answers, of which are none
            rows = b"".join(browser.get(path).streaming_content).count(b"\r\n")

        assert rows == 2 * AT_ONCE + 2
