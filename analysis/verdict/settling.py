"""What would tell two systems apart that are tied: how many queries, and how many ratings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import optimize, stats

from relstudy.analysis.planning.study_plan import MOST_QUERIES
from relstudy.analysis.planning.workload import Steepness
from relstudy.analysis.scoring.compared import Comparison
from relstudy.analysis.scoring.results import ScoreResult
from relstudy.analysis.verdict.facts import StudyFacts
from relstudy.analysis.verdict.measures import MEASURES, shown_figure
from relstudy.analysis.verdict.standings import Standings
from relstudy.common.wording import count_of

POWER = 0.8


@dataclass(frozen=True)
class Settling:
    """A study that would tell two tied systems apart.

    Parameters
    ----------
    first, second : the systems
    index : the measure by which the fewest queries would do
    difference : of that index, as seen, at least 0
    queries : how many queries find it with power 0.8, if it is truly as large; None above 20,000
    low : the least number of queries that may do, by the interval of what this study's queries leave uncertain; None
        above 20,000. There is no upper end: the difference of two tied systems may be none
    ratings : what these queries ask of people; None where not known
    available : queries that the study could have drawn; None where not known
    raters_too : whether intervals speak of any raters like these, so that more of them are needed as well
    among : how many systems this study compared; the study foretold compares the two alone
    """

    first: str
    second: str
    index: str
    difference: float
    queries: int | None
    low: int | None
    ratings: int | None
    available: int | None
    raters_too: bool = False
    among: int = 2

    def sentence(self) -> str:
        """What would settle it, and at what price."""
        measure = MEASURES[self.index]
        size = f"(a difference in {measure} of {shown_figure(self.index, self.difference)})"
        if self.queries is None:
            return (
                f"Between {self.first} and {self.second} the difference seen {size} is so small that more than "
                f"{MOST_QUERIES:,} queries would be needed to find it: more ratings will not settle which is better."
            )
        queries = _about(self.queries)
        text = (
            f"If {self.first} and {self.second} differ as much as it looks {size}, a study of "
            f"{'these two alone with ' if self.among > 2 else ''}about {queries:,} "
            f"queries like these{', with raters in proportion,' if self.raters_too else ''} would find it in 8 of 10 "
            "cases"
        )
        if self.available is not None and self.queries > self.available:
            return f"{text}; the collection has {self.available:,}."
        if self.ratings is not None:
            return f"{text}, for {count_of(_about(self.ratings), 'rating')}."
        return f"{text}."

    def as_json(self) -> dict[str, Any]:
        return {
            "systems": [self.first, self.second],
            "index": self.index,
            "difference": self.difference,
            "power": POWER,
            "queries": self.queries,
            "queries_at_least": self.low,
            "ratings": self.ratings,
            "queries_of_collection": self.available,
            "raters_in_proportion": self.raters_too,
        }


def settling(result: ScoreResult, ranked: Standings, facts: StudyFacts) -> Settling | None:
    """What would tell the first two systems apart; None where they are told apart or nothing can be said."""
    if len(ranked.names) < 2:
        return None
    first, second = ranked.names[:2]
    if second not in ranked.not_told_apart(first):
        return None
    clear = ranked.clear_between(first, second)
    open_yet = [
        each for each in result.comparisons if {each.first, each.second} == {first, second} and each.index not in clear
    ]
    slopes = [(slope, each) for each in open_yet if (slope := steepness(result, each)) is not None]
    if not slopes:
        return None
    slope, comparison = max(slopes, key=lambda entry: entry[0])
    alpha, have = 1 - result.options.level, int(result.pairs["queries"])
    queries = queries_needed(slope, (freedom_of(comparison, have) + 1) / have, alpha)
    low, _ = Steepness.of_pilot(slope, 0.0, have, stated=False).interval(POWER, alpha, MOST_QUERIES)
    ratings = None if facts.ratings is None or queries is None else round(facts.ratings / have * queries)
    difference = abs(comparison.difference.value or 0.0)
    figures = (comparison.index, difference, queries, low, ratings, facts.queries)
    return Settling(first, second, *figures, raters_too=result.raters.raters is not None, among=len(ranked.names))


def queries_needed(slope: float, units_each: float, alpha: float) -> int | None:
    """The least number of queries that finds a difference with power 0.8 by Student's t; None above 20,000.

    Parameters
    ----------
    slope : the difference over its standard deviation at one query
    units_each : units of the variance that come with a query: degrees of freedom are one less than the units
    alpha : of the two-sided test

    Examples
    --------
    >>> queries_needed(0.25, 1.0, 0.05), queries_needed(0.25, 0.1, 0.05), queries_needed(1e-6, 1.0, 0.05)
    (128, 146, None)
    """

    def spare(number: float) -> float:
        freedom = max(units_each * number - 1, 1.0)
        wanted = stats.t.ppf(1 - alpha / 2, freedom) + stats.t.ppf(POWER, freedom)
        return float(slope * np.sqrt(number) - wanted)

    least = 2 / units_each
    if slope <= 0 or spare(MOST_QUERIES) < 0:
        return None
    return int(np.ceil(least if spare(least) >= 0 else optimize.brentq(spare, least, MOST_QUERIES)))


def freedom_of(comparison: Comparison, queries: int) -> float:
    """Degrees of freedom of a difference's standard error: its own, or one fewer than queries."""
    return queries - 1 if comparison.freedom is None else comparison.freedom


def steepness(result: ScoreResult, comparison: Comparison) -> float | None:
    """The difference over its standard deviation at one query, for queries like these; None without an interval.

    Where the interval is corrected for a finite population, its standard error is taken back to that of any queries
    like these as though all of it came from between queries: a little too long, never too short. Where intervals speak
    of any raters, raters are taken to grow in number as queries do.
    """
    difference, queries = comparison.difference, int(result.pairs["queries"])
    if difference.value is None or difference.low is None or difference.high is None or queries < 2:
        return None
    reach = float(stats.t.ppf((1 + result.options.level) / 2, freedom_of(comparison, queries)))
    error = (difference.high - difference.low) / 2 / reach
    if result.population.finite and result.population.highest < 1:
        error /= np.sqrt(1 - result.population.highest)
    return abs(difference.value) / (error * np.sqrt(queries)) if error > 0 else None


def _about(number: int) -> int:
    """A number with its first two digits.

    Examples
    --------
    >>> _about(1325), _about(87)
    (1300, 87)
    """
    power = max(len(str(number)) - 2, 0)
    return int(round(number, -power))
