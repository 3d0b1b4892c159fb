"""Raters who do not look: who they are, that they are named, and that they decide nothing unless it is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from relstudy.calibration.averaging import make_judgments
from relstudy.calibration.methods.linear import none
from relstudy.calibration.options import CalibrationOptions
from relstudy.calibration.panel import Panel
from relstudy.calibration.pipeline import calibrate, notes_on
from relstudy.calibration.rater_noise import RaterNoise
from relstudy.calibration.rater_profiles import chance_of_care
from relstudy.calibration.tables.pair_ratings import PairRatings
from relstudy.calibration.tables.ratings import Ratings, check_ratings
from relstudy.calibration.tables.study_tables import read_study_tables
from relstudy.common.tables.checked_table import Checked

pytestmark = pytest.mark.slow

Way = Literal["keep", "weigh", "drop"]
WAYS: tuple[Way, ...] = ("keep", "weigh", "drop")
HONEST = [f"honest {number}" for number in range(8)]


def study(seed: int, odd: dict[str, str], pairs: int = 120, each: int = 60) -> pd.DataFrame:
    """Ratings of eight honest raters and of odd ones, each of `each` pairs at random; their true values beside them."""
    rng = np.random.default_rng(seed)
    truth = 1 + 4 * rng.beta(0.6, 1.4, pairs)
    frames = []
    for rater in [*HONEST, *odd]:
        seen = np.sort(rng.choice(pairs, each, replace=False))
        kind = odd.get(rater)
        given = np.clip(np.round(truth[seen] + 0.6 * rng.standard_normal(each)), 1, 5)
        if kind == "random":
            given = rng.integers(1, 6, each).astype(float)
        elif kind == "constant":
            given = np.full(each, 4.0)
        elif kind == "alternating":
            given = np.where(np.arange(each) % 2 == 0, 1.0, 5.0)
        frames.append(
            pd.DataFrame(
                {"rater_id": rater, "query_id": "q", "result_id": [f"r{p}" for p in seen], "rating": given}
            ).assign(truth=truth[seen])
        )
    return pd.concat(frames, ignore_index=True)


def suspects(frame: pd.DataFrame) -> set[str]:
    panel = Panel.from_frame(frame)
    return set(panel.raters[chance_of_care(panel, none(panel)) < 0.5])


@pytest.mark.parametrize("kind", ["random", "constant", "alternating"])
def test_who_rates_carelessly_is_found(kind: str) -> None:
    found = [suspects(study(seed, {"one": kind, "two": kind})) for seed in range(20)]
    # sixty ratings: 95 % of a test of one side; 20 studies of two
    assert sum(len(each & {"one", "two"}) for each in found) >= 34


def test_honest_raters_of_few_pairs_are_not_taken_for_careless_ones() -> None:
    found = [suspects(study(seed, {}, pairs=24, each=12)) for seed in range(20)]
    # 160 honest raters; both tests have to err for each
    assert sum(map(len, found)) <= 5


def test_a_panel_that_agrees_on_nothing_has_no_careless_raters() -> None:
    frame = study(5, {})
    frame["rating"] = np.random.default_rng(5).integers(1, 6, len(frame)).astype(float)
    assert suspects(frame) == set()


def chance_by_mixture(rating: np.ndarray, care: np.ndarray) -> np.ndarray:
    """The chance of each rater (a row) to look, where all rate all pairs and others count as far as they look."""
    others = [np.delete(care, rater) @ np.delete(rating, rater, axis=0) for rater in range(len(rating))]
    agreement = [np.corrcoef(own, mean)[0, 1] for own, mean in zip(rating, others, strict=True)]
    z, error = np.arctanh(np.maximum(agreement, 0)), 1 / (rating.shape[1] - 3)
    mean = np.average(z, weights=care)
    between = np.clip(np.average((z - mean) ** 2 - error, weights=care), (mean / 4) ** 2, (mean / 3) ** 2)
    share = ((1 - care).sum() + 1) / (len(care) + 6)
    looks = (1 - share) * stats.norm.pdf(z, mean, np.sqrt(between + error))
    not_so = share * stats.norm.pdf(z, 0, np.sqrt(error))
    return np.where(z < mean, looks / (looks + not_so), 1.0)


@pytest.mark.parametrize(("honest", "seed"), [(2, 46), (8, 25)], ids=["three raters", "nine raters"])
def test_the_chance_to_have_looked_is_that_of_two_normal_distributions_of_agreement(honest: int, seed: int) -> None:
    frame = study(seed, {"one": "random"}, pairs=24, each=24)
    panel = Panel.from_frame(frame[frame["rater_id"].isin([*HONEST[:honest], "one"])])
    care = chance_of_care(panel, none(panel))
    assert 0.2 < care[-1] < 0.6
    assert care == pytest.approx(chance_by_mixture(panel.rating.reshape(honest + 1, 24), care), abs=0.01)


def read(frame: pd.DataFrame) -> Ratings:
    return check_ratings(Checked(frame.drop(columns="truth"), "ratings.csv"))


def test_careless_raters_are_named_and_decide_nothing_unless_they_are_to_be_kept() -> None:
    frame = study(3, {"one": "random", "two": "constant"})
    kept, weighed, dropped = (calibrate(read(frame), CalibrationOptions(careless=how)) for how in WAYS)
    for result, said in ((kept, "their ratings count like others"), (weighed, "their ratings count for nothing")):
        assert any("2 raters (one and two) show no sign of agreement" in n and said in n for n in notes_on(result))
    assert calibrate(read(frame)).judgments.frame.equals(weighed.judgments.frame)
    assert set(dropped.raters["rater_id"]) == set(HONEST)
    assert any("120 ratings of 2 raters" in note and "left out, as stated" in note for note in notes_on(dropped))
    truth = frame.groupby("result_id")["truth"].first()
    error = [
        float(np.mean(np.abs(each.frame["relevant_share"] - (truth[each.frame["result_id"]] > 3.5).to_numpy())))
        for each in (kept.judgments, weighed.judgments, dropped.judgments)
    ]
    assert error[1] < error[0] and error[2] < error[0]
    raters = weighed.raters.set_index("rater_id")
    assert (raters.loc[["one", "two"], "weight"] == 0).all() and (raters.loc[HONEST, "care"] > 0.9).all()
    table = weighed.calibrated_ratings()
    assert table.loc[table["rater_id"].isin(["one", "two"]), "calibrated"].isna().all()


def test_who_may_not_have_looked_counts_by_the_chance_to_have_looked() -> None:
    frame = pd.DataFrame(
        {"rater_id": list("abab"), "query_id": "q", "result_id": list("xxyy"), "rating": [5.0, 1, 1, 5]}
    )
    panel = Panel.from_frame(frame, 1.0, 5.0)
    noise = RaterNoise(np.ones(2), np.zeros(2), np.ones(2), 0.0).with_care(np.array([1.0, 0.6]))
    judgments = make_judgments(panel, panel.rating, noise=noise)
    assert judgments.frame["relevant_share"].tolist() == pytest.approx([1 / 1.6, 0.6 / 1.6])
    assert judgments.frame["judgment"].tolist() == pytest.approx([(5 + 0.6) / 1.6, (1 + 3.0) / 1.6])
    beside = PairRatings.of(judgments.ratings, judgments.frame)
    assert beside.share_above(3.5, 2).tolist() == pytest.approx([1 / 1.6, 0.6 / 1.6])
    assert PairRatings.from_json(beside.as_json()).share_above(3.5, 2).tolist() == pytest.approx([1 / 1.6, 0.6 / 1.6])


def test_a_pair_that_only_careless_raters_rated_is_not_judged_and_not_undecided() -> None:
    frame = study(3, {"one": "random", "two": "constant"})
    alone = frame[frame["rater_id"] == "one"].iloc[:3].assign(result_id=["only 0", "only 1", "only 2"])
    result = calibrate(read(pd.concat([frame, alone], ignore_index=True)))
    assert not result.judgments.frame["result_id"].str.startswith("only").any()
    assert result.counted["rater_id"].isin(HONEST).all()


@pytest.mark.parametrize("how", WAYS)
def test_what_there_would_be_otherwise_travels_with_the_judgments(
    how: Literal["keep", "weigh", "drop"], tmp_path: Path
) -> None:
    result = calibrate(read(study(3, {"one": "random"})), CalibrationOptions(careless=how))
    result.write(tmp_path)
    found = read_study_tables(tmp_path / "judgments.csv").judgments
    assert found.ratings is not None
    assert found.careless is not None and (found.careless.raters, found.careless.how) == (("one",), how)
    other = calibrate(
        read(study(3, {"one": "random"})), CalibrationOptions(careless="weigh" if how == "keep" else "keep")
    )
    names = ["judgment", "relevant_share"]
    pd.testing.assert_frame_equal(found.careless.otherwise.frame[names], other.judgments.frame[names])
    clean = calibrate(read(study(1, {})))
    clean.write(tmp_path)
    assert not (tmp_path / "judgments-careless.csv").exists()
    assert ["judgments-careless.csv" in each.files() for each in (result, clean)] == [True, False]


def test_what_was_written_for_other_judgments_has_no_part(tmp_path: Path) -> None:
    calibrate(read(study(3, {"one": "random"}))).write(tmp_path)
    beside = (tmp_path / "judgments-careless.csv").read_text()
    calibrate(read(study(1, {}).assign(query_id="another"))).write(tmp_path)
    (tmp_path / "judgments-careless.csv").write_text(beside)
    found = read_study_tables(tmp_path / "judgments.csv").judgments
    assert found.careless is None
    assert any("judgments-careless.csv: this was not written for these judgments" in note for note in found.notes)


def test_where_nobody_is_careless_all_three_ways_are_one() -> None:
    kept, *others = (calibrate(read(study(1, {})), CalibrationOptions(careless=how)) for how in WAYS)
    for each in others:
        pd.testing.assert_frame_equal(kept.judgments.frame, each.judgments.frame)
        assert notes_on(kept) == notes_on(each)
        assert each.judgments.careless is None


def with_yes_sayers(seed: int) -> pd.DataFrame:
    """Honest raters, but the first two give a 5 every other time."""
    frame = study(seed, {}, pairs=150, each=120)
    of_yes = frame["rater_id"].isin(HONEST[:2]) & (np.random.default_rng(seed).random(len(frame)) < 0.5)
    return frame.assign(rating=frame["rating"].mask(of_yes, 5.0))


@pytest.mark.parametrize("seed", [0, 2, 3])
def test_yes_sayers_count_are_named_and_can_be_dropped(seed: int) -> None:
    ratings = with_yes_sayers(seed)
    result = calibrate(read(ratings), CalibrationOptions("pooled", force=True))
    named = result.judgments.careless
    assert named is not None and named.how == "little" and {*named.raters} <= {*HONEST[:2]}
    assert any("little with the others" in note for note in notes_on(result))
    dropped = calibrate(read(ratings), CalibrationOptions("pooled", force=True, careless="drop"))
    assert any("with little agreement" in note and "left out" in note for note in notes_on(dropped))
    without = ratings[~ratings["rater_id"].isin(named.raters)].reset_index(drop=True)
    for found, how in ((dropped.judgments, "keep"), (named.otherwise, "weigh")):
        alone = calibrate(read(without), CalibrationOptions("pooled", force=True, careless=how)).judgments.frame
        one, other = (each.set_index("result_id")["judgment"] for each in (found.frame, alone))
        # pairs that all raters rated are another base block in the smaller table, where the fit starts elsewhere
        pd.testing.assert_series_equal(one.sort_index(), other.sort_index(), atol=1e-3)


def test_honest_raters_do_not_agree_little() -> None:
    for seed in range(10):
        assert calibrate(read(study(seed, {})), CalibrationOptions("pooled", force=True)).judgments.careless is None
