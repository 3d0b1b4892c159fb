"""Run commands on data/example with options in pairs: every value of every option beside every value of every other.

    python scripts/option_pairs.py [COMMAND ...] [--most ROWS] [--slow]

Options and their values come from the commands' own declarations. Each run must end in a result or in a sentence.
Prints a line for each traceback and a count a command, and ends with 1 where there was any. `--slow` adds the values
that sample for seconds. tests/project/test_option_pairs.py runs a part of it.
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
from click.testing import CliRunner

from relstudy.studyapp.cli import main

ROOT = Path(__file__).resolve().parent.parent
SLOW = {
    *("bayes", "bayes-sampler", "bayes-pymc", "bayes-conjugate", "ogive", "local", "local-bagged", "best", "all"),
    *("sampler", "pymc", "dask", "quadratic-bagged", "ordinal"),
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
}
"""Values of options that take no words of a list; others of these are left alone."""
FIXED = {"score": ("--replicates", "20"), "report": ("--replicates", "20"), "calibrate": (), "fit": ()}
Choice = tuple[str, str | None]


def factors(command: str, slow: bool) -> list[list[Choice]]:
    """Each option of a command with the values to try, None where it is left out."""
    found = []
    for option in main.get_command(click.Context(main), command).params:  # type: ignore[union-attr]
        if not isinstance(option, click.Option) or option.opts[0] in ("--json", "--overwrite", "--replicates"):
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


def words(command: str, row: Sequence[Choice], example: Path, out: Path) -> list[str]:
    """A command line for a row, on data/example."""
    scores = [str(example / "scores" / f"{name}.csv") for name in ("gift", "keywords")]
    start: Mapping[str, list[str]] = {
        "score": ["score", *scores, "-j", str(example / "judgments.csv")],
        "report": ["report", str(example)],
        "calibrate": ["calibrate", str(example / "ratings.csv"), "-o", str(out)],
        "fit": ["fit", *scores, "-j", str(example / "judgments.csv"), "-o", str(out)],
    }
    options = [word for flag, value in row if value is not None for word in (flag, value) if word]
    return [*start[command], *FIXED[command], *options]


def faults(command: str, most: int | None, slow: bool) -> tuple[int, list[str]]:
    """How many rows of a command were run, and a line for each that ended in a traceback."""
    found, number = [], 0
    with tempfile.TemporaryDirectory() as name:
        example = Path(shutil.copytree(ROOT / "data" / "example", Path(name) / "ex"))
        for number, row in enumerate(itertools.islice(rows(factors(command, slow)), most), 1):
            line = words(command, row, example, Path(name) / f"out{number}")
            done = CliRunner().invoke(main, line)
            if done.exception is not None and not isinstance(done.exception, SystemExit):
                last = traceback.extract_tb(done.exc_info[2])[-1]  # type: ignore[index]
                shown = " ".join(line).replace(str(example), "ex")
                found.append(f"{shown}\n    {done.exception!r} in {Path(last.filename).name}:{last.lineno}")
    return number, found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commands", nargs="*", default=list(FIXED))
    parser.add_argument("--most", type=int)
    parser.add_argument("--slow", action="store_true")
    asked = parser.parse_args()
    wrong = 0
    for command in asked.commands:
        number, found = faults(command, asked.most, asked.slow)
        print(f"{command}: {number} rows, {len(found)} tracebacks", *found, sep="\n  ", flush=True)
        wrong += len(found)
    sys.exit(bool(wrong))
