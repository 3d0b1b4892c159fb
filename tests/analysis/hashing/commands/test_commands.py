"""`relstudy hash` as a person uses it: every command, and a sentence for every mistake."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from relstudy.analysis.hashing import demonstration
from relstudy.analysis.hashing.encoders import ENCODERS
from relstudy.analysis.hashing.encoders.deep.encoders import DEEP_ENCODERS, deep_is_installed
from tests.analysis.hashing.running import hash_json
from tests.commands import relstudy, succeeds


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Vectors, labels, ids, judgments and codes of 120 items, in the current folder."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(6)
    labels = rng.integers(0, 3, 120)
    vectors = rng.standard_normal((3, 8))[labels] * 2 + rng.standard_normal((120, 8))
    for name, rows in (("q", slice(0, 20)), ("db", slice(20, 120)), ("x", slice(None))):
        np.save(f"{name}.npy", vectors[rows])
        np.save(f"y{name}.npy", labels[rows])
        np.save(f"{name}_codes.npy", vectors[rows] > 0)
        Path(f"{name}_ids.txt").write_text("\n".join(f"i{k}" for k in np.arange(120)[rows]))
    pairs = [(f"i{a}", f"i{b}", 1 + 4 * (labels[a] == labels[b])) for a in range(20) for b in range(20, 60)]
    pd.DataFrame(pairs, columns=["query_id", "result_id", "judgment"]).to_csv("judgments.csv", index=False)
    np.save("narrow.npy", vectors[:, :5])
    np.save("nan.npy", np.where(np.arange(8) == 3, np.nan, vectors))
    np.save("flat.npy", vectors[0])
    np.save("none.npy", np.zeros((0, 8)))
    np.save("huge.npy", vectors * 1e200)
    np.save("yshort.npy", labels[:7])
    Path("several.txt").write_text("a b\n" * 120)
    return tmp_path


def test_truth_counts_and_names_its_radius_or_neighbours(folder: Path) -> None:
    ball = hash_json(
        "truth --kind epsilon-ball --queries q.npy --database db.npy --training x.npy --neighbours 20 -o t.npz"
    )
    vectors = np.load("x.npy")
    apart = np.linalg.norm(vectors[:20, None] - vectors[None, 20:], axis=-1) <= ball["radius"]
    assert ball["relevant"] == apart.sum()
    assert ball["queries_without_relevant"] == (~apart.any(axis=1)).sum()
    assert ball["kind"] == f"epsilon-ball of radius {ball['radius']:g}"
    counted = hash_json("count --queries q_codes.npy --database db_codes.npy --truth t.npz -o table.npz")
    assert (counted["relevant"], counted["truth"]) == (ball["relevant"], ball["kind"])
    assert hash_json("evaluate table.npz")["conventions"]["truth"] == ball["kind"]
    near = hash_json("truth --kind k-nn --queries q.npy --database db.npy --neighbours 7 -o t.npz")
    assert (near["relevant"], near["kind"], near["radius"]) == (140, "7-NN", None)
    people = "--query-ids q_ids.txt --database-ids db_ids.txt"
    judged = hash_json(f"truth --kind judgments --judgments judgments.csv {people} --threshold 2 -o t.npz")
    labels = np.load("yx.npy")
    assert judged["relevant"] == (labels[:20, None] == labels[None, 20:60]).sum()
    assert judged["kind"] == "judgments above 2"


@pytest.mark.parametrize("strategy", ["improved", "literature"])
def test_split_writes_parts_that_numpy_reads(folder: Path, strategy: str) -> None:
    sizes = {
        "improved": "--size test_queries=10 --size test_database=40 --size validation_queries=10 --size training=30",
        "literature": "--size test_queries=10 --size training=60",
    }
    made = hash_json(
        f"split --labels yx.npy --vectors x.npy --strategy {strategy} {sizes[strategy]} --seed 4 -o splits"
    )
    assert len(made["files"]) == 10
    assert made["leaks"] == []
    first, again = (np.load(made["files"][i]) for i in (0, 1))
    assert len(first["test_queries"]) == made["sizes"]["test_queries"] == 10
    assert not np.intersect1d(first["test_queries"], first["training"]).size
    assert first["test_queries"].tolist() != again["test_queries"].tolist()
    assert json.loads(str(first["header"]))["seed"] == 4


def test_split_tells_of_test_queries_that_were_trained_on_under_another_number(folder: Path) -> None:
    np.save("twice.npy", np.repeat(np.load("x.npy")[:60], 2, axis=0))
    sizes = "--size test_queries=20 --size training=60"
    made = hash_json(f"split --vectors twice.npy --strategy literature {sizes} --times 1 -o splits")
    assert len(made["leaks"]) == 1
    assert "test queries equal a training vector" in made["leaks"][0]


@pytest.mark.slow
def test_health_names_its_conventions_and_refuses_a_table_of_other_codes(folder: Path) -> None:
    labels = "--query-labels yq.npy --database-labels ydb.npy"
    hash_json(f"count --queries q_codes.npy --database db_codes.npy {labels} -o table.npz")
    health = hash_json("health db_codes.npy --queries q_codes.npy --table table.npz --radius 1")
    assert health["conventions"] == {"empty_ball": "zero", "truth": "class"}
    assert 0 < health["mlgap_1_paper"] <= health["mlgap_1_attainable"] <= 1
    np.save("other.npy", ~np.load("db_codes.npy"))
    for codes, queries in (("other.npy", "q_codes.npy"), ("db_codes.npy", "x_codes.npy")):
        result = relstudy("hash", "health", codes, "--queries", queries, "--table", "table.npz")
        assert result.exit_code == 1
        assert f"table.npz was not counted from {queries} and these codes" in result.stderr


@pytest.mark.slow
def test_the_demo_prints_jiang_li_and_lis_tables_and_ding_li_and_lis_baselines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(demonstration, "SIZES", {"test_queries": 40, "training": 120})
    result = succeeds("hash", "demo", "--bits", "4")
    *blocks, conventions = result.stdout.split("\n\n")
    assert [block.splitlines()[0].split(" by ")[0].split(",")[0] for block in blocks] == [
        *("RAMAP@R", "precision", "recall", "mAP", "Baselines", "Ding")
    ]
    for block in blocks[:4]:
        assert [line[:9].strip() for line in block.splitlines()[2:]] == ["LSH", "LSHSE s=1", "LSHSE s=8", "LSHDE s=1"]
    assert [line.split()[0] for line in blocks[4].splitlines()[2:]] == [
        *ENCODERS,
        *(DEEP_ENCODERS if deep_is_installed() else ()),
    ]
    assert ("pip install 'relstudy[deep]'" in blocks[5]) != ("Here mAP" in blocks[5])
    assert conventions.startswith("conventions: denominator = hits")


TRUTH = "truth --queries q.npy --database db.npy -o out.npz"
ENCODE = "encode itq --bits 4 --train x.npy --encode q.npy out.npz"
SPLIT = "split -o out.npz"
AUDIT = "audit --judgments judgments.csv --ids x_ids.txt"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "code", "message"),
    [
        (f"{TRUTH} --kind epsilon-ball", 2, "needs --training or --radius, one of them"),
        (f"{TRUTH} --kind epsilon-ball --training x.npy --radius 2", 2, "one of them"),
        (f"{TRUTH} --kind epsilon-ball --radius nan", 2, "a number above 0 is needed, not nan"),
        (f"{TRUTH} --kind epsilon-ball --training x.npy --neighbours 120", 1, "need more than 120 training vectors"),
        (f"{TRUTH} --kind k-nn --neighbours 101", 1, "k must be from 1 to the database size 100"),
        (f"{TRUTH} --kind k-nn --database narrow.npy", 1, "need the same width"),
        (f"{TRUTH} --kind k-nn --database nan.npy", 1, "nan.npy, row 0, column 3 (counted from 0): every number"),
        (f"{TRUTH} --kind k-nn --database flat.npy", 1, "flat.npy: vectors need numbers in the shape (items, D)"),
        (f"{TRUTH} --kind k-nn --queries none.npy", 1, "none.npy: vectors need numbers"),
        (f"{TRUTH} --kind k-nn --database q_codes.npy", 1, "this array is bool"),
        (f"{TRUTH} --kind k-nn --queries huge.npy --database huge.npy", 1, "too large for a number"),
        ("truth --kind k-nn -o out.npz", 2, "needs --queries and --database"),
        (f"{TRUTH} --kind k-nn --radius 2 --threshold 0", 2, "--radius, --threshold: of no use to --kind k-nn"),
        ("truth --kind judgments -o out.npz", 2, "needs --judgments, --query-ids and --database-ids"),
        (ENCODE.replace("itq", "nope"), 2, "ENCODER must be one of lsh, pcah"),
        (ENCODE.replace("4", "9"), 1, "9 bits from principal directions need vectors of at least 9 numbers"),
        (ENCODE.replace("itq", "ksh"), 1, "KSH learns from labels"),
        (f"{ENCODE} --train-labels yshort.npy", 1, "7 labels do not fit 120 training vectors"),
        (f"{ENCODE} --train huge.npy", 1, "squares can be added up"),
        (f"{ENCODE} --encode narrow.npy more.npy", 1, "narrow.npy has vectors of 5 numbers and x.npy vectors of 8"),
        (SPLIT, 2, "Give --items, --labels or --vectors"),
        (f"{SPLIT} --items 9 --labels yx.npy", 1, "the numbers of items differ: 9 by --items, 120 by yx.npy"),
        (f"{SPLIT} --labels yshort.npy --vectors x.npy", 1, "7 by yshort.npy, 120 by x.npy"),
        (f"{SPLIT} --items 9 --size test_queries", 2, "PART=ROWS is needed"),
        (f"{SPLIT} --items 9 --size training=1 --size training=2", 2, "'--size': training=... is given twice"),
        (f"{SPLIT} --items 9 --size training=1", 1, "sizes are needed for all parts but one"),
        (f"{SPLIT} --items 9 --strategy literature --size training=1", 1, "needs sizes of test_queries and training"),
        (
            f"{SPLIT} --items 9 --strategy literature --size test_queries=5 --size training=5",
            1,
            "5 test_queries, 5 training do not fit 9 items",
        ),
        (
            f"{SPLIT} --items 9 --strategy literature --size test_queries=1 --size training=1 --size test_database=1",
            1,
            "takes one of validation_queries; it was given test_queries, training, test_database",
        ),
        ("buckets table.npz --bits 5 --tables 2", 1, "2 disjoint tables of 5 bits do not fit a code of 8 bits"),
        ("evaluate table.npz --radius 9", 1, "a radius must be from 0 to the code length 8"),
        ("evaluate table.npz --preset nope", 2, "--preset must be one of default, moran"),
        ("evaluate q.npy", 1, "q.npy: this is not a count table"),
        ("evaluate splits", 1, "splits: file not found"),
        ("health db_codes.npy --queries q_codes.npy", 2, "--queries and --table go together"),
        ("health db_codes.npy --queries q_codes.npy --table table.npz --radius 9", 1, "from 0 to the code length 8"),
        ("scores --codes db_codes.npy --ids x_ids.txt --judgments judgments.csv -o out.npz", 1, "120 ids for the 100"),
        (AUDIT, 2, "Give --vectors, --labels or both"),
        (f"{AUDIT} --vectors db.npy", 1, "x_ids.txt has 120 ids for the 100 items of db.npy"),
        (f"{AUDIT} --labels several.txt --ids q_ids.txt", 1, "q_ids.txt has 20 ids for the 120 items of several.txt"),
    ],
)
def test_a_mistake_ends_with_one_sentence_and_writes_nothing(
    folder: Path, command: str, code: int, message: str
) -> None:
    labels = "--query-labels yq.npy --database-labels ydb.npy"
    hash_json(f"count --queries q_codes.npy --database db_codes.npy {labels} -o table.npz")
    result = relstudy("hash", *command.split())
    assert result.exit_code == code, result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert message in " ".join(result.stderr.split())
    assert not Path("out.npz").exists()
    assert not Path("more.npy").exists()


LABELS = "--query-labels yq.npy --database-labels ydb.npy"
JUDGED = "truth --kind judgments --judgments judgments.csv --query-ids q_ids.txt --database-ids db_ids.txt"
PICTURES = "--query-pictures pictures.npy --database-pictures pictures.npy"


@pytest.mark.parametrize(
    ("command", "lost"),
    [
        (f"count --queries q_codes.npy --database db_codes.npy {LABELS} -o", "db_codes.npy"),
        (f"count --queries q_codes.npy --database db_codes.npy {LABELS} -o", "ydb.npy"),
        ("count --queries q_codes.npy --database db_codes.npy --truth kept.npz -o", "kept.npz"),
        ("count --queries both.npz:q --database both.npz:db --truth kept.npz -o", "both.npz"),
        (f"rank vectors --queries q.npy --database db.npy {LABELS} -o", "db.npy"),
        ("truth --kind k-nn --queries q.npy --database db.npy -o", "db.npy"),
        (
            "truth --kind judgments --judgments judgments.csv --query-ids q_ids.txt --database-ids db_ids.txt -o",
            "q_ids.txt",
        ),
        ("scores --codes x_codes.npy --ids x_ids.txt --judgments judgments.csv -o", "judgments.csv"),
        ("encode lsh --bits 4 --train x.npy --encode q.npy", "x.npy"),
        ("encode lsh --bits 4 --train x.npy --encode q.npy codes.npy --save", "q.npy"),
        ("cross-modal --bits 2 --train q.npy q.npy --encode-first q.npy", "q.npy"),
        ("health db_codes.npy --figure", "db_codes.npy"),
        ("classes db_codes.npy --labels ydb.npy --figure", "ydb.npy"),
        (f"look-up --queries q_codes.npy --database db_codes.npy {LABELS} --bits 4 --figure", "q_codes.npy"),
        (f"pictures {LABELS} --queries q.npy --database db.npy {PICTURES} --query 0 -o", "pictures.npy"),
    ],
)
def test_no_file_that_is_read_is_written_over(folder: Path, command: str, lost: str) -> None:
    """`hash count -o db_codes.npy` left no codes, and encode no training vectors."""
    hash_json("truth --kind k-nn --queries q.npy --database db.npy --neighbours 3 -o kept.npz")
    np.savez("both.npz", q=np.load("q_codes.npy"), db=np.load("db_codes.npy"))
    np.save("pictures.npy", np.zeros((100, 2, 2, 3), dtype=np.uint8))
    before = Path(lost).read_bytes()
    result = relstudy("hash", *command.split(), lost)
    assert result.exit_code == 1, result.output
    assert f"{lost}: this is read here and would be written over" in " ".join(result.stderr.split())
    assert Path(lost).read_bytes() == before


def test_vectors_are_not_written_over_where_they_lie(folder: Path) -> None:
    np.save("vectors.npy", np.load("x.npy"))
    result = relstudy("hash", "data", "vectors", "vectors.npy", "--unit-length", "-o", ".")
    assert result.exit_code == 1
    assert "vectors.npy: this is read here and would be written over" in result.stderr
    assert (np.load("vectors.npy") == np.load("x.npy")).all()


def test_two_outputs_do_not_go_to_one_file(folder: Path) -> None:
    words = "encode lsh --bits 4 --train x.npy --encode q.npy a.npy --encode db.npy ./a.npy"
    result = relstudy("hash", *words.split())
    assert result.exit_code == 1
    assert "./a.npy: this is named for two outputs" in result.stderr
    assert not Path("a.npy").exists()


def test_fewer_splits_do_not_stand_among_those_of_an_earlier_run(folder: Path) -> None:
    """`hash search` read the splits of both runs as ten of one."""
    words = "split --items 40 -o splits --strategy literature --size test_queries=4 --size training=20 --times"
    hash_json(f"{words} 3")
    assert len(hash_json(f"{words} 3 --seed 5")["files"]) == 3
    result = relstudy("hash", *words.split(), "2")
    assert result.exit_code == 1
    assert "splits: split_2.npz of an earlier run is there" in " ".join(result.stderr.split())


def test_encode_tells_what_it_wrote(folder: Path) -> None:
    made = hash_json("encode itq --bits 4 --train x.npy --encode q.npy a.npy --encode db.npy b.npy")
    files = [{"file": "a.npy", "codes": 20}, {"file": "b.npy", "codes": 100}]
    assert made == {"encoder": "itq", "bits": 4, "seed": 0, "trained_on": 120, "files": files}
    assert [np.load(file["file"]).shape for file in files] == [(20, 4), (100, 4)]
