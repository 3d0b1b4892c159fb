"""GIFT, the GNU image finding tool, in small: colours and textures as words in an inverted file.

Shirahatti and Barnard 2005, section 3.3; Squire, Müller, Müller and Pun 2000. Differences: bands of texture energy are
deciles of the collection (theirs were found by experiment), and there is no relevance feedback.
"""

from __future__ import annotations

from typing import Self

import numpy as np

from relstudy.studyapp.collection.items import Collection
from relstudy.studyapp.systems.base import PictureSystem, Progress, silent
from relstudy.studyapp.systems.colour import COLOURS, palette_index
from relstudy.studyapp.systems.features import picture_features
from relstudy.studyapp.systems.gabor import FILTERS, gabor_energy, luminance_of

SIDE, BLOCK, BANDS = 256, 16, 10
ACROSS = SIDE // BLOCK
WEIGHTED = "gift-weighted"
VARIANTS = {
    **dict.fromkeys(("gift", WEIGHTED), ("colour", "texture")),
    "gift-colour": ("colour",),
    "gift-texture": ("texture",),
}


def gift_features(rgb: np.ndarray) -> dict[str, np.ndarray]:
    """Features of one picture, taken at 256 x 256 pixels.

    Returns
    -------
    histogram : share of pixels of each of 166 colours, float32 [166]
    modes : most frequent colour of each block of 16, 32, 64 and 128 pixels, uint8 [340]
    energy : mean Gabor energy of each filter in each block of 16 pixels, float32 [12 x 256]
    """
    from PIL import Image

    square = np.asarray(Image.fromarray(rgb).resize((SIDE, SIDE), Image.Resampling.BILINEAR))
    colours = palette_index(square)
    block = np.arange(SIDE) // BLOCK
    of_block = block[:, None] * ACROSS + block[None, :]
    counts = np.bincount((of_block * COLOURS + colours).ravel(), minlength=ACROSS**2 * COLOURS)
    counts = counts.reshape(ACROSS, ACROSS, COLOURS)
    modes = []
    level = counts
    while len(level) >= 2:
        modes.append(level.argmax(axis=-1).ravel())
        half = len(level) // 2
        level = level.reshape(half, 2, half, 2, COLOURS).sum(axis=(1, 3))
    energy = gabor_energy(luminance_of(square)).reshape(FILTERS, ACROSS, BLOCK, ACROSS, BLOCK).mean(axis=(2, 4))
    return {
        "histogram": (counts.sum(axis=(0, 1)) / SIDE**2).astype(np.float32),
        "modes": np.concatenate(modes).astype(np.uint8),
        "energy": energy.reshape(-1).astype(np.float32),
    }


class InvertedFile:
    """Inverted file: the pictures with each feature, and weights log(1 / cf)^2 of its collection frequency cf.

    Parameters
    ----------
    codes : one feature out of `values` for each slot, int [pictures, slots]
    values : how many there are to a slot
    """

    def __init__(self, codes: np.ndarray, values: int) -> None:
        number, slots = codes.shape
        self._number = number
        # built slot by slot, so that memory stays near that of the postings themselves
        self._postings = np.empty((slots, number), dtype=np.int32)
        counts = np.zeros((slots, values), dtype=np.int64)
        for slot in range(slots):
            self._postings[slot] = np.argsort(codes[:, slot], kind="stable")
            counts[slot] = np.bincount(codes[:, slot], minlength=values)
        self._starts = np.zeros((slots, values + 1), dtype=np.int64)
        self._starts[:, 1:] = np.cumsum(counts, axis=1)
        self._weights = np.log(number / np.maximum(counts, 1)) ** 2

    def score(self, codes: np.ndarray) -> np.ndarray:
        """Sum of the weights of the features that each picture shares with the query, over what the query has in all.

        Only the postings of the query's own features are visited.
        """
        slots = np.arange(len(codes))
        begin, end = self._starts[slots, codes], self._starts[slots, codes + 1]
        weights = self._weights[slots, codes]
        useful = np.flatnonzero((weights > 0) & (end > begin))
        total = float(weights[useful].sum())
        if total == 0:
            return np.zeros(self._number)
        visited = np.concatenate([self._postings[slot, begin[slot] : end[slot]] for slot in useful])
        given = np.repeat(weights[useful], end[useful] - begin[useful])
        return np.bincount(visited, weights=given, minlength=self._number) / total


