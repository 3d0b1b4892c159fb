"""Pictures of CIFAR-10 and what encoders can learn from them: gradients and colours, or patches.

`scripts/papers_001_003.py` uses it; run alone it writes the features of all pictures:

    python scripts/hashing_features.py --work out [--data FOLDER] [--items patches]

FOLDER holds images.tar.xz with train/CLASS/*.jpg and test/CLASS/*.jpg (default: ../shared/data/cifar10_jpeg).
"""

from __future__ import annotations

import argparse
import io
import sys
import tarfile
from pathlib import Path

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from PIL import Image
from sklearn.cluster import MiniBatchKMeans

# A neighbour of this file has the name of a library (coverage), so this folder must not come first.
sys.path[0] = str(Path(__file__).resolve().parent.parent)

from relstudy.common.console import progress  # noqa: E402
from relstudy.common.tables import replacing  # noqa: E402

DATA = Path(__file__).resolve().parent.parent.parent / "shared" / "data" / "cifar10_jpeg"
SIDE = 6
"""Of a patch, in pixels."""
PATCHES = 400
"""Centres that a patch is held against."""


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


def patch_features(pictures: np.ndarray, training: np.ndarray, seed: int = 0) -> np.ndarray:
    """How near the patches in each quarter of a picture come to 400 centres of patches: float32 (n, 1600).

    Coates, Ng and Lee (2011): contrast-normalised patches of 6 x 6 pixels, whitened, k-means, the activation
    max(0, mean distance - distance), summed over each quarter. Centres come from the training pictures alone.

    Parameters
    ----------
    training : bool (n,)
    """
    rng = np.random.default_rng(seed)
    rows = rng.choice(np.flatnonzero(training), 4000)
    sampled = np.concatenate([_patches(pictures[row : row + 1])[rng.choice(27 * 27, 25)] for row in rows])
    mean = sampled.mean(axis=0)
    values, vectors = np.linalg.eigh(np.cov((sampled - mean).T))
    whitening = (vectors / np.sqrt(values + 0.1) @ vectors.T).astype(np.float32)
    means = MiniBatchKMeans(PATCHES, batch_size=5000, max_iter=30, n_init=1, random_state=seed)
    centres = means.fit((sampled - mean) @ whitening).cluster_centers_.astype(np.float32)
    starts = range(0, len(pictures), 50)
    blocks = progress(starts, "features", len(starts))
    return np.concatenate([_activations(pictures[i : i + 50], mean, whitening, centres) for i in blocks])


def _patches(pictures: np.ndarray) -> np.ndarray:
    """Every patch of every picture, its brightness and contrast taken out: float32 (27 * 27 * n, 108)."""
    windows = sliding_window_view(pictures, (SIDE, SIDE), axis=(1, 2))
    flat = windows.reshape(-1, 3 * SIDE * SIDE).astype(np.float32)
    flat -= flat.mean(axis=1, keepdims=True)
    return flat / np.sqrt(flat.var(axis=1, keepdims=True) + 10)


def _activations(pictures: np.ndarray, mean: np.ndarray, whitening: np.ndarray, centres: np.ndarray) -> np.ndarray:
    white = (_patches(pictures) - mean) @ whitening
    squared = (white**2).sum(axis=1, keepdims=True) - 2 * white @ centres.T + (centres**2).sum(axis=1)
    distance = np.sqrt(np.maximum(squared, 0))
    active = np.maximum(0, distance.mean(axis=1, keepdims=True) - distance).reshape(len(pictures), 27, 27, PATCHES)
    quarters = [active[:, y, x].sum(axis=(1, 2)) for y in HALVES for x in HALVES]
    return np.concatenate(quarters, axis=1)


HALVES = (slice(0, 14), slice(14, 27))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--work", type=Path, required=True, help="folder for what is unpacked and written")
    parser.add_argument("--items", choices=["gradients", "patches"], default="patches")
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    pictures, _, testing = read_pictures(arguments.data / "images.tar.xz", arguments.work)
    features = gradient_features(pictures) if arguments.items == "gradients" else patch_features(pictures, ~testing)
    np.save(arguments.work / f"{arguments.items}.npy", features)
    print(f"{features.shape[0]:,} pictures, {features.shape[1]:,} numbers each: {arguments.work / arguments.items}.npy")


if __name__ == "__main__":
    main()
