"""Simulated studies: what one yields, and where they come from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from relstudy.analysis.indices.index import Index
from relstudy.analysis.indices.measures import QueryValues
from relstudy.analysis.indices.pairs import SystemPairs
from relstudy.analysis.indices.registry import CONDENSED, PEARSON, bare_name, index_called, index_of, named_under
from relstudy.analysis.indices.sample_estimators import is_estimable
from relstudy.analysis.planning.route import REPLICATES, ComparedSystems, ScoredStudy
from relstudy.analysis.planning.simulated_worlds import Drawing, NormalShape, People, Study, World
from relstudy.analysis.planning.workload import Steepness, workload
from relstudy.analysis.resampling.bootstrap import REPLICATES as SCORED
from relstudy.analysis.resampling.bootstrap import BootstrapStatistic, RaterReplicates, query_counts
from relstudy.analysis.resampling.draws import LeftOut
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import percent
from relstudy.common.sampling.design_reach import LEAST_REACH

REFERENCE = 200
"""Queries of the collection from which the cut and the design's reach are taken."""
EXPONENTS = (0.5, 1.0, 1.5, 2.0, 2.5)
"""Among these weights vary most: under larger ones nearly all that is drawn beyond the top is drawn from all alike."""


@dataclass(frozen=True)
class Outcome:
    """A simulated study's answer on the first two systems.

    Parameters
    ----------
    difference : first minus second in the index
    p_value : of its test, or NaN
    first, second : whether the verdict has each in the best set and the other one not
    primary : the index that the verdict rests on
    reason : why the two are not compared; None where they are
    """

    difference: float
    p_value: float
    first: bool
    second: bool
    primary: str
    reason: str | None = None

    @classmethod
    def of(cls, comparison: Callable[[Index], ComparedSystems], index: Index, decides: Index) -> Outcome:
        """From the comparison of a study's systems by an index, and by the one that its verdict rests on."""
        compared = comparison(index)
        best = (compared if decides == index else comparison(decides)).ranks.best
        return cls(
            float(index.sign * compared.better[0]),
            float(compared.p_value[0]),
            bool(best[0] and not best[1]),
            bool(best[1] and not best[0]),
            decides.name,
            compared.reason,
        )


class StudySource(Protocol):
    """Where simulated studies come from."""

    @property
    def results(self) -> float:
        """Judged results per query."""

    @property
    def ratings_each(self) -> int:
        """Ratings a pair."""

    @property
    def piloted(self) -> int | None:
        """The number of pilot queries behind the studies; None where they rest on assumptions."""

    def as_scored(self, name: str) -> Index:
        """The index of a name, a measure as score has it of such studies."""

    def least_queries(self, index: Index) -> int:
        """The fewest queries of which the design allows an index; 1 where it withholds none."""

    def outcome(
        self, queries: int, index: Index, primary: str | None, seed: int, random: np.random.Generator
    ) -> Outcome:
        """The answer of a study of so many queries on the first two systems."""


@dataclass(frozen=True)
class Assumed:
    """Studies on their way through sample, calibrate and score.

    Parameters
    ----------
    shape : the collection, of whose systems the first two are told apart
    drawing : of the pairs
    people : who rates; `raters` is as many as the ratings take, or `raters` below
    relevant_share : share of judged pairs that honest ratings call relevant
    ratings_per_rater : ratings one person gives, which decides the number of raters
    raters : how many; None: as many as that takes
    """

    shape: NormalShape
    drawing: Drawing
    people: People
    relevant_share: float = 0.2
    ratings_per_rater: int = 300
    raters: int | None = None

    def __post_init__(self) -> None:
        for name in self.shape.correlations:
            if not -1 < name < 1:
                raise RelstudyError(f"a correlation must be between -1 and 1, not {name:g}")
        if not 0 <= self.shape.alike < 1:
            raise RelstudyError(f"the correlation of errors is from 0 to below 1, not {self.shape.alike:g}")
        if not 0 < self.relevant_share < 1:
            raise RelstudyError("the share of relevant pairs lies between 0 and 1")

    @property
    def results(self) -> float:
        """Judged results per query: fewer than are asked for where there are not so many."""
        return round(float(self.reference.probability.sum()) / REFERENCE, 6)

    @property
    def ratings_each(self) -> int:
        """Ratings a pair."""
        return self.people.ratings_each if self.raters is None else min(self.people.ratings_each, self.raters)

    @property
    def piloted(self) -> int | None:
        """None: variances are taken for known."""
        return None

    def raters_of(self, queries: int) -> int:
        """The number of people who rate a study of so many queries."""
        if self.raters is not None:
            return self.raters
        pairs = round(queries * self.results)
        return workload(pairs, self.ratings_each, self.people.base, self.ratings_per_rater).raters

    @cached_property
    def reference(self) -> World:
        """A collection whose judged pairs are relevant as often as stated, from which the cut and the reach are."""
        made = self.shape.collection(REFERENCE, np.random.default_rng(20_260))
        world = World(made, self.drawing, self.people)
        people = replace(self.people, relevant=self.relevant_share)
        cut = people.cut(made.value, world.probability)
        return World(made, self.drawing, people, cut)

    @property
    def weight_spread(self) -> float:
        """Coefficient of variation of the design weights of judged pairs."""
        return spread_of_weights(self.reference.probability)

    def as_scored(self, name: str) -> Index:
        """The index of a name; a measure is estimated where results are drawn, unless its name says condensed."""
        drawn = bool((self.reference.probability < 1 - 1e-9).any())
        return measure_under(name, "weigh" if drawn else "skip")

    def least_queries(self, index: Index) -> int:
        """The fewest queries with which the design reaches far enough for an index of relevance."""
        reached = self.reference.reach * (1 - self.people.undecided)
        return int(np.ceil(LEAST_REACH / reached)) if index.limited else 1

    def world(self, queries: int, random: np.random.Generator) -> World:
        """A collection of so many queries, all of them drawn."""
        scale = self.reference
        people = replace(scale.people, raters=self.raters_of(queries))
        return World(self.shape.collection(queries, random), self.drawing, people, scale.torn_at, scale.reach)

    def outcome(
        self, queries: int, index: Index, primary: str | None, seed: int, random: np.random.Generator
    ) -> Outcome:
        """The answer of a study of so many queries on the first two systems."""
        return self.answer(self.world(queries, random).draw(queries, random), index, primary, seed)

    def answer(self, study: Study, index: Index, primary: str | None, seed: int) -> Outcome:
        """The answer of a study's tables on the first two systems, as calibrate and score would give it."""
        scored = ScoredStudy.of(study, seed, primary=primary, asked=[index])
        return Outcome.of(scored.comparison, index, scored.context.primary.index)


