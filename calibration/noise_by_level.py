"""How noise depends on a pair's level: raters agree on clear pairs and differ on doubtful ones.

An ordinal model for all raters: a rating of pair i falls into category k when u_i plus a standard normal error lies
between two thresholds. The distribution of u is estimated on a grid without assuming a shape (Laird 1978, JASA 73), in
each of four groups of pairs by inclusion probability, together with the thresholds by EM (Dempster, Laird and Rubin
1977, JRSS B 39). A pair's own ratings then give the posterior of u, so the noise to expect and the values possible.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from relstudy.calibration.panel import Panel

MOST_CATEGORIES = 11
"""Scales with more values, such as sliders, are cut into this many equally used categories."""
GRID = 81
STRATA = 4
"""Groups of pairs by inclusion probability, equally many in each."""
ROUNDS = 60
HALVED = 10
"""Times at most that a step of the thresholds is halved."""
MOST_PATTERNS = 4_000
"""The model is fitted to at most this many different sets of ratings."""
BORROWED = 5.0
"""Each stratum's distribution is shrunk towards that of all pairs, as if by this many pairs."""
TAIL = 0.01
"""Posterior probability beyond each end of an interval. With 0.025 intervals hold the truth of 95 % of all pairs, but
of 89 % of those of rare levels, which the distribution of all pairs draws towards the usual ones."""
FEWEST = 10
"""Pairs with two ratings that the model needs."""


@dataclass(frozen=True)
class ByLevel:
    """What a pair's level says of its noise.

    Parameters
    ----------
    noise : variance of a rating of the pair, relative to the mean over pairs with several ratings, float array (P)
    low, high : interval of the pair's true judgment by the model alone, with TAIL beyond each end, calibrated units,
        float arrays (P)
    """

    noise: np.ndarray
    low: np.ndarray
    high: np.ndarray


def noise_by_level(panel: Panel, calibrated: np.ndarray) -> ByLevel | None:
    """Estimate how noisy each pair's ratings are from where its ratings lie on the scale.

    Parameters
    ----------
    panel : ratings as given; `pairs` may hold inclusion_probability
    calibrated : float array (N), NaN = undecided

    Returns
    -------
    None if fewer than ten pairs have two ratings, or all ratings are equal

    Examples
    --------
    >>> from relstudy.calibration.simulation import simulate_panel
    >>> panel = simulate_panel(20, 60, 200, seed=1).panel
    >>> noise, mean = noise_by_level(panel, panel.rating).noise, panel.pair_means(panel.rating)
    >>> bool(noise[mean > 4.5].mean() < noise[abs(mean - 3) < 0.5].mean())
    True
    """
    decided = panel.with_rating(calibrated).decided()
    count = decided.by_pair()
    several = count > 1
    if np.count_nonzero(several) < FEWEST:
        return None
    category = _categories(panel.rating[~np.isnan(panel.rating)], decided.rating)
    number = int(category.max()) + 1
    if number < 2:
        return None
    value = np.bincount(category, decided.rating, number) / np.bincount(category, minlength=number)
    votes = np.zeros((panel.n_pairs, number))
    np.add.at(votes, (decided.pair, category), 1.0)
    rated = np.flatnonzero(count > 0)
    stratum = np.zeros(len(rated), dtype=int)
    if "inclusion_probability" in panel.pairs:
        probability = panel.pairs["inclusion_probability"].to_numpy(dtype=float)[rated]
        if np.isfinite(probability).all():
            stratum = np.argsort(np.argsort(probability, kind="stable")) * STRATA // len(rated)
    patterns, which, times = np.unique(
        np.column_stack([stratum, votes[rated]]), axis=0, return_inverse=True, return_counts=True
    )
    model = _Levels.fitted(
        patterns[:, 0].astype(int), patterns[:, 1:], times.astype(float), _spread_over_noise(decided)
    )
    moments = np.full((3, panel.n_pairs), np.nan)
    moments[:, rated] = model.moments(patterns[:, 0].astype(int), patterns[:, 1:], value)[:, which.ravel()]
    noise = np.where(count > 0, moments[0], 0.0)
    freedom = np.where(several, count - 1, 0.0)
    typical = float(freedom @ noise) / float(freedom.sum())
    return ByLevel(noise / typical, moments[1], moments[2]) if typical > 0 else None


def _categories(given: np.ndarray, calibrated: np.ndarray) -> np.ndarray:
    """Category of each calibrated rating, numbered from 0: the nearest given value, or a quantile where these are
    many."""
    values = np.unique(given)
    if len(values) > MOST_CATEGORIES:
        edges = np.unique(np.quantile(calibrated, np.arange(1, MOST_CATEGORIES) / MOST_CATEGORIES))
    else:
        edges = (values[1:] + values[:-1]) / 2
    return np.unique(np.searchsorted(edges, calibrated, side="right"), return_inverse=True)[1].ravel()


