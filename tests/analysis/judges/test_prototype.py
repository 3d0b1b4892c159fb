"""The estimator beside a prototype that was written apart from it, on the same draws."""

from __future__ import annotations

import importlib.util
from types import ModuleType

import numpy as np
import pytest

from relstudy.analysis.indices.precision_recall import Retrieval
from relstudy.analysis.judges.estimator import SHARE, Terms, assist
from relstudy.analysis.judges.grades import JudgedSample, expected_by_grade
from relstudy.analysis.resampling.bootstrap import BootstrapStatistic
from tests.places import ROOT

PROTOTYPE = ROOT.parent / "shared" / "oracles" / "assisted_estimate.py"
pytestmark = pytest.mark.real_data
QUERIES, PAIRS, REPLICATES = 12, 12, 200


@pytest.fixture(scope="module")
def prototype() -> ModuleType:
    if not PROTOTYPE.is_file():
        pytest.skip("the prototype is not on this machine")
    spec = importlib.util.spec_from_file_location("assisted_estimate", PROTOTYPE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_values_of_grades_are_the_prototypes(prototype: ModuleType) -> None:
    parts = prototype.draw(np.random.default_rng(1), QUERIES, PAIRS)
    rows = np.concatenate([part[1] for part in parts])
    sample = JudgedSample(rows, prototype.Q[rows], 1 / np.concatenate([part[2] for part in parts]))
    sampled = np.isin(prototype.Q, prototype.Q[rows])
    values = prototype.Y[rows][None]
    query = np.where(sampled, prototype.Q, -1)
    expected = expected_by_grade(prototype.grade.astype(float), query, sample, values, values[0])
    # the prototype numbers a grade that stands nowhere; here there is none
    assert np.unique(prototype.grade).tolist() == [0, 1, 2, 3]
    np.testing.assert_allclose(expected[0], prototype.relevance_of_grades(parts), atol=1e-12)


@pytest.mark.parametrize("seed", [2, 3, 4])
def test_assisted_figures_and_intervals_are_the_prototypes(
    prototype: ModuleType, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All five indices to 1e-9, the interval's half width on the logit scale too (it divides by one replicate less)."""
    kept: list[np.ndarray] = []
    original = prototype.indices
    monkeypatch.setattr(prototype, "indices", lambda *given: kept.append(original(*given)) or kept[-1])
    by_name = prototype.study(np.random.default_rng(seed), QUERIES, PAIRS, REPLICATES)
    # in the order of the prototype's calls: the collection, then s with y, s with m, U_s with m, once and per replicate
    whole, three = kept[0], np.array(kept[1:]).reshape(REPLICATES + 1, 3, 5)
    for index in range(5):
        people, judged, sampled = (BootstrapStatistic(three[0, k, index], three[1:, k, index]) for k in range(3))
        collection = BootstrapStatistic(whole[index], np.full(REPLICATES, whole[index]))
        for name, terms in (
            ("sampled queries", Terms(people, judged, sampled)),
            ("whole collection", Terms(people, judged, sampled, collection)),
        ):
            value, _, width = (each[index] for each in by_name[name])
            helped = assist(terms, QUERIES, SHARE)
            alone = by_name["people alone"][2][index]
            wider = np.sqrt(REPLICATES / (REPLICATES - 1))
            if width >= alone:
                assert helped.weights == (0.0, 0.0)
                continue
            assert helped.estimate.value == pytest.approx(value, abs=1e-9)
            # the interval is a little wider: its end moves by the factor on the logit scale
            logit = lambda p: np.log(p / (1 - p))  # noqa: E731
            half = (logit(helped.estimate.high) - logit(helped.estimate.low)) / 2 / wider
            low, high = (1 / (1 + np.exp(-(logit(value) + sign * half))) for sign in (-1, 1))
            assert high - low == pytest.approx(width, abs=1e-9)


def test_four_of_the_indices_are_the_prototypes(prototype: ModuleType) -> None:
    """With values that are shares; its normalised rank holds pairs against themselves, as Somers' d would not."""
    random = np.random.default_rng(5)
    score, share, weight = random.normal(size=60).round(1), random.uniform(size=60), random.uniform(1, 9, 60)
    theirs = prototype.indices(score, share, weight)
    pairs = Retrieval(np.arange(60) % 6, share, np.ones((6, 1)))
    order = np.argsort(-score, kind="stable")
    seen = np.cumsum(weight[order]) / weight.sum()
    # the prototype cuts after a group of equal scores
    ends = np.r_[np.diff(score[order]) != 0, True]
    cut = score[order][ends][np.searchsorted(seen[ends], 0.2)]
    points = pairs.at_thresholds(score, weight, np.array([0.2, 1.0]), np.array([cut, -np.inf]))
    ours = [points.precision[1].value, points.precision[0].value, points.recall[0].value]
    ours.append(pairs.indices(score, weight)["average_precision"].value)
    np.testing.assert_allclose(ours, theirs[:4], atol=1e-9)
    binary = (share > 0.5).astype(float)
    ranked = Retrieval(np.arange(60) % 6, binary, np.ones((6, 1))).indices(score, weight)["normalised_rank"].value
    assert ranked == pytest.approx(prototype.indices(score, binary, weight)[4], abs=1e-9)
