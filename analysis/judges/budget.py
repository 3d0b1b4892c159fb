"""The best division of a budget between people's judgments and a judge's answers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

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
