"""The default method beside each plain one on panels of real ratings: leave-one-out correlation and its differences.

    python evidence/calibration_default.py [FILE ...] [--base-column NAME] [--data ../shared/data]
    python evidence/calibration_default.py --draws 2 --against p910 p913 rasch dawid-skene glad mace

The first compares with the plain methods, mean, zscore and shrunk; the second with models of raters.

Without files, those of DATA that this project did not make (docs/how-to/public-human-data.md). Figures are means over
five draws of the folds (`--draws`). Differences are the default's less the other's on the same folds, with the
standard error for raters and pairs like these (for pairs alone if there are two raters); the last column says
whether the default lies under the best of the others by more than that. A second table has the same of the order of
judgments: Spearman's correlation of those by half of the raters with the other half's mean ratings, as given, for
these raters. Below each stands the comparison that is worst for the default, and how likely one so bad is by chance
among so many.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path

import numpy as np
from scipy.special import ndtr

from relstudy.calibration.methods import METHODS
from relstudy.calibration.panel import Panel
from relstudy.calibration.pipeline import calibrate
from relstudy.calibration.reliability.two_way_intervals import Figure
from relstudy.calibration.reliability.within_pair_variance import out_of_sample, scored_rows
from relstudy.calibration.tables.ratings import Ratings, read_ratings
from relstudy.common.results.estimates import Estimate
from relstudy.common.runtime.errors import RelstudyError

ROOT = Path(__file__).resolve().parent.parent
PANELS = (
    ("video quality, 99 people", "agh_video_99raters/ratings.csv", "in_common_set"),
    ("text to image, 5 people", "tifa160_likert/ratings.csv", None),
    ("products, 3 people", "chorus_3agents/ratings.csv", None),
    ("video quality, 26 people", "video_mos/nflx_public_ratings.csv", None),
    ("video quality, 24 people", "video_mos/vqeghd3_ratings.csv", None),
    ("climate reports, 2 people", "diras_chatreport/ratings.csv", None),
    ("shop search, 13 people", "haystack_rating_party/ratings.csv", None),
    ("pictures made and edited, 3 people a task", "viescore_judges/ratings.csv", None),
)
PLAIN = ("mean", "zscore", "shrunk")


@dataclass(frozen=True)
class Against:
    """The default's leave-one-out correlation against that of one other method.

    Parameters
    ----------
    method : the other
    value : its leave-one-out correlation
    difference : default less other
    error : its standard error
    order, order_difference, order_error : the same of the order of judgments by half of the raters
    """

    method: str
    value: float
    difference: float
    error: float
    order: float = float("nan")
    order_difference: float = float("nan")
    order_error: float = float("nan")


def against(ratings: Ratings, others: Sequence[str], draws: int = 5) -> tuple[Against, list[Against]] | str:
    """The default method and its figures, and the others'; the reason if there is none.

    A method that cannot be used on these ratings has no figure, NaN.
    """
    panel = Panel.from_frame(ratings.frame, ratings.scale.scale.low, ratings.scale.scale.high)
    chosen = calibrate(ratings).choice.method
    scored = scored_rows(panel)
    part = panel.keep(scored.rows)
    figures: dict[str, Figure] = {}
    orders: dict[str, Figure] = {}
    for method in dict.fromkeys((chosen, *others)):
        drawn, ordered = [], []
        for seed in range(draws):
            try:
                figure, order = out_of_sample(panel, method, scored, seed=seed)
            except RelstudyError as error:
                if "base block" in str(error):
                    return f"{chosen}: {str(error).split(':')[0]}"
                break
            if isinstance(figure, Estimate):
                return figure.reason or ""
            drawn.append(figure.times(1 / draws))
            if isinstance(order, Figure):
                ordered.append(order.times(1 / draws))
        if len(drawn) == draws:
            figures[method] = reduce(Figure.plus, drawn)
        if len(ordered) == draws:
            orders[method] = reduce(Figure.plus, ordered)
    rows = []
    for method in others:
        if method not in figures:
            rows.append(Against(method, float("nan"), float("nan"), float("nan")))
            continue
        difference = figures[chosen].plus(figures[method], -1.0)
        row = Against(method, figures[method].value, difference.value, difference.standard_error(part))
        if method in orders and chosen in orders:
            less = orders[chosen].plus(orders[method], -1.0)
            error = float(np.sqrt(less.by_pair @ less.by_pair))
            row = replace(row, order=orders[method].value, order_difference=less.value, order_error=error)
        rows.append(row)
    order = orders[chosen].value if chosen in orders else float("nan")
    return Against(chosen, figures[chosen].value, 0.0, 0.0, order, 0.0, 0.0), rows


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--base-column")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--against", nargs="+", choices=list(METHODS), default=list(PLAIN))
    given = parser.parse_args(arguments)
    panels = [(str(path), path, given.base_column) for path in given.files]
    panels = panels or [(title, given.data / file, column) for title, file, column in PANELS]
    head = "| panel | default | value | " + " | ".join(f"less {name}" for name in given.against)
    head += " | under the best |\n" + "|---" * (4 + len(given.against)) + "|"
    print(head)
    kept: list[tuple[str, Against, list[Against]]] = []
    for name, path, column in panels:
        found = against(read_ratings(path, base_column=column), given.against, given.draws)
        if isinstance(found, str):
            print(f"| {name} | {found} |" + " |" * (2 + len(given.against)))
            continue
        kept.append((name, *found))
        print(line(*kept[-1]), flush=True)
    print(f"\n{worst((row.difference, row.error) for _, _, rows in kept for row in rows)}\n")
    print(f"Order of judgments by half of the raters:\n\n{head}")
    by_order = [(name, in_order(chosen), list(map(in_order, rows))) for name, chosen, rows in kept]
    for each in by_order:
        print(line(*each))
    print(f"\n{worst((row.difference, row.error) for _, _, rows in by_order for row in rows)}")


def in_order(row: Against) -> Against:
    return replace(row, value=row.order, difference=row.order_difference, error=row.order_error)


def line(name: str, chosen: Against, rows: Sequence[Against]) -> str:
    cells = ["–" if row.value != row.value else f"{row.difference:+.4f} ± {row.error:.4f}" for row in rows]
    return f"| {name} | {chosen.method} | {chosen.value:.4f} | {' | '.join(cells)} | {verdict(rows)} |"


def worst(compared: Iterable[tuple[float, float]]) -> str:
    """The comparison in which the default is most errors below, and Bonferroni's p of that among all."""
    steps = [difference / error for difference, error in compared if error > 0]
    p = 2 * float(ndtr(-abs(min(steps))))
    return (
        f"The default is at most {max(-min(steps), 0.0):.1f} standard errors under another, in {len(steps)} comparisons"
        f": p {p:.2g} by itself, {min(p * len(steps), 1):.2g} among all (Bonferroni, two-sided)."
    )


def verdict(rows: Sequence[Against]) -> str:
    """Whether the default lies under the best of the others by more than the standard error of that difference."""
    known = [row for row in rows if row.value == row.value]
    if not known:
        return "–"
    best = max(known, key=lambda row: row.value)
    if best.difference >= 0:
        return "no"
    return "yes" if -best.difference > best.error else "by less than its error"


if __name__ == "__main__":
    main()
