"""Vectors or pictures that a network reads: from a folder, checked, standardised, never all as floats at once."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image, UnidentifiedImageError

from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.formats.array_files import finite_numbers

ROWS = 4096
"""Items that are turned into floats at once."""

SIDE = 32
ENDINGS = {".bmp", ".gif", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp"}


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


def picture_paths(folder: str | os.PathLike[str]) -> list[Path]:
    """The picture files in a folder and all folders in it, sorted by path.

    Raises
    ------
    RelstudyError
        if there is none
    """
    paths = sorted(path for path in Path(folder).rglob("*") if path.suffix.lower() in ENDINGS and path.is_file())
    if not paths:
        raise RelstudyError(f"{os.fspath(folder)}: no picture in this folder ({', '.join(sorted(ENDINGS))})")
    return paths


def read_pictures(paths: list[Path]) -> np.ndarray:
    """Pictures of 32 x 32 pixels in three colours, uint8 (n, 32, 32, 3): 3 kB each, 0.3 GB for 100,000.

    Raises
    ------
    RelstudyError
        for a file that cannot be read as a picture
    """
    pictures = np.empty((len(paths), SIDE, SIDE, 3), dtype=np.uint8)
    for row, path in enumerate(paths):
        try:
            with Image.open(path) as picture:
                picture.draft("RGB", (SIDE, SIDE))
                pictures[row] = np.asarray(picture.convert("RGB").resize((SIDE, SIDE), Image.Resampling.BOX))
        except (UnidentifiedImageError, OSError, ValueError, SyntaxError, Image.DecompressionBombError):
            raise RelstudyError(f"{path}: this cannot be read as a picture") from None
    return pictures


def folder_classes(folder: str | os.PathLike[str], paths: list[Path]) -> np.ndarray:
    """The name of the first folder below `folder` that each picture is in, as its class: str (n,).

    Raises
    ------
    RelstudyError
        for a picture that is in none
    """
    names = [path.relative_to(folder).parts for path in paths]
    for path, parts in zip(paths, names, strict=True):
        if len(parts) == 1:
            raise RelstudyError(f"{path}: this picture is in no folder that names its class; give --train-labels")
    return np.array([parts[0] for parts in names])
