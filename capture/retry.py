"""What to do after a reply or an error. Pure: facts and a random source in, a decision out."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from capture.providers.replies import FinalReply, Kind, Pending, ProviderError, Reply

FIRST_POLLS = (2.0, 3.0, 5.0, 8.0)
STEADY_POLL = 10.0
SLOWEST_POLL = 600.0
QUICKEST_POLL = 1.0  # whatever a system asks for
# A call that has been looked after for long is looked after more seldom: every tenth of its age.
AGE_PER_POLL = 10

BACKOFF_BASE = 2.0
BACKOFF_CAP = 120.0
LONGEST_WAIT = 86_400.0

REMOTE_DEADLINE = "remote_deadline"


@dataclass(frozen=True, slots=True)
class Limits:
    """What a job may use up.

    Arguments:
        attempts: start calls that may end by an error before the job fails.
        unknown_retries: how often a job is asked again after an attempt whose outcome nobody knows.
        remote_deadline: seconds for which a live call is polled.
    """

    attempts: int
    unknown_retries: int
    remote_deadline: float


@dataclass(frozen=True, slots=True)
class Situation:
    """Where a job stands when something comes back for it.

    Arguments:
        attempts: start calls so far, the present one included.
        unknowns: earlier attempts whose outcome nobody knows.
        polls: how often the live call was looked after, this time included.
        remote_id: the live call that was polled, or None when this was a start.
        age: seconds since the live call was started.
        singled_out: the account has answered others since it refused this job; then the question is the trouble.
    """

    attempts: int
    unknowns: int
    polls: int
    remote_id: str | None
    age: float
    singled_out: bool = False


@dataclass(frozen=True, slots=True)
class Wait:
    """The call is live: look after it again in `after` seconds. `reason` is the trouble of the last poll, if any."""

    remote_id: str
    after: float
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Complete:
    """The call has ended with a reply."""

    reply: FinalReply


@dataclass(frozen=True, slots=True)
class AskAgain:
    """The attempt is over; the job goes back into the queue for `after` seconds."""

    error: ProviderError
    after: float


@dataclass(frozen=True, slots=True)
class PutBack:
    """The account or the way to it is the trouble, not the question: the job goes back, and no attempt is spent."""

    error: ProviderError


@dataclass(frozen=True, slots=True)
class GiveUp:
    """The job fails.

    Arguments:
        live: the call is still live at its system, which may yet answer it.
    """

    error: ProviderError
    live: bool = False


Decision = Wait | Complete | AskAgain | PutBack | GiveUp


def decide(came: Reply | ProviderError, situation: Situation, limits: Limits, random: Random) -> Decision:
    """Turn what came back into what happens next."""
    match came:
        case Pending():
            # Whatever id a poll brings, the call is the one that was asked after.
            remote_id = situation.remote_id or came.remote_id
            return _look_again(remote_id, came.after, "", situation, limits, random)
        case ProviderError():
            if situation.remote_id is not None and not came.ended:
                # Trouble with looking says nothing about the call itself.
                return _look_again(situation.remote_id, came.wait, came.reason, situation, limits, random)
            return _after_failed_attempt(came, situation, limits, random)
        case _:
            return Complete(came)


def _look_again(
    remote_id: str, asked: float | None, reason: str, situation: Situation, limits: Limits, random: Random
) -> Wait | GiveUp:
    if situation.age >= limits.remote_deadline:
        return GiveUp(_gave_no_answer(limits), live=True)
    pace = poll_pace(situation.polls, situation.age)
    after = pace if asked is None else min(max(asked, QUICKEST_POLL), SLOWEST_POLL)
    if reason:
        after = max(after, pace)
    return Wait(remote_id, after + random.uniform(0, after / 10), reason)


def _gave_no_answer(limits: Limits) -> ProviderError:
    hours = limits.remote_deadline / 3600
    return ProviderError(
        Kind.TRANSIENT, REMOTE_DEADLINE, f"no answer within {hours:g} hours; the call may still be live"
    )


def _after_failed_attempt(
    error: ProviderError, situation: Situation, limits: Limits, random: Random
) -> AskAgain | PutBack | GiveUp:
    if error.spares_the_job and not situation.singled_out:
        return PutBack(error)
    if error.kind is Kind.FATAL or situation.attempts >= limits.attempts:
        return GiveUp(error)
    if error.maybe_charged and situation.unknowns >= limits.unknown_retries:
        return GiveUp(error)
    return AskAgain(error, backoff(situation.attempts, error.wait, random))


def poll_pace(polls: int, age: float) -> float:
    """Seconds until the next look at a live call: 2, 3, 5, 8, 10 …, ever more seldom, to once in ten minutes.

    Arguments:
        polls: looks so far.
        age: seconds since the call was started.
    """
    if polls < len(FIRST_POLLS):
        return FIRST_POLLS[polls]
    return min(max(STEADY_POLL, age / AGE_PER_POLL), SLOWEST_POLL)


def backoff(attempts: int, asked: float | None, random: Random) -> float:
    """Seconds until a job is asked again: exponential with full jitter, or what the system asked for and a little more.

    Arguments:
        attempts: start calls so far, at least 1.
        asked: the system's own wait, or None.
    """
    # Beyond the cap more doublings change nothing, and a huge power would not fit a float.
    spread = min(BACKOFF_CAP, BACKOFF_BASE * 2.0 ** min(attempts - 1, 16))
    if asked is None:
        return random.uniform(0, spread)
    return min(asked, LONGEST_WAIT) + random.uniform(0, min(spread, 1 + asked / 10))
