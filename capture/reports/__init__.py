"""What pages, status.json and the terminal read about checks. Reads only.

All of it is reckoned from prompts × AI systems × samples: open jobs say what is going on, captures what has come of
it. No final job is read, so that cleanup can take them at any time.
"""

from capture.reports.answers import Answer, Link, answer_at, answer_url, answers_on
from capture.reports.asking import Asking, asking, asking_again, without_answer
from capture.reports.board import Board, Group, Row, board_of
from capture.reports.brands import BrandLine, brand_lines, brands_of, is_being_read
from capture.reports.cells import Cell, State
from capture.reports.checks import CheckLine, checks_of, lines
from capture.reports.columns import System, system_of
from capture.reports.earlier import EarlierBrand, EarlierPrompt, earlier_brands, earlier_prompts, key_of
from capture.reports.exports import answer_rows, json_pieces, source_rows
from capture.reports.figure_exports import figure_rows, site_rows, summary_json
from capture.reports.figures import headings
from capture.reports.glance import Glance, glance_at, glance_for_staff
from capture.reports.history import History, history_of
from capture.reports.history_exports import history_json, history_rows, rival_rows, seen_site_rows
from capture.reports.history_rivals import Rivals, rivals_of
from capture.reports.history_scope import AskedSoFar, Scope, asked_so_far
from capture.reports.history_sources import sites_over_time
from capture.reports.outlook import Outlook, Wanted, outlook_for
from capture.reports.preview import Preview, preview_of
from capture.reports.progress import Progress, Shown, progress_of
from capture.reports.series import Run, Series, obstacle_to, series_of
from capture.reports.spend import Spend, spent_on, spent_today
from capture.reports.status import check_status, check_url, status_of, unserved
from capture.reports.summary import Summary, summary_of
from capture.reports.waiting import Wait, WaitKind, digest_of, waits_of

__all__ = [
    "Answer",
    "AskedSoFar",
    "Asking",
    "Board",
    "BrandLine",
    "Cell",
    "CheckLine",
    "EarlierBrand",
    "EarlierPrompt",
    "Glance",
    "Group",
    "History",
    "Link",
    "Outlook",
    "Preview",
    "Progress",
    "Rivals",
    "Row",
    "Run",
    "Scope",
    "Series",
    "Shown",
    "Spend",
    "State",
    "Summary",
    "System",
    "Wait",
    "WaitKind",
    "Wanted",
    "answer_at",
    "answer_rows",
    "answer_url",
    "answers_on",
    "asked_so_far",
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
    "figure_rows",
    "glance_at",
    "glance_for_staff",
    "headings",
    "history_json",
    "history_of",
    "history_rows",
    "is_being_read",
    "json_pieces",
    "key_of",
    "lines",
    "obstacle_to",
    "outlook_for",
    "preview_of",
    "progress_of",
    "rival_rows",
    "rivals_of",
    "seen_site_rows",
    "series_of",
    "site_rows",
    "sites_over_time",
    "source_rows",
    "spent_on",
    "spent_today",
    "status_of",
    "summary_json",
    "summary_of",
    "system_of",
    "unserved",
    "waits_of",
    "without_answer",
]
