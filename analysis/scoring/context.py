"""Judged pairs and bootstrap draws prepared once, for every system that is held against them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from relstudy.analysis.indices.correlation import INDICES as CORRELATIONS
from relstudy.analysis.indices.correlation import CorrelationBootstrap
from relstudy.analysis.indices.index import Index
from relstudy.analysis.indices.measures import Evaluation
from relstudy.analysis.indices.precision_recall import RETRIEVAL, Retrieval
from relstudy.analysis.indices.registry import run_indices
from relstudy.analysis.indices.reweighted import ReweightedJudgments, ReweightedPairs
from relstudy.analysis.resampling.bootstrap import BootstrapStatistic, RaterReplicates, each_in_a_thread
from relstudy.analysis.resampling.draws import Draws, LeftOut
from relstudy.analysis.scoring.candidate import Candidate
from relstudy.analysis.scoring.judged_pairs import JudgedPairs, Weighting, rank_power_weights
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.scoring.primary import asked_measures, primary_of, unjudged_in
from relstudy.analysis.scoring.rater_draws import RaterDraws, rater_population, whole_steps
from relstudy.analysis.scoring.relevance import relevance_of
from relstudy.common.options.option_wording import option
from relstudy.common.results.estimates import Estimate
from relstudy.common.runtime.compiled import FEW
from relstudy.common.runtime.errors import RelstudyError


def collection_correlation(pairs: JudgedPairs, options: ScoringOptions) -> bool:
    """True where systems are compared by the collection's correlation.

    Raises
    ------
    RelstudyError
        where it is asked for and inclusion probabilities are unknown
    """
    has_probabilities = pairs.probability_given and not np.isnan(pairs.probability).any()
    if options.correlation == "collection" and not has_probabilities:
        raise RelstudyError(
            "the collection's correlation needs the inclusion probability of every pair "
            f"({option('correlation', 'judged')} counts the judged pairs equally)"
        )
    return options.correlation == "collection" or (
        options.correlation == "auto" and has_probabilities and options.weights == Weighting.DESIGN
    )


class ScoringContext:
    """Judged pairs and bootstrap draws, with what is computed once per set of pairs kept between systems.

    Parameters
    ----------
    pairs, options : of the run
    draws : of the bootstrap; None: as the options say
    asked : the indices whose figures are asked for, beside the primary one; None: all of the run
    """

    def __init__(
        self,
        pairs: JudgedPairs,
        options: ScoringOptions,
        draws: Draws | None = None,
        asked: Sequence[Index] | None = None,
    ) -> None:
        self.pairs = pairs
        self.options = options
        self.measures = asked_measures(options)
        self.unjudged = unjudged_in(pairs, options)
        """What measures make of results that nobody judged."""
        self.indices = run_indices(self.measures, self.unjudged)
        self.draws = pairs.draws(options.replicates, options.seed, options.population) if draws is None else draws
        self.weights_missing = pairs.weights_missing(options.weights)
        self.design = pairs.design_weights(options.weights)
        self.own = pairs.own_weight(options.weights)
        self.collection = collection_correlation(pairs, options)
        self.relevance = relevance_of(pairs, options.relevance, options.threshold)
        self.primary = primary_of(pairs, self.relevance, options)
        self.population = pairs.population(options.population, options.replicates)
        self.rater_population = rater_population(pairs, options.raters)
        self.asked = (*(self.indices if asked is None else asked), self.primary.index)
        self.evaluations: list[Evaluation] | None = None
        """Of measures, made when one is first asked for."""
        self.reachable: dict[bytes, BootstrapStatistic] = {}
        """The share of the differences between judgments that is reachable, by the pairs (`explained.reachable`)."""
        self._under_raters: dict[tuple[bool, bytes], list[ReweightedJudgments]] = {}
        self._judgments: dict[tuple[bool, bytes], CorrelationBootstrap] = {}
        self._left_out: dict[bytes, LeftOut | None] = {}

    @cached_property
    def raters(self) -> RaterDraws | None:
        """The judged pairs under other raters; None where intervals speak of these raters alone."""
        if self.rater_population.raters is None:
            return None
        replicates, seed = self.options.replicates, self.options.seed
        judged = not all(index.of_relevance_alone for index in self.asked)
        return RaterDraws.of(self.pairs, self.relevance, replicates, seed, self.population.finite, judged)

    def free(self) -> None:
        """Let go of what every system was held against, the largest part of a run; whoever needs it makes it again."""
        self.__dict__.pop("raters", None)
        self._under_raters.clear()
        self._judgments.clear()

    def queries_of(self, used: np.ndarray) -> int:
        """The number of queries of some pairs (bool [pairs])."""
        left_out = self.left_out(used)
        return int(used.any()) if left_out is None else left_out.queries

    def left_out(self, used: np.ndarray) -> LeftOut | None:
        """Each query of some pairs (bool [pairs]) left out, for the jackknife; None where they are of one query. Kept
        for the next system with the same pairs."""
        key = np.packbits(used).tobytes()
        if key not in self._left_out:
            self._left_out = {key: LeftOut.of(self.pairs.query[used], self.draws.step)}
        return self._left_out[key]

    def judgments(self, used: np.ndarray, collection: bool = False) -> CorrelationBootstrap:
        """The judgments of the pairs used, prepared for correlation; kept for systems with the same coverage.

        Parameters
        ----------
        used : bool [pairs]
        collection : whether pairs count by their design weights, so that the correlation is the collection's
        """
        key = (collection, np.packbits(used).tobytes())
        if key not in self._judgments:
            self._judgments = {old: kept for old, kept in self._judgments.items() if old[1] == key[1]}
            self._judgments[key] = CorrelationBootstrap(
                self.draws.row[used],
                self.pairs.judgment[used],
                self.draws.times,
                self.weights_of_correlation(used, collection) if self._weighs(collection) else None,
                queries=self.queries_of(used),
                left_out=self.left_out(used),
            )
        return self._judgments[key]

    def reweighted(self, raters: RaterDraws, used: np.ndarray, collection: bool) -> list[ReweightedJudgments]:
        """The judgments under other raters, and with single ratings weighted again; kept as `judgments` are."""
        key = (collection, np.packbits(used).tobytes())
        if key not in self._under_raters:
            self._under_raters = {old: kept for old, kept in self._under_raters.items() if old[1] == key[1]}
            weight = self.weights_of_correlation(used, collection)
            self._under_raters[key] = [pairs.part(used).judgments(weight) for pairs in (raters.drawn, raters.both)]
        return self._under_raters[key]

    def weights_of_correlation(self, used: np.ndarray, collection: bool) -> np.ndarray:
        """Weights of some pairs (bool [pairs]) in the correlation over the collection, or over the judged pairs."""
        return self.pairs.design_weights(Weighting.DESIGN)[used] if collection else self.pairs.worth[used]

    def _weighs(self, collection: bool) -> bool:
        return collection or self.pairs.query_weight is not None

    def weight(self, ranking: np.ndarray, used: np.ndarray) -> np.ndarray:
        """Weights of the pairs used, for a system that ranks them so."""
        if self.options.weights == Weighting.RANK_POWER:
            return rank_power_weights(ranking, self.options.power) * self.pairs.worth[used]
        return self.design[used]

    def prepared(self, used: np.ndarray) -> Retrieval:
        """The pairs used, prepared for precision and recall."""
        row, relevant = self.draws.row[used], self.relevance.values[used]
        return Retrieval(row, relevant, self.draws.times, self.queries_of(used), self.left_out(used))

    def retrieval(self, ranking: np.ndarray, used: np.ndarray) -> dict[str, BootstrapStatistic]:
        """Indices of one walk down a ranking of the pairs used (`Retrieval.indices`), over queries and raters."""
        if self.weights_missing is not None:
            return dict.fromkeys(RETRIEVAL, BootstrapStatistic(np.nan, self.nothing, self.weights_missing))
        alone = None if self.own is None else self.own[used]
        weight = self.weight(ranking, used)
        figures = self.prepared(used).indices(ranking, weight, alone)
        by_rater = self.by_rater(used, lambda pairs: pairs.retrieval(ranking, weight, alone))
        if by_rater is not None:
            figures = {
                name: replace(figure, raters=parts)
                for (name, figure), parts in zip(figures.items(), by_rater, strict=True)
            }
        return figures

    def by_rater(
        self, used: np.ndarray, figures: Callable[[ReweightedPairs], Iterable[np.ndarray]]
    ) -> list[RaterReplicates] | None:
        """The part of some figures' spread that raters add; None where intervals speak of these raters alone.

        Parameters
        ----------
        figures : each figure's replicates, from the pairs in every replicate
        """
        if self.raters is None:
            return None
        parts = [self.raters.drawn.part(used), self.raters.both.part(used)]
        drawn, both = each_in_a_thread(figures, parts) if len(parts[0].mass) >= FEW else map(figures, parts)
        queries, number = self.queries_of(used), self.raters.raters
        return [RaterReplicates(*parts, queries, number) for parts in zip(drawn, both, strict=True)]

    def correlate_all(
        self,
        scores: Sequence[np.ndarray],
        used: np.ndarray,
        indices: tuple[str, ...] = CORRELATIONS,
        collection: bool = False,
    ) -> list[dict[str, BootstrapStatistic]]:
        """Correlations of the scores of several systems, float [pairs used] each, with the judgments of these pairs.

        What raters add is computed of Pearson's r; rho and tau, which rest on the same pairs, get the same share.
        """
        asked = tuple(dict.fromkeys(("pearson", *indices)))
        found = []
        under: list[np.ndarray] = []
        if self.raters is not None and used.any():
            under = [each.pearson(scores) for each in self.reweighted(self.raters, used, collection)]
        correlated = self.judgments(used, collection).correlate_all(scores, asked)
        for number, figures in enumerate(correlated):
            spread = _spread(figures["pearson"])
            if self.raters is not None and spread > 0:
                drawn, both = (whole_steps(each[number]) for each in under)
                parts = RaterReplicates(drawn, both, self.queries_of(used), self.raters.raters)
                figures = {
                    name: replace(figure, raters=parts.times(_spread(figure) / spread))
                    for name, figure in figures.items()
                }
            found.append({name: figures[name] for name in indices})
        return found

    @property
    def nothing(self) -> np.ndarray:
        """The replicates of what cannot be computed."""
        return np.full(self.draws.counts.shape[1], np.nan)

    def compared_correlations(
        self,
        candidate: Candidate,
        used: np.ndarray,
        indices: tuple[str, ...] = CORRELATIONS,
        collection: bool = False,
    ) -> dict[str, BootstrapStatistic]:
        """Correlations of mapped scores, replicates widened by the fits' own noise; of the ranking where none are."""
        score = candidate.ranking_of(used) if candidate.mapped is None else candidate.mapped.values[used]
        return self.widened(candidate, self.correlate_all([score], used, indices, collection)[0])

    def widened(self, candidate: Candidate, figures: dict[str, BootstrapStatistic]) -> dict[str, BootstrapStatistic]:
        """Correlations of mapped scores with the noise of the fits; as they are where nothing was mapped."""
        if candidate.mapped is None:
            return figures
        return {name: figure.widened(1 + candidate.mapped.mapping.noise) for name, figure in figures.items()}

    def correlations(self, candidates: Sequence[Candidate]) -> list[dict[str, dict[str, BootstrapStatistic]]]:
        """Every correlation of every system: "raw", "mapped" and "in_sample" if there are such scores, and that over
        the "collection" where systems are compared by it; systems with the same pairs in one pass."""
        found: list[dict[str, dict[str, BootstrapStatistic]]] = [{} for _ in candidates]
        asked: dict[tuple[bytes, bool], list[tuple[int, str, np.ndarray]]] = {}
        for k, candidate in enumerate(candidates):
            used, mapped, key = candidate.used, candidate.mapped, candidate.used.tobytes()
            of_judged = asked.setdefault((key, False), [])
            chosen = slice(None) if used.all() else used  # a slice copies nothing
            of_judged.append((k, "raw", candidate.score[chosen]))
            if mapped is not None:
                of_judged.append((k, "mapped", mapped.values[chosen]))
                if mapped.in_sample is not None:
                    of_judged.append((k, "in_sample", mapped.in_sample[chosen]))
            if self.collection:
                score = candidate.ranking if mapped is None else mapped.values[chosen]
                asked.setdefault((key, True), []).append((k, "collection", score))
        for (_, collection), rows in asked.items():
            used = candidates[rows[0][0]].used
            correlated = self.correlate_all([score for _, _, score in rows], used, collection=collection)
            for (k, name, _), figures in zip(rows, correlated, strict=True):
                plain = name in ("raw", "in_sample")
                found[k][name] = figures if plain else self.widened(candidates[k], figures)
        return found

    def estimate(self, figure: BootstrapStatistic) -> Estimate:
        """The figure with its interval; a single query has none."""
        queries = self.draws.queries if figure.clusters is None else figure.clusters
        if queries < 2 and np.isfinite(figure.value):
            return Estimate.of(figure.value, reason="no interval: the pairs are of a single query")
        return figure.estimate(self.options.level)


def _spread(figure: BootstrapStatistic) -> float:
    """Standard deviation over the replicates, 0 where none has a value."""
    return float(np.nanstd(figure.replicates)) if np.isfinite(figure.replicates).any() else 0.0
