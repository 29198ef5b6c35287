"""Money in templates."""

from __future__ import annotations

from django import template

from capture.formatting import money

register = template.Library()
register.filter("dollars", money.dollars)
