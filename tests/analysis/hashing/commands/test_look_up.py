"""`relstudy hash look-up`, encoders that are kept, and scores across two files of codes, as a person uses them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from relstudy.analysis.hashing.encoders import ENCODERS
from tests.analysis.hashing.running import hash_json
from tests.commands import relstudy, succeeds

pytestmark = pytest.mark.slow


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(6)
    labels = rng.integers(0, 3, 200)
    vectors = rng.standard_normal((3, 12))[labels] * 2 + rng.standard_normal((200, 12))
    for name, rows in (("q", slice(0, 20)), ("db", slice(20, 200))):
        np.save(f"{name}.npy", vectors[rows])
        np.save(f"y{name}.npy", labels[rows])
        np.save(f"{name}_codes.npy", vectors[rows] > 0)
        Path(f"{name}_ids.txt").write_text("\n".join(f"{name}{k}" for k in range(len(vectors[rows]))))
    pairs = [(f"q{a}", f"db{b}", 1 + 4 * (labels[a] == labels[20 + b])) for a in range(20) for b in range(40)]
    pd.DataFrame(pairs, columns=["query_id", "result_id", "judgment"]).to_csv("judgments.csv", index=False)
    return tmp_path


CODES = "--queries q_codes.npy --database db_codes.npy --query-labels yq.npy --database-labels ydb.npy"


def test_look_up_prints_time_beside_candidates_and_recall(folder: Path) -> None:
    told = hash_json(f"look-up {CODES} --bits 4 --bits 6 --tables 1 --tables 2 --flips 0 --flips 1 --figure f.svg")
    rows = told["look_ups"]
    assert [(row["bits"], row["tables"], row["flips"]) for row in rows[1:]] == [
        (k, t, f) for k in (4, 6) for t in (1, 2) for f in (0, 1)
    ]
    assert (rows[0]["recall"], rows[0]["candidates"]) == (1.0, 180.0)
    assert all(row["milliseconds"] >= 0 for row in rows)
    own, theirs = (np.load(f"{name}_codes.npy") for name in ("q", "db"))
    near = np.zeros((20, 180), dtype=bool)
    for part in (slice(0, 4), slice(4, 8)):
        near |= (own[:, None, part] != theirs[None, :, part]).sum(axis=2) <= 1
    same = np.load("yq.npy")[:, None] == np.load("ydb.npy")
    row = rows[4]
    assert (row["probes"], row["candidates"]) == (10, near.sum() / 20)
    assert row["recall"] == pytest.approx((near & same).sum() / same.sum(), abs=1e-12)
    assert row["precision"] == pytest.approx((near & same).sum() / near.sum(), abs=1e-12)
    assert row["f1"] == pytest.approx(2 / (1 / row["precision"] + 1 / row["recall"]), abs=1e-12)
    assert "scan of all codes" in Path("f.svg").read_text()


def test_a_search_by_radius_probes_the_ball(folder: Path) -> None:
    both = hash_json(f"look-up {CODES} --radius 2")["look_ups"][1:]
    rows, several = both[:3], both[3:]
    assert [row["probes"] for row in rows] == [1, 13, 79]
    # the same balls in tables of part of the bits, with fewer probes
    assert [row["within"] for row in several] == [0, 1, 2]
    found = ("candidates", "empty", "precision", "recall")
    assert [[row[name] for name in found] for row in several] == [[row[name] for name in found] for row in rows]
    assert all(few["probes"] < all_["probes"] for few, all_ in zip(several[1:], rows[1:], strict=True))
    hash_json("count " + CODES + " -o t.npz")
    table = hash_json("evaluate t.npz")
    assert [row["candidates"] for row in rows] == [row["candidates"] for row in table["lookup"][:3]]
    assert [row["empty"] for row in rows] == [row["empty"] for row in table["lookup"][:3]]
    pytest.importorskip("faiss")
    theirs = hash_json(f"look-up {CODES} --radius 2 --engine faiss")["look_ups"][1:]
    assert [{**row, "milliseconds": 0} for row in theirs] == [{**row, "milliseconds": 0} for row in rows]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (f"look-up {CODES}", 2, "Give --bits, with --tables and --flips where wanted, or --radius"),
        (f"look-up {CODES} --bits 4 --radius 1", 2, "or --radius"),
        (f"look-up {CODES} --tables 4", 2, "Give --bits, the width of a bucket"),
        (f"look-up {CODES} --bits 8 --tables 2", 1, "none of these tables fits codes of 12 bits"),
        (f"look-up {CODES} --radius 13", 1, "a radius must be from 0 to the code length 12"),
        (f"look-up {CODES} --bits 4 --engine faiss --permutation 1", 2, "leave out --permutation"),
        ("look-up --queries q_codes.npy --database db_codes.npy --bits 4", 2, "Give --query-labels and"),
        ("encode itq --bits 4 --train q.npy", 2, "Give --encode, --project or --save"),
        ("encode itq --load itq.npz --bits 4 --encode q.npy c.npy", 2, "--load brings everything; leave out --bits"),
        ("encode lsh --load itq.npz --encode q.npy c.npy", 1, "itq.npz holds itq, not lsh"),
        ("encode itq --load q.npy --encode q.npy c.npy", 1, "q.npy: this is not an encoder"),
        ("encode itq --load nowhere.npz --encode q.npy c.npy", 1, "nowhere.npz: file not found"),
        ("encode itq --load itq.npz --encode yq.npy c.npy", 1, "vectors need numbers in the shape"),
        ("scores --codes q_codes.npy --ids q_ids.txt --database db_codes.npy --judgments judgments.csv -o s.csv", 2,
         "--database and --database-ids go together"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_sentence(folder: Path, words: str, code: int, message: str) -> None:
    hash_json("encode itq --bits 4 --train db.npy --save itq.npz")
    result = relstudy("hash", *words.split())
    assert result.exit_code == code, result.output
    assert message in " ".join(result.stderr.split())
    assert not Path("c.npy").exists()


def test_settings_that_do_not_fit_are_said_to_be_left_out(folder: Path) -> None:
    words = f"look-up {CODES} --bits 4 --bits 8 --tables 1 --tables 2"
    note = "1 setting left out (bits/tables/flips 8/2/0): tables share no bit of a code of 12"
    assert note in hash_json(words)["notes"][0]
    assert note in succeeds("hash", *words.split()).stdout


@pytest.mark.parametrize("name", ENCODERS)
def test_an_encoder_that_was_kept_gives_the_same_codes(folder: Path, name: str) -> None:
    labels = "--train-labels ydb.npy" if ENCODERS[name].supervised else ""
    hash_json(
        f"encode {name} --bits 6 --train db.npy {labels} --encode q.npy a.npy --project q.npy real.npy --save kept.npz"
    )
    again = hash_json(f"encode {name} --load kept.npz --encode q.npy b.npy")
    assert (again["bits"], again["trained_on"]) == (6, None)
    assert (np.load("a.npy") == np.load("b.npy")).all()
    assert ((np.load("real.npy") > 0) == np.load("a.npy")).all()


def test_scores_of_queries_and_results_from_two_encoders(folder: Path) -> None:
    words = "--codes q_codes.npy --ids q_ids.txt --database db_codes.npy --database-ids db_ids.txt"
    told = hash_json(f"scores {words} --judgments judgments.csv -o s.csv")
    assert told["pairs"] == 800
    scores = pd.read_csv("s.csv").set_index(["query_id", "result_id"])["score"]
    own, theirs = (np.load(f"{name}_codes.npy") for name in ("q", "db"))
    assert scores["q3", "db17"] == -(own[3] != theirs[17]).sum()
    assert set(scores.index.get_level_values(1)) == {f"db{k}" for k in range(40)}
