"""How far the best of several methods is ahead, and what it is worth once the choice is out of fold too."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import stdtrit

from relstudy.common.estimates import Estimate
from relstudy.mapping.cross_fitting import CrossFit, around_training_means, correlation
from relstudy.mapping.folds import folds_by_group
from relstudy.mapping.resampled import correlations_over_queries
from relstudy.mapping.scored_pairs import FitSettings, ScoredPairs


@dataclass(frozen=True)
class Chosen:
    """The method of greatest correlation out of fold, beside the next one.

    Parameters
    ----------
    best, second : methods
    lead : of the best in correlation out of fold, with a 95 % interval over queries; a lead whose interval holds 0 is
        no real difference
    by_other_folds : correlation where each fold is mapped by the method that does best on all other folds. The figure
        of the best method itself flatters: it was chosen by the very predictions that it is measured by
    """

    best: str
    second: str
    lead: Estimate
    by_other_folds: Estimate

    @property
    def clear(self) -> bool:
        """Whether the lead is more than the luck of the queries."""
        return self.lead.low is not None and self.lead.low > 0

    def sentence(self) -> str:
        """Which method is best, by how much, and whether that is more than luck, in one sentence."""
        difference = "a clear difference" if self.clear else "no real difference"
        text = f"{self.best} is best by {self.lead.value:.3f}, before {self.second}: {difference}"
        if self.by_other_folds.value is None:
            return f"{text}."
        return f"{text}; with the choice out of fold too, {self.by_other_folds.value:.3f}."

    def as_json(self) -> dict[str, Any]:
        return {
            "best": self.best,
            "second": self.second,
            "lead": self.lead.as_json(),
            "clear": self.clear,
            "chosen_by_other_folds": self.by_other_folds.as_json(),
        }


def chosen(
    pairs: ScoredPairs, crossed: Mapping[str, CrossFit], best: str, settings: FitSettings, resamples: int
) -> Chosen | None:
    """The best method beside the next; None with fewer than two that have a correlation.

    Parameters
    ----------
    crossed : each method's predictions out of fold, for these pairs and settings
    """
    shapes = {name: around_training_means(fit.predictions, pairs, settings) for name, fit in crossed.items()}
    values = {name: correlation(shape, pairs.judgments) for name, shape in shapes.items()}
    known = {name: value for name, value in values.items() if value is not None}
    if best not in known or len(known) < 2:
        return None
    second = max((name for name in known if name != best), key=lambda name: known[name])
    noise = max(crossed[best].noise, crossed[second].noise)
    lead = _lead(pairs, shapes[best], shapes[second], noise, resamples, settings.seed)
    return Chosen(best, second, lead, _by_other_folds(pairs, {name: shapes[name] for name in known}, settings))


def _lead(
    pairs: ScoredPairs, best: np.ndarray, second: np.ndarray, noise: float, resamples: int, seed: int
) -> Estimate:
    """The difference of two correlations on the same resampled queries, with Student's t."""
    one, other = (correlations_over_queries(each, pairs, resamples, seed) for each in (best, second))
    value = (correlation(best, pairs.judgments) or 0.0) - (correlation(second, pairs.judgments) or 0.0)
    differences = (one - other)[np.isfinite(one - other)]
    if len(differences) < 2:
        return Estimate(value, reason="no interval: too few queries vary")
    clusters = len(np.unique(pairs.queries))
    error = float(np.std(differences, ddof=1)) * math.sqrt((1 + noise) * clusters / (clusters - 1))
    reach = float(stdtrit(clusters - 1, 0.975)) * error
    return Estimate(value, value - reach, value + reach)


def _by_other_folds(pairs: ScoredPairs, shapes: Mapping[str, np.ndarray], settings: FitSettings) -> Estimate:
    fold = folds_by_group(pairs.queries, settings.folds, settings.seed)
    if fold.max() < 1:
        return Estimate.missing("a choice by the other folds takes at least two")
    put_together = np.empty(len(pairs))
    for k in range(int(fold.max()) + 1):
        others = fold != k

        def worth(name: str, others: np.ndarray = others) -> float:
            value = correlation(shapes[name][others], pairs.judgments[others])
            return -math.inf if value is None else value

        put_together[~others] = shapes[max(shapes, key=worth)][~others]
    value = correlation(put_together, pairs.judgments)
    return Estimate.missing("no correlation: one side does not vary") if value is None else Estimate(value)
