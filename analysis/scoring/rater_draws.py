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
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from relstudy.analysis.indices.reweighted import ReweightedPairs
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
AT_ONCE, MOST_AT_ONCE = 32, 128
"""Replicates whose weights of all ratings are made at once: 100,000 ratings then take 26 MB, a few times over."""
CELLS_AT_ONCE = 2_000_000
"""So many weights at once at most, where that is more than AT_ONCE replicates: 16 MB."""
MOST_CELLS = 50_000_000
"""Pairs times replicates of one table: 200 MB."""


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
    def of(cls, pairs: JudgedPairs, relevance: Relevance, replicates: int, seed: int, finite: bool) -> RaterDraws:
        """The draws for pairs whose ratings and raters are known.

        Parameters
        ----------
        relevance : by which rule and cut pairs are relevant
        replicates : at most so many
        finite : whether intervals are corrected for a finite population; then a pair's rating varies with the draw of
            pairs only so far as the pair was not certain to be drawn, and so much is counted twice
        """
        ratings = pairs.ratings
        if ratings is None or ratings.rater is None:
            raise ValueError("the ratings, with their raters, are needed")
        most = max(2, MOST_CELLS // max(len(pairs), 1))
        rater = numbered(ratings, np.lexsort((pairs.result_id.astype(str), pairs.query)))
        number = int(rater.max()) + 1
        random = np.random.default_rng([seed, 3])
        shares = random.standard_exponential((number, min(replicates, REPLICATES, most)))
        shares *= number / shares.sum(axis=0)
        cell = np.unique(pairs.query[ratings.pair] * number + rater, return_inverse=True)[1]
        single = random.standard_exponential((int(cell.max()) + 1, min(replicates, BOTH, most)))
        reach = np.sqrt(1.0 - pairs.probability[ratings.pair])[:, None] if finite else 1.0
        cuts = moved_cuts(ratings, rater, shares, relevance.cut)
        still = np.full(single.shape[1], relevance.cut)

        def of_raters(part: slice) -> np.ndarray:
            return np.asarray(shares[:, part][rater])

        def of_ratings(part: slice) -> np.ndarray:
            return np.asarray(1.0 + (single[:, part][cell] - 1.0) * reach)

        return cls(
            _reweighted(ratings, len(pairs), of_raters, relevance.rule, cuts),
            _reweighted(ratings, len(pairs), of_ratings, relevance.rule, still),
            number,
        )


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
    ratings: PairRatings, pairs: int, times: Callable[[slice], np.ndarray], rule: RelevanceRule, cuts: np.ndarray
) -> ReweightedPairs:
    """The pairs when ratings are weighted, in judgments `STEP` of the way, and are relevant above cuts[b].

    Parameters
    ----------
    times : the weights in a slice of the replicates, float [ratings, its length]; in slices, so that a million ratings
        are never held as often as there are replicates
    """
    rows, replicates = (ratings.pair, np.arange(len(ratings.pair))), len(cuts)

    def shares(counts: np.ndarray | None) -> sparse.csr_array:
        each = np.ones(len(ratings.pair)) if counts is None else counts
        within = each / np.bincount(ratings.pair, each, pairs)[ratings.pair]
        return sparse.csr_array((within, rows), shape=(pairs, len(ratings.pair)))

    plain, weighted = shares(ratings.care), shares(ratings.weight)
    alike = ratings.weight is None or bool(np.allclose(plain.data, weighted.data))
    middle = float(ratings.calibrated.mean())
    from_middle = weighted.copy()
    from_middle.data = weighted.data * (ratings.calibrated - middle)[weighted.indices]
    one_cut = bool((cuts == cuts[0]).all())
    above = plain.copy()
    above.data = plain.data * (ratings.calibrated > cuts[0])[plain.indices]
    at_once = max(AT_ONCE, min(MOST_AT_ONCE, CELLS_AT_ONCE // len(ratings.pair)))
    mass, hits, pull, judgment = (np.empty((pairs, replicates), dtype=np.float32) for _ in range(4))
    own = (weighted @ (ratings.calibrated - middle))[:, None]
    for start in range(0, replicates, at_once):
        part = slice(start, start + at_once)
        here = times(part)
        drawn = weighted @ here
        product = from_middle @ here
        pull[:, part] = 1.0 + STEP * (drawn - 1.0)
        judgment[:, part] = (own + STEP * (product - own)) / pull[:, part]
        if rule is RelevanceRule.SHARE:
            mass[:, part] = drawn if alike else plain @ here
            hits[:, part] = above @ here if one_cut else plain @ (here * (ratings.calibrated[:, None] > cuts[part]))
        else:
            with np.errstate(invalid="ignore", divide="ignore"):
                mean = np.nan_to_num(product / drawn, posinf=0.0, neginf=0.0)
            mass[:, part] = drawn
            hits[:, part] = drawn * (mean + middle > cuts[part])
    return ReweightedPairs(mass, np.minimum(hits, mass), pull, judgment, middle)
