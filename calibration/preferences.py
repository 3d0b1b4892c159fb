"""Judgments of results, or of lists, from answers to which of two is better.

A judgment is the chance that people prefer the result to an average one of its query's, on a scale from 0 to 1. It says
nothing of how good the query's results are as a whole; `relstudy calibrate join` sets that by the pairs that were also
rated. Of whole lists, the share in which people prefer one system's to another's follows from the answers and the
couples' probabilities alone: each rater sees a system on either side by chance, so a lean to a side takes no part in
it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from relstudy.calibration.methods.bradley_terry import (
    EQUAL,
    LEFT,
    RIGHT,
    SPREADS,
    Couples,
    Preferences,
    fit_preferences,
)
from relstudy.calibration.reliability.two_way_intervals import FEW, LEAST_RATERS, interval, of_couples
from relstudy.calibration.tables.blocks import is_couple, rows_aside
from relstudy.calibration.tables.excluded_raters import without_set_aside
from relstudy.calibration.tables.judgments import Judgments, write_judgments
from relstudy.common.options.option_wording import option
from relstudy.common.results.estimates import Estimate
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.files import together
from relstudy.common.runtime.wording import count_of
from relstudy.common.tables.checked_table import Checked
from relstudy.common.tables.column_names import under_own_names
from relstudy.common.tables.formats.table_files import read_table, write_table
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR
from relstudy.common.tables.meaning.pairs_table import OTHER, sources_of
from relstudy.common.tables.meaning.reading import PLAIN, Reading
from relstudy.common.tables.meaning.scales import KnownScale, Scale

SCALE = Scale("preferred", (0.0, 1.0), continuous=True)
FILES = ("judgments.csv", "raters.csv", "systems.csv")
"""Names of the files that judgments from couples may write, the last one of whole lists alone."""
NORMAL = 1.959963984540054
SIDE = "left"
"""Column of which result stood on the left."""
OF_LISTS = "which-list"
"""The scale, in a table's column of that name, of answers to which of two whole lists is better."""
OTHERS = "all others"
"""In place of one other system: the mean over all that a system was compared with."""


@dataclass(frozen=True, eq=False)
class PreferenceStudy:
    """Judgments from couples.

    Parameters
    ----------
    judgments : one row a result: query_id, result_id, judgment (0 to 1), standard_error (NaN where unknown), n_ratings
        (couples it was in), and log_odds of being preferred with log_odds_error, mean 0 in each query
    raters : one row a rater: rater_id, n_ratings, equal (share of them), lean (to the left) and tie, in log odds
    fitted : the model
    undecided : answers that were left open
    notes : on how the table was read, as sentences
    systems : of whole lists, one row a couple of systems, as `systems_preferred` gives it; else without rows
    """

    judgments: Judgments
    raters: pd.DataFrame
    fitted: Preferences
    undecided: int
    notes: tuple[str, ...]
    systems: pd.DataFrame = field(default_factory=pd.DataFrame)

    @property
    def lean(self) -> Estimate:
        """The panel's lean to the left, in log odds, with its 95 % interval."""
        mean, reach = self.fitted.mean_lean, NORMAL * self.fitted.lean_error
        return Estimate(mean, mean - reach, mean + reach)

    def as_json(self) -> dict[str, Any]:
        """Sizes, spreads, the panel's lean, and notes."""
        return {
            "results": len(self.judgments),
            "queries": int(self.judgments.frame["query_id"].nunique()),
            "raters": len(self.raters),
            "answers": int(self.raters["n_ratings"].sum()),
            "undecided": self.undecided,
            "lean": self.lean.as_json(),
            "spreads": dict(zip(("quality", "lean", "tie"), self.fitted.spreads, strict=True)),
            **({"systems": [_plain(row) for row in self.systems.to_dict("records")]} if len(self.systems) else {}),
            "notes": list(self.notes),
        }

    def write(self, folder: Path) -> list[Path]:
        """Write judgments.csv and raters.csv, and of lists systems.csv, all or none; gives the files."""
        judgments, raters, systems = (folder / name for name in FILES)
        with together():
            write_judgments(self.judgments, judgments)
            write_table(self.raters, raters)
            if len(self.systems):
                write_table(self.systems, systems)
        return [judgments, raters, *([systems] if len(self.systems) else [])]


