"""The options of reading a table from elsewhere: every command and function that reads one takes them from here."""

from __future__ import annotations

import csv
import io
import math
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from numbers import Real
from typing import Any

from relstudy.common.options.declaration import option
from relstudy.common.runtime.errors import RelstudyError

OWN = frozenset(
    (
        *("rater_id", "query_id", "result_id", "pair_id", "rating", "judgment", "system", "score", "block", "scale"),
        *("scale_low", "scale_high", "scale_step", "inclusion_probability", "query_probability", "query_weight"),
        *("seconds", "set_aside", "handed_out", "direction", "rank", "relevant_share", "relevance_cut", "n_ratings"),
        *("standard_error", "source", "judge", "gain", "other_id", "left"),
    )
)
"""relstudy's names of columns, by which a person's `theirs=ours` is told from `ours=theirs`."""
KINDS = ("ratings", "judgments", "scores", "judge", "pairs", "queries")
"""Tables that a command reads, each by a name that may stand before a column's."""
FILE_ENDING = r"\.(csv|tsv|txt|json|jsonl|ndjson|parquet|run|trec|qrels)(\.[a-z0-9]+)?$"


def plain(text: object) -> str:
    """A text as it is compared with others: case and blanks around do not matter."""
    return str(text).strip().casefold()


def of_one_table(name: str) -> tuple[str, str]:
    """The table that stands before a column's name, "" for any, and the name.

    Examples
    --------
    >>> of_one_table("labels.csv:grade"), of_one_table("judge:grade"), of_one_table("relevance:::no")
    (('labels.csv', 'grade'), ('judge', 'grade'), ('', 'relevance:::no'))
    """
    table, colon, rest = str(name).partition(":")
    is_table = colon and (table.strip() in KINDS or re.search(FILE_ENDING, table.strip()))
    return (table.strip(), rest) if is_table else ("", name)


def renamings(columns: Mapping[str, str | tuple[str, ...]]) -> list[tuple[str, str, str]]:
    """The table that is meant ("" for any), its name of a column, and relstudy's, for each column and name.

    Examples
    --------
    >>> renamings({"judge:grade": "rating", "item": ("query_id", "result_id")})
    [('judge', 'grade', 'rating'), ('', 'item', 'query_id'), ('', 'item', 'result_id')]
    """
    named = [(name, (ours,) if isinstance(ours, str) else ours) for name, ours in columns.items()]
    return [(*of_one_table(name), each) for name, several in named for each in several]


def _columns(text: str) -> dict[str, str | tuple[str, ...]]:
    """The tables' names of columns to relstudy's, from the text of an option.

    Examples
    --------
    >>> _columns("rater_id=worker,labels.csv:grade=rating,item=query_id,item=result_id")
    {'worker': 'rater_id', 'labels.csv:grade': 'rating', 'item': ('query_id', 'result_id')}
    """
    named: dict[str, str | tuple[str, ...]] = {}
    for entry in _entries(text):
        table, rest = of_one_table(entry)
        left, equals, right = rest.partition("=")
        left, right = left.strip(), right.strip()
        if not (left and equals and right):
            raise RelstudyError(f"{entry!r} is not understood")
        ours, theirs = (right, left) if right in OWN and left not in OWN else (left, right)
        name = f"{table}:{theirs}" if table else theirs
        before = named.get(name, ())
        several = dict.fromkeys((*((before,) if isinstance(before, str) else before), ours))
        named[name] = tuple(several) if len(several) > 1 else ours
    return named


def _numbers_typed(text: str) -> dict[str, float]:
    """Numbers by the texts that stand for them, from the text of an option."""
    numbers = {}
    for entry in _entries(text):
        word, equals, number = entry.rpartition("=")
        try:
            numbers[word.strip()] = float(number)
        except ValueError:
            equals = ""
        if not equals or not math.isfinite(numbers[word.strip()]):
            raise RelstudyError(f"{entry!r} is not understood")
    return numbers


def _numbers(stated: Mapping[Any, Any]) -> dict[str, float]:
    for text, number in stated.items():
        if not isinstance(number, Real) or not math.isfinite(number):
            raise RelstudyError(f"a number is needed for {text!r}, not {number!r}")
    return {plain(text): number for text, number in stated.items()}


def _texts(stated: str | float | Iterable[object]) -> tuple[str, ...]:
    several: Iterable[object] = [stated] if isinstance(stated, str | int | float) else stated
    return tuple(map(str, several))


def _entries(text: str) -> list[str]:
    """The entries of a list between commas; one with a comma in it stands in double quotes."""
    return [entry for row in csv.reader(io.StringIO(text), skipinitialspace=True) for entry in row if entry.strip()]


@dataclass(frozen=True)
class ReadingOptions:
    """What a person says of a table; `relstudy.common.tables.meaning.reading.Reading` reads by it."""

    columns: Mapping[str, str | tuple[str, ...]] = option(
        dict,
        "Which column is which, as `worker=rater_id,grade=rating`, in any table (`FILE:grade=rating` for one of "
        "them). Several for rating (or a pattern, as `P*=rating`) where each rater, or "
        "each answer, has a column.",
        metavar="THEIRS=OURS,...",
        typed=_columns,
    )
    values: Mapping[str, float] = option(
        dict,
        "Numbers for words, as `not=0,partly=1,relevant=2`.",
        metavar="TEXT=NUMBER,...",
        typed=_numbers_typed,
        read=_numbers,
    )
    scale: str | None = option(
        None, "The scale of the ratings or judgments, as `0-100`.", metavar="LOW-HIGH", typed=str
    )
    missing: tuple[str, ...] = option(
        (), "What means no answer, as `NA,nan,-`.", metavar="TEXT,...", typed=_entries, read=_texts
    )
    where: str | None = option(
        None,
        "Which rows are read, as `Finished==1`; several are joined by and.",
        metavar="COLUMN==VALUE",
        typed=str,
    )
    items: str | os.PathLike[str] | None = option(
        None,
        "Which pair each column of a survey asked about: a table column,query_id,result_id, or `wording` for the "
        "survey's own.",
        metavar="FILE|wording",
        typed=str,
    )
    gains: Mapping[str, float] = option(
        dict,
        "What judgments are worth to nDCG and its like, whole or not, as `exact=1,substitute=.1,irrelevant=0`.",
        metavar="TEXT=GAIN,...",
        typed=_numbers_typed,
        read=_numbers,
    )


OF_ANY_TABLE = tuple(field.name for field in fields(ReadingOptions) if field.name != "gains")
"""All but the gains, which scoring alone takes."""
OF_COUPLES = ("columns", "values", "missing", "where")
"""Of answers to which of two is better, whose scale is known."""
