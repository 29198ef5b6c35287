"""What log lines look like, and what they never hold."""

from __future__ import annotations

import io
import json
import logging
import logging.config
import os

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import DataError, IntegrityError, transaction

from aicontrol import logs
from aicontrol.request_ids import current_request
from capture import lanes
from capture.models import Capture, CaptureJob
from tests.factories import complete_one, make_job, make_user

PROMPT = "Which zephyr-driven samovar hums quietest?"
ANSWER = "Northwind's quillwork samovar is adored."


@pytest.fixture
def written():
    """What is logged from now on, in the one form or the other."""
    root = logging.getLogger()
    handlers, level, output = root.handlers[:], root.level, io.StringIO()

    def write(shape):
        logging.config.dictConfig(logs.configuration(shape, "DEBUG"))
        for handler in root.handlers:
            assert isinstance(handler, logging.StreamHandler)
            handler.setStream(output)
        return output

    yield write
    root.handlers[:] = handlers
    root.setLevel(level)


def one_line(output):
    return json.loads(output.getvalue())


def log_failure(failing):
    try:
        failing()
    except Exception:
        logging.getLogger("aicontrol.test").exception("it failed")


def test_a_plain_line_is_for_people(written):
    output = written("PLAIN")

    logging.getLogger("capture.queue").info("job %s: done", 7, extra={"job": 7})

    assert output.getvalue().endswith(" INFO capture.queue: job 7: done\n")


def test_a_plain_line_names_the_request_that_is_being_answered(written):
    output = written("PLAIN")
    token = current_request.set("abc12345")

    logging.getLogger("capture.queue").info("check: asked again")
    current_request.reset(token)

    assert output.getvalue().endswith("check: asked again [request abc12345]\n")


@pytest.mark.parametrize(("status", "traced"), [(403, False), (404, False), (500, True)])
def test_a_refusal_is_no_failure_and_has_no_traceback(written, status, traced):
    output = written("PLAIN")

    logging.getLogger("django.request").warning("refused", exc_info=PermissionError(), extra={"status_code": status})

    assert ("Traceback" in output.getvalue()) == traced


def test_a_line_of_json_has_time_level_logger_message_job_and_request(written):
    output = written("JSON")
    token = current_request.set("abc12345")

    logging.getLogger("capture.queue").warning("job %s: “late”\nin two lines", 7, extra={"job": 7})
    current_request.reset(token)

    line = one_line(output)
    assert line.pop("time").endswith("+00:00")
    assert line == {
        "level": "WARNING",
        "logger": "capture.queue",
        "message": "job 7: “late”\nin two lines",
        "job": 7,
        "request": "abc12345",
    }


def test_a_failure_is_one_line_of_json_with_where_it_was(written):
    output = written("JSON")

    log_failure(lambda: os.environ["NO_SUCH_VARIABLE"])

    assert output.getvalue().count("\n") == 1
    assert one_line(output)["exception"].endswith("\nKeyError")
    assert "test_logs.py" in one_line(output)["exception"]


@pytest.mark.parametrize("shape", logs.FORMATS)
def test_what_pythons_errors_quote_is_in_no_log(written, shape):
    output = written(shape)

    log_failure(lambda: int(ANSWER))

    assert "ValueError" in output.getvalue()
    assert "samovar" not in output.getvalue()


@pytest.mark.parametrize("shape", logs.FORMATS)
def test_words_about_hosts_files_and_settings_are_kept(written, shape):
    output = written(shape)

    def refuse():
        raise ImproperlyConfigured("DEBUG must be on or off.")

    log_failure(refuse)
    log_failure(lambda: os.stat("/nonexistent/file"))

    assert "django.core.exceptions.ImproperlyConfigured: DEBUG must be on or off." in output.getvalue()
    assert "No such file or directory: '/nonexistent/file'" in output.getvalue()


@pytest.mark.django_db
class TestTheDatabase:
    """PostgreSQL quotes the row that it refuses, and the value that it cannot read."""

    @pytest.fixture
    def capture(self):
        complete_one(make_job(prompts=(PROMPT,)), ANSWER)
        return Capture.objects.get()

    @pytest.mark.parametrize("shape", logs.FORMATS)
    def test_a_row_that_is_refused_is_in_no_log(self, written, capture, shape):
        output = written(shape)

        def refuse():
            with transaction.atomic():
                Capture.objects.filter(pk=capture.pk).update(outcome="nonsense")

        with pytest.raises(IntegrityError, match="samovar"):
            refuse()
        log_failure(refuse)

        said = output.getvalue()
        assert 'violates check constraint \\"capture_outcome' in said or 'violates check constraint "capture_' in said
        assert "django.db.utils.IntegrityError" in said
        assert "samovar" not in said

    @pytest.mark.parametrize("shape", logs.FORMATS)
    def test_a_value_that_cannot_be_read_is_in_no_log(self, written, capture, shape):
        output = written(shape)

        def refuse():
            with transaction.atomic():
                list(CaptureJob.objects.extra(where=["reason::int = 1 OR %s::int = 1"], params=[ANSWER]))

        with pytest.raises(DataError, match="samovar"):
            refuse()
        log_failure(refuse)

        assert "psycopg.errors.InvalidTextRepresentation" in output.getvalue()
        assert "samovar" not in output.getvalue()


@pytest.mark.django_db
@pytest.mark.usefixtures("simulated")
@pytest.mark.parametrize("shape", logs.FORMATS)
def test_no_page_logs_a_prompt_whatever_is_done_with_it(written, client, shape, monkeypatch):
    lanes.make_missing()
    client.force_login(make_user("ada"))
    client.raise_request_exception = False
    form = {"brand": "Northwind", "prompts": PROMPT, "providers": ["chatgpt"], "samples": "1", "nonce": "abc"}
    output = written(shape)

    taken = client.post("/checks/new/", form)
    refused = client.post("/checks/new/", {**form, "samples": PROMPT})
    missing = client.get("/nowhere/", {"q": PROMPT})
    monkeypatch.setattr("capture.queue.enqueue", lambda *_, **__: int(PROMPT))
    failed = client.post("/checks/new/", {**form, "nonce": "other"})

    assert [answer.status_code for answer in (taken, refused, missing, failed)] == [302, 200, 404, 500]
    assert "jobs enqueued: 1" in output.getvalue()
    assert "ValueError" in output.getvalue()
    assert "samovar" not in output.getvalue()


@pytest.mark.django_db
@pytest.mark.parametrize("shape", logs.FORMATS)
@pytest.mark.parametrize("path", ["/password/set/MQ/c3cr3t-t0ken)", "/password/set/MQ/c3cr3t-t0ken/x"])
def test_no_refused_link_of_a_mail_is_in_a_log(written, client, shape, path):
    output = written(shape)

    client.get(path)
    client.put(path)

    assert "/password/set/MQ/" in output.getvalue()
    assert "c3cr3t" not in output.getvalue()
