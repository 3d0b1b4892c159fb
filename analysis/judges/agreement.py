"""Agreement of a judge with people: the explained share, alone and beside one of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from relstudy.analysis.indices import kernels
from relstudy.analysis.indices.correlation import CorrelationBootstrap
from relstudy.analysis.judges.favouritism import HIGHEST
from relstudy.analysis.judges.grades import grade_numbers
from relstudy.analysis.judges.judged_by_both import Universe
from relstudy.analysis.judges.table import NOT_ASKED
from relstudy.analysis.resampling.bootstrap import BootstrapStatistic
from relstudy.common.results.estimates import Estimate
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR

FEWEST = 5
"""A rater with fewer pairs in common with others and the judge tells nothing of agreement."""
MOST_GRADES = 12
"""With more distinct ratings, the table per grade is by tenths of them."""


def grade_table(universe: Universe) -> pd.DataFrame:
    """One row a grade: how many pairs have it, how many of them people judged, and what people said of these.

    Returns
    -------
    DataFrame[grade (text), pairs, judged, relevant_share, judgment], means weighted by design, NaN where none is judged
    """
    rating = universe.judge.rating
    values, number = grade_numbers(rating)
    names = [f"{value:g}" for value in values]
    if len(values) > MOST_GRADES:
        edges = np.unique(np.quantile(rating[np.isfinite(rating)], np.linspace(0, 1, 11)))
        number = np.where(np.isfinite(rating), np.searchsorted(edges[1:-1], rating, side="right"), len(edges) - 1)
        names = [f"{low:.3g} to {high:.3g}" for low, high in pairwise(edges)]
    context, given = universe.context, universe.given
    of_judged, many = number[universe.row_of_judged[given]], len(names) + 1
    weight = np.bincount(of_judged, context.design[given], many)
    columns: dict[str, np.ndarray] = {
        "pairs": np.bincount(number, minlength=many),
        "judged": np.bincount(of_judged, minlength=many),
    }
    with np.errstate(invalid="ignore"):
        for name, said in (("relevant_share", context.relevance.values), ("judgment", context.pairs.judgment)):
            columns[name] = np.bincount(of_judged, (context.design * said)[given], many) / weight
    table = pd.DataFrame({"grade": [*names, "no answer"], **columns})
    return table[table["pairs"] > 0].reset_index(drop=True)


def explained(universe: Universe) -> dict[str, Estimate]:
    """The explained part of people's judgments: r_squared of the worth of a grade in other queries, and spearman of the
    grades, both weighted by design, with intervals."""
    context, given = universe.context, universe.given
    rows, draws = universe.row_of_judged[given], context.draws
    row, weight, judgment = draws.row[given], context.design[given], context.pairs.judgment[given]
    worth = universe.worth.judgment[rows]
    y = judgment - judgment.mean()
    columns = np.stack(
        [
            np.bincount(row, weight * column, len(draws.times))
            for column in (np.ones(len(y)), y, y * y, (judgment - worth) ** 2)
        ]
    )
    replicates = kernels.sums(columns, draws.times, 0, draws.times.shape[1])
    point = columns.sum(axis=1)
    squared = BootstrapStatistic(float(_r_squared(point)), _r_squared(replicates), "all judgments are equal")
    answered = np.isfinite(universe.judge.rating[rows])
    ranked = CorrelationBootstrap(row[answered], judgment[answered], draws.times, weight[answered])
    spearman = ranked.correlate(universe.judge.rating[rows][answered], ("spearman",))["spearman"]
    return {"r_squared": context.estimate(squared), "spearman": context.estimate(spearman)}


def _r_squared(sums: np.ndarray) -> np.ndarray:
    n, sy, yy, residual = sums
    with np.errstate(invalid="ignore", divide="ignore"):
        figure: np.ndarray = 1 - residual / (yy - sy * sy / n)
    return figure


@dataclass(frozen=True)
class Beside:
    """A judge beside a person: the correlation of either with the mean of the other people, rater by rater.

    Parameters
    ----------
    person, judge : means over raters; None where nothing tells
    difference : judge minus person, with Student's t interval over raters
    raters : how many were left out in turn
    """

    person: float | None
    judge: float | None
    difference: Estimate
    raters: int

    def as_json(self) -> dict[str, object]:
        return {
            "person": self.person,
            "judge": self.judge,
            "difference": self.difference.as_json(),
            "raters": self.raters,
        }


def beside_a_person(universe: Universe, ratings: pd.DataFrame | None, level: float) -> Beside:
    """The judge's agreement with people beside that of one of them.

    Parameters
    ----------
    ratings : rater_id, query_id, result_id, calibrated (or rating), NaN where undecided; None where not known
    """
    nothing = Estimate.missing("no two people rated the same pairs, or single ratings are not known")
    if ratings is None:
        return Beside(None, None, nothing, 0)
    column = "calibrated" if "calibrated" in ratings else "rating"
    said = ratings[["rater_id", *PAIR, column]].dropna().rename(columns={column: "said"})
    row = universe.judge.rows_of(said["query_id"].to_numpy(dtype=object), said["result_id"].to_numpy(dtype=object))
    said = said[row >= 0].assign(judge=universe.judge.rating[row[row >= 0]]).dropna()
    pairs = said.groupby(PAIR)["said"]
    others = pairs.transform("count") - 1
    said = said.assign(others=(pairs.transform("sum") - said["said"]) / others.where(others > 0)).dropna()
    both = []
    for _, of_rater in said.groupby("rater_id"):
        varied = of_rater[["said", "judge", "others"]].nunique().min() > 1
        if len(of_rater) >= FEWEST and varied:
            both.append([np.corrcoef(of_rater[each], of_rater["others"])[0, 1] for each in ("said", "judge")])
    if not both:
        return Beside(None, None, nothing, 0)
    person, judge = np.mean(both, axis=0)
    differences = np.diff(both, axis=1)[:, 0]
    reach = np.nan
    if len(both) > 1:
        error = differences.std(ddof=1) / np.sqrt(len(both))
        reach = float(stdtrit(len(both) - 1, (1 + level) / 2)) * error
    value = float(differences.mean())
    estimate = Estimate.of(value, value - reach, value + reach, None if len(both) > 1 else "no interval: one rater")
    return Beside(float(person), float(judge), estimate, len(both))


def model_table(universe: Universe) -> pd.DataFrame:
    """By the model that answered, the answers, those to pairs that people judged, and of these the means of its grades
    and of people's judgments; no row where it is not known.

    Returns
    -------
    DataFrame[model, answers, judged, grade, judgment], the most answers first
    """
    judge, rows = universe.judge, universe.row_of_judged[universe.given]
    found = []
    for model, answers in judge.models.most_common():
        assert judge.model is not None
        own = (judge.model[rows] == model) & judge.answered[rows]
        grade, judgment = judge.rating[rows][own], universe.context.pairs.judgment[universe.given][own]
        weights = universe.context.design[universe.given][own]
        means = [np.average(each, weights=weights) if own.any() else np.nan for each in (grade, judgment)]
        found.append([model, answers, int(own.sum()), *means])
    return pd.DataFrame(found, columns=["model", "answers", "judged", "grade", "judgment"])


def refusals(universe: Universe, rankings: Mapping[str, np.ndarray]) -> dict[str, dict[str, float]]:
    """The share of the pairs asked that got no answer: of those that people call relevant and of the others
    (by_people), and among each system's best pairs (by_system).

    Parameters
    ----------
    rankings : each system's scores of the judge's rows, so that higher is better
    """
    context, given = universe.context, universe.given
    silent, asked = ~universe.judge.answered, universe.judge.status != NOT_ASKED
    rows = universe.row_of_judged[given]
    of_judged, weight = silent[rows], context.design[given] * asked[rows]
    relevance = context.relevance.values[given]
    by_grade = {
        name: float(np.average(of_judged, weights=weight * part))
        for name, part in (("relevant", relevance), ("not relevant", 1 - relevance))
        if (weight * part).sum() > 0
    }
    highest = {
        name: float(silent[asked & (scores >= np.quantile(scores, 1 - HIGHEST))].mean())
        for name, scores in rankings.items()
    }
    return {"by_people": by_grade, "by_system": highest}
