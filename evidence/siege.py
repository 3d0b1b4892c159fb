"""A running study attacked while honest raters work: what is lost, and how long they wait.

    python evidence/siege.py                                # both databases, 20 raters, 10 seconds a stage
    python evidence/siege.py --raters 30 --seconds 60 --databases sqlite

Each rater submits pages of four ratings as the study's script does, without think time, and sends a form again until it
is answered, as the script does. The stages, one after the other on the same server and the same raters:

- calm: nothing else happens
- kills: workers are killed (SIGKILL), every eighth time the whole server, which is started again; PostgreSQL is
  restarted in between (pg_ctl restart -m immediate)
- half-open: sockets that have sent half a request line are held open
- enrolment: cookieless visitors consent and begin, as fast as they can
- passwords: wrong passwords for the researcher's pages, as fast as they can be sent
- disk: in turns the disk of the database is full (ENOSPC), cannot be written or synced (EIO), and tears a write in two
  as the process dies (evidence/disk_faults.c, compiled here and loaded before libc); PostgreSQL is started again where
  it has given up

At the end the export is compared with what was acknowledged, rater by rater, and one table says what was lost.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import cycle, zip_longest
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from evidence.benchmarks.app import free_port, our_folder  # noqa: E402
from evidence.benchmarks.load import PAGE, Visitor, hidden  # noqa: E402
from relstudy.studyapp.assignment.synchronisation import prepare  # noqa: E402
from relstudy.studyapp.config.study import Study  # noqa: E402
from relstudy.studyapp.database.store import Store  # noqa: E402
from relstudy.studyapp.monitoring.export import ratings_table  # noqa: E402
from relstudy.studyapp.web.admin.access import set_password  # noqa: E402

SCRIPT = {"Accept": "text/html", PAGE: "next"}
STAGES = ("calm", "kills", "half-open", "enrolment", "passwords", "disk")
FAULTS = {"full": 1, "writes failed": 2, "syncs failed": 3, "writes torn": 4}  # as disk_faults.c numbers them
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
                if answer[0] not in (500, 503, 507):
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
            raise AssertionError(f"{path} ({status}) is not a page to rate; after {self.acknowledged} ratings")
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


class Disk:
    """A disk that fails when it is told to, for the processes that have its `environment`.

    Parameters
    ----------
    folder : where the library and the file that steers it are put
    under : what the path of each file that fails begins with
    """

    def __init__(self, folder: Path, under: str) -> None:
        compiler = shutil.which("cc") or shutil.which("gcc")
        if compiler is None:
            raise SystemExit("disk faults need a C compiler (cc)")
        self.library, self.control = folder / "disk_faults.so", folder / "disk_faults"
        source = str(ROOT / "evidence" / "disk_faults.c")
        subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", str(self.library), source], check=True)
        self.control.touch()
        self.control.chmod(0o666)  # PostgreSQL may run as another user
        self._write(0, 0)
        self.environment = {
            "LD_PRELOAD": str(self.library), "DISK_FAULTS": str(self.control), "DISK_FAULTS_UNDER": under,
        }  # fmt: skip

    def _write(self, mode: int, faults: int) -> None:
        with open(self.control, "r+b") as file:
            file.write(struct.pack("@4q", mode, 2, 0, faults))  # every second call fails

    @property
    def faults(self) -> int:
        """So many since it was told to."""
        return int(struct.unpack("@4q", self.control.read_bytes())[3])

    def fail(self, mode: int) -> None:
        self._write(mode, 0)

    def mend(self) -> None:
        self._write(0, 0)


@dataclass(frozen=True)
class Database:
    """A database under siege: its address, what restarts it, what starts it where it has given up, and its disk."""

    url: str
    disk: Disk
    restart: Callable[[], None] | None = None
    revive: Callable[[], bool] = lambda: False


class Server:
    """`relstudy serve` on a port of its own, killed and started again."""

    def __init__(self, folder: Path, database: Database, workers: int) -> None:
        self.folder, self.database, self.port = folder, database, free_port()
        self.command = [sys.executable, "-m", "relstudy", "serve", str(folder), "--port", str(self.port), "--quiet"]
        self.command += ["--workers", str(workers)]
        self.start()

    def start(self) -> None:
        log = open(self.folder / "server.log", "ab")  # noqa: SIM115 (the child's)
        environment = {**os.environ, "DATABASE_URL": self.database.url}
        if self.database.restart is None:  # the server writes the database itself
            environment |= self.database.disk.environment
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
    """What came of a siege.

    Parameters
    ----------
    acknowledged, exported : ratings
    lost : acknowledged and not exported
    unasked : exported and not acknowledged
    changed : exported with another value than their rater gave
    double : exported twice for one rater and pair
    over_k : exported, and not as surplus, though the pair had its ratings
    """

    stages: list[Stage]
    acknowledged: int
    exported: int
    lost: int
    unasked: int
    changed: int
    double: int
    over_k: int
    troubles: list[str]

    @property
    def faults(self) -> int:
        """Kills, restarts and failures of the disk."""
        count = sum((stage.done for stage in self.stages if stage.name in ("kills", "disk")), Counter[str]())
        return sum(number for what, number in count.items() if what != "database starts")

    @property
    def is_whole(self) -> bool:
        """True if nothing is otherwise than it was acknowledged, and no rater was stopped."""
        return not any([self.lost, self.unasked, self.changed, self.double, self.over_k, self.troubles])

    def row(self) -> list[str]:
        """As the table has it."""
        numbers = (self.faults, self.acknowledged, self.lost, self.unasked, self.changed, self.double, self.over_k)
        return [f"{number:,}" for number in numbers]


@dataclass(frozen=True)
class Size:
    """How many raters, how long each stage, how many queries with 40 pages each, and which stages."""

    raters: int
    seconds: float
    queries: int = 200
    stages: tuple[str, ...] = STAGES


def besiege(folder: Path, database: Database, size: Size) -> Outcome:
    """All stages on one database."""
    store = Store(database.url)
    text = our_folder(folder, size.queries) / "study.toml"
    text.write_text(text.read_text().replace("joins_per_address = 0", f"joins_per_address = {size.raters + 10}"))
    prepare(folder, store)
    set_password(folder, "a password nobody guesses")
    server, end = Server(folder, database, workers=2), threading.Event()
    people = [Patient(server.port, number, end) for number in range(size.raters)]
    try:
        for person in people:
            person.begin()
        for person in people:
            person.start()
        stages = [_stage(name, server, people, size.seconds) for name in size.stages]
        end.set()
        for person in people:
            person.join(60)
    finally:
        end.set()
        database.disk.mend()
        database.revive()
        server.stop()
    table = ratings_table(store, Study.load(folder))
    store.dispose()
    honest = table[table["rating"].notna()]
    lost, unasked, changed = compared(honest, people)
    double = int(honest.duplicated(["rater_id", "pair_id"]).sum())
    over_k = int(table[table["surplus"] == 0].duplicated("pair_id").sum())
    troubles = [person.trouble for person in people if person.trouble]
    acknowledged = sum(person.acknowledged for person in people)
    return Outcome(stages, acknowledged, len(honest), lost, unasked, changed, double, over_k, troubles)


def compared(table: pd.DataFrame, people: list[Patient]) -> tuple[int, int, int]:
    """Ratings lost, exported without having been acknowledged, and changed. Each rater gives one value throughout, so
    that raters of one value are told apart by how many they gave."""
    given: dict[int, list[int]] = {}
    kept: dict[int, list[int]] = {}
    changed = 0
    for person in people:
        given.setdefault(person.choice, []).append(person.acknowledged)
    for _, ratings in table.groupby("rater_id")["rating"]:
        value = int(ratings.mode().iloc[0])
        changed += int((ratings != value).sum())
        kept.setdefault(value, []).append(len(ratings))
    lost = unasked = 0
    for value in given.keys() | kept.keys():
        before, after = (sorted(counts.get(value, []), reverse=True) for counts in (given, kept))
        for first, second in zip_longest(before, after, fillvalue=0):
            lost, unasked = lost + max(0, first - second), unasked + max(0, second - first)
    return lost, unasked, changed


def _stage(name: str, server: Server, people: list[Patient], seconds: float) -> Stage:
    stage = Stage(name)
    someone_is_served(people)
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
            _kill(server, people, until, stage.done)
        elif name == "disk":
            _fail_disk(server.database, people, until, stage.done)
        else:
            time.sleep(max(0.0, until - time.monotonic()))
        for thread in threads:
            thread.join()
    stage.acknowledged = sum(person.acknowledged - count for person, (count, _) in zip(people, before, strict=True))
    stage.seconds = [one for person, (_, n) in zip(people, before, strict=True) for one in person.seconds[n:]]
    return stage


def someone_is_served(people: list[Patient], revive: Callable[[], bool] = lambda: False, patience: float = 60.0) -> int:
    """Wait until further pages are answered, as after a kill.

    A database that fails may give up later than it was looked at, as it puts itself in order: `revive` is called as
    long as nobody is served, and what is returned is how often that started it.
    """
    before, until = sum(person.acknowledged for person in people), time.monotonic() + patience
    started, look = 0, time.monotonic()
    while sum(person.acknowledged for person in people) < before + 4 * len(people) and time.monotonic() < until:
        if time.monotonic() >= look:
            started += revive()
            look = time.monotonic() + 0.5
        time.sleep(0.01)
    return started


def _kill(server: Server, people: list[Patient], until: float, done: Counter[str]) -> None:
    turn, restart = 0, server.database.restart
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
        someone_is_served(people)


def _fail_disk(database: Database, people: list[Patient], until: float, done: Counter[str]) -> None:
    """Each kind of fault at least once: for a tenth of a second from its first on, and for two seconds at most."""
    for turn, (what, mode) in enumerate(cycle(FAULTS.items())):
        if turn >= len(FAULTS) and time.monotonic() > until:
            break
        database.disk.fail(mode)
        patience = time.monotonic() + 2
        while not database.disk.faults and time.monotonic() < patience:
            time.sleep(0.01)
        time.sleep(0.1)
        done[what] += database.disk.faults
        database.disk.mend()
        started = someone_is_served(people, database.revive)
        if started:
            done["database starts"] += started


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
def databases(names: list[str], folder: Path) -> Iterator[dict[str, Database]]:
    """The databases that are to be besieged, each below a folder of its own."""
    found: dict[str, Database] = {}
    with contextlib.ExitStack() as stack:
        if "sqlite" in names:
            file = folder.resolve() / "sqlite" / "study.db"
            found["SQLite"] = Database(f"sqlite:///{file}", Disk(folder, str(file)))
        if "postgresql" in names:
            from tests.studyapp.cluster import Cluster, installed

            binaries = installed()
            if binaries is None:
                raise SystemExit("PostgreSQL is not installed; --databases sqlite does without")
            place = Path(tempfile.mkdtemp(prefix="relstudy-pg-"))
            disk = Disk(place, f"{place}/data/")
            cluster = Cluster(binaries, fsync=True, folder=place, **disk.environment)
            stack.callback(cluster.stop)
            restart = ("pg_ctl", "-D", cluster.data, "-l", f"{cluster.folder}/log", "-w", "-m", "immediate", "restart")

            def revive() -> bool:
                if cluster.runs:
                    return False
                cluster.start()
                return True

            found["PostgreSQL"] = Database(cluster.new_database(), disk, lambda: cluster.call(*restart), revive)
        yield found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--raters", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=10.0, help="of each stage")
    parser.add_argument("--databases", nargs="+", choices=["sqlite", "postgresql"], default=["sqlite", "postgresql"])
    chosen = parser.parse_args()
    print("| database | stage | what happened | ratings acknowledged | p50, s | p95, s |")
    print("|---|---|---|---|---|---|")
    ends = []
    with tempfile.TemporaryDirectory() as folder, databases(chosen.databases, Path(folder)) as found:
        for name, database in found.items():
            outcome = besiege(Path(folder) / name.lower(), database, Size(chosen.raters, chosen.seconds))
            for stage in outcome.stages:
                print("| " + " | ".join([name, *stage.row()]) + " |", flush=True)
            ends.append((name, outcome))
    print("\n| database | faults | ratings acknowledged | lost | not acknowledged | changed | double | over k |")
    print("|---|---|---|---|---|---|---|---|")
    for name, outcome in ends:
        print("| " + " | ".join([name, *outcome.row()]) + " |")
    for _, outcome in ends:
        for trouble in outcome.troubles:
            print(f"a rater was stopped: {trouble}")
    if not all(outcome.is_whole for _, outcome in ends):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
