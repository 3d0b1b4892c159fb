"""Choosing a mapping: out of fold by query, with an interval over queries, and never flattered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t as student
from sklearn.base import clone
from sklearn.isotonic import IsotonicRegression
from sklearn.utils.validation import check_is_fitted, validate_data

from relstudy.calibration.tables.judgments import read_judgments
from relstudy.common.runtime.errors import RelstudyError
from relstudy.mapping.changepoint.mapping import BayesMapping
from relstudy.mapping.correlation.mapping import CorrelationMapping
from relstudy.mapping.cross_fitting import around_training_means, best_method, correlation, cross_fit
from relstudy.mapping.fitted import FittedMapping
from relstudy.mapping.least_squares.isotonic import BaggedMapping, IsotonicMapping
from relstudy.mapping.methods import METHODS
from relstudy.mapping.paper.local_search import LocalCorrelationMapping
from relstudy.mapping.paper.ogive.mapping import OgiveMapping
from relstudy.mapping.paper.quadratic import QuadraticMapping
from relstudy.mapping.query_folds import folds_by_group
from relstudy.mapping.scored_pairs import FitSettings, ScoredPairs, fit_mapping
from relstudy.mapping.scores.score_files import read_scores
from relstudy.mapping.selection import choose, correlation_over_queries, error_over_queries

ESTIMATORS = [
    IsotonicMapping(),
    BaggedMapping(bagged=5),
    CorrelationMapping(),
    BayesMapping(bins=10, grid=21, max_levels=4),
    BayesMapping(engine="sampler", bins=10, draws=100, chains=2),
    OgiveMapping(bins=10, draws=100, chains=2),
    QuadraticMapping(),
    QuadraticMapping(bagged=3),
    LocalCorrelationMapping(bins=10),
    LocalCorrelationMapping(bins=10, bagged=3),
]


def on_the_first_column(kind: type) -> type:
    """The estimator on tables: scikit-learn's checks pass many columns, and skip what takes one score a pair."""

    class FirstColumn(kind):  # type: ignore[misc, valid-type]
        def __sklearn_tags__(self) -> Any:
            tags = super().__sklearn_tags__()
            tags.input_tags.one_d_array, tags.input_tags.two_d_array = False, True
            tags.regressor_tags.poor_score = True
            return tags

        def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
            table, y = validate_data(self, X, y, y_numeric=True)
            return super().fit(table[:, 0], y, sample_weight)

        def predict(self, X: Any) -> np.ndarray:
            check_is_fitted(self)
            return super().predict(validate_data(self, X, reset=False)[:, 0])

    # named in the module, so that it can be pickled, which is one of the checks
    FirstColumn.__name__ = FirstColumn.__qualname__ = f"{kind.__name__}OnTables"
    globals()[FirstColumn.__name__] = FirstColumn
    return FirstColumn


NOT_MEANT = {
    "BaggedMapping": {
        "check_sample_weight_equivalence_on_dense_data": "a bootstrap of weighted pairs is not one of repeated pairs"
    },
    "CorrelationMapping": {
        "check_sample_weight_equivalence_on_dense_data": "folds of weighted pairs are not those of repeated pairs"
    },
    "BayesMapping": {
        "check_sample_weight_equivalence_on_dense_data": "weights are importance, not repeats: they add no information"
    },
    "OgiveMapping": {
        "check_sample_weight_equivalence_on_dense_data": "weights are importance, not repeats: they add no information"
    },
    "QuadraticMapping": {
        "check_sample_weight_equivalence_on_dense_data": "a bootstrap of weighted pairs is not one of repeated pairs"
    },
    "LocalCorrelationMapping": {
        "check_sample_weight_equivalence_on_dense_data": "a bootstrap of weighted pairs is not one of repeated pairs"
    },
}


@pytest.mark.slow
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_own_checks_hold(estimator: IsotonicMapping, monkeypatch: pytest.MonkeyPatch) -> None:
    # its some ninety fits are asked what they take, give and leave alone, not how good they are
    monkeypatch.setattr("relstudy.mapping.paper.ogive.chain.BURN_IN", 500)
    monkeypatch.setattr("relstudy.mapping.paper.ogive.chain.STEPS", 10)
    from sklearn.utils.estimator_checks import check_estimator  # takes a second, which quick tests need not wait for

    kind = type(estimator)
    on_tables = on_the_first_column(kind)(**estimator.get_params())
    not_meant = dict(NOT_MEANT.get(kind.__name__, {}))
    if getattr(estimator, "engine", "exact") == "sampler":
        not_meant["check_sample_weights_shape"] = (
            "of sixteen pairs without noise hardly a draw keeps the order: refused"
        )
    results = check_estimator(on_tables, expected_failed_checks=not_meant, on_fail=None)
    failed = {str(r["check_name"]): repr(r["exception"]) for r in results if r["status"] == "failed"}
    assert not failed
    assert sum(r["status"] == "passed" for r in results) > 40


