"""What is assumed of codes and labels, and what is left out, is said wherever the figures are."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import relstudy as rs
from tests.analysis.hashing.running import hash_json
from tests.commands import succeeds

NO_LABEL = "2 rows of zeros: an item without any label is relevant to nothing"
BLANKS = "blanks separate labels, so 'big cat' is 2 labels; --label-separator line takes each line for one label"
SPARE = "read as codes of 16 bits; the last 3 bits are 0 in every code: if they only fill the last byte, say"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Forty items: vectors, codes of 13 bits packed into bytes, labels with two items that have none, and judgments."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(2)
    kinds = rng.integers(0, 2, 40)
    np.save("x.npy", rng.standard_normal((40, 5)) + 4 * kinds[:, None])
    hot = np.eye(2, dtype=int)[kinds]
    hot[[5, 30]] = 0
    np.save("hot.npy", hot)
    np.save("codes.npy", np.packbits(np.c_[rng.random((40, 12)) < 0.5, np.ones(40, dtype=bool)], axis=1))
    Path("words.txt").write_text("".join(f"{('big cat', 'dog')[kind]}\n" for kind in kinds))
    Path("ids.txt").write_text("".join(f"i{row}\n" for row in range(40)))
    pairs = [(f"i{a}", f"i{b}", 1 + 4 * (kinds[a] == kinds[b])) for a in range(4) for b in range(8, 28)]
    pd.DataFrame(pairs, columns=["query_id", "result_id", "judgment"]).to_csv("judgments.csv", index=False)
    hash_json("split --items 40 --times 2 -o splits --strategy literature --size test_queries=4 --size training=20 "
              "--size validation_queries=4")  # fmt: skip
    return tmp_path


@pytest.mark.parametrize(
    "command",
    [
        "audit --judgments judgments.csv --ids ids.txt --labels",
        "split --times 1 -o halves --strategy literature --size test_queries=9 --size training=9 --labels",
        "search lsh --bits 6 --vectors x.npy --splits splits --labels",
        "encode ksh --bits 4 --train x.npy --encode x.npy made.npy --train-labels",
    ],
)
def test_a_command_that_reads_labels_says_what_it_assumed_of_them(folder: Path, command: str) -> None:
    """audit, split, search and encode dropped these notes, and had no option that takes a line for one label."""
    for labels, note in (("hot.npy", NO_LABEL), ("words.txt", BLANKS)):
        assert f"{labels}: {note}" in hash_json(f"{command} {labels}")["notes"]
        assert f"{labels}: {note}" in succeeds("hash", *command.split(), labels).stdout.splitlines()
    told = hash_json(f"{command} words.txt --label-separator line")
    assert BLANKS not in json.dumps(told)


def test_labels_that_an_encoder_does_not_learn_from_are_said_to_change_nothing(folder: Path) -> None:
    told = hash_json("encode itq --bits 4 --train x.npy --encode x.npy made.npy --train-labels hot.npy")
    assert "hot.npy: itq learns without labels; they changed nothing" in told["notes"]


def test_a_count_table_keeps_what_was_assumed_and_every_figure_of_it_says_so(folder: Path) -> None:
    """Only `hash count` said it; in Python nothing did, nor how many queries are left out."""
    labels = "--query-labels hot.npy --database-labels hot.npy"
    counted = hash_json(f"count --queries codes.npy --database codes.npy {labels} -o table.npz")
    assert [NO_LABEL in note for note in counted["notes"]] == [False, True]
    assert SPARE in counted["notes"][0]
    left_out = "2 of 40 queries have no relevant code; they are left out of"
    for command in ("evaluate", "compare"):
        told = hash_json(f"{command} table.npz")["notes"]
        assert told[:2] == counted["notes"]
        assert told[2].startswith(left_out)
        lines = succeeds("hash", command, "table.npz").stdout.splitlines()
        assert all(note in lines for note in told)
    codes, hot = np.load("codes.npy"), np.load("hot.npy")
    table = rs.hashing.count(codes, codes, hot, hot)
    for result in (rs.hashing.evaluate(table), rs.hashing.compare({"codes": table})):
        assert result.notes[0] == f"queries: {SPARE} code_bits=13 (or how many bits there are)"
        assert NO_LABEL in result.notes[2]
        shown = " ".join(str(result.summary()).split())
        assert all(note in shown for note in result.notes)
        assert any(note.startswith(left_out) for note in result.notes)
    assert rs.hashing.health(codes).attrs["notes"] == [f"codes: {SPARE} code_bits=13 (or how many bits there are)"]
    notes: list[str] = []
    rs.hashing.read_codes("codes.npy", notes=notes)
    assert notes == [f"codes.npy: {SPARE} code_bits=13 (or how many bits there are)"]


def test_a_note_of_one_system_alone_stands_under_its_name(folder: Path) -> None:
    codes = np.unpackbits(np.load("codes.npy"), axis=1)
    kinds = np.load("hot.npy").argmax(axis=1)
    same, other = (rs.hashing.count(queries, codes, kinds, kinds) for queries in (codes, 1 - codes))
    notes = rs.hashing.compare({"same": same, "other": other}).notes
    assert len(notes) == 1
    assert notes[0].startswith("same: Every query has a relevant code at distance 0")
