"""What the paper's tables are made of, read once and given to each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from relstudy.analysis.indices.correlation import CorrelationBootstrap
from relstudy.analysis.report.inputs import StudyTables
from relstudy.analysis.report.selection import chose_pairs
from relstudy.analysis.report.words import order_of
from relstudy.analysis.resampling.bootstrap import BootstrapStatistic
from relstudy.analysis.resampling.draws import Draws
from relstudy.analysis.scoring.judged import JudgedPairs
from relstudy.analysis.scoring.results import ScoreResult, SystemScore
from relstudy.calibration.ratings import Ratings
from relstudy.common.pairs_table import RANDOM, source_members


@dataclass(frozen=True, eq=False)
class PaperStudy:
    """A study with its scores, as the paper's tables take it.

    Parameters
    ----------
    tables : as `read_study` gives them
    result : its scores
    interfaces : calibrated ratings by the name of the interface they were given on, this study's own first
    author : the rater whose ratings table 5.9 sets apart; None takes whoever gave most
    with_pictures : whether pictures of the collection are put into the page
    """

    tables: StudyTables
    result: ScoreResult
    interfaces: Mapping[str, Ratings] = field(default_factory=dict)
    author: str | None = None
    with_pictures: bool = True

    def picture_of(self, item: str) -> bytes | None:
        """The picture of an item, as bytes of an image file; None where it has none that the page shows."""
        items = self.tables.items if self.with_pictures else None
        file = None if items is None else items.picture(item)
        return None if file is None else file.read_bytes()

    @cached_property
    def pairs(self) -> JudgedPairs:
        """The judged pairs."""
        return JudgedPairs.of(self.tables.judgments)

    @cached_property
    def draws(self) -> Draws:
        """The bootstrap's draws of the judged pairs."""
        options = self.result.options
        return self.pairs.draws(options.replicates, options.seed, options.population)

    @cached_property
    def selections(self) -> dict[str, np.ndarray]:
        """The judged pairs that each system selected, bool [pairs]; empty where no source is known."""
        sources = self.tables.pair_column("source")
        members = {} if sources is None else source_members(sources)
        return {name: chosen for name, chosen in members.items() if name != RANDOM}

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
        chose = chose_pairs([system.name for system in self.systems], self.tables.pair_column("source"))
        return [system.name for system in self.systems if system.name in chose]
