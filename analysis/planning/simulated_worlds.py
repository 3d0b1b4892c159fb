"""Simulated worlds: a collection, systems that score it, a design that draws pairs, and people who rate them.

One maker for `relstudy plan`, the tables of evidence/simulations and tests, so that they mean the same by a rater's
leniency or a system's skill. A study comes as the tables that `relstudy sample` and the app would have written, and
`World.truth` is what endlessly many honest raters would say of the whole collection. `Collection` can also be made by
hand, for systems and values of any other shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd
from scipy import special

from relstudy.analysis.indices.precision_recall import Retrieval
from relstudy.common.sampling.design_reach import REACH, reach_of
from relstudy.common.sampling.probability_draws import (
    inclusion_probabilities,
    place_weights,
    rank_share,
    systematic_sample,
    systematic_samples,
)
from relstudy.common.tables.meaning.scales import Scale, scale_named

MANNERS = ("random", "constant", "alternating", "fast")
"""Ways to rate without looking: any value, always the same one, the ends in turn, any value at once."""
HONEST = 100
"""Quantiles of raters over whom a truth is averaged."""
GRID = 200
POINTS = 4.0
"""Spreads are told in points of a scale from 1 to 5; another scale's length is so many of them too."""


@dataclass(frozen=True, eq=False)
class Collection:
    """All pairs of a collection, those of a query together.

    Parameters
    ----------
    query : number of each pair's query, from 0, ascending, int [pairs]
    value : what people value in a pair, float [pairs], any unit
    scores : by system, its score of every pair, higher is better
    """

    query: np.ndarray
    value: np.ndarray
    scores: dict[str, np.ndarray]

    @cached_property
    def start(self) -> np.ndarray:
        """Where each query's pairs begin, and the number of pairs, int [queries + 1]."""
        return np.searchsorted(self.query, np.arange(int(self.query[-1]) + 2))


@dataclass(frozen=True)
class NormalShape:
    """Normal values and scores.

    Parameters
    ----------
    correlations : of each system's scores with what people value
    alike : of any two systems' errors, 0 to below 1
    query_sd, result_sd : spread of queries' means, and of results within a query
    items : results of a query; two numbers: from the one to the other, uniform on a log scale
    """

    correlations: Sequence[float] = (0.5, 0.4)
    alike: float = 0.3
    query_sd: float = 0.4
    result_sd: float = 1.0
    items: int | tuple[int, int] = 320

    @property
    def names(self) -> tuple[str, ...]:
        """The systems' names: system 1, system 2 ..."""
        return tuple(f"system {number}" for number in range(1, len(self.correlations) + 1))

    def collection(self, queries: int, random: np.random.Generator) -> Collection:
        """A collection of so many queries.

        Examples
        --------
        >>> made = NormalShape((0.8, 0.0), items=500).collection(40, np.random.default_rng(0))
        >>> [round(float(np.corrcoef(made.value, score)[0, 1]), 1) for score in made.scores.values()]
        [0.8, 0.0]
        """
        low, high = (self.items, self.items) if isinstance(self.items, int) else self.items
        sizes = np.exp(random.uniform(np.log(low), np.log(high), queries)).round().astype(int)
        query = np.repeat(np.arange(queries), sizes)
        value = self.query_sd * random.normal(size=queries)[query] + self.result_sd * random.normal(size=len(query))
        common = np.sqrt(self.alike) * random.normal(size=len(query))
        scores = {}
        for name, skill in zip(self.names, self.correlations, strict=True):
            error = common + np.sqrt(1 - self.alike) * random.normal(size=len(query))
            scores[name] = skill * value / np.hypot(self.query_sd, self.result_sd) + np.sqrt(1 - skill**2) * error
        return Collection(query, value, scores)


