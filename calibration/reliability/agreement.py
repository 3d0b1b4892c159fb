"""Agreement of raters beyond chance: Krippendorff's alpha, Gwet's AC1 and AC2.

Every figure is an `Estimate` with a 95 % interval for raters and pairs like these, or the reason why there is none.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy.sparse import csr_array

from relstudy.calibration.panel import Panel
from relstudy.calibration.reliability.two_way_intervals import (
    Figure,
    mean_over_pairs,
    mean_over_ratings,
    squared_differences,
)
from relstudy.common.results.estimates import Estimate

Level = Literal["nominal", "ordinal", "interval"]
LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval")
MOST_VALUES = 100
MOST_AT_ONCE = 1_000_000
"""Pairs times values squared that the package is given: it makes several arrays of so many numbers, and products of
matrices are done in a sixtieth of the time."""


def krippendorff_alpha(panel: Panel, level: Level) -> Estimate:
    """Krippendorff's alpha over all pairs, by the `krippendorff` package, with its interval for raters and pairs.

    Parameters
    ----------
    panel : ratings; undecided ones are missing data
    level : "nominal", "ordinal" or "interval"; with more than 100 distinct values only "interval", which is
        then computed from variances (the same number)

    References
    ----------
    Krippendorff 2011.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"rater_id": list("abab"), "pair_id": list("ppqq"), "rating": [1, 1, 2, 3]})
    >>> round(krippendorff_alpha(Panel.from_frame(frame), "interval").value, 4)
    0.7273
    """
    decided = panel.decided()
    values, code = np.unique(decided.rating, return_inverse=True)
    missing = _not_for_categories(decided, values)
    if missing is not None and not (level == "interval" and len(values) > MOST_VALUES and decided.by_pair().max() > 1):
        return missing
    several = decided.keep(decided.by_pair()[decided.pair] > 1)
    if np.ptp(several.rating) == 0:
        return Estimate.missing("every rating is the same on the pairs with two ratings")
    if len(values) > MOST_VALUES:
        value = interval_alpha(decided)
    else:
        cells = np.bincount(decided.pair * len(values) + code, minlength=decided.n_pairs * len(values))
        counts = cells.reshape(decided.n_pairs, len(values))
        counts = counts[counts.sum(axis=1) > 1]
        value = _alpha_of_counts(counts, values, level)
    apart, typical = _distances(several, level)
    observed = mean_over_pairs(several, apart, several.by_pair())
    chance = mean_over_ratings(several, typical)
    # A category's share counts twice in the distance by chance: on the side of the rating, and on that of the others.
    twice = Figure(chance.value, 2 * chance.by_rating, 2 * chance.by_pair)
    alpha = observed.over(twice).times(-1.0, 1.0)
    return Figure(value, alpha.by_rating, alpha.by_pair).estimate(several, "fisher")


def _alpha_of_counts(counts: np.ndarray, values: np.ndarray, level: Level) -> float:
    """Alpha from how often each pair got each value, int array (pairs, values): by the package, whose memory grows with
    pairs times values squared, and beyond `MOST_AT_ONCE` by the same sums as products of matrices."""
    if len(counts) * len(values) ** 2 <= MOST_AT_ONCE:
        import krippendorff

        return float(krippendorff.alpha(value_counts=counts, value_domain=values, level_of_measurement=level))
    shares = counts / (counts.sum(axis=1) - 1)[:, None]
    observed = counts.T @ shares - np.diag(shares.sum(axis=0))
    total = counts.sum(axis=0)
    chance = (np.outer(total, total) - np.diag(total)) / (total.sum() - 1)
    apart = _distances_of_categories(values, total, level)
    return float(1 - np.sum(observed * apart) / np.sum(chance * apart))


def _distances_of_categories(values: np.ndarray, count: np.ndarray, level: Level) -> np.ndarray:
    """Squared distances of the level between K distinct ratings, ascending, that came so often, float array (K, K)."""
    if level == "nominal":
        return 1.0 - np.eye(len(values))
    place = values if level == "interval" else np.cumsum(count) - count / 2
    return np.asarray((place[:, None] - place[None, :]) ** 2)


def interval_alpha(panel: Panel) -> float:
    """Interval alpha from variances: 1 - D_o / D_e, both as mean squared differences."""
    count = panel.by_pair()
    several = panel.keep(count[panel.pair] > 1)
    mean = several.by_pair(several.rating) / np.maximum(count, 1)
    within = (several.rating - mean[several.pair]) ** 2 * (count / np.maximum(count - 1, 1))[several.pair]
    return float(1 - within.mean() / several.rating.var(ddof=1))


def _distances(panel: Panel, level: Level) -> tuple[np.ndarray, np.ndarray]:
    """Each rating's mean squared distance from others of its pair (0 where alone), and from all others; (N) each."""
    n = len(panel.rating)
    if level == "interval":
        centred = panel.rating - panel.rating.mean()
        return 2 * squared_differences(panel), (centred**2 + np.mean(centred**2)) * n / (n - 1)
    values, code, count = np.unique(panel.rating, return_inverse=True, return_counts=True)
    table = _distances_of_categories(values, count, level)
    return mean_from_others(panel, code, table), (table @ count / (n - 1))[code]


