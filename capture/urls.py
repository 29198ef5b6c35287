"""The addresses of the check pages."""

from django.urls import path

from capture import views
from capture.views import actions, answers, brands, exports, figures, history, monitoring, new_check, schedules

app_name = "capture"

CHECK = "checks/<uuid:uuid>/"
ANSWER = f"{CHECK}answers/<int:position>/<slug:provider>/<int:sample>/"

urlpatterns = [
    path("healthz", monitoring.healthz, name="healthz"),
    path("readyz", monitoring.readyz, name="readyz"),
    path("metrics", monitoring.figures, name="metrics"),
    path("", views.checks, name="checks"),
    path("checks/new/", new_check.new_check, name="new_check"),
    path("checks/new/draft/", new_check.draft_check, name="draft_check"),
    path("checks/<uuid:uuid>/", views.check, name="check"),
    path("checks/<uuid:uuid>/status.json", views.check_status, name="check_status"),
    path(f"{CHECK}answers.csv", exports.answers_csv, name="answers_csv"),
    path(f"{CHECK}answers.json", exports.answers_json, name="answers_json"),
    path(f"{CHECK}sources.csv", exports.sources_csv, name="sources_csv"),
    path(f"{CHECK}figures.csv", exports.summary_csv, name="summary_csv"),
    path(f"{CHECK}figures.json", exports.summary_json, name="summary_json"),
    path(f"{CHECK}sites.csv", exports.sites_csv, name="sites_csv"),
    path(f"{CHECK}ask-again/", actions.ask_again, name="ask_again"),
    path(f"{CHECK}cancel/", actions.cancel, name="cancel"),
    path(f"{CHECK}repeat/", actions.repeat, name="repeat"),
    path(f"{CHECK}schedule/", schedules.schedule, name="schedule"),
    path(f"{CHECK}delete/", actions.delete, name="delete"),
    path(ANSWER, answers.answer, name="answer"),
    path(f"{ANSWER}answer.txt", answers.answer_text, name="answer_text"),
    path("brands/", brands.brands, name="brands"),
    path("brands/<uuid:uuid>/", history.brand, name="brand"),
    path("brands/<uuid:uuid>/history.csv", history.history_csv, name="history_csv"),
    path("brands/<uuid:uuid>/history.json", history.history_json, name="history_json"),
    path("brands/<uuid:uuid>/competitors/", history.competitors, name="brand_competitors"),
    path("brands/<uuid:uuid>/competitors.csv", history.competitors_csv, name="brand_competitors_csv"),
    path("brands/<uuid:uuid>/sources/", history.sources, name="brand_sources"),
    path("brands/<uuid:uuid>/sources.csv", history.sources_csv, name="brand_sources_csv"),
    path("figures/", figures.definitions, name="definitions"),
    path("brands/<uuid:uuid>/names/", brands.edit_names, name="brand_names"),
    path("brands/<uuid:uuid>/names/preview/", brands.preview_names, name="preview_names"),
]
