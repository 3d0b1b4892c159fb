"""Moran's (2016) protocol on the digits: ten five-way splits, hyperparameters by validation, mean and spread.

    python evidence/hashing_splits.py [--bits 16] [--times 10]

In each split an encoder learns from the training part with each of its settings; the one with the best mAP of
validation queries against the validation database is taken (section 3.5.2), and its codes of test queries and test
database give the figures. Prints which settings were taken, and mean, standard deviation and differences over splits.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence

from sklearn.datasets import load_digits

from relstudy.analysis.hashing.counting.counts import CountTable
from relstudy.analysis.hashing.encoders import ENCODERS
from relstudy.analysis.hashing.metrics.comparison import compare_splits
from relstudy.analysis.hashing.metrics.validation import said, search
from relstudy.analysis.hashing.truth.splits import repeated
from relstudy.common.runtime.console import print_table, progress

SIZES = {"test_queries": 200, "test_database": 700, "validation_queries": 100, "validation_database": 300}
SETTINGS: dict[str, list[dict[str, float]]] = {
    "lsh": [{}],
    "itq": [{}],
    "sklsh": [{"width": width} for width in (15, 30, 60)],
    "ksh": [{"anchors": anchors} for anchors in (50, 100, 200)],
    "grh": [{"alpha": alpha} for alpha in (0.6, 0.9, 1.0)],
}
"""The hyperparameters that are tried; one setting is not a choice."""


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bits", type=int, default=16)
    parser.add_argument("--times", type=int, default=10)
    arguments = parser.parse_args(words)
    digits = load_digits()
    vectors, classes = digits.data.astype(float), digits.target
    splits = list(repeated("improved", len(classes), SIZES, labels=classes, times=arguments.times, seed=0))
    tables: dict[str, dict[str, CountTable]] = {str(number): {} for number in range(arguments.times)}
    taken: dict[str, Counter[str]] = {}
    for name, settings in progress(SETTINGS.items(), "encoders", len(SETTINGS)):
        found = search(
            lambda setting, name=name: ENCODERS[name](arguments.bits, **setting), settings, vectors, classes, splits
        )
        taken[name] = Counter(said(each.taken) for each in found if len(settings) > 1)
        for number, each in enumerate(found):
            tables[str(number)][name] = each.table
    result = compare_splits(tables)
    columns = ["map", "precision_radius_2", "auprc", "ramap_2"]
    rows = []
    for name, figures in result["systems"].items():
        shown = [f"{figures[column]['mean']:.4f} ({figures[column]['sd']:.4f})" for column in columns]
        rows.append([name, *shown, "; ".join(f"{setting}: {n}" for setting, n in taken[name].items() if setting)])
    print(f"{arguments.bits} bits, mean (sd) of {arguments.times} splits")
    print_table(rows, ["encoder", "mAP", "P, radius 2", "AUPRC", "RAMAP@2", "taken on validation: times"])
    print()
    for pair in result["comparisons"]:
        gap = pair["map_difference"]
        print(f"{pair['first']} - {pair['second']}: {gap['value']:+.4f} [{gap['low']:+.4f}, {gap['high']:+.4f}]")


if __name__ == "__main__":
    main()
