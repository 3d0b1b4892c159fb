"""evidence/judges.py on judged pairs of one's own, and the mean of several of their judges."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR
from tests.analysis.judges.made import World
from tests.analysis.judges.script import judges_script


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Eight queries of 25 pairs, two raters, a system and six judges, one of which refuses some."""
    world = World.made(queries=8, results=25)
    random = np.random.default_rng(2)
    raters = [world.pairs[PAIR].assign(rater_id=k, rating=(world.pairs["truth"] > 0.8 * k) * 1.0) for k in (0, 1)]
    pd.concat(raters).to_csv(tmp_path / "ratings.csv", index=False)
    judges = {f"judge {k}": world.judge(0.2 * k, seed=k) for k in range(1, 7)}
    judges["judge 6"].loc[random.random(200) < 0.2, "rating"] = np.nan
    judges["system"] = world.pairs[PAIR].assign(rating=world.pairs["score"].round(1))
    pd.concat([each.assign(judge=name) for name, each in judges.items()]).to_csv(tmp_path / "judges.csv", index=False)
    return tmp_path


@pytest.mark.slow
def test_every_index_of_a_study_of_ones_own_pairs_is_estimated_with_the_mean_of_five_judges(folder: Path) -> None:
    script = judges_script()
    world = script.of_folder(folder, "system", 1, 6, 8)
    assert world.pairs["query_id"].nunique() == 160 and set(world.pairs["relevant_share"]) == {0, 0.5, 1}
    assert "mean of the best five" in world.names and "system" not in world.names
    truth = world.truth()
    ends = script.simulate(world, ["mean of the best five"], 1, 20)["mean of the best five"]["relstudy"]
    assert all(np.isfinite(ends[index]).all() and 0 < truth[index] < 1 for index in script.INDICES)


def test_what_the_script_decided_of_ones_own_pairs_is_told(folder: Path) -> None:
    world = judges_script().of_folder(folder, "system", None, 6, 8)
    told = " ".join(world.decided)
    missing = int(np.isnan(world.judges["judge 6"][:200]).sum())
    assert "A rating of 0.5 or more is relevant, more than the middle of the ratings (--relevant)." in told
    assert f"200 pairs of 8 queries have ratings, 2.0 each; {missing} rows of judges" in told
    assert "made of judge 1," in told and "20 copies of these queries" in told
    assert "copies" not in " ".join(judges_script().of_folder(folder, "system", 1, 0, 8).decided)


def test_coverage_is_told_apart_by_whether_a_study_drew_a_query(folder: Path) -> None:
    """Of intervals that hold the truth where the query was drawn, and nowhere else."""
    script = judges_script()
    world = script.of_folder(folder, "system", 1, 3, 8)
    query = world.pairs["query_id"].str.partition("/")[0].to_numpy()
    random = np.random.default_rng(4)
    drew = np.array([query[0] in query[world.study(random)[0].astype(int)] for _ in range(6)])
    assert 0 < drew.sum() < 6
    people = np.stack([np.where(drew, 0.2, 0.6), np.where(drew, 0.1, 0.5), np.where(drew, 0.3, 0.7)], axis=1)
    rows = {row[0]: row[1:] for row in script.with_and_without(world, people, 0.2, 4)}
    assert rows[query[0]] == (f"{(~drew).mean():.2f}", "1.000", "0.000", "0.200", "0.600")


@pytest.mark.parametrize(
    ("file", "spoil", "sentence"),
    [
        ("ratings.csv", lambda table: table.drop(columns="rating"), "column rating: this column is required"),
        ("judges.csv", lambda table: table.drop(columns="judge"), "column judge: this column is required"),
        ("judges.csv", lambda table: pd.concat([table, table[:1]]), "a judge says one thing of a pair"),
        ("judges.csv", lambda table: table.assign(query_id="x"), "a judge says one thing of a pair"),
        ("judges.csv", lambda table: table.assign(result_id="x" + table["result_id"]), "no judge gave a grade for a"),
        ("ratings.csv", lambda table: table.assign(rating=1), "every pair is relevant, or none is"),
    ],
)
def test_files_that_are_no_judged_pairs_are_one_sentence(folder: Path, file: str, spoil, sentence: str) -> None:
    spoil(pd.read_csv(folder / file)).to_csv(folder / file, index=False)
    with pytest.raises(RelstudyError, match=sentence):
        judges_script().of_folder(folder, "system", 1, 6, 8)


def test_a_system_that_is_no_judge_is_one_sentence(folder: Path) -> None:
    with pytest.raises(RelstudyError, match=r"--system takes one of the judges.*: judge 1, judge 2"):
        judges_script().of_folder(folder, None, 1, 6, 8)
