"""Regions of a picture by normalised cuts of superpixels, and what they look like."""

from __future__ import annotations

import warnings

import numpy as np

from relstudy.studyapp.systems.base import extra
from relstudy.studyapp.systems.gabor import FILTERS, gabor_energy, luminance_of

MOST_REGIONS = 8
SUPERPIXELS = 80
SIDE = 128
REGION_FEATURES = 12 + FILTERS


def segment_features(rgb: np.ndarray) -> dict[str, np.ndarray]:
    """Features of the regions of one picture, at most 128 pixels wide or high.

    Superpixels (SLIC) are joined by normalised cuts (Shi and Malik 2000), relaxed to spectral clustering. A region is
    described as in Shirahatti and Barnard 2005, section 3.2: size, place (down, across), mean colour and its standard
    deviation (Lab), mean log energy of 12 oriented filters, convexity, first moment, and area over boundary length
    squared.

    Returns
    -------
    area : share of the picture, float32 [8], 0 where there are fewer regions
    features : float32 [8, 24]
    """
    from PIL import Image

    picture = Image.fromarray(rgb)
    picture.thumbnail((SIDE, SIDE), Image.Resampling.BILINEAR)
    pixels = np.asarray(picture)
    lab = extra("skimage.color").rgb2lab(pixels)
    labels = normalised_cut(lab)
    energy = np.log1p(1e4 * gabor_energy(luminance_of(pixels)))
    down, across = labels.shape
    measure = extra("skimage.measure")
    area = np.zeros(MOST_REGIONS, dtype=np.float32)
    features = np.zeros((MOST_REGIONS, REGION_FEATURES), dtype=np.float32)
    for number, region in enumerate(measure.regionprops(labels)):
        inside = labels == region.label
        row, column = region.centroid
        colours = lab[inside]
        area[number] = region.area / labels.size
        features[number] = np.r_[
            area[number],
            row / down,
            column / across,
            colours.mean(axis=0),
            colours.std(axis=0),
            energy[:, inside].mean(axis=1),
            region.solidity,
            np.hypot(region.coords[:, 0] - row, region.coords[:, 1] - column).mean() / np.sqrt(region.area),
            region.area / max(region.perimeter, 1.0) ** 2,
        ]
    return {"area": area, "features": features}


def normalised_cut(lab: np.ndarray) -> np.ndarray:
    """Label the regions of a Lab picture, int [height, width], from 1; at most 8."""
    superpixels = extra("skimage.segmentation").slic(
        lab, n_segments=SUPERPIXELS, compactness=10, convert2lab=False, start_label=0, channel_axis=-1
    )
    number = int(superpixels.max()) + 1
    if number <= 2:
        return np.asarray(superpixels + 1)
    flat = superpixels.ravel()
    counts = np.bincount(flat, minlength=number)
    rows, columns = np.divmod(np.arange(flat.size), lab.shape[1])
    mean = np.column_stack(
        [
            np.bincount(flat, weights=values, minlength=number) / counts
            for values in (*lab.reshape(-1, 3).T, rows, columns)
        ]
    )
    colour = ((mean[:, None, :3] - mean[None, :, :3]) ** 2).sum(axis=-1)
    away = ((mean[:, None, 3:] - mean[None, :, 3:]) ** 2).sum(axis=-1)
    reach = lab.shape[0] * lab.shape[1] / number
    affinity = np.exp(-colour / (2 * 12.0**2) - away / (8 * reach))
    wanted = min(MOST_REGIONS, number - 1, 1 + int(np.sqrt(np.ptp(mean[:, :3], axis=0).max())))
    if wanted < 2:
        return np.ones(lab.shape[:2], dtype=np.int64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        from sklearn.cluster import spectral_clustering

        joined = spectral_clustering(affinity, n_clusters=wanted, assign_labels="cluster_qr", random_state=0)
    _, joined = np.unique(joined, return_inverse=True)
    return np.asarray(joined[superpixels] + 1)
