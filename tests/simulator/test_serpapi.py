"""SerpApi with its two engines as the simulator speaks it."""

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from simulator.app import App
from tests.simulator.conftest import PROMPT, SERPAPI, SERPAPI_KEY, Simulator, id_of, serving, start_call

SEARCH = "/serpapi/search.json"
SYNCHRONOUS: dict[str, Any] = {"async": None}
"""A word of Python's own cannot be written as an argument."""


def totals(simulator: Simulator, system: str) -> tuple[int, int, int]:
    counts = simulator.counts()
    return tuple(counts[kind][system]["total"] for kind in ("starts", "charges", "cached"))


def ask(simulator: Simulator, path: str = SEARCH, **params) -> httpx.Response:
    return simulator.http.get(path, params=SERPAPI_KEY | params)


# one search


@pytest.mark.parametrize("system", SERPAPI)
def test_an_async_search_is_processed_then_successful(simulator: Simulator, system: str):
    started = simulator.start(system).json()
    waiting = simulator.poll(started["search_metadata"]["id"], system).json()
    simulator.clock.time += 41
    ended = simulator.poll(started["search_metadata"]["id"], system).json()

    assert set(started) == {"search_metadata", "search_parameters"}
    assert set(started["search_metadata"]) == {"id", "status", "json_endpoint", "created_at"}
    assert waiting == started
    assert started["search_metadata"]["status"] == "Processing"
    assert ended["search_metadata"]["status"] == "Success"
    assert ended["search_metadata"]["total_time_taken"] >= 2
    assert ended["text_blocks"]


@pytest.mark.parametrize("system", SERPAPI)
def test_without_async_the_result_comes_after_its_latency(simulator: Simulator, system: str):
    body = simulator.start(system, **SYNCHRONOUS).json()

    assert body["search_metadata"]["status"] == "Success"
    assert body["text_blocks"]
    assert 2 <= (simulator.clock.slept[-1] or 0) <= 40


def test_the_endpoint_named_in_a_reply_is_the_one_to_poll(simulator: Simulator):
    metadata = simulator.start("copilot").json()["search_metadata"]

    reply = simulator.http.get(metadata["json_endpoint"], params=SERPAPI_KEY)

    assert reply.json()["search_metadata"]["id"] == metadata["id"]


def test_times_are_in_utc(simulator: Simulator):
    started = simulator.start("copilot").json()["search_metadata"]["created_at"]

    told = datetime.strptime(started, "%Y-%m-%d %H:%M:%S UTC").replace(tzinfo=UTC)
    assert abs(told.timestamp() - simulator.clock.time) < 2


def test_parameters_are_given_back_but_never_the_key(simulator: Simulator):
    copilot = simulator.start("copilot").json()["search_parameters"]
    google = simulator.start("google_ai", location="Berlin, Germany", device="mobile").json()["search_parameters"]

    assert copilot == {"engine": "bing_copilot", "q": PROMPT}
    assert google == {
        "engine": "google_ai_mode",
        "q": PROMPT,
        "hl": "de",
        "gl": "de",
        "location_requested": "Berlin, Germany",
        "location_used": "Berlin,Germany",
        "device": "mobile",
    }


# results


def entries(body):
    for block in body["text_blocks"]:
        yield block
        yield from block.get("list", [])


@pytest.mark.parametrize("system", SERPAPI)
@pytest.mark.parametrize("sample", range(6))
def test_more_pages_are_listed_than_sentences_rest_on(simulator: Simulator, system: str, sample: int):
    body = simulator.finish(system, prompt=f"Best headphones? Number {sample}")

    tied = {index for entry in entries(body) for index in entry.get("reference_indexes", [])}
    assert tied < {reference["index"] for reference in body["references"]}
    assert all({"link", "source"} <= set(reference) for reference in body["references"])


def test_copilot_leads_with_a_header_and_leaves_residue_of_its_marks(simulator: Simulator):
    body = simulator.finish("copilot", prompt="Best espresso machines for a cafe")

    tied = [entry["snippet"] for entry in entries(body) if entry.get("reference_indexes")]
    assert body["header"]
    assert body["search_information"] == {}
    assert any(text.endswith((" 1 .", " 2")) for text in tied)
    assert all(block["level"] == 3 for block in body["text_blocks"] if block["type"] == "heading")


def test_copilot_has_no_markdown_and_google_has(simulator: Simulator):
    copilot, google = simulator.finish("copilot"), simulator.finish("google_ai")

    assert "reconstructed_markdown" not in copilot
    text, _, listed = google["reconstructed_markdown"].partition("\n### References\n")
    assert "[0]" in text or "[1]" in text
    assert listed.count("https://www.google.com/goto?url=") == len(google["references"])


