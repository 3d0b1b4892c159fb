"""The answer of a plan: how many queries, pairs, ratings and raters, and what that rests on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from relstudy.analysis.indices.known import index_of
from relstudy.analysis.planning.workload import Steepness, Workload

MOST_QUERIES = 20_000


@dataclass(frozen=True)
class PowerPoint:
    """Share of `studies` simulated studies that found the better system, and its standard error."""

    queries: int
    power: float
    studies: int

    @property
    def error(self) -> float:
        share = min(max(self.power, 0.5 / self.studies), 1 - 0.5 / self.studies)
        return float(np.sqrt(share * (1 - share) / self.studies))

    def as_json(self) -> dict[str, Any]:
        return {"queries": self.queries, "power": self.power, "standard_error": self.error, "studies": self.studies}


@dataclass(frozen=True)
class StudyPlan:
    """The size wanted, and what it rests on.

    Parameters
    ----------
    index, power, alpha : what is tested, and how surely
    difference : mean difference of the index in the simulated studies, first minus second
    steepness : a in power = Phi(a sqrt(queries) - z), fitted to the points, and how surely
    queries, pairs : what is needed; None where no size up to the limit is enough
    load : what that asks of people; None likewise
    points : the simulated points
    pilot : how many pilot queries it rests on, None where on assumptions
    """

    index: str
    power: float
    alpha: float
    difference: float
    steepness: Steepness
    queries: int | None
    pairs: int | None
    load: Workload | None
    points: tuple[PowerPoint, ...]
    pilot: int | None = None

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
        return self.steepness.interval(self.power, self.alpha, MOST_QUERIES)

    def power_at(self, queries: np.ndarray | float) -> np.ndarray:
        """The fitted power at so many queries, averaged over what a pilot leaves uncertain."""
        return self.steepness.power(queries, self.alpha)

    def sentence(self) -> str:
        """The answer in words."""
        index = index_of(self.index).term
        low, high = self.interval
        if self.queries is None or self.load is None:
            pilot = (
                f" {self.pilot} pilot queries leave too much uncertain to promise more; a larger pilot, or a "
                "difference that is stated, can tell."
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
        upto = f"more than {MOST_QUERIES:,}" if high is None else f"{high:,}"
        return (
            f"About {self.queries:,} queries (95 %: {low or 0:,} to {upto}) find the better of two systems in "
            f"{_share_of_studies(self.power)} studies, where they differ by {abs(self.difference):.3f} in {index} "
            f"(two-sided test at {self.alpha:g}{average}). That is {self.pairs:,} pairs and {load.ratings:,} ratings "
            f"by {people}{base}{cost}."
        )

    def as_json(self) -> dict[str, Any]:
        return {
            "index": self.index,
            "power": self.power,
            "alpha": self.alpha,
            "difference": self.difference,
            "queries": self.queries,
            "queries_interval": list(self.interval),
            "pilot_queries": self.pilot,
            "pairs": self.pairs,
            "ratings": self.ratings,
            "base_ratings": None if self.load is None else self.load.base,
            "raters": self.raters,
            "cost": None if self.load is None or not self.load.cost else self.load.cost,
            "points": [point.as_json() for point in self.points],
            "sentence": self.sentence(),
        }


def _share_of_studies(power: float) -> str:
    """A share in people's words: 8 of 10, 85 of 100."""
    of = next((of for of in (10, 100) if abs(power * of - round(power * of)) < 1e-9), 1000)
    return f"{power * of:g} of {of:,}"
