"""A simulated panel: raters with a leniency, a spread, noise and doubts of their own.

A rater's answer to a pair depends only on the panel's seed, the rater and the pair, so the same rater gives the same
pair the same answer in whatever order pages come. How answers arise is known, so what calibration should find is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from zlib import crc32

import numpy as np
import pandas as pd
from scipy.special import ndtr

from relstudy.studyapp.example_pictures.collection import DemoCollection

LOW, HIGH = 1, 5
# Where leniency and spread pivot: about the mean true relevance of pairs that shaping proposes.
PIVOT = 2.5
CARELESS, LEAST = 7, 10
APPEAL = 1.0
"""Standard deviation of what appeals to everybody, in points of the scale."""
EQUAL = 0.4
"""Two results that differ by less, in points of the scale, are called equally good."""


@dataclass(frozen=True)
class SimulatedRater:
    """A rater's way from true relevance t to a rating.

    rating = round(PIVOT + leniency + spread (t - PIVOT) + noise e), clipped to the scale; e is standard normal.

    Parameters
    ----------
    name : what the rater is called on the invitation
    leniency : points of the scale given on top
    spread : how far the scale is stretched (1: as true relevance)
    noise : standard deviation of one answer, points
    doubt : probability of "undecided"
    careless : whether answers are any value of the scale, whatever is shown
    """

    name: str
    leniency: float
    spread: float
    noise: float
    doubt: float
    careless: bool = False

    def expected(self, relevance: np.ndarray) -> np.ndarray:
        """Mean rating given to pairs of this true relevance, over the noise.

        Examples
        --------
        >>> exact = SimulatedRater("a", leniency=0.0, spread=1.0, noise=1e-9, doubt=0.0)
        >>> exact.expected(np.array([1.2, 3.4, 4.8])).tolist()
        [1.0, 3.0, 5.0]
        """
        return np.asarray(LOW + self.chances_above(relevance).sum(axis=-1))

    def chances_above(self, relevance: np.ndarray) -> np.ndarray:
        """The chance of a rating above 1, 2, 3 and 4 for pairs of this true relevance, shape (..., 4)."""
        middle = PIVOT + self.leniency + self.spread * (np.asarray(relevance, dtype=float) - PIVOT)
        cuts = np.arange(LOW, HIGH) + 0.5
        return np.asarray(ndtr((middle[..., None] - cuts) / self.noise))

    def moments(self, relevance: np.ndarray) -> tuple[float, float]:
        """Mean and standard deviation of the ratings that pairs of this true relevance get, over pairs and noise."""
        above = self.chances_above(relevance).reshape(-1, HIGH - LOW)
        mean = LOW + above.sum(axis=1).mean()
        square = LOW**2 + (above * np.diff(np.arange(LOW, HIGH + 1) ** 2)).sum(axis=1).mean()
        return float(mean), float(np.sqrt(square - mean**2))


def draw_raters(count: int, seed: int = 0) -> list[SimulatedRater]:
    """Draw a panel: leniency has a standard deviation near 0.5, spread goes from about 0.7 to 1.4, noise 0.25 to 0.6.

    >>> draw_raters(3, seed=1) == draw_raters(5, seed=1)[:3]
    True
    """
    raters = []
    for index in range(count):
        rng = np.random.default_rng([seed, 77, index])
        raters.append(
            SimulatedRater(
                name=f"rater {index + 1:02d}",
                leniency=float(np.clip(rng.normal(0, 0.5), -1.1, 1.1)),
                spread=float(np.exp(np.clip(rng.normal(0, 0.18), -0.4, 0.4))),
                noise=float(rng.uniform(0.25, 0.6)),
                doubt=float(rng.uniform(0.005, 0.05)),
            )
        )
    return raters


def with_careless(raters: Sequence[SimulatedRater]) -> list[SimulatedRater]:
    """The raters, of whom the eighth does not look; all look if there are fewer than ten.

    >>> [rater.name for rater in with_careless(draw_raters(12)) if rater.careless]
    ['rater 08']
    """
    return [replace(rater, careless=len(raters) >= LEAST and at == CARELESS) for at, rater in enumerate(raters)]


class SimulatedPanel:
    """Raters in front of a collection.

    Parameters
    ----------
    raters : who rates
    collection : what they look at
    seed : of their noise
    """

    def __init__(self, raters: Sequence[SimulatedRater], collection: DemoCollection, seed: int = 0) -> None:
        self.raters = list(raters)
        self.collection = collection
        self.seed = seed
        self._row = {item: i for i, item in enumerate(collection.query_ids)}
        self._column = {item: i for i, item in enumerate(collection.picture_ids)}

    def answer(
        self,
        rater: int,
        query_id: str,
        result_id: str,
        scale: Sequence[float] = (1, 2, 3, 4, 5),
        question: str = "",
    ) -> float | None:
        """One rater's answer to one pair on the scale's values; None is "undecided". To a further question the answer
        also says how much a picture appeals to everybody, whatever the query, and its noise is its own."""
        who = self.raters[rater]
        row, column = self._row[query_id], self._column[result_id]
        own = [crc32(question.encode())] if question else []
        rng = np.random.default_rng([self.seed, 13, rater, row, column, *own])
        if rng.random() < who.doubt:
            return None
        if who.careless:
            return float(rng.choice(np.asarray(scale, dtype=float)))
        felt = PIVOT + who.leniency + who.spread * (self.collection.truth[row, column] - PIVOT)
        felt += who.noise * rng.standard_normal()
        if question:
            felt += APPEAL * np.random.default_rng([self.seed, 29, column, *own]).standard_normal()
        # Other scales are felt as the same share of their length.
        steps = (felt - LOW) / (HIGH - LOW) * (len(scale) - 1)
        return float(scale[int(np.clip(round(steps), 0, len(scale) - 1))])

    def prefer(self, rater: int, query_id: str, left: Sequence[str], right: Sequence[str]) -> float | None:
        """Which of two results, or of two lists by their mean, one rater finds better: -1 the left one, 0 neither, 1
        the right one; None is "undecided". The same whichever stands on the left."""
        who = self.raters[rater]
        row = self._row[query_id]
        places = [[self._column[name] for name in side] for side in (left, right)]
        turn = -1.0 if places[0] > places[1] else 1.0
        rng = np.random.default_rng([self.seed, 19, rater, row, *sorted(places)[0], *sorted(places)[1]])
        if rng.random() < who.doubt:
            return None
        if who.careless:
            return float(rng.integers(-1, 2))
        ahead = who.spread * float(np.subtract(*(self.collection.truth[row, side].mean() for side in places)))
        ahead += turn * who.noise * np.sqrt(2) * rng.standard_normal()
        return 0.0 if abs(ahead) < EQUAL else -1.0 if ahead > 0 else 1.0

    def rate(self, pairs: pd.DataFrame, ratings_per_pair: int = 1) -> pd.DataFrame:
        """Rate pairs directly, without pages: base pairs by everyone, each unique pair by k raters drawn at random.

        Parameters
        ----------
        pairs : pair_id, query_id, result_id, block ("base" or "unique")
        ratings_per_pair : k

        Returns
        -------
        DataFrame
            rater_id, pair_id, query_id, result_id, scale, rating (NaN: undecided), block
        """
        rng = np.random.default_rng([self.seed, 17])
        rows = []
        turn = 0
        order = rng.permutation(len(pairs) * ratings_per_pair) % max(len(self.raters), 1)
        for pair in pairs.itertuples(index=False):
            if pair.block == "base":
                who: Sequence[int] = range(len(self.raters))
            else:
                first = int(order[turn])
                who = [(first + i) % len(self.raters) for i in range(min(ratings_per_pair, len(self.raters)))]
                turn += ratings_per_pair
            for rater in who:
                rating = self.answer(rater, str(pair.query_id), str(pair.result_id))
                rows.append(
                    {
                        "rater_id": self.raters[rater].name,
                        "pair_id": pair.pair_id,
                        "query_id": pair.query_id,
                        "result_id": pair.result_id,
                        "scale": "1-5",
                        "rating": np.nan if rating is None else rating,
                        "block": pair.block,
                    }
                )
        return pd.DataFrame(rows)

    @property
    def honest(self) -> list[SimulatedRater]:
        """The raters who look, of whom the truth is."""
        return [rater for rater in self.raters if not rater.careless]

    def consensus(self, relevance: np.ndarray) -> np.ndarray:
        """The panel's mean expected rating of pairs of this true relevance: what judgments should come to.

        Parameters
        ----------
        relevance : true relevance, any shape
        """
        return np.mean([rater.expected(relevance) for rater in self.honest], axis=0)

    def relevant_share(self, relevance: np.ndarray, cut: float, base: np.ndarray) -> np.ndarray:
        """The chance that one of the panel's raters calls a pair relevant, when all rate on the panel's scale.

        A rating is relevant where it lies above the cut on the rater's true line, which gives this rater the panel's
        mean and its typical spread on the base pairs: what `pooled` comes to when everybody rates endlessly many such
        pairs and spreads are made alike. (The spread of all ratings together, as in Shirahatti and Barnard 2005,
        Eq. 2.1, is wider: raters who differ in leniency alone would be stretched, and more ratings lie above the cut.)

        Parameters
        ----------
        relevance : true relevance, any shape
        cut : on the panel's scale
        base : true relevance of the base pairs, any shape
        """
        shares = []
        for rater, first in zip(self.honest, self.lowest_relevant(cut, base), strict=True):
            above = rater.chances_above(relevance)
            if first <= LOW:
                shares.append(np.ones(np.shape(relevance)))
            elif first > HIGH:
                shares.append(np.zeros(np.shape(relevance)))
            else:
                shares.append(above[..., first - LOW - 1])
        return np.asarray(np.mean(shares, axis=0))

    def lowest_relevant(self, cut: float, base: np.ndarray) -> list[int]:
        """Each rater's lowest rating that lies above the cut on this rater's true line (`relevant_share`)."""
        lowest: list[int] = (np.floor(self.cuts(cut, base)).astype(int) + 1).tolist()
        return lowest

    def cuts(self, cut: float, base: np.ndarray) -> np.ndarray:
        """Position of the cut on each rater's own scale, by the rater's true line (`relevant_share`); shape
        (raters,)."""
        means, spreads = np.transpose([rater.moments(base) for rater in self.honest])
        return np.asarray(means + (cut - means.mean()) * spreads / np.exp(np.log(spreads).mean()))

    def true_offsets(self, relevance: np.ndarray) -> np.ndarray:
        """Difference of each rater's expected mean over these pairs from the panel's; shape (raters,), NaN for who does
        not look."""
        means = np.array([np.nan if r.careless else r.expected(relevance).mean() for r in self.raters])
        return np.asarray(means - np.nanmean(means))
