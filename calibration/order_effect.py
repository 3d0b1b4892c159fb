"""The order effect: what a result's place on its page does to its rating.

The order on a page is random for every rater, so places and results have nothing to do with each other, and a
regression of the ratings on the place within pages is unbiased whatever the results are. Most of a rating's variance is
the result's own, of which the other raters of the pair know something: their mean is taken off first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from relstudy.common.results.estimates import Estimate
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR

PAGE = ("rater_id", "study_block", "position")
"""Columns that name a page as one rater saw it."""
NEEDED = ("place", *PAGE)
LEAST_RATERS = 3
"""Fewer raters say nothing about raters like them."""


@dataclass(frozen=True)
class PlaceEffect:
    """The order effect, in points of the scale.

    Parameters
    ----------
    last : rating at the last place of a page minus that at the first, on a line between them
    places : by place from 1, ratings there minus the mean of their pages, results alike
    pages, raters : how many had two or more decided results, and how many raters gave them
    """

    last: Estimate
    places: dict[int, Estimate]
    pages: int
    raters: int

    @property
    def is_found(self) -> bool:
        """True if the interval of `last` leaves out 0."""
        return self.last.excludes_zero is True


def place_effect(ratings: pd.DataFrame, level: float = 0.95) -> PlaceEffect | None:
    """The order effect of ratings with a result's place on its page, or None where no page has two decided results.

    Intervals are by t over raters, whose pages belong together: for raters like these.

    Parameters
    ----------
    ratings : rater_id, query_id, result_id, rating (NaN: undecided), study_block, position (of the page) and place
    level : of the intervals

    Examples
    --------
    >>> order = np.random.default_rng(1).permuted(np.tile([1, 2, 3], (90, 1)), axis=1).ravel()
    >>> page, result = np.repeat(np.arange(90), 3), np.tile([1, 2, 3], 90)
    >>> rows = {"rater_id": page % 9, "study_block": "main", "position": page // 9, "place": order,
    ...         "query_id": page // 9, "result_id": result, "rating": result - 0.2 * (order - 1)}
    >>> effect = place_effect(pd.DataFrame(rows))
    >>> print(f"{effect.last.value:.1f}", effect.pages, sorted(effect.places), effect.is_found)
    -0.4 90 [1, 2, 3] True
    """
    if any(name not in ratings for name in NEEDED):
        return None
    number = {name: pd.to_numeric(ratings[name], errors="coerce") for name in ("place", "position")}
    placed = (number["place"].notna() & number["position"].notna()).to_numpy()
    frame = ratings[placed].assign(**{name: values[placed] for name, values in number.items()})
    frame["size"] = frame.groupby(list(PAGE), sort=False)["place"].transform("max")
    frame = frame[frame["rating"].notna()]
    frame = frame[frame.groupby(list(PAGE), sort=False)["place"].transform("size") > 1]
    if frame.empty:
        return None
    rated = frame["rating"].to_numpy(dtype=float)
    page = frame.groupby(list(PAGE), sort=False).ngroup().to_numpy()
    rater, raters = pd.factorize(frame["rater_id"])
    value, weight = _without_results(frame, rated, rater, page)
    size = frame["size"].to_numpy(dtype=float)
    along = _within((frame["place"].to_numpy(dtype=float) - 1) / (size - 1), page, weight)
    last = _slope(along, value, weight, rater, len(raters), level)
    places = {}
    for place in sorted(frame["place"].astype(int).unique().tolist()):
        there = _within((frame["place"] == place).to_numpy(dtype=float), page, weight)
        if np.any(there):
            places[place] = _slope(there, value, weight, rater, len(raters), level)
    return PlaceEffect(last, places, int(page.max()) + 1, len(raters))


def _without_results(
    frame: pd.DataFrame, rated: np.ndarray, rater: np.ndarray, page: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Ratings without what the others say of the pair and without their page's mean, and a weight for each.

    Pairs that others rated vary less then, and count more; a page counts as the least of its pairs does, so that its
    mean has one weight.
    """
    pair = frame.groupby(PAIR, sort=False).ngroup().to_numpy()
    residual = rated - (np.bincount(rater, rated) / np.bincount(rater))[rater]
    many = np.bincount(pair)[pair]
    others = (np.bincount(pair, residual)[pair] - residual) / np.maximum(many - 1, 1)
    shared = many > 1
    whole = np.ones(int(page.max()) + 1, dtype=bool)
    np.logical_and.at(whole, page, shared)
    of_shared = whole[page]
    one = np.ones(len(rated))
    value, expected = _within(residual, page, one), _within(others, page, one)
    if (length := float(expected[of_shared] @ expected[of_shared])) > 0:
        value = value - of_shared * (float(expected[of_shared] @ value[of_shared]) / length) * expected
    weight = np.ones(len(rated))
    for chosen in (of_shared, ~of_shared):
        if chosen.any():
            weight[chosen] = 1 / max(float(np.mean(value[chosen] ** 2)), 1e-12)
    return value, weight


def _within(values: np.ndarray, page: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Values minus the mean of their page."""
    return np.asarray(values - (np.bincount(page, values * weight) / np.bincount(page, weight))[page])


def _slope(
    x: np.ndarray, value: np.ndarray, weight: np.ndarray, rater: np.ndarray, raters: int, level: float
) -> Estimate:
    """Weighted slope of centred values on centred x, with its interval over raters."""
    length = float(np.sum(weight * x * x))
    if length <= 0:
        return Estimate.missing("every decided result of a page is at the same place")
    slope = float(np.sum(weight * x * value)) / length
    if raters < LEAST_RATERS:
        return Estimate(slope, reason=f"{LEAST_RATERS} raters are needed for an interval")
    score = np.bincount(rater, weight * x * (value - slope * x), raters)
    error = float(np.sqrt(raters / (raters - 1) * np.sum(score**2))) / length
    reach = float(stdtrit(raters - 1, (1 + level) / 2)) * error
    return Estimate(slope, slope - reach, slope + reach)
