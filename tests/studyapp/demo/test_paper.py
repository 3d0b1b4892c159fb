"""What `relstudy demo --paper` adds: the paper's systems, a second round, and the base pairs on other scales."""

from pathlib import Path

import pandas as pd
import pytest

from relstudy.studyapp.demo import pipeline
from relstudy.studyapp.demo.panel import SimulatedPanel, draw_raters
from relstudy.studyapp.demo.pipeline import other_interfaces, raters_asked, ratings_on
from relstudy.studyapp.demo.show import Stages
from relstudy.studyapp.demo.sizes import SIZES
from relstudy.studyapp.example_pictures.collection import make_collection
from relstudy.studyapp.example_pictures.truth import WISHES
from tests.commands import relstudy


@pytest.fixture(scope="module")
def panel():
    return SimulatedPanel(draw_raters(6, seed=1), make_collection(60, seed=1), seed=1)


@pytest.fixture
def pairs(panel):
    items = panel.collection.picture_ids
    rows = [(f"p{i}-{j}", items[i], items[i + 1 + j], "base") for i in range(5) for j in range(4)]
    return pd.DataFrame(rows, columns=["pair_id", "query_id", "result_id", "block"])


def test_the_papers_size_has_its_systems_and_two_rounds():
    size = SIZES["small"].as_in_the_paper()
    assert set(size.choosing) == {"gift", "simplicity", "romm-calib", "keywords"}
    # table 5.7 has nine systems; ROMM-CALIB, which chose pairs, is not a row of it
    assert len(set(size.choosing) | set(size.variants)) == 10
    assert size.rounds == 2 and size.paper and size.images == SIZES["small"].images
    # it had no queries by text, of which a fifth of the paper's pairs are; the larger size keeps as many as it has
    assert size.wishes == SIZES["full"].as_in_the_paper().wishes == len(WISHES) == 16


def test_the_option_hands_that_size_to_the_demo(monkeypatch, tmp_path):
    asked = []

    def stop(folder, size, *, seed):
        asked.append(size)
        raise SystemExit(0)

    monkeypatch.setattr(pipeline, "run_demo", stop)
    relstudy("demo", tmp_path / "d", "--paper", "--raters", "5", "--no-serve")
    assert asked[0].paper and asked[0].raters == 5


def test_no_more_raters_are_told_than_the_panel_has(panel):
    few = SimulatedPanel(draw_raters(3, seed=1), panel.collection, seed=1)
    assert raters_asked(panel) == {"binary": 6, "1-9": 5}
    assert raters_asked(few) == {"binary": 3, "1-9": 3}


@pytest.mark.parametrize("by_paradigm", [True, False])
def test_the_report_of_the_papers_size_tells_paradigms_and_interfaces_apart(monkeypatch, by_paradigm):
    asked = []
    monkeypatch.setattr(pipeline, "run_command", lambda *words, show: asked.extend(words))
    pipeline._report(Path("demo"), [Path("demo/binary")], by_paradigm, Stages(1, quiet=True))
    paradigms = ["--by", "paradigm"] if by_paradigm else []
    assert asked == ["report", "demo", *paradigms, "--paper-tables", "--interface", "demo/binary"]


@pytest.mark.slow
def test_other_scales_are_rated_and_calibrated_into_folders_of_their_own(panel, pairs, tmp_path: Path):
    binary = ratings_on(panel, pairs, "binary", 6)
    assert set(binary["rating"].dropna()) <= {0, 1} and len(binary) == 6 * len(pairs)
    pairs.to_csv(tmp_path / "pairs.csv", index=False)
    folders = other_interfaces(tmp_path, panel, Stages(1, quiet=True))
    assert [folder.name for folder in folders] == ["binary", "1-9"]
    # every second pair is asked by text: as in the paper, other scales are for these alone
    half = pairs.assign(paradigm=["image", "text"] * (len(pairs) // 2))
    half.to_csv(tmp_path / "pairs.csv", index=False)
    other_interfaces(tmp_path, panel, Stages(1, quiet=True))
    rated = pd.read_csv(tmp_path / "interfaces" / "binary" / "ratings.csv", dtype=str)
    assert set(rated["result_id"]) == set(half.loc[half["paradigm"] == "text", "result_id"])
    pairs.to_csv(tmp_path / "pairs.csv", index=False)
    folders = other_interfaces(tmp_path, panel, Stages(1, quiet=True))
    for folder, raters in zip(folders, (6, 5), strict=True):
        calibrated = pd.read_csv(folder / "calibrated.csv")
        assert calibrated["rater_id"].nunique() == raters and "calibrated" in calibrated
