"""Codes in files counted part by part: in this process, or by the workers of a dask cluster that see the same files."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

from relstudy.analysis.hashing.counting.counts import CountTable, merge, usable_engine
from relstudy.analysis.hashing.counting.shards import Job, Part, Watch, count_part, parts_of
from relstudy.analysis.hashing.options import Engine
from relstudy.common.cluster import ClusterOptions, at_work, cores, in_parts

PART_HERE = 1 << 20
"""Codes in one part in this process: 8 MB of 64-bit codes, so that memory does not grow with the database."""
PART_ON_WORKER = 1 << 22
"""Codes in one part on a worker: about a second of one core's work for a thousand queries."""


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
    scheduler : address such as tcp://host:8786; None: workers that are started on this machine
    watch : wraps the parts as they are done, to show progress
    size : most codes in one part

    Raises
    ------
    RelstudyError
        where files do not belong together, or a cluster cannot count them (`relstudy.common.cluster.in_parts`)
    """
    watch = watch or (lambda items, _: iter(items))
    if engine != "dask":
        parts = parts_of(job, size or PART_HERE)
        return merge(count_part(job, part, engine) for part in watch(parts, len(parts)))
    job = job.absolute()
    parts = parts_of(job, size or PART_ON_WORKER)
    with at_work(ClusterOptions("dask", scheduler)):
        return merge(watch(in_parts(_counting, [job], parts), len(parts)))


def _counting(job: Job) -> Callable[[Part], CountTable]:
    return partial(_count_on_worker, job)


def _count_on_worker(job: Job, part: Part) -> CountTable:
    if usable_engine() == "numba":
        from numba import config, set_num_threads

        # A worker that was given one thread must not take every core for itself.
        set_num_threads(min(cores(), config.NUMBA_NUM_THREADS))
    return count_part(job, part)
