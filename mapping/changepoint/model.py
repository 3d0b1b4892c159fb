"""Bayesian monotone change-point fit (Shirahatti and Barnard 2005, section 4.3, Eq. 4.11-4.14; Holmes and Heard 2003).

Likelihood (Eq. 4.11-4.13). Scores are pooled into m bins; M - 1 change points cut them into M sets, and a judgment is
Normal(level of its set, sigma^2). M - 1 is Poisson(rate) truncated at the number possible; the change points lie
uniformly among the m - 1 gaps. Two priors of levels and noise:

`Prior`            levels an ordered sample of M independent uniforms on the human scale, sigma half-normal
`ConjugatePrior`   the source's: levels Normal(mean, sigma^2 / strength), sigma^2 inverse gamma, and what is out of
                   order thrown away, so that M levels count 1 / M! of what they count under `Prior`

The source samples. Given sigma nothing needs sampling: with levels on a grid of G values, a forward-backward recursion
over the bins with state (levels so far, level) sums out every path.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, logsumexp
from scipy.stats import gamma, invgamma, norm

from relstudy.mapping.changepoint.recursion import backward_pass, forward_pass
from relstudy.mapping.least_squares.plain import isotonic_fit
from relstudy.mapping.tied_scores import Pooled

PLAIN_LIMIT = 300.0


@dataclass(frozen=True)
class Prior:
    """Prior of the levels and of the number of change points.

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
        """log of M! / (C(m - 1, M - 1) G^M), M = 1, ..., shape (M_max,): each placing of change points and levels."""
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

    def log_entry(self, sigma: np.ndarray) -> np.ndarray:
        """Log weight of each grid value where a level begins, shape (S, G); 0 for the uniform, weighed by G^M above."""
        return np.zeros((len(sigma), self.grid))

    @property
    def tie(self) -> float:
        """Weight of a change point that leaves the level at its grid value: none, neighbouring levels differ."""
        return 0.0


@dataclass(frozen=True)
class ConjugatePrior(Prior):
    """Normal levels and inverse-gamma variance, levels in order (Shirahatti and Barnard 2005, section 4.3).

    The source says "conjugate priors" and gives no numbers; those here are of unit information: a level is believed as
    if `strength` judgments had been seen at `mean`, the variance as if 2 `shape` had.

    Parameters
    ----------
    low, high : ends of the grid, which only serves the exact engine and must hold all of the posterior
    mean : prior mean of a level
    strength : judgments that the prior of a level counts for, above 0
    shape, scale : of the inverse gamma of sigma^2, above 0
    """

    mean: float = 0.0
    strength: float = 1.0
    shape: float = 2.0
    scale: float = 1.0

    def most(self, bins: int) -> int:
        """The largest number of levels that so many bins allow; two may lie in one cell of the grid."""
        return min(self.max_levels, bins)

    def log_configurations(self, bins: int) -> np.ndarray:
        """log of 1 / C(m - 1, M - 1) for M = 1, ..., shape (M_max,): each placing of change points."""
        m = np.arange(1, self.most(bins) + 1)
        return np.asarray(gammaln(m) + gammaln(bins - m + 1) - gammaln(bins))

    def log_sigma(self, sigma: np.ndarray) -> np.ndarray:
        """Log density of sigma where sigma^2 is inverse gamma."""
        return np.asarray(invgamma.logpdf(sigma**2, self.shape, scale=self.scale) + np.log(2 * sigma))

    def log_entry(self, sigma: np.ndarray) -> np.ndarray:
        """Log probability of each grid value's cell, shape (S, G)."""
        spread = sigma[:, None] / np.sqrt(self.strength)
        return np.asarray(norm.logpdf(self.levels, self.mean, spread) + np.log(self.step))

    @property
    def tie(self) -> float:
        """A half: of two levels in one cell of the grid, half the probability has them in order."""
        return 0.5


def log_likelihood(bins: Pooled, levels: np.ndarray, sigma: np.ndarray) -> np.ndarray:
    """Log likelihood of each bin's judgments at each level, shape (S, m, G); constants and spread inside bins kept."""
    n = bins.weights
    square = bins.within[:, None] + n[:, None] * (bins.means[:, None] - levels) ** 2
    constant = n * 0.5 * np.log(2 * np.pi)
    return np.asarray(
        -square / (2 * sigma[:, None, None] ** 2) - n[:, None] * np.log(sigma)[:, None, None] - constant[:, None]
    )


def monotone_deficit(bins: Pooled, prior: Prior, sigma: float) -> float:
    """Log likelihood that the best monotone path lacks to the bins' own means."""
    means = np.clip(bins.means, prior.low, prior.high)
    fit = isotonic_fit(Pooled(bins.scores, bins.weights, means, bins.within))
    return float(bins.weights @ (means - fit) ** 2) / (2 * sigma**2)


