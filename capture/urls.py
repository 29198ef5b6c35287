"""Addresses of the pages."""

app_name = "capture"
urlpatterns: list[object] = []
