"""The state machine, one arrow at a time, on PostgreSQL."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from uuid import UUID

import pytest
from django.db import DatabaseError, IntegrityError, connection, transaction

from capture import queue
from capture.models import Attempt, AttemptOutcome, Brand, Capture, CaptureJob, Charge, Check, Lane, Outcome, Status
from capture.models.clock import ClockTimestamp
from capture.providers.replies import Basis, Blocked, Cost, Empty, Incomplete, Kind, Refused, Source
from tests.factories import (
    ACCOUNT,
    WORKER,
    answer,
    claim,
    claim_one,
    complete_one,
    error,
    fresh,
    hand_back,
    make_check,
    make_job,
    make_order,
    make_team,
    make_user,
    prompts,
    stranger,
    unknown_error,
)
from tests.lost_workers import only_claim

pytestmark = pytest.mark.django_db

ESTIMATES = {"chatgpt": Decimal("0.02"), "perplexity": Decimal("0.01")}


def make_due(job: CaptureJob) -> None:
    CaptureJob.objects.filter(pk=job.pk).update(run_after=ClockTimestamp() - timedelta(seconds=1))


# ------------------------------------------------------------------------------------------------------- enqueue


def test_a_check_is_prompts_times_systems_times_samples():
    check = make_check(prompts=("a?", "b?", "c?"), providers=("chatgpt", "perplexity"), samples=2)

    places = set(check.jobs.values_list("prompt__position", "provider", "sample"))

    assert len(places) == check.jobs.count() == 12
    assert set(check.jobs.values_list("status", flat=True)) == {Status.PENDING}


def test_the_same_form_sent_twice_is_one_check():
    user = make_user()
    team = make_team(user)
    order = make_order(nonce="n", prompts=("a?", "b?"))

    first, new = queue.enqueue(order, team, user, ESTIMATES)
    second, new_again = queue.enqueue(order, team, user, ESTIMATES)

    assert (new, new_again) == (True, False)
    assert first == second
    assert CaptureJob.objects.count() == 2


def test_a_form_that_was_edited_and_sent_again_is_another_check():
    user = make_user()

    first = make_check(user, nonce="n", prompts=("a?",))
    second = make_check(user, nonce="n", prompts=("b?",))

    assert first != second


def test_two_teams_may_send_the_same_form():
    assert make_check(nonce="n") != make_check(nonce="n")


def test_fault_33_names_are_frozen_in_the_check():
    check = make_check(brand="Northwind", competitors=("Contoso", "Fabrikam"))

    check.brand.name = "Southwind"
    check.brand.save()

    asked = Check.objects.get(pk=check.pk).names
    assert asked["brand"]["name"] == "Northwind"
    assert [competitor["name"] for competitor in asked["competitors"]] == ["Contoso", "Fabrikam"]


def test_brands_and_competitors_are_remembered_in_any_case():
    user = make_user()

    first = make_check(user, brand="Northwind", competitors=("Contoso",))
    second = make_check(user, brand="northwind", competitors=("CONTOSO", "Fabrikam"))

    assert first.brand == second.brand
    assert first.brand.competitors.count() == 2


@pytest.mark.parametrize(
    ("name", "again"), [("İstanbul Co", "istanbul co"), ("Kelvin", "kelvin"), ("Straße", "STRASSE"), ("ÇA", "ça")]
)
def test_a_name_that_python_and_postgresql_fold_otherwise_can_be_asked_again(name, again):
    user = make_user()

    make_check(user, brand=name, competitors=("İzmir", "izmir"))
    make_check(user, brand=again, competitors=("izmir", "IZMIR"))

    assert CaptureJob.objects.count() == 2


def test_one_question_has_one_key_over_checks():
    one = make_job(prompts=("Which  espresso machine?",), country="DE")
    same = make_job(prompts=("which espresso machine?",), country="DE")
    elsewhere = make_job(prompts=("which espresso machine?",), country="FR")

    assert one.prompt.key == same.prompt.key != elsewhere.prompt.key


def test_a_prompt_that_names_the_brand_is_branded():
    check = make_check(brand="Gap", prompts=("Is GAP any good?", "Mind the gaps?"))

    assert list(check.prompts.order_by("position").values_list("branded", flat=True)) == [True, False]


def test_a_prompt_that_names_the_brand_by_another_name_is_branded():
    user = make_user()
    make_check(user, brand="Gap")
    Brand.objects.update(aliases=["Gap Inc"], match_case=True)

    check = make_check(user, brand="Gap", prompts=("Is Gap Inc good?", "Mind the gap?"))

    assert list(check.prompts.order_by("position").values_list("branded", flat=True)) == [True, False]


# --------------------------------------------------------------------------------------------------------- claim


def test_claim_takes_no_more_than_there_are_seats():
    make_check(prompts=tuple(f"{number}?" for number in range(5)))

    assert len(claim(seats=3)) == 3
    assert CaptureJob.objects.held().count() == 3


def test_claim_goes_by_turn_then_number():
    jobs = list(make_check(prompts=("a?", "b?", "c?")).jobs.order_by("pk"))
    CaptureJob.objects.filter(pk=jobs[0].pk).update(turn=5)

    order = [ticket.job for ticket in claim()]

    assert order == [jobs[1].pk, jobs[2].pk, jobs[0].pk]


def test_claim_takes_only_what_this_worker_can_ask():
    make_job()

    assert claim(slugs=["perplexity"]) == []


def test_claim_keeps_to_the_limit_of_the_lane():
    make_check(prompts=tuple(f"{number}?" for number in range(5)))
    Lane.objects.filter(name="openai").update(limit=3)

    assert len(claim()) == 3
    assert claim() == []


def test_a_paused_lane_starts_nothing_and_looks_after_its_calls():
    job = make_job()
    queue.wait(claim_one(job), "resp_1", 0)
    make_job()
    Lane.objects.filter(name="openai").update(paused=True)

    assert [ticket.job for ticket in claim()] == [job.pk]


def test_a_call_that_is_due_is_polled_even_in_a_full_lane_and_before_anything_new():
    job = make_job()
    queue.wait(claim_one(job), "resp_1", 0)
    make_job()
    Lane.objects.filter(name="openai").update(limit=1)

    tickets = claim()

    assert [ticket.remote_id for ticket in tickets] == ["resp_1"]


def test_a_call_that_is_not_due_is_left_alone():
    queue.wait(claim_one(make_job()), "resp_1", 60)

    assert claim() == []


def test_calls_that_take_long_hold_no_place():
    job = make_job()
    queue.wait(claim_one(job), "resp_1", 600)
    newcomer = make_job()
    Lane.objects.filter(name="openai").update(limit=1)
    assert claim() == []

    CaptureJob.objects.filter(pk=job.pk).update(asked_at=ClockTimestamp() - timedelta(minutes=31))

    assert [ticket.job for ticket in claim()] == [newcomer.pk]


def test_a_ticket_says_what_is_asked():
    job = make_job(prompts=("Quelle machine?",), country="FR", language="fr")

    ticket = claim_one(job)

    assert ticket.question.text == "Quelle machine?"
    assert (ticket.question.country, ticket.question.language) == ("FR", "fr")
    assert ticket.question.run == str(ticket.attempt)
    assert ticket.attempts == 1


# -------------------------------------------------------------------------------------------------- while it is held


def test_start_commits_the_intent_before_anything_is_sent():
    job = make_job()

    claim_one(job)

    assert fresh(job).status == Status.RUNNING
    attempt = Attempt.objects.get(job=job)
    assert (attempt.number, attempt.outcome, attempt.worker) == (1, AttemptOutcome.OPEN, WORKER)
    assert (attempt.base_url, attempt.simulated) == (ACCOUNT.base_url, True)


def test_wait_stores_the_id_and_frees_the_job():
    job = make_job()
    ticket = claim_one(job)

    queue.wait(ticket, "resp_1", 2)

    job = fresh(job)
    assert (job.status, job.remote_id, job.worker, job.claim_token) == (Status.WAITING, "resp_1", None, None)
    assert Attempt.objects.get(job=job).remote_id == "resp_1"


def test_a_poll_carries_on_the_same_attempt():
    job = make_job()
    started = claim_one(job)
    queue.wait(started, "resp_1", 0)

    poll = claim_one(job)

    assert (poll.attempt, poll.remote_id, poll.attempts, poll.polls) == (started.attempt, "resp_1", 1, 1)
    assert poll.base_url == ACCOUNT.base_url
    assert poll.token != started.token


def test_complete_keeps_the_answer_its_sources_and_its_cost():
    job = make_job()

    queue.complete(claim_one(job), answer("Northwind."))

    capture = Capture.objects.get(prompt=job.prompt)
    assert fresh(job).status == Status.DONE
    assert (capture.outcome, capture.text, capture.model) == (Outcome.ANSWERED, "Northwind.", "gpt-test")
    assert capture.surface == "ChatGPT, asked through the OpenAI API"
    assert (capture.simulated, capture.attempts, capture.cost) == (True, 1, Decimal("0.013"))
    assert list(capture.sources.values_list("domain", "cited")) == [("reviews.example", True)]
    assert Charge.objects.get().amount == Decimal("0.013")
    assert Attempt.objects.get().outcome == AttemptOutcome.REPLIED


@pytest.mark.parametrize(
    ("reply", "outcome", "reason", "text"),
    [
        (Refused(text="I would rather not."), Outcome.REFUSED, "", "I would rather not."),
        (Blocked(reason="SAFETY"), Outcome.BLOCKED, "SAFETY", ""),
        (Incomplete(reason="max_output_tokens", text="Half an"), Outcome.INCOMPLETE, "max_output_tokens", "Half an"),
        (Empty(reason="no_text"), Outcome.EMPTY, "no_text", ""),
    ],
)
def test_no_answer_is_told_apart_from_an_answer(reply, outcome, reason, text):
    job = make_job()

    queue.complete(claim_one(job), reply)

    capture = Capture.objects.get(prompt=job.prompt)
    assert (capture.outcome, capture.reason, capture.text) == (outcome, reason, text)
    assert fresh(job).status == Status.DONE


def test_a_reply_that_names_no_money_counts_at_its_estimate():
    queue.complete(claim_one(make_job()), answer(cost=None))

    charge = Charge.objects.get()
    assert (charge.amount, charge.basis) == (Decimal("0.02"), Basis.ESTIMATED)


def test_an_error_puts_the_job_off_and_keeps_its_attempt():
    job = make_job()

    queue.ask_again(claim_one(job), error("overloaded"), 30)

    job = fresh(job)
    assert (job.status, job.reason, job.attempts, job.unknowns) == (Status.PENDING, "overloaded", 1, 0)
    assert Attempt.objects.get(job=job).outcome == AttemptOutcome.ERROR
    assert Charge.objects.get().amount == 0
    assert claim() == []


def test_a_job_is_claimed_again_once_its_time_has_come():
    job = make_job()
    queue.ask_again(claim_one(job), error(), 30)
    assert queue.promote_due() == 0

    make_due(job)

    assert queue.promote_due() == 1
    assert claim_one(job).attempts == 2


def test_an_unknown_outcome_counts_as_a_charge_at_its_estimate():
    job = make_job()

    queue.ask_again(claim_one(job), unknown_error(), 1)

    assert fresh(job).unknowns == 1
    assert Attempt.objects.get(job=job).outcome == AttemptOutcome.UNKNOWN
    charge = Charge.objects.get()
    assert (charge.amount, charge.basis, charge.simulated) == (Decimal("0.02"), Basis.ESTIMATED, True)


def test_a_failed_job_says_why_for_good():
    job = make_job()

    queue.fail(claim_one(job), error("invalid_api_key", kind=Kind.FATAL))

    capture = Capture.objects.get(prompt=job.prompt)
    assert fresh(job).status == Status.FAILED
    assert (capture.outcome, capture.reason, capture.text) == (Outcome.FAILED, "invalid_api_key", "")
    assert capture.detail == "something went wrong"


def test_a_call_given_up_while_live_keeps_its_id_and_is_charged_at_its_estimate():
    job = make_job()
    queue.wait(claim_one(job), "resp_1", 0)

    queue.fail(claim_one(job), error("remote_deadline"), live=True)

    assert fresh(job).remote_id == "resp_1"
    assert Charge.objects.get().basis == Basis.ESTIMATED
    assert Attempt.objects.get(job=job).ended_at is None


def test_a_poll_that_is_handed_back_is_due_again():
    job = make_job()
    queue.wait(claim_one(job), "resp_1", 0)

    queue.release(claim_one(job))

    assert fresh(job).status == Status.WAITING
    assert claim_one(job).remote_id == "resp_1"


def test_a_job_that_is_being_sent_is_no_stray():
    job = make_job()
    ticket = claim_one(job)

    assert queue.release_strays(WORKER, [ticket.token]) == 0
    assert fresh(job).status == Status.RUNNING


def test_fault_34_a_start_that_was_committed_and_not_sent_is_taken_back():
    job = make_job()
    queue.ask_again(claim_one(job), error(), 0)
    queue.promote_due()
    claim_one(job)

    assert queue.release_strays(WORKER, []) == 1

    assert (fresh(job).status, fresh(job).attempts, fresh(job).worker) == (Status.PENDING, 1, None)
    assert Attempt.objects.get().outcome == AttemptOutcome.ERROR
    assert claim_one(job).attempts == 2


def test_fault_34_claims_that_the_worker_does_not_know_are_handed_back():
    known, stray = make_job(), make_job(providers=("perplexity",))
    held = claim_one(known)
    claim_one(stray)

    assert queue.release_strays(WORKER, [held.token]) == 1
    assert fresh(known).status == Status.RUNNING
    assert fresh(stray).status == Status.PENDING


# ----------------------------------------------------------------------------------- who no longer holds the job


TRANSITIONS = {
    "wait": lambda ticket: queue.wait(ticket, "resp_2", 1),
    "complete": lambda ticket: queue.complete(ticket, answer("late")),
    "ask_again": lambda ticket: queue.ask_again(ticket, error(), 1),
    "fail": lambda ticket: queue.fail(ticket, error()),
    "release": lambda ticket: queue.release(ticket),
}


@pytest.mark.parametrize("name", [name for name in TRANSITIONS if name != "complete"])
def test_fault_3_a_worker_that_lost_its_job_cannot_change_it(name):
    job = make_job()
    stale = claim_one(job)
    hand_back()
    successor = claim_one(job)

    moved = TRANSITIONS[name](stale)

    job = fresh(job)
    assert not moved
    assert (job.status, job.claim_token) == (Status.RUNNING, successor.token)
    assert not Capture.objects.exists()
    assert not Charge.objects.exists()


@pytest.mark.parametrize("name", ["wait", "complete", "ask_again", "fail"])
def test_fault_34_a_transition_whose_commit_was_not_heard_of_can_be_repeated(name):
    job = make_job()
    ticket = claim_one(job)

    assert TRANSITIONS[name](ticket)
    before = CaptureJob.objects.values().get(pk=job.pk), list(Attempt.objects.values()), list(Capture.objects.values())
    assert TRANSITIONS[name](ticket)

    after = CaptureJob.objects.values().get(pk=job.pk), list(Attempt.objects.values()), list(Capture.objects.values())
    assert after == before
    assert Charge.objects.count() <= 1


def test_fault_34_a_release_whose_commit_was_not_heard_of_can_be_repeated():
    called = make_job()
    queue.wait(claim_one(called), "resp_1", 0)
    ticket = claim_one(called)

    assert queue.release(ticket)
    assert queue.release(ticket)

    assert fresh(called).status == Status.WAITING


def test_a_start_is_not_released():
    job = make_job()

    assert not queue.release(claim_one(job))

    assert fresh(job).status == Status.RUNNING


# -------------------------------------------------------------------------------------------------- by a person


def test_cancel_calls_off_what_was_not_asked_and_keeps_that():
    check = make_check(prompts=("a?", "b?", "c?"))
    (asked,) = claim(seats=1)
    only_claim(WORKER, check.jobs.pending().earliest("pk"))

    assert queue.cancel(check.jobs.all()) == 2

    assert check.jobs.get(pk=asked.job).status == Status.RUNNING
    assert set(check.captures.values_list("outcome", flat=True)) == {Outcome.CANCELLED}


def test_requeue_asks_again_with_attempts_afresh_and_keeps_the_history():
    job = make_job()
    queue.fail(claim_one(job), error())

    assert queue.requeue(CaptureJob.objects.filter(pk=job.pk)) == 1

    ticket = claim_one(job)
    assert ticket.attempts == 1
    assert list(Attempt.objects.filter(job=job).order_by("number").values_list("number", flat=True)) == [1, 2]


def test_an_answer_replaces_a_failure():
    job = make_job()
    queue.fail(claim_one(job), error())
    queue.requeue(CaptureJob.objects.filter(pk=job.pk))

    complete_one(job, "Northwind.")

    capture = Capture.objects.get()
    assert (capture.outcome, capture.text, capture.reason, capture.detail) == (Outcome.ANSWERED, "Northwind.", "", "")


def test_requeue_leaves_open_jobs_and_answers_alone():
    pending, done = make_job(), make_job(providers=("perplexity",))
    complete_one(done)

    assert queue.requeue(CaptureJob.objects.filter(pk__in=[pending.pk, done.pk])) == 0


def test_requeue_looks_after_a_call_that_is_still_live():
    job = make_job()
    queue.wait(claim_one(job), "resp_1", 0)
    queue.fail(claim_one(job), error("remote_deadline"), live=True)

    queue.requeue(CaptureJob.objects.filter(pk=job.pk))
    ticket = claim_one(job)
    queue.complete(ticket, answer())

    assert ticket.remote_id == "resp_1"
    assert Attempt.objects.count() == 1
    assert Charge.objects.get().basis == Basis.COMPUTED


# ------------------------------------------------------------------------------------------ what cannot be stored


def test_fault_24_an_answer_with_what_postgresql_cannot_store_is_stored():
    job = make_job()
    nasty = "a\x00b\ud800c"
    source = Source(f"https://x.example/{nasty}", nasty, title=nasty)

    assert queue.complete(
        claim_one(job), answer(nasty, sources=(source,), model=nasty, cost=Cost(Decimal(1), Basis.REPORTED))
    )

    capture = Capture.objects.get()
    assert capture.text == "a\ufffdb\ufffdc"
    assert capture.sources.get().title == "a\ufffdb\ufffdc"


def test_fault_24_an_answer_of_any_size_is_stored_with_a_mark_where_it_was_cut():
    job = make_job()

    queue.complete(claim_one(job), answer("x" * 5_000_000))

    text = Capture.objects.get().text
    assert len(text) == 1_000_000
    assert text.endswith(" […]")


def test_fault_24_error_texts_get_the_same_care():
    job = make_job()
    queue.ask_again(claim_one(job), error("r\x00" * 100, kind=Kind.TRANSIENT), 0)

    assert len(fresh(job).reason) == 60


# ------------------------------------------------------------------------------------- what the database believes


@pytest.mark.parametrize(
    "wrong",
    [
        {"status": "asleep"},
        {"status": Status.CLAIMED},
        {"claim_token": UUID(int=5)},
        {"worker": UUID(int=5)},
        {"status": Status.WAITING},
        {"status": Status.WAITING, "remote_id": "resp_1"},
        {"remote_id": "resp_1"},
        {"status": Status.DONE},
        {"finished_at": ClockTimestamp()},
        {"status": Status.DONE, "finished_at": ClockTimestamp(), "run_after": ClockTimestamp()},
    ],
)
def test_the_database_refuses_a_row_that_contradicts_itself(wrong):
    job = make_job()

    with pytest.raises(DatabaseError), transaction.atomic():
        CaptureJob.objects.filter(pk=job.pk).update(**wrong)


def test_the_database_refuses_a_second_job_and_a_second_capture_of_one_place():
    job = make_job()
    complete_one(job)
    place = {"of_check": job.of_check, "prompt": job.prompt, "provider": job.provider, "sample": 1, "team": job.team}

    with pytest.raises(IntegrityError), transaction.atomic():
        CaptureJob.objects.create(**place, lane="openai")
    with pytest.raises(IntegrityError), transaction.atomic():
        Capture.objects.create(
            **place, outcome="empty", surface="x", attempts=1, simulated=True, answered_at="2026-01-01T00:00:00Z"
        )


def test_the_database_refuses_a_second_open_attempt():
    job = make_job()
    claim_one(job)

    with pytest.raises(IntegrityError), transaction.atomic():
        Attempt.objects.create(
            pk=stranger(),
            job=job,
            number=2,
            worker=WORKER,
            base_url="",
            simulated=True,
            started_at="2026-01-01T00:00Z",
            deadline="2026-01-01T00:00Z",
        )


# ------------------------------------------------------------------------------------------------------ the plan


def _plan(jobs) -> str:
    _analyze()
    return str(jobs.explain())


def _analyze() -> None:
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE capture_capturejob")


def _rows(count: int, provider: str, **columns: str) -> None:
    """Rows copied from the only job there is by the database itself, with SQL expressions for some columns.

    `n` counts the rows; every column but the place is free.
    """
    names, values = ", ".join(columns), ", ".join(columns.values())
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            INSERT INTO capture_capturejob (team_id, of_check_id, prompt_id, provider, lane, sample, polls, attempts,
                unknowns, crashes, reason, estimate, {names})
            SELECT team_id, of_check_id, prompt_id, '{provider}' || n / 30000, lane, 1 + n % 30000, 0, 0,
                0, 0, '', 0.02, {values}
            FROM (SELECT * FROM capture_capturejob LIMIT 1) job, generate_series(1, {count}) n
            """
        )


