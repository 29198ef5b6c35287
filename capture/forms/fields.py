"""Form fields that take text from people, and say in words what they cannot take."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.translation import gettext as _

from capture.models.brands import NAME_LENGTH

# Characters that are no text: control characters but for tab and line breaks, and halves of surrogate pairs.
_NO_TEXT = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
# Some of them break a line wherever Python looks for lines, such as those that a word processor leaves in a paste.
_LINE_BREAKS = re.compile(r"[\x0b\x0c\x1c-\x1e\x85]")


class StorableField(forms.CharField):
    """Text, with a message for characters that are none, of which PostgreSQL cannot even store some."""

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value)
        check_storable(text or "")
        return text


class NameField(StorableField):
    """The name of a brand."""

    def clean(self, value: Any) -> Any:
        name = " ".join(super().clean(value).split())
        check_name(name)
        return name


class LinesField(StorableField):
    """A list, one item a line; blank lines do not count."""

    widget = forms.Textarea

    def to_python(self, value: Any) -> Any:
        return lines_of(super().to_python(value) or "")

    def has_changed(self, initial: Any, data: Any) -> bool:
        return lines_of(initial or "") != lines_of(data or "")


class CodeField(forms.ChoiceField):
    """One of a list of codes, or nothing; case does not count.

    Arguments:
        names: gives what there is, by code.
        fold: brings a code into the case in which the list has it.
    """

    def __init__(self, names: Callable[[], Mapping[str, str]], fold: Callable[[str], str], **kwargs: Any) -> None:
        self._fold = fold
        super().__init__(choices=lambda: [("", _("Any")), *names().items()], required=False, **kwargs)

    def to_python(self, value: Any) -> str:
        check_storable(str(value or ""))
        return shortened(str(self.prepare_value(super().to_python(value))))

    def prepare_value(self, value: Any) -> Any:
        """The code as the list has it, so that it is the one that is shown as chosen."""
        return self._fold(value.strip()) if isinstance(value, str) else value


def lines_of(text: str) -> list[str]:
    """The lines of a text that have anything on them."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def only_text(typed: QueryDict) -> QueryDict:
    """What was sent, without characters that are no text: nobody has typed them, and everything may be done with it."""
    clean = QueryDict(mutable=True)
    for name, values in typed.lists():
        clean.setlist(_only_text(name), [_only_text(value) for value in values])
    return clean


def _only_text(value: str) -> str:
    return _NO_TEXT.sub("", _LINE_BREAKS.sub("\n", value))


def check_storable(text: str) -> None:
    """Refuse characters that are no text."""
    if _NO_TEXT.search(text):
        raise ValidationError(_("There is a character in it that is no text (such as NUL). Please remove it."))


def check_name(name: str) -> None:
    """Refuse what cannot be looked for in an answer."""
    if not any(character.isalpha() for character in name):
        raise ValidationError(_("“%(name)s” has no letters; a name needs at least one.") % {"name": shortened(name)})
    if len(name) > NAME_LENGTH:
        told = {"name": shortened(name), "length": f"{len(name):,}", "most": NAME_LENGTH}
        raise ValidationError(_("“%(name)s” has %(length)s characters; a name has at most %(most)s.") % told)


def shortened(text: str) -> str:
    """The beginning of a text that may be long, for a message."""
    return text if len(text) <= 40 else f"{text[:39]}…"
