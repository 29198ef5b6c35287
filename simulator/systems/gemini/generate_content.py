"""Bodies of `generateContent`, which answers in its reply and leaves nothing to poll."""

from typing import Any

from simulator import answers
from simulator.answers import Answer, Span
from simulator.calls import Call
from simulator.dice import digest
from simulator.exchange import JSON
from simulator.pages import Page
from simulator.systems.base import answer_to, field_names
from simulator.systems.gemini.grounding import Ending, byte_index, link, ordered_ending, tokens

FIELDS = field_names(
    "contents tools toolConfig tool_config safetySettings safety_settings systemInstruction system_instruction "
    "generationConfig generation_config cachedContent cached_content labels serviceTier service_tier"
)
SEARCH_TOOLS = {"google_search", "googleSearch"}


def question(contents: Any) -> str:
    """The last thing that the user said."""
    said = [item for item in contents if isinstance(item, dict)] if isinstance(contents, list) else []
    said = [item for item in said if item.get("role", "user") == "user"]
    parts = said[-1].get("parts") if said else None
    texts = [part.get("text") for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
    return "\n".join(text for text in texts if isinstance(text, str))


def searches(asked: JSON) -> bool:
    tools = asked.get("tools")
    listed = tools if isinstance(tools, list) else []
    return any(isinstance(tool, dict) and not SEARCH_TOOLS.isdisjoint(tool) for tool in listed)


def finished(call: Call, origin: str) -> JSON:
    ordered = ordered_ending(call, origin, ENDINGS)
    if ordered is None:
        ordered = _answered(call, answer_to(call, searches=searches(call.request)), origin)
    named = {"modelVersion": call.request["model"], "responseId": digest(call.id, 22)}
    return ordered if "error" in ordered else {**ordered, **named}


# answers


def _answered(call: Call, answer: Answer, origin: str) -> JSON:
    text, spans = answers.spans(answer)
    grounding = _grounding(answer, text, spans, origin)
    return _candidate(call, "STOP", text, answer, groundingMetadata=grounding)


def _candidate(call: Call, reason: str, text: str, answer: Answer | None = None, **more: Any) -> JSON:
    content: JSON = {"role": "model"} | ({"parts": [{"text": text}]} if text else {})
    candidate = {"content": content, "finishReason": reason, "index": 0, **more}
    return {"candidates": [candidate], "usageMetadata": _usage(call, text, answer)}


def _grounding(answer: Answer, text: str, spans: list[Span], origin: str) -> JSON:
    """Empty when nothing was searched for."""
    if not answer.queries:
        return {}
    return {
        "webSearchQueries": list(answer.queries),
        "searchEntryPoint": {"renderedContent": f"<div class='chips'><a>{answer.queries[0]}</a></div>"},
        "groundingChunks": [{"web": _chunk(page, origin)} for page in answer.pages],
        "groundingSupports": [_support(text, span) for span in spans],
    }


def _chunk(page: Page, origin: str) -> JSON:
    """The title is no title but the site's domain."""
    return {"uri": link(page, origin)} | ({"title": page.domain} if page.domain else {})


def _support(text: str, span: Span) -> JSON:
    """A start of 0 is left out, as in any message of Google's."""
    start = byte_index(text, span.start)
    segment: JSON = {"endIndex": byte_index(text, span.end), "text": text[span.start : span.end]}
    return {
        "segment": ({"startIndex": start} if start else {}) | segment,
        "groundingChunkIndices": list(span.pages),
    }


def _usage(call: Call, text: str, answer: Answer | None = None) -> JSON:
    used = tokens(call, text, answer)
    usage = {
        "promptTokenCount": used.asked,
        "candidatesTokenCount": used.said,
        "thoughtsTokenCount": used.thought,
        "toolUsePromptTokenCount": used.tools,
    }
    return {
        **{name: count for name, count in usage.items() if count},
        "totalTokenCount": used.total,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": used.asked}],
        "serviceTier": "standard",
    }


# endings to order


def _without_content(reason: str) -> Ending:
    return lambda call, origin: {
        "candidates": [{"finishReason": reason, "index": 0}],
        "usageMetadata": _usage(call, ""),
    }


def _failed(call: Call, origin: str) -> JSON:
    """A synchronous call that fails does so by its status; see `final_status`."""
    message = "An internal error has occurred. Please retry."
    return {"error": {"code": 500, "message": message, "status": "INTERNAL"}}


def _refused(call: Call, origin: str) -> JSON:
    return _candidate(call, "STOP", answers.REFUSAL)


def _incomplete(call: Call, origin: str) -> JSON:
    return _candidate(call, "MAX_TOKENS", answers.spans(answer_to(call))[0][:120])


def _blocked(call: Call, origin: str) -> JSON:
    """The prompt is refused, so that there is no candidate at all."""
    return {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": _usage(call, "")}


def _safety(call: Call, origin: str) -> JSON:
    rating = {"category": "HARM_CATEGORY_HARASSMENT", "probability": "HIGH", "blocked": True}
    candidate = {"finishReason": "SAFETY", "index": 0, "safetyRatings": [rating]}
    return {"candidates": [candidate], "usageMetadata": _usage(call, "")}


ENDINGS: dict[str, Ending] = {
    "failed": _failed,
    "refusal": _refused,
    "incomplete": _incomplete,
    "blocked": _blocked,
    "no_text": _without_content("OTHER"),
    "hostile": lambda call, origin: _answered(call, answers.HOSTILE, origin),
    "no_citations": lambda call, origin: _answered(call, answer_to(call, searches=False), origin),
    "odd_citations": lambda call, origin: _answered(call, answers.ODD, origin),
    "max_tokens": lambda call, origin: _candidate(call, "MAX_TOKENS", ""),
    "safety": _safety,
    "recitation": _without_content("RECITATION"),
}
