"""Do the ground truths that hashing is evaluated by agree with people? Moran 2016, section 3.3, leaves that open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from relstudy.analysis.hashing.metrics.mean_interval import mean_interval
from relstudy.analysis.hashing.people.scores import DescribedItems, left_out, pair_weights, truth_scores
from relstudy.analysis.indices.registry import AVERAGE_PRECISION, NORMALISED_RANK
from relstudy.analysis.resampling.bootstrap import query_counts
from relstudy.analysis.resampling.spread import percentile_interval
from relstudy.analysis.scoring.judged_pairs import JudgedPairs
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.scoring.results import ScoreResult
from relstudy.analysis.scoring.run import score_systems
from relstudy.calibration.tables.judgments import Judgments
from relstudy.common.results.estimates import Estimate
from relstudy.common.runtime.wording import listed, percent
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR

CHANCE = 0.5
"""AUC of a truth that has nothing to do with people."""


@dataclass(frozen=True)
class AuditedTruth:
    """One ground truth against people.

    Parameters
    ----------
    name : `class`, `shared label`, `epsilon-ball`, `k-NN` or `distance`
    pearson : correlation of the truth with the judgments over the whole collection, each pair counting as one over its
        inclusion probability; over the judged pairs alone where probabilities are not known
    auc : weighted probability that a pair people value is placed above one they don't, ties half
    average_precision : weighted
    within_queries : mean over queries of the AUC within the query, where it exists
    called_relevant : weighted share of pairs that the truth calls relevant; missing for `distance`
    """

    name: str
    pearson: Estimate
    auc: Estimate
    average_precision: Estimate
    within_queries: Estimate
    called_relevant: Estimate

    @property
    def figures(self) -> tuple[Estimate, ...]:
        """In the order of the table."""
        return (self.pearson, self.auc, self.average_precision, self.within_queries, self.called_relevant)

    def as_json(self) -> dict[str, Any]:
        """By name."""
        names = ("pearson", "auc", "average_precision", "auc_within_queries", "called_relevant")
        return {name: figure.as_json() for name, figure in zip(names, self.figures, strict=True)}


@dataclass(frozen=True)
class Audit:
    """Every ground truth against people, the scoring it rests on, R of the epsilon-ball and k of k-NN, and notes."""

    truths: tuple[AuditedTruth, ...]
    scoring: ScoreResult
    neighbours: int
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Plain JSON."""
        scored = self.scoring.as_json()
        return {
            "truths": {truth.name: truth.as_json() for truth in self.truths},
            "comparisons": scored["comparisons"],
            "notes": list(self.notes),
            "conventions": {**scored["conventions"], "neighbours": self.neighbours},
        }

    def sentence(self) -> str:
        """The finding in words."""
        comparable = [truth for truth in self.truths if truth.auc.value is not None and truth.name != "distance"]
        if not comparable:
            return "No ground truth can be compared with these judgments: " + str(self.truths[0].auc.reason)
        best = max(comparable, key=lambda truth: truth.auc.value or 0.0)
        places = f"a pair that people value above one they don't in {_percent(best.auc)} of cases (50 % is chance)"
        if best.auc.low is None or best.auc.low <= CHANCE:
            return f"No ground truth certainly agrees with people; {best.name}, the first of them, places {places}."
        level = [truth.name for truth in comparable if truth is not best and not self._ahead(best.name, truth.name)]
        if level:
            others = f"no better than {listed(level)} with certainty"
            return f"{best.name} agrees with people, {others}: it places {places}."
        alone = "Of the ground truths, " if len(comparable) > 1 else ""
        return f"{alone}{best.name} agrees {'best ' if alone else ''}with people: it places {places}."

    def _ahead(self, best: str, other: str) -> bool:
        """True where a truth's AUC is above another's by the whole interval of their difference."""
        for pair in self.scoring.comparisons:
            if pair.index == NORMALISED_RANK.name and {pair.first, pair.second} == {best, other}:
                return pair.difference.excludes_zero is True
        return False


def _percent(estimate: Estimate) -> str:
    said = percent(estimate.value or 0.0)
    ends = (estimate.low, estimate.high)
    return said if None in ends else f"{said} [{', '.join(percent(end or 0.0) for end in ends)}]"


def audit_truths(
    judgments: Judgments | pd.DataFrame,
    items: DescribedItems,
    *,
    neighbours: int = 50,
    threshold: float | None = None,
    seed: int = 0,
) -> Audit:
    """Hold epsilon-ball, k-NN, class and plain distance against people's judgments.

    Parameters
    ----------
    judgments : as `read_judgments` gives them, or a DataFrame of theirs
    neighbours : R of the epsilon-ball and k of k-NN
    threshold : a pair is valued where its judgment is above it; None takes the cut of the judgments' scale
    seed : of the bootstrap over queries
    """
    judgments = Judgments.of(judgments)
    scores = truth_scores(judgments.frame, items, neighbours=neighbours, seed=seed)
    options = ScoringOptions(threshold=threshold, relevance="mean", seed=seed, directions={"*": "higher"})
    scoring = score_systems(judgments, scores, options=options)
    pairs = JudgedPairs.of(judgments)
    unweighted, cut = pairs.weights_missing("design"), pairs.cut(threshold)
    audited = []
    for name, group in scores.groupby("system", sort=False):
        system = scoring[str(name)]
        merged = group.merge(judgments.frame, on=PAIR)
        called = Estimate.missing("a distance calls nothing relevant")
        if name != "distance":
            called = Estimate.missing(unweighted) if unweighted else _called_relevant(merged, seed)
        audited.append(
            AuditedTruth(
                str(name),
                system.raw.pearson if system.collection is None else system.collection.pearson,
                system.shown(NORMALISED_RANK),
                system.estimate(AVERAGE_PRECISION),
                Estimate.missing(unweighted) if unweighted else _within_queries(merged, cut, seed),
                called,
            )
        )
    scored = scores.drop_duplicates(PAIR)
    return Audit(tuple(audited), scoring, neighbours, (*judgments.all_notes, *left_out(len(scored), len(judgments))))


def _called_relevant(merged: pd.DataFrame, seed: int) -> Estimate:
    weight = pair_weights(merged)
    sums = pd.DataFrame({"weight": weight, "called": weight * merged["score"]}).groupby(merged["query_id"]).sum()
    share = float(sums["called"].sum() / sums["weight"].sum())
    if len(sums) == 1:
        return Estimate(share)
    drawn = query_counts(len(sums), seed=seed)
    replicates = (sums["called"].to_numpy() @ drawn) / (sums["weight"].to_numpy() @ drawn)
    return Estimate(share, *percentile_interval(replicates))


def _within_queries(merged: pd.DataFrame, cut: float, seed: int) -> Estimate:
    from sklearn.metrics import roc_auc_score

    values = []
    for _, group in merged.groupby("query_id", sort=True):
        valued = group["judgment"] > cut
        if valued.any() and not valued.all():
            values.append(roc_auc_score(valued, group["score"], sample_weight=pair_weights(group)))
    return mean_interval(np.array(values), "no query has both valued and other results", seed)
