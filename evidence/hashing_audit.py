"""Hold the ground truths that hashing is evaluated by, and baseline hash codes, against a study's judgments.

    python evidence/hashing_audit.py demo

Takes a study folder with pictures and judgments (`relstudy demo demo --no-serve` makes one). Every picture becomes a
vector (its thumbnail of 12 x 8 pixels), its keywords are its labels. Prints `relstudy hash audit`, and the scores of
four baselines at 32 bits against people, beside their mean average precision against the shared-keyword truth.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from relstudy.analysis.hashing.counting.counts import count
from relstudy.analysis.hashing.encoders import ENCODERS
from relstudy.analysis.hashing.metrics.mean_average_precision import mean_average_precision
from relstudy.analysis.hashing.people.audit import audit_truths
from relstudy.analysis.hashing.people.scores import DescribedItems, graded_ndcg, hamming_scores
from relstudy.analysis.hashing.truth.labels import Labels, mask_words
from relstudy.analysis.hashing.truth.relevance import LabelTruth
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.scoring.run import score_systems
from relstudy.calibration.tables.judgments import read_judgments
from relstudy.common.runtime.console import print_table
from relstudy.studyapp.collection.items import Collection

ENCODED = ("lsh", "pcah", "itq", "spherical")


def vectors_of(collection: Collection) -> np.ndarray:
    pictures = [collection.picture(row).resize((12, 8)) for row in range(len(collection))]
    return np.array([np.asarray(picture, dtype=float).ravel() / 255 for picture in pictures])


def labels_of(collection: Collection) -> Labels:
    words = sorted({word for item in collection for word in item.words})
    table = np.array([[word in item.words for word in words] for item in collection])
    return Labels(masks=mask_words(table))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", type=Path)
    folder = parser.parse_args().study
    collection = Collection.load(folder)
    judged = read_judgments(folder / "judgments.csv").frame
    ids = [str(name) for name in collection.ids]
    vectors, labels = vectors_of(collection), labels_of(collection)
    audit = audit_truths(judged, DescribedItems(ids, vectors, labels), neighbours=20)
    header = ["ground truth", "Pearson", "AUC", "average precision", "mean AUC within queries", "called relevant"]
    print_table([[each.name, *map(str, each.figures)] for each in audit.truths], header)
    print(audit.sentence(), end="\n\n")
    rows = []
    for name in ENCODED:
        codes = ENCODERS[name](32).fit(vectors).encode(vectors)
        scores = hamming_scores(judged, codes, ids, name)
        system = score_systems(judged, scores, options=ScoringOptions(directions={"*": "higher"}))[name]
        against_labels = mean_average_precision(count(codes, codes, LabelTruth.by(labels, labels)), None, "relevant")
        people = [
            system.raw.pearson,
            system.indices["average_precision"],
            system.indices["normalised_rank"],
            graded_ndcg(judged, scores),
        ]
        rows.append([name, f"{against_labels.expected:.4f}", *map(str, people)])
    print_table(
        rows, ["32 bits", "mAP, keywords", "Pearson, people", "average precision", "normalised rank", "graded nDCG"]
    )


if __name__ == "__main__":
    main()
