"""Drift over the session: found where it is, taken out where that helps, and neither said nor taken out elsewhere."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from evidence.simulations.careless import INDICES
from evidence.simulations.drift import biases, nearness
from relstudy.calibration.drift import Drift, by_tenth, drift_note, session_drift
from relstudy.calibration.options import CalibrationOptions
from relstudy.calibration.panel import Panel
from relstudy.calibration.pipeline import calibrate, notes_on
from relstudy.calibration.tables.ratings import Ratings, check_ratings
from relstudy.calibration.tables.session import session_order
from relstudy.common.results.estimates import Estimate
from relstudy.common.tables.checked_table import Checked

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
    frame = world(np.random.default_rng(1), 0.3, base=0).assign(order=lambda rows: session_order(rows))
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
    nan, value = np.nan, found.common.value
    for broken in (
        replace(found, common=Estimate(nan, nan, nan), p=0.0),
        replace(found, common=Estimate(value, nan, nan)),
        replace(found, common=Estimate(value, -np.inf, np.inf), p=0.0),
        replace(found, p=nan),
        replace(found, shift=found.shift + nan),
    ):
        assert not broken.is_found and not broken.helps
    assert not replace(found, gain=nan).helps and not replace(found, gain=np.inf, gain_error=np.inf).helps


@pytest.mark.real_data
@pytest.mark.parametrize("only_common", [False, True])
def test_of_99_raters_of_films_drift_is_a_number_in_orders_of_their_own_and_none_in_the_table_s(
    shared_data: Path, only_common: bool
) -> None:
    """People's ratings in made-up orders; the table itself names films in one order for all."""
    rated = pd.read_csv(shared_data / "agh_video_99raters" / "ratings.csv", dtype={"rater_id": str})
    rated = rated[rated["in_common_set"] | (not only_common)].drop(columns="in_common_set").reset_index(drop=True)
    random = np.random.default_rng(8)
    in_table = rated.assign(position=rated.groupby("rater_id").cumcount())
    own = in_table.assign(position=in_table.groupby("rater_id")["position"].transform(random.permutation))
    drift = drift_of(own)
    assert np.isfinite([drift.common.value, drift.common.low, drift.common.high, drift.p, drift.spread]).all()
    # an order that nobody had: a slope of as much as a tenth of a step comes by chance once in a thousand
    assert not drift.is_found and abs(drift.common.value or 1) < 0.1
    assert session_drift(Panel.from_frame(in_table), session_order(in_table)) is None
    assert all(each.value is None for each in by_tenth(Panel.from_frame(in_table), session_order(in_table)))
    given = in_table.astype({"query_id": str, "result_id": str}).drop(columns="video")
    asked = calibrate(check_ratings(Checked(given, "ratings.csv")), CalibrationOptions("mean", drift="remove"))
    (said,) = [note for note in notes_on(asked) if "drift" in note]
    assert said.endswith("ratings of pairs that others rated, in an order of their own, are needed")
    assert np.isfinite(asked.judgments.frame["judgment"].astype(float)).all()


def in_shape(random: np.random.Generator, shape: str, base: str) -> tuple[np.ndarray, np.ndarray]:
    """Of three studies of 12 raters, with drift kept and removed: the mean variance of judgments about pairs' worths,
    and how far the base block, which comes first, is too high."""
    rows = [nearness(random, shape, base) for _ in range(3)]
    return np.mean([each[0] for each in rows], axis=0), np.mean([each[1] for each in rows], axis=0)


@pytest.mark.slow
@pytest.mark.parametrize("base", ["one order", "own order"])
@pytest.mark.parametrize("shape", ["line", "parabola", "early step", "late step"])
def test_what_the_base_block_is_worth_is_not_moved_by_a_line_that_later_pairs_have_drawn(shape: str, base: str) -> None:
    """Whether early ratings are high by drift or by their pairs nobody can tell; a line through the rest moved a base
    block by .35 of a step the wrong way under a parabola, and judgments came no nearer but farther."""
    (kept, removed), (high, still) = in_shape(np.random.default_rng([5, len(shape)]), shape, base)
    # taking drift out leaves each rater's mean in either block; what calibration makes of it moves little
    assert still == pytest.approx(high, abs=0.03)
    assert removed < 1.01 * kept