@pytest.mark.slow
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_parameters_survive_a_clone_and_fits_survive_json(estimator: IsotonicMapping, tmp_path: Path) -> None:
    copy = clone(estimator).set_params(increasing=True, out_of_bounds="raise")
    assert copy.get_params()["out_of_bounds"] == "raise" and estimator.get_params()["out_of_bounds"] == "clip"
    rng = np.random.default_rng(1)
    x = np.round(rng.normal(size=100), 2)
    copy.fit(x, x + rng.normal(size=100))
    copy.mapping_.write(tmp_path / "m.json")
    again = FittedMapping.read(tmp_path / "m.json")
    assert again == copy.mapping_
    assert again.predict(x).tolist() == copy.predict(x).tolist()
    with pytest.raises(RelstudyError, match="outside the range"):
        copy.predict([99.0])


@pytest.mark.slow
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_every_method_fits_ties_two_pairs_and_falling_scores(estimator: IsotonicMapping) -> None:
    # two sampled engines here keep 200 draws of a level with a spread of .4
    assert np.allclose(clone(estimator).fit([1, 1, 1, 1], [1, 2, 3, 2]).predict([0, 1, 2]), 2, atol=0.3)
    two = clone(estimator).fit([1, 2], [1, 5]).predict([1, 2])
    assert two[0] < two[1]
    falling = clone(estimator).fit(np.arange(60) % 6, 5 - (np.arange(60) % 6) / 2)
    assert not falling.increasing_ and (np.diff(falling.predict(np.arange(6))) <= 0).all()


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=60), st.integers(2, 12), st.integers(0, 99))
def test_folds_keep_queries_whole_are_even_and_ignore_the_order_of_pairs(
    queries: list[str], folds: int, seed: int
) -> None:
    fold = folds_by_group(queries, folds, seed)
    frame = pd.DataFrame({"query": queries, "fold": fold})
    assert (frame.groupby("query")["fold"].nunique() == 1).all()
    sizes = frame.groupby("fold")["query"].nunique()
    assert len(sizes) == min(folds, len(set(queries))) and sizes.max() - sizes.min() <= 1
    order = np.random.default_rng(0).permutation(len(queries))
    assert folds_by_group(np.array(queries)[order], folds, seed).tolist() == fold[order].tolist()


def test_cross_fit_maps_each_pair_by_a_fit_that_saw_no_pair_of_its_query() -> None:
    rng = np.random.default_rng(2)
    x, q = rng.normal(size=120), np.repeat([f"q{i}" for i in range(20)], 6)
    y = x + rng.normal(size=120)
    mapped = cross_fit(ScoredPairs(x, y, q), "isotonic", FitSettings(folds=5, seed=3)).predictions
    fold = folds_by_group(q, 5, 3)
    for k in range(5):
        peer = IsotonicRegression(out_of_bounds="clip").fit(x[fold != k], y[fold != k])
        np.testing.assert_allclose(mapped[fold == k], peer.predict(x[fold == k]), atol=1e-9)


@pytest.mark.slow
def test_weights_of_zero_leave_pairs_out_of_the_fits() -> None:
    rng = np.random.default_rng(3)
    x, q = rng.normal(size=90), np.arange(90) % 15
    y, w = x + rng.normal(size=90), np.ones(90)
    y[:10], w[:10] = 1000.0, 0.0
    for method in METHODS:
        assert cross_fit(ScoredPairs(x, y, q, w), method, FitSettings(5)).predictions.max() < 10


def test_pure_noise_correlates_in_sample_and_not_out_of_fold() -> None:
    rng = np.random.default_rng(4)
    x, y, q = rng.normal(size=400), rng.normal(size=400), np.arange(400) % 80
    choice = choose(ScoredPairs(x, y, q), methods=("isotonic",))
    scored = choice.methods["isotonic"]
    assert scored.in_sample.value is not None and scored.in_sample.value > 0.1
    assert scored.out_of_fold.value is not None and scored.out_of_fold.value < 0.1


@pytest.mark.slow
def test_best_is_chosen_anew_inside_each_training_part() -> None:
    rng = np.random.default_rng(5)
    x, q = rng.uniform(size=120), np.arange(120) % 20
    y = x + rng.normal(size=120)
    mapped = cross_fit(ScoredPairs(x, y, q), "best", FitSettings(folds=4, seed=1)).predictions
    fold = folds_by_group(q, 4, 1)
    for k in range(4):
        train = fold != k
        training = ScoredPairs(x[train], y[train], q[train])
        chosen = best_method(training, FitSettings(folds=4, seed=1))
        fitted = fit_mapping(training, chosen, FitSettings(seed=1))
        np.testing.assert_array_equal(mapped[~train], fitted.predict(x[~train]))


