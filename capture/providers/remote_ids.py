"""Ids that the systems give to their calls, and that are sent back to look after them."""

from __future__ import annotations

from urllib.parse import quote

# The longest ids seen have 90 characters; what is much longer is none and would not fit into a URL.
_LONGEST = 500


def usable(remote_id: str) -> str:
    """An id as it can be kept and sent back, or nothing when it cannot be one."""
    remote_id = remote_id.strip()
    return remote_id if len(remote_id) <= _LONGEST else ""


def path_segment(remote_id: str) -> str:
    """An id as one segment of a path, whatever is in it."""
    segment = quote(remote_id, safe="", errors="replace")
    # Dots are never quoted, and alone they would be a way up.
    return segment if segment.strip(".") else segment.replace(".", "%2E")
