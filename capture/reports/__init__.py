"""What pages, status.json and the terminal read about checks. Reads only.

All of it is reckoned from prompts × AI systems × samples: open jobs say what is going on, captures what has come of
it. No final job is read, so that cleanup can take them at any time.
"""

from capture.reports.answers import Answer, Link, answer_at, answer_url, answers_on
from capture.reports.asking import Asking, asking, asking_again, without_answer
from capture.reports.board import Board, Group, Row, board_of
from capture.reports.brands import BrandLine, brand_lines, brands_of
from capture.reports.cells import Cell, State
from capture.reports.checks import CheckLine, checks_of, lines
from capture.reports.columns import System, system_of
from capture.reports.earlier import EarlierBrand, EarlierPrompt, earlier_brands, earlier_prompts, key_of
from capture.reports.exports import answer_rows, json_pieces, source_rows
from capture.reports.glance import Glance, glance_at
from capture.reports.outlook import Outlook, Wanted, outlook_for
from capture.reports.progress import Progress, Shown, progress_of
from capture.reports.spend import Spend, spent_on, spent_today
from capture.reports.status import check_status, check_url, status_of, unserved
from capture.reports.waiting import Wait, WaitKind, digest_of, waits_of

__all__ = [
    "Answer",
    "Asking",
    "Board",
    "BrandLine",
    "Cell",
    "CheckLine",
    "EarlierBrand",
    "EarlierPrompt",
    "Glance",
    "Group",
    "Link",
    "Outlook",
    "Progress",
    "Row",
    "Shown",
    "Spend",
    "State",
    "System",
    "Wait",
    "WaitKind",
    "Wanted",
    "answer_at",
    "answer_rows",
    "answer_url",
    "answers_on",
    "asking",
    "asking_again",
    "board_of",
    "brand_lines",
    "brands_of",
    "check_status",
    "check_url",
    "checks_of",
    "digest_of",
    "earlier_brands",
    "earlier_prompts",
    "glance_at",
    "json_pieces",
    "key_of",
    "lines",
    "outlook_for",
    "progress_of",
    "source_rows",
    "spent_on",
    "spent_today",
    "status_of",
    "system_of",
    "unserved",
    "waits_of",
    "without_answer",
]
