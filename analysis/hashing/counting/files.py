"""Count codes that lie in files, part by part: in this process, or on the workers of a cluster."""

from __future__ import annotations

from typing import Any, Literal

from relstudy.analysis.hashing.counting.counts import CountTable, Engine, merge
from relstudy.analysis.hashing.counting.distributed import count_on_cluster
from relstudy.analysis.hashing.counting.shards import Job, Watch, count_part, parts_of

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
    scheduler : address such as tcp://host:8786
    watch : wraps the parts as they are done, to show progress
    size : most codes in one part
    """
    if engine == "dask":
        job = job.absolute()
    parts = parts_of(job, size or (PART_ON_WORKER if engine == "dask" else PART_HERE))
    watch = watch or (lambda items, _: iter(items))
    if engine == "dask":
        assert scheduler is not None
        return count_on_cluster(job, parts, scheduler, watch)
    return merge(count_part(job, part, engine) for part in watch(parts, len(parts)))
