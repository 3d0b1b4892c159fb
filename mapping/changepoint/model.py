"""Bayesian monotone change-point fit (Shirahatti and Barnard 2005, section 4.3, Eq. 4.11-4.14; Holmes and Heard 2003).

Model. Scores are pooled into m bins. There are M levels; M - 1, the number of change points, is Poisson(rate)
truncated at the number possible; the change points lie uniformly among the m - 1 gaps; the levels are an ordered sample
of M independent uniforms on the human scale, here on a grid of G values; a judgment is Normal(level, sigma^2); sigma is
half-normal. The source samples by Metropolis-Hastings and throws away what is not monotone. Given sigma nothing
needs sampling: a forward-backward recursion over the bins with state (levels so far, level) sums out every path.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, logsumexp
from scipy.stats import gamma

from relstudy.mapping.changepoint.recursion import backward_pass, forward_pass
from relstudy.mapping.isotonic import isotonic_fit
from relstudy.mapping.pooling import Pooled

PLAIN_LIMIT = 300.0


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
        """log p(M), M = 1, ..., shape (M_max,): truncated Poisson; over the rate's prior where it is learnt."""
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


def monotone_deficit(bins: Pooled, prior: Prior, sigma: float) -> float:
    """How far, in log likelihood, the best monotone path falls short of the bins' own means."""
    means = np.clip(bins.means, prior.low, prior.high)
    fit = isotonic_fit(Pooled(bins.scores, bins.weights, means, bins.within))
    return float(bins.weights @ (means - fit) ** 2) / (2 * sigma**2)


def needs_logarithms(bins: Pooled, prior: Prior, sigma: np.ndarray) -> bool:
    """Whether a path of consequence could underflow in plain numbers.

    The start of a path of consequence is less likely than the best start by `monotone_deficit` at most, and by the
    prior of its levels; plain numbers bear a ratio of exp(700).
    """
    return monotone_deficit(bins, prior, float(sigma.min())) > PLAIN_LIMIT


@dataclass(frozen=True)
class ForwardInputs:
    """What the recursion runs on, plain or in logarithms.

    Parameters
    ----------
    likelihood : each bin's likelihood at each level, its largest entry 1, shape (S, m, G)
    end : p(M) M! / (C(m-1, M-1) G^M), its largest entry 1, shape (M,)
    divisor : log of all that both were divided by, shape (S,)
    log : whether both are kept as logarithms
    """

    likelihood: np.ndarray
    end: np.ndarray
    divisor: np.ndarray
    log: bool

    @classmethod
    def of(cls, bins: Pooled, prior: Prior, sigma: np.ndarray, log: bool | None = None) -> ForwardInputs:
        """Bins in the order in which levels rise; sigma above 0, shape (S,); `log` by `needs_logarithms` where None."""
        log = needs_logarithms(bins, prior, sigma) if log is None else log
        end = prior.log_weights(len(bins.weights))
        likelihood = log_likelihood(bins, prior.levels, sigma)
        peak = likelihood.max(axis=2)
        divisor = peak.sum(axis=1) + end.max()
        likelihood, end = likelihood - peak[:, :, None], end - end.max()
        return cls(likelihood, end, divisor, True) if log else cls(np.exp(likelihood), np.exp(end), divisor, False)

    def states(self) -> np.ndarray:
        """Room for one sigma's states, shape (m, G, M)."""
        return np.empty((*self.likelihood.shape[1:], len(self.end)))

    def ended(self, states: np.ndarray) -> np.ndarray:
        """The last bin's states, weighted by the number of levels that they end with, shape (G, M)."""
        return np.asarray(states[-1] + self.end if self.log else states[-1] * self.end)


def log_evidence(bins: Pooled, prior: Prior, sigma: np.ndarray, log: bool | None = None) -> np.ndarray:
    """log p(data | sigma) for each sigma, shape (S,), every path summed out. O(S m M G).

    Arguments as in `ForwardInputs.of`.
    """
    weighed = ForwardInputs.of(bins, prior, sigma, log)
    states, evidence = weighed.states(), np.empty(len(sigma))
    for s, likelihood in enumerate(weighed.likelihood):
        scale = forward_pass(likelihood, states, weighed.log)
        last = weighed.ended(states)
        evidence[s] = scale + (logsumexp(last) if weighed.log else np.log(last.sum()))
    return evidence + weighed.divisor


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


def smooth(bins: Pooled, prior: Prior, sigma: np.ndarray, weights: np.ndarray, log: bool | None = None) -> Smoothed:
    """The posterior of the path; weights are p(sigma | data), shape (S,), the others as in `ForwardInputs.of`."""
    weighed = ForwardInputs.of(bins, prior, sigma, log)
    states = weighed.states()
    levels, count, changes = np.zeros(states.shape[:2]), np.zeros(states.shape[2]), np.zeros(len(states) - 1)
    for likelihood, weight in zip(weighed.likelihood, weights, strict=True):
        forward_pass(likelihood, states, weighed.log)
        backward_pass(states, likelihood, weighed.end, float(weight), weighed.log, levels, count, changes)
    return Smoothed(levels, count, np.clip(changes, 0.0, 1.0))


def curves(
    bins: Pooled, prior: Prior, sigma: np.ndarray, rng: np.random.Generator, log: bool | None = None
) -> np.ndarray:
    """One path from the posterior for each value of sigma, by sampling backwards.

    Returns
    -------
    index into the grid of levels for each value and bin, shape (D, m), never falling along a row
    """
    values, which = np.unique(sigma, return_inverse=True)
    paths = np.empty((len(sigma), len(bins.weights)), dtype=int)
    for s, value in enumerate(values):
        weighed = ForwardInputs.of(bins, prior, np.array([value]), log)
        states = weighed.states()
        forward_pass(weighed.likelihood[0], states, weighed.log)
        draws = np.flatnonzero(which == s)
        paths[draws] = _draw_paths(states, weighed, len(draws), rng)
    return paths


def _draw_paths(states: np.ndarray, weighed: ForwardInputs, draws: int, rng: np.random.Generator) -> np.ndarray:
    """Paths backwards through what `forward_pass` left, shape (draws, m)."""
    bins, grid, most = states.shape
    paths = np.empty((draws, bins), dtype=int)
    last = np.tile(weighed.ended(states).ravel(), (draws, 1))
    level, number = np.divmod(_draw(last, weighed.log, rng), most)
    paths[:, -1] = level
    for j in range(bins - 2, -1, -1):
        stay = states[j, level, number]
        lower = states[j].T[np.maximum(number - 1, 0)]
        lower[(np.arange(grid) >= level[:, None]) | (number == 0)[:, None]] = -np.inf if weighed.log else 0.0
        drawn = _draw(np.column_stack([lower, stay]), weighed.log, rng)
        moved = drawn < grid
        level = np.where(moved, drawn, level)
        number = number - moved
        paths[:, j] = level
    return paths


def _draw(weights: np.ndarray, log: bool, rng: np.random.Generator) -> np.ndarray:
    """One index per row, with probability in proportion to the row's weights."""
    plain = np.exp(weights - weights.max(axis=1, keepdims=True)) if log else weights
    cumulative = np.cumsum(plain, axis=1)
    target = rng.random(len(plain)) * cumulative[:, -1]
    return np.asarray((cumulative <= target[:, None]).sum(axis=1))
