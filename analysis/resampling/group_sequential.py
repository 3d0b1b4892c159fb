"""Looks at a study that is still running: what several looks do to the error, and bounds that hold it.

A test at each of several looks finds a difference between equal systems more often than its level says. Bounds by a
spending function hold the level over all looks, at whatever information the looks come (Lan and DeMets 1983; Jennison
and Turnbull 2000, chapters 7 and 19; Armitage, McPherson and Rowe 1969 for looks without bounds).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import scipy
from scipy.special import ndtr, ndtri

from relstudy.calibration.tables.decision import Rule

NODES = 400
"""Of the quadrature over the region in which the study goes on; 200 give the same four digits."""
FARTHEST = 12.0
"""Standard errors beyond which nothing is left to spend."""


def spent(fraction: float, error: float, rule: Rule) -> float:
    """The error that may be spent up to a fraction of the information, two-sided.

    Parameters
    ----------
    fraction : of the information of the finished study, above 0; above 1 counts as 1
    error : two-sided, over all looks
    rule : "obrien-fleming" spends late, "pocock" evenly; each side spends half (Lan and DeMets 1983)

    Examples
    --------
    >>> round(spent(0.5, 0.05, "obrien-fleming"), 5), spent(1.0, 0.05, "pocock")
    (0.00305, 0.05)
    """
    share, side = min(fraction, 1.0), error / 2
    if rule == "pocock":
        return float(2 * side * np.log(1 + (np.e - 1) * share))
    return float(2 * (2 - 2 * ndtr(ndtri(1 - side / 2) / np.sqrt(share))))


def spending_bounds(fractions: Sequence[float], error: float = 0.05, rule: Rule = "obrien-fleming") -> np.ndarray:
    """Two-sided bounds of the statistic at looks, float [looks], in standard errors.

    Parameters
    ----------
    fractions : of the information, rising; what is left is spent at a look at 1 or beyond

    Examples
    --------
    >>> spending_bounds([0.2, 0.4, 0.6, 0.8, 1.0]).round(3).tolist()
    [4.877, 3.357, 2.68, 2.29, 2.031]
    """
    bounds: list[float] = []
    for number in range(len(fractions)):
        bounds.append(next_bound(fractions[: number + 1], bounds, error, rule))
    return np.array(bounds)


def next_bound(
    fractions: Sequence[float], bounds: Sequence[float], error: float = 0.05, rule: Rule = "obrien-fleming"
) -> float:
    """The two-sided bound of the last of some looks, in standard errors, after those before it had theirs.

    What they spent is what they spent, whatever the rule would have had them spend, so looks that nobody planned, and a
    plan that changed, cost no more than the error; the last look at 1 or beyond may spend all that is left. A look
    without new information has the bound of the one before it, one without any the farthest.

    Parameters
    ----------
    fractions : of the information at each look, rising, the last one's too
    bounds : of the looks before it

    Examples
    --------
    >>> round(next_bound([0.5, 1.0], [2.963]), 3), round(next_bound([0.5, 1.0], [2.0]), 3), next_bound([1.0, 1.0], [2])
    (1.969, 2.592, 2)
    """
    if fractions[-1] <= 0.0:
        return FARTHEST
    if len(fractions) > 1 and fractions[-1] <= fractions[-2]:
        return bounds[-1]
    walk = _walked(fractions[:-1], bounds)
    return walk.bound(fractions[-1], spent(fractions[-1], error, rule) - (1.0 - walk.left))


def median_unbiased(fractions: Sequence[float], bounds: Sequence[float], statistic: float) -> float:
    """The statistic of a study that stopped at the last of some looks, corrected for having stopped there.

    An estimate after an early stop is too large, since it is what stopped the study. This one is too large as often as
    too small, by the order of stages: an earlier stop says more than any later one (Tsiatis, Rosner and Mehta 1984;
    Jennison and Turnbull 2000, section 8.3).

    Parameters
    ----------
    fractions : of the information at each look, rising, the last one's too; looks without new information are none
    bounds : of the looks before it
    statistic : at the last look, the estimate over its standard error

    Examples
    --------
    >>> round(median_unbiased([1.0], [], 2.5), 3), round(median_unbiased([0.5, 1.0], [2.0], 2.5), 3)
    (2.5, 2.273)
    """
    last = float(np.sqrt(fractions[-1]))
    if not last:
        return statistic

    def excess(drift: float) -> float:
        walk, above = _Walk(), 0.0
        for fraction, bound in zip(fractions[:-1], bounds, strict=True):
            if not walk.at < fraction < fractions[-1]:
                continue
            above += walk.above(fraction, bound, drift)
            walk = walk.after(fraction, bound, drift)
        return above + walk.above(fractions[-1], abs(statistic), drift) - 0.5

    drift = scipy.optimize.brentq(excess, -FARTHEST / last, (FARTHEST + abs(statistic)) / last)
    return float(np.copysign(1.0, statistic) * drift * last)


def chance_to_decide(fraction: float, statistic: float, bound: float) -> float:
    """The chance that a bound is crossed at the end, in the direction of the statistic, if the present estimate is
    right (conditional power; Lan and Wittes 1988).

    Parameters
    ----------
    fraction : of the information now, below 1
    statistic : now
    bound : at the end

    Examples
    --------
    >>> round(chance_to_decide(0.5, 2.0, 1.97), 2), round(chance_to_decide(0.5, 0.0, 1.97), 3)
    (0.89, 0.003)
    """
    size, left = abs(statistic), 1.0 - fraction
    expected = size * np.sqrt(fraction) + left * size / np.sqrt(fraction)
    return float(ndtr((expected - bound) / np.sqrt(left)))


def error_over_looks(fractions: Sequence[float], bounds: Sequence[float]) -> float:
    """The chance that two equal systems are told apart at any of some looks.

    Parameters
    ----------
    fractions : of the information, rising
    bounds : of the statistic at each look, in standard errors

    Examples
    --------
    >>> [round(error_over_looks(np.arange(1, k + 1) / k, [1.96] * k), 3) for k in (1, 2, 5, 10)]
    [0.05, 0.083, 0.142, 0.193]
    """
    return 1.0 - _walked(fractions, bounds).left


def error_of_looks(fractions: Sequence[float], error: float = 0.05) -> float:
    """The chance that two equal systems are told apart at any of some looks, each tested at `error`.

    Parameters
    ----------
    fractions : of the information, rising (Armitage, McPherson and Rowe 1969 have even ones). The more uneven they
        are, the larger is the error, up to 1 - (1 - error) ** looks
    """
    return error_over_looks(fractions, [float(ndtri(1 - error / 2))] * len(fractions))


def _walked(fractions: Sequence[float], bounds: Sequence[float]) -> _Walk:
    """The walk after some looks; looks without new information are none."""
    walk = _Walk()
    for fraction, bound in zip(fractions, bounds, strict=True):
        walk = walk.after(fraction, bound) if fraction > walk.at else walk
    return walk


@cache
def _quadrature() -> tuple[np.ndarray, np.ndarray]:
    """Gauss-Legendre nodes between -1 and 1, and their weights, float [NODES] each."""
    return np.polynomial.legendre.leggauss(NODES)  # 40 ms


class _Walk:
    """The sum of the information so far, where no bound was crossed: density at the nodes of a quadrature."""

    def __init__(self, at: float = 0.0, place: np.ndarray | None = None, mass: np.ndarray | None = None) -> None:
        self.at = at
        self.place = np.zeros(1) if place is None else place
        self.mass = np.ones(1) if mass is None else mass

    @property
    def left(self) -> float:
        """The chance that no bound was crossed."""
        return float(self.mass.sum())

    def inside(self, fraction: float, bound: float) -> float:
        """The chance that no bound is crossed up to a further look."""
        step, end = np.sqrt(fraction - self.at), bound * np.sqrt(fraction)
        return float(self.mass @ (ndtr((end - self.place) / step) - ndtr((-end - self.place) / step)))

    def bound(self, fraction: float, allowed: float) -> float:
        """The bound that is crossed with the chance that is allowed."""

        def excess(bound: float) -> float:
            return self.left - self.inside(fraction, bound) - allowed

        return float(scipy.optimize.brentq(excess, 0.0, FARTHEST)) if excess(FARTHEST) < 0 < excess(0.0) else FARTHEST

    def above(self, fraction: float, bound: float, drift: float) -> float:
        """The chance that the upper bound is crossed at a further look, with a drift of so much over all looks."""
        more, end = fraction - self.at, bound * np.sqrt(fraction)
        return float(self.mass @ ndtr((self.place + drift * more - end) / np.sqrt(more)))

    def after(self, fraction: float, bound: float, drift: float = 0.0) -> _Walk:
        """The walk after a look."""
        nodes, weights = _quadrature()
        end, step = min(bound, FARTHEST) * np.sqrt(fraction), np.sqrt(fraction - self.at)
        place = end * nodes
        away = (place[:, None] - self.place - drift * (fraction - self.at)) / step
        normal = np.exp(-(away**2) / 2) / (step * np.sqrt(2 * np.pi))
        return _Walk(fraction, place, end * weights * (normal @ self.mass))
