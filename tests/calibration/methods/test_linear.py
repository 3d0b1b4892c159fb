"""Lines: the paper's equation, its edge cases, and what must hold for any panel."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relstudy.calibration.methods.by_name import fit_lines
from relstudy.calibration.methods.linear import base_moments
from relstudy.calibration.panel import Panel
from relstudy.calibration.simulation import simulate_panel
from relstudy.common.runtime.errors import RelstudyError

LINEAR = ("none", "mean", "zscore", "shrunk", "pooled")


def panel_of(rows: list[tuple[str, str, float]], base: set[str] | None = None) -> Panel:
    frame = pd.DataFrame(rows, columns=["rater_id", "pair_id", "rating"])
    if base is not None:
        frame["base"] = frame["pair_id"].isin(base)
    return Panel.from_frame(frame)


@st.composite
def complete_blocks(draw: st.DrawFn) -> np.ndarray:
    """Ratings 1-5 of pairs by raters, no rater constant."""
    raters, pairs = draw(st.integers(2, 6)), draw(st.integers(3, 8))
    rating = st.integers(1, 5)
    rows = st.lists(rating, min_size=pairs, max_size=pairs).filter(lambda values: len(set(values)) > 1)
    return np.array(draw(st.lists(rows, min_size=raters, max_size=raters)), dtype=float)


def block_panel(matrix: np.ndarray) -> Panel:
    raters, pairs = matrix.shape
    frame = pd.DataFrame(
        {
            "rater_id": np.repeat([f"r{i}" for i in range(raters)], pairs),
            "pair_id": np.tile([f"p{i}" for i in range(pairs)], raters),
            "rating": matrix.ravel(),
        }
    )
    return Panel.from_frame(frame)


@pytest.mark.slow
@pytest.mark.parametrize(("method", "of"), [("zscore", None), ("mean", 1)], ids=["zscore", "mean"])
@given(matrix=complete_blocks())
@settings(max_examples=60, deadline=None)
def test_each_raters_base_mean_is_the_panels_and_the_spread_too_or_as_it_was(
    method: str, of: int | None, matrix: np.ndarray
) -> None:
    panel = block_panel(matrix)
    calibrated = fit_lines(panel, method).calibrated(panel).reshape(matrix.shape)
    # Population moments match to rounding.
    assert np.allclose(calibrated.mean(axis=1), matrix.mean(), atol=1e-9)
    assert np.allclose(calibrated.std(axis=1), matrix.std(axis=of), atol=1e-9)


@pytest.mark.slow
@given(complete_blocks(), st.integers(0, 5), st.floats(0.2, 5), st.floats(-10, 10))
@settings(max_examples=60, deadline=None)
def test_zscore_undoes_any_positive_affine_distortion_of_a_rater(
    matrix: np.ndarray, which: int, stretch: float, shift: float
) -> None:
    which %= len(matrix)
    distorted = matrix.copy()
    distorted[which] = shift + stretch * matrix[which]
    values = [
        fit_lines(block_panel(m), "zscore").calibrated(block_panel(m)).reshape(m.shape) for m in (matrix, distorted)
    ]
    # The panel's own moments move with the rater, so compare on the standard scale that they define.
    standard = [(v - v.mean()) / v[0].std() for v in values]
    assert np.allclose(standard[0], standard[1], atol=1e-6)


@pytest.mark.parametrize("method", LINEAR)
@pytest.mark.parametrize("seed", range(3))
def test_permuting_rows_and_renaming_raters_changes_nothing(method: str, seed: int) -> None:
    panel = simulate_panel(8, 10, 20, seed=seed).panel
    order = np.random.default_rng(seed).permutation(len(panel.rating))
    frame = pd.DataFrame(
        {
            "rater_id": panel.raters.to_numpy()[panel.rater],
            "pair_id": panel.pairs["result_id"].to_numpy()[panel.pair],
            "rating": panel.rating,
            "base": panel.base[panel.pair],
        }
    )
    straight = Panel.from_frame(frame)
    renamed = frame.iloc[order].assign(rater_id=lambda f: "z" + f["rater_id"].str[::-1])
    shuffled = Panel.from_frame(renamed)
    one = fit_lines(straight, method).calibrated(straight)[order]
    other = fit_lines(shuffled, method).calibrated(shuffled)
    # Sums in another order differ in the last digits; a share fitted to them by a few more.
    assert np.allclose(one, other, atol=1e-7)


@pytest.mark.parametrize("method", LINEAR[1:])
def test_moving_every_rating_by_the_same_amount_moves_every_calibrated_rating_by_it(method: str) -> None:
    panel = simulate_panel(8, 12, 20, seed=4).panel
    moved = panel.with_rating(panel.rating + 7)
    difference = fit_lines(moved, method).calibrated(moved) - fit_lines(panel, method).calibrated(panel)
    assert np.allclose(difference, 7, atol=1e-7)


@pytest.mark.parametrize("method", LINEAR[1:])
def test_stretching_the_scale_stretches_calibrated_ratings(method: str) -> None:
    panel = simulate_panel(8, 12, 20, seed=5).panel
    stretched = panel.with_rating(panel.rating * 3)
    one, other = (fit_lines(p, method).calibrated(p) for p in (panel, stretched))
    assert np.allclose(3 * one, other, atol=1e-6)


def test_equation_2_1_by_hand() -> None:
    panel = panel_of([("a", "p", 1), ("a", "q", 3), ("b", "p", 4), ("b", "q", 5), ("a", "u", 2)], {"p", "q"})
    # a: mean 2, spread 1; b: mean 4.5, spread .5; panel: mean 3.25, variance 35/16.
    spread = np.sqrt(35) / 4
    lines = fit_lines(panel, "zscore")
    assert lines.slope.tolist() == pytest.approx([spread / 1, spread / 0.5])
    assert lines.calibrated(panel)[4] == pytest.approx(3.25)
    assert lines.calibrated(panel)[0] == pytest.approx(3.25 - spread)


def test_a_constant_rater_is_only_moved_and_never_divided_by_zero() -> None:
    panel = panel_of([("a", "p", 3), ("a", "q", 3), ("b", "p", 1), ("b", "q", 5), ("c", "p", 2), ("c", "q", 4)])
    for method in LINEAR:
        calibrated = fit_lines(panel, method).calibrated(panel)
        assert np.isfinite(calibrated).all()
        assert calibrated[0] == calibrated[1]
    assert fit_lines(panel, "zscore").slope[0] == 1


def test_a_rater_with_one_base_rating_keeps_slope_one_and_is_compared_on_that_pair() -> None:
    panel = panel_of([("a", "p", 5), ("a", "u", 3), *(("b", x, v) for x, v in (("p", 3), ("q", 1)))], {"p", "q"})
    lines = fit_lines(panel, "zscore")
    assert lines.slope[0] == 1
    assert lines.offset[0] == pytest.approx(-1)  # on p the panel's mean is 4, and a said 5


def test_a_rater_without_base_ratings_is_left_as_they_are() -> None:
    panel = panel_of([("a", "u", 5), ("b", "p", 1), ("b", "q", 3), ("c", "p", 2), ("c", "q", 4)], {"p", "q"})
    for method in ("mean", "zscore"):
        lines = fit_lines(panel, method)
        assert (lines.slope[0], lines.offset[0]) == (1, 0)


def test_skipped_base_pairs_do_not_shift_a_rater() -> None:
    # b agrees with the others everywhere and skipped the best pair, so there is nothing to correct.
    rows = [(r, p, v) for r in "ac" for p, v in (("p", 1), ("q", 2), ("s", 5))] + [("b", "p", 1), ("b", "q", 2)]
    panel = panel_of(rows, {"p", "q", "s"})
    for method in ("mean", "zscore"):
        assert np.allclose(fit_lines(panel, method).calibrated(panel), panel.rating)


def test_undecided_never_counts_as_a_number() -> None:
    rows = [("a", "p", 1), ("a", "q", 3), ("b", "p", 2), ("b", "q", 4)]
    with_blank = panel_of([*rows, ("a", "s", np.nan), ("b", "s", np.nan)])
    for method in LINEAR:
        one, other = fit_lines(panel_of(rows), method), fit_lines(with_blank, method)
        assert np.allclose(one.slope, other.slope)
        assert np.allclose(one.offset, other.offset)
        assert np.isnan(other.calibrated(with_blank)[-1])


@pytest.mark.parametrize("method", ["mean", "zscore", "shrunk"])
def test_without_a_base_block_the_block_methods_say_what_to_do(method: str) -> None:
    panel = panel_of([("a", "p", 1), ("b", "q", 3)])
    with pytest.raises(RelstudyError, match=r"there is no base block.*--base-column"):
        fit_lines(panel, method)


def test_moments_agree_with_pandas() -> None:
    panel = simulate_panel(6, 15, 5, seed=2).panel
    block = panel.base[panel.pair]
    groups = pd.Series(panel.rating[block]).groupby(panel.rater[block])
    moments = base_moments(panel)
    assert np.allclose(moments.mean, groups.mean())
    assert np.allclose(moments.spread, groups.std(ddof=0))
    assert np.allclose(moments.panel_mean, panel.rating[block].mean())
    assert np.allclose(moments.panel_spread, panel.rating[block].std())


def test_a_panel_of_one_rater_is_left_on_its_scale() -> None:
    panel = panel_of([("a", "p", 1), ("a", "q", 5), ("a", "s", 3)])
    for method in LINEAR:
        assert np.allclose(fit_lines(panel, method).calibrated(panel), panel.rating)
