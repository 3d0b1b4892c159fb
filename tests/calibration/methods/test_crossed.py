"""Crossed effects: the equations solved, nothing assumed of who was dealt what, and chosen where it is right."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from relstudy.calibration.choice import choose_method
from relstudy.calibration.methods.by_name import fit_lines
from relstudy.calibration.methods.crossed import components, crossed_effects
from relstudy.calibration.panel import Panel
from relstudy.calibration.reliability.within_pair_variance import leave_one_out_correlation
from relstudy.calibration.simulation import SimulatedPanel, simulate_panel
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.meaning.pair_assignment import HandOut


def shared(panel: Panel) -> Panel:
    return panel.keep(panel.by_pair()[panel.pair] > 1)


def test_offsets_and_variances_solve_hendersons_equations_with_pairs_fixed() -> None:
    panel = shared(simulate_panel(9, 6, 20, seed=3).panel)
    effects = crossed_effects(panel)
    pairs = np.eye(panel.n_pairs)[panel.pair][:, panel.by_pair() > 0]
    raters = np.eye(panel.n_raters)[panel.rater]
    ridge = effects.noise / effects.between
    left = np.block([[pairs.T @ pairs, pairs.T @ raters], [raters.T @ pairs, raters.T @ raters + ridge * np.eye(9)]])
    right = np.concatenate([pairs.T @ panel.rating, raters.T @ panel.rating])
    expected = np.linalg.solve(left, right)[-9:]
    assert effects.offset == pytest.approx(expected, abs=1e-5)  # conjugate gradients end at a millionth
    # Henderson's method III by projections.
    both = np.hstack([pairs, raters])
    residual = panel.rating - both @ np.linalg.lstsq(both, panel.rating, rcond=None)[0]
    alone = panel.rating - pairs @ np.linalg.lstsq(pairs, panel.rating, rcond=None)[0]
    freedom = len(panel.rating) - np.linalg.matrix_rank(both)
    noise = residual @ residual / freedom
    left_of_raters = raters - pairs @ np.linalg.lstsq(pairs, raters, rcond=None)[0]
    between = (alone @ alone - residual @ residual - 8 * noise) / np.trace(left_of_raters.T @ left_of_raters)
    assert (effects.noise, effects.between) == pytest.approx((noise, between), rel=1e-6)


def test_on_a_complete_block_the_variances_are_those_of_reml() -> None:
    from statsmodels.regression.mixed_linear_model import MixedLM

    panel = simulate_panel(10, 25, 0, seed=5).panel
    effects = crossed_effects(panel)
    frame = pd.DataFrame({"rating": panel.rating, "pair": panel.pair, "rater": panel.rater})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = MixedLM.from_formula("rating ~ C(pair)", groups="rater", data=frame).fit(reml=True)
    # Balanced data: REML and the method of fitting constants agree; the optimiser stops at about a thousandth.
    assert effects.noise == pytest.approx(fit.scale, rel=2e-3)
    assert effects.between == pytest.approx(float(fit.cov_re.iloc[0, 0]), rel=1e-2)


def test_groups_that_share_no_pair_are_counted() -> None:
    frame = pd.DataFrame({"rater_id": list("aabbccdd"), "pair_id": list("pqpqstst"), "rating": range(8)})
    assert components(Panel.from_frame(frame)) == 2
    assert components(simulate_panel(5, 2, 10, seed=1).panel) == 1


def test_it_makes_no_difference_to_a_rater_whether_their_pairs_are_good_or_bad() -> None:
    rng = np.random.default_rng(0)
    quality = np.r_[np.zeros(10), np.full(40, -2.0), np.full(40, 2.0)]
    offset = np.array([0.5, -0.5, 0.0, 0.5, -0.5, 0.0])
    rows = [
        (f"r{r}", f"p{p:02d}", quality[p] + offset[r] + 0.1 * rng.normal())
        for r in range(6)
        for p in (*range(10), *range(10 + 40 * (r // 3), 50 + 40 * (r // 3)))
    ]
    panel = Panel.from_frame(pd.DataFrame(rows, columns=["rater_id", "pair_id", "rating"]))
    effects = crossed_effects(panel)
    # Noise of .1 on 50 pairs, shrunk by next to nothing.
    assert effects.offset == pytest.approx(offset, abs=0.08)
    pooled, crossed = (fit_lines(panel, method).calibrated(panel) for method in ("pooled", "crossed"))
    means = [values[panel.pair == 60].mean() - values[panel.pair == 20].mean() for values in (pooled, crossed)]
    assert means[1] == pytest.approx(4.0, abs=0.15)


def test_no_pair_with_two_ratings_is_refused_in_words() -> None:
    frame = pd.DataFrame({"rater_id": list("ab"), "pair_id": list("pq"), "rating": [1.0, 2.0]})
    with pytest.raises(RelstudyError, match="no pair has two ratings"):
        fit_lines(Panel.from_frame(frame), "crossed")


def test_raters_who_do_not_differ_are_left_alone() -> None:
    frame = pd.DataFrame({"rater_id": list("abab"), "pair_id": list("ppqq"), "rating": [1.0, 1.0, 4.0, 4.0]})
    panel = Panel.from_frame(frame)
    assert np.allclose(fit_lines(panel, "crossed").calibrated(panel), panel.rating)


def truth(simulated: SimulatedPanel, method: str) -> float:
    panel = simulated.panel
    calibrated = fit_lines(panel, method).calibrated(panel)
    count = panel.by_pair()
    unique = ~panel.base & (count > 0)
    return float(
        np.corrcoef((panel.by_pair(calibrated) / np.maximum(count, 1))[unique], simulated.quality[unique])[0, 1]
    )


@pytest.mark.slow
@pytest.mark.parametrize(("raters", "base", "each"), [(120, 20, 10), (30, 20, 3), (12, 5, 3)])
def test_where_pairs_are_not_dealt_at_random_it_is_chosen_and_better_than_the_base_block_alone(
    raters: int, base: int, each: int
) -> None:
    rows = []
    for seed in range(3 if raters > 50 else 6):
        simulated = simulate_panel(raters, base, 80, ratings_per_pair=each, handed_out=HandOut.FIXED, seed=300 + seed)
        methods = ("crossed", "mean", "zscore", "shrunk")
        figures = [leave_one_out_correlation(simulated.panel, m).value for m in methods]
        assert choose_method(simulated.panel, None).method == "crossed"
        rows.append([*figures, truth(simulated, "crossed") - truth(simulated, "shrunk")])
    table = np.array(rows, dtype=float)
    for other in (1, 2, 3):
        gain = table[:, 0] - table[:, other]
        assert gain.mean() > np.std(gain, ddof=1) / np.sqrt(len(gain))
    # The groups' own levels rest on the base block in either method, so the truth gains little: but loses nothing.
    assert table[:, 4].mean() > -0.003
