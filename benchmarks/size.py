"""What each command costs as a study grows: processor seconds and peak memory, each step a process of its own.

    python benchmarks/size.py                                   # 4,000, 40,000 and 200,000 pairs, 5 systems
    python benchmarks/size.py --pairs 1000 4000 --steps calibrate
    python benchmarks/size.py --pairs 20000 --systems 20 --steps fit score

Tables are drawn with a fixed seed: raters whose leniency, stretch and noise differ, 30 base pairs that everybody rates,
three ratings a pair beyond them, twenty pairs a query, systems that see a pair's worth through noise. The exponent is
the slope of log seconds on log pairs from the size before: 1 is linear. Seconds are the processor's, of the process and
its children; memory is the most that the process held.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parent.parent
sys.path[0] = str(ROOT)  # this folder holds files with the names of packages, so it must not come first

from relstudy.common.console import print_table  # noqa: E402

BASE, RATINGS_A_PAIR, PAIRS_A_RATER, PAIRS_A_QUERY = 30, 3, 1500, 20
COMMANDS = {
    "calibrate": ["calibrate", "."],
    "fit": ["fit", ".", "--method", "isotonic"],
    "score": ["score", "."],
    "report": ["report", "."],
}
IN_ITS_PROCESS = """
import json, resource, sys
from relstudy.studyapp.cli import main
try:
    main(sys.argv[2:], prog_name="relstudy")
except SystemExit as end:
    code = end.code or 0
else:
    code = 0
own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
seconds = sum(each.ru_utime + each.ru_stime for each in (own, children))
json.dump({"code": code, "seconds": seconds, "megabytes": own.ru_maxrss / 1024}, open(sys.argv[1], "w"))
"""


def make_tables(folder: Path, pairs: int, systems: int, seed: int = 20260101) -> int:
    """Writes ratings.csv and scores/systems.csv of a study of so many pairs; the number of ratings."""
    rng = np.random.default_rng(seed)
    raters = max(6, -(-pairs * RATINGS_A_PAIR // PAIRS_A_RATER))
    query = np.arange(pairs) // PAIRS_A_QUERY
    worth = rng.normal(size=pairs) + 0.5 * rng.normal(size=query[-1] + 1)[query]
    leniency, stretch = rng.normal(0, 0.45, raters), np.exp(rng.normal(0, 0.25, raters))
    noise = 0.6 * np.exp(rng.normal(0, 0.2, raters))
    handed = np.argsort(rng.random((pairs - BASE, raters)), axis=1)[:, :RATINGS_A_PAIR] if raters <= 64 else None
    if handed is None:  # three raters at random, apart by construction
        first = rng.integers(0, raters, pairs - BASE)
        handed = (first[:, None] + np.arange(RATINGS_A_PAIR) * (raters // RATINGS_A_PAIR)) % raters
    rater = np.concatenate([np.tile(np.arange(raters), BASE), handed.ravel()])
    pair = np.concatenate([np.repeat(np.arange(BASE), raters), np.repeat(np.arange(BASE, pairs), RATINGS_A_PAIR)])
    seen = 3 + leniency[rater] + stretch[rater] * worth[pair] + noise[rater] * rng.normal(size=len(rater))
    ids = pd.DataFrame({"query_id": np.char.mod("q%d", query), "result_id": np.char.mod("r%d", np.arange(pairs))})
    ratings = ids.iloc[pair].assign(
        rater_id=np.char.mod("rater%d", rater),
        rating=np.clip(np.round(seen), 1, 5).astype(int),
        scale="1-5",
        block=np.where(pair < BASE, "base", "unique"),
    )
    ratings.to_csv(folder / "ratings.csv", index=False)
    steps = 0.5 * np.arange(systems) / max(systems - 1, 1)
    scores = {f"system{k}": np.round(worth + (0.5 + step) * rng.normal(size=pairs), 6) for k, step in enumerate(steps)}
    (folder / "scores").mkdir()
    ids.assign(**scores).to_csv(folder / "scores" / "systems.csv", index=False)
    return len(ratings)


def run_step(folder: Path, step: str) -> dict[str, float]:
    """Processor seconds and megabytes of a command in a process of its own; ends the script where it fails."""
    answer = folder / "cost.json"
    command = [sys.executable, "-c", IN_ITS_PROCESS, str(answer), *COMMANDS[step]]
    ended = subprocess.run(
        command, cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True
    )
    cost = json.loads(answer.read_text()) if answer.exists() else {"code": ended.returncode}
    if cost["code"]:
        raise SystemExit(f"{step} failed:\n{ended.stdout[-2000:]}\n{ended.stderr[-2000:]}")
    return dict(cost)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, nargs="+", default=[4_000, 40_000, 200_000])
    parser.add_argument("--systems", type=int, default=5)
    parser.add_argument("--steps", nargs="+", choices=list(COMMANDS), default=list(COMMANDS))
    given = parser.parse_args()
    rows: list[list[str]] = []
    before: dict[str, tuple[int, float]] = {}
    for pairs in sorted(given.pairs):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            ratings = make_tables(folder, pairs, given.systems)
            for step in COMMANDS:
                if step not in given.steps and step != "calibrate":
                    continue
                cost = run_step(folder, step)  # the other steps need the judgments of calibrate
                if step not in given.steps:
                    continue
                exponent = ""
                if step in before:
                    smaller, seconds = before[step]
                    exponent = f"{math.log(cost['seconds'] / seconds) / math.log(pairs / smaller):.2f}"
                before[step] = pairs, cost["seconds"]
                size = [f"{ratings:,}", f"{pairs:,}", str(given.systems)]
                rows.append([step, *size, f"{cost['seconds']:.1f}", f"{cost['megabytes']:,.0f}", exponent])
                print(f"{step}, {pairs:,} pairs: {cost['seconds']:.1f} s, {cost['megabytes']:,.0f} MB", file=sys.stderr)
    print_table(rows, ["command", "ratings", "pairs", "systems", "seconds", "MB", "exponent"])
    print(f"\n{os.cpu_count()} processor cores.")


if __name__ == "__main__":
    main()
