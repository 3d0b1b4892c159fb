"""Agreement, against the libraries that others use and against brute force."""

from __future__ import annotations

import itertools
import tracemalloc
import warnings

import krippendorff
import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr
from sklearn.metrics import cohen_kappa_score

from relstudy.calibration import randomisation_test
from relstudy.calibration.methods.by_name import fit_lines
from relstudy.calibration.panel import Panel
from relstudy.calibration.rater_noise import rater_noise
from relstudy.calibration.reliability import agreement, agreement_by_rater_pair, intraclass
from relstudy.calibration.reliability.ceiling import noise_ceiling, reachable_correlation
from relstudy.calibration.simulation import simulate_panel


def with_gaps(seed: int, raters: int = 5, pairs: int = 25, missing: float = 0.3) -> tuple[Panel, np.ndarray]:
    """A panel with gaps and its pairs-by-raters matrix."""
    rng = np.random.default_rng(seed)
    worth = rng.normal(size=pairs)
    matrix = np.clip(np.round(3 + worth[:, None] + rng.normal(0, 0.8, (pairs, raters))), 1, 5)
    matrix[rng.random(matrix.shape) < missing] = np.nan
    rows, columns = np.nonzero(~np.isnan(matrix))
    frame = pd.DataFrame(
        {"rater_id": columns, "pair_id": rows, "rating": matrix[rows, columns], "base": np.ones(len(rows), dtype=bool)}
    )
    return Panel.from_frame(frame), matrix


def complete(seed: int) -> tuple[Panel, np.ndarray]:
    return with_gaps(seed, missing=0.0)


