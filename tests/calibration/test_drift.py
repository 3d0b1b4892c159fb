"""Drift over the session: found where it is, taken out where that helps, and neither said nor taken out elsewhere."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from relstudy.calibration.drift import Drift, by_tenth, drift_note, session_drift
from relstudy.calibration.options import CalibrationOptions
from relstudy.calibration.panel import Panel
from relstudy.calibration.pipeline import calibrate, notes_on
from relstudy.calibration.ratings import Ratings, check_ratings
from relstudy.calibration.session import session_order
from relstudy.common.checked import Checked
from relstudy.common.estimates import Estimate

RATERS, PAIRS, EACH = 12, 160, 60


def world(
    rng: np.random.Generator, falls: float = 0.0, spread: float = 0.0, base: int = 10, noise: float = 0.5
) -> pd.DataFrame:
    """Ratings that change by -falls, with this standard deviation over raters, from the first to the last; the base
    block comes first and in one order for all, the other pairs by lot. `truth` is the pair's worth."""
    truth, rows = rng.normal(3, 0.8, PAIRS), []
    for rater in range(RATERS):
        seen = [*range(base), *rng.permutation(np.arange(base, PAIRS))[: EACH - base]]
        lenient, slope = rng.normal(0, 0.4), rng.normal(-falls, spread)
        order = np.arange(EACH) / (EACH - 1)
        given = truth[seen] + lenient + slope * (order - 0.5) + rng.normal(0, noise, EACH)
        rows += [
            (f"r{rater}", "q", f"x{pair}", value, place + 1, truth[pair])
            for place, (pair, value) in enumerate(zip(seen, given, strict=True))
        ]
    return pd.DataFrame(rows, columns=["rater_id", "query_id", "result_id", "rating", "position", "truth"])


def drift_of(frame: pd.DataFrame) -> Drift:
    drift = session_drift(Panel.from_frame(frame), session_order(frame))
    assert drift is not None
    return drift


def on_scale(frame: pd.DataFrame) -> Ratings:
    """The ratings in whole steps from 1 to 5, as a study has them."""
    given = frame.assign(rating=np.clip(np.rint(frame["rating"]), 1, 5)).drop(columns="truth")
    return check_ratings(Checked(given, "ratings.csv"))


def test_the_slope_is_that_of_least_squares_with_a_dummy_for_each_rater_and_pair() -> None:
    statsmodels = pytest.importorskip("statsmodels.formula.api")
    frame = world(np.random.default_rng(1), 0.3).assign(order=lambda rows: session_order(rows))
    many = frame.groupby("result_id")["rating"].transform("size")
    fit = statsmodels.ols("rating ~ order + C(rater_id) + C(result_id)", frame[many > 1]).fit()
    # conjugate gradients end at 1e-10 of the right side
    assert drift_of(frame).common.value == pytest.approx(fit.params["order"], abs=1e-7)


def test_in_a_balanced_table_the_slope_is_that_of_ratings_without_means_of_rows_and_columns() -> None:
    rng = np.random.default_rng(2)
    order = rng.permuted(np.tile(np.arange(30), (5, 1)), axis=1)
    rating = rng.normal(size=(5, 30)) - 0.02 * order
    x, y = (each - each.mean(0) - each.mean(1)[:, None] + each.mean() for each in (order / 29, rating))
    rows = {"rater_id": np.repeat(range(5), 30), "pair_id": np.tile(range(30), 5)}
    frame = pd.DataFrame({**rows, "position": order.ravel(), "rating": rating.ravel()})
    assert drift_of(frame).common.value == pytest.approx(float(np.sum(x * y) / np.sum(x * x)), abs=1e-9)


def dense(rng: np.random.Generator, raters: int, pairs: int) -> pd.DataFrame:
    """All raters rate all pairs, each in an order of their own, in steps from 1 to 5."""
    order = rng.permuted(np.tile(np.arange(pairs), (raters, 1)), axis=1)
    rows = {"rater_id": np.repeat(range(raters), pairs), "pair_id": np.tile(range(pairs), raters)}
    slope = 0.5 * rng.normal(size=(raters, 1)) * (order / (pairs - 1) - 0.5)
    value = 3 + rng.normal(size=pairs) + 0.5 * rng.normal(size=(raters, 1)) + slope
    rating = np.clip(np.rint(value + 0.7 * rng.normal(size=(raters, pairs))), 1, 5)
    return pd.DataFrame({**rows, "position": order.ravel(), "rating": rating.ravel()})


@pytest.mark.parametrize(("raters", "pairs"), [(3, 60), (5, 40), (12, 60)])
def test_where_raters_rate_the_same_pairs_the_slope_is_that_of_least_squares(raters: int, pairs: int) -> None:
    """The raters' mean places are alike, and what is to be solved for them is 0 up to rounding."""
    for seed in range(25):
        frame = dense(np.random.default_rng([7, seed]), raters, pairs)
        order = session_order(frame)
        dummies = np.column_stack([pd.get_dummies(frame[each]) for each in ("rater_id", "pair_id")]).astype(float)
        slope = np.linalg.lstsq(np.column_stack([dummies, order]), frame["rating"], rcond=None)[0][-1]
        assert drift_of(frame).common.value == pytest.approx(slope, abs=1e-7), seed
        assert all(np.isfinite(each.value or 0.0) for each in by_tenth(Panel.from_frame(frame), order))


def test_a_slope_that_is_no_number_is_neither_found_nor_taken_out() -> None:
    found = drift_of(world(np.random.default_rng(6), 0.8, 0.3))
    assert found.helps
    broken = replace(found, common=Estimate(np.nan, np.nan, np.nan), p=0.0)
    assert not broken.is_found and not broken.helps


