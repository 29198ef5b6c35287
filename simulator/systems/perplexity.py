"""Perplexity as it is asked over its Agent API, which answers in the form of OpenAI's Responses."""

import secrets
from typing import Any

from simulator import answers
from simulator.answers import Answer
from simulator.calls import Call, State
from simulator.exchange import JSON, Reply, Request, json_reply
from simulator.pages import Page
from simulator.systems.base import (
    MOST_CHARACTERS,
    Asked,
    Route,
    System,
    answer_to,
    asked_in_responses_form,
    ending,
    field_names,
    responses_route,
)

FIELDS = field_names(
    "background effort input instructions language_preference max_output_tokens max_steps metadata model models "
    "preset previous_response_id reasoning response_format store stream tool_choice tools"
)
"""OpenAI's extras (include, max_tool_calls, text, truncation …) are not among them."""

CHOOSES_MODEL = ("model", "models", "preset", "effort")
EFFORT_MODEL = "openai/gpt-6-luna"
SEARCH_COST = 0.0025
INPUT_COST, OUTPUT_COST = 0.25e-6, 2.5e-6


class Perplexity(System):
    slug = "perplexity"
    prefix = "/perplexity/"
    median_s = 8.0

    def route(self, request: Request) -> Route | None:
        base = "/perplexity/v1/responses"
        verbs: dict[str, Any] = {"GET": "poll", "POST cancel": "cancel"}
        return responses_route(request, ("/perplexity/v1/agent", base), base, verbs)

    def asked(self, request: Request) -> Asked:
        return asked_in_responses_form(request)

    def refusal(self, request: Request) -> Reply | None:
        try:
            body = request.json()
        except ValueError:
            return _invalid("The request body is not valid JSON.")
        if not isinstance(body, dict):
            return _invalid("The request body must be a JSON object.")
        return _refused_field(body) or _refused_value(body)

    def new_id(self) -> str:
        return "resp_" + secrets.token_hex(16)

    def unfinished(self, call: Call, state: State, request: Request) -> JSON:
        return {**_frame(call), "status": state.value}

    def finished(self, call: Call, request: Request) -> JSON:
        frame = {**_frame(call), "completed_at": int(call.due_at or call.created_at)}
        ordered = ending(call, ENDINGS)
        return {**frame, **(_answered(call, _compose(call)) if ordered is None else ordered)}

    def bad_key(self, key: str) -> Reply:
        return _error(401, "Invalid API key provided. Check that your key is correct and active.", "invalid_api_key")

    def unknown_call(self, call_id: str) -> Reply:
        return _error(404, f"Response {call_id} was not found.", "not_found")

    def unknown_path(self, request: Request) -> Reply:
        return _error(404, f"No such path: {request.path.removeprefix('/perplexity')}", "not_found")

    def rate_limited(self, hint: str) -> Reply:
        return _error(429, f"Request rate limit exceeded.{hint}", "request_rate_limit_exceeded")

    def no_money(self) -> Reply:
        message = "You exceeded your current quota, please check your plan and billing details."
        return _error(401, message, "insufficient_quota")

    def overloaded(self) -> Reply:
        return _error(429, "The model is overloaded, please retry later.", "overloaded")


# what is refused


def _refused_field(body: JSON) -> Reply | None:
    for name in body:
        if name not in FIELDS:
            return _invalid(f"Unknown field '{name}'.", param=name)
    if body.get("input") in (None, "", []):
        return _invalid("The field 'input' is required.", param="input")
    if not any(body.get(name) for name in CHOOSES_MODEL):
        return _invalid("One of 'model', 'models', 'preset' or 'effort' is required.", param="model")
    return None


def _refused_value(body: JSON) -> Reply | None:
    if not isinstance(body["input"], str | list):
        return _invalid("The field 'input' is a string or an array.", "invalid_parameter", "input")
    if any(name.rpartition("/")[2].startswith("no-such") for name in _models(body)):
        return _invalid(f"Invalid model '{_models(body)[0]}'.", "invalid_model", "model")
    if body.get("stream"):
        return _invalid("This simulator does not stream.", "invalid_parameter", "stream")
    if len(str(body["input"])) > MOST_CHARACTERS:
        return _error(400, "The total length of the input is too long.", "too_many_prompt_tokens")
    return None


def _models(body: JSON) -> list[str]:
    several = body.get("models")
    named = several if isinstance(several, list) and several else [body.get("model")]
    return [name for name in named if isinstance(name, str)]


def _invalid(message: str, kind: str = "invalid_request", param: str | None = None) -> Reply:
    return _error(400, message, kind, param)


def _error(status: int, message: str, kind: str, param: str | None = None) -> Reply:
    error: JSON = {"message": message, "type": kind, "code": status}
    return json_reply({"error": error | ({"param": param} if param else {})}, status)


