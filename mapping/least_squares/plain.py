"""The least-squares monotone fit by itself, which needs neither an estimator nor scikit-learn."""

from __future__ import annotations

import numpy as np
from scipy.optimize import isotonic_regression

from relstudy.mapping.tied_scores import Pooled


def isotonic_fit(pooled: Pooled, increasing: bool = True) -> np.ndarray:
    """Minimise sum w (f - mean)^2 over monotone f: Eq. 4.1 under 4.2, by pool-adjacent-violators in O(m).

    Returns
    -------
    f at the pooled scores, shape (m,)

    Examples
    --------
    >>> from relstudy.mapping.tied_scores import pool
    >>> isotonic_fit(pool([1, 2, 3], [1, 4, 2])).tolist()
    [1.0, 3.0, 3.0]
    """
    return np.asarray(isotonic_regression(pooled.means, weights=pooled.weights, increasing=increasing).x)
