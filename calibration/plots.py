"""The pictures of a calibration, as SVG text: figures 5.1 and 5.2 of the paper, and each rater's line."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy import special

from relstudy.calibration.reliability.within_pair_variance import pair_variances
from relstudy.common.charts.figures import GRID, INK, MUTED, SERIES, drawing, svg
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR

if TYPE_CHECKING:
    from relstudy.calibration.panel import Panel
    from relstudy.calibration.pipeline import Calibration
    from relstudy.calibration.preferences import PreferenceStudy

MOST_POINTS = 2000
MOST_ROWS = 40
"""Results in the picture of preferences: the best ones, so that each name can be read."""


def pictures(result: Calibration) -> dict[str, Callable[[], str]]:
    """The pictures that a single study's calibration has, by file name."""
    return {
        "variance-by-mean": lambda: variance_by_mean(result, alone=True),
        "rater-lines": lambda: rater_lines(result, alone=True),
        "raters": lambda: rater_agreement(result, alone=True),
    }


def variance_by_mean(result: Calibration, *, alone: bool = False) -> str:
    """Figure 5.1: variance among raters against the mean rating, a point a pair, before and after calibration.

    The line is the mean over bins of pairs; people agree at the ends of a scale and differ in its middle.
    """
    return variance_before_and_after(result.panel, result.panel.with_rating(result.calibrated), alone=alone)


def variance_before_and_after(rated: Panel, calibrated: Panel, *, alone: bool = False) -> str:
    """`variance_by_mean` of a panel's ratings as they were given and calibrated."""
    with drawing(6.4, 3.2) as figure:
        axes = figure.subplots(1, 2, sharey=True)
        shown = (("as rated", rated, SERIES[1]), ("calibrated", calibrated, SERIES[0]))
        for ax, (title, part, colour) in zip(axes, shown, strict=True):
            variance = pair_variances(part)
            decided = part.decided()
            mean = decided.pair_means(decided.rating)
            used = np.isfinite(variance)
            x, y = mean[used], variance[used]
            some = np.random.default_rng(0).permutation(len(x))[:MOST_POINTS]
            ax.plot(x[some], y[some], "o", color=colour, markersize=2.5, alpha=0.35, markeredgewidth=0)
            centres, averages = _binned(x, y)
            ax.plot(centres, averages, color=INK)
            ax.set_title(f"{title}: mean variance {y.mean():.3f}" if len(y) else f"{title}: no pair has two ratings")
            ax.set_xlabel("mean rating of the pair")
        axes[0].set_ylabel("variance among raters")
        return svg(figure, "Variance among raters against the mean rating of each pair, before and after", alone=alone)


def rater_lines(result: Calibration, *, alone: bool = False) -> str:
    """Each rater's line from rating to calibrated value; the diagonal changes nothing."""
    low, high = result.panel.low, result.panel.high
    slope, offset = result.lines.slope, result.lines.offset
    some = np.random.default_rng(0).permutation(len(slope))[:300]
    with drawing(4.2, 3.8) as figure:
        ax = figure.subplots()
        x = np.array([low, high])
        for index in some:
            ax.plot(x, offset[index] + slope[index] * x, color=SERIES[0], alpha=max(0.12, min(0.8, 8 / len(some))))
        ax.plot(x, x, color=INK, linestyle="--", linewidth=1.2)
        ax.set_xlabel("rating as given")
        ax.set_ylabel("calibrated")
        ax.set_title(f"{len(some)} raters, method {result.choice.method}")
        return svg(figure, "Each rater's line from rating to calibrated value", alone=alone)


def rater_agreement(result: Calibration, *, alone: bool = False) -> str:
    """Raters by leniency and by agreement with the others; flagged ones are named."""
    raters = result.raters
    with_agreement = raters[np.isfinite(raters["agreement"].to_numpy(dtype=float))]
    with drawing(6.4, 3.6) as figure:
        ax = figure.subplots()
        flagged = (with_agreement["flags"] != "").to_numpy()
        x, y = with_agreement["mean"].to_numpy(dtype=float), with_agreement["agreement"].to_numpy(dtype=float)
        ax.plot(x[~flagged], y[~flagged], "o", color=SERIES[0], markersize=5, alpha=0.8, markeredgewidth=0)
        ax.plot(x[flagged], y[flagged], "X", color=SERIES[1], markersize=7, markeredgewidth=0)
        names = zip(with_agreement["rater_id"].astype("str")[flagged], x[flagged], y[flagged], strict=True)
        for name, left, up in list(names)[:12]:
            ax.annotate(name, (left, up), xytext=(5, 4), textcoords="offset points", fontsize=8, color=MUTED)
        ax.axhline(0, color=GRID, linewidth=1)
        ax.set_xlabel("mean rating on the base block (lenient to the right)")
        ax.set_ylabel("agreement with the others")
        ax.set_title("Each rater; crosses have a flag in raters.csv" if flagged.any() else "Each rater")
        return svg(figure, "Raters by mean rating and by agreement with the others", alone=alone)