def measure_under(name: str, unjudged: str) -> Index:
    """The index of a name, a measure as it is called under what is made of results that nobody judged; one that a
    sample does not estimate keeps its name, since it is left empty unless it is asked for condensed.

    Examples
    --------
    >>> [measure_under(name, "weigh").name for name in ("correlation", "AP", "condensed AP", "RR")]
    ['pearson', 'estimated AP', 'condensed AP', 'RR']
    """
    index = index_called(name)
    if not index.of_run or name.startswith(CONDENSED) or (unjudged == "weigh" and not is_estimable(bare_name(name))):
        return index
    return index_of(named_under(name, unjudged))


def spread_of_weights(probability: np.ndarray) -> float:
    """Coefficient of variation of one over the inclusion probability, over pairs drawn with it.

    Examples
    --------
    >>> spread_of_weights(np.full(10, 0.2)), round(spread_of_weights(np.array([0.1, 0.4])), 3)
    (0.0, 0.75)
    """
    inside = probability[probability > 0]
    mean = len(inside) / inside.sum()
    square = float((1 / inside).sum() / inside.sum())
    return float(np.sqrt(max(square / mean**2 - 1, 0.0)))


def with_weight_spread(shape: NormalShape, drawing: Drawing, spread: float) -> Drawing:
    """The drawing with the exponent at which weights vary so much (their coefficient of variation).

    Raises
    ------
    RelstudyError
        where no exponent spreads them so far
    """
    made = shape.collection(20, np.random.default_rng(20_261))

    def reached(exponent: float) -> float:
        return spread_of_weights(replace(drawing, exponent=exponent).probabilities(made))

    widest = max(EXPONENTS, key=reached)
    if reached(widest) < spread:
        raise RelstudyError(
            f"weights cannot vary by {spread:g} of their mean where {percent(drawing.floor)} are drawn with equal "
            f"probability: at most by {reached(widest):.2f}"
        )
    low, high = 0.0, widest
    for _ in range(25):
        middle = (low + high) / 2
        low, high = (middle, high) if reached(middle) < spread else (low, middle)
    return replace(drawing, exponent=(low + high) / 2 if spread > 0 else 0.0)


