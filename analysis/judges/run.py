"""Every index of every system, and every difference of two, with a judge's help."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from relstudy.analysis.indices.precision_recall import RELEVANT, at_share
from relstudy.analysis.indices.registry import own_indices
from relstudy.analysis.judges.estimator import Assisted, Terms, assist
from relstudy.analysis.judges.indices import assisted_indices, check_weighting, helped, terms_of, transform_of
from relstudy.analysis.judges.judged_by_both import Universe, context_for
from relstudy.analysis.judges.systems import NAME, CannotHelp, SystemsJudge, notes_on_help, universe_of
from relstudy.analysis.judges.table import JudgeTable
from relstudy.analysis.resampling.best_set import PairedStatistics, nothing_known, ranks_of
from relstudy.analysis.resampling.multiplicity import holm
from relstudy.analysis.resampling.spread import DIFFERENCE
from relstudy.analysis.scoring.candidate import Candidate
from relstudy.analysis.scoring.judged_pairs import JudgedPairs
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.scoring.results import Comparison, ScoreResult
from relstudy.common.runtime.errors import RelstudyError

FEWEST_QUERIES = 20
"""With fewer the weights of the systems' help are tuned to so little that intervals hold the truth less often."""
SHARES_HELPED = (0.02, 0.05, 0.1, 0.2, 0.5)
"""Of the collection, at which precision and recall get the help of systems' scores."""


@dataclass(frozen=True, eq=False)
class AssistedScores:
    """The part of a scoring run that a judge adds.

    Parameters
    ----------
    judge : the judge's table
    systems : per system, each index by name
    differences : of two systems (first minus second) on the pairs that both score, by their names and the index
    notes : what a person should know, one sentence each
    helper : what helps, where it is not a judge but the systems' scores
    alone : `systems` and `differences` by the judge alone; people have a part in what each of its grades is worth
    """

    judge: JudgeTable
    systems: Mapping[str, Mapping[str, Assisted]]
    differences: Mapping[tuple[str, str, str], Assisted]
    notes: tuple[str, ...] = ()
    helper: str | None = None
    alone: tuple[Mapping[str, Mapping[str, Assisted]], Mapping[tuple[str, str, str], Assisted]] = ({}, {})

    def or_shorter(self, other: AssistedScores) -> AssistedScores:
        """The same with every figure and difference from `other` whose interval is shorter there."""

        def shorter(ours: Assisted, theirs: Assisted) -> Assisted:
            return theirs if theirs.width < ours.width else ours

        systems = {
            name: {index: shorter(each, other.systems[name][index]) for index, each in figures.items()}
            for name, figures in self.systems.items()
        }
        differences = {key: shorter(each, other.differences[key]) for key, each in self.differences.items()}
        return replace(self, systems=systems, differences=differences)

    def decided(self, result: ScoreResult) -> dict[str, ScoreResult]:
        """A scoring run as the judge has it, by who judges: people with its help, and it alone.

        The primary index alone is theirs. Nothing where no judge can help with that index.

        Parameters
        ----------
        result : the run of people alone
        """
        index = result.primary.name
        ways = {f"people and {self.helper or self.judge.name}": (self.systems, self.differences)}
        if self.helper is None:
            ways[f"{self.judge.name} alone"] = self.alone
        ways = {
            who: (systems, differences)
            for who, (systems, differences) in ways.items()
            if systems and all(index in figures for figures in systems.values())
        }
        return {who: self._as(result, *way) for who, way in ways.items()}

    def _as(
        self,
        result: ScoreResult,
        systems: Mapping[str, Mapping[str, Assisted]],
        differences: Mapping[tuple[str, str, str], Assisted],
    ) -> ScoreResult:
        index, sign = result.primary.name, result.primary.index.sign
        kept = [each for each in result.systems if each.name in systems]
        couples = [differences[a.name, b.name, index] for a, b in combinations(kept, 2)]
        compared = [
            Comparison(
                *(a.name, b.name, index, each.estimate, each.p_value, p_holm, 0, None),
                None if each.p_value is None else each.degrees,
            )
            for (a, b), each, p_holm in zip(combinations(kept, 2), couples, _holm(couples), strict=True)
        ]
        ranks = nothing_known(len(kept))
        replicates = [each.replicates for each in couples]
        number = max((len(each) for each in replicates if each is not None), default=0)
        if number:
            nothing = np.full(number, np.nan)
            value = [np.nan if each.estimate.value is None else each.estimate.value for each in couples]
            paired = PairedStatistics.of(
                sign * np.array(value, dtype=float),
                np.array([each.standard_error for each in couples]),
                np.array([np.nan if each.replicates is None else each.degrees for each in couples]),
                sign * np.stack([nothing if each is None else each for each in replicates]),
                int(result.pairs["queries"]),
            )
            ranks = ranks_of(paired, result.options.level)
        assisted_systems = tuple(
            replace(each, indices={**each.indices, index: systems[each.name][index].estimate}) for each in kept
        )
        return replace(result, systems=assisted_systems, comparisons=tuple(compared), ranks=ranks)

    def into(self, content: dict[str, Any]) -> dict[str, Any]:
        """The JSON of a scoring run with the assisted figures in it."""
        for name, figures in self.systems.items():
            content["systems"][name]["assisted"] = {index: each.as_json() for index, each in figures.items()}
        p_holm = self._p_holm()
        for comparison in content["comparisons"]:
            key = (comparison["first"], comparison["second"], comparison["index"])
            if key in self.differences:
                figure = self.differences[key].as_json()
                comparison["assisted"] = figure | {"p_value": self.differences[key].p_value, "p_holm": p_holm[key]}
        content["judge"] = self.judge.as_json()
        return content

    def _p_holm(self) -> dict[tuple[str, str, str], float | None]:
        """p-values after Holm's correction within each index."""
        corrected: dict[tuple[str, str, str], float | None] = {}
        for index in dict.fromkeys(index for _, _, index in self.differences):
            keys = [key for key in self.differences if key[2] == index]
            corrected |= zip(keys, _holm([self.differences[key] for key in keys]), strict=True)
        return corrected

    def table(self) -> pd.DataFrame:
        """One row per system and index: people alone and with the judge's help, each with its ends, and the weights."""
        rows = []
        for system, figures in self.systems.items():
            for index, each in figures.items():
                both = {"": each.estimate, "people_": each.people}
                ends = {
                    f"{before}{end}": getattr(figure, end)
                    for before, figure in both.items()
                    for end in ("value", "low", "high")
                }
                weights = dict(zip(("lambda_sampled", "lambda_collection"), each.weights, strict=True))
                rows.append({"system": system, "index": index, **ends, **weights, "width_ratio": each.width_ratio})
        return pd.DataFrame(rows)


