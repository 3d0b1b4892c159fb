"""The cumulative-link likelihood of ratings with each pair's quality summed out, and its gradient, in numpy alone.

P(rating <= k) = logistic(c_k - (a_j + b_j theta_i)) for rater j with leniency a_j and discrimination b_j, thresholds
c_k, and a pair's quality theta_i ~ N(0, 1). The qualities are many and the rest is little: summed out on a grid, they
cost no parameters, and ratings enter only as counts of (pair, rater, category), so one sparse product holds them all.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.special import expit, log_expit, logsumexp

NODES = np.linspace(-4.5, 4.5, 61)
"""Equally spaced: a pair with many ratings has a narrower posterior than the nodes of Gauss and Hermite are apart."""
LOG_WEIGHTS = -(NODES**2) / 2 - logsumexp(-(NODES**2) / 2)
PAIRS_AT_ONCE = 50_000
LEAST_GAP = 1e-12


def log_probability(leniency: np.ndarray, discrimination: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    """log P(category k by rater j | quality at each node), float array (R, K, nodes).

    Parameters
    ----------
    leniency, discrimination : a_j and b_j, float arrays (R)
    thresholds : c_k, float array (R, K - 1), each row ascending

    Examples
    --------
    >>> chances = np.exp(log_probability(np.zeros(1), np.ones(1), np.array([[-1.0, 1.0]])))
    >>> bool(np.allclose(chances.sum(axis=1), 1)), chances[0, :, 30].round(3).tolist()
    (True, [0.269, 0.462, 0.269])
    """
    below = log_expit(_latent(leniency, discrimination, thresholds))
    above = below - _latent(leniency, discrimination, thresholds)
    # logistic(x) - logistic(y) as a product: the difference of two numbers near 1 would lose its digits
    between = np.log(-np.expm1(-_gaps(thresholds)))
    logs = np.zeros((len(leniency), thresholds.shape[1] + 1, len(NODES)))
    logs[:, :-1] += below
    logs[:, 1:] += above
    logs[:, 1:-1] += between[:, :, None]
    return logs


def category_scores(leniency: np.ndarray, discrimination: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    """E[theta | rating k by rater j] for theta ~ N(0, 1), float array (R, K), rising in k; thresholds (K - 1).

    Examples
    --------
    >>> category_scores(np.array([0.0]), np.array([1.0]), np.array([0.0])).round(3).tolist()
    [[-0.413, 0.413]]
    """
    joint = log_probability(leniency, discrimination, np.tile(thresholds, (len(leniency), 1))) + LOG_WEIGHTS
    weights = np.exp(joint - joint.max(axis=2, keepdims=True))
    return np.asarray(weights @ NODES / weights.sum(axis=2))


class Likelihood:
    """Log likelihood of N ratings of P pairs as a function of R raters' leniency, discrimination and thresholds.

    Parameters
    ----------
    pair, rater, category : each rating's codes, int arrays (N)
    shape : (P, R, K)
    """

    def __init__(self, pair: np.ndarray, rater: np.ndarray, category: np.ndarray, shape: tuple[int, int, int]) -> None:
        pairs, raters, categories = shape
        cells = (np.ones(len(pair)), (pair, rater * categories + category))
        counts = csr_array(cells, shape=(pairs, raters * categories))
        starts = range(0, pairs, PAIRS_AT_ONCE)
        self.parts = [(part, part.T.tocsr()) for part in (counts[k : k + PAIRS_AT_ONCE] for k in starts)]

    def value_and_gradient(
        self, leniency: np.ndarray, discrimination: np.ndarray, thresholds: np.ndarray
    ) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
        """The log likelihood and its derivatives, (R), (R) and (R, K - 1); arguments as for `log_probability`."""
        logs = log_probability(leniency, discrimination, thresholds)
        table = logs.reshape(-1, len(NODES))
        value, expected = 0.0, np.zeros_like(table)
        for counts, transposed in self.parts:
            joint = counts @ table + LOG_WEIGHTS
            peak = joint.max(axis=1, keepdims=True)
            posterior = np.exp(joint - peak)
            total = posterior.sum(axis=1, keepdims=True)
            posterior /= total
            value += float((peak + np.log(total)).sum())
            expected += transposed @ posterior
        counted = expected.reshape(logs.shape)
        below = expit(_latent(leniency, discrimination, thresholds))
        pull = counted[:, :-1] * (1 - below) - counted[:, 1:] * below
        up = pull.sum(axis=2)
        gap = -counted[:, 1:-1].sum(axis=2) * np.exp(-_gaps(thresholds)) / np.expm1(-_gaps(thresholds))
        up[:, 1:] += gap
        up[:, :-1] -= gap
        down = -pull.sum(axis=1)
        return value, down.sum(axis=1), down @ NODES, up


def _latent(leniency: np.ndarray, discrimination: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    return np.asarray(thresholds[:, :, None] - (leniency[:, None] + discrimination[:, None] * NODES)[:, None, :])


def _gaps(thresholds: np.ndarray) -> np.ndarray:
    return np.maximum(np.diff(thresholds, axis=1), LEAST_GAP)
