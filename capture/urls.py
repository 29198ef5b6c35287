"""The addresses of the check pages."""

from django.urls import path

from capture import views

app_name = "capture"

urlpatterns = [
    path("", views.checks, name="checks"),
    path("checks/new/", views.new_check, name="new_check"),
    path("checks/new/estimate/", views.estimate, name="estimate"),
    path("checks/<uuid:uuid>/", views.check, name="check"),
    path("checks/<uuid:uuid>/status.json", views.check_status, name="check_status"),
]