def _holm(differences: Sequence[Assisted]) -> list[float | None]:
    """p-values after Holm's correction within one index; None where a difference has none."""
    corrected = holm([np.nan if each.p_value is None else each.p_value for each in differences])
    return [None if np.isnan(p) else float(p) for p in corrected]


def assist_scores(
    universe: Universe,
    candidates: Sequence[Candidate],
    scores: Mapping[str, pd.DataFrame],
    indices: Collection[str] | None = None,
) -> AssistedScores:
    """Every index of every system with a judge's help.

    Parameters
    ----------
    universe : the judge's pairs beside the judged ones, as `Universe.of` has them
    candidates : the systems, as they are scored against the judged pairs
    scores : each system's table (query_id, result_id, score), which holds every pair that the judge was given
    indices : of the systems, which; None gives every index

    Raises
    ------
    RelstudyError
        where the judged pairs are no probability sample, the judge's table is of other pairs, or a system has no score
        for pairs of it
    """
    unweighed = check_weighting(universe)
    if unweighed is not None:
        raise RelstudyError(
            f"a judge can help only people's judgments that are a probability sample: {unweighed} "
            "(a column inclusion_probability beside the judgments cures it: where n of N pairs were sampled and "
            "judged, it is n / N in every row; relstudy judge check says how good the judge is)"
        )
    of_rows = {each.name: universe.judge.scores_of(scores[each.name], each) for each in candidates}
    return assisted_in(universe, candidates, of_rows, notes_on(universe), indices)


def assist_by_systems(
    helper: SystemsJudge,
    pairs: JudgedPairs,
    candidates: Sequence[Candidate],
    options: ScoringOptions,
    *,
    decided: float = 1.0,
    indices: Collection[str] | None = None,
) -> AssistedScores:
    """Every index of every system with the help of all systems' scores of the candidates that nobody judged.

    Parameters
    ----------
    helper : the systems' scores as a judge; where they stand beside an automatic one, a figure for which that one alone
        shortens more has its help alone
    candidates : the systems, as they are scored against `pairs`
    decided : the share of the pairs that people saw and could decide
    indices : of the systems, which; None gives every index, the relevant share, and precision and recall at
        SHARES_HELPED

    Raises
    ------
    CannotHelp
        where scores cannot help, with the reason
    """
    judge = helper.beside
    context = context_for(pairs, helper.table, options, options.raters if judge is None else "these")
    if len(pairs.queries) < FEWEST_QUERIES:
        raise CannotHelp(f"{len(pairs.queries)} judged queries are fewer than {FEWEST_QUERIES}, which tune its weights")
    universe = universe_of(helper, context, decided)
    helped = [each for each in candidates if each.name in helper.scores]
    wanted = indices
    if wanted is None:
        at_shares = [at_share(what, share) for what in ("precision", "recall") for share in SHARES_HELPED]
        wanted = [RELEVANT, *(index.name for index in assisted_indices()), *at_shares]
    if judge is None:
        return assisted_in(universe, helped, helper.scores, notes_on_help(helper, universe), wanted, NAME)
    notes = [*notes_on(universe), "The systems' own scores help beside the judge's grades where that shortens more."]
    by_judge = assisted_in(Universe(judge, context), helped, helper.scores, notes, wanted)
    return by_judge.or_shorter(assisted_in(universe, helped, helper.scores, notes, wanted))


