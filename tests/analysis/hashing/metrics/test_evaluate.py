"""The command and the summary of all figures, and the conventions of published evaluators."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import average_precision_score

from relstudy.analysis.hashing.codes.packed import Codes
from relstudy.analysis.hashing.counting.counts import LONGEST, CountTable, without_self
from relstudy.analysis.hashing.metrics.conventions import PRESETS, Conventions
from relstudy.analysis.hashing.metrics.evaluate import evaluate
from relstudy.analysis.hashing.metrics.plots import lookup_curve
from relstudy.common.runtime.errors import RelstudyError
from tests.commands import relstudy, succeeds


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(5)
    centres = rng.random((4, 24)) < 0.5
    for name, size in (("query", 30), ("base", 400)):
        labels = rng.integers(0, 4, size)
        np.save(tmp_path / f"{name}.npy", centres[labels] ^ (rng.random((size, 24)) < 0.2))
        np.save(tmp_path / f"{name}_labels.npy", labels)
    return tmp_path


def run(*arguments: object) -> str:
    result = succeeds(*arguments)
    return result.stdout


def count(folder: Path, *more: object) -> Path:
    table = folder / "table.npz"
    run(
        *("hash", "count", "--queries", folder / "query.npy", "--database", folder / "base.npy"),
        *("--query-labels", folder / "query_labels.npy", "--database-labels", folder / "base_labels.npy", "-o", table),
        *more,
    )
    return table


def distances(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    own, theirs = (Codes.from_bits(np.load(folder / f"{name}.npy")) for name in ("query", "base"))
    labels = [np.load(folder / f"{name}_labels.npy") for name in ("query", "base")]
    return own.distances(theirs), labels[0][:, None] == labels[1][None]


def test_count_then_evaluate_gives_the_contract_and_agrees_with_scikit_learn(folder: Path) -> None:
    result = json.loads(run("hash", "evaluate", count(folder), "--k", 10, "--radius", 2, "--radius", 5, "--json"))
    for key in ("map", "map_at_k", "precision_at_k", "radius", "auprc", "ramap", "lookup", "conventions"):
        assert key in result
    assert result["map"]["pessimistic"] <= result["map"]["expected"] <= result["map"]["optimistic"]
    assert [row["r"] for row in result["radius"]] == [2, 5]
    assert {"sum", "trapezoid"} <= set(result["auprc"])
    distance, relevant = distances(folder)
    grouped = np.mean([average_precision_score(own, -row) for own, row in zip(relevant, distance, strict=True)])
    assert result["map_grouped"] == pytest.approx(grouped, abs=1e-12)
    near = distance <= 5
    assert result["radius"][1]["precision_micro"] == pytest.approx((near & relevant).sum() / near.sum(), abs=1e-12)


def test_shards_on_the_command_line_give_the_same_table(folder: Path) -> None:
    whole = CountTable.load(count(folder))
    codes, labels = np.load(folder / "base.npy"), np.load(folder / "base_labels.npy")
    shards: list[object] = []
    for i, part in enumerate((slice(0, 123), slice(123, 400))):
        np.save(folder / f"s{i}.npy", codes[part])
        np.save(folder / f"l{i}.npy", labels[part])
        shards += ["--database", folder / f"s{i}.npy", "--database-labels", folder / f"l{i}.npy"]
    table = folder / "parts.npz"
    run(
        "hash",
        "count",
        "--queries",
        folder / "query.npy",
        "--query-labels",
        folder / "query_labels.npy",
        *shards,
        "-o",
        table,
    )
    parts = CountTable.load(table)
    assert (parts.total == whole.total).all()
    assert (parts.relevant == whole.relevant).all()
    assert parts.about["database"] == ["s0.npy", "s1.npy"]


@pytest.mark.slow
def test_the_hashnet_preset_is_what_its_argsort_evaluator_computes_averaged_over_tie_orders(folder: Path) -> None:
    distance, relevant = distances(folder)
    rng = np.random.default_rng(0)
    draws = []
    for _ in range(400):
        order = np.lexsort((rng.random(distance.shape), distance))[:, :20]
        hits = np.take_along_axis(relevant, order, axis=1)
        precision = hits.cumsum(axis=1) / np.arange(1, 21)
        kept = hits.any(axis=1)
        draws.append(((precision * hits).sum(axis=1)[kept] / hits.sum(axis=1)[kept]).mean())
    table = CountTable.load(count(folder))
    ours = evaluate(table, k=[20], conventions=PRESETS["hashnet"])["map_at_k"]["20"]
    # five standard errors of the mean over random tie orders
    assert ours["expected"] == pytest.approx(np.mean(draws), abs=5 * np.std(draws) / np.sqrt(len(draws)))
    assert ours["pessimistic"] <= min(draws)
    assert max(draws) <= ours["optimistic"]


def test_a_query_without_hits_is_dropped_by_hashnet_and_counts_0_in_deephash() -> None:
    table = CountTable(np.array([[1, 1], [1, 1]]), np.array([[1, 0], [0, 1]]))
    assert evaluate(table, k=[1], conventions=PRESETS["hashnet"])["map_at_k"]["1"]["expected"] == 1.0
    assert evaluate(table, k=[1], conventions=PRESETS["deephash-pytorch"])["map_at_k"]["1"]["expected"] == 0.5


def test_every_result_names_its_conventions() -> None:
    rules = evaluate(CountTable(np.array([[1]]), np.array([[1]])))["conventions"]
    choices = {"denominator", "no_relevant", "no_hit", "empty_ball", "area", "beta"}
    assert set(rules) == choices | {"ties", "truth", "auprc_literal", "exclude_self"}


def test_queries_that_find_themselves_and_queries_without_a_relevant_code_are_told() -> None:
    total = np.array([[1, 2, 1], [1, 1, 2]])
    among = CountTable(total, np.array([[1, 1, 0], [1, 0, 0]]))
    assert "each finds itself" in evaluate(among)["notes"][0]
    assert not any("finds itself" in note for note in evaluate(without_self(among))["notes"])
    none = CountTable(total, np.array([[1, 1, 0], [0, 0, 0]]))
    (skipped,) = evaluate(none)["notes"]
    assert skipped.startswith("1 of 2 queries have no relevant code; they are left out of mean average precision")
    labelled = CountTable(none.total, none.relevant, {"unlabelled": []})
    for preset in ("trec-eval", "csq"):
        (counted,) = evaluate(labelled, conventions=PRESETS[preset])["notes"]
        assert "they count 0 in mean average precision" in counted
    assert evaluate(CountTable(total, np.array([[1, 1, 0], [0, 1, 0]])))["notes"] == []


def test_an_unknown_convention_is_refused_by_name() -> None:
    with pytest.raises(RelstudyError, match="empty-ball: choose 'skip' or 'zero', not 'one'"):
        Conventions(empty_ball="one")  # type: ignore[arg-type]


def test_figures_without_any_relevant_code_are_null_not_nan(tmp_path: Path) -> None:
    CountTable(np.array([[2, 1]]), np.array([[0, 0]])).save(tmp_path / "t.npz")
    result = json.loads(run("hash", "evaluate", tmp_path / "t.npz", "--json"))
    assert result["map"]["expected"] is None
    assert result["auprc"]["sum"] is None
    assert result["queries_without_relevant"] == 1


@pytest.mark.slow
def test_the_figures_are_written_as_svg(folder: Path) -> None:
    run("hash", "evaluate", count(folder), "--figures", folder / "figures")
    for name in ("radius_curves", "precision_recall", "lookup"):
        assert (folder / "figures" / f"{name}.svg").read_text().startswith("<svg")


def test_the_table_names_probes_and_candidates_and_its_conventions(folder: Path) -> None:
    result = succeeds("hash", "evaluate", count(folder), "--radius", "2", "--k", "5")
    row = next(line.split() for line in result.stdout.splitlines() if line.startswith("2 "))
    assert row[-2] == "301"  # 1 + 24 + 276 codes within radius 2 of a code of 24 bits
    assert "empty_ball = zero" in result.stdout
    assert "truth = class" in result.stdout


def test_without_a_radius_the_first_four_are_shown_and_those_where_recall_passes_its_tenths(folder: Path) -> None:
    table = count(folder)
    recall = [row["recall_micro"] for row in json.loads(run("hash", "evaluate", table, "--json"))["radius"]]
    assert len(recall) == 25 and recall[24] == 1
    passed = {next(r for r, reached in enumerate(recall) if reached >= least) for least in (0.1, 0.5, 0.9)}
    shown = [line.split()[0] for line in run("hash", "evaluate", table).splitlines() if re.match(r" *\d+ ", line)]
    assert shown == [str(r) for r in sorted({0, 1, 2, 3} | passed)]
    whole = json.loads(run("hash", "evaluate", table, "--radius", 24, "--json"))["radius"]
    assert [(row["r"], row["recall_micro"]) for row in whole] == [(24, 1)]


def test_cut_offs_beyond_every_number_are_the_whole_database(folder: Path) -> None:
    result = json.loads(run("hash", "evaluate", count(folder), "--k", 400, "--k", 10**30, "--json"))
    assert result["map_at_k"]["400"] == result["map_at_k"][str(10**30)] == result["map"]
    precision = result["precision_at_k"]
    assert precision[str(10**30)]["expected"] == pytest.approx(
        precision["400"]["expected"] * 400 / 1e30, rel=1e-12, abs=0
    )


def test_queries_without_a_relevant_code_follow_the_rule_in_every_figure_that_needs_one() -> None:
    table = CountTable(np.array([[2, 0], [2, 0]]), np.array([[2, 0], [0, 0]]))
    for rule, expected in (("skip", 1.0), ("zero", 0.5)):
        result = evaluate(table, k=[1], conventions=Conventions(no_relevant=rule))  # type: ignore[arg-type]
        row = result["radius"][0]
        assert result["map"]["expected"] == result["map_at_k"]["1"]["expected"] == expected
        assert row["recall_macro"] == row["f1_macro"] == result["map_grouped"] == expected
        assert row["precision_macro"] == result["precision_at_k"]["1"]["expected"] == 0.5
        assert result["queries_without_relevant"] == 1
        assert result["conventions"]["no_relevant"] == rule


def test_the_expected_number_of_queries_without_a_hit_is_told() -> None:
    table = CountTable(np.array([[2], [2], [2]]), np.array([[2], [1], [0]]))
    assert evaluate(table, k=[1, 2])["queries_without_hit"] == {"1": 1.5, "2": 1.0}


@pytest.mark.slow
@pytest.mark.parametrize("bits", [1030, 2048, LONGEST])
def test_codes_so_long_that_their_balls_exceed_every_float_are_evaluated(tmp_path: Path, bits: int) -> None:
    total = np.zeros((1, bits + 1), dtype=int)
    total[0, [0, bits // 2]] = 1, 3
    table = CountTable(total, total)
    result = json.loads(json.dumps(evaluate(table, radius=[0, bits // 2]), allow_nan=False))
    assert result["lookup"][1]["probes"] > 10**300
    assert result["ramap"][str(bits // 2)] == pytest.approx((1 + 1 / (1 + bits)) / (bits // 2 + 1), rel=1e-3)
    assert lookup_curve(table).startswith("<svg")
    table.save(tmp_path / "t.npz")
    assert re.search(r"\de\d{3,4} ", run("hash", "evaluate", tmp_path / "t.npz", "--radius", bits // 2))


@pytest.mark.parametrize("beta", ["0", "-1", "nan", "inf"])
def test_a_beta_that_is_no_weight_is_refused(folder: Path, beta: str) -> None:
    result = relstudy("hash", "evaluate", count(folder), "--beta", beta)
    assert (result.exit_code, f"a number above 0 is needed, not {beta}" in result.stderr) == (2, True)


def test_a_huge_beta_is_recall(folder: Path) -> None:
    row = json.loads(run("hash", "evaluate", count(folder), "--beta", 1e200, "--radius", 6, "--json"))["radius"][0]
    assert row["f_micro"] == row["recall_micro"]
    assert row["f_macro"] == row["recall_macro"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--truth", "t.npz"], "Give --query-labels and --database-labels, or --truth"),
        (["--database-labels", "again.npy"], "one --database-labels for each --database"),
        (["--scheduler", "tcp://there:8786"], "--scheduler goes with --engine dask"),
    ],
)
def test_options_that_do_not_go_together_are_usage_errors(folder: Path, options: list[str], message: str) -> None:
    names = (
        ("queries", "query"),
        ("database", "base"),
        ("query-labels", "query_labels"),
        ("database-labels", "base_labels"),
    )
    flat = [part for name, file in names for part in (f"--{name}", str(folder / f"{file}.npy"))]
    result = relstudy("hash", "count", *flat, *options, "-o", folder / "t.npz")
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--query-labels", "base_labels.npy"], "400 labels for the 30 codes"),
        (["--database-labels", "query_labels.npy"], "30 labels for the 400 codes"),
    ],
)
def test_labels_of_the_wrong_length_end_the_command_with_one_sentence(
    folder: Path, options: list[str], message: str
) -> None:
    arguments = {
        "--queries": "query.npy",
        "--database": "base.npy",
        "--query-labels": "query_labels.npy",
        "--database-labels": "base_labels.npy",
        options[0]: options[1],
    }
    flat = [str(part) for name, value in arguments.items() for part in (name, folder / value)]
    result = relstudy("hash", "count", *flat, "-o", folder / "t.npz")
    assert result.exit_code == 1
    assert message in result.stderr
    assert not (folder / "t.npz").exists()


@pytest.mark.slow
def test_query_and_database_codes_may_come_from_different_encoders_with_labels_of_their_own(tmp_path: Path) -> None:
    """Cross-modal retrieval: words search pictures; both carry label sets over one vocabulary."""
    rng = np.random.default_rng(2)
    words, pictures = rng.random((6, 16)) < 0.5, rng.random((40, 16)) < 0.5
    np.save(tmp_path / "words.npy", words)
    (tmp_path / "pictures.txt").write_text("\n".join(row.tobytes().hex() for row in np.packbits(pictures, axis=1)))
    names = np.array(["sea", "sky", "cat", "dog"])
    sets = [rng.random((size, 4)) < 0.4 for size in (6, 40)]
    for name, table in zip(("own", "theirs"), sets, strict=True):
        (tmp_path / f"{name}.txt").write_text("\n".join(" ".join(names[row]) for row in table) + "\n")
    run(
        *("hash", "count", "--queries", tmp_path / "words.npy", "--database", tmp_path / "pictures.txt"),
        *(
            "--query-labels",
            tmp_path / "own.txt",
            "--database-labels",
            tmp_path / "theirs.txt",
            "-o",
            tmp_path / "t.npz",
        ),
    )
    table = CountTable.load(tmp_path / "t.npz")
    distance = (words[:, None] != pictures[None]).sum(axis=-1)
    relevant = (sets[0].astype(int) @ sets[1].T.astype(int)) > 0
    expected = [np.bincount(row[own], minlength=17).tolist() for row, own in zip(distance, relevant, strict=True)]
    assert table.relevant.tolist() == expected
    assert table.about["truth"] == "shared label"
