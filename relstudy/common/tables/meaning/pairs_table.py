"""pairs.csv: the pairs of a study, where each came from and how likely it was to be drawn. One reader, one writer."""

from __future__ import annotations

import os
import re
from collections.abc import Container, Iterable

import numpy as np
import pandas as pd

from relstudy.common.tables.checked_table import Checked, stripped
from relstudy.common.tables.column_names import under_own_names
from relstudy.common.tables.formats.table_files import read_table, write_table
from relstudy.common.tables.meaning.inclusion_probabilities import (
    PAIR,
    PROBABILITIES,
    check_one_a_pair,
    read_probabilities,
)

COLUMNS = [
    *("pair_id", "query_id", "result_id", "paradigm", "source", "rank", "inclusion_probability", "block"),
    *("round", "query_probability"),
]
RANDOM = "random"
"""The source of pairs that no system's ranking brought in."""
COMBINED = "combined"
"""The source of pairs that a later round drew by all systems' mapped scores together."""
NO_SYSTEM = (RANDOM, COMBINED)
SOURCE_SEPARATOR = ";"
INSIDE, OUTSIDE = "inside", "outside"
"""Values of column `pool`, where results are drawn from the pool of what systems rank highest."""

OTHER = "other_id"
"""Column of the second result in the rows of couples: two results of one query, and people say which is better."""

PAGE = "page"
"""Column that says which of its query's pages a pair is shown on, where the draw decides that."""

ROUND = re.compile(r"round_(\d+)_probability")


MOST = 1e9
"""The greatest rank, and number of a round."""


def read_pairs(
    path: str | os.PathLike[str] | Checked, *required: str, items: Container[str] | None = None, couples: bool = False
) -> pd.DataFrame:
    """Read a pairs table (CSV or Parquet).

    Rows with an other_id are couples, two results of one query that people compare; they are no pairs.

    Parameters
    ----------
    path : a table with query_id and result_id
    required : further columns without which the table is refused
    items : ids of the collection; a pair of any other is refused
    couples : read the couples, and not the pairs; other_id is a column then, and a couple may appear there once

    Returns
    -------
    DataFrame, one row a pair and way of asking (a row that repeats an earlier one is left out), with every column of
    COLUMNS and the file's others as they stood: pair_id (text, each once; "QUERY|RESULT" where the file has no such
    column), query_id, result_id (text), paradigm ("image", "text", or "" where unknown), source (text; several systems
    are joined by ";"), rank (Int64, from 1), inclusion_probability, query_probability (float in (0, 1], NaN where
    unknown), block ("base" or "unique", which is also the default), round (int from 1, which is also the default);
    where the file has them: pool ("inside", which is also the default, or "outside"), page (Int64 from 1: which of its
    query's pages a pair is shown on)

    Raises
    ------
    RelstudyError
        when the file cannot be read
    TableError
        with every fault: missing columns or ids, other values than those above, one pair or one query with two
        probabilities, a query's probability below that of one of its pairs, a pair twice in a paradigm with another
        pair_id, source, rank, block, round, pool or page
    """
    table = under_own_names(read_table(path), (*COLUMNS, "pool", PAGE, OTHER))
    table.require(*PAIR, *required)
    table = _couples_or_pairs(table, couples)
    frame = table.frame.copy()
    for name in (*PAIR, OTHER) if couples else PAIR:
        frame[name] = table.texts(name)
        if items is not None:
            absent = [item != "" and item not in items for item in frame[name]]
            table.add(np.array(absent, bool), name, "the id of an item in collection.csv is needed")
    if "pair_id" in frame:
        frame["pair_id"] = table.texts("pair_id")
        table.add(frame["pair_id"].duplicated(), "pair_id", "each pair may appear there once")
    else:
        frame["pair_id"] = frame["query_id"] + "|" + frame["result_id"]
    frame["paradigm"] = _words(table, "paradigm", ["image", "text"], "")
    frame["block"] = _words(table, "block", ["base", "unique"], "unique")
    if "pool" in frame:
        frame["pool"] = _words(table, "pool", [INSIDE, OUTSIDE], INSIDE)
    frame["source"] = stripped(frame["source"]) if "source" in frame else ""
    frame["rank"] = pd.array(_whole(table, "rank"), dtype="Int64")
    if PAGE in frame:
        frame[PAGE] = pd.array(_whole(table, PAGE), dtype="Int64")
    frame["round"] = np.nan_to_num(_whole(table, "round"), nan=1.0).astype(int)
    for column in [str(name) for name in frame if ROUND.fullmatch(str(name))]:
        frame[column] = table.numbers(column, low=0, high=1, empty=True)
    read_probabilities(table, frame)
    if couples:
        _check_couples(table, frame)
        repeated = np.zeros(len(frame), dtype=bool)
    else:
        check_one_a_pair(table, frame)
        repeated = _repeated(table, frame)
    table.raise_faults()
    frame = frame[~repeated].reset_index(drop=True)
    if "query_probability" not in frame:
        frame["query_probability"] = np.nan
    return frame[[*COLUMNS, *(name for name in frame if name not in COLUMNS)]]


def holds_couples(table: Checked) -> bool:
    """True where a row of a pairs table is a couple."""
    frame = under_own_names(table, (OTHER,)).frame
    return OTHER in frame and bool((stripped(frame[OTHER]) != "").any())


