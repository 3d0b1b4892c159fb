"""What each command costs as a study or its collection grows: processor seconds and peak memory, each step a process.

    python evidence/benchmarks/size.py                                   # 4,000, 40,000 and 200,000 pairs, 5 systems
    python evidence/benchmarks/size.py --pairs 1000 4000 --steps calibrate
    python evidence/benchmarks/size.py --pairs 20000 --systems 20 --steps fit score
    python evidence/benchmarks/size.py --pairs 180 --steps score --first # as after an installation: nothing is compiled
    python evidence/benchmarks/size.py --items 100000 1000000 10000000   # sample and serve, 1,000 queries, three runs
    python evidence/benchmarks/size.py --codes 10000 1000000             # hash count, 1,000 queries of 64 bits
    python evidence/benchmarks/size.py --rated 1000 10000 100000         # export, archive and serve a study's database
    python evidence/benchmarks/size.py --peers                           # beside each, what one would write by hand

Tables are drawn with a fixed seed: raters whose leniency, stretch and noise differ, 30 base pairs that everybody rates,
three ratings a pair beyond them, twenty pairs a query, systems that see a pair's worth through noise. Collections are
texts of eight words in Parquet beside the study, with three runs of a thousand results a query; they are removed
afterwards. The exponent is the slope of log seconds on log size from the size before: 1 is linear. Seconds are the
processor's, of the process and its children; memory is the most that the process held.

Peers do the part of the work that they do, on the same tables in the same run, and no more: pandas reads the ratings
and takes z-scores and means, scikit-learn fits an isotonic regression a system, ir_measures and ranx compute AP,
nDCG@10 and P@10 a system without an interval, SciPy three correlations a system without an interval, pandas reads the
collection, and faiss computes the distances that numpy counts. They are installed into an environment of their own
(`--peer-venv` keeps it); one that cannot be installed is named and left out.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parents[2]
sys.path[0] = str(ROOT)  # this folder holds files with the names of packages, so it must not come first

from evidence.benchmarks.app import free_port, running  # noqa: E402
from evidence.benchmarks.large_study import ON_PAGE, PAGES_A_RATER, make_study  # noqa: E402
from relstudy.common.runtime.console import print_table  # noqa: E402

BASE, RATINGS_A_PAIR, PAIRS_A_RATER, PAIRS_A_QUERY = 30, 3, 1500, 20
RATINGS_A_RATER = ON_PAGE * PAGES_A_RATER
QUERIES, DEPTH, RUNS = 1000, 1000, 3
COMMANDS = {
    "inspect": ["inspect", "ratings.csv"],
    "calibrate": ["calibrate", "."],
    "fit": ["fit", ".", "--method", "isotonic"],
    "score": ["score", "."],
    "report": ["report", "."],
    "judge check": ["judge", "check", ".", "--judge", "model"],
}
OF_A_DATABASE = {
    "export": ["export", "study", "--overwrite"],
    "archive": ["admin", "archive", "study", "-o", "study.zip"],
}
HASH = (
    "hash count --queries q.npy --database d.npy --query-labels yq.npy --database-labels y.npy --format packed -o t.npz"
)
SAMPLE = ["sample", ".", "--results", "10", "--base", "20"]
IN_ITS_PROCESS = """
import json, resource, sys
from relstudy.studyapp.cli import main
try:
    main(sys.argv[2:], prog_name="relstudy")
except SystemExit as end:
    code = end.code or 0
else:
    code = 0