def binary_against_graded(binary: pd.DataFrame, graded: pd.DataFrame, *, alone: bool = False) -> str:
    """Figure 5.2: the fraction of good matches on the binary scale, by what the graded scale said of the same pair.

    Scheme 1 takes each graded rating for itself, scheme 2 the mean of a pair's graded ratings, to the nearest value
    that was given; the source names two schemes and does not say what they are.

    Parameters
    ----------
    binary, graded : query_id, result_id, rating (NaN = undecided); binary ratings 0 or 1
    """
    schemes = {
        "scheme 1: each rating": matching_fractions(binary, graded),
        "scheme 2: the pair's mean": matching_fractions(binary, means_by_pair(graded)),
    }
    if any(fractions.empty for fractions in schemes.values()):
        raise RelstudyError("no pair has a rating on both scales, so they cannot be compared")
    with drawing(5.2, 3.4) as figure:
        ax = figure.subplots()
        values = np.unique(np.concatenate([fractions["rating"] for fractions in schemes.values()]))
        width = 0.4 * float(np.min(np.diff(values), initial=1.0))
        for side, (label, fractions), colour in zip((-0.5, 0.5), schemes.items(), SERIES, strict=False):
            x = fractions["rating"].to_numpy(dtype=float) + side * width
            y, low, high = (fractions[name].to_numpy() for name in ("fraction", "low", "high"))
            ax.bar(x, y, width=width, color=colour, label=label)
            ax.errorbar(x, y, yerr=[y - low, high - y], fmt="none", ecolor=INK, elinewidth=1, capsize=2)
        ax.set_ylim(0, 1)
        ax.set_xticks(values)
        ax.set_xlabel("rating on the graded scale")
        ax.set_ylabel("good match on the binary scale")
        ax.legend(loc="upper left")
        return svg(figure, "Fraction of good matches on the binary scale by graded rating", alone=alone)


def means_by_pair(graded: pd.DataFrame) -> pd.DataFrame:
    """One rating per pair: the mean of its ratings, moved to the nearest value that was given, halves upwards.

    Examples
    --------
    >>> means_by_pair(pd.DataFrame({"query_id": "q", "result_id": "a", "rating": [1.0, 9.0, 5.0, 5.0]}))
      query_id result_id  rating
    0        q         a     5.0
    """
    means = graded.dropna(subset="rating").groupby(PAIR, as_index=False)["rating"].mean()
    values = np.unique(graded["rating"].dropna())
    nearest = np.searchsorted((values[1:] + values[:-1]) / 2, means["rating"], side="right")
    return means.assign(rating=values[nearest])


def matching_fractions(binary: pd.DataFrame, graded: pd.DataFrame) -> pd.DataFrame:
    """For each graded rating, the mean binary answer to the pairs that got it (figure 5.2).

    Each graded rating is met with the mean binary rating of its pair.

    Returns
    -------
    DataFrame: rating, n, fraction, low, high (95 % Wilson interval)

    Examples
    --------
    >>> graded = pd.DataFrame({"query_id": ["q", "q"], "result_id": ["a", "b"], "rating": [9.0, 1.0]})
    >>> matching_fractions(graded.assign(rating=[1.0, 0.0]), graded)[["rating", "fraction"]].values.tolist()
    [[1.0, 0.0], [9.0, 1.0]]
    """
    answers = binary.dropna(subset="rating").groupby(PAIR)["rating"].mean().rename("answer").reset_index()
    joined = graded.dropna(subset="rating").merge(answers, on=PAIR)
    groups = joined.groupby("rating")["answer"].agg(["size", "mean"]).reset_index()
    groups.columns = pd.Index(["rating", "n", "fraction"])
    n, p, z = groups["n"], groups["fraction"], 1.96
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    groups["low"] = np.clip(np.minimum(centre - half, p), 0, 1)
    groups["high"] = np.clip(np.maximum(centre + half, p), 0, 1)
    return groups


def _binned(x: np.ndarray, y: np.ndarray, bins: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """Means of y over bins of x that hold about equally many points."""
    order = np.argsort(x, kind="stable")
    parts = [part for part in np.array_split(order, bins) if len(part)]
    return np.array([x[part].mean() for part in parts]), np.array([y[part].mean() for part in parts])


def preferences_picture(study: PreferenceStudy) -> str:
    """A dot for each couple of systems, or for each of the best results, with its 95 % interval; SVG text.

    A result's interval is that of its log odds, so that it stays between 0 and 1.
    """
    if len(study.systems):
        rows = study.systems
        names = [f"{one} over {other}" for one, other in zip(rows["system"], rows["other"], strict=True)]
        value, low, high = (rows[f"preferred{end}"].to_numpy(dtype=float) for end in ("", "_low", "_high"))
        label, title = "share that prefers the first", "How often one system's lists are preferred"
    else:
        rows = study.judgments.frame.nlargest(MOST_ROWS, "judgment")
        names = [f"{result} ({query})" for query, result in zip(rows["query_id"], rows["result_id"], strict=True)]
        value = rows["judgment"].to_numpy(dtype=float)
        middle, error = (rows[name].to_numpy(dtype=float) for name in ("log_odds", "log_odds_error"))
        reach = special.ndtri(0.975) * error
        low, high = special.expit(middle - reach), special.expit(middle + reach)
        label, title = "chance to be preferred to an average result of the query", "Results that people prefer"
    with drawing(6.0, 0.9 + 0.26 * len(rows)) as figure:
        axes = figure.subplots()
        heights = np.arange(len(rows))[::-1]
        axes.axvline(0.5, color=MUTED, linewidth=0.8, linestyle="--")
        axes.hlines(heights, low, high, color=SERIES[0], linewidth=1.6)
        axes.plot(value, heights, "o", color=SERIES[0], markersize=4)
        axes.set_yticks(heights, names)
        axes.set(xlabel=label, xlim=(-0.02, 1.02), ylim=(-0.6, len(rows) - 0.4))
        return svg(figure, title)
