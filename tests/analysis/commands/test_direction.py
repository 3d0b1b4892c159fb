"""Which scores are better: what is stated binds every index, with and without mappings, in fit too."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from relstudy.mapping.fitted import read_mappings
from tests.analysis.made import tables
from tests.commands import relstudy, succeeds


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Judgments, and a system `worst` that turns a good one round."""
    judgments, scores = tables(systems=(0.8, 0.8))
    judgments.to_csv(tmp_path / "judgments.csv", index=False)
    scores.loc[scores["system"] == "s1", "score"] *= -1
    for name, file in (("s0", "best"), ("s1", "worst")):
        rows = scores[scores["system"] == name].assign(system=file)
        rows.to_csv(tmp_path / f"{file}.csv", index=False)
        lines = (f"{r.query_id} Q0 {r.result_id} 1 {r.score!r} {file}" for r in rows.itertuples())
        (tmp_path / f"{file}.run").write_text("\n".join(lines) + "\n")
    return tmp_path


def answer(*arguments: object) -> dict:
    done = succeeds("score", *arguments, "--json", "--replicates", "60")
    content: dict = json.loads(done.stdout)
    return content


def as_bad(system: dict) -> None:
    assert system["higher_is_better"]
    assert system["raw"]["pearson"]["value"] < -0.5
    mapped = system["mapped"]["pearson"]["value"]
    assert mapped is None or mapped < 0.2
    assert system["normalised_rank"]["value"] > 0.7


@pytest.mark.slow
def test_a_stated_direction_binds_the_mapped_index_too(folder: Path) -> None:
    """Raw r was -.58 and mapped r +.5955, tied with the best system."""
    content = answer(folder / "worst.csv", "-j", folder / "judgments.csv", "--direction", "worst=higher")
    as_bad(content["systems"]["worst"])
    assert any(
        note.startswith("worst runs against the judgments: higher is better, as stated") for note in content["notes"]
    )
    turned = answer(folder / "worst.csv", "-j", folder / "judgments.csv", "--direction", "lower")
    assert turned["systems"]["worst"]["mapped"]["pearson"]["value"] > 0.6
    assert not any("runs against" in note for note in turned["notes"])


@pytest.mark.slow
@pytest.mark.parametrize("method", ["isotonic", "bagged", "correlation", "bayes", "best"])
def test_a_stated_direction_binds_every_method(folder: Path, method: str) -> None:
    arguments = (folder / "worst.csv", "-j", folder / "judgments.csv", "--direction", "higher", "--folds", "3")
    as_bad(answer(*arguments, "--method", method)["systems"]["worst"])


@pytest.mark.slow
def test_a_stated_direction_binds_where_the_given_mapping_runs_the_other_way(folder: Path) -> None:
    done = relstudy(
        "fit", folder / "worst.csv", "-j", folder / "judgments.csv", "-o", folder / "m", "--method", "isotonic"
    )
    assert done.exit_code == 0 and "worst: lower scores are better, as the judgments say." in done.stdout
    arguments = (folder / "worst.csv", "-j", folder / "judgments.csv", "--mappings", folder / "m")
    assert answer(*arguments)["systems"]["worst"]["mapped"]["pearson"]["value"] > 0.6
    system = answer(*arguments, "--direction", "worst=higher")["systems"]["worst"]
    as_bad(system)
    in_sample = system["mapped"]["in_sample"]["pearson"]["value"]
    assert in_sample is None or in_sample < 0.2


@pytest.mark.slow
def test_a_direction_stated_in_fit_binds_its_fits_and_scores_figures(folder: Path) -> None:
    tables = (folder / "best.csv", folder / "worst.csv", "-j", folder / "judgments.csv", "-o", folder / "m")
    done = succeeds("fit", *tables, "--method", "isotonic", "--direction", "worst=higher", "--json")
    assert json.loads(done.stdout)["systems"]["worst"]["isotonic"]["out_of_fold"]["value"] < 0.2
    assert all(mapping.increasing for mapping in read_mappings(folder / "m").values())
    content = answer(folder / "worst.csv", "-j", folder / "judgments.csv", "--mappings", folder / "m")
    as_bad(content["systems"]["worst"])
    assert content["systems"]["worst"]["mapped"]["fit"]["origin"] == "kept with the mapping"
    wrong = relstudy(
        "fit", folder / "best.csv", "-j", folder / "judgments.csv", "-o", folder / "m", "--direction", "x=lower"
    )
    assert wrong.exit_code == 1 and "there is no system named 'x'" in wrong.stderr


@pytest.mark.slow
def test_a_run_is_higher_is_better_by_definition_in_score_and_fit(folder: Path) -> None:
    """A run of negative correlation was ranked by ascending score."""
    content = answer(folder / "worst.run", "-j", folder / "judgments.csv")
    as_bad(content["systems"]["worst"])
    assert content["systems"]["worst"]["direction_source"] == "definition"
    shown = relstudy("score", folder / "worst.run", "-j", folder / "judgments.csv", "--replicates", "60")
    assert "worst runs against the judgments: higher is better, by definition of such scores" in shown.stdout
    relstudy("fit", folder / "worst.run", "-j", folder / "judgments.csv", "-o", folder / "m", "--method", "isotonic")
    assert read_mappings(folder / "m")["worst"].increasing


@pytest.mark.slow
def test_scores_that_say_which_are_better_are_believed(folder: Path) -> None:
    """What relstudy writes of its own systems, all similarities, says so in a column."""
    pd.read_csv(folder / "worst.csv").assign(direction="higher").to_csv(folder / "said.csv", index=False)
    content = answer(folder / "said.csv", "-j", folder / "judgments.csv")
    as_bad(content["systems"]["worst"])
    pd.read_csv(folder / "worst.csv").assign(direction="up").to_csv(folder / "said.csv", index=False)
    done = relstudy("score", folder / "said.csv", "-j", folder / "judgments.csv")
    assert done.exit_code == 1 and "row 2 and 299 more, column direction: 'up' is not allowed" in done.stderr


def test_the_direction_that_was_found_is_a_line_of_the_output(folder: Path) -> None:
    shown = relstudy("score", folder / "worst.csv", "-j", folder / "judgments.csv", "--replicates", "60")
    assert "worst is ranked by ascending score: lower is better, found: Spearman's correlation" in shown.stdout
    assert "worst is ranked" not in shown.stderr


@pytest.mark.slow
def test_fit_takes_many_files_and_refuses_one_name_twice(folder: Path) -> None:
    arguments = ("-j", folder / "judgments.csv", "-o", folder / "m", "--method", "isotonic")
    succeeds("fit", folder / "best.csv", folder / "worst.run", *arguments)
    assert set(read_mappings(folder / "m")) == {"best", "worst"}
    twice = relstudy("fit", folder / "best.csv", folder / "best.run", *arguments)
    assert twice.exit_code == 1 and "a system named 'best' was already read from" in twice.stderr
    only = relstudy("fit", folder / "best.csv", folder / "worst.csv", *arguments, "--only", "worst", "--json")
    assert set(json.loads(only.stdout)["systems"]) == {"worst"}
    none = relstudy("fit", folder / "best.csv", folder / "worst.csv", *arguments, "--only", "other")
    assert none.exit_code == 1 and "there is no system 'other'" in none.stderr


def test_a_direction_of_no_system_is_refused(folder: Path) -> None:
    done = relstudy("score", folder / "best.csv", "-j", folder / "judgments.csv", "--direction", "S0=lower")
    assert done.exit_code == 1 and "there is no system named 'S0'" in done.stderr
    assert np.isfinite(pd.read_csv(folder / "best.csv")["score"]).all()
