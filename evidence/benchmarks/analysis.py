"""Speed of scoring, beside the libraries it is checked against, in one run.

    python evidence/benchmarks/analysis.py [--quick]

Prints one table: what, ours in seconds, the peer or the limit, and the ratio of ours to it; and the same ratio in
processor time, which a busy machine does not disturb.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

# ruff: noqa: E402
# this script carries the name of a package that it measures, and Python looks beside the script first
sys.path = [place for place in sys.path if Path(place).resolve() != Path(__file__).resolve().parent]

import numpy as np
import pandas as pd

from relstudy.analysis.indices.correlation import CorrelationBootstrap
from relstudy.analysis.indices.precision_recall import Retrieval, average_precision, precision_recall_curve
from relstudy.analysis.resampling.draws import Draws, two_stages, whole_queries
from relstudy.common.runtime.console import print_table


class Took(NamedTuple):
    """Seconds by the clock and of all processor cores together."""

    clock: float
    processor: float

    def times(self, factor: float) -> Took:
        return Took(self.clock * factor, self.processor * factor)


def seconds(work: Callable[[], object], repeats: int = 1) -> Took:
    """The least clock time and the least processor time of `repeats` runs."""
    clock, processor = [], []
    for _ in range(repeats):
        start, start_processor = time.perf_counter(), time.process_time()
        work()
        clock.append(time.perf_counter() - start)
        processor.append(time.process_time() - start_processor)
    return Took(min(clock), min(processor))


def row(what: str, ours: Took, peer: str, theirs: Took) -> list[str]:
    ratios = [f"{ours.clock / theirs.clock:.3f}", f"{ours.processor / theirs.processor:.3f}"]
    return [what, f"{ours.clock:.2f}", peer, f"{theirs.clock:.2f}", *ratios]


def bootstrap_rows(pairs: int, systems: int, replicates: int) -> list[list[str]]:
    """Every index of every system in every replicate; a Python loop over scikit-learn and SciPy as the peer.

    Once with whole queries drawn, and once with queries and pairs, as from a finite population of queries; the time to
    draw is part of both.
    """
    random = np.random.default_rng(0)
    queries = pairs // 40
    query = random.integers(0, queries, pairs)
    truth = random.normal(size=pairs)
    judgment = np.round(3 + truth, 3)
    relevant = judgment > 4
    weight = np.exp(random.normal(size=pairs))
    scores = [0.6 * truth + 0.8 * random.normal(size=pairs) for _ in range(systems)]
    fraction, given_query = np.full(queries, 0.3), random.uniform(0.05, 1, pairs)
    ways: list[tuple[str, Callable[[int], Draws]]] = [
        ("", lambda number: whole_queries(query, queries, number, 0)),
        (", of a finite population", lambda number: two_stages(query, fraction, given_query, number, 0)),
    ]
    small = ways[0][1](4).times
    warm = CorrelationBootstrap(query, judgment, small)
    warm.correlate(scores[0])
    Retrieval(query, relevant, small).indices(scores[0], weight)

    def four(draw: Callable[[int], Draws]) -> None:
        draws = draw(replicates)
        judgments = CorrelationBootstrap(draws.row, judgment, draws.times)
        retrieval = Retrieval(draws.row, relevant, draws.times, queries)
        for score in scores:
            judgments.correlate(score, ("pearson", "spearman"))
            retrieval.indices(score, weight)

    def kendall(draw: Callable[[int], Draws]) -> None:
        draws = draw(replicates)
        judgments = CorrelationBootstrap(draws.row, judgment, draws.times)
        for score in scores:
            judgments.correlate(score, ("kendall",))

    def loop() -> None:
        from scipy import stats
        from sklearn.metrics import average_precision_score, roc_auc_score

        for column in range(2):
            times = small[query, column]
            drawn = np.repeat(np.arange(pairs), times.astype(int))
            np.corrcoef(scores[0][drawn], judgment[drawn])
            stats.spearmanr(scores[0][drawn], judgment[drawn])
            average_precision_score(relevant, scores[0], sample_weight=weight * times)
            roc_auc_score(relevant, scores[0], sample_weight=weight * times)

    def loop_kendall() -> None:
        from scipy import stats

        for column in range(2):
            drawn = np.repeat(np.arange(pairs), small[query, column].astype(int))
            stats.kendalltau(scores[0][drawn], judgment[drawn])

    size = f"{pairs:,} pairs x {systems} systems x {replicates} replicates"
    whole = systems * replicates / 2
    rows = []
    for name, work, peer, limit in (
        ("Pearson, Spearman, AP, norm. rank", four, loop, 10),
        ("Kendall's tau-b", kendall, loop_kendall, 60),
    ):
        peer()  # its imports are not what is measured
        theirs = seconds(peer).times(whole)
        for said, draw in ways:
            ours = seconds(partial(work, draw))
            text = f"{name}: {size}" if not said else f"  the same{said}"
            rows.append(
                [text, f"{ours.clock:.2f}", f"limit {limit} s", f"{limit:.2f}", f"{ours.clock / limit:.3f}", ""]
            )
            rows.append(row("", ours, "SciPy and scikit-learn in a loop*", theirs))
    return rows


def curve_rows(pairs: int) -> list[list[str]]:
    """The weighted precision-recall curve and average precision of many pairs."""
    from sklearn.metrics import average_precision_score
    from sklearn.metrics import precision_recall_curve as peer_curve

    random = np.random.default_rng(1)
    score = random.normal(size=pairs)
    relevant = score + random.normal(size=pairs) > 2
    weight = np.exp(random.normal(size=pairs))
    rows = []
    for name, ours, theirs in (
        (
            "weighted PR curve",
            lambda: precision_recall_curve(relevant, score, weight),
            lambda: peer_curve(relevant, score, sample_weight=weight),
        ),
        (
            "weighted average precision",
            lambda: average_precision(relevant, score, weight),
            lambda: average_precision_score(relevant, score, sample_weight=weight),
        ),
    ):
        a, b = seconds(ours, 3), seconds(theirs, 3)
        rows.append(row(f"{name}: {pairs:,} pairs", a, "scikit-learn", b))
    bare = seconds(lambda: np.sort(score), 3)
    rows.append(["  a bare sort of as many", f"{bare.clock:.2f}", "", "", "", ""])
    return rows


def run_rows(lines: int) -> list[list[str]]:
    """Reading a TREC run."""
    import ir_measures

    from relstudy.mapping.scores.score_files import read_scores

    random = np.random.default_rng(2)
    query = np.repeat(np.arange(lines // 1000), 1000)
    frame = pd.DataFrame({"q": query, "Q0": "Q0"})
    frame["d"] = [f"FR940202-2-{k:05d}" for k in random.permutation(10 * len(query))[: len(query)]]
    frame["rank"] = np.tile(np.arange(1, 1001), lines // 1000)
    frame["score"] = np.round(random.normal(size=len(query)), 6)
    frame["tag"] = "STANDARD"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "big.run"
        frame.to_csv(file, sep=" ", header=False, index=False)
        ours = seconds(lambda: read_scores(file), 3)
        theirs = seconds(lambda: pd.DataFrame(ir_measures.read_trec_run(str(file))), 3)
        listed = seconds(lambda: list(ir_measures.read_trec_run(str(file))), 3)
        bare = seconds(lambda: sum(1 for _ in ir_measures.read_trec_run(str(file))), 3)
    text = f"TREC run read and checked: {len(query):,} lines"
    return [
        row(text, ours, "ir-measures, into a table", theirs),
        row("", ours, "ir-measures, into a list", listed),
        row("", ours, "ir-measures, lines counted only", bare),
    ]


def whole_command_row(pairs: int, systems: int) -> list[list[str]]:
    """Scoring as the command does it: direction, all indices, comparisons, orderings, per query."""
    from relstudy.analysis.scoring.options import ScoringOptions
    from relstudy.analysis.scoring.run import score_systems

    random = np.random.default_rng(3)
    ids = {
        "query_id": np.repeat([f"q{k}" for k in range(pairs // 40)], 40),
        "result_id": [f"r{k}" for k in range(pairs)],
    }
    truth = random.normal(size=pairs)
    judgments = pd.DataFrame(ids | {"judgment": 3 + truth, "inclusion_probability": random.uniform(0.05, 1, pairs)})
    judgments["inclusion_probability"] *= 0.3
    judgments["query_probability"] = 0.3
    scores = pd.concat(
        [pd.DataFrame(ids | {"system": f"s{k}", "score": truth + random.normal(size=pairs)}) for k in range(systems)]
    )
    took = seconds(lambda: score_systems(judgments, scores, options=ScoringOptions(measures=())))
    return [[f"everything in one call: {pairs:,} pairs x {systems} systems", f"{took.clock:.2f}", "", "", "", ""]]


def raters_row(pairs: int, systems: int, raters: int = 12) -> list[list[str]]:
    """The same with one rating per pair, and intervals that speak of any raters like those who rated."""
    from relstudy.analysis.scoring.options import ScoringOptions
    from relstudy.analysis.scoring.run import score_systems
    from relstudy.calibration.averaging import make_judgments
    from relstudy.calibration.methods.by_name import fit_lines
    from relstudy.calibration.panel import Panel

    random = np.random.default_rng(4)
    ids = pd.DataFrame({"query_id": np.repeat([f"q{k}" for k in range(pairs // 40)], 40)})
    ids["result_id"] = [f"r{k}" for k in range(pairs)]
    design = ids.assign(inclusion_probability=0.3 * random.uniform(0.05, 1, pairs), query_probability=0.3)
    truth, rater = random.normal(size=pairs), random.integers(0, raters, pairs)
    felt = 3 + truth + 0.3 * random.normal(size=raters)[rater] + 0.5 * random.normal(size=pairs)
    rating, names = np.clip(np.round(felt), 1, 5), pd.Index([f"rater {k}" for k in range(raters)])
    panel = Panel(rater, np.arange(pairs), rating, np.zeros(pairs, dtype=bool), names, design, 1.0, 5.0)
    judgments = make_judgments(panel, fit_lines(panel, "pooled").calibrated(panel))
    scores = pd.concat([ids.assign(system=f"s{k}", score=truth + random.normal(size=pairs)) for k in range(systems)])
    took = seconds(lambda: score_systems(judgments, scores, options=ScoringOptions(measures=(), raters="any")))
    text = f"  the same with {raters} raters as a sample"
    return [[text, f"{took.clock:.2f}", "limit 60 s", "60.00", f"{took.clock / 60:.3f}", f"{took.processor / 60:.3f}"]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the size")
    scale = 10 if parser.parse_args().quick else 1
    rows = [
        *bootstrap_rows(20_000 // scale, 20, 1000),
        *curve_rows(10_000_000 // scale),
        *run_rows(1_000_000 // scale),
        *whole_command_row(20_000 // scale, 20),
        *raters_row(20_000 // scale, 20),
    ]
    print_table(rows, ["what", "ours (s)", "beside", "its (s)", "ratio", "of processor time"])
    print(f"\n{os.cpu_count()} processor cores. * two replicates of one system measured, times systems and replicates.")


if __name__ == "__main__":
    main()
