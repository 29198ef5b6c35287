"""Reading a script, and which calls its steps catch."""

import pytest

from simulator.script import SHAPES, Script, ScriptError, read_script

SYSTEMS = {"chatgpt": SHAPES, "perplexity": SHAPES, "gemini": (*SHAPES, "region", "quota_minute")}


def step(**fields):
    return {"system": "chatgpt", "call": "start", "do": {"delay_s": 1}} | fields


def script(*steps) -> Script:
    return Script(read_script(list(steps), SYSTEMS))


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ({}, "a JSON list"),
        ([1], "step 1: an object"),
        ([step(), step(call="stop")], "step 2: call: 'stop' is none of start, poll"),
        ([step(system="gpt")], "system: 'gpt' is none of chatgpt, perplexity"),
        ([step(when="now")], "unknown when"),
        ([step(times=-1)], "times: a whole number"),
        ([step(times=True)], "times: a whole number"),
        ([step(after=1.5)], "after: a whole number"),
        ([step(prompt_contains=1)], "prompt_contains is a string"),
        ([step(do=None)], "do: an object"),
        ([step(do={})], "exactly one of"),
        ([step(do={"delay_s": 1, "drop": "before_accept"})], "not drop, delay_s"),
        ([step(do={"explode": 1})], "unknown explode"),
        ([step(do={"drop": "later"})], "'later' is none of before_accept, after_accept"),
        ([step(do={"delay_s": -1})], "a number from 0 up"),
        ([step(do={"delay_s": float("nan")})], "a number from 0 up"),
        ([step(do={"trickle": 0})], "a number above 0"),
        ([step(do={"cut_body": "3"})], "a whole number"),
        ([step(do={"finish_as": "done"})], "finish_as: an object"),
        ([step(do={"shape": "odd"})], "'odd' is none of"),
        ([step(do={"shape": ["odd"]})], "is none of"),
        ([step(do={"shape": "failed", "wait_s": 1})], "wait_s goes with"),
        ([step(do={"shape": "region"})], "'region' is none of"),
        ([{"call": "start", "do": {"shape": "region"}}], "'region' is none of"),
        ([step(call="redirect", do={"pending_for_s": 1})], "no call is there"),
        ([step(call="other", do={"shape": "failed"})], "no call is there"),
        ([step(call="other", do={"finish_as": {}})], "no call is there"),
        ([step(do={"respond": {"status": 99}})], "a number from 200 to 599"),
        ([step(do={"respond": {"status": 429, "headers": {"a": 1}}})], "an object of strings"),
        ([step(do={"respond": {"status": 429, "headers": {"a": "b\r\nc"}}})], "no line breaks"),
        ([step(do={"respond": {"code": 429}})], "unknown code"),
    ],
)
def test_a_mistake_is_named_with_its_place(raw, said):
    with pytest.raises(ScriptError) as caught:
        read_script(raw, SYSTEMS)

    assert said in str(caught.value)


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_can_be_ordered(shape: str):
    assert script(step(do={"shape": shape})).take("chatgpt", "start", "p").shape == shape


def test_a_systems_own_shapes_can_be_ordered_for_it():
    ordered = script(step(system="gemini", do={"shape": "quota_minute", "wait_s": 34.4}))

    do = ordered.take("gemini", "start", "p")

    assert (do.shape, do.wait_s) == ("quota_minute", 34.4)


def test_a_step_catches_once_by_default():
    ordered = script(step())

    assert [ordered.take("chatgpt", "start", "p").delay_s for _ in range(3)] == [1, 0, 0]


def test_after_skips_and_times_repeats():
    ordered = script(step(after=1, times=2))

    assert [ordered.take("chatgpt", "start", "p").delay_s for _ in range(4)] == [0, 1, 1, 0]


def test_null_times_goes_on():
    ordered = script(step(times=None))

    assert all(ordered.take("chatgpt", "start", "p").delay_s for _ in range(50))


def test_only_calls_that_fit_are_caught():
    ordered = script(step(prompt_contains="espresso"))

    missed = [("perplexity", "start", "espresso"), ("chatgpt", "poll", "espresso"), ("chatgpt", "start", "tea")]
    assert [ordered.take(*call).delay_s for call in missed] == [0, 0, 0]
    assert ordered.take("chatgpt", "start", "an espresso").delay_s == 1


def test_a_step_without_a_system_catches_any():
    raw = step(times=2)
    del raw["system"]
    ordered = script(raw)

    assert [ordered.take(system, "start", "p").delay_s for system in SYSTEMS] == [1, 1, 0]


def test_a_skipping_step_lets_the_next_one_catch():
    ordered = script(step(after=1), step(do={"delay_s": 2}))

    assert [ordered.take("chatgpt", "start", "p").delay_s for _ in range(2)] == [2, 1]
