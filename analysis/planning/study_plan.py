"""The answer of a plan: how many queries, pairs, ratings and raters, and what that rests on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from relstudy.analysis.indices.registry import index_of
from relstudy.analysis.planning.workload import Steepness, Workload
from relstudy.common.runtime.wording import count_of

MOST_QUERIES = 20_000
MOST_TIMES = 1_000.0
"""The difference that is planned for, at most so many times."""


@dataclass(frozen=True)
class PowerPoint:
    """Share of `studies` simulated studies that found the better system, and its standard error.

    Parameters
    ----------
    verdict : share in which the verdict's best set holds the better system and not the other; None: not looked at
    primary : the index that the verdict rests on
    """

    queries: int
    power: float
    studies: int
    verdict: float | None = None
    primary: str = ""

    @property
    def error(self) -> float:
        return self._error_of(self.power)

    @property
    def verdict_error(self) -> float:
        """Standard error of the verdict's share."""
        return self._error_of(self.verdict or 0.0)

    def _error_of(self, share: float) -> float:
        share = min(max(share, 0.5 / self.studies), 1 - 0.5 / self.studies)
        return float(np.sqrt(share * (1 - share) / self.studies))

    def as_json(self) -> dict[str, Any]:
        content = {"queries": self.queries, "power": self.power, "standard_error": self.error, "studies": self.studies}
        return content if self.verdict is None else content | {"verdict": self.verdict, "primary": self.primary}


@dataclass(frozen=True)
class MoreOf:
    """The planned study, or one with more of something.

    Parameters
    ----------
    what : what it has more of, as a phrase
    ratings, raters : all ratings it takes, the base block's among them, and its people
    point : its power
    """

    what: str
    ratings: int
    raters: int
    point: PowerPoint

    def as_json(self) -> dict[str, Any]:
        return {"what": self.what, "ratings": self.ratings, "raters": self.raters, **self.point.as_json()}


