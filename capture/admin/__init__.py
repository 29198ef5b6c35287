"""The admin: people's rows can be edited; what the machine owns can be looked at, and jobs asked again.

One module a noun. Importing them registers them.
"""

from django.contrib import admin

from capture.admin import attempts, captures, charges, checks, jobs, lanes, people, schedules, users, workers

__all__ = ["attempts", "captures", "charges", "checks", "jobs", "lanes", "people", "schedules", "users", "workers"]

admin.site.site_header = admin.site.site_title = "AI Control"
