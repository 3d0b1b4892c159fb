"""A study from a folder of pictures and texts, as people have them."""

from __future__ import annotations

import shlex
from pathlib import Path

import pandas as pd
import pytest
from PIL import Image

from relstudy.analysis.inspection.files import inspect_file
from relstudy.studyapp.collection.items import Collection
from tests.commands import relstudy, succeeds


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    """Photos in two folders, one of them held sideways, a TIFF, and texts in two encodings."""
    photos = tmp_path / "photos"
    (photos / "day 2").mkdir(parents=True)
    Image.new("RGB", (40, 20), "red").save(photos / "a.JPG", format="JPEG")
    Image.new("RGB", (40, 20), "blue").save(photos / "day 2" / "a.png")
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.new("RGB", (40, 20), "green").save(photos / "sideways.jpg", exif=exif)
    texts = tmp_path / "texts"
    texts.mkdir()
    (texts / "lamp.md").write_text("# A red lamp\n\nIt shines.\n", encoding="utf-8")
    (texts / "cafe.txt").write_bytes("Café à la crème".encode("cp1252"))
    (photos / ".DS_Store").write_bytes(b"x")
    (photos / "notes.xyz").write_bytes(b"x")
    return tmp_path


def test_a_folder_is_a_study_in_one_command(lab: Path) -> None:
    done = succeeds("new", lab / "study", "--from", lab / "photos", lab / "texts")
    collection = Collection.load(lab / "study")
    items = {item.id: item for item in collection}
    assert set(items) == {"photos-a", "day 2-a", "sideways", "lamp", "cafe"}
    assert (items["lamp"].title, items["lamp"].text) == ("A red lamp", "It shines.")
    assert items["cafe"].text == "Café à la crème"
    path = items["sideways"].path
    assert path is not None and Image.open(path).size == (20, 40), "turned as the camera was held"
    told = done.output
    assert "cafe.txt read as Windows-1252" in told and "1 picture turned" in told and "1 file passed over" in told
    assert 'paradigm = "text"' in (lab / "study" / "study.toml").read_text() or "text" in collection.paradigms()
    succeeds("sample", lab / "study", "--queries", 2, "--results", 2, "--base", 1)


def test_pictures_that_browsers_do_not_show_are_converted_with_leave_alone(lab: Path) -> None:
    Image.new("RGB", (8, 8), "red").save(lab / "photos" / "scan.tif")
    refused = relstudy("new", lab / "study", "--from", lab / "photos")
    assert refused.exit_code == 1 and "scan.tif: browsers do not show these; --convert" in refused.output
    assert not (lab / "study").exists() or not list((lab / "study").iterdir())
    succeeds("new", lab / "study", "--from", lab / "photos", "--convert")
    rows = pd.read_csv(lab / "study" / "collection.csv").set_index("item_id")
    assert rows.loc["scan", "path"] == "pictures/scan.png"
    assert (lab / "photos" / "scan.tif").exists()


def test_new_paints_no_pictures_beside_those_that_lie_there(lab: Path) -> None:
    """Sixty painted pictures became the study of a lab that had put its own into the folder."""
    done = relstudy("new", lab / "photos")
    assert done.exit_code == 1
    assert "holds 3 pictures and no collection.csv" in done.output
    assert not (lab / "photos" / "study.toml").exists()
    succeeds("new", lab / "photos", "--from", lab / "photos")
    paths = set(pd.read_csv(lab / "photos" / "collection.csv")["path"])
    assert {"a.JPG", "day 2/a.png"} <= paths, "what lies in the study stays where it is"


@pytest.mark.parametrize("kind", ["Image", "IMAGE", "image"])
def test_the_kind_of_an_item_may_be_in_any_case(lab: Path, kind: str) -> None:
    (lab / "photos" / "collection.csv").write_text(f"item_id,kind,path\na,{kind},a.JPG\nb,{kind},sideways.jpg\n")
    assert [item.kind for item in Collection.load(lab / "photos")] == ["image", "image"]


def test_inspect_says_what_lies_in_a_folder_and_the_command(lab: Path) -> None:
    done = relstudy("inspect", lab)
    assert "a folder of 3 pictures and 2 texts; `relstudy new` makes a study of it" in done.output
    assert f"relstudy new my-study --from {lab}" in done.output
    relstudy("new", lab / "study", "--from", lab / "photos")
    assert "a study of relstudy, with collection.csv" in relstudy("inspect", lab / "study").output


def test_nothing_to_ask_about_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = relstudy("new", tmp_path / "study", "--from", tmp_path / "empty")
    assert done.exit_code == 1 and "there is no picture and no text" in done.output
    assert relstudy("new", tmp_path / "study", "--from", tmp_path / "none").exit_code == 1


def test_a_system_that_says_the_same_of_everything_is_named(lab: Path) -> None:
    """Its draws were taken for proposals."""
    for number in range(6):
        Image.new("RGB", (40, 20), (250 - 40 * number, 30 * number, 10)).save(lab / "photos" / f"tone{number}.png")
    relstudy("new", lab / "study", "--from", lab / "photos")
    names = pd.read_csv(lab / "study" / "collection.csv")["item_id"].tolist()
    scores = [f"{q},{r},1" for q in names for r in names if q != r]
    (lab / "study" / "scores").mkdir()
    (lab / "study" / "scores" / "flat.csv").write_text("\n".join(["query_id,result_id,flat", *scores]) + "\n")
    done = succeeds("sample", lab / "study", "--queries", 2, "--results", 2, "--base", 1)
    assert "flat gives all pairs the same score: what it proposes is drawn at random" in done.output
    assert "colour scores all pairs alike" not in done.output


def test_inspect_prints_a_command_that_makes_the_study_of_pictures_that_browsers_do_not_show(tmp_path: Path) -> None:
    """It printed one that was refused for want of --convert, and "2 picture to converts"."""
    lab = tmp_path / "lab"
    lab.mkdir()
    for number in range(2):
        Image.new("RGB", (40, 20), "red").save(lab / f"scan{number}.TIF", format="TIFF")
    refused = relstudy("new", lab)
    assert "2 pictures to convert" in refused.stderr
    command = inspect_file(lab).command
    assert command is not None
    words = shlex.split(command)[1:]
    words[words.index("my-study")] = str(tmp_path / "study")
    succeeds(*words)
    assert [item.id for item in Collection.load(tmp_path / "study")] == ["scan0", "scan1"]


def test_texts_in_utf_16_are_read_and_what_is_no_text_is_refused(tmp_path: Path) -> None:
    """Notepad's "Unicode" was read as Windows-1252, letter by letter, into a collection that could not be read."""
    texts = tmp_path / "texts"
    texts.mkdir()
    (texts / "sofa.txt").write_bytes("Sofa für zwei".encode("utf-16"))
    succeeds("new", tmp_path / "study", "--from", texts)
    assert [item.text for item in Collection.load(tmp_path / "study")] == ["Sofa für zwei"]
    (texts / "lamp.txt").write_bytes("Lampe".encode("utf-16-le"))
    refused = relstudy("new", tmp_path / "other", "--from", texts)
    assert refused.exit_code == 1
    assert "lamp.txt: this is not text in UTF-8, UTF-16 or Windows-1252" in refused.stderr
    assert not (tmp_path / "other" / "collection.csv").exists()
