"""A form that is not sent yet: what is typed so far, counted, and changed by what somebody picks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext as _

from capture import starters, systems
from capture.analysis.mentions import Entity, find_mentions
from capture.forms.fields import lines_of
from capture.models import Prompt, Team
from capture.reports import Wanted, earlier_brands, key_of

MOST_SAMPLES = 5

_NUMBER = re.compile(r"[0-9]{1,18}")  # as large as a key can be


class Draft:
    """What is typed so far, sent by a button that does not start a check.

    Arguments:
        typed: the fields as they were sent, of any content.
    """

    def __init__(self, typed: QueryDict, team: Team) -> None:
        self.typed = typed.copy()
        self.note = ""
        self._team = team
        self._act(typed.get("do", ""))

    @property
    def initial(self) -> Mapping[str, Any]:
        return initial_of(self.typed)

    def _act(self, do: str) -> None:
        """Do what a button says; what none of ours says is nothing."""
        name, _colon, value = do.partition(":")
        match name:
            case "brand":
                self._take_brand(value)
            case "starters":
                self._add_starters()
            case "earlier":
                self._add_earlier()

    def _take_brand(self, number: str) -> None:
        """An earlier brand, and its competitors behind those that are typed."""
        for brand in earlier_brands(self._team):
            if str(brand.number) == number:
                self.typed["brand"] = brand.name
                names = [" ".join(name.split()) for name in lines_of(self.typed.get("competitors", ""))]
                there = {name.casefold() for name in (*names, brand.name)}
                new = [name for name in brand.competitors if name.casefold() not in there]
                self.typed["competitors"] = "\n".join([*names, *new])

    def _add_starters(self) -> None:
        """Questions about a thing, which is then done with: what stands in its field is still to be added."""
        thing = self.typed.get("thing", "")
        questions = starters.questions(self.typed.get("category", ""), thing)
        if not questions:
            self.note = _("Say first what it is that you sell or offer, such as espresso machines.")
        elif self._names_brand(thing):
            self.note = _("That names your brand. Say what it is instead, so that the questions leave the brand out.")
        else:
            self._add(questions)
            self.typed["thing"] = ""

    def _names_brand(self, thing: str) -> bool:
        brand = self.typed.get("brand", "").strip()
        return bool(brand and find_mentions(thing, [Entity("brand", brand)]))

    def _add_earlier(self) -> None:
        numbers = [int(number) for number in self.typed.getlist("earlier") if _NUMBER.fullmatch(number)]
        asked = Prompt.objects.filter(of_check__team=self._team, pk__in=numbers)
        self._add(asked.order_by("-of_check_id", "position").values_list("text", flat=True))

    def _add(self, questions: Iterable[str]) -> None:
        """Put questions below those that are there, but for what is asked already."""
        lines = lines_of(self.typed.get("prompts", ""))
        keys = {key_of(line) for line in lines}
        new = [question for question in questions if key_of(question) not in keys]
        self.typed["prompts"] = "\n".join([*lines, *new])


def means_starters(typed: QueryDict) -> bool:
    """Whether Enter was meant to add the questions about a thing.

    A browser does not say in which field Enter was pressed. What stands in the field of the starters is not added yet,
    and to add it costs nothing.
    """
    return typed.get("do") == "enter" and bool(typed.get("thing", "").strip())


def initial_of(typed: QueryDict) -> Mapping[str, Any]:
    """The values of a form that shows what is typed, and finds fault with nothing yet."""
    names = ("brand", "competitors", "prompts", "country", "language", "nonce")
    samples = typed.get("samples") or 1
    return {name: typed.get(name, "") for name in names} | {"samples": samples, "providers": typed.getlist("providers")}


def wanted_of(typed: QueryDict) -> Wanted:
    """What is typed, counted as the form will count it."""
    chosen = set(typed.getlist("providers"))
    return Wanted(
        prompts=len({key_of(line) for line in lines_of(typed.get("prompts", ""))}),
        competitors=len(lines_of(typed.get("competitors", ""))),
        providers=[slug for slug in systems.configured() if slug in chosen],
        samples=_samples(typed.get("samples", "")),
    )


def _samples(text: str) -> int:
    """As many as are typed; one where that is none that the form would take."""
    return int(text) if text in {str(number) for number in range(1, MOST_SAMPLES + 1)} else 1
