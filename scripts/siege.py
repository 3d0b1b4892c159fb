"""A running study attacked while honest raters work: what is lost, and how long they wait.

    python scripts/siege.py                                # both databases, 20 raters, 10 seconds a stage
    python scripts/siege.py --raters 30 --seconds 60 --databases sqlite

Each rater submits pages of four ratings as the study's script does, without think time, and sends a form again until it
is answered, as the script does. The stages, one after the other on the same server and the same raters:

- calm: nothing else happens
- kills: workers are killed (SIGKILL), every eighth time the whole server, which is started anew; PostgreSQL is
  restarted in between (pg_ctl restart -m immediate)
- half-open: sockets that have sent half a request line are held open
- enrolment: cookieless visitors consent and begin, as fast as they can
- passwords: wrong passwords for the researcher's pages, as fast as they can be sent

At the end the export is compared with what was acknowledged, rater by rater and page by page.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.app import free_port, our_folder  # noqa: E402
from benchmarks.load import PAGE, Visitor, hidden  # noqa: E402
from relstudy.studyapp.assignment.synchronisation import prepare  # noqa: E402
from relstudy.studyapp.config.study import Study  # noqa: E402
from relstudy.studyapp.database.store import Store  # noqa: E402
from relstudy.studyapp.monitoring.export import ratings_table  # noqa: E402
from relstudy.studyapp.web.admin.access import set_password  # noqa: E402

SCRIPT = {"Accept": "text/html", PAGE: "next"}
STAGES = ("calm", "kills", "half-open", "enrolment", "passwords")
ATTACKERS = 4  # threads of a flood or a storm


class Patient(threading.Thread):
    """A rater who sends a form until it is answered; `seconds` are from submitting to the next page."""

    def __init__(self, port: int, number: int, end: threading.Event) -> None:
        super().__init__(daemon=True)
        self.visitor = Visitor(port)
        self.choice = 1 + number % 5
        self.end = end
        self.path = ""
        self.acknowledged = 0
        self.seconds: list[float] = []
        self.broken = 0
        self.trouble = ""

    def ask(self, method: str, path: str, body: str | None = None, **more: dict[str, str]) -> tuple[int, str, str]:
        while True:
            try:
                answer = self.visitor.request(method, path, body, **more)  # type: ignore[arg-type]
                if answer[0] not in (500, 503):
                    return answer
            except (OSError, http.client.HTTPException):
                self.visitor.connection.close()
            self.broken += 1
            time.sleep(0.05)

    def begin(self) -> None:
        _, _, html = self.ask("GET", "/consent")
        _, path, _ = self.ask("POST", "/consent", urlencode({"csrf": hidden(html, "csrf"), "agree": "yes"}))
        _, _, html = self.ask("GET", path)
        _, self.path, _ = self.ask("POST", path, urlencode({"csrf": hidden(html, "csrf")}))

    def run(self) -> None:
        try:
            self.rate()
        except Exception as error:
            self.trouble = repr(error)

    def page(self, path: str) -> str:
        """The next rating page, wherever an answer leads; `path` becomes its address."""
        status, to, html = self.ask("GET", path)
        while status in (302, 303):
            path = to
            status, to, html = self.ask("GET", path)
        if status != 200 or not path.startswith("/rate/"):
            raise AssertionError(f"{path} ({status}) is no page to rate; after {self.acknowledged} ratings")
        self.path = path
        return html

    def rate(self) -> None:
        html = self.page(self.path)
        while not self.end.is_set():
            fields = {name: hidden(html, name) for name in ("csrf", "form")} | {"seconds": "0.00"}
            fields |= {f"rating-{n}": str(self.choice) for n in range(1, 5)}
            began = time.perf_counter()
            status, path, html = self.ask("POST", self.path, urlencode(fields), more=SCRIPT)
            if status not in (200, 303):
                raise AssertionError(f"{self.path}: {status}")
            self.acknowledged += 4
            self.path = path
            if status == 303:
                html = self.page(path)
            self.seconds.append(time.perf_counter() - began)


class Server:
    """`relstudy serve` on a port of its own, killed and started again."""

    def __init__(self, folder: Path, url: str, workers: int) -> None:
        self.folder, self.url, self.port = folder, url, free_port()
        self.command = [sys.executable, "-m", "relstudy", "serve", str(folder), "--port", str(self.port), "--quiet"]
        self.command += ["--workers", str(workers)]
        self.start()

    def start(self) -> None:
        log = open(self.folder / "server.log", "ab")  # noqa: SIM115 (the child's)
        environment = {**os.environ, "DATABASE_URL": self.url}
        self.child = subprocess.Popen(self.command, stdout=log, stderr=log, env=environment, start_new_session=True)
        log.close()
        deadline = time.monotonic() + 120
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                if self.child.poll() is not None or time.monotonic() > deadline:
                    raise SystemExit((self.folder / "server.log").read_text(encoding="utf-8")) from None
                time.sleep(0.05)

    def kill_workers(self) -> int:
        listed = subprocess.run(["pgrep", "-P", str(self.child.pid)], capture_output=True, text=True, check=False)
        for worker in listed.stdout.split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(worker), signal.SIGKILL)
        return len(listed.stdout.split())

    def kill_all(self) -> None:
        os.killpg(self.child.pid, signal.SIGKILL)
        self.child.wait()

    def stop(self) -> None:
        self.child.terminate()
        try:
            self.child.wait(30)
        except subprocess.TimeoutExpired:
            self.kill_all()


@dataclass
class Stage:
    """What one stage did, and what honest raters saw of it."""

    name: str
    acknowledged: int = 0
    seconds: list[float] = field(default_factory=list)
    done: Counter[str] = field(default_factory=Counter)

    def row(self) -> list[str]:
        """As the table has it."""
        times = np.array(self.seconds or [np.nan])
        did = ", ".join(f"{count:,} {what}" for what, count in self.done.items())
        p50, p95 = np.percentile(times, [50, 95])
        return [self.name, did or "–", f"{self.acknowledged:,}", f"{p50:.3f}", f"{p95:.3f}"]


@dataclass
class Outcome:
    """What came of a siege: ratings acknowledged, exported, and what the export has otherwise than was acknowledged."""

    stages: list[Stage]
    acknowledged: int
    exported: int
    wrong: int
    double: int
    troubles: list[str]


@dataclass(frozen=True)
class Size:
    """How many raters, how long each stage, and how many queries with 40 pages each."""

    raters: int
    seconds: float
    queries: int = 200


def besiege(folder: Path, url: str, size: Size, restart: Callable[[], None] | None = None) -> Outcome:
    """All stages on one database; `restart` restarts it."""
    store = Store(url)
    text = our_folder(folder, size.queries) / "study.toml"
    text.write_text(text.read_text().replace("joins_per_address = 0", f"joins_per_address = {size.raters + 10}"))
    prepare(folder, store)
    set_password(folder, "a password nobody guesses")
    server, end = Server(folder, url, workers=2), threading.Event()
    people = [Patient(server.port, number, end) for number in range(size.raters)]
    try:
        for person in people:
            person.begin()
        for person in people:
            person.start()
        stages = [_stage(name, server, people, size.seconds, restart) for name in STAGES]
        end.set()
        for person in people:
            person.join(60)
    finally:
        end.set()
        server.stop()
    table = ratings_table(store, Study.load(folder))
    store.dispose()
    honest = table[table["rating"].notna()]
    kept = sorted((int(rows["rating"].iloc[0]), len(rows)) for _, rows in honest.groupby("rater_id"))
    expected = sorted((person.choice, person.acknowledged) for person in people)
    wrong = sum((Counter(expected) - Counter(kept)).values()) + int(
        (honest.groupby("rater_id")["rating"].std() > 0).sum()
    )
    double = int(table[table["surplus"] == 0].duplicated("pair_id").sum())
    troubles = [person.trouble for person in people if person.trouble]
    return Outcome(stages, sum(person.acknowledged for person in people), len(honest), wrong, double, troubles)


def _stage(
    name: str, server: Server, people: list[Patient], seconds: float, restart: Callable[[], None] | None
) -> Stage:
    stage = Stage(name)
    _someone_is_served(people)
    with contextlib.ExitStack() as stack:
        if name == "half-open":
            stage.done["sockets"] = _hold_half_open(server.port, stack)
        before = [(person.acknowledged, len(person.seconds)) for person in people]
        until = time.monotonic() + seconds
        floods = {"enrolment": _enrol, "passwords": _guess}
        threads = []
        if name in floods:
            for _ in range(ATTACKERS):
                threads.append(threading.Thread(target=_flood, args=(floods[name], server.port, until, stage.done)))
                threads[-1].start()
        if name == "kills":
            _kill(server, people, until, restart, stage.done)
        else:
            time.sleep(max(0.0, until - time.monotonic()))
        for thread in threads:
            thread.join()
    stage.acknowledged = sum(person.acknowledged - count for person, (count, _) in zip(people, before, strict=True))
    stage.seconds = [one for person, (_, n) in zip(people, before, strict=True) for one in person.seconds[n:]]
    return stage


def _someone_is_served(people: list[Patient], patience: float = 60.0) -> None:
    """Wait until further pages are answered, as after a kill."""
    before, until = sum(person.acknowledged for person in people), time.monotonic() + patience
    while sum(person.acknowledged for person in people) < before + 4 * len(people) and time.monotonic() < until:
        time.sleep(0.01)


def _kill(
    server: Server, people: list[Patient], until: float, restart: Callable[[], None] | None, done: Counter[str]
) -> None:
    turn = 0
    while time.monotonic() < until:
        turn += 1
        if turn % 8 == 0:
            server.kill_all()
            server.start()
            done["servers killed"] += 1
        elif restart is not None and turn % 4 == 2:
            restart()
            done["database restarts"] += 1
        else:
            done["workers killed"] += server.kill_workers()
        _someone_is_served(people)


def _hold_half_open(port: int, stack: contextlib.ExitStack, count: int = 2200) -> int:
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(max(soft, 8192), hard), hard))
    opened = 0
    for _ in range(count):
        try:
            one = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=5))
            one.sendall(b"GET / HT")
        except OSError:
            break
        opened += 1
    return opened


def _flood(attack: Callable[[Visitor], int], port: int, until: float, done: Counter[str]) -> None:
    while time.monotonic() < until:
        with contextlib.suppress(OSError, http.client.HTTPException, ValueError):
            status = attack(Visitor(port))
            done["refused" if status == 429 else "tried"] += 1


def _enrol(visitor: Visitor) -> int:
    _, _, html = visitor.request("GET", "/consent")
    consent = urlencode({"csrf": hidden(html, "csrf"), "agree": "yes"})
    status, path, _ = visitor.request("POST", "/consent", consent)
    if status != 303:
        return status
    _, _, html = visitor.request("GET", path)
    return visitor.request("POST", path, urlencode({"csrf": hidden(html, "csrf")}))[0]


def _guess(visitor: Visitor) -> int:
    _, _, html = visitor.request("GET", "/admin/login")
    guess = urlencode({"csrf": hidden(html, "csrf"), "password": f"guess {time.perf_counter()}"})
    return visitor.request("POST", "/admin/login", guess)[0]


@contextlib.contextmanager
def databases(names: list[str], folder: Path) -> Iterator[dict[str, tuple[str, Callable[[], None] | None]]]:
    """The address of each database, and what restarts it."""
    addresses: dict[str, tuple[str, Callable[[], None] | None]] = {}
    with contextlib.ExitStack() as stack:
        if "sqlite" in names:
            addresses["SQLite"] = (f"sqlite:///{folder / 'sqlite' / 'study.db'}", None)
        if "postgresql" in names:
            from tests.studyapp.cluster import Cluster, installed

            binaries = installed()
            if binaries is None:
                raise SystemExit("PostgreSQL is not installed; --databases sqlite does without")
            cluster = Cluster(binaries, fsync=True)
            stack.callback(cluster.stop)
            restart = ("pg_ctl", "-D", cluster.data, "-l", f"{cluster.folder}/log", "-w", "-m", "immediate", "restart")
            addresses["PostgreSQL"] = (cluster.new_database(), lambda: cluster.call(*restart))
        yield addresses


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--raters", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=10.0, help="of each stage")
    parser.add_argument("--databases", nargs="+", choices=["sqlite", "postgresql"], default=["sqlite", "postgresql"])
    chosen = parser.parse_args()
    print("| database | stage | what happened | ratings acknowledged | p50, s | p95, s |")
    print("|---|---|---|---|---|---|")
    ends = []
    with tempfile.TemporaryDirectory() as folder, databases(chosen.databases, Path(folder)) as addresses:
        for name, (url, restart) in addresses.items():
            outcome = besiege(Path(folder) / name.lower(), url, Size(chosen.raters, chosen.seconds), restart)
            for stage in outcome.stages:
                print("| " + " | ".join([name, *stage.row()]) + " |", flush=True)
            ends.append((name, outcome))
    for name, outcome in ends:
        print(
            f"\n{name}: {outcome.acknowledged:,} ratings acknowledged, {outcome.exported:,} exported, difference "
            f"{outcome.exported - outcome.acknowledged}, raters with others than they gave {outcome.wrong}, "
            f"over k {outcome.double}"
        )
        for trouble in outcome.troubles:
            print(f"a rater was stopped: {trouble}")


if __name__ == "__main__":
    main()
