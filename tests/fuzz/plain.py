"""A second reader, as plain as can be: what a table says, in a few lines of the standard library.

Where a command ends well, its figures must be those of this reader on the same bytes.
"""

from __future__ import annotations

import csv
import io
import statistics
from collections.abc import Iterable

Pair = tuple[str, str]
ASIDE = ("check", "repeat", "practice")


def rows_of(content: bytes) -> list[dict[str, str]]:
    """The table's rows by column, without blanks around fields, rows without any field left out."""
    text = content.decode("utf-8-sig")
    lines = [row for row in csv.reader(io.StringIO(text, newline="")) if any(cell.strip() for cell in row)]
    header = [name.strip() for name in lines[0]]
    assert len(set(header)) == len(header), "a doubled column was read"
    assert all(len(row) == len(header) for row in lines), "a ragged row was read"
    return [{name: cell.strip() for name, cell in zip(header, row, strict=True)} for row in lines[1:]]


def ratings_of(content: bytes) -> dict[tuple[str, str, str], float | None]:
    """Each rater's rating of each pair, None where undecided."""
    ratings: dict[tuple[str, str, str], float | None] = {}
    for row in rows_of(content):
        if row.get("block") in ASIDE:
            continue
        key = (row["rater_id"], row["query_id"], row["result_id"])
        rating = float(row["rating"]) if row["rating"] else None
        assert all(key), "a row without an id was read"
        assert ratings.get(key, rating) == rating, "a contradiction was read"
        ratings[key] = rating
    return ratings


def mean_by_pair(values: Iterable[tuple[Pair, float]]) -> dict[Pair, float]:
    """The mean of each pair's values."""
    by_pair: dict[Pair, list[float]] = {}
    for pair, value in values:
        by_pair.setdefault(pair, []).append(value)
    return {pair: statistics.fmean(each) for pair, each in by_pair.items()}


def judgments_of(content: bytes) -> dict[Pair, float]:
    """One judgment a pair: of a table of judgments, of ratings (means), or of TREC qrels."""
    first = content.decode("utf-8-sig").splitlines()[0]
    if "," not in first and len(first.split()) == 4:
        qrels = [line.split() for line in content.decode("utf-8-sig").splitlines() if line.strip()]
        return {(query, result): float(grade) for query, _, result, grade in qrels}
    rows = rows_of(content)
    name = "judgment" if "judgment" in rows[0] else "rating"
    return mean_by_pair(((row["query_id"], row["result_id"]), float(row[name])) for row in rows if row[name])


def scores_of(content: bytes) -> dict[str, dict[Pair, float]]:
    """Each system's scores: of a long table, a wide one, or a TREC run."""
    first = content.decode("utf-8-sig").split("\n", 1)[0]
    if "," not in first:
        run = [line.split() for line in content.decode("utf-8-sig").split("\n") if line.strip()]
        long = [(fields[5], (fields[0], fields[2]), fields[4]) for fields in run]
    else:
        rows = rows_of(content)
        long = []
        no_system = {"query_id", "result_id", *(name for name in rows[0] if not _mostly_numbers(rows, name))}
        for row in rows:
            pair = (row["query_id"], row["result_id"])
            if {"system", "score"} <= set(row):
                long.append((row["system"], pair, row["score"]))
            else:
                long += [(n, pair, cell) for n, cell in row.items() if n not in no_system and cell]
    systems: dict[str, dict[Pair, float]] = {}
    for system, pair, cell in long:
        number = float(cell)
        scores = systems.setdefault(system, {})
        assert scores.get(pair, number) == number, "a pair with two scores was read"
        scores[pair] = number
    return systems


def _mostly_numbers(rows: list[dict[str, str]], column: str) -> bool:
    """Whether a column of a wide table is a system's: at least half of what stands there is numbers."""
    filled = [row[column] for row in rows if row[column]]
    return sum(map(_is_number, filled)) >= len(filled) / 2 > 0


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def correlation(one: dict[Pair, float], other: dict[Pair, float]) -> float | None:
    """Pearson's correlation over the pairs that both hold; None where one of them is constant."""
    both = [(one[pair], other[pair]) for pair in one if pair in other]
    if len(both) < 2:
        return None
    first, second = zip(*both, strict=True)
    if len(set(first)) == 1 or len(set(second)) == 1:
        return None
    return statistics.correlation(first, second)
