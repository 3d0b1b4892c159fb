"""Judgments of a pool, and an estimate of what it misses from the few judged pairs outside it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from relstudy.common.results.estimates import Estimate
from relstudy.common.runtime.wording import count_of, percent, span
from relstudy.common.tables.meaning.pairs_table import OUTSIDE


@dataclass(frozen=True)
class PoolMisses:
    """Estimate of what lies outside the pool.

    Parameters
    ----------
    judged, relevant : pairs from outside that are judged, and how many of them are relevant
    share : estimated share of all relevant pairs that lie outside, with its 95 % interval
    """

    judged: int
    relevant: int
    share: Estimate

    def sentence(self) -> str:
        """The number judged outside the pool and the share of the relevant pairs that lies there, as a sentence."""
        share = self.share
        if share.value is None or share.low is None or share.high is None:
            missed = f"what share of the relevant ones the pool misses cannot be estimated: {share.reason}"
        else:
            missed = (
                f"the pool misses an estimated {percent(share.value)} of the relevant ones "
                f"({span(share.low, share.high, '%')})"
            )
        judged = count_of(self.judged, "pair from outside it is", "pairs from outside it are")
        return (
            f"figures speak of the pool; {judged} judged and left out of them, "
            f"{self.relevant} of them relevant, so {missed}"
        )


def inside_pool(frame: pd.DataFrame, cut: float) -> tuple[pd.DataFrame, PoolMisses | None]:
    """The judgments of pairs in the pool, and an estimate by the others; the frame as it is if there are none.

    Parameters
    ----------
    frame : query_id, judgment, inclusion_probability and perhaps pool, "outside" for pairs from outside the pool
    cut : a pair is relevant where its judgment is above it
    """
    if "pool" not in frame:
        return frame, None
    outside = (frame["pool"] == OUTSIDE).to_numpy()
    if not outside.any():
        return frame, None
    return frame[~outside].reset_index(drop=True), pool_misses(frame, outside, cut)


def pool_misses(frame: pd.DataFrame, outside: np.ndarray, cut: float) -> PoolMisses:
    """Share of the relevant pairs that lies outside the pool.

    Parameters
    ----------
    frame : query_id, judgment, inclusion_probability
    outside : which rows are from outside, bool

    Notes
    -----
    With t_in and t_out the sums of 1 / probability over the relevant pairs, the share is t_out / (t_in + t_out). Few
    pairs from outside are relevant, often none, so the share of relevant ones among them takes Clopper and Pearson's
    interval for Kish's effective number; t_in takes Student's t over queries on the log scale. The ends of the two,
    each at 97.5 %, are put together (Bonferroni), so that the interval covers at least 95 %.
    """
    from scipy import special

    relevant = frame["judgment"].to_numpy(dtype=float) > cut
    weight = 1 / frame["inclusion_probability"].to_numpy(dtype=float)
    judged, hits = int(outside.sum()), int((outside & relevant).sum())
    if not np.isfinite(weight).all():
        return PoolMisses(judged, hits, Estimate.missing("inclusion probabilities are not known"))
    inside = pd.Series(np.where(~outside & relevant, weight, 0.0)).groupby(frame["query_id"].to_numpy()).sum()
    total = float(inside.sum())
    if total == 0 or len(inside) < 2:
        return PoolMisses(judged, hits, Estimate.missing("no pair of the pool is relevant, or there is one query"))
    beyond = weight[outside]
    size = float(beyond.sum() ** 2 / (beyond**2).sum())
    proportion = float(beyond[relevant[outside]].sum() / beyond.sum())
    tail = 0.0125
    low = float(special.betaincinv(proportion * size, (1 - proportion) * size + 1, tail)) if hits else 0.0
    high = 1.0
    if hits < judged:
        high = float(special.betaincinv(proportion * size + 1, (1 - proportion) * size, 1 - tail))
    error = float(np.std(inside, ddof=1) * np.sqrt(len(inside))) / total
    factor = float(np.exp(special.stdtrit(len(inside) - 1, 1 - tail) * error))

    def share(part: float, of: float) -> float:
        return part * float(beyond.sum()) / (part * float(beyond.sum()) + of)

    return PoolMisses(
        judged,
        hits,
        Estimate.of(share(proportion, total), share(low, total * factor), share(high, total / factor)),
    )
