"""Inputs of the paper's tables, read once and given to each of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pandas as pd

from relstudy.analysis.indices.correlation import CorrelationBootstrap
from relstudy.analysis.report.inputs import PageTables, panels, with_source_and_round
from relstudy.analysis.report.words import order_of
from relstudy.analysis.resampling.bootstrap import BootstrapStatistic
from relstudy.analysis.resampling.draws import Draws
from relstudy.analysis.scoring.judged_pairs import JudgedPairs
from relstudy.analysis.scoring.results import ScoreResult, SystemScore
from relstudy.calibration.panel import Panel
from relstudy.calibration.tables.ratings import Ratings
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR
from relstudy.common.tables.meaning.pairs_table import COMBINED, RANDOM, source_members

PAPERS_ORDER = ("gift", "simplicity", "romm-calib", "keywords")
"""The systems of tables 5.3 to 5.6."""


def in_the_papers_order(names: Iterable[str]) -> list[str]:
    """The systems of tables 5.3 to 5.6 in their order, then the others as they come.

    Examples
    --------
    >>> in_the_papers_order(["keywords", "bm25", "gift"])
    ['gift', 'keywords', 'bm25']
    """
    rank = {name: position for position, name in enumerate(PAPERS_ORDER)}
    return sorted(names, key=lambda name: rank.get(name, len(rank)))


@dataclass(frozen=True, eq=False)
class PaperStudy:
    """A study with its scores, as the paper's tables take it.

    Parameters
    ----------
    tables : what the page of the study shows
    result : its scores
    interfaces : calibrated ratings by the name of the interface they were given on, this study's own first
    author : the rater whose ratings table 5.9 sets apart; None takes whoever gave most
    with_pictures : whether pictures of the collection are put into the page
    paradigm : the queries it is of, "image" or "text"; empty where all are of one kind
    by_text : the same study's queries by text, which the paper keeps apart (section 5.7), or None
    """

    tables: PageTables
    result: ScoreResult
    interfaces: Mapping[str, Ratings] = field(default_factory=dict)
    author: str | None = None
    with_pictures: bool = True
    paradigm: str = ""
    by_text: PaperStudy | None = None

    def picture_of(self, item: str) -> bytes | None:
        """The picture of an item, as bytes of an image file; None where it has none that the page shows."""
        items = self.tables.items if self.with_pictures else None
        file = None if items is None else items.picture(item)
        return None if file is None else file.read_bytes()

    @cached_property
    def pairs(self) -> JudgedPairs:
        """The judged pairs."""
        pairs = JudgedPairs.of(self.tables.judgments)
        return pairs.part(self._inside) if self.paradigm else pairs

    @property
    def _inside(self) -> np.ndarray:
        """The judged pairs of this paradigm, bool [all judged pairs]."""
        column = self.tables.pair_column("paradigm")
        judged = len(self.tables.judgments)
        return np.ones(judged, bool) if column is None or not self.paradigm else column == self.paradigm

    @cached_property
    def drawn(self) -> pd.DataFrame | None:
        """The pairs as they were drawn; None where that is not known."""
        pairs = self.tables.pairs
        return pairs if pairs is None or not self.paradigm else pairs[pairs["paradigm"] == self.paradigm]

    @cached_property
    def ratings(self) -> Ratings | None:
        """The ratings, as `PageTables.ratings`."""
        ratings, pairs = self.tables.ratings, self.drawn
        if ratings is None or pairs is None or not self.paradigm:
            return ratings
        asked = pd.MultiIndex.from_frame(ratings.frame[PAIR]).isin(pd.MultiIndex.from_frame(pairs[PAIR]))
        return replace(ratings, frame=ratings.frame[asked].reset_index(drop=True))

    @cached_property
    def panels(self) -> tuple[Panel, Panel | None] | None:
        """`panels` of the ratings; None without ratings."""
        return None if self.ratings is None else panels(self.ratings)

    @cached_property
    def answers(self) -> pd.DataFrame | None:
        """The ratings with the source and round of their pair; None where either is not known."""
        if self.ratings is None or self.drawn is None:
            return None
        return with_source_and_round(self.ratings, self.drawn)

    @cached_property
    def interface_panels(self) -> dict[str, tuple[Panel, Panel | None]]:
        """`panels` of each interface's ratings: the same people's before and after, so without ratings that calibration
        left out, with the rater who gave them."""
        return {name: _of_the_same(*panels(ratings)) for name, ratings in self.interfaces.items()}

    @cached_property
    def sources(self) -> np.ndarray | None:
        """The systems that chose each judged pair, as pairs.csv has them, text [pairs]; None where not known."""
        column = self.tables.pair_column("source")
        return None if column is None else column[self._inside]

    @cached_property
    def draws(self) -> Draws:
        """The bootstrap's draws of the judged pairs."""
        options = self.result.options
        return self.pairs.draws(options.replicates, options.seed, options.population)

    @cached_property
    def selections(self) -> dict[str, np.ndarray]:
        """The judged pairs that each system selected, bool [pairs], in the paper's order; empty where none is known.

        Pairs that a later round drew by all systems together come last.
        """
        members = {} if self.sources is None else source_members(self.sources)
        names = in_the_papers_order(name for name in members if name not in (RANDOM, COMBINED))
        last = [COMBINED] if COMBINED in members else []
        return {name: members[name] for name in (*names, *last)}

    def pearson(
        self, pairs: np.ndarray, mapped: np.ndarray, judgments: np.ndarray, weight: np.ndarray | None = None
    ) -> BootstrapStatistic:
        """Correlation of mapped scores with judgments, over replicates of the draws.

        Parameters
        ----------
        pairs : numbers of the judged pairs, int [n]
        mapped, judgments : float [n]
        weight : float [n]; None counts all alike
        """
        judged = CorrelationBootstrap(self.draws.row[pairs], judgments, self.draws.times, weight)
        return judged.correlate(mapped, ("pearson",))["pearson"]

    @property
    def systems(self) -> Sequence[SystemScore]:
        """Every system, best correlation first."""
        return order_of(self.result)

    @property
    def selecting(self) -> list[str]:
        """The systems that chose pairs and are scored, best first; all where it is not known."""
        chose = chose_pairs([system.name for system in self.systems], self.sources)
        return [system.name for system in self.systems if system.name in chose]


def chose_pairs(names: Sequence[str], sources: np.ndarray | None) -> list[str]:
    """The systems that proposed any of the pairs; all of them where none did, or where it is not known.

    Examples
    --------
    >>> chose_pairs(["a", "b", "new"], np.array(["a", "b;a", "random"]))
    ['a', 'b']
    >>> chose_pairs(["new"], np.array(["a", "random"]))
    ['new']
    """
    members = {} if sources is None else source_members(sources)
    return [name for name in names if name in members] or list(names)


def _of_the_same(raw: Panel, calibrated: Panel | None) -> tuple[Panel, Panel | None]:
    if calibrated is None:
        return raw, None
    both = ~np.isnan(calibrated.rating)
    return raw.keep(both), calibrated.keep(both)