def _plain(row: dict[Any, Any]) -> dict[str, Any]:
    """A row as JSON takes it."""
    return {str(name): None if isinstance(value, float) and np.isnan(value) else value for name, value in row.items()}


def read_preferences(
    path: str | os.PathLike[str] | Checked, lists: bool = False, reading: Reading = PLAIN
) -> PreferenceStudy:
    """Judgments from a table of couples.

    Parameters
    ----------
    path : a table with rater_id, query_id, result_id, other_id, left (the one of them that stood on the left; without
        this column result_id did) and rating: -1 the left one is better, 0 neither, 1 the right one, empty undecided.
        Rows without other_id, of checks, repeats and practice, and of excluded raters are left out
    lists : read the couples of whole lists (scale "which-list"), and not those of results; `source` then names the two
        systems, and inclusion_probability, where it is there, is the couple's
    reading : what is stated about the table: which column is which, numbers for words, what is missing

    Raises
    ------
    TableError
        with every fault of the table
    RelstudyError
        where nothing is left

    Examples
    --------
    >>> import tempfile
    >>> rows = "rater_id,query_id,result_id,other_id,left,rating\\na,q,x,y,x,-1\\nb,q,x,y,y,1\\na,q,y,z,y,0\\n"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "which.csv"
    ...     _ = file.write_text(rows)
    ...     found = read_preferences(file)
    >>> frame = found.judgments.frame
    >>> bool(frame["judgment"].iloc[0] > 0.5), frame["n_ratings"].tolist()
    (True, [2, 3, 1])
    """
    found = read_couples(path, lists, reading)
    query, left, answer = found.query, found.left, found.answer
    right = np.where(left == found.first, found.second, found.first)
    decided = np.isfinite(answer)
    ends = pd.MultiIndex.from_arrays([np.r_[query, query], np.r_[left, right]])
    codes, results = pd.factorize(ends)
    names = pd.MultiIndex.from_tuples(results, names=PAIR).to_frame(index=False)
    rater, raters = pd.factorize(found.rater[decided])
    left_code, right_code = codes[: len(query)][decided], codes[len(query) :][decided]
    given = answer[decided].astype(int)
    fitted = fit_preferences(
        Couples(rater, left_code, right_code, given, pd.factorize(names["query_id"])[0], len(raters))
    )
    preferred = fitted.preferred
    spread_found = SPREADS[0] * 1.01 < fitted.spreads[0] < SPREADS[1] / 1.01
    error = fitted.standard_error if spread_found else np.full(len(preferred), np.nan)
    frame = names.assign(
        judgment=preferred,
        n_ratings=np.bincount(np.r_[left_code, right_code], minlength=len(names)),
        standard_error=error * preferred * (1 - preferred),
        log_odds=fitted.quality,
        log_odds_error=error,
        **SCALE.columns(),
    )
    seen = frame["n_ratings"] > 0
    known = KnownScale(SCALE, "named", "the chance of being preferred to an average result of the query")
    of_raters = pd.DataFrame(
        {
            "rater_id": raters,
            "n_ratings": np.bincount(rater),
            "equal": np.bincount(rater, given == EQUAL) / np.bincount(rater),
            "lean": fitted.lean,
            "tie": fitted.tie,
        }
    )
    alone = int((~seen).sum())
    notes = [*found.notes]
    if not spread_found:
        few = "the answers do not show how far results differ (too few, or as if all were equal)"
        notes.append(f"{few}, so judgments have no standard error")
    if alone:
        notes.append(f"{count_of(alone, 'result')} had no decided answer and no judgment")
    kept = frame[seen].reset_index(drop=True)
    systems = pd.DataFrame()
    if lists:
        weight = found.weight
        if not np.isfinite(weight[decided]).all():
            weight = np.ones(len(answer))
            notes.append("couples have equal weight, as the probability of some is unknown")
        both = [found.systems[int(row)] for row in np.flatnonzero(decided)]
        systems = systems_preferred(both, found.wins[decided], weight[decided], rater, pd.factorize(query[decided])[0])
    return PreferenceStudy(Judgments(kept, known), of_raters, fitted, int((~decided).sum()), tuple(notes), systems)


