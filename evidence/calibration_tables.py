"""Print the paper's table 5.1 for real panels, and draw figure 5.1, for docs/evidence/calibration.md.

python evidence/calibration_tables.py [--data ../shared/data] [--methods p910 p913] [--figures docs/assets]
"""

from __future__ import annotations

import argparse
from pathlib import Path

from relstudy.calibration.options import CalibrationOptions
from relstudy.calibration.pipeline import calibrate, variance_reduction
from relstudy.calibration.plots import rater_lines, variance_by_mean
from relstudy.calibration.tables.ratings import read_ratings
from relstudy.common.results.estimates import Estimate
from relstudy.common.runtime.files import write_text

ROOT = Path(__file__).resolve().parent.parent
PANELS = (
    ("video quality, 99 people, 40 base pairs", "agh_video_99raters/ratings.csv", "in_common_set"),
    ("text to image, 5 people, all pairs", "tifa160_likert/ratings.csv", None),
    ("products, 3 people, all pairs", "chorus_3agents/ratings.csv", None),
    ("video quality, 26 people, all pairs", "video_mos/nflx_public_ratings.csv", None),
    ("video quality, 24 people, all pairs", "video_mos/vqeghd3_ratings.csv", None),
)
METHODS = ("none", "mean", "zscore", "shrunk", "pooled", "crossed", "p910", "p913", "ordinal")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS)
    parser.add_argument("--figures", type=Path, help="folder for figures 5.1")
    arguments = parser.parse_args()
    print("| panel | method | variance within a pair | leave-one-out correlation | ICC(1) |\n|---|---|---|---|---|")
    for title, file, base_column in PANELS:
        ratings = read_ratings(arguments.data / file, base_column=base_column)
        for method in arguments.methods:
            result = calibrate(ratings, CalibrationOptions(method, force=True))
            table = variance_reduction(result)
            variance, correlation = cell(table.variance.after), cell(table.correlation.after)
            print(f"| {title} | {method} | {variance} | {correlation} | {cell(table.icc_after.one)} |", flush=True)
            title = ""
    if arguments.figures:
        title, file, base_column = PANELS[0]
        result = calibrate(read_ratings(arguments.data / file, base_column=base_column))
        write_text(variance_by_mean(result, alone=True), arguments.figures / "calibration-variance.svg")
        write_text(rater_lines(result, alone=True), arguments.figures / "calibration-lines.svg")


def cell(estimate: Estimate) -> str:
    if estimate.value is None:
        return "–"
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:.3f}"
    return f"{estimate.value:.3f} [{estimate.low:.3f}, {estimate.high:.3f}]"


if __name__ == "__main__":
    main()
