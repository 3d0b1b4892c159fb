"""What calibration achieves: variance within pairs (the paper's table 5.1), and agreement that scale can't fake.

Within-pair variance alone rewards shrinking everything to a constant; the leave-one-out correlation does not. It is
always out of sample: pairs are split in five folds, and the lines that calibrate a fold never saw its pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from relstudy.calibration.methods.by_name import Fitted, fit_method
from relstudy.calibration.noise import WEIGHTED, others_mean, rater_noise
from relstudy.calibration.panel import Panel
from relstudy.common.estimates import Estimate

FOLDS = 5
ENOUGH_PAIRS = 20
REPLICATES = 1000
MOST_DRAWS = 10_000_000

Progress = Callable[[Iterable[int]], Iterator[int]]


@dataclass(frozen=True)
class Scored:
    """Which rows a figure is computed on.

    Parameters
    ----------
    rows : bool array (N)
    pairs : how many pairs with two or more ratings they hold
    block : "unique" or "all"
    """

    rows: np.ndarray
    pairs: int
    block: str


def scored_rows(panel: Panel) -> Scored:
    """The unique pairs with two or more ratings; all such pairs where there are fewer than 20 unique ones."""
    decided = ~np.isnan(panel.rating)
    several = np.bincount(panel.pair, decided, panel.n_pairs) > 1
    unique = several & ~panel.base
    chosen, block = (unique, "unique") if np.count_nonzero(unique) >= ENOUGH_PAIRS else (several, "all")
    return Scored(decided & chosen[panel.pair], int(np.count_nonzero(chosen)), block)


def pair_variances(panel: Panel) -> np.ndarray:
    """Each pair's variance among its raters (divided by n - 1), NaN below two ratings; float array (P).

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"rater_id": list("abab"), "pair_id": list("ppqq"), "rating": [1, 3, 5, 5]})
    >>> pair_variances(Panel.from_frame(frame)).tolist()
    [2.0, 0.0]
    """
    decided = panel.decided()
    count = decided.by_pair()
    mean = decided.by_pair(decided.rating) / np.maximum(count, 1)
    squares = decided.by_pair((decided.rating - mean[decided.pair]) ** 2)
    return np.where(count > 1, squares / np.maximum(count - 1, 1), np.nan)


def within_item_variance(panel: Panel, rows: np.ndarray, *, seed: int = 0, replicates: int = REPLICATES) -> Estimate:
    """Mean over pairs of the variance among raters, with a 95 % bootstrap interval over pairs (table 5.1)."""
    variances = pair_variances(panel.keep(rows))
    variances = variances[np.isfinite(variances)]
    if not len(variances):
        return Estimate.missing("no pair has two ratings")
    statistics = np.stack([variances, np.ones_like(variances)], axis=1)
    low, high = bootstrap_interval(statistics, lambda sums: sums[:, 0] / sums[:, 1], seed, replicates)
    return Estimate.of(float(variances.mean()), low, high)


def leave_one_out_correlation(
    panel: Panel,
    method: str | Callable[[Panel], Fitted],
    scored: Scored | None = None,
    *,
    weighted: bool | None = None,
    folds: int = FOLDS,
    seed: int = 0,
    replicates: int = REPLICATES,
    progress: Progress = iter,
) -> Estimate:
    """Correlation of a calibrated rating with the mean of the other raters' on the same pair, out of sample.

    Parameters
    ----------
    panel : all ratings
    method : a method's name, or a function that fits one to a panel
    scored : the rows to score; `scored_rows(panel)` if None
    weighted : whether the others' mean weighs raters by their noise in training; None: as the method does by itself
    folds, seed : pairs are split at random, the same way for every method and every order of rows
    replicates : bootstrap replicates over pairs; 0 for no interval
    progress : wraps the folds, to show how they go

    Returns
    -------
    Estimate: the mean over folds of the correlation within a fold, with a 95 % interval from a bootstrap over pairs

    Examples
    --------
    >>> from relstudy.calibration.simulation import simulate_panel
    >>> panel = simulate_panel(20, 20, 60, seed=1).panel
    >>> raw, pooled = (leave_one_out_correlation(panel, method).value for method in ("none", "pooled"))
    >>> raw < pooled
    True
    """
    scored = scored_rows(panel) if scored is None else scored
    if scored.pairs < 2 * folds:
        return Estimate.missing(f"only {scored.pairs} pairs have two ratings; {2 * folds} are needed")
    fit = method if callable(method) else lambda training: fit_method(training, method)
    weighted = method in WEIGHTED if weighted is None else weighted
    fold_of = pair_folds(panel, folds, seed)
    parts = []
    for fold in progress(range(folds)):
        held_out = scored.rows & (fold_of[panel.pair] == fold)
        if not held_out.any():
            continue
        training, test = panel.keep(~held_out), panel.keep(held_out)
        fitted = fit(training)
        weight = np.ones(panel.n_raters)
        if weighted:
            weight = rater_noise(training.with_rating(fitted.calibrated(training)), fitted.lines(training)).weight
        parts.append(_agreement_sums(test.with_rating(fitted.calibrated(test)), weight))
    values = [float(_correlations(sums.sum(axis=0, keepdims=True))[0]) for sums in parts]
    if not np.isfinite(values).all():
        return Estimate.missing("every rating is the same in at least one fold")
    if replicates == 0:
        return Estimate(float(np.mean(values)))
    replicates = _affordable(max(len(part) for part in parts), replicates)
    draws = np.mean([_replicates(s, _correlations, seed + i, replicates) for i, s in enumerate(parts)], axis=0)
    # Percentiles would sit too low: a fold of few pairs, resampled, holds fewer distinct ones and correlates less.
    low, high = _around(float(np.mean(values)), draws)
    return Estimate.of(float(np.mean(values)), low, high)


def _around(correlation: float, draws: np.ndarray) -> tuple[float, float]:
    """95 % interval from the replicates' spread on Fisher's scale."""
    draws = draws[np.isfinite(draws)]
    if len(draws) < 2 or abs(correlation) >= 1:
        return correlation, correlation
    half = 1.96 * float(np.std(np.arctanh(np.clip(draws, -0.999999, 0.999999)), ddof=1))
    centre = np.arctanh(correlation)
    return float(np.tanh(centre - half)), float(np.tanh(centre + half))


def pair_folds(panel: Panel, folds: int, seed: int) -> np.ndarray:
    """A fold for each pair, by its name, so that the order of rows does not matter; int array (P)."""
    columns = [name for name in ("query_id", "result_id") if name in panel.pairs] or ["pair_id"]
    names = [np.asarray(panel.pairs[name].astype("str"), dtype=object) for name in reversed(columns)]
    order = np.lexsort(names)
    fold = np.empty(panel.n_pairs, dtype=np.intp)
    fold[order] = np.random.default_rng(seed).integers(0, folds, panel.n_pairs)
    return fold


def bootstrap_interval(
    statistics: np.ndarray,
    figure: Callable[[np.ndarray], np.ndarray],
    seed: int,
    replicates: int = REPLICATES,
    level: float = 0.95,
) -> tuple[float, float]:
    """Percentile interval of a figure of sums, resampling rows of `statistics` (units by sums)."""
    draws = _replicates(statistics, figure, seed, _affordable(len(statistics), replicates))
    tail = (1 - level) / 2
    if not np.isfinite(draws).any():
        return np.nan, np.nan
    low, high = np.nanquantile(draws, [tail, 1 - tail])
    return float(low), float(high)


def _affordable(units: int, replicates: int) -> int:
    """Fewer replicates for very many units, whose intervals are narrow and nearly normal."""
    return min(replicates, max(MOST_DRAWS // max(units, 1), 100))


def _replicates(
    statistics: np.ndarray, figure: Callable[[np.ndarray], np.ndarray], seed: int, replicates: int
) -> np.ndarray:
    """The figure in each replicate; weights are Poisson(1), the multinomial's limit, so that chunks fit in memory."""
    units = len(statistics)
    chunk = max(1, min(replicates, 4_000_000 // max(units, 1)))
    rng = np.random.default_rng(seed)
    draws = []
    for start in range(0, replicates, chunk):
        size = min(chunk, replicates - start)
        with np.errstate(invalid="ignore", divide="ignore"):
            draws.append(figure(rng.poisson(1.0, (size, units)) @ statistics))
    return np.concatenate(draws)


def _agreement_sums(panel: Panel, weight: np.ndarray) -> np.ndarray:
    """Per pair: n, sums of x, y, xx, yy, xy for x a rating and y the others' mean; float array (pairs, 6)."""
    count = panel.by_pair()
    panel = panel.keep(count[panel.pair] > 1)
    # Away from zero the sums of squares lose digits, and on a very long scale they overflow.
    x = panel.rating - panel.rating.mean() if len(panel.rating) else panel.rating
    x = x / (np.abs(x).max(initial=0.0) or 1.0)
    y = others_mean(panel.with_rating(x), weight)
    used = count > 1
    columns = [None, x, y, x * x, y * y, x * y]
    return np.stack([panel.by_pair(column)[used] for column in columns], axis=1)


def _correlations(sums: np.ndarray) -> np.ndarray:
    n, x, y, xx, yy, xy = sums.T
    with np.errstate(invalid="ignore", divide="ignore"):
        value = (n * xy - x * y) / np.sqrt((n * xx - x * x) * (n * yy - y * y))
    return np.asarray(value)
