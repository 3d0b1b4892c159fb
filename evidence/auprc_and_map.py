"""Where AUPRC and mAP disagree (Moran 2016, section 3.6.5), on count tables written out and on the digits.

    python evidence/auprc_and_map.py [--splits 5]

AUPRC adds the counts of all queries at each radius, mAP averages over queries. The section says that they differ only
where queries have unequally many relevant items. The first table shows that they do there; the second that they also
differ where every query has as many, when one radius does not suit all queries; the third orders encoders on the
digits, with classes of one size and with classes of 100, 80, 64, ... pictures.
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy.stats import kendalltau
from sklearn.datasets import load_digits

from relstudy.analysis.hashing.counting.counts import CountTable, count
from relstudy.analysis.hashing.encoders import ENCODERS
from relstudy.analysis.hashing.metrics.conventions import PRESETS
from relstudy.analysis.hashing.metrics.mean_average_precision import mean_average_precision
from relstudy.analysis.hashing.metrics.radius import area_under_curve, precision_recall_by_radius
from relstudy.analysis.hashing.truth.labels import Labels
from relstudy.analysis.hashing.truth.relevance import LabelTruth
from relstudy.common.runtime.console import print_table

RULES = PRESETS["moran"]
DATABASE = 1000
NAMES = ("lsh", "pcah", "pca-rr", "itq", "sh", "sklsh", "spherical", "density-sensitive", "ksh")


def figures(table: CountTable) -> tuple[float, float]:
    """AUPRC by Eq. 3.11 from radius 0 on, and mAP, expected over ties."""
    curve = precision_recall_by_radius(table, RULES.beta, RULES.empty_ball, RULES.no_relevant)
    area = area_under_curve(curve.precision_micro, curve.recall_micro, "sum")
    mean = mean_average_precision(table, None, RULES.denominator, RULES.no_relevant, RULES.no_hit).expected
    return float(area or 0.0), float(mean or 0.0)


def told_apart(relevant: list[int], finds: list[bool]) -> CountTable:
    """Queries with so many relevant items of 1,000; those that find them have them at distance 0, all else at 1."""
    total = [[size, DATABASE - size] if found else [0, DATABASE] for size, found in zip(relevant, finds, strict=True)]
    hits = [[size, 0] if found else [0, size] for size, found in zip(relevant, finds, strict=True)]
    return CountTable(np.array(total), np.array(hits))


def skewed() -> dict[str, tuple[float, float]]:
    """Two systems that each find the relevant items of half of the queries and none of the other half."""
    systems = {}
    for kind, sizes in (("balanced", [50] * 20), ("skewed", [100] * 10 + [5] * 10)):
        for name, finds in (("A", [True] * 10 + [False] * 10), ("B", [False] * 10 + [True] * 10)):
            systems[f"{kind}, {name}"] = figures(told_apart(sizes, finds))
    return systems


def no_common_radius() -> dict[str, tuple[float, float]]:
    """As many relevant items for every query, all ranked first: at distance 0 for all, or at 0 for half and 3 for half.

    Where they lie at 3, everything else lies at 4; where they lie at 0, everything else lies at 1.
    """
    near = ([50, DATABASE - 50, 0, 0, 0], [50, 0, 0, 0, 0])
    far = ([0, 0, 0, 50, DATABASE - 50], [0, 0, 0, 50, 0])
    systems = {"one radius suits all": [near] * 20, "it does not": [near] * 10 + [far] * 10}
    return {
        name: figures(CountTable(np.array([t for t, _ in rows]), np.array([r for _, r in rows])))
        for name, rows in systems.items()
    }


def digits(splits: int, names: tuple[str, ...] = NAMES, bits: int = 16) -> list[list[str]]:
    """Encoders by both figures, with classes of one size and of many; a mean over splits."""
    bunch = load_digits()
    rows, orders = [], []
    for kind in ("balanced", "skewed"):
        sizes = [100] * 10 if kind == "balanced" else [round(100 * 0.8**each) for each in range(10)]
        sums = np.zeros((len(names), 2))
        for seed in range(splits):
            rng = np.random.default_rng(seed)
            chosen = [rng.permutation(np.flatnonzero(bunch.target == each)) for each in range(10)]
            queries = np.concatenate([members[:15] for members in chosen])
            database = np.concatenate([members[15 : 15 + size] for members, size in zip(chosen, sizes, strict=True)])
            truth = LabelTruth(Labels(classes=bunch.target[queries]), Labels(classes=bunch.target[database]))
            for place, name in enumerate(names):
                encoder = ENCODERS[name](bits, seed).fit(bunch.data[database], bunch.target[database])
                codes = encoder.encode(bunch.data[queries]), encoder.encode(bunch.data[database])
                sums[place] += figures(count(*codes, truth))
        means = sums / splits
        places = (-means).argsort(axis=0).argsort(axis=0) + 1
        orders.append(kendalltau(*means.T).statistic)
        rows += [
            [kind, name, f"{area:.4f}", str(first), f"{mean:.4f}", str(second)]
            for name, (area, mean), (first, second) in zip(names, means, places, strict=True)
        ]
    rows += [
        [kind, "Kendall's tau", "", "", f"{tau:.3f}", ""]
        for kind, tau in zip(("balanced", "skewed"), orders, strict=True)
    ]
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--splits", type=int, default=5)
    splits = parser.parse_args().splits
    print("A finds all relevant items of the first ten queries and none of the last ten, B the other way round;")
    print("balanced: 50 relevant items per query; skewed: 100 for the first ten, 5 for the last ten")
    print_table([[name, f"{a:.4f}", f"{m:.4f}"] for name, (a, m) in skewed().items()], ["system", "AUPRC", "mAP"])
    print("\n50 relevant items for each query, all of them ranked first")
    print_table(
        [[name, f"{a:.4f}", f"{m:.4f}"] for name, (a, m) in no_common_radius().items()], ["distances", "AUPRC", "mAP"]
    )
    print(f"\ndigits, 16 bits, mean of {splits} splits; the database is learned from")
    print_table(digits(splits), ["classes", "encoder", "AUPRC", "place", "mAP", "place"])


if __name__ == "__main__":
    main()
