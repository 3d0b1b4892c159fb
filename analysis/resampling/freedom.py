"""Degrees of freedom of a standard error: how well the sample tells it.

A variance that a few queries decide is itself uncertain, whatever the number of queries. Degrees of freedom are those
of the multiple of chi squared that has the variance's own mean and variance (Satterthwaite 1946).
"""

from __future__ import annotations

import numpy as np

LEAST_FREEDOM = 4.0
"""Fewer are not told from few queries: the fourth powers they rest on are those of one query."""
LEAST_SHARE = 0.25
"""Of the variance that queries explain; less is not told from noise of a few hundred replicates."""
MOST_QUERIES = 2_000
"""With more queries Student's t is normal to two digits even where a tenth of them decide."""


def degrees_of_freedom(replicates: np.ndarray, counts: np.ndarray, clusters: int) -> float:
    """Degrees of freedom of the variance of an index over bootstrap replicates, at most clusters - 1.

    Parameters
    ----------
    replicates : float [replicates], NaN where undefined
    counts : how often each query is drawn, float [queries, replicates]
    clusters : how many of the queries have a part in the index

    Returns
    -------
    With u the influence of each query, 2 / (sum u^4 / (sum u^2)^2 - 1 / clusters): clusters where influences are
    normal, fewer where a few of them are large. An index' covariance with a query's count is that query's influence,
    known up to noise of variance s^2 = var / replicates; what the noise adds to both sums is taken off. Where queries
    hardly vary the index, as when all of a collection's were judged, they do not tell: then it is clusters - 1.

    Examples
    --------
    >>> counts = np.random.default_rng(0).multinomial(50, np.full(50, 1 / 50), size=2000).T.astype(float)
    >>> alike, one_large = np.resize([-1.0, 1.0], 50), np.r_[8.0, np.resize([-1.0, 1.0], 49)]
    >>> degrees_of_freedom(alike @ counts, counts, 50), round(degrees_of_freedom(one_large @ counts, counts, 50))
    (49, 7)
    """
    most = clusters - 1
    defined = np.isfinite(replicates)
    number = int(defined.sum())
    if most <= LEAST_FREEDOM or clusters > MOST_QUERIES or number < 2:
        return most
    centred = np.where(defined, replicates - replicates[defined].mean(), 0.0)
    variance = float(centred @ centred) / (number - 1)
    if variance <= 0:
        return most
    influence = counts @ (centred / np.sqrt(variance)) / number
    noise = 1.0 / number
    squares = float(np.sum(influence**2)) - len(counts) * noise
    fourth = float(np.sum(influence**4)) - 6 * noise * squares - 3 * len(counts) * noise**2
    if squares < max(LEAST_SHARE, 4.0 * np.sqrt(2.0 * len(counts)) * noise):
        return most
    beyond = fourth / squares**2 - 1.0 / clusters
    return most if beyond <= 2.0 / most else max(2.0 / beyond, min(LEAST_FREEDOM, most))
