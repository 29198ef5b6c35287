"""An order: what somebody wants to have asked, before it is a check."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass


class RefusedError(Exception):
    """What somebody wants to have asked is not taken. Its text is a sentence for people, which says why."""


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
