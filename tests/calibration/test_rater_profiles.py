"""Profiles and flags of raters; the test of random hand-out; figure 5.2."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2

from relstudy.calibration.choice import check_hand_out, choose_method
from relstudy.calibration.methods.by_name import fit_lines
from relstudy.calibration.methods.linear import none
from relstudy.calibration.panel import Panel
from relstudy.calibration.plots import binary_against_graded, matching_fractions
from relstudy.calibration.randomisation_test import Balance, balance, permutation_p
from relstudy.calibration.rater_profiles import agreement_with_others, rater_profiles
from relstudy.calibration.simulation import simulate_panel
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.meaning.pair_assignment import HandOut


def odd_panel() -> tuple[Panel, np.ndarray]:
    """Eleven ordinary raters, one who was undecided thrice, and six odd ones, on 30 base pairs; seconds per rating."""
    simulated = simulate_panel(11, 30, 0, seed=2)
    good = pd.DataFrame(
        {"rater_id": simulated.panel.rater, "pair_id": simulated.panel.pair, "rating": simulated.panel.rating}
    )
    quality = np.clip(np.round(3 + simulated.quality), 1, 5)
    rng = np.random.default_rng(0)
    odd = {
        "constant": np.full(30, 3.0),
        "reversed": 6 - quality,
        "random": rng.integers(1, 6, 30).astype(float),
        "fast": quality,
        "incomplete": np.where(np.arange(30) < 12, np.nan, quality),
        "careful": np.where(np.arange(30) < 3, np.nan, quality),
        "hesitant": np.where(np.arange(30) < 20, np.nan, quality),
    }
    frames = [good.assign(rater_id="r" + good["rater_id"].astype(str))]
    frames += [pd.DataFrame({"rater_id": name, "pair_id": range(30), "rating": v}) for name, v in odd.items()]
    frame = pd.concat(frames, ignore_index=True)
    frame = frame[~((frame["rater_id"] == "incomplete") & frame["rating"].isna())].assign(base=True)
    seconds = np.where(frame["rater_id"] == "fast", 1.0, 6.0)
    return Panel.from_frame(frame), seconds


def test_each_flag_is_raised_for_the_rater_who_earns_it_and_for_no_other() -> None:
    panel, seconds = odd_panel()
    flags = rater_profiles(panel, none(panel), seconds).set_index("rater_id")["flags"]
    assert flags["constant"] == "constant; constant on base"
    assert flags["reversed"] == "reversed; BT.500"
    assert flags["random"] == "disagrees; BT.500"  # who clicks at random is far out on both sides
    assert flags["fast"] == "too fast"
    assert flags["incomplete"] == "base block incomplete"
    assert flags["hesitant"] == "base block incomplete; often undecided"
    assert (flags[["careful", *(f"r{i}" for i in range(11))]] == "").all()


def test_missing_base_ratings_are_flagged() -> None:
    rows = [(r, p, v) for r in "abc" for p, v in (("p", 1), ("q", 3), ("s", 5))] + [("d", "p", 2), ("e", "u", 4)]
    frame = pd.DataFrame(rows, columns=["rater_id", "pair_id", "rating"])
    panel = Panel.from_frame(frame.assign(base=frame["pair_id"] != "u"))
    flags = rater_profiles(panel, fit_lines(panel, "zscore")).set_index("rater_id")["flags"]
    assert flags["d"] == "too few base ratings"
    assert flags["e"] == "no base ratings"


def test_agreement_is_the_correlation_with_the_mean_of_the_others() -> None:
    panel = simulate_panel(6, 12, 20, seed=3).panel
    agreement, n = agreement_with_others(panel)
    for code in range(6):
        by_rater, by_others = [], []
        for pair in panel.pair[panel.rater == code]:
            rows = panel.pair == pair
            if rows.sum() > 1:
                by_rater.append(panel.rating[rows & (panel.rater == code)][0])
                by_others.append(panel.rating[rows & (panel.rater != code)].mean())
        assert n[code] == len(by_rater)
        assert agreement[code] == pytest.approx(np.corrcoef(by_rater, by_others)[0, 1], abs=1e-12)


# Random hand-out


def test_a_test_that_only_decides_ends_early_and_decides_the_same() -> None:
    for kind in HandOut:
        for seed in range(6):
            panel = simulate_panel(12, 20, 40, handed_out=kind, seed=seed).panel
            whole, early = balance(panel), balance(panel, only_decides=True)
            assert whole.p is not None and early.p is not None
            assert (whole.p < 0.01) == (early.p < 0.01) and (whole.p >= 0.01 or whole.p == early.p)


@pytest.mark.slow
@pytest.mark.parametrize(("ratings_per_pair", "how"), [(1, "base"), (3, "others")])
def test_random_hand_out_passes_and_hand_out_by_worth_does_not(ratings_per_pair: int, how: str) -> None:
    p_values: dict[HandOut, list[float]] = {kind: [] for kind in HandOut}
    for kind, of_kind in p_values.items():
        for seed in range(20):
            test = balance(
                simulate_panel(20, 20, 40, ratings_per_pair=ratings_per_pair, handed_out=kind, seed=seed).panel
            )
            assert test.how == how
            assert test.p is not None
            of_kind.append(test.p)
    # At the 1 % level 20 random panels raise 0.2 alarms; three would be a wrong test.
    assert sum(p < 0.01 for p in p_values[HandOut.RANDOM]) <= 2
    assert all(p < 0.01 for p in p_values[HandOut.FIXED])


@pytest.mark.slow
def test_the_share_of_false_alarms_is_near_its_level() -> None:
    alarms = [(balance(simulate_panel(20, 20, 40, seed=1000 + seed).panel).p or 0) < 0.1 for seed in range(120)]
    # 10 %, and three standard errors of that share over 120 panels.
    assert np.mean(alarms) < 0.1 + 3 * np.sqrt(0.09 / 120)


def test_what_cannot_be_tested_says_why_and_the_choice_follows() -> None:
    complete = simulate_panel(5, 30, 0, seed=1).panel
    assert balance(complete).reason == "every pair is in the base block"
    assert choose_method(complete, None).method == "shrunk"
    loose = simulate_panel(8, 0, 60, ratings_per_pair=1, seed=1).panel
    assert balance(loose).reason == "there is no base block to compare with"
    assert choose_method(loose, HandOut.RANDOM).method == "pooled"
    assert choose_method(loose, HandOut.FIXED).method == "none"
    assert "there is no base block, and the raters share too few pairs" in choose_method(loose, None).why
    brief = simulate_panel(8, 7, 60, ratings_per_pair=1, seed=1).panel
    assert "7 base pairs are too few to test it on" in choose_method(brief, None).why
    short = simulate_panel(8, 2, 60, ratings_per_pair=1, seed=1).panel
    assert choose_method(short, None).method == "shrunk"
    assert choose_method(short, HandOut.RANDOM).method == "pooled"


@pytest.mark.parametrize("page", [1, 4])
def test_the_test_of_hand_out_says_the_same_whatever_the_order_of_rows(page: int) -> None:
    rng = np.random.default_rng(8)
    raters, pairs = np.arange(120) % 6, np.repeat(np.arange(60), 2)
    ids = {"rater_id": raters, "query_id": pairs // page, "result_id": pairs, "base": pairs < 12}
    frame = pd.DataFrame({**ids, "rating": rng.integers(1, 6, 120).astype(float)})
    said = balance(Panel.from_frame(frame))
    other = balance(Panel.from_frame(frame.sample(frac=1, random_state=3)))
    assert said.how == "others"
    assert other.p == said.p
    assert other.imbalance == pytest.approx(said.imbalance, abs=1e-9)  # sums in another order


def test_a_record_of_random_hand_out_takes_stronger_doubt_to_be_disbelieved(monkeypatch: pytest.MonkeyPatch) -> None:
    panel = simulate_panel(8, 20, 60, seed=1).panel
    for p, chosen in ((0.005, ("pooled", "crossed")), (0.00005, ("crossed", "crossed")), (0.02, ("pooled", "pooled"))):
        monkeypatch.setattr("relstudy.calibration.choice.balance", lambda _, p=p, **_more: Balance(p, 0.1, 8, "others"))
        assert (choose_method(panel, HandOut.RANDOM).method, choose_method(panel, None).method) == chosen
        for handed_out, method in zip((HandOut.RANDOM, None), chosen, strict=True):
            for asked in ("pooled", "ordinal"):
                if method == "pooled":
                    assert check_hand_out(panel, asked, handed_out).method == asked
                else:
                    with pytest.raises(RelstudyError, match=f"{asked} rests on .* do not look it"):
                        check_hand_out(panel, asked, handed_out)
            assert check_hand_out(panel, "crossed", handed_out).method == "crossed"


def test_without_a_base_block_raters_are_compared_where_that_makes_them_agree_better() -> None:
    lenient = simulate_panel(10, 0, 80, leniency=1.0, seed=3).panel
    assert choose_method(lenient, None).method in ("pooled", "crossed")
    assert "raters agree best after" in choose_method(lenient, None).why
    assert choose_method(lenient, HandOut.FIXED).method == "crossed"
    alike = simulate_panel(10, 0, 30, leniency=0.0, discrimination=0.0, noise=1.0, seed=11).panel
    assert "nothing helps" in choose_method(alike, HandOut.FIXED).why
    assert choose_method(alike, HandOut.FIXED).method == "none"


@pytest.mark.slow
def test_sorted_hand_out_is_found_out_without_a_base_block_too_and_a_record_of_random_is_not_believed() -> None:
    panel = simulate_panel(20, 0, 60, page=5, query_share=0.4, handed_out=HandOut.FIXED, seed=1).panel
    assert balance(panel).reason == "there is no base block to compare with"  # groups that share no pair
    sorted_by_worth = simulate_panel(20, 20, 60, handed_out=HandOut.FIXED, seed=1).panel
    assert (balance(sorted_by_worth).p or 0) < 1e-4
    assert choose_method(sorted_by_worth, HandOut.RANDOM).method == "crossed"


@pytest.mark.slow
@pytest.mark.parametrize("each", [1, 3])
def test_pages_of_one_query_dealt_at_random_pass_as_often_as_the_level_says(each: int) -> None:
    p = [
        balance(simulate_panel(30, 20, 60, ratings_per_pair=each, page=5, query_share=0.6, seed=500 + seed).panel).p
        or 0
        for seed in range(25)
    ]
    # 2.5 alarms at 10 % are expected of 25 panels; eight have a chance of .003. Pair by pair it was all of them.
    assert np.count_nonzero(np.array(p) < 0.1) < 8


def test_the_tail_of_a_permutation_test_goes_on_below_one_over_the_permutations() -> None:
    rng = np.random.default_rng(2)
    draws = rng.chisquare(12, 999)
    for value in (20.0, 35.0, 50.0):
        # The three moments of 999 draws place the tail within a factor of five down to 1e-6, as chi square has it.
        assert 0.2 < permutation_p(value, draws) / chi2.sf(value, 12) < 5
    assert permutation_p(0.0, draws) == 1.0


# Figure 5.2


def test_graded_ratings_are_met_with_the_binary_answers_to_the_same_pairs() -> None:
    pairs = {"query_id": ["q"] * 4, "result_id": list("wxyz")}
    graded = pd.DataFrame({**pairs, "rating": [1.0, 5.0, 5.0, 9.0]})
    binary = pd.DataFrame({**pairs, "rating": [0.0, 0.0, 1.0, 1.0]})
    table = matching_fractions(binary, graded)
    assert table[["rating", "n", "fraction"]].to_numpy().tolist() == [[1, 1, 0], [5, 2, 0.5], [9, 1, 1]]
    assert ((table["low"] <= table["fraction"]) & (table["fraction"] <= table["high"])).all()
    assert "Fraction of good matches" in binary_against_graded(binary, graded)
    with pytest.raises(RelstudyError, match="no pair has a rating on both scales"):
        binary_against_graded(binary.assign(query_id="other"), graded)
