"""Run commands on small inputs with options in pairs: every value of every option beside every value of every other.

    python scripts/option_pairs.py [COMMAND ...] [--most ROWS] [--slow] [--study FOLDER]

Options and their values come from the commands' own declarations. Each run must end in a result or in a sentence.
Prints a line for each traceback, and for each command how many rows ended in a result; ends with 1 where there was any
traceback. `--slow` adds the values that sample for seconds. tests/project/test_option_pairs.py runs a part of it.
"""

from __future__ import annotations

import argparse
import io
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
import pandas as pd
from click.testing import CliRunner
from PIL import Image

from relstudy.studyapp.assignment.synchronisation import prepare
from relstudy.studyapp.cli import main
from relstudy.studyapp.database.store import Store

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "data" / "example"
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
    "--where": ("block==unique",),
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
    "--depth": ("2", "200"),
    "--outside": ("3",),
    "--strata": ("4",),
    "--raters": ("1", "40"),
    "--good": ("0.5",),
    "--skill": ("0.5",),
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
    "--lists": ("1", "2"),
    "--radius": ("1", "3"),
    "--beta": ("0.5",),
    "--bits": ("3", "16"),
    "--tables": ("1", "4"),
    "--flips": ("1",),
    "--permutation": ("2",),
    "--preset": ("hashnet", "nobody"),
    "--norm": ("l1", "l2"),
    "--neighbours": ("1", "500"),
    "--times": ("2",),
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
    "plan": "plan --studies 20 --correlations 0.6,0.3",
    "sample": "sample {ex} --overwrite",
    "couples": "couples {ex}",
    "invite": "invite {ex}",
    "status": "status {ex}",
    "preferences": "preferences {made}/preferred.csv -o {out}",
    "try": "try {ex}/scores/gift.csv {ex}/ratings.csv -o {out}",
    "inspect": "inspect {ex}/ratings.csv",
    "new": "new {out}",
    "ask": "ask {made}/results.csv -o {out} --no-serve",
    "export": "export {ex} -o {out}.csv",
    "backup": "backup {ex} -o {out}.db",
    "systems": "systems {ex}",
    "doctor": "doctor {ex}",
    "log": "log {ex}",
    "token": "token {ex} script --make",
    "hash cross-modal": "hash cross-modal --bits 4 --train {made}/x.npy {made}/x.npy "
    "--encode-first {made}/x.npy {out}.npy",
    "hash scores": "hash scores --codes {made}/d.npy --ids {made}/ids.txt --judgments {made}/judged.csv -o {out}.csv",
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
    "hash look-up": "hash look-up --queries {made}/q.npy --database {made}/d.npy --bits 8 "
    "--query-labels {made}/q.txt --database-labels {made}/d.txt",
    "hash rank": "hash rank vectors --queries {made}/x.npy --database {made}/x.npy --query-labels {made}/d.txt "
    "--database-labels {made}/d.txt -o {out}.npz",
    "hash split": "hash split --labels {made}/d.txt --size test_queries=5 --size test_database=20 "
    "--size validation_queries=5 --size validation_database=10 -o {out}",
    "hash truth": "hash truth --kind k-nn --neighbours 3 --queries {made}/x.npy --database {made}/x.npy -o {out}.npz",
}
"""What every row of a command begins with: `ex` is a copy of the study of its own, `made` what `make` wrote."""
_IN_MEMORY = io.BytesIO()
Image.new("RGB", (8, 8)).save(_IN_MEMORY, "JPEG")
PICTURE = _IN_MEMORY.getvalue()
TOGETHER = 4
"""Options of a row."""
Choice = tuple[str, str | None]


