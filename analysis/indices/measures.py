"""Measures of `ir-measures`, by their names there: what can be computed, and one sentence for what cannot."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd

from relstudy.analysis.resampling.spread import degrees_of, effective_number, means_without_each
from relstudy.common.runtime.errors import RelstudyError

ByQuery = dict[str, dict[str, Any]]
Texts = np.ndarray | pd.Series
MOST_RESULTS = 1_000_000
"""The greatest cutoff that is handed on."""
OF_CWL = frozenset(["RBP", "BPM", "SDCG", "NERR8", "NERR9", "NERR10", "NERR11", "INST", "INSQ"])
"""Measures that cwl-eval computes, which the extra `measures` brings."""
OF_SUBTOPICS = frozenset(["ERR_IA", "nERR_IA", "alpha_DCG", "alpha_nDCG", "NRBP", "nNRBP", "AP_IA", "P_IA", "StRecall"])
"""Measures of the subtopics of a query."""
IN_THE_ORDER_GIVEN = OF_CWL | {"Accuracy"}
"""Measures for which equal scores stand in the order in which they are handed over."""
RANKED_BY_NAME = frozenset(("Judged", "Compat"))
"""Measures whose library sorts equal scores by result, ascending."""


@dataclass(frozen=True, eq=False)
class QueryValues:
    """A measure's value for each query.

    Parameters
    ----------
    values : float [queries], 0 where nothing was retrieved, NaN where a query has none, which then has no part
    summed : whether the measure is the sum over queries (a count) and not their mean
    weight : how much each query counts in the mean, float [queries] above 0; None: all alike
    errors : standard error of each, of drawing a query's results, float [queries]; None where they are not estimates
    missing : why there is no figure over queries; None if there is
    withheld : why the figure has no interval and no test; None where it has them
    """

    values: np.ndarray
    summed: bool = False
    weight: np.ndarray | None = None
    errors: np.ndarray | None = None
    missing: str | None = None
    withheld: str | None = None

    def weighted(self, weight: np.ndarray | None) -> QueryValues:
        """The same, each query counted by its weight; a sum counts each as it is."""
        return self if weight is None or self.summed else replace(self, weight=weight)

    @property
    def freedom(self) -> float | None:
        """Degrees of freedom of a mean over queries that count unlike; None where they count alike."""
        if self.weight is None:
            return None
        return degrees_of(effective_number(self.weight[np.isfinite(self.values)]))

    def total(self, counts: np.ndarray | None = None) -> Any:
        """The measure over all queries, or in each replicate of `counts` (float [queries, replicates])."""
        known = np.isfinite(self.values)
        if not known.all():
            if self.missing is not None or not known.any():
                return float("nan") if counts is None else np.full(counts.shape[1], np.nan)
            return self._among(known).total(None if counts is None else counts[known])
        if counts is None:
            return float(self.values.sum() if self.summed else np.average(self.values, weights=self.weight))
        if self.weight is not None:
            return (self.values * self.weight) @ counts / (self.weight @ counts)
        total = self.values @ counts
        with np.errstate(invalid="ignore"):
            return total if self.summed else total / counts.sum(axis=0)

    def _among(self, known: np.ndarray) -> QueryValues:
        """The same of some queries alone."""
        return replace(self, values=self.values[known], weight=None if self.weight is None else self.weight[known])

    def left_out(self) -> np.ndarray | None:
        """The measure without each query, float [queries], a sum as that of as many queries; None with one query.

        Examples
        --------
        >>> QueryValues(np.array([0.0, 0.5, 1.0])).left_out().tolist()
        [0.75, 0.5, 0.25]
        """
        known = np.isfinite(self.values)
        if not known.all():
            return None if self.missing is not None else self._among(known).left_out()
        number = len(self.values)
        if number < 2:
            return None
        if self.weight is not None:
            return means_without_each(self.values, self.weight)
        without: np.ndarray = (self.values.sum() - self.values) / (number - 1)
        return number * without if self.summed else without


def _named_elsewhere(name: str) -> str | None:
    """What ir-measures calls a measure of trec_eval's name, or of its own name in other cases; None where nothing.

    Examples
    --------
    >>> _named_elsewhere("map"), _named_elsewhere("ndcg_cut_10"), _named_elsewhere("ndcg@5"), _named_elsewhere("x")
    ('AP', 'nDCG@10', 'nDCG@5', None)
    """
    import ir_measures

    with suppress(ValueError, NameError, KeyError):
        (of_trec_eval,) = ir_measures.parse_trec_measure(name)
        return str(of_trec_eval)
    head, rest = re.match(r"([^@(]*)(.*)", name, re.DOTALL).groups()  # type: ignore[union-attr]
    for known in ir_measures.measures.registry:
        if known.lower() == head.lower():
            with suppress(ValueError, NameError, SyntaxError, KeyError, TypeError, AttributeError, AssertionError):
                return str(ir_measures.parse_measure(known + rest))
    return None


@cache
def parsed_measure(name: str) -> Any:
    """The measure of this name.

    Raises
    ------
    RelstudyError
        where ir-measures knows no such measure

    Examples
    --------
    >>> str(parsed_measure("MAP"))
    'AP'
    """
    import ir_measures

    try:
        measure = ir_measures.parse_measure(name)
    except (ValueError, NameError, SyntaxError, KeyError, TypeError, AttributeError, AssertionError) as error:
        own = _named_elsewhere(name)
        why = f"({error})" if own is None else f"by that name; it calls it {own}"
        raise RelstudyError(f"{name!r} is not a measure that ir-measures knows {why}") from None
    for parameter, lowest, highest in (("cutoff", 1, MOST_RESULTS), ("rel", 1, MOST_RESULTS)):
        value = measure.params.get(parameter, lowest)
        if isinstance(value, bool) or not isinstance(value, int) or not lowest <= value <= highest:
            # trec_eval's library ends the whole program at such numbers
            raise RelstudyError(f"{name!r}: {parameter} is a whole number from {lowest} to {highest}, not {value!r}")
    return measure


def takes_relevant_or_not(name: str) -> bool:
    """True where a measure takes pairs as relevant or not, at a grade that its name leaves open.

    Examples
    --------
    >>> takes_relevant_or_not("P@10"), takes_relevant_or_not("AP(rel=2)"), takes_relevant_or_not("nDCG@10")
    (True, False, False)
    """
    measure = parsed_measure(name)
    return "rel" in measure.SUPPORTED_PARAMS and "rel" not in measure.params


def scales_with_gains(name: str) -> bool:
    """True where a measure is the same when all gains are multiplied by one number, so that .1 may be given as 1 of 10.

    Judged and NumQ are: they ask whether somebody judged, and never how.

    Raises
    ------
    RelstudyError
        where it takes gains that are not whole in no way; one that names a grade (rel=2) takes what reaches it

    Examples
    --------
    >>> scales_with_gains("nDCG@10"), scales_with_gains("Judged@10"), scales_with_gains("P(rel=2)@10")
    (True, True, False)
    """
    measure = parsed_measure(name)
    if measure.NAME in ("Judged", "NumQ"):
        return True
    if measure.NAME == "nDCG" and measure.params.get("dcg", "log2") == "log2" and "gains" not in measure.params:
        return True
    if "rel" in measure.params:
        return False
    raise RelstudyError(f"{name!r} takes whole grades, and gains here are fractions; nDCG takes them as they are")


class Evaluation:
    """Measures against the same qrels, for one run after another: the qrels are handed to the libraries once.

    Parameters
    ----------
    measures : names as ir-measures writes them
    qrels : DataFrame[query_id, doc_id, relevance]

    Raises
    ------
    RelstudyError
        naming a measure that ir-measures does not know

    Examples
    --------
    >>> pairs = np.array(["q", "q"], dtype=object), np.array(["x", "y"], dtype=object)
    >>> evaluation = Evaluation.of_pairs(["RR"], *pairs, np.array([0, 1]))
    >>> runs = [evaluation.run_of(*pairs, np.array(score)) for score in ([0.2, 0.1], [0.1, 0.2])]
    >>> [evaluation.of_run(np.array(["q"]), run)["RR"].values.tolist() for run in runs]
    [[0.5], [1.0]]
    """

    def __init__(self, measures: Sequence[str], qrels: pd.DataFrame) -> None:
        # one of ir-measures' providers takes numbers alone for queries
        self.numbers = {name: str(number) for number, name in enumerate(dict.fromkeys(qrels["query_id"]), start=1)}
        self.names = {number: name for name, number in self.numbers.items()}
        self.measures = list(measures)
        self.parsed = [parsed_measure(name) for name in measures]
        self.judged = _by_query(qrels["query_id"], qrels["doc_id"], qrels["relevance"], self.numbers)

    @classmethod
    def of_pairs(
        cls, measures: Sequence[str], query_id: np.ndarray, result_id: np.ndarray, relevance: np.ndarray
    ) -> Evaluation:
        """Of judged pairs: text [pairs] twice, and whole numbers [pairs]."""
        return cls(measures, pd.DataFrame({"query_id": query_id, "doc_id": result_id, "relevance": relevance}))

    def of(self, measures: Sequence[str], judged: ByQuery | None = None) -> Evaluation:
        """Of other measures, or by qrels that hold other pairs of the same queries; runs that were made for it stay
        good."""
        other = Evaluation(measures, pd.DataFrame({"query_id": [], "doc_id": [], "relevance": []}))
        other.numbers, other.names, other.judged = self.numbers, self.names, self.judged if judged is None else judged
        return other

    def without(self, query_id: np.ndarray, result_id: np.ndarray) -> Evaluation:
        """The same by qrels that do not hold some pairs, text [pairs] twice."""
        gone: dict[str, set[str]] = {}
        for query, result in zip(query_id, result_id, strict=True):
            gone.setdefault(self.numbers[query], set()).add(result)
        kept = {
            query: {result: grade for result, grade in each.items() if result not in gone.get(query, ())}
            for query, each in self.judged.items()
        }
        return self.of(self.measures, {query: each for query, each in kept.items() if each})

    def run_of(self, query_id: Texts, result_id: Texts, score: np.ndarray) -> ByQuery:
        """A run of scored pairs, without those whose score (float [pairs]) is NaN; good for every evaluation of qrels
        with the same queries."""
        scored = np.isfinite(score)
        if not scored.all():
            query_id, result_id, score = query_id[scored], result_id[scored], score[scored]
        # trec_eval's library keeps scores in single precision, where some that differ are equal: places are exact
        place = pd.Series(score).groupby(pd.factorize(query_id)[0]).rank(method="dense").to_numpy()
        return _by_query(query_id, result_id, place, self.numbers)

    def run(self, scores: pd.DataFrame, higher: bool) -> ByQuery:
        """Everything that a system retrieved, judged or not (query_id, result_id, score), as a run.

        Parameters
        ----------
        higher : whether a higher score is better
        """
        score = scores["score"].to_numpy(dtype=float) * (1.0 if higher else -1.0)
        return self.run_of(scores["query_id"].astype("str"), scores["result_id"].astype("str"), score)

    def of_run(self, queries: np.ndarray, run: ByQuery) -> dict[str, QueryValues]:
        """Each measure's value of a run for every one of `queries`, by its ir-measures name; 0 for those without qrels.

        Raises
        ------
        RelstudyError
            naming a measure that ir-measures knows and cannot compute
        """
        if any(measure.NAME in IN_THE_ORDER_GIVEN for measure in self.parsed):
            run = {query: _as_trec_eval(results) for query, results in run.items()}
        try:
            values = self._calculated(run)
        except Exception:  # each provider fails in its own way: AssertionError, ValueError, CalledProcessError
            for name in self.measures:
                _try_alone(name, self.judged, run)
            raise
        place = {self.numbers[name]: k for k, name in enumerate(queries) if name in self.numbers}
        found = {}
        for measure in self.parsed:
            of_queries, by_query = np.zeros(len(queries)), values[str(measure)]
            of_queries[[place[query] for query in self.judged]] = [
                by_query.get(query, measure.DEFAULT) for query in self.judged
            ]
            summed = type(measure.aggregator()).__name__ == "SumAgg"
            found[str(measure)] = QueryValues(of_queries, summed)
        return found

    def _calculated(self, run: ByQuery) -> dict[str, dict[str, float]]:
        """Values by measure and query's number, without queries of which the run has nothing.

        What trec_eval's library computes is taken from it as it comes, query by query: in ir-measures' own loop each
        value costs ten times that, for measures whose names are put together whenever they are looked up.
        """
        from ir_measures.providers.pytrec_eval_provider import PytrecEvalEvaluator

        found: dict[str, dict[str, float]] = {str(measure): {} for measure in self.parsed}
        for evaluator in getattr(self._evaluator, "evaluators", [self._evaluator]):
            if not isinstance(evaluator, PytrecEvalEvaluator):
                for value in evaluator.iter_calc(run):
                    found[str(value.measure)][value.query_id] = value.value
                continue
            for invoker in evaluator.invokers:
                names = {its: str(measure) for its, (measure, _) in invoker.measure_map.items()}
                for query, values in invoker.evaluator.evaluate(run).items():
                    for its, value in values.items():
                        found[names[its]][query] = value
        return found

    @cached_property
    def _evaluator(self) -> Any:
        import ir_measures

        return ir_measures.evaluator(self.parsed, self.judged)


def _by_query(query_id: Texts, result_id: Texts, values: Texts, numbers: Mapping[str, str]) -> ByQuery:
    """What each pair has, by the queries' numbers and by result, without queries that have none.

    ir-measures takes this as it is, and of a DataFrame makes it row by row in five times the time.
    """
    query, names = pd.factorize(query_id)
    if (np.diff(query) < 0).any():
        order = np.argsort(query, kind="stable")
        query, result_id, values = query[order], *(pd.Series(each).iloc[order] for each in (result_id, values))
    results, listed = (np.asarray(each, dtype=object).tolist() for each in (result_id, values))
    ends = np.cumsum(np.bincount(query, minlength=len(names))).tolist()
    return {
        numbers[name]: dict(zip(results[start:end], listed[start:end], strict=True))
        for name, start, end in zip(names, [0, *ends], ends, strict=False)
        if name in numbers
    }


def _as_trec_eval(results: Mapping[str, Any]) -> dict[str, Any]:
    """Results in trec_eval's order: by score, and equal scores by name, both descending."""
    return dict(sorted(results.items(), key=lambda each: (each[1], each[0]), reverse=True))


def _try_alone(name: str, qrels: ByQuery, run: ByQuery) -> None:
    """Compute one measure, and say in a sentence where that cannot be done."""
    import ir_measures

    measure = parsed_measure(name)
    try:
        list(ir_measures.iter_calc([measure], qrels, run))
    except Exception as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        needed = "rel" if measure.NAME == "RBP" else "max_rel"
        if measure.NAME in OF_SUBTOPICS:
            reason = "it is of the subtopics of a query, which these judgments do not have"
        elif measure.NAME in OF_CWL and needed in measure.SUPPORTED_PARAMS and needed not in measure.params:
            reason = f"the parameter {needed} must be given, as {measure.NAME}({needed}=1)"
        elif measure.NAME in OF_CWL and find_spec("cwl") is None:
            reason = "cwl-eval computes it, which pip install 'relstudy[measures]' brings"
        elif "Unsupported" in reason:
            reason = "none of the libraries that are installed computes it with these parameters"
        elif "object object at" in reason:
            reason = f"the parameter {reason.split('=')[0].split()[-1]} must be given"
        raise RelstudyError(
            f"{name!r} is a measure that ir-measures knows and cannot compute here ({reason.rstrip('.')}); leave it out"
        ) from None
