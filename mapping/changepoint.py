"""Bayesian monotone change-point fit (Shirahatti and Barnard, section 4.3, Eq. 4.11-4.14; Holmes and Heard 2003).

Model. Scores are pooled into m bins. There are M levels; M - 1, the number of change points, is Poisson(rate)
truncated at the number possible; the change points lie uniformly among the m - 1 gaps; the levels are an ordered sample
of M independent uniforms on the human scale, here on a grid of G values; a judgment is Normal(level, sigma^2); sigma is
half-normal. The paper samples this by Metropolis-Hastings and throws away what is not monotone. Given sigma nothing
needs sampling: a forward-backward recursion over the bins with state (levels so far, level) sums out every path.

The recursion runs on probabilities, or, where they could underflow, on their logarithms: one algorithm, two semirings.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln, logsumexp
from scipy.stats import gamma

from mapping.isotonic import isotonic_fit
from mapping.pooling import Pooled


@dataclass(frozen=True)
class Prior:
    """What is believed before the data.

    Parameters
    ----------
    low, high : ends of the human scale
    rate : of the Poisson number of change points
    sigma_scale : scale of sigma's half-normal
    grid : number G of values that a level can take, equally spaced from low to high
    max_levels : largest number M of levels
    learn_rate : whether the rate is unknown, Gamma(rate, 1), instead of given
    """

    low: float
    high: float
    rate: float
    sigma_scale: float
    grid: int
    max_levels: int

    learn_rate: bool = False

    @property
    def levels(self) -> np.ndarray:
        """The values that a level can take, shape (G,)."""
        return np.linspace(self.low, self.high, self.grid)

    @property
    def step(self) -> float:
        """Distance between neighbouring values of a level; sigma is at least this."""
        return (self.high - self.low) / (self.grid - 1)

    def most(self, bins: int) -> int:
        """The largest number of levels that so many bins allow."""
        return min(self.max_levels, bins, self.grid)

    def log_count(self, bins: int) -> np.ndarray:
        """log p(M) for M = 1, ..., shape (M_max,): Poisson, truncated and normalised; over the rate's prior if learnt."""
        m = np.arange(1, self.most(bins) + 1)
        rate = np.array([self.rate])
        log_prior = np.zeros(1)
        if self.learn_rate:
            rate = np.linspace(0, 8 * self.rate + 20, 4001)[1:]
            log_prior = gamma.logpdf(rate, self.rate)
            log_prior -= logsumexp(log_prior)
        log_p = (m - 1) * np.log(rate)[:, None] - gammaln(m)
        log_p -= logsumexp(log_p, axis=1, keepdims=True)
        return np.asarray(logsumexp(log_p + log_prior[:, None], axis=0))

    def log_configurations(self, bins: int) -> np.ndarray:
        """log of M! / (C(m - 1, M - 1) G^M) for M = 1, ..., shape (M_max,): each placing of change points and levels."""
        m = np.arange(1, self.most(bins) + 1)
        choose = gammaln(bins) - gammaln(m) - gammaln(bins - m + 1)
        return np.asarray(gammaln(m + 1) - choose - m * np.log(self.grid))

    def log_weights(self, bins: int) -> np.ndarray:
        """log p(M) M! / (C(m - 1, M - 1) G^M) for M = 1, ..., shape (M_max,)."""
        return self.log_count(bins) + self.log_configurations(bins)

    def log_sigma(self, sigma: np.ndarray) -> np.ndarray:
        """Log density of the half-normal at sigma."""
        scaled = sigma / self.sigma_scale
        return np.asarray(0.5 * np.log(2 / np.pi) - np.log(self.sigma_scale) - 0.5 * scaled**2)


def log_likelihood(bins: Pooled, levels: np.ndarray, sigma: np.ndarray) -> np.ndarray:
    """Log likelihood of each bin's judgments at each level, shape (S, m, G); constants and spread inside bins kept."""
    n = bins.weights
    square = bins.within[:, None] + n[:, None] * (bins.means[:, None] - levels) ** 2
    constant = n * 0.5 * np.log(2 * np.pi)
    return np.asarray(
        -square / (2 * sigma[:, None, None] ** 2) - n[:, None] * np.log(sigma)[:, None, None] - constant[:, None]
    )


