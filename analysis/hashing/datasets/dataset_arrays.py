"""A published data set as arrays by name, and its row of Moran's (2016) table 3.1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from relstudy.analysis.hashing.truth.relevance import ListedTruth
from relstudy.common.options.argument_checks import check_arguments
from relstudy.common.runtime.errors import RelstudyError

TABLE_3_1: dict[str, tuple[int, int | None, float | None, int | None, int]] = {
    "labelme": (22_019, None, None, None, 512),
    "cifar-10": (60_000, 10, 1, 6_000, 512),
    "nus-wide": (269_648, 81, 1.87, 6_220, 500),
    "sift1m": (1_000_000, None, None, None, 128),
}
"""Images, labels, labels per image, images per label and numbers of a descriptor, as printed."""


@dataclass(frozen=True)
class Published:
    """A data set in arrays.

    Parameters
    ----------
    arrays : file name without its ending -> array; each has one row per item
    items : how many there are, over all parts
    width : numbers of an item's descriptor
    labels : 0/1 (items, labels) or classes (items,), of all parts; None where it has none
    truth : which base vectors are the neighbours of each query, where it comes with that
    """

    arrays: Mapping[str, np.ndarray] = field(repr=False)
    items: int
    width: int
    labels: np.ndarray | None = field(default=None, repr=False)
    truth: ListedTruth | None = None

    def statistics(self) -> dict[str, Any]:
        """The columns of table 3.1: images, labels, labels per image, images per label, numbers of a descriptor."""
        row: dict[str, Any] = {"images": self.items, "labels": None, "labels_per_image": None, "images_per_label": None}
        if self.labels is not None:
            several = self.labels.ndim == 2
            counts = self.labels.sum(axis=0) if several else np.unique(self.labels, return_counts=True)[1]
            per_image, per_label = float(counts.sum() / self.items), float(counts.mean())
            row |= {"labels": len(counts), "labels_per_image": per_image, "images_per_label": per_label}
        return row | {"descriptor": self.width}


def one_file(folder: str | Path, name: str) -> Path:
    """The file of that name in a folder or below it.

    Raises
    ------
    RelstudyError
        if there is none, or several
    """
    files = sorted(path for path in Path(folder).rglob(name) if path.is_file())
    if len(files) != 1:
        raise RelstudyError(f"{folder}: {len(files) or 'no'} file{'s' * (len(files) > 1)} {name} in this folder")
    return files[0]


def unit_length(vectors: np.ndarray) -> np.ndarray:
    """Each vector divided by its length (Moran 2016, section 3.2.1); nothing but zeros stays so.

    Parameters
    ----------
    vectors : numbers of shape (n, D)

    Returns
    -------
    float of shape (n, D); float32 where the vectors are

    Raises
    ------
    RelstudyError
        for anything but finite numbers of shape (n, D)

    Examples
    --------
    >>> unit_length(np.array([[3, 4], [0, 0]])).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    check_arguments(unit_length, locals())
    given = np.asarray(vectors)
    if given.ndim != 2 or given.dtype.kind not in "biuf":
        raise RelstudyError(f"vectors: numbers of shape (n, D) are needed, not {given.dtype} of shape {given.shape}")
    values = np.asarray(given, dtype=np.float32 if given.dtype == np.float32 else float)
    if not np.isfinite(values).all():
        row = int(np.argwhere(~np.isfinite(values))[0][0])
        raise RelstudyError(f"vectors, row {row} (counted from 0): finite numbers are needed")
    # by its largest number first, so that squares neither overflow nor vanish
    largest = np.abs(values).max(axis=1, keepdims=True, initial=0)
    scaled = np.divide(values, largest, out=np.zeros_like(values), where=largest > 0)
    lengths = np.sqrt((scaled**2).sum(axis=1, keepdims=True))
    return np.asarray(np.divide(scaled, lengths, out=scaled, where=lengths > 0))
