"""Vectors or pictures that a network reads: checked, standardised, never all of them as floats at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from relstudy.analysis.hashing.codes.arrays import finite_numbers
from relstudy.common.errors import RelstudyError

ROWS = 4096
"""Items that are turned into floats at once."""


@dataclass(frozen=True)
class Standard:
    """Mean and scale of the training items, by number for vectors and by colour for pictures: float32."""

    mean: np.ndarray
    scale: np.ndarray

    @classmethod
    def of(cls, items: np.ndarray) -> Standard:
        """From items (n, D) or (n, height, width, 3), in blocks; a number that never changes keeps scale 1."""
        axes = tuple(range(items.ndim - 1))
        total, seen = np.zeros(items.shape[-1]), 0
        for block in _blocks(items):
            total += block.sum(axis=axes)
            seen += block.size // items.shape[-1]
        mean = total / seen
        squares = sum(((block - mean) ** 2).sum(axis=axes) for block in _blocks(items))
        if not np.isfinite(squares).all():
            raise RelstudyError("training vectors must be finite numbers whose squares can be added up")
        scale = np.sqrt(squares / seen)
        return cls(mean.astype(np.float32), np.where(scale > 1e-6 * np.abs(mean), scale, 1.0).astype(np.float32))

    def __call__(self, items: np.ndarray) -> np.ndarray:
        """Standardised float32; items that are not finite are refused."""
        if items.dtype.kind not in "bui":
            finite_numbers(items, "items")
        return (np.asarray(items, dtype=np.float32) - self.mean) / self.scale


def check_items(items: np.ndarray) -> None:
    """Refuse what is neither vectors nor pictures."""
    if items.ndim == 2 and items.shape[1] > 0:
        return
    if items.ndim == 4 and items.shape[3] == 3 and all(side > 0 and side % 8 == 0 for side in items.shape[1:3]):
        return
    raise RelstudyError(
        "a deep encoder takes vectors (n, D) or pictures (n, height, width, 3) with sides that 8 divides; "
        f"this array has {items.shape}"
    )


def _blocks(items: np.ndarray) -> Iterator[np.ndarray]:
    for start in range(0, len(items), ROWS):
        with np.errstate(over="ignore", invalid="ignore"):
            yield np.asarray(items[start : start + ROWS], dtype=float)
