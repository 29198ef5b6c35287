"""Gemini, asked through the Gemini API with Google's search: by the Interactions API, or by `generateContent`."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from capture.providers import (
    gemini_costs,
    gemini_errors,
    gemini_generate,
    gemini_interactions,
    model_lists,
    prices,
    remote_ids,
)
from capture.providers.base import Account, Provider, gettext_noop
from capture.providers.errors import problem_of
from capture.providers.gemini_redirects import Redirects
from capture.providers.reading import mappings_of, read_object, text_of, unreadable
from capture.providers.replies import ProviderError, Question, Reply
from capture.providers.transport import Patience, Request, Transport

INTERACTIONS = "interactions"
GENERATE_CONTENT = "generate_content"

# The whole search and answer happens while the connection is open.
_SYNCHRONOUS = Patience(silence=120.0, total=150.0)


class Gemini(Provider):
    """Google's model with Google's search, which comes close to what the Gemini app answers.

    The setting `GEMINI_API` says how a question is asked. Every kind of response is read either way, and a call that
    was started in the background is looked after even when the setting has changed since.
    """

    slug = "gemini"
    label = "Gemini"
    surface = "Gemini, asked through the Gemini API with Google Search"
    lane = gemini_costs.LANE
    env_prefix = "GEMINI"
    default_base_url = "https://generativelanguage.googleapis.com"
    default_model = gemini_costs.DEFAULT_MODEL
    simulator_path = "/gemini"
    apis = (INTERACTIONS, GENERATE_CONTENT)
    takes_country = True
    takes_language = True
    locale_note = gettext_noop(
        "Gemini has no setting for a country or a language. Both are put to it as an instruction, which it may or may "
        "not heed."
    )

    def __init__(self, account: Account, transport: Transport) -> None:
        super().__init__(account, transport)
        self._redirects = Redirects(account)
        if account.api == GENERATE_CONTENT:
            self.resumable = False
            self.start_patience = _SYNCHRONOUS

    def start_request(self, question: Question) -> Request:
        instruction = _instruction(question)
        if self.account.api == GENERATE_CONTENT:
            url = self._url(f"models/{remote_ids.path_segment(self.account.model)}:generateContent")
            body = gemini_generate.body(question.text, instruction)
        else:
            url = self._url("interactions")
            body = gemini_interactions.body(question.text, instruction, self.account.model)
        return Request("POST", url, self._headers(), body, patience=self.start_patience)

    def poll_request(self, remote_id: str) -> Request:
        return Request("GET", self._url(f"interactions/{remote_ids.path_segment(remote_id)}"), self._headers())

    def check_request(self) -> Request:
        return Request("GET", self._url("models?pageSize=1000"), self._headers())

    def _url(self, path: str) -> str:
        return f"{self.account.base_url}/v1beta/{path}"

    def _headers(self) -> dict[str, str]:
        return {
            "x-goog-api-key": self.account.api_key,
            "Api-Revision": gemini_interactions.REVISION,
            "Content-Type": "application/json",
            "Accept": "application/json",
        }

    def estimate(self) -> Decimal:
        return prices.estimate(self.lane, self.account.model, self.default_model)

    def read(self, status: int, headers: Mapping[str, str], body: bytes) -> Reply:
        # A status of 0 means that none is known; then the body must speak for itself.
        if status and not 200 <= status < 300:
            raise gemini_errors.error_of_response(status, headers, body)
        document = read_object(body, status)
        if gemini_generate.is_reply(document):
            return gemini_generate.read(document, self._redirects)
        if gemini_interactions.is_reply(document):
            return gemini_interactions.read(document, status, headers, self._redirects)
        if document.get("error"):
            raise gemini_errors.error_in(problem_of(status, document), headers)
        raise unreadable(status, "The answer is of no kind that is known.")

    def read_check(self, status: int, headers: Mapping[str, str], body: bytes) -> str:
        if not 200 <= status < 300:
            raise gemini_errors.error_of_response(status, headers, body)
        models = mappings_of(read_object(body, status), "models")
        return model_lists.in_words(
            (text_of(model, "name").removeprefix("models/") for model in models), self.account.model
        )

    def resolve(self, url: str) -> str | None:
        request = self._redirects.request(url)
        if request is None:
            return None
        try:
            response = self._transport.send(request, fresh_connection=False)
        except ProviderError:
            return None
        return self._redirects.target(response.status, response.headers)


def _instruction(question: Question) -> str:
    """What Gemini is told of the question's country and language; empty when it has neither."""
    country = f"The person who asks is in the country with the ISO 3166 code {question.country}."
    language = f"Answer in the language with the ISO 639 code {question.language}."
    return " ".join([country] * bool(question.country) + [language] * bool(question.language))