# bodies


def _frame(call: Call) -> JSON:
    asked = call.request
    return {
        "id": call.id,
        "object": "response",
        "created_at": int(call.created_at),
        "completed_at": None,
        "status": "completed",
        "model": (_models(asked) or [EFFORT_MODEL])[0],
        "background": asked.get("background") is True,
        "error": None,
        "incomplete_details": None,
        "instructions": asked.get("instructions"),
        "metadata": asked.get("metadata") or {},
        "output": [],
        "store": asked.get("store") is not False,
        "text": {"format": {"type": "text"}},
        "usage": None,
    }


def _compose(call: Call) -> Answer:
    """A preset or an effort brings its own search."""
    tools = call.request.get("tools")
    listed = tools if isinstance(tools, list) else []
    searches = any(isinstance(tool, dict) and tool.get("type") == "web_search" for tool in listed)
    searches = searches or not _models(call.request)
    return answer_to(call, searches=searches)


def _answered(call: Call, answer: Answer) -> JSON:
    text, _ = answers.markdown(answer, lambda page, number: f"[{number}]", gap="")
    output = [*_results(call, answer), _message(call, text)]
    return {"output": output, "usage": _usage(call.prompt, text, len(answer.pages), len(answer.queries))}


def _results(call: Call, answer: Answer) -> list[JSON]:
    if not answer.queries:
        return []
    results = [_result(page, number) for number, page in enumerate(answer.pages, start=1)]
    return [{"type": "search_results", "queries": list(answer.queries), "results": results}]


def _result(page: Page, number: int) -> JSON:
    result: JSON = {"id": number, "url": page.url, "title": page.title, "snippet": page.snippet, "source": "web"}
    if page.date:
        result |= {"date": page.date, "last_updated": page.date}
    return result


def _message(call: Call, text: str, status: str = "completed") -> JSON:
    """Annotations stay empty: what is cited is told by the markers in the text."""
    part = {"type": "output_text", "text": text, "annotations": []}
    message_id = f"msg_{call.id.removeprefix('resp_')}"
    return {"type": "message", "id": message_id, "role": "assistant", "status": status, "content": [part]}


def _usage(prompt: str, text: str, pages: int, searches: int) -> JSON:
    asked, said = len(prompt) // 4 + 200 + 900 * pages, len(text) // 4
    parts = {
        "input_cost": round(asked * INPUT_COST, 6),
        "output_cost": round(said * OUTPUT_COST, 6),
        "tool_calls_cost": round(searches * SEARCH_COST, 6),
    }
    usage: JSON = {"input_tokens": asked, "output_tokens": said, "total_tokens": asked + said}
    if searches:
        usage["tool_calls_details"] = {"web_search": {"invocation": searches}}
    return usage | {"cost": {"currency": "USD", **parts, "total_cost": round(sum(parts.values()), 6)}}


# endings to order


def _failed(call: Call) -> JSON:
    error = {"message": "Stream error from the backend.", "type": "internal_error", "code": 500}
    return {"status": "failed", "completed_at": None, "error": error}


def _refused(call: Call) -> JSON:
    """The Agent API has no part for it: a refusal is a text that declines."""
    return {"output": [_message(call, answers.REFUSAL)], "usage": _usage(call.prompt, answers.REFUSAL, 0, 0)}


def _incomplete(call: Call) -> JSON:
    answer = _compose(call)
    text = answers.markdown(answer, lambda page, number: f"[{number}]", gap="")[0][:120]
    return {
        "status": "incomplete",
        "completed_at": None,
        "incomplete_details": {"reason": "max_output_tokens"},
        "output": [*_results(call, answer), _message(call, text, "incomplete")],
        "usage": _usage(call.prompt, text, len(answer.pages), len(answer.queries)),
    }


def _blocked(call: Call) -> JSON:
    return {"status": "incomplete", "completed_at": None, "incomplete_details": {"reason": "content_filter"}}


def _no_text(call: Call) -> JSON:
    answer = _compose(call)
    return {"output": _results(call, answer), "usage": _usage(call.prompt, "", len(answer.pages), len(answer.queries))}


def _hostile(call: Call) -> JSON:
    return _answered(call, answers.HOSTILE)


def _uncited(call: Call) -> JSON:
    return _answered(call, answer_to(call, searches=False))


def _oddly_cited(call: Call) -> JSON:
    return _answered(call, answers.ODD)


ENDINGS = {
    "failed": _failed,
    "refusal": _refused,
    "incomplete": _incomplete,
    "blocked": _blocked,
    "no_text": _no_text,
    "hostile": _hostile,
    "no_citations": _uncited,
    "odd_citations": _oddly_cited,
}
