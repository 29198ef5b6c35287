"""What people type, checked before it becomes anything."""

from capture.forms.check import CheckForm, new_nonce
from capture.forms.draft import Draft, initial_of, means_starters, wanted_of
from capture.forms.fields import only_text
from capture.forms.names import BrandForm

__all__ = [
    "BrandForm",
    "CheckForm",
    "Draft",
    "initial_of",
    "means_starters",
    "new_nonce",
    "only_text",
    "wanted_of",
]