@dataclass(frozen=True, eq=False)
class CoupleAnswers:
    """Answers to which of two is better, a row each.

    Parameters
    ----------
    file : the table's name, for messages
    rater, query, first, second, left : ids, object arrays (N): the couple's results and the one of them on the left
    answer : -1 the left one, 0 neither, 1 the right one, NaN undecided, float array (N)
    systems : of whole lists, the systems of first and second
    weight : of whole lists one over the couple's probability to be drawn, NaN where unknown; else 1; float array (N)
    notes : on how the table was read
    """

    file: str
    rater: np.ndarray
    query: np.ndarray
    first: np.ndarray
    second: np.ndarray
    left: np.ndarray
    answer: np.ndarray
    systems: Sequence[tuple[str, str]]
    weight: np.ndarray
    notes: tuple[str, ...]

    @property
    def wins(self) -> np.ndarray:
        """1 where the first one is better, 0 the second, 0.5 neither, NaN undecided, float array (N)."""
        wins = np.where((self.answer < 0) == (self.left == self.first), 1.0, 0.0)
        return np.where(np.isfinite(self.answer), np.where(self.answer == EQUAL, 0.5, wins), np.nan)


def read_couples(
    path: str | os.PathLike[str] | Checked, lists: bool = False, reading: Reading = PLAIN
) -> CoupleAnswers:
    """The answers of a table of couples; parameters and errors as `read_preferences` has them."""
    table = reading.apply(read_table(path), ("rating",))
    table = under_own_names(table, ("rater_id", "query_id", "result_id", OTHER, SIDE, "rating", "block"))
    if SIDE not in table.frame and "result_id" in table.frame:
        said = (*table.notes, f"no column {SIDE}: result_id is taken for the one on the left")
        table = table.among(table.frame.assign(**{SIDE: table.frame["result_id"]}), table.rows, table.labels)
        table.notes = said
    table.require("rater_id", "query_id", "result_id", OTHER, SIDE, "rating")
    table = without_set_aside(table)
    couples = is_couple(table) & ~rows_aside(table)
    of_lists = (table.frame["scale"] == OF_LISTS).to_numpy(bool) if "scale" in table.frame else np.zeros_like(couples)
    chosen = couples & (of_lists == lists)
    if not chosen.any():
        if couples.any():
            way = (
                f"{option('lists', True)} takes these"
                if not lists
                else f"those of results go without {option('lists', True)}"
            )
            raise RelstudyError(f"{table.file}: its couples are of {'results' if lists else 'whole lists'}; {way}")
        raise RelstudyError(f"{table.file}: no row has an other_id, so no row says which of two is better")
    table = table.where(chosen)
    text = {name: table.texts(name) for name in ("rater_id", "query_id", "result_id", OTHER, SIDE)}
    first, second, left = (np.asarray(text[name], dtype=object) for name in ("result_id", OTHER, SIDE))
    answer = table.numbers("rating", low=LEFT, high=RIGHT, empty=True)
    table.add(np.isfinite(answer) & ~np.isin(answer, (LEFT, EQUAL, RIGHT)), "rating", "-1, 0 or 1 is allowed")
    table.add(first == second, OTHER, "another result than result_id is needed")
    table.add((left != first) & (left != second), SIDE, "must be result_id or other_id, the result on the left")
    systems = _two_systems(table) if lists else []
    weight = np.ones(len(answer))
    if lists and "inclusion_probability" in table.frame:
        weight = 1 / table.numbers("inclusion_probability", low=0, high=1, low_open=True, empty=True)
    table.raise_faults()
    query, rater = (np.asarray(text[name], dtype=object) for name in ("query_id", "rater_id"))
    if not np.isfinite(answer).any():
        raise RelstudyError(f"{table.file}: every answer is empty (undecided)")
    return CoupleAnswers(
        str(table.file), rater, query, first, second, left, answer, systems, weight, tuple(table.notes)
    )


