"""Counting, and what else `/__control__/` does."""

import pytest

from tests.simulator.conftest import KEY, Simulator, chatgpt_form


def test_starts_and_charges_are_counted_by_system_prompt_run_and_key(simulator: Simulator):
    simulator.start(prompt="a", metadata={"run": "r1"})
    simulator.start(prompt="a", metadata={"run": 2})
    simulator.start(prompt="b", metadata={})
    simulator.start("perplexity", prompt="b")

    counts = simulator.counts()

    started = counts["starts"]["chatgpt"]
    assert (started["total"], started["by_prompt"], started["by_run"]) == (3, {"a": 2, "b": 1}, {"r1": 1, "2": 1})
    assert list(started["by_key"].values()) == [3]
    assert counts["charges"]["chatgpt"] == started
    assert counts["charges"]["perplexity"]["total"] == 1


def test_no_key_is_ever_shown(simulator: Simulator):
    path, body = chatgpt_form("a")
    simulator.http.post(path, json=body, headers={"authorization": "Bearer sk-very-secret"})

    assert "secret" not in str(simulator.counts())


def test_a_refused_start_is_counted_but_not_charged(simulator: Simulator):
    path, body = chatgpt_form("a")
    simulator.http.post(path, json=body, headers={"authorization": "Bearer invalid"})

    counts = simulator.counts()

    assert counts["starts"]["chatgpt"]["by_prompt"] == {"a": 1}
    assert counts["charges"]["chatgpt"]["total"] == 0


def test_calls_in_hand_are_told_now_and_at_most(simulator: Simulator):
    for system in ("chatgpt", "chatgpt", "perplexity"):
        simulator.start(system)
    at_once = simulator.counts()
    simulator.clock.time += 41
    simulator.start()

    later = simulator.counts()

    assert (at_once["in_hand"], at_once["max_in_hand"]) == (3, 3)
    assert (later["in_hand"], later["max_in_hand"]) == (1, 3)
    assert later["by_system"]["chatgpt"] == {"in_hand": 1, "max_in_hand": 2, "polls": 0}


def test_polls_are_counted(simulator: Simulator):
    simulator.finish()
    simulator.poll("resp_unknown")

    assert simulator.counts()["polls"] == 2


def test_answers_from_a_cache_are_starts_and_no_charges(simulator: Simulator):
    for _ in range(2):
        simulator.start("copilot", prompt="a")

    counts = simulator.counts()

    assert counts["starts"]["copilot"]["by_prompt"] == {"a": 2}
    assert counts["charges"]["copilot"]["by_prompt"] == counts["cached"]["copilot"]["by_prompt"] == {"a": 1}
    assert counts["in_hand"] == 1


def test_samples_of_one_prompt_differ_and_a_reset_starts_them_anew(simulator: Simulator):
    first, second = simulator.finish()["output"][-1], simulator.finish()["output"][-1]
    simulator.http.post("/__control__/reset")

    again = simulator.finish()["output"][-1]

    assert first["content"] != second["content"]
    assert again["content"] == first["content"]


def test_a_reset_forgets_calls_counts_and_script(simulator: Simulator):
    call_id = simulator.start().json()["id"]
    simulator.order({"call": "start", "times": None, "do": {"shape": "no_money"}})

    assert simulator.http.post("/__control__/reset").json() == {"ok": True}

    counts = simulator.counts()
    assert (counts["starts"]["chatgpt"]["total"], counts["in_hand"], counts["max_in_hand"]) == (0, 0, 0)
    assert simulator.poll(call_id).status_code == 404
    assert simulator.start().status_code == 200


def test_the_script_is_shown_with_what_is_left_and_can_be_dropped(simulator: Simulator):
    simulator.order({"call": "start", "times": 3, "do": {"shape": "no_money"}})
    simulator.start()

    shown = simulator.http.get("/__control__/script").json()

    assert shown == [{"call": "start", "times": 2, "after": 0, "do": {"shape": "no_money"}}]
    assert simulator.http.delete("/__control__/script").json() == []
    assert simulator.start().status_code == 200


@pytest.mark.parametrize(
    ("content", "said"), [(b"[", "not JSON"), (b'[{"call": "start"}]', "step 1: do"), (b"7", "list")]
)
def test_a_bad_script_is_400_with_a_reason_and_changes_nothing(simulator: Simulator, content, said):
    reply = simulator.http.post("/__control__/script", content=content)

    assert reply.status_code == 400
    assert said in reply.json()["error"]
    assert simulator.http.get("/__control__/script").json() == []


def test_unknown_control_paths_name_the_known_ones(simulator: Simulator):
    reply = simulator.http.get("/__control__/count", headers=KEY)

    assert reply.status_code == 404
    assert "GET counts" in reply.json()["error"]
