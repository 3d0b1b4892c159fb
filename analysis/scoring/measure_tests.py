"""Tests of every measure that is a mean over queries: every two systems, or all against one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal

import numpy as np
import pandas as pd

from relstudy.analysis.indices.index import Index
from relstudy.analysis.resampling.multiplicity import holm
from relstudy.analysis.resampling.paired_tests import PairedDifference, TukeyRange, bootstrap, letters, sign_flips
from relstudy.analysis.scoring.options import TestOptions
from relstudy.analysis.scoring.results import ScoreResult
from relstudy.calibration.reliability.generalizability import Generalizability, generalizability
from relstudy.common.results.estimates import Estimate
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import capital, couples_in_words, listed_some
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR

NAMES = {"t": "paired t", "randomisation": "random signs", "bootstrap": "bootstrap"}
STARS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))


@dataclass(frozen=True)
class Tested:
    """Two systems by one measure.

    Parameters
    ----------
    index : the measure
    first, second : systems; with a baseline it is the second
    difference : first minus second, mean over queries, with Student's interval, or under Tukey that which holds
        together with those of all other differences by this measure; of systems that differ by the same amount in
        every query the interval by which Student's t has the p of random signs
    queries, wins, ties, losses : queries with a value of both, and by which is better
    p_t, p_randomisation, p_bootstrap : two-sided; None where the systems are equal in every query, and the first and
        the last also where they differ by the same amount in each, since nothing varies
    p_corrected : of the test that was asked for, over the comparisons by this measure; of random signs if it has none
    test : the test that p_corrected is of, "t", "randomisation", "bootstrap" or "tukey", or None
    effect : the mean in standard deviations of the differences by query
    p_equivalent : that the difference is within the margin
    chance_above : that the first is better by more than the margin
    """

    index: str
    first: str
    second: str
    difference: Estimate
    queries: int
    wins: int
    ties: int
    losses: int
    p_t: float | None
    p_randomisation: float | None
    p_bootstrap: float | None
    p_corrected: float | None
    test: str | None
    effect: float | None
    p_equivalent: float | None
    chance_above: float | None

    def as_json(self) -> dict[str, Any]:
        return {**self.__dict__, "difference": self.difference.as_json()}

    @property
    def row(self) -> dict[str, Any]:
        """The same as a row of a table."""
        fields = dict(self.__dict__)
        names = [fields.pop(name) for name in ("index", "first", "second")]
        shown = fields.pop("difference")
        head = dict(zip(("measure", "first", "second"), names, strict=True))
        ends = {"difference": shown.value, "difference_low": shown.low, "difference_high": shown.high}
        return {**head, **ends, **fields}


@dataclass(frozen=True)
class MeasureTests:
    """The tests of all measures of a scoring run.

    Parameters
    ----------
    options : how they were made
    level, margin : of intervals, and of equivalence, in each measure's own points
    systems : their names
    tests : one a measure and couple of systems
    weighted : whether some queries count more than others
    reliability : where the first measure's values vary, and how far a mean of queries tells the systems apart, with the
        same of the ratings behind the judgments; the reason where nobody can say; empty where queries have weights
    """

    options: TestOptions
    level: float
    margin: float
    systems: tuple[str, ...]
    tests: tuple[Tested, ...]
    weighted: bool = False
    reliability: Generalizability | str = ""

    def of(self, index: str) -> tuple[Tested, ...]:
        """Those by one measure."""
        return tuple(each for each in self.tests if each.index == index)

    def table(self) -> pd.DataFrame:
        """A row a measure and couple of systems."""
        return pd.DataFrame([each.row for each in self.tests])

    def sentence(self) -> str:
        """The way in which the tests were made, as a sentence; a second one says of whom it is another way."""
        couples = "each against " + self.options.baseline if self.options.baseline else "every two systems"
        together = (
            "Holm over the comparisons by one measure"
            if self.options.correction == "holm"
            else f"randomised Tukey over all systems by one measure ({self.options.draws:,} draws), whose "
            f"{100 * self.level:g} % intervals hold together"
        )
        test = f"p of the {NAMES[self.options.test]} test by " if self.options.correction == "holm" else "p by "
        return (
            f"{capital(couples)}, on the queries of which both have a value, "
            f"{'each counted by its weight' if self.weighted else 'each counted once'}; "
            f"corrected {test}{together}"
            f"; equal within {self.margin:g} by two one-sided t tests.{self._by_signs()}"
        )

    def _by_signs(self) -> str:
        """The systems of which random signs are taken though another test was asked for, as a sentence with a blank
        before it, or empty."""
        if self.options.correction == "tukey" or self.options.test == "randomisation":
            return ""
        found = dict.fromkeys((each.first, each.second) for each in self.tests if each.test == "randomisation")
        if not found:
            return ""
        return (
            " Where systems differ by the same amount in every query, which leaves the "
            f"{NAMES[self.options.test]} test nothing to divide by, corrected p is of random signs: "
            f"{couples_in_words(list(found))}."
        )

    def as_json(self) -> dict[str, Any]:
        return {
            "baseline": self.options.baseline,
            "test": self.options.test,
            "correction": self.options.correction,
            "draws": self.options.draws,
            "margin": self.margin,
            "level": self.level,
            "comparisons": [each.as_json() for each in self.tests],
            "generalizability": {"reason": self.reliability}
            if isinstance(self.reliability, str)
            else self.reliability.as_json(),
        }

    def marks(self, index: str, ordered: Sequence[str], kind: Literal["letters", "stars"]) -> dict[str, str]:
        """Marks of systems in a table: letters that those share which are not told apart, or stars by a baseline; a
        system without a test has none.

        Parameters
        ----------
        ordered : the systems, best first

        Raises
        ------
        RelstudyError
            where stars are asked for without a baseline, or letters with one
        """
        tests = self.of(index)
        if kind == "stars":
            if self.options.baseline is None:
                raise RelstudyError("stars say how each system differs from a baseline, and none is stated")
            return {each.first: stars(each.p_corrected) for each in tests}
        if self.options.baseline is not None:
            raise RelstudyError("letters say which of all systems differ, so leave out the baseline")
        tested = {name for each in tests if each.difference.low is not None for name in (each.first, each.second)}
        unmarked = {name: "" for name in ordered if name not in tested}
        ordered = [name for name in ordered if name in tested]
        place = {name: number for number, name in enumerate(ordered)}
        apart = np.zeros((len(ordered), len(ordered)), dtype=bool)
        for each in tests:
            if each.p_corrected is not None and each.p_corrected < 1 - self.level:
                a, b = place[each.first], place[each.second]
                apart[a, b] = apart[b, a] = True
        return letters(ordered, apart) | unmarked


def stars(p: float | None) -> str:
    """One below .05, two below .01, three below .001.

    Examples
    --------
    >>> stars(0.03), stars(0.0001), stars(0.2), stars(None)
    ('*', '***', '', '')
    """
    return "" if p is None else next((mark for bound, mark in STARS if p < bound), "")


def values_by_query(result: ScoreResult, index: Index) -> np.ndarray:
    """A measure of every query and system as readers see it, float [queries, systems], NaN where undefined."""
    table = result.per_query.pivot(index="query_id", columns="system", values=index.name)
    values = table[[system.name for system in result.systems]].to_numpy(dtype=float)
    return 1 - values if index.complement else values


def measure_tests(
    result: ScoreResult, options: TestOptions | None = None, ratings: pd.DataFrame | None = None
) -> MeasureTests:
    """The tests of every measure of a result.

    Parameters
    ----------
    ratings : those behind the judgments, as `between_systems` takes them

    Raises
    ------
    RelstudyError
        if there are no two systems or no measure to test, or no system of the baseline's name
    """
    options = options or TestOptions()
    names = tuple(system.name for system in result.systems)
    measures = [index for index in result.indices if index.of_run]
    if len(names) < 2 or not measures:
        lack = "two systems are" if len(names) < 2 else "a measure is"
        raise RelstudyError(f"there is nothing to test: {lack} needed")
    if options.baseline is not None and options.baseline not in names:
        raise RelstudyError(
            f"there is no system {options.baseline!r} for a baseline; there are {listed_some(names, 12)}"
        )
    tests: list[Tested] = []
    for index in measures:
        tests += _tests(result, index, names, options)
    weighted = any(weight_of_queries(result, index) is not None for index in measures)
    reliability: Generalizability | str = "queries have weights" if weighted else ""
    if not weighted and measures[0].name in result.per_query:
        try:
            reliability = between_systems(result, measures[0].name, ratings)
        except RelstudyError as error:
            reliability = str(error)
    matters = result.primary.matters
    return MeasureTests(options, result.options.level, matters, names, tuple(tests), weighted, reliability)


def weight_of_queries(result: ScoreResult, index: Index) -> np.ndarray | None:
    """The weight of each query in a measure, float [queries]; None where all count alike, as in a sum over them."""
    if "query_weight" not in result.per_query or result.systems[0].figures[index.name].freedom is None:
        return None
    worth: np.ndarray = result.per_query.groupby("query_id")["query_weight"].first().to_numpy(dtype=float)
    return worth


def _tests(result: ScoreResult, index: Index, names: Sequence[str], options: TestOptions) -> list[Tested]:
    values, weight = values_by_query(result, index), weight_of_queries(result, index)
    if options.baseline is None:
        couples = list(combinations(range(len(names)), 2))
    else:
        base = names.index(options.baseline)
        couples = [(number, base) for number in range(len(names)) if number != base]
    differences = np.column_stack([values[:, a] - values[:, b] for a, b in couples])
    figures = [result[name].figures[index.name].withheld for name in names]
    reasons = [figures[a] or figures[b] for a, b in couples]
    untested = np.array([reason is not None for reason in reasons])
    found = [PairedDifference.of(column, weight) for column in differences.T]
    by_t = np.where(untested, np.nan, [each.p for each in found])
    random = (options.draws, result.options.seed, weight)
    equal = np.array([each.queries == each.ties for each in found])
    in_run = {
        frozenset((each.first, each.second)): each.difference for each in result.comparisons if each.index == index.name
    }
    of_run = [in_run.get(frozenset((names[a], names[b]))) for a, b in couples]
    copies = [equal[k] and each is not None and each.width == 0 for k, each in enumerate(of_run)]
    by_signs = np.where(untested | equal, np.nan, sign_flips(differences, *random))
    by_bootstrap = np.where(untested, np.nan, bootstrap(differences, *random))
    level = result.options.level
    if options.correction == "tukey":
        # a figure that what nobody judged may move says nothing of how far means range by chance
        tukey = TukeyRange.of(values[:, [figure is None for figure in figures]], *random)
        corrected = np.where(untested, np.nan, [tukey.p(each.mean) for each in found])
        of = np.full(len(found), "tukey")
        reach = tukey.reach(level)
        ends = [(each.mean - reach, each.mean + reach) for each in found]
    else:
        chosen = {"t": by_t, "randomisation": by_signs, "bootstrap": by_bootstrap}[options.test]
        corrected = holm(np.where(np.isfinite(chosen), chosen, by_signs))
        of = np.where(np.isfinite(chosen), options.test, "randomisation")
        # of a difference of 0 in every query the run knows whether the two are copies
        known = [None if each is None or not equal[k] else each.ends for k, each in enumerate(of_run)]
        ends = [each.interval(level) if run is None else run for each, run in zip(found, known, strict=True)]
    margin = result.primary.matters
    return [
        Tested(
            index.name,
            names[a],
            names[b],
            _estimate(each, low, high, reasons[k], index.scale.highest - index.scale.lowest),
            each.queries,
            each.wins,
            each.ties,
            each.losses,
            _number(by_t[k]),
            _number(by_signs[k]),
            _number(by_bootstrap[k]),
            _number(corrected[k]),
            str(of[k]) if np.isfinite(corrected[k]) else None,
            _number(each.effect),
            None if untested[k] else 0.0 if copies[k] else _number(each.equivalence(margin)),
            None if untested[k] else _number(each.chance_above(margin)),
        )
        for k, ((a, b), each, (low, high)) in enumerate(zip(couples, found, ends, strict=True))
    ]


def _estimate(found: PairedDifference, low: float, high: float, withheld: str | None, most: float) -> Estimate:
    if not found.queries:
        return Estimate.missing("no query has a value of both")
    if withheld is not None:
        return Estimate.of(found.mean, reason=f"no interval: {withheld}")
    if np.isfinite(low):
        return Estimate.of(found.mean, max(low, -most), min(high, most))
    return Estimate.of(found.mean, reason="no interval: both have a value of 1 query")


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def between_systems(result: ScoreResult, measure: str, ratings: pd.DataFrame | None = None) -> Generalizability:
    """Where a measure's values vary, and how far a mean of queries can be relied upon to tell systems apart.

    Systems of which the measure has no interval, since results that nobody judged may move it, have no part.

    Parameters
    ----------
    measure : its name, or another that `ScoreResult.index_called` takes
    ratings : those behind the judgments, query_id, result_id, rater_id and rating: where they vary belongs to it

    Raises
    ------
    RelstudyError
        if there is no such measure by query, or there are fewer than two systems or queries
    """
    table, index = result.per_query, result.index_called(measure)
    names = [each.name for each in result.indices if each.name in table]
    name = measure if index is None else index.name
    if name not in names:  # per query stands more than measures: numbers of pairs, shares that are judged
        raise RelstudyError(
            f"{measure!r} is not a measure by query of these scores; there are: {listed_some(names, 12)}"
        )
    withheld = {}
    if index is not None:
        figures = {system.name: system.figures[index.name].withheld for system in result.systems}
        withheld = {system: reason for system, reason in figures.items() if reason is not None}
    counted = table[~table["system"].isin(list(withheld))]
    if withheld and counted["system"].nunique() < 2:
        raise RelstudyError(f"{_without(withheld)}, fewer than two systems are left")
    values = counted.pivot(index="query_id", columns="system", values=name).astype(float).dropna()
    long = values.rename_axis(index="query_id").reset_index().melt("query_id", var_name="system", value_name="value")
    study = replace(generalizability(long, "value", ["system"], "query_id"), measure=name)
    if withheld:
        study = replace(study, notes=(*study.notes, _without(withheld)))
    if ratings is None or not {"rater_id", "rating", "calibrated"} <= set(ratings):
        return study
    rated = ratings[ratings["calibrated"].notna()]
    try:
        behind = generalizability(rated, "rating", PAIR, "rater_id", "query_id")
    except RelstudyError as error:
        return replace(
            study, notes=(*study.notes, f"where the ratings behind the judgments vary is not known: {error}")
        )
    return replace(study, ratings=behind)


def _without(withheld: Mapping[str, str]) -> str:
    """That some systems have no part, with the reasons by system, as a phrase."""
    reasons = list(dict.fromkeys(withheld.values()))
    return f"without {listed_some(list(withheld))}, since {'; '.join(reasons[:2])}"
