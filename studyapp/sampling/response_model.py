"""Shape by predicted responses: draw so that people will use every category equally often.

Source: Shirahatti and Barnard 2005, section 5.4.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from relstudy.calibration.reliability.scale_use import response_shares
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.meaning.pairs_table import COMBINED

if TYPE_CHECKING:
    from relstudy.mapping.fitted import FittedMapping

BINS = 20
SMALLEST_BIN = 15
# as many judged pairs' worth of the overall response is mixed into each bin, so that a bin is never certain
PRIOR_PAIRS = 3.0
# no bin is planned to be used up beyond this share of its candidates
USED_UP = 0.8
# the least that a system proposes, as a share of an equal part
LEAST_PART = 0.5
# how much each system's own evenness counts beside that of the whole round
OWN_EVENNESS = 0.25
# keeps the weights of bins from piling up on a few where others serve nearly as well
SMOOTH = 0.02


@dataclass(frozen=True)
class MappedTerm:
    """One system's mapped score, linear between its knots, constant outside, times a weight."""

    knots: list[float]
    values: list[float]
    weight: float = 1.0

    @classmethod
    def of(cls, mapping: FittedMapping, weight: float = 1.0) -> MappedTerm:
        return cls(mapping.knots.tolist(), mapping.values.tolist(), weight)

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        """Weighted mapped scores; a result that the system does not score (NaN) counts as its worst.

        Examples
        --------
        >>> MappedTerm([0.0, 1.0], [1.0, 5.0])(np.array([np.nan, 0.5, 2.0])).tolist()
        [1.0, 3.0, 5.0]
        """
        worst = self.knots[0] if self.values[0] <= self.values[-1] else self.knots[-1]
        return self.weight * np.interp(np.where(np.isnan(scores), worst, scores), self.knots, self.values)


@dataclass(frozen=True)
class ResponseShape:
    """One source's part of a later round's size measure: a step function of a predicted human score.

    Parameters
    ----------
    terms : by system; the predicted score is their sum. One term of weight 1 is that system's own mapped score
    edges : inner edges of the bins of the predicted score, ascending
    densities : size of a candidate in each bin, one more than edges
    """

    terms: dict[str, MappedTerm]
    edges: list[float]
    densities: list[float]

    def __post_init__(self) -> None:
        terms = {
            name: term if isinstance(term, MappedTerm) else MappedTerm(**term) for name, term in self.terms.items()
        }
        object.__setattr__(self, "terms", terms)

    def predicted(self, scores: Mapping[str, np.ndarray]) -> np.ndarray | None:
        """Predicted score of each candidate; None where one of the systems does not answer the query."""
        return predicted(self.terms, scores)

    def density(self, predicted: np.ndarray) -> np.ndarray:
        """Size of each candidate from its predicted score, float64."""
        return np.asarray(self.densities)[bins_of(predicted, self.edges)]


def predicted(terms: Mapping[str, MappedTerm], scores: Mapping[str, np.ndarray]) -> np.ndarray | None:
    """Predicted score of each result: the sum of the systems' terms; None where one of the systems has no scores."""
    if any(name not in scores for name in terms):
        return None
    return np.asarray(sum(term(scores[name]) for name, term in terms.items()))


def bins_of(mapped: np.ndarray, edges: Sequence[float]) -> np.ndarray:
    """Bin of each mapped score, int64."""
    return np.searchsorted(np.asarray(edges, dtype=float), mapped, side="right")


@dataclass(frozen=True, eq=False)
class Judged:
    """The judged pairs.

    Parameters
    ----------
    scores : by system, float [pairs], NaN where it gives none
    judgments : float [pairs]
    weights : 1 / inclusion probability, float [pairs]
    """

    scores: dict[str, np.ndarray]
    judgments: np.ndarray
    weights: np.ndarray


@dataclass(frozen=True, eq=False)
class RoundPlan:
    """The shapes of a later round and what people should answer.

    Parameters
    ----------
    shapes : by system
    expected : expected share of each category, by system and for "all"
    parts : share of the round that each system proposes
    """

    shapes: dict[str, ResponseShape]
    expected: dict[str, np.ndarray]
    parts: dict[str, float]


def plan_round(
    mappings: Mapping[str, FittedMapping],
    judged: Judged,
    candidates: Sequence[Mapping[str, np.ndarray]],
    categories: Sequence[float],
    results: float,
    floor: float,
    others: Sequence[int] | None = None,
) -> RoundPlan:
    """Shapes under which every category is expected equally often.

    Sources are the systems' mapped scores and, if there are several systems, "combined": the sum of mapped scores
    with non-negative weights that fits the judgments best. For each source the judged pairs are put in bins of equal
    number by predicted score; within a bin, the design-weighted judgments estimate how people respond to a candidate
    drawn from it. A convex program then chooses how many pairs each bin should give: the expected responses of the
    whole round, and of each source's part, come as near to 1/K as they can, while no bin is planned to be used up. A
    candidate's size is its bin's number over the bin's candidates per query.

    Parameters
    ----------
    mappings : by system
    candidates : for each of some reference queries, each system's scores of all candidates
    categories : values of the scale
    results : pairs per query, on average
    floor : share of the round that is drawn uniformly from all candidates
    others : how many more candidates each reference query has, which no system scores; None: none

    Raises
    ------
    RelstudyError
        when more results are asked for than the bins can give
    """
    terms = {name: {name: MappedTerm.of(mapping)} for name, mapping in mappings.items()}
    if len(mappings) > 1:
        terms[COMBINED] = _combination(mappings, judged)
    models = {name: _ResponseModel.fit(each, judged, candidates, others, categories) for name, each in terms.items()}
    weights, anyone = _weigh(models, len(categories), results, floor)
    shapes, expected, parts = {}, {}, {}
    for name, model in models.items():
        shapes[name] = ResponseShape(terms[name], model.edges, (weights[name] / model.number).tolist())
        parts[name] = float(weights[name].sum())
        expected[name] = model.share.T @ weights[name] / parts[name]
    whole = np.sum([parts[name] * share for name, share in expected.items()], axis=0)
    return RoundPlan(shapes, {**expected, "all": (1 - floor) * whole + floor * anyone}, parts)


