"""Pictures of CIFAR-10 and their gradients and colours, for `evidence/dispersion_papers.py`."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import numpy as np
from PIL import Image

from relstudy.common.runtime.files import replacing

DATA = Path(__file__).resolve().parent.parent.parent / "shared" / "data" / "cifar10_jpeg"


def read_pictures(archive: Path, work: Path, every: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pictures uint8 (n, 32, 32, 3), classes and the test part, unpacked once; `every` nth of them alone."""
    unpacked = work / f"pictures-{every}.npz"
    if not unpacked.exists():
        read = {}
        with tarfile.open(archive) as tar:
            for member in tar:
                if member.isfile() and int(Path(member.name).stem) % every == 0:
                    read[member.name] = np.asarray(
                        Image.open(io.BytesIO(tar.extractfile(member).read())).convert("RGB")
                    )
        paths = sorted(read)
        pictures = np.stack([read[path] for path in paths])
        names = np.array([path.split("/")[-2] for path in paths])
        testing = np.array(["test" in path.split("/") for path in paths])
        with replacing(unpacked) as beside, open(beside, "wb") as handle:
            np.savez(handle, pictures=pictures, classes=np.unique(names, return_inverse=True)[1], testing=testing)
    with np.load(unpacked, allow_pickle=False) as arrays:
        return arrays["pictures"], arrays["classes"], arrays["testing"]


def gradient_features(pictures: np.ndarray) -> np.ndarray:
    """Histograms of gradients in cells of 4 and 8 pixels, and mean colours of cells of 4: float32 (n, 912)."""
    return np.concatenate([_gradients(pictures[start : start + 1000]) for start in range(0, len(pictures), 1000)])


def _gradients(pictures: np.ndarray) -> np.ndarray:
    values = pictures.astype(np.float32) / 255
    down, across = np.gradient(values, axis=(1, 2))
    strength = np.hypot(down, across)
    strongest = strength.argmax(axis=3)[..., None]
    slope = np.take_along_axis(strength, strongest, 3)[..., 0]
    angle = np.arctan2(*(np.take_along_axis(part, strongest, 3)[..., 0] for part in (down, across))) % np.pi
    bins = np.minimum((angle / np.pi * 9).astype(int), 8)
    split = np.where(bins[..., None] == np.arange(9), slope[..., None], 0)
    parts = []
    for side in (4, 8):
        cells = _cells(split, side)
        parts.append(np.sqrt(cells / (cells.sum(axis=3, keepdims=True) + 0.05)).reshape(len(values), -1))
    parts.append(_cells(values, 4).reshape(len(values), -1))
    return np.concatenate(parts, axis=1).astype(np.float32)


def _cells(values: np.ndarray, side: int) -> np.ndarray:
    number, height, width, channels = values.shape
    return values.reshape(number, height // side, side, width // side, side, channels).mean(axis=(2, 4))
