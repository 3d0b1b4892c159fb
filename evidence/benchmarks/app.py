"""The app under many raters at once, beside Potato, in one run on one machine.

    python evidence/benchmarks/app.py                       # 50 and 200 raters, 15 seconds each
    python evidence/benchmarks/app.py --raters 50 --seconds 10 --peer-venv /tmp/potato
    python evidence/benchmarks/app.py --gunicorn 3 --raters 50  # the own server processes beside gunicorn's, in turns
    python evidence/benchmarks/app.py --profile             # and what a page costs: CPU milliseconds and SQL statements
    python evidence/benchmarks/app.py --studies 20 --raters 200  # so many studies in one host beside one study alone
    python evidence/benchmarks/app.py --media 300 --raters 300  # raters alone, and beside so many who watch films
    python evidence/benchmarks/app.py --answer 3 --raters 50 --think 2  # raters alone and while the answer is computed

Of the options --gunicorn, --studies, --media and --answer, each measures what stands beside it and nothing else.

Raters have no think time, unless one is stated: each submits a page of four ratings on 1-5 and waits for the next
page. Both are used as their own pages' scripts use them: ours is sent the form as study.js sends it, which asks for
the next page in the answer and gets it once the ratings are on disk; Potato is sent its two requests. Measured are
committed ratings per second, the time from submitting to having the next page, requests that failed (after which the
rater loads the page again, which belongs to that time), ratings that were acknowledged but are not in the data
afterwards ("lost"), and pages stored for two raters though one was asked for ("double"). Both servers run with their
own way of keeping ratings; ours with SQLite (synchronous=FULL) and PostgreSQL (fsync on). Potato is installed from
the package registry into an environment of its own, and runs as its documentation says (`potato start`). The load
generator shares the machine with the servers.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import venv
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from evidence.benchmarks.load import Tally, Visitor, load  # noqa: E402

QUERIES, RESULTS, PAGES_PER_QUERY = 600, 160, 40  # more than are rated in the time


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def running(command: list[str], port: int, log: Path, environment: dict[str, str] | None = None) -> Iterator[int]:
    """A server from when it answers until the block ends; the number of its process group."""
    with open(log, "ab") as out:
        child = subprocess.Popen(
            command,
            stdout=out,
            stderr=out,
            cwd=log.parent,
            env={**os.environ, **(environment or {})},
            start_new_session=True,
        )
        try:
            deadline = time.monotonic() + 300  # a large study on a busy machine
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port), timeout=1).close()
                    break
                except OSError:
                    if time.monotonic() > deadline or child.poll() is not None:
                        raise SystemExit(f"the server did not start; see {log}") from None
                    time.sleep(0.2)
            yield child.pid
        finally:
            os.killpg(child.pid, signal.SIGTERM)
            try:
                child.wait(15)
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()


def cpu_seconds(group: int) -> float:
    """Processor time of a group's processes that are alive; NaN where the system has no /proc."""
    if not Path("/proc/self/stat").exists():
        return float("nan")
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # a process that has ended meanwhile
            fields = path.read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12]) if int(fields[2]) == group else 0
    return ticks / os.sysconf("SC_CLK_TCK")


def statements_a_page(folder: Path, url: str) -> tuple[int, int]:
    """SQL statements of a page's ratings with the next page in the answer, and with the next page asked for apart."""
    from relstudy.studyapp.assignment.synchronisation import prepare
    from relstudy.studyapp.database.store import Store
    from relstudy.studyapp.web.app import create_app
    from tests.studyapp.browse import Browser
    from tests.studyapp.statements import statements_of_a_page

    store = Store(url)
    prepare(folder, store)
    browser = Browser(create_app(folder, store=store))
    browser.join()
    browser.rate()
    at_once, apart = statements_of_a_page(browser, store)
    store.dispose()
    return len(at_once), len(apart)


