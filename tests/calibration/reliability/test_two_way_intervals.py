"""Influences against brute force, and intervals that hold what raters and pairs like these would have."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from relstudy.calibration.panel import Panel
from relstudy.calibration.reliability import agreement, agreement_by_rater_pair, intraclass
from relstudy.calibration.reliability.two_way_intervals import interval, of_couples
from relstudy.calibration.reliability.within_pair_variance import (
    agreement_figure,
    leave_one_out_figure,
    scored_rows,
    variance_figure,
    within_item_variance,
)
from relstudy.calibration.simulation import simulate_panel
from relstudy.common.results.estimates import Estimate

GWET = [  # Gwet's example of four raters, as irrCAC publishes it (cac.raw4raters)
    [1, 1, 0, 1], [2, 2, 3, 2], [3, 3, 3, 3], [3, 3, 3, 3], [2, 2, 2, 2], [1, 2, 3, 4],
    [4, 4, 4, 4], [1, 1, 2, 1], [2, 2, 2, 2], [0, 5, 5, 5], [0, 0, 1, 1], [0, 0, 3, 0],
]  # fmt: skip


def gwets_example() -> Panel:
    rows = [(j, i, float(v)) for i, row in enumerate(GWET) for j, v in enumerate(row) if v]
    return Panel.from_frame(pd.DataFrame(rows, columns=["rater_id", "pair_id", "rating"]))


def shared(seed: int) -> Panel:
    panel = simulate_panel(8, 5, 20, seed=seed).panel
    return panel.keep(panel.by_pair()[panel.pair] > 1)


def derivatives(function: Callable[[np.ndarray], float], size: int) -> np.ndarray:
    """By each weight at 1, from central differences."""
    steps = 1e-5 * np.eye(size)
    return np.array([(function(1 + step) - function(1 - step)) / 2e-5 for step in steps])


def test_influences_of_the_leave_one_out_correlation_are_its_derivatives() -> None:
    panel = shared(1)
    weight = np.random.default_rng(0).uniform(0.5, 2, panel.n_raters)

    def correlation(cell: np.ndarray) -> float:
        own = weight[panel.rater] * cell
        rest = panel.by_pair(own)[panel.pair] - own
        x, y = panel.rating, (panel.by_pair(own * panel.rating)[panel.pair] - own * panel.rating) / rest
        alike = panel.by_pair(weight[panel.rater])[panel.pair] - weight[panel.rater]
        covariance = np.cov(x, y, aweights=cell * rest / alike)
        return float(covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1]))

    figure = agreement_figure(panel, weight)
    assert figure is not None
    assert figure.value == pytest.approx(correlation(np.ones(len(panel.rating))), abs=1e-12)
    assert figure.by_rating == pytest.approx(derivatives(correlation, len(panel.rating)), abs=1e-8)


@pytest.mark.slow
def test_influences_of_the_variance_within_pairs_are_its_derivatives() -> None:
    panel = shared(2)

    def variance(cell: np.ndarray, pair: np.ndarray) -> float:
        total, mass = 0.0, 0.0
        for code in range(panel.n_pairs):
            rows = panel.pair == code
            if rows.any():
                w, y = np.outer(cell[rows], cell[rows]), panel.rating[rows]
                np.fill_diagonal(w, 0)
                couples = len(y) * (len(y) - 1)
                total += pair[code] * float((w * (y[:, None] - y) ** 2 / 2).sum() / couples)
                mass += pair[code] * float(w.sum() / couples)
        return total / mass

    figure = variance_figure(panel)
    assert figure is not None
    by_rating = derivatives(lambda cell: variance(cell, np.ones(panel.n_pairs)), len(panel.rating))
    by_pair = derivatives(lambda pair: variance(np.ones(len(panel.rating)), pair), panel.n_pairs)
    assert figure.by_rating == pytest.approx(by_rating, abs=1e-8)
    assert figure.by_pair == pytest.approx(by_pair, abs=1e-8)


def weighted_kappa(a: np.ndarray, b: np.ndarray, weight: np.ndarray) -> float:
    """Cohen's, quadratic: one less the mean squared difference over that by chance."""
    (x, y), (xx, xy, _, yy) = np.average([a, b], 1, weight), np.cov(a, b, aweights=weight, ddof=0).ravel()
    return float(2 * xy / (xx + yy + (x - y) ** 2))


def weighted_correlation_of_ranks(a: np.ndarray, b: np.ndarray, weight: np.ndarray) -> float:
    (xx, xy), (_, yy) = np.cov(stats.rankdata(a), stats.rankdata(b), aweights=weight)
    return float(xy / np.sqrt(xx * yy))


