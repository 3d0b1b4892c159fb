"""`relstudy score A.run -j qrels` prints what ir-measures gives for the same two files."""

from __future__ import annotations

import itertools
import json
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pytest

import relstudy as rs
from relstudy.common.runtime.errors import RelstudyError
from tests.commands import relstudy, succeeds

MEASURES = ("nDCG@10", "nDCG", "AP", "AP(rel=2)", "AP@20", "P@5", "P(rel=2)@10", "R@10", "RR", "Rprec", "Bpref")
MEASURES += (
    "infAP",
    "Judged@10",
    "Success@5",
    "SetP",
    "NumRet",
    "ERR@10",
    "IPrec@0.2",
    "Compat(p=0.9)",
    "SetF",
    "RR@3",
)
UNTIED = (
    *MEASURES,
    "RBP(p=0.8,rel=1)",
    "RBP(p=0.95,rel=2)",
    "SDCG(max_rel=3)@10",
    "BPM(max_rel=3)@10",
    "INST(max_rel=3)",
)
"""With those that ir-measures takes in the order of the file where scores are equal."""
DIGITS = 1e-6  # the largest difference asked for; sums of floats in another order differ by some 1e-15


def content(runs: list[Path], qrels: Path, *more: str, measures: tuple[str, ...] = MEASURES) -> dict[str, Any]:
    """The command's JSON."""
    arguments = ["score", *map(str, runs), "-j", str(qrels), "--replicates", "20", "--json", "--allow-low-coverage"]
    arguments += [part for name in measures for part in ("--measure", name)]
    done = succeeds(*arguments, *more)
    return dict(json.loads(done.stdout))


def scored(runs: list[Path], qrels: Path, measures: tuple[str, ...] = MEASURES) -> dict[str, dict[str, float]]:
    """Each system's measures, out of the command's JSON."""
    systems = content(runs, qrels, measures=measures)["systems"]
    names = [str(ir_measures.parse_measure(name)) for name in measures]
    return {system: {name: figures["measures"][name]["value"] for name in names} for system, figures in systems.items()}


def theirs(run: Path, qrels: Path, measures: tuple[str, ...] = MEASURES) -> dict[str, float]:
    parsed = [ir_measures.parse_measure(name) for name in measures]
    judged, ranked = ir_measures.read_trec_qrels(str(qrels)), ir_measures.read_trec_run(str(run))
    return {str(measure): value for measure, value in ir_measures.calc_aggregate(parsed, judged, ranked).items()}


def made(folder: Path, seed: int) -> tuple[list[Path], Path]:
    """Three runs with tied scores, results that nobody judged, and a query and results that they do not hold; and qrels
    with grades of -1 and -2."""
    draw = random.Random(seed)
    results = [f"d{number:02}" for number in range(60)]
    queries = [str(100 + number) for number in range(12)]  # one library behind ir-measures takes numbers alone
    qrels = folder / "made.qrels"
    lines = [
        f"{query} 0 {result} {draw.choice((-2, -1, 0, 0, 0, 1, 1, 2, 3))}"
        for query in queries
        for result in draw.sample(results, 30)
    ]
    qrels.write_text("\n".join(lines) + "\n")
    runs = []
    for system in ("first", "second", "third"):
        lines = [
            f"{query} Q0 {result} {rank} {draw.randrange(6)} {system}"
            for query in queries
            if (system, query) != ("second", "103")
            for rank, result in enumerate(draw.sample(results, 40), start=1)
        ]
        runs.append(folder / f"{system}.run")
        runs[-1].write_text("\n".join(lines) + "\n")
    return runs, qrels


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_ties_gaps_and_unjudged_results_have_the_values_of_ir_measures(tmp_path: Path, seed: int) -> None:
    runs, qrels = made(tmp_path, seed)
    ours = scored(runs, qrels)
    for run in runs:
        assert ours[run.stem] == pytest.approx(theirs(run, qrels), abs=DIGITS), run.stem


def without_ties(run: Path) -> None:
    """The same results in the order of the file, each with a score of its own."""
    lines = [line.split() for line in run.read_text().splitlines()]
    run.write_text("".join(f"{q} Q0 {d} {rank} {1000 - int(rank)} {s}\n" for q, _, d, rank, _, s in lines))


@pytest.mark.slow
def test_without_ties_measures_of_every_library_behind_ir_measures_have_its_values(tmp_path: Path) -> None:
    runs, qrels = made(tmp_path, 5)
    for run in runs:
        without_ties(run)
    ours = scored(runs, qrels, UNTIED)
    for run in runs:
        assert ours[run.stem] == pytest.approx(theirs(run, qrels, UNTIED), abs=DIGITS), run.stem


