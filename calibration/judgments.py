"""The judgments table: one calibrated value a pair, with its error and its inclusion probability."""

from __future__ import annotations

import os

import numpy as np
import pandas as pd

from relstudy.calibration.panel import Panel
from relstudy.common.errors import Fault, RelstudyError, TableError
from relstudy.common.tables import Checked, read_table, write_table

PROBABILITIES = ["inclusion_probability", "query_probability"]
COLUMNS = ["pair_id", "query_id", "result_id", "judgment", "n_ratings", "standard_error", *PROBABILITIES]
PAIR = ["query_id", "result_id"]
PRIOR_RATINGS = 8


def read_judgments(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Read a judgments table (CSV or Parquet) or TREC qrels.

    Parameters
    ----------
    path : a table with query_id, result_id and judgment (or rating; the mean over a pair's rows is then taken);
        inclusion_probability optional, and query_probability, that of the pair's query to be drawn at all. Without a
        comma in its first line, four fields a line: TREC qrels

    Returns
    -------
    DataFrame, one row a pair: query_id, result_id (text), judgment (float), inclusion_probability (float above 0 and
    at most 1; 1.0 throughout where the file has no such column, NaN where a single value is empty),
    probability_known (bool: False in both of those cases), query_probability (float, NaN where empty) where the file has
    it, and the file's other columns as they stood.
    `frame.attrs` holds "probabilities": "given" or "absent", and "merged": identical rows merged.

    Raises
    ------
    TableError
        with every fault: missing columns or ids, judgments that are no numbers, probabilities outside (0, 1],
        one pair with two different judgments, a query of two probabilities or below that of one of its pairs
    """
    table = _read_qrels(path) if _is_qrels(path) else read_table(path, *PAIR)
    frame = table.frame.copy()
    if "judgment" not in frame:
        if "rating" not in frame:
            table.require("judgment")
        return _from_ratings(table)
    if frame.empty:
        raise RelstudyError(f"{table.file}: there are no judgments below the header")
    for name in PAIR:
        frame[name] = table.texts(name)
    frame["judgment"] = table.numbers("judgment")
    absent = "inclusion_probability" not in frame
    frame["inclusion_probability"] = 1.0 if absent else _probabilities(table)
    frame["probability_known"] = False if absent else frame["inclusion_probability"].notna()
    if "query_probability" in frame:
        frame["query_probability"] = _query_probabilities(
            table, frame["query_id"], frame["inclusion_probability"], absent
        )
    repeated = frame.duplicated(PAIR)
    if repeated.any():
        groups = frame.groupby(PAIR, sort=False)
        for column in ["judgment"] if absent else ["judgment", "inclusion_probability"]:
            differs = groups[column].transform("nunique", dropna=False) > 1
            table.add(repeated & differs, column, "an earlier row has another value for this pair; keep one of them")
    table.raise_faults()
    frame = frame[~repeated].reset_index(drop=True)
    frame.attrs.update(probabilities="absent" if absent else "given", merged=int(repeated.sum()))
    return frame


def make_judgments(panel: Panel, calibrated: np.ndarray) -> pd.DataFrame:
    """Average calibrated ratings into judgments.

    Parameters
    ----------
    panel : the ratings
    calibrated : their values on the common scale, float array (N), NaN = undecided

    Returns
    -------
    DataFrame, one row a pair with at least one rating, in order of first appearance: pair_id, query_id, result_id,
    judgment, n_ratings, standard_error (empty where no pair at all has two ratings)

    Notes
    -----
    A pair's own variance rests on few ratings, often on one. It is pooled with the average over pairs as if that
    were worth eight more ratings: s^2 = (8 s_0^2 + sum of squares) / (8 + n - 1), standard error s / sqrt(n).

    Examples
    --------
    >>> frame = pd.DataFrame({"rater_id": ["a", "b"], "query_id": ["q", "q"], "result_id": ["x", "x"],
    ...                       "rating": [2.0, 4.0]})
    >>> make_judgments(Panel.from_frame(frame), np.array([2.0, 4.0]))[["judgment", "standard_error"]].values.tolist()
    [[3.0, 1.0]]
    """
    decided = panel.with_rating(calibrated).decided()
    count = decided.by_pair()
    mean = decided.by_pair(decided.rating) / np.maximum(count, 1)
    squares = decided.by_pair((decided.rating - mean[decided.pair]) ** 2)
    several = count > 1
    typical = float((squares[several] / (count[several] - 1)).mean()) if several.any() else np.nan
    variance = (PRIOR_RATINGS * typical + squares) / (PRIOR_RATINGS + np.maximum(count - 1, 0))
    rated = count > 0
    frame = panel.pairs.loc[rated].reset_index(drop=True)
    if "pair_id" not in frame:
        frame.insert(0, "pair_id", frame["query_id"].astype("str") + "|" + frame["result_id"].astype("str"))
    frame["judgment"] = mean[rated]
    frame["n_ratings"] = count[rated].astype(int)
    frame["standard_error"] = np.sqrt(variance[rated] / count[rated])
    return frame


def write_judgments(frame: pd.DataFrame, path: str | os.PathLike[str]) -> None:
    """Write judgments, the columns of the contract first."""
    first = [column for column in COLUMNS if column in frame]
    write_table(frame[[*first, *(column for column in frame if column not in first)]], path)


def pair_probabilities(pairs: pd.DataFrame, path: str | os.PathLike[str]) -> pd.DataFrame:
    """Look up in a pairs table with which probability each pair, and its query, were drawn.

    Parameters
    ----------
    pairs : query_id, result_id
    path : a table with query_id, result_id, inclusion_probability and perhaps query_probability (a study's pairs.csv)

    Returns
    -------
    DataFrame[inclusion_probability] and query_probability where the table has it, float, one row a row of `pairs`; NaN
    where the table doesn't know the pair or its probability
    """
    table = read_table(path, *PAIR, "inclusion_probability")
    known = table.frame[PAIR].copy()
    for name in PAIR:
        known[name] = table.texts(name)
    known["inclusion_probability"] = _probabilities(table)
    differs = known.groupby(PAIR)["inclusion_probability"].transform("nunique", dropna=False) > 1
    table.add(differs, "inclusion_probability", "a pair has one inclusion probability, and rows of this pair differ")
    if "query_probability" in table.frame:
        known["query_probability"] = _query_probabilities(table, known["query_id"], known["inclusion_probability"])
    table.raise_faults()
    known = known.drop_duplicates(PAIR)
    joined = pairs[PAIR].astype("str").merge(known, on=PAIR, how="left", validate="many_to_one")
    return joined[[name for name in PROBABILITIES if name in joined]]


def _probabilities(table: Checked, name: str = "inclusion_probability") -> np.ndarray:
    return table.numbers(name, low=0, high=1, low_open=True, empty=True)


def _query_probabilities(
    table: Checked, query: pd.Series, inclusion: pd.Series, inclusion_unknown: bool = False
) -> np.ndarray:
    """The column query_probability, with its faults added to the table's."""
    found = _probabilities(table, "query_probability")
    differs = pd.Series(found).groupby(query.to_numpy()).transform("nunique") > 1
    table.add(differs, "query_probability", "a query has one probability, and rows of this query differ")
    if not inclusion_unknown:
        # a pair certain given its query has its query's probability, and files round
        above = inclusion.to_numpy(dtype=float) > found * (1 + 1e-6)
        table.add(above, "query_probability", "at least the pair's inclusion_probability is needed")
    return found


def _from_ratings(table: Checked) -> pd.DataFrame:
    """Judgments as plain means of a ratings table: one row a rating, empty ones undecided."""
    frame = table.frame[PAIR].copy()
    for name in PAIR:
        frame[name] = table.texts(name)
    frame["judgment"] = table.numbers("rating", empty=True)
    absent = "inclusion_probability" not in table.frame
    frame["inclusion_probability"] = 1.0 if absent else _probabilities(table)
    drawn = {}
    if "query_probability" in table.frame:
        frame["query_probability"] = _query_probabilities(
            table, frame["query_id"], frame["inclusion_probability"], absent
        )
        drawn = {"query_probability": ("query_probability", "first")}
    table.raise_faults()
    groups = frame.dropna(subset="judgment").groupby(PAIR, sort=False)
    if not len(groups):
        raise RelstudyError(f"{table.file}: there is no rating that is a number")
    if (groups["inclusion_probability"].nunique(dropna=False) > 1).any():
        allowed = "a pair has one inclusion probability, and rows of one pair differ"
        raise TableError([Fault(table.file, None, "inclusion_probability", None, allowed)])
    result = groups.agg(
        judgment=("judgment", "mean"),
        n_ratings=("judgment", "size"),
        inclusion_probability=("inclusion_probability", "first"),
        **drawn,
    ).reset_index()
    result["probability_known"] = False if absent else result["inclusion_probability"].notna()
    result.attrs.update(probabilities="absent" if absent else "given", merged=0)
    return result


def _is_qrels(path: str | os.PathLike[str]) -> bool:
    file = os.fspath(path)
    if file.endswith((".csv", ".parquet")) or not os.path.isfile(file):
        return False
    with open(file, encoding="utf-8-sig", errors="replace") as handle:
        line = handle.readline()
    return "," not in line and len(line.split()) == 4


def _read_qrels(path: str | os.PathLike[str]) -> Checked:
    file = os.fspath(path)
    with open(file, encoding="utf-8-sig", errors="replace") as handle:
        rows = [(number, line.split()) for number, line in enumerate(handle, start=1) if line.strip()]
    allowed = "a TREC qrels line has four fields: query, 0, result, judgment"
    faults = [Fault(file, number, None, " ".join(fields), allowed) for number, fields in rows if len(fields) != 4]
    if faults:
        raise TableError(faults)
    columns = ["query_id", "iteration", "result_id", "judgment"]
    return Checked(pd.DataFrame([fields for _, fields in rows], columns=columns).drop(columns="iteration"), file)
