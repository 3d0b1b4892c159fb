"""The default method beside each plain one on panels of real ratings: leave-one-out correlation and its differences.

    python scripts/calibration_default.py [FILE ...] [--base-column NAME] [--data ../shared/data]
    python scripts/calibration_default.py --draws 2 --against p910 p913 rasch dawid-skene glad mace

The first compares with the plain methods, mean, zscore and shrunk; the second with models of raters.

Without files, those of DATA that this project did not make (docs/how-to/public-human-data.md). Figures are means over
five draws of the folds (`--draws`). Differences are the default's less the other's on the same folds, with the
standard error for raters and pairs like these (for pairs alone where there are two raters); the last column says
whether the default lies under the best of the others by more than that.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path

from relstudy.calibration.methods import METHODS
from relstudy.calibration.panel import Panel
from relstudy.calibration.pipeline import calibrate
from relstudy.calibration.ratings import Ratings, read_ratings
from relstudy.calibration.two_way import Figure
from relstudy.calibration.variance import leave_one_out_figure, scored_rows
from relstudy.common.errors import RelstudyError
from relstudy.common.estimates import Estimate

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
    """

    method: str
    value: float
    difference: float
    error: float


def against(ratings: Ratings, others: Sequence[str], draws: int = 5) -> tuple[str, float, list[Against]] | str:
    """The default method, its leave-one-out correlation, and the others'; the reason where there is none.

    A method that cannot be used on these ratings has no figure, NaN.
    """
    panel = Panel.from_frame(ratings.frame, ratings.scale.scale.low, ratings.scale.scale.high)
    chosen = calibrate(ratings).choice.method
    scored = scored_rows(panel)
    part = panel.keep(scored.rows)
    figures: dict[str, Figure] = {}
    for method in dict.fromkeys((chosen, *others)):
        drawn = []
        for seed in range(draws):
            try:
                figure = leave_one_out_figure(panel, method, scored, seed=seed)
            except RelstudyError as error:
                if "base block" in str(error):
                    return f"{chosen}: {str(error).split(':')[0]}"
                break
            if isinstance(figure, Estimate):
                return figure.reason or ""
            drawn.append(figure.times(1 / draws))
        if len(drawn) == draws:
            figures[method] = reduce(Figure.plus, drawn)
    rows = []
    for method in others:
        if method not in figures:
            rows.append(Against(method, float("nan"), float("nan"), float("nan")))
            continue
        difference = figures[chosen].plus(figures[method], -1.0)
        rows.append(Against(method, figures[method].value, difference.value, difference.standard_error(part)))
    return chosen, figures[chosen].value, rows


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
    print("| panel | default | value | " + " | ".join(f"less {name}" for name in given.against) + " | under the best |")
    print("|---" * (4 + len(given.against)) + "|")
    for name, path, column in panels:
        found = against(read_ratings(path, base_column=column), given.against, given.draws)
        if isinstance(found, str):
            print(f"| {name} | {found} |" + " |" * (2 + len(given.against)))
            continue
        chosen, value, rows = found
        cells = ["–" if row.value != row.value else f"{row.difference:+.4f} ± {row.error:.4f}" for row in rows]
        print(f"| {name} | {chosen} | {value:.4f} | {' | '.join(cells)} | {verdict(rows)} |", flush=True)


def verdict(rows: Sequence[Against]) -> str:
    """Whether the default lies under the best of the others by more than the standard error of that difference."""
    best = max((row for row in rows if row.value == row.value), key=lambda row: row.value)
    if best.difference >= 0:
        return "no"
    return "yes" if -best.difference > best.error else "by less than its error"


if __name__ == "__main__":
    main()
