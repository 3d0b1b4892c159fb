"""Pairs that no block of study.toml asks for, and that no rater will see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.tables import pairs as pairs_table


def unused_pairs(counts: Mapping[tuple[str, str], int], study: Study) -> list[dict[str, Any]]:
    """The pairs that no block of the study asks for.

    Parameters
    ----------
    counts : how many pairs there are, by block (base or unique) and paradigm (image or text)

    Returns
    -------
    For each block and paradigm that has some: `pairs` (base or unique), `paradigm` (image or text) and their `count`
    """
    return [
        {"pairs": kind, "paradigm": paradigm, "count": count}
        for (kind, paradigm), count in sorted(counts.items(), key=lambda entry: (entry[0][1], entry[0][0]))
        if count and not any(block.pairs == kind and block.paradigm in (None, paradigm) for block in study.blocks)
    ]


def stored_unused_pairs(connection: sa.Connection, study: Study) -> list[dict[str, Any]]:
    """The pairs in the study's database that no block of the study asks for."""
    query = (
        sa.select(pairs_table.c.block, pairs_table.c.paradigm, sa.func.count())
        .where(pairs_table.c.active, pairs_table.c.block.in_(["base", "unique"]))
        .group_by(pairs_table.c.block, pairs_table.c.paradigm)
    )
    return unused_pairs({(kind, paradigm): count for kind, paradigm, count in connection.execute(query)}, study)


def unused_pairs_sentences(entries: Sequence[Mapping[str, Any]]) -> list[str]:
    """A sentence for each way of asking that has such pairs.

    Examples
    --------
    >>> unused_pairs_sentences([{"pairs": "base", "paradigm": "text", "count": 8}])
    ['8 base pairs by text will be shown to nobody: no block of study.toml has pairs = "base" and paradigm = "text"']
    """
    sentences = []
    for paradigm in dict.fromkeys(entry["paradigm"] for entry in entries):
        of_paradigm = [entry for entry in entries if entry["paradigm"] == paradigm]
        counted = " and ".join(f"{entry['count']} {entry['pairs']}" for entry in of_paradigm)
        kinds = " or ".join(f'"{entry["pairs"]}"' for entry in of_paradigm)
        sentences.append(
            f"{counted} pairs by {paradigm} will be shown to nobody: no block of study.toml has pairs = {kinds} and "
            f'paradigm = "{paradigm}"'
        )
    return sentences