def factors(command: str, slow: bool) -> list[list[Choice]]:
    """Each option of a command with the values to try, None where it is left out."""
    found = []
    at: click.Command = main
    for name in command.split():
        at = at.get_command(click.Context(at), name)  # type: ignore[attr-defined]
    given = {word for word in STARTS[command].split() if word.startswith("-")}
    for option in at.params:
        if not isinstance(option, click.Option) or given & {*option.opts, *option.secondary_opts}:
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
    """Rows of at most `TOGETHER` values that together hold every pair of values of two options (greedy): of more at
    once, one that is refused would hide what the others do."""
    draw = random.Random(seed)
    stated = [[value for value in option if value[1] is not None] for option in choices]
    left = {frozenset((one, other)) for a, b in itertools.combinations(stated, 2) for one in a for other in b}
    order = sorted(left, key=lambda pair: sorted(map(str, pair)))
    draw.shuffle(order)
    for start in order:
        if start not in left:
            continue
        row = {each[0]: each for each in start}
        others = [option for option in stated if option[0][0] not in row]
        draw.shuffle(others)
        for option in others:
            if len(row) == TOGETHER:
                break
            found = max(option, key=lambda value: sum(frozenset((value, there)) in left for there in row.values()))
            if any(frozenset((found, there)) in left for there in row.values()):
                row[option[0][0]] = found
        left -= {frozenset(pair) for pair in itertools.combinations(row.values(), 2)}
        yield list(row.values())
    if len(stated) == 1:
        yield from ([value] for value in stated[0])


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
    lines = [f"r{k % 3},q{k % 5},a{k % 4},a{(k + 1) % 4},a{k % 4},{k % 3 - 1}" for k in range(60)]
    (folder / "preferred.csv").write_text("\n".join(["rater_id,query_id,result_id,other_id,left,rating", *lines]))
    (folder / "ids.txt").write_text("\n".join(f"i{k}" for k in range(60)))
    judged = [f"i{k % 5},i{k},{k % 5 + 1}" for k in range(5, 60)]
    (folder / "judged.csv").write_text("\n".join(["query_id,result_id,judgment", *judged]))
    results = [
        f"find boats {k % 6},{system},{k // 6 + 1},text {system} {k}" for system in ("a", "b") for k in range(24)
    ]
    (folder / "results.csv").write_text("\n".join(["query,system,rank,text", *results]))
    for name in ("table", "other"):
        out = {"made": folder, "out": folder / name, "ex": folder}
        CliRunner().invoke(main, words("hash count", [], out), catch_exceptions=False)
    return folder


def with_pictures(study: Path) -> None:
    """Put a small picture where the collection names one, and the database that serving makes."""
    for path in pd.read_csv(study / "collection.csv")["path"].dropna():
        (study / path).parent.mkdir(exist_ok=True)
        if not (study / path).exists():
            (study / path).write_bytes(PICTURE)
    with Store.of_study(study) as store:
        prepare(study, store)


def faults(command: str, most: int | None, slow: bool, study: Path = EXAMPLE) -> tuple[int, int, list[str]]:
    """How many rows of a command were run, how many ended in a result, and a line for each traceback."""
    found, number, good = [], 0, 0
    with tempfile.TemporaryDirectory() as name:
        made = make(Path(name) / "made")
        every = itertools.chain([[]], rows(factors(command, slow)))  # first as it begins
        for number, row in enumerate(itertools.islice(every, most), 1):
            example = Path(shutil.copytree(study, Path(name) / f"ex{number}"))
            with_pictures(example)
            if command == "sample":
                for table in ("pairs.csv", "ratings.csv", "judgments.csv", "calibrated.csv"):
                    (example / table).unlink(missing_ok=True)
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
    parser.add_argument("--study", type=Path, default=EXAMPLE, help="instead of data/example, such as a demo's folder")
    asked = parser.parse_args()
    wrong = 0
    for command in asked.commands:
        number, good, found = faults(command, asked.most, asked.slow, asked.study)
        print(f"{command}: {number} rows, {good} results, {len(found)} tracebacks", *found, sep="\n  ", flush=True)
        wrong += len(found)
    sys.exit(bool(wrong))
