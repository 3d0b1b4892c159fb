"""The design of a study's sample: how likely each pair of the collection was to be chosen, round after round.

A design is a function from a query to the probabilities of its candidates. It is kept in design.json, so that the
probability of any pair, drawn or not, can be computed again as long as the systems give the same scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.files import read_json, write_json
from relstudy.common.sampling.probability_draws import inclusion_probabilities, rank_share
from relstudy.common.tables.meaning.pairs_table import RANDOM
from relstudy.studyapp.collection.items import Collection, Item
from relstudy.studyapp.sampling.population import (
    Eligible,
    Population,
    ScoredItems,
    pool,
    tie_order,
    whole_collection,
)
from relstudy.studyapp.sampling.response_model import ResponseShape
from relstudy.studyapp.sampling.sources import Source, scores_of

VERSION = 1
DESIGN = "design.json"


@dataclass(frozen=True)
class Round:
    """One round of drawing.

    Parameters
    ----------
    number : 1, 2, ...
    systems : names of the systems that propose, with the stamp of their scores
    results : results drawn per query (in a later round: on average)
    exponent : p of the shaping function R**-p (first round)
    floor : e, the share given to every candidate alike
    query_draw : the rounds with the same number share their queries; another number was drawn independently
    query_probability : for each paradigm, the probability of a query to be drawn
    population : for each paradigm, how many queries could have been drawn
    seed : of the draw
    given : ids of the queries where they were given as a list, else empty
    shapes : by source (the systems and "combined"), the shape over predicted responses of a later round; empty: shape
        by rank
    depth : results are drawn from the pool of the systems' first results, so many of each; None: from all
    pool : names of the systems that make the pool, in every round those of the first; empty: all that are given
    outside : results per query that are drawn from outside the pool, all alike
    strata : strata of about equal expected number, by inclusion probability, that each query's results are spread over
    from_each : results that every system draws by itself, one of them for each page; 0: the systems draw together
    judge : the automatic judge by whose grades a later round is shaped; empty: none
    aim : the index that such a round is to estimate best
    """

    number: int
    systems: dict[str, str]
    results: float
    exponent: float
    floor: float
    query_draw: int
    query_probability: dict[str, float]
    population: dict[str, int]
    seed: int
    given: list[str] = field(default_factory=list)
    shapes: dict[str, ResponseShape] = field(default_factory=dict)
    depth: int | None = None
    pool: list[str] = field(default_factory=list)
    outside: int = 0
    strata: int = 1
    from_each: int = 0
    judge: str = ""
    aim: str = ""


@dataclass(frozen=True, eq=False)
class CandidateProbabilities:
    """One query's candidates under one round.

    Where candidates are left that no system scores, they are alike to the draw, and one last entry stands for them all.

    Parameters
    ----------
    population : what is drawn from; its candidates are the entries but for that last one
    names : the systems (in a later round also "combined") that rank this query, and "random"
    parts : each name's part of the size measure, float64 [names, entries]; sums to `size` over names
    ranks : rank of each candidate in each system, int64 [names - 1, entries]
    probability : inclusion probability of each candidate given the query, float64 [entries]
    outside : that of each result outside the pool, 0 to 1
    scores : by system, its scores of the items
    by_system : where each system draws by itself, its probability of drawing each candidate, float64 [systems, entries]
    """

    population: Population
    names: tuple[str, ...]
    parts: np.ndarray
    ranks: np.ndarray
    probability: np.ndarray
    outside: float
    scores: dict[str, ScoredItems]
    by_system: np.ndarray | None = None

    @property
    def candidates(self) -> np.ndarray:
        """Positions in the collection of the candidates that are listed, int64."""
        return self.population.candidates

    @property
    def times(self) -> np.ndarray:
        """Number of candidates that each entry stands for, float64 [entries]."""
        times = np.ones(len(self.probability))
        if self.population.others:
            times[-1] = self.population.others
        return times

    @property
    def expected(self) -> float:
        """Expected number of drawn candidates, without those from outside the pool."""
        return float((self.probability * self.times).sum())

    def at(self, positions: np.ndarray) -> np.ndarray:
        """The inclusion probability of some items that may answer, given the query, float64."""
        listed = self.candidates
        rest = float(self.probability[-1]) if self.population.others else self.outside
        if not len(listed):
            return np.full(len(positions), rest)
        at = np.minimum(np.searchsorted(listed, positions), len(listed) - 1)
        return np.where(listed[at] == positions, self.probability[at], rest)

    def inside(self, positions: np.ndarray) -> np.ndarray:
        """Mask of the items that are candidates, of some that may answer, bool."""
        if self.population.outside == 0:
            return np.ones(len(positions), dtype=bool)
        return np.isin(positions, self.candidates)


def candidate_probabilities(
    this: Round,
    query: Item,
    collection: Collection,
    sources: Sequence[Source],
    population: Population | None = None,
) -> CandidateProbabilities:
    """The probabilities of a query's candidates, given that the query is drawn.

    First round: a_i = (1 - e) * mean over systems of R_si**-p / sum_j j**-p + e / N, and n a_i capped at 1, with ranks
    among the N candidates. A system that cannot answer the query is left out of the mean. Where every system draws m
    results by itself, pi_si is m times its own size measure, capped at 1, and pi_i = 1 - prod_s (1 - pi_si). Later
    rounds: `relstudy.studyapp.sampling.response_model`. Time and memory grow with the results that systems score.

    Parameters
    ----------
    sources : the systems that take part in the round
    population : what is drawn from; None: found from `sources`, which must then hold those that make the pool
    """
    scores = scores_of(query, sources)
    if population is None:
        population = population_of(this, query, collection, scores)
    if population.size == 0:
        raise RelstudyError(f"query {query.id!r} has no candidate: no system of the pool returns a result for it")
    return probabilities_in(this, population, scores)


def probabilities_in(this: Round, population: Population, scores: dict[str, ScoredItems]) -> CandidateProbabilities:
    """As `candidate_probabilities`, of a population of at least one candidate and what the systems say of the query."""
    number, others = population.size, population.others
    ranked_by = {name: listed.at(population.candidates) for name, listed in scores.items()}
    if others:
        ranked_by = {name: np.append(values, np.nan) for name, values in ranked_by.items()}
    if this.shapes:
        ranked_by = {
            name: responses
            for name, shape in this.shapes.items()
            if (responses := shape.predicted(ranked_by)) is not None
        }
    else:
        ranked_by = {name: scores[name].upward(values) for name, values in ranked_by.items()}
    entries, last = len(population.candidates) + (others > 0), max(others, 1)
    names = tuple(ranked_by)
    shares = np.empty((len(names), entries))
    ranks = np.empty((len(names), entries), dtype=np.int64)
    for row, name in enumerate(names):
        shares[row], ranks[row] = rank_share(ranked_by[name], this.exponent, last)
        if this.shapes:
            shares[row] = this.shapes[name].density(ranked_by[name])
    floor = np.full((1, entries), this.floor / number if names else 1.0 / number)
    by_system = None
    if this.shapes:
        # a later round: the expected number per query follows from the scores, so that categories come out even overall
        parts = np.vstack([(1 - this.floor) * shares, floor])
        size = parts.sum(axis=0)
        if not (size > 0).all():
            inclusion_probabilities(size, this.results)
        probability = np.minimum(1.0, this.results * size)
    else:
        parts = np.vstack([(1 - this.floor) * shares / max(len(names), 1), floor])
        if this.from_each and names:
            sizes = (1 - this.floor) * shares + floor
            by_system = np.array([inclusion_probabilities(size, this.from_each, last) for size in sizes])
            probability = 1 - np.prod(1 - by_system, axis=0)
        else:
            probability = inclusion_probabilities(parts.sum(axis=0), this.results, last)
    outside = min(1.0, this.outside / population.outside) if population.outside else 0.0
    return CandidateProbabilities(population, (*names, RANDOM), parts, ranks, probability, outside, scores, by_system)


def population_of(this: Round, query: Item, collection: Collection, scores: Mapping[str, ScoredItems]) -> Population:
    """Population that a round draws a query's results from.

    Parameters
    ----------
    scores : what the systems say of the query; must hold those that make the pool
    """
    eligible = Eligible.of(query, collection)
    if this.depth is None:
        return whole_collection(eligible, list(scores.values()))
    lists = [scores[name] for name in this.pool or scores if name in scores]
    return pool(eligible, lists, this.depth, tie_order(collection, query))


@dataclass(frozen=True)
class Design:
    """All rounds of a study, oldest first."""

    rounds: tuple[Round, ...]

    def combine(self, given_query: Mapping[int, np.ndarray], paradigm: str) -> np.ndarray:
        """Probability that a pair is in the union of all rounds.

        Rounds that share a draw of queries depend on each other through it: within a draw the probability is
        pi_query (1 - prod (1 - pi_r)); independent draws combine as 1 - prod (1 - pi_draw). With one round per draw
        this is 1 - (1 - pi_old)(1 - pi_new).

        Parameters
        ----------
        given_query : by round number, probabilities given the query, float [pairs]

        Returns
        -------
        float64 [pairs]
        """
        missed: dict[int, Any] = {}
        query_probability: dict[int, float] = {}
        for this in self.rounds:
            missed[this.query_draw] = missed.get(this.query_draw, 1.0) * (1 - given_query[this.number])
            query_probability[this.query_draw] = this.query_probability.get(paradigm, 0.0)
        never: Any = 1.0
        for draw, miss in missed.items():
            never = never * (1 - query_probability[draw] * (1 - miss))
        return np.asarray(1 - never, dtype=float)

    def by_round(self, given_query: Mapping[int, np.ndarray], paradigm: str) -> dict[int, np.ndarray]:
        """Probability that a pair is drawn in each round for the first time; over rounds they sum to `combine`.

        Returns
        -------
        float64 [pairs] by round number
        """
        drawn_first: dict[int, np.ndarray] = {}
        before: Any = 0.0
        for count in range(1, len(self.rounds) + 1):
            until = Design(self.rounds[:count]).combine(given_query, paradigm)
            drawn_first[self.rounds[count - 1].number] = until - before
            before = until
        return drawn_first

    def query_probability(self, paradigm: str) -> float:
        """Probability that a query is in the sample at all, where intervals can rest on it; else NaN.

        With several independent draws of queries it is known too, but not by which of them a query came in, and that
        decides how many of its pairs there are: what varies within a query could not be told from the pairs.
        """
        draws = {this.query_draw: p for this in self.rounds if (p := this.query_probability.get(paradigm)) is not None}
        probabilities = set(draws.values())
        return probabilities.pop() if len(draws) == 1 or probabilities == {1.0} else float("nan")

    def save(self, folder: Path) -> None:
        """Write FOLDER/design.json."""
        rounds = [asdict(this) for this in self.rounds]
        write_json({"kind": "relstudy design", "version": VERSION, "rounds": rounds}, folder / DESIGN)

    @classmethod
    def load(cls, folder: Path) -> Design:
        """Read FOLDER/design.json."""
        file = folder / DESIGN
        data = read_json(file)
        try:
            if data["kind"] != "relstudy design" or data["version"] != VERSION:
                raise RelstudyError(f"{file}: this is not a design that this version of relstudy can read")
            rounds = [
                Round(**{**entry, "shapes": {name: ResponseShape(**value) for name, value in entry["shapes"].items()}})
                for entry in data["rounds"]
            ]
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise RelstudyError(f"{file}: this is not a design that `relstudy sample` wrote ({error})") from None
        return cls(tuple(rounds))

    def check_stamps(self, sources: Sequence[Source]) -> None:
        """Refuse when a system of an earlier round is absent or scores differently now."""
        have = {source.name: source.stamp for source in sources}
        for this in self.rounds:
            for name, stamp in this.systems.items():
                if name not in have:
                    raise RelstudyError(
                        f"round {this.number} was drawn with system {name!r}; give it again, since the probabilities "
                        "of the new pairs under the old round rest on its scores"
                    )
                if have[name] != stamp:
                    raise RelstudyError(
                        f"system {name!r} or the collection has changed since round {this.number} was drawn; its "
                        "scores are needed as they were, because the new pairs' probabilities under the old round rest "
                        "on them"
                    )
