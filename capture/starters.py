"""Questions to start from. None names the brand: an answer that repeats its question's name says nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


@dataclass(frozen=True, slots=True)
class Category:
    """A kind of thing to ask about, and what people ask; `{thing}` stands for the thing, in the plural."""

    label: str | Promise
    questions: Sequence[str | Promise]


CATEGORIES: Mapping[str, Category] = {
    "product": Category(
        _("A product"),
        (
            _("Which {thing} are best?"),
            _("Which {thing} are best for beginners?"),
            _("Which {thing} are the best value for money?"),
            _("Which {thing} last longest?"),
            _("Which makers of {thing} are trusted most?"),
            _("What should I look for when I buy {thing}, and which ones would you choose?"),
            _("Which {thing} do experts recommend?"),
            _("Which {thing} are made most sustainably?"),
        ),
    ),
    "software": Category(
        _("Software"),
        (
            _("Which {thing} are best for a small company?"),
            _("Which {thing} are best for a large company?"),
            _("Which {thing} are easiest to use?"),
            _("Which {thing} are the best value for money?"),
            _("Which {thing} are safest with personal data?"),
            _("Which {thing} work best together with other tools?"),
            _("What are the leading {thing}, and how do they differ?"),
            _("Which {thing} would you recommend to somebody who changes from spreadsheets?"),
        ),
    ),
    "service": Category(
        _("A service"),
        (
            _("Which {thing} are best?"),
            _("Which {thing} are most reliable?"),
            _("Which {thing} are the best value for money?"),
            _("Which {thing} have the best customer service?"),
            _("Which {thing} would you recommend to a family?"),
            _("How do I find good {thing}, and whom would you ask first?"),
        ),
    ),
    "shop": Category(
        _("A shop"),
        (
            _("Where is it best to buy {thing} online?"),
            _("Which shops have the widest choice of {thing}?"),
            _("Which shops sell {thing} at the best prices?"),
            _("Which shops for {thing} deliver fastest?"),
            _("Which shops take {thing} back most easily?"),
        ),
    ),
    "money": Category(
        _("A bank or an insurer"),
        (
            _("Which providers of {thing} are best?"),
            _("Which providers of {thing} are cheapest in the long run?"),
            _("Which providers of {thing} are safest?"),
            _("Which {thing} suit somebody who has never had any?"),
            _("Which providers of {thing} pay or answer fastest when it matters?"),
        ),
    ),
    "place": Category(
        _("A place to go to"),
        (
            _("Which {thing} are most worth a visit?"),
            _("Which {thing} are best for families?"),
            _("Which {thing} are best for a weekend for two?"),
            _("Which {thing} are the best value for money?"),
            _("Which {thing} are less known and yet very good?"),
        ),
    ),
    "employer": Category(
        _("An employer"),
        (
            _("Which companies are the best employers for {thing}?"),
            _("Where do {thing} earn most?"),
            _("Which companies train {thing} best?"),
            _("Which companies offer {thing} the best balance of work and life?"),
        ),
    ),
}


def questions(category: str, thing: str) -> list[str]:
    """The questions of a category about a thing; none if there is no such category or thing.

    Arguments:
        thing: as people call several of it, such as "espresso machines".
    """
    thing = " ".join(thing.split())
    if category not in CATEGORIES or not thing:
        return []
    return [str(question).replace("{thing}", thing) for question in CATEGORIES[category].questions]
