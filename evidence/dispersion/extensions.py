"""Tables 2 and 3 of Jiang, Li and Li 2019."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from evidence.dispersion.runs import Data, balanced, claim
from relstudy.analysis.hashing.counting.counts import count
from relstudy.analysis.hashing.demonstration import extended
from relstudy.analysis.hashing.encoders.projections import LSH
from relstudy.analysis.hashing.metrics.ball import ramap_by_radius
from relstudy.analysis.hashing.metrics.conventions import PRESETS
from relstudy.analysis.hashing.metrics.mean_average_precision import mean_average_precision
from relstudy.analysis.hashing.metrics.radius import precision_recall_by_radius
from relstudy.analysis.hashing.truth.labels import Labels
from relstudy.analysis.hashing.truth.relevance import LabelTruth
from relstudy.common.runtime.console import print_table

TABLE_2 = (0.1792, 0.1644, 0.1624, 0.1521, 0.1501)
TABLE_3 = {"precision": (0.1896, 0.1651, 0.1433, 0.1261), "recall": (0.0090, 0.0637, 0.2147, 0.4609)}
TABLE_3_RAMAP = {"LSH": (0.1896, 0.1040, 0.0706, 0.0533), "LSHSE s=1": (0.1896, 0.1030, 0.0697, 0.0525),
                 "LSHSE s=8": (0.1896, 0.0996, 0.0668, 0.0501), "LSHDE s=1": (0.0, 0.0095, 0.0075, 0.0059)}  # fmt: skip


def tables_2_and_3(data: Data, bits: int = 8) -> None:
    rng = np.random.default_rng(0)
    everything = np.arange(len(data.classes))
    queries = balanced(everything, data.classes, 1000, rng)
    database = np.setdiff1d(everything, queries)
    encoder = LSH(bits).fit(data.features[database])
    first, second = encoder.encode(data.features[queries]), encoder.encode(data.features[database])
    truth = LabelTruth(Labels(classes=data.classes[queries]), Labels(classes=data.classes[database]))
    pairs = {"LSH": (first, second)}
    pairs |= {f"LSHSE s={tail}": extended(first, second, tail, same=True) for tail in (1, 8)}
    pairs["LSHDE s=1"] = extended(first, second, 1, same=False)
    tables = {name: count(*pair, truth) for name, pair in pairs.items()}
    print(f"\nJiang, Li and Li 2019, tables 2 and 3: LSH of {bits} bits on features of the pictures, 1,000 queries, "
          f"database of {len(database):,}")  # fmt: skip
    cuts = [len(database) * step // 59 for step in (5, 10, 15, 20, 25)]
    rules = PRESETS["ramap"]
    rows = [["paper", *(f"{value:.4f}" for value in TABLE_2)]]
    ranked = {}
    for name, table in tables.items():
        ranked[name] = [mean_average_precision(table, k, rules.denominator).expected or 0.0 for k in cuts]
        rows.append([name, *(f"{value:.4f}" for value in ranked[name])])
    print_table(rows, ["mAP of the first", *(f"{k:,}" for k in cuts)])
    rows, ramaps = [], {}
    for name, table in tables.items():
        curve = precision_recall_by_radius(table, empty_ball="zero")
        for what, values in (("precision", curve.precision_macro), ("recall", curve.recall_macro)):
            if name == "LSH":
                rows.append([f"{what}, paper", *(f"{value:.4f}" for value in TABLE_3[what])])
            rows.append([f"{what}, {name}", *(f"{value:.4f}" for value in values[:4])])
        ramaps[name] = ramap_by_radius(curve.precision_macro[:4], table.bits)
    for name, values in ramaps.items():
        rows.append([f"RAMAP, paper, {name}", *(f"{value:.4f}" for value in TABLE_3_RAMAP[name])])
        rows.append([f"RAMAP, {name}", *(f"{value:.4f}" for value in values)])
    print_table(rows, ["figure", "R=0", "1", "2", "3"])
    claim(
        "mAP does not tell the three codes apart",
        all(np.allclose(r, ranked["LSH"], atol=1e-9) for r in ranked.values()),
    )
    names = ["LSH", "LSHSE s=1", "LSHSE s=8", "LSHDE s=1"]
    falls = all(ramaps[a][r] > ramaps[b][r] for r in (1, 2, 3) for a, b in pairwise(names))
    claim("RAMAP@R: LSH above same- above different-extension, R = 1 to 3", falls)
