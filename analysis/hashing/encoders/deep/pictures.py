"""Pictures of a folder as one array, for encoders that learn from pictures."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from PIL import Image, UnidentifiedImageError

from relstudy.common.errors import RelstudyError

SIDE = 32
ENDINGS = {".bmp", ".gif", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp"}


def picture_paths(folder: str | os.PathLike[str]) -> list[Path]:
    """The picture files in a folder and all folders in it, sorted by path.

    Raises
    ------
    RelstudyError
        where there is none
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
