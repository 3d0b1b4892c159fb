"""Whether a judge favours one of the models whose answers it grades.

Two ways of looking must agree, since each alone takes noise for favour: among answers that people judged the same, the
judge's grades of a model are higher than those of the others; and among answers that it graded the same, people's
judgments of the model are lower. Noise of judgments pushes the first way up for a model that is good, and noise of
grades the second one up as well, so a fair judge shows both with one sign, and a favour shows them with opposite signs.
Differences are within questions, tested over questions (Student's t) at a level divided among the models (Bonferroni).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from relstudy.analysis.judges.table import JudgeTable
from relstudy.common.results.estimates import Estimate
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR

LEAST = 5
"""Questions below which nothing is said."""


@dataclass(frozen=True)
class ModelFavour:
    """What a judge gives a model beyond people.

    Parameters
    ----------
    model : its name
    grades : how much higher its grades are than those of other answers that people judged the same, in the judge's
        steps, with its 95 % interval over questions
    judgments : how much higher people's judgments are than of other answers that the judge graded the same
    named : 1 where the judge favours it, -1 where it is hard on it, 0 where neither is shown
    """

    model: str
    grades: Estimate
    judgments: Estimate
    named: int

    def as_json(self) -> dict[str, Any]:
        """Plain JSON."""
        return {
            "grades": self.grades.as_json(), "judgments": self.judgments.as_json(),
            "favoured": self.named > 0, "disadvantaged": self.named < 0,
        }  # fmt: skip

    def sentence(self, judge: str) -> str | None:
        """What is shown, in a sentence; None where nothing is."""
        if not self.named:
            return None
        higher, lower = ("higher", "lower") if self.named > 0 else ("lower", "higher")
        grades, judgments = abs(self.grades.value or 0.0), abs(self.judgments.value or 0.0)
        return (
            f"{judge} {'favours' if self.named > 0 else 'is hard on'} {self.model}: its grades of answers that people "
            f"judged the same are {higher} by {grades:.2f}, and people's judgments of answers that it graded the same "
            f"are {lower} by {judgments:.2f}."
        )


def model_favours(judge: JudgeTable, judgments: pd.DataFrame, answers: pd.DataFrame) -> list[ModelFavour]:
    """What a judge gives each model beyond people; none with fewer than five questions that say something.

    Parameters
    ----------
    judgments : query_id, result_id, judgment
    answers : system, query_id, result_id: whose answer each is

    Examples
    --------
    >>> draw = np.random.default_rng(0)
    >>> rows = [(m, str(q), f"{m}{q}") for q in range(40) for m in "xyz"]
    >>> answers = pd.DataFrame(rows, columns=["system", "query_id", "result_id"])
    >>> people = draw.integers(1, 6, len(rows)).astype(float)
    >>> grades = people + (answers["system"] == "x") + draw.normal(0, 0.3, len(rows))
    >>> ids = [answers[name].to_numpy(object) for name in PAIR]
    >>> judge = JudgeTable("j", *ids, grades.to_numpy(), np.array(["ok"] * 120, object), np.ones(120))
    >>> [each.named for each in model_favours(judge, answers.assign(judgment=people), answers)]
    [1, -1, -1]
    """
    graded = pd.DataFrame({"query_id": judge.query_id, "result_id": judge.result_id, "grade": judge.rating}).dropna()
    table = answers[["system", *PAIR]].merge(judgments[[*PAIR, "judgment"]], on=PAIR).merge(graded, on=PAIR)
    table = table[table.groupby("query_id")["system"].transform("size") > 1]
    names = list(dict.fromkeys(table["system"]))
    if table["query_id"].nunique() < LEAST or len(names) < 2:
        return []
    query = pd.factorize(table["query_id"])[0]
    grade, judged = (_within(table[name].to_numpy(float), query) for name in ("grade", "judgment"))
    # slopes are those within models, so that a favour has no part in them
    model = pd.factorize(table["system"])[0]
    of_grade, of_judged = _within(grade, model), _within(judged, model)
    if not (of_grade @ of_grade > 0 and of_judged @ of_judged > 0):
        return []
    beyond = grade - judged * (of_grade @ of_judged) / (of_judged @ of_judged)
    short = judged - grade * (of_grade @ of_judged) / (of_grade @ of_grade)
    level = 0.05 if len(names) == 2 else 0.05 / len(names)
    found = []
    for name in names:
        own = (table["system"] == name).to_numpy()
        (up, error, number), (down, other, _) = (_gap(each, own, query) for each in (beyond, short))
        if number < LEAST:
            continue
        bound = float(special.stdtrit(number - 1, 1 - level / 2))
        sign = int(np.sign(up)) if abs(up) > bound * error and abs(down) > bound * other and up * down < 0 else 0
        found.append(ModelFavour(name, _estimate(up, error, number), _estimate(down, other, number), sign))
    # of two models one is favoured where the other is not: it is said of the one that gains
    return [each for each in found if len(names) > 2 or each.named >= 0]


def _within(values: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Values less the mean of their group."""
    return np.asarray(values - (np.bincount(group, values) / np.bincount(group))[group])


def _gap(values: np.ndarray, own: np.ndarray, query: np.ndarray) -> tuple[float, float, int]:
    """Mean over questions of a model's value less the mean of the others', its standard error, and the questions."""
    size = query.max() + 1
    mine, others = np.bincount(query[own], minlength=size), np.bincount(query[~own], minlength=size)
    both = (mine > 0) & (others > 0)
    sums = [np.bincount(query[rows], values[rows], size)[both] for rows in (own, ~own)]
    gaps = sums[0] / mine[both] - sums[1] / others[both]
    if len(gaps) < 2:
        return 0.0, np.inf, len(gaps)
    return float(gaps.mean()), float(gaps.std(ddof=1) / np.sqrt(len(gaps))), len(gaps)


def _estimate(value: float, error: float, number: int) -> Estimate:
    reach = float(special.stdtrit(number - 1, 0.975)) * error
    return Estimate.of(value, value - reach, value + reach)
