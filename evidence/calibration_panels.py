"""Compare calibration methods on simulated panels, and on real ones where these are at hand.

    python evidence/calibration_panels.py [--quick] [--models]

Prints the tables of docs/evidence/calibration.md in Markdown. Leave-one-out correlation by five folds over unique
pairs; each line averages over panels, and differences come with twice their standard error over panels. Raters count
alike, so that the lines alone are compared. With --models instead: models of raters beside `pooled` on 40 panels a
line of raters who are alike or unlike in noise, each with the weights that it gives raters by itself.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from relstudy.calibration.averaging import make_judgments
from relstudy.calibration.choice import choose_method
from relstudy.calibration.methods.by_name import fit_lines
from relstudy.calibration.panel import Panel
from relstudy.calibration.reliability.within_pair_variance import leave_one_out_correlation
from relstudy.calibration.simulation import SimulatedPanel, simulate_panel
from relstudy.calibration.tables.ratings import read_ratings
from relstudy.common.tables.meaning.pair_assignment import HandOut

METHODS = ("none", "mean", "zscore", "shrunk", "pooled")
SCALES = ("1-5", "0-6", "binary", "1-9")
BASES = (5, 10, 20, 40, 100)
REPEATS = {10: 40, 100: 10, 700: 3}
UNIQUE = 60
MODELS = ("none", "pooled", "crossed", "p910", "p913", "rasch", "dawid-skene", "glad", "mace")
PANELS = 40
AGH = Path(__file__).resolve().parent.parent.parent / "shared" / "data" / "agh_video_99raters" / "ratings.csv"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a few panels of each kind")
    parser.add_argument("--models", action="store_true", help="models of raters, on raters alike and unlike in noise")
    given = parser.parse_args()
    quick = given.quick
    if given.models:
        models_table(quick)
        return
    real_table()
    random_table(quick)
    one_rating_table(quick)
    sorted_table(quick)


def real_table() -> None:
    if not AGH.is_file():
        return
    print("\n### 99 people, 40 base pairs, 280 unique pairs\n")
    print("| folds, seed | " + " | ".join(METHODS) + " |\n" + "|---" * (len(METHODS) + 1) + "|")
    ratings = read_ratings(AGH, base_column="in_common_set")
    panel = Panel.from_frame(ratings.frame, ratings.scale.scale.low, ratings.scale.scale.high)
    for seed in range(5):
        values = [correlation(panel, method, seed) for method in METHODS]
        print(f"| {seed} | " + " | ".join(f"{value:.4f}" for value in values) + " |")


def random_table(quick: bool) -> None:
    print(f"\n### Pairs handed out at random, three ratings per pair, {UNIQUE} unique pairs per rater\n")
    header = ["scale", "raters", "base", "panels", *METHODS, "shrunk - better of mean, zscore", "pooled - shrunk"]
    print("| " + " | ".join(header) + " |\n" + "|---" * len(header) + "|", flush=True)
    for scale in SCALES:
        for raters, repeats in REPEATS.items():
            for base in BASES:
                panels = [
                    simulate_panel(raters, base, UNIQUE, scale=scale, seed=seed(scale, raters, base, i)).panel
                    for i in range(2 if quick else repeats)
                ]
                values = np.array([[correlation(panel, method) for method in METHODS] for panel in panels])
                average = values.mean(axis=0)
                plain = values[:, 1] if average[1] >= average[2] else values[:, 2]
                cells = [scale, str(raters), str(base), str(len(panels)), *(f"{value:.4f}" for value in average)]
                cells += [difference(values[:, 3] - plain), difference(values[:, 4] - values[:, 3])]
                print("| " + " | ".join(cells) + " |", flush=True)


def one_rating_table(quick: bool) -> None:
    print("\n### One rating per pair: correlation of judgments with the truth, 30 raters, scale 1-5\n")
    print("| base | " + " | ".join(METHODS) + " | pooled - shrunk |\n" + "|---" * (len(METHODS) + 2) + "|", flush=True)
    for base in BASES:
        panels = [
            simulate_panel(30, base, UNIQUE, ratings_per_pair=1, seed=seed("one", 30, base, i))
            for i in range(3 if quick else 30)
        ]
        values = np.array([[truth(simulated, method) for method in METHODS] for simulated in panels])
        cells = [f"{value:.4f}" for value in values.mean(axis=0)]
        print(f"| {base} | " + " | ".join(cells) + f" | {difference(values[:, 4] - values[:, 3])} |", flush=True)


def models_table(quick: bool) -> None:
    """Twelve raters, 20 base pairs and 60 pairs of their own with three ratings each."""
    header = ["scale", "raters differ in noise by", *MODELS, "pooled - best of the others", "best"]
    print("| " + " | ".join(header) + " |\n" + "|---" * len(header) + "|", flush=True)
    for scale in ("1-5", "binary"):
        for spread in (0.0, 0.6):
            rows = []
            for i in range(3 if quick else PANELS):
                simulated = simulate_panel(
                    12, 20, UNIQUE, scale=scale, noise_spread=spread, seed=seed("models", scale, i)
                )
                panel = simulated.panel
                found = [leave_one_out_correlation(panel, method, seed=i).value for method in MODELS]
                rows.append([np.nan if value is None else value for value in found])
            values = np.array(rows)
            average = np.nanmean(values, axis=0)
            place = MODELS.index("pooled")
            best = max((k for k in range(len(MODELS)) if k != place), key=lambda k: average[k])
            apart = difference((values[:, place] - values[:, best])[~np.isnan(values[:, best])])
            cells = [scale, f"{spread:g}", *(f"{value:.4f}" for value in average), apart, MODELS[best]]
            print("| " + " | ".join(cells) + " |", flush=True)


def sorted_table(quick: bool) -> None:
    print("\n### Pairs not handed out at random: the first raters get the worse pairs\n")
    print("Correlation of judgments with the truth; `pooled` here is forced, `chosen` is what the command does.\n")
    header = ["scale", "ratings per pair", "raters", "base", "none", "shrunk", "pooled", "chosen", "pooled found out"]
    print("| " + " | ".join(header) + " |\n" + "|---" * len(header) + "|", flush=True)
    for scale in ("1-5", "binary"):
        for k in (1, 3):
            for raters, repeats in ((10, 20), (100, 6)):
                for base in (5, 20, 100):
                    rows = []
                    for i in range(2 if quick else repeats):
                        simulated = simulate_panel(
                            raters,
                            base,
                            UNIQUE,
                            scale=scale,
                            ratings_per_pair=k,
                            handed_out=HandOut.FIXED,
                            seed=seed(f"sorted{scale}{k}", raters, base, i),
                        )
                        chosen = choose_method(simulated.panel, None).method
                        values = [truth(simulated, method) for method in ("none", "shrunk", "pooled", chosen)]
                        rows.append([*values, float(chosen != "pooled")])
                    average = np.mean(rows, axis=0)
                    cells = [scale, str(k), str(raters), str(base), *(f"{value:.4f}" for value in average[:4])]
                    print("| " + " | ".join(cells) + f" | {average[4]:.0%} |", flush=True)


def correlation(panel: Panel, method: str, seed: int = 0) -> float:
    value = leave_one_out_correlation(panel, method, weighted=False, seed=seed).value
    return float("nan") if value is None else value


def truth(simulated: SimulatedPanel, method: str) -> float:
    """Correlation of the unique pairs' judgments with their true quality."""
    panel = simulated.panel
    judgments = make_judgments(panel, fit_lines(panel, method).calibrated(panel)).frame
    code = judgments["result_id"].str[1:].astype(int).to_numpy()
    unique = ~panel.base[code]
    return float(np.corrcoef(judgments["judgment"].to_numpy()[unique], simulated.quality[code[unique]])[0, 1])


def difference(values: np.ndarray) -> str:
    error = 2 * values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else float("nan")
    return f"{values.mean():+.4f} ± {error:.4f}"


def seed(*parts: object) -> int:
    return int(np.random.SeedSequence([ord(c) for c in "|".join(map(str, parts))]).generate_state(1)[0])


if __name__ == "__main__":
    main()
