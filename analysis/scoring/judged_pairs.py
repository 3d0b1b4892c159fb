"""The judged pairs as arrays, and a system's scores laid beside them."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from relstudy.analysis.indices.correlation import CorrelationBootstrap
from relstudy.analysis.indices.index import Index
from relstudy.analysis.indices.measures import Evaluation
from relstudy.analysis.resampling.bootstrap import REPLICATES, query_counts
from relstudy.analysis.resampling.draws import MOST_CELLS, Draws, two_stages, whole_queries
from relstudy.analysis.scoring.design_limits import DesignLimits
from relstudy.analysis.scoring.trec import stated_gains
from relstudy.calibration.tables.judgments import OF_QRELS, Judgments
from relstudy.calibration.tables.pair_ratings import PairRatings
from relstudy.calibration.tables.study_tables import Pool
from relstudy.common.options.option_wording import option
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.sampling.rankdata import ranks
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR
from relstudy.common.tables.meaning.pair_numbers import pair_numbers, rows_of
from relstudy.common.tables.meaning.scales import KnownScale

OF_PAIRS = (
    *("query_id", "result_id", "judgment", "probability", "query_probability", "relevant_share", "standard_error"),
    *("gain", "query_weight", "stratum"),
)
"""Fields of `JudgedPairs` with an entry a pair; the last three may be None."""
FAR = 60
"""Powers of two from 1 beyond which the unit of weights is changed: sums of their squares and products stay exact."""


class Weighting(StrEnum):
    """Weightings of judged pairs."""

    DESIGN = "design"
    EQUAL = "equal"
    RANK_POWER = "rank-power"


@dataclass(frozen=True)
class Population:
    """The population that intervals speak of.

    Parameters
    ----------
    finite : whether the queries are a sample of a collection's queries with known probability, and intervals are
        corrected for it
    lowest, highest : the least and the greatest of these probabilities; NaN where not finite
    reason : why intervals are not corrected, as a phrase; empty where they are

    Examples
    --------
    >>> Population(True, 0.5, 0.5).sentence()
    'finite population of queries: f = 0.5, corrected'
    """

    finite: bool
    lowest: float = float("nan")
    highest: float = float("nan")
    reason: str = ""

    def corrects(self, index: Index) -> bool:
        """True where an index' intervals speak of the collection alone; measures draw whole queries, and speak of any
        like these."""
        return self.finite and not index.of_run

    def sentence(self) -> str:
        """The correction for a finite population as a sentence, with its sampling fraction or the reason why there is
        none."""
        if not self.finite:
            return f"not corrected: {self.reason}"
        share = f"{self.lowest:.2g}" if self.lowest == self.highest else f"{self.lowest:.2g} to {self.highest:.2g}"
        return f"finite population of queries: f = {share}, corrected"


@dataclass(frozen=True, eq=False)
class JudgedPairs:
    """Pairs with one judgment each, in the order of the judgments table.

    Parameters
    ----------
    query_id, result_id : text [pairs]
    judgment : float [pairs]
    probability : inclusion probabilities, float [pairs], in (0, 1], NaN where unknown
    scale : the scale of the judgments, and how it is known
    query_probability : probability that the pair's query was drawn, float [pairs], in (0, 1], NaN where unknown; one
        value per query
    qrels : whether they are whole TREC qrels
    relevant_share : share of each pair's calibrated ratings above `share_cut`, float [pairs], 0 to 1, NaN where unknown
    share_cut : the cut that the shares are of
    ratings : the calibrated ratings behind the judgments, where they are known
    design : what the design of the pairs allows
    proposers : the systems that proposed any of the pairs; None where that is not known
    standard_error : of each judgment, float [pairs], NaN where unknown
    unjudged : query_id, result_id, judgment (below 0) of pairs that qrels hold and nobody judged, or None; they have
        a part in measures of whole runs alone
    gain : what each pair is worth to graded measures, float [pairs] from 0, whole or not; None where judgments are
        means, whose whole steps count (`trec.gains`)
    query_weight : how much each pair's query counts beside the others, float [pairs] above 0, one value a query; None
        where all count alike
    stratum : that each pair was drawn from, text [pairs], where qrels name strata; None elsewhere
    pool : the results that had a chance of being drawn; None where they are not known
    """

    query_id: np.ndarray
    result_id: np.ndarray
    judgment: np.ndarray
    probability: np.ndarray
    query_probability: np.ndarray
    relevant_share: np.ndarray
    share_cut: float
    scale: KnownScale
    qrels: bool = False
    ratings: PairRatings | None = None
    design: DesignLimits = field(default_factory=DesignLimits)
    proposers: tuple[str, ...] | None = None
    standard_error: np.ndarray = field(default_factory=lambda: np.empty(0))
    unjudged: pd.DataFrame | None = None
    gain: np.ndarray | None = None
    query_weight: np.ndarray | None = None
    stratum: np.ndarray | None = None
    pool: Pool | None = None

    @classmethod
    def of(cls, judgments: Judgments | pd.DataFrame, pool: Pool | None = None) -> JudgedPairs:
        """From judgments as `read_judgments` gives them, or a DataFrame with the columns of theirs."""
        judgments = Judgments.of(judgments).of_pool()
        frame, number = judgments.frame, len(judgments)

        def known(name: str) -> np.ndarray:
            return frame[name].to_numpy(dtype=float) if name in frame else np.full(number, np.nan)

        def texts(name: str) -> np.ndarray:
            code, names = pd.factorize(frame[name].astype("str"), use_na_sentinel=False)  # a text for each that differs
            return np.asarray(names.astype(object))[code]

        undecided = 0 if judgments.undecided is None else len(judgments.undecided)
        cuts = known("relevance_cut")
        cuts = cuts[np.isfinite(cuts)]
        return cls(
            query_id=texts("query_id"),
            result_id=texts("result_id"),
            judgment=known("judgment"),
            probability=judgments.probability,
            query_probability=known("query_probability"),
            relevant_share=known("relevant_share"),
            share_cut=float(cuts[0]) if len(cuts) else judgments.scale.scale.cut,
            scale=judgments.scale,
            qrels=judgments.qrels,
            ratings=None if judgments.ratings is None else PairRatings.of(judgments.ratings, frame),
            design=DesignLimits.of(frame, judgments.outside_pool, undecided),
            proposers=judgments.proposers,
            standard_error=known("standard_error"),
            unjudged=judgments.unjudged,
            gain=stated_gains(judgments),
            query_weight=_in_range(known("query_weight")) if "query_weight" in frame else None,
            stratum=texts("stratum") if "stratum" in frame else None,
            pool=pool,
        )

    def __len__(self) -> int:
        return len(self.judgment)

    def part(self, inside: np.ndarray) -> JudgedPairs:
        """Some of the pairs, bool [pairs], in the same order."""
        of_pairs = {name: getattr(self, name) for name in OF_PAIRS}
        chosen: dict[str, Any] = {name: None if x is None else x[inside] for name, x in of_pairs.items()}
        return replace(self, ratings=None if self.ratings is None else self.ratings.part(inside), **chosen)

    def judged_by(self, rows: np.ndarray) -> JudgedPairs:
        """The pairs as some of the ratings judge them, bool [ratings]: those that have any, by these alone."""
        assert self.ratings is not None
        kept = self.ratings.some(rows)
        counts = np.ones(len(kept.pair)) if kept.weight is None else kept.weight
        weight = np.bincount(kept.pair, counts, len(self))
        inside = weight > 0
        part = replace(self, ratings=kept, gain=None).part(inside)
        return replace(
            part,
            judgment=np.bincount(kept.pair, counts * kept.calibrated, len(self))[inside] / weight[inside],
            relevant_share=kept.share_above(self.share_cut, len(self))[inside],
            standard_error=np.full(len(part), np.nan),
        )

    @property
    def worth(self) -> np.ndarray:
        """The weight of each pair's query, float [pairs]; ones where all count alike."""
        return np.ones(len(self)) if self.query_weight is None else self.query_weight

    @property
    def worth_of_queries(self) -> np.ndarray | None:
        """The same of each of `queries`; None where all count alike."""
        if self.query_weight is None:
            return None
        worth = np.ones(len(self.queries))
        worth[self.query] = self.query_weight
        return worth

    @property
    def probability_given(self) -> bool:
        """True where the inclusion probability of any pair is known."""
        return bool(np.isfinite(self.probability).any())

    @property
    def probability_in_query(self) -> np.ndarray:
        """The inclusion probability of each pair once its query is drawn, float [pairs]; where the query's is unknown,
        the pair's own."""
        return self.probability / np.where(np.isfinite(self.query_probability), self.query_probability, 1.0)

    @property
    def results_drawn(self) -> bool:
        """True where some results of a query were sampled among others that nobody judged."""
        return bool((self.probability_in_query < 1 - 1e-9).any())

    @property
    def query_probability_given(self) -> bool:
        """True where the probability of any query is known."""
        return bool(np.isfinite(self.query_probability).any())

    @cached_property
    def _factors(self) -> tuple[np.ndarray, np.ndarray]:
        codes, names = pd.factorize(self.query_id, sort=True)
        return codes.astype(np.int64), np.asarray(names, dtype=object)

    @property
    def query(self) -> np.ndarray:
        """Number of each pair's query, int64 [pairs]; queries are numbered in the order of their names."""
        return self._factors[0]

    @property
    def queries(self) -> np.ndarray:
        """Names of the queries, sorted."""
        return self._factors[1]

    @cached_property
    def fingerprint(self) -> str:
        """A short hash of pairs, judgments and probabilities, for telling whether two results rest on the same data."""
        # comparisons saved before unknown probabilities were NaN hold the fingerprint of ones
        probability = self.probability if self.probability_given else np.ones(len(self))
        columns = {"q": self.query_id, "r": self.result_id, "j": self.judgment, "p": probability}
        if self.query_probability_given:
            columns["f"] = self.query_probability
        if self.query_weight is not None:
            columns["w"] = self.query_weight
        frame = pd.DataFrame(columns).sort_values(["q", "r"])
        hashes = pd.util.hash_pandas_object(frame, index=False).to_numpy()
        return hashlib.sha256(np.ascontiguousarray(hashes).tobytes()).hexdigest()[:16]

    def cut(self, threshold: float | None = None) -> float:
        """The threshold that is stated, or the cut of the judgments' scale."""
        return self.scale.scale.cut if threshold is None else threshold

    @property
    def of_qrels(self) -> bool:
        """True where judgments are grades of qrels, whole or sampled: measures take those from 1 as relevant."""
        return self.qrels or self.scale.note.startswith(OF_QRELS)

    def weighting(self, asked: str) -> Weighting:
        """The weighting as `asked`: alike where no inclusion probability is known."""
        if asked == Weighting.DESIGN and not self.probability_given:
            return Weighting.EQUAL
        return Weighting(asked)

    def weights_missing(self, weights: str) -> str | None:
        """The reason why pairs cannot be weighted this way, or None."""
        unknown = int(np.isnan(self.probability).sum())
        if weights == Weighting.DESIGN and 0 < unknown < len(self):
            return f"{unknown} of {len(self)} pairs have no inclusion probability"
        return None

    def design_weights(self, weights: str) -> np.ndarray:
        """1 / inclusion probability scaled to mean 1 (Hajek), or ones where weights are "equal"; each times what its
        query counts."""
        alike = weights == Weighting.EQUAL or not self.probability_given
        weight = self.worth if alike else self.worth / self.probability
        return weight / np.nanmean(weight)

    def own_weight(self, weights: str) -> np.ndarray | None:
        """The weight of one of the collection's pairs of each query on the scale of `design_weights`, float [pairs];
        None without design weights.

        A judged pair stands for others, and in its own precision it is one pair
        (`relstudy.analysis.indices.precision_recall.Retrieval.indices`).
        """
        if self.weighting(weights) is not Weighting.DESIGN:
            return None
        own: np.ndarray = self.worth / np.nanmean(self.worth / self.probability)
        return own

    def correlation_of(self, scored: np.ndarray, replicates: int, seed: int) -> CorrelationBootstrap:
        """The judgments of some pairs (bool [pairs]), prepared for correlation over whole queries drawn again; kept for
        the next system that scores the same pairs."""
        key = replicates, seed, np.packbits(scored).tobytes()
        if key not in self._correlations:
            self._correlations.clear()
            counts = query_counts(len(self.queries), replicates, seed)
            self._correlations[key] = CorrelationBootstrap(self.query[scored], self.judgment[scored], counts)
        return self._correlations[key]

    @cached_property
    def _correlations(self) -> dict[tuple[int, int, bytes], CorrelationBootstrap]:
        return {}

    def evaluation(self, measures: Sequence[str]) -> Evaluation:
        """Measures of whole runs by these pairs as whole qrels, made once for all systems."""
        key = tuple(measures)
        if key not in self._evaluations:
            columns = [self.query_id, self.result_id, self.judgment]
            if self.unjudged is not None:
                rest = self.unjudged[self.unjudged["query_id"].isin(self.queries)]
                others = (rest[name].to_numpy() for name in ("query_id", "result_id", "judgment"))
                columns = [np.concatenate(both) for both in zip(columns, others, strict=True)]
            query, result, grade = columns
            self._evaluations[key] = Evaluation.of_pairs(measures, query, result, grade.astype(np.int64))
        return self._evaluations[key]

    @cached_property
    def _evaluations(self) -> dict[tuple[str, ...], Evaluation]:
        return {}

    @cached_property
    def fraction(self) -> np.ndarray:
        """The probability that each query was drawn, float [queries], NaN where unknown."""
        fraction = np.full(len(self.queries), np.nan)
        fraction[self.query] = self.query_probability
        return fraction

    def population(self, asked: str, replicates: int) -> Population:
        """The population that intervals speak of.

        Parameters
        ----------
        asked : "collection" (the queries that could have been drawn), "open" (any queries like these), or "auto": the
            collection where the queries were drawn from a larger one with known probability, else open
        replicates : of the bootstrap

        Raises
        ------
        RelstudyError
            where "collection" is asked for and cannot be had
        """
        unknown = int(np.isnan(self.fraction).sum())
        reason = ""
        if asked == "open":
            return Population(False, reason="by request")
        if unknown:
            reason = f"query_probability unknown for {unknown} of {len(self.queries)} queries"
        elif not self.probability_given or np.isnan(self.probability).any():
            reason = "inclusion_probability unknown"
        elif len(self) * replicates > MOST_CELLS:
            most = MOST_CELLS // len(self)
            reason = (
                f"{len(self):,} pairs and {replicates:,} replicates need too much memory "
                f"(up to {most:,} replicates do not)"
            )
        if reason and asked == "collection":
            stated = option("population", "collection")
            raise RelstudyError(f"intervals cannot speak of the collection ({stated}): {reason}")
        if not reason and asked == "auto" and (self.fraction == 1).all():
            reason = "every query was taken (query_probability 1), so they represent others like them"
        if reason:
            return Population(False, reason=reason)
        return Population(True, float(self.fraction.min()), float(self.fraction.max()))

    def draws(self, replicates: int = REPLICATES, seed: int = 0, population: str = "auto") -> Draws:
        """The bootstrap's draws, corrected for a finite population of queries where that is known."""
        if not self.population(population, replicates).finite:
            return whole_queries(self.query, len(self.queries), replicates, seed)
        given_query = np.minimum(1.0, self.probability / self.query_probability)
        order = np.lexsort((self.result_id.astype(str), self.query))
        return two_stages(self.query, self.fraction, given_query, replicates, seed, order)

    def align_scores(self, scores: pd.DataFrame) -> np.ndarray:
        """One system's scores for the judged pairs, float [pairs], NaN where it has none.

        Parameters
        ----------
        scores : query_id, result_id, score of one system, each pair once
        """
        row = self._among(scores).row
        values = scores["score"].to_numpy(dtype=float)
        return np.where(row >= 0, values[row], np.nan)

    def judged(self, scores: pd.DataFrame) -> np.ndarray:
        """True for the rows of a table that are of judged pairs, bool [rows]."""
        return self._among(scores).judged

    def pooled(self, scores: pd.DataFrame) -> np.ndarray:
        """True for the rows of a table that lie in the pool, which must be known, bool [rows]."""
        return self._among(scores).pooled

    def asked(self, scores: pd.DataFrame) -> np.ndarray:
        """True for the rows of a table that are of judged queries, bool [rows]."""
        return self._among(scores).asked

    def _among(self, scores: pd.DataFrame) -> PairsOfTable:
        """The pairs of a table of scores; kept for the next system, which mostly scores the same in the same order."""
        columns = [scores[name].array for name in PAIR]
        if not self._kept_among or not self._kept_among[0].holds(columns):
            self._kept_among[:] = [PairsOfTable(self, columns)]
        return self._kept_among[0]

    @cached_property
    def _kept_among(self) -> list[PairsOfTable]:
        return []


