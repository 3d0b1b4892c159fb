"""The verdict on comparisons of every shape, each sentence read."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import combinations, permutations
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import relstudy as rs
from relstudy.analysis.commands.score_output import Brief
from relstudy.analysis.report.layout import Paragraph
from relstudy.analysis.report.opening import answer_section
from relstudy.analysis.resampling.best_set import NearBound
from relstudy.analysis.scoring.judged_pairs import Population
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.scoring.rater_draws import RaterPopulation
from relstudy.analysis.scoring.run import score_systems
from relstudy.analysis.verdict.facts import Look, StudyFacts
from relstudy.analysis.verdict.price_of_a_tie import Settling
from relstudy.analysis.verdict.standings import standings
from relstudy.analysis.verdict.verdict import Verdict, verdict_of
from relstudy.calibration.tables.judgments import Judgments
from relstudy.common.results.estimates import Estimate
from relstudy.common.runtime.errors import RelstudyError
from tests.analysis.made import tables
from tests.analysis.verdict.made_results import FEW, REACH, made, over_all
from tests.places import EXAMPLE


def ranks(verdict: Verdict) -> dict[str, str]:
    return {name: verdict.standings.rank(name) for name in verdict.standings.names}


@pytest.mark.parametrize(
    ("names", "wins", "headline", "shown"),
    [
        ("abc", [], "This study cannot say which of the three is best: a, b and c.", "1-3 1-3 1-3"),
        ("ab", [], "This study cannot say which of the two is better: a and b.", "1-2 1-2"),
        ("ab", [("b", "a")], "Use b: it is ahead of a.", "1 2"),
        ("abc", over_all("a", "bc"), "Use a: it is ahead of b and c.", "1 2-3 2-3"),
        ("abcd", over_all("a", "bcd"), "Use a: it is ahead of the other three.", "1 2-4 2-4 2-4"),
        ("abc", [("a", "b"), ("b", "c")], "Use a: it is ahead of b and c.", "1-2 2 2-3"),
        (
            "abcdef",
            over_all("ab", "cdef"),
            "Use a. b cannot quite be ruled out as equally good; the other four can.",
            "1-2 1-2 3-6 3-6 3-6 3-6",
        ),
        (
            "abcd",
            over_all("a", "cd"),
            "Use a. b cannot quite be ruled out as equally good; c and d can.",
            "1-2 1-4 2-4 2-4",
        ),
    ],
)
def test_the_headline_says_which_to_use(names: str, wins: list[tuple[str, str]], headline: str, shown: str) -> None:
    verdict = verdict_of(made(names, wins))
    assert verdict.headline == headline
    assert " ".join(ranks(verdict).values()) == shown


def test_of_several_that_may_be_the_best_one_is_a_choice_and_no_finding() -> None:
    verdict = verdict_of(made("abc", over_all("ab", "c")))
    assert verdict.choice == "If you must choose now: a. It scores highest (0.90), but the lead may be chance."
    assert verdict.as_json()["choice"] == "a" and verdict.as_json()["best"] == ["a", "b"]
    assert verdict_of(made("abc", over_all("a", "bc"))).choice is None


@pytest.mark.parametrize(
    ("of_b", "said"), [(0.4, " b has more good results in the first ten (4.0 against 3.7)."), (0.37, "")]
)
def test_what_speaks_for_the_second_system_stands_beside_the_choice(of_b: float, said: str) -> None:
    result = made("ab", [])
    systems = [
        replace(
            system,
            indices={**system.indices, "condensed P@10": Estimate(value, value - 0.1, value + 0.1)},
            figures={**system.figures, "condensed P@10": system.figures["pearson"]},
        )
        for system, value in zip(result.systems, (0.37, of_b), strict=True)
    ]
    verdict = verdict_of(replace(result, systems=tuple(systems)))
    assert verdict.choice == f"If you must choose now: a. It scores highest (0.90), but the lead may be chance.{said}"


def test_a_leader_that_is_ahead_of_each_alone_and_not_of_all_together_is_explained() -> None:
    result = made("abc", [("a", "b")])
    together = replace(result, ranks=replace(result.ranks, low=np.ones(3, dtype=int), high=np.full(3, 3)))
    choice = verdict_of(together).choice
    assert choice is not None and choice.endswith(
        "Compared with b alone it is ahead, but among three systems that can happen by chance."
    )


def test_a_system_near_the_bound_is_named_wherever_the_verdict_is_read() -> None:
    result = made("abc", over_all("a", "bc"))
    assert verdict_of(result).near is None
    near = replace(
        result, ranks=replace(result.ranks, near=(NearBound(2, 0, 4.0, 3.0, 0.5), NearBound(1, 0, 2.7, 2.65, 0.07)))
    )
    said = (
        "Borderline: b is 2.70 standard errors behind a, and the limit is 2.65 (give or take 0.07 with 50 replicates), "
        "so --seed 1 may decide otherwise; more replicates are surer. The same holds for 1 other system."
    )
    verdict = verdict_of(near)
    assert said in verdict.sentences() and verdict.as_json()["near"] == said
    assert said in "".join(Brief.of(near, verdict).said)
    assert any(block.text == said for block in answer_section(near, verdict).blocks if isinstance(block, Paragraph))


def test_what_is_out_can_be_dropped_with_how_far_it_is_behind() -> None:
    assert (
        verdict_of(made("abc", over_all("ab", "c"))).dropped
        == "You can drop one system: c is behind a by 0.04 to 0.16."
    )
    many = verdict_of(made("abcdef", over_all("a", "bcdef"))).dropped
    assert many is not None and many.startswith("You can drop five systems: b is behind a by ") and "two more" in many
    assert verdict_of(made("ab")).dropped is None


def test_where_another_index_puts_another_system_clearly_ahead_a_sentence_says_so() -> None:
    result = made("ab", [("a", "b")])
    assert verdict_of(result).contrary is None
    turned = [
        replace(each, difference=each.difference.negated()) if each.index == "average_precision" else each
        for each in result.comparisons
    ]
    verdict = verdict_of(replace(result, comparisons=tuple(turned)))
    assert verdict.contrary == "a leads by correlation, but b is ahead by pooled AP."
    assert verdict.contrary in verdict.advice() and verdict.as_json()["contrary"] == verdict.contrary


def test_the_primary_index_is_named_with_how_it_came_to_be_the_one() -> None:
    assert (
        verdict_of(made("ab")).measure
        == "Ranked by correlation (how closely scores follow people's judgments), as stated."
    )
    by_lists = verdict_of(made("ab", primary="same_query")).measure
    assert by_lists == (
        "Ranked by pairwise accuracy within queries (how often a good match is ranked above a poor one; "
        "chance: 50 in 100), as stated."
    )


def test_a_correlation_names_its_ratings_per_judgment() -> None:
    alone = made("a", pearson={"a": Estimate(0.52, 0.46, 0.57)})
    assert verdict_of(alone).headline == (
        "a agrees with people at a correlation of 0.52 (0.46 to 0.57) over the whole collection."
    )
    assert verdict_of(alone, StudyFacts(ratings_each=2.0)).headline == (
        "a agrees with people at a correlation of 0.52 (0.46 to 0.57) over the whole collection, with 2.0 ratings per "
        "judgment."
    )
    assert ranks(verdict_of(alone)) == {"a": "1"}


@pytest.mark.parametrize(
    ("estimate", "sentence"),
    [
        (Estimate(0.05, -0.02, 0.12), "shows no agreement with people that chance could not explain"),
        (Estimate(-0.3, -0.4, -0.2), "runs against people's judgments"),
        (Estimate.missing("its scores are all equal"), "is not known: its scores are all equal"),
    ],
)
def test_a_leader_that_agrees_with_nobody_is_not_praised(estimate: Estimate, sentence: str) -> None:
    by_lists = made("ab", [("a", "b")], primary="same_query", pearson={"a": estimate})
    verdict = verdict_of(by_lists, StudyFacts(reachable=0.9))
    assert sentence in verdict.quality[0]
    assert "0.90" not in verdict.quality[0]


def test_without_any_comparison_nothing_is_claimed() -> None:
    verdict = verdict_of(made("ab", compared=False))
    assert verdict.headline == "The two systems cannot be compared by correlation: the pairs have no weights."
    assert ranks(verdict) == {"a": "–", "b": "–"}
    assert verdict.settling is None and verdict.choice is None and verdict.dropped is None


@pytest.mark.slow
def test_two_hundred_systems_have_few_sentences() -> None:
    names = [f"s{k:03d}" for k in range(200)]
    wins = [(names[a], names[b]) for a, b in combinations(range(200), 2) if b - a > 60]
    verdict = verdict_of(made(names, wins))
    assert verdict.headline.startswith("Use s000. s001, s002")
    assert len(verdict.sentences()) < 10
    assert max(len(text) for text in verdict.sentences()) < 300
    assert verdict.standings.rank("s199") == "140-200"


def test_what_would_settle_it_is_the_price_of_a_difference_that_matters() -> None:
    settle = verdict_of(made("ab"), StudyFacts(ratings=360)).settling
    assert settle is not None and settle.queries is not None
    # half-width 0.05 by t with 11 degrees of freedom from 12 queries, which leave the spread uncertain
    error = REACH / 2.201
    of_t = stats.t(settle.queries - 1)
    unsure = np.sqrt(1 + settle.queries * (0.05 / error) ** 2 / 12 / (2 * 11))
    wanted = of_t.ppf(0.975) + of_t.ppf(0.8) * unsure
    assert settle.queries == pytest.approx(12 * (wanted * error / 0.05) ** 2, abs=1)
    assert settle.ratings == pytest.approx(30 * settle.queries, abs=30)
    ends = [0.05 / error / np.sqrt(12) * (1 + sign * 1.96 / np.sqrt(22)) for sign in (1, -1)]
    by_hand = [next(n for n in range(2, 999) if _power(end, n) >= 0.8) for end in ends]
    assert list(settle.queries_interval) == by_hand == settle.as_json()["queries_interval"]
    assert settle.worth_it and settle.sentence() == (
        "The smallest difference that matters is 0.05. To detect it between a and b with 80 % power, the study needs "
        f"about 24 queries in all (95 % interval {by_hand[0]} to {by_hand[1]}); it has 12. That makes 720 ratings in "
        "all."
    )
    more_than_there_are = verdict_of(made("ab"), StudyFacts(ratings=360, queries=15)).settling
    assert more_than_there_are is not None and not more_than_there_are.worth_it
    assert more_than_there_are.sentence().endswith("; the collection has 15, so more ratings will not settle it.")
    assert more_than_there_are.heading() == "Do not pay for more ratings"
    going_on = Look(5, 12, 68, 0.05, "obrien-fleming", (0.18,), (2.5,))
    said = {look: more_than_there_are.heading(look) for look in (going_on, replace(going_on, closed=True))}
    assert list(said.values()) == ["Do not pay for more ratings than planned", "Do not pay for more ratings"]


def _power(steepness: float, queries: int) -> float:
    """Chance to find a difference whose standard deviation at one query is known."""
    of_t = stats.t(queries - 1)
    return float(of_t.cdf(steepness * np.sqrt(queries) + of_t.ppf(0.025)))


def test_the_whole_interval_within_what_matters_is_the_same_for_practical_purposes() -> None:
    result = made("abc", over_all("ab", "c"), reach=0.02)
    verdict = verdict_of(result)
    assert verdict.headline == "Use a or b: the two are the same for practical purposes, and c is not as good."
    assert verdict.settling is not None and verdict.settling.same and not verdict.settling.worth_it
    stricter = replace(result, primary=replace(result.primary, matters=0.03))
    assert verdict_of(stricter).headline.endswith("b cannot quite be ruled out as equally good; c can.")


def test_queries_that_were_enough_for_what_matters_are_not_asked_for_again() -> None:
    settle = verdict_of(made("ab", reach=0.03)).settling
    assert settle is not None and settle.queries is not None and settle.queries <= 12
    assert settle.sentence().endswith("in 8 of 10 cases, and did not: choose by speed or cost.")


@pytest.mark.slow
@pytest.mark.real_data
@pytest.mark.parametrize("primary", ["same_query", "pearson", "condensed nDCG@5"])
def test_the_price_is_of_any_queries_like_these_whatever_share_of_a_collection_they_are(
    shared_data: Path, primary: str
) -> None:
    """The correction was taken back as though nothing varied but queries, also of measures, which have none: up to ten
    times as many queries as `population="open"` asks for of the same tables."""
    data, systems = shared_data / "tifa160_likert", ["tifa_git-large", "tifa_ofa-large"]
    panel = rs.calibrate(data / "ratings.csv")
    scores = pd.read_csv(data / "system_scores_tifa_release.csv")[["query_id", "result_id", *systems]]

    every_other = np.where(panel.judgments["query_id"].rank(method="dense") % 2, 0.5, 1.0)

    def asked(share: float | np.ndarray, population: Literal["auto", "open"]) -> Settling:
        judgments = panel.judgments.assign(query_probability=share, inclusion_probability=0.4 * share)
        found = rs.score(
            scores, judgments, ratings=panel.ratings, method="none", primary=primary, unjudged="skip",
            population=population, replicates=60,
        )  # fmt: skip
        assert found.result.population.finite == (population == "auto")
        assert found.verdict.settling is not None
        return found.verdict.settling

    for share in (0.9, every_other):
        open_ended = asked(share, "open")
        assert open_ended.queries is not None
        assert asked(share, "auto").queries == open_ended.queries
        assert open_ended.raters_too != open_ended.index.of_run, "measures vary by queries alone"


@pytest.mark.slow
@pytest.mark.real_data
@pytest.mark.parametrize("index", ["same_query", "average_precision", "condensed nDCG@5"])
def test_verdict_and_plan_ask_for_the_same_queries_to_find_the_same_difference(shared_data: Path, index: str) -> None:
    """The one divided by a standard error and the other simulated: 585 queries and 485 on data/example."""
    data, systems = shared_data / "tifa160_likert", ["tifa_git-large", "tifa_ofa-large"]
    panel = rs.calibrate(data / "ratings.csv")
    scores = pd.read_csv(data / "system_scores_tifa_release.csv")[["query_id", "result_id", *systems]]
    unjudged: Literal["skip", "auto"] = "skip" if index.startswith("condensed") else "auto"
    found = rs.score(scores, panel, method="none", primary=index, unjudged=unjudged, matters=0.07).verdict.settling
    planned = rs.plan(panel, scores=scores, index=index, primary=index, difference=0.07, studies=20)
    assert found is not None and found.queries is not None
    assert planned.as_json()["queries"] == found.queries


def test_there_is_no_price_where_only_the_collection_is_known() -> None:
    assert verdict_of(made("ab")).settling is not None
    assert verdict_of(replace(made("ab"), population=Population(True, 0.75, 0.75))).settling is None


def test_where_raters_vary_too_they_are_needed_in_proportion_and_are_fewer_than_queries() -> None:
    result = made("ab")
    by_raters = tuple(replace(each, freedom=3.0) for each in result.comparisons)
    drawn = replace(result, raters=RaterPopulation(4), comparisons=by_raters)
    alone, any_like_these = verdict_of(result).settling, verdict_of(drawn).settling
    assert alone is not None and any_like_these is not None and any_like_these.queries is not None
    # the same interval from 3 degrees of freedom and not 11 has a smaller standard error, and leaves more uncertain
    error = REACH / stats.t.ppf(0.975, 3)
    of_t = stats.t(any_like_these.queries * 4 / 12 - 1)
    unsure = np.sqrt(1 + any_like_these.queries * (0.05 / error) ** 2 / 12 / (2 * 3))
    wanted = of_t.ppf(0.975) + of_t.ppf(0.8) * unsure
    assert any_like_these.queries == pytest.approx(12 * (wanted * error / 0.05) ** 2, abs=1)
    assert (
        "queries in all (95 % interval 10 to 240); it has 12. It needs more raters in the same proportion."
        in any_like_these.sentence()
    )
    assert "in proportion" not in alone.sentence()


def test_few_raters_are_named_as_the_reason_why_ranges_for_any_like_them_are_wide() -> None:
    result = made("ab")
    said = [verdict_of(replace(result, raters=RaterPopulation(number))).unknown for number in (3, 6)]
    assert said[0][0].startswith("what other raters would say. With 3 raters the intervals are only a rough guide")
    assert not any("raters" in text for text in said[1])


@pytest.mark.slow
def test_a_real_result_has_the_same_verdict_whatever_the_order_of_its_systems() -> None:
    judgments, scores = tables(systems=(0.9, 0.88, 0.3, 0.1), queries=40)
    turned = pd.concat([rows for _, rows in reversed(list(scores.groupby("system")))])
    given, other = (verdict_of(score_systems(judgments, each, options=FEW)) for each in (scores, turned))
    assert str(given) == str(other)
    assert ranks(given) == ranks(other)
    assert given.standings.best[0] in {"s0", "s1"}


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


def test_the_json_holds_every_rank_and_every_sentence() -> None:
    content = verdict_of(made("abc", over_all("ab", "c"))).as_json()
    assert [entry["shown"] for entry in content["ranks"]] == ["1-2", "1-2", "3"]
    assert [entry["ahead_of"] for entry in content["ranks"]] == [["c"], ["c"], []]
    assert content["primary"] == "pearson" and content["settling"]["index"] == "pearson"
    assert set(content) >= {"headline", "best", "choice", "advice", "quality", "unknown", "settling", "parting"}


@cache
def of_example(*systems: str) -> rs.Scores:
    """data/example scored with some of its systems, whose scores are not mapped."""
    files = {name: EXAMPLE / "scores" / f"{name}.csv" for name in systems}
    return rs.score(files, EXAMPLE / "judgments.csv", method="none", replicates=200)


@pytest.mark.slow
def test_what_is_said_of_two_systems_does_not_depend_on_who_else_is_scored() -> None:
    """Over couples and fours of data/example. A system that another is ahead of is of the best only near the bound."""
    names = ("keywords", "gift", "gift-texture", "gift-colour", "simplicity")
    result = of_example(*names)
    whole = result.verdict.standings
    near = set()
    for number in (2, 4):
        for chosen in combinations(names, number):
            part = of_example(*chosen).verdict.standings
            for a, b in permutations(chosen, 2):
                assert part.ahead(a, b) == whole.ahead(a, b)
                if part.ahead(a, b) and b in part.best:
                    near.add((a, b))
    for a, b in near:
        compared = whole.comparison("same_query", a, b)
        assert compared is not None and compared.p_value is not None
        # the largest of four lags asks for no more than Bonferroni does
        assert compared.p_value > 0.05 / 4, (a, b)


@pytest.mark.slow
def test_with_two_systems_the_verdict_is_the_interval_of_their_difference() -> None:
    for chosen in (("keywords", "gift"), ("gift", "gift-texture"), ("gift-colour", "simplicity")):
        result = of_example(*chosen)
        (difference,) = (each for each in result.result.comparisons if each.index == "same_query")
        apart = difference.difference.low * difference.difference.high > 0  # type: ignore[operator]
        assert (len(result.verdict.standings.best) == 1) == apart


@pytest.mark.parametrize(
    ("given", "name", "chosen"),
    [
        (
            {},
            "same_query",
            "the default when at least 20 queries have 5 or more judged results, good ones and poor ones (here 40)",
        ),
        (
            {"queries": 10},
            "pearson",
            "the default when fewer than 20 queries have 5 or more judged results, good ones and poor ones (here 10)",
        ),
        ({"primary": "pooled AP"}, "average_precision", "as stated"),
        ({"primary": "nDCG@5", "unjudged": "skip"}, "condensed nDCG@5", "as stated"),
    ],
)
def test_the_primary_index_is_the_one_stated_else_by_the_design(given: dict, name: str, chosen: str) -> None:
    judgments, scores = tables(systems=(0.8, 0.5), queries=given.pop("queries", 40))
    result = score_systems(judgments, scores, options=ScoringOptions(replicates=50, measures=(), **given))
    assert (result.primary.name, result.primary.chosen) == (name, chosen)
    assert name in result.systems[0].indices
    assert standings(result).best


def test_a_primary_index_that_does_not_exist_is_refused_with_what_there_is() -> None:
    judgments, scores = tables(systems=(0.8,), queries=10)
    with pytest.raises(RelstudyError, match="'luck' is not an index: one of pearson, average_precision"):
        score_systems(judgments, scores, options=ScoringOptions(replicates=50, measures=(), primary="luck"))
