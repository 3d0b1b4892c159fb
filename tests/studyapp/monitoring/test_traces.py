"""Copies in the study's folder that still hold who was forgotten are named, however they are packed."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import lzma
import shutil
import sqlite3
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
import sqlalchemy as sa

from relstudy.studyapp.assignment.erasure import forget
from relstudy.studyapp.assignment.versions import write_state
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.tables import raters
from relstudy.studyapp.monitoring.export import people_table, ratings_table
from relstudy.studyapp.monitoring.traces import (
    go_on_deleting,
    ids_given,
    left_of_the_forgotten,
    look_for_traces,
    traces_of,
)
from relstudy.studyapp.monitoring.unpacked_bytes import CannotBeReadError, contents_of
from relstudy.studyapp.web.admin.access import set_password
from tests.commands import relstudy, succeeds
from tests.studyapp.browse import Browser, joined
from tests.studyapp.studies import Made
from tests.studyapp.web.rater.test_entry import with_entry

PEOPLE = with_entry('rules = ["crowd"]\nid_parameter = "who"\n')
ID = "Jane-Doe-5f3a"


def jane(made: Made) -> str:
    """Jane rates, and so does somebody else; Jane's code."""
    joined(made.app, f"/join?who={ID}").rate()
    joined(made.app, "/join?who=somebody-else").rate()
    return str(people_table(made.store, Study.load(made.folder))["rater_id"][0])


def named(made: Made) -> dict[str, str]:
    """Kinds of the traces, by the name of the file."""
    return {Path(trace.where).name: trace.kind for trace in traces_of(made.folder, made.store)}


