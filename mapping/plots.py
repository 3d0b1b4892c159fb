"""Pictures of a mapping: pairs with curve and band, adaptive bins, posterior of the change points."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from relstudy.common.charts.figures import MUTED, SERIES, drawing, svg
from relstudy.mapping.fitted import FittedMapping, draw_curve
from relstudy.mapping.tied_scores import into_bins, pool

MOST_POINTS = 2000


def mapping_figure(
    mapping: FittedMapping, scores: ArrayLike, judgments: ArrayLike, *, seed: int = 0, alone: bool = False
) -> str:
    """Pairs, the mapping, and its band where it has one (Shirahatti and Barnard 2005, figures 4.2-4.5), as SVG.

    Parameters
    ----------
    scores, judgments : shape (n,); beyond 2,000 pairs a random part is drawn
    """
    x, y, drawn = _sampled(scores, judgments, seed)
    with drawing() as figure:
        axes = figure.add_subplot()
        axes.plot(x, y + _jitter(y, seed), ".", color=MUTED, alpha=0.35, markersize=4, markeredgewidth=0, zorder=1)
        reach = np.unique(np.concatenate([np.linspace(x.min(), x.max(), 400), mapping.knots]))
        draw_curve(axes, mapping, reach)
        axes.legend(loc="best")
        part = f"{len(x)} of {drawn} pairs" if len(x) < drawn else f"{drawn} pairs"
        axes.set_title(f"{part}, and where the mapping puts each score")
        return svg(
            figure, f"Judgments against scores of {mapping.system or 'one system'} with the mapping", alone=alone
        )


def adaptive_bins(
    mapped: ArrayLike, judgments: ArrayLike, bins: int = 20, at: Literal["mean", "centre"] = "mean"
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean judgment in bins of equal counts of mapped scores (Shirahatti and Barnard 2005, section 4.4.1).

    Parameters
    ----------
    at : where a bin stands: at the mean of its mapped scores, or at the centre of its range, as the source has it

    Returns
    -------
    places of the bins, mean judgments, and their standard errors (NaN in a bin of one pair), each of shape (b,), b at
    most `bins`; equal mapped scores share a bin, so there may be fewer

    Examples
    --------
    >>> centres, means, _ = adaptive_bins([1, 2, 3, 4], [1, 1, 5, 3], bins=2)
    >>> centres.tolist(), means.tolist()
    ([1.5, 3.5], [1.0, 4.0])
    >>> adaptive_bins([1, 1, 4, 8, 9], [1, 1, 5, 3, 3], bins=2, at="centre")[0].tolist()
    [1.0, 6.5]
    """
    pooled = pool(mapped, judgments)
    binned = into_bins(pooled, bins)
    with np.errstate(invalid="ignore", divide="ignore"):
        error = np.sqrt(binned.within / (binned.weights - 1) / binned.weights)
    places = binned.scores
    if at == "centre":
        # counts are whole numbers, so the sums are exact
        last = np.searchsorted(np.cumsum(pooled.weights), np.cumsum(binned.weights))
        first = np.r_[0, last[:-1] + 1]
        places = (pooled.scores[first] + pooled.scores[last]) / 2
    return places, binned.means, np.where(binned.weights > 1, error, np.nan)


def bins_figure(
    mapped: ArrayLike,
    judgments: ArrayLike,
    *,
    bins: int = 20,
    at: Literal["mean", "centre"] = "mean",
    system: str = "",
    alone: bool = False,
) -> str:
    """Mean judgment against mapped score in bins of equal counts (figure 4.7), as SVG; pass out-of-fold scores."""
    centres, means, error = adaptive_bins(mapped, judgments, bins, at)
    with drawing(3.6, 3.0) as figure:
        axes = figure.add_subplot()
        ends = [float(min(centres.min(), means.min())), float(max(centres.max(), means.max()))]
        axes.plot(ends, ends, color=MUTED, linewidth=1, linestyle="--", label="perfect agreement")
        has_error = np.isfinite(error)
        axes.errorbar(
            centres[has_error],
            means[has_error],
            yerr=1.96 * error[has_error],
            fmt="o",
            color=SERIES[0],
            markersize=4.5,
            elinewidth=1.2,
            label="mean of a bin, 95 %",
        )
        axes.plot(centres[~has_error], means[~has_error], "o", color=SERIES[0], markersize=4.5, fillstyle="none")
        axes.set_xlabel(f"mapped score{f' of {system}' if system else ''}")
        axes.set_ylabel("mean judgment")
        axes.set_title(f"{len(centres)} bins of about equal counts")
        axes.legend(loc="upper left")
        return svg(figure, f"Mean judgment against mapped score{f' of {system}' if system else ''}", alone=alone)


def _sampled(scores: ArrayLike, judgments: ArrayLike, seed: int) -> tuple[np.ndarray, np.ndarray, int]:
    x, y = np.asarray(scores, dtype=float), np.asarray(judgments, dtype=float)
    if len(x) <= MOST_POINTS:
        return x, y, len(x)
    part = np.random.default_rng(seed).choice(len(x), MOST_POINTS, replace=False)
    return x[part], y[part], len(x)


def _jitter(y: np.ndarray, seed: int) -> np.ndarray:
    """A little vertical noise where judgments have few values, so that points do not hide each other."""
    values = np.unique(y)
    if len(values) < 2 or len(values) > 30:
        return np.zeros(len(y))
    return np.random.default_rng(seed).uniform(-0.15, 0.15, len(y)) * float(np.diff(values).min())
