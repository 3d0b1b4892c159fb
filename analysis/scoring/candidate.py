"""One system's scores, aligned with the judged pairs."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd

from relstudy.analysis.indices.judged_coverage import covered_name, depths_of, first_judged, judged_name, residuals
from relstudy.analysis.indices.measures import QueryValues, parsed_measure
from relstudy.analysis.indices.sample_estimators import is_estimable
from relstudy.analysis.indices.ties import TieRange, in_single_precision, tie_range
from relstudy.analysis.scoring.judged_pairs import JudgedPairs
from relstudy.analysis.scoring.known_directions import SystemDirection, direction_of
from relstudy.analysis.scoring.mapping_used import MappedScores
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.scoring.primary import asked_measures, unjudged_in
from relstudy.analysis.scoring.relevance import relevance_of
from relstudy.analysis.scoring.results import Coverage
from relstudy.analysis.scoring.sampled_measures import estimates
from relstudy.common.options.option_wording import option
from relstudy.common.runtime.control_characters import UNSEEN
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import percent
from relstudy.mapping.scores.coverage import LEAST_COVERAGE


@dataclass(frozen=True, eq=False)
class Candidate:
    """One system's scores, aligned with the judged pairs.

    Parameters
    ----------
    given : float [judged pairs], NaN where the system has no score
    score : the same with the coverage policy applied
    used : bool [judged pairs], the pairs that count for this system
    direction : which scores are better
    run : whether the scores are a TREC run's, which holds all that the system retrieved
    measures : under qrels, by query: each measure's value, of everything that the system retrieved or of what of it was
        judged, and the shares of its first results that are judged (`first_judged`); under a sample of known
        probabilities the measures that it estimates (`estimates`); under other judgments those shares alone; None where
        nothing is known
    in_single : measures to which trec_eval, in single precision, gives another value, and that value
    spelt : why ids of judged pairs without a score look like ids with one, as a clause; None where none do
    ties : what other orders of its equal scores would give; None where they change nothing, or that is not known
    """

    name: str
    given: np.ndarray
    score: np.ndarray
    used: np.ndarray
    direction: SystemDirection
    coverage: Coverage
    mapped: MappedScores | None = None
    run: bool = False
    measures: Mapping[str, QueryValues] | None = None
    ties: TieRange | None = None
    in_single: Mapping[str, float] | None = None
    spelt: str | None = None

    @property
    def ranking(self) -> np.ndarray:
        """Scores turned so that higher is better, of the pairs used."""
        return self.ranking_of(self.used)

    def ranking_of(self, used: np.ndarray) -> np.ndarray:
        """Scores turned so that higher is better, of some pairs (bool [judged pairs])."""
        return self.direction.turned(self.score[used])

    def scores_as(self, other: Candidate) -> bool:
        """True where another has the same scores in the same direction."""
        alike = np.array_equal(self.given, other.given, equal_nan=True)
        return alike and self.direction.higher == other.direction.higher


Progress = Callable[[Sequence[Candidate], str], Iterable[Candidate]]
"""Gives systems back one by one and shows how far it is with them; the text says what is done."""


def not_shown(candidates: Sequence[Candidate], what: str) -> Iterable[Candidate]:
    """The candidates, of which nothing is shown."""
    return candidates


def candidate_of(
    pairs: JudgedPairs,
    name: str,
    scores: pd.DataFrame,
    options: ScoringOptions,
    definite: Mapping[str, SystemDirection] | None = None,
    run: bool = False,
) -> Candidate:
    """Align a system's scores with the judged pairs and apply the coverage policy.

    Parameters
    ----------
    scores : query_id, result_id, score of this system
    definite : directions by system, where scores have one by definition or from a mapping; what `options` states
        comes first
    run : whether they are a TREC run's; it ranks the judged pairs that it does not hold below those that it does

    Raises
    ------
    RelstudyError
        where it scores no judged pair, or a table fewer than half of them without leave, or a measure cannot be
        computed
    """
    aligned = pairs.align_scores(scores)
    if not np.isfinite(aligned).any():
        raise RelstudyError(
            f"system {name!r} scores none of the {len(pairs)} judged pairs; "
            + (
                _spelt_otherwise({*pairs.query_id, *pairs.result_id}, scores)
                or "check that query_id and result_id are written the same way in both tables"
            )
        )
    without = ~np.isfinite(aligned)
    other = {text for text in {*pairs.query_id[without], *pairs.result_id[without]} if not text.isascii()}
    spelt = _spelt_otherwise(other, scores) if other else None
    direction = direction_of(pairs, name, aligned, options, definite)
    candidate = replace(candidate_from(pairs, name, aligned, options, direction, run), spelt=spelt)
    names = asked_measures(options)
    if not names:
        return candidate
    unjudged = unjudged_in(pairs, options)
    if unjudged == "weigh":
        return with_estimates(pairs, candidate, scores, options)
    if not pairs.qrels:
        return replace(candidate, measures=_known_of_first(pairs, names, scores, direction.higher))
    is_judged = pairs.judged(scores)
    shares = first_judged(depths_of(names), is_judged, pairs.queries, scores, direction.higher)
    if unjudged == "skip":
        scores = scores[is_judged]
    else:
        shares |= residuals(names, is_judged, pairs.queries, scores, direction.higher)
    evaluation = pairs.evaluation(names)
    measures = evaluation.of_run(pairs.queries, evaluation.run(scores, direction.higher))
    ties = tie_range(measures, evaluation, pairs.queries, scores, direction.higher)
    in_single = in_single_precision(measures, evaluation, pairs.queries, scores, direction.higher)
    return replace(candidate, measures=measures | shares, ties=ties, in_single=in_single)


def _spelt_otherwise(judged: set[str], scores: pd.DataFrame) -> str | None:
    """Why judged ids that look like ids of the scores are others, with the cure, as a clause; None where none do."""
    given = {*scores["query_id"].astype("str"), *scores["result_id"].astype("str")}
    judged, given = judged - given, given - judged
    for form, what in (
        (partial(unicodedata.normalize, "NFC"), "write accents the same way (Unicode NFC and NFD differ)"),
        (lambda text: UNSEEN.sub("", text), "remove characters of no width"),
        (lambda text: " ".join(text.split()), "remove line breaks and blanks inside ids"),
        (str.casefold, "write capitals the same way"),
    ):
        plain = {form(text): text for text in given}
        met = next((text for text in judged if form(text) in plain and text != plain[form(text)]), None)
        if met is not None:
            return f"{met!r} and {plain[form(met)]!r} are two ids: {what} in both tables"
    return None


def _known_of_first(
    pairs: JudgedPairs, names: Sequence[str], scores: pd.DataFrame, higher: bool
) -> dict[str, QueryValues] | None:
    """The shares of the first results of which the judged pairs speak, where measures are of these alone: that lie in
    the pool, or that are judged; None where the scores hold no others."""
    if pairs.pool is None and pairs.results_drawn:
        return None  # drawn from all results, which the judged ones stand for
    known = pairs.judged(scores) if pairs.pool is None else pairs.pooled(scores)
    if known[pairs.asked(scores)].all():
        return None
    shares = first_judged(depths_of(names), known, pairs.queries, scores, higher)
    if pairs.pool is None:
        return shares
    depths = [depth for depth in depths_of(names) if depth is not None]
    return {covered_name(depth): shares[judged_name(depth)] for depth in depths}


def with_estimates(
    pairs: JudgedPairs, candidate: Candidate, scores: pd.DataFrame, options: ScoringOptions, with_errors: bool = True
) -> Candidate:
    """The candidate with the measures asked for as a sample of known probabilities gives them.

    Parameters
    ----------
    scores : query_id, result_id, score of everything that the system scored
    with_errors : as in `relstudy.analysis.scoring.sampled_measures.estimates`
    """
    relevance = relevance_of(pairs, options.relevance, options.threshold)
    chosen = [str(parsed_measure(each)) for each in asked_measures(options) if is_estimable(each)]
    higher = candidate.direction.higher
    found = estimates(pairs, relevance, chosen, scores, higher, with_errors, candidate.name)
    return replace(candidate, measures=found)


def candidate_from(
    pairs: JudgedPairs,
    name: str,
    aligned: np.ndarray,
    options: ScoringOptions,
    direction: SystemDirection,
    run: bool = False,
) -> Candidate:
    """Apply the coverage policy to scores that are aligned with the judged pairs.

    Parameters
    ----------
    aligned : float [pairs], in the order of `pairs`, NaN where unscored
    direction : which scores are better
    run : whether they are a TREC run's, which policy "auto" ranks last where it does not hold a pair

    Raises
    ------
    RelstudyError
        where no judged pair is scored, or fewer than half of them without leave
    """
    scored = np.isfinite(aligned)
    count = int(scored.sum())
    if count == 0:
        raise RelstudyError(
            f"system {name!r} scores none of the {len(pairs)} judged pairs; check that query_id and result_id are "
            "written the same way in both tables"
        )
    if count < LEAST_COVERAGE * len(pairs) and not (options.low_coverage or run):
        raise RelstudyError(
            f"system {name!r} scores {count} of {len(pairs)} judged pairs ({percent(count / len(pairs))}), less than "
            f"half; say so to go on ({option('allow_low_coverage', True)}), and read the result with care"
        )
    unscored = np.flatnonzero(~scored)[:5]
    examples = tuple((str(pairs.query_id[i]), str(pairs.result_id[i])) for i in unscored)
    policy = ("worst" if run else "drop") if options.policy == "auto" else options.policy
    coverage = Coverage(count, len(pairs), policy, examples)
    score, used = aligned, scored
    if policy == "worst" and count < len(pairs):
        score = np.where(scored, aligned, worse_than_all(aligned[scored], direction.higher))
        used = np.ones(len(pairs), dtype=bool)
    return Candidate(name, aligned, score, used, direction, coverage, run=run)


def worse_than_all(scores: np.ndarray, higher: bool) -> float:
    """The nearest number that is worse than all scores; of a worst score of 0 one that mappings can divide by.

    Examples
    --------
    >>> worse_than_all(np.array([3.0, 1.0]), True) < 1, worse_than_all(np.array([0.0, 8.0]), True) * 2**50
    (True, -2.0)
    """
    worst = scores.min() if higher else scores.max()
    beyond = float(np.nextafter(worst, -np.inf if higher else np.inf))
    if abs(beyond - worst) >= np.finfo(float).tiny:
        return beyond
    step = np.finfo(float).eps * (np.ptp(scores) or 1.0)
    return float(worst - step if higher else worst + step)
