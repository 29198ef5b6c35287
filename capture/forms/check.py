"""The form that starts a check. `startcheck` fills in the same one, so that both take and refuse the same."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django import forms
from django.conf import settings
from django.conf.locale import LANG_INFO
from django.core.exceptions import ValidationError

from capture import budgets, systems
from capture.forms.fields import CodeField, LinesField, NameField, check_name, code_widget, shortened
from capture.models import Prompt
from capture.orders import Order
from capture.providers import registry
from capture.providers.base import Provider

MOST_SAMPLES = 5
NONCE_LENGTH = 64

# Suggestions only; any code of the right shape is taken.
COUNTRIES = {
    "AT": "Austria",
    "AU": "Australia",
    "BE": "Belgium",
    "BR": "Brazil",
    "CA": "Canada",
    "CH": "Switzerland",
    "DE": "Germany",
    "DK": "Denmark",
    "ES": "Spain",
    "FR": "France",
    "GB": "United Kingdom",
    "IE": "Ireland",
    "IN": "India",
    "IT": "Italy",
    "JP": "Japan",
    "MX": "Mexico",
    "NL": "Netherlands",
    "NO": "Norway",
    "PL": "Poland",
    "PT": "Portugal",
    "SE": "Sweden",
    "US": "United States",
}
LANGUAGES = {code: info["name"] for code, info in LANG_INFO.items() if len(code) == 2 and "name" in info}


def new_nonce() -> str:
    """The random value by which one form is told from another."""
    return secrets.token_urlsafe(16)


def counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def check_prompt(prompt: str) -> None:
    """Refuse a question that is none, or too long."""
    if not any(character.isalnum() for character in prompt):
        raise ValidationError(f"“{shortened(prompt)}” is no question: it has neither letters nor digits.")
    most = settings.CAPTURE_MAX_PROMPT_LENGTH
    if len(prompt) > most:
        raise ValidationError(f"“{shortened(prompt)}” has {len(prompt):,} characters; at most {most:,} are allowed.")


@dataclass(frozen=True, slots=True)
class SystemChoice:
    """An AI system as a line of the form.

    Arguments:
        missing: what has to be set before it can be asked; empty when it can.
        simulated: it is the simulator that will answer.
        notes: what does not go as the form says for this system, in sentences.
        cost: what one question will probably cost, in a sentence; empty where it cannot be asked.
    """

    slug: str
    label: str
    surface: str
    missing: str
    simulated: bool
    checked: bool
    notes: tuple[str, ...]
    cost: str


def asked_with(provider: type[Provider]) -> str:
    """The setting without which a system cannot be asked."""
    return f"{provider.env_prefix}_API_KEY"


def all_systems() -> list[tuple[str, str]]:
    return [(provider.slug, provider.label) for provider in registry.PROVIDERS]


class CheckForm(forms.Form):
    """What is to be asked, of which AI systems, about which brand."""

    # Errors are told in our words, beside their fields, and not in the browser's.
    use_required_attribute = False

    brand = NameField(label="Brand", error_messages={"required": "Which brand is it about?"})
    competitors = LinesField(label="Competitors", required=False, help_text="One a line.")
    prompts = LinesField(
        label="Questions",
        help_text="One a line, as somebody would ask an AI system.",
        error_messages={"required": "Ask at least one question."},
    )
    providers = forms.MultipleChoiceField(
        label="AI systems", choices=all_systems, error_messages={"required": "Choose an AI system."}
    )
    country = CodeField(label="Country", required=False, widget=code_widget("DE", "countries"))
    language = CodeField(label="Language", required=False, widget=code_widget("de", "languages"))
    samples = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=MOST_SAMPLES,
        initial=1,
        help_text="How often each question is asked. A system seldom gives the same answer twice.",
        error_messages=dict.fromkeys(("invalid", "min_value", "max_value"), f"From 1 to {MOST_SAMPLES}, please."),
    )
    nonce = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["providers"].error_messages["invalid_choice"] = f"There is no AI system “%(value)s”. {available()}"
        for name, rows in {"competitors": 3, "prompts": 8}.items():
            self.fields[name].widget.attrs["rows"] = rows
        self.initial.setdefault("providers", list(systems.configured()))
        self.initial.setdefault("nonce", new_nonce())

    # ------------------------------------------------------------------------------------------------ what is typed

    def clean_competitors(self) -> list[str]:
        names = [" ".join(name.split()) for name in self.cleaned_data["competitors"]]
        if len(names) > settings.CAPTURE_MAX_COMPETITORS:
            most = settings.CAPTURE_MAX_COMPETITORS
            raise ValidationError(f"These are {counted(len(names), 'competitor')}; at most {most:,} are allowed.")
        seen: set[str] = set()
        for name in names:
            check_name(name)
            if name.casefold() in seen:
                raise ValidationError(f"“{shortened(name)}” is there twice.")
            seen.add(name.casefold())
        return names

    def clean_prompts(self) -> list[str]:
        first: dict[str, str] = {}
        for text in self.cleaned_data["prompts"]:
            first.setdefault(Prompt.key_of(text, "", ""), text)
        prompts = list(first.values())
        if len(prompts) > settings.CAPTURE_MAX_PROMPTS:
            most = settings.CAPTURE_MAX_PROMPTS
            raise ValidationError(f"These are {counted(len(prompts), 'question')}; at most {most:,} are allowed.")
        for text in prompts:
            check_prompt(text)
        return prompts

    def clean_providers(self) -> list[str]:
        chosen = set(self.cleaned_data["providers"])
        for provider in registry.PROVIDERS:
            if provider.slug in chosen - set(systems.configured()):
                message = f"{provider.label} cannot be asked here: {asked_with(provider)} is not set. {available()}"
                raise ValidationError(message)
        return [slug for slug in systems.configured() if slug in chosen]

    def clean_country(self) -> str:
        return str(self.cleaned_data["country"]).upper()

    def clean_language(self) -> str:
        return str(self.cleaned_data["language"]).lower()

    def clean_samples(self) -> int:
        return self.cleaned_data["samples"] or 1

    def clean_nonce(self) -> str:
        return str(self.cleaned_data["nonce"])[:NONCE_LENGTH] or new_nonce()

    def clean(self) -> dict[str, Any]:
        cleaned = self.cleaned_data
        self._refuse_brand_among(cleaned.get("competitors", []), cleaned.get("brand", ""))
        if {"prompts", "providers", "samples"} <= cleaned.keys():
            self._refuse_too_many(len(cleaned["prompts"]), cleaned["providers"], cleaned["samples"])
        return cleaned

    def _refuse_brand_among(self, competitors: Iterable[str], brand: str) -> None:
        if brand.casefold() in (name.casefold() for name in competitors):
            self.add_error("competitors", f"“{brand}” is the brand itself.")

    def _refuse_too_many(self, prompts: int, providers: Sequence[str], samples: int) -> None:
        jobs = prompts * sum(systems.samples_of(slug, samples) for slug in providers)
        most = settings.CAPTURE_MAX_JOBS
        if jobs > most:
            asked = f"{counted(prompts, 'question')} to {counted(len(providers), 'AI system')}"
            times = f", {samples} times each," if samples > 1 else ""
            self.add_error("prompts", f"{asked}{times} make {jobs:,} jobs; at most {most:,} are allowed.")

    # --------------------------------------------------------------------------------------------- what is shown

    @property
    def systems(self) -> list[SystemChoice]:
        """All AI systems, those that cannot be asked as well."""
        value = self["providers"].value() or []
        chosen = {value} if isinstance(value, str) else set(value)
        return [_choice(provider, chosen) for provider in registry.PROVIDERS]

    @property
    def unseen_errors(self) -> list[str]:
        """What is wrong with fields that the page does not show; only a changed page sends that."""
        return [str(message) for message in self["nonce"].errors]

    @property
    def cost(self) -> Decimal | None:
        """What the check would probably cost, in US dollars; None while the form does not say what is to be asked."""
        self.errors  # noqa: B018  reads the form
        asked = getattr(self, "cleaned_data", {})
        if not {"prompts", "providers", "samples"} <= asked.keys():
            return None
        return systems.cost(len(asked["prompts"]), asked["providers"], asked["samples"], systems.estimates())

    @property
    def estimate(self) -> str:
        """The same as a sentence; empty where there is none."""
        if self.cost is None:
            return ""
        return f"This check would cost about {budgets.rounded_up(self.cost)}." if self.cost else "This check is free."

    @property
    def can_ask(self) -> bool:
        return bool(systems.configured())

    @property
    def suggestions(self) -> Mapping[str, Mapping[str, str]]:
        return {"countries": COUNTRIES, "languages": LANGUAGES}

    # --------------------------------------------------------------------------------------------- what comes of it

    def to_order(self) -> Order:
        """The order, once the form is valid."""
        data = self.cleaned_data
        return Order(
            brand=data["brand"],
            competitors=tuple(data["competitors"]),
            prompts=tuple(data["prompts"]),
            providers=tuple(data["providers"]),
            samples=data["samples"],
            country=data["country"],
            language=data["language"],
            nonce=data["nonce"],
        )


def _choice(provider: type[Provider], chosen: set[str]) -> SystemChoice:
    asked = systems.configured().get(provider.slug)
    return SystemChoice(
        slug=provider.slug,
        label=provider.label,
        surface=provider.surface,
        missing="" if asked else asked_with(provider),
        simulated=asked is not None and asked.account.simulated,
        checked=asked is not None and provider.slug in chosen,
        cost=_cost(asked) if asked else "",
        notes=tuple(note for note in (provider.samples_note, provider.locale_note) if note),
    )


def _cost(asked: Provider) -> str:
    if asked.account.simulated:
        return "Costs nothing."
    return f"A question costs about ${asked.estimate():.3f}."


def available() -> str:
    """Which AI systems can be asked, as a sentence."""
    slugs: Sequence[str] = list(systems.configured())
    if not slugs:
        return "None is available: no key is set, and no simulator runs (bin/demo starts one)."
    return f"Available: {', '.join(slugs)}."