def our_folder(folder: Path, queries: int = QUERIES) -> Path:
    """Pages of four results, 40 for each query."""
    from PIL import Image

    folder.mkdir(parents=True)
    Image.new("RGB", (8, 8)).save(folder / "p.png")
    names = [f"q{i}" for i in range(queries)] + [f"r{i}" for i in range(RESULTS)]
    (folder / "collection.csv").write_text("item_id,kind,path\n" + "".join(f"{name},image,p.png\n" for name in names))
    pairs = [
        f"q{query}-{result},q{query},r{result},image,unique,1.0\n"
        for query in range(queries)
        for result in range(4 * PAGES_PER_QUERY)
    ]
    (folder / "pairs.csv").write_text(
        "pair_id,query_id,result_id,paradigm,block,inclusion_probability\n" + "".join(pairs)
    )
    (folder / "study.toml").write_text(
        '[study]\nid = "bench"\ntitle = "Bench"\n[entry]\nrules = ["open"]\njoins_per_address = 0\n'
        '[[blocks]]\nname = "unique"\npairs = "unique"\npairs_per_rater = "all"\n'
    )
    return folder


@dataclass(frozen=True)
class Processes:
    """What answers requests: `relstudy serve`, or gunicorn's threaded workers around the same app."""

    workers: int
    threads: int
    gunicorn: bool = False

    def command(self, folder: Path, port: int) -> list[str]:
        if not self.gunicorn:
            serve = [sys.executable, "-m", "relstudy", "serve", str(folder), "--port", str(port), "--quiet"]
            return [*serve, "--workers", str(self.workers), "--threads", str(self.threads)]
        app = f"relstudy.studyapp.web.app:create_app('{folder}')"
        kind = ["--worker-class", "gthread", "--keep-alive", "30", "--backlog", "1024", "--log-level", "error"]
        size = ["--workers", str(self.workers), "--threads", str(self.threads)]
        return [sys.executable, "-m", "gunicorn", *kind, *size, "--bind", f"127.0.0.1:{port}", app]


def measure_ours(
    folder: Path, url: str, raters: int, seconds: float, processes: Processes, think: float = 0.0
) -> dict[str, Any]:
    """Serve, load, and compare what was acknowledged with the export."""
    from relstudy.studyapp.assignment.synchronisation import prepare
    from relstudy.studyapp.config.study import Study
    from relstudy.studyapp.database.store import Store
    from relstudy.studyapp.monitoring.export import ratings_table

    port = free_port()
    store = Store(url)
    prepare(folder, store)
    with running(processes.command(folder, port), port, folder / "server.log", {"DATABASE_URL": url}) as group:
        before: list[float] = []
        tally = load("ours", port, raters, seconds, begin=lambda: before.append(cpu_seconds(group)), think=think)
        spent = cpu_seconds(group) - before[0]
    table = ratings_table(store, Study.load(folder))
    store.dispose()
    pages = sum(len(pages) for pages in tally.acknowledged.values())
    found = figures(tally, seconds, lost=max(0, 4 * pages - len(table)), double=int(table.duplicated("pair_id").sum()))
    return {**found, "cpu_milliseconds_a_page": 1000 * spent / max(1, pages)}


def measure_potato(folder: Path, program: Path, raters: int, seconds: float) -> dict[str, Any]:
    """The same pages in Potato: four Likert schemes on an item with five pictures, one annotator an item."""
    folder.mkdir(parents=True)
    schemes = "".join(
        f"  - {{annotation_type: likert, name: r{n}, description: Result {n}, size: 5, "
        "min_label: poor match, max_label: good match}\n"
        for n in range(1, 5)
    )
    (folder / "config.yaml").write_text(
        "annotation_task_name: bench\ntask_dir: .\noutput_annotation_dir: annotation_output/\n"
        "output_annotation_format: json\ndata_files: [data.jsonl]\nitem_properties: {id_key: id, text_key: text}\n"
        "assignment_strategy: random\nmax_annotations_per_user: 160\nmax_annotations_per_item: 1\n"
        "require_password: false\nuser_config: {allow_all_users: true, users: []}\n"
        f"secret_key: {'0123456789abcdef' * 4}\nsite_dir: default\nannotation_schemes:\n{schemes}"
    )
    with open(folder / "data.jsonl", "w", encoding="utf-8") as out:
        for number in range(QUERIES * PAGES_PER_QUERY):
            out.write(json.dumps({"id": f"i{number}", "text": '<img src="/static/p.png">' * 5}) + "\n")
    port = free_port()
    command = [str(program), "start", "config.yaml", "-p", str(port), "--host", "127.0.0.1"]
    with running(command, port, folder / "server.log"):
        tally = load("potato", port, raters, seconds)
        time.sleep(2)
    kept: dict[tuple[int, str], int] = {}
    for state in folder.glob("annotation_output/rater*/user_state.json"):
        number = int(state.parent.name.removeprefix("rater"))
        for name, answers in json.loads(state.read_text())["instance_id_to_label_to_value"].items():
            kept[(number, name)] = len(answers)
    lost = sum(4 - kept.get((number, name), 0) for number, names in tally.acknowledged.items() for name in names)
    per_item = Counter(name for _, name in kept)
    return figures(tally, seconds, lost=lost, double=4 * sum(count - 1 for count in per_item.values() if count > 1))


