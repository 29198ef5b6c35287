"""A brand's history for `benchmarks.pages`: server time and queries, by Django's client on PostgreSQL.

A brand has a check a day for 364 days, of 55 questions to five AI systems: 100,100 answers with 400,400 sources, in
which it and three competitors are named 220,000 times. Another team's brand has a fifth of that. Half a year is what
takes longest: then the other half, with which it is compared, is all that there is.
"""

from __future__ import annotations

import os
import time
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from benchmarks.database import analyze

DAYS, PROMPTS, RIVALS = 364, 55, 3
SYSTEMS = ("chatgpt", "perplexity", "copilot", "gemini", "google_ai")
LIMIT = 500  # milliseconds

PAGES = {
    "a quarter, as it opens": "",
    "half a year": "?since={half}",
    "a year": "?since={year}",
    "a year, one system": "?since={year}&systems=gemini",
    "a year, a country": "?since={year}&country=DE",
    "a year, branded": "?since={year}&prompts=branded",
    "competitors, a quarter": "competitors/",
    "competitors, a year": "competitors/?since={year}",
    "sources of a quarter": "sources/",
    "sources of a year": "sources/?since={year}",
    "sources, one system": "sources/?since={year}&systems=gemini",
}


def measured(times: int, days: int = DAYS) -> dict[str, tuple[list[float], list[float], int]]:
    """Seconds of each page, by the clock and of work of both processes, and its number of queries."""
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext
    from django.utils import timezone

    from tests.factories import make_user

    user = make_user("ada")
    brand = fill(user, days)
    fill(make_user("bob"), days // 5)
    analyze()
    client = Client()
    client.force_login(user)
    found = {}
    today = timezone.localdate()
    since = {"year": today - timedelta(days=days - 1), "half": today - timedelta(days=days // 2 - 1)}
    for name, query in PAGES.items():
        path = f"/brands/{brand}/{query.format(**since)}"
        with CaptureQueriesContext(connection) as queries:
            seconds_of(client, path)  # templates are read once
        number = len(queries)
        both = [seconds_of(client, path) for _ in range(times)]
        found[name] = ([clock for clock, _ in both], [work for _, work in both], number)
    return found


def seconds_of(client: Any, path: str) -> tuple[float, float]:
    """By the clock, and of work, which other programs on the machine make hardly longer."""
    worked, began = work(), time.perf_counter()
    response = client.get(path)
    took, worked = time.perf_counter() - began, work() - worked
    if response.status_code != 200:
        raise RuntimeError(f"{path}: {response.status_code}")
    return took, worked


def work() -> float:
    """Seconds of a processor that this process and the server's for its connection have had."""
    from django.db import connection

    backend = connection.connection.info.backend_pid if connection.connection else 0
    fields = Path(f"/proc/{backend}/stat").read_text().rpartition(")")[2].split() if backend else ["0"] * 13
    return time.process_time() + (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def fill(user: Any, days: int) -> UUID:
    """Write the checks of a brand of a user's team, the jobs of which are cleaned up; gives the brand."""
    from django.db import connection

    from capture.analysis.mentions import MATCHER_VERSION
    from capture.models import Brand, Competitor, Team

    team = Team.objects.of(user)
    brand = Brand.objects.create(
        team=team, name="Northwind", domains=["site3.example"], read_edition=1, read_matcher=MATCHER_VERSION
    )
    rivals = Competitor.objects.bulk_create(Competitor(brand=brand, name=f"Rival {each}") for each in range(RIVALS))
    wanted: dict[str, Any] = {
        "team": team.pk,
        "brand": brand.pk,
        "days": days,
        "prompts": PROMPTS,
        "systems": list(SYSTEMS),
        "rivals": [rival.pk for rival in rivals],
        "matcher": MATCHER_VERSION,
    }
    with connection.cursor() as cursor:
        for statement in FILL:
            cursor.execute(statement, wanted)
    uuid: UUID = brand.uuid
    return uuid


# Every tenth question names the brand; every third check is of Germany. Who is named is told by a hash, so that it is
# the same each time.
FILL = (
    """
    INSERT INTO capture_check
        (uuid, team_id, brand_id, names, providers, samples, country, language, submit_token, created_at)
    SELECT gen_random_uuid(), %(team)s, %(brand)s, '{"brand": {"name": "Northwind"}, "competitors": []}',
        %(systems)s::varchar[], 1, CASE WHEN day %% 3 = 0 THEN 'DE' ELSE '' END, '', 'day ' || day,
        now() - day * interval '1 day'
    FROM generate_series(0, %(days)s - 1) day
    """,
    """
    INSERT INTO capture_prompt (of_check_id, position, text, key, branded)
    SELECT id, position, 'Which espresso machine is best for office number ' || position || '?',
        encode(sha256((position || country)::bytea), 'hex'), position %% 10 = 0
    FROM capture_check, generate_series(1, %(prompts)s) position
    WHERE brand_id = %(brand)s
    """,
    """
    INSERT INTO capture_capture
        (team_id, of_check_id, prompt_id, provider, sample, remote_id, outcome, reason, detail, text, model, surface,
        attempts, unknowns, cost, simulated, cached, answered_at, named, matcher, edition)
    SELECT %(team)s, asked.id, prompt.id, provider, 1, '', CASE WHEN hash %% 50 = 0 THEN 'failed' ELSE 'answered' END,
        '', '', repeat('Northwind is liked by many. ', 50), 'model ' || asked.id %% 364 / 182,
        provider || ', asked through an API', 1, 0, 0, false, false, asked.created_at, '[]', %(matcher)s, 1
    FROM capture_check asked
        JOIN capture_prompt prompt ON prompt.of_check_id = asked.id
        CROSS JOIN unnest(asked.providers) provider
        CROSS JOIN LATERAL (SELECT abs(hashtext(prompt.id || provider)) AS hash) dice
    WHERE asked.brand_id = %(brand)s
    """,
    """
    INSERT INTO capture_source (capture_id, position, url, raw_url, domain, title, cited, spans)
    SELECT capture.id, position, 'https://example.org/a-page-of-usual-length/' || position, '',
        CASE WHEN hash %% 2 = 0 THEN '' ELSE 'blog.' END || 'site' || hash %% 800 || '.example', 'A title', true, '[]'
    FROM capture_check asked
        JOIN capture_capture capture ON capture.of_check_id = asked.id
        CROSS JOIN generate_series(1, 4) position
        CROSS JOIN LATERAL (SELECT abs(hashtext(capture.id || ' ' || position)) AS hash) dice
    WHERE asked.brand_id = %(brand)s
    """,
    """
    INSERT INTO capture_mention
        (capture_id, brand_id, competitor_id, rank, hits, start, "end", words, flags, matcher)
    SELECT capture.id, CASE WHEN rival = 0 THEN %(brand)s END,
        CASE WHEN rival > 0 THEN (%(rivals)s::bigint[])[rival] END,
        1 + rival, 1, 0, 9, 'Northwind', '{}', %(matcher)s
    FROM capture_check asked
        JOIN capture_capture capture ON capture.of_check_id = asked.id
        CROSS JOIN generate_series(0, cardinality(%(rivals)s::bigint[])) rival
    WHERE asked.brand_id = %(brand)s AND capture.outcome = 'answered'
        AND abs(hashtext(capture.id || '/' || rival)) %% 100 < 55
    """,
    # As `capture.gists` makes them: a host's site is what follows `blog.`, and the brand's own is `site3.example`.
    """
    INSERT INTO capture_gist
        (capture_id, brand_id, provider, country, branded, simulated, answered_at, model, question, cell, rank, rivals,
        sites, kinds, matcher, edition)
    SELECT capture.id, %(brand)s, provider, country, branded, simulated, answered_at, model,
        hashtextextended(prompt.key, 0), hashtextextended(prompt.key || provider, 0),
        (SELECT rank FROM capture_mention WHERE capture_id = capture.id AND brand_id IS NOT NULL),
        ARRAY(SELECT competitor_id FROM capture_mention
            WHERE capture_id = capture.id AND competitor_id IS NOT NULL ORDER BY rank),
        cited.sites, cited.kinds, matcher, edition
    FROM capture_check asked
        JOIN capture_capture capture ON capture.of_check_id = asked.id
        JOIN capture_prompt prompt ON prompt.id = capture.prompt_id
        CROSS JOIN LATERAL (
            SELECT array_agg(site) AS sites, array_agg(CASE WHEN site = 'site3.example' THEN 0 ELSE 2 END) AS kinds
            FROM (SELECT DISTINCT replace(domain, 'blog.', '') AS site FROM capture_source
                WHERE capture_id = capture.id) sites
        ) cited
    WHERE asked.brand_id = %(brand)s AND outcome = 'answered'
    """,
)
