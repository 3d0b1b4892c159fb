"""A cumulative-link model of ratings, for those who want one: categories, not numbers, and two effects a rater.

P(rating <= k) = logistic(c_k - (a_j + b_j theta_i)): pairs i have a quality theta_i ~ N(0, 1), raters j a leniency a_j
and a discrimination b_j > 0 around a typical one; the thresholds c_k are shared. Unlike a line, the model knows that
the scale ends. The qualities are summed out (`relstudy.calibration.methods.ordinal_likelihood`); the mode of the
rest is found in PyMC (`relstudy.calibration.methods.ordinal_posterior`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from relstudy.calibration.methods.by_category import ByCategory, categories_of, on_the_scale
from relstudy.calibration.methods.ordinal_likelihood import Likelihood, category_scores
from relstudy.calibration.panel import Panel


@dataclass(frozen=True)
class Ordinal(ByCategory):
    """A fitted cumulative-link model.

    Parameters
    ----------
    leniency, discrimination : a_j and b_j, float arrays (R)
    thresholds : c_k, float array (K - 1)
    """

    leniency: np.ndarray = field(default_factory=lambda: np.empty(0))
    discrimination: np.ndarray = field(default_factory=lambda: np.empty(0))
    thresholds: np.ndarray = field(default_factory=lambda: np.empty(0))


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
    from relstudy.calibration.methods.ordinal_posterior import posterior_mode

    decided = panel.decided()
    categories, code = categories_of(decided, "ordinal")
    mode = posterior_mode(
        Likelihood(decided.pair, decided.rater, code, (panel.n_pairs, panel.n_raters, len(categories))),
        panel.n_raters,
        _start(code, len(categories)),
    )
    leniency, discrimination, thresholds = mode
    return Ordinal(
        "ordinal",
        categories,
        on_the_scale(decided, code, category_scores(*mode)),
        leniency=leniency,
        discrimination=discrimination,
        thresholds=thresholds,
    )


def _start(code: np.ndarray, categories: int) -> np.ndarray:
    """Thresholds at which a rater of some discrimination gives the categories as often as they were given."""
    share = np.cumsum(np.bincount(code, minlength=categories))[:-1] / len(code)
    return np.asarray(1.5 * np.log(share / (1 - share)))
