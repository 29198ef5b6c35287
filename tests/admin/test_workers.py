"""Workers that were seen and that were lost."""

from __future__ import annotations

import re

import pytest

from capture import heartbeat
from tests.admin.staff import get
from tests.lost_workers import fall_silent, lose, make_worker

pytestmark = pytest.mark.django_db


def test_workers_are_found_by_how_it_is_with_them(admin_client):
    crew = {name: make_worker() for name in ("alive", "silent", "stopped", "lost")}
    lose(crew["lost"])
    heartbeat.close(crew["stopped"])
    fall_silent(crew["silent"])

    for name, worker in crew.items():
        html = get(admin_client, f"/admin/capture/worker/?health={name}")
        assert set(re.findall(r"/worker/([0-9a-f-]{36})/change/", html)) == {str(worker)}
