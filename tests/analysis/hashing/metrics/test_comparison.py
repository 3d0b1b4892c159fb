"""Systems side by side: paired differences over the same queries, and nothing that does not compare."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from relstudy.analysis.hashing.codes.packed import Codes
from relstudy.analysis.hashing.counting.counts import CountTable, count
from relstudy.analysis.hashing.metrics.average_precision import average_precision
from relstudy.analysis.hashing.metrics.comparison import compare
from relstudy.analysis.hashing.metrics.conventions import Conventions
from relstudy.analysis.hashing.truth.labels import Labels
from relstudy.analysis.hashing.truth.relevance import LabelTruth
from relstudy.common.errors import RelstudyError
from relstudy.studyapp.cli import main


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


def test_a_system_does_not_differ_from_itself(tables) -> None:
    result = compare({"a": tables["good"], "b": tables["good"]})
    assert result["comparisons"][0]["map_difference"] == {"value": 0.0, "low": 0.0, "high": 0.0}


def test_without_any_relevant_code_the_difference_has_a_reason() -> None:
    table = CountTable(np.array([[2]]), np.array([[0]]))
    result = compare({"a": table, "b": table}, radius=0)
    assert result["comparisons"][0]["map_difference"]["reason"] == "no query has a relevant code"


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
    result = CliRunner().invoke(main, ["hash", "compare", *paths])
    assert result.exit_code == 0
    assert [line.split()[0] for line in result.stdout.splitlines() if line] == [
        "system",
        "good",
        "poor",
        "first",
        "good",
    ]
    assert "empty_ball = zero" in result.stderr
    twice = CliRunner().invoke(main, ["hash", "compare", paths[0], paths[0]])
    assert twice.exit_code == 2
    assert "file names must differ" in " ".join(twice.stderr.split())
    alone = CliRunner().invoke(main, ["hash", "compare", paths[0]])
    assert [line.split()[0] for line in alone.stdout.splitlines()] == ["system", "good"]
