"""Parts of a database counted by the workers of a dask cluster, which must see the same files."""

from __future__ import annotations

from functools import partial
from typing import Any

from relstudy.analysis.hashing.counting.counts import CountTable, merge, usable_engine
from relstudy.analysis.hashing.counting.shards import Job, Part, Watch, count_part
from relstudy.common.errors import RelstudyError

PATIENCE = 30
"""Seconds that a scheduler may take to find its first worker."""


def count_on_cluster(job: Job, parts: list[Part], scheduler: str, watch: Watch[Any]) -> CountTable:
    """The sum of the tables of all parts, each counted by some worker and added in a tree.

    A part whose worker dies is counted again by another; the integers are the same.
    """
    try:
        from distributed import Client, KilledWorker, as_completed
    except ImportError:
        raise RelstudyError("--engine dask needs the extra `dask`: pip install 'relstudy[dask]'") from None
    try:
        client = Client(scheduler, timeout=5)
    except (OSError, TimeoutError, ValueError) as error:
        raise RelstudyError(f"no dask scheduler answers at {scheduler} ({error})") from None
    with client:
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError:
            raise RelstudyError(
                f"the dask scheduler at {scheduler} has no worker; start some with `dask worker`"
            ) from None
        tables = client.map(partial(_count_on_worker, job), parts, pure=False)
        try:
            for done in watch(as_completed(tables), len(tables)):
                if done.status == "error":
                    done.result()
            while len(tables) > 1:
                pairs = [tables[i : i + 2] for i in range(0, len(tables), 2)]
                tables = [client.submit(merge, pair, pure=False) for pair in pairs]
            whole: CountTable = tables[0].result()
        except (KilledWorker, ImportError, MemoryError, OSError) as error:
            raise RelstudyError(f"the workers cannot count these files ({error})") from None
        return whole


def _count_on_worker(job: Job, part: Part) -> CountTable:
    if usable_engine() == "numba":
        from distributed import get_worker
        from numba import config, set_num_threads

        # A worker that was given one thread must not take every core for itself.
        set_num_threads(min(get_worker().state.nthreads, config.NUMBA_NUM_THREADS))
    return count_part(job, part)