class Semiring:
    """Sums and products of probabilities, plain or in logarithms."""

    def __init__(self, log: bool) -> None:
        self.log = log
        self.add: Any = np.logaddexp if log else np.add
        self.multiply: Any = np.add if log else np.multiply
        self.divide: Any = np.subtract if log else np.divide
        self.zero = -np.inf if log else 0.0

    def of_log(self, values: np.ndarray) -> np.ndarray:
        """From logarithms."""
        return values if self.log else np.exp(values)

    def to_log(self, values: np.ndarray) -> np.ndarray:
        """To logarithms."""
        return values if self.log else np.log(values)

    def total(self, values: np.ndarray) -> np.ndarray:
        """Sum over all axes but the first."""
        return np.asarray(self.add.reduce(values.reshape(len(values), -1), axis=1))

    def probabilities(self, values: np.ndarray, total: np.ndarray) -> np.ndarray:
        """Plain numbers: values over total, total given per entry of the first axis."""
        share = self.divide(values, total.reshape(-1, *[1] * (values.ndim - 1)))
        return np.asarray(np.exp(share) if self.log else share)


PLAIN_LIMIT = 300.0
BATCH = 25


def monotone_deficit(bins: Pooled, prior: Prior, sigma: float) -> float:
    """How far, in log likelihood, the best monotone path falls short of the bins' own means."""
    means = np.clip(bins.means, prior.low, prior.high)
    fit = isotonic_fit(Pooled(bins.scores, bins.weights, means, bins.within))
    return float(bins.weights @ (means - fit) ** 2) / (2 * sigma**2)


def semiring_for(bins: Pooled, prior: Prior, sigma: np.ndarray) -> Semiring:
    """Plain numbers where no path of consequence can underflow, logarithms elsewhere.

    The start of a path of consequence is less likely than the best start by `monotone_deficit` at most, and by the prior
    of its levels; plain numbers bear a ratio of exp(700).
    """
    return Semiring(log=monotone_deficit(bins, prior, float(sigma.min())) > PLAIN_LIMIT)


@dataclass(frozen=True)
class Filtered:
    """The forward recursion's result for S values of sigma, in one semiring.

    Parameters
    ----------
    log_evidence : log p(data | sigma), shape (S,)
    states : p(levels so far, level | data up to the bin, sigma) up to a factor per bin, shape (S, m, M, G)
    likelihood : each bin's likelihood at each level, its largest entry 1, shape (S, m, G)
    end : p(M) M! / (C(m-1, M-1) G^M), its largest entry 1, shape (M, 1)
    semiring : how the three before are kept
    """

    log_evidence: np.ndarray
    states: np.ndarray
    likelihood: np.ndarray
    end: np.ndarray
    semiring: Semiring


def forward(bins: Pooled, prior: Prior, sigma: np.ndarray, semiring: Semiring | None = None) -> Filtered:
    """A[j] = L[j] (A[j-1] + shift(sum below of A[j-1])), scaled at each bin. O(S m M G).

    Shift moves from M to M + 1 levels; "below" is every strictly lower level.

    Parameters
    ----------
    bins : in the order in which levels rise
    sigma : shape (S,), above 0
    semiring : chosen by `semiring_for` where None
    """
    ring = semiring_for(bins, prior, sigma) if semiring is None else semiring
    log_weights = prior.log_weights(len(bins.weights))
    end = ring.of_log(log_weights - log_weights.max())[:, None]
    logs = log_likelihood(bins, prior.levels, sigma)
    peak = logs.max(axis=2)
    likelihood = ring.of_log(logs - peak[:, :, None])
    count, m, grid = likelihood.shape
    states = np.empty((count, m, len(end), grid))
    states[:, 0] = ring.zero
    states[:, 0, 0] = likelihood[:, 0]
    scale = np.zeros((count, m))
    for j in range(m):
        now = states[:, j]
        if j > 0:
            before = states[:, j - 1]
            np.copyto(now, before)
            below = ring.add.accumulate(before[:, :-1, :-1], axis=2)
            ring.add(now[:, 1:, 1:], below, out=now[:, 1:, 1:])
            ring.multiply(now, likelihood[:, j, None], out=now)
        largest = now.max(axis=(1, 2))
        ring.divide(now, largest[:, None, None], out=now)
        scale[:, j] = ring.to_log(largest)
    finished = ring.to_log(ring.total(ring.multiply(states[:, -1], end)))
    evidence = finished + scale.sum(axis=1) + peak.sum(axis=1) + log_weights.max()
    return Filtered(evidence, states, likelihood, end, ring)


