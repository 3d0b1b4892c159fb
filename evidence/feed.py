"""The feed of changes while many write, and whether it skips: read by who asks, and sent to who is told.

    python evidence/feed.py                              # both databases, 24 writers, 60 seconds each
    python evidence/feed.py --seconds 10 --databases sqlite

On each database the study is served by two workers, which are killed (SIGKILL) and started again four times meanwhile.
Writers of this process store ratings in transactions of very different lengths, so that they commit in another order
than they began. One reader asks `rs.study(...).changes(after)` again and again; the study's webhook is sent to a
program that refuses every tenth message. At the end what was written is compared with what both have got.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import os
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import sqlalchemy as sa

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import relstudy as rs  # noqa: E402
from evidence.benchmarks.app import our_folder  # noqa: E402
from evidence.siege import Database, Server, databases  # noqa: E402
from relstudy.common.runtime.errors import RelstudyError  # noqa: E402
from relstudy.studyapp.assignment.synchronisation import prepare  # noqa: E402
from relstudy.studyapp.config.accounts import make_token  # noqa: E402
from relstudy.studyapp.database.store import Store  # noqa: E402
from relstudy.studyapp.database.tables import assignments, ratings  # noqa: E402
from relstudy.studyapp.web.app import create_app  # noqa: E402
from tests.studyapp.browse import joined  # noqa: E402
from tests.studyapp.listener import SECRET, Listener, listening  # noqa: E402

WRITERS = 24
KILLS = 4


class Writers:
    """Threads that change a rating of the database's first page, each change with a number of its own."""

    def __init__(self, url: str, seconds: float) -> None:
        self.url, self.end = url, time.monotonic() + seconds
        self.written: list[int] = []
        self.gave_up = 0
        self._threads = [threading.Thread(target=self._write, args=(number,), daemon=True) for number in range(WRITERS)]
        store = Store(url)
        with store.read() as connection:
            first = sa.select(ratings.c.assignment_id, ratings.c.pair_id).join(
                assignments, assignments.c.id == ratings.c.assignment_id
            )
            self._of, self._pair = connection.execute(first.order_by(ratings.c.id)).first()  # type: ignore[misc]
        store.dispose()

    def start(self) -> None:
        """Begin to write."""
        for thread in self._threads:
            thread.start()

    @property
    def at_work(self) -> bool:
        return any(thread.is_alive() for thread in self._threads)

    def _write(self, number: int) -> None:
        chance, store = random.Random(number), Store(self.url, 30.0, kept=1)
        try:
            for count in itertools.count(1):
                if time.monotonic() > self.end:
                    break
                revision = 1_000_000 * (number + 1) + count
                row = {"assignment_id": self._of, "pair_id": self._pair, "revision": revision, "rating": 1.0}
                with store.write() as connection:
                    connection.execute(sa.insert(ratings).values(**row, seconds=1.0, rated_at=time.time(), form=""))
                    time.sleep(0 if store.is_sqlite else chance.random() * 0.05)
                self.written.append(revision)
                if store.is_sqlite:
                    time.sleep(chance.random() * 0.02)
        except sa.exc.SQLAlchemyError:
            self.gave_up += 1
        finally:
            store.dispose()


@dataclass
class Asked:
    """What a program got that asks for what came after its cursor."""

    events: list[dict[str, object]] = field(default_factory=list)
    broken: int = 0

    def ask(self, study: rs.RemoteStudy) -> None:  # type: ignore[name-defined]
        """Ask once; a server that is being killed answers nothing, and the cursor stays."""
        after = str(self.events[-1]["cursor"]) if self.events else "start"
        try:
            self.events += study.changes(after=after).to_dict("records")
        except RelstudyError:
            self.broken += 1


def compared(name: str, way: str, written: list[int], events: list[dict[str, object]], repeated: int) -> list[str]:
    """A row of the table."""
    got = Counter(int(event["revision"]) for event in events if event["event"] == "changed")  # type: ignore[call-overload]
    missed = len(set(written) - set(got))
    twice = sum(count - 1 for count in Counter(event["cursor"] for event in events).values())
    places = [tuple(map(int, str(event["cursor"]).split("-")[1:])) for event in events]
    disorder = sum(later < before for before, later in itertools.pairwise(places))
    return [name, way, *(f"{number:,}" for number in (len(written), len(events), missed, twice, disorder, repeated))]


def measure(name: str, folder: Path, database: Database, seconds: float, listener: Listener) -> list[list[str]]:
    """Both rows of one database."""
    our_folder(folder, 4)
    text = folder / "study.toml"
    hook = f'\n[webhook]\nurl = "{listener.url}"\nsecret_variable = "HOOK"\n'
    text.write_text(text.read_text(encoding="utf-8") + hook, encoding="utf-8")
    store = Store(database.url)
    prepare(folder, store)
    joined(create_app(folder, store=store)).rate()
    store.dispose()
    token = make_token(folder, "reader", "viewer")
    server, asked = Server(folder, database, workers=2), Asked()
    study = rs.study(f"http://127.0.0.1:{server.port}", token)
    writers = Writers(database.url, seconds)
    listener.refuses_every = 10
    writers.start()
    kills = [time.monotonic() + seconds * (turn + 1) / (KILLS + 1) for turn in range(KILLS)]
    while writers.at_work:
        asked.ask(study)
        if kills and time.monotonic() > kills[0]:
            kills.pop(0)
            server.kill_all()
            server.start()
    count, until = -1, time.monotonic() + 120
    while time.monotonic() < until and (len(asked.events) > count or len(listener.events) < len(asked.events)):
        count = len(asked.events)
        asked.ask(study)
        time.sleep(1.0)
    server.stop()
    sent = [event for said in listener.heard for event in said["events"]]
    first = list({event["cursor"]: event for event in sent}.values())
    if writers.gave_up:
        raise SystemExit(f"{name}: {writers.gave_up} writers gave up")
    return [
        compared(name, "asked", writers.written, asked.events, 0),
        compared(name, "webhook", writers.written, first, len(sent) - len(first)),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--databases", nargs="+", choices=["sqlite", "postgresql"], default=["sqlite", "postgresql"])
    chosen = parser.parse_args()
    os.environ["HOOK"] = SECRET
    print("| database | read by | written | events | missed | twice | out of order | sent again |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as place, databases(chosen.databases, Path(place)) as found:
        for name, database in found.items():
            with contextlib.ExitStack() as stack:
                listener = stack.enter_context(listening())
                for row in measure(name, Path(place) / name.lower(), database, chosen.seconds, listener):
                    print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