def assisted_in(
    universe: Universe,
    candidates: Sequence[Candidate],
    of_rows: Mapping[str, np.ndarray],
    notes: Sequence[str],
    indices: Collection[str] | None = None,
    helper: str | None = None,
) -> AssistedScores:
    """Every index of every system, and every difference of two, with what a universe's rows are worth.

    Parameters
    ----------
    of_rows : each system's scores of the universe's rows, float [rows], as they are
    notes : what a person should know, one sentence each
    indices : of the systems, which; None gives every index
    helper : what helps, where it is not a judge
    """
    context, options = universe.context, universe.context.options
    clusters, level = {each.name: context.queries_of(each.used) for each in candidates}, options.level
    compared = [index.name for index in own_indices() if index in assisted_indices()]
    alone: dict[str, dict[str, Assisted]] = {}
    apart: dict[tuple[str, str, str], Assisted] = {}
    kept = None if indices is None else {*indices, *compared}
    of_judge = helper is None
    terms = {each.name: terms_of(universe, each, of_rows[each.name], each.used, kept, of_judge) for each in candidates}
    if not of_judge:
        terms = {
            name: {index: each.unless_rare() for index, each in figures.items()} for name, figures in terms.items()
        }
    systems = {
        name: {
            index: assist(helped(index, each), clusters[name], transform_of(index), level)
            for index, each in by_index.items()
            if indices is None or index in indices
        }
        for name, by_index in terms.items()
    }
    differences = {}
    for first, second in combinations(candidates, 2):
        both = first.used & second.used
        shared = context.queries_of(both)
        left, right = (
            terms[each.name]
            if (each.used == both).all()
            else terms_of(universe, each, of_rows[each.name], both, compared, of_judge)
            for each in (first, second)
        )
        for index in compared:
            difference: Terms = left[index] - right[index]
            differences[first.name, second.name, index] = assist(helped(index, difference), shared, DIFFERENCE, level)
            if of_judge:
                apart[first.name, second.name, index] = assist(difference.of_judge(), shared, DIFFERENCE, level)
    for name, by_index in terms.items() if of_judge else ():
        alone[name] = {
            index: assist(by_index[index].of_judge(), clusters[name], transform_of(index), level) for index in compared
        }
    return AssistedScores(universe.judge, systems, differences, tuple(notes), helper, (alone, apart))


def notes_on(universe: Universe) -> list[str]:
    """Notes on a judge's help, one sentence each."""
    judge, context = universe.judge, universe.context
    answered = judge.answered
    notes = [f"Figures with the help of judge {judge.name}, and people's beside them, speak of these raters alone."]
    notes += judge.notes()
    if not answered.all():
        said = judge.as_json()["status"].items()
        what = ", ".join(f"{many} {status.replace('_', ' ')}" for status, many in said if status != "ok")
        notes.append(
            f"Judge {judge.name}: {int((~answered).sum())} of {len(judge)} pairs have no answer ({what}); they count "
            "as a grade of their own."
        )
    absent = int((~universe.given).sum())
    if absent:
        notes.append(
            f"Judge {judge.name}: {absent} of {len(context.pairs)} judged pairs were not given to the judge; its help "
            "is to the others."
        )
    if universe.partial:
        notes.append(
            f"Judge {judge.name} was not given all of the collection: precision and recall are at shares of it that "
            "people's sample estimates, and their intervals allow for that."
        )
    if universe.judged_alone:
        notes.append(
            f"Judge {judge.name} was given the judged pairs alone, so it cannot help: it must be given every candidate "
            "of the judged queries, or of all queries."
        )
    elif not universe.beyond:
        notes.append(
            f"Judge {judge.name} was given pairs of the judged queries alone: it can shorten what comes of the choice "
            "of pairs, and not what comes of the choice of queries."
        )
    elif (judge.probability == 1).all():
        notes.append(
            f"Figures with the help of judge {judge.name} speak of the {len(judge.queries[1])} queries that it was "
            "given."
        )
    return notes