def _combination(mappings: Mapping[str, FittedMapping], judged: Judged) -> dict[str, MappedTerm]:
    """Non-negative least squares of the judgments on the mapped scores; every system keeps at least a trace."""
    from scipy.optimize import nnls

    names = list(mappings)
    mapped = np.column_stack([MappedTerm.of(mappings[name])(judged.scores[name]) for name in names])
    weights, _ = nnls(mapped - mapped.mean(axis=0), judged.judgments - judged.judgments.mean())
    return {
        name: MappedTerm.of(mappings[name], float(weight))
        for name, weight in zip(names, weights, strict=True)
        if weight
    }


def _weigh(
    models: Mapping[str, _ResponseModel], scale: int, results: float, floor: float
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Share of the round that each bin of each source gives, summing to 1, and the response to a random candidate."""
    cp: Any = importlib.import_module("cvxpy")

    variables = {name: cp.Variable(len(model.share), nonneg=True) for name, model in models.items()}
    anyone = np.asarray(np.mean([model.base for model in models.values()], axis=0))
    whole: Any = floor * anyone
    cost: Any = 0.0
    limits: list[Any] = [sum(cp.sum(variable) for variable in variables.values()) == 1]
    for name, model in models.items():
        expected = model.share.T @ variables[name]
        part = cp.sum(variables[name])
        whole = whole + (1 - floor) * expected
        cost = cost + OWN_EVENNESS * cp.norm1(expected - part / scale) / scale
        cost = cost + SMOOTH * cp.sum_squares(variables[name])
        limits.append(part >= LEAST_PART / len(models))
        limits.append(results * (1 - floor) * variables[name] <= USED_UP * model.number)
    problem = cp.Problem(cp.Minimize(cost + cp.norm1(whole - 1 / scale) / scale), limits)
    problem.solve(solver=cp.CLARABEL)
    if problem.status not in ("optimal", "optimal_inaccurate"):
        raise RelstudyError(
            f"{results:g} results per query are too many for a round by response: there are not that many distinct "
            "candidates; ask for fewer results"
        )
    return {name: np.clip(np.asarray(each.value), 0.0, None) for name, each in variables.items()}, anyone


@dataclass(frozen=True, eq=False)
class _ResponseModel:
    """Responses to a source's bins: share [bins, categories], number of candidates per query [bins], and base, the
    response to a candidate at random [categories]."""

    edges: list[float]
    share: np.ndarray
    number: np.ndarray
    base: np.ndarray

    @classmethod
    def fit(
        cls,
        terms: Mapping[str, MappedTerm],
        judged: Judged,
        candidates: Sequence[Mapping[str, np.ndarray]],
        others: Sequence[int] | None,
        categories: Sequence[float],
    ) -> _ResponseModel:
        seen = predicted(terms, judged.scores)
        assert seen is not None
        edges = _edges(seen)
        answered = [values for scores in candidates if (values := predicted(terms, scores)) is not None]
        number = np.bincount(bins_of(np.concatenate(answered), edges), minlength=len(edges) + 1) / len(answered)
        if others is not None:
            unscored = predicted(terms, dict.fromkeys(judged.scores, np.array([np.nan])))
            assert unscored is not None
            number[bins_of(unscored, edges)] += np.mean(others)
        # a bin without a reference candidate still needs a finite size
        number = np.maximum(number, 1 / (2 * len(answered)))
        middle = np.asarray(categories, dtype=float)
        category = np.searchsorted((middle[1:] + middle[:-1]) / 2, judged.judgments, side="right")
        overall = response_shares(judged.judgments, categories)
        bin_of = bins_of(seen, edges)
        share = np.empty((len(edges) + 1, len(categories)))
        for row in range(len(share)):
            rows = bin_of == row
            count = int(rows.sum())
            observed = _weighted_share(category[rows], judged.weights[rows], len(categories)) if count else overall
            share[row] = (count * observed + PRIOR_PAIRS * overall) / (count + PRIOR_PAIRS)
        return cls(edges, share, number, _weighted_share(category, judged.weights, len(categories)))


def _edges(mapped: np.ndarray) -> list[float]:
    """Inner edges that put about equally many judged pairs in each bin; ties stay together."""
    wanted = int(np.clip(len(mapped) // SMALLEST_BIN, 1, BINS))
    quantiles = np.quantile(mapped, np.arange(1, wanted) / wanted)
    return [float(edge) for edge in np.unique(quantiles) if edge > mapped.min()]


def _weighted_share(category: np.ndarray, weights: np.ndarray, scale: int) -> np.ndarray:
    return np.bincount(category, weights=weights, minlength=scale) / weights.sum()
