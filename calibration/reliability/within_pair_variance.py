"""Effect of calibration: variance within pairs (the paper's table 5.1), and agreement that rescaling cannot fake.

Within-pair variance alone rewards shrinking everything to a constant; the leave-one-out correlation does not. It is
always out of sample: pairs are split in five folds, and the lines that calibrate a fold never saw its pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from relstudy.calibration.methods import WEIGHTED
from relstudy.calibration.methods.by_name import Fitted, fit_method
from relstudy.calibration.panel import Panel
from relstudy.calibration.rater_noise import rater_noise
from relstudy.calibration.reliability.two_way_intervals import Figure, mean_over_pairs, squared_differences
from relstudy.common.cluster import in_parts
from relstudy.common.results.estimates import Estimate
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import count_of
from relstudy.common.sampling.rankdata import ranks

FOLDS = 5
ENOUGH_PAIRS = 20
HALVES = 4
"""Draws of half of the raters, in either direction."""
ENOUGH_IN_HALVES = 10
REPLICATES = 1000
MOST_DRAWS = 10_000_000

Progress = Callable[[Iterable[int]], Iterator[int]]


@dataclass(frozen=True)
class Scored:
    """Rows that a figure is computed on.

    Parameters
    ----------
    rows : bool array (N)
    pairs : how many pairs with two or more ratings they hold
    block : "unique" or "all"
    """

    rows: np.ndarray
    pairs: int
    block: str

    @property
    def too_few(self) -> Estimate | None:
        """The reason why nothing is estimated out of sample; None where every fold can have two pairs."""
        if self.pairs >= 2 * FOLDS:
            return None
        pairs = count_of(self.pairs, "pair has", "pairs have")
        return Estimate.missing(f"only {pairs} two ratings; {2 * FOLDS} are needed")


def scored_rows(panel: Panel) -> Scored:
    """The unique pairs with two or more ratings; all such pairs if there are fewer than 20 unique ones."""
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
    squares = decided.by_pair((decided.rating - decided.pair_means(decided.rating)[decided.pair]) ** 2)
    return np.where(count > 1, squares / np.maximum(count - 1, 1), np.nan)


def within_item_variance(panel: Panel, rows: np.ndarray) -> Estimate:
    """Mean over pairs of the variance among raters (table 5.1), with its interval for raters and pairs like these."""
    part = panel.keep(rows)
    figure = variance_figure(part)
    return Estimate.missing("no pair has two ratings") if figure is None else figure.estimate(part, "log")


def variance_figure(panel: Panel) -> Figure | None:
    """The same as a figure with its influences; None where no pair has two ratings. Rows must be decided."""
    if not (panel.by_pair() > 1).any():
        return None
    return mean_over_pairs(panel, squared_differences(panel))


def leave_one_out_correlation(
    panel: Panel,
    method: str | Callable[[Panel], Fitted],
    scored: Scored | None = None,
    *,
    weighted: bool | None = None,
    seed: int = 0,
    progress: Progress = iter,
) -> Estimate:
    """Correlation of a calibrated rating with the mean of the other raters' on the same pair, out of sample.

    Parameters
    ----------
    panel : all ratings
    method : a method's name, or a function that fits one to a panel
    scored : the rows to score; `scored_rows(panel)` if None
    weighted : whether the others' mean weighs raters by their noise in training; None: as the method does by itself
    seed : pairs are split into FOLDS folds at random, the same way for every method and every order of rows
    progress : wraps the folds, to show how they go

    Returns
    -------
    Estimate: the mean over folds of the correlation within a fold, with a 95 % interval for raters and pairs like these

    Examples
    --------
    >>> from relstudy.calibration.simulation import simulate_panel
    >>> panel = simulate_panel(20, 20, 60, seed=1).panel
    >>> raw, pooled = (leave_one_out_correlation(panel, method).value for method in ("none", "pooled"))
    >>> raw < pooled
    True
    """
    scored = scored_rows(panel) if scored is None else scored
    figure = leave_one_out_figure(panel, method, scored, weighted=weighted, seed=seed, progress=progress)
    return figure if isinstance(figure, Estimate) else figure.estimate(panel.keep(scored.rows), "fisher")


def leave_one_out_figure(
    panel: Panel,
    method: str | Callable[[Panel], Fitted],
    scored: Scored,
    *,
    weighted: bool | None = None,
    seed: int = 0,
    progress: Progress = iter,
) -> Figure | Estimate:
    """`leave_one_out_correlation` as a figure of the scored rows with its influences, or why there is none."""
    if scored.too_few is not None:
        return scored.too_few
    try:
        return _leave_one_out(panel, scored, _held_out(panel, method, scored, weighted, seed, progress))
    except RelstudyError as error:  # four fifths of the pairs may do for less than all of them
        return Estimate.missing(f"without a fifth of the pairs {error}")


def out_of_sample(
    panel: Panel,
    method: str,
    scored: Scored,
    *,
    weighted: bool | None = None,
    seed: int = 0,
    given: np.ndarray | None = None,
) -> tuple[Figure | Estimate, Figure | Estimate]:
    """The leave-one-out correlation of single ratings, and the agreement of judgments in order, of the same folds.

    The second is Spearman's correlation of the judgments by half of the raters with the other half's mean ratings as
    they were given (`given`, float array N; the panel's if None), over `HALVES` draws of the half in either direction.
    What all ratings are held against is the same for every method, and no change of the scale's steps that all raters
    share has a part in it. Its influences are by pair alone: they are for these raters.
    """
    if scored.too_few is not None:
        return scored.too_few, scored.too_few
    held = list(_held_out(panel, method, scored, weighted, seed, iter))
    return _leave_one_out(panel, scored, held), _by_halves(
        panel if given is None else panel.with_rating(given), scored, held, seed
    )


def _held_out(
    panel: Panel,
    method: str | Callable[[Panel], Fitted],
    scored: Scored,
    weighted: bool | None,
    seed: int,
    progress: Progress,
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Of each fold its rows, their calibrated values by what the other folds' pairs say, and the raters' weights."""
    weighted = method in WEIGHTED if weighted is None else weighted
    fold_of = pair_folds(panel, FOLDS, seed)
    folds = in_parts(_fold_by_fold, [panel, method, scored, fold_of, weighted], range(FOLDS))
    for _, held in zip(progress(range(FOLDS)), folds, strict=True):
        if held is not None:
            yield held


def _fold_by_fold(
    panel: Panel, method: str | Callable[[Panel], Fitted], scored: Scored, fold_of: np.ndarray, weighted: bool
) -> Callable[[int], tuple[np.ndarray, np.ndarray, np.ndarray] | None]:
    """What `_held_out` gives of a fold, by its number; None where no scored row is in it."""
    fit = method if callable(method) else lambda training: fit_method(training, method)

    def of_fold(fold: int) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        held_out = scored.rows & (fold_of[panel.pair] == fold)
        if not held_out.any():
            return None
        training = panel.keep(~held_out)
        fitted = fit(training)
        weight = np.ones(panel.n_raters)
        if weighted:
            weight = rater_noise(training.with_rating(fitted.calibrated(training)), fitted.lines(training)).weight
        return held_out, fitted.calibrated(panel.keep(held_out)), weight

    return of_fold


def _leave_one_out(
    panel: Panel, scored: Scored, held: Iterable[tuple[np.ndarray, np.ndarray, np.ndarray]]
) -> Figure | Estimate:
    by_rating, values = np.zeros(len(panel.rating)), []
    by_pair = np.zeros(panel.n_pairs)
    for rows, calibrated, weight in held:
        figure = agreement_figure(panel.keep(rows).with_rating(calibrated), weight)
        if figure is None:
            return Estimate.missing("every rating is the same in at least one fold")
        values.append(figure.value)
        by_rating[rows] = figure.by_rating
        by_pair += figure.by_pair
    parts = len(values)
    return Figure(float(np.mean(values)), by_rating[scored.rows] / parts, by_pair / parts)


def _by_halves(
    panel: Panel, scored: Scored, held: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray]], seed: int
) -> Figure | Estimate:
    values: list[float] = []
    by_pair = np.zeros(panel.n_pairs)
    random = np.random.default_rng(seed)
    for _ in range(HALVES):
        half = random.permutation(panel.n_raters) < panel.n_raters // 2
        for rows, calibrated, weight in held:
            part = panel.keep(rows)
            for side in (half, ~half):
                ours = weight[part.rater] * side[part.rater]
                theirs = 1.0 * ~side[part.rater]
                mass = part.by_pair(ours), part.by_pair(theirs)
                both = np.flatnonzero((mass[0] > 0) & (mass[1] > 0))
                if len(both) < ENOUGH_IN_HALVES:
                    continue
                sums = part.by_pair(ours * calibrated), part.by_pair(theirs * part.rating)
                a, b = (ranks(total[both] / of[both]) for total, of in zip(sums, mass, strict=True))
                if min(np.ptp(a), np.ptp(b)) == 0:
                    continue
                a, b = ((each - each.mean()) / each.std() for each in (a, b))
                values.append(float(np.mean(a * b)))
                by_pair[both] += (a * b - values[-1] / 2 * (a * a + b * b)) / len(both)
    if not values:
        return Estimate.missing("too few pairs have ratings of both halves of the raters")
    return Figure(float(np.mean(values)), np.zeros(int(scored.rows.sum())), by_pair / len(values))


