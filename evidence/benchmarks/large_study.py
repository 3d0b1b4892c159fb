"""The app with a large study in its database: a million pairs, ten thousand raters and what they have rated.

    python evidence/benchmarks/large_study.py                                  # 10^6 pairs, 10^4 raters: some minutes
    python evidence/benchmarks/large_study.py --pairs 100000 --raters 1000

Makes the study (seeded; SQLite), serves it, and prints: seconds until the server answers, the memory of its processes
together and of the largest; the time from
submitting a page to having the next one, for 50 raters who think for two seconds; seconds of the command's status, of
each admin page (the first look and the second, and how long the figures of the first take, which it does not wait for),
of the export, and of the answer for two systems (`relstudy admin status --answer`), with the memory at the peak. Each
step is a process of its own.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import resource
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import sqlalchemy as sa

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from evidence.benchmarks.app import Processes, free_port, running  # noqa: E402
from evidence.benchmarks.load import OurRater  # noqa: E402

RESULTS, ON_PAGE, PAGES_A_RATER, SEED = 160, 4, 10, 20260101
ADMIN = ("/admin/", "/admin/raters", "/admin/handout", "/admin/export", "/admin/log")


def make_study(folder: Path, pairs: int, raters: int) -> None:
    """A study whose raters have answered ten pages each, of four results."""
    from PIL import Image

    from relstudy.studyapp.assignment.synchronisation import prepare
    from relstudy.studyapp.database.store import Store

    folder.mkdir(parents=True)
    Image.new("RGB", (8, 8)).save(folder / "p.png")
    queries = -(-pairs // RESULTS)
    names = [f"q{i}" for i in range(queries)] + [f"r{i}" for i in range(RESULTS)]
    (folder / "collection.csv").write_text("item_id,kind,path\n" + "".join(f"{name},image,p.png\n" for name in names))
    with open(folder / "pairs.csv", "w", encoding="utf-8") as out:
        out.write("pair_id,query_id,result_id,paradigm,inclusion_probability,block,source\n")
        for query in range(queries):
            out.writelines(f"q{query}-{r},q{query},r{r},image,0.5,unique,s{r % 5}\n" for r in range(RESULTS))
    (folder / "study.toml").write_text(
        '[study]\nid = "large"\ntitle = "Large"\n[entry]\nrules = ["open"]\njoins_per_address = 0\n'
        '[[blocks]]\nname = "unique"\npairs = "unique"\npairs_per_rater = 400\n[looks]\nplanned = 5\n'
    )
    store = Store(f"sqlite:///{folder / 'study.db'}")
    prepare(folder, store)
    _rate(store, raters)
    store.dispose()


def _rate(store: Any, raters: int) -> None:
    """Put raters, their pages and their ratings into the database, as the app would have."""
    from relstudy.studyapp.database.tables import DONE
    from relstudy.studyapp.database.tables import assignments as assignments_table
    from relstudy.studyapp.database.tables import pages as pages_table
    from relstudy.studyapp.database.tables import raters as raters_table
    from relstudy.studyapp.database.tables import ratings as ratings_table
    from relstudy.studyapp.database.tables import slots as slots_table

    generator = random.Random(SEED)
    now = time.time()
    with store.write() as connection:
        free = sa.select(slots_table.c.id, pages_table.c.id.label("page"), pages_table.c.pair_ids)
        free = free.join(pages_table, pages_table.c.id == slots_table.c.page_id).order_by(slots_table.c.order_key)
        slots = iter(connection.execute(free.limit(raters * PAGES_A_RATER)).all())
        people, given, taken, rated = [], [], [], []
        for rater in range(1, raters + 1):
            began = now - generator.uniform(0, 30 * 86400)
            pages = [next(slots) for _ in range(PAGES_A_RATER)]
            moments = [began + 30 * (number + 1) for number in range(PAGES_A_RATER)]
            people.append(
                {
                    "id": rater,
                    "rater_id": f"R{rater:07d}",
                    "session_key": f"{rater:032x}",
                    "entry": "open",
                    "identity": f"i{rater}",
                    "parameters": {},
                    "seed": rater,
                    "completion_code": f"C{rater}",
                    "created_at": began,
                    "consented_at": began,
                    "started_at": began,
                    "finished_at": moments[-1],
                    "locked_to": PAGES_A_RATER,
                    "extra_pages": 0,
                }
            )
            for position, (page, moment) in enumerate(zip(pages, moments, strict=True), start=1):
                key = len(given) + 1
                given.append(
                    {
                        "id": key,
                        "rater": rater,
                        "position": position,
                        "block": "unique",
                        "kind": "pair",
                        "page_id": page.page,
                        "pair_ids": page.pair_ids,
                        "slot_id": page.id,
                        "handed_at": moment - 30,
                        "answered_at": moment,
                        "surplus": False,
                    }
                )
                taken.append({"slot": page.id, "assignment": key})
                rated += [
                    {
                        "assignment_id": key,
                        "pair_id": pair,
                        "revision": 1,
                        "rating": generator.randint(1, 5),
                        "seconds": generator.uniform(2, 9),
                        "rated_at": moment,
                        "form": f"f{key}",
                        "version": 1,
                    }
                    for pair in page.pair_ids
                ]
        for table, rows in ((raters_table, people), (assignments_table, given), (ratings_table, rated)):
            connection.execute(sa.insert(table), rows)
        done = sa.update(slots_table).where(slots_table.c.id == sa.bindparam("slot"))
        connection.execute(done.values(state=DONE, assignment_id=sa.bindparam("assignment")), taken)


def rate_with_thought(folder: Path, raters: int, seconds: float, think: float) -> dict[str, float]:
    """Serve, and let raters come who think before each page; seconds from submit to next page."""
    port = free_port()
    url = f"sqlite:///{folder / 'study.db'}"
    began = time.perf_counter()
    times: list[float] = []
    errors: list[str] = []
    with running(Processes(2, 4).command(folder, port), port, folder / "server.log", {"DATABASE_URL": url}) as group:
        started = time.perf_counter() - began
        visitors = [OurRater(port, number) for number in range(raters)]
        first_pages = time.perf_counter() - began
        end = time.perf_counter() + seconds

        def work(rater: OurRater, generator: random.Random) -> None:
            time.sleep(generator.uniform(0, think))
            while time.perf_counter() < end:
                at = time.perf_counter()
                trouble, _ = rater.page()
                times.append(time.perf_counter() - at)
                if trouble:
                    errors.append(trouble)
                time.sleep(generator.uniform(0.5 * think, 1.5 * think))

        threads = [threading.Thread(target=work, args=(rater, random.Random(n))) for n, rater in enumerate(visitors)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        shares, largest = _megabytes(group)
    return {
        "until it answers s": started,
        "until 50 have a page s": first_pages,
        "server MB": shares,
        "largest process MB": largest,
        "pages": len(times),
        "p50 ms": 1000 * float(np.percentile(times, 50)),
        "p95 ms": 1000 * float(np.percentile(times, 95)),
        "errors": len(errors),
    }


def _megabytes(group: int) -> tuple[float, float]:
    """Memory of a group's processes together, each shared page divided by those that share it, and of the largest one
    with all that it shares; NaN without /proc."""
    together, largest = 0, 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(path.read_text().rpartition(")")[2].split()[2]) == group:
                lines = (line.split() for line in (path.parent / "smaps_rollup").read_text().splitlines())
                kilobytes = {line[0]: int(line[1]) for line in lines if line[0] in ("Pss:", "Rss:")}
                together, largest = together + kilobytes["Pss:"], max(largest, kilobytes["Rss:"])
        except OSError:  # a process that has ended meanwhile
            continue
    return (together / 1024, largest / 1024) if together else (float("nan"), float("nan"))


def look_at_status(folder: Path) -> dict[str, float]:
    from relstudy.studyapp.config.study import Study
    from relstudy.studyapp.database.store import Store
    from relstudy.studyapp.monitoring.status import study_status

    began = time.perf_counter()
    study_status(Store(f"sqlite:///{folder / 'study.db'}"), Study.load(folder))
    return {"seconds": time.perf_counter() - began}


def look_at_admin(folder: Path) -> dict[str, float]:
    from relstudy.studyapp.web.admin.access import set_password
    from relstudy.studyapp.web.app import create_app

    set_password(folder, "a long enough password")
    client = create_app(folder).test_client()
    client.get("/health")
    page = client.get("/admin/login").text
    token = page.partition('name="csrf" value="')[2].partition('"')[0]
    client.post("/admin/login", data={"csrf": token, "password": "a long enough password"})
    found = {}
    for look in ("first", "second"):
        for address in ADMIN:
            began = time.perf_counter()
            answer = client.get(address)
            found[f"{address} {look}"] = time.perf_counter() - began
            while answer.status_code == 202:  # the figures are being worked out, and the page asks again
                time.sleep(0.2)
                answer = client.get(address)
                found["until the figures are there"] = time.perf_counter() - began
            assert answer.status_code == 200, (address, answer.status_code)
    return found


def export(folder: Path) -> dict[str, float]:
    from relstudy.common.tables.formats.table_files import write_parts
    from relstudy.studyapp.config.study import Study
    from relstudy.studyapp.database.store import Store
    from relstudy.studyapp.monitoring.export import ratings_in_parts

    began, busy = time.perf_counter(), time.process_time()
    rows = 0

    def counted(parts: Iterator[Any]) -> Iterator[Any]:
        nonlocal rows
        for part in parts:
            rows += len(part)
            yield part

    with ratings_in_parts(Store(f"sqlite:///{folder / 'study.db'}"), Study.load(folder)) as (parts, _):
        write_parts(counted(parts), folder / "ratings.csv")
    return {"rows": rows, "seconds": time.perf_counter() - began, "CPU s": time.process_time() - busy}


def answer(folder: Path) -> dict[str, float]:
    from relstudy.studyapp.commands.answer import compute_answer

    draw = np.random.default_rng(SEED)
    (folder / "scores").mkdir(exist_ok=True)
    names = [line.split(",")[1:3] for line in (folder / "pairs.csv").read_text().splitlines()[1:]]
    for system in ("one", "other"):
        scores = draw.normal(size=len(names))
        rows = (f"{query},{result},{score:.4f}" for (query, result), score in zip(names, scores, strict=True))
        (folder / "scores" / f"{system}.csv").write_text("query_id,result_id,score\n" + "\n".join(rows) + "\n")
    began, busy = time.perf_counter(), time.process_time()
    found = compute_answer(folder)
    print(found.headline)
    return {"ratings": found.ratings, "seconds": time.perf_counter() - began, "CPU s": time.process_time() - busy}


def apart(work: Callable[..., Any], *arguments: Any) -> dict[str, float]:
    """What a step returns, with its peak memory, from a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        result: dict[str, float] = pool.apply(_measured, (work, arguments))
    return result


