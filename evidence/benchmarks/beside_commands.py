"""How long raters wait while a command goes through a large study: a hundred thousand ratings of 200,000 pairs.

    python evidence/benchmarks/beside_commands.py                       # SQLite and PostgreSQL
    python evidence/benchmarks/beside_commands.py --pairs 20000 --raters 250 --databases sqlite

While each command runs, the transaction that every page of a rater begins with is asked for again and again, and takes
its turn as a server's does, however long that is; the longest of these waits is printed. A server waits for five
seconds, and then asks the rater to send the page again. PostgreSQL is started in a folder of its own, as in the tests.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from evidence.benchmarks.large_study import RESULTS, SEED, make_study  # noqa: E402
from relstudy.studyapp.assignment.versions import join_version  # noqa: E402
from relstudy.studyapp.database.store import Store  # noqa: E402
from tests.studyapp.cluster import Cluster, installed  # noqa: E402

PATIENCE = 600.0
PAUSE = 0.02


def commands(folder: Path) -> dict[str, list[str]]:
    """The commands that read or copy a whole study, the one that clears it last."""
    drawn = [
        "--systems",
        str(folder / "scores" / "chance.csv"),
        "--queries",
        "1000000",
        "--results",
        "40",
        "--base",
        "0",
    ]
    return {
        "backup": ["backup", str(folder)],
        "export": ["export", str(folder)],
        "archive": ["archive", str(folder), "-o", str(folder / "archive.zip")],
        "change --dry-run": ["change", str(folder), "--dry-run"],
        "sample --overwrite": ["sample", str(folder), *drawn, "--overwrite"],
    }


def wait_beside(url: str, command: list[str]) -> tuple[float, float]:
    """Seconds that a command takes, and the longest time that a rater's transaction waits meanwhile."""
    waits, over = [0.0], threading.Event()

    def ask() -> None:
        with Store(url, PATIENCE) as store:
            while not over.is_set():
                began = time.perf_counter()
                with store.write() as connection:
                    join_version(connection)
                waits.append(time.perf_counter() - began)
                time.sleep(PAUSE)

    asking = threading.Thread(target=ask)
    asking.start()
    began = time.perf_counter()
    environment = {**os.environ, "DATABASE_URL": url}
    done = subprocess.run([sys.executable, "-m", "relstudy", *command], env=environment, capture_output=True, text=True)
    seconds = time.perf_counter() - began
    over.set()
    asking.join()
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    return seconds, max(waits)


@contextlib.contextmanager
def address(database: str, folder: Path) -> Iterator[str]:
    """The address of a database that holds the study: its file, or a PostgreSQL database that this is restored into."""
    if database == "sqlite":
        yield f"sqlite:///{folder / 'study.db'}"
        return
    binaries = installed()
    if binaries is None:
        raise SystemExit("PostgreSQL is not here")
    cluster = Cluster(binaries, fsync=True)
    try:
        url, backup = cluster.new_database(), folder / "whole.db"
        relstudy = [sys.executable, "-m", "relstudy"]
        subprocess.run([*relstudy, "backup", str(folder), "-o", str(backup)], check=True, capture_output=True)
        environment = {**os.environ, "DATABASE_URL": url}
        restore = [*relstudy, "restore", str(folder), str(backup), "--yes"]
        subprocess.run(restore, env=environment, check=True, capture_output=True)
        (folder / "study.db").unlink()
        yield url
    finally:
        cluster.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=200_000)
    parser.add_argument("--raters", type=int, default=2_500, help="each has rated forty pairs")
    parser.add_argument("--databases", nargs="+", default=["sqlite", "postgresql"], choices=["sqlite", "postgresql"])
    options = parser.parse_args()
    work = Path(tempfile.mkdtemp(prefix="relstudy-beside-"))
    os.environ.pop("DATABASE_URL", None)
    try:
        made = work / "made"
        make_study(made, options.pairs, options.raters)
        (made / "scores").mkdir()
        pairs = pd.read_csv(made / "pairs.csv")
        chance = np.random.default_rng(SEED).random(len(pairs))
        scores = pairs[["query_id", "result_id"]].assign(system="chance", score=chance)
        scores.to_csv(made / "scores" / "chance.csv", index=False)
        print(f"{len(pairs):,} pairs of {RESULTS} results a query, {40 * options.raters:,} ratings", flush=True)
        print("| database | command | seconds | longest wait s |\n|---|---|---|---|", flush=True)
        for database in options.databases:
            folder = work / database
            shutil.copytree(made, folder)
            with address(database, folder) as url:
                for name, command in commands(folder).items():
                    seconds, wait = wait_beside(url, command)
                    print(f"| {database} | `{name}` | {seconds:.1f} | {wait:.2f} |", flush=True)
        print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