def copies(made: Made) -> set[str]:
    """Copies of all sorts that hold Jane."""
    folder, study = made.folder, Study.load(made.folder)
    kept = folder / "kept" / "earlier"
    kept.mkdir(parents=True)
    before = set(folder.rglob("*"))
    succeeds("export", folder, "--people", folder / "people.csv")
    succeeds("backup", folder)
    backup = next(folder.glob("backup-*.db"))
    shutil.copy(backup, folder / "before-restore-20260101-000000.db")
    people = (folder / "people.csv").read_bytes()
    for ending, pack in ((".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)):
        (folder / f"people.csv{ending}").write_bytes(pack(people))
    (folder / "people.tsv.zst").write_bytes(pa.Codec("zstd").compress(people, asbytes=True))
    (folder / "without-an-ending").write_bytes(gzip.compress(backup.read_bytes()))
    people_table(made.store, study).to_parquet(folder / "people.parquet")
    ratings_table(made.store, study).to_parquet(folder / "ratings.parquet", compression="brotli")
    people_table(made.store, study).to_json(kept / "people.jsonl", orient="records", lines=True)
    with zipfile.ZipFile(folder / "packed.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(folder / "people.parquet", "deep/people.parquet")
    with tarfile.open(folder / "night.tar.gz", "w:gz") as tar:
        tar.add(backup, "study.db")
    with zipfile.ZipFile(kept / "twice.zip", "w") as archive:
        archive.write(folder / "packed.zip", "packed.zip")
    with contextlib.closing(sqlite3.connect(backup)) as connection:
        dump = "\n".join(connection.iterdump())
    (folder / "dump.sql").write_text(dump, encoding="utf-8")
    (folder / "old.db-journal").write_bytes(b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + bytes(504) + backup.read_bytes())
    (folder / "copy.sqlite").write_bytes(backup.read_bytes())
    live = sqlite3.connect(folder / "another.db")
    live.execute("PRAGMA journal_mode=WAL")
    live.executescript(dump.replace("BEGIN TRANSACTION;", "").replace("COMMIT;", ""))
    shutil.copy(folder / "another.db-wal", folder / "killed.db-wal")
    live.close()
    return {path.name for path in set(folder.rglob("*")) - before if path.is_file() and path.suffix != ".lock"} - {
        "ratings.json"
    }


@pytest.mark.slow
def test_pictures_are_not_searched_however_their_ending_is_written(make_local: Callable[..., Made]) -> None:
    made = make_local(PEOPLE)
    code = jane(made)
    for name in ("one.png", "two.PNG", "three.Mp4", "notes.txt", "of-no-kind"):
        (made.folder / name).write_text(ID)
    forget(made.store, made.folder, code)
    found = {Path(trace.where).name for trace in traces_of(made.folder, made.store, [ID])}
    assert found == {"notes.txt", "of-no-kind"}


@pytest.mark.slow
@pytest.mark.parametrize("way", ["forget", "all"])
def test_a_copy_is_named_however_it_is_packed(make_local: Callable[..., Made], way: str) -> None:
    made = make_local(PEOPLE)
    code = jane(made)
    everything = copies(made)
    assert len(everything) == 20
    # of who is nameless, only what says who they are is a trace; the ratings under a code are not
    nameless = {"ratings.csv", "ratings.parquet"}
    with made.store.write() as connection:
        write_state(connection, "closed")
    done = relstudy("forget", made.folder, "--all-people" if way == "all" else code, "--yes")
    expected = everything - nameless if way == "all" else everything
    assert named(made) == dict.fromkeys(expected, "people")
    for name in expected:
        assert f"{name} still holds {2 if way == 'all' else 1} rater" in done.output
    looked = relstudy("doctor", made.folder)
    assert looked.exit_code == 1 and all(name in looked.output for name in expected)
    for path in [path for path in made.folder.rglob("*") if path.name in expected]:
        path.unlink()
    assert named(made) == {}
    assert "erased raters: no traces left" in relstudy("doctor", made.folder).output


@pytest.mark.slow
def test_what_is_made_after_the_deletion_holds_nobody(make_local: Callable[..., Made]) -> None:
    made = make_local(PEOPLE)
    code = jane(made)
    succeeds("forget", made.folder, code, "--yes")
    copies(made)
    assert named(made) == {}, "and the log of what was done, which names the code, says nothing else of them"


@pytest.mark.slow
def test_what_only_the_id_of_a_platform_shows_is_named_until_the_file_changes(make_local: Callable[..., Made]) -> None:
    made = make_local(PEOPLE)
    code = jane(made)
    (made.folder / "bonuses.csv").write_text(f"{ID},1.50\nsomebody-else,1.50\n", encoding="utf-8")
    (made.folder / "bonuses.csv.gz").write_bytes(gzip.compress(f'{{"id":"{ID}"}}'.encode()))
    (made.folder / "others.csv").write_text("somebody-else,1.50\n", encoding="utf-8")
    done = relstudy("forget", made.folder, code, "--yes")
    assert "bonuses.csv still holds the id of an erased rater" in done.output and ID not in done.output
    assert named(made) == {"bonuses.csv": "id", "bonuses.csv.gz": "id"}, "also later, when nobody knows the id"
    with made.store.read_one() as connection:
        kept = str(connection.exec_driver_sql("SELECT * FROM settings").all())
    assert "bonuses.csv" in kept and ID not in kept
    (made.folder / "bonuses.csv").write_text("somebody-else,1.50\n", encoding="utf-8")
    (made.folder / "bonuses.csv.gz").unlink()
    assert named(made) == {}


def test_neither_the_id_of_a_rater_who_stays_nor_a_short_one_is_sought() -> None:
    assert list(ids_given([ID, "somebody-else", "12345", ""], ["somebody-else"])) == [ID.encode()]


@pytest.mark.slow
def test_a_file_that_cannot_be_looked_into_is_said_to_be_one(make_local: Callable[..., Made]) -> None:
    made = make_local(PEOPLE)
    code = jane(made)
    forget(made.store, made.folder, code)
    table = gzip.compress(f"rater_id\n{code}\n".encode() * 100)
    (made.folder / "cut.csv.gz").write_bytes(table[:30])
    (made.folder / "dump.pgdump").write_bytes(b"PGDMP" + bytes(100))
    (made.folder / "broken.parquet").write_bytes(b"PAR1" + bytes(100) + b"PAR1")
    (made.folder / "broken.zip").write_bytes(b"PK\x03\x04" + bytes(100))
    (made.folder / "bomb.gz").write_bytes(gzip.compress(bytes(80 << 20), 1))
    names = ["bomb.gz", "broken.parquet", "broken.zip", "cut.csv.gz", "dump.pgdump"]
    assert named(made) == dict.fromkeys(names, "closed")
    words = " ".join(trace.words for trace in traces_of(made.folder, made.store))
    assert "swells to over 200 times its size" in words and "a packed dump of PostgreSQL" in words


def test_archives_in_one_another_are_opened_but_not_without_end(tmp_path: Path) -> None:
    path = tmp_path / "deep"
    path.write_bytes(b"found")
    for _ in range(5):
        path.write_bytes(gzip.compress(path.read_bytes()))
    assert [b"".join(content.parts) for content in contents_of(path)] == [b"found"]
    path.write_bytes(gzip.compress(path.read_bytes()))
    with pytest.raises(CannotBeReadError, match="archives within archives"):
        list(contents_of(path))


def test_a_table_of_parquet_is_read_as_its_names_and_texts(tmp_path: Path) -> None:
    pd.DataFrame({"who": ["a", None], "n": [1, 2], "more": [["x"], ["y"]]}).to_parquet(tmp_path / "t.parquet")
    read = [b"".join(content.parts) for content in contents_of(tmp_path / "t.parquet")]
    assert read == [b"who n more\na\nNone\n['x']\n['y']\n"]


@pytest.mark.slow
def test_the_page_of_raters_says_what_is_left_and_until_when(make_local: Callable[..., Made]) -> None:
    made = make_local(PEOPLE)
    set_password(made.folder, "a long password")
    code = jane(made)
    (made.folder / "bonuses.csv").write_text(f"{ID},1.50\n", encoding="utf-8")
    succeeds("export", made.folder)
    owner = Browser(made.app)
    owner.log_in("a long password")
    owner.get("/admin/raters")
    assert "Traces of erased raters" not in owner.page.text, "nobody was"
    owner.get(f"/admin/forget/{code}")
    with made.store.read() as connection:
        connection.execute(sa.select(raters.c.id)).all()
        owner.send(owner.page.form(f"/admin/forget/{code}"))
    assert owner.address == "/admin/raters" and "are still to be searched" in owner.page.text
    assert "until every program that reads the database now" in owner.page.text
    go_on_deleting(made.folder, made.store, made.app.extensions["relstudy"].gone)
    text = owner.get("/admin/raters").text
    assert "ratings.csv : 1 of them, until you delete" in text.replace("csv:", "csv :")
    assert "bonuses.csv: the id that a platform gave one of them" in text
    assert "In the database's own files" not in text and str(made.folder) not in text and ID not in text
    for name in ("ratings.csv", "bonuses.csv"):
        (made.folder / name).unlink()
    assert "Nothing of them is left" in owner.get("/admin/raters").text
    assert left_of_the_forgotten(made.folder, made.store).traces == []


def test_a_damaged_list_of_the_forgotten_does_not_close_the_page(make_local: Callable[..., Made]) -> None:
    made = make_local(PEOPLE)
    (made.folder / "forgotten.txt").write_text("broken\n", encoding="utf-8")
    assert left_of_the_forgotten(made.folder, made.store).anybody
    go_on_deleting(made.folder, made.store, [])


def test_two_processes_that_know_different_ids_keep_both(make_local: Callable[..., Made]) -> None:
    made = make_local(PEOPLE)
    for name in ("first", "second"):
        (made.folder / f"{name}.csv").write_text(f"{name}-of-all\n", encoding="utf-8")
        look_for_traces(made.folder, made.store, {f"{name}-of-all"})
    assert named(made) == {"first.csv": "id", "second.csv": "id"}
