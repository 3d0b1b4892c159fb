"""When a rating cannot be saved: an honest status, a page that keeps what was typed, and nothing lost."""

from __future__ import annotations

import errno
import logging
import os
import resource
import sqlite3
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from http.cookiejar import CookieJar
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlencode

import pytest
import sqlalchemy as sa

from relstudy.studyapp.assignment.synchronisation import prepare
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database import store
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.monitoring.export import ratings_table
from relstudy.studyapp.web.app import create_app
from tests.studyapp.browse import Browser, Page, joined
from tests.studyapp.studies import TOML, Made, write_study


def saved(made: Made) -> int:
    return len(ratings_table(made.store, Study.load(made.folder)))


def hold(made: Made) -> Callable[[], None]:
    """Another program holds the database; the returned function lets go."""
    other = sa.create_engine(made.store.url, poolclass=sa.NullPool)
    connection = other.connect()
    if made.store.is_sqlite:
        connection.connection.isolation_level = None  # type: ignore[attr-defined]
        connection.exec_driver_sql("BEGIN EXCLUSIVE")
    else:
        connection.exec_driver_sql("LOCK TABLE ratings IN ACCESS EXCLUSIVE MODE")

    def let_go() -> None:
        if made.store.is_sqlite:
            connection.exec_driver_sql("ROLLBACK")
        connection.close()
        other.dispose()

    return let_go


@pytest.mark.slow
def test_a_locked_database_is_answered_503_with_what_was_typed_and_trying_again_saves_it(
    make_study: Callable[..., Made],
) -> None:
    made = make_study(busy_seconds=0.3)
    browser = joined(made.app)
    let_go = hold(made)
    browser.rate(lambda name, number: str(number))
    assert browser.status == 503 and browser.response is not None
    assert browser.response.headers["Retry-After"] == "5"
    page = browser.page
    assert "Not saved yet" in page.text and "database is busy" in page.text
    form = page.form("/rate/1")
    assert [form.fields[f"rating-{number}"] for number in range(1, 5)] == ["1", "2", "3", "4"]
    let_go()
    assert saved(made) == 0
    browser.send(form)
    assert browser.status == 200 and browser.address == "/rate/2"
    table = ratings_table(made.store, Study.load(made.folder))
    assert table["rating"].tolist() == [1, 2, 3, 4]


