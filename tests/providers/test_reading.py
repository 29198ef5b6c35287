"""Whatever comes from outside is read, or turned down in one way."""

from __future__ import annotations

from decimal import Decimal

import pytest

from capture.providers.reading import count_of, dollars_of, list_of, mapping_of, mappings_of, read_object, text_of
from capture.providers.replies import Kind, ProviderError

BROKEN = {
    "nothing": b"",
    "blanks": b" \n",
    "a web page": b"<!DOCTYPE html><html></html>",
    "cut off": b'{"status": "comp',
    "a list": b"[1, 2]",
    "a list of one object": b'[{"status": "completed"}]',
    "a number": b"7",
    "nested too deeply": b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "an absurdly long number": b'{"a": ' + b"9" * 5_000 + b"}",
    "random bytes": bytes(range(256)),
}


@pytest.mark.parametrize("body", BROKEN.values(), ids=BROKEN.keys())
def test_a_body_that_is_no_object_cannot_be_read(body):
    with pytest.raises(ProviderError) as caught:
        read_object(body, 200)

    assert (caught.value.kind, caught.value.reason) == (Kind.TRANSIENT, "unreadable")


@pytest.mark.parametrize(("status", "maybe"), [(200, True), (202, True), (299, True), (0, False), (500, False)])
def test_only_a_success_that_cannot_be_read_may_have_been_charged(status, maybe):
    with pytest.raises(ProviderError) as caught:
        read_object(b"", status)

    assert caught.value.maybe_charged is maybe


@pytest.mark.parametrize(
    ("body", "document"),
    [
        (b'\xef\xbb\xbf{"a": 1}', {"a": 1}),
        (b'{"a": "\xff"}', {"a": "\ufffd"}),
        (b'[{"error": {"code": 1}}]', {"error": {"code": 1}}),
    ],
)
def test_an_object_is_read_in_spite_of_small_faults(body, document):
    assert read_object(body, 200) == document


def test_getters_survive_missing_and_wrong_fields():
    odd = {"key": 7, "items": ["a", {"b": 1}, None]}

    assert text_of(odd, "key") == text_of(odd, "none") == ""
    assert list_of(odd, "key") == []
    assert mapping_of(odd, "key") == {}
    assert mappings_of(odd, "items") == [{"b": 1}]


@pytest.mark.parametrize("value", [True, -1, 1.5, float("nan"), float("inf"), 10**30, "7", None, []])
def test_what_is_no_count_is_none(value):
    assert count_of({"key": value}, "key") is None


@pytest.mark.parametrize("value", [True, -0.1, float("nan"), float("inf"), 10**400, 1e6, "0.1", None, {}])
def test_what_is_no_amount_is_none(value):
    assert dollars_of({"key": value}, "key") is None


@pytest.mark.parametrize(("value", "amount"), [(0, "0"), (0.1, "0.1"), (2e-05, "0.00002")])
def test_an_amount_is_exact(value, amount):
    assert dollars_of({"key": value}, "key") == Decimal(amount)
