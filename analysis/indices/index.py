"""Indices: their names and words, their form on the page, their needs, and their computation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

import numpy as np

from relstudy.analysis.indices.pairs import Figure, SystemPairs
from relstudy.analysis.resampling.bootstrap import BootstrapStatistic
from relstudy.analysis.resampling.spread import SHARE, Transform
from relstudy.common.results.estimates import Estimate
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import capital

MOST_DIGITS = 6

Derivative = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray | float], np.ndarray]
"""Of an index with respect to what people say of each pair, float [pairs], from the ranking, what people say, the
weights, and the variance of what each of the second is the mean of."""


class Needs(StrEnum):
    """Part of people's judgments that an index takes."""

    JUDGMENTS = "judgments"
    RELEVANCE = "relevance"
    LISTS = "relevance within a query"
    BINARY = "relevant or not"
    GRADES = "whole grades"


@dataclass(frozen=True, kw_only=True, eq=False)
class Index:
    """A figure that says how good a system's scores are.

    Parameters
    ----------
    name : key in JSON and in tables
    term : what readers call it, in running text
    definition : how it is computed, as a phrase
    plain : what it measures, as a phrase for readers without statistics; "" where its name says it
    reading : how to read it, in sentences for readers without statistics; "" gives them the definition
    needs : what it takes of people's judgments; figures of relevance weigh pairs as precision and recall do, figures
        of judgments as the correlation does
    figure : the index of some pairs in replicates side by side; None where `draws` and `each_query` compute it
    draws : the index with its replicates
    each_query : the index within each query alone, float [queries], NaN where undefined
    better : whether more or less of it is better
    complement : whether readers are shown one minus it, so that more is better
    in_100 : whether sentences give it as times in 100
    also : further names that a requirement may use
    limited : whether it rests on all that is relevant in the population, which not every design can estimate
    scale : the scale on which its interval is symmetric
    guess, guess_label : what guessing gives, of the share of relevant pairs, and what that is called in a picture
    derivative : with respect to what people say of each pair; None where a further round cannot be aimed at it
    of_run : whether it is a measure of what a system retrieved, whatever pairs others score
    of_relevance_alone : whether raters change it through which pairs are relevant and in no other way; judgments under
        other raters are not drawn then
    source : where it is from

    Examples
    --------
    >>> from relstudy.analysis.resampling.spread import DIFFERENCE
    >>> def top(pairs):
    ...     first = pairs.ranking >= np.median(pairs.ranking)
    ...     return (pairs.weight * pairs.judgment)[first].sum(axis=0) / pairs.weight[first].sum(axis=0)
    >>> index = Index(
    ...     name="top_half", term="top half", definition="mean judgment of the better half",
    ...     needs=Needs.JUDGMENTS, figure=top, scale=DIFFERENCE,
    ... )
    >>> index.title, index.in_words(3.512)
    ('Top half', '3.51')
    """

    name: str
    term: str
    definition: str
    plain: str = ""
    reading: str = ""
    needs: Needs
    figure: Figure | None = None
    draws: Callable[[SystemPairs], BootstrapStatistic] | None = None
    each_query: Callable[[SystemPairs], np.ndarray] | None = None
    better: Literal["higher", "lower"] = "higher"
    complement: bool = False
    in_100: bool = False
    also: tuple[str, ...] = ()
    limited: bool = False
    scale: Transform = SHARE
    guess: Callable[[float | None], float | None] | None = None
    guess_label: str = "guessing"
    derivative: Derivative | None = field(default=None, repr=False)
    of_run: bool = False
    of_relevance_alone: bool = False
    source: str = ""

    def __post_init__(self) -> None:
        if self.figure is None and (self.draws is None or self.each_query is None):
            raise ValueError(f"index {self.name}: a figure is needed, or how it is computed over draws and by query")

    def is_called(self, text: str) -> bool:
        """True where a text is its name, its term or another of its names; case does not matter, and an underscore is
        as good as a space."""
        said = text.replace("_", " ").lower()
        return said in [each.replace("_", " ").lower() for each in (self.name, self.term, *self.also)]

    @property
    def title(self) -> str:
        """The term as a heading; nDCG stays nDCG."""
        return self.term if self.term[1:2].isupper() else capital(self.term)

    @property
    def explanation(self) -> str:
        """Its reading, in sentences."""
        return self.reading or f"{capital(self.definition)}."

    @property
    def sign(self) -> float:
        """1 where more is better, else -1."""
        return 1.0 if self.better == "higher" else -1.0

    @property
    def of_judgments(self) -> bool:
        """True where pairs count as in the correlation."""
        return self.needs is Needs.JUDGMENTS

    def over_draws(self, pairs: SystemPairs) -> BootstrapStatistic:
        """The index with its replicates."""
        if self.draws is not None:
            return self.draws(pairs)
        figure = pairs.over_draws(self._figure, self.of_judgments, self.scale)
        low, high = self.scale.lowest, self.scale.highest
        if figure.value < low - 1e-9 or figure.value > high + 1e-9:  # rounding apart
            ends = f"from {low:g} to {high:g}"
            raise RelstudyError(
                f"index {self.name}: its figure {figure.value:.3g} is not {ends}, the ends of its scale; "
                "scale=DIFFERENCE has none"
            )
        return figure

    def by_query(self, pairs: SystemPairs) -> np.ndarray:
        """The index within each query alone, float [queries], NaN where undefined."""
        if self.each_query is not None:
            return self.each_query(pairs)
        return pairs.in_each_query(self._figure, self.of_judgments)

    @property
    def _figure(self) -> Figure:
        assert self.figure is not None
        return self.figure

    def shown(self, figure: Estimate) -> Estimate:
        """The figure as readers see it."""
        if not self.complement:
            return figure
        turned = figure.negated()
        value, low, high = (None if end is None else 1 + end for end in (turned.value, turned.low, turned.high))
        return Estimate(value, low, high, turned.reason)

    def shown_difference(self, difference: Estimate) -> Estimate:
        """A difference of two figures as readers see them."""
        return difference.negated() if self.complement else difference

    @property
    def shown_better(self) -> Literal["max", "min"]:
        """The better direction of the figures that readers see."""
        return "max" if (self.better == "higher") != self.complement else "min"

    def in_words(self, value: float) -> str:
        """A value as a sentence gives it, with two digits.

        Examples
        --------
        >>> from relstudy.analysis.indices.registry import index_of
        >>> index_of("normalised_rank").in_words(0.385), index_of("average_precision").in_words(0.385)
        ('62 in 100', '0.39')
        """
        shown = 1 - value if self.complement else value
        return f"{100 * shown:.0f} in 100" if self.in_100 else f"{shown:.2f}"

    def size_in_words(self, size: float) -> str:
        """A difference's size, with as many digits as tell it from nothing."""
        scaled, digits = self._scaled(size)
        return f"{scaled:.{_digits(scaled, digits)}f}" + (" in 100" if self.in_100 else "")

    def range_in_words(self, low: float, high: float) -> str:
        """The ends of a difference that is clearly above zero, with digits enough to see that."""
        (low, digits), (high, _) = self._scaled(low), self._scaled(high)
        digits = _digits(low, digits)
        return f"{low:.{digits}f} to {high:.{digits}f}"

    def _scaled(self, size: float) -> tuple[float, int]:
        return (100 * size, 0) if self.in_100 else (size, 2)


def _digits(value: float, digits: int) -> int:
    while value and float(f"{value:.{digits}f}") == 0 and digits < MOST_DIGITS:
        digits += 1
    return digits