@dataclass(frozen=True)
class Drawing:
    """The drawing of pairs, as `relstudy sample` draws a first round.

    Parameters
    ----------
    results : drawn of each query
    exponent, floor : of the shaping function, and share drawn from all alike
    depth : of the pool of the systems' first results; None: all
    proposers : names of the systems that propose; None: all
    query_probability : of a query to be drawn; None: queries drawn over queries of the collection
    """

    results: int = 20
    exponent: float = 1.0
    floor: float = 0.05
    depth: int | None = None
    proposers: Sequence[str] | None = None
    query_probability: float | None = None

    def probabilities(self, collection: Collection) -> np.ndarray:
        """Of each pair to be drawn given its query, float [pairs]; 0 outside the pool."""
        probability = np.zeros(len(collection.query))
        proposing = [collection.scores[name] for name in self.proposers or collection.scores]
        alike = self._all_at_once(collection, proposing)
        if alike is not None:
            return alike
        for low, high in zip(collection.start[:-1], collection.start[1:], strict=True):
            scores = [each[low:high] for each in proposing]
            inside = np.ones(high - low, dtype=bool)
            if self.depth is not None and self.depth < high - low:
                inside[:] = False
                for each in scores:
                    inside[np.argpartition(-each, self.depth - 1)[: self.depth]] = True
            share = np.mean([rank_share(each[inside], self.exponent)[0] for each in scores], axis=0)
            size = (1 - self.floor) * share + self.floor / inside.sum()
            probability[low:high][inside] = inclusion_probabilities(size, min(self.results, int(inside.sum())))
        return probability

    def _all_at_once(self, collection: Collection, proposing: Sequence[np.ndarray]) -> np.ndarray | None:
        """`probabilities` of all queries together, the same to the last digit; None unless they have equally many
        candidates, none tied and all in the pool."""
        each = np.diff(collection.start)
        if len(each) == 0 or (each != each[0]).any() or (self.depth is not None and self.depth < each[0]):
            return None
        number = int(each[0])
        if self.results >= number:
            return np.ones(len(collection.query)) if self.floor > 0 else None
        weights, shares = place_weights(number, float(self.exponent)), []
        for scores in proposing:
            keys = -np.reshape(scores, (-1, number))
            order = np.argsort(keys, axis=1)
            ordered = np.take_along_axis(keys, order, axis=1)
            if not (ordered[:, 1:] > ordered[:, :-1]).all():
                return None
            share = np.empty_like(ordered)
            np.put_along_axis(share, order, np.broadcast_to(weights, share.shape), axis=1)
            shares.append(share)
        size = (1 - self.floor) * np.mean(shares, axis=0) + self.floor / number
        if not (size > 0).all():
            return None
        certain = np.zeros(size.shape, dtype=bool)
        while True:
            rest = np.where(certain, 0.0, size)
            left = self.results - certain.sum(axis=1, keepdims=True).astype(float)
            probability = np.where(certain, 1.0, left * rest / rest.sum(axis=1, keepdims=True))
            over = ~certain & (probability >= 1)
            if not over.any():
                break
            certain |= over
        return probability.ravel() if (probability > 0).all() else None