@dataclass(frozen=True, eq=False)
class Piloted:
    """Studies drawn from a pilot: whole queries with replacement, with their judgments and both systems' scores. A
    study that was drawn is a pilot itself.

    Parameters
    ----------
    query : number of each pair's query, int [pairs]
    judgment, weight, relevant : of the pairs, float [pairs], relevant from 0 to 1 or bool
    first, second : both systems' scores, higher is better, float [pairs]
    own : what each pair weighs in its own precision, float [pairs]; None: its weight
    ratings_each : ratings a pair
    notes : what a person should know of the pilot, one sentence each
    measured : each measure's value of each query by both systems, as score has it, float [2, queries], by its name
    unjudged : what measures make of results that nobody judged
    decides : name of the index that score would have decide between these systems
    raters : what other raters make of the difference in the whole pilot, by the index' name; indices that are not there
        speak of the pilot's raters alone
    worth : how much each query counts, float [queries] above 0; None: all alike
    """

    query: np.ndarray
    judgment: np.ndarray
    weight: np.ndarray
    relevant: np.ndarray
    first: np.ndarray
    second: np.ndarray
    own: np.ndarray | None = None
    ratings_each: int = 1
    notes: tuple[str, ...] = ()
    measured: Mapping[str, np.ndarray] = field(default_factory=dict)
    unjudged: str = "skip"
    decides: str = PEARSON.name
    raters: Mapping[str, RaterReplicates] = field(default_factory=dict)
    worth: np.ndarray | None = None

    @property
    def results(self) -> float:
        """Judged results per query."""
        return len(self.query) / len(np.unique(self.query))

    @property
    def piloted(self) -> int | None:
        """Number of the pilot's queries."""
        return len(np.unique(self.query))

    def draw(self, queries: int, random: np.random.Generator) -> Piloted:
        """A study of so many of the pilot's queries."""
        return self.of_queries(random.integers(0, len(np.unique(self.query)), queries))

    def of_queries(self, chosen: np.ndarray) -> Piloted:
        """A study of these of the pilot's queries (int, by number from 0, some perhaps several times)."""
        order = np.argsort(self.query, kind="stable")
        start = np.searchsorted(self.query[order], np.unique(self.query))
        length = np.diff(np.r_[start, len(order)])
        rows = np.concatenate([order[start[k] : start[k] + length[k]] for k in chosen])
        of_pairs = ("judgment", "weight", "relevant", "first", "second")
        return replace(
            self,
            query=np.repeat(np.arange(len(chosen)), length[chosen]),
            **{name: getattr(self, name)[rows] for name in of_pairs},
            own=None if self.own is None else self.own[rows],
            measured={name: values[:, chosen] for name, values in self.measured.items()},
            worth=None if self.worth is None else self.worth[chosen],
        )

    def steepness(self, index: Index, difference: float, *, stated: bool) -> Steepness:
        """That of a difference in an index, which varies as score has it of the pilot for any queries like these."""
        queries = len(np.unique(self.query))
        pilot = self.of_queries(np.arange(queries)).comparison(index, 0, SCORED)
        error, freedom = float(pilot.error[0]), float(pilot.freedom[0])
        return Steepness.of_pilot(difference, error, freedom, queries, stated=stated) if error > 0 else Steepness(0.0)

    def comparison(self, index: Index, seed: int, replicates: int = REPLICATES) -> ComparedSystems:
        """The two systems by an index, as score compares them, by design weights in the correlation too."""
        queries = int(self.query.max()) + 1
        counts, left_out = query_counts(queries, replicates, seed), LeftOut.of(self.query)
        if index.of_run:
            first, second = self.measured[index.name]
            apart = QueryValues(first - second, weight=self.worth)
            counted = int(np.isfinite(apart.values).sum())
            mean = BootstrapStatistic(
                apart.total(), apart.total(counts), clusters=counted, left_out=apart.left_out(), averaged=True,
                freedom=apart.freedom,
            )  # fmt: skip
            return ComparedSystems.of([mean], index, queries)
        figures = [
            index.over_draws(
                SystemPairs(
                    self.query, self.judgment, self.relevant.astype(float), scores, scores, self.weight,
                    self.query, counts, self.weight, self.own, left_out,
                )
            )
            for scores in (self.first, self.second)
        ]  # fmt: skip
        return ComparedSystems.of([self._with_raters(figures[0] - figures[1], index, queries, seed)], index, queries)

    def _with_raters(self, difference: BootstrapStatistic, index: Index, queries: int, seed: int) -> BootstrapStatistic:
        """The difference by other raters than the pilot's, whose number grows as the queries do, over queries and
        raters."""
        of_pilot = self.raters.get(index.name)
        if of_pilot is None:
            return difference
        share = queries / of_pilot.queries
        raters = max(round(share * of_pilot.raters), 2)
        parts = replace(of_pilot.times(share**-0.5), queries=queries, raters=raters)
        by = float(np.random.default_rng([seed, queries]).normal(0, np.sqrt(parts.beyond)))
        moved = replace(
            difference,
            value=difference.value + by,
            replicates=difference.replicates + by,
            left_out=None if difference.left_out is None else difference.left_out + by,
            raters=parts,
        )
        return moved.over_raters()

    def as_scored(self, name: str) -> Index:
        """The index of a name, a measure as score has it of the pilot."""
        return measure_under(name, self.unjudged)

    def least_queries(self, index: Index) -> int:
        """1: what a pilot's design withholds is not known."""
        return 1

    def outcome(
        self, queries: int, index: Index, primary: str | None, seed: int, random: np.random.Generator
    ) -> Outcome:
        """The answer of a study of so many queries; the verdict rests on the index that is stated, else on that which
        score would choose for the pilot."""
        study = self.draw(queries, random)
        return Outcome.of(lambda each: study.comparison(each, seed), index, self.as_scored(primary or self.decides))