def test_the_interval_is_the_bootstrap_over_queries_written_out() -> None:
    rng = np.random.default_rng(6)
    q = np.repeat(np.arange(12), 5)
    y = rng.normal(size=60) + np.repeat(rng.normal(size=12), 5)
    p = 0.5 * y + rng.normal(size=60)
    pairs = ScoredPairs(p, y, q)
    r, rmse = correlation_over_queries(pairs, p, 0.6, 500, 7), error_over_queries(pairs, p, 500, 7)
    counts = np.random.default_rng(7).multinomial(12, np.full(12, 1 / 12), size=500)
    rs, errors = [], []
    for row in counts:
        index = np.concatenate([np.flatnonzero(q == k) for k in range(12) for _ in range(row[k])])
        rs.append(np.corrcoef(p[index], y[index])[0, 1])
        errors.append(np.sqrt(np.mean((p[index] - y[index]) ** 2)))
    assert r.value == pytest.approx(np.corrcoef(p, y)[0, 1])
    reach = student.ppf(0.975, 11) * np.std(rs, ddof=1) * np.sqrt(1.6 * 12 / 11)
    assert r.value is not None
    assert [r.low, r.high] == pytest.approx([r.value - reach, r.value + reach], abs=1e-9)
    assert [rmse.low, rmse.high] == pytest.approx(np.quantile(errors, [0.025, 0.975]).tolist(), abs=1e-9)


def test_what_cannot_be_computed_has_its_reason() -> None:
    one_query = choose(ScoredPairs([1, 2, 3], [1, 3, 2], ["q", "q", "q"]))
    assert one_query.methods["isotonic"].out_of_fold.reason is not None
    assert one_query.best == "isotonic"
    with pytest.raises(RelstudyError, match="one query"):
        cross_fit(ScoredPairs([1, 2, 3], [1, 3, 2], ["q", "q", "q"]), "isotonic")
    queries = ["a", "b", "a", "b"]
    constant = choose(ScoredPairs([1, 1, 1, 1], [1, 2, 3, 4], queries), ("isotonic",)).methods["isotonic"]
    assert (constant.in_sample.value, constant.in_sample.reason) == (0.0, "no monotone relation")
    equal = choose(ScoredPairs([1, 2, 3, 4], [3, 3, 3, 3], queries), ("isotonic",)).methods["isotonic"]
    assert equal.out_of_fold.value is None and equal.out_of_fold.reason == "all judgments are equal"
    with pytest.raises(RelstudyError, match="no mapping method 'spline'; there are: isotonic"):
        cross_fit(ScoredPairs([1, 2], [1, 2], ["a", "b"]), "spline")
    assert correlation(np.full(5, 0.1), np.arange(5.0)) is None


@pytest.fixture(scope="module")
def tifa(shared_data: Path) -> pd.DataFrame:
    folder = shared_data / "tifa160_likert"
    scores = pd.concat(
        [
            read_scores(folder / "system_scores_tifa_release.csv", leave_out=["tifa_human_avg"]).frame,
            read_scores(folder / "system_scores_dsg_release.csv").frame,
        ]
    )
    return scores.merge(read_judgments(folder / "ratings.csv").frame, on=["query_id", "result_id"])


@pytest.mark.real_data
def test_on_tifa160_isotonic_flatters_itself_by_four_hundredths(tifa: pd.DataFrame) -> None:
    inside, outside = [], []
    for _, part in tifa.groupby("system"):
        x, y, q = (part[name].to_numpy() for name in ("score", "judgment", "query_id"))
        inside.append(correlation(IsotonicMapping().fit(x, y).predict(x), y))
        outside.append(correlation(cross_fit(ScoredPairs(x, y, q), "isotonic", FitSettings(10, seed=1)).predictions, y))
    assert len(inside) == 19
    # seed 1 gives the folds on which .4509 and .4093 were measured; since then scores that differ by rounding alone are
    # one (spice has 0.4 and 0.4000000000000001), which moves them by 0.0001 and 0.0003
    assert np.mean(inside) == pytest.approx(0.4509, abs=2e-4)
    assert np.mean(outside) == pytest.approx(0.4093, abs=5e-4)


@pytest.mark.real_data
def test_on_tifa160_no_method_does_worse_out_of_fold_than_measured_when_this_was_designed(tifa: pd.DataFrame) -> None:
    # bagged: .8105 where pairs were resampled one by one; whole queries cost a unit of the last digit
    goals = {"bagged": (0.4120, 0.8106), "correlation": (0.4123, 0.8088)}
    for method, (r_goal, rmse_goal) in goals.items():
        r, rmse = [], []
        for _, part in tifa.groupby("system"):
            x, y, q = (part[name].to_numpy() for name in ("score", "judgment", "query_id"))
            pairs, folds = ScoredPairs(x, y, q), FitSettings(10, seed=1)
            mapped = cross_fit(pairs, method, folds).predictions
            r.append(correlation(around_training_means(mapped, pairs, folds), y) or 0.0)
            rmse.append(np.sqrt(np.mean((mapped - y) ** 2)))
        # seed 1 gives the folds on which the goals were measured; half a unit of their last digit
        assert np.mean(r) > r_goal - 5e-5
        assert np.mean(rmse) < rmse_goal + 5e-5
