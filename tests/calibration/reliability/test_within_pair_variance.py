"""Variance within pairs, held-out agreement and their intervals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from relstudy.calibration.methods.linear import Lines, none
from relstudy.calibration.panel import Panel
from relstudy.calibration.reliability import within_pair_variance
from relstudy.calibration.reliability.within_pair_variance import (
    bootstrap_interval,
    leave_one_out_correlation,
    out_of_sample,
    pair_folds,
    pair_variances,
    scored_rows,
    within_item_variance,
)
from relstudy.calibration.simulation import simulate_panel


def test_pair_variances_agree_with_pandas() -> None:
    panel = simulate_panel(10, 8, 30, seed=1).panel
    expected = pd.Series(panel.rating).groupby(panel.pair).var().to_numpy()
    assert np.allclose(pair_variances(panel), expected, equal_nan=True)


@pytest.mark.slow
def test_the_order_of_judgments_by_halves_agrees_with_scipy_in_a_loop() -> None:
    panel = simulate_panel(10, 8, 60, seed=2).panel
    scored, fold = scored_rows(panel), pair_folds(panel, 5, 0)
    random, expected = np.random.default_rng(0), []
    for _ in range(within_pair_variance.HALVES):
        half = set(np.flatnonzero(random.permutation(10) < 5).tolist())
        for k in range(5):
            for side in (half, set(range(10)) - half):
                ours, theirs = [], []
                for pair in np.flatnonzero((fold == k) & ~panel.base):
                    rows = panel.pair == pair
                    mine = np.array([rater in side for rater in panel.rater[rows]], dtype=bool)
                    if 0 < mine.sum() < len(mine):
                        ours.append(panel.rating[rows][mine].mean())
                        theirs.append(panel.rating[rows][~mine].mean())
                if len(ours) >= within_pair_variance.ENOUGH_IN_HALVES:
                    expected.append(spearmanr(ours, theirs).statistic)
    one, order = out_of_sample(panel, "none", scored)
    assert isinstance(order, within_pair_variance.Figure) and order.value == pytest.approx(np.mean(expected), abs=1e-12)
    # influences are near those of one correlation of all pairs (Fisher 1915); halves share raters, which adds to them
    error = np.sqrt(np.sum(order.by_pair**2))
    assert 0.7 < error / ((1 - order.value**2) / np.sqrt((~panel.base).sum())) < 1.4
    assert isinstance(one, within_pair_variance.Figure)
    assert one.value == leave_one_out_correlation(panel, "none", scored).value


def test_the_leave_one_out_correlation_agrees_with_a_loop() -> None:
    panel = simulate_panel(10, 8, 60, seed=2).panel
    fold = pair_folds(panel, 5, 0)
    correlations = []
    for k in range(5):
        ratings, others = [], []
        for pair in np.flatnonzero((fold == k) & ~panel.base):
            values = panel.rating[panel.pair == pair]
            for i in range(len(values)):
                if len(values) > 1:
                    ratings.append(values[i])
                    others.append(np.delete(values, i).mean())
        correlations.append(np.corrcoef(ratings, others)[0, 1])
    assert leave_one_out_correlation(panel, "none").value == pytest.approx(np.mean(correlations), abs=1e-12)


def test_lines_that_calibrate_a_fold_never_saw_its_pairs() -> None:
    panel = simulate_panel(10, 8, 60, seed=2).panel
    scored, seen = scored_rows(panel), []

    def spy(training: Panel) -> Lines:
        seen.append(set(training.pair))
        return none(training)

    leave_one_out_correlation(panel, spy, scored)
    fold = pair_folds(panel, 5, 0)
    scored_pairs = set(panel.pair[scored.rows])
    for k, training in enumerate(seen):
        assert training.isdisjoint(scored_pairs & set(np.flatnonzero(fold == k)))


def test_folds_follow_pair_names_and_not_the_order_of_rows() -> None:
    panel = simulate_panel(6, 8, 30, seed=3).panel
    order = np.random.default_rng(0).permutation(panel.n_pairs)
    shuffled = replace(panel, pairs=panel.pairs.iloc[order].reset_index(drop=True))
    assert (pair_folds(panel, 5, 0)[order] == pair_folds(shuffled, 5, 0)).all()


def test_figures_are_on_unique_pairs_where_there_are_twenty_and_else_on_all() -> None:
    many, few = simulate_panel(10, 8, 30, seed=1).panel, simulate_panel(10, 30, 3, seed=1).panel
    assert scored_rows(many).block == "unique"
    assert not many.base[many.pair[scored_rows(many).rows]].any()
    assert scored_rows(few).block == "all"


def test_shrinking_everything_lowers_the_variance_and_not_the_correlation() -> None:
    panel = simulate_panel(10, 8, 60, seed=4).panel
    rows = scored_rows(panel).rows
    squeezed = panel.with_rating(3 + 0.1 * (panel.rating - 3))
    before, after = within_item_variance(panel, rows), within_item_variance(squeezed, rows)
    assert after.value == pytest.approx(0.01 * (before.value or 0))
    assert leave_one_out_correlation(squeezed, "none").value == pytest.approx(
        leave_one_out_correlation(panel, "none").value, abs=1e-12
    )


@pytest.mark.slow
def test_the_bootstrap_interval_of_a_mean_is_the_normal_one() -> None:
    values = np.random.default_rng(1).normal(2, 3, 2000)
    statistics = np.stack([values, np.ones_like(values)], axis=1)
    low, high = bootstrap_interval(statistics, lambda sums: sums[:, 0] / sums[:, 1], 0, 4000)
    half = 1.96 * values.std(ddof=1) / np.sqrt(len(values))
    # Quantiles of 4,000 replicates are good to about 4 % of the half width.
    assert low == pytest.approx(values.mean() - half, abs=0.06 * half)
    assert high == pytest.approx(values.mean() + half, abs=0.06 * half)


@pytest.mark.slow
def test_intervals_of_the_variance_cover_the_truth_about_95_times_in_100() -> None:
    truth = within_item_variance((big := simulate_panel(400, 0, 300, seed=99).panel), scored_rows(big).rows).value
    covered = 0
    for seed in range(60):
        panel = simulate_panel(60, 0, 20, seed=seed).panel
        estimate = within_item_variance(panel, scored_rows(panel).rows)
        covered += (estimate.low or 0) <= (truth or 0) <= (estimate.high or 0)
    # Panels differ in their raters too, which resampling pairs does not cover; 60 draws have an error of 3 %.
    assert 0.75 <= covered / 60 <= 1


def test_too_few_pairs_give_a_reason_and_no_number() -> None:
    panel = simulate_panel(3, 4, 0, seed=1).panel
    assert leave_one_out_correlation(panel, "none").reason == "only 4 pairs have two ratings; 10 are needed"
    single = Panel.from_frame(pd.DataFrame({"rater_id": ["a"], "pair_id": ["p"], "rating": [1.0]}))
    assert within_item_variance(single, np.array([True])).reason == "no pair has two ratings"


def test_constant_ratings_give_a_reason_and_no_number() -> None:
    panel = simulate_panel(6, 30, 0, seed=1).panel
    flat = panel.with_rating(np.full(len(panel.rating), 3.0))
    assert leave_one_out_correlation(flat, "none").reason == "every rating is the same in at least one fold"


def test_very_many_pairs_take_fewer_replicates_the_same_number_in_every_fold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(within_pair_variance, "MOST_DRAWS", 20_000)
    panel = simulate_panel(20, 8, 120, seed=4).panel
    estimate = leave_one_out_correlation(panel, "none")
    assert estimate.low is not None
    assert estimate.low < (estimate.value or 0)