def agreement_figure(panel: Panel, weight: np.ndarray) -> Figure | None:
    """Correlation of ratings with the weighted mean of the other raters' on the same pair.

    A rating counts by itself and in the others' means; its influence is the sum of both. A row weighs its rater's
    weight times that of the others, so that a rater who is drawn again brings their couples along.

    Parameters
    ----------
    panel : decided ratings of pairs that have at least two
    weight : of each rater in the means, float array (R)
    """
    # Away from zero the sums of squares lose digits, and on a very long scale they overflow.
    x = panel.rating - panel.rating.mean()
    x = x / (np.abs(x).max(initial=0.0) or 1.0)
    weight_of_rater = weight[panel.rater]
    rest = panel.by_pair(weight_of_rater)[panel.pair] - weight_of_rater
    others = (panel.by_pair(weight_of_rater * x)[panel.pair] - weight_of_rater * x) / rest
    y = others - others.mean()
    spread = float(np.sqrt(np.mean(x * x))), float(np.sqrt(np.mean(y * y)))
    if min(spread) < 1e-9:
        return None
    a, b, n = x / spread[0], y / spread[1], len(x)
    value = float(np.mean(a * b))
    alone = (a * b - value / 2 * (a * a + b * b)) / n
    pull = (a - value * b) / (n * spread[1] * rest)
    through = np.zeros(n)
    for factor, part in ((x, pull), (-1.0, pull * others), (1.0, alone / rest)):
        through += factor * weight_of_rater * (panel.by_pair(part)[panel.pair] - part)
    return Figure(value, alone + through, panel.by_pair(alone))


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
    # fewer for very many units, whose intervals are narrow and nearly normal
    affordable = min(replicates, max(MOST_DRAWS // max(len(statistics), 1), 100))
    draws = _replicates(statistics, figure, seed, affordable)
    tail = (1 - level) / 2
    if not np.isfinite(draws).any():
        return np.nan, np.nan
    low, high = np.nanquantile(draws, [tail, 1 - tail])
    return float(low), float(high)


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
