"""What people type, checked before it becomes anything."""

from capture.forms.check import CheckForm, new_nonce
from capture.forms.draft import Draft, initial_of, wanted_of
from capture.forms.names import BrandForm

__all__ = ["BrandForm", "CheckForm", "Draft", "initial_of", "new_nonce", "wanted_of"]
