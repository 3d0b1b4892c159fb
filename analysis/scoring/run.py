"""Score systems against judgments: each index of Shirahatti and Barnard 2005, chapter 5, with interval and
conventions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np
import pandas as pd

from relstudy.analysis.indices.correlation import INDICES as CORRELATIONS
from relstudy.analysis.indices.normalised_rank import (
    normalised_rank_fifth_power,
    normalised_rank_plain,
    random_assignment,
)
from relstudy.analysis.indices.precision_recall import precision_recall_curve
from relstudy.analysis.indices.registry import PEARSON, bare_name
from relstudy.analysis.resampling.bootstrap import BootstrapStatistic
from relstudy.analysis.scoring.candidate import Candidate, Progress, candidate_of, not_shown
from relstudy.analysis.scoring.comparison import agreements, compare, notes_on_alike, orderings
from relstudy.analysis.scoring.context import ScoringContext
from relstudy.analysis.scoring.conventions import conventions_of, notes_on, notes_on_figures, numbers
from relstudy.analysis.scoring.explained_share import explained
from relstudy.analysis.scoring.judged_pairs import JudgedPairs
from relstudy.analysis.scoring.known_directions import known_directions
from relstudy.analysis.scoring.mapping_used import MappedScores
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.scoring.results import Correlations, PrecisionRecallPoint, ScoreResult, SystemScore
from relstudy.analysis.scoring.scored_pairs import ScoredPairs
from relstudy.calibration.tables.judgments import Judgments
from relstudy.common.cluster import in_parts, on_a_cluster, parts_wanted
from relstudy.common.results.estimates import Estimate
from relstudy.common.runtime.errors import RelstudyError
from relstudy.mapping.scores.score_table import ScoreTable

CONSTANT = "the mapping is constant: no monotone relation was found"
UNMAPPED = Correlations(*(Estimate.missing("no mapping was fitted") for _ in CORRELATIONS))


def score_systems(
    judgments: Judgments | pd.DataFrame,
    scores: ScoreTable | pd.DataFrame,
    mapped: Mapping[str, MappedScores] | None = None,
    options: ScoringOptions | None = None,
) -> ScoreResult:
    """Score every system of `scores` against `judgments`.

    Parameters
    ----------
    judgments : as `relstudy.calibration.tables.judgments.read_judgments` gives them, or a DataFrame of theirs
    scores : as `relstudy.mapping.scores.score_files.read_scores` gives them, or a DataFrame of the same columns
    mapped : per system its scores on the human scale, aligned with the rows of `judgments`; None scores raw only
    options : threshold, weights, coverage policy, bootstrap

    Raises
    ------
    RelstudyError
        where a system scores no judged pair, or fewer than half of them without leave (`options.low_coverage`)

    Examples
    --------
    >>> import pandas as pd
    >>> pairs = {"query_id": list("aabb"), "result_id": list("wxyz")}
    >>> judgments = pd.DataFrame(pairs | {"judgment": [5.0, 1.0, 4.0, 2.0], "inclusion_probability": 0.5})
    >>> scores = pd.DataFrame(pairs | {"system": "one", "score": [0.9, 0.2, 0.4, 0.3]})
    >>> result = score_systems(judgments, scores)
    >>> [result["one"].indices[name].value for name in ("average_precision", "normalised_rank")]
    [1.0, 0.0]
    """
    options = options or ScoringOptions()
    pairs = JudgedPairs.of(judgments)
    table = ScoreTable.of(scores)
    directions = known_directions({}, table.directions)
    candidates = [
        candidate_of(pairs, name, rows, options, directions, name in table.runs) for name, rows in table.by_system()
    ]
    given = mapped or {}
    return score_candidates(pairs, [replace(each, mapped=given.get(each.name)) for each in candidates], options)


def score_candidates(
    pairs: JudgedPairs,
    candidates: list[Candidate],
    options: ScoringOptions,
    progress: Progress = not_shown,
) -> ScoreResult:
    """Every index of every candidate, and the comparisons between them."""
    if not candidates:
        raise RelstudyError("there is no system to score")
    context = ScoringContext(pairs, options)
    found = _figures(context, candidates)
    if len(candidates) > 1 and on_a_cluster():
        size = -(-len(candidates) // parts_wanted())
        groups = [candidates[start : start + size] for start in range(0, len(candidates), size)]
        found = chain.from_iterable(in_parts(_scoring, [replace(pairs), options], groups))  # pairs without what is kept
    scored = [next(found) for _ in progress(candidates, "scoring")]
    systems = [system for system, _ in scored]
    conventions = conventions_of(context, systems[0])
    if all(np.array_equal(each.used, candidates[0].used) for each in candidates):
        context.free()  # no two systems are compared on other pairs than their own
    comparisons, ranks, drawn = compare(context, candidates, systems)
    notes = [*notes_on(context, candidates), *notes_on_alike(comparisons, drawn)]
    return ScoreResult(
        systems=tuple(systems),
        pairs=numbers(context),
        options=options,
        relevance=context.relevance,
        weighting=pairs.weighting(options.weights),
        population=context.population,
        raters=context.rater_population,
        conventions=conventions,
        comparisons=tuple(comparisons),
        orderings=tuple(orderings(context, candidates, systems)),
        agreement=tuple(agreements(context, systems)),
        per_query=pd.concat([by_query for _, by_query in scored], ignore_index=True),
        notes=(*notes, *notes_on_figures(systems, notes)),
        collection=context.collection,
        query_id=pairs.query_id,
        result_id=pairs.result_id,
        judgment=pairs.judgment,
        weight=context.design,
        proposers=pairs.proposers,
        primary=context.primary,
        ranks=ranks,
        drawn=drawn,
        pool=pairs.design.pool,
    )


def _figures(context: ScoringContext, candidates: Sequence[Candidate]) -> Iterator[tuple[SystemScore, pd.DataFrame]]:
    """Every index of each system, over all queries and of each; their correlations in one pass."""
    for candidate, correlated in zip(candidates, context.correlations(candidates), strict=True):
        pairs = ScoredPairs.of(context, candidate)
        yield score_one(pairs, correlated), indices_by_query(pairs)


def _scoring(
    pairs: JudgedPairs, options: ScoringOptions
) -> Callable[[Sequence[Candidate]], list[tuple[SystemScore, pd.DataFrame]]]:
    """What gives the figures of some systems; its replicates are those of any other process, by the same seed."""
    context = ScoringContext(pairs, options)
    return lambda candidates: list(_figures(context, candidates))


def score_one(pairs: ScoredPairs, correlated: Mapping[str, dict[str, BootstrapStatistic]]) -> SystemScore:
    """Every index of one system, whose correlations are known (`ScoringContext.correlations`)."""
    context, candidate, used, ranking = pairs.context, pairs.candidate, pairs.used, pairs.ranking
    fitted = candidate.mapped
    if fitted is not None and np.ptp(fitted.values[used]) == 0:
        of_mapped = ("mapped", "collection")
        correlated = {kind: _constant(each) if kind in of_mapped else each for kind, each in correlated.items()}
    raw, mapped, by_collection = correlated["raw"], correlated.get("mapped"), correlated.get("collection")
    in_sample = correlated.get("in_sample")
    if by_collection is not None:
        compared_by = by_collection["pearson"]
    elif mapped is not None:
        compared_by = mapped["pearson"]
    else:
        # a distance is compared in the direction in which it ranks
        compared_by = raw["pearson"] if candidate.direction.higher else -raw["pearson"]
    figures = {f"{kind}_{name}": r for kind in ("raw", "mapped") for name, r in correlated.get(kind, {}).items()}
    figures |= pairs.figures({PEARSON.name: compared_by})
    collected = _correlations if fitted is None else _mapped_correlations
    return SystemScore(
        name=candidate.name,
        direction=candidate.direction,
        raw=_correlations(context, raw),
        mapped=UNMAPPED if mapped is None else _mapped_correlations(context, mapped),
        collection=None if by_collection is None else collected(context, by_collection),
        mapping=None if fitted is None else fitted.mapping,
        in_sample=None if in_sample is None else _correlations(context, in_sample),
        indices={index.name: context.estimate(figures[index.name]) for index in context.indices},
        normalised_rank_variants=_variants(context, ranking, used),
        points=_points(context, ranking, used, candidate.direction.higher),
        curve=_curve(context, ranking, used, candidate.direction.higher),
        coverage=candidate.coverage,
        pair_scores=candidate.score if used.all() else np.where(used, candidate.score, np.nan),
        mapped_scores=None if fitted is None else fitted.values,
        fitted_mapping=None if fitted is None else fitted.fitted,
        figures=figures,
        explained=explained(context, used, compared_by),
        first_judged={name: each.total() for name, each in pairs.first_judged.items()},
    )


def _constant(figures: Mapping[str, BootstrapStatistic]) -> dict[str, BootstrapStatistic]:
    return {name: replace(each, reason=CONSTANT) for name, each in figures.items()}


def _correlations(context: ScoringContext, figures: Mapping[str, BootstrapStatistic]) -> Correlations:
    return Correlations(*(context.estimate(figures[name]) for name in CORRELATIONS))


def _mapped_correlations(context: ScoringContext, figures: Mapping[str, BootstrapStatistic]) -> Correlations:
    """As `_correlations`, with intervals that reach 0: a mapping of many pairs has no correlation below it."""
    estimates = (context.estimate(figures[name]) for name in CORRELATIONS)
    return Correlations(*(each if each.high is None else replace(each, high=max(each.high, 0.0)) for each in estimates))


def _variants(context: ScoringContext, ranking: np.ndarray, used: np.ndarray) -> dict[str, float | None]:
    relevant = context.relevance.values[used]
    figures = {
        "plain_eq_5_3": normalised_rank_plain(relevant, ranking),
        "fifth_power_eq_5_5": normalised_rank_fifth_power(relevant, ranking),
    }
    if context.weights_missing is None:
        chance = random_assignment(relevant)
        figures |= {f"random_{name}": value for name, value in chance.items()}
    return {name: value if np.isfinite(value) else None for name, value in figures.items()}


def _points(
    context: ScoringContext, ranking: np.ndarray, used: np.ndarray, higher: bool
) -> tuple[PrecisionRecallPoint, ...]:
    prepared = context.prepared(used)
    if context.weights_missing is not None or prepared.undefined is not None:
        return ()
    weight = context.weight(ranking, used)
    points = prepared.operating_points(ranking, weight)
    by_rater = context.by_rater(used, lambda pairs: np.concatenate(pairs.points(ranking, weight, points.threshold)))
    if by_rater is not None:
        figures = [
            replace(figure, raters=parts, clusters=prepared.queries)
            for figure, parts in zip([*points.precision, *points.recall], by_rater, strict=True)
        ]
        points = replace(points, precision=figures[: len(points.share)], recall=figures[len(points.share) :])
    sign = 1.0 if higher else -1.0
    return tuple(
        PrecisionRecallPoint(
            float(share),
            float(retrieved),
            sign * float(threshold),
            context.estimate(precision),
            context.estimate(context.pairs.design.limited(recall)),
            bool(tied),
        )
        for share, retrieved, threshold, precision, recall, tied in zip(
            points.share,
            points.retrieved,
            points.threshold,
            points.precision,
            points.recall,
            points.tied,
            strict=True,
        )
    )


def _curve(context: ScoringContext, ranking: np.ndarray, used: np.ndarray, higher: bool) -> pd.DataFrame:
    relevant = context.relevance.values[used]
    if context.weights_missing is not None or not relevant.any():
        return pd.DataFrame({"threshold": [], "precision": [], "recall": []}, dtype=float)
    curve = precision_recall_curve(relevant, ranking, context.weight(ranking, used))
    number = len(curve.recall)
    keep = np.unique(np.r_[np.searchsorted(curve.recall, np.linspace(0, 1, 400)), np.arange(min(number, 100))])
    keep = np.unique(np.r_[keep[keep < number], number - 1])
    return pd.DataFrame(
        {
            "threshold": curve.threshold[keep] * (1.0 if higher else -1.0),
            "precision": curve.precision[keep],
            "recall": curve.recall[keep],
        }
    )


def indices_by_query(pairs: ScoredPairs) -> pd.DataFrame:
    """One row per query: system, query_id, pairs, relevant, query_weight where queries count unlike, a column an index,
    and one for each share of first results that is judged.

    `relevant` adds up how relevant the pairs are: their number, where each is relevant or not. An index is NaN
    where the query does not define it: no relevant pair, only relevant pairs, or equal values. Average precision is NaN
    as well where fewer than `FEWEST_RELEVANT` relevant results were drawn and others were not.
    """
    number = pairs.queries
    columns = {
        "system": pairs.candidate.name,
        "query_id": pairs.context.pairs.queries,
        "pairs": np.bincount(pairs.query, minlength=number),
        "relevant": np.bincount(pairs.query, pairs.relevance, number),
    }
    worth = pairs.context.pairs.worth_of_queries
    columns |= {} if worth is None else {"query_weight": worth}
    indices: dict[str, np.ndarray] = {}
    for index in pairs.context.indices:
        indices[index.name] = index.by_query(pairs)
        errors = pairs.measured(bare_name(index.name)).errors if index.of_run else None
        indices |= {} if errors is None else {f"{index.name} error": errors}
    return pd.DataFrame(columns | indices | {name: each.values for name, each in pairs.first_judged.items()})
