"""Answers as people read them: text from an AI system in, HTML that is safe to show out. Pure; knows no database."""

from capture.formatting.citations import Citation, Name, with_references
from capture.formatting.markdown import MOST_FORMATTED, Link, Shown, shown, to_html

__all__ = ["MOST_FORMATTED", "Citation", "Link", "Name", "Shown", "shown", "to_html", "with_references"]
