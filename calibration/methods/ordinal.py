"""A cumulative-link model of ratings, for those who want one: categories, not numbers, and two effects a rater.

P(rating <= k) = logistic(c_k - (a_j + b_j theta_i)): pairs i have a quality theta_i ~ N(0, 1), raters j a leniency a_j
and a discrimination b_j > 0 around a typical one; the thresholds c_k are shared. Unlike a line, the model knows that
the scale ends. The qualities are summed out (`relstudy.calibration.methods.cumulative_link`); the mode of the rest is
found in PyMC (`relstudy.calibration.methods.ordinal_pymc`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from relstudy.calibration.methods.cumulative_link import Likelihood, category_scores
from relstudy.calibration.methods.linear import Lines
from relstudy.calibration.panel import Panel
from relstudy.common.errors import RelstudyError

MOST_CATEGORIES = 20


@dataclass(frozen=True)
class Ordinal:
    """A fitted cumulative-link model.

    Parameters
    ----------
    categories : the K distinct ratings, ascending
    scores : calibrated value of each category by each rater, float array (R, K)
    leniency, discrimination : a_j and b_j, float arrays (R)
    thresholds : c_k, float array (K - 1)
    """

    categories: np.ndarray
    scores: np.ndarray
    leniency: np.ndarray
    discrimination: np.ndarray
    thresholds: np.ndarray

    def calibrated(self, panel: Panel) -> np.ndarray:
        """The panel's ratings on the common scale, float array (N); undecided stays NaN.

        A rating that is none of the categories takes its place between its neighbours.
        """
        category_position = np.interp(panel.rating, self.categories, np.arange(len(self.categories)))
        below = np.nan_to_num(np.floor(category_position)).astype(int)
        above = np.minimum(below + 1, len(self.categories) - 1)
        low, high = self.scores[panel.rater, below], self.scores[panel.rater, above]
        return np.asarray(low + (category_position - below) * (high - low))

    def lines(self, panel: Panel) -> Lines:
        """The least-squares line of each rater's calibrated values on their ratings, to read beside other methods."""
        part = panel.decided()
        values = self.calibrated(part)
        n = np.maximum(part.by_rater(), 1)
        mean_in, mean_out = part.by_rater(part.rating) / n, part.by_rater(values) / n
        x = part.rating - mean_in[part.rater]
        square = part.by_rater(x * x)
        usable = square > 1e-9
        slope = np.where(usable, part.by_rater(x * values) / np.where(usable, square, 1.0), 1.0)
        return Lines("ordinal", slope, mean_out - slope * mean_in)


def fit_ordinal(panel: Panel) -> Ordinal:
    """Fit the model; a rating's calibrated value is its pair's expected quality, in rating units.

    The value of category k by rater j is the mean of theta given that one rating, over theta ~ N(0, 1); a common line
    then gives all calibrated ratings the mean of the raw ones and, on average, the spread of a rater's.

    Parameters
    ----------
    panel : ratings with 2 to 20 distinct values

    Raises
    ------
    RelstudyError
        when there are too few or too many distinct ratings
    """
    from relstudy.calibration.methods.ordinal_pymc import posterior_mode

    decided = panel.decided()
    categories, code = np.unique(decided.rating, return_inverse=True)
    if not 2 <= len(categories) <= MOST_CATEGORIES:
        raise RelstudyError(
            f"the ordinal method takes 2 to {MOST_CATEGORIES} distinct ratings, and these have {len(categories)}"
        )
    mode = posterior_mode(
        Likelihood(decided.pair, decided.rater, code, (panel.n_pairs, panel.n_raters, len(categories))),
        panel.n_raters,
        _start(code, len(categories)),
    )
    quality = category_scores(*mode)
    raw = quality[decided.rater, code]
    spread = _typical_spread(decided, decided.rating) / max(_typical_spread(decided, raw), 1e-12)
    return Ordinal(categories, decided.rating.mean() + spread * (quality - raw.mean()), *mode)


def _start(code: np.ndarray, categories: int) -> np.ndarray:
    """Thresholds at which a rater of some discrimination gives the categories as often as they were given."""
    share = np.cumsum(np.bincount(code, minlength=categories))[:-1] / len(code)
    return np.asarray(1.5 * np.log(share / (1 - share)))


def _typical_spread(panel: Panel, values: np.ndarray) -> float:
    """Geometric mean over raters of the spread of their values."""
    n = np.maximum(panel.by_rater(), 1)
    centred = values - (panel.by_rater(values) / n)[panel.rater]
    spread = np.sqrt(panel.by_rater(centred * centred) / n)
    spread = spread[spread > 1e-9]
    return float(np.exp(np.log(spread).mean())) if len(spread) else 0.0