def test_some_results_have_a_table_in_the_engines_own_form(simulator: Simulator):
    tables = {}
    for system in SERPAPI:
        results = [simulator.finish(system, prompt=f"Best bikes? Number {number}") for number in range(12)]
        found = [[block for block in body["text_blocks"] if block["type"] == "table"] for body in results]
        assert [] in found
        tables[system] = next(blocks[0] for blocks in found if blocks)

    copilot, google = tables["copilot"], tables["google_ai"]
    assert len(copilot["headers"]) == len(copilot["table"][0])
    assert google["table"][0] == ["Name", "Known for"]
    assert len(google["detailed"]) == len(google["table"]) == len(google["formatted"]) + 1


def test_googles_links_come_translated_and_stuck_to_names(simulator: Simulator):
    bodies = [simulator.finish("google_ai", prompt=f"Is Acme Beans good coffee? {number}") for number in range(8)]

    texts = [json.dumps(body) for body in bodies]
    assert any("https://translate.google.com/translate?u=https://" in text for text in texts)
    assert any('"snippet_links": [{"text": "' in text for text in texts)


# the cache


@pytest.mark.parametrize("system", SERPAPI)
def test_an_identical_search_within_the_hour_is_the_same_one_and_free(simulator: Simulator, system: str):
    first = id_of(simulator.start(system))
    second = id_of(simulator.start(system))
    simulator.clock.time += 3_500
    third = simulator.start(system)

    assert first == second == id_of(third)
    assert third.json()["search_metadata"]["status"] == "Success"
    assert totals(simulator, system) == (3, 1, 2)


def test_after_an_hour_it_is_a_new_one(simulator: Simulator):
    first = id_of(simulator.start("copilot"))
    simulator.clock.time += 3_601

    assert id_of(simulator.start("copilot")) != first
    assert totals(simulator, "copilot") == (2, 2, 0)


@pytest.mark.parametrize("other", [{"q": "Another?"}, {"gl": "at"}, {"hl": "en"}, {"location": "Wien"}])
def test_any_other_parameter_is_another_search(simulator: Simulator, other):
    assert id_of(simulator.start("google_ai")) != id_of(simulator.start("google_ai", **other))


def test_another_account_has_a_cache_of_its_own(simulator: Simulator):
    assert id_of(simulator.start("copilot")) != id_of(simulator.start("copilot", api_key="another"))


def test_no_cache_asks_anew_and_not_with_async(simulator: Simulator):
    first = simulator.finish("copilot")
    fresh = simulator.start("copilot", **SYNCHRONOUS, no_cache="true").json()
    both = simulator.start("copilot", no_cache="true")

    assert fresh["search_metadata"]["id"] != first["search_metadata"]["id"]
    assert fresh["text_blocks"] != first["text_blocks"]
    assert both.status_code == 400


def test_a_search_whose_reply_was_lost_is_found_in_the_cache(simulator: Simulator):
    simulator.order({"system": "copilot", "call": "start", "do": {"drop": "after_accept"}})
    with pytest.raises(httpx.ReadError):
        simulator.start("copilot")

    assert simulator.start("copilot").status_code == 200
    assert totals(simulator, "copilot") == (2, 1, 1)


def test_what_a_script_ordered_is_in_no_cache(simulator: Simulator):
    simulator.order({"system": "copilot", "call": "start", "after": 1, "do": {"shape": "no_results"}})

    usual, ordered, again = (simulator.finished("copilot") for _ in range(3))

    assert "error" in ordered.json()
    assert again.json() == usual.json()


@pytest.mark.parametrize("shape", ["failed", "status_error"])
def test_a_search_that_fails_is_free(simulator: Simulator, shape: str):
    simulator.order({"system": "copilot", "call": "start", "do": {"shape": shape}})

    body = simulator.finish("copilot")

    assert body["search_metadata"]["status"] == "Error"
    assert body["error"]
    assert totals(simulator, "copilot") == (1, 0, 0)


def test_identical_searches_at_the_same_moment_are_one():
    app = App(speed=float("inf"))

    def start(url: str) -> str:
        with httpx.Client(base_url=url) as http:
            return id_of(http.request(**start_call("copilot")))

    with serving(app) as server, ThreadPoolExecutor(8) as pool:
        ids = set(pool.map(start, [server.url] * 16))

    assert len(ids) == 1
    assert app.store.counts(0.0)["charges"]["copilot"]["total"] == 1


# errors