def _spread_over_noise(decided: Panel) -> float:
    """Standard deviation of pairs' means over that of a single rating, roughly, to start from."""
    inside = decided.rating - decided.pair_means(decided.rating)[decided.pair]
    freedom = len(inside) - np.count_nonzero(decided.by_pair())
    noise = float(inside @ inside) / max(float(freedom), 1.0)
    between = max(float(decided.rating.var()) - noise, 0.0)
    return float(np.clip(np.sqrt(between / (noise + 1e-12)), 0.3, 10.0))


@dataclass(frozen=True)
class _Levels:
    """The fitted model: values of u, float [grid], thresholds, float [categories - 1], and the distribution of u in
    each stratum, float [strata, grid]."""

    grid: np.ndarray
    thresholds: np.ndarray
    prior: np.ndarray

    @classmethod
    def fitted(cls, stratum: np.ndarray, votes: np.ndarray, times: np.ndarray, spread: float) -> _Levels:
        """Fit by EM to sets of ratings (counts by category, float [patterns, categories]) that occur `times` times."""
        if len(times) > MOST_PATTERNS:
            chosen = np.linspace(0, len(times) - 1, MOST_PATTERNS).astype(int)
            stratum, votes, times = stratum[chosen], votes[chosen], times[chosen]
        used = times @ votes
        share = np.clip(np.cumsum(used)[:-1] / used.sum(), 1e-4, 1 - 1e-4)
        thresholds = special.ndtri(share) * np.hypot(1.0, spread)
        thresholds = np.maximum.accumulate(thresholds + 1e-3 * np.arange(len(thresholds)))
        grid = np.linspace(thresholds[0] - 4, thresholds[-1] + 4, GRID)
        prior = np.exp(-0.5 * ((grid - thresholds.mean()) / max(spread, 1.0)) ** 2) + 1e-6
        model = cls(grid, thresholds, np.tile(prior / prior.sum(), (int(stratum.max()) + 1, 1)))
        for _ in range(ROUNDS):
            mass = model.posterior(stratum, votes) * times[:, None]
            prior = np.zeros_like(model.prior)
            np.add.at(prior, stratum, mass)
            everywhere = prior.sum(axis=0)
            prior += BORROWED * everywhere / everywhere.sum()
            prior /= prior.sum(axis=1, keepdims=True)
            before = model.thresholds
            model = cls(grid, model._thresholds_of(votes.T @ mass), prior)
            if np.abs(model.thresholds - before).max() < 1e-3:
                break
        return model

    def chances(self, thresholds: np.ndarray | None = None) -> np.ndarray:
        """Probability of each category at each u, float [categories, grid]."""
        below = special.ndtr((self.thresholds if thresholds is None else thresholds)[:, None] - self.grid)
        return np.clip(np.diff(below, axis=0, prepend=0.0, append=1.0), 1e-12, 1.0)

    def posterior(self, stratum: np.ndarray, votes: np.ndarray) -> np.ndarray:
        """Posterior of u given a set of ratings, float [patterns, grid]."""
        logs = votes @ np.log(self.chances())
        likely = np.exp(logs - logs.max(axis=1, keepdims=True)) * self.prior[stratum]
        return likely / likely.sum(axis=1, keepdims=True)

    def moments(self, stratum: np.ndarray, votes: np.ndarray, value: np.ndarray) -> np.ndarray:
        """Expected variance of a rating, and ends of the interval of its mean, float [3, patterns].

        Parameters
        ----------
        value : mean rating of each category, float [categories]
        """
        chances = self.chances()
        mean = value @ chances
        variance = np.maximum(value**2 @ chances - mean**2, 0.0)
        found = np.empty((3, len(votes)))
        for rows in np.array_split(np.arange(len(votes)), max(1, len(votes) // MOST_PATTERNS)):
            posterior = self.posterior(stratum[rows], votes[rows])
            below = np.cumsum(posterior, axis=1)
            found[0, rows] = posterior @ variance
            for end, share in ((1, TAIL), (2, 1 - TAIL)):
                found[end, rows] = mean[np.argmax(below >= share, axis=1)]
        return found

    def _thresholds_of(self, counts: np.ndarray) -> np.ndarray:
        """Thresholds after a step of Fisher scoring, given expected counts, float [categories, grid]; a step that would
        lower the likelihood or turn two thresholds round is halved."""
        chances = self.chances()
        density = np.exp(-0.5 * (self.thresholds[:, None] - self.grid) ** 2) / np.sqrt(2 * np.pi)
        slope = (density * -np.diff(counts / chances, axis=0)).sum(axis=1)
        known = counts.sum(axis=0) / chances
        curve = np.diag((density**2 * (known[:-1] + known[1:])).sum(axis=1))
        beside = -(density[:-1] * density[1:] * known[1:-1]).sum(axis=1)
        curve += np.diag(beside, 1) + np.diag(beside, -1)
        step = np.linalg.solve(curve + 1e-9 * np.trace(curve) * np.eye(len(curve)), slope)
        likelihood = float((counts * np.log(chances)).sum())
        for _ in range(HALVED):
            moved = self.thresholds + step
            if (np.diff(moved) > 0).all() and float((counts * np.log(self.chances(moved))).sum()) >= likelihood:
                return np.asarray(moved)
            step = step / 2
        return self.thresholds
