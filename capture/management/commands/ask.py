"""`manage.py ask`: one question to one AI system, outside the queue. Needs no database."""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from capture import reasons, systems, trial
from capture.providers import registry
from capture.providers.base import Provider
from capture.providers.replies import Answered, Cost, FinalReply, ProviderError, Question, Source

NO_ANSWER = 1
BAD_INPUT = 2


class Command(BaseCommand):
    help = "Ask one AI system one question and show what comes back. Exit code 0: an answer; 1: none; 2: bad input."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("provider", choices=list(registry.by_slug), help="the AI system")
        parser.add_argument("question")
        parser.add_argument("--country", type=code, default="", help="two letters, such as DE")
        parser.add_argument("--language", type=code, default="", help="two letters, such as de")
        parser.add_argument("--json", action="store_true", help="print one object on standard output")

    def handle(self, *args: Any, **options: Any) -> None:
        provider = configured(options["provider"])
        if not options["question"].strip():
            raise CommandError("The question is empty.", returncode=BAD_INPUT)
        question = Question(options["question"], options["country"].upper(), options["language"].lower(), run="ask")
        self.stderr.write(f"Asking: {provider.surface}{simulated(provider)}", style_func=str)
        if (question.country or question.language) and provider.locale_note:
            self.stderr.write(provider.locale_note, style_func=str)
        began = time.monotonic()
        try:
            found = described(provider, trial.ask(provider, question))
        except ProviderError as error:
            found = failed(error)
        found |= {"surface": provider.surface, "simulated": provider.account.simulated}
        found["seconds"] = round(time.monotonic() - began, 1)
        self.stdout.write(json.dumps(found, ensure_ascii=False) if options["json"] else in_words(found))
        if found["outcome"] != "answered":
            raise SystemExit(NO_ANSWER)


def code(value: str) -> str:
    """An argparse type: a code of two letters, or nothing."""
    if value and not (len(value) == 2 and value.isascii() and value.isalpha()):
        raise argparse.ArgumentTypeError("two letters, please, such as DE")
    return value


def configured(slug: str) -> Provider:
    """The system, which must be one that can be asked here."""
    provider = systems.configured().get(slug)
    if provider is None:
        what = f"set {registry.by_slug[slug].env_prefix}_API_KEY, or run the simulator"
        raise CommandError(f"{registry.by_slug[slug].label} cannot be asked here: {what}.", returncode=BAD_INPUT)
    return provider


def simulated(provider: Provider) -> str:
    return " (simulated)" if provider.account.simulated else ""


def described(provider: Provider, reply: FinalReply) -> dict[str, Any]:
    """A reply as one flat object."""
    found: dict[str, Any] = {"outcome": type(reply).__name__.lower(), "model": reply.model}
    found |= {name: getattr(reply, name) for name in ("text", "reason") if hasattr(reply, name)}
    found |= money(reply.cost)
    if isinstance(reply, Answered):
        found["sources"] = [source_of(provider, source) for source in reply.sources]
    return found


def failed(error: ProviderError) -> dict[str, Any]:
    """An error as one flat object."""
    found: dict[str, Any] = {"outcome": "failed", "reason": error.reason, "detail": error.message}
    return found | money(error.cost) | {"maybe_charged": error.maybe_charged}


def money(cost: Cost | None) -> dict[str, str]:
    return {"cost": str(cost.amount), "basis": cost.basis.value} if cost else {}


def source_of(provider: Provider, source: Source) -> dict[str, Any]:
    page = provider.resolve(source.raw_url) if source.redirect else None
    return {"url": page or source.url, "title": source.title, "cited": source.cited}


def in_words(found: dict[str, Any]) -> str:
    """The same for people."""
    lines = [f"Outcome: {found['outcome']}{simulated_mark(found)}"]
    if reason := found.get("reason"):
        lines.append(f"Reason: {reasons.in_words(reason)}")
    lines += [found[name] for name in ("detail", "text") if found.get(name)]
    if found.get("maybe_charged"):
        lines.append("It may have been charged all the same.")
    if sources := found.get("sources"):
        lines += ["", "Sources:"] + [source_line(number, source) for number, source in enumerate(sources, start=1)]
    cost = f" · ${found['cost']} ({found['basis']})" if "cost" in found else ""
    return "\n".join(
        [*lines, "", f"{found['surface']} · {found.get('model') or 'no model named'} · {found['seconds']} s{cost}"]
    )


def simulated_mark(found: dict[str, Any]) -> str:
    return " (simulated)" if found["simulated"] else ""


def source_line(number: int, source: dict[str, Any]) -> str:
    return f"{number:3}. {source['url']}{'' if source['cited'] else ' (listed only)'}"
