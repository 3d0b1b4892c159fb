"""Every command of `relstudy hash`, on files of codes, labels and counts that something has happened to.

Distances and relevant codes are counted a second time from the same bytes; a count table that is damaged is refused or
gives the figures of the whole one.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.ending import BYTES, changed, fuzzed, mutations, printed, run
from tests.fuzz.excerpts import Excerpt
from tests.fuzz.mutations import Mutation

pytestmark = [pytest.mark.slow, pytest.mark.real_data]

which = st.integers(0, 1 << 16)
LINES = [*BYTES, "a cell", "cells swapped", "rows dropped", "a row too long", "a row too short", "another encoding"]
LINES += ["windows line ends", "blank lines at the end", "no line end", "a preamble", "byte-order mark"]


@pytest.fixture(scope="module")
def files(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Codes of real pictures in text and as an array, labels, ids, vectors, judgments, and a count table."""
    folder = tmp_path_factory.mktemp("codes")
    lines = (shared_data / "pdq_hashes" / "haystack.csv").read_text().splitlines()[1:41]
    codes = [line.split(",")[1][:16] for line in lines]
    (folder / "codes.txt").write_text("\n".join(codes) + "\n")
    bits = np.unpackbits(np.array([list(bytes.fromhex(code)) for code in codes], dtype=np.uint8), axis=1)
    np.save(folder / "codes.npy", bits.astype(bool))
    labels = np.arange(40) % 5
    (folder / "labels.txt").write_text("\n".join(map(str, labels)) + "\n")
    np.save(folder / "labels.npy", labels)
    (folder / "ids.txt").write_text("".join(f"i{number}\n" for number in range(40)))
    np.save(folder / "vectors.npy", np.random.default_rng(1).normal(size=(40, 6)))
    pairs = [(query, result) for query in range(5) for result in range(5, 15)]
    rows = [f"i{query},i{result},{1 + (query * 7 + result * 3) % 5}" for query, result in pairs]
    (folder / "judgments.csv").write_text("query_id,result_id,judgment\n" + "\n".join(rows) + "\n")
    counted = run("hash", "count", *count_options(folder), "-o", folder / "table.npz")
    assert counted.exit_code == 0, counted.stderr
    return folder


def count_options(folder: Path, codes: str = "codes.txt", labels: str = "labels.txt") -> list[object]:
    # the engine that needs no compiling
    options: list[object] = ["--engine", "numpy", "--queries", folder / "codes.txt", "--database", folder / codes]
    return [*options, "--query-labels", folder / "labels.txt", "--database-labels", folder / labels]


def damaged(files: Path, name: str, changes: list[Mutation]) -> Path:
    """A copy of a file with something changed, under the same ending."""
    path = files / f"damaged-{name}"
    separator = "," if name.endswith(".csv") else " "
    path.write_bytes(changed(Excerpt(path.name, (files / name).read_bytes(), separator), changes))
    return path


def emptied(path: Path) -> Path:
    shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
    return path


def plain_codes(content: bytes) -> np.ndarray:
    """Codes in hexadecimal digits, or in 0 and 1, one a line."""
    lines = [line.strip() for line in content.decode("utf-8-sig").splitlines() if line.strip()]
    binary = all(set(line) <= set("01 ") for line in lines)
    texts = [line.replace(" ", "") if binary else "".join(f"{int(digit, 16):04b}" for digit in line) for line in lines]
    return np.array([[int(bit) for bit in text] for text in texts])


@given(which, st.sampled_from(["codes.txt", "labels.txt"]), mutations(LINES))
@fuzzed(0.5)
def test_count_of_text(files: Path, at: int, name: str, changes: list[Mutation]) -> None:
    path = damaged(files, name, changes)
    codes, labels = (path.name, "labels.txt") if name == "codes.txt" else ("codes.txt", path.name)
    out = emptied(files / "out.npz")
    done = run("hash", "count", *count_options(files, codes, labels), "-o", out, "--json", out=out)
    if done.exit_code == 0:
        summary = printed(done)
        database = plain_codes((files / codes).read_bytes())
        assert (summary["codes"], summary["bits"]) == database.shape
        text = (files / labels).read_text("utf-8-sig")
        # where a line has a comma, commas are between labels, and a note says so
        lines = [
            [label.strip() for label in line.split("," if "," in text else None)]
            for line in text.splitlines()
            if line.strip()
        ]
        queries = [line.split() for line in (files / "labels.txt").read_text().splitlines()]
        assert summary["relevant"] == sum(bool(set(one) & set(other)) for one in queries for other in lines)


