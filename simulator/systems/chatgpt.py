"""ChatGPT as it is asked over the OpenAI Responses API with its `web_search` tool."""

import secrets
from typing import Any

from simulator import answers
from simulator.answers import Answer
from simulator.calls import Call, State
from simulator.dice import digest
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
    "background background_options context_management conversation include input instructions max_output_tokens "
    "max_tool_calls metadata model moderation parallel_tool_calls previous_response_id prompt prompt_cache_key "
    "prompt_cache_retention reasoning safety_identifier service_tier store stream stream_options temperature text "
    "tool_choice tools top_logprobs top_p truncation user"
)
MODELS = ("gpt-6-astra", "gpt-6.1-sol", "gpt-6-luna", "gpt-5.6-luna", "gpt-5-mini")
REASONING = ("gpt-5", "gpt-6", "o")
SOURCES = "web_search_call.action.sources"


class ChatGPT(System):
    slug = "chatgpt"
    prefix = "/openai/"
    median_s = 6.0

    def route(self, request: Request) -> Route | None:
        if request.path == "/openai/v1/models" and request.method == "GET":
            return Route("other")
        base = "/openai/v1/responses"
        verbs: dict[str, Any] = {"GET": "poll", "DELETE": "delete", "POST cancel": "cancel"}
        return responses_route(request, (base,), base, verbs)

    def asked(self, request: Request) -> Asked:
        return asked_in_responses_form(request)

    def refusal(self, request: Request) -> Reply | None:
        try:
            body = request.json()
        except ValueError:
            return _invalid("We could not parse the JSON body of your request.", None, None)
        if not isinstance(body, dict):
            return _invalid("The JSON body of the request must be an object.", None, None)
        return _refused_field(body) or _refused_value(body)

    def retrievable(self, call: Call) -> bool:
        """A background call can be polled for a while whatever `store` says."""
        return call.request.get("background") is True or super().retrievable(call)

    def new_id(self) -> str:
        return "resp_0" + secrets.token_hex(25)[1:]

    def unfinished(self, call: Call, state: State, request: Request) -> JSON:
        return {**_frame(call), "status": state.value}

    def finished(self, call: Call, request: Request) -> JSON:
        finished = {
            "status": "completed",
            "completed_at": int(call.due_at or call.created_at),
            "service_tier": "default",
        }
        frame = {**_frame(call), **finished, "model": _dated(call.request["model"]), "billing": {"payer": "developer"}}
        ordered = ending(call, ENDINGS)
        if ordered is None:
            ordered = _answered(call, _compose(call), listed=_wants_sources(call, request))
        return {**frame, **ordered}

    def deleted(self, call: Call) -> JSON:
        return {"id": call.id, "object": "response", "deleted": True}

    def reply(self, body: Any, status: int = 200) -> Reply:
        return json_reply(body, status, _headers())

    def other(self, request: Request) -> Reply:
        models = [{"id": name, "object": "model", "created": 1_780_000_000, "owned_by": "system"} for name in MODELS]
        return self.reply({"object": "list", "data": models})

    def bad_key(self, key: str) -> Reply:
        if not key:
            return _error(401, "You didn't provide an API key in an Authorization header (Bearer).", code=None)
        shown = key if len(key) <= 11 else f"{key[:7]}{'*' * 8}{key[-4:]}"
        return _error(401, f"Incorrect API key provided: {shown}.", code="invalid_api_key")

    def unknown_call(self, call_id: str) -> Reply:
        return _error(404, f"Response with id '{call_id}' not found.", code=None)

    def unknown_path(self, request: Request) -> Reply:
        path = request.path.removeprefix("/openai")
        return _error(404, f"Invalid URL ({request.method} {path})", code=None)

    def rate_limited(self, hint: str) -> Reply:
        message = "Rate limit reached for gpt-6-luna in organization org-simulated on tokens per min (TPM): "
        message += f"Limit 30000, Used 28000, Requested 3900.{hint}"
        return _error(429, message, kind="tokens", code="rate_limit_exceeded")

    def no_money(self) -> Reply:
        message = "You exceeded your current quota, please check your plan and billing details."
        return _error(429, message, kind="insufficient_quota", code="insufficient_quota")

    def overloaded(self) -> Reply:
        message = "Our servers are currently overloaded. Please try again later."
        return _error(503, message, kind="service_unavailable_error", code="server_is_overloaded")


# what is refused


def _refused_field(body: JSON) -> Reply | None:
    for name in body:
        if name not in FIELDS:
            return _invalid(f"Unknown parameter: '{name}'.", name, "unknown_parameter")
    for name in ("model", "input"):
        if body.get(name) in (None, "", []):
            return _invalid(f"Missing required parameter: '{name}'.", name, "missing_required_parameter")
    return None


