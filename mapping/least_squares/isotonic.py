"""Least-squares monotone mapping, plain and bootstrap-averaged (Shirahatti and Barnard 2005, section 4.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from scipy.special import ndtri, stdtrit

from relstudy.mapping.estimator import MonotoneMapping
from relstudy.mapping.fitted import FittedMapping, drop_inner_knots
from relstudy.mapping.least_squares.plain import isotonic_fit
from relstudy.mapping.tied_scores import Pooled, SortedPairs, pool, resampled, sort_pairs

BAND_KNOTS = 400


class IsotonicMapping(MonotoneMapping):
    """Least squares over all monotone functions: a step function, joined by straight lines between scores.

    Parameters
    ----------
    increasing : True, False, or "auto": by the sign of Spearman's rho
    out_of_bounds : "clip" or "raise"

    References
    ----------
    Shirahatti and Barnard 2005, section 4.1, Eq. 4.1-4.7.

    Examples
    --------
    >>> IsotonicMapping().fit([0.1, 0.2, 0.3], [1, 4, 2]).predict([0.0, 0.15, 0.9]).round(6).tolist()
    [1.0, 2.0, 3.0]
    """

    method = "isotonic"

    def __init__(self, increasing: bool | str = "auto", out_of_bounds: str = "clip") -> None:
        self.increasing = increasing
        self.out_of_bounds = out_of_bounds

    def _fit(
        self, scores: np.ndarray, judgments: np.ndarray, weights: np.ndarray | None, groups: np.ndarray | None
    ) -> FittedMapping:
        pooled = pool(scores, judgments, weights)
        return self._fitted(*drop_inner_knots(pooled.scores, isotonic_fit(pooled, self.increasing_)))


class BaggedMapping(MonotoneMapping):
    """The average of isotonic fits to bootstrap samples, with their percentile band.

    Samples are of whole queries where `fit` is given them (`groups`), since pairs of one query are alike; else of
    pairs.

    Parameters
    ----------
    bagged : number of bootstrap samples
    increasing : True, False, or "auto": by the sign of Spearman's rho of all pairs
    out_of_bounds : "clip" or "raise"
    band : share of the bootstrap fits inside the band
    seed : of the bootstrap

    References
    ----------
    Shirahatti and Barnard 2005, section 4.1, "Implementation".

    Examples
    --------
    >>> BaggedMapping(bagged=20).fit([0, 1, 2, 3], [1, 1, 5, 5]).predict([0, 3]).round(1).tolist()
    [1.4, 4.4]
    """

    method = "bagged"

    def __init__(
        self,
        bagged: int = 100,
        increasing: bool | str = "auto",
        out_of_bounds: str = "clip",
        band: float = 0.9,
        seed: int = 0,
    ) -> None:
        self.bagged = bagged
        self.increasing = increasing
        self.out_of_bounds = out_of_bounds
        self.band = band
        self.seed = seed

    def _fit(
        self, scores: np.ndarray, judgments: np.ndarray, weights: np.ndarray | None, groups: np.ndarray | None
    ) -> FittedMapping:
        if self.bagged < 1:
            raise ValueError(f"bagged is a number of bootstrap samples, at least 1, not {self.bagged}")
        pairs = sort_pairs(scores, judgments, weights, groups)
        knots = pairs.distinct
        # the band is kept at some hundred knots: a thousand curves at every score would not fit in memory
        shown = np.unique(np.linspace(0, len(knots) - 1, min(len(knots), BAND_KNOTS)).astype(int))
        curves = np.empty((self.bagged, len(shown)))
        total = np.zeros(len(knots))
        for b, curve in enumerate(bootstrap_fits(pairs, self.bagged, self.seed, self.increasing_)):
            total += curve
            curves[b] = curve[shown]
        tail, average = (1 - self.band) / 2, total / self.bagged
        wider = 1.0 if pairs.groups is None else _few(int(pairs.groups.max()) + 1, 1 - tail)
        ends = np.quantile(curves, [tail, 1 - tail], axis=0)
        low, high = average[shown] + wider * (ends - average[shown])
        return self._fitted(
            knots,
            average,
            low=np.interp(knots, knots[shown], low),
            high=np.interp(knots, knots[shown], high),
            band=self.band,
            meta={"bagged": self.bagged, "seed": self.seed},
        )


def _few(units: int, level: float) -> float:
    """Factor that widens a bootstrap of few queries: sqrt(n / (n - 1)), and the normal beside Student's t."""
    return float(np.sqrt(units / (units - 1)) * stdtrit(units - 1, level) / ndtri(level))


def bootstrap_fits(
    pairs: SortedPairs,
    count: int,
    seed: int,
    increasing: bool,
    fit: Callable[[Pooled, bool], np.ndarray] = isotonic_fit,
) -> Iterator[np.ndarray]:
    """Fits to `count` bootstrap samples (`resampled`), each at all distinct scores, shape (m,).

    Parameters
    ----------
    fit : gives a monotone function at the pooled scores of a sample, in the direction asked for
    """
    rng = np.random.default_rng(seed)
    for _ in range(count):
        sample, drawn = resampled(pairs, rng)
        values = fit(sample, increasing)
        yield values if drawn.all() else np.interp(pairs.distinct, sample.scores, values)


def bootstrap_average(
    pairs: SortedPairs, count: int, seed: int, increasing: bool, fit: Callable[[Pooled, bool], np.ndarray]
) -> np.ndarray:
    """The mean of `bootstrap_fits`, at all distinct scores, shape (m,)."""
    return np.asarray(np.mean(list(bootstrap_fits(pairs, count, seed, increasing, fit)), axis=0))