@given(st.sampled_from(["codes.npy", "labels.npy"]), mutations(list(BYTES)))
@fuzzed(0.5)
def test_count_of_arrays(files: Path, name: str, changes: list[Mutation]) -> None:
    path = damaged(files, name, changes)
    codes, labels = (path.name, "labels.npy") if name == "codes.npy" else ("codes.npy", path.name)
    options = [
        "--engine",
        "numpy",
        "--queries",
        files / "codes.npy",
        "--database",
        files / codes,
        "--query-labels",
        files / "labels.npy",
    ]
    out = emptied(files / "out.npz")
    done = run("hash", "count", *options, "--database-labels", files / labels, "-o", out, "--json", out=out)
    if done.exit_code == 0:
        array = np.load(files / codes)
        assert printed(done)["codes"] == len(array)
        same = np.load(files / "labels.npy")[:, None] == np.load(files / labels).reshape(-1)
        assert printed(done)["relevant"] == same.sum()


READERS: dict[str, Callable[[Path], list[object]]] = {
    "evaluate": lambda table: ["evaluate", table, "--k", 5],
    "compare": lambda table: ["compare", table, table.parent / "table.npz"],
    "buckets": lambda table: ["buckets", table, "--bits", 8, "--tables", 2],
}


@pytest.mark.parametrize("command", list(READERS))
@given(changes=mutations(list(BYTES)))
@fuzzed()
def test_readers_of_a_count_table(files: Path, command: str, changes: list[Mutation]) -> None:
    path = damaged(files, "table.npz", changes)
    done = run("hash", *READERS[command](path), "--json")
    if done.exit_code == 0:
        whole = files / "damaged-whole.npz"
        whole.write_bytes((files / "table.npz").read_bytes())
        expected = run("hash", *READERS[command](whole), "--json")
        text = expected.stdout.replace("damaged-whole", path.stem)
        assert json.loads(done.stdout) == json.loads(text)


@given(st.sampled_from(["codes.txt", "codes.npy"]), mutations(LINES))
@fuzzed()
def test_health(files: Path, name: str, changes: list[Mutation]) -> None:
    done = run("hash", "health", damaged(files, name, changes), "--json")
    if done.exit_code == 0:
        assert printed(done)


@given(st.sampled_from(["codes.txt", "ids.txt", "judgments.csv"]), mutations(LINES))
@fuzzed()
def test_scores(files: Path, name: str, changes: list[Mutation]) -> None:
    names = {each: files / each for each in ("codes.txt", "ids.txt", "judgments.csv")}
    names[name] = damaged(files, name, changes)
    out = emptied(files / "out.csv")
    options = ["--codes", names["codes.txt"], "--ids", names["ids.txt"], "--judgments", names["judgments.csv"]]
    done = run("hash", "scores", *options, "-o", out, "--json", out=out)
    if done.exit_code == 0:
        codes = plain_codes(names["codes.txt"].read_bytes())
        ids = [line.strip() for line in names["ids.txt"].read_text("utf-8-sig").splitlines() if line.strip()]
        of = dict(zip(ids, codes, strict=True))
        for line in out.read_text().splitlines()[1:]:
            _, query, result, score = line.split(",")[:4]
            assert abs(abs(float(score)) - np.count_nonzero(of[query] != of[result])) < 1


@given(st.sampled_from(["vectors.npy", "labels.txt", "ids.txt", "judgments.csv"]), mutations(LINES))
@fuzzed()
def test_audit(files: Path, name: str, changes: list[Mutation]) -> None:
    names = {each: files / each for each in ("vectors.npy", "labels.txt", "ids.txt", "judgments.csv")}
    names[name] = damaged(files, name, changes)
    options = [*("--judgments", names["judgments.csv"]), *("--ids", names["ids.txt"])]
    done = run("hash", "audit", *options, "--vectors", names["vectors.npy"], "--labels", names["labels.txt"], "--json")
    if done.exit_code == 0:
        assert printed(done)


@given(st.sampled_from(["vectors.npy", "labels.txt"]), mutations(LINES))
@fuzzed()
def test_truth_split_and_encode(files: Path, name: str, changes: list[Mutation]) -> None:
    path = damaged(files, name, changes)
    vectors = path if name == "vectors.npy" else files / "vectors.npy"
    labels = path if name == "labels.txt" else files / "labels.txt"
    out = emptied(files / "out.npz")
    kind = ["--kind", "k-nn", "--neighbours", 3]
    run("hash", "truth", *kind, "--queries", vectors, "--database", vectors, "-o", out, "--json", out=out)
    emptied(out)
    sizes = [text for part in ("test_queries", "validation_queries") for text in ("--size", f"{part}=5")]
    run("hash", "split", "--labels", labels, "--times", 1, *sizes, "-o", emptied(files / "split"), "--json")
    codes = emptied(files / "out.npy")
    run("hash", "encode", "lsh", "--bits", 8, "--train", vectors, "--encode", vectors, codes, "--json", out=codes)
