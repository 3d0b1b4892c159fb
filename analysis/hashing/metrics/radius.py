"""Precision, recall and F-beta at every Hamming radius, and the area under the curve over radii.

Moran 2016, Eq. 3.6 to 3.11.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from relstudy.analysis.hashing.counting.counts import CountTable
from relstudy.analysis.hashing.options import AreaRule, LeftOut, NoRelevant


@dataclass(frozen=True)
class RadiusCurve:
    """Figures at the radii 0..Q, each float (Q + 1,); NaN where a figure does not exist.

    Micro figures pool the counts of all queries (Eq. 3.8 and 3.9); macro figures are means over queries.
    """

    precision_micro: np.ndarray
    recall_micro: np.ndarray
    f_micro: np.ndarray
    precision_macro: np.ndarray
    recall_macro: np.ndarray
    f_macro: np.ndarray
    empty_balls: np.ndarray


def precision_recall_by_radius(
    table: CountTable, beta: float = 1.0, empty_ball: LeftOut = "zero", no_relevant: NoRelevant = "skip"
) -> RadiusCurve:
    """Precision, recall and F-beta within every radius.

    Parameters
    ----------
    table : counts of M queries
    beta : weight of recall in F, above 0
    empty_ball : a query with no code within the radius has precision 0 (`zero`) or is left out of the mean (`skip`)
    no_relevant : a query without a relevant code has recall and F 0 (`zero`) or is left out of their means (`skip`);
        its precision exists, and is 0

    Examples
    --------
    >>> table = CountTable(np.array([[2, 4, 4]]), np.array([[2, 2, 1]]))
    >>> precision_recall_by_radius(table).precision_micro.round(3).tolist()
    [1.0, 0.667, 0.5]
    """
    seen, hits = np.cumsum(table.total, axis=1), np.cumsum(table.relevant, axis=1)
    relevant_codes = hits[:, -1]
    precision_micro = _ratio(hits.sum(axis=0), seen.sum(axis=0))
    recall_micro = _ratio(hits.sum(axis=0), np.full(seen.shape[1], relevant_codes.sum()))
    precision = _ratio(hits, seen)
    recall = _ratio(hits, np.broadcast_to(relevant_codes[:, None], hits.shape))
    query_f = np.where(relevant_codes[:, None] > 0, _f_beta(hits, seen, relevant_codes[:, None], beta), np.nan)
    return RadiusCurve(
        precision_micro=precision_micro,
        recall_micro=recall_micro,
        f_micro=_f_beta(hits.sum(axis=0), seen.sum(axis=0), np.asarray(relevant_codes.sum()), beta),
        precision_macro=_mean(precision, empty_ball),
        recall_macro=_mean(recall, no_relevant),
        f_macro=_mean(query_f, no_relevant),
        empty_balls=(seen == 0).sum(axis=0),
    )


def area_under_curve(precision: np.ndarray, recall: np.ndarray, rule: AreaRule = "sum") -> float | None:
    """Area under a precision-recall curve over the radii d = 0..Q.

    Parameters
    ----------
    precision, recall : float (Q + 1,)
    rule : `sum` is Eq. 3.11 started at d = 0; `trapezoid` starts at (0, P(0)); `matlab` is trapz over the radii alone,
        without that first piece (Moran 2016, footnote 9), precision 0 where nothing is found; `matlab-1` the same over
        the radii 1 to Q that Eq. 3.11 sums over; `literal` is Eq. 3.11 as
        printed, which starts at d = 1: it gives 0 to a perfect code, and more to codes that are shifted by one bit

    Returns
    -------
    The area in [0, 1], or None where recall does not exist (no relevant code at all).

    Examples
    --------
    >>> perfect = np.array([1.0, 0.2]), np.array([1.0, 1.0])
    >>> area_under_curve(*perfect), area_under_curve(*perfect, rule="literal")
    (1.0, 0.0)
    """
    if np.isnan(recall).any():
        return None
    height = np.nan_to_num(precision, nan=0.0)
    if rule == "sum":
        return float((height * np.diff(recall, prepend=0.0)).sum())
    if rule == "matlab":
        return float(np.trapezoid(height, recall))
    if rule == "matlab-1":
        return float(np.trapezoid(height[1:], recall[1:]))
    if rule == "literal":
        return float((height[1:] * np.diff(recall)).sum())
    return float(np.trapezoid(np.r_[height[0], height], np.r_[0.0, recall]))


def _ratio(top: np.ndarray, bottom: np.ndarray) -> np.ndarray:
    return np.divide(top, bottom, out=np.full(np.shape(top), np.nan), where=np.asarray(bottom) > 0)


def _f_beta(hits: np.ndarray, seen: np.ndarray, relevant_codes: np.ndarray, beta: float) -> np.ndarray:
    # Eq. 3.10 is TP over a weighted mean of what was found and what there is to find; without 0/0 where TP is 0.
    weight = 1 / (1 + beta * beta)
    return _ratio(hits, weight * seen + (1 - weight) * relevant_codes)


def _mean(rows: np.ndarray, missing: NoRelevant) -> np.ndarray:
    counted = np.full(rows.shape[1], len(rows)) if missing != "skip" else (~np.isnan(rows)).sum(axis=0)
    return _ratio(np.nansum(rows, axis=0), counted)
