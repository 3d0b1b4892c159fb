"""Tests of measures in every output: numbers of scipy, one baseline, together, and marks in the table for a paper."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import relstudy as rs
from relstudy.analysis.report.significance_sections import differences_by_query
from relstudy.common.runtime.errors import RelstudyError
from tests.commands import relstudy

EXACT = 1e-9  # sums of some tens of doubles in another order


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Path], Path]:
    """Four runs of 20 queries, the first the best, two alike; and qrels."""
    folder, draw = tmp_path_factory.mktemp("tested"), random.Random(3)
    results = [f"d{number}" for number in range(40)]
    grades = {(q, d): draw.choice((0, 0, 0, 1, 1, 2)) for q in range(20) for d in draw.sample(results, 30)}
    (folder / "q.qrels").write_text("".join(f"q{q} 0 {d} {grade}\n" for (q, d), grade in grades.items()))
    runs = []
    for system, noise in (("best", 0.5), ("second", 1.2), ("third", 1.2), ("last", 3.0)):
        lines = [
            f"q{q} Q0 {d} 1 {grades.get((q, d), 0) + noise * draw.gauss(0, 1):.5f} {system}\n"
            for q in range(20)
            for d in results
        ]
        runs.append(folder / f"{system}.run")
        runs[-1].write_text("".join(lines))
    return runs, folder / "q.qrels"


def scores(files: tuple[list[Path], Path]) -> Any:
    runs, qrels = files
    return rs.score({run.stem: run for run in runs}, qrels, measures=("nDCG@10", "AP"), method="none", replicates=50)


@pytest.mark.slow
def test_p_of_comparisons_and_of_tests_are_the_paired_t_of_scipy(files: tuple[list[Path], Path]) -> None:
    result = scores(files)
    by_query = result.per_query.pivot(index="query_id", columns="system")
    tests = result.tests().set_index(["measure", "first", "second"])
    compared = result.comparisons.set_index(["index", "first", "second"])
    for measure, first, second in tests.index:
        theirs = stats.ttest_rel(by_query[measure, first], by_query[measure, second])
        ends = theirs.confidence_interval()
        for table, p in ((tests, "p_t"), (compared, "p_value")):
            row = table.loc[measure, first, second]
            found = [row[p], row["difference_low"], row["difference_high"]]
            assert found == pytest.approx([theirs.pvalue, ends.low, ends.high], abs=EXACT)


def test_with_a_baseline_there_is_one_comparison_a_system_and_measure(files: tuple[list[Path], Path]) -> None:
    tests = scores(files).tests(baseline="third", test="randomisation", draws=999)
    assert len(tests) == 6 and set(tests["second"]) == {"third"}
    assert (tests["p_corrected"] >= tests["p_randomisation"]).all()
    assert (tests[["wins", "ties", "losses"]].sum(axis=1) == 20).all()


def test_tukeys_intervals_hold_together_and_leave_out_0_where_its_p_is_small(files: tuple[list[Path], Path]) -> None:
    tests = scores(files).tests(correction="tukey", draws=2000)
    widths = (tests["difference_high"] - tests["difference_low"]).groupby(tests["measure"])
    assert (widths.max() - widths.min()).max() == pytest.approx(0, abs=EXACT)
    outside = (tests["difference_low"] > 0) | (tests["difference_high"] < 0)
    assert outside.equals(tests["p_corrected"] < 0.05)


@pytest.mark.slow
def test_letters_and_stars_stand_in_the_table_for_a_paper(files: tuple[list[Path], Path]) -> None:
    result = scores(files)
    tests = result.tests(correction="tukey")
    latex = result.to_latex(marks="letters", correction="tukey")
    alike = tests[(tests["measure"] == "nDCG@10") & (tests["p_corrected"] >= 0.05)]
    assert {("second", "third")} <= set(zip(alike["first"], alike["second"], strict=True))
    assert r"$^{\mathrm{a}}$" in latex and r"$^{\mathrm{b" in latex
    assert r"$^{\mathrm{***}}$" in result.to_latex(marks="stars", baseline="last")
    with pytest.raises(RelstudyError, match="none is stated"):
        result.to_latex(marks="stars")
    assert "mathrm" not in result.to_latex()


def test_python_draws_the_differences_by_query_in_the_index_that_decides(files: tuple[list[Path], Path]) -> None:
    result = scores(files)
    by_query = result.per_query.pivot(index="query_id", columns="system", values="nDCG@10")
    base, drawn = differences_by_query(result.result, result.result.primary.index)
    assert base == "best" and set(drawn) == {"second", "third", "last"}
    for name, each in drawn.items():
        assert each.tolist() == pytest.approx(sorted(by_query[name] - by_query["best"], reverse=True), abs=EXACT)
    assert result.plot("differences").axes
    alone = rs.score({"best": files[0][0]}, files[1], measures=("nDCG@10",), method="none", replicates=20)
    with pytest.raises(RelstudyError, match="differences by query need two systems"):
        alone.plot("differences")


@pytest.mark.slow
def test_the_command_prints_writes_and_shows_the_tests(files: tuple[list[Path], Path], tmp_path: Path) -> None:
    runs, qrels = files
    arguments = ["score", *map(str, runs), "-j", str(qrels), "--measure", "nDCG@10", "--method", "none"]
    arguments += ["--replicates", "20", "--baseline", "third", "--draws", "500"]
    page = tmp_path / "page.html"
    done = relstudy(*arguments, "-o", tmp_path / "out", "--report", page)
    assert done.exit_code == 0 and "Tests: Each against third" in done.stdout
    assert re.search(r"^where nDCG@10 varies +variance +error +share$", done.stdout, re.MULTILINE)
    assert re.search(r"^A mean of \d+ queries a system has, for an order, Eρ² [01]\.", done.stdout, re.MULTILINE)
    written = pd.read_csv(tmp_path / "out" / "tests.csv")
    content = json.loads(relstudy(*arguments, "--json").stdout)["tests"]
    assert set(content["generalizability"]["variances"]) == {"system", "query", "rest"}
    assert [each["p_t"] for each in content["comparisons"]] == pytest.approx(written["p_t"].tolist())
    assert "Tests of measures" in page.read_text() and "better on" in page.read_text()
    by_query = pd.read_csv(tmp_path / "out" / "per_query.csv").pivot(
        index="query_id", columns="system", values="nDCG@10"
    )
    first = written[written["first"] == "best"].iloc[0]
    assert first["difference"] == pytest.approx((by_query["best"] - by_query["third"]).mean(), abs=EXACT)


@pytest.mark.slow
def test_a_requirement_by_a_measure_passes_as_its_paired_interval_says(files: tuple[list[Path], Path]) -> None:
    runs, qrels = files
    arguments = [
        "score",
        *map(str, runs),
        "-j",
        str(qrels),
        "--measure",
        "nDCG@10",
        "--replicates",
        "20",
        "--method",
        "none",
    ]
    passed = relstudy(*arguments, "--require", "best > last by nDCG@10")
    assert passed.exit_code == 0 and "pass: best > last by nDCG@10" in passed.stdout
    assert relstudy(*arguments, "--require", "second > third by nDCG@10").exit_code == 3


@pytest.mark.slow
def test_what_cannot_be_tested_is_one_sentence(files: tuple[list[Path], Path]) -> None:
    result = scores(files)
    with pytest.raises(RelstudyError, match="there is no system 'none' for a baseline; there are best, second"):
        result.tests(baseline="none")
    runs, qrels = files
    alone = rs.score({"one": runs[0]}, qrels, method="none", replicates=20)
    with pytest.raises(RelstudyError, match="two systems are needed"):
        alone.tests()
    assert np.isfinite(result.tests()["chance_above"]).all()


def test_systems_that_differ_by_the_same_in_every_query_are_told_apart_by_random_signs(tmp_path: Path) -> None:
    """One finds the only relevant result first in each of twelve queries, another third, and a copy does as that one:
    t has no spread to divide by, but of 2 ** 12 assignments of signs only two are as far from 0.
    """
    queries = [f"q{number}" for number in range(12)]
    (tmp_path / "q.qrels").write_text("".join(f"{q} 0 a 1\n{q} 0 b 0\n{q} 0 c 0\n" for q in queries))
    for name, order in (("first", "abc"), ("third", "bca"), ("copy", "bca")):
        lines = [f"{q} Q0 {d} {rank} {9 - rank} {name}\n" for q in queries for rank, d in enumerate(order, 1)]
        (tmp_path / f"{name}.run").write_text("".join(lines))
    names = ("first", "third", "copy")
    runs = {name: tmp_path / f"{name}.run" for name in names}
    result = rs.score(runs, tmp_path / "q.qrels", measures=("RR",), method="none", replicates=20)
    tests = result.tests().set_index(["first", "second"])
    assert tests["difference"].tolist() == pytest.approx([2 / 3, 2 / 3, 0])
    assert tests["p_t"].isna().all()
    assert tests["p_randomisation"].tolist() == pytest.approx([2 / 2**12, 2 / 2**12, np.nan], nan_ok=True)
    assert tests.loc[("first", "third"), "p_corrected"] == pytest.approx(2 * 2 / 2**12)
    assert np.isnan(tests.loc[("third", "copy"), "p_corrected"])
    assert tests["test"].fillna("").tolist() == ["randomisation", "randomisation", ""]
    told = result.tests().attrs["sentence"]
    assert told.endswith("corrected p is of random signs: first and third; first and copy.")


def test_runs_that_differ_in_no_query_may_differ_in_others_by_both_tables(tmp_path: Path) -> None:
    """Of six queries none differs in RR, so that up to 1 - .025 ** (1 / 6) of queries may, by 1 at most."""
    queries = [f"q{number}" for number in range(6)]
    (tmp_path / "q.qrels").write_text("".join(f"{q} 0 a 1\n{q} 0 b 0\n" for q in queries))
    for name, order in (("one", "abc"), ("other", "acb")):
        lines = [f"{q} Q0 {d} {rank} {9 - rank} {name}\n" for q in queries for rank, d in enumerate(order, 1)]
        (tmp_path / f"{name}.run").write_text("".join(lines))
    runs = {name: tmp_path / f"{name}.run" for name in ("one", "other")}
    result = rs.score(runs, tmp_path / "q.qrels", measures=("RR",), method="none", replicates=20)
    compared = result.comparisons[result.comparisons["index"] == "RR"]
    most = 1 - 0.025 ** (1 / 6)
    for table in (result.tests(), compared):
        assert table[["difference_low", "difference_high"]].iloc[0].tolist() == pytest.approx([-most, most])
    assert result.tests()["p_equivalent"].iloc[0] == pytest.approx(0.95**6)
    assert "the same for practical purposes" not in result.verdict.headline


def found_first(folder: Path, queries: int, places: dict[str, int]) -> Any:
    """Runs that have the only relevant result of each query at the same place."""
    names = [f"q{number}" for number in range(queries)]
    (folder / "q.qrels").write_text("".join(f"{q} 0 d1 1\n{q} 0 d2 0\n" for q in names))
    runs = {}
    for system, place in places.items():
        order = ["d2", "d3"]
        order.insert(place - 1, "d1")
        lines = [f"{q} Q0 {d} 1 {9 - rank} {system}\n" for q in names for rank, d in enumerate(order)]
        runs[system] = folder / f"{system}.run"
        runs[system].write_text("".join(lines))
    return rs.score(runs, folder / "q.qrels", measures=("RR",), method="none", replicates=20)


@pytest.mark.parametrize("queries", [2, 5, 6, 50])
@pytest.mark.parametrize("places", [(1, 2, 2), (1, 3, 3)])  # thirds differ in their last digit, halves do not
def test_verdict_intervals_and_tests_agree_on_systems_that_differ_by_the_same_in_every_query(
    tmp_path: Path, queries: int, places: tuple[int, ...]
) -> None:
    """Six signs that are all alike have a chance of 2 / 2 ** 6, five 2 / 2 ** 5, which is above .05."""
    result = found_first(tmp_path, queries, dict(zip(("first", "later", "copy"), places, strict=True)))
    told_apart = queries >= 6
    verdict, compared = result.verdict, result.comparisons[result.comparisons["index"] == "RR"]
    assert verdict.standings.best == (["first"] if told_apart else ["first", "later", "copy"])
    assert (verdict.headline == "Use first: it is ahead of later and copy.") == told_apart
    tables = [table.set_index(["first", "second"]) for table in (result.tests(), compared)]
    rows = [table.loc[("first", "later")] for table in tables]
    for row in rows:
        assert row["difference"] == pytest.approx(1 - 1 / places[1])
        assert (row["difference_low"] > 0) == told_apart
    # from 40 queries on a smaller chance tells no more
    assert rows[1]["p_value"] == pytest.approx(2 * max(0.5**queries, 1e-12), rel=1e-6)
    ends = ["difference_low", "difference_high"]
    assert rows[0][ends].tolist() == pytest.approx(rows[1][ends].tolist(), rel=1e-9)
    assert any("those of random signs" in note for note in result.notes)
    assert all(table.loc[("later", "copy"), ends].tolist() == [0, 0] for table in tables)
