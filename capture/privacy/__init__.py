"""What is held on a person, to be given to them or to be erased. docs/privacy.md says it in words."""

from capture.privacy.erasure import Erasure, RefusedToEraseError
from capture.privacy.export import json_pieces
from capture.privacy.person import BY_TEAM, Person

__all__ = ["BY_TEAM", "Erasure", "Person", "RefusedToEraseError", "json_pieces"]