def _refused_value(body: JSON) -> Reply | None:
    model, asked = body["model"], body["input"]
    if not isinstance(model, str):
        return _invalid("Invalid type for 'model': expected a string.", "model", "invalid_type")
    if not isinstance(asked, str | list):
        return _invalid("Invalid type for 'input': expected a string or an array.", "input", "invalid_type")
    if model.startswith("no-such"):
        return _invalid(f"The requested model '{model}' does not exist.", "model", "model_not_found")
    if "temperature" in body and model.startswith(REASONING):
        message = "Unsupported parameter: 'temperature' is not supported with this model."
        return _invalid(message, "temperature", None)
    if body.get("stream"):
        return _invalid("This simulator does not stream.", "stream", "unsupported_value")
    if len(str(asked)) > MOST_CHARACTERS:
        return _invalid("Your input exceeds the context window of this model.", "input", "context_length_exceeded")
    return None


def _invalid(message: str, param: str | None, code: str | None) -> Reply:
    return _error(400, message, param=param, code=code)


def _error(
    status: int, message: str, *, kind: str = "invalid_request_error", param: str | None = None, code: str | None
) -> Reply:
    body = {"error": {"message": message, "type": kind, "param": param, "code": code}}
    return json_reply(body, status, _headers())


def _headers() -> dict[str, str]:
    return {
        "openai-version": "2020-10-01",
        "openai-processing-ms": "120",
        "x-request-id": "req_" + secrets.token_hex(16),
        "x-ratelimit-limit-requests": "5000",
        "x-ratelimit-remaining-requests": "4999",
        "x-ratelimit-reset-requests": "12ms",
    }


# bodies


def _frame(call: Call) -> JSON:
    """Every field of a response object; what has happened since goes over it."""
    asked = call.request
    return {
        "id": call.id,
        "object": "response",
        "created_at": int(call.created_at),
        "status": "queued",
        "background": asked.get("background") is True,
        "completed_at": None,
        "error": None,
        "frequency_penalty": 0.0,
        "incomplete_details": None,
        "instructions": asked.get("instructions"),
        "max_output_tokens": asked.get("max_output_tokens"),
        "max_tool_calls": asked.get("max_tool_calls"),
        "metadata": asked.get("metadata") or {},
        "model": asked["model"],
        "moderation": None,
        "output": [],
        "parallel_tool_calls": True,
        "presence_penalty": 0.0,
        "previous_response_id": None,
        "prompt_cache_key": None,
        "prompt_cache_retention": "24h",
        "reasoning": {"context": "all_turns", "effort": "medium", "mode": "standard", "summary": None}
        | (asked.get("reasoning") or {}),
        "safety_identifier": None,
        "service_tier": "auto",
        "store": asked.get("store", True) is not False,
        "temperature": 1.0,
        "text": {"format": {"type": "text"}, "verbosity": "medium"},
        "tool_choice": asked.get("tool_choice", "auto"),
        "tool_usage": _tool_usage(0),
        "tools": [_tool(tool) for tool in _tools(asked)],
        "top_logprobs": 0,
        "top_p": 0.98,
        "truncation": "disabled",
        "usage": None,
        "user": None,
    }


