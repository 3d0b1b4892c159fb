"""Moran's (2016) protocol on the digits: ten five-way splits, hyperparameters by validation, mean and spread.

    python scripts/hashing_splits.py [--bits 16] [--times 10]

In each split an encoder learns from the training part with each of its settings; the one with the best mAP of
validation queries against the validation database is taken (section 3.5.2), and its codes of test queries and test
database give the figures. Prints which settings were taken, and mean, standard deviation and differences over splits.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence

import numpy as np
from sklearn.datasets import load_digits

from relstudy.analysis.hashing.counting.counts import CountTable, count
from relstudy.analysis.hashing.encoders import ENCODERS
from relstudy.analysis.hashing.encoders.base import Encoder
from relstudy.analysis.hashing.metrics.comparison import compare_splits
from relstudy.analysis.hashing.metrics.mean_average_precision import mean_average_precision
from relstudy.analysis.hashing.truth.labels import Labels
from relstudy.analysis.hashing.truth.relevance import LabelTruth
from relstudy.analysis.hashing.truth.splits import repeated
from relstudy.common.console import print_table, progress

SIZES = {"test_queries": 200, "test_database": 700, "validation_queries": 100, "validation_database": 300}
SETTINGS: dict[str, list[dict[str, float]]] = {
    "lsh": [{}],
    "itq": [{}],
    "sklsh": [{"width": width} for width in (15, 30, 60)],
    "ksh": [{"anchors": anchors} for anchors in (50, 100, 200)],
    "grh": [{"alpha": alpha} for alpha in (0.6, 0.9, 1.0)],
}
"""The hyperparameters that are tried; one setting is no choice."""


def counted(encoder: Encoder, vectors: np.ndarray, classes: np.ndarray, parts: Sequence[np.ndarray]) -> CountTable:
    """The table of queries against a database, each given by rows."""
    truth = LabelTruth(*(Labels(classes=classes[rows]) for rows in parts))
    queries, database = (encoder.encode(vectors[rows]) for rows in parts)
    return count(queries, database, truth)


def expected_map(table: CountTable) -> float:
    return mean_average_precision(table, None, "relevant").expected or 0.0


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bits", type=int, default=16)
    parser.add_argument("--times", type=int, default=10)
    arguments = parser.parse_args(words)
    digits = load_digits()
    vectors, classes = digits.data.astype(float), digits.target
    tables: dict[str, dict[str, CountTable]] = {}
    taken: dict[str, Counter[str]] = {name: Counter() for name in SETTINGS}
    splits = repeated("improved", len(classes), SIZES, labels=classes, times=arguments.times, seed=0)
    for number, split in enumerate(progress(splits, "splits", arguments.times)):
        tables[str(number)] = {}
        for name, settings in SETTINGS.items():
            learned = [
                ENCODERS[name](arguments.bits, **setting).fit(vectors[split.training], classes[split.training])
                for setting in settings
            ]
            checked = (split.validation_queries, split.validation_database)
            best = int(np.argmax([expected_map(counted(each, vectors, classes, checked)) for each in learned]))
            taken[name][", ".join(f"{key} {value:g}" for key, value in settings[best].items())] += 1
            tested = (split.test_queries, split.test_database)
            tables[str(number)][name] = counted(learned[best], vectors, classes, tested)
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
