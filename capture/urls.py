"""The addresses of the check pages."""

from django.urls import path

from capture import views
from capture.views import new_check

app_name = "capture"

urlpatterns = [
    path("", views.checks, name="checks"),
    path("checks/new/", new_check.new_check, name="new_check"),
    path("checks/new/draft/", new_check.draft_check, name="draft_check"),
    path("checks/<uuid:uuid>/", views.check, name="check"),
    path("checks/<uuid:uuid>/status.json", views.check_status, name="check_status"),
]
