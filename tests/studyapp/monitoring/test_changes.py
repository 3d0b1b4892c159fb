"""The feed of changes: each event once and none missed, whoever writes meanwhile."""

from __future__ import annotations

import json
import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa
from click.testing import CliRunner

from relstudy.studyapp.assignment.forgetting import forget
from relstudy.studyapp.assignment.set_aside import set_aside, take_back, withdraw
from relstudy.studyapp.cli import main
from relstudy.studyapp.database.feed import NoCursorError
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.database.tables import assignments, raters, ratings
from relstudy.studyapp.database.tombstones import hash_of
from relstudy.studyapp.monitoring import changes
from relstudy.studyapp.monitoring.changes import changes_after
from tests.studyapp.browse import joined
from tests.studyapp.studies import Made

WRITERS = 24


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
    take_back(made.store, one)
    withdraw(made.store, made.folder, two)
    said, cursor = kinds(made, cursor)
    assert said == [("set_aside", one), ("taken_back", one), ("withdrawn", two)]
    forget(made.store, made.folder, one)
    assert kinds(made, cursor)[0] == [("forgotten", hash_of(one))]
    assert [kind for kind, _ in kinds(made, "start")[0]] == ["withdrawn", "forgotten"]
    joined(made.app).rate()
    assert [kind for kind, _ in kinds(made, start)[0]].count("rated") == 4, "no number is given again"


@pytest.mark.parametrize("text", ["", "0", "now", "x-0-1", "00000000-1", "00000000-1-1"])
def test_what_is_no_cursor_of_the_feed_is_refused(make_local: Callable[..., Made], text: str) -> None:
    with pytest.raises(NoCursorError):
        changes_after(make_local().store, text)


@pytest.mark.slow
def test_none_is_missed_and_none_comes_twice_while_many_write(
    make_study: Callable[..., Made], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Transactions of very different lengths overlap, so that they commit in another order than they began."""
    monkeypatch.setattr(changes, "MOST", 7)
    made = make_study(busy_seconds=30.0)
    joined(made.app).rate()
    with made.store.read() as connection:
        assignment = connection.execute(sa.select(assignments.c.id).order_by(assignments.c.id)).scalars().first()
        pair = connection.execute(sa.select(ratings.c.pair_id)).scalars().first()
    written: list[int] = []
    ended: list[int] = []
    end = time.monotonic() + 5.0

    def write(number: int) -> None:
        chance, store = random.Random(number), Store(made.store.url.render_as_string(hide_password=False), 30.0, kept=1)
        count = 0
        while time.monotonic() < end:
            count += 1
            revision = 1_000_000 * (number + 1) + count
            row = {"assignment_id": assignment, "pair_id": pair, "revision": revision, "rating": 1.0, "seconds": 1.0}
            with store.write() as connection:
                connection.execute(sa.insert(ratings).values(**row, rated_at=time.time(), form=""))
                time.sleep(0 if store.is_sqlite else chance.random() * 0.05)
            written.append(revision)
        store.dispose()
        ended.append(number)

    writers = [threading.Thread(target=write, args=(number,)) for number in range(WRITERS)]
    events: list[dict[str, object]] = []
    cursor = follow(made.store, "start", events)
    events.clear()
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        cursor = follow(made.store, cursor, events)
    follow(made.store, cursor, events)
    assert sorted(ended) == list(range(WRITERS)), "none gave up"
    assert Counter(event["revision"] for event in events) == Counter(written) and len(written) > WRITERS


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
