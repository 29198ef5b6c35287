"""The admin: people's rows can be edited; what the machine owns can be looked at, and jobs be acted on.

Looking and acting are apart: `view_…` of Django lets somebody look, `capture.act_on_jobs` do something to jobs,
`capture.open_checks` open what teams see, and `capture.change_lane` pause lanes and change their limits.

One module a noun. Importing them registers them.
"""

from django.contrib import admin

from capture.admin import (
    attempts,
    captures,
    charges,
    checks,
    jobs,
    lanes,
    log,
    people,
    schedules,
    staff_actions,
    users,
    workers,
)

__all__ = [
    "attempts",
    "captures",
    "charges",
    "checks",
    "jobs",
    "lanes",
    "log",
    "people",
    "schedules",
    "staff_actions",
    "users",
    "workers",
]

admin.site.site_header = admin.site.site_title = "AI Control"