@pytest.mark.slow
def test_a_server_with_no_connection_left_is_busy_too(
    make_local: Callable[..., Made], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make_local()
    browser = joined(made.app)

    def none_left(store: Store) -> None:
        raise sa.exc.TimeoutError("QueuePool limit of size 10 overflow 10 reached")

    with monkeypatch.context() as change:
        change.setattr(Store, "write", none_left)
        browser.rate(lambda name, number: str(number))
        assert browser.status == 503 and "Not saved yet" in browser.page.text
        form = browser.page.form("/rate/1")
    browser.send(form)
    assert browser.address == "/rate/2" and saved(made) == 4


@pytest.mark.slow
def test_a_full_disk_is_answered_507_with_what_was_typed_and_nothing_acknowledged_is_lost(
    make_study: Callable[..., Made],
) -> None:
    made = make_study(base_queries=60, unique_queries=1, results=8)
    browser = joined(made.app)
    if made.store.is_sqlite:
        made.store.dispose()
        with made.store.read() as connection:
            pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()

        def limit(connection: sqlite3.Connection, _record: object) -> None:
            connection.execute(f"PRAGMA max_page_count={pages}")

        made.store.dispose()
        sa.event.listen(made.store.engine, "connect", limit)
    else:
        with made.store.write() as connection:
            connection.exec_driver_sql(
                "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
                "IF (SELECT count(*) FROM ratings) > 40 THEN "
                "RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END IF; RETURN NEW; END $$"
            )
            connection.exec_driver_sql(
                "CREATE TRIGGER full_disk BEFORE INSERT ON ratings FOR EACH ROW EXECUTE FUNCTION full_disk()"
            )
    acknowledged = 0
    for _ in range(120):
        browser.rate()
        if browser.status != 200:
            break
        acknowledged += 4
    assert browser.status == 507, "the disk filled up"
    assert "disk is full" in browser.page.text
    form = browser.page.form()
    assert form.fields["rating-1"] == "3"
    assert saved(made) == acknowledged > 0
    if made.store.is_sqlite:
        sa.event.remove(made.store.engine, "connect", limit)
        made.store.dispose()
    else:
        with made.store.write() as connection:
            connection.exec_driver_sql("DROP TRIGGER full_disk ON ratings")
    browser.send(form)
    assert browser.status == 200
    assert saved(made) == acknowledged + 4


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "status"), [(errno.ENOSPC, 507), (errno.EMFILE, 503), (errno.ENOLCK, 503), (errno.EACCES, 500)]
)
def test_a_writers_queue_that_cannot_be_joined_is_told_and_keeps_what_was_typed(
    make_local: Callable[..., Made], monkeypatch: pytest.MonkeyPatch, number: int, status: int
) -> None:
    made = make_local()
    browser = joined(made.app)
    sent = browser.filled("4")
    made.store.dispose()
    app = create_app(made.folder)  # a worker that has not written yet

    def fails(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(store, "open", fails, raising=False)
    if number == errno.ENOLCK:
        monkeypatch.setattr(store, "open", open)
        monkeypatch.setattr(store.fcntl, "flock", fails)
    browser.client.application = app
    browser.post("/rate/1", sent)
    assert browser.status == status and browser.page.form("/rate/1").fields["rating-1"] == "4"
    monkeypatch.undo()
    browser.send(browser.page.form("/rate/1"))
    assert (browser.status, made.rows()) == (200, 4)
    app.extensions["relstudy"].store.dispose()


@pytest.mark.slow
def test_a_file_that_may_not_grow_refuses_and_the_server_goes_on_when_it_may(tmp_path: Path) -> None:
    """The real server under a limit on file size, as a quota sets it."""
    folder = write_study(tmp_path / "s", base_queries=60, results=8)
    prepare(folder)
    limit = (folder / "study.db").stat().st_size + 120_000

    def start(limited: bool) -> tuple[subprocess.Popen[str], str]:
        child = subprocess.Popen(
            [sys.executable, "-m", "relstudy", "serve", str(folder), "--port", "0", "--workers", "1", "--quiet"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            preexec_fn=(lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))) if limited else None,
        )
        assert child.stdout is not None
        return child, "http://" + child.stdout.readline().split()[-1]

    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))

    def send(address: str, fields: dict[str, str] | None = None) -> tuple[int, str, Page]:
        data = None if fields is None else urlencode(fields).encode()
        try:
            with opener.open(address, data, timeout=30) as answer:
                return answer.status, answer.url, Page(answer.read().decode())
        except HTTPError as error:
            return error.code, address, Page(error.read().decode())

    def answers(page: Page) -> dict[str, str]:
        form = page.form()
        return {**form.fields, **dict.fromkeys(form.choices, "4")}

    child, base = start(limited=True)
    try:
        _, _, page = send(base + "/")
        _, _, page = send(base + "/consent", {**page.form().fields, "agree": "yes"})
        _, _, page = send(base + "/instructions", page.form().fields)
        acknowledged = 0
        for _ in range(130):
            status, _, page = send(base + page.form().action, answers(page))
            if status != 200:
                break
            acknowledged += 4
        assert status == 507, status
        kept = page.form()
        assert "disk is full" in page.text and kept.fields["rating-1"] == "4"
    finally:
        child.terminate()
        child.wait(60)
        assert child.stdout is not None
        child.stdout.close()
    store = Store.of_study(folder)
    study = Study.load(folder)
    assert len(ratings_table(store, study)) == acknowledged > 0
    child, base = start(limited=False)
    try:
        status, _, page = send(base + kept.action, kept.fields)
        assert status == 200 and "Page" in page.text
    finally:
        child.terminate()
        child.wait(60)
        assert child.stdout is not None
        child.stdout.close()
    assert len(ratings_table(store, study)) == acknowledged + 4
    store.dispose()


@pytest.mark.slow
def test_a_dropped_session_is_answered_401_keeps_what_was_typed_and_goes_on_after_coming_in_again(
    make_local: Callable[..., Made],
) -> None:
    """The complaint: minutes of work lost against a dropped session that was answered as success."""
    from relstudy.studyapp.assignment.invitations import invite

    made = make_local()
    path = invite(made.store, Study.load(made.folder), 1)[0].path
    browser = joined(made.app, path)
    del browser.cookie
    browser.rate(lambda name, number: str(number))
    assert browser.status == 401
    assert "Your session has ended" in browser.page.text and saved(made) == 0
    form = browser.page.form("/rate/1")
    browser.get(path)
    browser.send(form)
    assert browser.status == 200 and browser.address == "/rate/2"
    assert ratings_table(made.store, Study.load(made.folder))["rating"].tolist() == [1, 2, 3, 4]


@pytest.mark.slow
@pytest.mark.parametrize("wrong", ["6", "0", "3.5", "", "three", "١", "nan", "1e0", " 3"])
def test_a_value_off_the_scale_is_answered_422_and_the_page_keeps_the_rest(
    make_local: Callable[..., Made], wrong: str
) -> None:
    made = make_local()
    browser = joined(made.app)
    browser.rate(lambda name, number: wrong if number == 2 else "5")
    assert browser.status == 422 and browser.address == "/rate/1"
    assert "Please rate every result" in browser.page.text or "not a value of the scale" in browser.page.text
    chosen = browser.page.form("/rate/1").fields
    assert chosen["rating-1"] == chosen["rating-3"] == "5" and "rating-2" not in chosen
    assert saved(made) == 0


