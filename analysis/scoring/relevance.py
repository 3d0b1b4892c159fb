"""The meaning of "relevant" in a scoring run: a share of people, or a judgment above a cut."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from relstudy.analysis.scoring.judged_pairs import JudgedPairs
from relstudy.common.options.option_wording import option
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import percent

MUCH_AT_THE_CUT = 0.05
NEAR = 0.1
"""Steps from the cut within which a value is near it."""


class RelevanceRule(StrEnum):
    """Rules of relevance."""

    SHARE = "share"
    MEAN = "mean"


@dataclass(frozen=True, eq=False)
class Relevance:
    """The relevance of each judged pair.

    Parameters
    ----------
    rule : the share of a pair's ratings above the cut, or whether its judgment is above it
    cut : on the judgments' scale
    values : float64 [pairs], 0 to 1
    reason : why it is not the share, as a phrase, where nobody asked for the mean; else ""
    at_the_cut : share of the values that were cut which lie within a tenth of a step of the cut; NaN where unknown
    """

    rule: RelevanceRule
    cut: float
    values: np.ndarray
    reason: str = ""
    at_the_cut: float = float("nan")

    @property
    def total(self) -> float:
        """The number of relevant pairs: the sum over pairs, whole where each is relevant or not."""
        return float(self.values.sum())

    def sentence(self) -> str:
        """The meaning of "relevant", as a phrase.

        Examples
        --------
        >>> Relevance(RelevanceRule.MEAN, 3.5, np.array([1.0])).sentence()
        'judgment > 3.5'
        """
        if self.rule is RelevanceRule.SHARE:
            return (
                f"share of a pair's ratings above {self.cut:g}: what 7 of 10 people would call a good match counts 0.7"
            )
        return f"judgment > {self.cut:g}" + (f", since {self.reason}" if self.reason else "")

    def cut_note(self) -> str | None:
        """A note where much lies at the cut, as a sentence; None where little does."""
        if not self.at_the_cut > MUCH_AT_THE_CUT:
            return None
        what = "calibrated ratings" if self.rule is RelevanceRule.SHARE else "judgments"
        return (
            f"{percent(self.at_the_cut)} of the {what} lie within a tenth of a step of the cut {self.cut:g}, so what "
            "counts as relevant hangs on very little; a cut between two steps of the scale does not."
        )


def relevance_of(pairs: JudgedPairs, asked: str = "auto", threshold: float | None = None) -> Relevance:
    """The relevance of each pair.

    Parameters
    ----------
    asked : "share", "mean", or "auto": the share where the ratings tell it, else the mean
    threshold : the cut; None takes that of the judgments' scale

    Raises
    ------
    RelstudyError
        where the share is asked for and not known
    """
    cut = pairs.cut(threshold)
    reason = ""
    if asked != RelevanceRule.MEAN:
        share, reason = _share(pairs, cut)
        if share is not None:
            at_the_cut = float("nan") if pairs.ratings is None else _near(pairs, pairs.ratings.calibrated, cut)
            return Relevance(RelevanceRule.SHARE, cut, share, at_the_cut=at_the_cut)
        if asked == RelevanceRule.SHARE:
            raise RelstudyError(
                f"relevance cannot be the share of ratings: {reason} ({option('relevance', 'mean')} takes judgments)"
            )
    values = (pairs.judgment > cut).astype(np.float64)
    return Relevance(RelevanceRule.MEAN, cut, values, reason, _near(pairs, pairs.judgment, cut))


def _share(pairs: JudgedPairs, cut: float) -> tuple[np.ndarray | None, str]:
    """The share of each pair's ratings above a cut, or None and why it is not known."""
    share = pairs.relevant_share
    unknown = int(np.isnan(share).sum())
    if not unknown and cut == pairs.share_cut:
        return share, ""
    if pairs.ratings is not None:
        share = pairs.ratings.share_above(cut, len(pairs))
        unknown = int(np.isnan(share).sum())
        return (None, f"{unknown} of {len(pairs)} pairs have no rating") if unknown else (share, "")
    if unknown == len(pairs):
        what = "qrels hold grades and no ratings" if pairs.qrels else "the judgments come without shares or ratings"
        return None, what
    if unknown:
        return None, f"{unknown} of {len(pairs)} pairs have no relevant_share"
    return None, (
        f"the judgments' shares are of the cut {pairs.share_cut:g}, and another needs the ratings "
        "(calibrated.csv beside the judgments or a stated table of ratings gives them)"
    )


def _near(pairs: JudgedPairs, values: np.ndarray, cut: float) -> float:
    # a tenth of a step, and what rounding adds
    reach = NEAR * pairs.scale.scale.gain_step * (1 + 1e-9)
    return float(np.mean(np.abs(values - cut) <= reach))
