"""Requirements that a score result passes, fails or leaves undecided: "new > old by correlation", "P@10(new) > 0.3".

A requirement is tested by the interval of its own figure, at the level of the scoring run and without correction for
others: it is stated before the result is seen, and few are stated.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from relstudy.analysis.scoring.results import ScoreResult
from relstudy.common.results.estimates import Estimate
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import listed, listed_some, number, span

NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"


class Outcome(StrEnum):
    """Outcomes of a requirement."""

    PASS = "pass"
    FAIL = "fail"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Requirement:
    """A requirement as it was written, with every way to read it.

    Parameters
    ----------
    text : as written
    readings : (first, second, index) of a comparison, (name, "", index) of a bound; more than one where a name may
        itself hold "by", a bracket or a sign
    sign : whether more (">") or less ("<") is required; one for each reading
    bound : the number that a figure is held against; None with a comparison
    """

    text: str
    readings: tuple[tuple[str, str, str], ...]
    sign: tuple[str, ...]
    bound: float | None


@dataclass(frozen=True)
class Answer:
    """A requirement beside its figure.

    Parameters
    ----------
    requirement : as written
    outcome : pass where the whole interval is on the side that is required, fail where it is on the other
    figure : the index of the system; of two systems the difference, above zero where the one that is required to be
        better is better
    """

    requirement: str
    outcome: Outcome
    figure: Estimate
    compares: bool

    def line(self) -> str:
        """The outcome, the requirement and its figure, as one line."""
        what = "lead" if self.compares else "figure"
        if self.figure.value is None:
            return f"{self.outcome}: {self.requirement} (no {what}: {self.figure.reason})"
        form = "+.3f" if self.compares else ".3f"
        ends = ""
        if self.figure.ends is not None:
            ends = f", {span(*self.figure.ends, form)}"
        elif self.figure.reason:
            ends = f", {self.figure.reason}"
        return f"{self.outcome}: {self.requirement} ({what} {number(self.figure.value, form)}{ends})"

    def as_json(self) -> dict[str, Any]:
        return {"requirement": self.requirement, "outcome": self.outcome.value, "figure": self.figure.as_json()}


def read_requirement(text: str) -> Requirement:
    """Read a requirement; which of its words are names is decided when the systems are known.

    Raises
    ------
    RelstudyError
        where it is neither a comparison nor a bound

    Examples
    --------
    >>> read_requirement("new > old by correlation").readings
    (('new', 'old', 'correlation'),)
    >>> bound = read_requirement("AP(rel=2)(new) > .3")
    >>> bound.readings, bound.bound
    ((('rel=2)(new', '', 'AP'), ('new', '', 'AP(rel=2)')), 0.3)
    """
    bounded = re.fullmatch(rf"(.+)\)\s*([<>])\s*({NUMBER})", text.strip())
    if bounded:
        left = bounded[1]
        brackets = [match.start() for match in re.finditer(r"\(", left)]
        readings = [(left[at + 1 :].strip(), "", left[:at].strip()) for at in brackets]
        readings = [each for each in readings if each[0] and each[2]]
        if readings:
            return Requirement(text, tuple(readings), (bounded[2],) * len(readings), float(bounded[3]))
    compared, signs = [], []
    for sign in re.finditer("[<>]", text):
        for by in re.finditer(r"\sby\s", text[sign.end() :]):
            first, second = text[: sign.start()].strip(), text[sign.end() : sign.end() + by.start()].strip()
            index = text[sign.end() + by.end() :].strip()
            if first and second and index:
                compared.append((first, second, index))
                signs.append(sign[0])
    if not compared:
        raise RelstudyError(
            f"a requirement reads like 'new > old by correlation' or 'correlation(new) > 0.3', not {text!r}"
        )
    return Requirement(text, tuple(compared), tuple(signs), None)


def answer(requirement: Requirement, result: ScoreResult) -> Answer:
    """A requirement held against a score result.

    Raises
    ------
    RelstudyError
        where it names a system or an index that the result does not have
    """
    names = [system.name for system in result.systems]
    for (first, second, index), sign in zip(requirement.readings, requirement.sign, strict=True):
        if first not in names or (second and second not in names) or first == second:
            continue
        figure = _lead(result, first, second, index) if second else _figure(result, first, index)
        if figure is None:
            continue
        if second and sign == "<":
            figure = figure.negated()
        more = sign == ">" or bool(second)
        return Answer(requirement.text, _outcome(figure, requirement.bound or 0.0, more), figure, bool(second))
    raise RelstudyError(_not_known(requirement, result))


def _outcome(figure: Estimate, bound: float, more: bool) -> Outcome:
    if figure.ends is None:
        return Outcome.UNDECIDED
    above, below = figure.ends[0] > bound, figure.ends[1] < bound
    if above or below:
        return Outcome.PASS if above == more else Outcome.FAIL
    return Outcome.UNDECIDED


def _lead(result: ScoreResult, first: str, second: str, name: str) -> Estimate | None:
    """The difference of two systems, above zero where the first is better."""
    index = result.index_called(name)
    if index is None:
        return None
    for each in result.comparisons:
        if each.index == index.name and {each.first, each.second} == {first, second}:
            ahead_is_above = (each.first == first) == (index.sign > 0)
            return each.difference if ahead_is_above else each.difference.negated()
    return None


def _figure(result: ScoreResult, system: str, name: str) -> Estimate | None:
    index = result.index_called(name)
    if index is None:
        return None
    as_shown = name.replace("_", " ").lower() != index.name.replace("_", " ").lower()
    return result[system].shown(index) if as_shown else result[system].estimate(index)


def _not_known(requirement: Requirement, result: ScoreResult) -> str:
    names = [system.name for system in result.systems]
    said = dict.fromkeys(name for first, second, _ in requirement.readings for name in (first, second) if name)
    missing = [name for name in said if name not in names]
    if missing and len(requirement.readings) == 1:
        return f"{requirement.text!r}: there is no system {missing[0]!r}; there are {listed_some(names, 12)}"
    terms = listed([index.term for index in result.indices], "or")
    if requirement.bound is None:
        return f"{requirement.text!r}: two systems ({listed_some(names, 12)}) are compared by {terms}"
    return f"{requirement.text!r}: a bound is on {terms} of a system ({listed_some(names, 12)})"


def exit_code(outcomes: Iterable[Outcome]) -> int:
    """The exit code: 0 where all pass, 1 where one fails, 3 where none fails and one is undecided."""
    seen: Sequence[Outcome] = list(outcomes)
    if Outcome.FAIL in seen:
        return 1
    return 3 if Outcome.UNDECIDED in seen else 0
