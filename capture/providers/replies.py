"""The words that providers and the rest of the product share: the question, every possible reply, the error.

What a reply may be is a closed list, so that whatever handles replies can handle all of them.
Knows no Django, no database and no settings.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked.

    Arguments:
        text: the prompt as the user wrote it.
        country: ISO 3166-1 alpha-2 code in upper case, or empty for none.
        language: ISO 639-1 code in lower case, or empty for none.
        run: our own id of this attempt, sent along where a system takes it, so that duplicates show in its logs.
    """

    text: str
    country: str = ""
    language: str = ""
    run: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """A web page that an answer rests on.

    Arguments:
        url: the cleaned address, always http or https.
        raw_url: the address as it came.
        title: may be empty.
        cited: tied to a place in the text; otherwise only listed or consulted.
        spans: (start, end) places in the answer's text, in characters (code points).
        domain: the page's host as the system named it, in lower case; empty where the address itself shows it.
        redirect: the address is a redirect of the system's own, and short-lived: what it leads to, the provider's
            `resolve` can tell.
    """

    url: str
    raw_url: str
    title: str = ""
    cited: bool = False
    spans: tuple[tuple[int, int], ...] = ()
    domain: str = ""
    redirect: bool = False


class Basis(StrEnum):
    """Where an amount of money comes from."""

    REPORTED = "reported"  # the system said so in its reply
    COMPUTED = "computed"  # units in the reply × our price table
    ESTIMATED = "estimated"  # nobody knows; the price table's guess for one question


@dataclass(frozen=True, slots=True)
class Cost:
    """Money in US dollars and where the figure comes from."""

    amount: Decimal
    basis: Basis


@dataclass(frozen=True, slots=True)
class Pending:
    """The system has the question and works on it.

    Arguments:
        remote_id: its id of the call; never empty.
        after: seconds until the next poll as the system asked for, or None when it did not say.
    """

    remote_id: str
    after: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Final:
    """What every reply that ends a call may carry.

    Arguments:
        model: as the system named it, or empty.
        remote_id: its id of the call, where the reply names it.
        cost: what the call cost by this reply, or None when it says nothing that could be reckoned with.
        made_at: when the system made the answer by its own clock, to the second, or None when it does not say. One
            that was made before it was asked for is a copy from the system's cache, and free.
    """

    model: str = ""
    remote_id: str = field(default="", compare=False)  # not part of what was replied
    cost: Cost | None = None
    made_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Answered(Final):
    """A usable answer; the text is never blank."""

    text: str
    sources: tuple[Source, ...] = ()


@dataclass(frozen=True, slots=True)
class Refused(Final):
    """The system declined in words."""

    text: str


@dataclass(frozen=True, slots=True)
class Blocked(Final):
    """A filter of the system stopped the question or the answer."""

    reason: str


@dataclass(frozen=True, slots=True)
class Incomplete(Final):
    """The answer was cut off; the text so far may be empty."""

    reason: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Empty(Final):
    """The call ended well and holds no answer."""

    reason: str


FinalReply = Answered | Refused | Blocked | Incomplete | Empty
Reply = Pending | FinalReply


class Kind(StrEnum):
    TRANSIENT = "transient"
    FATAL = "fatal"


class Scope(StrEnum):
    """How far an error reaches: this question only, or everything asked with this model, key, account or from here."""

    REQUEST = "request"
    MODEL = "model"
    KEY = "key"
    MONEY = "money"
    REGION = "region"


# Whatever else is asked of the same account ends the same way.
OF_THE_ACCOUNT = frozenset({Scope.KEY, Scope.MONEY, Scope.REGION})


@dataclass(eq=False)
class ProviderError(Exception):
    """A failure to get a reply.

    Arguments:
        kind: passing or not.
        reason: short machine-readable name, such as `rate_limit_exceeded`; for filters and figures.
        message: for people; never holds a key.
        scope: how far a fatal error reaches.
        wait: seconds that the system asked to wait, or None.
        maybe_charged: the request may have been sent and no whole reply came, so it may have been worked on and
            charged; nobody here can know.
        ended: the remote call that was asked for is over or unknown to the system, so polling it again is useless.
        cost: what the failed call cost where the system said so.
        heard: the system itself said this; it was not lost on the way.
        unsent: nothing was sent, since there was nobody to send it to.
        throttled: a rate limit or an overload: the system wants less to be asked for a while.
    """

    kind: Kind
    reason: str
    message: str
    scope: Scope = Scope.REQUEST
    wait: float | None = None
    maybe_charged: bool = False
    ended: bool = False
    cost: Cost | None = None
    heard: bool = False
    throttled: bool = False
    unsent: bool = False

    @property
    def of_the_account(self) -> bool:
        """Whether the account is the trouble, not the question: a refused key, no money, a closed region."""
        return self.kind is Kind.FATAL and self.scope in OF_THE_ACCOUNT

    @property
    def spares_the_job(self) -> bool:
        """Whether it says nothing of the question, so that it is no attempt at it."""
        return self.of_the_account or self.unsent

    def __str__(self) -> str:
        return f"{self.reason}: {self.message}"
