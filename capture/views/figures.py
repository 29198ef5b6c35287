"""What the figures mean."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from capture.views import for_user


@require_safe
@for_user
def definitions(request: HttpRequest) -> HttpResponse:
    """Each figure in plain words, at an anchor that tables link to."""
    return render(request, "capture/definitions.html")
