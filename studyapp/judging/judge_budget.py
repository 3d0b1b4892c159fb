"""The share of a collection that a judge is best asked of for a budget, beside people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from relstudy.analysis.judges.agreement import explained
from relstudy.analysis.judges.judged_by_both import Universe
from relstudy.analysis.judges.several import POINT
from relstudy.analysis.judges.table import read_judge
from relstudy.analysis.scoring.judged_pairs import JudgedPairs
from relstudy.calibration.tables.study_tables import read_study_tables
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import percent, quoted
from relstudy.studyapp.judging.asking import ANSWER_TOKENS, Interview
from relstudy.studyapp.judging.results import judge_files

STEPS = 2000
ASSUMED = 0.3
"""R squared of a judge that nobody has held against people yet."""


@dataclass(frozen=True)
class Split:
    """A way to spend a budget.

    Parameters
    ----------
    people : further judgments by people
    questions : that the judge is asked in all
    error : standard error to expect against that of the same money spent on people alone
    """

    people: int
    questions: int
    error: float


def standard_error(people: float, questions: float, r_squared: float, candidates: int) -> float:
    """Standard error of a mean from pairs that people judged and more that a judge did, in standard deviations.

    That of the difference estimator in a sample of two phases, (1 - R^2) / n + R^2 (1 / N - 1 / M): the judge takes
    off what its grades explain, as far as its own pairs are many (Neyman 1938; Cochran 1977, 12.3).

    Parameters
    ----------
    people : pairs that people judged, n, above 0
    questions : pairs that the judge was given, N; 0 without a judge
    candidates : M, of which the judge's pairs are a sample

    Examples
    --------
    >>> round(standard_error(100, 10_000, 0.75, 10_000), 3), standard_error(100, 0, 0.75, 10_000)
    (0.05, 0.1)
    """
    if questions <= people:
        return float(np.sqrt(1 / people))
    return float(np.sqrt((1 - r_squared) / people + r_squared * (1 / questions - 1 / max(candidates, questions))))


def best_split(
    budget: float, person: float, question: float, r_squared: float, candidates: int, judged: int = 0
) -> Split:
    """The way to part a budget that leaves the least standard error.

    Without judged pairs, and with more candidates than can be paid, that is N / n = sqrt(R^2 / (1 - R^2) person /
    question) (Cochran 1977, 12.3). Clusters of pairs by query make both kinds worth less, in about the same way.

    Parameters
    ----------
    budget : money for both
    person, question : prices of a judgment by a person and of a question to the judge, above 0; the judge is asked of
        every pair that people judge, too
    r_squared : of people's judgments, what the judge's grades explain, 0 to 1
    candidates : pairs that the judge may be asked of
    judged : pairs that people have judged and that are paid

    Examples
    --------
    >>> best_split(100, person=1.0, question=0.01, r_squared=0.5, candidates=50_000)
    Split(people=90, questions=910, error=0.777)
    """
    alone = standard_error(judged + budget / person, 0, r_squared, candidates)
    ways = [(alone, budget / person, 0.0)]
    for questions in np.linspace(0, min(candidates, budget / question), STEPS)[1:]:
        people = (budget - questions * question) / person
        if judged + people > 0:
            ways.append((standard_error(judged + people, questions, r_squared, candidates), people, questions))
    error, people, questions = min(ways)
    return Split(int(people + 1e-9), round(questions), round(error / alone, 3))


SOME = 200
"""Questions from whose length the price of one is estimated."""


def share_for(
    budget: float,
    folder: Path,
    name: str,
    interview: Interview,
    candidates: Sequence[tuple[str, ...]],
    judged: int,
) -> tuple[float, list[str]]:
    """The share of the candidates, beside the judged pairs, and what is said of it, one sentence each.

    Parameters
    ----------
    budget : money, or questions to the judge where its prices are not known
    name : of the judge
    candidates : pairs that the judge may be asked of
    judged : how many of them people were asked of

    Raises
    ------
    RelstudyError
        where the budget pays no question beside those of the judged pairs, or the price of a person is not known
    """
    some = interview.questions(list(candidates[:: max(1, len(candidates) // SOME)]))
    question = interview.settings.cost(interview.tokens(some) / len(some), ANSWER_TOKENS)
    if question is None:
        questions = min(round(budget), len(candidates))
        said = [f"A budget of {questions:,} questions, since study.toml names no prices ([judges] input_price)."]
    else:
        person_price = interview.settings.person_price
        if not person_price:
            raise RelstudyError(
                "--budget parts money between people and the judge: study.toml must say what a judgment by a person "
                "costs ([judges] person_price)"
            )
        r_squared, source = _explained(folder, name)
        best = best_split(budget, person_price, question, r_squared, len(candidates), judged)
        questions = best.questions
        half = _of_halves(budget, person_price, question, r_squared, len(candidates), judged)
        said = [
            f"Of a budget of {budget:g}: {best.people:,} more judgments by people ({best.people * person_price:.2f}) "
            f"and {questions:,} questions to the judge ({questions * question:.2f}), for R squared of {r_squared:.2f} "
            f"({source}). To expect: a standard error of {best.error:.2f} of that of the same money on people alone; "
            f"{half:.2f} with half for each.",
        ]
        if best.people:
            said.append(
                f"People's part: relstudy sample {quoted(folder)} --next --judge {name} --pairs {best.people}, once "
                "the judge has answered."
            )
    if questions <= judged:
        raise RelstudyError(
            f"--budget {budget:g}: best spent on {questions:,} questions to the judge, fewer than the {judged:,} pairs "
            "that people were asked of, on which its help rests; people alone are the better buy"
        )
    share = (questions - judged) / max(len(candidates) - judged, 1)
    return min(1.0, share), [*said, f"So the judge is asked of {percent(min(1.0, share), 1)} of the other candidates."]


def _of_halves(budget: float, person: float, question: float, r_squared: float, candidates: int, judged: int) -> float:
    """The standard error of a budget of which half goes to either, against that of all of it on people."""
    alone = standard_error(judged + budget / person, 0, r_squared, candidates)
    questions = min(candidates, budget / 2 / question)
    return standard_error(judged + budget / 2 / person, questions, r_squared, candidates) / alone


def _explained(folder: Path, name: str) -> tuple[float, str]:
    """The share of people's judgments that the judge's grades explain, and the source of that figure."""
    table, judgments = judge_files(folder, name)[0], folder / "judgments.csv"
    if not (table.is_file() and judgments.is_file()):
        return ASSUMED, "assumed; --pairs judged, with judgments.csv, measures it"
    judge, pairs = read_judge(table, name), JudgedPairs.of(read_study_tables(judgments).judgments)
    universe = Universe.of(pairs, judge, POINT)
    value = explained(universe)["r_squared"].value
    bounded = min(0.99, max(0.0, value or 0.0))
    return bounded, f"by {int(universe.given.sum()):,} pairs that both judged"