def _tools(asked: JSON) -> list[JSON]:
    tools = asked.get("tools")
    return [tool for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else []


def _tool(tool: JSON) -> JSON:
    """A tool is echoed with its defaults, and a search that names no place is one from the US."""
    if tool.get("type") != "web_search":
        return tool
    place = {"type": "approximate", "city": None, "country": None, "region": None, "timezone": None}
    place |= tool.get("user_location") or {"country": "US"}
    defaults = {"filters": None, "return_token_budget": "default", "search_content_types": ["text"]}
    return {**defaults, "search_context_size": "medium", **tool, "user_location": place}


def _tool_usage(searches: int) -> JSON:
    none = {"image_tokens": 0, "text_tokens": 0}
    image = {
        "input_tokens": 0,
        "input_tokens_details": none,
        "output_tokens": 0,
        "output_tokens_details": none,
        "total_tokens": 0,
    }
    return {"image_gen": image, "web_search": {"num_requests": searches}}


def _dated(model: str) -> str:
    return model if model[-10:-8] == "20" else f"{model}-2026-09-15"


def _wants_sources(call: Call, request: Request) -> bool:
    asked = call.request.get("include")
    return SOURCES in (asked if isinstance(asked, list) else []) or any(
        SOURCES in values for name, values in request.query.items() if name in ("include", "include[]")
    )


def _compose(call: Call) -> Answer:
    """A model that is offered the search tool uses it, so that every answer of a demo shows its sources."""
    searches = any(str(tool.get("type")).startswith("web_search") for tool in _tools(call.request))
    return answer_to(call, searches=searches)


def _answered(call: Call, answer: Answer, *, listed: bool) -> JSON:
    text, annotations = _cited_text(answer)
    output = [_reasoning(call), *_searches(call, answer, listed=listed), _message(call, _text_part(text, annotations))]
    return {
        "output": output,
        "usage": _usage(call.prompt, text, len(answer.pages)),
        "tool_usage": _tool_usage(1 if answer.queries else 0),
    }


def _cited_text(answer: Answer) -> tuple[str, list[JSON]]:
    text, marks = answers.markdown(answer, lambda page, number: f"([{page.domain}]({_tracked(page.url)}))", gap=" ")
    return text, [_annotation(answer.pages[mark.page], mark) for mark in marks]


def _annotation(page: Page, mark: answers.Mark) -> JSON:
    """Indexes count characters, and span the link with its brackets."""
    return {
        "type": "url_citation",
        "start_index": mark.start,
        "end_index": mark.end,
        "title": page.title,
        "url": _tracked(page.url),
    }


def _tracked(url: str) -> str:
    return f"{url}{'&' if '?' in url else '?'}utm_source=openai"


def _reasoning(call: Call) -> JSON:
    return {"id": _part_id(call, "rs", 0), "type": "reasoning", "content": [], "summary": []}


def _searches(call: Call, answer: Answer, *, listed: bool) -> list[JSON]:
    if not answer.queries:
        return []
    action: JSON = {"type": "search", "queries": list(answer.queries), "query": answer.queries[0]}
    if listed:
        action["sources"] = [{"type": "url", "url": page.url} for page in answer.pages]
    return [{"id": _part_id(call, "ws", 1), "type": "web_search_call", "status": "completed", "action": action}]


def _message(call: Call, part: JSON, status: str = "completed") -> JSON:
    message = {"id": _part_id(call, "msg", 2), "type": "message", "role": "assistant", "status": status}
    return {**message, "phase": "final_answer", "content": [part]}


def _text_part(text: str, annotations: list[JSON]) -> JSON:
    return {"type": "output_text", "text": text, "annotations": annotations, "logprobs": []}


def _part_id(call: Call, kind: str, number: int) -> str:
    """Parts share the head of their response's id, as the real ones do."""
    return f"{kind}_{call.id[5:21]}{digest(f'{call.id}:{kind}:{number}', 34)}"


def _usage(prompt: str, text: str, pages: int) -> JSON:
    asked, said, thought = len(prompt) // 4 + 300 + 1_100 * pages, len(text) // 4, 64 * (pages + 1)
    return {
        "input_tokens": asked,
        "input_tokens_details": {"cache_write_tokens": 0, "cached_tokens": 0},
        "output_tokens": said + thought,
        "output_tokens_details": {"reasoning_tokens": thought},
        "total_tokens": asked + said + thought,
    }


# endings to order


def _failed(call: Call) -> JSON:
    message = "An error occurred while processing your request. You can retry your request."
    return {"status": "failed", "completed_at": None, "error": {"code": "server_error", "message": message}}


def _refused(call: Call) -> JSON:
    part = {"type": "refusal", "refusal": answers.REFUSAL}
    return {"output": [_reasoning(call), _message(call, part)], "usage": _usage(call.prompt, answers.REFUSAL, 0)}


def _incomplete(call: Call) -> JSON:
    text = _cited_text(_compose(call))[0][:120]
    return {
        "status": "incomplete",
        "completed_at": None,
        "incomplete_details": {"reason": "max_output_tokens"},
        "output": [_reasoning(call), _message(call, _text_part(text, []), "incomplete")],
        "usage": _usage(call.prompt, text, 0),
    }


def _blocked(call: Call) -> JSON:
    return {"status": "incomplete", "completed_at": None, "incomplete_details": {"reason": "content_filter"}}


def _no_text(call: Call) -> JSON:
    answer = _compose(call)
    output = [_reasoning(call), *_searches(call, answer, listed=True)]
    return {"output": output, "usage": _usage(call.prompt, "", 0), "tool_usage": _tool_usage(bool(answer.queries))}


def _hostile(call: Call) -> JSON:
    return _answered(call, answers.HOSTILE, listed=True)


def _uncited(call: Call) -> JSON:
    return _answered(call, answer_to(call, searches=False), listed=True)


def _oddly_cited(call: Call) -> JSON:
    return _answered(call, answers.ODD, listed=True)


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
