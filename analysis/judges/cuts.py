"""The scores at which shares of a collection are retrieved, known or as a sample tells them.

Where a sample tells them, they differ between replicates, and what is retrieved differs with them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from relstudy.analysis.indices.precision_recall import SHARES, Retrieval, thresholds_at
from relstudy.analysis.resampling.bootstrap import chunks

CELLS = 4_000_000
"""Pairs times replicates that are in memory at once: 32 MB a table."""


@dataclass(frozen=True, eq=False)
class Cuts:
    """The score of the last pair retrieved at each share of SHARES.

    Parameters
    ----------
    scores : float [shares]; the last is minus infinity: all pairs, also judged ones that the judge was not given
    varying : float [shares - 1, replicates], those of each replicate; None where the scores are known
    """

    scores: np.ndarray
    varying: np.ndarray | None = None

    @classmethod
    def known(cls, ranking: np.ndarray, weight: np.ndarray) -> Cuts:
        """Of the whole collection, or of a sample so large that it counts as known."""
        scores = thresholds_at(ranking, weight, SHARES)
        scores[-1] = -np.inf
        return cls(scores)

    @classmethod
    def of_sample(cls, ranking: np.ndarray, weight: np.ndarray, row: np.ndarray, times: np.ndarray) -> Cuts:
        """As a sample tells them, in each replicate anew.

        Parameters
        ----------
        ranking, weight : float [pairs]
        row, times : each pair's row of `times` (`relstudy.analysis.resampling.draws`), and that

        Examples
        --------
        >>> ranking, row = np.array([4.0, 3.0, 2.0, 1.0]), np.array([0, 0, 1, 1])
        >>> cuts = Cuts.of_sample(ranking, np.ones(4), row, np.array([[1.0, 2.0], [1.0, 0.0]]))
        >>> at = SHARES.index(0.5)
        >>> cuts.scores[at].tolist(), cuts.varying[at].tolist()
        (3.0, [3.0, 4.0])
        """
        order = np.argsort(-ranking, kind="stable")
        ordered, of_row = ranking[order], row[order]
        shares = np.asarray(SHARES[:-1]) * (1 - 1e-12)
        varying = np.full((len(shares), times.shape[1]), np.nan)
        for part in _parts(len(order), times.shape[1]):
            seen = np.cumsum(weight[order] * times[:, part].T[:, of_row], axis=1)  # [replicates, pairs], rising
            for number, rising in enumerate(seen, part.start):
                if rising[-1] > 0:
                    varying[:, number] = ordered[np.searchsorted(rising, shares * rising[-1])]
        return cls(cls.known(ranking, weight).scores, varying)


def at_varying_cuts(
    pairs: Retrieval, ranking: np.ndarray, weight: np.ndarray, varying: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Precision and recall in each replicate at the cuts of that replicate, float64 [shares, replicates] each.

    Parameters
    ----------
    ranking, weight : float [pairs]
    varying : float [shares, replicates]; `pairs` may have one replicate, which then stands for all
    """
    order = np.argsort(-ranking, kind="stable")
    row, ordered = pairs.row[order], weight[order]
    retrieved = np.searchsorted(-ranking[order], -varying, side="right")  # pairs with a score of at least the cut
    retrieved[np.isnan(varying)] = 0
    precision, recall = np.empty((2, *varying.shape))
    for part in _parts(len(order), varying.shape[1]):
        times = pairs.times if pairs.times.shape[1] == 1 else pairs.times[:, part]
        seen, hits = (_cumulative(each, row, times) for each in (ordered, ordered * pairs.relevant[order]))
        at = retrieved[:, part]
        many, found = (
            np.take_along_axis(np.broadcast_to(each, (len(each), at.shape[1])), at, 0) for each in (seen, hits)
        )
        with np.errstate(invalid="ignore", divide="ignore"):
            precision[:, part], recall[:, part] = found / many, found / hits[-1]
    return precision, recall


def _parts(pairs: int, replicates: int) -> list[slice]:
    return chunks(replicates, max(1, CELLS // max(pairs, 1)))


def _cumulative(weight: np.ndarray, row: np.ndarray, times: np.ndarray) -> np.ndarray:
    """What the first k pairs weigh, float64 [pairs + 1, replicates]."""
    sums = np.cumsum(weight[:, None] * times[row], axis=0)
    return np.concatenate([np.zeros((1, times.shape[1])), sums])
