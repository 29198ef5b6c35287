"""Form fields that take text from people, and say in words what they cannot take."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from capture.models.brands import NAME_LENGTH
from capture.models.fields import UNSTORABLE


class StorableField(forms.CharField):
    """Text that PostgreSQL can store, with a message for what it cannot."""

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


def check_storable(text: str) -> None:
    """Refuse what PostgreSQL cannot store."""
    if UNSTORABLE.search(text):
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
