"""The tables. One module a noun; everything belongs to a team.

Fields, constraints, indexes and querysets that read stand here; who may change a job's status is `capture.queue`.
"""

from capture.models.brands import Brand, Competitor, HistoryMark
from capture.models.captures import Capture, Outcome, Source
from capture.models.charges import Charge
from capture.models.checks import Check, Prompt, Schedule, entities_as_asked
from capture.models.gists import Gist
from capture.models.jobs import Attempt, AttemptOutcome, CaptureJob, Status
from capture.models.lanes import Lane
from capture.models.mentions import Mention
from capture.models.staff_actions import StaffAction
from capture.models.teams import Membership, Team
from capture.models.workers import Worker

__all__ = [
    "Attempt",
    "AttemptOutcome",
    "Brand",
    "Capture",
    "CaptureJob",
    "Charge",
    "Check",
    "Competitor",
    "Gist",
    "HistoryMark",
    "Lane",
    "Membership",
    "Mention",
    "Outcome",
    "Prompt",
    "Schedule",
    "Source",
    "StaffAction",
    "Status",
    "Team",
    "Worker",
    "entities_as_asked",
]