def mean_from_others(panel: Panel, code: np.ndarray, table: np.ndarray) -> np.ndarray:
    """The mean of table[own category, other's] over the other ratings of each rating's pair, float array (N)."""
    cells = csr_array((np.ones(len(code)), (panel.pair, code)), shape=(panel.n_pairs, len(table)))
    total = np.asarray((cells @ table)[panel.pair, code])
    return (total - np.diag(table)[code]) / np.maximum(panel.by_pair()[panel.pair] - 1, 1)


def gwet(panel: Panel, *, quadratic: bool) -> Estimate:
    """Gwet's AC1, or AC2 with quadratic weights, over all pairs, with its interval for raters and pairs like these.

    Unlike kappa and alpha it does not fall to 0 where nearly all ratings are in one category. Agreement is the mean
    over pairs with two ratings; chance is T / (q (q - 1)) sum of p (1 - p) over the q categories, T the sum of all
    weights and p the mean over pairs of a category's share.

    Parameters
    ----------
    panel : ratings; undecided ones are missing data
    quadratic : AC2; False: AC1

    References
    ----------
    Gwet, K. L. (2008). Computing inter-rater reliability and its variance in the presence of high agreement. British
    Journal of Mathematical and Statistical Psychology 61, 29-48.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"rater_id": list("ab") * 3, "pair_id": list("ppqqss"), "rating": [1, 1, 2, 2, 1, 2]})
    >>> round(gwet(Panel.from_frame(frame), quadratic=False).value, 4)
    0.3333
    """
    decided = panel.decided()
    values, code = np.unique(decided.rating, return_inverse=True)
    missing = _not_for_categories(decided, values)
    if missing is not None:
        return missing
    size = len(values)
    steps = (values[:, None] - values[None, :]) / (values[-1] - values[0])
    table = 1 - steps**2 if quadratic else np.eye(size)
    agreed = mean_over_pairs(decided, mean_from_others(decided, code, table))
    count = np.maximum(decided.by_pair(), 1)
    pairs = np.count_nonzero(decided.by_pair())
    share = np.bincount(code, 1 / count[decided.pair], size) / pairs
    factor = float(table.sum()) / (size * (size - 1))
    slope = factor * (1 - 2 * share)[code] / count[decided.pair]
    by_pair = decided.by_pair(slope)
    chance = Figure(
        factor * float(share @ (1 - share)),
        (slope - by_pair.sum() / pairs / count[decided.pair]) / pairs,
        np.where(decided.by_pair() > 0, by_pair - by_pair.sum() / pairs, 0.0) / pairs,
    )
    return agreed.plus(chance, -1.0).over(chance.times(-1.0, 1.0)).estimate(decided, "fisher")


def _not_for_categories(decided: Panel, values: np.ndarray) -> Estimate | None:
    """The reason why a coefficient of categories cannot be computed; None where it can."""
    if len(values) < 2:
        return Estimate.missing("every rating is the same")
    if not (decided.by_pair() > 1).any():
        return Estimate.missing("no pair has two ratings")
    if len(values) > MOST_VALUES:
        return Estimate.missing(f"ratings take {len(values)} values; this is for categories")
    return None
