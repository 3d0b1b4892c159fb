"""SIMPLIcity in small: regions of colour and texture, matched by integrated region matching.

Shirahatti and Barnard 2005, section 3.4; Wang, Li and Wiederhold 2001. Their sorting of
pictures into textured and others, and the location of regions, are in the variant simplicity-classes; graphs apart from
photographs are left out.
"""

from __future__ import annotations

import warnings
from typing import Self

import numpy as np

from relstudy.studyapp.collection.items import Collection
from relstudy.studyapp.systems.base import PictureSystem, Progress, extra, silent
from relstudy.studyapp.systems.features import picture_features

BLOCK = 4
MOST_REGIONS = 8
EXPLAINED = 0.85
# mean chi-square below which a picture is textured (Li, Wang and Wiederhold 2000b)
TEXTURED_BELOW = 0.32
# what a whole height or width apart counts beside squared distances of colour: our own choice, the source names none
LOCATION = 400.0
# mean inertia of a disc, by order: 2 / ((g + 2) pi^(g/2))
DISC = np.array([2 / ((order + 2) * np.pi ** (order / 2)) for order in (1, 2, 3)])


def block_features(rgb: np.ndarray) -> tuple[np.ndarray, tuple[int, int]]:
    """Six features of each 4 x 4 block: mean L, U, V, and the root mean square of L's three high wavelet bands (Haar).

    Returns
    -------
    float [blocks, 6], and how many blocks there are down and across; a border under four pixels is cut off
    """
    colour, pywt = extra("skimage.color"), extra("pywt")
    height, width = (max(BLOCK, side // BLOCK * BLOCK) for side in rgb.shape[:2])
    if rgb.shape[0] < height or rgb.shape[1] < width:
        rgb = np.pad(rgb, ((0, height - rgb.shape[0]), (0, width - rgb.shape[1]), (0, 0)), mode="edge")
    luv = colour.rgb2luv(rgb[:height, :width])
    down, across = height // BLOCK, width // BLOCK
    means = luv.reshape(down, BLOCK, across, BLOCK, 3).mean(axis=(1, 3))
    _, bands = pywt.dwt2(luv[..., 0], "haar")
    energy = [np.sqrt((band**2).reshape(down, 2, across, 2).mean(axis=(1, 3))) for band in bands]
    return np.dstack([means, *energy]).reshape(-1, 6), (down, across)


def regions(rgb: np.ndarray) -> dict[str, np.ndarray]:
    """Regions of one picture by k-means over its blocks; as many as explain 85 % of the variance, at most 8.

    Returns
    -------
    area : share of the blocks, float32 [8], 0 if there are fewer regions
    features : mean block features, float32 [8, 6]
    shape : inertia of order 1 to 3 over that of a disc, float32 [8, 3]
    centre : mean position of the blocks, down and across, as shares of the picture's height and width, float32 [8, 2]
    chi_square : how unevenly a region lies over the picture, `zone_chi_square`, mean over the regions, float32 [1]
    """
    from scipy.cluster.vq import kmeans2

    blocks, (down, across) = block_features(rgb)
    total = float(((blocks - blocks.mean(axis=0)) ** 2).sum())
    labels = np.zeros(len(blocks), dtype=np.int64)
    for number in range(2, MOST_REGIONS + 1):
        if total < 1e-6 * len(blocks) or len(blocks) < number:
            break
        with warnings.catch_warnings():
            # an empty cluster is not a region; numbering below leaves it out
            warnings.simplefilter("ignore", UserWarning)
            centres, labels = kmeans2(blocks, number, minit="++", iter=12, seed=np.random.default_rng(number))
        if ((blocks - centres[labels]) ** 2).sum() <= (1 - EXPLAINED) * total:
            break
    _, labels = np.unique(labels, return_inverse=True)
    rows, columns = np.divmod(np.arange(len(blocks)), across)
    area = np.zeros(MOST_REGIONS, dtype=np.float32)
    features = np.zeros((MOST_REGIONS, 6), dtype=np.float32)
    shape = np.zeros((MOST_REGIONS, 3), dtype=np.float32)
    centre = np.zeros((MOST_REGIONS, 2), dtype=np.float32)
    for region in range(labels.max() + 1):
        inside = labels == region
        volume = inside.sum()
        area[region] = volume / len(blocks)
        features[region] = blocks[inside].mean(axis=0)
        away = np.hypot(rows[inside] - rows[inside].mean(), columns[inside] - columns[inside].mean())
        for order in (1, 2, 3):
            shape[region, order - 1] = (away**order).sum() / volume ** (1 + order / 2) / DISC[order - 1]
        centre[region] = (rows[inside].mean() + 0.5) / down, (columns[inside].mean() + 0.5) / across
    chi_square = np.array([zone_chi_square(labels, rows / down, columns / across).mean()], dtype=np.float32)
    return {"area": area, "features": features, "shape": shape, "centre": centre, "chi_square": chi_square}


def zone_chi_square(labels: np.ndarray, down: np.ndarray, across: np.ndarray) -> np.ndarray:
    """Unevenness of each region over the 4 x 4 zones of the picture.

    sum over zones j of (p_j - 1/16)**2 / (1/16), where p_j is the share of the region in zone j: 0 where a region is
    spread evenly, as in a texture; 15 where it lies in one zone. Source: Li, Wang and Wiederhold 2000b.

    Parameters
    ----------
    labels : each block's region, int [blocks], from 0 without a gap
    down, across : each block's position as a share of the picture's height and width, 0 to 1, excluding 1

    Returns
    -------
    float64 [regions]

    Examples
    --------
    >>> zone = np.arange(16)
    >>> zone_chi_square(np.zeros(16, int), zone // 4 / 4, zone % 4 / 4).tolist()
    [0.0]
    >>> zone_chi_square(np.zeros(5, int), np.zeros(5), np.zeros(5)).tolist()
    [15.0]
    """
    zone = (down * 4).astype(np.int64) * 4 + (across * 4).astype(np.int64)
    counts = np.zeros((labels.max() + 1, 16))
    np.add.at(counts, (labels, zone), 1)
    share = counts / counts.sum(axis=1, keepdims=True)
    return np.asarray(16 * ((share - 1 / 16) ** 2).sum(axis=1))


def region_distances(
    features: np.ndarray, shape: np.ndarray, query_features: np.ndarray, query_shape: np.ndarray
) -> np.ndarray:
    """Distance of every region of the query to every region of every picture, [pictures, query regions, regions].

    Squared distance in colour and texture, damped to 0.85 or 0.5 of itself where the shapes are alike.
    """
    apart = _squared_distances(features, query_features)
    unlike = _squared_distances(shape, query_shape)
    return apart * np.where(unlike >= 0.5, 1.0, np.where(unlike >= 0.2, 0.85, 0.5))


def _squared_distances(regions: np.ndarray, query: np.ndarray) -> np.ndarray:
    """Between every region [pictures, regions, features] and every region of the query [query regions, features]."""
    difference = regions[:, None] - query[None, :, None]
    return np.asarray(np.einsum("pqrf,pqrf->pqr", difference, difference))


def integrated_region_matching(distance: np.ndarray, query_area: np.ndarray, area: np.ndarray) -> np.ndarray:
    """IRM distance: the most similar pair of regions is matched first, with what area both have left.

    Source: Shirahatti and Barnard 2005, Eq. 3.6; Li, Wang and Wiederhold 2000.

    Parameters
    ----------
    distance : [pictures, query regions, regions]
    query_area : [query regions], sums to 1
    area : [pictures, regions], each row sums to 1; 0 is not a region

    Returns
    -------
    float64 [pictures]

    Examples
    --------
    >>> distance = np.array([[[0.0, 4.0], [4.0, 1.0]]])
    >>> integrated_region_matching(distance, np.array([0.5, 0.5]), np.array([[0.75, 0.25]])).tolist()
    [1.25]
    """
    number, ours, theirs = distance.shape
    left = np.tile(query_area.astype(np.float64), (number, 1))
    right = area.astype(np.float64).copy()
    open_ = np.where((left[:, :, None] > 0) & (right[:, None, :] > 0), distance, np.inf).reshape(number, -1)
    total = np.zeros(number)
    everyone = np.arange(number)
    for _ in range(ours + theirs - 1):
        best = open_.argmin(axis=1)
        nearest = open_[everyone, best]
        active = np.isfinite(nearest)
        if not active.any():
            break
        one, other = np.divmod(best, theirs)
        matched = np.where(active, np.minimum(left[everyone, one], right[everyone, other]), 0.0)
        total += matched * np.where(active, nearest, 0.0)
        # the side that is used up takes no further part
        ours_done = left[everyone, one] <= right[everyone, other]
        left[everyone, one] -= matched
        right[everyone, other] -= matched
        grid = open_.reshape(number, ours, theirs)
        grid[everyone[ours_done], one[ours_done], :] = np.inf
        grid[everyone[~ours_done], :, other[~ours_done]] = np.inf
    return total


class Simplicity(PictureSystem):
    """Minus the IRM distance: 0 for a picture and itself, less for others.

    Indexing costs about 30 ms a picture, a query O(pictures x 64 x 15).

    Parameters
    ----------
    name : "simplicity", or "simplicity-classes": regions also have a location, and pictures are textured or not by the
        mean chi-square of their regions. Textured pictures are matched without regard to shape and location, and a
        picture of the other class comes after every picture of the query's own
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._by_classes = name == "simplicity-classes"

    def fit(self, collection: Collection, progress: Progress = silent) -> Self:
        extra("skimage.color"), extra("pywt")
        positions = self._take_pictures(collection)
        self._regions = picture_features(collection, positions, "simplicity-2", regions, progress)
        self.textured = self._regions["chi_square"][:, 0] < TEXTURED_BELOW
        return self

    def _scores(self, row: int) -> np.ndarray:
        area, features, shape, centre = (self._regions[name] for name in ("area", "features", "shape", "centre"))
        present = area[row] > 0
        if self._by_classes and self.textured[row]:
            distance = _squared_distances(features, features[row, present])
        else:
            distance = region_distances(features, shape, features[row, present], shape[row, present])
            if self._by_classes:
                distance = distance + LOCATION * _squared_distances(centre, centre[row, present])
        apart = integrated_region_matching(distance, area[row, present], area)
        if self._by_classes:
            other = self.textured != self.textured[row]
            apart = apart + np.where(other, apart.max() + 1, 0.0)
        return -apart
