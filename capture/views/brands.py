"""My brands: the list, and the page on which the names of one are changed."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from capture import names, reports
from capture.forms import BrandForm
from capture.models import Brand, Check, Team
from capture.reports import Preview
from capture.views import _htmx, for_team
from capture.views.lists import page_of, search_words

# Of so many languages common words are looked up; a list is read once in a process, which takes its time.
MOST_LANGUAGES = 3


@require_safe
@for_team
def brands(request: HttpRequest, team: Team) -> HttpResponse:
    """The team's brands, with what was checked last."""
    words = search_words(request)
    page = page_of(request, reports.brands_of(team, words))
    return render(request, "capture/brands.html", {"page": page, "lines": reports.brand_lines(page), "words": words})


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@for_team
def edit_names(request: HttpRequest, team: Team, uuid: UUID) -> HttpResponse:
    """The names of a brand and of its competitors, and what is sent to change them."""
    brand = _brand(team, uuid)
    form = _form(request, brand)
    if request.method == "POST" and form.is_valid and _save(request, brand, form):
        return redirect("capture:brand_names", brand.uuid)
    return _page(request, brand, form)


@require_POST
@for_team
def preview_names(request: HttpRequest, team: Team, uuid: UUID) -> HttpResponse:
    """What the names as typed would find in stored answers: as a page, or, for htmx, that part of it."""
    brand = _brand(team, uuid)
    form = _form(request, brand)
    preview = reports.preview_of(brand, form.entities()) if form.is_valid else None
    if _htmx(request):
        return render(request, "capture/_preview.html", {"preview": preview, "form": form, "asked": True})
    return _page(request, brand, form, preview)


def _brand(team: Team, uuid: UUID) -> Brand:
    """The team's brand. Another team's is not there, just as one that never was."""
    return get_object_or_404(Brand.objects.current().filter(team=team).prefetch_related("competitors"), uuid=uuid)


def _form(request: HttpRequest, brand: Brand) -> BrandForm:
    spoken = Check.objects.filter(brand=brand).exclude(language="").order_by("language")
    languages = list(spoken.values_list("language", flat=True).distinct()[:MOST_LANGUAGES])
    return BrandForm(brand, request.POST if request.method == "POST" else None, {"en", *languages})


def _save(request: HttpRequest, brand: Brand, form: BrandForm) -> bool:
    try:
        changed = names.change(brand, form.own.names(), form.names_of_rivals(), form.edition)
    except names.OutdatedError:
        form.fail(_("Somebody has changed these names since you opened this page. Please open it anew."))
        return False
    except names.TakenError:
        form.fail(_("Another brand of your team, or another competitor, has one of these names."))
        return False
    if changed:
        messages.success(request, _("Saved. Stored answers are read again by these names; checks stay as they were."))
    else:
        messages.info(request, _("Nothing was changed."))
    return True


def _page(request: HttpRequest, brand: Brand, form: BrandForm, preview: Preview | None = None) -> HttpResponse:
    context = {"brand": brand, "form": form, "preview": preview, "being_read": reports.is_being_read(brand)}
    return render(request, "capture/brand_names.html", context)
