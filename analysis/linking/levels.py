"""Levels of queries for judgments that compare results of one query alone, from the pairs that were also rated."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from relstudy.calibration.judgments import Judgments
from relstudy.common.probabilities import PAIR

ODDS = "log_odds"
"""Column of judgments that have mean 0 in every query, as `relstudy preferences` writes them."""


def with_levels(first: Judgments, other: Judgments) -> Judgments:
    """Judgments of couples on a straight line to the first table's scale, each query at its own level.

    A rating is level + slope * log odds: the slope is that within queries, and the level of a query the mean of what is
    left, drawn towards the mean of all levels as far as so few pairs make it uncertain. The level of a pair that is in
    both tables is made without its own rating, so that these pairs can still tell how well the way works.
    """
    odds = other.frame[ODDS].to_numpy(dtype=float)
    rated = other.frame[PAIR].merge(first.frame[[*PAIR, "judgment"]], on=PAIR, how="left")["judgment"].to_numpy(float)
    query, names = pd.factorize(other.frame["query_id"])
    common = np.isfinite(rated)
    x, y, q = odds[common], rated[common], query[common]
    count = np.bincount(q, minlength=len(names)).astype(float)
    at_least = np.maximum(count, 1)

    def within(values: np.ndarray) -> np.ndarray:
        return np.asarray(values - (np.bincount(q, values, len(names)) / at_least)[q])

    length = float(within(x) @ within(x))
    slope = float(within(x) @ within(y)) / length if length > 0 else 0.0
    left = y - slope * x
    freedom = max(len(y) - int((count > 0).sum()) - 1, 1)
    noise = float(within(left) @ within(left)) / freedom
    mean = float(left.mean()) if len(left) else 0.0
    sums = np.bincount(q, left - mean, len(names))
    spread = max(float(np.sum(sums**2 - count * noise)) / max(float(np.sum(count**2)), 1.0), 0.0)

    def level(total: np.ndarray, number: np.ndarray) -> np.ndarray:
        share = spread / np.maximum(number * spread + noise, 1e-12)
        return np.asarray(mean + share * total)

    own = np.zeros(len(odds))
    own[common] = left - mean
    judgment = level(sums[query] - own, count[query] - common) + slope * odds
    return replace(other, frame=other.frame.assign(judgment=judgment), scale=first.scale)
