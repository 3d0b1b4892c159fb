"""Votes as counts: one row an item, and a column for each answer with how many people gave it."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from relstudy.common.tables.checked_table import Checked

FEWEST = 3
"""Columns of counts; two are as often counts of something else."""


def vote_columns(names: Iterable[object]) -> dict[str, float]:
    """The answer that each column counts, by its name: count_1 to count_5, votes_0 to votes_3, n_1 ...

    Examples
    --------
    >>> vote_columns(["item", "count_1", "count_2", "count_3"])
    {'count_1': 1.0, 'count_2': 2.0, 'count_3': 3.0}
    >>> vote_columns(["count_1", "count_2"])
    {}
    """
    found: dict[str, dict[str, float]] = {}
    for name in map(str, names):
        match = re.fullmatch(r"(?i)\s*(counts?|votes?|n|num|number|freq)[ _.-](\d+)\s*", name)
        if match:
            found.setdefault(match[1].casefold(), {})[name] = float(match[2])
    return next((columns for columns in found.values() if len(columns) >= FEWEST), {})


def with_means(table: Checked) -> Checked:
    """The table with the mean vote of each row as its judgment, its standard error (the votes' standard deviation
    divided by the root of their number; empty below two votes), and their number; itself where it has judgments or
    ratings, or counts no votes."""
    columns = vote_columns(table.frame)
    if not columns or {"judgment", "rating"} & set(table.frame):
        return table
    counts = np.column_stack([table.numbers(name, low=0, whole=True) for name in columns])
    table.raise_faults()
    given = counts.sum(axis=1)
    kept = given > 0
    counts, given = counts[kept], given[kept]
    answer = np.array(list(columns.values()))
    mean = counts @ answer / given
    square = np.maximum(counts @ answer**2 / given - mean**2, 0.0)
    error = np.sqrt(np.divide(square, given - 1, out=np.full_like(mean, np.nan), where=given > 1))
    frame = table.frame[kept].reset_index(drop=True)
    frame = frame.assign(judgment=mean, standard_error=error, n_ratings=given.astype(int))
    for name, end in (("scale_low", answer.min()), ("scale_high", answer.max())):
        if name not in frame:
            frame[name] = f"{end:g}"
    read = table.among(frame, table.rows[kept], table.labels)
    left_out = f"; {int((~kept).sum())} without a vote left out" if not kept.all() else ""
    read.notes = (*table.notes, f"judgments are means of votes, counted in {', '.join(columns)}{left_out}")
    return read