def figures(tally: Tally, seconds: float, lost: int, double: int) -> dict[str, Any]:
    times = np.array(tally.seconds) if tally.seconds else np.array([np.nan])
    return {
        "ratings_per_second": 4 * tally.in_time / seconds,
        "p50": float(np.percentile(times, 50)),
        "p95": float(np.percentile(times, 95)),
        "errors": sum(tally.errors.values()),
        "lost": lost,
        "double": double,
        "kinds": dict(tally.errors.most_common(3)),
    }


def potato_program(folder: Path) -> Path:
    """Potato in an environment of its own, installed on first use."""
    program = folder / "bin" / "potato"
    if not program.exists():
        print(f"installing potato-annotation into {folder} ...", file=sys.stderr)
        venv.create(folder, with_pip=True)
        subprocess.run([folder / "bin" / "pip", "install", "-q", "potato-annotation"], check=True)
    return program


def answer_beside_slow_senders(folder: Path, processes: Processes, senders: int = 40) -> float:
    """Seconds until a page comes while others have sent half a request and wait; NaN after ten."""
    from relstudy.studyapp.assignment.synchronisation import prepare

    prepare(folder)
    port = free_port()
    with running(processes.command(folder, port), port, folder / "server.log"), contextlib.ExitStack() as stack:
        Visitor(port).request("GET", "/health")
        for _ in range(senders):
            slow = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=60))
            slow.sendall(b"POST /consent HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\na")
        time.sleep(0.5)
        honest = Visitor(port)
        honest.connection.timeout = 10
        began = time.perf_counter()
        try:
            honest.request("GET", "/health")
        except TimeoutError:
            return float("nan")
        return time.perf_counter() - began


def compare_processes(pairs: int, raters: int, seconds: float, own: Processes) -> None:
    """The own server processes and gunicorn in turns, so that what else the machine does falls on both."""
    work = Path(tempfile.mkdtemp(prefix="relstudy-bench-"))
    servers = {"own": own, "gunicorn": Processes(own.workers, own.threads, gunicorn=True)}
    rates: dict[str, list[float]] = {name: [] for name in servers}
    print(f"{'server':10}{'pair':>5}{'ratings/s':>11}{'p50 s':>9}{'p95 s':>9}{'errors':>8}{'lost':>6}{'double':>8}")
    for pair in range(1, pairs + 1):
        for name, processes in servers.items():
            folder = our_folder(work / f"{name}{pair}")
            row = measure_ours(folder, f"sqlite:///{folder / 'study.db'}", raters, seconds, processes)
            rates[name].append(row["ratings_per_second"])
            print(
                f"{name:10}{pair:>5}{row['ratings_per_second']:>11.1f}{row['p50']:>9.3f}{row['p95']:>9.3f}"
                f"{row['errors']:>8}{row['lost']:>6}{row['double']:>8}",
                flush=True,
            )
    ratios = np.array(rates["gunicorn"]) / np.array(rates["own"])
    print("gunicorn : own, ratings/s, by pair:", " ".join(f"{ratio:.2f}" for ratio in ratios))
    print(f"geometric mean: {np.exp(np.log(ratios).mean()):.2f}")
    for name, processes in servers.items():
        waited = answer_beside_slow_senders(our_folder(work / f"{name}-slow"), processes)
        print(
            f"{name}: a page beside 40 half-sent requests: "
            + ("none in 10 s" if waited != waited else f"{waited:.3f} s")
        )
    shutil.rmtree(work, ignore_errors=True)


