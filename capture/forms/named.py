"""The form by which staff change one brand or competitor in the admin."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from django import forms
from django.utils.translation import gettext as _

from capture.analysis.mentions import Entity, clashes
from capture.forms.fields import shortened
from capture.models import Brand, Competitor

if TYPE_CHECKING:
    ModelForm = forms.ModelForm[Any]
else:  # generic in the type checker only
    ModelForm = forms.ModelForm


class NamedForm(ModelForm):
    """Refuses a name by which another one of the same brand would be found, as the brand's own page does."""

    def clean(self) -> dict[str, Any]:
        told: dict[str, Any] = super().clean() or self.cleaned_data
        if told.get("name") and not told.get("archived_at"):
            own = Entity("own", told["name"], tuple(told.get("aliases") or ()), match_case=bool(told.get("match_case")))
            others = {entity.key: entity for entity in self._others(told)}
            for name, key, other in clashes([own, *others.values()]):
                if "own" in (key, other):
                    whom = others[other if key == "own" else key].name
                    self.add_error(
                        None,
                        _("“%(name)s” would be found as two: as this, and as %(other)s.")
                        % {"name": shortened(name), "other": shortened(whom)},
                    )
        return told

    def _others(self, told: dict[str, Any]) -> Iterator[Entity]:
        """The brand and its competitors as they are, without this one."""
        row = self.instance
        brand = row if isinstance(row, Brand) else told.get("brand") or Brand.objects.filter(pk=row.brand_id).first()
        if brand is None or brand.pk is None:
            return
        for other in (brand, *Competitor.objects.current().filter(brand=brand)):
            if (type(other), other.pk) != (type(row), row.pk):
                yield other.entity()
