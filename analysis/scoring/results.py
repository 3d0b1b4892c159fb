"""Results of scoring: plain frozen objects with their conventions, and their JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np
import pandas as pd

from relstudy.analysis.indices.index import Index
from relstudy.analysis.indices.judged_coverage import COVERED
from relstudy.analysis.indices.registry import bare_name, index_of
from relstudy.analysis.resampling.best_set import Ranks
from relstudy.analysis.resampling.bootstrap import BootstrapStatistic
from relstudy.analysis.scoring.judged_pairs import Population, Weighting
from relstudy.analysis.scoring.known_directions import SystemDirection
from relstudy.analysis.scoring.mapping_used import MappingUsed
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.scoring.primary import Primary
from relstudy.analysis.scoring.rater_draws import RaterPopulation
from relstudy.analysis.scoring.relevance import Relevance
from relstudy.common.results.estimates import Estimate
from relstudy.mapping.fitted import FittedMapping


@dataclass(frozen=True)
class Correlations:
    """Pearson's r, Spearman's rho and Kendall's tau-b with the judgments."""

    pearson: Estimate
    spearman: Estimate
    kendall: Estimate

    def as_json(self) -> dict[str, Any]:
        return {name: each.as_json() for name, each in self.__dict__.items()}

    def named(self, kind: str) -> dict[str, Estimate]:
        """The three by their columns' names, such as raw_pearson."""
        return {f"{kind}_{name}": each for name, each in self.__dict__.items()}


@dataclass(frozen=True)
class Coverage:
    """The judged pairs that a system scored, in numbers.

    Parameters
    ----------
    scored, judged : numbers of pairs
    policy : "drop" (pairs without a score are left out for this system) or "worst" (they rank below all others)
    examples : up to five (query_id, result_id) without a score
    """

    scored: int
    judged: int
    policy: str
    examples: tuple[tuple[str, str], ...] = ()

    @property
    def fraction(self) -> float:
        return self.scored / self.judged

    def as_json(self) -> dict[str, Any]:
        return {
            "value": self.fraction,
            "low": None,
            "high": None,
            "scored": self.scored,
            "judged": self.judged,
            "policy": self.policy,
            "unscored_examples": [list(pair) for pair in self.examples],
        }


@dataclass(frozen=True)
class PrecisionRecallPoint:
    """Precision and recall when a share of the collection (by weight) is retrieved, or more where scores are tied.

    `tied` says that so much has the score at the cut that the figures are those at that score, and not at the share
    (`relstudy.analysis.indices.precision_recall.TIED`).
    """

    share: float
    retrieved: float
    threshold: float
    precision: Estimate
    recall: Estimate
    tied: bool = False

    def as_json(self) -> dict[str, Any]:
        return {
            "share": self.share,
            "retrieved": self.retrieved,
            "threshold": self.threshold,
            "tied": self.tied,
            "precision": self.precision.as_json(),
            "recall": self.recall.as_json(),
        }


@dataclass(frozen=True)
class Explained:
    """Shares of the differences (the variance) between judgments.

    Parameters
    ----------
    share : explained by the system, 0 to 1: its squared correlation, 0 where it runs against the judgments
    reachable : by a system that knew each pair's true value
    of_reachable : the first over the second; above 1 only by chance
    """

    share: Estimate
    reachable: Estimate
    of_reachable: Estimate

    @property
    def disattenuated(self) -> Estimate:
        """The correlation with error-free judgments, 0 to 1, whatever the number of ratings (Spearman 1904, AJP 15)."""
        value, low, high = (
            None if each is None else min(float(np.sqrt(each)), 1.0)
            for each in (self.of_reachable.value, self.of_reachable.low, self.of_reachable.high)
        )
        return Estimate(value, low, high, self.of_reachable.reason)

    def as_json(self) -> dict[str, Any]:
        return {
            "share": self.share.as_json(),
            "reachable": self.reachable.as_json(),
            "of_reachable": self.of_reachable.as_json(),
            "disattenuated": self.disattenuated.as_json(),
        }


