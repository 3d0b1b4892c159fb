"""Shrunk and pooled moments: what shrinking must do, and that it pays."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relstudy.calibration.methods import shrinkage
from relstudy.calibration.methods.by_name import fit_lines
from relstudy.calibration.methods.shrinkage import centred_by_block, crossed_offsets, shrink
from relstudy.calibration.panel import Panel
from relstudy.calibration.reliability.within_pair_variance import leave_one_out_correlation
from relstudy.calibration.simulation import simulate_panel


@pytest.mark.slow
@given(
    st.lists(st.tuples(st.floats(-5, 5), st.floats(0.01, 5)), min_size=2, max_size=20),
)
@settings(max_examples=80, deadline=None)
def test_a_shrunken_value_lies_between_the_raters_and_the_panels(pairs: list[tuple[float, float]]) -> None:
    values, variance = np.array(pairs).T
    result = shrink(values, variance, np.ones(len(values), dtype=bool))
    assert (np.abs(result.value) <= np.abs(result.raw) + 1e-12).all()
    assert (result.value * result.raw >= 0).all()
    assert ((result.weight >= 0) & (result.weight < 1)).all()


def test_the_share_kept_is_the_between_variance_over_the_total() -> None:
    values, variance = np.array([-2.0, 0.0, 2.0]), np.array([1.0, 1.0, 1.0])
    result = shrink(values, variance, np.ones(3, dtype=bool))
    assert result.between == pytest.approx(3.0)  # sample variance 4 less sampling variance 1
    assert result.weight.tolist() == pytest.approx([0.75] * 3)


def test_offsets_that_are_all_noise_are_shrunk_away() -> None:
    simulated = simulate_panel(40, 10, 20, leniency=0.0, discrimination=0.0, seed=3)
    raw, kept = (fit_lines(simulated.panel, method) for method in ("mean", "shrunk"))
    moved = [np.abs(line.calibrated(simulated.panel) - simulated.panel.rating).mean() for line in (raw, kept)]
    assert moved[1] < 0.35 * moved[0]


def test_with_a_long_base_block_shrunk_is_the_plain_offset() -> None:
    simulated = simulate_panel(12, 2000, 0, discrimination=0.0, seed=1)
    mean, shrunk = (fit_lines(simulated.panel, method) for method in ("mean", "shrunk"))
    middle = [line.offset + line.slope * 3 for line in (mean, shrunk)]
    assert np.abs(middle[0] - middle[1]).max() < 0.03  # two per cent of the leniencies' spread of .43


def test_crossed_offsets_solve_the_mixed_model_equations() -> None:
    simulated = simulate_panel(12, 8, 30, seed=7)
    panel = simulated.panel
    _centre, centred = centred_by_block(panel)
    offsets = crossed_offsets(panel, centred, panel.by_rater())
    # An independent solution: Henderson's equations, dense, with variances from the same rounds' moments.
    noise, quality = _variances(panel, centred, offsets.value)
    n, p = panel.n_raters, panel.n_pairs
    z = np.zeros((len(panel.rating), n + p))
    z[np.arange(len(z)), panel.rater] = 1
    z[np.arange(len(z)), n + panel.pair] = 1
    ridge = np.r_[np.full(n, noise / offsets.between), np.full(p, noise / quality)]
    solution = np.linalg.solve(z.T @ z + np.diag(ridge), z.T @ centred)[:n]
    # Three rounds of the fast solution stay within a tenth of the offsets' standard error.
    error = np.abs((offsets.value - offsets.value.mean()) - (solution - solution.mean())).max()
    assert error < 0.1 * np.sqrt(offsets.variance).mean() + 0.02


def test_the_rounds_end_where_each_offset_is_the_mean_of_what_the_others_leave() -> None:
    for seed in range(3):
        panel = simulate_panel(12, 8, 30, seed=seed).panel
        _centre, centred = centred_by_block(panel)
        offsets = crossed_offsets(panel, centred, panel.by_rater())
        adjusted = centred - offsets.value[panel.rater]
        noise, quality = _variances(panel, centred, offsets.value)
        raw, precision = np.zeros(panel.n_raters), np.zeros(panel.n_raters)
        for rater, pair, y, own_rating in zip(panel.rater, panel.pair, centred, adjusted, strict=True):
            rows = panel.pair == pair
            others = rows.sum() - 1
            trust = quality / (quality + noise / others) if others else 0.0
            weight = 1 / (noise + quality * (1 - trust))
            raw[rater] += weight * (y - trust * (adjusted[rows].sum() - own_rating) / max(others, 1))
            precision[rater] += weight
        again = shrink(raw / precision, 1 / precision, np.ones(panel.n_raters, dtype=bool))
        # Rounds end when offsets move by less than a fiftieth of their standard error.
        assert np.abs(again.value - offsets.value).max() < 0.05 * np.sqrt(offsets.variance).mean()


def test_a_base_block_that_is_better_than_the_rest_does_not_make_those_who_rated_more_of_the_rest_look_strict() -> None:
    rng = np.random.default_rng(0)
    rows = [(f"r{r}", f"b{p}", 4 + rng.normal()) for r in range(12) for p in range(20)]
    rows += [(f"r{r}", f"u{r}-{p}", 1 + rng.normal()) for r in range(12) for p in range(5 if r % 2 else 80)]
    frame = pd.DataFrame(rows, columns=["rater_id", "pair_id", "rating"])
    panel = Panel.from_frame(frame.assign(base=frame["pair_id"].str.startswith("b")))
    lines = fit_lines(panel, "pooled")
    # Nobody is lenient; without the blocks' means those with 5 pairs of the rest would look two ratings more so.
    moved = lines.calibrated(panel) - panel.rating
    assert np.abs([moved[panel.rater == r].mean() for r in range(12)]).max() < 0.2


def test_the_share_of_the_spread_is_chosen_on_moments_that_leave_the_rating_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    panel = simulate_panel(8, 9, 0, scale="1-9", discrimination=0.8, seed=2).panel
    seen: list[np.ndarray] = []

    def spy(block: Panel, deviation: np.ndarray, log_spread: np.ndarray) -> float:
        seen.extend([deviation, log_spread])
        return 0.5

    monkeypatch.setattr(shrinkage, "best_share", spy)
    shrinkage.shrunk(panel)
    matrix = panel.rating.reshape(8, 9)
    quality = matrix.mean(axis=0)
    for rater in range(8):
        rows = np.flatnonzero(panel.rater == rater)
        without = [np.delete(matrix[rater], i) for i in range(9)]
        logs = np.log([values.std(ddof=1) for values in without])
        offsets = np.array([np.delete(matrix[rater] - quality, i).mean() for i in range(9)])
        # Both are shrunk by one factor a rater, so those of two rows differ by that factor times their raw difference.
        for shrunk_values, raw in ((panel.rating[rows] - seen[0][rows], offsets), (seen[1][rows], logs)):
            slope = np.polyfit(raw, shrunk_values, 1)[0]
            assert 0 <= slope <= 1
            assert np.allclose(shrunk_values - shrunk_values.mean(), slope * (raw - raw.mean()), atol=1e-9)
        assert np.ptp(seen[1][rows]) > 0


def _variances(panel: Panel, centred: np.ndarray, offset: np.ndarray) -> tuple[float, float]:
    adjusted = pd.Series(centred - offset[panel.rater])
    groups = adjusted.groupby(panel.pair)
    size = groups.transform("size")
    several = size > 1
    noise = float(
        ((adjusted - groups.transform("mean")) ** 2)[several].sum() / (several.sum() - (groups.size() > 1).sum())
    )
    return noise, float(adjusted.var(ddof=0) - noise)


def test_pooled_recovers_true_leniency_better_than_the_base_block_alone() -> None:
    errors: dict[str, list[float]] = {"mean": [], "shrunk": [], "pooled": []}
    for seed in range(8):
        simulated = simulate_panel(30, 10, 100, seed=seed)
        for method, correlations in errors.items():
            line = fit_lines(simulated.panel, method)
            # Where a rater's calibrated value is the scale's middle: the leniency in ratings, with its sign turned.
            shift = -(line.offset + line.slope * 3.0 - 3.0)
            correlations.append(float(np.corrcoef(shift, simulated.leniency)[0, 1]))
    average = {method: np.mean(values) for method, values in errors.items()}
    assert average["pooled"] > average["shrunk"] >= average["mean"] - 0.005


@pytest.mark.slow
@pytest.mark.parametrize("scale", ["1-5", "0-6", "binary", "1-9"])
@pytest.mark.parametrize("base", [5, 20])
def test_pooled_is_at_least_shrunk_is_at_least_the_better_of_zscore_and_mean(scale: str, base: int) -> None:
    methods = ("mean", "zscore", "shrunk", "pooled")
    rows = []
    for seed in range(8):
        panel = simulate_panel(30, base, 60, scale=scale, seed=100 + seed).panel
        rows.append([leave_one_out_correlation(panel, m).value for m in methods])
    table = np.array(rows, dtype=float)
    plain = table[:, 0] if table[:, 0].mean() > table[:, 1].mean() else table[:, 1]
    for better, worse in ((table[:, 2], plain), (table[:, 3], table[:, 2])):
        difference = better - worse
        # Within simulation error: two standard errors of the mean over panels.
        assert difference.mean() > -2 * difference.std(ddof=1) / np.sqrt(len(difference))


def test_binary_ratings_in_full_agreement_do_not_break_the_choice_of_the_share() -> None:
    rows = [(r, f"p{i}", float(i % 2)) for r in "abcd" for i in range(12)]
    panel = Panel.from_frame(pd.DataFrame(rows, columns=["rater_id", "pair_id", "rating"]))
    for method in ("shrunk", "pooled"):
        assert np.allclose(fit_lines(panel, method).calibrated(panel), panel.rating)


@pytest.mark.parametrize("method", ["shrunk", "pooled"])
def test_all_of_the_spread_is_taken_out_where_raters_stretch_the_scale_and_less_where_noise_does_not_stretch_with_it(
    method: str,
) -> None:
    simulated = simulate_panel(60, 40, 80, discrimination=0.0, seed=1)
    panel, quality = simulated.panel, simulated.quality
    rng = np.random.default_rng(0)
    stretch = np.exp(rng.normal(0, 0.4, 60))
    stretched = panel.with_rating(stretch[panel.rater] * (quality[panel.pair] + rng.normal(0, 0.5, len(panel.rating))))
    assert fit_lines(stretched, method).spread_weight > 0.9
    sharper = simulate_panel(60, 40, 80, discrimination=0.25, noise=0.9, seed=2).panel
    assert fit_lines(sharper, method).spread_weight < 0.8


@pytest.mark.slow
def test_the_share_of_the_spread_pays_against_taking_all_of_it_out(monkeypatch: pytest.MonkeyPatch) -> None:
    panels = [simulate_panel(60, 20, 60, noise=0.9, seed=200 + seed).panel for seed in range(6)]
    kept = [leave_one_out_correlation(panel, "pooled").value or 0 for panel in panels]
    monkeypatch.setattr(shrinkage, "best_share", lambda *_: 1.0)
    full = [leave_one_out_correlation(panel, "pooled").value or 0 for panel in panels]
    gains = np.array(kept) - np.array(full)
    assert gains.mean() > 2 * gains.std(ddof=1) / np.sqrt(len(gains))