@dataclass(frozen=True)
class People:
    """The raters of a simulated study; spreads in points of a scale from 1 to 5 (`POINTS`).

    Parameters
    ----------
    raters, ratings_each, base : how many, of how many each pair outside the base block has ratings, its pairs
    leniency : standard deviation of what raters add to every rating
    stretch : of the log of how far they stretch differences
    noise : of a single rating
    undecided : chance that a rating is undecided
    careless : share of raters who do not look, each in one of `manners`
    drift : standard deviation of how far raters' ratings rise from their first to their last; where it is not 0, they
        have a `position`
    relevant : share of all honest ratings of the collection that are above the scale's cut
    scale : itself, or its name
    """

    raters: int = 12
    ratings_each: int = 1
    base: int = 40
    leniency: float = 0.4
    stretch: float = 0.0
    noise: float = 0.5
    undecided: float = 0.0
    careless: float = 0.0
    manners: Sequence[str] = MANNERS
    drift: float = 0.0
    relevant: float = 0.1
    scale: str | Scale = "1-5"

    @cached_property
    def on(self) -> Scale:
        """The scale."""
        scale = self.scale if isinstance(self.scale, Scale) else scale_named(self.scale)
        if scale is None:
            raise ValueError(f"{self.scale!r} is not a scale with ends")
        return scale

    @property
    def point(self) -> float:
        """A point in units of the scale."""
        return (self.on.high - self.on.low) / POINTS

    def cut(self, value: np.ndarray, weight: np.ndarray | None = None) -> float:
        """The value at which a typical rater is torn between relevant and not, so that `relevant` of all ratings of
        pairs that weigh so (None: alike) are above the scale's cut."""
        order = np.argsort(value, kind="stable")
        mass = np.ones(len(value)) if weight is None else weight[order]
        steps = (np.arange(2000) + 0.5) / 2000
        grid = np.interp(steps, (np.cumsum(mass) - mass / 2) / mass.sum(), value[order])
        spread = max(float(np.hypot(self.noise, self.leniency)), 1e-9)
        low, high = grid[0] - 6 * spread - 1, grid[-1] + 6 * spread + 1
        for _ in range(50):
            middle = (low + high) / 2
            low, high = (
                (middle, high) if special.ndtr((grid - middle) / spread).mean() > self.relevant else (low, middle)
            )
        return float(low + high) / 2

    @property
    def values(self) -> np.ndarray:
        """The values to choose from; a hundred and one where the scale is continuous."""
        return (
            np.linspace(self.on.low, self.on.high, 101) if self.on.continuous else np.array(self.on.values, dtype=float)
        )

    def rated(self, felt: np.ndarray) -> np.ndarray:
        """The nearest values of the scale to what raters feel, in points above the cut."""
        values = self.values
        return np.asarray(values[np.searchsorted((values[1:] + values[:-1]) / 2, self.on.cut + self.point * felt)])

    def chances(self, felt: np.ndarray, lenient: float, stretch: float) -> np.ndarray:
        """One rater's chance of each value of the scale, float [pairs, values]."""
        values = self.values
        middle = self.on.cut + self.point * (lenient + stretch * felt)
        below = special.ndtr(((values[1:] + values[:-1]) / 2 - middle[:, None]) / max(self.point * self.noise, 1e-9))
        return np.diff(below, axis=1, prepend=0.0, append=1.0)


@dataclass(frozen=True, eq=False)
class Study:
    """A simulated study's tables, as the app and the systems would have written them, and who did not look.

    Parameters
    ----------
    pairs, ratings : as pairs.csv and ratings.csv
    careless : ids of the raters who rated without looking
    world : that it was drawn from
    row : of each pair in its collection, int [pairs]
    """

    pairs: pd.DataFrame
    ratings: pd.DataFrame
    careless: tuple[str, ...]
    world: World
    row: np.ndarray

    @cached_property
    def scores(self) -> pd.DataFrame:
        """Every system's scores of the pairs."""
        return self.world.scores(self.row)

    @cached_property
    def rankings(self) -> pd.DataFrame:
        """Every system's scores of all results of the drawn queries."""
        query = self.world.collection.query
        return self.world.scores(np.flatnonzero(np.isin(query, query[self.row])))