@pytest.mark.parametrize("level", agreement.LEVELS)
@pytest.mark.parametrize("seed", range(3))
def test_alpha_with_gaps_equals_the_package_on_the_whole_matrix(
    level: agreement.Level, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel, matrix = with_gaps(seed)
    expected = krippendorff.alpha(matrix.T, level_of_measurement=level)
    assert agreement.krippendorff_alpha(panel, level).value == pytest.approx(expected, abs=1e-12)
    if level == "interval":
        assert agreement.interval_alpha(panel) == pytest.approx(expected, abs=1e-12), "from variances"
    monkeypatch.setattr(agreement, "MOST_AT_ONCE", 0)
    assert agreement.krippendorff_alpha(panel, level).value == pytest.approx(expected, abs=1e-12), "of many pairs"


@pytest.mark.parametrize("seed", range(3))
def test_intraclass_correlations_equal_pingouins(seed: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pingouin

        panel, matrix = complete(seed)
        rows, columns = np.indices(matrix.shape)
        long = pd.DataFrame({"pair": rows.ravel(), "rater": columns.ravel(), "rating": matrix.ravel()})
        table = pingouin.intraclass_corr(long, targets="pair", raters="rater", ratings="rating")
    values = dict(zip(table["Type"].str.replace(r"[(),]", "", regex=True), table["ICC"], strict=True))
    single = values.get("ICC1", values.get("ICC11"))
    two, two_mean = values.get("ICC2", values.get("ICCA1")), values.get("ICC2k", values.get("ICCAk"))
    one_mean = values.get("ICC1k", values.get("ICC1k"))
    one, mean = values.get("ICC3", values.get("ICCC1")), values.get("ICC3k", values.get("ICCCk"))
    icc = intraclass.intraclass(panel)
    ours = [icc.one, icc.one_mean, icc.two, icc.two_mean, icc.consistency, icc.consistency_mean]
    assert [each.value for each in ours] == pytest.approx([single, one_mean, two, two_mean, one, mean], abs=5e-7)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_weighted_kappa_and_spearman_equal_scikit_learn_and_scipy_couple_by_couple(missing: float) -> None:
    panel, matrix = with_gaps(3, missing=missing)
    kappas, correlations = [], []
    for one, other in itertools.combinations(range(matrix.shape[1]), 2):
        both = ~np.isnan(matrix[:, [one, other]]).any(axis=1)
        x, y = matrix[both, one], matrix[both, other]
        kappas.append(cohen_kappa_score(x.astype(int), y.astype(int), weights="quadratic", labels=[1, 2, 3, 4, 5]))
        correlations.append(spearmanr(x, y).statistic)
    pairwise = agreement_by_rater_pair.pairwise(panel)
    assert pairwise.kappa.value == pytest.approx(np.mean(kappas), abs=1e-10)
    assert pairwise.spearman.value == pytest.approx(np.mean(correlations), abs=1e-10)
    assert pairwise.couples == len(kappas)


def test_icc_1_with_unequal_numbers_equals_the_variance_components() -> None:
    panel, matrix = with_gaps(1)
    size = (~np.isnan(matrix)).sum(axis=1)
    values = [row[~np.isnan(row)] for row in matrix[size > 1]]
    n = np.array([len(v) for v in values])
    within = sum(((v - v.mean()) ** 2).sum() for v in values) / (n.sum() - len(n))
    grand = np.concatenate(values).mean()
    between = sum(len(v) * (v.mean() - grand) ** 2 for v in values) / (len(n) - 1)
    typical = (n.sum() - (n**2).sum() / n.sum()) / (len(n) - 1)
    expected = (between - within) / (between + (typical - 1) * within)
    assert intraclass.intraclass(panel).one.value == pytest.approx(expected, abs=1e-12)


def test_agreement_that_cannot_be_computed_says_why() -> None:
    frame = pd.DataFrame({"rater_id": ["a", "b"], "pair_id": ["p", "q"], "rating": [1.0, 2.0]})
    panel = Panel.from_frame(frame)
    assert agreement.krippendorff_alpha(panel, "ordinal").reason == "no pair has two ratings"
    assert intraclass.intraclass(panel).one.reason == "fewer than two pairs have two ratings"
    assert "no two" in (agreement_by_rater_pair.pairwise(panel).kappa.reason or "")
    same = panel.with_rating(np.array([3.0, 3.0]))
    assert agreement.krippendorff_alpha(same, "nominal").reason == "every rating is the same"


def test_ratings_that_are_all_the_same_have_no_intraclass_correlation_however_many_raters_there_are() -> None:
    rows = [(f"r{rater}", "q", f"x{pair}", 0.1) for pair in range(5) for rater in range(1500)]
    panel = Panel.from_frame(pd.DataFrame(rows, columns=["rater_id", "query_id", "result_id", "rating"]))
    assert intraclass.intraclass(panel).one.reason == "every rating is the same"


@pytest.mark.parametrize("value", [3.0, 0.1, 3.3, 33333.3])
@pytest.mark.parametrize(("raters", "pairs"), [(3, 10), (5, 12), (7, 23)])
def test_ratings_that_are_all_the_same_agree_on_nothing_whatever_rounding_their_sums_have(
    value: float, raters: int, pairs: int
) -> None:
    """Three raters who gave ten pairs .1 had an ICC(1) of .29, five of twelve one of 1, and others a traceback."""
    rows = [(f"r{rater}", f"q{pair}", f"x{pair}", value) for pair in range(pairs) for rater in range(raters)]
    panel = Panel.from_frame(pd.DataFrame(rows, columns=["rater_id", "query_id", "result_id", "rating"]))
    icc = intraclass.intraclass(panel)
    assert icc.one.reason == icc.one_mean.reason == "every rating is the same"
    assert icc.two.reason == icc.consistency.reason == "ratings of the base block do not vary between pairs"
    together = agreement_by_rater_pair.pairwise(panel)
    assert together.kappa.reason == together.spearman.reason == "both raters of every couple are constant"
    noise = rater_noise(panel, fit_lines(panel, "none"))
    assert noise_ceiling(panel, noise).reason == "all judgments are the same"
    assert reachable_correlation(np.full(pairs, value), np.full(pairs, 0.1), np.arange(1.0, pairs + 1)) is None
    apart = panel.with_rating(panel.rating + 0.7 * panel.rater)
    assert intraclass.intraclass(apart).consistency.value is None
    assert "constant" in (agreement_by_rater_pair.pairwise(apart).spearman.reason or "")


def test_one_pair_that_has_all_weight_reaches_nothing() -> None:
    """An inclusion probability of 1e-20 beside others was a division by zero."""
    assert reachable_correlation(np.arange(5.0), np.full(5, 0.1), np.array([1e20, 1, 2, 1, 2])) is None


def test_the_complete_block_drops_raters_or_pairs_whichever_costs_less() -> None:
    _, matrix = complete(0)
    matrix[3:, 4] = np.nan  # the last rater stopped early
    rows, columns = np.nonzero(~np.isnan(matrix))
    frame = pd.DataFrame({"rater_id": columns, "pair_id": rows, "rating": matrix[rows, columns], "base": True})
    assert intraclass.complete_block(Panel.from_frame(frame)).shape == (25, 4)
    _, matrix = complete(0)
    matrix[24, :] = [1, np.nan, np.nan, np.nan, np.nan]  # one pair that only the first rated
    rows, columns = np.nonzero(~np.isnan(matrix))
    frame = pd.DataFrame({"rater_id": columns, "pair_id": rows, "rating": matrix[rows, columns], "base": True})
    assert intraclass.complete_block(Panel.from_frame(frame)).shape == (24, 5)


def test_a_large_panel_is_sampled_the_same_way_each_time() -> None:
    panel = simulate_panel(250, 20, 0, seed=1).panel
    one, other = agreement_by_rater_pair.pairwise(panel), agreement_by_rater_pair.pairwise(panel)
    assert one == other
    assert one.couples == 200 * 199 // 2


def test_calibrated_values_have_an_interval_alpha_and_no_nominal_one() -> None:
    panel = simulate_panel(20, 30, 10, seed=1).panel
    spread = panel.with_rating(panel.rating + np.random.default_rng(0).normal(0, 0.1, len(panel.rating)))
    assert agreement.krippendorff_alpha(spread, "interval").value is not None
    assert "this is for categories" in (agreement.krippendorff_alpha(spread, "nominal").reason or "")


@pytest.mark.slow
def test_alpha_of_a_hundred_values_holds_no_cell_for_each_pair_of_values() -> None:
    """With 20 raters on a scale of five, calibrated ratings take a hundred values: 2.4 GB for 10,000 pairs before."""
    random = np.random.default_rng(0)
    rows = np.repeat(np.arange(3000), 3)
    frame = pd.DataFrame({"rater_id": rows % 20, "pair_id": rows, "rating": random.integers(0, 100, len(rows)) / 7})
    panel = Panel.from_frame(frame)
    tracemalloc.start()
    agreement.krippendorff_alpha(panel, "interval")
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 3000 * 100**2 * 8 / 4, "a quarter of one such array"


@pytest.mark.slow
def test_memory_grows_with_the_ratings_and_not_with_raters_times_pairs() -> None:
    panel = simulate_panel(150, 10, 150, seed=1).panel
    tracemalloc.start()
    agreement_by_rater_pair.pairwise(panel)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 8 * panel.n_raters * panel.n_pairs  # one float for each rater and pair


def test_the_hand_out_is_permuted_alike_however_many_pages_are_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    panel = simulate_panel(12, 20, 400, seed=2).panel
    together = randomisation_test.balance(panel)
    monkeypatch.setattr(randomisation_test, "CELLS_AT_ONCE", 5_000)
    assert randomisation_test.balance(panel) == together