def _two_systems(table: Checked) -> list[tuple[str, str]]:
    """The systems of the two lists of each row, that of result_id first; others are faults of the table."""
    table.require("source")
    found = [tuple(sources_of(text)) for text in table.texts("source")]
    table.add(np.array([len(each) != 2 for each in found]), "source", "two systems are needed, such as bm25;gift")
    return [(each[0], each[-1]) if each else ("", "") for each in found]


def systems_preferred(
    systems: Sequence[tuple[str, str]],
    wins: np.ndarray,
    weight: np.ndarray,
    rater: np.ndarray,
    query: np.ndarray,
    level: float = 0.95,
) -> pd.DataFrame:
    """The share of couples in which people prefer one system's list to another's, half of the ties counted.

    Parameters
    ----------
    systems : the two systems of each of N answers
    wins : 1 where the first one's list is better, 0 the other's, 0.5 neither, float array (N)
    weight : one over the couple's probability to be drawn, float array (N)
    rater, query : codes, int arrays (N)
    level : of intervals, between 0 and 1

    Returns
    -------
    DataFrame[system, other, preferred, preferred_low, preferred_high, answers, queries, note], a row for each couple
    of systems, and with three systems or more one for each system against all others; intervals are for raters and
    queries like these, and empty with a reason in `note` if there are fewer than three raters

    Examples
    --------
    >>> one, two = np.ones(2), np.arange(2)
    >>> table = systems_preferred([("a", "b"), ("b", "a")], np.array([1.0, 0.5]), one, two, two)
    >>> table[["system", "other", "preferred", "answers"]].values.tolist()
    [['a', 'b', 0.75, 2]]
    """
    keys = [tuple(sorted(both)) for both in systems]
    turned = np.array([both != key for both, key in zip(systems, keys, strict=True)])
    value = np.where(turned, 1 - wins, wins)
    code, names = pd.factorize(pd.Series(keys, dtype=object))
    influence, share = np.zeros((len(names), len(value))), np.zeros(len(names))
    for number in range(len(names)):
        rows = code == number
        total = weight[rows].sum()
        share[number] = weight[rows] @ value[rows] / total
        influence[number, rows] = weight[rows] * (value[rows] - share[number]) / total

    def row(system: str, other: str, preferred: float, by_answer: np.ndarray, rows: np.ndarray) -> dict[str, Any]:
        raters, queries = (np.unique(each[rows], return_inverse=True) for each in (rater, query))
        sizes = len(raters[0]), len(queries[0])
        found = Estimate(
            preferred, reason=FEW if sizes[0] < LEAST_RATERS else "one query does not show how others would differ"
        )
        if sizes[0] >= LEAST_RATERS and sizes[1] > 1:
            used = by_answer[rows]
            sums = [np.bincount(each[1], used) for each in (raters, queries)]
            parts = [float(each @ each) * of_couples(len(each)) for each in sums]
            cells = np.bincount(raters[1] * sizes[1] + queries[1], used)
            found = interval(preferred, (parts[0], parts[1]), float(cells @ cells), sizes, level=level)
        low, high = (np.nan if each is None else float(np.clip(each, 0, 1)) for each in (found.low, found.high))
        ends = {"preferred": preferred, "preferred_low": low, "preferred_high": high}
        counts = {"answers": int(rows.sum()), "queries": sizes[1], "note": found.reason or ""}
        return {"system": system, "other": other, **ends, **counts}

    table = [
        row(names[k][0], names[k][1], float(share[k]), influence[k], code == k)
        for k in sorted(range(len(names)), key=lambda k: names[k])
    ]
    single = sorted({name for key in names for name in key})
    for name in single if len(single) > 2 else []:
        own = np.array([name in key for key in names])
        sign = np.array([1.0 if key[0] == name else -1.0 for key in names])[own]
        mean = float(np.mean(np.where(sign > 0, share[own], 1 - share[own])))
        table.append(row(name, OTHERS, mean, (sign @ influence[own]) / own.sum(), own[code]))
    return pd.DataFrame(table)
