"""The queries and ratings that would tell two systems apart that are not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from scipy import special

from relstudy.analysis.indices.index import Index
from relstudy.analysis.indices.registry import index_of
from relstudy.analysis.planning.study_plan import MOST_QUERIES
from relstudy.analysis.planning.workload import Steepness
from relstudy.analysis.scoring.results import Comparison, ScoreResult, Variation
from relstudy.analysis.verdict.facts import Look, StudyFacts
from relstudy.analysis.verdict.standings import Standings
from relstudy.common.runtime.wording import count_of

POWER = 0.8


@dataclass(frozen=True)
class Settling:
    """The gain by more ratings of the two systems at the top, which are not told apart.

    Parameters
    ----------
    first, second : the systems
    index : the primary index
    difference : of that index, as seen, at least 0
    matters : the smallest difference that matters, in the index' own points
    queries : how many queries find a difference that just matters with power 0.8, as a plan with these judgments as its
        pilot has it; None above 20,000
    queries_interval : 95 % interval of the number that truly has that power, by what these judgments leave uncertain;
        None at an end beyond 20,000
    ratings : what these queries ask of people; None where not known
    available : queries that the study could have drawn; None where not known
    have : queries that the study has
    raters_too : whether the index' intervals speak of any raters like these, so that more of them are needed as well
    same : whether the whole interval of the difference lies within what matters
    """

    first: str
    second: str
    index: Index
    difference: float
    matters: float
    queries: int | None
    ratings: int | None
    available: int | None
    have: int
    raters_too: bool = False
    same: bool = False
    queries_interval: tuple[int | None, int | None] = (None, None)

    @property
    def worth_it(self) -> bool:
        """True where more ratings would tell what matters, of queries that there are."""
        if self.same or self.queries is None or self.queries <= self.have:
            return False
        return self.available is None or self.queries <= self.available

    def heading(self, look: Look | None = None) -> str:
        """The advice, in few words; at a look after which the study goes on, beyond the ratings that are planned."""
        if self.worth_it:
            return "Collect more ratings"
        return "Do not pay for more ratings" + ("" if look is None or look.is_over else " than planned")

    def sentence(self) -> str:
        """The ratings that would settle it, and their price."""
        size = self.index.size_in_words(self.matters)
        pair = f"{self.first} and {self.second}"
        if self.same:
            return (
                f"{pair} are the same for practical purposes: their difference in {self.index.term} is smaller than "
                f"{size}, the smallest that matters."
            )
        if self.queries is None:
            return f"A difference of {size} between {pair} takes more than {MOST_QUERIES:,} queries to find."
        if self.queries <= self.have:
            return (
                f"These {self.have:,} queries are enough to find a difference of {size} between {pair} in 8 of 10 "
                "cases, and did not: choose by speed or cost."
            )
        text = (
            f"The smallest difference that matters is {size}. To detect it between {pair} with 80 % power, the study "
            f"needs about {_about(self.queries):,} queries in all{self._range()}; it has {self.have:,}"
        )
        if self.available is not None and self.queries > self.available:
            return f"{text}; the collection has {self.available:,}, so more ratings will not settle it."
        if self.ratings is None:
            return f"{text}. It needs more raters in the same proportion." if self.raters_too else f"{text}."
        raters = ", by raters whose number grows in the same proportion" if self.raters_too else ""
        return f"{text}. That makes {count_of(_about(self.ratings), 'rating')} in all{raters}."

    def _range(self) -> str:
        """The interval of the number of queries, in brackets; empty if it is not known."""
        low, high = self.queries_interval
        if low is None:
            return ""
        return f" (95 % interval {_about(low):,} {'or more' if high is None else f'to {_about(high):,}'})"

    def as_json(self) -> dict[str, Any]:
        """Plain JSON."""
        return {
            "systems": [self.first, self.second],
            "index": self.index.name,
            "difference": self.difference,
            "matters": self.matters,
            "same_for_practical_purposes": self.same,
            "worth_it": self.worth_it,
            "power": POWER,
            "queries": self.queries,
            "queries_interval": list(self.queries_interval),
            "ratings": self.ratings,
            "queries_of_collection": self.available,
            "raters_in_proportion": self.raters_too,
        }


def settling(result: ScoreResult, ranked: Standings, facts: StudyFacts) -> Settling | None:
    """The ratings that would tell the first two systems of the best set apart; None with a single one or without an
    interval."""
    if len(ranked.best) < 2:
        return None
    first, second = ranked.best[:2]
    index, matters = result.primary.index, result.primary.matters
    comparison = ranked.comparison(index.name, first, second)
    if comparison is None or comparison.difference.value is None:
        return None
    varies = variation(result, comparison)
    if varies is None:
        return None
    have = int(result.pairs["queries"])
    steepness = Steepness.of_pilot(matters, varies.error, varies.freedom, have, stated=True)
    alpha = 1 - result.options.level
    queries = steepness.queries(POWER, alpha, MOST_QUERIES)
    return Settling(
        first,
        second,
        index,
        abs(comparison.difference.value),
        matters,
        queries,
        None if facts.ratings is None or queries is None else round(facts.ratings / have * queries),
        facts.queries,
        have,
        raters_too=result.raters.raters is not None and not index.of_run,
        same=within(comparison, matters),
        queries_interval=steepness.interval(POWER, alpha, MOST_QUERIES),
    )


def within(comparison: Comparison, matters: float) -> bool:
    """True where the whole interval of a difference is smaller than what matters."""
    ends = comparison.difference.ends
    return ends is not None and -matters < ends[0] and ends[1] < matters


def variation(result: ScoreResult, comparison: Comparison) -> Variation | None:
    """How far a difference varies over any queries like these; None where nothing tells, or it does not vary.

    Where intervals speak of any raters, raters are taken to grow in number as queries do.
    """
    difference, queries = comparison.difference, int(result.pairs["queries"])
    if difference.width is None or queries < 2:
        return None
    if result.population.corrects(index_of(comparison.index)):
        return comparison.like_these
    freedom = queries - 1 if comparison.freedom is None else comparison.freedom
    error = difference.width / 2 / float(special.stdtrit(freedom, (1 + result.options.level) / 2))
    return Variation(error, freedom) if error > 0 else None


def _about(number: int) -> int:
    """A number with its first two digits.

    Examples
    --------
    >>> _about(1325), _about(87)
    (1300, 87)
    """
    power = max(len(str(number)) - 2, 0)
    return int(round(number, -power))
