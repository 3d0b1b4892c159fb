"""`relstudy fit`, as people and scripts call it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import Result

from relstudy.mapping.fitted import FittedMapping, read_mappings
from tests.commands import relstudy, succeeds


def run(*arguments: object) -> Result:
    return relstudy("fit", *arguments)


@pytest.fixture
def tables(tmp_path: Path) -> tuple[Path, Path]:
    rng = np.random.default_rng(0)
    quality = rng.uniform(size=120)
    pairs = pd.DataFrame({"query_id": [f"q{i % 15}" for i in range(120)], "result_id": [f"r{i}" for i in range(120)]})
    judgments = pairs.assign(
        judgment=np.clip(1 + 4 * quality + rng.normal(size=120), 1, 5),
        inclusion_probability=rng.uniform(0.1, 1, 120),
    )
    scores = pairs.assign(**{"a|b": quality, "a:b": -quality, "title": "words"})
    scores.to_csv(tmp_path / "scores.csv", index=False)
    judgments.to_csv(tmp_path / "judgments.csv", index=False)
    return tmp_path / "scores.csv", tmp_path / "judgments.csv"


@pytest.mark.slow
def test_one_mapping_per_system_is_written_and_the_json_has_the_agreed_form(
    tables: tuple[Path, Path], tmp_path: Path
) -> None:
    scores, judgments = tables
    result = run(scores, "--judgments", judgments, "-o", tmp_path / "out", "--json")
    assert result.exit_code == 0, result.output
    printed = json.loads(result.stdout)
    assert any("title" in note for note in printed["notes"]) and result.stderr == ""
    assert printed["directions"]["a:b"].startswith("lower scores are better")
    systems = printed["systems"]
    assert set(systems) == {"a|b", "a:b"}
    for scored in systems.values():
        assert set(scored) == {"isotonic", "bagged", "correlation", "bayes", "best"}
        figures = scored["isotonic"]
        assert set(figures) == {"in_sample", "out_of_fold", "rmse"}
        assert figures["out_of_fold"]["low"] < figures["out_of_fold"]["value"] < figures["out_of_fold"]["high"]
        assert scored["best"] == max(set(scored) - {"best"}, key=lambda m: scored[m]["out_of_fold"]["value"])
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["a_b-2.json", "a_b.json"]
    mappings = read_mappings(tmp_path / "out")
    assert mappings["a|b"].increasing and not mappings["a:b"].increasing
    assert mappings["a|b"].method == systems["a|b"]["best"]


@pytest.mark.slow
def test_one_method_can_be_asked_for_and_the_same_seed_gives_the_same_files(
    tables: tuple[Path, Path], tmp_path: Path
) -> None:
    scores, judgments = tables
    for folder in ("one", "two"):
        result = run(
            scores, "-j", judgments, "-o", tmp_path / folder, "--method", "bagged", "--only", "a|b", "--seed", 3
        )
        assert result.exit_code == 0, result.output
        assert "bagged" in result.stdout and "isotonic" not in result.stdout
    one, two = ((tmp_path / folder / "a_b.json").read_bytes() for folder in ("one", "two"))
    assert one == two


@pytest.mark.slow
def test_design_weights_change_the_fit_and_need_every_probability(tables: tuple[Path, Path], tmp_path: Path) -> None:
    scores, judgments = tables
    common = (scores, "--method", "isotonic", "--only", "a|b")
    assert run(*common, "-j", judgments, "-o", tmp_path / "equal").exit_code == 0
    assert run(*common, "-j", judgments, "-o", tmp_path / "design", "--weights", "design").exit_code == 0
    equal, design = (FittedMapping.read(tmp_path / name / "a_b.json") for name in ("equal", "design"))
    assert not np.array_equal(equal.predict(np.linspace(0, 1, 9)), design.predict(np.linspace(0, 1, 9)))
    pd.read_csv(judgments).drop(columns="inclusion_probability").to_csv(tmp_path / "bare.csv", index=False)
    result = run(*common, "-j", tmp_path / "bare.csv", "-o", tmp_path / "x", "--weights", "design")
    assert result.exit_code == 1
    assert "inclusion_probability for every pair; 120 have none" in result.stderr


@pytest.mark.slow
def test_a_figure_per_system_is_written_where_asked(tables: tuple[Path, Path], tmp_path: Path) -> None:
    scores, judgments = tables
    result = run(scores, "-j", judgments, "-o", tmp_path / "o", "--method", "bagged", "--only", "a|b", "--figures")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "o" / "a_b.svg").read_text().startswith("<svg")


@pytest.mark.slow
def test_a_sampled_fit_is_reached_by_its_engine_and_prints_r_hat_and_effective_draws(
    tables: tuple[Path, Path], tmp_path: Path
) -> None:
    scores, judgments = tables
    common = (scores, "-j", judgments, "--only", "a|b", "--method", "bayes", "--engine", "sampler", "--folds", 3)
    result = run(*common, "-o", tmp_path / "o")
    assert result.exit_code == 0, result.output
    assert "R-hat  effective draws  kept the order" in result.stdout and "4 x 2000" in result.stdout
    assert FittedMapping.read(tmp_path / "o" / "a_b.json").method == "bayes-sampler"
    chains = json.loads(run(*common, "-o", tmp_path / "j", "--json").stdout)["systems"]["a|b"]["bayes-sampler"][
        "chains"
    ]
    assert chains["r_hat"] < 1.05 and chains["ess_bulk"] > 100 and chains["warning"] is None
    other = run(scores, "-j", judgments, "-o", tmp_path / "o", "--method", "bagged", "--engine", "pymc")
    assert other.exit_code == 2 and "--engine goes with --method bayes" in other.stderr


@pytest.mark.slow
@pytest.mark.parametrize("method", ["quadratic", "local", "bayes-conjugate", "ogive"])
def test_the_sources_own_ways_run_by_name(method: str, tables: tuple[Path, Path], tmp_path: Path) -> None:
    scores, judgments = tables
    result = run(
        scores, "-j", judgments, "-o", tmp_path / "o", "--only", "a:b", "--method", method, "--folds", 2, "--figures"
    )
    assert result.exit_code == 0, result.output
    mapping = FittedMapping.read(tmp_path / "o" / "a_b.json")
    assert mapping.method == method and not mapping.increasing
    assert (tmp_path / "o" / "a_b.svg").is_file()


@pytest.mark.slow
def test_the_sources_word_for_a_method_is_taken_too(tables: tuple[Path, Path], tmp_path: Path) -> None:
    scores, judgments = tables
    for name in ("steps", "bayes-conjugate"):
        arguments = [
            "fit",
            str(scores),
            "-j",
            str(judgments),
            "-o",
            str(tmp_path / name),
            "--method",
            name,
            "--folds",
            "2",
            "--only",
            "a:b",
        ]
        succeeds(*arguments)
    for file in (tmp_path / "steps").glob("*.json"):
        kept = json.loads(file.read_text())
        assert kept["method"] == "bayes-conjugate"
        assert kept["values"] == json.loads((tmp_path / "bayes-conjugate" / file.name).read_text())["values"]


def test_tables_that_share_no_pair_end_in_one_sentence_and_nothing_written(
    tables: tuple[Path, Path], tmp_path: Path
) -> None:
    scores, judgments = tables
    frame = pd.read_csv(judgments)
    frame.assign(query_id="other").drop_duplicates("result_id").to_csv(tmp_path / "others.csv", index=False)
    result = run(scores, "-j", tmp_path / "others.csv", "-o", tmp_path / "out")
    assert result.exit_code == 1
    assert "no scored pair is judged" in result.stderr and "Traceback" not in result.stderr
    assert not (tmp_path / "out").exists()


def test_fewer_queries_than_folds_are_told(tables: tuple[Path, Path], tmp_path: Path) -> None:
    options = ("--judgments", tables[1], "--method", "isotonic", "-o", tmp_path / "out", "--folds")
    said = "15 queries are held out one by one, since they are fewer than the 16 folds"
    assert said in run(tables[0], *options, 16).stdout and "one by one" not in run(tables[0], *options, 15).stdout
    assert "--folds: a number up to 9,007,199,254,740,992 is needed" in run(tables[0], *options, 2**70).stderr


def test_a_score_that_is_no_number_is_named_and_exits_with_one(tables: tuple[Path, Path], tmp_path: Path) -> None:
    _, judgments = tables
    (tmp_path / "bad.csv").write_text("system,query_id,result_id,score\na,q0,r0,nan\n")
    result = run(tmp_path / "bad.csv", "-j", judgments, "-o", tmp_path / "out")
    assert result.exit_code == 1
    assert "row 2, column score: 'nan' is not allowed" in result.stderr


def test_wrong_usage_exits_with_two(tables: tuple[Path, Path], tmp_path: Path) -> None:
    scores, judgments = tables
    assert run(scores).exit_code == 2
    assert run(scores, "-j", judgments, "-o", tmp_path, "--method", "spline").exit_code == 2
    assert run(scores, "-j", judgments, "-o", tmp_path, "--folds", 1).exit_code == 2


@pytest.mark.real_data
def test_the_tifa_release_fits_from_its_files_as_they_came(shared_data: Path, tmp_path: Path) -> None:
    folder = shared_data / "tifa160_likert"
    result = run(
        folder / "system_scores_dsg_release.csv", "-j", folder / "ratings.csv", "-o", tmp_path, "--method", "isotonic",
        "--json",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    systems = json.loads(result.stdout)["systems"]
    assert len(systems) == 9 and len(read_mappings(tmp_path)) == 9
    assert systems["dsg|pali-17b"]["isotonic"]["in_sample"]["value"] == pytest.approx(0.581, abs=5e-4)


def test_groups_are_fitted_each_by_itself_and_a_system_without_scores_there_is_named(
    tables: tuple[Path, Path], tmp_path: Path
) -> None:
    scores, judgments = tables
    judged = pd.read_csv(judgments)
    image = judged["query_id"].str[1:].astype(int) < 8
    judged.assign(paradigm=np.where(image, "image", "text")).to_csv(judgments, index=False)
    table = pd.read_csv(scores)
    table.loc[~image, "a:b"] = np.nan
    table.to_csv(scores, index=False)
    common = (scores, "--method", "isotonic", "--leave-out", "title", "--direction", "a:b=lower")
    done = run(*common, "-j", judgments, "-o", tmp_path / "out", "--by", "paradigm")
    assert done.exit_code == 0, done.output
    assert "text: no pair is scored by a:b" in done.stdout
    written = sorted(path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*.json"))
    assert written == ["image/a_b-2.json", "image/a_b.json", "text/a_b.json"]
    judged[image].to_csv(tmp_path / "image.csv", index=False)
    assert run(*common, "-j", tmp_path / "image.csv", "-o", tmp_path / "alone").exit_code == 0
    for name in ("a_b.json", "a_b-2.json"):
        assert (tmp_path / "alone" / name).read_bytes() == (tmp_path / "out" / "image" / name).read_bytes()


def test_a_run_that_is_left_out_or_scores_no_pair_of_a_group_has_no_part_in_the_fit(tmp_path: Path) -> None:
    """Both ended in a traceback: the run was still named where its rows were gone."""
    pairs = [(f"q{query}", f"d{result}") for query in range(4) for result in range(3)]
    for name, rows in (("a", pairs), ("b", pairs[6:])):
        lines = [f"{query} Q0 {result} 1 {number % 5} {name}" for number, (query, result) in enumerate(rows)]
        (tmp_path / f"{name}.run").write_text("\n".join(lines))
    judged = pd.DataFrame(pairs, columns=["query_id", "result_id"])
    judged = judged.assign(judgment=[1, 2, 4] * 4, half=["one"] * 6 + ["two"] * 6)
    judged.to_csv(tmp_path / "judgments.csv", index=False)
    arguments = [tmp_path / "a.run", tmp_path / "b.run", "-j", tmp_path / "judgments.csv", "-o", tmp_path / "out"]
    arguments += ["--method", "isotonic", "--folds", "2", "--json"]
    left = run(*arguments, "--leave-out", "b")
    assert left.exit_code == 0, left.exception
    assert set(json.loads(left.stdout)["systems"]) == {"a"}
    grouped = run(*arguments, "--by", "half")
    assert grouped.exit_code == 0, grouped.exception
    groups = json.loads(grouped.stdout)["by"]["groups"]
    assert {name: set(group["systems"]) for name, group in groups.items()} == {"one": {"a"}, "two": {"a", "b"}}
