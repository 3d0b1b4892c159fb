"""Systems compared side by side: shares of wins, who may be the best, and the error of the claim."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from relstudy.analysis.side_by_side import SideBySide, compare_side_by_side
from relstudy.calibration.preferences import CoupleAnswers
from relstudy.common.runtime.errors import RelstudyError

Row = tuple[str, str, str, str, str, float]


def compared(rows: list[Row], gave: list[tuple[str, str, str]]) -> SideBySide:
    table = pd.DataFrame(rows, columns=["rater", "query", "first", "second", "left", "answer"])
    columns = (table[name].to_numpy(object) for name in ("rater", "query", "first", "second", "left"))
    answers = CoupleAnswers("t", *columns, table["answer"].to_numpy(float), [], np.ones(len(table)), ())  # type: ignore[arg-type]
    return compare_side_by_side(answers, pd.DataFrame(gave, columns=["system", "query_id", "result_id"]))


def gave(systems: int, queries: int) -> list[tuple[str, str, str]]:
    return [(f"s{s}", f"q{q}", f"{s}-{q}") for s in range(systems) for q in range(queries)]


def study(draw: np.random.Generator, systems: int, queries: int, raters: int) -> SideBySide:
    """Equally good systems, compared by raters who lean to the left and have favourites of their own."""
    quality, favour = draw.normal(size=(queries, systems)), draw.normal(0, 0.5, (raters, systems))
    rows = []
    for query in range(queries):
        for couple in combinations(range(systems), 2):
            for rater in draw.choice(raters, 3, replace=False):
                left, right = draw.permutation(couple)
                gap = quality[query, left] + favour[rater, left] - quality[query, right] - favour[rater, right]
                gap += 0.3 + draw.logistic()
                answer = -1.0 if gap > 0.5 else 1.0 if gap < -0.5 else 0.0
                ends = (f"{couple[0]}-{query}", f"{couple[1]}-{query}")
                rows.append((f"r{rater}", f"q{query}", *ends, f"{left}-{query}", answer))
    return compared(rows, gave(systems, queries))


def test_a_share_counts_wins_and_half_of_the_ties_whichever_side_they_stood_on():
    rows: list[Row] = [
        ("a", "q0", "0-0", "1-0", "0-0", -1.0),  # left: s0
        ("b", "q0", "0-0", "1-0", "1-0", -1.0),  # left: s1
        ("c", "q1", "0-1", "1-1", "1-1", 1.0),  # right: s0
        ("a", "q1", "0-1", "1-1", "0-1", 0.0),
        ("b", "q1", "0-1", "1-1", "0-1", np.nan),
    ]
    found = compared(rows, gave(2, 2))
    assert found.names == ("s0", "s1") and found.shares == (2.5 / 4, 1.5 / 4)
    assert found.ties == 0.25 and found.left == pytest.approx(2 / 3) and found.undecided == 1
    assert found.best == ("s0", "s1") and "do not show" in found.headline


def test_the_share_of_two_raters_is_shown_without_an_interval_and_with_the_reason():
    found = compared([(r, f"q{q}", f"0-{q}", f"1-{q}", f"0-{q}", 1.0 - q) for r in "ab" for q in range(3)], gave(2, 3))
    (share,) = (each["preferred"] for each in found.as_json()["couples"])
    assert share["value"] == 0.5 and share["low"] is None and share["reason"]
    assert found.text_rows()[0][0][2:4] == ["0.50", ""]


def test_an_answer_of_two_models_counts_for_both():
    of = [("x", "q", "1"), ("y", "q", "1"), ("z", "q", "2")]
    found = compared([(rater, "q", "1", "2", "1", -1.0) for rater in "abc"], of)
    assert found.couples[["system", "other", "preferred"]].values.tolist() == [["x", "z", 1.0], ["y", "z", 1.0]]


def test_where_all_say_the_same_the_interval_is_the_binomial_one_of_as_many_queries():
    rows = [(r, f"q{q}", f"0-{q}", f"1-{q}", f"0-{q}", -1.0) for r in "abc" for q in range(8)]
    found = compared(rows, gave(2, 8))  # type: ignore[arg-type]
    assert found.couples["preferred_low"].iloc[0] == pytest.approx(0.6306, abs=5e-5)  # Clopper and Pearson, 8 of 8
    assert found.headline == "Use s0: people prefer its answers to those of s1."
    assert found.ahead == {"s0": ("s1",), "s1": ()}
    few = compared(rows[:4], gave(2, 8))  # type: ignore[arg-type]
    assert few.best == ("s0", "s1") and "do not show" in few.headline


def test_who_is_ahead_of_whom_is_the_same_whoever_else_is_there():
    draw = np.random.default_rng(3)
    rows = []
    for q in range(60):
        for one, other in combinations(range(3), 2):
            for r in range(4):
                wins = draw.random() < 0.5 + 0.18 * (other - one)
                rows.append((f"r{r}", f"q{q}", f"{one}-{q}", f"{other}-{q}", f"{one}-{q}", -1.0 if wins else 1.0))
    two = [row for row in rows if row[2][0] == "0" and row[3][0] == "2"]
    assert ("s2" in compared(rows, gave(3, 60)).ahead["s0"]) and compared(two, gave(3, 60)).ahead["s0"] == ("s2",)


def test_of_three_systems_those_clearly_behind_are_not_among_the_best():
    """Three systems and more are told apart by intervals of a higher level, which must be one."""
    wins = {(0, 1): 0.5, (0, 2): 0.9, (1, 2): 0.9}
    draw, rows = np.random.default_rng(4), []
    for q in range(60):
        for (one, other), share in wins.items():
            for r in range(4):
                answer = -1.0 if draw.random() < share else 1.0
                rows.append((f"r{r}", f"q{q}", f"{one}-{q}", f"{other}-{q}", f"{one}-{q}", answer))
    assert set(compared(rows, gave(3, 60)).best) == {"s0", "s1"}


@pytest.mark.parametrize(("systems", "studies", "most"), [(2, 120, 12), (4, 60, 7)])
def test_equal_systems_are_told_apart_in_no_more_studies_than_stated(systems, studies, most):
    draw = np.random.default_rng(systems)
    claims = sum(len(study(draw, systems, 30, 8).best) < systems for _ in range(studies))
    assert claims <= most  # of a rate of .05, more come once in a hundred times, of .2 in 93 of them and more


def test_couples_of_no_two_systems_are_refused():
    with pytest.raises(RelstudyError, match="no couple is of two systems"):
        compared([("a", "q", "1", "2", "1", -1.0)], [("x", "q", "1")])
