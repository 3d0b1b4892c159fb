"""Mapped scores: the same figure out of fold as `fit` gives, from predictions that were kept and from new ones."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from relstudy.analysis.scoring.candidate import candidate_of
from relstudy.analysis.scoring.judged_pairs import JudgedPairs
from relstudy.analysis.scoring.mapped_scores import map_scores
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.calibration.tables.judgments import Judgments
from relstudy.mapping.cross_fitting import correlation
from relstudy.mapping.systems import FitOptions, fit_systems
from tests.analysis.made import tables


@pytest.mark.parametrize("strength", [0.0, 0.5])
@pytest.mark.parametrize("weights", ["equal", "design"])
def test_fit_and_score_say_the_same_correlation_out_of_fold_kept_or_made_anew(strength: float, weights: str) -> None:
    judgments, scores = tables(seed=3, systems=(strength,))
    fits, _ = fit_systems(scores, Judgments.of(judgments), FitOptions("isotonic", weights=weights))
    by_fit = fits[0].choice.methods["isotonic"].out_of_fold.value
    pairs, options = JudgedPairs.of(judgments), ScoringOptions(method="isotonic", directions={"*": "auto"})
    candidate = candidate_of(pairs, "s0", scores, options)
    kept = map_scores(pairs, candidate, options, fits[0].choice.mapping).mapped
    assert kept is not None and kept.mapping.origin == "kept with the mapping"
    assert correlation(kept.values, pairs.judgment) == pytest.approx(by_fit, abs=1e-12)  # rounding
    if weights == "equal":
        again = map_scores(pairs, candidate, options).mapped
        assert again is not None
        np.testing.assert_allclose(again.values, kept.values, atol=1e-12)


def test_a_mapping_that_is_constant_in_each_fold_gives_one_value() -> None:
    judgments, scores = tables(seed=4, systems=(0.5,))
    pairs, options = JudgedPairs.of(judgments), ScoringOptions(method="isotonic")
    flat = pd.DataFrame(scores.assign(score=1.0))
    mapped = map_scores(pairs, candidate_of(pairs, "s0", flat, options), options).mapped
    assert mapped is not None and len(np.unique(mapped.values)) == 1
