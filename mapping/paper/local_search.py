"""Section 4.2 of Shirahatti and Barnard 2005 as it was done: correlation maximised by a local optimiser from a start.

The source handed Eq. 4.9 to MATLAB's fmincon, a sequential quadratic program, and warned of local optima. SciPy's
SLSQP is a program of that kind. The problem has no local optimum but the global one (`optimum.closed_form`);
what an optimiser falls short of it is its own early end. `evidence/mapping_local_optimum.py` prints how far.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import LinearConstraint, minimize

from relstudy.common.sampling.rankdata import ranks
from relstudy.mapping.correlation.optimum import NO_RELATION, centred_judgments, correlation_with, on_judgments_scale
from relstudy.mapping.estimator import MonotoneMapping
from relstudy.mapping.fitted import FittedMapping, drop_inner_knots
from relstudy.mapping.least_squares.isotonic import bootstrap_average
from relstudy.mapping.tied_scores import Pooled, into_bins, pool, sort_pairs

STARTS = ("scores", "ranks", "random")
TOLERANCE = 1e-6
"""Of the correlation between steps: fmincon's default, and SLSQP's."""

MOST_STEPS = 400
"""fmincon's default number of iterations."""


@dataclass(frozen=True)
class LocalOptimum:
    """Where the optimiser ended.

    Parameters
    ----------
    fit : monotone function at the pooled scores, on the judgments' scale, shape (m,)
    correlation : with the judgments, 0 where the fit is constant
    steps : iterations
    settled : whether it ended by its tolerance, and not by its number of steps or in failure
    """

    fit: np.ndarray
    correlation: float
    steps: int
    settled: bool


def starting_point(pooled: Pooled, start: str, increasing: bool, rng: np.random.Generator) -> np.ndarray:
    """A monotone start, shape (m,): the scores themselves, their ranks, or uniform numbers put in order."""
    if start == "scores":
        values = pooled.scores
    elif start == "ranks":
        values = ranks(pooled.scores)
    else:
        values = np.sort(rng.uniform(size=len(pooled.scores)))
    spread = float(np.std(values)) or 1.0
    centred = (values - values.mean()) / spread
    return np.asarray(centred if increasing else -centred)


def maximise_correlation(
    pooled: Pooled, increasing: bool = True, start: str = "scores", rng: np.random.Generator | None = None
) -> LocalOptimum:
    """Maximise Eq. 4.9 over monotone functions by SLSQP.

    Costs by the cube of the distinct scores: pool them into some dozens of bins first.

    Examples
    --------
    >>> from relstudy.mapping.tied_scores import pool
    >>> round(maximise_correlation(pool([1, 2, 3], [1, 4, 2])).correlation, 4)
    0.7559
    """
    m = len(pooled.scores)
    if m < 2:
        return LocalOptimum(pooled.means, 0.0, 0, True)
    w, y, deviation = centred_judgments(pooled)
    deviation = deviation or 1.0

    def loss(f: np.ndarray) -> tuple[float, np.ndarray]:
        centred = f - w @ f
        spread = math.sqrt(w @ centred**2)
        if spread == 0:
            return 0.0, -w * y / deviation
        value = (w * y) @ centred / (spread * deviation)
        return -value, -(w * y / (spread * deviation) - value * w * centred / spread**2)

    sign = 1.0 if increasing else -1.0
    order = sign * (np.eye(m - 1, m, 1) - np.eye(m - 1, m))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        result = minimize(
            loss,
            starting_point(pooled, start, increasing, rng or np.random.default_rng(0)),
            jac=True,
            method="SLSQP",
            constraints=LinearConstraint(order, 0.0, np.inf),
            options={"ftol": TOLERANCE, "maxiter": MOST_STEPS},
        )
    # the constraints hold to the tolerance only
    accumulate = np.maximum.accumulate if increasing else np.minimum.accumulate
    f = accumulate(np.nan_to_num(result.x))
    reached = correlation_with(pooled, f)
    if reached <= 0:
        return LocalOptimum(np.full(m, pooled.mean), 0.0, int(result.nit), bool(result.success))
    return LocalOptimum(on_judgments_scale(pooled, f), reached, int(result.nit), bool(result.success))


class LocalCorrelationMapping(MonotoneMapping):
    """Correlation maximised by SLSQP over monotone steps, or the bootstrap average of such fits.

    Parameters
    ----------
    bagged : number of bootstrap samples to average over, 0 for the plain fit
    start : "scores", "ranks" or "random"
    bins : largest number of bins the scores are pooled into: the cost grows by its cube
    increasing : True, False, or "auto": by the sign of Spearman's rho
    out_of_bounds : "clip" or "raise"
    seed : of the bootstrap and of random starts

    Attributes
    ----------
    optimum_ : LocalOptimum of the fit to all pairs (bagged = 0 only)

    References
    ----------
    Shirahatti and Barnard 2005, section 4.2, Eq. 4.9.

    Examples
    --------
    >>> LocalCorrelationMapping().fit([1, 2, 3], [1, 4, 2]).predict([1, 2, 3]).round(3).tolist()
    [1.0, 3.0, 3.0]
    """

    method = "local"

    def __init__(
        self,
        bagged: int = 0,
        start: str = "scores",
        bins: int = 50,
        increasing: bool | str = "auto",
        out_of_bounds: str = "clip",
        seed: int = 0,
    ) -> None:
        self.bagged = bagged
        self.start = start
        self.bins = bins
        self.increasing = increasing
        self.out_of_bounds = out_of_bounds
        self.seed = seed

    def _fit(
        self, scores: np.ndarray, judgments: np.ndarray, weights: np.ndarray | None, groups: np.ndarray | None
    ) -> FittedMapping:
        if self.start not in STARTS:
            raise ValueError(f"start is one of {', '.join(STARTS)}, not {self.start!r}")
        if self.bagged < 0 or self.bins < 2:
            raise ValueError("bagged is a number of bootstrap samples, or 0 for none; bins are at least 2")
        rng = np.random.default_rng(self.seed)
        pooled = into_bins(pool(scores, judgments, weights), self.bins)
        meta = {"start": self.start, "bagged": self.bagged, "seed": self.seed}
        if self.bagged == 0:
            self.optimum_ = maximise_correlation(pooled, self.increasing_, self.start, rng)
            meta |= {"correlation": self.optimum_.correlation, "steps": self.optimum_.steps}
            meta |= {"relation": None if self.optimum_.correlation > 0 else NO_RELATION}
            values = self.optimum_.fit
        else:

            def fit(sample: Pooled, increasing: bool) -> np.ndarray:
                binned = into_bins(sample, self.bins)
                optimum = maximise_correlation(binned, increasing, self.start, rng)
                return np.interp(sample.scores, binned.scores, optimum.fit)

            pairs = sort_pairs(scores, judgments, weights)
            average = bootstrap_average(pairs, self.bagged, self.seed, self.increasing_, fit)
            fitted = self._fitted(*drop_inner_knots(pairs.distinct, average), meta=meta)
            return replace(fitted, method=f"{self.method}-bagged")
        knots, values = self._within(scores, pooled.scores, values)
        return self._fitted(knots, values, meta=meta)
