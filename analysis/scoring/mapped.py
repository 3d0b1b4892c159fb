"""A system's scores on the human scale, each from a mapping that has not seen the pair's query."""

from __future__ import annotations

import numpy as np
import pandas as pd

from relstudy.analysis.scoring.candidate import Candidate, MappedScores, with_mapping
from relstudy.analysis.scoring.judged import JudgedPairs
from relstudy.mapping.fitted import FittedMapping
from relstudy.mapping.folds import folds_by_group
from relstudy.mapping.selection import METHODS, cross_fit, fit_mapping


def map_scores(
    pairs: JudgedPairs,
    candidate: Candidate,
    method: str = "isotonic",
    folds: int = 10,
    seed: int = 0,
    given: FittedMapping | None = None,
) -> Candidate:
    """The candidate with its mapped scores.

    Without a fitted mapping, `method` is fitted anew for each fold of queries and applied to the queries left out.
    A fitted mapping may have been fitted on these very judgments, so its own correlation is given only as "in
    sample"; the figure that counts is again from folds, by the method of the given mapping.

    Parameters
    ----------
    method : isotonic, bagged, correlation, bayes, best, or none (no mapping at all)
    folds : at least 2; with fewer queries than folds each query is a fold; with a single query there is no mapping
    given : a fitted mapping of this system

    Examples
    --------
    >>> import pandas as pd
    >>> from relstudy.analysis.scoring.candidate import candidate_of
    >>> from relstudy.analysis.scoring.run import ScoringOptions
    >>> table = pd.DataFrame({"query_id": list("aabbcc"), "result_id": list("uvwxyz"), "judgment": [1, 5, 2, 4, 1, 4]})
    >>> pairs = JudgedPairs.of(table.assign(inclusion_probability=1.0))
    >>> candidate = candidate_of(pairs, "one", table.assign(score=table["judgment"] / 5), ScoringOptions())
    >>> map_scores(pairs, candidate).mapped.mapping
    'isotonic, out of fold (3 folds by query, seed 0)'
    """
    if given is not None and given.method in METHODS:
        method = given.method
    used = candidate.used
    score, judgment, query = candidate.score[used], pairs.judgment[used], pairs.query_id[used].astype(str)
    queries = len(np.unique(query))
    if method == "none" or queries < 2:
        return candidate
    values, in_sample = np.full(len(pairs), np.nan), np.full(len(pairs), np.nan)
    values[used] = _one_constant(cross_fit(score, judgment, query, method, folds, seed), query, folds, seed)
    phrase = f"{method}, out of fold ({min(folds, queries)} folds by query, seed {seed})"
    if given is None:
        whole = fit_mapping(score, judgment, query, _whole(method), seed, system=candidate.name)
    else:
        whole = given
        phrase += "; the mapping given may have seen these judgments, so it only serves the figure in sample"
    in_sample[used] = whole.predict(score)
    return with_mapping(candidate, MappedScores(values, phrase, in_sample, whole))


def _one_constant(mapped: np.ndarray, query: np.ndarray, folds: int, seed: int) -> np.ndarray:
    """Mapped scores as they are, but a single value where the mapping is constant in every fold.

    The folds' constants are means of what was not left out: high where the judgments left out are low. They would
    correlate with the judgments, and negatively, though the mapping says nothing.
    """
    frame = pd.Series(mapped).groupby(folds_by_group(query, folds, seed))
    return np.full(len(mapped), mapped.mean()) if (frame.nunique() == 1).all() else mapped


def _whole(method: str) -> str:
    """The fit to all pairs is for pictures; where each fold chose its own method, the plain one stands for them."""
    return METHODS[0] if method == "best" else method
