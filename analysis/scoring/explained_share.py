"""The share of the differences between judgments that a system explains, of what any system could.

Judgments are means of few ratings, so even a system that knew what people think of each pair on average would not
follow them exactly: what is reachable is the judgments' variance less their mean squared standard error, over
that variance (`relstudy.calibration.reliability.ceiling`). Here pairs count as in the correlation that systems are
compared by.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from relstudy.analysis.indices import kernels
from relstudy.analysis.resampling.bootstrap import BootstrapStatistic, RaterReplicates
from relstudy.analysis.scoring.context import ScoringContext
from relstudy.analysis.scoring.rater_draws import whole_steps
from relstudy.analysis.scoring.results import Explained
from relstudy.common.results.estimates import Estimate

LEAST = 0.05
"""Where less than this is reachable, shares of it are left out: they would divide by what may be nothing."""


TOO_LARGE = "it explains more than is reachable: the judgments' standard errors are larger than their noise"


def reachable(context: ScoringContext, used: np.ndarray) -> BootstrapStatistic:
    """The share of the differences between the judgments of some pairs (bool [pairs]) that is reachable; kept for the
    next system with the same pairs."""
    key = np.packbits(used).tobytes()
    if key not in context.reachable:
        context.reachable = {key: _reachable(context, used)}
    return context.reachable[key]


def _reachable(context: ScoringContext, used: np.ndarray) -> BootstrapStatistic:
    pairs = context.pairs
    error, judgment = pairs.standard_error[used] ** 2, pairs.judgment[used]
    if not len(error) or not np.isfinite(error).all():
        return BootstrapStatistic(np.nan, context.nothing, "the standard errors of the judgments are not known")
    if np.ptp(judgment) == 0:
        return BootstrapStatistic(np.nan, context.nothing, "all judgments are equal")
    weight = context.weights_of_correlation(used, context.collection)
    centred = judgment - judgment.mean()
    row, number = context.draws.row[used], context.draws.times.shape[0]
    values = [weight * each for each in (np.ones_like(centred), centred, centred**2, error)]
    columns = np.stack([np.bincount(row, each, number) for each in values])
    raters = None
    if context.raters is not None:
        parts = context.reweighted(context.raters, used, context.collection)
        drawn, both = (whole_steps(_share(np.stack([*each.sums, each.sum_of(error)]))) for each in parts)
        raters = RaterReplicates(drawn, both, context.queries_of(used), context.raters.raters)
    value = float(_share(columns.sum(axis=1, keepdims=True))[0])
    replicates = _share(kernels.sums(columns, context.draws.times, 0, context.draws.times.shape[1]))
    left_out = context.left_out(used)
    without = None if left_out is None else _share(np.concatenate([left_out.sums(each) for each in values]))
    return BootstrapStatistic(value, replicates, clusters=context.queries_of(used), raters=raters, left_out=without)


def _share(sums: np.ndarray) -> np.ndarray:
    """One less mean squared error over variance, from sums of 1, y, yy and squared errors in rows; 0 to 1."""
    total, of_judgment, squares, errors = sums
    with np.errstate(invalid="ignore", divide="ignore"):
        share: np.ndarray = np.clip(1.0 - errors / (squares - of_judgment**2 / total), 0.0, 1.0)
    return share


def explained(context: ScoringContext, used: np.ndarray, correlation: BootstrapStatistic) -> Explained:
    """The share explained by a system with this correlation with the judgments of these pairs."""
    ceiling = reachable(context, used)
    estimate = context.estimate(correlation)
    share = estimate
    if estimate.value is not None:
        share = Estimate(_square(estimate.value), _square(estimate.low), _square(estimate.high), estimate.reason)
    if not np.isfinite(correlation.value) or not np.isfinite(ceiling.value) or ceiling.value < LEAST:
        reason = correlation.reason or ceiling.reason or "next to nothing is reachable"
        return Explained(share, context.estimate(ceiling), Estimate.missing(reason))
    raters = None
    if correlation.raters is not None and ceiling.raters is not None:
        drawn = _ratio(correlation.raters.drawn, ceiling.raters.drawn)
        both = _ratio(correlation.raters.both, ceiling.raters.both)
        raters = RaterReplicates(drawn, both, ceiling.raters.queries, ceiling.raters.raters)
    value = float(_ratio(np.array(correlation.value), np.array(ceiling.value)))
    replicates = _ratio(correlation.replicates, ceiling.replicates)
    left_out = None
    if correlation.left_out is not None and ceiling.left_out is not None:
        left_out = _ratio(correlation.left_out, ceiling.left_out)
    of_reachable = context.estimate(
        replace(ceiling, value=value, replicates=replicates, raters=raters, left_out=left_out)
    )
    if of_reachable.low is not None and of_reachable.low > 1:
        of_reachable = Estimate(value, reason=TOO_LARGE)
    if share.low == 0.0 and of_reachable.low is not None:
        of_reachable = Estimate(of_reachable.value, 0.0, of_reachable.high, of_reachable.reason)
    return Explained(share, context.estimate(ceiling), of_reachable)


def _ratio(correlation: np.ndarray, ceiling: np.ndarray) -> np.ndarray:
    ratio: np.ndarray = np.maximum(correlation, 0.0) ** 2 / np.maximum(ceiling, LEAST)
    return ratio


def _square(end: float | None) -> float | None:
    return None if end is None else max(end, 0.0) ** 2