def _couples_or_pairs(table: Checked, couples: bool) -> Checked:
    """The rows that are couples, or those that are pairs; of pairs without the column other_id."""
    if OTHER not in table.frame:
        none = table.frame.iloc[:0].assign(**{OTHER: pd.Series(dtype="str")})
        return table.among(none, table.rows[:0]) if couples else table
    is_couple = (stripped(table.frame[OTHER]) != "").to_numpy(dtype=bool)
    chosen = is_couple if couples else ~is_couple
    frame = table.frame if couples else table.frame.drop(columns=OTHER)
    return table.among(frame[chosen].reset_index(drop=True), table.rows[chosen])


def _check_couples(table: Checked, frame: pd.DataFrame) -> None:
    """Note as faults a result that is compared with itself, and a couple that appears there twice, whichever way."""
    table.add(frame[OTHER] == frame["result_id"], OTHER, "another result than result_id is needed")
    first, second = np.minimum(frame["result_id"], frame[OTHER]), np.maximum(frame["result_id"], frame[OTHER])
    again = pd.DataFrame({"query": frame["query_id"], "first": first, "second": second}).duplicated()
    table.add(again.to_numpy(), OTHER, "this couple is in an earlier row; each may appear there once")


def pair_rows(path: str | os.PathLike[str] | Checked) -> Checked:
    """A pairs table as it stands, unchecked but for its ids, which are text without blanks around.

    Raises
    ------
    TableError
        where query_id or result_id is missing or empty
    """
    table = under_own_names(read_table(path), (*COLUMNS, "pool", PAGE))
    table.require(*PAIR)
    named = table.among(table.frame.assign(**{name: table.texts(name) for name in PAIR}), table.rows)
    table.raise_faults()
    return named


def round_column(number: int) -> str:
    """The column that says with which probability a pair was first drawn in a round, if there are several rounds.

    Examples
    --------
    >>> round_column(2)
    'round_2_probability'
    """
    return f"round_{number}_probability"


def write_pairs(pairs: pd.DataFrame, path: str | os.PathLike[str]) -> None:
    """Write a pairs table, the columns of COLUMNS first."""
    first = [name for name in COLUMNS if name in pairs]
    write_table(pairs[[*first, *(name for name in pairs if name not in first)]], path)


def sources_of(text: str) -> list[str]:
    """The systems that proposed a pair, from its `source`; none where it is empty.

    A system's own name may hold any other sign: "bm25+rm3" is one system.

    Examples
    --------
    >>> sources_of("bm25+rm3; gift"), sources_of("")
    (['bm25+rm3', 'gift'], [])
    """
    return list(dict.fromkeys(part.strip() for part in str(text).split(SOURCE_SEPARATOR) if part.strip()))


def source_members(sources: Iterable[str]) -> dict[str, np.ndarray]:
    """The pairs that each system proposed; a pair may be proposed by several.

    Parameters
    ----------
    sources : each pair's `source`

    Returns
    -------
    dict of bool [pairs], by system in alphabetical order

    Examples
    --------
    >>> {name: pairs.tolist() for name, pairs in source_members(["a", "a;b", ""]).items()}
    {'a': [True, True, False], 'b': [False, True, False]}
    """
    proposers = [frozenset(names) for names in _sources_of_each(sources)]
    return {name: np.array([name in each for each in proposers]) for name in sorted(frozenset().union(*proposers))}


def one_row_per_source(frame: pd.DataFrame) -> pd.DataFrame:
    """Repeat each row for every system in its `source`; rows without one are left out.

    Examples
    --------
    >>> one_row_per_source(pd.DataFrame({"source": ["a;b", ""], "rating": [4.0, 1.0]})).values.tolist()
    [['a', 4.0], ['b', 4.0]]
    """
    several = frame.assign(source=pd.Series(_sources_of_each(frame["source"]), frame.index, object))
    return several.explode("source").dropna(subset="source").reset_index(drop=True)


def _sources_of_each(sources: Iterable[str]) -> list[list[str]]:
    """`sources_of` each text, each different text taken apart once."""
    texts = list(map(str, sources))
    by_text = {text: sources_of(text) for text in set(texts)}
    return [by_text[text] for text in texts]


def _repeated(table: Checked, frame: pd.DataFrame) -> np.ndarray:
    """Rows that repeat an earlier one of their pair and paradigm, bool [rows]; where they differ from it, they become
    faults of the table."""
    key = [*PAIR, "paradigm"]
    repeated = frame.duplicated(key)
    names = [name for name in (*COLUMNS, "pool", PAGE) if name in table.frame and name not in (*key, *PROBABILITIES)]
    for name in names if repeated.any() else []:
        values = pd.Series(pd.factorize(frame[name])[0], index=frame.index)
        first = values.groupby([frame[each] for each in key], sort=False).transform("first")
        table.add(values != first, name, "an earlier row has another value for this pair; keep one of them")
    return repeated.to_numpy(dtype=bool)


def _words(table: Checked, name: str, allowed: list[str], default: str) -> pd.Series:
    """A column of one of a few words, `default` where it is empty or absent."""
    if name not in table.frame:
        return pd.Series(default, index=table.frame.index, dtype="str")
    words = stripped(table.frame[name])
    table.add(~words.isin([*allowed, ""]), name, f"{' or '.join(allowed)} is allowed, or empty")
    return words.mask(words == "", default)


def _whole(table: Checked, name: str) -> np.ndarray:
    """A column of whole numbers from 1, float, NaN where it is empty or absent."""
    if name not in table.frame:
        return np.full(len(table.frame), np.nan)
    values = table.numbers(name, low=1, empty=True, whole=True)
    table.add(values > MOST, name, f"a whole number up to {MOST:,.0f} is allowed")
    return np.where(np.abs(values) <= MOST, values, np.nan)
