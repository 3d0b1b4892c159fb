"""Drawing results with known inclusion probabilities: shaping by rank, probabilities proportional to size, the draw.

Nothing here knows of files, systems or people; `relstudy.studyapp.sampling.design` puts it together.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from relstudy.common.errors import RelstudyError


def rank_share(scores: np.ndarray, exponent: float) -> tuple[np.ndarray, np.ndarray]:
    """Each candidate's share under a shaping function R**-p of its rank R (Shirahatti and Barnard 2005, section 2.2).

    Tied candidates share what their places would get, so that the order of the file plays no part.

    Parameters
    ----------
    scores : float [candidates], higher is better, NaN is worse than any number
    exponent : p >= 0; 0 is uniform, larger favours the top more

    Returns
    -------
    share : float64 [candidates], sums to 1
    rank : int64 [candidates], 1 for the best; tied candidates all get the best place among them

    Examples
    --------
    >>> share, rank = rank_share(np.array([0.2, 0.9, 0.2]), 1.0)
    >>> (share * 11).round(6).tolist(), rank.tolist()
    ([2.5, 6.0, 2.5], [2, 1, 2])
    """
    number = len(scores)
    keys = np.where(np.isnan(scores), np.inf, -scores)
    order = np.argsort(keys)
    sorted_keys = keys[order]
    starts = np.flatnonzero(np.r_[True, sorted_keys[1:] != sorted_keys[:-1]])
    weights = _place_weights(number, float(exponent))
    counts = np.diff(np.r_[starts, number])
    share = np.empty(number)
    share[order] = np.repeat(np.add.reduceat(weights, starts) / counts, counts)
    rank = np.empty(number, dtype=np.int64)
    rank[order] = np.repeat(starts + 1, counts)
    return share, rank


@lru_cache(maxsize=64)
def _place_weights(number: int, exponent: float) -> np.ndarray:
    weights = np.arange(1, number + 1, dtype=float) ** -exponent
    weights /= weights.sum()
    weights.flags.writeable = False
    return weights


def inclusion_probabilities(size: np.ndarray, number: float) -> np.ndarray:
    """Probabilities proportional to size that sum to the number wanted, none above 1.

    Sizes that would pass 1 become 1 and the rest is scaled again, until all fit (Tillé 2006, chapter 2).

    Parameters
    ----------
    size : float [candidates], positive
    number : how many are wanted on average, at most the number of candidates

    Returns
    -------
    float64 [candidates] in (0, 1], sums to min(number, candidates)

    Raises
    ------
    RelstudyError
        when a candidate has no chance at all

    Examples
    --------
    >>> inclusion_probabilities(np.array([6.0, 1.0, 1.0, 2.0]), 2).tolist()
    [1.0, 0.25, 0.25, 0.5]
    """
    size = np.asarray(size, dtype=float)
    if not (size > 0).all():
        raise RelstudyError(
            f"{int((~(size > 0)).sum())} of {len(size)} candidates have inclusion probability zero, so that no weight "
            "can stand for them; choose a floor above 0 or a smaller exponent"
        )
    if number >= len(size):
        return np.ones(len(size))
    certain = np.zeros(len(size), dtype=bool)
    while True:
        rest = np.where(certain, 0.0, size)
        probability = np.where(certain, 1.0, (number - certain.sum()) * rest / rest.sum())
        over = ~certain & (probability >= 1)
        if not over.any():
            break
        certain |= over
    if not (probability > 0).all():
        raise RelstudyError(
            "some candidates have inclusion probability zero to the precision of the machine; choose a floor above 0 "
            "or a smaller exponent"
        )
    return probability


def systematic_sample(probability: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw with exactly these inclusion probabilities: systematic sampling in random order, O(candidates).

    The size is fixed where the probabilities sum to a whole number, else one of the two whole numbers around the sum.
    Source: Madow 1949; Tillé 2006, chapter 7.

    Parameters
    ----------
    probability : float [candidates], 0 to 1

    Returns
    -------
    int64 [drawn], indices of the candidates drawn, ascending

    Examples
    --------
    >>> systematic_sample(np.array([1.0, 0.0, 1.0]), np.random.default_rng(0)).tolist()
    [0, 2]
    """
    order = rng.permutation(len(probability))
    steps = np.cumsum(probability[order])
    total = round(steps[-1])
    if abs(steps[-1] - total) < 1e-6:
        # the sum of many floats misses the whole number by rounding, which must not cost or add a pair
        steps *= total / steps[-1] if total else 1.0
        steps[-1] = total
    crossed = np.floor(steps - rng.random()).astype(np.int64)
    drawn = np.diff(np.r_[-1, crossed]) > 0
    return np.sort(order[drawn])


def simple_random_sample(population: int, number: int, rng: np.random.Generator) -> np.ndarray:
    """Indices of a simple random sample, ascending; each has probability number / population."""
    return np.sort(rng.choice(population, size=min(number, population), replace=False))


def base_queries(query: np.ndarray, number: int, rng: np.random.Generator) -> np.ndarray:
    """Choose the pairs that everyone rates by whole queries: all pairs of a simple random sample of the queries.

    Parameters
    ----------
    query : each drawn pair's query, int [pairs]
    number : how many queries; all where there are fewer

    Returns
    -------
    bool [pairs]

    Examples
    --------
    >>> base_queries(np.array([4, 4, 7, 7, 9]), 5, np.random.default_rng(0)).all()
    np.True_
    """
    queries = np.unique(query)
    return np.isin(query, queries[simple_random_sample(len(queries), number, rng)])


def base_block(query: np.ndarray, number: int, page: int, rng: np.random.Generator) -> np.ndarray:
    """Choose the pairs that everyone rates: whole pages of one query, at random from the pairs drawn.

    Queries are put in random order and so are the pairs of each; round after round, every query in turn gives the next
    `page` of its pairs until there are enough. Where all queries have equally many pairs, each pair of the sample is
    in the base block with the same probability.

    Parameters
    ----------
    query : each drawn pair's query, int [pairs]
    number : size of the block
    page : results of one query on a page

    Returns
    -------
    bool [pairs]
    """
    keys = rng.random(len(query))
    order = np.lexsort((keys, query))
    _, first, counts = np.unique(query[order], return_index=True, return_counts=True)
    within = np.arange(len(query)) - np.repeat(first, counts)
    turn = np.repeat(rng.permutation(len(counts)), counts)
    sequence = np.lexsort((within, turn, within // page))
    chosen = np.zeros(len(query), dtype=bool)
    chosen[order[sequence[:number]]] = True
    return chosen
