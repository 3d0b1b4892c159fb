"""The program that study.toml names is sent every change: signed, in order, and again until it takes it."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sqlalchemy as sa

from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.assignment.erasure import forget
from relstudy.studyapp.assignment.versions import read_head
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.database.tables import raters
from relstudy.studyapp.database.tombstones import hash_of
from relstudy.studyapp.monitoring import deliveries
from relstudy.studyapp.monitoring.changes import changes_after
from relstudy.studyapp.monitoring.deliveries import CLAIM, LONGEST_PAUSE, claim_next
from relstudy.studyapp.monitoring.status import study_status
from relstudy.studyapp.web.notifier import Notifier, notifier_of
from relstudy.studyapp.web.options import ServerOptions
from relstudy.studyapp.web.server import run
from tests.commands import relstudy, succeeds
from tests.studyapp.browse import Browser, joined
from tests.studyapp.listener import SECRET, Listener
from tests.studyapp.studies import TOML, Made, write_study

NOW = 2_000_000_000.0


def with_webhook(url: str, further: str = "") -> str:
    return TOML + f'\n[webhook]\nurl = "{url}"\nsecret_variable = "HOOK"\n{further}'


def finish(made: Made, count: int = 1) -> None:
    """So many raters begin, and are at the end."""
    for _ in range(count):
        Browser(made.app).join()
    with made.store.write() as connection:
        connection.execute(sa.update(raters).values(finished_at=NOW))


def notifier(made: Made, clock: Callable[[], float] = lambda: NOW) -> Notifier:
    study = Study.load(made.folder)
    return Notifier(study.webhook, study.id, SECRET, made.folder, clock)


def fed(made: Made) -> list[str]:
    """The cursors of all events of the feed."""
    return [event["cursor"] for event in changes_after(made.store, "start").events]


@pytest.mark.slow
def test_each_event_is_sent_once_and_in_order_however_many_workers_look(
    make_study: Callable[..., Made], listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deliveries, "MOST_EVENTS", 3)
    made = make_study(with_webhook(listener.url))
    assert not notifier(made).deliver_next(made.store), "nothing has happened"
    joined(made.app).rate_pages(3, lambda number: "2")
    finish(made, 4)

    def work(one: Notifier) -> None:
        until = time.monotonic() + 30  # the feed waits for what other programs write to the same server
        while sum(len(said["events"]) for said in listener.heard) < 12 + 5 and time.monotonic() < until:
            one.deliver_next(made.store)
        for _ in range(3):
            one.deliver_next(made.store)

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(work, [notifier(made) for _ in range(3)]))
    sent = [event for said in listener.heard for event in said["events"]]
    assert [event["cursor"] for event in sent] == fed(made) and len(sent) == 12 + 5
    assert listener.heard[0]["study"] == "test" and len(listener.heard[0]["events"]) == 3
    assert all(said["cursor"] == said["events"][-1]["cursor"] for said in listener.heard)
    assert sent[0]["event"] == "rated" and sent[0]["rating"] == 2.0
    last = sent[-1]
    codes = {person.rater_id for person in study_status(made.store, Study.load(made.folder)).people}
    assert last["event"] == "finished" and last["rater_id"] in codes
    assert last["finished_at"] == "2033-05-18T03:33:20+00:00"


@pytest.mark.slow
def test_what_is_not_taken_comes_again_after_longer_pauses_and_nothing_before_it(
    make_study: Callable[..., Made], listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deliveries, "MOST_EVENTS", 1)
    now = [NOW]
    made = make_study(with_webhook(listener.url))
    joined(made.app).rate()
    one = notifier(made, lambda: now[0])
    listener.answers = [500, 302]
    assert one.deliver_next(made.store) and not one.deliver_next(made.store)  # not at once
    now[0] += 5
    assert one.deliver_next(made.store)  # no redirection is followed, nor even read
    assert not one.deliver_next(made.store)
    undelivered = study_status(made.store, Study.load(made.folder)).webhook
    assert undelivered is not None and (undelivered.waiting, undelivered.refused) == (4, 2)
    assert undelivered.not_before == now[0] + 20
    said = relstudy("admin", "status", made.folder)
    if made.store.is_sqlite:  # which the command finds without DATABASE_URL
        assert "has still to take 4 events, after 2 attempts; the next is at 2033-05-18" in said.output
    now[0] += 20
    assert one.deliver_next(made.store)
    assert [said["cursor"] for said in listener.heard] == [fed(made)[0]] * 3
    listener.answers = [503] * 30
    tried = []
    while listener.answers:
        if one.deliver_next(made.store):
            tried.append(now[0])
        now[0] += 600
    assert max(b - a for a, b in itertools.pairwise(tried)) == LONGEST_PAUSE, "once an hour at last"
    now[0] += LONGEST_PAUSE
    while one.deliver_next(made.store):
        pass
    assert listener.events == fed(made), "a program that was away for a day has missed nothing"


@pytest.mark.slow
def test_what_a_worker_had_claimed_and_never_finished_is_sent_by_another(
    make_study: Callable[..., Made], listener: Listener
) -> None:
    now = [NOW]
    made = make_study(with_webhook(listener.url))
    joined(made.app).rate()
    one = notifier(made, lambda: now[0])
    assert claim_next(made.store, one.webhook, now[0]) is not None  # and the worker is killed
    joined(made.app).rate()
    assert not one.deliver_next(made.store)
    now[0] += CLAIM
    while one.deliver_next(made.store):
        pass
    assert listener.events == fed(made) and len(listener.events) == 8


@pytest.mark.slow
def test_another_receiver_and_a_backup_that_is_put_back_begin_anew(
    make_study: Callable[..., Made], listener: Listener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make_study(with_webhook(listener.url))
    monkeypatch.setenv("DATABASE_URL", made.store.url.render_as_string(hide_password=False))
    joined(made.app).rate()
    finish(made)
    assert notifier(made).deliver_next(made.store) and not notifier(made).deliver_next(made.store)
    (made.folder / "study.toml").write_text(with_webhook(listener.url, 'events = ["finished"]\n'), encoding="utf-8")
    only = notifier(made)
    assert only.deliver_next(made.store) and not only.deliver_next(made.store)
    assert [event["event"] for event in listener.heard[-1]["events"]] == ["finished"] * 2
    joined(made.app).rate()
    assert not only.deliver_next(made.store)
    (made.folder / "study.toml").write_text(with_webhook(listener.url), encoding="utf-8")
    assert notifier(made).deliver_next(made.store) and len(listener.heard[-1]["events"]) == len(fed(made)) == 10
    succeeds("backup", made.folder, "-o", tmp_path / "b.db")
    made.store.dispose()
    succeeds("restore", made.folder, tmp_path / "b.db", "--yes")
    assert notifier(made).deliver_next(made.store)
    assert [event["cursor"] for event in listener.heard[-1]["events"]] == fed(made)


def test_who_was_forgotten_is_sent_as_a_hash(make_local: Callable[..., Made], listener: Listener) -> None:
    made = make_local(with_webhook(listener.url))
    joined(made.app).rate()
    code = study_status(made.store, Study.load(made.folder)).people[0].rater_id
    forget(made.store, made.folder, code)
    assert notifier(made).deliver_next(made.store)
    (event,) = listener.heard[0]["events"]
    assert (event["event"], event["rater_sha256"]) == ("forgotten", hash_of(code)) and code not in str(event)


def test_a_thread_of_the_server_tells(
    make_local: Callable[..., Made], listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("relstudy.studyapp.web.notifier.LOOK", 0.01)
    monkeypatch.setenv("HOOK", SECRET)
    made = make_local(with_webhook(listener.url))
    one = notifier_of(Study.load(made.folder), made.folder)
    assert one is not None and SECRET not in repr(one)
    finish(made)
    one.start()
    _until(lambda: bool(listener.heard))
    one.stop()
    assert len(listener.heard) == 1


def test_the_thread_that_tells_goes_on_after_a_fault_of_the_database_or_its_folder(
    make_local: Callable[..., Made], listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("relstudy.studyapp.web.notifier.LOOK", 0.0)
    one = notifier(make_local(with_webhook(listener.url)))
    faults = [RelstudyError("no file locks"), OSError("too many open files"), sa.exc.TimeoutError("no connection")]
    looks: list[int] = []

    def look(self: Notifier, store: Store) -> bool:
        looks.append(1)
        if len(looks) > len(faults):
            one.stop()
            return False
        raise faults[len(looks) - 1]

    monkeypatch.setattr(Notifier, "deliver_next", look)
    one._look()
    assert len(looks) == len(faults) + 1


def _until(holds: Callable[[], bool], seconds: float = 30.0) -> None:
    waiting = threading.Event()
    for _ in range(round(seconds / 0.02)):
        if holds():
            return
        waiting.wait(0.02)
    raise TimeoutError


def test_a_secret_that_is_not_there_and_an_address_over_plain_http_are_refused(tmp_path, monkeypatch) -> None:
    monkeypatch.delenv("HOOK", raising=False)
    folder = write_study(tmp_path / "study", with_webhook("https://lab.example.org/finished"))
    with pytest.raises(RelstudyError, match=r"HOOK, which study.toml names for the webhook's secret, is empty"):
        notifier_of(Study.load(folder), folder)
    for url in ("http://lab.example.org/f", "https://[::1/f", "https://lab.example.org:99999/f", "https://a.org/f ü"):
        (folder / "study.toml").write_text(with_webhook(url), encoding="utf-8")
        with pytest.raises(
            RelstudyError, match=r"an address with https:// is allowed, or with http:// on this machine"
        ):
            Study.load(folder)
    (folder / "study.toml").write_text(with_webhook("https://a.org/f", 'events = ["rating"]\n'), encoding="utf-8")
    with pytest.raises(RelstudyError, match=r"webhook\.events: 'rating' is not allowed; any of rated, changed, "):
        Study.load(folder)
    key = with_webhook("https://lab.example.org/f").replace('"HOOK"', '"sk-very-secret"')
    (folder / "study.toml").write_text(key, encoding="utf-8")
    with pytest.raises(RelstudyError, match="never the secret itself") as raised:
        Study.load(folder)
    assert "sk-very-secret" not in str(raised.value)


def test_a_server_without_the_secret_is_refused_before_it_changes_what_is_served(
    make_local: Callable[..., Made], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HOOK", raising=False)
    made = make_local()
    (made.folder / "study.toml").write_text(with_webhook("https://lab.example.org/f"), encoding="utf-8")
    with pytest.raises(RelstudyError, match="HOOK"):
        run(made.folder, ServerOptions(port=0, workers=1, threads=1))
    with made.store.read() as connection:
        assert read_head(connection).version == 1
