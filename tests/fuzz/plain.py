"""A second reader, as plain as can be: what a table says, in a few lines of the standard library.

Where a command ends well, its figures must be those of this reader on the same bytes.
"""

from __future__ import annotations

import csv
import io
import re
import statistics
from collections.abc import Iterable

Pair = tuple[str, str]
ASIDE = ("check", "repeat", "practice")
OWN = ("rater_id", "query_id", "result_id", "rating", "judgment", "system", "score", "scale", "block")
"""Names that a column has whatever its case."""
NO_SYSTEM = ("rater_id", "query_id", "result_id", "rating", "judgment", "scale", "block", "rank", "")
"""Columns of a wide table that hold no scores."""


def text_of(content: bytes) -> str:
    """The file's text, without lines of comments before the header."""
    text = content.decode("utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    while text.lstrip(" ").startswith(("#", '"#')):
        text = text.partition("\n")[2].removeprefix("\ufeff")
    return text


def number(text: str) -> float:
    """A number, which may be a percentage."""
    return float(text.removesuffix("%"))


def numbered(header: list[str], place: int) -> str:
    """A column's name, with its number among those of the same name where there are several."""
    name = header[place]
    return f"{name} ({header[: place + 1].count(name)})" if header.count(name) > 1 else name


def rows_of(content: bytes) -> list[dict[str, str]]:
    """The table's rows by column, without blanks around fields, rows without any field left out."""
    text = text_of(content)
    first = text.split("\n", 1)[0]
    separator = next((each for each in ";\t|" if each in first and "," not in first), ",")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    lines = [row for row in reader if any(cell.strip() for cell in row)]
    if separator == "," and len(lines[0]) == 1 and " " in first.strip():  # fields between blanks
        lines = [row for line in text.splitlines() if (row := line.split())]
    header = [name.strip() for name in lines[0]]
    header = [numbered(header, place) for place in range(len(header))]
    lower = [name.lower() for name in header]
    header = [name.lower() if name.lower() in OWN and lower.count(name.lower()) == 1 else name for name in header]
    assert all(len(row) == len(header) for row in lines), "a ragged row was read"
    if separator != ",":
        number = r"^(\s*[-+]?\d+),(\d+([eE][-+]?\d+)?\s*)$"
        lines = [[re.sub(number, r"\1.\2", cell) for cell in row] for row in lines]
    return [{name: cell.strip() for name, cell in zip(header, row, strict=True)} for row in lines[1:]]


def ratings_of(content: bytes) -> dict[tuple[str, str, str], float | None]:
    """Each rater's rating of each pair, None where undecided."""
    ratings: dict[tuple[str, str, str], float | None] = {}
    for row in rows_of(content):
        if row.get("block") in ASIDE:
            continue
        key = (row["rater_id"], row["query_id"], row["result_id"])
        rating = number(row["rating"]) if row["rating"] else None
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
    """One judgment per pair: of a table of judgments, of ratings (means), or of TREC qrels."""
    lines = [line.split() for line in text_of(content).split("\n") if line.strip()]
    if "," not in text_of(content).split("\n", 1)[0] and len(lines[0]) in (4, 5) and _is_number(lines[0][3]):
        # of five columns, the one before the grade names a stratum
        return {(query, result): float(grade) for query, _, result, *_, grade in lines}
    rows = rows_of(content)
    name = "judgment" if "judgment" in rows[0] else "rating"
    once = [dict(row) for row in dict.fromkeys(tuple(row.items()) for row in rows)]  # a row repeated exactly is one
    return mean_by_pair(((row["query_id"], row["result_id"]), number(row[name])) for row in once if row[name])


def scores_of(content: bytes) -> dict[str, dict[Pair, float]]:
    """Each system's scores: of a long table, a wide one, or a TREC run."""
    run = [line.split() for line in text_of(content).split("\n") if line.strip()]
    if len(run[0]) >= 6 and _is_number(run[0][4]):
        names = {" ".join(fields[5:]) for fields in run}
        alike = len(names) == len({fields[5] for fields in run})  # else what follows the first word is a remark
        long = [(" ".join(fields[5:]) if alike else fields[5], (fields[0], fields[2]), fields[4]) for fields in run]
    else:
        rows = rows_of(content)
        long = []
        no_system = {*NO_SYSTEM, *(name for name in rows[0] if not _mostly_numbers(rows, name))}
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
    return "_" not in text  # 1_000 is a number in Python alone


def correlation(one: dict[Pair, float], other: dict[Pair, float]) -> float | None:
    """Pearson's correlation over the pairs that both hold; None where one of them is constant."""
    both = [(one[pair], other[pair]) for pair in one if pair in other]
    if len(both) < 2:
        return None
    first, second = zip(*both, strict=True)
    if len(set(first)) == 1 or len(set(second)) == 1:
        return None
    return statistics.correlation(first, second)
