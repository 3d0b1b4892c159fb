"""Codes looked up by nibbles are counted as by the kernel for AVX-512 and as one by one, whatever the sizes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from llvmlite.binding import get_host_cpu_features

from relstudy.analysis.hashing.codes.packed import Codes
from relstudy.analysis.hashing.counting import kernels
from relstudy.analysis.hashing.counting.nibbles import BLOCK, FEWEST, TILE
from tests.places import ROOT

FEATURES = dict(get_host_cpu_features())
AVX2_ALONE = {
    "NUMBA_CPU_NAME": "haswell",
    "NUMBA_CPU_FEATURES": ",".join(
        f"{'+' if there and not name.startswith('avx512') else '-'}{name}" for name, there in FEATURES.items()
    ),
}
"""What makes numba compile for a processor without AVX-512."""

COUNT = """
import sys
import numpy as np
from relstudy.analysis.hashing.codes.packed import Codes
from relstudy.analysis.hashing.counting import counts, nibbles
from relstudy.analysis.hashing.truth.labels import Labels
from relstudy.analysis.hashing.truth.relevance import LabelTruth

assert nibbles.is_faster(nibbles.FEWEST, 200) and not nibbles.count_by_class.signatures
assert not nibbles.is_faster(nibbles.FEWEST - 1, 64) and not nibbles.is_faster(1000, 201)
with np.load(sys.argv[1]) as given:
    cases = [[given[f"{name}{case}"] for name in ("columns", "starts", "queries", "classes", "bits")]
             for case in range(len(given.files) // 5)]
answers = {}
for case, (columns, starts, queries, classes, bits) in enumerate(cases):
    answers[f"total{case}"], answers[f"relevant{case}"] = nibbles.count_by_class(
        columns, starts, queries, classes, int(bits))
own, theirs = Codes(cases[0][2].T.copy(), int(cases[0][4])), Codes(cases[0][0], int(cases[0][4]))
truth = LabelTruth(Labels(classes=np.zeros(len(own), int)), Labels(classes=np.zeros(len(theirs), int)))
assert (counts.count(own, theirs, truth).total == answers["total0"]).all()
np.savez(sys.argv[2], **answers)
print(len(nibbles.count_by_class.signatures))
"""

SIZES = [
    (64, 300, FEWEST, 1), (1, 1, 1, 1), (3, TILE, 2, 2), (4, TILE + 1, 3, 1), (7, 500, 9, 100), (8, TILE - 1, 8, 3),
    (12, 70_001, 5, 3), (63, 5 * TILE, 17, 7), (65, 999, 8, 100), (66, 2, 7, 2), (127, 640, 1, 10), (128, 513, 13, 10),
    (129, 400, 4, 100), (200, 300, 3, 5), (5, 4 * BLOCK + 3, 2, 2), (8, 4 * BLOCK, 1, 1),
]  # fmt: skip
"""Bits, codes, queries, classes; half of the codes are the first one again, so that ties are many."""


def case(bits: int, number: int, queries: int, classes: int) -> tuple[np.ndarray, ...]:
    """Arguments of `count_by_class`; some classes are empty, and some queries have a class that no code has."""
    random = np.random.default_rng(bits)
    table = random.random((number, bits)) < 0.4
    table[random.random(number) < 0.5] = table[0]
    table[-1] = True
    own = np.r_[~table[:1], table[random.integers(0, number, queries - 1)]]
    starts = np.r_[0, np.cumsum(np.bincount(random.integers(0, classes, number), minlength=classes))]
    query_classes = random.integers(-1, classes + 1, queries)
    return Codes.from_bits(table).columns, starts, Codes.from_bits(own).rows(), query_classes, np.array(bits)


@pytest.mark.slow
@pytest.mark.skipif(not FEATURES.get("avx2", False), reason="the processor has no AVX2")
def test_counts_by_nibbles_are_those_of_the_other_kernel_and_of_enumeration(tmp_path: Path) -> None:
    names, cases = ("columns", "starts", "queries", "classes", "bits"), [case(*size) for size in SIZES]
    given = {f"{name}{place}": part for place, each in enumerate(cases) for name, part in zip(names, each, strict=True)}
    np.savez(tmp_path / "given.npz", **given)
    words = [sys.executable, "-c", COUNT, str(tmp_path / "given.npz"), str(tmp_path / "counted.npz")]
    done = subprocess.run(
        words, cwd=ROOT, env={**os.environ, **AVX2_ALONE}, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "1\n"  # one compiled function for all of them
    with np.load(tmp_path / "counted.npz") as counted:
        for place, (columns, starts, queries, classes, bits) in enumerate(cases):
            total, relevant = counted[f"total{place}"], counted[f"relevant{place}"]
            other = kernels.count_by_class(columns, starts, queries, classes, int(bits))
            assert (total == other[0]).all() and (relevant == other[1]).all(), SIZES[place]
            database = Codes(columns, int(bits))
            for i, query in enumerate(queries):
                distance = database.distances_from(query)
                own = slice(*starts[classes[i] : classes[i] + 2]) if 0 <= classes[i] < len(starts) - 1 else slice(0)
                assert total[i].tolist() == np.bincount(distance, minlength=int(bits) + 1).tolist()
                assert relevant[i].tolist() == np.bincount(distance[own], minlength=int(bits) + 1).tolist()
