"""Mapping: ours and the named peer in one run, and the goals.

    python evidence/benchmarks/mapping.py [--large] [--pymc]

--large adds 10 million pairs (about 2 GB of memory); --pymc adds the PyMC engine (a minute).
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

# this file bears the name of the package it measures, which must be found first
sys.path[:] = [folder for folder in sys.path if Path(folder).resolve() != Path(__file__).resolve().parent]


LARGE_GIB = 3


def seconds(work: Callable[[], object], repeats: int = 3) -> float:
    """Processor seconds of the best of some runs: what the code costs, whatever else the machine does."""
    best = np.inf
    for _ in range(repeats):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def row(what: str, ours: float, peer: float | None, peer_name: str, goal: str) -> None:
    ratio = "" if peer is None else f"{ours / peer:.3f}"
    theirs = "" if peer is None else f"{peer:.3f}"
    print(f"{what:58} {ours:9.3f} {theirs:>9} {ratio:>7}  {peer_name:28} {goal}")


def pairs(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    x = rng.uniform(size=n)
    step = 1.5 + 1.0 * (x > 0.3) + 1.2 * (x > 0.7)
    return x, np.clip(np.round(step + rng.normal(size=n) * 1.1), 1, 5), rng.uniform(0.5, 2, n)


def isotonic(n: int) -> None:
    from sklearn.isotonic import IsotonicRegression

    from relstudy.mapping.least_squares.isotonic import IsotonicMapping

    x, y, w = pairs(n)
    repeats = 3 if n < 5_000_000 else 2
    ours = seconds(lambda: IsotonicMapping(increasing=True).fit(x, y, sample_weight=w), repeats)
    peer = seconds(lambda: IsotonicRegression(increasing=True).fit(x, y, sample_weight=w), repeats)
    row(f"isotonic fit, {n:,} unsorted weighted pairs", ours, peer, "scikit-learn", "ratio <= 0.5")


def bagged() -> None:
    from sklearn.isotonic import IsotonicRegression

    from relstudy.mapping.least_squares.isotonic import BaggedMapping

    x, y, _ = pairs(20_000)

    def peer() -> None:
        rng = np.random.default_rng(0)
        for _ in range(20):
            index = rng.integers(0, len(x), len(x))
            IsotonicRegression().fit(x[index], y[index])

    ours = seconds(lambda: BaggedMapping(bagged=1000, increasing=True).fit(x, y), 1)
    row(
        "1,000 bootstrap isotonic fits, 20,000 pairs",
        ours,
        seconds(peer, 1) * 50,
        "scikit-learn (20 fits x 50)",
        "<= 10 s",
    )


def splines() -> None:
    from relstudy.mapping.correlation.mapping import CorrelationMapping

    x, y, _ = pairs(20_000)
    CorrelationMapping().fit(x[:200], y[:200])
    row("correlation I-spline, 20,000 pairs", seconds(lambda: CorrelationMapping().fit(x, y)), None, "", "<= 1 s")


def bayes(with_pymc: bool) -> None:
    from relstudy.mapping.changepoint.mapping import BayesMapping
    from relstudy.mapping.paper.ogive.mapping import OgiveMapping

    x, y, _ = pairs(20_000)
    exact = seconds(lambda: BayesMapping(scale=(1, 5)).fit(x, y))
    row("exact Bayesian fit, 20,000 pairs", exact, None, "", "<= 0.5 s")
    conjugate = seconds(lambda: BayesMapping(prior="conjugate").fit(x, y))
    row("the same with conjugate priors", conjugate, None, "", "")
    BayesMapping(engine="sampler").fit(x[:200], y[:200])
    chains = seconds(lambda: BayesMapping(engine="sampler").fit(x, y), 1)
    row("sampled steps, 4 chains of 2,000 draws, 20,000 pairs", chains, None, "", "")
    OgiveMapping().fit(x[:200], y[:200])
    row(
        "sampled ogives, 4 chains of 1,000 draws, 20,000 pairs",
        seconds(lambda: OgiveMapping().fit(x, y), 1),
        None,
        "",
        "",
    )
    if with_pymc:
        with tempfile.TemporaryDirectory() as fresh:
            os.environ["PYTENSOR_FLAGS"] = f"base_compiledir={fresh}"
            start = time.perf_counter()
            BayesMapping(scale=(1, 5), engine="pymc").fit(x, y)
            sampled = time.perf_counter() - start
        row("exact engine against PyMC, compiling included", conjugate, sampled, "PyMC engine", "ratio <= 0.01")


def runs() -> None:
    import ir_measures

    from relstudy.mapping.scores.score_files import read_scores

    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "big.run")
        with open(path, "w") as file:
            for query in range(1000):
                for rank, document in enumerate(rng.permutation(100_000)[:1000], start=1):
                    file.write(f"q{query} Q0 doc{document} {rank} {1 / rank:.6f} bm25\n")
        ours = seconds(lambda: read_scores(path))
        peer = seconds(lambda: sum(1 for _ in ir_measures.read_trec_run(path)))
    row("TREC run of 1,000,000 lines, read and checked", ours, peer, "ir-measures", "ratio <= 1")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--large", action="store_true", help="also 10 million pairs")
    parser.add_argument("--pymc", action="store_true", help="also the PyMC engine")
    arguments = parser.parse_args()
    print(f"{'processor seconds (PyMC: by the clock)':58} {'ours':>9} {'peer':>9} {'ratio':>7}  {'peer':28} goal")
    isotonic(1_000_000)
    if arguments.large:
        free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
        if free < LARGE_GIB:
            print(f"10,000,000 pairs: left out, {free:.1f} GiB of memory are free and {LARGE_GIB} are needed")
        else:
            isotonic(10_000_000)
    bagged()
    splines()
    bayes(arguments.pymc)
    runs()


if __name__ == "__main__":
    main()
