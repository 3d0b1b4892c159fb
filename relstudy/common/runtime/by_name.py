"""Load by name: parts that the main way does not import, such as hashing, the paper's wing and Prolific."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def load(place: str) -> Any:
    """The module `package.module`, or the attribute of `package.module:attribute`.

    Examples
    --------
    >>> load("math:sqrt")(9.0)
    3.0
    """
    module, _, attribute = place.partition(":")
    found = import_module(module)
    return getattr(found, attribute) if attribute else found
