"""Gemini over the Interactions API, in the background, or over `generateContent`, which answers in its reply."""

from typing import Any

from simulator.calls import Call, State
from simulator.exchange import JSON, Reply, Request
from simulator.systems.base import MOST_CHARACTERS, Asked, Route, System, last_user_text, parts_text, responses_route
from simulator.systems.gemini import errors, generate_content, interactions
from simulator.systems.gemini.errors import error, google_reply, interactions_error
from simulator.systems.gemini.grounding import REDIRECTS, target

BASE = "/gemini/v1beta"
MODELS = ("gemini-4-argon", "gemini-3.8-flash", "gemini-3.5-flash-lite", "gemini-2.5-flash")
GENERATE = ":generateContent"


class Gemini(System):
    slug = "gemini"
    prefix = "/gemini/"
    median_s = 9.0
    own_endings = ("max_tokens", "safety", "recitation")
    own_errors = errors.ORDERED

    def route(self, request: Request) -> Route | None:
        if request.path.startswith(REDIRECTS) and request.method == "GET":
            return Route("redirect")
        if _model(request) and request.method == "POST":
            return Route("start")
        if request.path.startswith(f"{BASE}/models") and request.method == "GET":
            return Route("other")
        verbs: dict[str, Any] = {"GET": "poll", "DELETE": "delete", "POST cancel": "cancel"}
        return responses_route(request, (f"{BASE}/interactions",), f"{BASE}/interactions", verbs)

    def key(self, request: Request) -> str:
        return request.headers.get("x-goog-api-key", "") or request.parameters().get("key", "")

    def asked(self, request: Request) -> Asked:
        """Neither API takes anything that would name the client's run."""
        body, model = request.json_object(), _model(request)
        if model:
            return Asked(generate_content.question(body.get("contents")), {**body, "model": model})
        question = parts_text(body.get("input")) or last_user_text(body.get("input"))
        return Asked(question, body, background=body.get("background") is True)

    def refusal(self, request: Request) -> Reply | None:
        try:
            body = request.json()
        except ValueError:
            body = None
        model = _model(request)
        return _refused_content(body, model) if model else _refused_interaction(body)

    def retrievable(self, call: Call) -> bool:
        return not _generates(call) and super().retrievable(call)

    def new_id(self) -> str:
        return interactions.new_id()

    def unfinished(self, call: Call, state: State, request: Request) -> JSON:
        return interactions.unfinished(call, state)

    def finished(self, call: Call, request: Request) -> JSON:
        """Links lead back to wherever the client found this simulator."""
        finished = generate_content.finished if _generates(call) else interactions.finished
        return finished(call, request.origin())

    def final_status(self, call: Call) -> int:
        return 500 if _generates(call) and call.shape == "failed" else 200

    def deleted(self, call: Call) -> JSON:
        return {}

    def reply(self, body: Any, status: int = 200) -> Reply:
        return google_reply(body, status)

    def other(self, request: Request) -> Reply:
        name = request.path.removeprefix(f"{BASE}/models").strip("/")
        if not name:
            return self.reply({"models": [_about(model) for model in MODELS]})
        return self.reply(_about(name)) if name in MODELS else _no_model(name)

    def redirect(self, request: Request) -> Reply:
        location = target(request.path.removeprefix(REDIRECTS))
        if location is None:
            return Reply(404, {"content-type": "text/html; charset=UTF-8"}, b"<title>Error 404 (Not Found)</title>")
        return Reply(302, {"content-type": "text/html; charset=UTF-8", "location": location})

    def bad_key(self, key: str) -> Reply:
        return errors.bad_key(key)

    def unknown_call(self, call_id: str) -> Reply:
        return interactions_error(404, "not_found", f"Interaction {call_id} was not found.")

    def unknown_path(self, request: Request) -> Reply:
        return error(404, "NOT_FOUND", f"No such path: {request.path.removeprefix('/gemini')}")

    def rate_limited(self, hint: str) -> Reply:
        return errors.rate_limited(hint)

    def no_money(self) -> Reply:
        return errors.no_money()

    def overloaded(self) -> Reply:
        return errors.overloaded()


def _model(request: Request) -> str:
    """The model in a path of `generateContent`; empty on any other path."""
    head, _, rest = request.path.partition(f"{BASE}/models/")
    return rest.removesuffix(GENERATE) if not head and rest.endswith(GENERATE) else ""


def _generates(call: Call) -> bool:
    return "contents" in call.request


def _about(model: str) -> JSON:
    methods = {"supportedGenerationMethods": ["generateContent", "countTokens"]}
    return {"name": f"models/{model}", "version": "001", "inputTokenLimit": 1_048_576, **methods}


# what is refused


def _refused_content(body: Any, model: str) -> Reply | None:
    if not isinstance(body, dict):
        return error(400, "INVALID_ARGUMENT", "Invalid JSON payload received. An object was expected.")
    for name in body:
        if name not in generate_content.FIELDS:
            return error(400, "INVALID_ARGUMENT", f'Invalid JSON payload received. Unknown name "{name}".')
    if not generate_content.question(body.get("contents")):
        return error(400, "INVALID_ARGUMENT", "* GenerateContentRequest.contents: contents is not specified")
    if model.startswith("no-such"):
        return _no_model(model)
    if len(str(body["contents"])) > MOST_CHARACTERS:
        return error(400, "INVALID_ARGUMENT", "The input token count exceeds the maximum number of tokens allowed.")
    return None


def _no_model(model: str) -> Reply:
    return error(404, "NOT_FOUND", f"models/{model} is not found for API version v1beta.")


def _refused_interaction(body: Any) -> Reply | None:
    if not isinstance(body, dict):
        return _invalid("The request body must be a JSON object.")
    for name in body:
        if name not in interactions.FIELDS:
            return interactions_error(400, "parameter_unknown", f"Unknown parameter '{name}'.")
    if not (body.get("model") or body.get("agent")):
        return _invalid("One of 'model' and 'agent' is required.")
    if str(body.get("model")).startswith("no-such"):
        return interactions_error(404, "model_not_found", f"Model '{body['model']}' was not found.")
    return _refused_value(body)


def _refused_value(body: JSON) -> Reply | None:
    if not isinstance(body.get("input"), str | list) or not body["input"]:
        return _invalid("The parameter 'input' is required: a string or an array.")
    if body.get("background") is True and body.get("store") is False:
        return _invalid("A background interaction must be stored.")
    if body.get("stream"):
        return _invalid("This simulator does not stream.")
    if len(str(body["input"])) > MOST_CHARACTERS:
        return _invalid("The input is longer than this model can read.")
    return None


def _invalid(message: str) -> Reply:
    return interactions_error(400, "invalid_request", message)
