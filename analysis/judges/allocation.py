"""Where further judgments tell most: how unsure people's answer is given the judge's grade, and how much hangs on it.

A pair that an index has to be estimated from is best drawn with probability in proportion to the root of the expected
squared residual times the index' derivative with respect to the pair's relevance (Neyman 1934; for two-stage samples
Särndal, Swensson and Wretman 1992, chapter 12). With a judge, the residual is what its grade does not tell.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from relstudy.analysis.indices.index import Index
from relstudy.analysis.indices.precision_recall import RELEVANT, SHARES, at_share, thresholds_at
from relstudy.analysis.indices.registry import by_relevance_first, own_indices
from relstudy.analysis.judges.judged_by_both import Universe


def aims() -> tuple[str, ...]:
    """The indices that a further round can be aimed at."""
    shares = (at_share(what, share) for what in ("precision", "recall") for share in SHARES[:-1])
    return (RELEVANT, *(index.name for index in by_relevance_first(_derived().values())), *shares)


def _derived() -> dict[str, Index]:
    """The indices whose derivative is known, by name."""
    return {index.name: index for index in own_indices() if index.derivative is not None}


def _of_judgments(aim: str) -> bool:
    return aim in _derived() and _derived()[aim].of_judgments


def residual(universe: Universe, aim: str) -> np.ndarray:
    """Root of the expected squared residual of every row of the judge's table, float64 [rows].

    Of relevance, m (1 - m) with m what the grade is worth; of judgments, for correlations, their variance by grade.
    """
    return universe.residual(_of_judgments(aim))


def expected_square(universe: Universe, aim: str, ranking: np.ndarray, cut: float | None = None) -> np.ndarray:
    """The part of an index' squared error that each candidate of the judged queries adds if nobody judges it.

    Parameters
    ----------
    aim : one of `aims`
    ranking : a system's scores of the judge's rows, float [rows], so that higher is better
    cut : as `derivative` takes it

    Returns
    -------
    float64 [sampled rows], in squared units of the index; times (1 / probability - 1) and summed it is the part of its
    variance that comes of the choice of pairs
    """
    rows, worth = universe.sampled, universe.worth
    people = (worth.judgment if _of_judgments(aim) else worth.relevance)[rows]
    moved = derivative(aim, ranking[rows], people, universe.sampled_weight, worth.spread[rows], cut)
    squares: np.ndarray = (moved * residual(universe, aim)[rows]) ** 2
    return squares


def least_errors(
    universe: Universe, indices: Iterable[str], ranking: np.ndarray, mapped: np.ndarray
) -> dict[str, float]:
    """The standard error that is to be expected of the choice of pairs within queries where a judge helps fully.

    It is that of `expected_square`, summed over judged pairs as these stand for all candidates (Horvitz and Thompson
    1952). Where the judge is so good that hardly any judged pair contradicts it, replicates do not show what the next
    sample may hold; the shrunk share m of a grade is never quite 0 or 1, and m (1 - m) tells it.

    Parameters
    ----------
    indices : for which; an index that is none of `aims` gets 0
    ranking : float [rows], higher is better
    mapped : float [rows], the scores that Pearson's correlation is of
    """
    indices = tuple(indices)
    if universe.judged_alone or not (universe.judge.probability == 1.0).all():
        return dict.fromkeys(indices, 0.0)
    pairs, given, rows = universe.context.pairs, universe.given, universe.sampled
    probability = np.minimum(1.0, pairs.probability_in_query[given])
    stands_for = (1 / probability - 1) / probability
    judged = np.searchsorted(rows, universe.row_of_judged[given])
    names = (f"{share:g}" for share in SHARES)
    cuts = dict(zip(names, thresholds_at(ranking[rows], universe.sampled_weight, SHARES), strict=True))
    errors = dict.fromkeys(indices, 0.0)
    for index in (each for each in indices if each in aims()):
        scores, cut = mapped if _of_judgments(index) else ranking, cuts.get(index.rpartition("_at_")[2])
        squares = expected_square(universe, index, scores, cut)[judged]
        errors[index] = float(np.sqrt(np.sum(squares * stands_for)))
    return errors


def derivative(
    aim: str,
    ranking: np.ndarray,
    people: np.ndarray,
    weight: np.ndarray,
    spread: np.ndarray | float = 0.0,
    cut: float | None = None,
) -> np.ndarray:
    """The derivative of an index with respect to what people say of each pair.

    Parameters
    ----------
    aim : one of `aims`
    ranking : float [pairs], higher is better
    people : float [pairs], the share of people who call the pair relevant, or their judgment, as the index needs
    weight : float [pairs], positive
    spread : variance of what each of `people` is the mean of, for an index of judgments
    cut : the score of the last pair retrieved (precision and recall at a share), where it is known already

    Returns
    -------
    float64 [pairs]; zero where the index is undefined

    Examples
    --------
    >>> derivative("relevant_share", np.arange(4.0), np.array([0, 0, 1, 1.0]), np.ones(4)).tolist()
    [0.25, 0.25, 0.25, 0.25]
    """
    total, hits = weight.sum(), float(weight @ people)
    if aim == RELEVANT:
        figure = weight / total
    elif "_at_" in aim:
        what, _, share = aim.partition("_at_")
        above = ranking >= (thresholds_at(ranking, weight, (float(share),))[0] if cut is None else cut)
        retrieved = weight @ above
        recall = weight @ (people * above) / hits if hits else 0.0
        figure = weight * above / retrieved if what == "precision" else weight * (above - recall) / max(hits, 1e-300)
    else:
        of_index = _derived()[aim].derivative
        assert of_index is not None
        figure = of_index(ranking, people, weight, spread)
    return np.nan_to_num(np.asarray(figure, dtype=float), posinf=0.0, neginf=0.0)


def sizes(squares: np.ndarray) -> np.ndarray:
    """The size of each candidate in a further round: root of the mean over systems of `expected_square`, each system
    counting alike, float64 [rows], mean 1.

    Parameters
    ----------
    squares : float [systems, rows]

    Examples
    --------
    >>> sizes(np.array([[1.0, 9.0, 0.0, 0.0]])).tolist()
    [1.0, 3.0, 0.0, 0.0]
    """
    totals = squares.sum(axis=1, keepdims=True)
    root: np.ndarray = np.sqrt((squares / np.where(totals > 0, totals, 1.0)).mean(axis=0))
    return root / root.mean() if root.any() else np.ones(len(root))
