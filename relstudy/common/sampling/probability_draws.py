"""Drawing results with known inclusion probabilities: shaping by rank, probabilities proportional to size, the draw.

Nothing here knows of files, systems or people; `relstudy.studyapp.sampling.sampling_design` puts it together.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from relstudy.common.runtime.errors import RelstudyError


def rank_share(scores: np.ndarray, exponent: float, last: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Each candidate's share under a shaping function R**-p of its rank R (Shirahatti and Barnard 2005, section 2.2).

    Tied candidates share what their places would get, so that the order of the file plays no part.

    Parameters
    ----------
    scores : float [candidates], higher is better, NaN is worse than any number
    exponent : p >= 0; 0 is uniform, larger favours the top more
    last : how many candidates the last entry stands for, all tied; where it is more than one, no entry may be worse

    Returns
    -------
    share : float64 [candidates], that of each single candidate; sums to 1 over all that the entries stand for
    rank : int64 [candidates], 1 for the best; tied candidates all get the best place among them

    Examples
    --------
    >>> share, rank = rank_share(np.array([0.2, 0.9, 0.2]), 1.0)
    >>> (share * 11).round(6).tolist(), rank.tolist()
    ([2.5, 6.0, 2.5], [2, 1, 2])
    >>> share, rank = rank_share(np.array([0.9, np.nan]), 1.0, last=2)
    >>> (share * 11).round(6).tolist(), rank.tolist()
    ([6.0, 2.5], [1, 2])
    """
    number = len(scores)
    keys = np.where(np.isnan(scores), np.inf, -scores)
    order = np.argsort(keys)
    sorted_keys = keys[order]
    starts = np.flatnonzero(np.r_[True, sorted_keys[1:] != sorted_keys[:-1]])
    counts = np.diff(np.r_[starts, number])
    if last == 1:
        sums = np.add.reduceat(place_weights(number, float(exponent)), starts)
    else:
        counts[-1] += last - 1
        total = place_sum(1, number + last - 1, exponent)
        sums = np.empty(len(starts))
        if len(starts) > 1:
            sums[:-1] = np.add.reduceat(np.arange(1.0, starts[-1] + 1) ** -exponent, starts[:-1]) / total
        sums[-1] = place_sum(int(starts[-1]) + 1, number + last - 1, exponent) / total
    entries = np.diff(np.r_[starts, number])
    share = np.empty(number)
    share[order] = np.repeat(sums / counts, entries)
    rank = np.empty(number, dtype=np.int64)
    rank[order] = np.repeat(starts + 1, entries)
    return share, rank


@lru_cache(maxsize=64)
def place_weights(number: int, exponent: float) -> np.ndarray:
    """j**-exponent of each place j from 1, as shares of their sum, float [number]."""
    weights = np.arange(1, number + 1, dtype=float) ** -exponent
    weights /= weights.sum()
    weights.flags.writeable = False
    return weights


@lru_cache(maxsize=4096)
def place_sum(first: int, last: int, exponent: float) -> float:
    """j**-p summed over the places j from `first` to `last`, without a number for each of them.

    Far places by Euler and Maclaurin's formula with four terms of correction, which from place 32 + 8 p on leave an
    error below 1e-13 of the sum.

    Examples
    --------
    >>> round(place_sum(1, 10_000_000, 1.0), 9)  # the harmonic number, log(n) + Euler's constant + 1 / (2 n)
    16.695311366
    """
    far = 32 + 8 * math.ceil(exponent)
    if last - first < 64 or last <= far:
        return float((np.arange(first, last + 1, dtype=float) ** -exponent).sum())
    start = max(first, far)
    near = float((np.arange(first, start, dtype=float) ** -exponent).sum())
    if exponent == 1.0:
        total = math.log(last / start)
    else:
        total = (float(last) ** (1 - exponent) - float(start) ** (1 - exponent)) / (1 - exponent)
    total += (float(last) ** -exponent + float(start) ** -exponent) / 2
    # the derivatives of order 1, 3, 5 and 7, times Bernoulli's numbers over factorials
    derivative = 1.0
    for step, factor in enumerate((1 / 12, -1 / 720, 1 / 30240, -1 / 1209600)):
        order = 2 * step + 1
        derivative *= -exponent if order == 1 else (exponent + order - 2) * (exponent + order - 1)
        total += factor * derivative * (float(last) ** -(exponent + order) - float(start) ** -(exponent + order))
    return near + total