def test_pairs_that_come_in_one_order_for_all_say_nothing_of_drift_and_stay_as_they_are() -> None:
    frame = world(np.random.default_rng(6), 0.8, 0.3, base=15)
    drift, later = drift_of(frame), frame["position"] > 15
    assert drift.is_found and (drift.shift[~later] == 0).all()
    # raters' first pairs after the block, too, as hardly any is late elsewhere
    assert (drift.shift[frame["position"] > 18] != 0).all()
    order = session_order(frame)
    early = by_tenth(Panel.from_frame(frame), order)
    assert [each.value is None for each in early] == [True] * 2 + [False] * 8 and early[0].reason is not None
    alone = drift_of(frame[later].assign(position=frame["position"] - 16))
    # scaled to what is left of the session; three places fewer of 60 go into the first
    assert drift.common.value == pytest.approx(alone.common.value * 59 / 44, abs=0.2)


@pytest.mark.slow
def test_raters_of_unequal_noise_are_not_said_to_differ_in_drift_beyond_chance() -> None:
    """With one variance for all, chances below .01 came in 9 % of tables in which one of 12 rates far worse."""
    random, chances = np.random.default_rng(9), []
    noise = np.where(np.arange(12) == 0, 2.5, 0.5)[:, None]
    for _ in range(150):
        order = random.permuted(np.tile(np.arange(40), (12, 1)), axis=1)
        value = random.normal(size=40) + noise * random.normal(size=(12, 40))
        rows = {"rater_id": np.repeat(range(12), 40), "pair_id": np.tile(range(40), 12)}
        frame = pd.DataFrame({**rows, "position": order.ravel(), "rating": value.ravel()})
        chances.append(drift_of(frame).p)
    # more than six below .01, or 17 below .05, come once in 500 runs
    assert np.sum(np.array(chances) < 0.01) <= 6 and np.sum(np.array(chances) < 0.05) <= 17


def test_raters_who_were_set_aside_say_nothing_of_the_others_drift() -> None:
    frame = on_scale(world(np.random.default_rng(6), 0.8, 0.3)).frame
    aside = frame[frame["rater_id"].isin(["r0", "r1"])].assign(rating=lambda rows: 1 + 4 * (rows["position"] > 30))
    aside = aside.assign(rater_id="x" + aside["rater_id"], set_aside=1)
    asked = CalibrationOptions("mean", drift="remove")
    columns = ["rater_id", "query_id", "result_id", "rating", "position", "set_aside"]
    both = pd.concat([frame.assign(set_aside=0), aside], ignore_index=True)[columns]
    found, alone = (
        calibrate(check_ratings(Checked(each, "ratings.csv")), asked) for each in (both, frame[columns[:-1]])
    )
    assert found.told_of_drift == alone.told_of_drift and found.drift_is_out
    assert found.judgments.frame["judgment"].tolist() == alone.judgments.frame["judgment"].tolist()


@pytest.mark.slow
def test_a_good_system_s_rank_is_no_farther_from_the_truth_where_drift_is_taken_out() -> None:
    """docs/evidence has the table; raters' slopes have a standard deviation of a point, over 3 studies."""
    found = biases(3, 1.0)
    kept, removed = (each[:, INDICES.index("normalised_rank"), :2, 0] for each in found.values())
    assert not np.array_equal(kept, removed)
    assert np.abs(removed.mean(axis=0)).max() < np.abs(kept.mean(axis=0)).max() + 0.01  # 0.02 is a study's own error


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
        for _ in range(6):
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
    found = drift_of(world(np.random.default_rng(79)))  # one of the few in which chance looks like drift
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
    found = by_tenth(Panel.from_frame(frame), session_order(frame))
    tenths = [each.value for each in found]
    # 72 ratings a tenth of noise .5, held against others as noisy: standard error .1; from the middle of
    # the first tenth to that of the last
    assert tenths[0] is not None and tenths[-1] is not None
    assert tenths[0] - tenths[-1] == pytest.approx(0.9, abs=0.2)
    # Student's t of 12 raters takes 2.2 of them to either side
    assert all((each.high or 0) - (each.low or 0) == pytest.approx(0.44, rel=0.6) for each in found)
