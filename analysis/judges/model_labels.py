"""How many questions people have to judge until a difference of two models is found, alone and with a judge's help.

The judge's help is a regression estimate in two phases (Cochran 1977, section 12.3): people's mean difference over the
questions that they judged, moved by what the judge says of all questions against these. What the judge gets wrong costs
width and shifts nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from relstudy.analysis.judges.table import JudgeTable
from relstudy.common.results.estimates import Estimate
from relstudy.common.runtime.wording import count_of, with_ends
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR

LEAST = 8
"""Questions below which nothing is said."""
POWER, LEVEL = 0.8, 0.95
SHARE = 0.05
"""Of the scale's width: the difference that matters where none is stated."""


@dataclass(frozen=True)
class ModelLabels:
    """Two models' difference, and the questions that it takes to find one of a stated size.

    Parameters
    ----------
    first, second : the models, the better one by people first
    alone, helped : people's mean difference per question, by people alone and with the judge's help
    questions, graded : questions that people judged for both, and that the judge graded for both
    matters : the stated difference
    needed : questions that people alone have to judge
    needed_helped : the same beside the judge's grades of all `graded` questions; None where these are too few
    """

    first: str
    second: str
    alone: Estimate
    helped: Estimate
    questions: int
    graded: int
    matters: float
    needed: int
    needed_helped: int | None

    def as_json(self) -> dict[str, Any]:
        """Plain JSON."""
        return {
            "first": self.first, "second": self.second, "alone": self.alone.as_json(), "helped": self.helped.as_json(),
            "questions": self.questions, "graded": self.graded, "matters": self.matters, "needed": self.needed,
            "needed_helped": self.needed_helped,
        }  # fmt: skip

    def sentence(self) -> str:
        """What it takes, in words."""
        alone, helped = (with_ends(each.value or 0.0, each.low, each.high) for each in (self.alone, self.helped))
        found = (
            f"{self.first} is ahead of {self.second} by {alone} by people alone, who judged "
            f"{count_of(self.questions, 'question')}, and by {helped} with the judge's grades of {self.graded:,}."
        )
        takes = (
            f"To find a difference of {self.matters:g} with power {POWER:g} people have to judge "
            f"{count_of(self.needed, 'question')} alone, "
        )
        if self.needed_helped is None:
            return f"{found} {takes}and the judge has to grade more questions than now to help."
        return f"{found} {takes}{self.needed_helped:,} beside these grades."


def model_labels(
    judge: JudgeTable, judgments: pd.DataFrame, answers: pd.DataFrame, matters: float
) -> list[ModelLabels]:
    """What it takes to tell each model from the next one, the best first; of models with fewer than eight questions
    that people and judge have in common nothing is said.

    Parameters
    ----------
    judgments : query_id, result_id, judgment
    answers : system, query_id, result_id: whose answer each is
    matters : a difference of mean judgments, above 0

    Examples
    --------
    >>> draw = np.random.default_rng(0)
    >>> rows = [(m, str(q), f"{m}{q}") for q in range(400) for m in "xy"]
    >>> answers = pd.DataFrame(rows, columns=["system", "query_id", "result_id"])
    >>> people = draw.normal(3, 1, 800)
    >>> ids = [answers[name].to_numpy(object) for name in PAIR]
    >>> judge = JudgeTable("j", *ids, people + draw.normal(0, 0.5, 800), np.array(["ok"] * 800, object), np.ones(800))
    >>> found = model_labels(judge, answers.assign(judgment=people)[:200], answers, 0.4)[0]
    >>> found.questions, found.graded, found.needed, found.needed_helped
    (100, 400, 81, 20)
    """
    graded = pd.DataFrame({"query_id": judge.query_id, "result_id": judge.result_id, "grade": judge.rating}).dropna()
    table = answers[["system", *PAIR]].merge(judgments[[*PAIR, "judgment"]], on=PAIR, how="left")
    table = table.merge(graded, on=PAIR, how="left")
    both = table.pivot_table(index="query_id", columns="system", values=["judgment", "grade"], dropna=False)
    order = table.groupby("system")["judgment"].mean().dropna().sort_values(ascending=False, kind="stable").index
    found = (_of_two(both, str(one), str(other), matters) for one, other in pairwise(order))
    return [each for each in found if each is not None]


def _of_two(both: pd.DataFrame, one: str, other: str, matters: float) -> ModelLabels | None:
    if "grade" not in both:
        return None
    people, grades = ((both[name][one] - both[name][other]).to_numpy(float) for name in ("judgment", "grade"))
    every = grades[np.isfinite(grades)]
    seen = np.isfinite(people) & np.isfinite(grades)
    people, beside, number = people[seen], grades[seen], int(seen.sum())
    if number < LEAST or not people.std() > 0:
        return None
    spread, of_grades = float(people.var(ddof=1)), float(every.var(ddof=1))
    slope = float(np.cov(people, beside)[0, 1] / beside.var(ddof=1)) if beside.std() > 0 else 0.0
    rest = float(((people - people.mean() - slope * (beside - beside.mean())) ** 2).sum() / (number - 2))
    shift = slope * (every.mean() - beside.mean())
    shared = slope**2 * of_grades / len(every)
    alone = _estimate(float(people.mean()), spread / number, number - 1)
    helped = _estimate(float(people.mean() + shift), rest / number + shared, number - 2)
    bound = float(special.ndtri((1 + LEVEL) / 2))
    allowed = (matters / (bound + float(special.ndtri(POWER)))) ** 2
    more = bound**2 / 2  # for Student's t in place of the normal distribution
    beside_grades = None if shared >= allowed else math.ceil(rest / (allowed - shared) + more)
    needed = math.ceil(spread / allowed + more)
    return ModelLabels(
        one, other, alone, helped, number, len(every), matters, needed,
        None if beside_grades is None or beside_grades > len(every) else min(beside_grades, needed),
    )  # fmt: skip


def _estimate(value: float, variance: float, freedom: int) -> Estimate:
    reach = float(special.stdtrit(freedom, (1 + LEVEL) / 2)) * math.sqrt(variance)
    return Estimate.of(value, value - reach, value + reach)
