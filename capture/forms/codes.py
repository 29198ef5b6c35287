"""Countries and languages by the codes that people choose: ISO 3166-1 and ISO 639-1, as pycountry has them."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from functools import cache

import pycountry


@cache
def countries() -> Mapping[str, str]:
    """Names of countries by their code of two capital letters, in alphabetical order."""
    return _in_order(
        {country.alpha_2: getattr(country, "common_name", country.name) for country in pycountry.countries}
    )


@cache
def languages() -> Mapping[str, str]:
    """Names of languages by their code of two small letters, in alphabetical order."""
    short = (language for language in pycountry.languages if hasattr(language, "alpha_2"))
    # What stands in brackets parts a language from its elders, which have no code of two letters.
    return _in_order({language.alpha_2: language.name.partition(" (")[0] for language in short})


def _in_order(names: dict[str, str]) -> Mapping[str, str]:
    return dict(sorted(names.items(), key=lambda item: _without_accents(item[1])))


def _without_accents(name: str) -> str:
    letters = unicodedata.normalize("NFKD", name)
    return "".join(letter for letter in letters if not unicodedata.combining(letter)).casefold()