def needs_logarithms(bins: Pooled, prior: Prior, sigma: np.ndarray) -> bool:
    """True where a path of consequence could underflow in plain numbers.

    The start of a path of consequence is less likely than the best start by `monotone_deficit` at most, and by the
    prior of its levels; plain numbers bear a ratio of exp(700).
    """
    return monotone_deficit(bins, prior, float(sigma.min())) > PLAIN_LIMIT


@dataclass(frozen=True)
class ForwardInputs:
    """Inputs of the recursion, plain or in logarithms.

    Parameters
    ----------
    likelihood : each bin's likelihood at each level, its largest entry 1, shape (S, m, G)
    entry : weight of each level where it begins, its largest entry 1, shape (S, G)
    end : the prior's weight of ending with M levels, its largest entry 1, shape (S, M)
    tie : weight of a change point that leaves the level at its grid value
    divisor : log of all that they were divided by, shape (S,)
    log : whether all are kept as logarithms
    """

    likelihood: np.ndarray
    entry: np.ndarray
    end: np.ndarray
    tie: float
    divisor: np.ndarray
    log: bool

    @classmethod
    def of(cls, bins: Pooled, prior: Prior, sigma: np.ndarray, log: bool | None = None) -> ForwardInputs:
        """Bins in the order in which levels rise; sigma above 0, shape (S,); `log` by `needs_logarithms` where None."""
        log = needs_logarithms(bins, prior, sigma) if log is None else log
        likelihood, entry = log_likelihood(bins, prior.levels, sigma), prior.log_entry(sigma)
        peak, highest = likelihood.max(axis=2), entry.max(axis=1, keepdims=True)
        weights = prior.log_weights(len(bins.weights))
        end = weights + np.arange(1, len(weights) + 1) * highest
        most = end.max(axis=1, keepdims=True)
        divisor = peak.sum(axis=1) + most[:, 0]
        parts = likelihood - peak[:, :, None], entry - highest, end - most
        if log:
            return cls(*parts, np.log(prior.tie) if prior.tie else -np.inf, divisor, True)
        likelihood, entry, end = (np.exp(part) for part in parts)
        return cls(likelihood, entry, end, prior.tie, divisor, False)

    def states(self) -> np.ndarray:
        """Room for one sigma's states, shape (m, G, M)."""
        return np.empty((*self.likelihood.shape[1:], self.end.shape[1]))

    def forward(self, s: int, states: np.ndarray) -> float:
        """Fill the states of the s-th sigma; gives the log of all that they were divided by."""
        return forward_pass(self.likelihood[s], self.entry[s], self.tie, states, self.log)

    def ended(self, s: int, states: np.ndarray) -> np.ndarray:
        """The last bin's states, weighted by the number of levels that they end with, shape (G, M)."""
        return np.asarray(states[-1] + self.end[s] if self.log else states[-1] * self.end[s])


def log_evidence(bins: Pooled, prior: Prior, sigma: np.ndarray, log: bool | None = None) -> np.ndarray:
    """log p(data | sigma) for each sigma, shape (S,), every path summed out. O(S m M G).

    Arguments as in `ForwardInputs.of`.
    """
    weighed = ForwardInputs.of(bins, prior, sigma, log)
    states, evidence = weighed.states(), np.empty(len(sigma))
    for s in range(len(sigma)):
        scale = weighed.forward(s, states)
        last = weighed.ended(s, states)
        # a sigma under which the data cannot be has no evidence: -inf, which is its log
        with np.errstate(divide="ignore"):
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
    for s, weight in enumerate(weights):
        weighed.forward(s, states)
        given = weighed.likelihood[s], weighed.entry[s], weighed.tie, weighed.end[s]
        backward_pass(states, *given, float(weight), weighed.log, levels, count, changes)
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
        weighed.forward(0, states)
        draws = np.flatnonzero(which == s)
        paths[draws] = _draw_paths(states, weighed, len(draws), rng)
    return paths


def _draw_paths(states: np.ndarray, weighed: ForwardInputs, draws: int, rng: np.random.Generator) -> np.ndarray:
    """Paths backwards through what `forward_pass` left, shape (draws, m)."""
    bins, grid, most = states.shape
    paths = np.empty((draws, bins), dtype=int)
    last = np.tile(weighed.ended(0, states).ravel(), (draws, 1))
    impossible = -np.inf if weighed.log else 0.0
    level, number = np.divmod(_draw(last, weighed.log, rng), most)
    paths[:, -1] = level
    for j in range(bins - 2, -1, -1):
        stay = states[j, level, number]
        lower = states[j].T[np.maximum(number - 1, 0)]
        entry, each = weighed.entry[0][level], np.arange(draws)
        tied = lower[each, level]
        lower[(np.arange(grid) >= level[:, None]) | (number == 0)[:, None]] = impossible
        lower[each, level] = np.where(
            number == 0, impossible, tied + weighed.tie if weighed.log else tied * weighed.tie
        )
        lower = lower + entry[:, None] if weighed.log else lower * entry[:, None]
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
