"""What outlives the process."""

from pathlib import Path
from typing import Any

import pytest

from simulator.calls import Call
from simulator.journal import Journal, JournalError
from simulator.store import Store
from tests.simulator.conftest import FORMS, Simulator, id_of, simulating

SYSTEMS = tuple(FORMS)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state.jsonl"


def kept(path: Path):
    return simulating(store=Store(SYSTEMS, Journal(path)))


def use(simulator: Simulator) -> tuple[dict[tuple[str, str], Any], dict[str, Any]]:
    simulator.order({"call": "start", "after": 2, "do": {"pending_for_s": None}})
    bodies: dict[tuple[str, str], Any] = {}
    for system in ("chatgpt", *SYSTEMS, "copilot"):
        bodies[system, id_of(simulator.start(system))] = None
    simulator.start(prompt="cancel me")
    simulator.clock.time += 41
    for system, call_id in bodies:
        bodies[system, call_id] = simulator.poll(call_id, system).json()
    return bodies, simulator.counts()


def test_calls_answers_and_counts_survive_a_restart(path: Path):
    with kept(path) as first:
        bodies, counts = use(first)

    with kept(path) as second:
        second.clock.time = first.clock.time
        assert second.counts() == counts
        again = {key: second.poll(key[1], key[0]).json() for key in bodies}
        assert comparable(second, again) == comparable(first, bodies)


def comparable(simulator: Simulator, bodies: Any) -> str:
    """Some bodies name the address under which they were asked for."""
    return str(bodies).replace(simulator.server.url, "here")


def test_answers_do_not_change_with_another_seed(path: Path):
    with kept(path) as first:
        body = first.finish()

    with simulating(seed=99, store=Store(SYSTEMS, Journal(path))) as second:
        second.clock.time = first.clock.time
        assert second.poll(body["id"]).json() == body


def test_changes_and_deletions_survive_too(path: Path):
    with kept(path) as first:
        gone, cancelled = (first.start().json()["id"] for _ in range(2))
        first.http.delete(f"/openai/v1/responses/{gone}", headers={"authorization": "Bearer x"})
        first.http.post(f"/openai/v1/responses/{cancelled}/cancel", headers={"authorization": "Bearer x"})

    with kept(path) as second:
        assert second.poll(gone).status_code == 404
        assert second.poll(cancelled).json()["status"] == "cancelled"
        assert second.counts()["in_hand"] == 0


def test_the_next_sample_is_counted_on(path: Path):
    with simulating() as other:
        expected = [other.finish()["output"][-1]["content"] for _ in range(2)]

    with kept(path) as first:
        one = first.finish()["output"][-1]["content"]
    with kept(path) as second:
        two = second.finish()["output"][-1]["content"]

    assert [one, two] == expected


def test_the_cache_survives_too(path: Path):
    with kept(path) as first:
        call_id = id_of(first.start("copilot"))

    with kept(path) as second:
        second.clock.time = first.clock.time
        assert id_of(second.start("copilot")) == call_id
        assert second.counts()["cached"]["copilot"]["total"] == 1


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_kill_in_the_middle_of_any_write_loses_that_write_alone(path: Path, system: str):
    with kept(path) as simulator:
        first = id_of(simulator.start(system, prompt="first"))
        whole = path.read_bytes()
        second = id_of(simulator.start(system, prompt="second"))
    told, accepted, empty = path.read_bytes()[len(whole) :].split(b"\n")

    assert empty == b""
    for length in range(0, len(accepted) + 1, 7):
        path.write_bytes(whole + told + b"\n" + accepted[:length])
        store = Store(SYSTEMS, Journal(path))
        store.close()
        assert (store.find(first) is None, store.find(second) is None) == (False, True)
        counts = store.counts(0.0)
        assert (counts["starts"][system]["total"], counts["charges"][system]["total"]) == (2, 1)
        assert path.read_bytes() == whole + told + b"\n"


def test_a_torn_last_line_is_cut_off_and_the_file_goes_on(path: Path):
    with kept(path) as first:
        call_id = first.start().json()["id"]
    with path.open("ab") as file:
        file.write(b'{"event":"poll","sys')

    with kept(path) as second:
        assert second.poll(call_id).status_code == 200
    with kept(path) as third:
        assert third.counts()["polls"] == 1


def test_a_file_torn_in_its_only_line_is_empty(path: Path):
    path.write_bytes(b'{"event":')

    store = Store(SYSTEMS, Journal(path))
    store.close()

    assert store.counts(0.0)["polls"] == 0
    assert path.read_bytes() == b""


@pytest.mark.parametrize("line", [b"not json\n", b"[]\n", b"{}\n"])
def test_a_damaged_line_is_named(path: Path, line: bytes):
    path.write_bytes(b'{"event":"poll","system":"chatgpt"}\n' + line)
    journal = Journal(path)

    with pytest.raises(JournalError, match="line 2"):
        Store(SYSTEMS, journal)

    journal.close()


def test_no_key_is_written(path: Path):
    with kept(path) as simulator:
        for system in SYSTEMS:
            simulator.finish(system)

    assert b"simulated" not in path.read_bytes()


def test_a_reset_empties_the_file(path: Path):
    with kept(path) as first:
        first.finish()
        first.http.post("/__control__/reset")
        assert path.read_bytes() == b""
        call_id = first.start().json()["id"]

    with kept(path) as second:
        assert second.poll(call_id).status_code == 200


def test_a_change_to_an_unknown_call_is_nothing():
    store = Store(SYSTEMS)

    store.change("resp_unknown", due_at=1.0)
    store.delete("resp_unknown")

    assert store.find("resp_unknown") is None


def test_a_call_held_up_again_and_again_is_in_hand_once():
    store = Store(SYSTEMS)
    call = store.accept(lambda sample: Call("c", "chatgpt", "p", {}, 0, sample, 0.0, 10.0), None, "k", "chatgpt", "p")

    store.change(call.id, due_at=20.0)
    store.change(call.id, due_at=30.0)

    assert [store.counts(now)["in_hand"] for now in (15.0, 25.0, 30.0)] == [1, 1, 0]
