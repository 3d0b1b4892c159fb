"""One line per rater: the paper's calibration (Shirahatti and Barnard, Eq. 2.1) and its plain relatives.

A rater's line puts a rating h on the panel's scale: c = offset + slope h. The moments are those of the base block;
where a rater skipped base pairs, they are compared with the panel's moments on the pairs that this rater did rate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from relstudy.calibration.panel import Panel
from relstudy.common.options.option_wording import option
from relstudy.common.runtime.errors import RelstudyError


@dataclass(frozen=True)
class Lines:
    """A line for each of R raters, and what it rests on.

    Parameters
    ----------
    method : the method's name
    slope, offset : float arrays (R); calibrated = offset + slope * rating
    spread_weight : how much of a rater's spread is taken out, 0 (only the offset) to 1 (all of it)
    offset_variance : of what is left of each rater's offset, float array (R), in squared ratings; None: not known
    rater_variance : of each rater's ratings, by which the method itself weighs them, float array (R), in squared
        ratings; None: the method knows none
    """

    method: str
    slope: np.ndarray
    offset: np.ndarray
    spread_weight: float = 1.0
    offset_variance: np.ndarray | None = None
    rater_variance: np.ndarray | None = None

    def calibrated(self, panel: Panel) -> np.ndarray:
        """The panel's ratings on the common scale, float array (N); undecided stays NaN."""
        return self.offset[panel.rater] + self.slope[panel.rater] * panel.rating

    def lines(self, panel: Panel) -> Lines:
        """These lines themselves, whatever the panel."""
        return self


@dataclass(frozen=True)
class BaseMoments:
    """Each rater's moments over the base block, and the panel's over the same pairs; float arrays (R).

    Population moments (divided by n, not n - 1), so that a calibrated rater's equal the panel's exactly.
    NaN for a rater without a base rating.
    """

    n: np.ndarray
    mean: np.ndarray
    spread: np.ndarray
    panel_mean: np.ndarray
    panel_spread: np.ndarray


def base_moments(panel: Panel) -> BaseMoments:
    """Moments over the base block, Eq. 2.1.

    Raises
    ------
    RelstudyError
        when no base pair has a rating
    """
    block = in_base(panel)
    y = block.rating
    items = np.maximum(block.by_pair(), 1)
    item_mean, item_square = block.by_pair(y) / items, block.by_pair(y * y) / items
    n = block.by_rater()
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = block.by_rater(y) / n
        centred = y - mean[block.rater]
        spread = np.sqrt(block.by_rater(centred * centred) / n)
        panel_mean = block.by_rater(item_mean[block.pair]) / n
        square = block.by_rater(item_square[block.pair]) / n
        panel_spread = np.sqrt(np.maximum(square - panel_mean**2, 0))
    return BaseMoments(n, mean, _exact_zero(spread), panel_mean, panel_spread)


def in_base(panel: Panel) -> Panel:
    """The decided base ratings alone."""
    decided = panel.decided()
    block = decided.keep(decided.base[decided.pair])
    if not len(block.rating):
        raise RelstudyError(
            "there is no base block: no pair was rated by every rater and no column marks one; name it with "
            f"{option('base_column')}, or calibrate on all ratings with {option('method', 'pooled')} "
            f"{option('handed_out', 'random')}"
        )
    return block


def none(panel: Panel) -> Lines:
    """Leave the ratings as they are."""
    return Lines("none", np.ones(panel.n_raters), np.zeros(panel.n_raters), 0.0)


def mean(panel: Panel) -> Lines:
    """Move each rater's base mean to the panel's; slope 1.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"rater_id": list("aabb"), "pair_id": list("pqpq"), "rating": [1, 3, 3, 5]})
    >>> mean(Panel.from_frame(frame)).offset.tolist()
    [1.0, -1.0]
    """
    moments = base_moments(panel)
    offset = np.where(moments.n > 0, moments.panel_mean - moments.mean, 0.0)
    return Lines("mean", np.ones(panel.n_raters), offset, 0.0)


def zscore(panel: Panel) -> Lines:
    """The paper's line, Eq. 2.1: base mean and spread become the panel's.

    A rater with fewer than two base ratings, or with the same rating throughout, keeps slope 1 (offset only).

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"rater_id": list("aabb"), "pair_id": list("pqpq"), "rating": [2, 4, 1, 5]})
    >>> lines = zscore(Panel.from_frame(frame))
    >>> lines.calibrated(Panel.from_frame(frame)).round(3).tolist()
    [1.419, 4.581, 1.419, 4.581]
    """
    moments = base_moments(panel)
    usable = moments.spread > 0
    slope = np.where(usable, moments.panel_spread / np.where(usable, moments.spread, 1.0), 1.0)
    offset = np.where(moments.n > 0, moments.panel_mean - slope * moments.mean, 0.0)
    return Lines("zscore", slope, offset)


def _exact_zero(spread: np.ndarray) -> np.ndarray:
    """Standard deviations, with those that are rounding error (of a rater who always gives one value) set to 0."""
    return np.where(spread < 1e-9, 0.0, spread)