@dataclass(frozen=True, eq=False)
class SystemScore:
    """One system against the judgments.

    Parameters
    ----------
    name : the system
    direction : which scores are better, and how that is known
    raw : correlations of the scores as they are (negative for a distance)
    mapped : correlations of the mapped scores, never with data that the mapping has seen; missing if there are none
    collection : correlations over the whole collection, for which each pair counts as one over its inclusion
        probability, of the mapped scores, else of scores turned so that higher is better; None where they are not
        what systems are compared by
    mapping : which mapping, and how it was kept from the data it is scored on; None without one
    in_sample : correlations of the same kind of mapping on its own data, for the record only
    indices : every index of the run by its name; measures of judged pairs alone have "condensed " before theirs. The
        correlation that systems are compared by is the collection's, else that of the judged pairs
    normalised_rank_variants : other forms by name ("plain" Eq. 5.3, "fifth_power" Eq. 5.5, "random_*" baselines)
    points : precision and recall with intervals at fixed shares retrieved
    curve : DataFrame[threshold, precision, recall], the curve thinned to at most 500 points
    coverage : pairs scored
    pair_scores : float [judged pairs], NaN where unscored; mapped_scores likewise, or None
    fitted_mapping : the mapping fitted on all judged pairs (for pictures), or None
    figures : the replicates behind the estimates, by the name of the index or measure
    explained : the share of the differences between judgments that the system explains, and that any could
    first_judged : under qrels, the share of a query's first results that somebody judged, or under a sample of a known
        pool of which something judged speaks, mean over queries, by name
        ("judged@10"; "judged" of all that was retrieved)
    """

    name: str
    direction: SystemDirection
    raw: Correlations
    mapped: Correlations
    collection: Correlations | None
    mapping: MappingUsed | None
    in_sample: Correlations | None
    indices: Mapping[str, Estimate]
    normalised_rank_variants: Mapping[str, float | None]
    points: tuple[PrecisionRecallPoint, ...]
    curve: pd.DataFrame
    coverage: Coverage
    pair_scores: np.ndarray = field(repr=False)
    mapped_scores: np.ndarray | None = field(repr=False)
    fitted_mapping: FittedMapping | None = field(repr=False)
    figures: Mapping[str, BootstrapStatistic] = field(repr=False)
    explained: Explained
    first_judged: Mapping[str, float] = field(default_factory=dict)

    def estimate(self, index: Index) -> Estimate:
        """The estimate of an index of the run."""
        return self.indices[index.name]

    def shown(self, index: Index) -> Estimate:
        """The estimate as readers see it."""
        return index.shown(self.indices[index.name])

    @property
    def measures(self) -> dict[str, Estimate]:
        """The measures of ir-measures among the indices, by name."""
        return {name: estimate for name, estimate in self.indices.items() if index_of(name).of_run}

    @property
    def mapping_sentence(self) -> str:
        """The mapping in words."""
        return "none" if self.mapping is None else self.mapping.sentence()

    def as_json(self) -> dict[str, Any]:
        mapped = self.mapped.as_json() | {"mapping": self.mapping_sentence}
        if self.mapping is not None:
            mapped["fit"] = self.mapping.as_json()
        if self.in_sample is not None:
            mapped["in_sample"] = self.in_sample.as_json()
        return {
            "raw": self.raw.as_json(),
            "mapped": mapped,
            "collection": None if self.collection is None else self.collection.as_json(),
            "explained": self.explained.as_json(),
            **{name: each.as_json() for name, each in self.indices.items() if name not in self.measures},
            "coverage": self.coverage.as_json(),
            "higher_is_better": self.direction.higher,
            "direction": self.direction.sentence(),
            "direction_source": self.direction.source.value,
            "normalised_rank_variants": dict(self.normalised_rank_variants),
            "precision_recall": [point.as_json() for point in self.points],
            "measures": {name: estimate.as_json() for name, estimate in self.measures.items()},
            "first_judged": dict(self.first_judged),
        }


class Family(StrEnum):
    """Statements whose p-values are corrected together: of the index that decides, of all others, or within groups of
    pairs by any index."""

    PRIMARY = "primary"
    SECONDARY = "secondary"
    GROUPS = "groups"


@dataclass(frozen=True)
class Variation:
    """Standard error of a difference, with its degrees of freedom."""

    error: float
    freedom: float


