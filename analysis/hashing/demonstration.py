"""A demonstration on scikit-learn's digits, which come with the library: no download, 1,797 pictures, ten classes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from relstudy.analysis.hashing.codes.packed import Codes
from relstudy.analysis.hashing.counting.counts import CountTable, count
from relstudy.analysis.hashing.encoders import ENCODERS
from relstudy.analysis.hashing.encoders.base import Encoder
from relstudy.analysis.hashing.encoders.deep.encoders import DEEP_ENCODERS, deep_is_installed
from relstudy.analysis.hashing.encoders.projections import LSH
from relstudy.analysis.hashing.metrics.ball import ramap_by_radius
from relstudy.analysis.hashing.metrics.conventions import PRESETS
from relstudy.analysis.hashing.metrics.health import code_health
from relstudy.analysis.hashing.metrics.lgap import UniqueCodes, largest_bins, local_group_average_precision
from relstudy.analysis.hashing.metrics.mean_average_precision import mean_average_precision
from relstudy.analysis.hashing.metrics.radius import precision_recall_by_radius
from relstudy.analysis.hashing.truth.labels import Labels
from relstudy.analysis.hashing.truth.relevance import LabelTruth
from relstudy.analysis.hashing.truth.splits import literature_split

SIZES = {"test_queries": 200, "training": 800}
CUTS = (50, 100, 200, 400, 800)


def extension_tables(bits: int = 8, seed: int = 0) -> dict[str, dict[str, Any]]:
    """Jiang, Li and Li's (2019) tables 2 and 3 on digits: LSH, same-extension (SE) and different-extension (DE) codes.

    Returns
    -------
    name -> ramap, precision and recall by radius 0..bits, and expected mAP at five cut-offs, by the paper's rules
    """
    vectors, labels = _digits()
    split = literature_split(len(labels), SIZES, labels=labels, seed=seed)
    encoder = LSH(bits, seed).fit(vectors[split.training])
    queries, database = encoder.encode(vectors[split.test_queries]), encoder.encode(vectors[split.test_database])
    truth = LabelTruth(Labels(classes=labels[split.test_queries]), Labels(classes=labels[split.test_database]))
    codes: dict[str, tuple[Codes, Codes]] = {"LSH": (queries, database)}
    for tail in (1, 8):
        codes[f"LSHSE s={tail}"] = extended(queries, database, tail, same=True)
    codes["LSHDE s=1"] = extended(queries, database, 1, same=False)
    return {name: _row(count(*pair, truth), bits) for name, pair in codes.items()}


def _row(table: CountTable, radii: int) -> dict[str, Any]:
    rules = PRESETS["ramap"]
    curve = precision_recall_by_radius(table, rules.beta, rules.empty_ball, rules.no_relevant)
    precision, recall = curve.precision_macro[: radii + 1], curve.recall_macro[: radii + 1]
    return {
        "ramap": ramap_by_radius(precision, table.bits),
        "precision": precision.tolist(),
        "recall": recall.tolist(),
        "map_at_k": {
            str(k): mean_average_precision(table, k, rules.denominator, rules.no_relevant, rules.no_hit).expected
            for k in CUTS
        },
    }


def baselines(
    seed: int = 0,
    watch: Callable[[Iterable[str], int], Iterator[str]] | None = None,
    bits: int = 32,
    encoders: dict[str, type[Encoder]] | None = None,
) -> dict[str, dict[str, float]]:
    """Encoders on one split of the digits: mAP, mLGAP@2 and the utilisation of their codes.

    By default every one that can be run here: the deep ones where the extra `deep` is installed.
    """
    kinds = encoders or {**ENCODERS, **(DEEP_ENCODERS if deep_is_installed() else {})}
    vectors, labels = _digits()
    split = literature_split(len(labels), SIZES, labels=labels, seed=seed)
    truth = LabelTruth(Labels(classes=labels[split.test_queries]), Labels(classes=labels[split.test_database]))
    rows = {}
    for name in (watch or (lambda items, _: iter(items)))(list(kinds), len(kinds)):
        encoder = kinds[name](bits, seed).fit(vectors[split.training], labels[split.training])
        queries, database = encoder.encode(vectors[split.test_queries]), encoder.encode(vectors[split.test_database])
        table = count(queries, database, truth)
        unique = UniqueCodes.of(database)
        rows[name] = {
            "mAP": float(mean_average_precision(table, None, "relevant").expected or 0.0),
            "mLGAP@2": float(local_group_average_precision(table, largest_bins(queries, unique), 2).mean()),
            "utilisation": code_health(unique).utilisation,
        }
    return rows


def _digits() -> tuple[np.ndarray, np.ndarray]:
    from sklearn.datasets import load_digits

    bunch = load_digits()
    return bunch.data.astype(float), bunch.target.astype(np.int64)


def extended(queries: Codes, database: Codes, bits: int, *, same: bool) -> tuple[Codes, Codes]:
    """Append `bits` ones to the queries, and to the database ones (`same`, Eq. 2) or zeros (different, Eq. 3).

    Same-extension leaves every distance as it is and wastes the bits; different-extension adds `bits` to all of them.
    Average precision sees neither, precision and recall by radius see only the second, RAMAP sees both.

    Examples
    --------
    >>> codes = Codes.from_bits(np.array([[0, 1]], dtype=bool))
    >>> [int(a.distances(b)[0, 0]) for a, b in (extended(codes, codes, 3, same=s) for s in (True, False))]
    [0, 3]
    """

    def with_tail(codes: Codes, ones: bool) -> Codes:
        return Codes.from_bits(np.hstack([codes.unpacked(), np.full((len(codes), bits), ones)]))

    return with_tail(queries, True), with_tail(database, same)
