"""Whether two checkouts print the same figures: what a change that should move nothing is held against.

    git worktree add ../before HEAD~20
    python scripts/same_figures.py ../before . [--data ../shared/data] [--study demo]

Runs calibrate, fit, score, judge-check, report, plan and hash evaluate with the code of each checkout on data/example,
on the public ratings and the TREC files where `--data` has them, and on a study's folder that `--study` names (such as
a demo's). Prints each figure that one has and the other has not, or has otherwise, and ends with 1 if there is any
but an addition.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

MOST_SHOWN = 12
"""Lines a command."""

EXAMPLE = {
    "calibrate": "calibrate example/ratings.csv --pairs example/pairs.csv -o calibrated --json",
    "fit": "fit example/scores/gift.csv example/scores/keywords.csv -j example/judgments.csv -o fitted --json",
    "score": "score example --by paradigm --save kept.json --replicates 300 --json",
    "score two": "score example/scores/gift.csv example/scores/keywords.csv -j example/judgments.csv --json",
    "judge check": "judge-check example --judge model --replicates 300 --json",
    "report": "report example --replicates 300 --json",
    "plan": "plan --correlations 0.5,0.4 --power 0.8 --json",
    "hash count": "hash count --queries q.npy --database d.npy --query-labels yq.npy --database-labels y.npy -o t.npz",
    "hash evaluate": "hash evaluate t.npz --k 10 --k 100 --radius 2 --json",
}
PUBLIC = {
    "tifa160 calibrate": "calibrate data/tifa160_likert/ratings.csv -o tifa --json",
    "tifa160 fit": "fit data/tifa160_likert/system_scores_tifa_release.csv -j tifa/judgments.csv -o tifa-maps --json",
    "tifa160 score": "score data/tifa160_likert/system_scores_tifa_release.csv -j tifa/judgments.csv --json",
    "trec score": "score data/trec_eval_test/results.test -j data/trec_eval_test/qrels.test --json",
}
STUDY = {
    "study calibrate": "calibrate study/ratings.csv --pairs study/pairs.csv -o recalibrated --json",
    "study score": "score study --replicates 300 --json",
    "study report": "report study --replicates 300 --json",
}


def printed(checkout: Path, data: Path | None, study: Path | None) -> dict[str, Any]:
    """The JSON of each command, or what it says where it fails."""
    commands = EXAMPLE | (PUBLIC if data else {}) | (STUDY if study else {})
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        shutil.copytree(checkout / "data" / "example", here / "example")
        if data:
            (here / "data").symlink_to(data)
        if study:
            shutil.copytree(study, here / "study")
        random = np.random.default_rng(0)
        judged = pd.read_csv(here / "example" / "judgments.csv")
        grades = (judged["judgment"] + random.normal(size=len(judged))).round().clip(1, 5).astype(int)
        (here / "example" / "judges").mkdir()
        judged[["query_id", "result_id"]].assign(rating=grades).to_csv(here / "example/judges/model.csv", index=False)
        for name, shape, most in (("q", (50, 32), 2), ("d", (900, 32), 2), ("yq", 50, 5), ("y", 900, 5)):
            np.save(here / f"{name}.npy", random.integers(0, most, shape).astype(bool if most == 2 else int))
        return {name: _run(checkout, here, command) for name, command in commands.items()}


def _run(checkout: Path, folder: Path, command: str) -> Any:
    run = subprocess.run(
        [sys.executable, "-m", "relstudy", *command.split()],
        cwd=folder, env={**os.environ, "PYTHONPATH": str(checkout)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if run.returncode:
        return {"failed": run.stderr.strip()}
    return json.loads(run.stdout) if command.endswith("--json") else {}


def differences(before: Any, after: Any, where: str = "") -> Iterator[tuple[str, bool]]:
    """What differs, a line each, and whether it is no more than an addition."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name in [*before, *(name for name in after if name not in before)]:
            here = f"{where}.{name}" if where else str(name)
            if name not in after:
                yield f"{here}: gone, was {_short(before[name])}", False
            elif name not in before:
                yield f"{here}: new, {_short(after[name])}", True
            else:
                yield from differences(before[name], after[name], here)
    elif isinstance(before, list) and isinstance(after, list) and all(isinstance(each, str) for each in before + after):
        yield from ((f"{where}: gone, was {_short(each)}", False) for each in before if each not in after)
        yield from ((f"{where}: new, {_short(each)}", True) for each in after if each not in before)
    elif isinstance(before, list) and isinstance(after, list):
        for number, (old, new) in enumerate(zip(before, after, strict=False)):
            yield from differences(old, new, f"{where}[{number}]")
        if len(before) != len(after):
            yield f"{where}: {len(before)} entries, now {len(after)}", len(after) > len(before)
    elif before != after:
        yield f"{where}: {_short(before)}, now {_short(after)}", False


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) < 160 else f"{text[:157]}..."


def main() -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--study", type=Path)
    given = parser.parse_args()
    data, study = (each.resolve() if each else None for each in (given.data, given.study))
    old, new = (printed(checkout.resolve(), data, study) for checkout in (given.before, given.after))
    changed = 0
    for name, figures in old.items():
        found = list(differences(figures, new[name]))
        changed += sum(not added for _, added in found)
        print(f"{name}: {'the same' if not found else f'{len(found)} differences'}")
        for line, _ in sorted(found, key=lambda each: each[1])[:MOST_SHOWN]:
            print(f"    {line}")
        if len(found) > MOST_SHOWN:
            print(f"    and {len(found) - MOST_SHOWN} more")
    sys.exit(1 if changed else 0)


if __name__ == "__main__":
    main()
