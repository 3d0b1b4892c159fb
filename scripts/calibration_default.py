"""The default method beside each plain one on panels of real ratings: leave-one-out correlation and its differences.

    python scripts/calibration_default.py [FILE ...] [--base-column NAME] [--data ../shared/data]

Without files, those of DATA that this project did not make (docs/how-to/public-human-data.md). Figures are means over
five draws of the folds. Differences are the default's less the other's on the same folds, with the standard error for
raters and pairs like these (for pairs alone where there are two raters); the last column says whether the default lies
under the best of the three by more than that.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path

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
DRAWS = 5
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


def against_plain(ratings: Ratings) -> tuple[str, float, list[Against]] | str:
    """The default method, its leave-one-out correlation, and the others'; the reason where there is none."""
    panel = Panel.from_frame(ratings.frame, ratings.scale.scale.low, ratings.scale.scale.high)
    chosen = calibrate(ratings).choice.method
    scored = scored_rows(panel)
    part = panel.keep(scored.rows)
    figures: dict[str, Figure] = {}
    for method in dict.fromkeys((chosen, *PLAIN)):
        drawn = []
        for seed in range(DRAWS):
            try:
                figure = leave_one_out_figure(panel, method, scored, seed=seed)
            except RelstudyError as error:
                return f"{chosen}: {str(error).split(':')[0]}"
            if isinstance(figure, Estimate):
                return figure.reason or ""
            drawn.append(figure.times(1 / DRAWS))
        figures[method] = reduce(Figure.plus, drawn)
    rows = []
    for method in PLAIN:
        difference = figures[chosen].plus(figures[method], -1.0)
        rows.append(Against(method, figures[method].value, difference.value, difference.standard_error(part)))
    return chosen, figures[chosen].value, rows


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--base-column")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    given = parser.parse_args(arguments)
    panels = [(str(path), path, given.base_column) for path in given.files]
    panels = panels or [(title, given.data / file, column) for title, file, column in PANELS]
    print("| panel | default | value | " + " | ".join(f"less {name}" for name in PLAIN) + " | under the best |")
    print("|---" * (4 + len(PLAIN)) + "|")
    for name, path, column in panels:
        found = against_plain(read_ratings(path, base_column=column))
        if isinstance(found, str):
            print(f"| {name} | {found} |" + " |" * (2 + len(PLAIN)))
            continue
        chosen, value, rows = found
        cells = [f"{row.difference:+.4f} ± {row.error:.4f}" for row in rows]
        print(f"| {name} | {chosen} | {value:.4f} | {' | '.join(cells)} | {verdict(rows)} |", flush=True)


def verdict(rows: Sequence[Against]) -> str:
    """Whether the default lies under the best of the others by more than the standard error of that difference."""
    best = max(rows, key=lambda row: row.value)
    if best.difference >= 0:
        return "no"
    return "yes" if -best.difference > best.error else "by less than its error"


if __name__ == "__main__":
    main()
