"""Run commands on small inputs with options in pairs: every value of every option beside every value of every other.

    python scripts/option_pairs.py [COMMAND ...] [--most ROWS] [--slow]

Options and their values come from the commands' own declarations. Each run must end in a result or in a sentence.
Prints a line for each traceback, and for each command how many rows ended in a result; ends with 1 where there was any
traceback. `--slow` adds the values that sample for seconds. tests/project/test_option_pairs.py runs a part of it.
"""

from __future__ import annotations

import argparse
import itertools
import random
import shutil
import sys
import tempfile
import traceback
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import click
import numpy as np
from click.testing import CliRunner

from relstudy.studyapp.cli import main

ROOT = Path(__file__).resolve().parent.parent
SLOW = {
    *("bayes", "bayes-sampler", "bayes-pymc", "bayes-conjugate", "ogive", "local", "local-bagged", "best", "all"),
    *("sampler", "pymc", "dask", "quadratic-bagged", "ordinal", "improved"),
}
GIVEN: dict[str, tuple[str, ...]] = {
    "--threshold": ("1", "3", "5"),
    "--measure": ("P@5", "nDCG@10", "AP"),
    "--power": ("0", "5"),
    "--primary": ("pearson", "average_precision", "P@5"),
    "--matters": ("0.01",),
    "--level": ("0.5", "0.999"),
    "--folds": ("2", "40"),
    "--pool-depth": ("1", "100"),
    "--direction": ("higher", "lower"),
    "--by": ("source", "block", "scale"),
    "--missing": ("-1",),
    "--scale": ("1-5", "0-10"),
    "--baseline": ("gift", "nobody"),
    "--draws": ("100",),
    "--require": ("gift > keywords by correlation",),
    "--facet": ("block",),
    "--base-column": ("block", "scale"),
    "--where": ("block=unique",),
    "--gains": ("1=0,2=0,3=1,4=3,5=7",),
    "--compare": ("RPCGXQNQ",),
    "--leave-out": ("block=base",),
    "--weights": ("design", "equal", "rank-power"),
    "--systems": ("gift", "nobody"),
    "--queries": ("1", "500"),
    "--text-queries": ("1",),
    "--results": ("1", "300"),
    "--exponent": ("0", "9"),
    "--floor": ("0", "1"),
    "--base": ("0", "5"),
    "--base-queries": ("2",),
    "--depth": ("1", "100000"),
    "--outside": ("3",),
    "--strata": ("4",),
    "--raters": ("1", "40"),
    "--good": ("0.5",),
    "--skill": ("0", "1"),
    "--pairs": ("30",),
    "--aim": ("learn", "separate", "compare"),
    "--seed": ("1",),
    "--alpha": ("0.2",),
    "--difference": ("0", "0.1"),
    "--correlations": ("0.5,0.4", "0.9"),
    "--alike": ("0", "0.9"),
    "--noise": ("0", "3"),
    "--k": ("1", "1000"),
    "--relevant-share": ("0.01", "0.9"),
    "--index": ("pearson", "P@5", "same_query"),
    "--rating-scale": ("binary", "1-9"),
    "--undecided": ("0.5",),
    "--careless": ("0.5",),
    "--leniency": ("2",),
    "--each": ("3",),
    "--lists": ("2", "0"),
    "--author": ("A. Nobody",),
    "--license": ("CC-BY-4.0",),
    "--date": ("2026-01-31", "soon"),
    "--radius": ("0", "99"),
    "--beta": ("0.5",),
    "--bits": ("3", "16"),
    "--tables": ("1", "4"),
    "--flips": ("1",),
    "--permutation": ("2",),
    "--preset": ("hashnet", "nobody"),
    "--norm": ("l1", "l2"),
    "--neighbours": ("1", "500"),
    "--times": ("2",),
    "--size": ("0.1",),
    "--epochs": ("1",),
    "--band": ("1 2", "2 1"),
    "--hidden": ("0",),
    "--shift": ("2",),
    "--margin": ("3",),
}
"""Values of options that take no words of a list; others of these are left alone."""
STARTS: dict[str, str] = {
    "score": "score {ex}/scores/gift.csv {ex}/scores/keywords.csv -j {ex}/judgments.csv --replicates 20",
    "report": "report {ex} --replicates 20",
    "calibrate": "calibrate {ex}/ratings.csv -o {out}",
    "fit": "fit {ex}/scores/gift.csv {ex}/scores/keywords.csv -j {ex}/judgments.csv -o {out}",
    "plan": "plan --studies 3",
    "sample": "sample {ex} --overwrite",
    "couples": "couples {ex}",
    "archive": "archive {ex} -o {out}.zip",
    "status": "status {ex}",
    "preferences": "preferences {made}/preferred.csv -o {out}",
    "hash buckets": "hash buckets {made}/table.npz --bits 4 --tables 2",
    "hash classes": "hash classes {made}/d.npy --labels {made}/d.txt",
    "hash compare": "hash compare {made}/table.npz {made}/other.npz",
    "hash count": "hash count --queries {made}/q.npy --database {made}/d.npy --query-labels {made}/q.txt "
    "--database-labels {made}/d.txt -o {out}.npz",
    "hash encode": "hash encode dsh --bits 4 --train {made}/x.npy --train-labels {made}/d.txt --epochs 1 "
    "--encode {made}/x.npy {out}.npy",
    "hash evaluate": "hash evaluate {made}/table.npz",
    "hash graded": "hash graded --queries {made}/q.npy --database {made}/d.npy --query-labels {made}/q.txt "
    "--database-labels {made}/d.txt",
    "hash health": "hash health {made}/d.npy",
    "hash look-up": "hash look-up --queries {made}/q.npy --database {made}/d.npy",
    "hash rank": "hash rank hamming --queries {made}/q.npy --database {made}/d.npy -o {out}.npz",
    "hash split": "hash split --labels {made}/d.txt --vectors {made}/x.npy -o {out}.npz",
    "hash truth": "hash truth --kind k-nn --neighbours 3 --queries {made}/x.npy --database {made}/x.npy -o {out}.npz",
}
"""What every row of a command begins with: `ex` is a copy of data/example of its own, `made` what `make` wrote."""
Choice = tuple[str, str | None]


