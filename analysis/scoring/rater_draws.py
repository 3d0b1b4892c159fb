"""Raters drawn again: what each judged pair's relevance and judgment are had others rated.

Each replicate gives every rater an exponential weight; a pair counts as much as its ratings do, is judged by their
weighted mean, and is relevant by their weighted share. Calibration puts every rater on the scale of the average rater;
in a replicate the average rater is another. What the average rater would have called a calibrated value c moves by
some a + b c, so the cut moves against the calibrated ratings, and no line needs to be fitted again.

The weights are those of the pigeonhole bootstrap for crossed samples (Owen 2007; Owen and Eckles 2012). Its product of
weights for queries and raters counts the noise of single ratings more than once; here raters vary alone, and what
queries vary by too is taken off (`relstudy.analysis.resampling.bootstrap.RaterReplicates`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy import sparse

from relstudy.analysis.indices.reweighted import ReweightedPairs, part_of_the_way
from relstudy.analysis.scoring.judged_pairs import JudgedPairs
from relstudy.analysis.scoring.relevance import Relevance, RelevanceRule
from relstudy.calibration.tables.pair_ratings import PairRatings
from relstudy.common.options.option_wording import option
from relstudy.common.runtime.errors import RelstudyError

LEAST_RATERS = 3
REPLICATES = 300
BOTH = 100
"""Replicates over raters, and over single ratings: enough for a variance, which is all that is taken from them."""
STEP = 0.25
"""Distance of weights from 1 for correlations. A judgment is a ratio of weighted ratings, and correlations bend: under
whole exponential weights the few ratings of a pair are noisier, and r varies a third too much. A quarter of the way,
and the change times four, leaves a sixteenth of that. Relevance goes all the way, since a cut that moves by less passes
none of the few values that calibrated ratings have."""
RATINGS_AT_ONCE = 400
"""Ratings whose weights in all replicates are made at once, and those of the query that they end in."""
MOST_CELLS = 300_000_000
"""Pairs times replicates of all tables of both kinds together: 1.2 GB."""


@dataclass(frozen=True)
class RaterPopulation:
    """The raters that intervals speak of.

    Parameters
    ----------
    raters : how many rated, where intervals speak of any like them; None: of these alone
    reason : why of these alone, as a phrase
    """

    raters: int | None
    reason: str = ""

    def sentence(self) -> str:
        """As a phrase.

        Examples
        --------
        >>> RaterPopulation(12).sentence()
        'any raters like these 12'
        """
        return f"these raters alone: {self.reason}" if self.raters is None else f"any raters like these {self.raters}"

    def behind(self, of_run: bool) -> RaterPopulation:
        """Those that an index's intervals speak of; `of_run`: the index is a measure of a run."""
        measured = of_run and self.raters is not None
        return RaterPopulation(None, "measures vary by queries alone") if measured else self


def rater_population(pairs: JudgedPairs, asked: str = "auto") -> RaterPopulation:
    """The raters that intervals speak of.

    Parameters
    ----------
    asked : "any" (raters like these), "these" (alone), or "auto": any where at least three are known

    Raises
    ------
    RelstudyError
        where "any" is asked for and the ratings are not known
    """
    if asked == "these":
        return RaterPopulation(None, "by request")
    ratings = pairs.ratings
    if ratings is None:
        reason = (
            "the ratings behind the judgments are not known "
            "(calibrated.csv beside these or a stated table of ratings gives them)"
        )
    elif ratings.rater is None:
        reason = "the ratings do not name their raters"
    else:
        number, unrated = len(np.unique(ratings.rater)), len(pairs) - len(np.unique(ratings.pair))
        if number >= LEAST_RATERS and not unrated:
            return RaterPopulation(number)
        reason = (
            f"{unrated} of {len(pairs)} pairs have no rating"
            if unrated
            else f"{number} {'rater does' if number == 1 else 'raters do'} not show how others would differ"
        )
    if asked == "any":
        stated = option("raters", "any")
        raise RelstudyError(f"intervals cannot speak of any raters like these ({stated}): {reason}")
    return RaterPopulation(None, reason)