@pytest.mark.slow
def test_an_answer_after_the_end_is_refused_409_and_the_code_is_still_there(make_local: Callable[..., Made]) -> None:
    made = make_local()
    browser = joined(made.app)
    first = {**browser.page.form("/rate/1").fields, **{f"rating-{n}": "2" for n in range(1, 5)}}
    browser.rate_all()
    assert browser.address == "/thanks"
    browser.post("/rate/1", first)
    assert browser.status == 409 and "can no longer be changed" in browser.page.text
    assert not [form for form in browser.page.forms if form.action == "/rate/1"], "to send it again would be no use"
    browser.post("/rate/1", {**first, **{f"rating-{n}": "3" for n in range(1, 5)}})
    assert browser.status == 200, "the same answer again does no harm"
    browser.get("/rate/1")
    assert browser.address == "/thanks"
    assert (ratings_table(made.store, Study.load(made.folder))["rating"] == 3).all()


@pytest.mark.slow
def test_undecided_is_empty_in_the_export_and_never_a_number(make_study: Callable[..., Made], tmp_path: Path) -> None:
    """The complaint: "can't rate this" lost, or exported as a number."""
    from relstudy.common.tables.formats.table_files import write_table

    made = make_study()
    browser = joined(made.app)
    browser.rate(lambda name, number: "undecided" if number < 3 else "1")
    table = ratings_table(made.store, Study.load(made.folder))
    assert table["rating"].isna().tolist() == [True, True, False, False]
    write_table(table, tmp_path / "ratings.csv")
    lines = (tmp_path / "ratings.csv").read_text().splitlines()
    column = lines[0].split(",").index("rating")
    assert [line.split(",")[column] for line in lines[1:]] == ["", "", "1.0", "1.0"]


@pytest.mark.slow
def test_a_saved_page_is_never_called_unsaved_when_it_is_sent_twice_at_once(make_study: Callable[..., Made]) -> None:
    """The complaint: "error saving" shown although it was saved, and then no way on."""
    from concurrent.futures import ThreadPoolExecutor

    made = make_study()
    browser = joined(made.app)
    fields = {**browser.page.form("/rate/1").fields, **{f"rating-{n}": "2" for n in range(1, 5)}}

    def send(_: int) -> tuple[int, str]:
        tab = Browser(made.app)
        tab.cookie = browser.cookie
        answer = tab.client.post("/rate/1", data=fields)
        return answer.status_code, answer.headers.get("Location", "")

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(send, range(8)))
    assert answers == [(303, "/rate/2")] * 8
    assert len(ratings_table(made.store, Study.load(made.folder), history=True)) == 4


@pytest.mark.slow
def test_a_change_before_the_end_is_kept_as_history_and_the_last_one_counts(make_study: Callable[..., Made]) -> None:
    made = make_study()
    study = Study.load(made.folder)
    browser = joined(made.app)
    browser.rate(lambda name, number: "1")
    browser.get("/rate/1")
    assert [browser.page.form("/rate/1").fields[f"rating-{n}"] for n in range(1, 5)] == ["1"] * 4
    browser.rate(lambda name, number: "5" if number == 1 else "1")
    assert browser.address == "/rate/2", "back to where the rater was"
    table = ratings_table(made.store, study)
    assert sorted(table["rating"]) == [1, 1, 1, 5] and sorted(table["revisions"]) == [1, 1, 1, 2]
    history = ratings_table(made.store, study, history=True)
    assert sorted(history["revision"]) == [1, 1, 1, 1, 2]


@pytest.mark.slow
def test_many_raters_at_once_never_meet_a_locked_database(make_study: Callable[..., Made]) -> None:
    """The complaint: "database is locked" under a handful of users."""
    from concurrent.futures import ThreadPoolExecutor

    made = make_study(base_queries=3, unique_queries=20)

    def take_part(_: int) -> int:
        browser = joined(made.app)
        return browser.rate_all()

    with ThreadPoolExecutor(12) as pool:
        counts = list(pool.map(take_part, range(12)))
    table = ratings_table(made.store, Study.load(made.folder))
    assert sum(counts) * 4 == len(table)
    unique = table[table["block"] == "unique"]
    assert len(unique) == 80 and not unique.duplicated("pair_id").any()


@pytest.mark.slow
def test_what_a_broken_database_was_asked_is_in_the_log_without_who_or_what_it_was_about(
    make_study: Callable[..., Made], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    made = make_study(TOML.replace('"personal", "open"]', '"crowd"]\nid_parameter = "PID"'))
    browser = Browser(made.app)
    browser.get("/join?PID=someone-known")
    with made.store.write() as connection:
        connection.exec_driver_sql("ALTER TABLE raters RENAME TO gone")
    monkeypatch.setattr(logging.getLogger("relstudy"), "propagate", True)
    browser.send(browser.page.form(), agree="yes")
    assert browser.status == 500
    assert "FROM raters" in caplog.text and "someone-known" not in caplog.text
