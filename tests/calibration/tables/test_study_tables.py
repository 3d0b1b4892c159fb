"""A study's tables travel together, in a folder or in one zip file."""

from __future__ import annotations

import hashlib
import json
import shutil
import zipfile
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner, Result

import relstudy as rs
from relstudy.calibration.tables.study_tables import read_study_tables
from relstudy.studyapp.cli import main
from tests.places import EXAMPLE

GIFT = EXAMPLE / "scores" / "gift.csv"
FEW = ("--method", "none", "--replicates", "60", "--json")


def relstudy(*arguments: str | Path) -> Result:
    """What came of a command."""
    return CliRunner().invoke(main, list(map(str, arguments)))


def calibrated(out: Path) -> Path:
    """The example's ratings, calibrated into a folder or a zip file."""
    done = relstudy("calibrate", EXAMPLE / "ratings.csv", "-o", out, "--pairs", EXAMPLE / "pairs.csv")
    assert done.exit_code == 0, done.stderr
    return out


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return calibrated(tmp_path_factory.mktemp("zip") / "x.study.zip")


@pytest.mark.slow
def test_a_zip_file_gives_the_figures_and_notes_of_the_folder_whole(packed: Path, tmp_path: Path) -> None:
    folder = calibrated(tmp_path / "folder")
    shutil.copyfile(EXAMPLE / "pairs.csv", folder / "pairs.csv")
    by_zip = json.loads(relstudy("score", GIFT, "-j", packed, *FEW).stdout)
    by_folder = json.loads(relstudy("score", GIFT, "-j", folder / "judgments.csv", *FEW).stdout)
    assert by_zip["notes"] == by_folder["notes"] and not any("beside" in note for note in by_zip["notes"])
    assert by_zip["systems"] == by_folder["systems"]
    assert by_zip["conventions"] == by_folder["conventions"]
    python = rs.score(GIFT, packed, method="none", replicates=60)
    # a reason names what its reader would type
    said = json.dumps(python.summary()["systems"]).replace("unjudged='skip'", "--unjudged skip")
    assert json.loads(said) == by_zip["systems"]


@pytest.mark.slow
def test_a_zip_file_knows_what_it_was_made_of(packed: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(packed) as archive:
        names = set(archive.namelist())
    assert names == {"judgments.csv", "calibrated.csv", "raters.csv", "pairs.csv", "provenance.json"}
    files = {file.name: file.sha256 for file in read_study_tables(packed).files}
    assert files["ratings.csv"] == hashlib.sha256((EXAMPLE / "ratings.csv").read_bytes()).hexdigest()
    page = tmp_path / "page.html"
    assert relstudy("score", GIFT, "-j", packed, *FEW, "--report", page).exit_code == 0
    assert files["ratings.csv"] in page.read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_same_ratings_give_the_same_zip_file(packed: Path, tmp_path: Path) -> None:
    assert calibrated(tmp_path / "again.zip").read_bytes() == packed.read_bytes()


@pytest.mark.slow
def test_mappings_are_fitted_to_a_zip_files_judgments_by_a_column_of_its_pairs(packed: Path, tmp_path: Path) -> None:
    how = ("--method", "isotonic", "--by", "paradigm")
    done = relstudy("fit", GIFT, "-j", packed, "-o", tmp_path / "mappings", *how)
    assert done.exit_code == 0, done.stderr
    assert (tmp_path / "mappings" / "image" / "gift.json").is_file()


@pytest.mark.parametrize("further", [("--figures",), ("--by", "block")])
def test_what_needs_a_folder_does_not_go_into_a_zip_file(tmp_path: Path, further: tuple[str, ...]) -> None:
    done = relstudy("calibrate", EXAMPLE / "ratings.csv", "-o", tmp_path / "x.study.zip", *further)
    assert done.exit_code == 2 and "needs a folder" in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_damaged_provenance_has_no_part_and_is_told(packed: Path, tmp_path: Path) -> None:
    for name in ("judgments.csv", "calibrated.csv", "pairs.csv"):
        with zipfile.ZipFile(packed) as archive:
            (tmp_path / name).write_bytes(archive.read(name))
    (tmp_path / "provenance.json").write_text('{"files": [{"name": 1}]}')
    notes = read_study_tables(tmp_path).judgments.notes
    assert [note for note in notes if note.startswith("provenance.json") and "no part in this" in note]


def test_broken_ratings_beside_judgments_have_no_part_where_others_are_named(tmp_path: Path) -> None:
    """The scale was looked for in them, though a note said that they have no part."""
    pairs = {"query_id": "q", "result_id": ["x", "y"]}
    pd.DataFrame({**pairs, "judgment": [1.5, 3.5]}).to_csv(tmp_path / "judgments.csv", index=False)
    broken = "rater_id,query_id,result_id,rating,calibrated\na,q,x,bad,1\n"
    (tmp_path / "calibrated.csv").write_text(broken, encoding="utf-8")
    mine = pd.DataFrame({"rater_id": "a", **pairs, "rating": [1, 4], "calibrated": [1.5, 3.5]})
    study = read_study_tables(tmp_path / "judgments.csv", ratings=mine)
    assert study.judgments.ratings is not None and study.rated is None
    assert [note for note in study.judgments.notes if "'bad' is not allowed" in note and "no part" in note]
