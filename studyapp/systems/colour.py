"""A global colour histogram, compared by intersection (Swain and Ballard 1991)."""

from __future__ import annotations

from typing import Self

import numpy as np

from relstudy.studyapp.collection.items import Collection
from relstudy.studyapp.systems.base import PictureSystem, Progress, silent

HUES, SATURATIONS, VALUES, GREYS = 18, 3, 3, 4
COLOURS = HUES * SATURATIONS * VALUES + GREYS
# below these a hue is noise: the pixel counts as one of four greys
GREY_SATURATION, BLACK_VALUE = 0.10, 0.08


def palette_index(rgb: np.ndarray) -> np.ndarray:
    """Each pixel's colour in a palette of 18 hues x 3 saturations x 3 values and 4 greys.

    Source: Shirahatti and Barnard 2005, section 3.3.1, where the palette is said to have 170 colours: 18 x 3 x 3 and 4
    greys are 166, and so many there are here.

    Parameters
    ----------
    rgb : uint8, shape (..., 3)

    Returns
    -------
    int64, shape (...), 0 to 165; 162 to 165 are the greys, dark to light

    Examples
    --------
    >>> palette_index(np.array([[255, 0, 0], [0, 0, 0], [255, 255, 255]], dtype=np.uint8)).tolist()
    [8, 162, 165]
    """
    hue, saturation, value = hsv(rgb)
    bins = [
        np.minimum((channel * levels).astype(np.int64), levels - 1)
        for channel, levels in ((hue, HUES), (saturation, SATURATIONS), (value, VALUES))
    ]
    coloured = (bins[0] * SATURATIONS + bins[1]) * VALUES + bins[2]
    grey = HUES * SATURATIONS * VALUES + np.minimum((value * GREYS).astype(np.int64), GREYS - 1)
    return np.where((saturation < GREY_SATURATION) | (value < BLACK_VALUE), grey, coloured)


def hsv(rgb: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Hue (0 to 1, excluding 1), saturation and value (0 to 1) of uint8 pixels, each of shape (...)."""
    red, green, blue = (rgb[..., channel].astype(np.float32) / 255 for channel in range(3))
    high, low = np.maximum(np.maximum(red, green), blue), np.minimum(np.minimum(red, green), blue)
    span = high - low
    safe = np.where(span > 0, span, 1)
    sixth = np.select(
        [high == red, high == green],
        [(green - blue) / safe, 2 + (blue - red) / safe],
        4 + (red - green) / safe,
    )
    hue = np.where(span > 0, (sixth / 6) % 1.0, 0.0)
    saturation = np.where(high > 0, span / np.where(high > 0, high, 1), 0.0)
    return hue, saturation, high


class Colour(PictureSystem):
    """Histogram intersection over a palette of 166 colours: the share of pixels that two pictures have in common.

    1 for a picture and itself, 0 where no colour is shared. One query costs O(items x 166).
    """

    name = "colour"

    def fit(self, collection: Collection, progress: Progress = silent) -> Self:
        positions = self._take_pictures(collection)
        self._histograms = np.zeros((len(positions), COLOURS), dtype=np.float32)
        for row in progress(range(len(positions)), "Colour histograms", len(positions)):
            pixels = np.asarray(collection.picture(positions[row]))
            counts = np.bincount(palette_index(pixels).ravel(), minlength=COLOURS)
            self._histograms[row] = counts / counts.sum()
        return self

    def _scores(self, row: int) -> np.ndarray:
        return np.asarray(np.minimum(self._histograms, self._histograms[row]).sum(axis=1, dtype=np.float64))
