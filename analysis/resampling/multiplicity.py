"""p-values of a family of statements, corrected together by the largest of their statistics (max-t).

What decides is one statement of one index (`relstudy.analysis.resampling.best_set`). All else is told beside it, and
whoever reads many such statements finds one that chance alone made. So the statements of a family are corrected
together: how often the largest of their statistics, all of them null, would be as large, the replicates of the same
bootstrap tell, with all dependence between indices, systems and groups that share queries.

Sources: Westfall and Young 1993 (step-down by resampling, algorithm 4.1); Carterette 2012 (systems and measures).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import special

from relstudy.analysis.resampling.spread import ROUNDING


def holm(p_values: Sequence[float] | np.ndarray) -> np.ndarray:
    """Holm's step-down correction; NaN entries stay NaN and do not count.

    Holm 1979.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    values = np.asarray(p_values, dtype=float)
    corrected = np.full(len(values), np.nan)
    defined = np.flatnonzero(np.isfinite(values))
    order = defined[np.argsort(values[defined], kind="stable")]
    steps = values[order] * (len(order) - np.arange(len(order)))
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return corrected


def family_corrected(p_values: Sequence[float] | np.ndarray, drawn: np.ndarray | Sequence[np.ndarray]) -> np.ndarray:
    """Each p-value corrected for all statements of its family; NaN entries stay NaN and do not count.

    Parameters
    ----------
    p_values : float [statements], two-sided
    drawn : float [statements, replicates], each statement's statistic under its null in replicates of one bootstrap, in
        units of its standard deviation (`centred`); NaN where undefined

    Returns
    -------
    float [statements]: from the smallest p on, the share of replicates in which the largest statistic of those with no
    smaller p reaches the one that has this p (the replicates as they are counted as one of them), never less than that
    of the p before, and never more than Holm's, whose bound holds whatever the dependence

    Examples
    --------
    >>> noise = np.random.default_rng(0).normal(size=(1, 2000))
    >>> alike, apart = np.repeat(noise, 5, axis=0), np.random.default_rng(1).normal(size=(5, 2000))
    >>> family_corrected([0.02] * 5, alike).round(2).tolist(), family_corrected([0.02] * 5, apart).round(2).tolist()
    ([0.02, 0.02, 0.02, 0.02, 0.02], [0.1, 0.1, 0.1, 0.1, 0.1])
    """
    values = np.asarray(p_values, dtype=float)
    corrected = np.full(len(values), np.nan)
    defined = np.flatnonzero(np.isfinite(values))
    if not len(defined):
        return corrected
    order = defined[np.argsort(values[defined], kind="stable")]
    bound = special.ndtri(1 - np.minimum(values[order], 1.0) / 2)
    by_holm = holm(values[order])
    largest, reached = np.zeros_like(drawn[0]), np.empty(len(order))
    for place in range(len(order) - 1, -1, -1):  # from the largest p on, row by row: the table is large to be copied
        size = np.abs(np.where(np.isfinite(drawn[order[place]]), drawn[order[place]], 0.0))
        np.maximum(largest, size, out=largest)
        reached[place] = (1 + (largest >= bound[place]).sum()) / (1 + len(size))
        if not size.any():
            reached[place] = by_holm[place]  # what does not vary shows no dependence
    corrected[order] = np.minimum(np.maximum.accumulate(np.maximum(reached, values[order])), by_holm)
    return corrected


def centred(replicates: np.ndarray) -> np.ndarray:
    """Replicates of a figure about their mean in units of their standard deviation, float32 [replicates]; 0 where they
    do not vary."""
    defined = np.isfinite(replicates)
    if not defined.any():
        return np.zeros(len(replicates), dtype=np.float32)
    away = replicates - replicates[defined].mean()
    spread = float(np.sqrt(np.mean(away[defined] ** 2)))
    return np.asarray(away / spread if spread > ROUNDING else np.zeros(len(away)), dtype=np.float32)
