"""Raters' ability and pairs' difficulty (GLAD: Whitehill, Ruvolo, Wu, Bergsma and Movellan 2009).

Rater j names pair i's class with probability logistic(alpha_j exp(b_i)), and otherwise any other class; abilities
alpha and log eases b are N(1, 1) beforehand, classes alike. The mode of both, classes summed out.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logsumexp

from relstudy.calibration.methods.by_category import ByCategory, by_class, categories_of
from relstudy.calibration.panel import Panel

PRIOR = 1.0
"""Mean of an ability and of a log ease; their standard deviation is 1."""
EASES = 200
"""Quantiles of pairs' eases over which a rater's chance to be right is averaged."""


def glad(panel: Panel) -> ByCategory:
    """Each rating as the category to expect of its pair, by its rater's ability over pairs like these.

    Raises
    ------
    RelstudyError
        if there are fewer than 2 or more than 20 distinct ratings

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"rater_id": list("abc") * 4, "pair_id": list("pppqqqrrrsss"),
    ...                       "rating": [1, 1, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0]})
    >>> fitted = glad(Panel.from_frame(frame))
    >>> fitted.of_raters["ability"].round(1).tolist()
    [1.3, 1.3, 0.2]
    """
    decided = panel.decided()
    categories, code = categories_of(decided, "glad")
    size, raters, pairs = len(categories), panel.n_raters, panel.n_pairs
    prior = np.full(size, 1 / size)
    cell = decided.pair * size + code

    def logs(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Each pair's log chance of its answers by class (P, K), and the chance that each answer is right (N)."""
        x = values[decided.rater] * np.exp(values[raters + decided.pair])
        wrong = decided.by_pair(log_expit(-x) - np.log(max(size - 1, 1)))
        named = np.bincount(cell, x + np.log(max(size - 1, 1)), pairs * size).reshape(pairs, size)
        return wrong[:, None] + named, x

    def negative(values: np.ndarray) -> tuple[float, np.ndarray]:
        by_class_, x = logs(values)
        total = logsumexp(by_class_, axis=1, keepdims=True)
        classes = np.exp(by_class_ - total)
        slope = classes[decided.pair, code] - expit(x)
        ease = np.exp(values[raters + decided.pair])
        gradient = np.concatenate([decided.by_rater(slope * ease), decided.by_pair(slope * x)]) - (values - PRIOR)
        return -float(total.sum() - 0.5 * np.sum((values - PRIOR) ** 2)), -gradient

    found = minimize(
        negative,
        np.full(raters + pairs, PRIOR),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 1000, "ftol": 1e-13, "gtol": 1e-7},
    ).x
    by_class_, _ = logs(found)
    classes = np.exp(by_class_ - logsumexp(by_class_, axis=1, keepdims=True))
    rated = np.flatnonzero(decided.by_pair() > 0)
    ease = np.exp(np.quantile(found[raters:][rated], (np.arange(EASES) + 0.5) / EASES))
    right = expit(found[:raters, None] * ease).mean(axis=1)
    chances = (1 - right)[:, None, None] / max(size - 1, 1) * (1 - np.eye(size)) + right[:, None, None] * np.eye(size)
    columns = {"accuracy": right, "ability": found[:raters]}
    return by_class("glad", decided, code, (classes, chances, prior), columns, {"difficulty": -found[raters:]})