def by_hand(run: Path, qrels: Path, p: float) -> tuple[float, float]:
    """Rank-biased precision and its residual, equal scores by result descending."""
    grades = {(q, d): int(grade) for q, _, d, grade in map(str.split, qrels.read_text().splitlines())}
    found: dict[str, list[tuple[float, str]]] = {query: [] for query, _ in grades}
    for query, _, result, _, score, _ in map(str.split, run.read_text().splitlines()):
        found[query].append((float(score), result))
    values, open_yet = [], []
    for query, results in found.items():
        of = [grades.get((query, result), -1) for _, result in sorted(results, reverse=True)]
        values.append(sum((1 - p) * p**place for place, grade in enumerate(of) if grade >= 1))
        open_yet.append(sum((1 - p) * p**place for place, grade in enumerate(of) if grade < 0) + p ** len(of))
    return float(np.mean(values)), float(np.mean(open_yet))


@pytest.mark.slow
def test_rank_biased_precision_and_its_residual_are_those_of_the_definition(tmp_path: Path) -> None:
    runs, qrels = made(tmp_path, 6)
    found = content(runs, qrels, measures=("RBP(p=0.9,rel=1)",))["systems"]
    for run in runs:
        value, residual = by_hand(run, qrels, 0.9)
        assert found[run.stem]["measures"]["RBP(p=0.9,rel=1)"]["value"] == pytest.approx(value)
        assert found[run.stem]["first_judged"]["RBP(p=0.9,rel=1) residual"] == pytest.approx(residual)


@pytest.mark.parametrize(
    ("measure", "reason"),
    [
        ("RBP(p=0.8)", "the parameter rel must be given, as RBP(rel=1)"),
        ("alpha_nDCG@10", "it is of the subtopics of a query, which these judgments do not have"),
        ("SDCG@10", "the parameter max_rel must be given"),
    ],
)
def test_a_measure_that_cannot_be_computed_is_one_sentence_with_the_way_out(
    tmp_path: Path, measure: str, reason: str
) -> None:
    runs, qrels = made(tmp_path, 7)
    with pytest.raises(RelstudyError, match=re.escape(reason)) as refused:
        rs.score(runs[0], qrels, measures=[measure], method="none")
    assert "\n" not in str(refused.value)


def test_where_the_library_of_a_measure_is_not_installed_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs, qrels = made(tmp_path, 7)
    monkeypatch.setitem(sys.modules, "cwl", None)
    monkeypatch.setitem(sys.modules, "cwl.cwl_eval", None)
    # ir-measures keeps what it finds, for all tests that the process runs after this one
    monkeypatch.setattr(ir_measures.providers.registry["cwl_eval"], "_is_available", None)
    monkeypatch.setattr("relstudy.analysis.indices.measures.find_spec", lambda name: None)
    with pytest.raises(RelstudyError, match=re.escape("pip install 'relstudy[measures]'")):
        rs.score(runs[0], qrels, measures=["RBP(rel=1)"], method="none")


def test_a_note_says_what_other_orders_of_equal_scores_would_give(tmp_path: Path) -> None:
    """The ends are those over all orders, by brute force."""
    grades = {("a", "x"): 2, ("a", "y"): 0, ("a", "z"): 1, ("b", "x"): 1, ("b", "y"): 0}
    qrels, run = tmp_path / "few.qrels", tmp_path / "few.run"
    qrels.write_text("".join(f"{q} 0 {d} {grade}\n" for (q, d), grade in grades.items()))
    run.write_text("".join(f"{q} Q0 {d} 1 {7 if q == 'a' else ord(d)} few\n" for q, d in grades))
    measure = ir_measures.nDCG @ 2
    judged = [ir_measures.Qrel(q, d, grade) for (q, d), grade in grades.items()]
    rest = [ir_measures.ScoredDoc("b", d, float(ord(d))) for d in "xy"]
    values = []
    for order in itertools.permutations("xyz"):
        ranked = [ir_measures.ScoredDoc("a", d, float(-place)) for place, d in enumerate(order)]
        values.append(ir_measures.calc_aggregate([measure], judged, [*ranked, *rest])[measure])
    notes = rs.score(run, qrels, measures=["nDCG@2"], method="none").notes
    (note,) = (each for each in notes if "has equal scores" in each)
    assert "in 1 query" in note and f"({min(values):.3f} to {max(values):.3f})" in note