@pytest.mark.parametrize("system", SERPAPI)
@pytest.mark.parametrize(
    ("fields", "status", "said"),
    [
        ({"q": None}, 400, "Missing query `q` parameter."),
        ({"q": " "}, 400, "Missing query `q` parameter."),
        ({"colour": "red"}, 400, "`colour`"),
        ({"q": "x" * 30_000, "colour": "red"}, 400, "`colour`"),
        ({"engine": "google_nope"}, 400, "Unsupported `google_nope` search engine."),
        ({"engine": None}, 400, "Unsupported `google` search engine."),
        ({"api_key": None}, 401, "Invalid API key"),
        ({"api_key": "invalid"}, 401, "Invalid API key"),
        ({"api_key": "invalid", "engine": "google_nope"}, 401, "Invalid API key"),
    ],
)
def test_a_bad_search_is_refused_and_not_charged(simulator: Simulator, system, fields, status, said):
    reply = simulator.start(system, **fields)

    assert reply.status_code == status
    assert list(reply.json()) == ["error"]
    assert said in reply.json()["error"]
    assert totals(simulator, system)[1] == 0


def test_copilot_takes_no_country_and_no_language(simulator: Simulator):
    assert [simulator.start("copilot", **{name: "de"}).status_code for name in ("gl", "hl")] == [400, 400]


def test_an_engine_that_is_not_there_is_a_start_of_nobody(simulator: Simulator):
    ask(simulator, engine="google_nope", q="a")

    assert [totals(simulator, system)[0] for system in SERPAPI] == [0, 0]


@pytest.mark.parametrize("system", SERPAPI)
def test_the_archive_takes_a_key_and_nothing_else(simulator: Simulator, system: str):
    call_id = id_of(simulator.start(system))
    path = f"/serpapi/searches/{call_id}.json"

    assert ask(simulator, path).status_code == 200
    assert ask(simulator, path, q=PROMPT).json() == {"error": "Unsupported `q` parameter."}
    assert simulator.http.get(path).status_code == 401
    assert ask(simulator, path, api_key="invalid").status_code == 401


@pytest.mark.parametrize("path", ["/serpapi/searches/none.json", "/serpapi/searches/none", "/serpapi/else"])
def test_what_is_not_there_is_404(simulator: Simulator, path: str):
    assert ask(simulator, path).status_code == 404


def test_an_expired_search_is_gone(simulator: Simulator):
    call_id = id_of(simulator.start("google_ai"))
    simulator.order({"system": "google_ai", "call": "poll", "do": {"shape": "expired"}})

    assert simulator.poll(call_id, "google_ai").status_code == 410


def test_a_poll_belongs_to_the_system_whose_search_it_is(simulator: Simulator):
    call_id = id_of(simulator.start("google_ai"))
    simulator.order({"system": "copilot", "call": "poll", "do": {"shape": "overloaded"}})

    assert simulator.poll(call_id, "google_ai").status_code == 200
    assert simulator.counts()["by_system"]["google_ai"]["polls"] == 1
    assert simulator.counts()["by_system"]["copilot"]["polls"] == 0


@pytest.mark.parametrize(
    ("shape", "said"), [("out_of_searches", "run out of searches"), ("throughput", "hourly throughput")]
)
def test_the_two_429s_differ_in_words_alone(simulator: Simulator, shape: str, said: str):
    simulator.order({"system": "copilot", "call": "start", "do": {"shape": shape}})

    reply = simulator.start("copilot")

    assert reply.status_code == 429
    assert said in reply.json()["error"]


def test_no_results_are_a_success_with_an_error(simulator: Simulator):
    simulator.order({"system": "google_ai", "call": "start", "do": {"shape": "no_results"}})

    body = simulator.finish("google_ai")

    assert body["search_metadata"]["status"] == "Success"
    assert body["error"] == "Google hasn't returned any results for this query."


# the account


def test_the_account_counts_the_searches_of_both_systems(simulator: Simulator):
    for system in SERPAPI:
        simulator.start(system)
        simulator.start(system)
    simulator.clock.time += 4_000
    simulator.start("copilot", prompt="Another?")

    account = ask(simulator, "/serpapi/account.json").json()

    assert (account["this_month_usage"], account["last_hour_searches"]) == (3, 1)
    assert account["plan_searches_left"] == account["searches_per_month"] - 3
    assert account["account_rate_limit_per_hour"] == 1_000


def test_the_account_wants_a_key_and_can_be_made_to_fail(simulator: Simulator):
    simulator.order({"call": "other", "do": {"shape": "html_502"}})

    assert simulator.http.get("/serpapi/account.json").status_code == 401
    assert [ask(simulator, "/serpapi/account.json").status_code for _ in range(2)] == [502, 200]