@dataclass(frozen=True, eq=False)
class RaterDraws:
    """The judged pairs under other raters (`drawn`) and with every single rating weighted again (`both`)."""

    drawn: ReweightedPairs
    both: ReweightedPairs
    raters: int

    @classmethod
    def of(
        cls,
        pairs: JudgedPairs,
        relevance: Relevance,
        replicates: int,
        seed: int,
        finite: bool,
        judged: bool = True,
    ) -> RaterDraws:
        """The draws for pairs whose ratings and raters are known.

        Parameters
        ----------
        relevance : by which rule and cut pairs are relevant
        replicates : at most so many
        finite : whether intervals are corrected for a finite population; then a pair's rating varies with the draw of
            pairs only so far as the pair was not certain to be drawn, and so much is counted twice
        judged : whether judgments are wanted, which take a third of the time, beside relevance
        """
        ratings = pairs.ratings
        if ratings is None or ratings.rater is None:
            raise ValueError("the ratings, with their raters, are needed")
        tables = 2 * (3 if ratings.weight is None else 4)
        most = max(2, MOST_CELLS // (tables * max(len(pairs), 1)))
        rater = numbered(ratings, np.lexsort((pairs.result_id.astype(str), pairs.query)))
        number = int(rater.max()) + 1
        random = np.random.default_rng([seed, 3])
        shares = random.standard_exponential((number, min(replicates, REPLICATES, most)))
        shares *= number / shares.sum(axis=0)
        order = np.lexsort((rater, ratings.pair, pairs.query[ratings.pair]))
        ratings, rater = ratings.rows(order), rater[order]
        query = pairs.query[ratings.pair]
        cell = np.unique(query * number + rater, return_inverse=True)[1]
        singles = min(replicates, BOTH, most)
        reach = np.sqrt(1.0 - pairs.probability[ratings.pair])[:, None] if finite else np.ones((len(query), 1))
        cuts = moved_cuts(ratings, rater, shares, relevance.cut)
        still = np.full(singles, relevance.cut)
        blocks = _blocks(query)

        def of_raters(rows: slice) -> np.ndarray:
            return np.asarray(shares[rater[rows]])

        def of_ratings(rows: slice) -> np.ndarray:
            here = cell[rows] - cell[rows].min()
            drawn = random.standard_exponential((int(here.max()) + 1, singles))
            return np.asarray(1.0 + (drawn[here] - 1.0) * reach[rows])

        return cls(
            _reweighted(ratings, len(pairs), blocks, of_raters, relevance.rule, cuts, judged),
            _reweighted(ratings, len(pairs), blocks, of_ratings, relevance.rule, still, judged),
            number,
        )


def _blocks(query: np.ndarray) -> list[slice]:
    """The ratings of whole queries, about `RATINGS_AT_ONCE` each; `query` is that of each rating, ascending."""
    ends = np.append(np.flatnonzero(np.diff(query)) + 1, len(query))
    last = ends[np.append(np.diff(ends // RATINGS_AT_ONCE) > 0, True)]
    return [slice(start, stop) for start, stop in pairwise([0, *last.tolist()])]


def numbered(ratings: PairRatings, pairs: np.ndarray) -> np.ndarray:
    """Each rating's rater, numbered from 0 by a hash of what the rater said, int [ratings].

    Random numbers are dealt out in this order, so codes and the order of rows have no part in what is drawn: an archive
    renames raters, and its figures are the study's.

    Parameters
    ----------
    pairs : int [pairs], the pairs' rows in the order of their names

    Examples
    --------
    >>> two = PairRatings(np.array([0, 1, 0]), np.array([2.0, 4.0, 3.0]), rater=np.array([0, 0, 1]))
    >>> renamed = PairRatings(np.array([0, 0, 1]), np.array([3.0, 2.0, 4.0]), rater=np.array([0, 1, 1]))
    >>> numbered(two, np.arange(2))[:2].tolist() == numbered(renamed, np.arange(2))[1:].tolist()
    True
    """
    assert ratings.rater is not None
    code, number = np.unique(ratings.rater, return_inverse=True)
    place = np.argsort(pairs)[ratings.pair]
    said = np.round(ratings.calibrated, 6) if ratings.given is None else ratings.given
    rows = np.lexsort((said, place, number))
    each = np.split(np.stack([place[rows], said[rows]], axis=1), np.cumsum(np.bincount(number))[:-1])
    heard = [hashlib.sha256(np.ascontiguousarray(one, dtype=float).tobytes()).digest() for one in each]
    order = sorted(range(len(code)), key=heard.__getitem__)
    return np.argsort(order)[number]


def whole_steps(figures: np.ndarray) -> np.ndarray:
    """A correlation's replicates, which are `STEP` of the way from their mean, all the way."""
    mean = np.nanmean(figures) if np.isfinite(figures).any() else np.nan
    return np.asarray(mean + (figures - mean) / STEP)


def moved_cuts(ratings: PairRatings, rater: np.ndarray, shares: np.ndarray, cut: float) -> np.ndarray:
    """The cut against the calibrated ratings in each replicate, float [replicates].

    Rater j would have given h_j(c) = a_j + b_j c to what calibration calls c. With weights w the average rater gives
    the mean of h_j by w; where that lies above the mean by equal weights, the scale of these raters has moved up, and
    with it every rating against a cut that stays.

    Parameters
    ----------
    rater : int [ratings], from 0
    shares : weights, float [raters, replicates], mean 1 over raters

    Examples
    --------
    >>> ratings = PairRatings(np.arange(4), np.array([2.0, 4.0, 2.0, 4.0]), given=np.array([2.0, 4.0, 3.0, 5.0]))
    >>> moved_cuts(ratings, np.array([0, 0, 1, 1]), np.array([[1.0, 0.0], [1.0, 2.0]]), 3.5).tolist()
    [3.5, 3.0]
    """
    if ratings.given is None:
        return np.full(shares.shape[1], cut)
    number = len(shares)
    many = np.bincount(rater, minlength=number)
    of_calibrated, of_given = (np.bincount(rater, x, number) / many for x in (ratings.calibrated, ratings.given))
    x, y = ratings.calibrated - of_calibrated[rater], ratings.given - of_given[rater]
    spread = np.bincount(rater, x * x, number)
    varied = spread > 1e-9 * many
    slope = np.where(varied, np.bincount(rater, x * y, number) / np.where(varied, spread, 1.0), 1.0)
    change = (shares - 1.0) / number
    shift = (of_given - slope * of_calibrated) @ change
    moved: np.ndarray = (cut - shift) / np.maximum(1.0 + slope @ change, 1e-9)
    return moved


def _reweighted(
    ratings: PairRatings,
    pairs: int,
    blocks: Sequence[slice],
    times: Callable[[slice], np.ndarray],
    rule: RelevanceRule,
    cuts: np.ndarray,
    judged: bool = True,
) -> ReweightedPairs:
    """The pairs when ratings are weighted, in judgments `STEP` of the way, and are relevant above cuts[b].

    Parameters
    ----------
    ratings : those of a pair one after another, and some of every pair
    blocks : all ratings, those of a pair in one block
    times : the weights of the ratings of a block, float [its length, replicates]; asked for once a block, in order, so
        that a million ratings are never held as often as there are replicates
    judged : whether judgments are wanted; without them, theirs are of no replicate
    """
    pair, replicates = ratings.pair, len(cuts)

    def shares(counts: np.ndarray | None) -> np.ndarray:
        each = np.ones(len(pair)) if counts is None else counts
        return np.asarray(each / np.bincount(pair, each, pairs)[pair])

    plain, weighted = shares(ratings.care), shares(ratings.weight)
    alike = ratings.weight is None or bool(np.allclose(plain, weighted))
    middle = float(ratings.calibrated.mean())
    from_middle = weighted * (ratings.calibrated - middle)
    own = np.bincount(pair, from_middle, pairs)[:, None]
    one_cut = bool((cuts == cuts[0]).all())
    mass, hits = (np.empty((pairs, replicates), dtype=np.float32) for _ in range(2))
    judgment = np.empty((pairs, replicates if judged else 0), dtype=np.float32)
    counted = mass if alike or rule is not RelevanceRule.SHARE else np.empty_like(mass)
    for block in blocks:
        starts = np.flatnonzero(np.diff(pair[block], prepend=-1))
        these, here = pair[block][starts], times(block)
        add = _adding(starts, len(here))
        counted[these] = drawn = add(weighted[block], here)
        if judged or rule is not RelevanceRule.SHARE:
            product = add(from_middle[block], here)
        if rule is RelevanceRule.SHARE:
            if counted is not mass:
                mass[these] = add(plain[block], here)
            here *= ratings.calibrated[block, None] > (cuts[:1] if one_cut else cuts)
            hits[these] = add(plain[block], here)
        else:
            with np.errstate(invalid="ignore", divide="ignore"):
                mean = np.nan_to_num(product / drawn, posinf=0.0, neginf=0.0)
            hits[these] = drawn * (mean + middle > cuts)
        if judged:
            product -= own[these]
            product *= STEP
            product += own[these]
            judgment[these] = product / part_of_the_way(counted[these], STEP)
    np.minimum(hits, mass, out=hits)
    return ReweightedPairs(mass, hits, counted, judgment, middle, STEP)


def _adding(starts: np.ndarray, rows: int) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """What sums rows of a table, float [rows, replicates], by their weight, float [rows], over those from each start to
    the next."""
    matrix = sparse.csr_array((np.ones(rows), np.arange(rows), np.append(starts, rows)), shape=(len(starts), rows))

    def add(weight: np.ndarray, each: np.ndarray) -> np.ndarray:
        matrix.data = weight  # making a matrix takes as long as multiplying by it
        return np.asarray(matrix @ each)

    return add
