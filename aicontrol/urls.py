"""Addresses: accounts, the admin, and what the capture app serves."""

from django.contrib import admin
from django.contrib.staticfiles.storage import staticfiles_storage
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import include, path
from django.views.decorators.http import require_safe

handler400 = "capture.views.errors.bad_request"
handler403 = "capture.views.errors.forbidden"
handler404 = "capture.views.errors.not_found"
handler500 = "capture.views.errors.server_error"


@require_safe
def favicon(request: HttpRequest) -> HttpResponse:
    """Where browsers look for it that have no page of ours before them, but an export."""
    return redirect(staticfiles_storage.url("capture/favicon.svg"))


urlpatterns = [
    path("", include("aicontrol.accounts")),
    path("admin/", admin.site.urls),
    path("favicon.ico", favicon),
    path("", include("capture.urls")),
]