@pytest.mark.parametrize(
    ("name", "figure", "missing"),
    [("kappa", weighted_kappa, 0.0), ("kappa", weighted_kappa, 0.3), ("spearman", weighted_correlation_of_ranks, 0.0)],
)
def test_the_interval_of_agreement_couple_by_couple_is_that_of_derivatives_by_the_weights_of_pairs(
    name: str, figure: Callable[..., float], missing: float
) -> None:
    rng = np.random.default_rng(6)
    matrix = np.clip(np.round(3 + rng.normal(size=(25, 1)) + rng.normal(0, 0.8, (25, 5)) + 0.3 * np.arange(5)), 1, 5)
    matrix[rng.random(matrix.shape) < missing] = np.nan
    given = ~np.isnan(matrix)
    pair, rater = np.nonzero(given)
    rated = pd.DataFrame({"rater_id": rater, "pair_id": pair, "rating": matrix[given]})
    found = getattr(agreement_by_rater_pair.pairwise(Panel.from_frame(rated)), name)

    couples, by_rating = {}, np.zeros(matrix.shape)
    for one, other in itertools.combinations(range(5), 2):
        both = np.flatnonzero(given[:, one] & given[:, other])
        a, b = matrix[both, one], matrix[both, other]
        couples[one, other] = figure(a, b, np.ones(len(both)))
        by_rating[np.ix_(both, [one, other])] += derivatives(lambda w, a=a, b=b: figure(a, b, w), len(both))[:, None]
    by_rating /= len(couples)
    value = float(np.mean(list(couples.values())))
    by_rater = [sum(each - value for who, each in couples.items() if k in who) / len(couples) for k in range(5)]
    by_pair, several = by_rating.sum(axis=1) / 2, int((given.sum(axis=1) > 1).sum())
    parts = float(np.sum(np.square(by_rater))) * of_couples(5), float(by_pair @ by_pair)
    expected = interval(value, parts, float(np.sum(by_rating**2)), (5, several), "fisher")
    # central differences
    assert (found.value, found.low, found.high) == pytest.approx((value, expected.low, expected.high), abs=1e-7)


def test_gwets_coefficients_on_his_example() -> None:
    panel = gwets_example()
    # irrCAC: AC1 .77544, alpha .74341.
    assert agreement.gwet(panel, quadratic=False).value == pytest.approx(0.77544, abs=5e-6)
    assert agreement.krippendorff_alpha(panel, "nominal").value == pytest.approx(0.74341, abs=5e-5)


@pytest.mark.parametrize("quadratic", [False, True])
def test_gwets_coefficients_by_their_definition(quadratic: bool) -> None:
    panel = gwets_example()
    agreed, shares = [], np.zeros(5)
    for row in GWET:
        values = [v for v in row if v]
        shares += np.bincount(values, minlength=6)[1:] / len(values) / len(GWET)
        if len(values) > 1:
            each = [
                1 - ((a - b) / 4) ** 2 if quadratic else float(a == b)
                for i, a in enumerate(values)
                for j, b in enumerate(values)
                if i != j
            ]
            agreed.append(np.mean(each))
    steps = (np.arange(5)[:, None] - np.arange(5)) / 4
    total = (1 - steps**2).sum() if quadratic else 5.0
    chance = total / 20 * float(shares @ (1 - shares))
    expected = (np.mean(agreed) - chance) / (1 - chance)
    assert agreement.gwet(panel, quadratic=quadratic).value == pytest.approx(expected, abs=1e-12)


def test_two_raters_get_no_interval_and_the_reason() -> None:
    panel = simulate_panel(2, 40, 0, seed=1).panel
    for estimate in (
        agreement.krippendorff_alpha(panel, "interval"),
        agreement.gwet(panel, quadratic=True),
        intraclass.intraclass(panel).one,
        intraclass.intraclass(panel).two,
        agreement_by_rater_pair.pairwise(panel).kappa,
    ):
        assert estimate.value is not None
        assert estimate.low is None
        assert estimate.reason == "two raters do not show how others would differ"


def test_what_raters_and_pairs_both_hold_is_counted_once() -> None:
    # A mean of 50 x 20 independent cells: each margin alone holds the whole variance.
    rng = np.random.default_rng(0)
    cells = rng.normal(size=(2000, 50, 20)) / 1000
    by_pair, by_rater = cells.sum(axis=2), cells.sum(axis=1)
    sums = [(by_rater**2).sum(axis=1) * 20 / 19, (by_pair**2).sum(axis=1) * 50 / 49]
    ends = [interval(0.0, (a, b), c, (20, 50)) for a, b, c in zip(*sums, (cells**2).sum(axis=(1, 2)), strict=True)]
    width = np.mean([(each.high or 0) - (each.low or 0) for each in ends])
    # The variance is 1e-3; the larger of two estimates of it is a little too large, and t is 2.0 instead of 1.96.
    assert 2 * 1.96 * np.sqrt(1e-3) < width < 1.2 * 2 * 1.96 * np.sqrt(1e-3)


