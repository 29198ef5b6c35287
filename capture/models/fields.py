"""Text columns that nothing from outside can break.

PostgreSQL stores neither U+0000 nor lone surrogates, and an answer may be of any size. The column itself takes care
of it, so that no writer can forget to, and no answer leaves its job stuck.
"""

from __future__ import annotations

import re
from typing import Any

from django.db import models

UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
CUT_MARK = " […]"


def storable(text: str, most: int) -> str:
    """The text as it can be stored.

    Arguments:
        most: characters; a longer text is cut and ends with a mark.

    What cannot be stored is replaced one for one, so that places in the text stay where they are.
    """
    clean = UNSTORABLE.sub("\ufffd", text)
    return clean if len(clean) <= most else clean[: most - len(CUT_MARK)] + CUT_MARK


class CleanTextField(models.TextField):  # type: ignore[type-arg]  # generic in the stubs only
    """Text from outside; cut with a mark beyond `most` characters."""

    def __init__(self, *args: Any, most: int = 1_000_000, **kwargs: Any) -> None:
        self.most = most
        super().__init__(*args, **kwargs)

    def deconstruct(self) -> Any:
        name, path, args, kwargs = super().deconstruct()
        return name, path, args, {**kwargs, "most": self.most}

    def get_prep_value(self, value: Any) -> Any:
        value = super().get_prep_value(value)
        return storable(value, self.most) if isinstance(value, str) else value


class CleanCharField(models.CharField):  # type: ignore[type-arg]  # generic in the stubs only
    """A short text from outside; cut with a mark beyond its `max_length`."""

    def get_prep_value(self, value: Any) -> Any:
        value = super().get_prep_value(value)
        return storable(value, self.max_length or 0) if isinstance(value, str) else value
