"""The verdict on comparisons of every shape, each sentence read."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from relstudy.analysis.scoring.compared import INDICES
from relstudy.analysis.scoring.judged import Population
from relstudy.analysis.scoring.rater_draws import RaterPopulation
from relstudy.analysis.scoring.run import score_systems
from relstudy.analysis.verdict.facts import StudyFacts
from relstudy.analysis.verdict.standings import along_chains, standings
from relstudy.analysis.verdict.verdict import Verdict, verdict_of
from relstudy.calibration.judgments import Judgments
from relstudy.common.estimates import Estimate
from tests.analysis.made import tables
from tests.analysis.verdict.made_results import FEW, by_all, made

RANK, PRECISION, CORRELATION = "normalised_rank", "average_precision", "pearson"


def ranks(verdict: Verdict) -> dict[str, str]:
    return {name: verdict.standings.rank(name) for name in verdict.standings.names}


def test_nobody_is_told_apart() -> None:
    verdict = verdict_of(made("abc"))
    assert verdict.headline == "None of the three systems can be told apart from another."
    assert verdict.reasons[0] == "None of the three measures tells any two of them apart."
    assert ranks(verdict) == {"a": "1=", "b": "1=", "c": "1="}
    assert verdict.standings.leaders == []
    assert verdict.standings.runs == [(0, 2)]


def test_two_that_are_not_told_apart() -> None:
    verdict = verdict_of(made("ab"))
    assert verdict.headline == "a and b cannot be told apart."
    assert verdict.reasons[0] == "None of the three measures tells them apart."


def test_one_leads_by_every_measure() -> None:
    verdict = verdict_of(made("abc", [*by_all("a", "b"), *by_all("a", "c")]))
    assert verdict.headline == "a leads."
    assert verdict.reasons[0] == "The other two are clearly behind it by at least two of three measures."
    assert ranks(verdict) == {"a": "1", "b": "2=", "c": "2="}
    assert verdict.settling is None


def test_one_index_against_two_undecided_is_a_tie_and_says_which_to_take() -> None:
    wins = [("a", "b", RANK), *by_all("a", "c"), *by_all("b", "c")]
    verdict = verdict_of(made("abc", wins))
    assert verdict.headline == "a and b lead; if one must be chosen, a."
    assert verdict.reasons[0] == (
        "Two of three measures cannot tell them apart; by normalised rank a is ahead of b (it puts a good match above "
        "a poor one 90 times in 100, the other 77; difference 4 to 16)."
    )
    assert verdict.reasons[1] == "c is clearly behind both by at least two of three measures."
    assert ranks(verdict) == {"a": "1=", "b": "1=", "c": "3"}


def test_one_index_against_two_that_contradict_it_is_a_tie_without_a_choice() -> None:
    wins = [("a", "b", RANK), ("b", "a", PRECISION), ("b", "a", CORRELATION), *by_all("a", "c"), *by_all("b", "c")]
    verdict = verdict_of(made("abc", wins))
    assert verdict.headline == "a and b lead."
    assert verdict.reasons[0].startswith("The measures contradict one another: by correlation b is ahead of a (")
    assert "by normalised rank a is ahead of b" in verdict.reasons[0]
    assert ranks(verdict)["a"] == ranks(verdict)["b"] == "1="


def test_two_of_three_put_one_ahead() -> None:
    verdict = verdict_of(made("ab", [("b", "a", RANK), ("b", "a", PRECISION)]))
    assert verdict.headline == "b leads."
    assert verdict.reasons[0] == "a is clearly behind it by at least two of three measures."
    assert ranks(verdict) == {"b": "1", "a": "2"}


def test_a_circle_has_no_leader() -> None:
    verdict = verdict_of(made("abc", [*by_all("a", "b"), *by_all("b", "c"), *by_all("c", "a")]))
    assert verdict.headline == "No system leads: the measures put a, b and c ahead of one another in a circle."
    assert set(ranks(verdict).values()) == {"1="}


def test_a_circle_behind_a_leader_is_a_tie() -> None:
    circle = [*by_all("b", "c"), *by_all("c", "d"), *by_all("d", "b")]
    verdict = verdict_of(made("abcd", [*by_all("a", "b"), *by_all("a", "c"), *by_all("a", "d"), *circle]))
    assert verdict.headline == "a leads."
    assert ranks(verdict) == {"a": "1", "b": "2=", "c": "2=", "d": "2="}


def test_a_chain_ranks_what_no_comparison_of_two_alone_does() -> None:
    verdict = verdict_of(made("abc", [*by_all("a", "b"), *by_all("b", "c")]))
    assert ranks(verdict) == {"a": "1", "b": "2", "c": "3"}
    assert verdict.reasons[:2] == (
        "b is clearly behind it by at least two of three measures.",
        "c is not told apart from a directly, but clearly behind a system that is behind it.",
    )


def test_a_system_that_nothing_is_known_of_does_not_lead() -> None:
    verdict = verdict_of(made("abz", by_all("a", "b")))
    assert verdict.headline == "a leads."
    assert "z is neither clearly ahead of nor behind any system." in verdict.reasons
    assert ranks(verdict) == {"a": "1=", "b": "2", "z": "1="}


@pytest.mark.slow
def test_a_system_before_a_leader_leads_with_it_though_it_beats_nobody() -> None:
    verdict = verdict_of(made("abcd", [*by_all("a", "d"), *by_all("c", "d")]))
    assert verdict.headline == "a, b and c lead."
    assert verdict.reasons[:2] == (
        "None of the three measures tells any two of them apart.",
        "d is clearly behind at least one of them, though not all of them.",
    )


def test_one_system_is_measured_against_what_could_be_reached() -> None:
    alone = made("a", pearson={"a": Estimate(0.52, 0.46, 0.57)})
    assert verdict_of(alone).sentences() == [
        "a agrees with people at a correlation of 0.52 (0.46 to 0.57) over the whole collection."
    ]
    assert verdict_of(alone, StudyFacts(reachable=0.94)).headline == (
        "a agrees with people at a correlation of 0.52 (0.46 to 0.57) over the whole collection, where about 0.94 is "
        "the most that any system could reach."
    )
    assert ranks(verdict_of(alone)) == {"a": "1"}


@pytest.mark.parametrize(
    ("estimate", "told"),
    [
        (Estimate(0.05, -0.02, 0.12), "shows no agreement with people that chance could not explain"),
        (Estimate(-0.3, -0.4, -0.2), "runs against people's judgments"),
        (Estimate.missing("its scores are all equal"), "is not known: its scores are all equal"),
    ],
)
def test_a_leader_that_agrees_with_nobody_is_not_praised(estimate: Estimate, told: str) -> None:
    verdict = verdict_of(made("ab", by_all("a", "b"), pearson={"a": estimate}), StudyFacts(reachable=0.9))
    assert told in verdict.quality[0]
    assert "0.90" not in verdict.quality[0]


def test_a_single_measure_is_named_as_such() -> None:
    result = made("abc", [("a", "b", CORRELATION), ("a", "c", CORRELATION)], indices=[CORRELATION])
    verdict = verdict_of(result)
    assert verdict.headline == "a leads."
    assert verdict.reasons[0] == "The other two are clearly behind it by correlation, the one measure there is."
    tied = verdict_of(made("ab", indices=[CORRELATION]))
    assert tied.reasons[0] == "The one measure there is, correlation, does not tell them apart."


def test_without_any_comparison_nothing_is_claimed() -> None:
    verdict = verdict_of(made("ab", indices=[]))
    assert verdict.headline == "The two systems cannot be compared: the pairs have no weights."
    assert ranks(verdict) == {"a": "–", "b": "–"}
    assert verdict.settling is None


@pytest.mark.slow
def test_two_hundred_systems_have_few_sentences() -> None:
    names = [f"s{k:03d}" for k in range(200)]
    wins = [win for a, b in combinations(range(200), 2) if b - a > 60 for win in by_all(names[a], names[b])]
    verdict = verdict_of(made(names, wins))
    assert verdict.headline == "s000, s001, s002 and 58 more lead."
    assert len(verdict.sentences()) < 10
    assert max(len(text) for text in verdict.sentences()) < 300
    assert verdict.standings.ranks["s199"] == 140
    assert verdict.standings.runs[0] == (0, 60)


def test_what_would_settle_a_tie_and_at_what_price() -> None:
    settle = verdict_of(made("ab"), StudyFacts(ratings=360)).settling
    assert settle is not None and settle.queries is not None
    # difference 0.02, half-width 0.05 by t with 11 degrees of freedom from 12 queries
    error = 0.05 / 2.201
    wanted = stats.t.ppf(0.975, settle.queries - 1) + stats.t.ppf(0.8, settle.queries - 1)
    assert settle.queries == pytest.approx(12 * (wanted * error / 0.02) ** 2, abs=1)
    assert settle.ratings == pytest.approx(30 * settle.queries, abs=30)
    assert settle.sentence() == (
        "If a and b differ as much as it looks (a difference in correlation of 0.02), a study of about 120 queries "
        "like these would find it in 8 of 10 cases, for 3,700 ratings."
    )
    more_than_there_are = verdict_of(made("ab"), StudyFacts(ratings=360, queries=40)).settling
    assert more_than_there_are is not None
    assert more_than_there_are.sentence().endswith("in 8 of 10 cases; the collection has 40.")


def test_an_interval_of_a_finite_collection_is_taken_back_to_any_queries() -> None:
    result = made("ab")
    corrected = replace(result, population=Population(True, 0.75, 0.75))
    wide, short = verdict_of(result).settling, verdict_of(corrected).settling
    assert wide is not None and short is not None and wide.queries is not None and short.queries is not None
    assert short.queries == pytest.approx(4 * wide.queries, rel=0.02)


def test_no_difference_at_all_is_not_worth_more_ratings() -> None:
    result = made("ab")
    none = [replace(each, difference=Estimate(1e-7, -0.05, 0.05)) for each in result.comparisons]
    settle = verdict_of(replace(result, comparisons=tuple(none))).settling
    assert settle is not None and settle.queries is None
    assert settle.sentence().endswith("more ratings will not settle which is better.")


@pytest.mark.slow
def test_a_real_result_has_the_same_verdict_whatever_the_order_of_its_systems() -> None:
    judgments, scores = tables(systems=(0.9, 0.88, 0.3, 0.1), queries=40)
    turned = pd.concat([rows for _, rows in reversed(list(scores.groupby("system")))])
    given, other = (verdict_of(score_systems(judgments, each, options=FEW)) for each in (scores, turned))
    assert str(given) == str(other)
    assert ranks(given) == ranks(other)
    assert given.standings.leaders[0] in {"s0", "s1"}
    assert given.within is not None and given.within.queries == 40


def test_how_good_a_system_could_be_follows_from_the_judgments_errors() -> None:
    judgments, scores = tables(systems=(0.9,), queries=20)
    result = score_systems(judgments, scores, options=FEW)
    noisy = Judgments.of(judgments.assign(standard_error=0.5, n_ratings=2))
    facts = StudyFacts.of(noisy, result)
    weight = result.weight / result.weight.sum()
    variance = weight @ (result.judgment - weight @ result.judgment) ** 2 / (1 - weight @ weight)
    assert facts.reachable == pytest.approx(np.sqrt(1 - 0.25 / variance))
    assert facts.ratings == 600
    assert facts.queries is None
    assert StudyFacts.of(Judgments.of(judgments), result) == StudyFacts()


BEATS = st.lists(st.booleans(), min_size=15, max_size=15)


@pytest.mark.slow
@given(BEATS, BEATS)
@settings(max_examples=60, deadline=None)
def test_whoever_is_ahead_has_the_better_rank(better: list[bool], other_way: list[bool]) -> None:
    names = "abcdef"
    pairs = list(combinations(names, 2))
    wins = [win for (a, b), on in zip(pairs, better, strict=True) if on for win in by_all(a, b)]
    wins += [
        win
        for (a, b), on, taken in zip(pairs, other_way, better, strict=True)
        if on and not taken
        for win in by_all(b, a)
    ]
    ranked = standings(made(names, wins))
    for a in names:
        for b in names:
            first, second = ranked.ranks[a], ranked.ranks[b]
            assert first is not None and second is not None
            if ranked.ahead(a, b):
                assert first < second
            if ranked.beats(a, b):
                assert first <= second  # equal only in a circle
    assert min(rank for rank in ranked.ranks.values() if rank is not None) == 1


def test_chains_are_followed_to_their_ends() -> None:
    random = np.random.default_rng(0)
    step = random.random((12, 12)) < 0.12
    power, reached = step.copy(), step.copy()
    for _ in range(12):
        power = (power.astype(int) @ step.astype(int)) > 0
        reached |= power
    assert np.array_equal(along_chains(step), reached)


def test_the_json_holds_every_rank_and_every_sentence() -> None:
    content = verdict_of(made("abc", by_all("a", "b"))).as_json()
    assert [entry["shown"] for entry in content["ranks"]] == ["1=", "1=", "2"] or content["leaders"] == ["a"]
    assert content["ranks"][0]["ahead_of"] == ["b"]
    assert set(content) >= {"headline", "reasons", "quality", "unknown", "settling", "within_query"}
    assert all(index in INDICES for index in [content["settling"]["index"]])


def test_where_raters_vary_too_they_are_needed_in_proportion_and_are_fewer_than_queries() -> None:
    result = made("ab")
    by_raters = tuple(replace(each, freedom=3.0) for each in result.comparisons)
    drawn = replace(result, raters=RaterPopulation(4), comparisons=by_raters)
    alone, any_like_these = verdict_of(result).settling, verdict_of(drawn).settling
    assert alone is not None and any_like_these is not None and alone.queries is not None
    # the same interval from 3 degrees of freedom and not 11 has a smaller standard error
    error = 0.05 / stats.t.ppf(0.975, 3)
    assert any_like_these.queries is not None
    freedom = any_like_these.queries * 4 / 12 - 1
    wanted = stats.t.ppf(0.975, freedom) + stats.t.ppf(0.8, freedom)
    assert any_like_these.queries == pytest.approx(12 * (wanted * error / 0.02) ** 2, abs=1)
    assert "queries like these, with raters in proportion, would find it" in any_like_these.sentence()
    assert "in proportion" not in alone.sentence()


def test_few_raters_are_named_as_the_reason_why_ranges_for_any_like_them_are_wide() -> None:
    result = made("ab")
    told = [verdict_of(replace(result, raters=RaterPopulation(number))).unknown for number in (3, 6)]
    assert told[0][0].startswith("What other raters would say: the ranges allow for any raters like these 3, who")
    assert not any("raters" in text for text in told[1])


def test_three_raters_are_not_said_to_find_with_as_many_more_what_they_did_not_find() -> None:
    # seen at one and a half standard errors with 3 raters: as many again have 2 degrees of freedom and no power of 0.8
    result = replace(made("abc"), raters=RaterPopulation(3))
    reach = 0.02 / 1.5 * float(stats.t.ppf(0.975, 2))
    wide = [replace(each, difference=Estimate(0.02, 0.02 - reach, 0.02 + reach)) for each in result.comparisons]
    settle = verdict_of(replace(result, comparisons=tuple(wide))).settling
    assert settle is not None and settle.queries is not None
    assert settle.queries > 3 * int(result.pairs["queries"])
    assert "a study of these two alone with about" in settle.sentence()