def test_influences_on_two_way_correlations_are_about_those_of_the_jackknife(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    matrix = rng.normal(size=(40, 1)) + 0.8 * rng.normal(size=30) + 0.5 * rng.normal(size=(40, 30))
    parts: list[tuple[float, float]] = []
    with monkeypatch.context() as patch:
        patch.setattr(
            intraclass, "interval", lambda value, sums, *rest: parts.append(sums) or interval(value, sums, *rest)
        )
        intraclass._two_way(matrix)
    for number, variances in zip((0, 2), parts, strict=True):  # of single ratings: two-way, consistency
        for axis, variance in zip((1, 0), variances, strict=True):
            size = matrix.shape[axis]
            left_out = [intraclass._two_way(np.delete(matrix, k, axis))[number].value for k in range(size)]
            assert variance == pytest.approx((size - 1) * np.var(left_out), rel=0.25)


def test_intervals_of_two_way_correlations_hold_the_truth_where_few_raters_rate_few_pairs() -> None:
    # Variances 1 of 15 pairs, .3 of 12 raters, .5 of cells. Fisher's z, and squared influences as they stand, held
    # 92.1 % and 90.6 % of these 800 layouts, the latter low by six of the standard errors of .8 %.
    rng = np.random.default_rng(12)
    held = np.zeros(2)
    for _ in range(800):
        matrix = (
            rng.normal(size=(15, 1)) + np.sqrt(0.3) * rng.normal(size=12) + np.sqrt(0.5) * rng.normal(size=(15, 12))
        )
        two, _, consistency, _ = intraclass._two_way(matrix)
        for number, (figure, truth) in enumerate(((two, 1 / 1.8), (consistency, 1 / 1.5))):
            held[number] += (figure.low or 0) <= truth <= (figure.high or 0)
    assert ((held / 800 > 0.93) & (held / 800 < 0.98)).all(), held / 800


@pytest.mark.slow
def test_intervals_hold_what_other_raters_and_pairs_would_have_where_pairs_alone_do_not() -> None:
    big = simulate_panel(120, 500, 0, noise_spread=0.3, seed=9).panel
    rows = scored_rows(big).rows
    truth = {
        "variance": within_item_variance(big, rows).value,
        "alpha": agreement.krippendorff_alpha(big, "interval").value,
        "AC2": agreement.gwet(big, quadratic=True).value,
        "ICC(1)": intraclass.intraclass(big).one.value,
        "kappa": agreement_by_rater_pair.pairwise(big).kappa.value,
    }
    held: dict[str, list[bool]] = {name: [] for name in truth}
    for seed in range(40):
        panel = simulate_panel(12, 20, 40, noise_spread=0.3, seed=400 + seed).panel
        estimates = {
            "variance": within_item_variance(panel, scored_rows(panel).rows),
            "alpha": agreement.krippendorff_alpha(panel, "interval"),
            "AC2": agreement.gwet(panel, quadratic=True),
            "ICC(1)": intraclass.intraclass(panel).one,
            "kappa": agreement_by_rater_pair.pairwise(panel).kappa,
        }
        for name, estimate in estimates.items():
            held[name].append((estimate.low or 0) <= (truth[name] or 0) <= (estimate.high or 0))
    for name, values in held.items():
        # 95 % of 40, less three standard errors of that share; a bootstrap over pairs held the variance in 60 to 80 %.
        assert np.mean(values) > 0.84, name


def test_the_gain_by_calibration_has_an_interval_of_its_own_and_a_narrower_one() -> None:
    panel = simulate_panel(30, 20, 60, seed=3).panel
    scored = scored_rows(panel)
    part = panel.keep(scored.rows)
    before, after = (leave_one_out_figure(panel, method, scored) for method in ("none", "shrunk"))
    assert not isinstance(before, Estimate)
    assert not isinstance(after, Estimate)
    gain, plain = after.plus(before, -1.0).estimate(part), before.estimate(part)
    assert gain.low is not None
    assert gain.low > 0
    assert (gain.high or 0) - gain.low < 0.8 * ((plain.high or 0) - (plain.low or 0))


def test_an_interval_has_satterthwaites_degrees_of_few_raters_and_many_pairs() -> None:
    """Satterthwaite 1946: each part's degrees are its number less one."""
    freedom = 0.025**2 / (0.02**2 / 7 + 0.01**2 / 49)
    reach = stats.t.ppf(0.975, freedom) * np.sqrt(0.025)
    found = interval(0.5, (0.02, 0.01), 0.005, (8, 50))
    assert (found.low, found.high) == pytest.approx((0.5 - reach, 0.5 + reach))
    on_logs = interval(0.5, (0.02, 0.01), 0.005, (8, 50), "log")
    assert (on_logs.low, on_logs.high) == pytest.approx((0.5 * np.exp(-2 * reach), 0.5 * np.exp(2 * reach)))


def test_no_interval_of_a_correlation_reaches_beyond_one() -> None:
    """Spearman of raters who agree throughout stood there as 1.000 with .998 to 1.002."""
    assert interval(1.0, (1e-6, 1e-6), 0.0, (20, 50), "fisher").high is None
    assert interval(0.999, (1e-6, 1e-6), 0.0, (20, 50), "fisher").high < 1
