"""How often, and how far, a local optimiser of the correlation ends below the convex optimum.

    python evidence/mapping_local_optimum.py [FOLDER] [--tries 2]

Every system of FOLDER (default: ../shared/data/tifa160_likert), its scores pooled into 20 and 50 bins; SciPy's SLSQP
from three kinds of start, random ones by --tries seeds. The shortfall is that of the correlation of mapped scores from
the isotonic fit's, which is the greatest there is.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from mapping_tifa160 import DATA, load

from relstudy.common.runtime.console import print_table, progress
from relstudy.mapping.correlation.optimum import closed_form
from relstudy.mapping.paper.local_search import STARTS, maximise_correlation
from relstudy.mapping.tied_scores import into_bins, is_increasing, pool

BINS = (20, 50)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=DATA)
    parser.add_argument("--tries", type=int, default=2, help="random starts of each system")
    arguments = parser.parse_args()
    systems = list(load(arguments.folder).groupby("system"))
    rows: dict[tuple[int, str], list[tuple[float, int, bool, float]]] = {}
    for _, part in progress(systems, "systems"):
        x, y = part["score"].to_numpy(), part["judgment"].to_numpy()
        increasing = is_increasing(x, y)
        for bins in BINS:
            pooled = into_bins(pool(x, y), bins)
            best = closed_form(pooled, increasing)[1]
            for start in STARTS:
                for seed in range(arguments.tries if start == "random" else 1):
                    begun = time.process_time()
                    optimum = maximise_correlation(pooled, increasing, start, np.random.default_rng(seed))
                    seconds = time.process_time() - begun
                    shortfall = best - optimum.correlation
                    rows.setdefault((bins, start), []).append((shortfall, optimum.steps, optimum.settled, seconds))
    body = []
    for (bins, start), runs in rows.items():
        shortfall, steps, settled, _ = (np.array(column) for column in zip(*runs, strict=True))
        shares = [f"{np.mean(shortfall > limit):.0%}" for limit in (1e-4, 1e-3, 1e-2)]
        worst = f"{np.median(shortfall):.5f}", f"{shortfall.max():.5f}"
        body.append(
            [str(bins), start, str(len(runs)), *shares, *worst, f"{np.median(steps):.0f}", f"{settled.mean():.0%}"]
        )
    print_table(
        body,
        ["bins", "start", "runs", "> .0001 below", "> .001", "> .01", "median", "worst", "median steps", "settled"],
    )


if __name__ == "__main__":
    main()
