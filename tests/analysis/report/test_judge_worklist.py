"""The pairs of a judge that are worth a look."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from relstudy.analysis.judges.judged_by_both import Universe
from relstudy.analysis.judges.table import read_judge
from relstudy.analysis.report.judge_worklist import worklist
from relstudy.analysis.scoring.judged_pairs import JudgedPairs
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR
from tests.analysis.judges.made import World
from tests.commands import relstudy, succeeds

OPTIONS = ScoringOptions(replicates=2, method="none", measures=())


@pytest.fixture(scope="module")
def world() -> World:
    return World.made(queries=12, results=30)


def universe_of(world: World, study: pd.DataFrame) -> Universe:
    judge = read_judge(world.judge(0.6), "model")
    return Universe.of(JudgedPairs.of(study), judge, OPTIONS)


def test_judged_pairs_come_by_how_far_people_are_from_what_the_grade_is_worth(world: World) -> None:
    study = world.study(1, queries=10, results=8)
    universe = universe_of(world, study)
    table = worklist(universe, most=10)
    differ = table[table["why"] == "differ"]
    gap = (differ["people"] - differ["worth"]).abs().to_numpy()
    assert len(differ) == 10 and (np.diff(gap) <= 0).all()
    every = np.abs(universe.context.pairs.judgment - universe.worth.judgment[universe.row_of_judged])
    assert gap == pytest.approx(np.sort(every)[::-1][:10])


def test_the_others_come_where_the_grade_leaves_most_open_each_query_once_before_any_twice(world: World) -> None:
    study = world.study(1, queries=10, results=8)
    universe = universe_of(world, study)
    confidence = np.random.default_rng(0).random(len(universe.judge))
    table = worklist(universe, confidence, most=12)
    unsure = table[table["why"] == "unsure"]
    judged = pd.MultiIndex.from_frame(study[PAIR])
    assert not pd.MultiIndex.from_frame(unsure[PAIR]).isin(judged).any() and unsure["people"].isna().all()
    assert unsure["query_id"].nunique() == 12
    # of a query's pairs, the least sure one by the judge's grade and then by its own word
    worth = universe.worth.relevance
    for row in unsure.to_dict("records"):
        rows = np.flatnonzero(universe.judge.query_id == row["query_id"])
        rows = np.setdiff1d(rows, universe.row_of_judged)
        open_ = np.round(np.sqrt(worth[rows] * (1 - worth[rows])), 3)
        most = rows[open_ == open_.max()]
        assert universe.judge.result_id[most[np.argmin(confidence[most])]] == row["result_id"]


@pytest.mark.slow
def test_the_command_writes_a_page_with_pictures_and_a_table_that_no_figure_has_a_part_in(
    world: World, tmp_path: Path
) -> None:
    for name in ("scores", "judges", "pictures"):
        (tmp_path / name).mkdir()
    world.scores.to_csv(tmp_path / "scores" / "both.csv", index=False)
    world.study(1, queries=10, results=8).to_csv(tmp_path / "judgments.csv", index=False)
    world.judge(0.6).assign(confidence=0.5).to_csv(tmp_path / "judges" / "model.csv", index=False)
    Image.new("RGB", (40, 30), "teal").save(tmp_path / "pictures" / "one.png")
    items = [*world.pairs["query_id"].unique(), *world.pairs["result_id"].unique()]
    rows = [
        f"{item},image,pictures/one.png,," if item.startswith("q") else f"{item},text,,,<b>{item}" for item in items
    ]
    (tmp_path / "collection.csv").write_text("\n".join(["item_id,kind,path,title,text", *rows]))
    command = ["judge-check", str(tmp_path), "--judge", "model", "--replicates", "20"]
    page = tmp_path / "look.html"
    done = succeeds(*command, "--worklist", page, "--json")
    assert any("24 of which the judge is least sure" in note for note in json.loads(done.stdout)["notes"])
    html = page.read_text(encoding="utf-8")
    assert "Where the judge is least sure" in html and html.count("data:image/jpeg") == 48 and "<b>r0" not in html
    table = pd.read_csv(page.with_suffix(".csv"))
    assert table["why"].value_counts().to_dict() == {"differ": 24, "unsure": 24} and set(table["confidence"]) == {0.5}
    wrong = relstudy(*command, "--worklist", tmp_path / "look.csv")
    assert wrong.exit_code == 1 and "ends in .html" in wrong.output and not (tmp_path / "look.csv.csv").exists()
