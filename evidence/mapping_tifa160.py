"""Out-of-fold correlation and error of every mapping method on tifa160, beside scikit-learn's IsotonicRegression.

    python evidence/mapping_tifa160.py [FOLDER] [--seed 1] [--systems]

FOLDER holds the two score tables and the ratings (default: ../shared/data/tifa160_likert). Ten folds by query; seed 1
gives the folds that the goals were measured on. The default of `relstudy fit` takes the method of greatest out-of-fold
correlation per system. "by these folds": of the very predictions that it is then measured by. "nested" (--nested, some
minutes): chosen again inside each training part, so that the choice is out of fold too. "by the other folds": what
`relstudy fit` prints in its place, each fold's method chosen by the predictions of all other folds.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.isotonic import IsotonicRegression

from relstudy.calibration.tables.judgments import read_judgments
from relstudy.common.runtime.console import print_table, progress
from relstudy.mapping.cross_fitting import around_training_means, correlation, cross_fit
from relstudy.mapping.methods import EVERY_METHOD, METHODS
from relstudy.mapping.query_folds import folds_by_group
from relstudy.mapping.scored_pairs import FitSettings, ScoredPairs, fit_mapping
from relstudy.mapping.scores.score_files import read_scores
from relstudy.mapping.selection import chosen

DATA = Path(__file__).resolve().parent.parent.parent / "shared" / "data" / "tifa160_likert"


def load(folder: Path) -> pd.DataFrame:
    scores = pd.concat(
        [
            read_scores(folder / "system_scores_tifa_release.csv", leave_out=["tifa_human_avg"]).frame,
            read_scores(folder / "system_scores_dsg_release.csv").frame,
        ]
    )
    return scores.merge(read_judgments(folder / "ratings.csv").frame, on=["query_id", "result_id"])


def peer(x: np.ndarray, y: np.ndarray, fold: np.ndarray) -> np.ndarray:
    mapped = np.empty(len(x))
    for k in range(int(fold.max()) + 1):
        train = fold != k
        fit = IsotonicRegression(increasing="auto", out_of_bounds="clip").fit(x[train], y[train])
        mapped[~train] = fit.predict(x[~train])
    return mapped


def figures(predictions: np.ndarray, pairs: ScoredPairs, settings: FitSettings) -> tuple[float, float]:
    """Correlation around the folds' training means, and error of the predictions as they are."""
    around_means = around_training_means(predictions, pairs, settings)
    error = float(np.sqrt(np.mean((predictions - pairs.judgments) ** 2)))
    return correlation(around_means, pairs.judgments) or 0.0, error


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=DATA)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--systems", action="store_true", help="a row per system, too")
    parser.add_argument("--methods", nargs="+", choices=EVERY_METHOD, default=[], help="of the source's own, too")
    parser.add_argument("--nested", action="store_true", help="also choose inside each training part (some minutes)")
    arguments = parser.parse_args()
    table, methods = load(arguments.folder), (*METHODS, *arguments.methods)
    rows: dict[str, dict[str, tuple[float, float]]] = {}
    inside: dict[str, list[float]] = {method: [] for method in methods}
    for system, part in progress(list(table.groupby("system")), "systems"):
        x, y, q = (part[name].to_numpy() for name in ("score", "judgment", "query_id"))
        pairs, settings = ScoredPairs(x, y, q), FitSettings(10, arguments.seed)
        fold = folds_by_group(q, 10, arguments.seed)
        scored = {"scikit-learn isotonic": figures(peer(x, y, fold), pairs, settings)}
        crossed = {method: cross_fit(pairs, method, settings) for method in methods}
        for method, fit in crossed.items():
            scored[method] = figures(fit.predictions, pairs, settings)
        best = max(METHODS, key=lambda method: scored[method][0])
        scored["best, by these folds"] = scored[best]
        ahead = chosen(pairs, {method: crossed[method] for method in METHODS}, best, settings, resamples=2)
        if ahead is not None:
            scored["best, by the other folds"] = (ahead.by_other_folds.value or 0.0, np.nan)
        if arguments.nested:
            scored["best, nested"] = figures(cross_fit(pairs, "best", settings).predictions, pairs, settings)
        scored["raw scores"] = (correlation(x, y) or 0.0, np.nan)
        rows[str(system)] = scored
        for method in methods:
            inside[method].append(correlation(fit_mapping(pairs, method).predict(x), y) or 0.0)
    if arguments.systems:
        names = list(next(iter(rows.values())))
        body = [[system, *(f"{scored[name][0]:.3f}" for name in names)] for system, scored in rows.items()]
        print_table(body, ["correlation out of fold", *names])
        print()
    body = []
    for name in next(iter(rows.values())):
        r, rmse = np.mean([scored[name] for scored in rows.values()], axis=0)
        flattered = f"{np.mean(inside[name]):.4f}" if name in inside else ""
        body.append([name, f"{r:.4f}", "" if np.isnan(rmse) else f"{rmse:.4f}", flattered])
    print_table(body, [f"mean over {len(rows)} systems", "correlation", "RMSE", "in sample"])
    print("goal of the default: correlation at least 0.4123, RMSE at most 0.8088")


if __name__ == "__main__":
    main()
