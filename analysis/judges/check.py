"""Is a judge any good, and for what? People's judgments are the measure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from relstudy.analysis.indices.correlation import CorrelationBootstrap
from relstudy.analysis.indices.precision_recall import RELEVANT, Retrieval, at_share
from relstudy.analysis.indices.registry import AVERAGE_PRECISION
from relstudy.analysis.judges.agreement import Beside, beside_a_person, explained, grade_table, model_table, refusals
from relstudy.analysis.judges.estimator import Terms, assist
from relstudy.analysis.judges.favouritism import Leaning, biases, leanings, places_of
from relstudy.analysis.judges.indices import assisted_indices, check_weighting, helps, terms_of, transform_of
from relstudy.analysis.judges.judged_by_both import Universe, context_for
from relstudy.analysis.judges.table import JudgeTable
from relstudy.analysis.resampling.bootstrap import BootstrapStatistic
from relstudy.analysis.scoring.candidate import Candidate
from relstudy.analysis.scoring.comparison import order_agreement
from relstudy.analysis.scoring.judged_pairs import JudgedPairs
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.common.results.estimates import Estimate
from relstudy.common.runtime.wording import count_of, number

CIRCULAR = 0.5
"""A judge that correlates so much with a system beyond what people explain of both may be of its kind."""


@dataclass(frozen=True, eq=False)
class JudgeCheck:
    """A judge held against people's judgments.

    Parameters
    ----------
    judge : its table
    grades : as `grade_table` gives them
    models : as `model_table` gives them
    explained : r_squared and spearman, of people's judgments
    beside : the judge beside a person
    bias : by system, what the judge's grades are worth among its highest 20 % minus what they are worth on other pairs
        that people judged the same, minus the same over all systems, in standard deviations of people's judgments
    leanings : the systems that the judge favours or is hard on, the furthest first
    circular : by system, the rank correlation with the judge that people's judgments do not explain
    order : Kendall's tau between the orders that people and the judge alone, its grades read as shares of its scale,
        give the systems by average precision
    refusals : as `refusals` gives them
    expected : DataFrame[index, width, worth]: the width of intervals with the judge against people alone, and how many
        more judged pairs would make them as short
    warnings : one sentence each
    """

    judge: JudgeTable
    grades: pd.DataFrame
    models: pd.DataFrame
    explained: Mapping[str, Estimate]
    beside: Beside
    bias: Mapping[str, Estimate]
    leanings: tuple[Leaning, ...]
    circular: Mapping[str, float]
    order: Estimate
    refusals: Mapping[str, Mapping[str, float]]
    expected: pd.DataFrame
    warnings: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """As plain JSON."""
        return {
            "judge": self.judge.as_json(),
            "grades": _records(self.grades),
            "models": _records(self.models),
            **{name: each.as_json() for name, each in self.explained.items()},
            "beside_a_person": self.beside.as_json(),
            "bias": {name: each.as_json() for name, each in self.bias.items()},
            "leanings": [each.as_json() for each in self.leanings],
            "beyond_people": dict(self.circular),
            "order": self.order.as_json(),
            "refusals": {name: dict(each) for name, each in self.refusals.items()},
            "expected": _records(self.expected),
            "warnings": list(self.warnings),
        }


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
    return [{str(name): value for name, value in row.items()} for row in rows]


def check_judge_against(
    pairs: JudgedPairs,
    candidates: Sequence[Candidate],
    scores: Mapping[str, pd.DataFrame],
    judge: JudgeTable,
    options: ScoringOptions,
    ratings: pd.DataFrame | None = None,
) -> JudgeCheck:
    """Hold a judge against people's judgments.

    Parameters
    ----------
    candidates, scores : systems as for `assist_scores`; none are needed for what is not by system
    ratings : the single ratings (rater_id, query_id, result_id, calibrated), where they are known

    Raises
    ------
    RelstudyError
        where the judge was given none of the judged pairs, or a system has no score for pairs that it was given
    """
    context = context_for(pairs, judge, options)
    universe = Universe(judge, context)
    of_rows = {each.name: universe.judge.scores_of(scores[each.name], each) for each in candidates}
    rankings = {each.name: each.direction.turned(of_rows[each.name]) for each in candidates}
    unweighed = check_weighting(universe)
    at_shares = (at_share("precision", 0.2), at_share("recall", 0.2))
    expected = (RELEVANT, *at_shares, *(index.name for index in assisted_indices() if helps(index)))
    terms = {} if unweighed else {e.name: terms_of(universe, e, of_rows[e.name], e.used, expected) for e in candidates}
    circular = {name: _beyond_people(universe, ranking) for name, ranking in rankings.items()}
    bias = {} if unweighed else {name: context.estimate(each) for name, each in biases(universe, rankings).items()}
    places = {each.name: places_of(universe, scores[each.name], each) for each in candidates}
    leaning = () if unweighed else tuple(leanings(universe, rankings, places, options.level))
    return JudgeCheck(
        judge,
        grade_table(universe),
        model_table(universe),
        explained(universe),
        beside_a_person(universe, ratings, options.level),
        bias,
        leaning,
        circular,
        _order(universe, terms, rankings, options.level),
        refusals(universe, rankings),
        _expected(universe, terms, expected),
        tuple(_warnings(universe, unweighed, circular, leaning)),
    )


def _order(
    universe: Universe, terms: Mapping[str, Mapping[str, Terms]], rankings: Mapping[str, np.ndarray], level: float
) -> Estimate:
    """Kendall's tau of the systems' average precision by people and by the judge alone, whose grades are then read as
    shares of its scale and not as what people say of them; pairs without an answer have no part."""
    if len(terms) < 3:
        return Estimate.missing("an order needs three systems")
    judge, draws = universe.judge, universe.context.draws
    rows = universe.sampled[judge.answered[universe.sampled]]
    rating = judge.rating[rows]
    if not len(rows) or np.ptp(rating) == 0:
        return Estimate.missing("the judge says the same of every pair")
    share = (rating - rating.min()) / np.ptp(rating)
    alone = Retrieval(universe.query_of_row[rows], share, draws.counts)
    weight = universe.weight[rows]
    of_judge = [alone.indices(ranking[rows], weight)[AVERAGE_PRECISION.name] for ranking in rankings.values()]
    of_people = [each[AVERAGE_PRECISION.name].people for each in terms.values()]
    left, right = (np.stack([np.r_[each.value, each.replicates] for each in side]) for side in (of_people, of_judge))
    tau = order_agreement(left, right)
    return BootstrapStatistic(float(tau[0]), tau[1:], "systems are equal by one of the two").estimate(level)


def _expected(universe: Universe, terms: Mapping[str, Mapping[str, Terms]], indices: Sequence[str]) -> pd.DataFrame:
    """The mean width over systems with the judge against people alone, and what it is worth, as `JudgeCheck` has them;
    no row if there is no system."""
    clusters, judged = universe.context.draws.queries, int(universe.given.sum())
    rows = []
    for index in indices:
        helped = [assist(each[index], clusters, transform_of(index)) for each in terms.values()]
        widths = [each.width_ratio for each in helped if each.width_ratio is not None]
        if widths:
            width = float(np.mean(widths))
            rows.append({"index": index, "width": width, "worth": round(judged * (width**-2 - 1))})
    return pd.DataFrame(rows, columns=["index", "width", "worth"])


def _beyond_people(universe: Universe, ranking: np.ndarray) -> float:
    """The partial rank correlation of judge and system given people's judgments; 0 where it is undefined."""
    given = universe.given & np.isfinite(universe.judge.rating[universe.row_of_judged])
    rows = universe.row_of_judged[given]
    judge, system, people = universe.judge.rating[rows], ranking[rows], universe.context.pairs.judgment[given]
    weight, row, times = universe.context.design[given], np.zeros(len(rows), dtype=np.int64), np.ones((1, 1))

    def rho(one: np.ndarray, other: np.ndarray) -> float:
        return CorrelationBootstrap(row, other, times, weight).correlate(one, ("spearman",))["spearman"].value

    js, jp, sp = rho(judge, system), rho(judge, people), rho(system, people)
    rest = (1 - jp**2) * (1 - sp**2)
    return float((js - jp * sp) / np.sqrt(rest)) if np.isfinite(rest) and rest > 1e-12 and np.isfinite(js) else 0.0


def _warnings(
    universe: Universe, unweighed: str | None, circular: Mapping[str, float], leaning: Sequence[Leaning]
) -> list[str]:
    judge = universe.judge
    warnings = judge.notes()
    given, judged = int(universe.given.sum()), len(universe.given)
    if given < judged:
        warnings.append(
            f"The judge was given {given:,} of the {judged:,} pairs that people judged; nothing here speaks of the "
            "others."
        )
    if unweighed is not None:
        warnings.append(
            f"People's judgments are no probability sample ({unweighed}): what the judge gets wrong cannot be "
            "corrected, only seen."
        )
    for name, partial in circular.items():
        if partial > CIRCULAR or name == judge.name:
            warnings.append(
                f"Judge {judge.name} and system {name} correlate by {number(partial, '.2f')} beyond what people "
                "explain of both: they may be of one kind, and the judge alone says nothing of that system."
            )
    warnings += [each.sentence(judge.name) for each in leaning]
    if judge.left_out:
        warnings.append(
            f"The prompt was tuned on {count_of(judge.left_out, 'query; it is', 'queries; they are')} left out, since "
            "the judge looks better there than elsewhere."
        )
    return warnings
