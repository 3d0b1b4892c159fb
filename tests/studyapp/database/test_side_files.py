"""A database beside a write-ahead log that is not its own is refused in a sentence, and neither is changed."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
import sqlalchemy as sa

from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.assignment.synchronisation import prepare
from relstudy.studyapp.database.backup import copy_database
from relstudy.studyapp.database.feed import begin_feed
from relstudy.studyapp.database.serving_lock import hold_as_server, require_sound_database
from relstudy.studyapp.database.settings import write_setting
from relstudy.studyapp.database.side_files import require_own_wal
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.database.tables import settings
from relstudy.studyapp.database.tombstones import FORGOTTEN, bury
from relstudy.studyapp.monitoring.traces import traces_of
from relstudy.studyapp.web.app import create_app
from tests.commands import relstudy, succeeds
from tests.studyapp.browse import joined
from tests.studyapp.studies import Made, write_study

pytestmark = pytest.mark.slow


def rate(made: Made, pages: int) -> None:
    browser = joined(made.app)
    for _ in range(pages):
        browser.rate()


def killed(made: Made, to: Path) -> Path:
    """The files as they lie there when the server is killed now."""
    to.mkdir()
    for ending in ("", "-wal"):
        shutil.copy(f"{made.store.file}{ending}", to / f"study.db{ending}")
    return to


@dataclass(frozen=True)
class Fallen:
    """What lies about after a fall: the study's files, backups of it, and another study's."""

    folder: Path
    files: Path
    backup: Path
    copied: Path
    elsewhere: Path
    rows: int

    def place(self, database: Path, wal: bytes) -> Path:
        """The study with such files, as somebody has copied them there."""
        for ending in ("-wal", "-shm", ".lock"):
            (self.folder / f"study.db{ending}").unlink(missing_ok=True)
        shutil.copy(database, self.folder / "study.db")
        (self.folder / "study.db-wal").write_bytes(wal)
        return self.folder

    @property
    def wal(self) -> bytes:
        return (self.files / "study.db-wal").read_bytes()


@pytest.fixture
def fallen(make_local: Callable[..., Made], tmp_path: Path) -> Fallen:
    made, other = make_local(base_queries=20), make_local(base_queries=20)
    with other.store.write() as connection:
        begin_feed(connection)  # both are copies of one empty database
    other.store.empty_wal()
    rate(made, 3)
    made.store.empty_wal()
    shutil.copy(made.store.file, tmp_path / "copied.db")
    copy_database(made.store, tmp_path / "backup.db")
    rate(made, 3)
    rate(other, 1)
    assert made.store.answers() and other.store.answers()  # a server's start and its health page write settings too
    files, elsewhere, rows = killed(made, tmp_path / "killed"), killed(other, tmp_path / "elsewhere"), made.rows()
    made.store.dispose()
    return Fallen(made.folder, files, tmp_path / "backup.db", tmp_path / "copied.db", elsewhere, rows)


SHAPES: dict[str, Callable[[Fallen], tuple[Path, bytes]]] = {
    "a backup beside the log of now": lambda it: (it.backup, it.wal),
    "a backup beside another study's log": lambda it: (it.backup, (it.elsewhere / "study.db-wal").read_bytes()),
    "the database beside another study's log": lambda it: (
        it.files / "study.db", (it.elsewhere / "study.db-wal").read_bytes(),
    ),
    "another study's database beside the log": lambda it: (it.elsewhere / "study.db", it.wal),
    "a backup beside a log with other salts": lambda it: (it.backup, it.wal[:16] + b"othersal" + it.wal[24:]),
    "a backup beside what is not a log": lambda it: (it.backup, os.urandom(50_000)),
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_serve_and_other_commands_refuse_a_log_of_another_database_and_change_nothing(
    shape: str, fallen: Fallen
) -> None:
    folder = fallen.place(*SHAPES[shape](fallen))
    before = [(folder / f"study.db{ending}").read_bytes() for ending in ("", "-wal")]
    with pytest.raises(RelstudyError, match="is not of"):
        require_sound_database(folder)
    for command in (("status", folder), ("export", folder, "-o", folder / "r.csv")):
        done = relstudy(*command)
        assert done.exit_code == 1 and done.output.startswith(f"relstudy: {folder}/study.db-wal is not of the study.db")
    assert "study.db-wal is not of" in relstudy("doctor", folder).output
    assert [(folder / f"study.db{ending}").read_bytes() for ending in ("", "-wal")] == before


def test_both_ways_out_that_the_sentence_names_lead_out(fallen: Fallen) -> None:
    folder = fallen.place(fallen.backup, fallen.wal)
    (folder / "study.db-wal").rename(folder / "elsewhere")
    assert '"ratings": 12' in relstudy("admin", "status", folder, "--json").output
    folder = fallen.place(fallen.backup, fallen.wal)
    succeeds("restore", folder, fallen.backup, "--yes")
    assert '"ratings": 12' in relstudy("admin", "status", folder, "--json").output
    kept = next(folder.glob("before-restore-*.db"))
    assert Path(f"{kept}-wal").read_bytes() == fallen.wal, "what was found is kept as it was found"


def test_a_fall_leaves_a_log_that_is_taken_up(fallen: Fallen) -> None:
    folder = fallen.place(fallen.files / "study.db", fallen.wal)
    require_sound_database(folder)
    store = Store.of_study(folder)
    store.migrate()
    with store.read() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM ratings").scalar_one() == fallen.rows
    store.dispose()


def test_a_backup_that_is_served_is_no_backup_any_more_also_when_it_falls(tmp_path: Path, fallen: Fallen) -> None:
    folder = fallen.place(fallen.backup, b"")
    store = Store.of_study(folder)
    prepare(folder, store)
    rate(Made(folder, store, create_app(folder, store=store)), 2)
    files, rows = killed(Made(folder, store, create_app(folder, store=store)), tmp_path / "again"), 12 + 8
    store.dispose()
    fallen.place(files / "study.db", (files / "study.db-wal").read_bytes())
    require_sound_database(folder)
    assert f'"ratings": {rows}' in relstudy("admin", "status", folder, "--json").output


def test_a_copy_by_hand_is_refused_where_the_log_makes_no_whole_database_of_it(tmp_path: Path) -> None:
    """Not one that `relstudy admin backup` has made. Where the log makes the newest database of it, nothing is lost."""
    folder = write_study(tmp_path / "s", base_queries=20)
    store = Store.of_study(folder)
    prepare(folder, store)
    made = Made(folder, store, create_app(folder, store=store))
    rate(made, 1)
    store.empty_wal()
    shutil.copy(folder / "study.db", tmp_path / "copied.db")
    rate(made, 8)
    with store.write() as connection:  # and much else
        connection.execute(sa.insert(settings), [{"key": f"x{number}", "value": "x" * 500} for number in range(300)])
    store.empty_wal()  # what was rated until now is in the file alone
    rate(made, 1)
    files = killed(made, tmp_path / "killed")
    store.dispose()
    for ending in ("-wal", "-shm"):
        (folder / f"study.db{ending}").unlink(missing_ok=True)
    shutil.copy(tmp_path / "copied.db", folder / "study.db")
    shutil.copy(files / "study.db-wal", folder / "study.db-wal")
    with pytest.raises(RelstudyError, match=r"study\.db is damaged, or study\.db-wal is not of it"):
        require_sound_database(folder)
    done = subprocess.run(
        [sys.executable, "-m", "relstudy", "serve", str(folder), "--port", "0"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 1 and "restore" in done.stderr and "Traceback" not in done.stderr


def test_a_database_that_is_served_is_not_looked_through(fallen: Fallen, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = fallen.place(fallen.files / "study.db", fallen.wal)
    monkeypatch.setattr("relstudy.studyapp.database.serving_lock.require_sound", pytest.fail)
    mark = hold_as_server(folder)
    assert mark is not None
    require_sound_database(folder)
    mark.close()


def test_a_backup_on_a_read_only_disk_can_be_looked_at(fallen: Fallen, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(*_: object) -> None:
        raise sqlite3.OperationalError("attempt to write a readonly database")

    folder = fallen.place(fallen.backup, b"")
    monkeypatch.setattr("relstudy.studyapp.database.side_files._set_application", refuses)
    store = Store.of_study(folder)
    store.migrate()
    with store.read() as connection:
        assert connection.execute(sa.text("SELECT count(*) FROM ratings")).scalar_one() == 12
    store.dispose()


ELSEWHERE = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None); "


def elsewhere(database: Path, statement: str) -> str:
    """What another process is answered, or why it is refused."""
    show = f"print(c.execute({statement!r}).fetchone()); c.close()"
    done = subprocess.run([sys.executable, "-c", ELSEWHERE + show, str(database)], capture_output=True, text=True)
    return (done.stdout or done.stderr).strip().splitlines()[-1]


LOOKS = {
    "is_whole": lambda made: made.store.is_whole,
    "require_usable": lambda made: require_own_wal(made.store.file),
    "traces": lambda made: traces_of(made.folder, made.store),
}


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
def test_looking_at_a_database_keeps_this_processs_locks_on_it(
    make_local: Callable[..., Made], look: Callable[[Made], object]
) -> None:
    """A file opened and closed beside SQLite takes them away: another program deleted the log, and with it what was
    written from then on and acknowledged."""
    made = make_local()
    bury(made.folder, FORGOTTEN, ["somebody"])  # so that traces are looked for
    with made.store.write() as connection:
        write_setting(connection, "first", "1")
    look(made)
    count = "SELECT count(*) FROM settings WHERE key IN ('first', 'second')"
    assert elsewhere(made.store.file, count) == "(1,)"
    with made.store.write() as connection:
        write_setting(connection, "second", "2")
    assert elsewhere(made.store.file, count) == "(2,)"
    with made.store.write() as connection:
        write_setting(connection, "second", "3")
        look(made)
        assert "locked" in elsewhere(made.store.file, "BEGIN IMMEDIATE")
