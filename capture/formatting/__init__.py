"""Answers as people read them: text from an AI system in, HTML that is safe to show out. Pure; knows no database."""

from capture.formatting.citations import Citation, with_references
from capture.formatting.markdown import Link, Shown, shown, to_html

__all__ = ["Citation", "Link", "Shown", "shown", "to_html", "with_references"]
