"""Ranks with ties, from every comparison in every measure.

A system is *ahead* of another where it is clearly better (after Holm's correction) by more than half of the measures
and clearly worse by none. That alone is no order: it may leave gaps (a ahead of b, b of c, a and c not told apart) and,
rarely, run in a circle. So the relation is followed along its chains, and systems in one circle are taken as tied. The
rank of a system is one more than the number of systems ahead of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from relstudy.analysis.scoring.compared import Comparison
from relstudy.analysis.scoring.results import ScoreResult
from relstudy.analysis.verdict.measures import LETTERS


@dataclass(frozen=True, eq=False)
class Standings:
    """The systems, best first, and who is ahead of whom.

    Parameters
    ----------
    names : best first: by rank, then by mean position over the measures
    measures : the indices that tell systems apart or could; empty with a single system
    clear : comparisons that are clear after correction, by the pair's two names, then by index
    beaten : bool [systems, systems]: whether the row is clearly better than the column by more than half of the
        measures, and clearly worse by none
    valued : whether a system has a value in any index; one without has no rank
    """

    names: tuple[str, ...]
    measures: tuple[str, ...]
    clear: Mapping[frozenset[str], Mapping[str, Comparison]]
    beaten: np.ndarray
    valued: Mapping[str, bool]

    @cached_property
    def _chains(self) -> np.ndarray:
        """Whether the row is ahead of the column, directly or along a chain: bool [systems, systems]."""
        return along_chains(self.beaten)

    @cached_property
    def _ahead(self) -> np.ndarray:
        return self._chains & ~self._chains.T

    @cached_property
    def _number(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.names)}

    def beats(self, first: str, second: str) -> bool:
        """Whether the comparison of the two alone puts the first ahead."""
        return bool(self.beaten[self._number[first], self._number[second]])

    def ahead(self, first: str, second: str) -> bool:
        """Whether the first is ahead, be it along a chain of others."""
        return bool(self._ahead[self._number[first], self._number[second]])

    def behind(self, name: str) -> list[str]:
        """The systems that this one is ahead of."""
        return [other for other in self.names if self.ahead(name, other)]

    def not_told_apart(self, name: str) -> list[str]:
        """The systems that are neither ahead of this one nor behind it."""
        if not self.valued[name]:
            return []
        return [
            other
            for other in self.names
            if other != name and self.valued[other] and not (self.ahead(name, other) or self.ahead(other, name))
        ]

    @cached_property
    def ranks(self) -> dict[str, int | None]:
        """Rank by system, 1 for the best; None for a system without any value."""
        before = self._ahead.sum(axis=0)
        return {name: int(before[k]) + 1 if self.valued[name] else None for k, name in enumerate(self.names)}

    def rank(self, name: str) -> str:
        """The rank as it is printed: "1=" where another system shares it, "–" where there is none."""
        rank = self.ranks[name]
        if rank is None:
            return "–"
        return f"{rank}=" if list(self.ranks.values()).count(rank) > 1 else str(rank)

    @cached_property
    def leaders(self) -> list[str]:
        """Systems that none is ahead of; empty where nobody is ahead of anybody.

        Of those that are not ahead of any other either, only such as stand before one that is: `apart` are the rest.
        """
        first = [name for name in self.names if self.ranks[name] == 1]
        last = max((k for k, name in enumerate(first) if self.behind(name)), default=-1)
        return first[: last + 1]

    @cached_property
    def apart(self) -> list[str]:
        """Systems that are neither ahead of nor behind any other, though some systems are, and stand after these."""
        if not self.leaders:
            return []
        return [name for name in self.names if self.ranks[name] == 1 and name not in self.leaders]

    @cached_property
    def circle(self) -> list[str]:
        """Systems that the measures put ahead of one another in a circle."""
        round_about = self._chains & self._chains.T
        return [name for k, name in enumerate(self.names) if round_about[k].any()]

    @cached_property
    def runs(self) -> list[tuple[int, int]]:
        """Bars that join systems which are not told apart: first and last position, each as long as can be."""
        bars: list[tuple[int, int]] = []
        for start in range(len(self.names)):
            end = start
            while end + 1 < len(self.names) and self._alike(start, end + 1):
                end += 1
            if end > start and not any(first <= start and end <= last for first, last in bars):
                bars.append((start, end))
        return bars

    def _alike(self, start: int, end: int) -> bool:
        """Whether the system at `end` is not told apart from any from `start` on."""
        if self.ranks[self.names[end]] is None:
            return False
        return not (self._ahead[start:end, end].any() or self._ahead[end, start:end].any())

    def letters(self, first: str, second: str) -> str:
        """The letters of the measures by which the first is clearly better than the second."""
        clear = self.clear_between(first, second)
        return "".join(LETTERS[index] for index, each in clear.items() if each.better == first)

    def clear_between(self, first: str, second: str) -> Mapping[str, Comparison]:
        """The clear comparisons of two systems by index."""
        return self.clear.get(frozenset((first, second)), {})


def along_chains(step: np.ndarray) -> np.ndarray:
    """Whether the column can be reached from the row in one or more steps, bool [n, n].

    Examples
    --------
    >>> step = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=bool)
    >>> along_chains(step)[0].tolist()
    [False, True, True]
    """
    reached = step.copy()
    while True:
        further = reached | ((reached.astype(np.float32) @ reached.astype(np.float32)) > 0)
        if np.array_equal(further, reached):
            return reached
        reached = further


def standings(result: ScoreResult) -> Standings:
    """The standings of a score result's systems, clear at its options' level."""
    alpha = 1 - result.options.level
    tested = [each for each in result.comparisons if each.p_holm is not None]
    measures = tuple(dict.fromkeys(each.index for each in tested))
    clear: dict[frozenset[str], dict[str, Comparison]] = {}
    for each in tested:
        if each.p_holm is not None and each.p_holm < alpha and each.better is not None:
            clear.setdefault(frozenset((each.first, each.second)), {})[each.index] = each
    given = [system.name for system in result.systems]
    positions: dict[str, list[int]] = {name: [] for name in given}
    for ordering in result.orderings:
        for position, name in enumerate(ordering.systems):
            positions[name].append(position)
    valued = {name: bool(positions[name]) or len(given) == 1 for name in given}
    unsorted = Standings(tuple(given), measures, clear, _beaten(given, measures, clear), valued)

    def place(name: str) -> tuple[float, float]:
        rank = unsorted.ranks[name]
        return np.inf if rank is None else rank, float(np.mean(positions[name])) if positions[name] else np.inf

    order = sorted(range(len(given)), key=lambda k: place(given[k]))
    beaten = unsorted.beaten[np.ix_(order, order)]
    return Standings(tuple(given[k] for k in order), measures, clear, beaten, valued)


def _beaten(
    names: Sequence[str], measures: Sequence[str], clear: Mapping[frozenset[str], Mapping[str, Comparison]]
) -> np.ndarray:
    """Whether the row is clearly better by more than half of the measures, and clearly worse by none."""
    number = {name: k for k, name in enumerate(names)}
    beaten = np.zeros((len(names), len(names)), dtype=bool)
    for pair, by_index in clear.items():
        winners = {each.better for each in by_index.values()}
        if len(winners) == 1 and 2 * len(by_index) > len(measures):
            winner = winners.pop()
            (loser,) = pair - {winner}
            if winner is not None:
                beaten[number[winner], number[loser]] = True
    return beaten