def inclusion_probabilities(size: np.ndarray, number: float, last: int = 1) -> np.ndarray:
    """Probabilities proportional to size that sum to the number wanted, none above 1.

    Sizes that would pass 1 become 1 and the rest is scaled again, until all fit (Tillé 2006, chapter 2).

    Parameters
    ----------
    size : float [candidates], positive
    number : how many are wanted on average, at most the number of candidates
    last : how many candidates of one size the last entry stands for

    Returns
    -------
    float64 [candidates] in (0, 1], sums to min(number, candidates) over all that the entries stand for

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
    times = np.ones(len(size))
    times[-1] = last
    if number >= len(size) - 1 + last:
        return np.ones(len(size))
    certain = np.zeros(len(size), dtype=bool)
    while True:
        rest = np.where(certain, 0.0, size)
        probability = np.where(certain, 1.0, (number - (certain * times).sum()) * rest / (rest * times).sum())
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


def systematic_sample(
    probability: np.ndarray, rng: np.random.Generator, stratum: np.ndarray | None = None
) -> np.ndarray:
    """Draw with exactly these inclusion probabilities: systematic sampling in random order, O(candidates).

    The size is fixed where the probabilities sum to a whole number, else one of the two whole numbers around the sum.
    Source: Madow 1949; Tillé 2006, chapter 7.

    Parameters
    ----------
    probability : float [candidates], 0 to 1
    stratum : int [candidates]; a stratum whose probabilities sum to m gives at least floor(m) and at most ceil(m) of
        its candidates. None: one stratum

    Returns
    -------
    int64 [drawn], indices of the candidates drawn, ascending

    Examples
    --------
    >>> systematic_sample(np.array([1.0, 0.0, 1.0]), np.random.default_rng(0)).tolist()
    [0, 2]
    """
    order = rng.permutation(len(probability))
    if stratum is not None:
        order = order[np.argsort(stratum[order], kind="stable")]
    steps = _whole(np.cumsum(probability[order]))
    crossed = np.floor(steps - rng.random())
    drawn = np.empty(len(crossed), dtype=bool)
    drawn[:1] = crossed[:1] > -1
    np.greater(crossed[1:], crossed[:-1], out=drawn[1:])
    return np.sort(order[drawn])


def systematic_samples(probability: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """`systematic_sample` of each row, float [rows, candidates]: the same candidates, bool [rows, candidates].

    Examples
    --------
    >>> probability = np.array([[0.5, 0.5, 1.0], [0.25, 0.75, 0.5]])
    >>> drawn = systematic_samples(probability, np.random.default_rng(0))
    >>> one_by_one = np.random.default_rng(0)
    >>> [row.nonzero()[0].tolist() == systematic_sample(p, one_by_one).tolist()
    ...  for row, p in zip(drawn, probability, strict=True)]
    [True, True]
    """
    rows, number = probability.shape
    order, begin = np.empty((rows, number), dtype=np.int64), np.empty((rows, 1))
    for row in range(rows):
        order[row], begin[row] = rng.permutation(number), rng.random()
    steps = np.cumsum(np.take_along_axis(probability, order, axis=1), axis=1)
    total = np.round(steps[:, -1])
    is_whole = np.abs(steps[:, -1] - total) < 1e-6
    steps *= np.where(is_whole & (total > 0), total / np.where(total > 0, steps[:, -1], 1.0), 1.0)[:, None]
    steps[is_whole, -1] = total[is_whole]
    crossed = np.floor(steps - begin)
    drawn = np.empty((rows, number), dtype=bool)
    np.put_along_axis(drawn, order, np.diff(crossed, axis=1, prepend=-1.0) > 0, axis=1)
    return drawn


def sparse_systematic_sample(
    probability: np.ndarray, last: int, rng: np.random.Generator, stratum: np.ndarray | None = None
) -> tuple[np.ndarray, int]:
    """As `systematic_sample`, where the last entry stands for many candidates of one probability.

    The candidates that the last entry stands for are never written down: between two others in random order stand as
    many of them as a random order of all would put there. Without strata the draw is that of all candidates in random
    order; with strata they are one stratum, whatever the last entry's.

    Parameters
    ----------
    probability : float [entries], 0 to 1, the last of each candidate that the last entry stands for
    last : how many these are, at least 1
    stratum : int [entries]

    Returns
    -------
    drawn : int64, indices of the entries drawn but for the last, ascending
    others : how many are to be drawn, all alike, of those that the last entry stands for
    """
    listed, each = len(probability) - 1, float(probability[-1])
    order = rng.permutation(listed)
    if stratum is None:
        before = np.sort(rng.choice(listed + last, size=listed, replace=False)) - np.arange(listed)
    else:
        order = order[np.argsort(stratum[order], kind="stable")]
        before = np.full(listed, last, dtype=np.int64)
    steps = np.r_[0.0, np.cumsum(probability[order])]
    # where each entry's step begins and ends among all, and where the last of all ends
    bounds = _whole(np.r_[steps[:-1] + each * before, steps[1:] + each * before, steps[-1] + each * last])
    crossed = np.floor(bounds - rng.random()).astype(np.int64)
    drawn = crossed[listed:-1] > crossed[:listed]
    return np.sort(order[drawn]), int(crossed[-1]) + 1 - int(drawn.sum())


def _whole(steps: np.ndarray) -> np.ndarray:
    """Cumulated probabilities whose sum, where it is a whole number but for rounding, is made one exactly."""
    total = round(steps[-1])
    if abs(steps[-1] - total) < 1e-6:
        # the sum of many floats misses the whole number by rounding, which must not cost or add a pair
        steps *= total / steps[-1] if total else 1.0
        steps[-1] = total
    return steps


def probability_strata(probability: np.ndarray, times: np.ndarray, strata: int) -> np.ndarray:
    """Put candidates in strata by inclusion probability, about equally many of the drawn in each.

    The rarest come first. Where every candidate would fit several strata, there are fewer of them.

    Parameters
    ----------
    probability : float [entries]
    times : how many candidates each entry stands for, float [entries]
    strata : how many strata are wanted

    Returns
    -------
    int64 [entries], 0 for the rarest

    Examples
    --------
    >>> probability_strata(np.array([0.9, 0.1, 0.2, 0.8]), np.array([1.0, 5.0, 1.0, 1.0]), 2).tolist()
    [1, 0, 0, 0]
    """
    order = np.argsort(probability, kind="stable")
    expected = np.cumsum((probability * times)[order])
    middle = expected - (probability * times)[order] / 2
    stratum = np.empty(len(probability), dtype=np.int64)
    stratum[order] = np.minimum((middle * strata / expected[-1]).astype(np.int64), strata - 1)
    return stratum


def simple_random_sample(population: int, number: int, rng: np.random.Generator) -> np.ndarray:
    """Indices of a simple random sample, ascending; each has probability number / population."""
    return np.sort(rng.choice(population, size=min(number, population), replace=False))


def base_queries(query: np.ndarray, number: int, rng: np.random.Generator) -> np.ndarray:
    """Choose the pairs that everyone rates by whole queries: all pairs of a simple random sample of the queries.

    Parameters
    ----------
    query : each drawn pair's query, int [pairs]
    number : how many queries; all if there are fewer

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