@dataclass(frozen=True)
class StudyPlan:
    """The size wanted, and what it rests on.

    Parameters
    ----------
    index, power, alpha : what is tested, and how surely
    difference : of the index, first minus second, that is planned for: the one stated, else as simulated
    simulated : mean difference of the index in the simulated studies, first minus second
    steepness : a in power = Phi(a sqrt(queries) - z), fitted to the points or of the pilot, and how surely
    points : the simulated points
    queries, pairs : what is needed; None where no size up to the limit is enough
    load : what that asks of people; None likewise
    pilot : how many pilot queries it rests on, None where on assumptions
    more : the planned study and those with more of one thing, where they were looked at
    matters : the smallest difference that matters, where it is stated
    least : the fewest queries of which the design allows a test of the index
    drawn : how many queries the study has already drawn; None: none
    """

    index: str
    power: float
    alpha: float
    difference: float
    simulated: float
    steepness: Steepness
    points: tuple[PowerPoint, ...]
    queries: int | None = None
    pairs: int | None = None
    load: Workload | None = None
    pilot: int | None = None
    more: tuple[MoreOf, ...] = ()
    matters: float | None = None
    least: int = 1
    drawn: int | None = None

    @property
    def ratings(self) -> int | None:
        """All ratings, those of the base block among them."""
        return None if self.load is None else self.load.ratings

    @property
    def raters(self) -> int | None:
        """People needed."""
        return None if self.load is None else self.load.raters

    @property
    def interval(self) -> tuple[int | None, int | None]:
        """95 % interval of the number of queries; None: more than any size up to the limit."""
        low, high = self.steepness.interval(self.power, self.alpha, MOST_QUERIES)
        return self._allowed(low), self._allowed(high)

    def queries_of(self, steepness: Steepness) -> int | None:
        """The number of queries that reaches the power and has a test; None: more than any size up to the limit."""
        return self._allowed(steepness.queries(self.power, self.alpha, MOST_QUERIES))

    def _allowed(self, queries: int | None) -> int | None:
        return None if queries is None else max(queries, self.least)

    def power_at(self, queries: np.ndarray | float) -> np.ndarray:
        """The power at so many queries, averaged over what a pilot leaves uncertain."""
        return self.steepness.power(queries, self.alpha)

    def sentence(self) -> str:
        """The answer in words."""
        index = index_of(self.index).term
        low, high = self.interval
        if self.queries is None or self.load is None:
            pilot = (
                f" {self.pilot} pilot queries leave too much uncertain to promise more; a larger pilot, or a stated "
                "difference, can."
            )
            return (
                f"A difference of {abs(self.difference):.3f} in {index} cannot be found in "
                f"{_share_of_studies(self.power)} studies of up to {MOST_QUERIES:,} queries."
                + (pilot if self.pilot is not None and low is not None else "")
            )
        load = self.load
        people = f"{load.raters:,} {'rater' if load.raters == 1 else 'raters'}"
        base = f", {load.base:,} of them on the base block" if load.base else ""
        cost = f", at a cost of {load.cost:,.2f}" if load.cost else ""
        average = "" if self.pilot is None else f", averaged over what {self.pilot} pilot queries leave uncertain"
        least = f" Fewer than {self.least:,} have no test of {index}." if self.queries == self.least > 1 else ""
        upto = f"more than {MOST_QUERIES:,}" if high is None else f"{high:,}"
        return (
            f"About {self.queries:,} queries (95 %: {low or 0:,} to {upto}) find the better of two systems in "
            f"{_share_of_studies(self.power)} studies, where they differ by {abs(self.difference):.3f} in {index} "
            f"(two-sided test at {self.alpha:g}{average}). That is {self.pairs:,} pairs and {load.ratings:,} ratings "
            f"by {people}{base}{cost}.{least}"
        )

    def verdict_sentence(self) -> str | None:
        """Sentence on how often the verdict names the better system at the planned size; None where unknown."""
        with_verdict = [point for point in self.points if point.verdict is not None]
        if not with_verdict or self.queries is None:
            return None
        near = min(with_verdict, key=lambda point: abs(point.queries - (self.queries or 0)))
        if self.more and self.more[0].point.verdict is not None:
            near = self.more[0].point
        supposed = self.supposed()
        return (
            f"{'T' if supposed is None else f'If {supposed} is the true one, t'}he verdict, by "
            f"{index_of(near.primary).term}, names the better system in {100 * (near.verdict or 0.0):.0f} of 100 "
            f"studies of {near.queries:,} queries (standard error {100 * near.verdict_error:.0f})."
        )

    def supposed(self) -> str | None:
        """The difference in the simulated studies, as a phrase; None where it is the one that is planned for."""
        if self.pilot is None:
            return None
        return f"the pilot's own difference, {abs(self.simulated):.3f} in {index_of(self.index).term},"

    def matters_sentence(self) -> str | None:
        """Sentence on the number of queries that find the smallest difference that matters; None where not stated."""
        if self.matters is None or not self.difference:
            return None
        queries = self.queries_of(self.steepness.of_stated(self.matters / abs(self.difference)))
        size = f"more than {MOST_QUERIES:,}" if queries is None else f"about {queries:,}"
        return f"The smallest difference that matters to this study, {self.matters:g}, takes {size} queries."

    def sentences(self) -> list[str]:
        """Sentences that belong beside the answer."""
        said = (
            *(self.verdict_sentence(), self.smallest_sentence(), self.matters_sentence()),
            *(self.cheapest_sentence(), self.shape_sentence()),
        )
        return [each for each in said if each]

    def shape_sentence(self) -> str | None:
        """Sentence on the shape of what is simulated; None where a pilot's queries are redrawn."""
        if self.pilot is not None:
            return None
        return (
            "Relevance is simulated as normal. If a few results are far better than all others, the same study has "
            "less power; a pilot's judgments and scores have the true shape."
        )

    @property
    def smallest(self) -> float | None:
        """The smallest difference of the index that the drawn queries find with the power; None where unknown."""
        if self.drawn is None or self.drawn < self.least or not self.difference:
            return None
        low, high = 0.0, 1.0
        while self._power_of_times(high) < self.power:
            high *= 2
            if high > MOST_TIMES:
                return None
        for _ in range(50):
            middle = (low + high) / 2
            low, high = (middle, high) if self._power_of_times(middle) < self.power else (low, middle)
        return high * abs(self.difference)

    def _power_of_times(self, factor: float) -> float:
        """The power of the drawn queries for so many times the difference."""
        return float(self.steepness.of_stated(factor).power(float(self.drawn or 0), self.alpha))

    def smallest_sentence(self) -> str | None:
        """Sentence on the smallest difference that the drawn queries find; None where none are drawn."""
        if self.drawn is None:
            return None
        index, queries = index_of(self.index).term, count_of(self.drawn, "query", "queries")
        if self.drawn < self.least:
            return f"{queries} drawn: by these assumptions, a test of {index} takes at least {self.least:,}."
        if self.smallest is None:
            return f"{queries} drawn: too few for any difference in {index}."
        found = f"finds a difference of {self.smallest:.3f} in {index} in {_share_of_studies(self.power)} studies"
        return f"A study of the {queries} drawn {found}."

    def cheapest_sentence(self) -> str | None:
        """Sentence on what brings most for the ratings it takes, of all that was looked at; None where nothing was."""
        if len(self.more) < 2:
            return None
        planned, *others = self.more
        gains = [(each.point.power - planned.point.power, each) for each in others]
        sure = [(gain, each) for gain, each in gains if gain > 2 * np.hypot(each.point.error, planned.point.error)]
        if not sure:
            return (
                "Half as many more of any one thing makes no difference that these simulations can see; fewer of it "
                "might do."
            )
        best = max(sure, key=lambda pair: pair[0] / max(pair[1].ratings - planned.ratings, 1))[1]
        return (
            f"What brings most for its ratings: {best.what} in place of the plan's, power {planned.point.power:.2f} -> "
            f"{best.point.power:.2f} for {best.ratings - planned.ratings:,} more ratings."
        )

    def as_json(self) -> dict[str, Any]:
        return {
            "index": self.index,
            "power": self.power,
            "alpha": self.alpha,
            "difference": self.difference,
            "simulated_difference": self.simulated,
            "queries": self.queries,
            "queries_interval": list(self.interval),
            "pilot_queries": self.pilot,
            "drawn_queries": self.drawn,
            "smallest_difference": self.smallest,
            "drawn_sentence": self.smallest_sentence(),
            "pairs": self.pairs,
            "ratings": self.ratings,
            "base_ratings": None if self.load is None else self.load.base,
            "raters": self.raters,
            "cost": None if self.load is None or not self.load.cost else self.load.cost,
            "points": [point.as_json() for point in self.points],
            "more": [each.as_json() for each in self.more],
            "sentence": self.sentence(),
            "sentences": self.sentences(),
        }


def _share_of_studies(power: float) -> str:
    """A share in people's words: 8 of 10, 85 of 100."""
    of = next((of for of in (10, 100) if abs(power * of - round(power * of)) < 1e-9), 1000)
    return f"{power * of:g} of {of:,}"
