"""A system's scores on the human scale, each from a mapping that has not seen the pair's query."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from relstudy.analysis.scoring.candidate import Candidate
from relstudy.analysis.scoring.judged_pairs import JudgedPairs
from relstudy.analysis.scoring.mapping_used import MappedScores, MappingOrigin, MappingUsed
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.mapping.cross_fitting import CrossFit, around_training_means, cross_fit
from relstudy.mapping.fitted import FittedMapping
from relstudy.mapping.methods import EVERY_METHOD, METHODS
from relstudy.mapping.saved_predictions import fingerprint, order_of_pairs
from relstudy.mapping.scored_pairs import FitSettings, ScoredPairs, fit_mapping


def map_scores(
    pairs: JudgedPairs, candidate: Candidate, options: ScoringOptions | None = None, given: FittedMapping | None = None
) -> Candidate:
    """The candidate with its mapped scores.

    Without a fitted mapping, `options.method` is fitted again for each fold of queries and applied to the queries left
    out. A fitted mapping may have been fitted on these very judgments, so its own correlation is given only as "in
    sample"; the figure that counts is again from folds, by the method of the given mapping: those kept with it where
    they are of these pairs, scores and judgments. A direction that is stated, or that scores have by definition, binds
    every fit; a given mapping that runs the other way then gives its method alone.

    Parameters
    ----------
    options : method, folds and seed; with fewer queries than folds each query is a fold, with one there is no mapping
    given : a fitted mapping of this system

    Examples
    --------
    >>> import pandas as pd
    >>> from relstudy.analysis.scoring.candidate import candidate_of
    >>> table = pd.DataFrame({"query_id": list("aabbcc"), "result_id": list("uvwxyz"), "judgment": [1, 5, 2, 4, 1, 4]})
    >>> pairs = JudgedPairs.of(table.assign(inclusion_probability=1.0))
    >>> candidate = candidate_of(pairs, "one", table.assign(score=table["judgment"] / 5), ScoringOptions())
    >>> map_scores(pairs, candidate).mapped.mapping.sentence()
    'isotonic, out of fold (3 folds by query, seed 0)'
    """
    options = options or ScoringOptions()
    method = given.method if given is not None and given.method in EVERY_METHOD else options.method
    if method == "none" or len(np.unique(pairs.query[candidate.used])) < 2:
        return candidate
    values, used = cross_fitted(pairs, candidate, method, options, given)
    whole = fitted_to_all(pairs, candidate, method, options, given)
    in_sample = np.full(len(pairs), np.nan)
    in_sample[candidate.used] = whole.predict(candidate.score[candidate.used])
    return replace(candidate, mapped=MappedScores(values, used, in_sample, whole))


def cross_fitted(
    pairs: JudgedPairs, candidate: Candidate, method: str, options: ScoringOptions, given: FittedMapping | None = None
) -> tuple[np.ndarray, MappingUsed]:
    """Mapped scores out of fold by one method, and where they come from.

    Parameters
    ----------
    given : a fitted mapping of this system, whose predictions out of fold are taken where they are of these pairs,
        scores, judgments, folds and direction

    Returns
    -------
    float [judged pairs], NaN where unscored; around the folds' training means, to be correlated with the judgments
    """
    used_pairs = _used(pairs, candidate)
    direction = direction_of_fits(candidate, given)
    settings = FitSettings(options.folds, options.seed, direction)
    used = MappingUsed(method, min(options.folds, len(np.unique(used_pairs.queries))), options.seed)
    crossed = None
    if given is not None:
        kept, why_anew = given.out_of_fold, "the saved one keeps no predictions"
        if kept is not None:
            print_of_pairs = _fingerprint(pairs, candidate, candidate.used)
            why_anew = kept.unfit(print_of_pairs, method, options.folds, options.seed, direction) or ""
            scored = np.isfinite(candidate.given)
            if scored.sum() < len(used_pairs) and kept.fingerprint == _fingerprint(pairs, candidate, scored):
                why_anew = "judged pairs without a score rank last here, and the saved one was fitted without them"
            if not why_anew:
                predictions = np.empty(len(used_pairs))
                order = order_of_pairs(used_pairs.queries, pairs.result_id[candidate.used])
                predictions[order] = kept.predictions[method]
                crossed = CrossFit(predictions, kept.noise[method])
                used = replace(used, origin=MappingOrigin.KEPT, weights=kept.weights)
                used_pairs = _used(pairs, candidate, kept.weights)
        if crossed is None:
            used = replace(used, origin=MappingOrigin.ANEW, why_anew=why_anew)
    crossed = crossed or cross_fit(used_pairs, method, settings)
    values = np.full(len(pairs), np.nan)
    values[candidate.used] = around_training_means(crossed.predictions, used_pairs, settings)
    return values, replace(used, noise=crossed.noise)


def fitted_to_all(
    pairs: JudgedPairs, candidate: Candidate, method: str, options: ScoringOptions, given: FittedMapping | None = None
) -> FittedMapping:
    """The mapping of all judged pairs: the given one, or fitted here where none is given or it runs the wrong way."""
    if given is not None and not (candidate.direction.binds and given.increasing != candidate.direction.higher):
        return given
    settings = FitSettings(options.folds, options.seed, direction_of_fits(candidate, given))
    return fit_mapping(_used(pairs, candidate), _whole(method), settings)


def direction_of_fits(candidate: Candidate, given: FittedMapping | None = None) -> str:
    """The direction that binds a system's fits: the candidate's where that binds, else the given mapping's own."""
    if candidate.direction.binds:
        return "higher" if candidate.direction.higher else "lower"
    return "auto" if given is None or given.out_of_fold is None else given.out_of_fold.direction


def _used(pairs: JudgedPairs, candidate: Candidate, weights: str = "equal") -> ScoredPairs:
    used = candidate.used
    by_design = weights == "design" and np.isfinite(pairs.probability[used]).all()
    design = 1 / pairs.probability[used] if by_design else None
    queries = pairs.query_id[used].astype(str)
    return ScoredPairs(candidate.score[used], pairs.judgment[used], queries, design, candidate.name)


def _fingerprint(pairs: JudgedPairs, candidate: Candidate, rows: np.ndarray) -> str:
    """Of some of the pairs, bool [judged pairs], with the candidate's scores."""
    return fingerprint(pairs.query_id[rows], pairs.result_id[rows], candidate.score[rows], pairs.judgment[rows])


def _whole(method: str) -> str:
    """The fit to all pairs is for pictures; where each fold chose its own method, the plain one stands for them."""
    return METHODS[0] if method == "best" else method