def measure_host(folder: Path, studies: int, raters: int, seconds: float, processes: Processes) -> dict[str, Any]:
    """The same for the studies /s0/, /s1/ and so on of one host, on SQLite, the raters spread over them."""
    from relstudy.studyapp.config.study import Study
    from relstudy.studyapp.database.store import Store
    from relstudy.studyapp.monitoring.export import ratings_table

    port = free_port()
    folders = [our_folder(folder / f"s{number}", queries=20) for number in range(studies)]
    size = ["--workers", str(processes.workers), "--threads", str(processes.threads)]
    command = [sys.executable, "-m", "relstudy", "host", str(folder), "--port", str(port), "--quiet", *size]
    with running(command, port, folder / "server.log"):
        tally = load("ours", port, raters, seconds, studies)
    tables = [ratings_table(Store.of_study(study), Study.load(study)) for study in folders]
    acknowledged = 4 * sum(len(pages) for pages in tally.acknowledged.values())
    lost = max(0, acknowledged - sum(len(table) for table in tables))
    return figures(tally, seconds, lost, double=sum(int(table.duplicated("pair_id").sum()) for table in tables))


def compare_host(studies: int, raters: int, seconds: float, processes: Processes) -> None:
    """One study alone and many in a host, each twice and in turns, so that what else the machine does falls on both."""
    work = Path(tempfile.mkdtemp(prefix="relstudy-bench-"))
    print(f"{'served':28}{'raters':>7}{'ratings/s':>11}{'p50 s':>9}{'p95 s':>9}{'errors':>8}{'lost':>6}{'double':>8}")
    for turn in (1, 2):
        alone = our_folder(work / f"alone{turn}")
        rows = {
            "one study": measure_ours(alone, f"sqlite:///{alone / 'study.db'}", raters, seconds, processes),
            f"{studies} studies in a host": measure_host(work / f"host{turn}", studies, raters, seconds, processes),
        }
        for name, row in rows.items():
            print(
                f"{name:28}{raters:>7}{row['ratings_per_second']:>11.1f}{row['p50']:>9.3f}{row['p95']:>9.3f}"
                f"{row['errors']:>8}{row['lost']:>6}{row['double']:>8}",
                flush=True,
            )
            for kind, count in row["kinds"].items():
                print(f"    {count} x {kind}")
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    shutil.rmtree(work, ignore_errors=True)


FILM = 24 << 20  # bytes


def film_folder(folder: Path) -> Path:
    """The study of `our_folder` with a film beside, which is on nobody's page."""
    our_folder(folder)
    (folder / "film.mp4").write_bytes(b"\0\0\0\x20ftypisom" + os.urandom(FILM - 12))
    with open(folder / "collection.csv", "a", encoding="utf-8") as items:
        items.write("film,video,film.mp4\n")
    with open(folder / "pairs.csv", "a", encoding="utf-8") as pairs:
        pairs.write("film,q0,film,image,base,1.0\n")  # no block asks for it
    return folder


def compare_media(viewers: int, raters: int, seconds: float, processes: Processes) -> None:
    """Raters alone and beside viewers of a film, each twice and in turns."""
    from evidence.benchmarks.viewers import PACE, STALLED, Viewers
    from relstudy.studyapp.assignment.synchronisation import prepare
    from relstudy.studyapp.collection.displayed_items import item_key
    from relstudy.studyapp.config.secret import read_secret
    from relstudy.studyapp.config.study import Study
    from relstudy.studyapp.database.store import Store
    from relstudy.studyapp.monitoring.export import ratings_table

    work = Path(tempfile.mkdtemp(prefix="relstudy-bench-"))
    print(f"{viewers} viewers ask for a part of 1 MiB every {PACE:g} s each; {STALLED} more take nothing of theirs")
    print(
        f"{'served':22}{'raters':>7}{'ratings/s':>11}{'p50 s':>9}{'p95 s':>9}{'errors':>8}{'lost':>6}{'double':>8}"
        f"{'parts/s':>9}{'MiB/s':>7}{'part p95 s':>12}{'failed':>8}"
    )
    for turn in (1, 2):
        for name, watching in (("raters alone", 0), ("beside viewers", viewers)):
            folder = film_folder(work / f"{turn}-{watching}")
            store, port = Store.of_study(folder), free_port()
            prepare(folder, store)
            address = f"/item/{item_key(read_secret(folder), 'film')}"
            with running(processes.command(folder, port), port, folder / "server.log"):
                seen = Viewers(port, watching, address, FILM, seconds) if watching else None
                tally = load("ours", port, raters, seconds, begin=seen.begin if seen else lambda: None)
                watched = seen.end() if seen else None
            table = ratings_table(store, Study.load(folder))
            store.dispose()
            acknowledged = 4 * sum(len(pages) for pages in tally.acknowledged.values())
            double = int(table.duplicated("pair_id").sum())
            row = figures(tally, seconds, max(0, acknowledged - len(table)), double)
            line = (
                f"{name:22}{raters:>7}{row['ratings_per_second']:>11.1f}{row['p50']:>9.3f}{row['p95']:>9.3f}"
                f"{row['errors']:>8}{row['lost']:>6}{row['double']:>8}"
            )
            if watched is not None:
                slow = float(np.percentile(watched.seconds, 95)) if watched.seconds else float("nan")
                line += f"{len(watched.seconds) / seconds:>9.1f}{watched.bytes / 2**20 / seconds:>7.1f}{slow:>12.3f}"
                line += f"{sum(watched.errors.values()):>8}"
            print(line, flush=True)
            kinds = [*row["kinds"].items(), *(watched.errors.most_common(3) if watched is not None else [])]
            for kind, count in kinds:
                print(f"    {count} x {kind}")
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    shutil.rmtree(work, ignore_errors=True)


