"""The form of a check that is asked anew, filled in with what was asked: what would not be taken now is not asked."""

from __future__ import annotations

from capture import systems
from capture.forms.check import CheckForm
from capture.models import Check


def repetition_of(check: Check, nonce: str) -> CheckForm:
    """The form of a check as it was asked, without the AI systems that cannot be asked any more.

    Arguments:
        nonce: random value of the button that asks for it; pressed twice, it is the same check.
    """
    names = check.names
    return CheckForm(
        {
            "brand": names["brand"]["name"],
            "competitors": "\n".join(competitor["name"] for competitor in names["competitors"]),
            "prompts": "\n".join(check.prompts.order_by("position").values_list("text", flat=True)),
            "providers": [slug for slug in check.providers if slug in systems.configured()],
            "samples": check.samples,
            "country": check.country,
            "language": check.language,
            "nonce": nonce,
        }
    )
