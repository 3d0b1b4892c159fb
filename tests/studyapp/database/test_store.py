"""The database: migrations with data in it, live copies, forgetting, and files that change under it."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import secrets
import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.assignment.catalogue import Catalogue
from relstudy.studyapp.assignment.erasure import forget
from relstudy.studyapp.assignment.synchronisation import prepare
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database import errors
from relstudy.studyapp.database.backup import copy_database
from relstudy.studyapp.database.errors import classify_error
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.database.tables import DONE, LEASED, OPEN, UNDECIDED, metadata, pages, raters, settings, slots
from relstudy.studyapp.monitoring.export import ratings_table
from relstudy.studyapp.web.app import create_app
from tests.studyapp.browse import Browser, joined
from tests.studyapp.cluster import Cluster
from tests.studyapp.studies import TOML, Made, write_study


def test_the_migrations_end_at_exactly_the_tables_the_code_uses(make_study: Callable[..., Made]) -> None:
    made = make_study()
    name = made.store.engine.dialect.name

    def is_here(thing: Any, *_: object) -> bool:
        only_for = getattr(thing, "_ddl_if", None)
        return only_for is None or only_for.dialect == name

    with made.store.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"include_object": is_here})
        assert compare_metadata(context, metadata) == []


@pytest.mark.slow
def test_two_servers_starting_at_once_make_the_tables_once(tmp_path: Path, database: Callable[[Path], str]) -> None:
    folder = write_study(tmp_path / "s")
    stores = [Store(database(folder))]
    stores.append(Store(stores[0].url.render_as_string(hide_password=False)))

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda store: store.migrate(), stores))
        list(pool.map(lambda store: prepare(folder, store), stores))
    with stores[0].read() as connection:
        assert connection.execute(sa.select(sa.func.count()).select_from(slots)).scalar_one() == 6
    for store in stores:
        store.dispose()


@pytest.mark.slow
def test_a_live_copy_holds_what_was_rated_and_nobody_waits_for_it(
    make_study: Callable[..., Made], tmp_path: Path
) -> None:
    made = make_study()
    browser = joined(made.app)
    browser.rate()
    target = tmp_path / "copy" / "copy.db"
    with made.store.write():
        # Somebody is saving while the copy is made; the copy has what was saved before.
        assert copy_database(made.store, target) == 4
    browser.rate()
    copy = Store(f"sqlite:///{target}")
    table = ratings_table(copy, Study.load(made.folder))
    assert table["rating"].tolist() == [3.0] * 4
    copy.dispose()
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert sorted(path.name for path in target.parent.iterdir() if path.suffix == ".db") == ["copy.db"]


@pytest.mark.slow
def test_the_export_never_waits_for_a_writer_and_never_holds_one_up(make_study: Callable[..., Made]) -> None:
    made = make_study(busy_seconds=0.5)
    browser = joined(made.app)
    browser.rate()
    study = Study.load(made.folder)
    with made.store.write() as connection:
        connection.exec_driver_sql("UPDATE ratings SET rating = 1")
        assert ratings_table(made.store, study)["rating"].tolist() == [3.0] * 4
    with made.store.read() as connection:
        before = connection.exec_driver_sql("SELECT count(*) FROM ratings").scalar_one()
        browser.rate()
        assert browser.status == 200
        assert connection.exec_driver_sql("SELECT count(*) FROM ratings").scalar_one() == before, "one consistent view"


@pytest.mark.slow
def test_forgetting_removes_a_person_everywhere_and_gives_their_pairs_back(make_study: Callable[..., Made]) -> None:
    made = make_study()
    study = Study.load(made.folder)
    gone, stays = Browser(made.app), Browser(made.app)
    gone.join()
    gone.rate_all()
    stays.join()
    stays.rate()
    with made.store.read() as connection:
        name = connection.exec_driver_sql("SELECT rater_id FROM raters ORDER BY id").scalars().first()
    assert forget(made.store, made.folder, str(name)).count == 16
    table = ratings_table(made.store, study)
    assert len(table) == 4 and name not in set(table["rater_id"])
    with made.store.read() as connection:
        open_slots = connection.execute(
            sa.select(sa.func.count()).select_from(slots).where(slots.c.state == OPEN)
        ).scalar_one()
        assert open_slots == 5, "all but the page that the other one holds"
        assert connection.exec_driver_sql("SELECT count(*) FROM assignments WHERE rater = 1").scalar_one() == 0
    gone.get("/rate/1")
    assert gone.address == "/consent", "the old cookie is nobody's"
    with pytest.raises(RelstudyError, match="there is no rater 'RNOBODY'"):
        forget(made.store, made.folder, "RNOBODY")
    if made.store.is_sqlite:
        left = b"".join(path.read_bytes() for path in made.folder.glob("study.db*"))
        assert str(name).encode() not in left


@pytest.mark.slow
def test_new_pairs_join_the_pool_removed_ones_leave_it_and_changed_ones_are_refused(tmp_path: Path) -> None:
    folder = write_study(tmp_path / "s")
    prepare(folder)
    store = Store.of_study(folder)
    path = folder / "pairs.csv"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:-4], "new-1,q2,q0,image,more,1,0.25,unique"]) + "\n")
    prepare(folder, store)
    with store.read() as connection:
        query = sa.text("SELECT count(*) FROM slots JOIN pages ON pages.id = page_id WHERE pages.active")
        assert connection.execute(query).scalar_one() == 5 + 1
        assert connection.execute(sa.select(sa.func.count()).select_from(slots)).scalar_one() == 6
    rater = joined(create_app(folder))
    rater.rate()
    path.write_text("\n".join([*lines[:-1], lines[-1].replace("r3", "q0")]) + "\n")
    with pytest.raises(RelstudyError, match=r"pair 'p7-3' is query 'q7', result 'q0'.*give the new pair a new one"):
        prepare(folder, store)
    path.write_text("\n".join([*lines[:-1], lines[-1].replace("0.25", "0.4")]) + "\n")
    prepare(folder, store)
    with store.read() as connection:
        query = sa.text("SELECT inclusion_probability FROM pairs WHERE pair_id = 'p7-3'")
        assert connection.execute(query).scalar_one() == 0.4
    store.dispose()


@pytest.mark.slow
def test_taking_back_a_rating_per_pair_takes_none_that_was_given(make_study: Callable[..., Made]) -> None:
    made = make_study(TOML.replace("pairs_per_rater = 8", 'pairs_per_rater = "all"\nratings_per_pair = 2'))
    for _ in range(2):
        browser = joined(made.app)
        browser.rate_all()
    path = made.folder / "study.toml"
    path.write_text(path.read_text().replace("ratings_per_pair = 2", "ratings_per_pair = 1"))
    with made.store.read() as connection:
        done = sa.select(sa.func.count()).select_from(slots).where(slots.c.state == DONE)
        before = connection.execute(done).scalar_one()
    prepare(made.folder, made.store)
    with made.store.read() as connection:
        assert connection.execute(done).scalar_one() == before == 12


def test_a_block_that_leaves_the_study_leaves_nothing_to_hand_out(make_study: Callable[..., Made]) -> None:
    again = '[[blocks]]\nname = "again"\npairs = "base"\nscale = "binary"\n'
    made = make_study(TOML + again)
    (made.folder / "study.toml").write_text(TOML)
    prepare(made.folder, made.store)
    with made.store.read() as connection:
        catalogue = Catalogue(Study.load(made.folder), connection)
    assert len(catalogue.of("base", "pair")) == 2 and not catalogue.of("again", "pair")


def test_the_pairs_of_a_query_are_put_on_pages_at_random(make_local: Callable[..., Made]) -> None:
    made = make_local(base_queries=1, unique_queries=1, results=40)
    with made.store.read() as connection:
        found = connection.execute(sa.select(pages.c.pair_ids).where(pages.c.block == "unique")).scalars().all()
    places = [int(pair_id.rpartition("-")[2]) for pair_ids in found for pair_id in pair_ids]
    assert sorted(places) == list(range(40)) and places != sorted(places)


@pytest.mark.slow
def test_what_is_read_together_does_not_change_meanwhile(make_study: Callable[..., Made]) -> None:
    made = make_study()
    query = sa.select(sa.func.count()).select_from(raters)
    with made.store.read() as connection:
        before = connection.execute(query).scalar_one()
        Browser(made.app).join()
        assert connection.execute(query).scalar_one() == before
    with made.store.read() as connection:
        assert connection.execute(query).scalar_one() == before + 1


@pytest.mark.parametrize("way", ["read", "read_one", "write"])
@pytest.mark.parametrize("ends", [True, False])
def test_what_is_not_read_to_its_end_is_let_go_with_its_connection(
    make_local: Callable[..., Made], way: str, ends: bool
) -> None:
    store = make_local().store
    unfinished = []
    with contextlib.suppress(KeyError), getattr(store, way)() as connection:
        unfinished.append(connection.execute(sa.select(pages.c.id), execution_options={"yield_per": 1}))
        unfinished.append(iter(connection.execute(sa.select(settings.c.key))))
        assert next(unfinished[1])
        unfinished[0].fetchone()
        if not ends:
            raise KeyError
    with store.write() as connection:
        connection.execute(sa.insert(settings).values(key="later", value="1"))
    with store.read() as connection:
        assert connection.execute(sa.select(settings.c.value).where(settings.c.key == "later")).scalar() == "1"
    assert store.engine.pool.checkedin() == 1, "all of this was on one connection"
    assert store.empty_wal(), "nobody reads what is in the write-ahead log"
    with pytest.raises(sa.exc.ProgrammingError, match="closed cursor"):
        unfinished[0].fetchone()


def test_a_database_that_holds_another_study_is_refused(make_study: Callable[..., Made]) -> None:
    made = make_study()
    text = (made.folder / "study.toml").read_text().replace('id = "test"', 'id = "other"')
    (made.folder / "study.toml").write_text(text)
    with pytest.raises(RelstudyError, match="holds the study 'test', and this folder's is 'other'"):
        prepare(made.folder, made.store)


def test_every_acknowledged_write_is_synced_to_disk(make_local: Callable[..., Made]) -> None:
    made = make_local()
    with made.store.engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar_one() == "wal"
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar_one() == 2, "FULL"


def test_postgresql_is_chosen_by_the_environment_and_its_password_never_shown(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://someone:hush@127.0.0.1:1/none")
    store = Store.of_study(tmp_path)
    assert not store.is_sqlite and "hush" not in store.shown
    with pytest.raises(RelstudyError, match="cannot be opened") as refused:
        store.migrate()
    assert "hush" not in str(refused.value)
    assert os.environ["DATABASE_URL"].startswith("postgresql://")


@pytest.mark.parametrize(
    ("message", "state", "kind"),
    [
        ("database or disk is full", "", "full"),
        ("disk I/O error", "", "full"),
        ("could not extend file: No space left on device", "53100", "full"),
        ('could not write to file "base/5/16384": Input/output error', "58030", "full"),
        ("sorry, too many clients already", "53300", "busy"),
        ("out of shared memory", "53200", "busy"),
        ("database is locked", "", "busy"),
        ("canceling statement due to lock timeout", "55P03", "busy"),
        ("deadlock detected", "40P01", "busy"),
        ("no such column", "", "broken"),
        ("connection failed: connection to server at 127.0.0.1 failed: Connection refused", "", "busy"),
        ("server closed the connection unexpectedly", "", "busy"),
        ("terminating connection due to administrator command", "57P01", "busy"),
        ("the database system is starting up", "57P03", "busy"),
        ('connection is bad: connection to server on socket "/s/.s.PGSQL.5432" failed: No such file', "", "busy"),
        ("failed to resolve host 'db.example': [Errno -3] Temporary failure in name resolution", "", "busy"),
        ("consuming input failed: SSL connection has been closed unexpectedly", "", "busy"),
    ],
)
def test_troubles_are_told_apart(message: str, state: str, kind: str) -> None:
    class Original(Exception):
        sqlstate = state

    assert classify_error(sa.exc.OperationalError("SELECT", {}, Original(message))) == kind


def test_a_database_is_away_where_its_connection_broke_whatever_the_message_says() -> None:
    error = sa.exc.OperationalError("SELECT", {}, Exception("Datei nicht gefunden"), connection_invalidated=True)
    assert classify_error(error) == "busy"


def test_a_health_page_tells_when_the_database_is_gone(make_study: Callable[..., Made]) -> None:
    made = make_study()
    client = made.app.test_client()
    assert client.get("/health").get_json() == {"status": "ok"}
    if made.store.is_sqlite:
        return
    broken = create_app(made.folder, store=Store("postgresql://nobody@127.0.0.1:1/none"))
    answer = broken.test_client().get("/health")
    assert answer.status_code == 503 and "does not answer" in answer.get_json()["status"]


def test_commands_open_a_database_in_use_without_waiting_for_its_writer(make_local: Callable[..., Made]) -> None:
    made = make_local()
    other = sa.create_engine(made.store.url)
    with other.connect() as writer:
        writer.exec_driver_sql("BEGIN IMMEDIATE")
        Store(str(made.store.url), busy_seconds=0.2).migrate()
        writer.exec_driver_sql("ROLLBACK")
    other.dispose()


@pytest.mark.slow
def test_a_process_that_hangs_in_the_writers_queue_makes_others_busy_but_not_stuck(
    make_local: Callable[..., Made],
) -> None:
    made = make_local()
    hung, other = (Store(str(made.store.url), busy_seconds=0.2) for _ in range(2))
    with hung.write(), pytest.raises(sa.exc.OperationalError, match="locked"), other.write():
        pass
    with other.write() as connection:
        assert connection.exec_driver_sql("SELECT 1").scalar_one() == 1


@pytest.mark.parametrize(
    "url",
    [
        *("nonsense", "mysql://u:secret@h/d", "postgres//h/d", "nosuch+driver://h/d", "postgresql://u:secret@h:port/d"),
        *("postgresql://[::1/d", "sqlite://", "sqlite:///:memory:"),
    ],
)
def test_an_address_that_is_none_is_told_in_a_sentence(url: str) -> None:
    with pytest.raises(RelstudyError, match="DATABASE_URL is not an address of a database") as errors:
        Store(url)
    assert "secret" not in str(errors.value)


def test_a_file_that_is_no_database_is_told_in_a_sentence(tmp_path: Path) -> None:
    folder = write_study(tmp_path / "s")
    (folder / "study.db").write_bytes(b"this is not a database " * 100)
    store = Store.of_study(folder)
    with pytest.raises(RelstudyError, match="cannot be opened"):
        prepare(folder, store)
    with pytest.raises(RelstudyError, match="cannot be opened"):
        store.require_study(folder)


def test_a_database_of_a_newer_version_is_told_in_a_sentence(make_study: Callable[..., Made]) -> None:
    made = make_study()
    with made.store.write() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(RelstudyError, match="made by another version of relstudy"):
        made.store.migrate()


def test_a_full_disk_is_no_health(make_local: Callable[..., Made], monkeypatch: pytest.MonkeyPatch) -> None:
    made = make_local()
    monkeypatch.setattr(made.store, "write", refuse)
    assert made.app.test_client().get("/health").status_code == 503


def refuse() -> None:
    raise sa.exc.OperationalError("INSERT", {}, Exception("database or disk is full"))


@pytest.mark.slow
@pytest.mark.parametrize("address", ["/", "/rate/1", "/consent", "/admin/login"])
def test_while_the_database_is_away_a_page_says_so_and_tries_again(
    make_local: Callable[..., Made], address: str
) -> None:
    made = make_local()
    rater = joined(made.app)
    rater.client.application = create_app(made.folder, store=Store("postgresql://nobody@127.0.0.1:1/none"))
    answer = rater.client.get(address)
    assert answer.status_code == 503 and "database is busy" in answer.text
    assert (answer.headers["Refresh"], answer.headers["Retry-After"]) == ("5", "5")


def test_a_folder_without_file_locks_is_told_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_study(tmp_path / "s")

    def no_locks(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", no_locks)
    with pytest.raises(RelstudyError, match=r"study\.db.*knows no file locks.*DATABASE_URL"):
        prepare(folder)


def test_after_a_wait_in_vain_one_tries_and_the_others_are_told_at_once(
    make_local: Callable[..., Made], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make_local(busy_seconds=0.02, base_queries=1, unique_queries=0, results=2)
    monkeypatch.setattr(errors, "LASTS", 3600.0)

    def write() -> str:
        try:
            with made.store.write() as connection:
                connection.execute(sa.insert(settings).values(key=secrets.token_hex(4), value=""))
        except sa.exc.OperationalError as error:
            return str(error.orig)
        return "written"

    def write_beside_one_who_tries() -> str:
        with ThreadPoolExecutor(1) as other, made.store._writing.spared():
            return other.submit(write).result()

    assert write_beside_one_who_tries() == "written", "there is no trouble"
    with Store(str(made.store.url)).write():
        assert write() == "database is locked"
        assert write_beside_one_who_tries() == "database is busy", "without a wait"
    assert write() == "written"
    assert write_beside_one_who_tries() == "written", "the trouble is over"


def test_what_the_address_says_of_a_connection_has_the_last_word(monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store("postgresql://lab/study?connect_timeout=30&options=-c%20statement_timeout=7")
    given: dict[str, str] = {}

    def asked(*_: object, **named: str) -> None:
        given.update(named)
        raise OSError("no server is needed")

    monkeypatch.setattr("psycopg.Connection.connect", asked)
    with pytest.raises(OSError, match="no server"):
        store.engine.connect()
    assert given["connect_timeout"] == "30" and given["options"].endswith(" -c statement_timeout=7")
    assert int(given["tcp_user_timeout"]) <= 10_000 and int(given["keepalives_idle"]) <= 10


@pytest.mark.postgresql
def test_a_rating_is_on_disk_also_where_the_database_was_made_to_be_quick(cluster: Cluster) -> None:
    store = Store(cluster.new_database())
    with store.write() as connection:
        connection.exec_driver_sql(f'ALTER DATABASE "{store.url.database}" SET synchronous_commit = off')
    store.dispose()
    with store.read_one() as connection:
        shown = [
            connection.exec_driver_sql(f"SHOW {name}").scalar_one() for name in ("synchronous_commit", "lock_timeout")
        ]
        assert shown == ["on", "5s"]
    with store.write() as connection:
        connection.exec_driver_sql(f'ALTER DATABASE "{store.url.database}" RESET synchronous_commit')
    store.dispose()
    cluster.take_back()


def test_a_database_in_a_folder_that_cannot_be_written_says_the_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "study.db").mkdir()
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(RelstudyError, match="its folder cannot be written to, as SQLite needs: copy the folder"):
        Store.of_study(tmp_path).require_study(tmp_path)


def test_the_states_of_places_are_the_numbers_that_older_databases_hold() -> None:
    assert (OPEN, LEASED, DONE, UNDECIDED) == (0, 1, 2, 3)