class PairsOfTable:
    """The pairs of one system's scores, held against the judged ones.

    Parameters
    ----------
    pairs : the judged pairs
    columns : query_id and result_id of each row
    """

    def __init__(self, pairs: JudgedPairs, columns: Sequence[Any]) -> None:
        self.pairs = pairs
        self.columns = columns

    def holds(self, columns: Sequence[Any]) -> bool:
        """True where these are the same pairs in the same order."""
        return all(mine.equals(other) for mine, other in zip(self.columns, columns, strict=True))

    @cached_property
    def _numbers(self) -> tuple[np.ndarray, np.ndarray]:
        """The numbers of the rows' pairs, and of the judged ones."""
        rows, judged = pair_numbers(self.columns, [self.pairs.query_id, self.pairs.result_id])
        return rows, judged

    @cached_property
    def row(self) -> np.ndarray:
        """The row of each judged pair, int64 [judged pairs], or -1."""
        rows, judged = self._numbers
        return rows_of(judged, rows)

    @cached_property
    def judged(self) -> np.ndarray:
        """True for the rows of judged pairs, bool [rows]."""
        rows, judged = self._numbers
        return np.isin(rows, judged)

    @cached_property
    def pooled(self) -> np.ndarray:
        """True for the rows that lie in the pool, which must be known, bool [rows]."""
        assert self.pairs.pool is not None
        pool = self.pairs.pool.pairs
        rows, pooled = pair_numbers(self.columns, [pool.get_level_values(level) for level in range(2)])
        return np.isin(rows, pooled)

    @cached_property
    def asked(self) -> np.ndarray:
        """True for the rows of judged queries, bool [rows]."""
        return np.asarray(pd.Series(self.columns[0]).astype("str").isin(self.pairs.queries))


