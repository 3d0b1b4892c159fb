"""Codes that authors have published, evaluated again: does relstudy find the figure that they print?

    python evidence/published_codes.py FOLDER

Central similarity quantisation (CSQ; Yuan et al. 2020) keeps 64-bit codes of two collections of videos in its
repository, github.com/yuanli2333/Hadamard-Matrix-for-hashing, with the order in which its program ranked them. FOLDER
is `video/dataset` of a copy of it. Printed, mAP in percent: as the name of the authors' model has it; by their order;
by `--preset csq`, the mean over every order of equal distances; and the least and the most that an order can give.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import relstudy as rs
from relstudy.common.runtime.console import print_table

PUBLISHED = (("UCF101", 100, 87.38), ("HMDB51", 70, 57.67))
"""Collection, cut-off, and the figure in the name of the model that `video/README.md` tests."""


def by_order(ids: np.ndarray, own: np.ndarray, theirs: np.ndarray, k: int) -> float:
    """mAP@k of rankings, int [ranks, queries], with the hits among the first k as denominator."""
    hits = own[:, None] == theirs[ids[:k]].T
    precision = hits.cumsum(axis=1) / np.arange(1, k + 1)
    found = hits.sum(axis=1)
    return float(np.where(found > 0, (precision * hits).sum(axis=1) / np.maximum(found, 1), 0.0).mean())


def row(folder: Path, name: str, k: int, published: float) -> list[str]:
    """The row of a collection."""
    queries, database, own, theirs, ids = (
        np.load(folder / name / f"{part}.npy")
        for part in ("test_hash", "database_hash", "test_label", "database_label", "ids")
    )
    counts = rs.hashing.count(queries >= 0, database >= 0, own, theirs)
    found = rs.hashing.evaluate(counts, k=k, preset="csq").table.loc[f"mAP@{k}"]
    figures = [by_order(ids, own, theirs, k), found["expected"], found["pessimistic"], found["optimistic"]]
    return [name, str(queries.shape[1]), str(k), f"{published:.2f}", *(f"{100 * each:.2f}" for each in figures)]


def main() -> None:
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    rows = [row(Path(sys.argv[1]), *each) for each in PUBLISHED]
    print_table(rows, ["codes", "bits", "k", "published", "authors' order", "--preset csq", "least", "most"])


if __name__ == "__main__":
    main()
