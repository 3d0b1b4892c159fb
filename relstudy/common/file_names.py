"""Names of files for things that are named freely, such as systems."""

from __future__ import annotations

import re


def file_names(systems: list[str]) -> dict[str, str]:
    """A file name per system, safe on every file system; numbered where two would be the same.

    Examples
    --------
    >>> file_names(["bm25", "dsg|pali 17b", "dsg:pali 17b"])
    {'bm25': 'bm25', 'dsg|pali 17b': 'dsg_pali_17b', 'dsg:pali 17b': 'dsg_pali_17b-2'}
    """
    names: dict[str, str] = {}
    taken: set[str] = set()
    for system in systems:
        plain = re.sub(r"[^A-Za-z0-9._+-]+", "_", system).strip("._")[:100] or "system"
        name, number = plain, 1
        while name.lower() in taken:
            number += 1
            name = f"{plain}-{number}"
        taken.add(name.lower())
        names[system] = name
    return names