@pytest.mark.slow
@pytest.mark.parametrize("spread", [0.0, 0.5])
def test_the_slope_is_found_and_its_interval_holds_it_as_often_as_it_says(spread: float) -> None:
    rng = np.random.default_rng(3)
    found = [drift_of(world(rng, 0.4, spread)) for _ in range(60)]
    values = np.array([each.common.value for each in found])
    assert abs(values.mean() + 0.4) < 3 * values.std() / np.sqrt(60)
    # 57 of 60 are expected; fewer than 51 come once in 200 runs
    assert sum(each.common.low <= -0.4 <= each.common.high for each in found) >= 51
    spreads = np.array([each.spread for each in found])
    assert abs(spreads.mean() - spread) < 0.12  # the moments' root is cut off at 0, and bent below its mean


@pytest.mark.slow
def test_where_nothing_drifts_nothing_is_said_or_taken_out_beyond_chance() -> None:
    rng = np.random.default_rng(4)
    found = [drift_of(world(rng)) for _ in range(100)]
    # 5 % by the common slope and 1 % by the spread; more than 12 of 100 come once in 100 runs
    assert sum(each.is_found for each in found) <= 12
    assert sum(each.helps for each in found) <= 12


@pytest.mark.slow
def test_taking_drift_out_brings_judgments_nearer_to_the_truth_and_does_no_harm_without_it() -> None:
    rng = np.random.default_rng(5)
    ratios = {}
    for falls, spread in ((0.0, 0.0), (0.5, 0.5), (0.0, 1.0)):
        errors = []
        for _ in range(12):
            frame = world(rng, falls, spread)
            truth = frame.groupby("result_id")["truth"].first()
            row = []
            for how in ("keep", "remove"):
                judged = calibrate(on_scale(frame), CalibrationOptions(drift=how)).judgments.frame  # type: ignore[arg-type]
                apart = judged["judgment"].to_numpy() - truth[judged["result_id"]].to_numpy()
                row.append(float(np.var(apart)))
            errors.append(row)
        keep, remove = np.mean(errors, axis=0)
        ratios[falls, spread] = remove / keep
    assert ratios[0.0, 0.0] < 1.01
    assert ratios[0.5, 0.5] < 0.98 and ratios[0.0, 1.0] < 0.98


def test_ratings_are_kept_as_they_are_unless_it_is_asked_for_and_a_line_says_what_was_done() -> None:
    frame = world(np.random.default_rng(6), 0.8, 0.3)
    kept = calibrate(on_scale(frame), CalibrationOptions("mean"))
    freed = calibrate(on_scale(frame), CalibrationOptions("mean", drift="remove"))
    without = calibrate(on_scale(frame.drop(columns="position")), CalibrationOptions("mean"))
    assert kept.calibrated.tolist() == without.calibrated.tolist()
    (said,) = [note for note in notes_on(kept) if "first to last" in note]
    assert said.startswith("ratings fall by 0.") and said.endswith("left in (drift keep, not remove)")
    assert any(note.startswith("drift over the session was taken out") for note in notes_on(freed))
    assert freed.panel.rating.tolist() == kept.panel.rating.tolist()
    shift = freed.fitted_to.rating - freed.panel.rating
    assert np.bincount(freed.panel.rater, shift) == pytest.approx(np.zeros(RATERS), abs=1e-9)
    assert not any("first to last" in note for note in notes_on(without))
    asked = calibrate(on_scale(frame.drop(columns="position")), CalibrationOptions("mean", drift="remove"))
    assert any("was not taken out: 3 raters with 20" in note for note in notes_on(asked))


def test_where_nothing_is_gained_or_the_method_takes_categories_a_line_says_that_nothing_was_taken_out() -> None:
    found = drift_of(world(np.random.default_rng(60)))  # one of the few in which chance looks like drift
    assert found.is_found and not found.helps
    assert "--drift" not in (drift_note(found, "keep", 4) or "") and "farther" in (drift_note(found, "keep", 4) or "")
    assert "as held-out ratings come no nearer" in (drift_note(found, "remove", 4) or "")
    drift = drift_of(world(np.random.default_rng(8)))
    assert not drift.is_found and drift_note(drift, "keep", 4) is None
    assert "as none is seen beyond chance" in (drift_note(drift, "remove", 4) or "")
    assert "takes ratings as categories" in (drift_note(drift, "remove", 4, in_values=False) or "")


def test_order_is_that_of_pages_else_of_time_and_ties_share_their_place() -> None:
    frame = pd.DataFrame({"rater_id": list("aaab"), "rated_at": ["2026-01-01T10:00:00", "2026-01-01T09:00:00", "", ""]})
    order = session_order(frame)
    assert order[:2].tolist() == [1.0, 0.0] and np.isnan(order[2:]).all()
    pages = frame.assign(position=[2, 2, 1, 1])
    assert session_order(pages)[:3].tolist() == [0.75, 0.75, 0.0]
    assert np.isnan(session_order(frame[["rater_id"]])).all()


def test_tenths_of_the_session_fall_as_the_slope_does() -> None:
    frame = world(np.random.default_rng(8), 1.0, base=0)
    tenths = [each.value for each in by_tenth(Panel.from_frame(frame), session_order(frame))]
    # 72 ratings a tenth of noise .5, held against others as noisy: standard error .1; from the middle of
    # the first tenth to that of the last
    assert tenths[0] is not None and tenths[-1] is not None
    assert tenths[0] - tenths[-1] == pytest.approx(0.9, abs=0.2)