own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
seconds = sum(each.ru_utime + each.ru_stime for each in (own, children))
held = int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0])  # ru_maxrss counts what its parent held, too
json.dump({"code": code, "seconds": seconds, "megabytes": held / 1024}, open(sys.argv[1], "w"))
"""


def make_tables(folder: Path, pairs: int, systems: int, seed: int = 20260101) -> int:
    """Writes ratings.csv and scores/systems.csv of a study of so many pairs; the number of ratings."""
    rng = np.random.default_rng(seed)
    raters = max(6, -(-pairs * RATINGS_A_PAIR // PAIRS_A_RATER))
    query = np.arange(pairs) // PAIRS_A_QUERY
    worth = rng.normal(size=pairs) + 0.5 * rng.normal(size=query[-1] + 1)[query]
    leniency, stretch = rng.normal(0, 0.45, raters), np.exp(rng.normal(0, 0.25, raters))
    noise = 0.6 * np.exp(rng.normal(0, 0.2, raters))
    handed = np.argsort(rng.random((pairs - BASE, raters)), axis=1)[:, :RATINGS_A_PAIR] if raters <= 64 else None
    if handed is None:  # three raters at random, apart by construction
        first = rng.integers(0, raters, pairs - BASE)
        handed = (first[:, None] + np.arange(RATINGS_A_PAIR) * (raters // RATINGS_A_PAIR)) % raters
    rater = np.concatenate([np.tile(np.arange(raters), BASE), handed.ravel()])
    pair = np.concatenate([np.repeat(np.arange(BASE), raters), np.repeat(np.arange(BASE, pairs), RATINGS_A_PAIR)])
    seen = 3 + leniency[rater] + stretch[rater] * worth[pair] + noise[rater] * rng.normal(size=len(rater))
    ids = pd.DataFrame({"query_id": np.char.mod("q%d", query), "result_id": np.char.mod("r%d", np.arange(pairs))})
    ratings = ids.iloc[pair].assign(
        rater_id=np.char.mod("rater%d", rater),
        rating=np.clip(np.round(seen), 1, 5).astype(int),
        scale="1-5",
        block=np.where(pair < BASE, "base", "unique"),
    )
    ratings.to_csv(folder / "ratings.csv", index=False)
    steps = 0.5 * np.arange(systems) / max(systems - 1, 1)
    scores = {f"system{k}": np.round(worth + (0.5 + step) * rng.normal(size=pairs), 6) for k, step in enumerate(steps)}
    (folder / "scores").mkdir()
    ids.assign(**scores).to_csv(folder / "scores" / "systems.csv", index=False)
    grades = np.clip(np.round(3 + worth + 0.8 * rng.normal(size=pairs)), 1, 5).astype(int)
    (folder / "judges").mkdir()
    ids.assign(rating=grades).to_csv(folder / "judges" / "model.csv", index=False)
    return len(ratings)


PEER_LIBRARIES = ("pandas", "pyarrow", "scikit-learn", "scipy", "ir-measures", "ranx", "faiss-cpu")
JUDGED_RUN = """
import pandas as pd
pairs = pd.read_csv("judgments.csv").merge(pd.read_csv("scores/systems.csv"), on=["query_id", "result_id"])
pairs[["query_id", "result_id"]] = pairs[["query_id", "result_id"]].astype(object)
pairs["grade"] = pairs["judgment"].round().astype(int)
systems = [name for name in pairs if name.startswith("system")]
"""
PEERS: dict[str, tuple[tuple[str, str], ...]] = {
    "inspect": (
        (
            "pandas: counts by rater",
            """
import pandas as pd
ratings = pd.read_csv("ratings.csv")
ratings.groupby("rater_id")["rating"].describe()
ratings.groupby(["query_id", "result_id"])["rating"].agg(["size", "std"])
""",
        ),
    ),
    "judge check": (
        (
            "scikit-learn: one kappa",
            """
import pandas as pd
from sklearn.metrics import cohen_kappa_score
both = pd.read_csv("judgments.csv").merge(pd.read_csv("judges/model.csv"), on=["query_id", "result_id"])
cohen_kappa_score(both["judgment"].round().clip(1, 5).astype(int), both["rating"], weights="quadratic")
""",
        ),
    ),
    "export": (
        (
            "pandas: the table of ratings as CSV",
            """
