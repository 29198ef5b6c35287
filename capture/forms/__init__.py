"""What people type, checked before it becomes anything."""

from capture.forms.check import CheckForm, new_nonce

__all__ = ["CheckForm", "new_nonce"]
