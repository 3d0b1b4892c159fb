"""Submissions there and raters here: who is missing, who is unpaid, who came twice, whose place is free."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from relstudy.studyapp.assignment.eligibility import COMPLETED
from relstudy.studyapp.assignment.exclusion import SET_ASIDE
from relstudy.studyapp.prolific.client import Submission

ENTRY = "prolific"
GONE = ("RETURNED", "TIMED OUT")
"""Statuses after which Prolific gives the place to somebody else."""
PAID = "APPROVED"
WAITING = "AWAITING REVIEW"
UNSTARTED = ("RESERVED",)


@dataclass(frozen=True)
class Person:
    """A rater who came from Prolific.

    Parameters
    ----------
    participant : Prolific's id of them
    study : Prolific's id of the study that they came from; empty: their link brought none
    outcome : how their visit ended; empty while they are at work
    ratings : how many they decided
    """

    participant: str
    study: str
    outcome: str
    ratings: int


@dataclass(frozen=True)
class Comparison:
    """Differences between the two, by participants' ids; each list says what is worth doing.

    Parameters
    ----------
    statuses : how many submissions there are of each status
    raters : how many raters came from Prolific
    not_here : of a submission under way or handed in, and no rater
    not_there : of raters without a submission
    unpaid : completed here, and their submission ended without pay
    to_approve : completed here, and their submission waits for review
    paid_without : approved there, and not completed here
    double : with more than one submission
    to_free : returned or timed out there, at work here: their places can go to others
    to_take_back : set aside here, though their submission waits or is approved
    """

    statuses: Mapping[str, int]
    raters: int
    not_here: tuple[str, ...]
    not_there: tuple[str, ...]
    unpaid: tuple[str, ...]
    to_approve: tuple[str, ...]
    paid_without: tuple[str, ...]
    double: tuple[str, ...]
    to_free: tuple[str, ...]
    to_take_back: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """As plain JSON."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}


def compare(submissions: Sequence[Submission], people: Sequence[Person]) -> Comparison:
    """Lay submissions, of the study's ids, beside raters.

    Examples
    --------
    >>> compare([Submission("s", "p", "RETURNED"), Submission("t", "p", "ACTIVE")], []).double
    ('p',)
    """
    by_person: dict[str, list[Submission]] = {}
    counts: dict[str, int] = {}
    for submission in submissions:
        by_person.setdefault(submission.participant, []).append(submission)
        counts[submission.status] = counts.get(submission.status, 0) + 1
    outcome_by_person = {person.participant: person.outcome for person in people}
    statuses = {person: {each.status for each in theirs} for person, theirs in by_person.items()}
    left = {person for person, of_person in statuses.items() if of_person <= set(GONE)}
    expected = {person for person in statuses if person not in left and not statuses[person] <= set(UNSTARTED)}

    def those(people: Any) -> tuple[str, ...]:
        return tuple(sorted(people))

    completed = {person for person, outcome in outcome_by_person.items() if outcome == COMPLETED}
    approved = {person for person, of_person in statuses.items() if PAID in of_person}
    waits = {person for person, of_person in statuses.items() if WAITING in of_person}
    in_both = outcome_by_person.keys() & statuses.keys()
    return Comparison(
        statuses=dict(sorted(counts.items())),
        raters=len(outcome_by_person),
        not_here=those(expected - outcome_by_person.keys()),
        not_there=those(outcome_by_person.keys() - statuses.keys()),
        unpaid=those((completed & in_both) - approved - waits),
        to_approve=those((completed & waits) - approved),
        paid_without=those(person for person in approved & in_both if outcome_by_person[person] != COMPLETED),
        double=those(person for person, theirs in by_person.items() if len(theirs) > 1),
        to_free=those(person for person in left & in_both if not outcome_by_person[person]),
        to_take_back=those(person for person in (approved | waits) & in_both if outcome_by_person[person] == SET_ASIDE),
    )


def bonuses(people: Sequence[Person], each: float, per_rating: float, paid_to: set[str]) -> list[tuple[str, str]]:
    """Participant and amount, with two decimals, for everybody who completed and is due something.

    Parameters
    ----------
    each : amount for everybody
    per_rating : amount for each rating
    paid_to : ids that Prolific would pay to
    """
    due = [
        (person.participant, round(each + per_rating * person.ratings, 2))
        for person in people
        if person.outcome == COMPLETED and person.participant in paid_to
    ]
    return sorted((participant, f"{amount:.2f}") for participant, amount in due if amount > 0)
