"""Bodies of the Interactions API, which can be asked in the background."""

import secrets
import string
from datetime import UTC, datetime

from simulator import answers
from simulator.answers import Answer, Span
from simulator.calls import Call, State
from simulator.dice import digest
from simulator.exchange import JSON
from simulator.systems.base import answer_to, field_names
from simulator.systems.gemini.grounding import Ending, byte_index, link, ordered_ending, tokens

FIELDS = field_names(
    "model agent input tools background store generation_config system_instruction previous_interaction_id stream "
    "response_format response_mime_type response_modalities service_tier agent_config"
)


def new_id() -> str:
    return "v1_" + "".join(secrets.choice(string.ascii_letters + string.digits) for _ in range(64))


def searches(asked: JSON) -> bool:
    tools = asked.get("tools")
    listed = tools if isinstance(tools, list) else []
    return any(isinstance(tool, dict) and tool.get("type") == "google_search" for tool in listed)


def unfinished(call: Call, state: State) -> JSON:
    return {**_frame(call), "status": "cancelled" if state is State.CANCELLED else "in_progress"}


def finished(call: Call, origin: str) -> JSON:
    frame = {**_frame(call), "updated": _time(call.due_at or call.created_at), "service_tier": "standard"}
    ordered = ordered_ending(call, origin, ENDINGS)
    if ordered is None:
        ordered = _answered(call, answer_to(call, searches=searches(call.request)), origin)
    return {**frame, **ordered}


def _frame(call: Call) -> JSON:
    asked = call.request
    named = "model" if asked.get("model") else "agent"
    times = {"created": _time(call.created_at), "updated": _time(call.created_at)}
    return {"id": call.id, "status": "completed", "object": "interaction", named: asked.get(named), **times}


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


# answers


def _answered(call: Call, answer: Answer, origin: str) -> JSON:
    text, spans = answers.spans(answer)
    notes = [_annotation(answer, text, span, page, origin) for span in spans for page in span.pages]
    return {"steps": _steps(call, answer, _output(text, notes)), "usage": _usage(call, text, answer)}


def _steps(call: Call, answer: Answer, *output: JSON) -> list[JSON]:
    """In any order, as the real ones come: now the search first, now the text."""
    search = _search(call, answer)
    later = [*search, *output] if call.sample % 2 else [*output, *search]
    return [_thought(call), *later]


def _thought(call: Call) -> JSON:
    return {"type": "thought", "signature": digest(f"{call.id}:thought", 40)}


def _search(call: Call, answer: Answer) -> list[JSON]:
    if not answer.queries:
        return []
    step_id = digest(f"{call.id}:search")
    suggestions = [{"search_suggestions": f"<div class='chips'><a>{query}</a></div>"} for query in answer.queries]
    asked = {"type": "google_search_call", "id": step_id, "arguments": {"queries": list(answer.queries)}}
    found = {"type": "google_search_result", "call_id": step_id, "result": suggestions, "is_error": False}
    return [asked | {"search_type": "web_search"}, found]


def _output(text: str, annotations: list[JSON]) -> JSON:
    part: JSON = {"type": "text", "text": text} | ({"annotations": annotations} if annotations else {})
    return {"type": "model_output", "content": [part]}


def _annotation(answer: Answer, text: str, span: Span, page: int, origin: str) -> JSON:
    """The title is no title but the site's domain."""
    cited = answer.pages[page]
    note: JSON = {
        "type": "url_citation",
        "start_index": byte_index(text, span.start),
        "end_index": byte_index(text, span.end),
        "url": link(cited, origin),
    }
    return note | ({"title": cited.domain} if cited.domain else {})


def _usage(call: Call, text: str, answer: Answer | None = None) -> JSON:
    used = tokens(call, text, answer)
    usage: JSON = {
        "total_tokens": used.total,
        "total_input_tokens": used.asked,
        "input_tokens_by_modality": [{"modality": "text", "tokens": used.asked}],
        "total_cached_tokens": 0,
        "total_output_tokens": used.said,
        "total_tool_use_tokens": used.tools,
        "total_thought_tokens": used.thought,
    }
    if answer and answer.queries:
        usage["grounding_tool_count"] = [{"type": "google_search", "count": len(answer.queries)}]
    return usage


# endings to order


def _stopped(code: str, message: str) -> Ending:
    """Ended for a reason that has a code."""
    return lambda call, origin: {
        "status": "failed",
        "errors": [{"code": code, "message": message}],
        "steps": [],
        "usage": _usage(call, ""),
    }


def _refused(call: Call, origin: str) -> JSON:
    """There is no part for it: a refusal is a text that declines."""
    return {"steps": [_thought(call), _output(answers.REFUSAL, [])], "usage": _usage(call, answers.REFUSAL)}


def _incomplete(call: Call, origin: str) -> JSON:
    text = answers.spans(answer_to(call))[0][:120]
    return {"status": "incomplete", "steps": [_thought(call), _output(text, [])], "usage": _usage(call, text)}


def _all_thought(call: Call, origin: str) -> JSON:
    """Thinking has eaten the budget."""
    return {"status": "incomplete", "steps": [_thought(call)], "usage": _usage(call, "")}


def _no_text(call: Call, origin: str) -> JSON:
    answer = answer_to(call)
    return {"steps": _steps(call, answer), "usage": _usage(call, "", answer)}


ENDINGS: dict[str, Ending] = {
    "failed": _stopped("api_error", "An internal error has occurred."),
    "refusal": _refused,
    "incomplete": _incomplete,
    "blocked": _stopped("prohibited_content", "The request was blocked."),
    "no_text": _no_text,
    "hostile": lambda call, origin: _answered(call, answers.HOSTILE, origin),
    "no_citations": lambda call, origin: _answered(call, answer_to(call, searches=False), origin),
    "odd_citations": lambda call, origin: _answered(call, answers.ODD, origin),
    "max_tokens": _all_thought,
    "safety": _stopped("safety", "The output was blocked."),
    "recitation": _stopped("recitation", "The output was blocked."),
}