import pandas as pd, sqlite3
with sqlite3.connect("study/study.db") as database:
    pd.read_sql("select * from ratings join assignments on assignments.id = assignment_id", database).to_csv("peer.csv")
""",
        ),
    ),
    "archive": (
        (
            "zipfile: the folder as it is",
            """
import pathlib, zipfile
with zipfile.ZipFile("peer.zip", "w", zipfile.ZIP_DEFLATED) as archive:
    for path in pathlib.Path("study").rglob("*"):
        archive.write(path)
""",
        ),
    ),
    "calibrate": (
        (
            "pandas: z-scores, means",
            """
import pandas as pd
ratings = pd.read_csv("ratings.csv")
base = ratings[ratings["block"] == "base"].groupby("rater_id")["rating"].agg(["mean", "std"])
by_rater = base.reindex(ratings["rater_id"]).to_numpy()
z = (ratings["rating"].to_numpy() - by_rater[:, 0]) / by_rater[:, 1]
ratings.assign(z=z).groupby(["query_id", "result_id"])["z"].agg(["mean", "std", "size"]).to_csv("peer.csv")
""",
        ),
    ),
    "fit": (
        (
            "scikit-learn: one fit",
            JUDGED_RUN
            + """
from sklearn.isotonic import IsotonicRegression
for name in systems:
    IsotonicRegression(out_of_bounds="clip").fit(pairs[name], pairs["judgment"])
""",
        ),
    ),
    "score": (
        (
            "ir_measures and SciPy: no intervals",
            JUDGED_RUN
            + """
import ir_measures
from ir_measures import AP, P, nDCG
from scipy import stats
qrels = pairs[["query_id"]].assign(doc_id=pairs["result_id"], relevance=pairs["grade"])
for name in systems:
    run = pairs[["query_id"]].assign(doc_id=pairs["result_id"], score=pairs[name])
    ir_measures.calc_aggregate([AP(rel=4), nDCG@10, P(rel=4)@10], qrels, run)
    for correlation in (stats.pearsonr, stats.spearmanr, stats.kendalltau):
        correlation(pairs[name], pairs["judgment"])
""",
        ),
        (
            "ranx: no intervals",
            JUDGED_RUN
            + """
from ranx import Qrels, Run, evaluate
qrels = Qrels.from_df(pairs, q_id_col="query_id", doc_id_col="result_id", score_col="grade")
for name in systems:
    run = Run.from_df(pairs, q_id_col="query_id", doc_id_col="result_id", score_col=name)
    evaluate(qrels, run, ["map-l4", "ndcg@10", "precision@10-l4"])
""",
        ),
    ),
    "sample": (
        (
            "pandas: the collection read and indexed",
            """
import pandas as pd
collection = pd.read_parquet("../corpus.parquet").set_index("item_id")
collection.index.get_indexer(["d1", "d2"])
""",
        ),
    ),
    "hash": (
        (
            "faiss.hammings and numpy.bincount",
            """
import faiss, numpy as np
queries, codes = np.load("q.npy"), np.load("d.npy")
of_query, of_code = np.load("yq.npy"), np.load("y.npy")
counts = np.zeros((len(queries), 2 * 65), dtype=np.int64)
for k in range(len(queries)):
    distances = np.empty((1, len(codes)), dtype=np.int32)
    one = np.ascontiguousarray(queries[k : k + 1])
    faiss.hammings(faiss.swig_ptr(one), faiss.swig_ptr(codes), 1, len(codes), 8, faiss.swig_ptr(distances))
    counts[k] = np.bincount(2 * distances[0] + (of_code == of_query[k]), minlength=2 * 65)