def _in_range(weight: np.ndarray) -> np.ndarray:
    """Weights whose squares a float holds: in another unit, a power of two, where the given one leaves that range.

    Examples
    --------
    >>> _in_range(np.array([3.0, 1.0])).tolist(), _in_range(np.array([2.0**900, 2.0**899])).tolist()
    ([3.0, 1.0], [0.5, 0.25])
    """
    greatest = float(np.nanmax(weight, initial=0.0))
    exponent = math.frexp(greatest)[1]
    return weight if greatest == 0 or abs(exponent) < FAR else np.ldexp(weight, -exponent)


def rank_power_weights(score: np.ndarray, power: float = 5.0) -> np.ndarray:
    """The paper's weights: rank to the `power` in the pooled order by descending score, scaled to mean 1.

    Shirahatti and Barnard 2005, section 5.5.3 (its pseudo-code). Ties share their mean rank. These weights follow the
    system that is being scored instead of the design that chose the pairs, so they are biased; they are here to
    reproduce the paper.

    Examples
    --------
    >>> (rank_power_weights(np.array([0.9, 0.1, 0.5])) * (1 + 32 + 243) / 3).round(9).tolist()
    [1.0, 243.0, 32.0]
    """
    raised = ranks(-score) ** power
    weight: np.ndarray = raised / raised.mean()
    return weight