@dataclass(frozen=True)
class Comparison:
    """The difference of two systems in one index, on the pairs that both score.

    Parameters
    ----------
    first, second : names
    index : its name
    difference : first minus second; `better` names the system that is ahead
    p_value : two-sided; it and the difference's interval rest on one standard error and Student's t
        (`relstudy.analysis.scoring.comparison`); None if undefined
    p_family : the same corrected for all statements of its family together
        (`relstudy.analysis.resampling.multiplicity.family_corrected`)
    pairs : judged pairs that both score
    proposed : which of the two proposed pairs; None where it is not known who proposed them
    freedom : degrees of freedom of the standard error, at most queries - 1; None if there is no test
    family : which statements it is corrected with
    like_these : how far the difference varies over any queries like these, where its interval speaks of a collection's;
        worked out for the first two of the best set by the primary index, None of all others
    """

    first: str
    second: str
    index: str
    difference: Estimate
    p_value: float | None
    p_family: float | None
    pairs: int
    proposed: tuple[str, ...] | None = None
    freedom: float | None = None
    family: Family = Family.PRIMARY
    like_these: Variation | None = None

    @property
    def better(self) -> str | None:
        if self.difference.value is None or self.difference.value == 0:
            return None
        return self.first if self.difference.value * index_of(self.index).sign > 0 else self.second

    @property
    def row(self) -> dict[str, Any]:
        """The same as a row of a table."""
        row = self.as_json()
        ends = row.pop("difference")
        return {
            "first": row.pop("first"),
            "second": row.pop("second"),
            "index": row.pop("index"),
            "difference": ends["value"],
            "difference_low": ends["low"],
            "difference_high": ends["high"],
            **{name: row[name] for name in ("p_value", "p_family", "better", "pairs")},
        }

    def as_json(self) -> dict[str, Any]:
        return {
            "first": self.first,
            "second": self.second,
            "index": self.index,
            "difference": self.difference.as_json(),
            "p_value": self.p_value,
            "p_family": self.p_family,
            "family": self.family.value,
            "degrees_of_freedom": self.freedom,
            "better": self.better,
            "pairs": self.pairs,
            "proposed": None if self.proposed is None else list(self.proposed),
        }


@dataclass(frozen=True)
class Ordering:
    """The systems by one index, best first, and how often each comes first when queries are drawn again.

    Parameters
    ----------
    index : its name
    systems : names, best first; systems without a value are left out
    first : share of bootstrap replicates in which each system is the best. It is not a probability that the system is
        truly the best: replicates repeat the luck of the sample, so that of eight equal systems the one that leads
        comes first in about half of them
    pairs : judged pairs scored by all of them, on which the shares rest
    reason : why there are no shares, or None
    """

    index: str
    systems: tuple[str, ...]
    first: Mapping[str, float]
    pairs: int
    reason: str | None = None

    def as_json(self) -> dict[str, Any]:
        content: dict[str, Any] = {
            "index": self.index,
            "systems": list(self.systems),
            "share_of_replicates_first": dict(self.first),
            "pairs": self.pairs,
        }
        if self.reason is not None:
            content["reason"] = self.reason
        return content


@dataclass(frozen=True)
class Agreement:
    """Kendall's tau-b between the orders in which two indices put the systems."""

    first: str
    second: str
    tau: Estimate

    def as_json(self) -> dict[str, Any]:
        return {"first": self.first, "second": self.second, "tau": self.tau.as_json()}


