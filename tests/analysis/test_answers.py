"""Models compared by their answers, where questions do not differ."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from relstudy.analysis.answers import AnswerComparison, compare_answers


def compared(first: list[float], second: list[float]) -> AnswerComparison:
    """Two models, `a` and `b`, by the judgments of their answers to the same questions."""
    questions = [f"q{k}" for k in range(len(first))]
    rows = [
        (name, question, f"{name}-{question}", judgment)
        for name, judgments in (("a", first), ("b", second))
        for question, judgment in zip(questions, judgments, strict=True)
    ]
    table = pd.DataFrame(rows, columns=["system", "query_id", "result_id", "judgment"])
    return compare_answers(table.drop(columns="system"), table.drop(columns="judgment"))


@pytest.mark.parametrize("questions", [2, 5, 6, 12])
def test_a_difference_that_is_the_same_in_every_question_has_the_p_of_random_signs(questions):
    """Its interval was a point that leaves out 0, also of two questions, beside a headline that could not tell."""
    found = compared(([5.0, 4.0] * questions)[:questions], ([4.0, 3.0] * questions)[:questions])
    assert found.behind[1].value == -1 and (found.behind[1].excludes_zero is True) == (questions >= 6)
    assert (found.best == ("a",)) == (questions >= 6)
    low, high = found.behind[1].ends
    error = (high - low) / 2 / stats.t(questions - 1).ppf(0.975)
    assert 2 * stats.t(questions - 1).sf(1 / error) == pytest.approx(2 / 2**questions)


def test_answers_that_are_all_judged_the_same_have_no_interval():
    found = compared([5.0] * 4, [5.0] * 4)
    assert found.means[0].reason == "no interval: all judgments are the same"
    assert found.behind[1].reason == "no interval: the two differ in no question" and found.best == ("a", "b")


def test_who_answered_only_easy_questions_does_not_lead_by_them():
    draw = np.random.default_rng(1)
    easy = np.repeat([True, False], [8, 12])
    steady = np.where(easy, 4.6, 2.0) + 0.1 * draw.normal(size=20)
    partial = steady[:8] - 0.5 + 0.1 * draw.normal(size=8)
    assert partial.mean() > steady.mean()
    asked = [*range(20), *range(8)]
    pairs = {"query_id": [f"q{k}" for k in asked], "result_id": [f"r{k}" for k in range(28)]}
    judgments = pd.DataFrame({**pairs, "judgment": [*steady, *partial]})
    found = compare_answers(judgments, pd.DataFrame({"system": ["steady"] * 20 + ["partial"] * 8, **pairs}))
    assert found.names == ("steady", "partial") and found.best == ("steady",)
    assert found.headline == "Use steady: its answers are better than those of partial."
    assert found.behind[1].value == pytest.approx(float(np.mean(partial - steady[:8])))
    assert found.questions == (20, 8)
