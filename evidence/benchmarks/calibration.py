"""Time calibration from frame to judgments against what pandas alone needs to average the same frame.

    python evidence/benchmarks/calibration.py [--ratings 10000000] [--raters 10000] [--pairs 1000000]

The peer is groupby(rater) mean and std plus groupby(pair) mean. Ours is the whole way: codes, base block, moments,
calibrated values, judgments with standard errors. Processor time (both run on one core), best of the
repeats; memory is the most held at once beyond the frame.
"""

from __future__ import annotations

import argparse
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

# This file has the package's name, so its folder must not come first.
sys.path[0] = str(Path(__file__).resolve().parents[2])

from relstudy.calibration.averaging import make_judgments  # noqa: E402
from relstudy.calibration.methods.by_name import fit_lines  # noqa: E402
from relstudy.calibration.panel import Panel  # noqa: E402

METHODS = ("mean", "zscore", "shrunk", "pooled")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ratings", type=int, default=10_000_000)
    parser.add_argument("--raters", type=int, default=10_000)
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=2)
    arguments = parser.parse_args()
    frame = make_frame(arguments.ratings, arguments.raters, arguments.pairs)
    print(
        f"{len(frame):,} ratings, {arguments.raters:,} raters, {arguments.pairs:,} pairs, "
        f"processor seconds, best of {arguments.repeats}"
    )
    for keys, name in ((["pair_id"], "pair_id (int)"), (["query_id", "result_id"], "query_id, result_id (int)")):
        compare(
            frame.drop(columns=list({"pair_id", "query_id", "result_id"} - set(keys))), keys, name, arguments.repeats
        )


def make_frame(ratings: int, raters: int, pairs: int, base: int = 100) -> pd.DataFrame:
    """Every rater rates the base pairs, and unique pairs at random; rows in random order."""
    rng = np.random.default_rng(0)
    base = min(base, ratings // (2 * raters))
    rater = np.concatenate([np.repeat(np.arange(raters), base), rng.integers(0, raters, ratings - raters * base)])
    pair = np.concatenate([np.tile(np.arange(base), raters), rng.integers(base, pairs, ratings - raters * base)])
    worth, leniency = rng.normal(size=pairs), rng.normal(0, 0.4, raters)
    rating = np.clip(np.round(3 + worth[pair] + leniency[rater] + rng.normal(0, 0.7, ratings)), 1, 5)
    order = rng.permutation(ratings)
    rater, pair, rating = rater[order], pair[order], rating[order]
    return pd.DataFrame(
        {
            "rater_id": rater,
            "pair_id": pair,
            "query_id": pair // 100,
            "result_id": pair % 100_000,
            "rating": rating,
            "base": pair < base,
        }
    )


def compare(frame: pd.DataFrame, keys: list[str], name: str, repeats: int) -> None:
    def peer() -> object:
        by_rater = frame.groupby("rater_id")["rating"].agg(["mean", "std"])
        return by_rater, frame.groupby(keys)["rating"].mean()

    peer_time = best(peer, repeats)
    print(f"\npairs by {name}\n{'':28}{'seconds':>9}{'ratio':>8}{'extra memory, MB':>18}")
    print(f"{'pandas groupbys':28}{peer_time:9.2f}{1.0:8.2f}{extra_memory(peer):18.0f}")
    for method in METHODS:

        def ours(method: str = method) -> object:
            panel = Panel.from_frame(frame)
            return make_judgments(panel, fit_lines(panel, method).calibrated(panel))

        seconds = best(ours, repeats)
        print(f"{'relstudy, ' + method:28}{seconds:9.2f}{seconds / peer_time:8.2f}{extra_memory(ours):18.0f}")


def best(function: Callable[[], object], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return min(times)


def extra_memory(function: Callable[[], object]) -> float:
    """Most memory held at once beyond what there was before, MB."""
    tracemalloc.start()
    function()
    extra = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return extra


if __name__ == "__main__":
    main()
