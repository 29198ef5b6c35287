"""The named points at which a worker can be killed. Knows no Django: the plan is made without it.

Each has the most passages that a worker of the test is likely to make in a few seconds; it dies at one of them.
"""

from __future__ import annotations

from collections.abc import Mapping

AFTER_CLAIM = "after the claim of a call in hand"
AFTER_INTENT = "after the intent"
SENDING = "while sending"
ID_ARRIVED = "id arrived, not stored"
POLLING = "while polling"
ANSWER_IN_HAND = "answer in hand"
COMPLETING = "in the completing transaction"
COMMIT_OF_CLAIM = "COMMIT of a claim of a call in hand sent"
COMMIT_OF_START = "COMMIT of an intent sent"
COMMIT_OF_WAIT = "COMMIT of an id sent"
COMMIT_OF_COMPLETE = "COMMIT of an answer sent"
IN_A_BEAT = "in a beat"
RECOVERING = "while recovering"
DRAINING = "while draining"

MOST_PASSAGES: Mapping[str, int] = {
    AFTER_CLAIM: 4,
    AFTER_INTENT: 6,
    SENDING: 6,
    ID_ARRIVED: 5,
    POLLING: 6,
    ANSWER_IN_HAND: 4,
    COMPLETING: 4,
    COMMIT_OF_CLAIM: 4,
    COMMIT_OF_START: 5,
    COMMIT_OF_WAIT: 4,
    COMMIT_OF_COMPLETE: 4,
    IN_A_BEAT: 2,
    RECOVERING: 1,
    DRAINING: 1,
}

POINTS = tuple(MOST_PASSAGES)

# How a doomed worker is told, and how it says, in its log, that and when it has got there.
POINT_VARIABLE = "KILLTEST_POINT"
PASSAGE_VARIABLE = "KILLTEST_PASSAGE"
LAST_WORDS = "killtest: dies at"
