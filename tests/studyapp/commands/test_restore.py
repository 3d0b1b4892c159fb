"""Going back to a backup: what is there, what is refused, and that nothing is lost on the way."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from relstudy.studyapp.assignment.synchronisation import prepare
from relstudy.studyapp.database.backup import checked_copy, put_back
from relstudy.studyapp.database.serving_lock import hold_as_server
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.web.app import create_app
from tests.commands import relstudy, succeeds
from tests.studyapp.browse import joined
from tests.studyapp.serving import serving
from tests.studyapp.studies import TOML, Made, write_study

pytestmark = pytest.mark.slow


def rated(made: Made, pages: int) -> None:
    browser = joined(made.app)
    for _ in range(pages):
        browser.rate()


@pytest.fixture
def address(database: Callable[[Path], str], make_study: Callable[..., Made], monkeypatch: pytest.MonkeyPatch) -> Made:
    """A study on each database, which the commands find as the server does."""
    made = make_study()
    monkeypatch.setenv("DATABASE_URL", made.store.url.render_as_string(hide_password=False))
    return made


def test_a_study_goes_on_from_its_backup_and_what_was_rated_since_is_kept_aside(address: Made, tmp_path: Path) -> None:
    made, backup = address, tmp_path / "safe.db"
    rated(made, 1)
    succeeds("backup", made.folder, "-o", backup)
    rated(made, 2)
    assert made.rows() == 12
    made.store.dispose()
    done = succeeds("restore", made.folder, backup, "--yes", "--json")
    told = json.loads(done.stdout)
    assert told["ratings"] == 4
    assert json.loads(relstudy("admin", "status", made.folder, "--json").stdout)["ratings"] == 4
    with sqlite3.connect(told["kept"]) as kept:
        assert kept.execute("SELECT count(*) FROM ratings").fetchone() == (12,)
    # people go on: new rows take numbers of their own
    store = Store.of_study(made.folder)
    prepare(made.folder, store)
    again = Made(made.folder, store, create_app(made.folder, store=store))
    rated(again, 2)
    assert again.rows() == 12
    store.dispose()
    succeeds("restore", made.folder, told["kept"], "--yes")


def test_a_copy_by_hand_beside_an_old_wal_is_what_restore_is_for(
    make_local: Callable[..., Made], tmp_path: Path
) -> None:
    """The database of now has a -wal beside it that was never emptied, as a killed server leaves it."""
    made, backup = make_local(), tmp_path / "safe.db"
    rated(made, 1)
    succeeds("backup", made.folder, "-o", backup)
    rated(made, 2)
    for ending in ("", "-wal", "-shm"):
        shutil.copy(made.folder / f"study.db{ending}", tmp_path / f"killed{ending}")
    made.store.dispose()
    for ending in ("", "-wal", "-shm"):
        shutil.copy(tmp_path / f"killed{ending}", made.folder / f"study.db{ending}")
    assert (made.folder / "study.db-wal").stat().st_size > 0
    succeeds("restore", made.folder, backup, "--yes")
    assert json.loads(relstudy("admin", "status", made.folder, "--json").stdout)["ratings"] == 4
    kept = next(made.folder.glob("before-restore-*.db"))
    with sqlite3.connect(kept) as connection:
        assert connection.execute("SELECT count(*) FROM ratings").fetchone() == (12,)


def test_a_damaged_database_is_replaced_and_kept(make_local: Callable[..., Made], tmp_path: Path) -> None:
    made, backup = make_local(), tmp_path / "safe.db"
    rated(made, 1)
    relstudy("backup", made.folder, "-o", backup)
    made.store.dispose()
    (made.folder / "study.db").write_bytes(b"garbage" * 1000)
    assert relstudy("admin", "status", made.folder).exit_code == 1
    succeeds("restore", made.folder, backup, "--yes")
    assert json.loads(relstudy("admin", "status", made.folder, "--json").stdout)["ratings"] == 4
    assert next(made.folder.glob("before-restore-*.db")).read_bytes().startswith(b"garbage")


class Killed(BaseException):
    """The program ends here."""


@pytest.mark.parametrize("has_links", [True, False])
def test_whenever_a_restore_is_killed_there_is_a_database_and_what_stood_there_is_kept(
    make_local: Callable[..., Made], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_links: bool
) -> None:
    made, backup = make_local(), tmp_path / "safe.db"
    relstudy("backup", made.folder, "-o", backup)
    rated(made, 1)
    made.store.dispose()
    database, link, replace = made.folder / "study.db", os.link, os.replace
    left = 0  # steps until it is killed

    def before(step: Callable[..., None], *names: str | Path) -> None:
        nonlocal left
        if any(Path(name).name == "study.db" for name in names):
            left -= 1
            if left < 0:
                raise Killed
        step(*names)

    def no_link(*_: str | Path) -> None:
        raise OSError("no second names here")

    monkeypatch.setattr(os, "replace", lambda *names: before(replace, *names))
    monkeypatch.setattr(os, "link", lambda *names: before(link if has_links else no_link, *names))
    kept = []
    for steps in range(3):
        left = steps
        with contextlib.suppress(Killed), checked_copy(backup, made.folder) as (copy, _):
            kept.append(put_back(copy, made.store, made.folder))
        assert database.exists(), steps
    with sqlite3.connect(database) as now, sqlite3.connect(str(kept[0])) as earlier:
        assert now.execute("SELECT count(*) FROM ratings").fetchone() == (0,)
        assert earlier.execute("SELECT count(*) FROM ratings").fetchone() == (4,)
    assert len(kept) == 1 and Path(str(kept[0])).stat().st_mode & 0o077 == 0


def test_what_two_restores_of_one_second_replaced_is_kept_twice(
    make_local: Callable[..., Made], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, backup = make_local(), tmp_path / "safe.db"
    relstudy("backup", made.folder, "-o", backup)
    rated(made, 1)
    made.store.dispose()
    monkeypatch.setattr(time, "strftime", lambda *_: "20260101-000000")
    kept = [json.loads(relstudy("restore", made.folder, backup, "--yes", "--json").stdout)["kept"] for _ in range(2)]
    with sqlite3.connect(kept[0]) as first:
        assert first.execute("SELECT count(*) FROM ratings").fetchone() == (4,)
    assert kept[0] != kept[1]


def test_nothing_changes_while_a_server_runs_or_somebody_has_the_database_open(address: Made, tmp_path: Path) -> None:
    made, backup = address, tmp_path / "safe.db"
    rated(made, 1)
    relstudy("backup", made.folder, "-o", backup)
    rated(made, 1)
    made.store.dispose()
    served = hold_as_server(made.folder)
    assert served is not None
    refused = relstudy("restore", made.folder, backup, "--yes")
    assert refused.exit_code == 1 and "a server is running; stop it first" in refused.output
    served.close()
    with made.store.read():  # as a server on another machine has it
        refused = relstudy("restore", made.folder, backup, "--yes")
    assert refused.exit_code == 1 and ("has it open" in refused.output or "in use" in refused.output), refused.output
    assert made.rows() == 8
    made.store.dispose()
    succeeds("restore", made.folder, backup, "--yes")


def test_what_is_no_backup_of_this_study_is_refused_and_nothing_is_left_beside(
    make_local: Callable[..., Made], tmp_path: Path
) -> None:
    made = make_local()
    rated(made, 1)
    other = make_local(TOML.replace('id = "test"', 'id = "other"'))
    foreign = tmp_path / "other.db"
    succeeds("backup", other.folder, "-o", foreign)
    made.store.dispose()
    text = tmp_path / "notes.txt"
    text.write_text("nothing")
    empty = tmp_path / "empty.db"
    sqlite3.connect(empty).close()
    whole = tmp_path / "cut.db"
    relstudy("backup", made.folder, "-o", whole)
    whole.write_bytes(whole.read_bytes()[:9000])
    before = sorted(path.name for path in made.folder.iterdir() if path.suffix == ".db" or "restor" in path.name)
    for file, words in (
        (foreign, "this is a backup of the study 'other', and not of 'test'"),
        (text, "not a complete backup"),
        (empty, "not a complete backup"),
        (whole, "not a complete backup"),
        (tmp_path / "absent.db", "file not found"),
    ):
        refused = relstudy("restore", made.folder, file, "--yes")
        assert refused.exit_code == 1 and words in refused.output, (file, refused.output, refused.exception)
        assert "Traceback" not in refused.output
    assert relstudy("restore", made.folder, tmp_path / "absent.db").exit_code == 1
    after = sorted(path.name for path in made.folder.iterdir() if path.suffix == ".db" or "restor" in path.name)
    assert before == after
    assert made.rows() == 4


def test_a_backup_of_a_newer_version_is_named(make_local: Callable[..., Made], tmp_path: Path) -> None:
    made, backup = make_local(), tmp_path / "safe.db"
    rated(made, 1)
    succeeds("backup", made.folder, "-o", backup)
    with contextlib.closing(sqlite3.connect(backup)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    refused = relstudy("restore", made.folder, backup, "--yes")
    assert refused.exit_code == 1 and f"{backup}: this backup was made by another version of relstudy" in refused.output
    assert not (made.folder / ".restoring.db").exists() and made.rows() == 4


def test_a_folder_of_any_name_has_its_database_within_and_is_copied_and_restored(tmp_path: Path) -> None:
    folder = write_study(tmp_path / "what? 50%20#1", base_queries=1, unique_queries=1)
    prepare(folder)
    assert {path.name for path in tmp_path.iterdir()} == {folder.name} and (folder / "study.db").is_file()
    store = Store.of_study(folder)
    joined(create_app(folder, store=store)).rate()
    store.dispose()
    copy = tmp_path / "kept? 5%23.db"
    assert "4 ratings" in succeeds("backup", folder, "-o", copy).output
    succeeds("restore", folder, copy, "--yes")
    assert "4 ratings" in succeeds("export", folder).output


def test_it_asks_first(make_local: Callable[..., Made], tmp_path: Path) -> None:
    made, backup = make_local(), tmp_path / "safe.db"
    rated(made, 1)
    relstudy("backup", made.folder, "-o", backup)
    rated(made, 1)
    made.store.dispose()
    asked = relstudy("restore", made.folder, backup, typed="n\n")
    assert asked.exit_code == 1 and "4 ratings, newest rating 20" in asked.output
    assert made.rows() == 8


@pytest.mark.server
def test_relstudy_serve_keeps_restore_out_as_long_as_it_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DATABASE_URL", raising=False)
    folder = write_study(tmp_path / "s")
    backup = tmp_path / "safe.db"
    with serving(folder):
        succeeds("backup", folder, "-o", backup)
        refused = relstudy("restore", folder, backup, "--yes")
        assert refused.exit_code == 1 and "a server is running; stop it first" in refused.output
    succeeds("restore", folder, backup, "--yes")


def test_a_disk_without_room_for_the_copy_is_not_the_backups_fault(
    make_local: Callable[..., Made], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, backup = make_local(), tmp_path / "safe.db"
    relstudy("backup", made.folder, "-o", backup)

    def full(_: Path) -> int:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr("relstudy.studyapp.database.backup.count_ratings", full)
    refused = relstudy("restore", made.folder, backup, "--yes")
    assert refused.exit_code == 1 and "there is no room for a copy of the backup" in refused.output
    assert not (made.folder / ".restoring.db").exists()