@dataclass(frozen=True, eq=False)
class World:
    """A collection with its design and its people.

    Parameters
    ----------
    torn_at : the value at which a typical rater is torn between relevant and not; None takes `People.cut`
    reach_of_query : of the design, for one query; None: worked out

    Examples
    --------
    >>> made = NormalShape(items=60).collection(30, np.random.default_rng(1))
    >>> world = World(made, Drawing(results=8), People(raters=5, base=10))
    >>> study = world.draw(20, np.random.default_rng(2))
    >>> len(study.pairs), len(study.ratings), study.scores["system"].nunique()
    (160, 200, 2)
    >>> sorted(world.truth())[:2]
    [('system 1', 'average_precision'), ('system 1', 'normalised_rank')]
    """

    collection: Collection
    drawing: Drawing = field(default_factory=Drawing)
    people: People = field(default_factory=People)
    torn_at: float | None = None
    reach_of_query: float | None = None

    @cached_property
    def probability(self) -> np.ndarray:
        """Of each pair to be drawn given its query."""
        return self.drawing.probabilities(self.collection)

    @cached_property
    def felt(self) -> np.ndarray:
        """The opinion of a typical rater on each pair, in points above the cut."""
        value = self.collection.value
        return value - (self.people.cut(value) if self.torn_at is None else self.torn_at)

    @cached_property
    def moments(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Share of honest raters above the cut, mean and variance of their calibrated ratings of each pair.

        A rater's true line takes the rater to the mean of all raters' means and to the geometric mean of their spreads
        over the pairs that are rated, as calibration does.
        """
        people = self.people
        normal = special.ndtri((np.arange(HONEST) + 0.5) / HONEST)
        mixed = np.random.default_rng(1).permutation(normal)
        grid = np.linspace(self.felt.min(), self.felt.max(), GRID)
        nearest = np.round((self.felt - grid[0]) / (grid[1] - grid[0])).astype(int)
        rated = np.bincount(nearest, self.probability, GRID) / self.probability.sum()
        values = people.values
        raters = zip(people.leniency * normal, np.exp(people.stretch * mixed), strict=True)
        chances = [people.chances(grid, lenient, stretch) for lenient, stretch in raters]
        means = np.array([rated @ chance @ values for chance in chances])
        spreads = np.sqrt([rated @ chance @ values**2 - m**2 for chance, m in zip(chances, means, strict=True)])
        slopes = np.exp(np.log(spreads).mean()) / spreads if people.stretch else np.ones(HONEST)
        share, mean, square = np.zeros((3, GRID))
        for chance, own, slope in zip(chances, means, slopes, strict=True):
            on_line = means.mean() + slope * (values - own)
            share += chance @ (on_line > people.on.cut) / HONEST
            mean += chance @ on_line / HONEST
            square += chance @ on_line**2 / HONEST
        of_pairs = [np.interp(self.felt, grid, each) for each in (share, mean, square - mean**2)]
        return of_pairs[0], of_pairs[1], of_pairs[2]

    def truth(self, ratings: float | None = None) -> dict[tuple[str, str], float]:
        """Correlation, average precision and normalised rank of every system over the whole population of the design,
        by endlessly many honest raters; by system and index.

        Parameters
        ----------
        ratings : how many a judgment is of, on (harmonic) average, which the correlation depends on; None: the people's
        """
        share, mean, variance = self.moments
        inside = self.probability > 0
        share, mean, variance = share[inside], mean[inside], variance[inside] / (ratings or self.people.ratings_each)
        once, row = np.ones(len(mean)), np.zeros(len(mean), dtype=np.int64)
        whole = Retrieval(row, share, np.ones((1, 1)))
        found: dict[tuple[str, str], float] = {}
        for name, scores in self.collection.scores.items():
            score = scores[inside]
            indices = whole.indices(score, once)
            x, y = score - score.mean(), mean - mean.mean()
            found |= {(name, index): indices[index].value for index in ("average_precision", "normalised_rank")}
            found[name, "pearson"] = float((x * y).mean() / np.sqrt((x * x).mean() * (y * y + variance).mean()))
        return found

    @cached_property
    def reach(self) -> float:
        """Of a query, see `relstudy.common.sampling.design_reach`; times the queries drawn it is the design's."""
        if self.reach_of_query is not None:
            return self.reach_of_query
        drawable = np.where(self.probability > 0, self.probability, np.inf)
        rarest = np.minimum.reduceat(drawable, self.collection.start[:-1]).mean()
        good = float(self.moments[0][self.probability > 0].sum()) / (len(self.collection.start) - 1)
        return reach_of(1, good, float(rarest))

    def draw(self, queries: int, random: np.random.Generator) -> Study:
        """A study of so many queries of the collection, drawn without replacement."""
        start = self.collection.start
        available = len(start) - 1
        chosen = np.sort(random.choice(available, queries, replace=False))
        candidates = np.diff(start)
        if (candidates == candidates[0]).all():
            of_queries = np.reshape(self.probability, (available, candidates[0]))[chosen]
            query, place = systematic_samples(of_queries, random).nonzero()
            row = start[chosen[query]] + place
        else:
            of_each = [self.probability[start[each] : start[each + 1]] for each in chosen]
            drawn = [systematic_sample(probability, random) for probability in of_each]
            row = np.concatenate([start[each] + place for each, place in zip(chosen, drawn, strict=True)])
        of_query = self.drawing.query_probability or queries / available
        ids = self.ids(row)
        pairs = pd.DataFrame(
            {
                "pair_id": [f"p{number}" for number in range(len(row))],
                **ids,
                "paradigm": "image",
                "source": np.resize(list(self.drawing.proposers or self.collection.scores), len(row)),
                "rank": 1,
                "block": "unique",
                "round": 1,
                "query_probability": of_query,
                "inclusion_probability": self.probability[row] * of_query,
                REACH: self.reach * queries,
            }
        )
        base = random.permutation(len(row))[: self.people.base]
        pairs.loc[base, "block"] = "base"
        ratings, careless = self._ratings(pairs, row, base, random)
        return Study(pairs, ratings, careless, self, row)

    def ids(self, row: np.ndarray) -> dict[str, list[str]]:
        """query_id and result_id of some pairs of the collection."""
        return {
            "query_id": [f"q{each}" for each in self.collection.query[row]],
            "result_id": [f"r{each}" for each in row],
        }

    def scores(self, row: np.ndarray | None = None) -> pd.DataFrame:
        """Scores of some pairs of the collection by every system; None: of all."""
        row = np.arange(len(self.collection.query)) if row is None else row
        ids = self.ids(row)
        frames = [
            pd.DataFrame({**ids, "system": name, "score": score[row]}) for name, score in self.collection.scores.items()
        ]
        return pd.concat(frames, ignore_index=True)

    def _ratings(
        self, pairs: pd.DataFrame, row: np.ndarray, base: np.ndarray, random: np.random.Generator
    ) -> tuple[pd.DataFrame, tuple[str, ...]]:
        """Everybody's ratings in the order in which they were given, and who did not look."""
        people = self.people
        number = people.raters
        others = np.setdiff1d(np.arange(len(row)), base)
        who = _smallest(random.random((len(others), number)), people.ratings_each)
        pair = np.r_[np.repeat(base, number), np.repeat(others, who.shape[1])]
        rater = np.r_[np.tile(np.arange(number), len(base)), who.ravel()]
        order = random.permutation(len(pair))
        pair, rater = pair[order], rater[order]
        lenient = people.leniency * random.normal(size=number)
        stretch = np.exp(people.stretch * random.normal(size=number))
        felt = lenient[rater] + stretch[rater] * self.felt[row[pair]] + people.noise * random.normal(size=len(pair))
        place = pd.Series(rater).groupby(rater).cumcount().to_numpy()
        if people.drift:
            (drifts,) = random.spawn(1)  # all else is as without drift
            last = np.maximum(np.bincount(rater, minlength=number) - 1, 1)[rater]
            felt += people.drift * drifts.normal(size=number)[rater] * (place / last - 0.5)
        rating = people.rated(felt)
        seconds = np.exp(random.normal(np.log(6.0), 0.5, len(pair)))
        many = int(np.floor(people.careless * number + random.random()))
        careless = random.permutation(number)[:many]
        for each, manner in zip(careless, np.resize(people.manners, many), strict=True):
            rows = np.flatnonzero(rater == each)
            rating[rows] = _without_looking(str(manner), people.values, len(rows), random)
            if manner == "fast":
                seconds[rows] /= 5
        rating[random.random(len(pair)) < people.undecided] = np.nan
        names = pd.array([f"rater {each}" for each in range(number)], dtype="str")
        table = pairs.loc[pair, ["pair_id", "query_id", "result_id", "block"]].assign(
            rater_id=names.take(rater), rating=rating, scale=people.on.name, handed_out="random", seconds=seconds,
            **({"position": place + 1} if people.drift else {}),
        )  # fmt: skip
        return table.reset_index(drop=True), tuple(names.take(np.sort(careless)))


def _smallest(keys: np.ndarray, number: int) -> np.ndarray:
    """Places of the smallest keys of each row, ascending, int [rows, number]; of few a sort takes ten times as long.

    Examples
    --------
    >>> _smallest(np.array([[0.3, 0.1, 0.2]]), 2).tolist()
    [[1, 2]]
    """
    places = np.empty((len(keys), min(number, keys.shape[1])), dtype=np.int64)
    for column in places.T:
        column[:] = keys.argmin(axis=1)
        keys[np.arange(len(keys)), column] = np.inf
    return places


def _without_looking(manner: str, values: np.ndarray, number: int, random: np.random.Generator) -> np.ndarray:
    """Ratings of somebody who does not look, in the order in which they were given."""
    if manner == "constant":
        return np.full(number, random.choice(values))
    if manner == "alternating":
        return np.where(np.arange(number) % 2, values[0], values[-1])
    return np.asarray(random.choice(values, number))