def factors(command: str, slow: bool) -> list[list[Choice]]:
    """Each option of a command with the values to try, None where it is left out."""
    found = []
    at: click.Command = main
    for name in command.split():
        at = at.get_command(click.Context(at), name)  # type: ignore[attr-defined]
    given = {word for word in STARTS[command].split() if word.startswith("-")}
    for option in at.params:
        if not isinstance(option, click.Option) or given & set(option.opts):
            continue
        flag = next(name for name in option.opts if name.startswith("-"))
        if isinstance(option.type, click.Choice):
            values: Sequence[str] = [each for each in option.type.choices if slow or each not in SLOW]
        elif option.is_flag:
            values = [""]
        else:
            values = GIVEN.get(flag, ())
        if values:
            found.append([(flag, None), *((flag, value) for value in values)])
    return found


def rows(choices: Sequence[Sequence[Choice]], seed: int = 0) -> Iterator[list[Choice]]:
    """Rows of one value an option that together hold every pair of values of two options (greedy)."""
    draw = random.Random(seed)
    left = {frozenset((one, other)) for a, b in itertools.combinations(choices, 2) for one in a for other in b}
    while left:
        start = min(left, key=lambda pair: sorted(map(str, pair)))
        row = {each[0]: each for each in start}
        others = [option for option in choices if option[0][0] not in row]
        draw.shuffle(others)
        for option in others:
            row[option[0][0]] = max(
                option, key=lambda value: sum(frozenset((value, there)) in left for there in row.values())
            )
        left -= {frozenset(pair) for pair in itertools.combinations(row.values(), 2)}
        yield [row[option[0][0]] for option in choices]


def words(command: str, row: Sequence[Choice], places: Mapping[str, Path]) -> list[str]:
    """A command line for a row."""
    start = [word.format_map(places) for word in STARTS[command].split()]
    return [*start, *(word for flag, value in row if value is not None for word in (flag, *value.split()))]


def make(folder: Path) -> Path:
    """Small codes with labels, their table, vectors and preferences, in a folder that is made."""
    draw = np.random.default_rng(0)
    folder.mkdir()
    for name, rows in (("q", 20), ("d", 60)):
        np.save(folder / f"{name}.npy", draw.integers(0, 2, (rows, 16)).astype(bool))
        (folder / f"{name}.txt").write_text("\n".join(map(str, draw.integers(0, 3, rows))))
    np.save(folder / "x.npy", draw.normal(size=(60, 5)))
    lines = [f"r{k % 3},q{k % 5},a{k % 4},a{(k + 1) % 4},{('left', 'right', 'tie')[k % 3]}" for k in range(60)]
    (folder / "preferred.csv").write_text("\n".join(["rater_id,query_id,left,right,preferred", *lines]))
    for name in ("table", "other"):
        out = {"made": folder, "out": folder / name, "ex": folder}
        CliRunner().invoke(main, words("hash count", [], out), catch_exceptions=False)
    return folder


def faults(command: str, most: int | None, slow: bool) -> tuple[int, int, list[str]]:
    """How many rows of a command were run, how many ended in a result, and a line for each traceback."""
    found, number, good = [], 0, 0
    with tempfile.TemporaryDirectory() as name:
        made = make(Path(name) / "made")
        for number, row in enumerate(itertools.islice(rows(factors(command, slow)), most), 1):
            example = Path(shutil.copytree(ROOT / "data" / "example", Path(name) / f"ex{number}"))
            if command == "sample":
                for table in ("pairs.csv", "ratings.csv", "judgments.csv", "calibrated.csv"):
                    (example / table).unlink()
            line = words(command, row, {"ex": example, "made": made, "out": Path(name) / f"out{number}"})
            done = CliRunner().invoke(main, line)
            good += done.exit_code == 0
            if done.exception is not None and not isinstance(done.exception, SystemExit):
                last = traceback.extract_tb(done.exc_info[2])[-1]  # type: ignore[index]
                shown = " ".join(line).replace(name, "")
                found.append(f"{shown}\n    {done.exception!r} in {Path(last.filename).name}:{last.lineno}")
    return number, good, found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commands", nargs="*", default=list(STARTS))
    parser.add_argument("--most", type=int)
    parser.add_argument("--slow", action="store_true")
    asked = parser.parse_args()
    wrong = 0
    for command in asked.commands:
        number, good, found = faults(command, asked.most, asked.slow)
        print(f"{command}: {number} rows, {good} results, {len(found)} tracebacks", *found, sep="\n  ", flush=True)
        wrong += len(found)
    sys.exit(bool(wrong))
