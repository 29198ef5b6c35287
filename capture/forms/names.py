"""The form by which the names of a brand and of its competitors are changed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import F
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from capture.analysis.mentions import Entity, clashes
from capture.analysis.risk import Risk, risks_of
from capture.analysis.sources import has_known_suffix, own_domain
from capture.forms.fields import LinesField, NameField, check_name, shortened
from capture.models import Brand
from capture.models.brands import Named
from capture.names import Names

MOST_NAMES = 20  # aliases of one, and domains as well
MOST_COMPETITORS = 150  # in one form; Django reads no more fields than that
MOST_LOOKED_FOR = 50  # competitors that are not archived
BLANKS = 3  # forms for new competitors


class NamesForm(forms.Form):
    """All names of the brand."""

    use_required_attribute = False

    name = NameField(label=gettext_lazy("Name"), error_messages={"required": gettext_lazy("It needs a name.")})
    aliases = LinesField(
        label=gettext_lazy("Other names"),
        required=False,
        help_text=gettext_lazy(
            "One a line. Its bare domain goes here, too, if it is to count where a text says “example.com”."
        ),
    )
    domains = LinesField(
        label=gettext_lazy("Own domains"),
        required=False,
        help_text=gettext_lazy("One a line. Sources on them are its own."),
    )
    match_case = forms.BooleanField(
        label=gettext_lazy("Upper and lower case count"),
        required=False,
        help_text=gettext_lazy("For a name that is also a word: “Apple”, not “apple”."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.languages: Collection[str] = ()
        super().__init__(*args, **kwargs)
        for name in ("aliases", "domains"):
            self.fields[name].widget.attrs["rows"] = 2

    def clean_aliases(self) -> list[str]:
        names = {" ".join(name.split()).casefold(): " ".join(name.split()) for name in self.cleaned_data["aliases"]}
        names.pop(self.cleaned_data.get("name", "").casefold(), None)
        _refuse_many(names)
        for name in names.values():
            check_name(name)
        return list(names.values())

    def clean_domains(self) -> list[str]:
        domains = {typed: own_domain(typed) for typed in self.cleaned_data["domains"]}
        _refuse_many(domains)
        for typed, domain in domains.items():
            if not has_known_suffix(domain):
                told = {"domain": shortened(typed)}
                raise ValidationError(_("“%(domain)s” is no domain, such as example.com.") % told)
        return list(dict.fromkeys(domains.values()))

    def names(self) -> Names:
        """What is typed, once it is valid."""
        data = self.cleaned_data
        return Names(data["name"], tuple(data["aliases"]), tuple(data["domains"]), data["match_case"])

    def warnings(self) -> Iterator[str]:
        """What to say of names that will be found where nobody is meant; they can be saved all the same."""
        if self["match_case"].value():
            return
        typed = [self["name"].value() or "", *str(self["aliases"].value() or "").splitlines()[:MOST_NAMES]]
        for name in filter(None, map(str.strip, typed)):
            risks = risks_of(name, self.languages)
            if Risk.WORD in risks:
                yield _("“%(name)s” is also a common word; let upper and lower case count.") % {"name": shortened(name)}
            elif Risk.SHORT in risks:
                yield _("“%(name)s” is short, and may stand for something else.") % {"name": shortened(name)}


class CompetitorForm(NamesForm):
    """All names of a competitor. It is archived rather than deleted, since checks of the past asked about it."""

    number = forms.IntegerField(required=False, widget=forms.HiddenInput)
    archived = forms.BooleanField(
        label=gettext_lazy("Archived"), required=False, help_text=gettext_lazy("Not looked for any more, nor counted.")
    )

    @property
    def is_folded(self) -> bool:
        """Whether there is little to see of it: nothing is typed yet, or it is archived; and nothing is wrong."""
        return not self.errors and (not self["name"].value() or bool(self["archived"].value()))

    def names(self) -> Names:
        names = super().names()
        return Names(
            names.name,
            names.aliases,
            names.domains,
            names.match_case,
            self.cleaned_data["number"],
            self.cleaned_data["archived"],
        )


CompetitorForms = forms.formset_factory(
    CompetitorForm, extra=BLANKS, max_num=MOST_COMPETITORS, absolute_max=MOST_COMPETITORS
)


LookedFor = tuple[Entity, NamesForm]


class BrandForm:
    """The forms of a brand and of its competitors, which are sent and judged together.

    Arguments:
        typed: what was sent; None for a page that was just opened.
        languages: in which names may be common words.
    """

    def __init__(self, brand: Brand, typed: QueryDict | None = None, languages: Collection[str] = ("en",)) -> None:
        # Those that are looked for come first; archived ones that the form has no room for stay as they are.
        rows = brand.competitors.order_by(F("archived_at").desc(nulls_first=True), "pk")
        self._rows = list(rows[: MOST_COMPETITORS - BLANKS])
        self.own = NamesForm(typed, prefix="own", initial=_initial(brand))
        self.rivals = CompetitorForms(typed, prefix="rivals", initial=[_initial_rival(row) for row in self._rows])
        self.edition = _edition(typed, brand)
        for form in self.all_forms:
            form.languages = languages

    @property
    def all_forms(self) -> list[NamesForm]:
        return [self.own, *self.rivals.forms]

    @cached_property
    def is_valid(self) -> bool:
        """Whether it can be saved; says in the forms why not."""
        if not (self.own.is_valid() and self.rivals.is_valid() and self._knows_all()):
            return False
        found = list(self._looked_for())  # an error takes what is wrong out of its form
        self._refuse_clashes(found)
        self._refuse_shared_domains(found)
        if len(found) > 1 + MOST_LOOKED_FOR:
            told = {"most": MOST_LOOKED_FOR}
            self.fail(_("At most %(most)s competitors are looked for. Please archive some of them.") % told)
        return not any(form.errors for form in self.all_forms)

    def _knows_all(self) -> bool:
        """Whether the competitors are the brand's; only a changed page sends others."""
        numbers = [names.number for names in self.names_of_rivals() if names.number]
        known = len(numbers) == len(set(numbers)) and set(numbers) <= {row.pk for row in self._rows}
        if not known:
            self.fail(_("These are not the competitors that the brand has now. Please open this page anew."))
        return known

    def _refuse_clashes(self, found: Sequence[LookedFor]) -> None:
        forms_by_key = {entity.key: form for entity, form in found}
        names = {entity.key: entity.name for entity, _form in found}
        for name, key, other in clashes([entity for entity, _form in found]):
            told = {"name": shortened(name), "other": shortened(names[other])}
            where = "name" if name == names[key] else "aliases"
            forms_by_key[key].add_error(where, _("“%(name)s” would be found as %(other)s as well.") % told)

    def _refuse_shared_domains(self, found: Sequence[LookedFor]) -> None:
        owners: dict[str, Entity] = {}
        for entity, form in found:
            for domain in entity.domains:
                if (owner := owners.setdefault(domain, entity)) is not entity:
                    told = {"domain": shortened(domain), "other": shortened(owner.name)}
                    form.add_error("domains", _("%(domain)s is %(other)s’s already.") % told)

    def _looked_for(self) -> Iterator[LookedFor]:
        yield self.own.names().entity("brand"), self.own
        for index, form in enumerate(self._filled()):
            names = form.names()
            if not names.archived:
                yield names.entity(f"competitor:{names.number or f'new{index}'}"), form

    def _filled(self) -> Iterator[CompetitorForm]:
        """Those of competitors that there are, and of new ones that have a name."""
        return (form for form in self.rivals.forms if form.cleaned_data.get("name"))

    def names_of_rivals(self) -> list[Names]:
        return [form.names() for form in self._filled()]

    def entities(self) -> list[Entity]:
        """Who would be looked for, once this is valid."""
        return [entity for entity, _form in self._looked_for()]

    @property
    def has_errors(self) -> bool:
        return bool(self.all_errors)

    @property
    def all_errors(self) -> list[str]:
        """What is wrong, each once, in the order of the page."""
        errors = (str(error) for form in self.all_forms for each in form.errors.values() for error in each)
        return list(dict.fromkeys(errors))

    def fail(self, message: str) -> None:
        """Say why it could not be saved after all."""
        self.own.add_error(None, message)


def _edition(typed: QueryDict | None, brand: Brand) -> int:
    """The edition of names that was shown; no edition has the number 0."""
    if typed is None:
        return brand.edition
    edition = typed.get("edition", "")
    return int(edition) if edition.isdecimal() and len(edition) < 10 else 0


def _initial(row: Named) -> dict[str, Any]:
    return {
        "name": row.name,
        "aliases": "\n".join(row.aliases),
        "domains": "\n".join(row.domains),
        "match_case": row.match_case,
    }


def _initial_rival(row: Any) -> dict[str, Any]:
    return _initial(row) | {"number": row.pk, "archived": row.archived_at is not None}


def _refuse_many(names: Collection[str]) -> None:
    if len(names) > MOST_NAMES:
        told = {"number": len(names), "most": MOST_NAMES}
        raise ValidationError(_("These are %(number)s; at most %(most)s are allowed.") % told)
