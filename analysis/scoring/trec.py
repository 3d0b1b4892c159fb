"""TREC's forms: qrels made of judgments, gains, and interpolated precision as trec_eval gives it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.files import replacing
from relstudy.common.tables.meaning.scales import Scale

if TYPE_CHECKING:
    from relstudy.calibration.tables.judgments import Judgments


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


def stated_gains(judgments: Judgments) -> np.ndarray | None:
    """The gain of each pair where it is not a rounded mean, float [pairs] from 0; None for means of several ratings.

    It is what the column `gain` says, else the grade itself, less the lowest of the scale: a grade of .1 gains .1.
    """
    frame = judgments.frame
    if "gain" in frame:
        stated: np.ndarray = frame["gain"].to_numpy(dtype=float)
        return stated
    if "n_ratings" in frame or ("standard_error" in frame and frame["standard_error"].notna().any()):
        return None
    return np.maximum(frame["judgment"].to_numpy(dtype=float) - judgments.scale.scale.low, 0.0)


def whole_multiple(gain: np.ndarray) -> tuple[np.ndarray, int]:
    """Gains as whole numbers, and what they were multiplied by: the least power of ten that makes them whole.

    Gains that 10^4 does not make whole are rounded there, to a ten thousandth.

    Examples
    --------
    >>> whole_multiple(np.array([1, 0.1, 0.01])), whole_multiple(np.array([3.0, 0.0]))
    ((array([100,  10,   1]), 100), (array([3, 0]), 1))
    """
    for factor in (1, 10, 100, 1000, 10_000):
        whole = np.round(gain * factor)
        if np.allclose(whole, gain * factor, rtol=0, atol=1e-6) or factor == 10_000:  # 1e-6: rounding of binary floats
            break
    return whole.astype(np.int64), factor


def qrels_gains(judgments: Judgments) -> tuple[np.ndarray, str]:
    """Whole gains for qrels, int64 [pairs], and what they are, as a phrase; fractions are multiplied until whole."""
    scale, stated = judgments.scale.scale, stated_gains(judgments)
    if stated is None:
        return gains(judgments.frame["judgment"].to_numpy(dtype=float), scale), gains_in_words(scale)
    whole, factor = whole_multiple(stated)
    times = f", times {factor:,}" if factor > 1 else ""
    return whole, f"{gains_in_words(scale, stated)}{times}"


def gains_in_words(scale: Scale, stated: np.ndarray | None = None) -> str:
    """The meaning of a gain, as a phrase.

    Parameters
    ----------
    stated : gains that are not rounded; None where they are whole steps of the scale
    """
    if stated is not None and (stated % 1 != 0).any():
        return f"numbers from {stated.min():g} to {stated.max():g} as they are, not rounded"
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