@contextlib.contextmanager
def computing_answers(folder: Path, url: str) -> Iterator[list[float]]:
    """The answer computed again and again until the block ends; the seconds that each took."""
    draw = np.random.default_rng(0)
    (folder / "scores").mkdir()
    for name in ("one", "other"):
        rows = [f"{name},q{q},r{r},{draw.normal():.4f}\n" for q in range(QUERIES) for r in range(RESULTS)]
        (folder / "scores" / f"{name}.csv").write_text("system,query_id,result_id,score\n" + "".join(rows))
    seconds: list[float] = []
    ended = threading.Event()
    command = [sys.executable, "-m", "relstudy", "admin", "status", str(folder), "--answer", "--json"]

    def compute() -> None:
        while not ended.wait(1):
            began = time.monotonic()
            done = subprocess.run(command, env={**os.environ, "DATABASE_URL": url}, capture_output=True, text=True)
            if done.returncode == 0 and "No answer yet" not in done.stdout:
                seconds.append(time.monotonic() - began)

    thread = threading.Thread(target=compute)
    thread.start()
    yield seconds
    ended.set()
    thread.join()


def compare_answer(turns: int, raters: int, seconds: float, think: float, processes: Processes, cluster: Any) -> None:
    """Raters alone and while the answer is computed, in turns, on both databases."""
    work = Path(tempfile.mkdtemp(prefix="relstudy-bench-"))
    head = f"{'served':36}{'raters':>7}{'ratings/s':>11}{'p50 s':>9}{'p95 s':>9}{'errors':>8}{'lost':>6}"
    print(f"{head}{'answers':>9}{'s':>7}")
    for turn in range(turns):
        for database in ("SQLite", *(["PostgreSQL"] if cluster is not None else [])):
            for beside in (False, True):
                folder = our_folder(work / f"{database}{turn}{beside}")
                url = f"sqlite:///{folder / 'study.db'}" if database == "SQLite" else cluster.new_database()
                with computing_answers(folder, url) if beside else contextlib.nullcontext([]) as took:
                    row = measure_ours(folder, url, raters, seconds, processes, think)
                name = f"{database}, {'beside the answer' if beside else 'alone'}"
                each = f"{np.mean(took):.1f}" if took else "–"
                print(
                    f"{name:36}{raters:>7}{row['ratings_per_second']:>11.1f}{row['p50']:>9.3f}{row['p95']:>9.3f}"
                    f"{row['errors']:>8}{row['lost']:>6}{len(took):>9}{each:>7}",
                    flush=True,
                )
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    shutil.rmtree(work, ignore_errors=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--raters", type=int, nargs="+", default=[50, 200])
    parser.add_argument("--seconds", type=float, default=15)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--threads", type=int, default=4, help="in each worker")
    parser.add_argument("--peer-venv", type=Path, default=Path(tempfile.gettempdir()) / "relstudy-potato")
    parser.add_argument("--without", nargs="*", default=[], choices=["sqlite", "postgresql", "potato"])
    parser.add_argument("--json", type=Path, help="write the figures there as well")
    parser.add_argument(
        "--gunicorn", type=int, default=0, metavar="PAIRS", help="compare with gunicorn, and nothing else"
    )
    parser.add_argument("--studies", type=int, default=0, help="so many in one host beside one alone, and nothing else")
    parser.add_argument(
        "--media", type=int, default=0, help="so many viewers of a film beside raters, and nothing else"
    )
    parser.add_argument(
        "--answer", type=int, default=0, metavar="TURNS", help="raters alone and beside the answer, and nothing else"
    )
    parser.add_argument("--think", type=float, default=0, help="seconds before each page, with --answer")
    parser.add_argument("--profile", action="store_true", help="print CPU milliseconds and SQL statements a page too")
    options = parser.parse_args()
    processes = Processes(options.workers, options.threads)
    if options.gunicorn:
        compare_processes(options.gunicorn, options.raters[0], options.seconds, processes)
        return
    if options.studies:
        compare_host(options.studies, options.raters[0], options.seconds, processes)
        return
    if options.media:
        compare_media(options.media, options.raters[0], options.seconds, processes)
        return
    from tests.studyapp.cluster import Cluster, installed

    work = Path(tempfile.mkdtemp(prefix="relstudy-bench-"))
    cluster = None
    binaries = installed()
    if "postgresql" not in options.without and binaries is not None:
        cluster = Cluster(binaries, fsync=True)
    rows: list[dict[str, Any]] = []
    try:
        if options.answer:
            compare_answer(options.answer, options.raters[0], options.seconds, options.think, processes, cluster)
            return
        for raters in options.raters:
            if "potato" not in options.without:
                program = potato_program(options.peer_venv)
                found = measure_potato(work / f"potato{raters}", program, raters, options.seconds)
                rows.append({"server": "Potato", "raters": raters, **found})
            if "sqlite" not in options.without:
                folder = our_folder(work / f"sqlite{raters}")
                url = f"sqlite:///{folder / 'study.db'}"
                found = measure_ours(folder, url, raters, options.seconds, processes)
                if options.profile:
                    found["statements"] = statements_a_page(folder, url)
                rows.append({"server": "relstudy, SQLite", "raters": raters, **found})
            if cluster is not None:
                folder = our_folder(work / f"pg{raters}")
                url = cluster.new_database()
                found = measure_ours(folder, url, raters, options.seconds, processes)
                if options.profile:
                    found["statements"] = statements_a_page(folder, url)
                rows.append({"server": "relstudy, PostgreSQL", "raters": raters, **found})
    finally:
        if cluster is not None:
            cluster.stop()
    peers = {row["raters"]: row for row in rows if row["server"] == "Potato"}
    head = f"{'server':22}{'raters':>7}{'ratings/s':>11}{'p50 s':>9}{'p95 s':>9}{'errors':>8}{'lost':>6}{'double':>8}"
    print(head + f"{'ratings/s : Potato':>20}{'p95 : Potato':>14}")
    for row in rows:
        peer = peers.get(row["raters"])
        ratio = f"{row['ratings_per_second'] / peer['ratings_per_second']:.1f}" if peer else "–"
        slow = f"{row['p95'] / peer['p95']:.3f}" if peer else "–"
        print(
            f"{row['server']:22}{row['raters']:>7}{row['ratings_per_second']:>11.1f}"
            f"{row['p50']:>9.3f}{row['p95']:>9.3f}"
            f"{row['errors']:>8}{row['lost']:>6}{row['double']:>8}{ratio:>20}{slow:>14}"
        )
        for kind, count in row["kinds"].items():
            print(f"    {count} x {kind}")
        if "statements" in row:
            at_once, apart = row["statements"]
            print(
                f"    a page: {row['cpu_milliseconds_a_page']:.2f} ms of the server's CPU; {at_once} SQL statements, "
                f"{apart} where the next page is asked for by itself"
            )
    if options.profile:
        print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
    if not any(row["errors"] for row in rows):
        shutil.rmtree(work, ignore_errors=True)
    else:
        print(f"logs are in {work}", file=sys.stderr)


if __name__ == "__main__":
    main()
