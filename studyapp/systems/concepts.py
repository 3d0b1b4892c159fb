"""Concepts that generate both the regions and the words of a picture.

Shirahatti and Barnard 2005, section 3.2; Barnard et al. 2003, model I without document clusters. Each concept l has a
multinomial over words and a Gaussian with diagonal covariance over region features; each picture d has its own mixture
P(l|d). Trained by EM. A query's regions Q are scored by the candidate's chance of emitting them: P(Q|D, d) = prod over
regions of sum_l P(region|l) P(l|d) (Eq. 3.4).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Self

import numpy as np
import scipy.sparse as sparse

from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.collection.items import Collection
from relstudy.studyapp.systems.base import PictureSystem, Progress, extra, silent
from relstudy.studyapp.systems.features import picture_features
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
    area : share of the picture, float32 [8], 0 if there are fewer regions
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


LIKELIHOOD = "-likelihood"
CONCEPTS = 50
SEED = 0
ROUNDS = 30
FOLDS = 3
SUBSETS = 4
SMALLEST_VARIANCE = 0.05
# pseudo-counts: of concepts in a picture, and of words in a concept
PRIOR_CONCEPT, PRIOR_WORD = 0.05, 0.02


@dataclass(frozen=True, eq=False)
class Blobs:
    """Regions and words of pictures.

    Parameters
    ----------
    pictures : how many there are
    regions : standardised features, float [regions, features]
    picture : each region's picture, int [regions]
    word, word_picture : each occurrence of a word: which word, and in which picture, int [occurrences]
    words : how many words there are; 0 where they are not used
    """

    pictures: int
    regions: np.ndarray
    picture: np.ndarray
    word: np.ndarray
    word_picture: np.ndarray
    words: int

    def without_words(self) -> Blobs:
        """The regions alone."""
        none = np.zeros(0, dtype=np.int64)
        return Blobs(self.pictures, self.regions, self.picture, none, none, 0)

    def some(self, wanted: np.ndarray) -> Blobs:
        """Only the pictures wanted, bool [pictures]; pictures are numbered again, words are not."""
        renumbered = np.cumsum(wanted) - 1
        rows, words = wanted[self.picture], wanted[self.word_picture]
        return Blobs(
            int(wanted.sum()),
            self.regions[rows],
            renumbered[self.picture[rows]],
            self.word[words],
            renumbered[self.word_picture[words]],
            self.words,
        )


@dataclass(frozen=True, eq=False)
class ConceptModel:
    """The trained concepts.

    Parameters
    ----------
    mean, variance : of the region features, float [concepts, features]
    word : P(word | concept), float [concepts, words]
    prior : share of the regions that each concept holds, float [concepts]
    """

    mean: np.ndarray
    variance: np.ndarray
    word: np.ndarray
    prior: np.ndarray

    @classmethod
    def train(cls, blobs: Blobs, concepts: int = CONCEPTS, rounds: int = ROUNDS) -> ConceptModel:
        """EM from a k-means start; cost O(rounds x regions x concepts x features)."""
        from sklearn.cluster import KMeans

        concepts = max(1, min(concepts, len(np.unique(blobs.regions, axis=0))))
        start = KMeans(concepts, n_init=1, random_state=SEED).fit(blobs.regions)
        model = cls._from(blobs, np.eye(concepts)[start.labels_], np.full((len(blobs.word), concepts), 1 / concepts))
        mixture = model.mixtures(blobs.without_words(), rounds=2)
        for _ in range(rounds):
            of_regions = model.region_owner(blobs.regions, mixture[blobs.picture])
            of_words = model.word_owner(blobs.word, mixture[blobs.word_picture])
            mixture = _mixture(of_regions, of_words, blobs)
            model = cls._from(blobs, of_regions, of_words)
        return model

    @classmethod
    def _from(cls, blobs: Blobs, of_regions: np.ndarray, of_words: np.ndarray) -> ConceptModel:
        weight = of_regions.sum(axis=0) + 1e-9
        mean = of_regions.T @ blobs.regions / weight[:, None]
        square = of_regions.T @ blobs.regions**2 / weight[:, None]
        variance = np.maximum(square - mean**2, SMALLEST_VARIANCE)
        word = PRIOR_WORD + _sums(of_words, blobs.word, blobs.words)
        word /= np.maximum(word.sum(axis=0), 1e-300)
        return cls(mean, variance, word.T, weight / weight.sum())

    def region_density(self, regions: np.ndarray) -> np.ndarray:
        """log P(region | concept), float [regions, concepts]."""
        precision = 1 / self.variance
        apart = regions**2 @ precision.T - 2 * regions @ (self.mean * precision).T + (self.mean**2 * precision).sum(1)
        return -0.5 * (apart + np.log(2 * np.pi * self.variance).sum(axis=1))

    def region_owner(self, regions: np.ndarray, mixture: np.ndarray) -> np.ndarray:
        """P(concept | region, its picture), float [regions, concepts]."""
        owner = self.region_density(regions)
        owner += np.log(mixture)
        owner -= owner.max(axis=1, keepdims=True)
        np.exp(owner, out=owner)
        owner /= owner.sum(axis=1, keepdims=True)
        return owner

    def word_owner(self, words: np.ndarray, mixture: np.ndarray) -> np.ndarray:
        """P(concept | word, its picture), float [occurrences, concepts]."""
        joint = self.word.T[words] * mixture
        return np.asarray(joint / joint.sum(axis=1, keepdims=True))

    def mixtures(self, blobs: Blobs, rounds: int = ROUNDS) -> np.ndarray:
        """P(concept | picture) with the nodes held fixed, float [pictures, concepts]."""
        mixture = np.tile(self.prior, (blobs.pictures, 1))
        for _ in range(rounds):
            of_regions = self.region_owner(blobs.regions, mixture[blobs.picture])
            of_words = self.word_owner(blobs.word, mixture[blobs.word_picture])
            mixture = _mixture(of_regions, of_words, blobs)
        return mixture


def _mixture(of_regions: np.ndarray, of_words: np.ndarray, blobs: Blobs) -> np.ndarray:
    counts = PRIOR_CONCEPT + _sums(of_regions, blobs.picture, blobs.pictures)
    counts += _sums(of_words, blobs.word_picture, blobs.pictures)
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def _sums(rows: np.ndarray, group: np.ndarray, groups: int) -> np.ndarray:
    """Sum of the rows of each group, float [groups, columns]."""
    number = len(rows)
    member = sparse.csr_array((np.ones(number), (group, np.arange(number))), shape=(groups, number))
    return np.asarray(member @ rows)


def read_blobs(
    collection: Collection, positions: list[int], name: str, words: bool, progress: Progress
) -> tuple[Blobs, dict[str, int]]:
    """The regions of a collection's pictures, standardised, and with `words` their keywords with each word's number.

    Raises
    ------
    RelstudyError
        when words are asked for and no picture has any; `name` is that of the system that asks
    """
    features = picture_features(collection, positions, "segments-1", segment_features, progress)
    picture, region = np.nonzero(features["area"] > 0)
    raw = features["features"][picture, region].astype(np.float64)
    deviation = raw.std(axis=0)
    regions = (raw - raw.mean(axis=0)) / np.where(deviation > 1e-9, deviation, 1)
    keywords = [sorted(collection.items[position].keywords) if words else [] for position in positions]
    vocabulary = {word: number for number, word in enumerate(sorted({word for entry in keywords for word in entry}))}
    if words and not vocabulary:
        raise RelstudyError(f"system {name} learns from keywords, and no picture has any")
    blobs = Blobs(
        len(positions),
        regions,
        picture,
        np.array([vocabulary[word] for entry in keywords for word in entry], dtype=np.int64),
        np.array([row for row, entry in enumerate(keywords) for _ in entry], dtype=np.int64),
        len(vocabulary),
    )
    return blobs, vocabulary


def train_on_parts(blobs: Blobs, parts: int, name: str) -> tuple[np.ndarray, list[ConceptModel]]:
    """Split the pictures into parts at random and train a model on each: each picture's part, int [pictures], the
    models."""
    if blobs.pictures < 2 * parts:
        raise RelstudyError(
            f"system {name} trains on {parts} parts of the collection and needs at least {2 * parts} pictures"
        )
    part = np.random.default_rng(SEED).permutation(blobs.pictures) % parts
    return part, [ConceptModel.train(blobs.some(part == each)) for each in range(parts)]


class Concepts(PictureSystem):
    """log P(Q | candidate) - log P(Q | the average candidate), per region of the query; or Eq. 3.4 itself.

    Parameters
    ----------
    name : romm (regions only) or rwmm (regions and words while training; only regions for retrieval), and
        "-all": trained on all pictures;
        "-test": every pair is scored by a model that has seen neither picture, trained on another third of the
        pictures; "-calib" (romm only): the pictures are split into four parts with a model each, every candidate is
        scored by the model of its own part, and the results are put together.
        With "-likelihood" at the end the score is log P(Q | D, d) (Shirahatti and Barnard 2005, Eq. 3.4). With one
        model ("-all") both scores order a query's candidates alike. Across queries Eq. 3.4 says first of all how many
        regions a query has, and how rare they are; and models trained apart give likelihoods of different height,
        which the ratio evens out

    Notes
    -----
    Segmenting costs about 60 ms a picture; training 30 rounds over 1,000 pictures a few seconds; a query
    O(regions x concepts x pictures).
    """

    by_all_items = True

    def __init__(self, name: str) -> None:
        self.name = name
        self._variant = name.removesuffix(LIKELIHOOD)

    def fit(self, collection: Collection, progress: Progress = silent) -> Self:
        extra("skimage.segmentation")
        positions = self._take_pictures(collection)
        with_words = self._variant.startswith("rwmm")
        self._blobs, _ = read_blobs(collection, positions, self.name, with_words, progress)
        if self._variant.endswith("-all"):
            self._part = np.zeros(len(positions), dtype=np.int64)
            self._models = [ConceptModel.train(self._blobs)]
            seen = self._blobs
        else:
            parts = SUBSETS if self._variant.endswith("-calib") else FOLDS
            self._part, self._models = train_on_parts(self._blobs, parts, self.name)
            # a held-out picture is known by its regions alone
            seen = self._blobs.without_words()
        self._mixtures = [model.mixtures(seen) for model in self._models]
        return self

    def _scores(self, row: int) -> np.ndarray:
        regions = self._blobs.regions[self._blobs.picture == row]
        by_model = [self._emission(regions, which) for which in range(len(self._models))]
        if self._variant.endswith("-test"):
            # the third of the collection that holds neither the query nor the candidate
            of_query, of_candidate = self._part[row], self._part
            other = FOLDS - of_query - of_candidate
            return np.choose(np.where(of_candidate == of_query, (of_query + 1) % FOLDS, other), by_model)
        return np.choose(self._part, by_model)

    def _emission(self, regions: np.ndarray, which: int) -> np.ndarray:
        model, mixture = self._models[which], self._mixtures[which]
        log = model.region_density(regions)
        top = log.max(axis=1, keepdims=True)
        density = np.exp(log - top)
        emitted = np.log(density @ mixture.T + 1e-300)
        if self.name.endswith(LIKELIHOOD):
            return np.asarray((emitted + top).sum(axis=0))
        average = np.log(density @ mixture.mean(axis=0) + 1e-300)
        return np.asarray((emitted - average[:, None]).mean(axis=0))
