"""Compute something for every picture: in several processes, with progress, and kept until the pictures change."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from relstudy.common.charts.pictures import read_picture
from relstudy.common.runtime.damaged_files import DAMAGED_ARRAYS
from relstudy.common.runtime.files import replacing
from relstudy.studyapp.collection.items import LONGEST_SIDE, Collection
from relstudy.studyapp.systems.base import Progress, index_folder

Compute = Callable[[np.ndarray], dict[str, np.ndarray]]
BATCH = 8
# starting processes costs about as much as this many pictures
WORTH_PROCESSES = 64


def picture_features(
    collection: Collection, positions: list[int], name: str, compute: Compute, progress: Progress
) -> dict[str, np.ndarray]:
    """Stack what `compute` gives for each picture.

    Parameters
    ----------
    positions : of the pictures in the collection
    name : of the file the features are kept in, scores/.index/NAME.npz; change it when `compute` changes
    compute : a function of a module, from uint8 pixels [height, width, 3] to arrays of fixed shape

    Returns
    -------
    by name, arrays [pictures, ...]
    """
    file = None if collection.folder is None else index_folder(collection.folder) / f"{name}.npz"
    if file is not None and (stored := _read(file, collection.fingerprint)) is not None:
        return stored
    paths = [collection.items[position].path for position in positions]
    batches = [[path for path in paths[start : start + BATCH] if path] for start in range(0, len(paths), BATCH)]
    work = partial(_batch, compute)
    rows: list[dict[str, np.ndarray]] = []
    workers = min(os.cpu_count() or 1, 8)
    if workers > 1 and len(positions) >= WORTH_PROCESSES:
        # spawn: the parent may hold threads (a web server, BLAS) that do not survive a fork
        with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
            rows = _collect(pool.map(work, batches), len(batches), name, progress)
    else:
        rows = _collect(map(work, batches), len(batches), name, progress)
    stacked = {key: np.stack([row[key] for row in rows]) for key in rows[0]}
    if file is not None:
        with replacing(file) as beside, beside.open("wb") as handle:
            np.savez(handle, allow_pickle=False, fingerprint=np.array(collection.fingerprint), **stacked)
    return stacked


def _batch(compute: Compute, paths: list[Path]) -> list[dict[str, np.ndarray]]:
    return [compute(np.asarray(read_picture(path, LONGEST_SIDE))) for path in paths]


def _collect(
    results: Iterator[list[dict[str, np.ndarray]]], number: int, name: str, progress: Progress
) -> list[dict[str, np.ndarray]]:
    rows: list[dict[str, np.ndarray]] = []
    for _ in progress(range(number), f"Indexing for {name}", number):
        rows += next(results)
    return rows


def _read(path: Path, fingerprint: str) -> dict[str, np.ndarray] | None:
    try:
        with np.load(path, allow_pickle=False) as data:
            if str(data["fingerprint"]) != fingerprint:
                return None
            return {key: data[key] for key in data.files if key != "fingerprint"}
    except (OSError, *DAMAGED_ARRAYS):
        # absent, or from an interrupted or older program: computed again
        return None
