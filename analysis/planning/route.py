"""A simulated study on its way through calibrate and score, as far as a comparison by some indices needs it.

What `relstudy score` would say of the same tables, without the figures that nobody asks for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from relstudy.analysis.indices.index import Index
from relstudy.analysis.indices.registry import CONDENSED, bare_name
from relstudy.analysis.planning.simulated_worlds import Study
from relstudy.analysis.resampling.best_set import PairedStatistics, Ranks, ranks_of
from relstudy.analysis.resampling.bootstrap import BootstrapStatistic
from relstudy.analysis.resampling.spread import PAIRED
from relstudy.analysis.scoring.candidate import Candidate, candidate_from, with_estimates
from relstudy.analysis.scoring.comparison import on_common_queries, p_value
from relstudy.analysis.scoring.context import ScoringContext
from relstudy.analysis.scoring.judged_pairs import JudgedPairs
from relstudy.analysis.scoring.known_directions import DirectionSource, SystemDirection
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.scoring.primary import asked_measures, unjudged_in
from relstudy.analysis.scoring.scored_pairs import ScoredPairs
from relstudy.calibration.options import CalibrationOptions
from relstudy.calibration.pipeline import Calibration, calibrate
from relstudy.calibration.tables.ratings import Ratings
from relstudy.common.sampling.design_reach import REACH
from relstudy.common.sampling.response_rates import DRAWN
from relstudy.common.tables.meaning.inclusion_probabilities import PROBABILITIES
from relstudy.common.tables.meaning.pair_assignment import HandOut
from relstudy.common.tables.meaning.scales import KnownScale

REPLICATES = 200
DEFAULT = CalibrationOptions()


@dataclass(frozen=True, eq=False)
class ScoredStudy:
    """A study's systems against its judgments.

    Parameters
    ----------
    calibration : of the ratings, with the probabilities of the pairs
    context : the judged pairs with their draws
    candidates : the systems
    """

    calibration: Calibration
    context: ScoringContext
    candidates: tuple[Candidate, ...]

    @classmethod
    def of(
        cls,
        study: Study,
        seed: int = 0,
        calibration: CalibrationOptions = DEFAULT,
        replicates: int = REPLICATES,
        primary: str | None = None,
        asked: Sequence[Index] | None = None,
    ) -> ScoredStudy:
        """Calibrated and laid beside the scores, with the defaults of both commands but for the replicates.

        Parameters
        ----------
        primary : the index that decides; None: the one that score would choose
        asked : the indices whose figures are asked for, beside the primary one; None: those that every run has
        """
        calibrated = calibrate(_ratings(study), calibration, alone=True, described=False)
        judgments = calibrated.judgments
        rated = len(judgments) / len(study.pairs)
        frame = judgments.frame.assign(inclusion_probability=judgments.frame["inclusion_probability"] * rated)
        if rated < 1:
            frame[DRAWN] = len(study.pairs)
        proposers = tuple(sorted(study.pairs["source"].unique()))
        pairs = JudgedPairs.of(replace(judgments, frame=frame, proposers=proposers))
        names = [each.name for each in asked or () if each.of_run]
        condensed = any(name.startswith(CONDENSED) for name in (*names, primary or ""))
        bare = tuple(bare_name(name) for name in names)
        measures = asked_measures(ScoringOptions(measures=bare, primary=primary))
        options = ScoringOptions(
            replicates=replicates,
            seed=seed,
            measures=measures,
            primary=primary,
            unjudged="skip" if condensed else "auto",
            directions={"*": "higher"},
        )
        context = ScoringContext(pairs, options, asked=asked)
        place = frame["pair_id"].str[1:].astype(int).to_numpy()
        direction = SystemDirection(True, DirectionSource.STATED)
        candidates = [
            candidate_from(pairs, name, score[study.row[place]], options, direction)
            for name, score in study.world.collection.scores.items()
        ]
        if measures and unjudged_in(pairs, options) == "weigh":
            whole = study.rankings.groupby("system", sort=False)
            candidates = [
                with_estimates(pairs, each, whole.get_group(each.name), options, with_errors=False)
                for each in candidates
            ]
        return cls(calibrated, context, tuple(candidates))

    def figures(self, index: Index) -> list[BootstrapStatistic]:
        """Every system's figure by an index, over queries and raters."""
        return [ScoredPairs.of(self.context, each).figure(index) for each in self.candidates]

    def comparison(self, index: Index) -> ComparedSystems:
        """All systems against each other by an index."""
        figures = self.figures(index)
        differences = []
        for a, b in combinations(range(len(figures)), 2):
            apart = on_common_queries(self.context, self.candidates[a], self.candidates[b])
            differences.append(apart.get(index.name) or (figures[a] - figures[b]).over_raters())
        return ComparedSystems.of(differences, index, self.context.draws.queries)


def _ratings(study: Study) -> Ratings:
    """The ratings as `read_ratings` would give them, with the pairs' probabilities and the design's reach."""
    row = study.ratings["pair_id"].str[1:].astype(int).to_numpy()
    of_pairs = {name: study.pairs[name].to_numpy()[row] for name in (*PROBABILITIES, REACH)}
    frame = study.ratings.assign(base=study.ratings["block"] == "base", **of_pairs)
    scale = KnownScale(study.world.people.on, "column", "by the column scale")
    return Ratings(frame, scale, base_rule="the column block", handed_out=HandOut.RANDOM)


@dataclass(frozen=True, eq=False)
class ComparedSystems:
    """Systems against each other by one index, as `relstudy.analysis.scoring.comparison.compare` has it.

    Parameters
    ----------
    better : of every two systems, the first before the second: the first's figure less the second's, turned so that a
        positive one is better, float [couples]
    p_value : two-sided, NaN where the design withholds the index, float [couples]
    error, freedom : standard error of each difference and its degrees of freedom, float [couples]
    ranks : the systems' ranks, with the best set
    reason : why the first two are not compared; None where they are
    """

    better: np.ndarray
    p_value: np.ndarray
    error: np.ndarray
    freedom: np.ndarray
    ranks: Ranks
    reason: str | None = None

    @classmethod
    def of(cls, differences: Sequence[BootstrapStatistic], index: Index, queries: int) -> ComparedSystems:
        """From the differences of every two systems over so many queries, over raters already."""
        spreads = [each.spread(PAIRED, each.clusters or queries) for each in differences]
        p = np.array([p_value(each, spread) for each, spread in zip(differences, spreads, strict=True)])
        finite = np.isfinite(p)
        better = index.sign * np.array([each.value for each in differences])
        error, freedom = np.array([(each.standard_error, each.degrees) for each in spreads]).T
        paired = PairedStatistics.of(
            better,
            np.where(finite, error, np.nan),
            np.where(finite, freedom, np.nan),
            index.sign * np.stack([each.replicates for each in differences]),
            queries,
        )
        reason = differences[0].reason or differences[0].withheld
        return cls(better, p, error, freedom, ranks_of(paired), reason)