@pytest.mark.slow
def test_qrels_of_a_data_set_of_ir_datasets_are_those_of_its_file(tmp_path: Path) -> None:
    import ir_datasets

    runs, qrels = made(tmp_path, 8)

    class Handler(ir_datasets.formats.BaseQrels):  # type: ignore[misc]
        def qrels_iter(self) -> Iterator[Any]:
            for query, _, result, grade in map(str.split, qrels.read_text().splitlines()):
                yield ir_datasets.formats.TrecQrel(query, result, int(grade), "0")

    ir_datasets.registry.register("made-for-a-test", ir_datasets.Dataset(Handler()))
    of_file = content(runs, qrels)
    of_set = content(runs, Path("irds:made-for-a-test"))
    assert of_set["systems"] == of_file["systems"]
    assert any("ir_datasets, made-for-a-test" in note for note in of_set["notes"])
    with pytest.raises(RelstudyError, match="knows no data set of this id"):
        rs.score(runs[0], "irds:there-is-none")

    class Away(ir_datasets.formats.BaseQrels):  # type: ignore[misc]
        def qrels_iter(self) -> Iterator[Any]:
            raise RuntimeError("All download sources failed", ["an address"])

    ir_datasets.registry.register("away-in-a-test", ir_datasets.Dataset(Away()))
    with pytest.raises(RelstudyError, match=r"its qrels cannot be had \(All download sources failed\)$"):
        rs.score(runs[0], "irds:away-in-a-test")


@pytest.mark.slow
@pytest.mark.parametrize("form", ["{q} 0 {d} {grade} 1.0\n", "{q} {d} {grade} 1 1.0\n"])
def test_sampled_qrels_and_prels_with_every_pair_certain_are_whole_qrels(tmp_path: Path, form: str) -> None:
    runs, qrels = made(tmp_path, 9)
    other = tmp_path / "other.qrels"
    lines = [line.split() for line in qrels.read_text().splitlines()]
    other.write_text("".join(form.format(q=q, d=d, grade=grade) for q, _, d, grade in lines))
    assert scored(runs, other) == scored(runs, qrels)


@pytest.mark.slow
def test_comments_in_qrels_and_runs_change_no_value(tmp_path: Path) -> None:
    runs, qrels = made(tmp_path, 4)
    plain = scored(runs, qrels)
    for file in (*runs, qrels):
        file.write_text("# made\n" + file.read_text().replace("\n", "\n# between\n", 1))
    assert scored(runs, qrels) == plain


@pytest.mark.real_data
@pytest.mark.parametrize("name", ["results.test qrels.test", "results-302.test qrels-302.test"])
def test_trec_evals_own_runs_have_the_values_of_ir_measures(shared_data: Path, name: str) -> None:
    run, qrels = (shared_data / "trec_eval_test" / each for each in name.split())
    (ours,) = scored([run], qrels).values()
    assert ours == pytest.approx(theirs(run, qrels), abs=DIGITS)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_skipping_what_nobody_judged_gives_the_values_of_ir_measures_on_runs_without_it(
    tmp_path: Path, seed: int
) -> None:
    runs, qrels = made(tmp_path, seed)
    ours = content(runs, qrels, "--unjudged", "skip")["systems"]
    judged = {(each.query_id, each.doc_id) for each in ir_measures.read_trec_qrels(str(qrels)) if each.relevance >= 0}
    for run in runs:
        rows = [line.split() for line in run.read_text().splitlines()]
        # Compat takes a result that a run does not hold as scored 0; places, which we hand on, are above it
        lines = [" ".join([*row[:4], str(float(row[4]) + 1), row[5]]) for row in rows if (row[0], row[2]) in judged]
        (tmp_path / "kept.run").write_text("\n".join(lines) + "\n")
        have = {name.removeprefix("condensed "): each["value"] for name, each in ours[run.stem]["measures"].items()}
        assert have == pytest.approx(theirs(tmp_path / "kept.run", qrels), abs=DIGITS)
        assert all(name.startswith("condensed ") for name in ours[run.stem]["measures"])


def test_beside_each_measure_stands_how_many_of_the_first_results_are_judged(tmp_path: Path) -> None:
    """As deep as the measures look; as ir-measures' Judged, but for grades below 0, which are no judgments."""
    runs, qrels = made(tmp_path, 1)
    for run in runs:  # ir-measures' Judged breaks ties unlike trec_eval
        without_ties(run)
    whole = tmp_path / "whole.qrels"
    whole.write_text("".join(f"{line}\n" for line in qrels.read_text().splitlines() if " -" not in line))
    ours = content(runs, qrels, measures=("nDCG@10", "P@5", "AP"))["systems"]
    names = {"judged@5": "Judged@5", "judged@10": "Judged@10", "judged": "Judged@1000"}
    for run in runs:
        want = [ir_measures.parse_measure(name) for name in names.values()]
        values = ir_measures.calc_aggregate(
            want, ir_measures.read_trec_qrels(str(whole)), ir_measures.read_trec_run(str(run))
        )
        expected = {name: values[ir_measures.parse_measure(other)] for name, other in names.items()}
        assert ours[run.stem]["first_judged"] == pytest.approx(expected, abs=DIGITS)


