"""The state machine of jobs; the only writer of `CaptureJob.status`.

                enqueue
                   │
                   ▼
    cancel ┌── PENDING ◄───────┬──────────────┬──────────────┐
           │       │ claim:    │ release of   │ ask_again,   │ requeue (a person)
           │       │ the       │ strays       │ put_back     │
           │       ▼ intent    │              │              │
           │    RUNNING ───────┴──────────────┤              │
           │       │  │ wait: id stored       │              │
           │       │  ▼                       │              │
           │       │ WAITING ◄── wait, release│───┐          │
           │       │  │ claim                 │   │          │
           │       │  ▼                       │   │          │
           │       │ CLAIMED: being polled ───┴───┘          │
           │       │  │                                      │
           │       └──┴──── complete ──► DONE, no answer ────┤
           │       └──┴──── fail ──────► FAILED ─────────────┤
           └───────────────────────────► CANCELLED ──────────┘

A person may also fail any open job by hand. Not drawn: what recovery does with a lost worker's jobs (RUNNING has an
unknown outcome, and is PENDING or FAILED; CLAIMED is WAITING), and that a PENDING or FAILED job of which a live call
becomes known is WAITING.

Every arrow is one function and one guarded statement, whose row count is checked. A job that a worker holds is guarded
by its number and claim token; a constraint ties the token to CLAIMED and RUNNING, so naming the status as well would
only give the planner a worse index to choose. A job that nobody holds is guarded by its status.

Ids are made by the caller and transitions are repeatable: when the reply to a COMMIT was lost, the same call again
finds its own result there and has succeeded.

Lock order: team, lane, worker, check, job, attempt, capture; ids sorted.
"""

from capture.queue.again import requeue_places
from capture.queue.claims import claim, release, release_strays
from capture.queue.cleanup import delete_old_jobs
from capture.queue.deletion import StillOpenError, delete_check
from capture.queue.ends import Ending, complete, complete_all
from capture.queue.entry import enqueue, promote_due
from capture.queue.forsaken import take_back
from capture.queue.held import ask_again, fail, put_back, wait
from capture.queue.outlook import look
from capture.queue.people import cancel, cancel_these, fail_by_hand, fail_these, requeue, requeue_these
from capture.queue.tickets import Route

__all__ = [
    "Ending",
    "Route",
    "StillOpenError",
    "ask_again",
    "cancel",
    "cancel_these",
    "claim",
    "complete",
    "complete_all",
    "delete_check",
    "delete_old_jobs",
    "enqueue",
    "fail",
    "fail_by_hand",
    "fail_these",
    "look",
    "promote_due",
    "put_back",
    "release",
    "release_strays",
    "requeue",
    "requeue_places",
    "requeue_these",
    "take_back",
    "wait",
]
