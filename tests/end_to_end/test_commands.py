"""The commands one after the other on what the demo wrote; test_readme types them at a shell."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from relstudy.studyapp.cli import main
from tests.analysis.test_one_run import by_files, by_folder, by_one_more, holds_everywhere, never_two_answers

pytestmark = pytest.mark.server


def relstudy(*arguments, code=0):
    """Run a command; its standard output and standard error."""
    done = CliRunner().invoke(main, [str(argument) for argument in arguments], prog_name="relstudy")
    assert done.exit_code == code, (arguments, done.exit_code, done.stdout[-2000:], done.stderr[-3000:], done.exception)
    assert "Traceback" not in done.stderr
    return done.stdout, done.stderr


@pytest.fixture(scope="module")
def folder(demo, tmp_path_factory):
    """A copy of the finished demo's study."""
    copy = tmp_path_factory.mktemp("commands") / "demo"
    shutil.copytree(demo.workplace / "demo", copy)
    return copy


def test_each_command_the_demo_names_gives_the_same_tables_by_hand(folder, tmp_path):
    output, _ = relstudy("export", folder, "-o", tmp_path / "ratings.csv", "--json")
    assert json.loads(output)["raters"] == 6
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "ratings.csv"), pd.read_csv(folder / "ratings.csv"))

    relstudy("calibrate", tmp_path / "ratings.csv", "-o", tmp_path, "--pairs", folder / "pairs.csv")
    for name in ("judgments.csv", "raters.csv"):
        pd.testing.assert_frame_equal(pd.read_csv(tmp_path / name), pd.read_csv(folder / name))

    for system in ("keywords", "colour"):
        scores = folder / "scores" / f"{system}.csv"
        relstudy("fit", scores, "--judgments", tmp_path / "judgments.csv", "-o", tmp_path / "mappings")
        by_hand = json.loads((tmp_path / "mappings" / f"{system}.json").read_text())
        by_demo = json.loads((folder / "mappings" / f"{system}.json").read_text())
        assert by_hand["method"] == by_demo["method"]
        np.testing.assert_allclose(by_hand["values"], by_demo["values"])

    files = [folder / "scores" / f"{system}.csv" for system in ("keywords", "colour")]
    output, _ = relstudy(
        *("score", *files, "--judgments", tmp_path / "judgments.csv", "--mappings", tmp_path / "mappings", "--json")
    )
    ours, theirs = json.loads(output)["systems"], json.loads((folder / "scores.json").read_text())["systems"]
    for system in ("keywords", "colour"):
        for index in ("average_precision", "normalised_rank"):
            assert ours[system][index]["value"] == pytest.approx(theirs[system][index]["value"])


def test_every_way_out_of_a_run_says_the_same_of_the_demo_and_its_archive(folder, tmp_path):
    study = shutil.copytree(folder, tmp_path / "demo", ignore=shutil.ignore_patterns("gift*"))
    for left in ("scored.json", "comparison.json"):
        (study / left).unlink(missing_ok=True)
    never_two_answers(study, (by_folder, by_files, by_one_more))  # the other ways are held against each other below
    holds_everywhere(study, sorted(path.stem for path in (study / "scores").glob("*.csv")))


def test_a_new_system_is_placed_among_the_others_without_asking_anyone_again(folder, tmp_path):
    truth = pd.read_csv(folder / "truth" / "pairs.csv", dtype={"query_id": str, "result_id": str})
    rng = np.random.default_rng(0)
    run = tmp_path / "oracle.run"
    lines = [
        f"{row.query_id} Q0 {row.result_id} 1 {row.relevance + rng.normal(0, 0.1):.4f} oracle"
        for row in truth.itertuples()
    ]
    run.write_text("\n".join(lines) + "\n")
    output, _ = relstudy("score", run, "--against", folder / "comparison.json", "--json")
    systems = json.loads(output)["systems"]
    ranks = {name: system["normalised_rank"]["value"] for name, system in systems.items()}
    assert min(ranks, key=ranks.get) == "oracle"
    # A system that knows the truth but for a tenth of a point has almost every good match above every poor one.
    assert ranks["oracle"] < 0.02


def test_sampling_again_is_refused_because_ratings_exist(folder):
    before = (folder / "pairs.csv").read_bytes()
    _, notes = relstudy("sample", folder, code=1)
    assert "pairs.csv has ratings" in notes
    assert (folder / "pairs.csv").read_bytes() == before


def test_a_folder_that_is_no_demo_is_refused_with_one_sentence(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    _, notes = relstudy("demo", tmp_path, "--no-serve", code=1)
    assert notes.startswith(f"relstudy: {tmp_path}: this folder is not empty")
    assert len(notes.strip().splitlines()) == 1


def test_wrong_use_ends_with_code_2():
    _, notes = relstudy("demo", "--images", "three", code=2)
    assert "Usage: relstudy demo" in notes
