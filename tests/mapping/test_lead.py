"""How far the best mapping method is ahead, and what it is worth with the choice out of fold."""

from __future__ import annotations

import numpy as np
import pytest

from relstudy.mapping.cross_fitting import CrossFit, correlation, cross_fit
from relstudy.mapping.query_folds import folds_by_group
from relstudy.mapping.scored_pairs import FitSettings, ScoredPairs
from relstudy.mapping.selection import Chosen, chosen

SETTINGS = FitSettings(folds=4, seed=1)
QUERIES = np.arange(160) // 4
RANDOM = np.random.default_rng(5)
JUDGMENTS = RANDOM.normal(size=160)
PAIRS = ScoredPairs(RANDOM.normal(size=160), JUDGMENTS, QUERIES)
NOISE, LITTLE = RANDOM.normal(size=(2, 160))


def compared(**predictions: np.ndarray) -> Chosen:
    crossed = {name: CrossFit(values, 0.0) for name, values in predictions.items()}
    best = max(predictions, key=lambda name: correlation(predictions[name], JUDGMENTS) or 0.0)
    found = chosen(PAIRS, crossed, best, SETTINGS, 400)
    assert found is not None
    return found


def test_methods_that_map_alike_are_told_to_be_no_real_difference() -> None:
    likely = JUDGMENTS + NOISE
    found = compared(one=likely, other=likely + 0.05 * LITTLE)
    assert not found.clear
    assert found.lead.low is not None and found.lead.low < 0 < found.lead.value < 0.02
    assert "no real difference; with the choice out of fold too, 0." in found.sentence()


def test_a_method_that_is_far_ahead_is_told_to_be_so_and_its_figure_stays() -> None:
    good = JUDGMENTS + 0.3 * NOISE
    found = compared(good=good, poor=JUDGMENTS + 3 * NOISE)
    assert (found.best, found.second, found.clear) == ("good", "poor", True)
    assert "before poor: a clear difference" in found.sentence()
    # every fold would take it, so nothing was flattered; predictions count from the mean of the judgments
    assert found.by_other_folds.value == pytest.approx(correlation(good, JUDGMENTS), abs=0.02)


def test_a_choice_that_each_fold_would_make_otherwise_has_a_lower_figure_than_the_best_method() -> None:
    fold = folds_by_group(QUERIES, SETTINGS.folds, SETTINGS.seed)
    # each method is right on half of the folds, where it is not asked for by the others
    halves = {name: np.where(fold % 2 == k, JUDGMENTS, 0.2 * JUDGMENTS) + NOISE for k, name in enumerate("ab")}
    found = compared(**halves)
    best = correlation(halves[found.best], JUDGMENTS)
    assert best is not None and found.by_other_folds.value is not None
    assert found.by_other_folds.value < best - 0.01


def test_one_method_alone_has_nothing_to_be_ahead_of() -> None:
    assert chosen(PAIRS, {"one": CrossFit(JUDGMENTS + NOISE, 0.0)}, "one", SETTINGS, 10) is None
    constant = cross_fit(ScoredPairs(np.ones(160), JUDGMENTS, QUERIES), "isotonic", SETTINGS)
    assert chosen(PAIRS, {"one": CrossFit(JUDGMENTS + NOISE, 0.0), "flat": constant}, "one", SETTINGS, 10) is None
