"""The best set, pairs of systems that are told apart, and the order of display: by the primary index alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from relstudy.analysis.indices.index import Index
from relstudy.analysis.indices.judged_coverage import COVERED, JUDGED
from relstudy.analysis.indices.registry import CONDENSED, judged_beside
from relstudy.analysis.scoring.results import Comparison, ScoreResult
from relstudy.common.results.estimates import Estimate

MOST_IN_MATRIX = 12
"""A matrix of more systems is too wide for a screen."""
MOST_OPEN = 0.1
"""Of a system's first results, so many may lie outside what is judged without a word, or so many more than the first
system's."""


def first_results(result: ScoreResult) -> str | None:
    """The name of the share of first results that are judged, or of which something judged speaks, as deep as the
    primary index looks, else as the first measure; None where it is not known."""
    decides = judged_beside(result.primary.index)
    at = [name for name in result.first_judged if name.startswith((COVERED, JUDGED))]
    return decides if decides in at else at[0] if at else None


def open_share(result: ScoreResult, name: str) -> float:
    """The share of a system's first results that are not judged; 0 where it is not known."""
    known = first_results(result)
    return 0.0 if known is None else 1.0 - result[name].first_judged.get(known, 1.0)


@dataclass(frozen=True, eq=False)
class Standings:
    """The systems, best first.

    Parameters
    ----------
    names : the best set and then the others, each by estimate
    low, high : int [systems], the ends of each rank's interval
    better : bool [systems, systems], whether the column is ahead of the row by the paired interval of the two alone
    valued : bool [systems], whether a system has a value; one without has no rank
    compared : every comparison by its two names, then by index
    alpha : of intervals and tests
    unseen : systems of whose first results too few are judged to say that they are behind
    """

    names: tuple[str, ...]
    low: np.ndarray
    high: np.ndarray
    better: np.ndarray
    valued: np.ndarray
    compared: Mapping[frozenset[str], Mapping[str, Comparison]]
    alpha: float
    unseen: tuple[str, ...] = ()

    @cached_property
    def _number(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.names)}

    @cached_property
    def best(self) -> list[str]:
        """The best set: systems that may be the best of all."""
        return [
            name for name, low, valued in zip(self.names, self.low, self.valued, strict=True) if valued and low == 1
        ]

    @cached_property
    def others(self) -> list[str]:
        """Systems with a value that are surely not the best."""
        return [name for name, valued in zip(self.names, self.valued, strict=True) if valued and name not in self.best]

    @property
    def comparable(self) -> bool:
        """True where any two systems are compared by the primary index."""
        return int(self.valued.sum()) > 1

    def ahead(self, first: str, second: str) -> bool:
        """True where the first is ahead of the second by the interval of the two alone, whoever else is there."""
        return bool(self.better[self._number[second], self._number[first]])

    def behind(self, name: str) -> list[str]:
        """The systems that this one is ahead of."""
        return [other for other in self.names if self.ahead(name, other)]

    def not_told_apart(self, name: str) -> list[str]:
        """The systems that are neither ahead of this one nor behind it."""
        if not self.valued[self._number[name]]:
            return []
        return [
            other
            for other, valued in zip(self.names, self.valued, strict=True)
            if other != name and valued and not (self.ahead(name, other) or self.ahead(other, name))
        ]

    def ranks(self, name: str) -> tuple[int, int] | None:
        """The ends of a system's rank; None where it has no value."""
        number = self._number[name]
        return (int(self.low[number]), int(self.high[number])) if self.valued[number] else None

    def rank(self, name: str) -> str:
        """The rank as it is printed: "2", "1-3", or "–" if there is none."""
        ends = self.ranks(name)
        if ends is None:
            return "–"
        return str(ends[0]) if ends[0] == ends[1] else f"{ends[0]}-{ends[1]}"

    def comparison(self, index: str, first: str, second: str) -> Comparison | None:
        """The comparison of two systems by an index, whichever is named first, or None."""
        return self.compared.get(frozenset((first, second)), {}).get(index)

    def from_the_first(self, index: Index, name: str) -> Estimate:
        """A system's figure minus the first's, as readers see the index; below zero it is behind. Empty of the first
        itself, and where the two are not compared."""
        first = self.names[0]
        compared = None if name == first else self.comparison(index.name, first, name)
        if compared is None:
            return Estimate.missing("" if name == first else "not compared")
        shown = index.shown_difference(compared.difference)
        return shown.negated() if compared.first == first else shown

    def clear_by(self, index: str, first: str, second: str) -> str | None:
        """The system that is clearly better by an index after correction over its family; None where neither is."""
        found = self.comparison(index, first, second)
        if found is None or found.p_family is None or found.p_family >= self.alpha:
            return None
        return found.better

    def mark(self, index: str, first: str, name: str) -> str:
        """The mark of a system beside the first by an index: "=", "▼" clearly behind, "▲" ahead; "–" not compared.

        Returns "" for the first itself.
        """
        if name == first:
            return ""
        found = self.comparison(index, first, name)
        if found is None or found.p_family is None:
            return "–"
        better = self.clear_by(index, first, name)
        return "=" if better is None else "▲" if better == name else "▼"


def standings(result: ScoreResult) -> Standings:
    """The standings of a score result's systems.

    Results that nobody judged add nothing to a condensed measure, so a system with far more of them than the first is
    not known to be behind anybody.
    """
    names = [system.name for system in result.systems]
    values = [system.estimate(result.primary.index).value for system in result.systems]
    ranks, valued = result.ranks, np.array([value is not None for value in values])
    good = result.primary.index.sign * np.array(values, dtype=float)
    is_open = np.zeros(len(names), dtype=bool)
    if result.primary.name.startswith(CONDENSED) and valued.any():
        share = np.array([open_share(result, name) for name in names])
        is_open = share - share[np.nanargmax(good)] > MOST_OPEN
        ranks = replace(ranks, low=np.where(is_open, 1, ranks.low), better=ranks.better & ~is_open[:, None])
    order = ranks.in_order(good)
    compared: dict[frozenset[str], dict[str, Comparison]] = {}
    for each in result.comparisons:
        compared.setdefault(frozenset((each.first, each.second)), {})[each.index] = each
    if result.options.reverses:
        valued = np.zeros_like(valued)
    without = int((~valued).sum())
    high = np.minimum(ranks.high, len(names) - without)  # a system without a value takes no rank
    return Standings(
        tuple(names[k] for k in order),
        ranks.low[order],
        high[order],
        ranks.better[np.ix_(order, order)],
        valued[order],
        compared,
        1 - result.options.level,
        tuple(name for name, yet in zip(names, is_open, strict=True) if yet),
    )