@pytest.mark.slow
def test_fault_16_a_claim_with_100_000_finished_rows_is_a_scan_of_the_partial_index():
    make_job()
    later = "clock_timestamp() + n * interval '1 second'"
    _rows(100_000, "done", status="'done'", turn="0", finished_at="clock_timestamp()")
    _rows(5_000, "free", status="'pending'", turn="n")
    _rows(5_000, "later", status="'pending'", turn="n", run_after=later)
    _rows(5_000, "waits", status="'waiting'", turn="n", run_after=later, remote_id="'resp'")
    slugs = ["chatgpt", "free0", "waits0"]

    assert "Index Scan using job_claimable" in _plan(CaptureJob.objects.to_start("openai", slugs)[:8])
    assert "Sort" not in _plan(CaptureJob.objects.to_start("openai", slugs)[:8])
    assert "job_waiting" in _plan(CaptureJob.objects.to_poll("openai", slugs)[:8])
    assert "job_postponed" in _plan(CaptureJob.objects.to_promote()[:500])
    assert "Seq Scan" not in _plan(CaptureJob.objects.in_flight().filter(lane="openai"))
    assert "Seq Scan" not in _plan(CaptureJob.objects.open().filter(of_check=1))


@pytest.mark.parametrize("status", ["pending", "waiting"])
def test_fault_16_a_lanes_jobs_are_found_by_its_index_though_none_was_open_when_rows_were_counted(status):
    make_job()
    CaptureJob.objects.update(status="done", finished_at=ClockTimestamp())
    _rows(5_000, "done", status="'done'", turn="0", finished_at="clock_timestamp()")
    _analyze()
    due = {"run_after": "clock_timestamp()", "remote_id": "'resp'"} if status == "waiting" else {}
    _rows(1_000, "open", status=f"'{status}'", turn="n", **due)

    starts = CaptureJob.objects.to_start("openai", ["open0"])[:8].explain()
    polls = CaptureJob.objects.to_poll("openai", ["open0"])[:8].explain()

    assert "job_open" not in starts + polls
    assert "Index Scan using job_claimable" in starts
    assert "Sort" not in starts


def test_a_late_error_of_a_poll_leaves_the_call_to_the_successor_that_looks_after_it():
    job = make_job()
    queue.wait(claim_one(job), "resp_1", 0)
    stale = claim_one(job)
    queue.release(stale)

    queue.ask_again(stale, error("gone", ended=True, maybe_charged=True), 1)

    assert fresh(job).status == Status.WAITING
    assert claim_one(job).base_url == ACCOUNT.base_url


def test_a_new_job_is_written_as_the_model_has_it_by_default():
    check = make_check(prompts=prompts(2), providers=("chatgpt", "copilot"), samples=2)

    for job in check.jobs.all():
        bare = CaptureJob()
        given = ("id", "team", "of_check", "prompt", "provider", "lane", "sample", "turn", "estimate", "created_at")
        others = [field.attname for field in CaptureJob._meta.concrete_fields if field.name not in given]
        assert {name: getattr(job, name) for name in others} == {name: getattr(bare, name) for name in others}
        assert job.created_at
    places = set(check.jobs.values_list("prompt__text", "provider", "sample"))
    assert places == {(text, *rest) for text in prompts(2) for rest in [("chatgpt", 1), ("chatgpt", 2), ("copilot", 1)]}
