"""Run commands on small inputs with options in pairs: every value of every option beside every value of every other.

    python scripts/option_pairs.py [COMMAND ...] [--most ROWS] [--slow] [--study FOLDER]

Options and their values come from the commands' own declarations. Each run must end in a result or in a sentence.
Prints a line for each traceback, and for each command how many rows ended in a result; ends with 1 where there was any
traceback. `--slow` adds the values that sample for seconds. tests/project/test_option_pairs.py runs a part of it.
"""

from __future__ import annotations

import argparse
import contextlib
import http.server
import io
import itertools
import json
import os
import random
import shutil
import sys
import tempfile
import threading
import time
import tomllib
import traceback
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import click
import numpy as np
import pandas as pd
from click.testing import CliRunner
from PIL import Image

from relstudy.studyapp.assignment.catalogue import Catalogue
from relstudy.studyapp.assignment.enrolment import Visit, enrol
from relstudy.studyapp.assignment.sequence import start
from relstudy.studyapp.assignment.synchronisation import prepare
from relstudy.studyapp.cli import main
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.web import processes

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "data" / "example"
SLOW = {
    *("bayes", "bayes-sampler", "bayes-pymc", "bayes-conjugate", "ogive", "local", "local-bagged", "best", "all"),
    *("sampler", "pymc", "dask", "quadratic-bagged", "ordinal", "improved"),
}
GIVEN = tomllib.loads(Path(__file__).with_suffix(".toml").read_text())
STARTS: dict[str, list[str]] = GIVEN["starts"]
"""What rows of a command begin with: each of these is a series of rows of its own."""
ONCE: list[str] = GIVEN["once"]
VALUES: dict[str, Any] = GIVEN["values"]
"""Values of options that take no words of a list; a command's own are under its name."""
_IN_MEMORY = io.BytesIO()
Image.new("RGB", (8, 8)).save(_IN_MEMORY, "JPEG")
PICTURE = _IN_MEMORY.getvalue()
REPLY = {
    "choices": [{"message": {"role": "assistant", "content": '{"grade": 4}'}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 100, "completion_tokens": 10},
}
MAKING = (
    f"{STARTS['hash count'][0].replace('{out}', '{made}/table')}",
    f"{STARTS['hash count'][0].replace('{out}', '{made}/other')}",
    "hash truth --kind k-nn --neighbours 3 --queries {made}/x.npy --database {made}/x.npy -o {made}/truth.npz",
    "hash encode itq --bits 4 --train {made}/x.npy --encode {made}/x.npy {made}/codes.npy --save {made}/itq.npz",
    f"{STARTS['hash split'][0].replace('{out}', '{made}/splits')} --times 2",
    "calibrate {made}/both.csv --by scale -o {made}/joined",
    "judge {ex} --judge two --scores {ex}/scores/gift.csv",
    "judge {ex} --judge asked --model some --export-batch {made}/asked.jsonl",
    "score {ex}/scores/gift.csv -j {ex}/judgments.csv --replicates 20 --save {made}/saved.json",
    "backup {ex} -o {ex}/copy.db",
)
"""Commands whose results other commands take."""
WITHOUT = {
    "sample": ("pairs.csv", "ratings.csv", "judgments.csv", "calibrated.csv"),
    "admin archive": ("study.db", "study.db-wal", "study.db-shm"),
}
"""What the copies of the study of a command lack: what would be drawn again, a database without these ratings."""
LONG = 60.0
"""Seconds after which a row is printed with how long it took."""
TOGETHER = 4
"""Options of a row."""
Choice = tuple[str, str | None]


def factors(command: str, beginning: str, slow: bool) -> list[list[Choice]]:
    """Each option of a command beside those it starts with, and the values to try, None where it is left out."""
    found = []
    at: click.Command = main
    rest = command.split()
    while rest:
        assert isinstance(at, click.Group), command
        _, inner, rest = at.resolve_command(click.Context(at), rest)
        assert inner is not None, command
        at = inner
    given = {word for word in beginning.split() if word.startswith("-")}
    for option in at.params:
        if not isinstance(option, click.Option) or given & {*option.opts, *option.secondary_opts}:
            continue
        flag = next(name for name in option.opts if name.startswith("-"))
        if isinstance(option.type, click.Choice):
            values: Sequence[str] = [each for each in option.type.choices if slow or each not in SLOW]
        elif option.is_flag:
            values = [""]
        else:
            values = VALUES.get(command, {}).get(flag, VALUES.get(flag, ()))
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
    for first in order:
        if first not in left:
            continue
        row = {each[0]: each for each in first}
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
    if len(stated) == 1:  # nothing stands beside it
        yield from ([value] for value in stated[0])


def words(beginning: str, row: Sequence[Choice], places: Mapping[str, object]) -> list[str]:
    """A command line for a row."""
    found = beginning.split()
    for flag, value in row:
        if value is not None:
            parts = value.split() if value.replace(" ", "").isdigit() or ".npy " in value else [value] * bool(value)
            found += [flag, *parts]
    return [word.format_map(places) for word in found]


def run(line: str, places: Mapping[str, object]) -> None:
    """Run a command that has to succeed."""
    done = CliRunner().invoke(main, [word.format_map(places) for word in line.split()])
    if done.exit_code:
        raise SystemExit(f"{line}: {done.output}") from done.exception


def make(folder: Path, study: Path) -> dict[str, object]:
    """Small inputs in a folder that is made, a copy of the study among them, and what stands for each in a row."""
    draw = np.random.default_rng(0)
    folder.mkdir()
    for name, count in (("q", 20), ("d", 60)):
        np.save(folder / f"{name}.npy", draw.integers(0, 2, (count, 16)).astype(bool))
        (folder / f"{name}.txt").write_text("\n".join(map(str, draw.integers(0, 3, count))))
        (folder / name).mkdir()
        for number in range(count):
            (folder / name / f"{number:02}.jpg").write_bytes(PICTURE)
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
    asked = ["q1 | r1", "q1 | r2", "q2 | r1", "q2 | r2"]
    answers = [f"p{k},{k % 5 + 1},{(k + 1) % 5 + 1},{(k + 3) % 5 + 1},{k % 3 + 1}" for k in range(12)]
    (folder / "survey.csv").write_text("\n".join([",".join(["rater_id", *asked]), *answers]))
    items = [f"{column},{column.replace(' | ', ',')}" for column in asked]
    (folder / "items.csv").write_text("\n".join(["column,query_id,result_id", *items]))
    (folder / "run.txt").write_text("\n".join(f"q{k % 6} Q0 d{k} {k // 6 + 1} {60 - k} run" for k in range(60)))
    (folder / "run.qrels").write_text("\n".join(f"q{k % 6} 0 d{k} {k % 3}" for k in range(60)))
    ratings = pd.read_csv(study / "ratings.csv")
    ratings[["query_id"]].drop_duplicates().head(5).to_csv(folder / "given.csv", index=False)
    people = ratings[["rater_id"]].drop_duplicates()
    people.assign(group=["one", "two"] * (len(people) // 2) + ["one"] * (len(people) % 2)).to_csv(
        folder / "people.csv", index=False
    )
    finer = ratings.assign(rating=2 * ratings["rating"] - 1, scale="1-9", scale_high=9.0)
    pd.concat([ratings, finer]).to_csv(folder / "both.csv", index=False)
    example = Path(shutil.copytree(study, folder / "study"))
    places: dict[str, object] = {"made": folder, "ex": example}
    run("archive {ex} -o {made}/study.zip", places)
    places["rater"] = with_people(example)
    for line in MAKING:
        run(line, places)
    asked = [json.loads(line)["custom_id"] for line in (folder / "asked.jsonl").read_text().splitlines()]
    replies = [{"custom_id": key, "response": {"status_code": 200, "body": REPLY}} for key in asked]
    (folder / "batch.jsonl").write_text("".join(json.dumps(reply) + "\n" for reply in replies))
    return places


def with_people(study: Path) -> str:
    """Put a small picture where the collection names one, and make the database that serving makes, with a rater."""
    for path in pd.read_csv(study / "collection.csv")["path"].dropna():
        (study / path).parent.mkdir(exist_ok=True)
        if not (study / path).exists():
            (study / path).write_bytes(PICTURE)
    with Store.of_study(study) as store:
        prepared = prepare(study, store)
        with store.write() as connection:
            rater = enrol(connection, prepared, "open", "somebody", {}, 0.0)
            start(Visit(connection, prepared, Catalogue(prepared, connection), rater, 0.0))
    return rater.rater_id


class Service(http.server.BaseHTTPRequestHandler):
    """A model that gives each question a 4, and a platform without submissions."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self._say(REPLY)

    def do_GET(self) -> None:
        self._say({"results": [], "_links": {"next": {"href": None}}})

    def _say(self, what: object) -> None:
        body = json.dumps(what).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@contextlib.contextmanager
def prepared(study: Path = EXAMPLE) -> Iterator[dict[str, object]]:
    """What stands for each name in a row; meanwhile the service answers, and servers of studies end where their
    processes would begin."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Service)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    known = {"PROLIFIC_TOKEN": "none", "RELSTUDY_JUDGE_KEY": "none"}
    with (
        tempfile.TemporaryDirectory() as name,
        mock.patch.dict(os.environ, known),
        mock.patch.object(processes, "supervise"),
    ):
        yield {**make(Path(name) / "made", study), "url": f"http://127.0.0.1:{server.server_address[1]}"}
    server.shutdown()
    server.server_close()


def faults(command: str, most: int | None, slow: bool, places: Mapping[str, object]) -> tuple[int, int, list[str]]:
    """How many rows of a command were run, how many ended in a result, and a line for each traceback.

    The lines that are run once are those of "once".
    """
    found: list[str] = []
    number = good = 0
    for beginning in ONCE if command == "once" else STARTS[command]:
        choices = [] if command == "once" else factors(command, beginning, slow)
        for row in itertools.islice(itertools.chain([[]], rows(choices)), most):  # first as it begins
            number += 1
            with tempfile.TemporaryDirectory() as name:
                example = Path(shutil.copytree(str(places["ex"]), Path(name) / "ex"))
                for table in WITHOUT.get(command, ()):
                    (example / table).unlink(missing_ok=True)
                line = words(beginning, row, {**places, "ex": example, "out": Path(name) / "out"})
                began = time.perf_counter()
                done = CliRunner().invoke(main, line)
                seconds = time.perf_counter() - began
            shown = " ".join(line).replace(name, "")
            if seconds > LONG:
                print(f"{seconds:.0f} s: {shown}", flush=True)
            good += done.exit_code == 0
            if done.exception is not None and not isinstance(done.exception, SystemExit):
                last = traceback.extract_tb(done.exc_info[2])[-1]  # type: ignore[index]
                found.append(f"{shown}\n    {done.exception!r} in {Path(last.filename).name}:{last.lineno}")
    return number, good, found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commands", nargs="*", default=["once", *STARTS])
    parser.add_argument("--most", type=int)
    parser.add_argument("--slow", action="store_true")
    parser.add_argument("--study", type=Path, default=EXAMPLE, help="instead of data/example, such as a demo's folder")
    asked = parser.parse_args()
    wrong = 0
    with prepared(asked.study) as inputs:
        for command in asked.commands:
            number, good, found = faults(command, asked.most, asked.slow, inputs)
            print(f"{command}: {number} rows, {good} results, {len(found)} tracebacks", *found, sep="\n  ", flush=True)
            wrong += len(found)
    sys.exit(bool(wrong))