@pytest.mark.slow
def test_judged_shares_stand_in_every_output(tmp_path: Path) -> None:
    runs, qrels = made(tmp_path, 2)
    result = rs.score({run.stem: run for run in runs}, qrels, measures=("nDCG@10", "AP"), method="none", replicates=20)
    shares = result.table.set_index("system")["judged@10"]
    by_query = result.per_query.groupby("system")["judged@10"].mean()
    assert shares.to_dict() == pytest.approx(by_query.to_dict())
    assert "judged@10" in result.to_latex()
    page = tmp_path / "page.html"
    arguments = ["score", *map(str, runs), "-j", str(qrels), "--replicates", "20", "--method", "none"]
    arguments += ["--report", str(page)]
    assert "judged@10" in relstudy(*arguments).stdout
    assert "judged@10 and judged: how many" in page.read_text()


def test_unjudged_as_poor_is_refused_where_the_judgments_are_no_whole_qrels() -> None:
    pairs = pd.DataFrame({"query_id": list("aabb"), "result_id": list("wxyz"), "judgment": [5.0, 1, 4, 2]})
    scores = pairs.drop(columns="judgment").assign(system="one", score=[0.9, 0.2, 0.4, 0.3])
    with pytest.raises(RelstudyError, match="under whole qrels alone"):
        rs.score(scores, pairs, unjudged="poor", method="none")


def strangers(folder: Path) -> tuple[list[Path], Path]:
    """Six runs, and qrels of the first ten of five of them without much of what the sixth, the best, ranks first."""
    draw = np.random.default_rng(5)
    truth = draw.integers(0, 4, (40, 200)) * (draw.random((40, 200)) < 0.25)
    first = {}
    for system, noise in enumerate((1.6, 1.8, 2.0, 2.2, 2.4, 1.0)):
        name = f"pooled{system}" if system < 5 else "outsider"
        first[name] = np.argsort(-(truth + noise * draw.normal(size=truth.shape)), axis=1)[:, :50]
    pooled = {(q, int(d)) for name, best in first.items() if name[0] == "p" for q in range(40) for d in best[q, :10]}
    pooled -= {(q, int(d)) for q in range(40) for d in first["outsider"][q, :4]}
    qrels = folder / "pool.qrels"
    qrels.write_text("".join(f"q{query} 0 d{each} {truth[query, each]}\n" for query, each in sorted(pooled)))
    runs = []
    for name, best in first.items():
        lines = [f"q{q} Q0 d{d} {rank} {100 - rank} {name}\n" for q in range(40) for rank, d in enumerate(best[q], 1)]
        runs.append(folder / f"{name}.run")
        runs[-1].write_text("".join(lines))
    return runs, qrels


@pytest.mark.slow
def test_verdict_measures_judged_shares_and_tests_of_six_runs_tell_one_story(tmp_path: Path) -> None:
    runs, qrels = strangers(tmp_path)
    further = ("--method", "none", "--baseline", "outsider", "--pool-depth", "10")
    found = content(runs, qrels, *further, measures=("nDCG@10", "AP"))
    figures = {name: system["measures"]["nDCG@10"]["value"] for name, system in found["systems"].items()}
    shares = {name: system["first_judged"]["judged@10"] for name, system in found["systems"].items()}
    assert min(shares, key=shares.__getitem__) == "outsider" and shares["outsider"] < 0.6
    verdict = found["verdict"]
    assert max(figures, key=figures.__getitem__) in verdict["best"] and "outsider" not in verdict["best"]
    assert verdict["contrary"] is not None and "outsider is ahead by" in verdict["contrary"]
    assert "Unjudged results are poor to nDCG@10 and have no part in" in verdict["contrary"]
    assert f"{100 * shares['outsider']:.0f} % of outsider's" in verdict["contrary"]
    tests = [each for each in found["tests"]["comparisons"] if each["index"] == "nDCG@10"]
    compared = {
        frozenset((each["first"], each["second"])): each["p_value"]
        for each in found["comparisons"]
        if each["index"] == "nDCG@10"
    }
    for each in tests:
        assert each["difference"]["value"] == pytest.approx(figures[each["first"]] - figures["outsider"])
        assert each["difference"]["low"] > 0 and each["p_corrected"] < 0.05
        assert each["p_t"] == pytest.approx(compared[frozenset((each["first"], "outsider"))])
    left = {each["system"]: each for each in found["left_out"]["systems"] if each["measure"] == "nDCG@10"}
    assert left["outsider"]["change"] == 0 and left["outsider"]["alone"] == 0
    assert all(each["change"] < -0.1 for name, each in left.items() if name != "outsider")
    assert left[verdict["best"][0]]["rank_without"] == 5
    skipped = content(runs, qrels, "--method", "none", "--unjudged", "skip", measures=("nDCG@10", "AP"))["verdict"]
    assert skipped["best"][0] == "outsider"