class Gift(PictureSystem):
    """Mean of up to four likenesses: global colour histogram, local mode colours, global and local texture bands.

    Histograms are compared by intersection; local features through the inverted file. A picture scores 1 with itself
    as long as any of its local features is rarer than universal. Indexing costs about 25 ms a picture; a query visits
    about a tenth of the postings.

    Parameters
    ----------
    name : gift (colour and texture), gift-colour or gift-texture; gift-weighted weighs the histograms, too, by how
        much of a feature a picture has and how many pictures have it, where gift takes plain intersections
    """

    by_all_items = True

    def __init__(self, name: str) -> None:
        self.name = name
        self._kinds = VARIANTS[name]

    def fit(self, collection: Collection, progress: Progress = silent) -> Self:
        positions = self._take_pictures(collection)
        features = picture_features(collection, positions, "gift-1", gift_features, progress)
        self._groups: list[tuple[np.ndarray, np.ndarray, InvertedFile]] = []
        if "colour" in self._kinds:
            modes = features["modes"].astype(np.int64)
            self._groups.append((features["histogram"], modes, InvertedFile(modes, COLOURS)))
        if "texture" in self._kinds:
            bands = _bands(features["energy"])
            histogram = np.zeros((len(bands), FILTERS * BANDS), dtype=np.float32)
            per_filter = bands.reshape(len(bands), FILTERS, -1)
            for band in range(BANDS):
                histogram[:, band::BANDS] = (per_filter == band).mean(axis=2) / FILTERS
            self._groups.append((histogram, bands, InvertedFile(bands, BANDS)))
        return self

    def _scores(self, row: int) -> np.ndarray:
        scores = np.zeros(len(self._positions))
        for histogram, codes, index in self._groups:
            if self.name == WEIGHTED:
                scores += shared_share(histogram, histogram[row], frequency_weights(histogram))
            else:
                scores += np.minimum(histogram, histogram[row]).sum(axis=1, dtype=np.float64)
            scores += index.score(codes[row].astype(np.int64))
        return scores / (2 * len(self._groups))


def frequency_weights(histogram: np.ndarray) -> np.ndarray:
    """log(1 / cf)**2 of the share cf of pictures that have each feature, float64 [features], 0 where none has it."""
    cf = (histogram > 0).mean(axis=0)
    return np.log(np.where(cf > 0, cf, 1.0)) ** 2


def shared_share(histogram: np.ndarray, query: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Share of the query's histogram that each picture's has too, feature by feature.

    Parameters
    ----------
    histogram : float [pictures, features]
    query : float [features]
    weights : float [features]; with ones this is an intersection of histograms (Swain and Ballard 1991)

    Returns
    -------
    float64 [pictures], 1 for the query itself; 0 throughout where the query has only features of weight 0

    Examples
    --------
    >>> shared_share(np.array([[0.5, 0.5], [1.0, 0.0]]), np.array([0.5, 0.5]), np.array([1.0, 3.0])).tolist()
    [1.0, 0.25]
    """
    weighted = weights.astype(np.float64)
    total = float(query @ weighted)
    if total == 0:
        return np.zeros(len(histogram))
    return np.asarray((np.minimum(histogram, query) @ weighted) / total)


def _bands(energy: np.ndarray) -> np.ndarray:
    """Energies as bands 0 to 9 between the deciles of each filter over the collection, uint8 [pictures, 12 x 256]."""
    number = len(energy)
    per_filter = energy.reshape(number, FILTERS, -1)
    # deciles of at most 500 pictures are as good and need no copy of the whole
    sample = per_filter[:: max(1, number // 500)]
    bands = np.empty(per_filter.shape, dtype=np.uint8)
    for position in range(FILTERS):
        edges = np.quantile(sample[:, position], np.arange(1, BANDS) / BANDS)
        bands[:, position] = np.searchsorted(edges, per_filter[:, position], side="right")
    return bands.reshape(number, -1)