""",
        ),
    ),
}
"""What one would write by hand for a step: its names, and the programs."""
WRAPPED = """
import json, resource, sys
code = 0
exec(sys.argv[2], {"__name__": "peer"})
own = resource.getrusage(resource.RUSAGE_SELF)
seconds = own.ru_utime + own.ru_stime
held = int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0])  # ru_maxrss counts what its parent held, too
json.dump({"code": code, "seconds": seconds, "megabytes": held / 1024}, open(sys.argv[1], "w"))
"""


def make_collection(folder: Path, items: int, queries: int = QUERIES, depth: int = DEPTH, seed: int = 20260101) -> None:
    """Writes corpus.parquet, texts of eight words, and beside it a study with three runs and without the collection."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    rng = np.random.default_rng(seed)
    words = pa.array([f"word{number}" for number in range(5000)], pa.string())
    columns = pa.schema([("item_id", pa.string()), ("text", pa.string()), ("role", pa.string())])
    with pq.ParquetWriter(folder / "corpus.parquet", columns) as corpus:
        for start in range(0, items, 500_000):
            number = min(500_000, items - start)
            parts = [words.take(pa.array(rng.integers(0, 5000, number))) for _ in range(8)]
            ids = pc.binary_join_element_wise("d", pc.cast(pa.array(np.arange(start, start + number)), pa.string()), "")
            roles = pa.array(["result"] * number)
            corpus.write_table(
                pa.table({"item_id": ids, "text": pc.binary_join_element_wise(*parts, " "), "role": roles})
            )
        names = [f"q{number}" for number in range(queries)]
        corpus.write_table(
            pa.table(
                {
                    "item_id": names,
                    "text": [f"word{k % 5000} word{7 * k % 5000}" for k in range(queries)],
                    "role": ["query"] * queries,
                }
            )
        )
    scores = folder / "study" / "scores"
    scores.mkdir(parents=True)
    for system in range(RUNS):
        with (scores / f"run{system}.run").open("w") as run:
            for name in names:
                found = rng.permutation(np.unique(rng.integers(0, items, depth + depth // 10)))[:depth]
                ranked = np.sort(rng.normal(size=len(found)))[::-1]
                run.writelines(
                    f"{name} Q0 d{result} {rank} {score:.5f} run{system}\n"
                    for rank, (result, score) in enumerate(zip(found, ranked, strict=True), start=1)
                )
    toml = '[study]\nid = "large"\ntitle = "Large"\n[collection]\npath = "../corpus.parquet"\n'
    (folder / "study" / "study.toml").write_text(toml)


def serve_cost(study: Path) -> dict[str, float]:
    """Seconds until a study's server answers, and the most megabytes that a worker held; the clock's seconds."""
    port = free_port()
    command = [sys.executable, "-m", "relstudy", "serve", str(study), "--port", str(port), "--quiet", "--workers", "2"]
    begun = time.monotonic()
    with running(command, port, study / "server.log", {"PYTHONPATH": str(ROOT)}) as group:
        seconds = time.monotonic() - begun
        workers: list[int] = []
        while len(workers) < 2 and time.monotonic() < begun + 60:
            workers = _megabytes_of_workers(group)
    return {"seconds": seconds, "megabytes": max(workers, default=0)}


def _megabytes_of_workers(group: int) -> list[int]:
    """The most that each process of a group held, but for the first, which starts the others."""
    held = []
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            told = dict(line.split(":", 1) for line in status.read_text().splitlines() if ":" in line)
            fields = (status.parent / "stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue  # it ended meanwhile
        if int(fields[2]) == group and int(told["Pid"]) != group:
            held.append(int(told["VmHWM"].split()[0]) // 1024)
    return held


def peer_python(folder: Path) -> str:
    """The Python of an environment that holds the peers, made where it is not there."""
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        for name in PEER_LIBRARIES:
            done = subprocess.run([python, "-m", "pip", "install", "-q", name], capture_output=True, text=True)
            if done.returncode:
                print(f"{name} cannot be installed: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
    return str(python)


def run_step(folder: Path, step: str) -> dict[str, float]:
    """Processor seconds and megabytes of a command in a process of its own; ends the script where it fails."""
    words = HASH.split() if step == "hash" else {**COMMANDS, **OF_A_DATABASE}.get(step, SAMPLE)
    cost = _run_alone(folder, [sys.executable, "-c", IN_ITS_PROCESS, str(folder / "cost.json"), *words])
    if cost["code"]:
        raise SystemExit(f"{step} failed:\n{cost['said']}")
    return cost


def run_peers(folder: Path, step: str, python: str, warm: bool = False) -> list[tuple[str, dict[str, float]]]:
    """The same of what one would write by hand, by its name; what fails is named and left out.

    Parameters
    ----------
    warm : whether each runs once beforehand, so that what compiles itself has done so
    """
    found = []
    for name, program in PEERS.get(step, ()):
        for _ in range(1 + warm):
            cost = _run_alone(folder, [python, "-c", WRAPPED, str(folder / "cost.json"), program])
        if cost["code"]:
            print(f"{name} failed: {str(cost['said']).strip().splitlines()[-1:]}", file=sys.stderr)
        else:
            found.append((f"  {name}", cost))
    return found


def _run_alone(folder: Path, command: list[str]) -> dict[str, Any]:
    answer = folder / "cost.json"
    answer.unlink(missing_ok=True)
    environment = {**os.environ, "PYTHONPATH": str(ROOT) if command[0] == sys.executable else ""}
    ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    cost = json.loads(answer.read_text()) if answer.exists() else {"code": ended.returncode or 1}
    return {**cost, "said": f"{ended.stdout[-2000:]}\n{ended.stderr[-2000:]}"}


def of_codes(sizes: list[int], queries: int, python: str | None) -> None:
    """Prints what counting costs at some numbers of codes of 64 bits in ten classes."""
    table, random = Table(), np.random.default_rng(20260101)
    for codes in sorted(sizes):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for file, number in (("q", queries), ("d", codes)):
                np.save(folder / f"{file}.npy", random.integers(0, 256, (number, 8), dtype=np.uint8))
                np.save(folder / f"y{file}.npy".replace("yd", "y"), random.integers(0, 10, number))
            size = [f"{codes:,}", f"{queries:,}"]
            table.add("hash count", codes, run_step(folder, "hash"), *size)
            for peer, cost in run_peers(folder, "hash", python) if python else []:
                table.add(peer, codes, cost, *size)
    print_table(table.rows, ["command", "codes", "queries", "seconds", "MB", "exponent"])


def of_databases(sizes: list[int], python: str | None) -> None:
    """Prints what getting at the ratings in a study's database costs, at some numbers of pairs."""
    table = Table()
    for pairs in sorted(sizes):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            raters = pairs // RATINGS_A_RATER  # each pair once
            make_study(folder / "study", pairs, raters)
            size = [f"{raters * RATINGS_A_RATER:,}", f"{pairs:,}"]
            for step in OF_A_DATABASE:
                table.add(step, pairs, run_step(folder, step), *size)
                for peer, cost in run_peers(folder, step, python) if python else []:
                    table.add(peer, pairs, cost, *size)
            table.add("serve, until it answers; a worker", pairs, serve_cost(folder / "study"), *size)
    print_table(table.rows, ["command", "ratings", "pairs", "seconds", "MB", "exponent"])


class Table:
    """Rows of the table, with the exponent of each step from the size before."""

    def __init__(self) -> None:
        self.rows: list[list[str]] = []
        self.before: dict[str, tuple[int, float]] = {}

    def add(self, step: str, size: int, cost: dict[str, float], *what: str) -> None:
        """One step at one size."""
        exponent = ""
        if step in self.before:
            smaller, seconds = self.before[step]
            exponent = f"{math.log(cost['seconds'] / seconds) / math.log(size / smaller):.2f}"
        self.before[step] = size, cost["seconds"]
        self.rows.append([step, *what, f"{cost['seconds']:.1f}", f"{cost['megabytes']:,.0f}", exponent])
        print(f"{step}, {size:,}: {cost['seconds']:.1f} s, {cost['megabytes']:,.0f} MB", file=sys.stderr)


def of_studies(sizes: list[int], systems: int, steps: list[str], python: str | None, first: bool = False) -> None:
    """Prints the commands' costs at some numbers of pairs; `first`: each with an empty cache of machine code."""
    table = Table()
    for pairs in sorted(sizes):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            size = [f"{make_tables(folder, pairs, systems):,}", f"{pairs:,}", str(systems)]
            for step in COMMANDS:
                if step not in steps and step != "calibrate":
                    continue
                if first:
                    os.environ["NUMBA_CACHE_DIR"] = str(folder / f"machine-code-{step}")
                cost = run_step(folder, step)  # the other steps need the judgments of calibrate
                if step not in steps:
                    continue
                table.add(step, pairs, cost, *size)
                for peer, of_peer in run_peers(folder, step, python, warm=pairs == min(sizes)) if python else []:
                    table.add(peer, pairs, of_peer, *size)
    print_table(table.rows, ["command", "ratings", "pairs", "systems", "seconds", "MB", "exponent"])


def of_collections(sizes: list[int], queries: int, depth: int, python: str | None, words: bool = False) -> None:
    """Prints what drawing and serving cost at some numbers of items; `words`: by bm25 too, indexed and then kept."""
    table = Table()
    for items in sorted(sizes):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            make_collection(folder, items, queries, depth)
            size = [f"{items:,}", f"{queries:,}"]
            SAMPLE[2:2] = ["--queries", str(queries)]
            table.add("sample", items, run_step(folder / "study", "sample"), *size)
            del SAMPLE[2:4]
            for peer, cost in run_peers(folder / "study", "sample", python) if python else []:
                table.add(peer, items, cost, *size)
            for which in ("indexed", "again") if words else ():
                SAMPLE[2:2] = ["--queries", str(queries), "--systems", "bm25"]
                for made in ("pairs.csv", "design.json", "items.parquet"):
                    (folder / "study" / made).unlink()
                table.add(f"sample --systems bm25, {which}", items, run_step(folder / "study", "sample"), *size)
                del SAMPLE[2:6]
            (folder / "corpus.parquet").unlink()  # the study needs nothing of it any more
            table.add("serve, until it answers; a worker", items, serve_cost(folder / "study"), *size)
    print_table(table.rows, ["command", "items", "queries", "seconds", "MB", "exponent"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, nargs="+", default=[4_000, 40_000, 200_000])
    parser.add_argument("--systems", type=int, default=5)
    parser.add_argument("--steps", nargs="+", choices=list(COMMANDS), default=list(COMMANDS))
    parser.add_argument("--items", type=int, nargs="+", help="measure collections of so many items instead")
    parser.add_argument("--queries", type=int, default=QUERIES)
    parser.add_argument("--depth", type=int, default=DEPTH, help="results of a query in each run")
    parser.add_argument("--bm25", action="store_true", help="of collections, pairs that bm25 proposes, too")
    parser.add_argument("--codes", type=int, nargs="+", help="measure the counting of so many codes instead")
    parser.add_argument("--rated", type=int, nargs="+", help="measure databases of so many rated pairs instead")
    parser.add_argument("--first", action="store_true", help="each step as it is the first time")
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--peer-venv", type=Path, default=Path(tempfile.gettempdir()) / "relstudy-size-peers")
    given = parser.parse_args()
    python = peer_python(given.peer_venv) if given.peers else None
    begun = os.getloadavg()[0]
    if given.codes:
        of_codes(given.codes, given.queries, python)
    elif given.rated:
        of_databases(given.rated, python)
    elif given.items:
        of_collections(given.items, given.queries, given.depth, python, given.bm25)
    else:
        of_studies(given.pairs, given.systems, given.steps, python, given.first)
    print(
        f"\n{os.cpu_count()} processor cores; load {begun:.0f} at the beginning, {os.getloadavg()[0]:.0f} at the end."
    )


if __name__ == "__main__":
    main()
