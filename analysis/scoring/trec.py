"""TREC's forms: qrels made of judgments, whole gains, and interpolated precision as trec_eval gives it."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np
import pandas as pd

from relstudy.common.errors import RelstudyError
from relstudy.common.files import replacing
from relstudy.common.scales import Scale


def gains(judgment: np.ndarray, scale: Scale) -> np.ndarray:
    """Whole gains for graded measures: the scale's steps above its lowest value, rounded (halves up), never negative.

    A scale without steps is taken in hundredths of its length.

    Examples
    --------
    >>> gains(np.array([0.4, 1.0, 2.5, 5.2]), Scale.between(1, 5)).tolist()
    [0, 0, 2, 4]
    """
    steps = np.floor(np.round((judgment - scale.low) / scale.gain_step, 9) + 0.5)
    whole: np.ndarray = np.maximum(0, steps).astype(np.int64)
    return whole


def gains_in_words(scale: Scale) -> str:
    """What a whole gain is, as a phrase."""
    if scale.gain_step == 1:
        return f"the judgment rounded, less {scale.low:g}"
    return f"the judgment less {scale.low:g}, in steps of {scale.gain_step:g}, rounded"


def write_qrels(judgments: pd.DataFrame, path: str | os.PathLike[str], relevance: np.ndarray | None = None) -> None:
    """Write judgments as TREC qrels (query, 0, result, whole number).

    Parameters
    ----------
    judgments : query_id, result_id, judgment
    relevance : whole numbers, one a row; None takes the judgments, which must then be whole

    Raises
    ------
    RelstudyError
        for a judgment that is not whole, or an id with a blank in it, which qrels cannot keep
    """
    file = os.fspath(path)
    values = judgments["judgment"].to_numpy(dtype=float) if relevance is None else np.asarray(relevance, dtype=float)
    fraction = values != np.round(values)
    if fraction.any():
        raise RelstudyError(
            f"{file}: not written, since qrels hold whole numbers and {values[fraction][0]:g} is not one"
        )
    for column in ("query_id", "result_id"):
        blank = judgments[column].astype("str").str.contains(r"\s", regex=True)
        if blank.any():
            name = judgments[column][blank].iloc[0]
            raise RelstudyError(f"{file}: not written, since qrels cannot keep a blank in {column}: {name!r}")
    lines = pd.DataFrame(
        {"q": judgments["query_id"], "zero": 0, "r": judgments["result_id"], "grade": values.astype(np.int64)}
    )
    with replacing(path) as beside:
        lines.to_csv(beside, sep=" ", header=False, index=False, quoting=3)


def interpolated_precision(relevant: np.ndarray, total: int, levels: Sequence[float]) -> np.ndarray:
    """Interpolated precision of one query at recall levels, as trec_eval gives it since its version 10.

    A level is reached with round(level * total) relevant results (halves up), and the precision there is the highest
    at that depth or any below. ir-measures rests on an older trec_eval, which rounded up; the two differ in the
    fourth digit where a query has hundreds of relevant results.

    Parameters
    ----------
    relevant : bool [results], in the order retrieved
    total : relevant results of the query, retrieved or not
    levels : recall levels, from 0 to 1

    Examples
    --------
    >>> interpolated_precision(np.array([True, False, True]), 2, [0.0, 0.5, 1.0]).round(4).tolist()
    [1.0, 1.0, 0.6667]
    """
    depth = np.flatnonzero(relevant) + 1
    best = np.maximum.accumulate((np.arange(1, len(depth) + 1) / depth)[::-1])[::-1]
    need = np.floor(np.asarray(levels) * total + 0.5).astype(int)
    reached = np.maximum(need, 1) <= len(depth)
    level = np.minimum(np.maximum(need, 1), len(depth)) - 1
    return np.where(reached, best[level], 0.0) if len(depth) else np.zeros(len(need))
