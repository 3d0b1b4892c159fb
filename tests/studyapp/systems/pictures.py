"""Pictures whose likeness is obvious."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image

from relstudy.studyapp.collection.items import Collection, Item

WIDTH, HEIGHT = 192, 128
COLOURS = {"red": (200, 40, 40), "green": (40, 160, 60), "blue": (40, 70, 200)}


def stripes(angle: float, period: float) -> np.ndarray:
    """A grating from -1 to 1, [height, width]."""
    rows, columns = np.mgrid[:HEIGHT, :WIDTH]
    return np.sin(2 * np.pi * (columns * np.cos(angle) + rows * np.sin(angle)) / period)


TEXTURES: dict[str, Callable[[], np.ndarray]] = {
    "across": lambda: stripes(0.0, 4.0),
    "down": lambda: stripes(np.pi / 2, 4.0),
    "coarse": lambda: stripes(0.0, 16.0),
}


def in_colour(name: str, texture: np.ndarray | None, contrast: float = 40.0) -> np.ndarray:
    """One colour, with a texture of luminance on it."""
    pixels = np.tile(np.array(COLOURS[name], dtype=float), (HEIGHT, WIDTH, 1))
    if texture is not None:
        pixels = pixels * (1 + texture[..., None] * contrast / 200)
    return np.clip(pixels, 0, 255).astype(np.uint8)


def collection_of(folder: Path, pictures: dict[str, np.ndarray], keywords: dict[str, str] | None = None) -> Collection:
    """Write pictures as PNG and make a collection of them, ids as given."""
    items = []
    for name, pixels in pictures.items():
        path = folder / f"{name}.png"
        Image.fromarray(pixels).save(path)
        items.append(Item(name, "image", path=path, keywords=frozenset((keywords or {}).get(name, "").split()) - {""}))
    return Collection(items)


def coloured_textures() -> dict[str, np.ndarray]:
    """Every colour with every texture: red-across, red-down, ..."""
    return {f"{colour}-{name}": in_colour(colour, make()) for colour in COLOURS for name, make in TEXTURES.items()}
