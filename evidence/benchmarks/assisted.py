"""Speed and memory of scoring with the systems' own scores as a judge.

    python evidence/benchmarks/assisted.py [--quick] [--all-judged]

20 systems, 20,000 judged pairs of 1,000 queries, 10^6 candidates of 4,000 queries: every index, every difference of two
systems, 1,000 replicates, from the tables in memory to the assisted figures. With --all-judged the candidates are all
of the 1,000 judged queries, so that every candidate counts in every replicate. Limits: 60 s and 3 GB.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import time
from pathlib import Path

# ruff: noqa: E402
# this folder holds files with the names of packages, so it must not come first
sys.path[0] = str(Path(__file__).resolve().parents[2])

import numpy as np
import pandas as pd

from relstudy.analysis.judges.run import assist_by_systems
from relstudy.analysis.judges.systems import systems_judge
from relstudy.analysis.scoring.candidate import candidate_of
from relstudy.analysis.scoring.judged_pairs import JudgedPairs
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.common.runtime.console import print_table

SYSTEMS, CANDIDATES, PAIRS, JUDGED_QUERIES, QUERIES = 20, 1_000_000, 20_000, 1_000, 4_000


def gigabytes() -> float:
    """The most memory that the process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tenth of the size")
    parser.add_argument("--all-judged", action="store_true", help="all candidates are of judged queries")
    given = parser.parse_args()
    scale = 10 if given.quick else 1
    candidates, pairs, judged = CANDIDATES // scale, PAIRS // scale, JUDGED_QUERIES // scale
    queries = judged if given.all_judged else QUERIES // scale
    random = np.random.default_rng(1)
    query = np.repeat(np.arange(queries), candidates // queries)
    worth = random.normal(size=len(query))
    ids = pd.DataFrame(
        {
            "query_id": np.array([f"q{k}" for k in range(queries)], dtype=object)[query],
            "result_id": np.array([f"r{k}" for k in range(len(query))], dtype=object),
        }
    )
    scores = {f"s{k}": ids.assign(score=worth + 2 * random.normal(size=len(query))) for k in range(SYSTEMS)}
    each, drawn = candidates // queries, pairs // judged
    row = (np.arange(judged)[:, None] * each + np.argsort(random.random((judged, each)), axis=1)[:, :drawn]).ravel()
    rating = np.clip(np.round(2 + worth[row] + 0.5 * random.normal(size=len(row))), 1, 5)
    judgments = ids.iloc[row].assign(
        judgment=rating, relevant_share=(rating > 3.5) * 1.0, relevance_cut=3.5, scale_low=1.0, scale_high=5.0,
        query_probability=judged / queries, inclusion_probability=judged / queries * drawn / each,
    )  # fmt: skip
    options = ScoringOptions(method="none", measures=(), directions={"*": "higher"})
    sample = JudgedPairs.of(judgments.reset_index(drop=True))
    systems = [candidate_of(sample, name, rows, options) for name, rows in scores.items()]
    before = gigabytes()
    start, processor = time.perf_counter(), time.process_time()
    found = assist_by_systems(systems_judge(systems, scores), sample, systems, options)
    took, of_processor = time.perf_counter() - start, time.process_time() - processor
    widths = [each.width_ratio for figures in found.systems.values() for each in figures.values() if each.width_ratio]
    what = f"{SYSTEMS} systems x {pairs:,} pairs x {len(query):,} candidates of {queries:,} queries"
    cells = [f"{took:.1f}", f"{of_processor:.1f}", f"{60 / scale:.0f}", f"{before:.2f}", f"{gigabytes():.2f}", "3.00"]
    header = ["what", "seconds", "of processor", "limit", "GB before", "GB at most", "limit"]
    print_table([[what, *cells]], header)
    print(f"\n{os.cpu_count()} processor cores; mean width of intervals with help {np.mean(widths):.2f}.")


if __name__ == "__main__":
    main()