@dataclass(frozen=True, eq=False)
class ScoreResult:
    """Every system against one set of judgments.

    Parameters
    ----------
    systems : in the order given
    pairs : numbers: judged, queries, relevant (their shares added up), and the fingerprint of the judgments
    options : every choice made
    relevance : how relevant each judged pair is, and by which rule
    weighting, population : how pairs are weighted, and which queries intervals speak of, as the judgments allow
    raters : which raters intervals speak of
    conventions : every choice behind the numbers in words, by name
    comparisons, orderings, agreement : between systems; empty with a single one
    per_query : DataFrame[system, query_id, pairs, relevant] and a column an index, NaN where undefined within a query
    notes : what a person should know, one sentence each
    collection : whether systems are compared by the collection's correlation
    query_id, result_id, judgment, weight : the judged pairs themselves
    proposers : the systems that proposed any of them; None where that is not known
    primary : the index that decides, and how it came to be the one
    ranks : what is known of the systems' ranks by it, in the order of `systems`
    drawn : float32 [comparisons, replicates], each difference under its null, for families over several results; None
        where families are corrected
    pool : whether pairs were drawn from a pool of what systems rank highest, of which figures speak then
    """

    systems: tuple[SystemScore, ...]
    pairs: Mapping[str, Any]
    options: ScoringOptions
    relevance: Relevance
    weighting: Weighting
    population: Population
    raters: RaterPopulation
    conventions: Mapping[str, Any]
    comparisons: tuple[Comparison, ...]
    orderings: tuple[Ordering, ...]
    agreement: tuple[Agreement, ...]
    per_query: pd.DataFrame
    notes: tuple[str, ...]
    collection: bool
    query_id: np.ndarray = field(repr=False)
    result_id: np.ndarray = field(repr=False)
    judgment: np.ndarray = field(repr=False)
    weight: np.ndarray = field(repr=False)
    proposers: tuple[str, ...] | None = None
    primary: Primary = field(kw_only=True)
    ranks: Ranks = field(kw_only=True, repr=False)
    drawn: np.ndarray | None = field(default=None, kw_only=True, repr=False)
    pool: bool = field(default=False, kw_only=True)

    @property
    def primary_raters(self) -> RaterPopulation:
        """The raters that intervals of the primary index speak of."""
        return self.raters.behind(self.primary.index.of_run)

    @property
    def scope(self) -> str:
        """The pairs that correlations of systems speak of: the whole collection, the pool, or the rated pairs."""
        if not self.collection:
            return "the rated pairs"
        return "the pool" if self.pool else "the whole collection"

    @property
    def indices(self) -> tuple[Index, ...]:
        """The indices of the run: those of every run, then the measures."""
        return tuple(index_of(name) for name in self.systems[0].indices)

    def index_called(self, text: str) -> Index | None:
        """The index of the run that somebody names; None if there is none, or several fit.

        A measure may go without "condensed " or "estimated " before it, where one fits.
        """
        for index in self.indices:
            if index.is_called(text):
                return index
        said = text.replace("_", " ").lower()
        fitting = [index for index in self.indices if said == bare_name(index.name).lower()]
        return fitting[0] if len(fitting) == 1 else None

    @property
    def first_judged(self) -> tuple[str, ...]:
        """Names of the shares of first results that are judged, of the systems that have them."""
        return tuple(dict.fromkeys(name for system in self.systems for name in system.first_judged))

    @property
    def covered_in_part(self) -> tuple[str, ...]:
        """Those of them that are of results of which something judged speaks, where these are not all of a system's."""
        return tuple(
            name
            for name in self.first_judged
            if name.startswith(COVERED) and min(system.first_judged.get(name, 1.0) for system in self.systems) < 1
        )

    @property
    def own_indices(self) -> tuple[Index, ...]:
        """The indices that every run has."""
        return tuple(index for index in self.indices if not index.of_run)

    def __getitem__(self, name: str) -> SystemScore:
        for system in self.systems:
            if system.name == name:
                return system
        raise KeyError(name)

    def as_json(self) -> dict[str, Any]:
        """The contract of `relstudy score --json`."""
        return {
            "systems": {system.name: system.as_json() for system in self.systems},
            "pairs": dict(self.pairs),
            "conventions": dict(self.conventions),
            "comparisons": [comparison.as_json() for comparison in self.comparisons],
            "orderings": [ordering.as_json() for ordering in self.orderings],
            "agreement": [agreement.as_json() for agreement in self.agreement],
            "notes": list(self.notes),
        }

    def table(self) -> pd.DataFrame:
        """One row per system, the headline figures in columns with their ends: for CSV and LaTeX."""
        rows = []
        for system in self.systems:
            row: dict[str, Any] = {"system": system.name}
            figures = {
                **system.raw.named("raw"),
                **system.mapped.named("mapped"),
                **({} if system.collection is None else system.collection.named("collection")),
                "explained": system.explained.share,
                "of_reachable": system.explained.of_reachable,
                "disattenuated": system.explained.disattenuated,
                **system.indices,
            }
            for name, figure in figures.items():
                row |= {name: figure.value, f"{name}_low": figure.low, f"{name}_high": figure.high}
            row |= dict(system.first_judged) | {
                "scored": system.coverage.scored,
                "judged": system.coverage.judged,
                "mapping": system.mapping_sentence,
            }
            rows.append(row)
        return pd.DataFrame(rows)
