"""Systems side by side: paired differences over the same queries, and nothing that does not compare."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import ttest_rel

from relstudy.analysis.hashing.codes.packed import Codes
from relstudy.analysis.hashing.commands.inputs import cell
from relstudy.analysis.hashing.counting.counts import CountTable, count
from relstudy.analysis.hashing.metrics.average_precision import average_precision
from relstudy.analysis.hashing.metrics.comparison import compare
from relstudy.analysis.hashing.metrics.conventions import Conventions
from relstudy.analysis.hashing.metrics.radius import area_under_curve, precision_recall_by_radius
from relstudy.analysis.hashing.truth.labels import Labels
from relstudy.analysis.hashing.truth.relevance import LabelTruth
from relstudy.common.runtime.errors import RelstudyError
from tests.commands import relstudy, succeeds


@pytest.fixture(scope="module")
def tables() -> dict[str, CountTable]:
    """Two systems on 30 queries, some of whose classes are not in the database."""
    rng = np.random.default_rng(0)
    own, theirs = rng.integers(0, 5, 30), rng.integers(0, 4, 200)
    truth = LabelTruth(Labels(classes=own), Labels(classes=theirs))
    centres = rng.random((5, 16)) < 0.5
    made = {}
    for name, noise in (("good", 0.1), ("poor", 0.4)):
        queries, database = (
            Codes.from_bits(centres[classes] ^ (rng.random((len(classes), 16)) < noise)) for classes in (own, theirs)
        )
        made[name] = count(queries, database, truth)
    return made


@pytest.mark.parametrize("rule", ["skip", "zero"])
def test_a_difference_is_that_of_the_two_means_and_its_interval_holds_it(tables, rule) -> None:
    result = compare(tables, conventions=Conventions(no_relevant=rule))
    one, other = (result["systems"][name]["map"]["expected"] for name in ("good", "poor"))
    difference = result["comparisons"][0]["map_difference"]
    assert difference["value"] == pytest.approx(one - other, abs=1e-12)
    assert 0 < difference["low"] < difference["value"] < difference["high"]
    assert result["conventions"]["truth"] == "class"


def test_the_interval_is_the_spread_of_the_mean_over_queries(tables) -> None:
    own = average_precision(tables["good"]) - average_precision(tables["poor"])
    own = own[~np.isnan(own)]
    error = own.std(ddof=1) / np.sqrt(len(own))
    difference = compare(tables)["comparisons"][0]["map_difference"]
    # A thousand replicates of a mean of 25: the ends of a percentile interval are good to a fifth of its half-width.
    assert difference["high"] - difference["low"] == pytest.approx(2 * 1.96 * error, rel=0.2)


@pytest.mark.slow
@pytest.mark.parametrize("area", ["sum", "matlab"])
def test_area_and_micro_precision_differ_by_their_values_with_an_interval_by_drawing_whole_queries(
    tables, area
) -> None:
    compared = compare(tables, radius=3, conventions=Conventions(area=area))["comparisons"][0]
    one, other = tables["good"], tables["poor"]
    rng = np.random.default_rng(5)
    drawn: dict[str, list[float]] = {"auprc": [], "precision_micro_3": []}
    for chosen in [np.arange(30), *(rng.integers(0, 30, 30) for _ in range(1000))]:
        curves = [
            precision_recall_by_radius(CountTable(table.total[chosen], table.relevant[chosen]))
            for table in (one, other)
        ]
        areas = [area_under_curve(curve.precision_micro, curve.recall_micro, area) for curve in curves]
        assert areas[0] is not None and areas[1] is not None
        drawn["auprc"].append(areas[0] - areas[1])
        drawn["precision_micro_3"].append(float(curves[0].precision_micro[3] - curves[1].precision_micro[3]))
    for figure, (value, *others) in drawn.items():
        found = compared[f"{figure}_difference"]
        assert found["value"] == pytest.approx(value, abs=1e-12)
        # The ends of two percentile intervals of a thousand replicates each differ by a fifth of their half-width.
        half = (np.quantile(others, 0.975) - np.quantile(others, 0.025)) / 2
        assert [found["low"], found["high"]] == pytest.approx(np.quantile(others, [0.025, 0.975]), abs=0.3 * half)


def test_a_system_does_not_differ_from_itself(tables) -> None:
    result = compare({"a": tables["good"], "b": tables["good"]})
    assert result["comparisons"][0]["map_difference"] == {"value": 0.0, "low": 0.0, "high": 0.0}


def test_without_any_relevant_code_the_difference_has_a_reason() -> None:
    table = CountTable(np.array([[2]]), np.array([[0]]))
    result = compare({"a": table, "b": table}, radius=0)
    assert result["comparisons"][0]["map_difference"]["reason"] == "no query has a relevant code"


def test_a_single_code_within_the_radius_has_a_precision() -> None:
    one, other = (CountTable(np.array([[1, 2]]), np.array(relevant)) for relevant in ([[1, 1]], [[0, 2]]))
    result = compare({"a": one, "b": other}, radius=0)["comparisons"][0]
    assert result["precision_micro_0_difference"]["value"] == 1


@pytest.mark.parametrize(
    ("total", "relevant", "truth", "message"),
    [
        ([[2, 0]], [[1, 0]], "class", "2 and 1 queries"),
        ([[2, 1], [2, 1]], [[1, 0], [1, 0]], "class", "2 and 3 database codes"),
        ([[1, 1], [1, 1]], [[1, 0], [1, 0]], "5-NN", "ground truth by class and by 5-NN"),
        ([[1, 1], [1, 1]], [[1, 0], [1, 1]], "class", "different numbers of relevant codes"),
    ],
)
def test_tables_of_different_questions_do_not_compare(total, relevant, truth: str, message: str) -> None:
    one = CountTable(np.array([[1, 1], [1, 1]]), np.array([[1, 0], [0, 1]]), {"truth": "class"})
    other = CountTable(np.array(total), np.array(relevant), {"truth": truth})
    with pytest.raises(RelstudyError, match=f"a and b do not compare: .* {message}"):
        compare({"a": one, "b": other}, radius=0)


def test_a_radius_beyond_the_shortest_code_is_refused(tables) -> None:
    with pytest.raises(RelstudyError, match="radius 17 is longer than the shortest code"):
        compare(tables, radius=17)


def test_the_command_prints_systems_differences_and_conventions(tables, tmp_path: Path) -> None:
    for name, table in tables.items():
        table.save(tmp_path / f"{name}.npz")
    paths = [str(tmp_path / f"{name}.npz") for name in tables]
    result = succeeds("hash", "compare", *paths)
    figures, conventions = result.stdout.split("conventions:")
    assert [line.split()[0] for line in figures.splitlines() if line] == [
        "system",
        "good",
        "poor",
        "first",
        "good",
        "7",
    ]
    # whose relevant codes nobody has is left out of mAP, and that was not said
    assert "7 of 30 queries have no relevant code; they are left out of" in figures
    assert "empty_ball = zero" in conventions
    twice = relstudy("hash", "compare", paths[0], paths[0])
    assert twice.exit_code == 2
    assert "file names must differ" in " ".join(twice.stderr.split())
    alone = relstudy("hash", "compare", paths[0])
    assert [line.split()[0] for line in alone.stdout.split("\n\n")[0].splitlines()] == ["system", "good", "7"]


def classes_counted(queries: np.ndarray, database: np.ndarray, bits: int = 12, seed: int = 0) -> CountTable:
    rng = np.random.default_rng(seed)
    truth = LabelTruth(Labels(classes=queries), Labels(classes=database))
    codes = [Codes.from_bits(rng.random((len(part), bits)) < 0.5) for part in (queries, database)]
    return count(*codes, truth)


def saved(folder: Path, **tables: CountTable) -> list[str]:
    for name, table in tables.items():
        table.save(folder / f"{name}.npz")
    return [str(folder / f"{name}.npz") for name in tables]


def test_one_usable_query_is_compared_without_an_interval(tmp_path: Path) -> None:
    one = classes_counted(np.array([1, 9]), np.array([1, 1, 2]), seed=1)
    other = classes_counted(np.array([1, 9]), np.array([1, 1, 2]), seed=2)
    result = succeeds("hash", "compare", *saved(tmp_path, one=one, other=other))
    assert "no interval: one query" in result.stdout


def test_tables_of_different_queries_do_not_compare_though_their_sizes_agree(tmp_path: Path) -> None:
    database = np.repeat(np.arange(4), 10)
    one = classes_counted(np.array([0, 0, 1, 2]), database)
    other = classes_counted(np.array([0, 1, 1, 2]), database)
    with pytest.raises(RelstudyError, match=r"a and b do not compare: .* those of two random splits"):
        compare({"a": one, "b": other})
    renamed = classes_counted(np.array([7, 7, 6, 4]), np.repeat([7, 5, 6, 4], 10))
    compare({"a": one, "b": renamed})


def test_every_system_has_an_interval_and_figures_at_k(tables) -> None:
    result = compare(tables, k=[5])
    row = result["systems"]["good"]
    assert row["map_interval"]["low"] < row["map"]["expected"] < row["map_interval"]["high"]
    assert row["map_interval"]["value"] == pytest.approx(row["map"]["expected"], abs=1e-12)
    at_k = [result["systems"][name]["map_at_5"]["expected"] for name in ("good", "poor")]
    difference = result["comparisons"][0]["map_at_5_difference"]
    assert difference["value"] == pytest.approx(at_k[0] - at_k[1], abs=1e-12)
    # Queries that are left out system by system are no pairs.
    skipped = compare(tables, k=[5], conventions=Conventions(no_hit="skip"))["comparisons"][0]["map_at_5_difference"]
    assert "left out" in skipped["reason"]
    # Where every query has a hit, none is left out, and they are.
    most = next(iter(tables.values())).total[0].sum()
    whole = compare(tables, k=[int(most)], conventions=Conventions(no_hit="skip"))["comparisons"][0]
    plain = compare(tables, k=[int(most)])["comparisons"][0]
    assert whole[f"map_at_{most}_difference"] == plain[f"map_at_{most}_difference"]
    assert whole[f"map_at_{most}_difference"]["low"] is not None


def test_several_splits_give_mean_spread_and_paired_differences(tmp_path: Path) -> None:
    database, rng = np.repeat(np.arange(4), 10), np.random.default_rng(3)
    splits = {
        f"{name}_{run}": classes_counted(queries, database, seed=10 * run + which)
        for run, queries in enumerate(rng.integers(0, 4, (3, 9)))
        for which, name in enumerate(("lsh", "itq"))
    }
    paths = saved(tmp_path, **splits)
    alone = relstudy("hash", "compare", *paths)
    assert alone.exit_code == 1
    assert "--splits" in alone.stderr
    result = succeeds("hash", "compare", "--splits", *paths, "--json")
    answer = json.loads(result.stdout)
    values = {name: [average_precision(splits[f"{name}_{run}"]).mean() for run in range(3)] for name in ("lsh", "itq")}
    for name, figures in values.items():
        assert answer["systems"][name]["map"]["mean"] == pytest.approx(np.mean(figures), abs=1e-12)
        assert answer["systems"][name]["map"]["sd"] == pytest.approx(np.std(figures, ddof=1), abs=1e-12)
    difference = answer["comparisons"][0]["map_difference"]
    by_scipy = ttest_rel(values["lsh"], values["itq"]).confidence_interval(0.95)
    assert (difference["low"], difference["high"]) == pytest.approx((by_scipy.low, by_scipy.high), abs=1e-12)
    printed = relstudy("hash", "compare", "--splits", *paths)
    assert "mean (sd) of 3 splits" in printed.stdout
    lacking = relstudy("hash", "compare", "--splits", *paths[:-1])
    assert lacking.exit_code == 1
    assert "split 2 has tables of lsh" in lacking.stderr


def test_small_figures_are_printed_with_their_digits() -> None:
    assert [cell(value) for value in (0.1234567, 0.000812345, 1.5e-9, 0.0, 3, None, 12.5)] == [
        "0.1235",
        "0.000812",
        "1.5e-09",
        "0.0000",
        "3",
        "–",
        "12.5000",
    ]
