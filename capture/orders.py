"""An order: what somebody wants to have asked, before it is a check."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """Everything that makes a check, already validated.

    Arguments:
        prompts: the questions, in the order in which they are shown.
        providers: slugs of AI systems, in the order in which they are shown.
        nonce: random value of the form it came from; the same form sent twice is the same check.
        country, language: codes as in `Question`, or empty.
    """

    brand: str
    competitors: tuple[str, ...] = ()
    prompts: tuple[str, ...]
    providers: tuple[str, ...]
    nonce: str
    samples: int = 1
    country: str = ""
    language: str = ""

    @property
    def submit_token(self) -> str:
        """The form's random value with a hash of what is asked: editing and sending again is another check."""
        asked = [self.brand, self.competitors, self.prompts, self.providers, self.samples, self.country, self.language]
        return hashlib.sha256(json.dumps([self.nonce, asked]).encode()).hexdigest()

    def names_brand(self, prompt: str) -> bool:
        """Whether a question itself names the brand, so that an answer's naming it says nothing."""
        return names_brand(self.brand, prompt)


def names_brand(brand: str, text: str) -> bool:
    """Whether a text has the name of a brand in it as words of their own; no brand is in none."""
    name = " ".join(brand.split())
    return bool(name) and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE) is not None
