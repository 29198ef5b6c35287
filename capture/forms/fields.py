"""Form fields that take text from people, and say in words what they cannot take."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from capture.models.brands import NAME_LENGTH
from capture.models.fields import UNSTORABLE


class StorableField(forms.CharField):
    """Text that PostgreSQL can store, with a message for what it cannot."""

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value)
        if text and UNSTORABLE.search(text):
            raise ValidationError("There is a character in it that is no text (such as NUL). Please remove it.")
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
        text = super().to_python(value) or ""
        return [line.strip() for line in text.splitlines() if line.strip()]


class CodeField(StorableField):
    """A code of two letters, or nothing."""

    def to_python(self, value: Any) -> Any:
        code = super().to_python(value) or ""
        if code and not (len(code) == 2 and code.isascii() and code.isalpha()):
            raise ValidationError(
                f"Two letters, please, such as {self.widget.attrs['placeholder']}; or leave it empty."
            )
        return code


def code_widget(example: str, choices_id: str) -> forms.TextInput:
    """An input for a code, with suggestions."""
    return forms.TextInput(attrs={"placeholder": example, "list": choices_id, "maxlength": 2, "autocapitalize": "none"})


def check_name(name: str) -> None:
    """Refuse what cannot be looked for in an answer."""
    if not any(character.isalpha() for character in name):
        raise ValidationError(f"“{shortened(name)}” has no letters; a name needs at least one.")
    if len(name) > NAME_LENGTH:
        raise ValidationError(f"“{shortened(name)}” has {len(name):,} characters; a name has at most {NAME_LENGTH}.")


def shortened(text: str) -> str:
    """The beginning of a text that may be long, for a message."""
    return text if len(text) <= 40 else f"{text[:39]}…"