@dataclass(frozen=True)
class Smoothed:
    """Posterior of the path, mixed over S values of sigma.

    Parameters
    ----------
    levels : p(level of the bin), shape (m, G)
    count : p(M levels), M = 1, ..., shape (M,)
    changes : p(a change point lies in the gap after bin j), shape (m - 1,)
    """

    levels: np.ndarray
    count: np.ndarray
    changes: np.ndarray


def smooth(filtered: Filtered, weights: np.ndarray) -> Smoothed:
    """The backward recursion; weights are p(sigma | data), shape (S,)."""
    ring, states, likelihood = filtered.semiring, filtered.states, filtered.likelihood
    count, m, most, grid = states.shape
    levels = np.empty((m, grid))
    changes = np.empty(m - 1)
    after = np.broadcast_to(filtered.end, (count, most, grid)).copy()
    number = np.empty(0)
    for j in range(m - 1, -1, -1):
        reached = after
        if j < m - 1:
            reached = ring.multiply(after, likelihood[:, j + 1, None])
            after = reached.copy()
            above = ring.add.accumulate(reached[:, 1:, :0:-1], axis=2)[:, :, ::-1]
            ring.add(after[:, :-1, :-1], above, out=after[:, :-1, :-1])
        joint = ring.multiply(states[:, j], after)
        total = ring.total(joint)
        posterior = ring.probabilities(joint, total)
        levels[j] = weights @ posterior.sum(axis=1)
        if j == m - 1:
            number = weights @ posterior.sum(axis=2)
        else:
            stayed = ring.total(ring.multiply(states[:, j], reached))
            changes[j] = weights @ (1 - ring.probabilities(stayed, total))
        ring.divide(after, after.max(axis=(1, 2))[:, None, None], out=after)
    return Smoothed(levels, number, np.clip(changes, 0.0, 1.0))


def draw_paths(filtered: Filtered, which: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Independent draws of the path from the posterior given sigma, by sampling backwards.

    Parameters
    ----------
    which : index into the values of sigma for each draw, shape (D,)

    Returns
    -------
    index into the grid of levels for each draw and bin, shape (D, m), never falling along a row
    """
    ring, states = filtered.semiring, filtered.states
    _, m, _, grid = states.shape
    every = np.arange(len(which))
    paths = np.empty((len(which), m), dtype=int)
    last = ring.multiply(states[:, -1], filtered.end)
    last = ring.probabilities(last, ring.total(last))
    number, level = np.divmod(_draw(last.reshape(len(last), -1)[which], rng), grid)
    paths[:, -1] = level
    for j in range(m - 2, -1, -1):
        stay = states[which, j, number, level]
        lower = states[which, j, np.maximum(number - 1, 0)]
        lower[(np.arange(grid) >= level[:, None]) | (number == 0)[:, None]] = ring.zero
        options = np.column_stack([lower, stay])
        total = np.asarray(ring.add.reduce(options, axis=1))
        drawn = _draw(ring.probabilities(options, total), rng)
        moved = drawn < grid
        level = np.where(moved, drawn, level)
        number = number - moved
        paths[every, j] = level
    return paths


def smooth_over(bins: Pooled, prior: Prior, sigma: np.ndarray, weights: np.ndarray) -> Smoothed:
    """Forward and backward over any number of values of sigma, some at a time, to bound memory."""
    parts = [
        smooth(forward(bins, prior, sigma[k : k + BATCH]), weights[k : k + BATCH]) for k in range(0, len(sigma), BATCH)
    ]
    return Smoothed(*(sum(getattr(part, name) for part in parts) for name in ("levels", "count", "changes")))


def curves(bins: Pooled, prior: Prior, sigma: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """One path from the posterior for each value of sigma, as indices into the levels, shape (D, m)."""
    values, which = np.unique(sigma, return_inverse=True)
    paths = np.empty((len(sigma), len(bins.weights)), dtype=int)
    for k in range(0, len(values), BATCH):
        mine = np.flatnonzero((which >= k) & (which < k + BATCH))
        paths[mine] = draw_paths(forward(bins, prior, values[k : k + BATCH]), which[mine] - k, rng)
    return paths


def _draw(weights: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """One index per row, with probability in proportion to the row's weights."""
    cumulative = np.cumsum(weights, axis=1)
    target = rng.random(len(weights)) * cumulative[:, -1]
    return np.asarray((cumulative <= target[:, None]).sum(axis=1))
