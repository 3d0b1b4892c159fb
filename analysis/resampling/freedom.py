"""Degrees of freedom of a standard error: how well the sample tells it.

A variance that a few queries decide is itself uncertain, whatever the number of queries. Degrees of freedom are those
of the multiple of chi squared that has the variance's own mean and variance (Satterthwaite 1946).
"""

from __future__ import annotations

import numpy as np

LEAST_FREEDOM = 4.0
"""Fewer are not told from few queries: the fourth powers they rest on are those of one query."""


def degrees_of_freedom(contributions: np.ndarray, share: float = 1.0) -> float:
    """Degrees of freedom of a variance over queries, at most n - 1 for n queries.

    Parameters
    ----------
    contributions : what each query adds to the figure, mean 0, float [queries]
    share : of the figure's variance, that which comes of how queries differ, 0 to 1. The rest, of which pairs were
        drawn within queries, is told far better

    Returns
    -------
    2 / ((kurtosis - 3) / n + 2 / (n - 1)), since the variance of a sample variance is that multiple of its square
    (Cramér 1946, 27.4), over the square of `share`

    Examples
    --------
    >>> alike, one_large = np.resize([-1.0, 1.0], 50), np.r_[8.0, np.resize([-1.0, 1.0], 49)]
    >>> degrees_of_freedom(alike), round(degrees_of_freedom(one_large - one_large.mean()))
    (49, 7)
    """
    n = len(contributions)
    most, square = n - 1, float(np.mean(contributions**2))
    if not square > 0:
        return most
    relative = (float(np.mean(contributions**4)) / square**2 - 3.0) / n + 2.0 / most
    relative *= share**2
    return most if relative <= 2.0 / most else max(2.0 / relative, LEAST_FREEDOM)
