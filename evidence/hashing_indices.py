"""Which index should I trust? Every encoder by mAP, mLGAP, RAMAP and people, side by side, and a figure.

    python evidence/hashing_indices.py demo [--figure indices.svg] [--bits 32]

Takes a study folder with pictures and judgments (`relstudy demo demo --no-serve` makes one). Encoders see each
picture's thumbnail of 12 x 8 pixels; relevant, to the three indices, is what shares a keyword. Supervised encoders
learn from the keywords, deep ones from one class for each picture, its most frequent keyword. Half of the pictures,
drawn by --seed, are learned from and are the database of the three indices; the others are their queries. People judged
pairs of all. Below the table stands Kendall's tau-b of each index's order of the encoders with the order by people.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

import numpy as np
from scipy.stats import kendalltau

from relstudy.analysis.hashing.codes.packed import Codes
from relstudy.analysis.hashing.commands.inputs import cell
from relstudy.analysis.hashing.counting.counts import count
from relstudy.analysis.hashing.encoders import ENCODERS
from relstudy.analysis.hashing.encoders.deep.encoders import DEEP_ENCODERS
from relstudy.analysis.hashing.encoders.graph import GRH
from relstudy.analysis.hashing.metrics.ball import ramap
from relstudy.analysis.hashing.metrics.lgap import UniqueCodes, largest_bins, local_group_average_precision
from relstudy.analysis.hashing.metrics.mean_average_precision import mean_average_precision
from relstudy.analysis.hashing.people.scores import hamming_scores
from relstudy.analysis.hashing.truth.labels import Labels, mask_words
from relstudy.analysis.hashing.truth.relevance import LabelTruth
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.scoring.run import score_systems
from relstudy.calibration.tables.judgments import read_judgments
from relstudy.common.runtime.console import print_table, progress
from relstudy.studyapp.collection.items import Collection

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from scripts.figures.hashing import encoders_by_people

RADIUS = 2
INDICES = ("mAP", f"mLGAP@{RADIUS}", f"RAMAP@{RADIUS}")
PEOPLE = "Pearson, people"


def vectors_of(collection: Collection) -> np.ndarray:
    pictures = [collection.picture(row).resize((12, 8)) for row in range(len(collection))]
    return np.array([np.asarray(picture, dtype=float).ravel() / 255 for picture in pictures])


def keywords_of(collection: Collection) -> tuple[np.ndarray, np.ndarray]:
    """All keywords of each picture as bit masks, and its most frequent one as its class."""
    words = sorted({word for item in collection for word in item.words})
    table = np.array([[word in item.words for word in words] for item in collection])
    frequent = Counter(word for item in collection for word in item.words)
    classes = [max(item.words, key=lambda word: (frequent[word], word), default="none") for item in collection]
    return mask_words(table), np.array(classes)


def indices(queries: Codes, database: Codes, truth: LabelTruth) -> list[float]:
    """mAP, mLGAP and RAMAP."""
    table, unique = count(queries, database, truth), UniqueCodes.of(database)
    groups = local_group_average_precision(table, largest_bins(queries, unique), RADIUS)
    return [mean_average_precision(table, None, "relevant").expected or 0.0, float(groups.mean()), ramap(table, RADIUS)]


def _chance(number: int) -> float:
    """1.96 standard deviations of tau between unrelated orders of so many (Kendall 1938)."""
    return 1.96 * float(np.sqrt(2 * (2 * number + 5) / (9 * number * (number - 1))))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", type=Path)
    parser.add_argument("--figure", type=Path)
    parser.add_argument("--bits", type=int, default=32)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--one-keyword", action="store_true", help="all learn from the most frequent keyword alone")
    arguments = parser.parse_args()
    collection = Collection.load(arguments.study)
    judged = read_judgments(arguments.study / "judgments.csv").frame
    ids = [str(name) for name in collection.ids]
    vectors, (masks, classes) = vectors_of(collection), keywords_of(collection)
    order = np.random.default_rng(arguments.seed).permutation(len(vectors))
    half, others = order[: len(vectors) // 2], order[len(vectors) // 2 :]
    truth = LabelTruth.by(Labels(masks=masks[:, others]), Labels(masks=masks[:, half]))
    rows: dict[str, list[float]] = {}
    ranges: dict[str, str] = {}
    notes: list[str] = []
    keywords = Labels(masks=masks).as_array()
    for name, kind in progress(list({**ENCODERS, **DEEP_ENCODERS}.items()), "encoders"):
        # A network learns from one class; the others from what the truth is made of, all keywords.
        learned = classes if name in DEEP_ENCODERS or arguments.one_keyword else keywords
        fitted = kind(arguments.bits, arguments.seed).fit(vectors[half], learned[half])
        if isinstance(fitted, GRH):
            notes.append(f"{name}: {fitted.choice()}")
        codes = fitted.encode(vectors)
        scores = hamming_scores(judged, codes, ids, name)
        people = score_systems(judged, scores, options=ScoringOptions(directions={"*": "higher"}))[name]
        rows[name] = [*indices(codes.take(others), codes.take(half), truth), people.raw.pearson.value or 0.0]
        ranges[name] = str(people.raw.pearson)
    columns = list(zip(*rows.values(), strict=True))
    ordered = sorted(rows, key=lambda name: -rows[name][-1])
    body = [[name, *map(cell, rows[name][:-1]), ranges[name]] for name in ordered]
    print_table(body, [f"{arguments.bits} bits", *INDICES, f"{PEOPLE} [95% interval]"])
    for title, column in zip(INDICES, columns, strict=False):
        print(f"order by {title} and by people: tau-b {kendalltau(column, columns[-1]).statistic:+.2f}")
    print(
        f"two orders that have nothing to do with each other lie within {_chance(len(rows)):.2f} of 0 in 95% of cases"
    )
    for note in notes:
        print(note)
    if arguments.figure is not None:
        columns_of = dict(zip([*INDICES, PEOPLE], columns, strict=True))
        arguments.figure.write_text(encoders_by_people(list(rows), columns_of, set(DEEP_ENCODERS)), encoding="utf-8")
        print(f"wrote {arguments.figure}")


if __name__ == "__main__":
    main()
