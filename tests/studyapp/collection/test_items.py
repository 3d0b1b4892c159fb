"""collection.csv: what may stand there, and what is said when it may not."""

import os
import shutil

import numpy as np
import pytest
from PIL import Image

from relstudy.common.charts.pictures import read_picture
from relstudy.common.runtime.errors import RelstudyError, TableError
from relstudy.studyapp.collection.items import Collection, Item


def write(folder, text):
    (folder / "collection.csv").write_text(text, encoding="utf-8")
    return folder


def picture(path, colour=(10, 20, 30), size=(8, 6), mode="RGB"):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new(mode, size, colour).save(path)


def test_texts_beside_pictures_are_queries_and_texts_alone_are_both(tmp_path):
    picture(tmp_path / "a.png")
    mixed = Collection.load(
        write(tmp_path, "item_id,kind,path,text,keywords\na,image,a.png,,sky; sea\nq,text,,a sea,\nd,text,,x,\n")
    )
    assert [item.role for item in mixed] == ["both", "query", "query"]
    assert mixed["a"].keywords == {"sky", "sea"} and mixed["q"].words == {"a", "sea"}
    assert [item.id for item in mixed.queries("text")] == ["q", "d"]
    texts = Collection.load(write(tmp_path, "item_id,text,role\nq,one,query\nd,two,result\ne,three,\n"))
    assert [item.role for item in texts] == ["query", "result", "both"]
    assert texts.results("text").tolist() == [1, 2]
    assert texts.paradigms() == ("text",)


def test_all_faults_of_a_collection_are_listed_with_their_rows(tmp_path):
    picture(tmp_path / "a.png")
    text = (
        "item_id,kind,path,text,role\na,image,a.png,,\na,picture,a.png,,\n,text,,hello,\nx,image,gone.png,,\n"
        "y,text,,,boss\n"
    )
    with pytest.raises(TableError) as raised:
        Collection.load(write(tmp_path, text))
    message = str(raised.value)
    for part in (
        "row 3, column item_id: 'a' is not allowed; each item may appear there once",
        "row 3, column kind: 'picture' is not allowed; one of image, text, html, markdown, card, audio, video is",
        "row 4, column item_id: '' is not allowed; a value is required",
        "row 5, column path: 'gone.png' is not allowed; a picture's file is needed there",
        "row 6, column role: 'boss' is not allowed; query, result or both is allowed",
        "row 6, column item_id: 'y' is not allowed; this text needs a value in column text or title",
    ):
        assert part in message


def test_many_pictures_that_are_not_there_are_one_sentence(tmp_path):
    """A copy of the example without its pictures printed twenty lines."""
    rows = "".join(f"a{number},image,pictures/a{number}.png\n" for number in range(40))
    with pytest.raises(TableError) as raised:
        Collection.load(write(tmp_path, f"item_id,kind,path\n{rows}"))
    (said,) = raised.value.lines
    assert said.endswith(f"40 of 40 pictures are not in {tmp_path}; the first, of row 2, is 'pictures/a0.png'")


def test_a_broken_picture_is_named(tmp_path):
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\nnot a picture")
    collection = Collection.load(write(tmp_path, "item_id,path\na,a.png\n"))
    with pytest.raises(RelstudyError, match=r"a\.png: this picture cannot be decoded"):
        collection.picture(0)


def test_pictures_are_given_as_rgb_no_longer_than_asked_with_transparency_on_white(tmp_path):
    picture(tmp_path / "a.png", (0, 0, 0, 0), (400, 100), "RGBA")
    found = read_picture(tmp_path / "a.png", 200)
    assert found.mode == "RGB" and found.size == (200, 50)
    assert np.asarray(found).min() == 255


def test_the_fingerprint_changes_with_keywords_and_with_pictures(tmp_path):
    picture(tmp_path / "a.png")
    before = Collection.load(write(tmp_path, "item_id,path,keywords\na,a.png,sky\n")).fingerprint
    other = Collection.load(write(tmp_path, "item_id,path,keywords\na,a.png,sea\n")).fingerprint
    picture(tmp_path / "a.png", size=(30, 30))
    again = Collection.load(write(tmp_path, "item_id,path,keywords\na,a.png,sea\n")).fingerprint
    assert len({before, other, again}) == 3


def test_a_copy_of_a_study_has_its_fingerprint_whatever_the_times_of_its_files(tmp_path):
    study = tmp_path / "study"
    study.mkdir()
    picture(study / "a.png")
    write(study, "item_id,path\na,a.png\n")
    os.utime(study / "a.png", (1_000_000_000, 1_000_000_000))
    copy = tmp_path / "copy"
    shutil.copytree(study, copy, copy_function=shutil.copy)
    assert Collection.load(copy).fingerprint == Collection.load(study).fingerprint


def test_the_fingerprint_sees_a_picture_change_that_leaves_its_size_as_it_was(tmp_path):
    write(tmp_path, "item_id,path\na,a.png\n")
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n one")
    before = Collection.load(tmp_path).fingerprint
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n two")
    os.utime(tmp_path / "a.png", (2_000_000_000, 2_000_000_000))
    assert Collection.load(tmp_path).fingerprint != before


def test_an_unknown_item_is_named():
    with pytest.raises(RelstudyError, match="there is no item 'b'"):
        Collection([Item("a", "text", text="x")])["b"]


def test_no_path_and_no_link_leads_out_of_the_folder_and_odd_ones_are_faults_like_others(tmp_path):
    folder, secret = tmp_path / "study", tmp_path / "secret.png"
    folder.mkdir()
    picture(secret)
    picture(folder / "inside" / "a.png")
    (folder / "link.png").symlink_to(secret)
    (folder / "out").symlink_to(tmp_path)
    (folder / "loop.png").symlink_to("loop.png")
    os.mkfifo(folder / "pipe.png")
    leading_out = [
        "../secret.png",
        str(secret),
        "link.png",
        "out/secret.png",
        "inside/../../secret.png",
        "none/../../secret.png",
    ]
    for path in leading_out:
        with pytest.raises(TableError, match="stays inside the study's folder"):
            Collection.load(write(folder, f"item_id,kind,path\na,image,{path}\n"))
    for path in ("loop.png", "pipe.png", "inside", "/".join(["d"] * 40), "l" * 5000, "inside/a.png/b", "/dev/zero"):
        with pytest.raises(TableError, match="path"):
            Collection.load(write(folder, f"item_id,kind,path\na,image,{path}\n"))
    assert len(Collection.load(write(folder, "item_id,kind,path\na,image,inside/../inside/a.png\n"))) == 1
