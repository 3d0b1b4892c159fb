"""The feed of changes: each event once and none missed, whoever writes meanwhile."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa
from click.testing import CliRunner

from evidence.feed import WRITERS, Writers, measure
from evidence.siege import databases
from relstudy.studyapp.assignment.draw_state import clear_draw
from relstudy.studyapp.assignment.erasure import forget
from relstudy.studyapp.assignment.exclusion import set_aside, take_back, withdraw
from relstudy.studyapp.assignment.synchronisation import prepare
from relstudy.studyapp.cli import main
from relstudy.studyapp.config.study_parts import WebhookSettings
from relstudy.studyapp.database.feed import NoCursorError
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.database.tables import raters
from relstudy.studyapp.database.tombstones import hash_of
from relstudy.studyapp.monitoring import changes, deliveries
from relstudy.studyapp.monitoring.changes import changes_after
from relstudy.studyapp.web.notifier import Notifier
from tests.studyapp.browse import joined
from tests.studyapp.listener import SECRET, Listener
from tests.studyapp.studies import Made


def follow(store: Store, cursor: str, events: list[dict[str, object]]) -> str:
    while True:
        read = changes_after(store, cursor)
        events += read.events
        cursor = read.cursor
        if not read.more:
            return cursor


def kinds(made: Made, cursor: str) -> tuple[list[tuple[str, str]], str]:
    events: list[dict[str, object]] = []
    cursor = follow(made.store, cursor, events)
    return [(str(event["event"]), str(event.get("rater_id") or event["rater_sha256"])) for event in events], cursor


def codes(made: Made) -> list[str]:
    with made.store.read() as connection:
        return list(connection.execute(sa.select(raters.c.rater_id).order_by(raters.c.id)).scalars())


def test_each_change_is_an_event_and_nothing_is_left_of_who_was_forgotten(make_study: Callable[..., Made]) -> None:
    made = make_study()
    _, start = kinds(made, "start")
    first = joined(made.app)
    first.rate()
    joined(made.app)
    one, two = codes(made)
    said, cursor = kinds(made, start)
    assert said == [("rated", one)] * 4
    first.get("/rate/1")
    first.send(first.page.form(), **{"rating-1": "5"})
    said, cursor = kinds(made, cursor)
    assert said == [("changed", one)]
    set_aside(made.store, one)
    take_back(made.store, made.folder, one)
    withdraw(made.store, made.folder, two)
    said, cursor = kinds(made, cursor)
    assert said == [("set_aside", one), ("taken_back", one), ("withdrawn", two)]
    forget(made.store, made.folder, one)
    assert kinds(made, cursor)[0] == [("forgotten", hash_of(one))]
    assert [kind for kind, _ in kinds(made, "start")[0]] == ["withdrawn", "forgotten"]
    joined(made.app).rate()
    assert [kind for kind, _ in kinds(made, start)[0]].count("rated") == 4, "no number is given again"


def test_a_study_that_is_drawn_anew_has_no_events_of_what_was_rated_before(make_study: Callable[..., Made]) -> None:
    made = make_study()
    joined(made.app).rate_all()
    (one,) = codes(made)
    set_aside(made.store, one)
    said, cursor = kinds(made, "start")
    assert [kind for kind, _ in said] == ["rated"] * 16 + ["finished", "set_aside"]
    events = changes_after(made.store, "start").events
    assert [event["event"] for event in events if "finished_at" in event] == ["finished"]
    with made.store.write() as connection:
        clear_draw(connection)
    assert kinds(made, "start")[0] == [("set_aside", one)]
    prepare(made.folder, made.store)
    joined(made.app).rate()
    assert [kind for kind, _ in kinds(made, "start")[0]] == ["set_aside"] + ["rated"] * 4
    assert [kind for kind, _ in kinds(made, cursor)[0]] == ["rated"] * 4


@pytest.mark.parametrize("text", ["", "0", "now", "x-0-1", "00000000-1", "00000000-1-1"])
def test_what_is_no_cursor_of_the_feed_is_refused(make_local: Callable[..., Made], text: str) -> None:
    with pytest.raises(NoCursorError):
        changes_after(make_local().store, text)


@pytest.mark.slow
def test_none_is_missed_and_none_comes_twice_while_many_write(
    make_study: Callable[..., Made], listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Transactions of very different lengths overlap, so that they commit in another order than they began.

    Somebody polls, and two workers send to a program that refuses every third message; evidence/feed.py does it longer.
    """
    monkeypatch.setattr(changes, "MOST", 7)
    for name, value in (("MOST_EVENTS", 20), ("FIRST_PAUSE", 0.001), ("LONGEST_PAUSE", 0.01)):
        monkeypatch.setattr(deliveries, name, value)
    monkeypatch.setattr("relstudy.studyapp.web.notifier.LOOK", 0.005)
    made = make_study(busy_seconds=30.0)
    url = made.store.url.render_as_string(hide_password=False)
    monkeypatch.setenv("DATABASE_URL", url)
    joined(made.app).rate()
    feed = Writers(url, seconds=4.0)
    listener.refuses_every = 3
    webhook = WebhookSettings(listener.url, "HOOK")
    senders = [Notifier(webhook, "test", SECRET, made.folder) for _ in range(2)]
    events: list[dict[str, object]] = []
    cursor = follow(made.store, "start", events)
    for part in (*senders, feed):
        part.start()
    while feed.at_work:
        cursor = follow(made.store, cursor, events)
    follow(made.store, cursor, events)
    cursors = [event["cursor"] for event in events]
    assert feed.gave_up == 0 and len(feed.written) > WRITERS
    assert Counter(event["revision"] for event in events if event["event"] == "changed") == Counter(feed.written)
    until = time.monotonic() + 60
    while len(listener.events) < len(cursors) and time.monotonic() < until:
        time.sleep(0.02)
    for sender in senders:
        sender.stop()
    assert listener.events == cursors, "the program has them in the same order, and none is left out"
    assert len(listener.heard) > len(cursors) / 20, "some came more than once"


@pytest.mark.slow
@pytest.mark.server
@pytest.mark.parametrize("name", ["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
def test_the_long_run_in_small_misses_nothing_while_servers_are_killed(
    tmp_path: Path, listener: Listener, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("HOOK", SECRET)
    with databases([name], tmp_path) as found:
        (database,) = found.values()
        rows = measure(name, tmp_path / name, database, 1.0, listener)
    assert [row[1] for row in rows] == ["asked", "webhook"]
    for _, _, written, events, *faults, _ in rows:
        assert int(written.replace(",", "")) >= WRITERS and int(events.replace(",", "")) > int(written.replace(",", ""))
        assert faults == ["0", "0", "0"], "missed, twice, out of order"


@pytest.mark.slow
def test_a_backup_keeps_the_events_and_one_that_is_put_back_ends_the_feed(
    make_study: Callable[..., Made], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make_study()
    monkeypatch.setenv("DATABASE_URL", made.store.url.render_as_string(hide_password=False))
    joined(made.app).rate()
    before, cursor = kinds(made, "start")
    run = CliRunner().invoke
    assert run(main, ["backup", str(made.folder), "-o", str(tmp_path / "safe.db")]).exit_code == 0
    made.store.dispose()
    done = run(main, ["restore", str(made.folder), str(tmp_path / "safe.db"), "--yes", "--json"])
    assert done.exit_code == 0 and json.loads(done.stdout)["ratings"] == 4
    with pytest.raises(NoCursorError, match="a feed that has ended"):
        changes_after(made.store, cursor)
    assert kinds(made, "start")[0] == before
