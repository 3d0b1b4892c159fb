"""Codes in files counted part by part: in this process, or by the workers of a dask cluster that see the same files."""

from __future__ import annotations

import contextlib
import pkgutil
import time
from collections.abc import Iterator
from functools import partial
from typing import Any, Literal

from relstudy.analysis.hashing.counting.counts import CountTable, merge, usable_engine
from relstudy.analysis.hashing.counting.shards import Job, Part, Watch, count_part, parts_of
from relstudy.analysis.hashing.options import Engine
from relstudy.common.errors import RelstudyError

PATIENCE = 30
"""Seconds that a cluster may be without a worker, or a worker without an answer, before the job is given up."""
GLANCE = 1.0
"""Seconds between two looks at whether there are workers left."""
NEEDED = f"{__name__}:PATIENCE"
"""Object that every worker must be able to import."""


def count_on_cluster(job: Job, parts: list[Part], scheduler: str, watch: Watch[Any]) -> CountTable:
    """The sum of the tables of all parts, each counted by some worker and added in a tree.

    A part whose worker dies is counted again by another; the integers are the same.

    Raises
    ------
    RelstudyError
        within `PATIENCE` seconds, and a little for dask to notice: no scheduler, no worker (left), a worker without
        relstudy or without the files
    """
    try:
        from distributed import Client, KilledWorker
        from distributed.client import FutureCancelledError, FuturesCancelledError
        from distributed.comm import CommClosedError
    except ImportError:
        raise RelstudyError("--engine dask needs the extra `dask`: pip install 'relstudy[dask]'") from None
    try:
        client = Client(scheduler, timeout=5)
    except (OSError, TimeoutError, ValueError) as error:
        raise RelstudyError(f"no dask scheduler answers at {scheduler} ({error})") from None
    try:
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError:
            raise RelstudyError(
                f"the dask scheduler at {scheduler} has no worker; start some with `dask worker`"
            ) from None
        try:
            _check_workers(client)
            tables = client.map(partial(_count_on_worker, job), parts, pure=False)
            for _ in watch(_as_they_come(client, tables), len(tables)):
                pass
            while len(tables) > 1:
                pairs = [tables[i : i + 2] for i in range(0, len(tables), 2)]
                tables = [client.submit(merge, pair, pure=False) for pair in pairs]
            for _ in _as_they_come(client, tables):
                pass
            whole: CountTable = tables[0].result(timeout=PATIENCE)
        except (FutureCancelledError, FuturesCancelledError, CommClosedError):
            # Results that the last worker held are cancelled too, while the scheduler goes on.
            if client.status == "running" and not client.scheduler_info()["workers"]:
                raise RelstudyError(
                    f"all dask workers were lost, and with them results that {scheduler} was waiting for"
                ) from None
            raise RelstudyError(f"the dask scheduler at {scheduler} was lost on the way") from None
        except TimeoutError:
            raise RelstudyError(f"the workers of {scheduler} do not answer within {PATIENCE} seconds") from None
        except (KilledWorker, ImportError, MemoryError, OSError) as error:
            raise RelstudyError(f"the workers cannot count these files ({error})") from None
        return whole
    finally:
        with contextlib.suppress(TimeoutError, OSError, CommClosedError):  # a lost cluster cannot be taken leave of
            client.close(timeout=GLANCE)


def _check_workers(client: Any) -> None:
    from distributed import wait

    workers = list(client.scheduler_info(n_workers=-1)["workers"])
    # A function of the standard library, so that any worker can take it.
    checks = [client.submit(pkgutil.resolve_name, NEEDED, workers=[worker], pure=False) for worker in workers]
    wait(checks, timeout=PATIENCE)
    for worker, check in zip(workers, checks, strict=True):
        if check.status == "error":
            raise RelstudyError(
                f"the dask worker at {worker} cannot import relstudy ({check.exception()}); install it there"
            )


def _as_they_come(client: Any, futures: list[Any]) -> Iterator[Any]:
    """The futures as they are done; a fault of one is raised, and so is the loss of every worker for `PATIENCE`."""
    from distributed import wait
    from distributed.client import FutureCancelledError

    left, seen = set(futures), time.monotonic()
    while left:
        try:
            done, left = wait(left, timeout=GLANCE, return_when="FIRST_COMPLETED")
        except TimeoutError:
            done = set()
        for future in done:
            if future.status == "error":
                future.result()
            if future.status in ("cancelled", "lost"):
                raise FutureCancelledError(future.key, "scheduler lost")
            yield future
        if client.status != "running":
            raise FutureCancelledError("all", "scheduler lost")
        if client.scheduler_info()["workers"]:
            seen = time.monotonic()
        elif time.monotonic() - seen > PATIENCE:
            raise RelstudyError(
                f"all dask workers were lost, and none came back within {PATIENCE} seconds; {len(left)} parts are left"
            )


def _count_on_worker(job: Job, part: Part) -> CountTable:
    if usable_engine() == "numba":
        from distributed import get_worker
        from numba import config, set_num_threads

        # A worker that was given one thread must not take every core for itself.
        set_num_threads(min(get_worker().state.nthreads, config.NUMBA_NUM_THREADS))
    return count_part(job, part)


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
