"""The program that study.toml names is told of each rater who finishes: signed, once, and again until it takes it."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import pytest
import sqlalchemy as sa

from relstudy.common.errors import RelstudyError
from relstudy.studyapp.assignment.notifications import MOST_ATTEMPTS
from relstudy.studyapp.assignment.versions import read_head
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.tables import raters
from relstudy.studyapp.monitoring.status import study_status
from relstudy.studyapp.web.notifier import Notifier, notifier_of, signature
from relstudy.studyapp.web.server import Serving, run
from tests.studyapp.browse import Browser
from tests.studyapp.studies import TOML, Made, write_study

NOW = 2_000_000_000.0


@dataclass
class Listener:
    """A program that is told; `answers` are its next statuses, then 204."""

    url: str = ""
    answers: list[int] = field(default_factory=list)
    heard: list[dict[str, str]] = field(default_factory=list)


@pytest.fixture
def listener() -> Iterator[Listener]:
    here = Listener()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            stamp = self.headers["X-Relstudy-Timestamp"]
            assert self.headers["X-Relstudy-Signature"] == signature("our secret", stamp, body)
            here.heard.append(json.loads(body))
            self.send_response(here.answers.pop(0) if here.answers else 204)
            self.send_header("Location", "http://[::1")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    here.url = f"http://127.0.0.1:{server.server_address[1]}/finished"
    yield here
    server.shutdown()
    server.server_close()


def with_webhook(url: str) -> str:
    return TOML + f'\n[webhook]\nurl = "{url}"\nsecret_variable = "HOOK"\n'


def finish(made: Made, count: int = 1) -> None:
    """So many raters begin, and are at the end."""
    for _ in range(count):
        Browser(made.app).join()
    with made.store.write() as connection:
        connection.execute(sa.update(raters).values(finished_at=NOW))


def notifier(made: Made, clock: Callable[[], float] = lambda: NOW) -> Notifier:
    study = Study.load(made.folder)
    return Notifier(study.webhook.url, study.id, "our secret", made.folder, clock)


@pytest.mark.slow
def test_each_is_told_of_once_however_many_workers_look(make_study: Callable[..., Made], listener: Listener) -> None:
    made = make_study(with_webhook(listener.url))
    Browser(made.app).join()  # at work, and not to be told of
    assert not notifier(made).notify_next(made.store)
    finish(made, 4)

    def work(one: Notifier) -> None:
        for _ in range(8):
            one.notify_next(made.store)

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(work, [notifier(made) for _ in range(3)]))
    codes = {person.rater_id for person in study_status(made.store, Study.load(made.folder)).people}
    assert len(listener.heard) == 5 and {said["rater"] for said in listener.heard} == codes
    assert listener.heard[0]["event"] == "finished" and listener.heard[0]["study"] == "test"
    assert listener.heard[0]["finished_at"] == "2033-05-18T03:33:20+00:00"


@pytest.mark.slow
def test_what_is_not_taken_is_tried_again_later_and_given_up_at_last(
    make_local: Callable[..., Made], listener: Listener
) -> None:
    now = [NOW]
    made = make_local(with_webhook(listener.url))
    finish(made)
    one = notifier(made, lambda: now[0])
    listener.answers = [500, 302]
    assert one.notify_next(made.store) and not one.notify_next(made.store)  # not at once
    now[0] += 5
    assert one.notify_next(made.store)  # no redirection is followed, nor even read
    now[0] += 20
    assert one.notify_next(made.store) and not one.notify_next(made.store)
    assert len(listener.heard) == 3

    finish(made)
    with made.store.write() as connection:
        connection.execute(sa.update(raters).values(told_at=None, tell_attempts=0, tell_after=0))
    listener.answers = [500] * 100
    for _ in range(40):
        one.notify_next(made.store)
        now[0] += 3600
    untold = study_status(made.store, Study.load(made.folder)).webhook
    assert len(listener.heard) == 3 + 2 * MOST_ATTEMPTS and untold is not None
    assert (untold.waiting, untold.given_up) == (0, 2)


def test_a_thread_of_the_server_tells(
    make_local: Callable[..., Made], listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("relstudy.studyapp.web.notifier.LOOK", 0.01)
    monkeypatch.setenv("HOOK", "our secret")
    made = make_local(with_webhook(listener.url))
    one = notifier_of(Study.load(made.folder), made.folder)
    assert one is not None and "our secret" not in repr(one)
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

    def look(self: Notifier, store: object) -> bool:
        looks.append(1)
        if len(looks) > len(faults):
            one.stop()
            return False
        raise faults[len(looks) - 1]

    monkeypatch.setattr(Notifier, "notify_next", look)
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
        run(Serving(made.folder, "127.0.0.1", 0, 1, 1))
    with made.store.read() as connection:
        assert read_head(connection).version == 1