def _measured(work: Callable[..., Any], arguments: tuple[Any, ...]) -> dict[str, float]:
    found = work(*arguments) or {}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {**found, "peak MB": peak / (1024 if sys.platform != "darwin" else 1 << 20)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--raters", type=int, default=10_000)
    parser.add_argument("--visitors", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--think", type=float, default=2.0)
    parser.add_argument("--keep", type=Path, help="make the study there, or use the one that is there")
    parser.add_argument("--json", type=Path, help="write the figures there as well")
    options = parser.parse_args()
    work = Path(tempfile.mkdtemp(prefix="relstudy-large-"))
    folder = options.keep or work / "study"
    steps: dict[str, dict[str, float]] = {}

    def step(name: str, work_of_step: Callable[..., Any], *arguments: Any) -> None:
        began = time.perf_counter()
        steps[name] = apart(work_of_step, *arguments)
        shown = ", ".join(f"{key} {value:,.2f}" for key, value in steps[name].items())
        print(f"{name} ({time.perf_counter() - began:.0f} s): {shown}", flush=True)

    if not (folder / "study.db").exists():
        step("make", make_study, folder, options.pairs, options.raters)
    step("rating", rate_with_thought, folder, options.visitors, options.seconds, options.think)
    step("status", look_at_status, folder)
    step("admin", look_at_admin, folder)
    step("export", export, folder)
    step("answer", answer, folder)
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    if options.json:
        options.json.write_text(json.dumps(steps, indent=1) + "\n")
    shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
