"""What a list of models says about an account; asking for it is free."""

from __future__ import annotations

from collections.abc import Iterable


def in_words(names: Iterable[str], model: str) -> str:
    """Whether the model that is to be asked is among those that the account may use.

    Arguments:
        names: of the models in the list; blank ones do not count.
        model: the one to be asked.
    """
    known = {name for name in names if name}
    if model in known:
        return f"the key is accepted; {model} is among its models ({len(known):,} in all)"
    return f"the key is accepted, but {model} is not among its models ({len(known):,} in all)"
