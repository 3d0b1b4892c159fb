"""For the reference pages: read `name : what it is` in our docstrings as a description, and take types from the code.

NumPy's form has a type behind the colon. Ours has a sentence there, since the code states the type already.
"""

from __future__ import annotations

from typing import Any

import griffe

SECTIONS = (griffe.DocstringSectionKind.parameters, griffe.DocstringSectionKind.attributes)


class Described(griffe.Extension):
    """Moves what stands behind the colon to where a description belongs."""

    def on_package(self, *, pkg: griffe.Module, **kwargs: Any) -> None:
        """Called when a package has been read whole, dataclasses with their parameters."""
        del kwargs
        _describe(pkg)


def _describe(obj: griffe.Object) -> None:
    for section in obj.docstring.parsed if obj.docstring is not None else ():
        if section.kind in SECTIONS:
            for entry in section.value:
                known = _known(obj, entry.name)
                entry.description = f"{entry.annotation or ''} {entry.description}".strip()
                entry.annotation = None if known is None else known.annotation
                entry.value = getattr(known, "default", None)
    for member in obj.members.values():
        if not member.is_alias and isinstance(member, griffe.Object):
            _describe(member)


def _known(obj: griffe.Object, name: str) -> Any:
    if isinstance(obj, griffe.Function | griffe.Class) and name in obj.parameters:
        return obj.parameters[name]
    found = obj.members.get(name)
    return found if isinstance(found, griffe.Attribute) else None
