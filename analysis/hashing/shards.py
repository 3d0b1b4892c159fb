"""Count codes that lie in files, part by part: in this process, or on the workers of a dask cluster.

Counts add, so the parts may be counted anywhere, in any order, and more than once: the table is the same to the bit.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Literal, TypeVar

from analysis.hashing.code_files import Format, code_form, read_codes
from analysis.hashing.counts import CountTable, Engine, count, merge, usable_engine
from analysis.hashing.labels import Labels, read_labels, same_length
from analysis.hashing.truth import LabelTruth, Truth
from analysis.hashing.truth_file import load_truth
from calibration.errors import RelstudyError

PART_HERE = 1 << 20
"""Codes in one part in this process: 8 MB of 64-bit codes, so that memory does not grow with the database."""
PART_ON_WORKER = 1 << 22
"""Codes in one part on a worker: about a second of one core's work for a thousand queries."""

T = TypeVar("T")
Watch = Callable[[Iterable[T], int], Iterator[T]]


@dataclass(frozen=True)
class Job:
    """Which files to count against which.

    Parameters
    ----------
    queries : file of query codes
    database : files of database codes, in order
    query_labels, database_labels : label files (one a database file), or None and ()
    truth_file : relevance lists over the whole database, or None
    form : what the code files hold
    """

    queries: str
    database: tuple[str, ...]
    query_labels: str | None
    database_labels: tuple[str, ...]
    truth_file: str | None
    form: Format = "auto"


@dataclass(frozen=True)
class Part:
    """Rows `start` to `stop` of database file `number`; `offset` is where that file begins in the whole database."""

    number: int
    start: int
    stop: int
    offset: int
    form: Format


def parts_of(job: Job, size: int) -> list[Part]:
    """Cut the database files into parts of at most `size` codes."""
    parts, offset = [], 0
    for number, file in enumerate(job.database):
        form, length = code_form(file, job.form)
        parts += [Part(number, start, min(start + size, length), offset, form) for start in range(0, length, size)]
        offset += length
    return parts


def count_part(job: Job, part: Part, engine: Engine = "auto") -> CountTable:
    """Count one part. Reads only the rows it needs of a .npy file."""
    file = job.database[part.number]
    rows = slice(part.start, part.stop)
    queries = read_codes(job.queries, job.form)
    codes = read_codes(file, part.form, rows)
    if queries.bits != codes.bits:
        raise RelstudyError(
            f"{job.queries} has codes of {queries.bits} bits and {file} of {codes.bits}; they must be equal"
        )
    return count(queries, codes, _truth(job, part, rows), engine=engine, about=_about(job, part))


def _truth(job: Job, part: Part, rows: slice) -> Truth:
    if job.query_labels is None:
        assert job.truth_file is not None
        return load_truth(job.truth_file).shard(slice(part.offset + part.start, part.offset + part.stop))
    own, theirs = _labels(job.query_labels, job.database_labels[part.number])
    return LabelTruth(own, theirs, "class" if own.single else "shared label").shard(rows)


@lru_cache(maxsize=2)
def _labels(query_labels: str, database_labels: str) -> tuple[Labels, Labels]:
    # The parts of one file follow one another; arrays stay on disk until a part is cut out.
    return read_labels(query_labels, database_labels)


def _about(job: Job, part: Part) -> dict[str, Any]:
    name = Path(job.database[part.number]).name
    return {
        "queries": Path(job.queries).name,
        "queries_sha256": hashlib.sha256(Path(job.queries).read_bytes()).hexdigest(),
        "database": [name] if part.start == 0 else [],
    }


def check_lengths(job: Job, parts: list[Part]) -> None:
    """Refuse labels or lists that do not fit the codes, before any counting starts."""
    queries = read_codes(job.queries, job.form)
    sizes = {part.number: part.stop for part in parts}
    if job.query_labels is None:
        return
    for number, label_file in enumerate(job.database_labels):
        own, theirs = _labels(job.query_labels, label_file)
        same_length(queries, own, job.queries, job.query_labels)
        if len(theirs) != sizes[number]:
            raise RelstudyError(
                f"{label_file} has {len(theirs)} labels for the {sizes[number]} codes of {job.database[number]}; one each is needed"
            )


def count_files(
    job: Job,
    *,
    engine: Engine | Literal["dask"] = "auto",
    scheduler: str | None = None,
    watch: Watch[Any] | None = None,
    size: int | None = None,
) -> CountTable:
    """The count table of a job.

    Parameters
    ----------
    engine : as in `count`, here; or `dask` on the workers of `scheduler` (which must see the same files)
    scheduler : address such as tcp://host:8786
    watch : wraps the parts as they are done, to show progress
    size : most codes in one part
    """
    parts = parts_of(job, size or (PART_ON_WORKER if engine == "dask" else PART_HERE))
    check_lengths(job, parts)
    watch = watch or (lambda items, _: iter(items))
    if engine == "dask":
        assert scheduler is not None
        return _on_cluster(job, parts, scheduler, watch)
    return merge(count_part(job, part, engine) for part in watch(parts, len(parts)))


def _count_on_worker(job: Job, part: Part) -> CountTable:
    if usable_engine() == "numba":
        from distributed import get_worker
        from numba import config, set_num_threads

        # A worker that was given one thread must not take every core for itself.
        set_num_threads(min(get_worker().state.nthreads, config.NUMBA_NUM_THREADS))
    return count_part(job, part)


def _on_cluster(job: Job, parts: list[Part], scheduler: str, watch: Watch[Any]) -> CountTable:
    try:
        from distributed import Client, as_completed
    except ImportError:
        raise RelstudyError("--engine dask needs the extra `dask`: pip install 'relstudy[dask]'") from None
    try:
        client = Client(scheduler, timeout=5)
    except (OSError, TimeoutError, ValueError) as error:
        raise RelstudyError(f"no dask scheduler answers at {scheduler} ({error})") from None
    with client:
        tables = client.map(partial(_count_on_worker, job), parts, pure=False)
        for _ in watch(as_completed(tables), len(tables)):
            pass
        while len(tables) > 1:
            pairs = [tables[i : i + 2] for i in range(0, len(tables), 2)]
            tables = [client.submit(merge, pair, pure=False) for pair in pairs]
        whole: CountTable = tables[0].result()
        return whole
