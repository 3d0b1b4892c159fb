"""Judgments of the same pairs on two scales, and the monotone map from one to the other.

Shirahatti and Barnard 2005, section 5.3: after calibration their interfaces agree, and pairs rated through two of them
"could be used to calibrate between the two". A mapping from scores to judgments does that, with the judgments on one
scale in the scores' place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from relstudy.analysis.resampling.bootstrap import query_counts
from relstudy.analysis.resampling.spread import percentile_interval
from relstudy.calibration.tables.judgments import Judgments
from relstudy.common.results.estimates import Estimate
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR
from relstudy.common.tables.meaning.scales import Scale
from relstudy.mapping.fitted import FittedMapping
from relstudy.mapping.methods import METHODS
from relstudy.mapping.scored_pairs import FitSettings, ScoredPairs, fit_mapping
from relstudy.mapping.selection import Choice, choose, error_over_queries

LEAST_PAIRS, LEAST_QUERIES = 20, 5
"""Fewer common pairs, or pairs of fewer queries, say too little of how two scales hang together."""
RESAMPLES = 2000


@dataclass(frozen=True)
class ScaleLink:
    """A scale and its way onto another.

    Parameters
    ----------
    name, onto : of the interface whose judgments are mapped, and of the one they are mapped to
    common : the pairs judged through both, judgments on this scale as scores
    pearson, spearman : correlation of the two judgments of a pair, 95 % interval over queries
    without_noise : Pearson's correlation that judgments without noise would have (Spearman 1904); missing where no
        standard errors are known
    choice : the mapping methods compared out of fold, and the best of them fitted to all common pairs
    stretched : root mean squared error of moving ends to ends in a straight line, with its interval
    relevant : the map from a judgment to the share of ratings above the other scale's cut; None where no share is known
    """

    name: str
    onto: str
    common: ScoredPairs
    pearson: Estimate
    spearman: Estimate
    without_noise: Estimate
    choice: Choice
    stretched: Estimate
    relevant: FittedMapping | None

    @property
    def pairs(self) -> int:
        """Number of pairs judged on both scales."""
        return len(self.common)

    @property
    def queries(self) -> int:
        """Number of queries of these pairs."""
        return len(np.unique(self.common.queries))

    @property
    def mapping(self) -> FittedMapping:
        """The best method's map between the scales."""
        return self.choice.mapping

    @property
    def out_of_fold(self) -> Estimate:
        """Correlation of mapped judgments, out of fold, with those on the scale mapped to."""
        return self.choice.methods[self.choice.best].out_of_fold

    @property
    def error(self) -> Estimate:
        """Root mean squared error of mapped judgments out of fold, on the scale mapped to."""
        return self.choice.methods[self.choice.best].rmse

    def as_json(self) -> dict[str, Any]:
        """As plain JSON."""
        return {
            "onto": self.onto,
            "common_pairs": self.pairs,
            "common_queries": self.queries,
            "pearson": self.pearson.as_json(),
            "spearman": self.spearman.as_json(),
            "pearson_without_noise": self.without_noise.as_json(),
            "methods": self.choice.as_json(),
            "rmse": self.error.as_json(),
            "rmse_stretched": self.stretched.as_json(),
        }


def link_scales(
    one: Judgments, other: Judgments, names: tuple[str, str], settings: FitSettings | None = None
) -> ScaleLink:
    """Fit the map from `other`'s scale to that of `one` on the pairs that both have judged.

    Parameters
    ----------
    names : of `one` and `other`
    settings : folds and seed; higher is always better

    Raises
    ------
    RelstudyError
        where they share fewer than LEAST_PAIRS pairs or LEAST_QUERIES queries
    """
    settings = settings or FitSettings(direction="higher")
    common = one.frame.merge(other.frame, on=PAIR, suffixes=("", "_other"))
    queries = int(common["query_id"].nunique())
    if len(common) < LEAST_PAIRS or queries < LEAST_QUERIES:
        raise RelstudyError(
            f"{names[1]} and {names[0]} share {len(common)} pairs of {queries} queries; at least {LEAST_PAIRS} pairs "
            f"of {LEAST_QUERIES} queries, judged on both scales, are needed to join them"
        )
    x, y = (common[name].to_numpy(dtype=float) for name in ("judgment_other", "judgment"))
    pairs = ScoredPairs(x, y, common["query_id"], system=names[1])
    choice = choose(pairs, METHODS, settings, RESAMPLES)
    in_line = stretched(x, other.scale.scale, one.scale.scale)
    pearson, spearman, without_noise = agreement(common, settings.seed)
    return ScaleLink(
        *(names[1], names[0], pairs, pearson, spearman, without_noise, choice),
        error_over_queries(pairs, in_line, RESAMPLES, settings.seed),
        _relevance(common, pairs, settings),
    )


def stretched(judgments: np.ndarray, scale: Scale, onto: Scale) -> np.ndarray:
    """Judgments moved in a straight line that takes a scale's ends to another's: what one would do without pairs.

    Examples
    --------
    >>> from relstudy.common.tables.meaning.scales import SCALES
    >>> stretched(np.array([0.0, 1.0]), SCALES["binary"], SCALES["1-5"]).tolist()
    [1.0, 5.0]
    """
    share = (judgments - scale.low) / (scale.high - scale.low)
    return np.asarray(onto.low + share * (onto.high - onto.low))


def _relevance(common: pd.DataFrame, pairs: ScoredPairs, settings: FitSettings) -> FittedMapping | None:
    """From a judgment on the other scale to the share of ratings above the cut of this one."""
    if "relevant_share" not in common:
        return None
    shares = common["relevant_share"].to_numpy(dtype=float)
    finite = np.isfinite(shares)
    if np.count_nonzero(finite) < LEAST_PAIRS:
        return None
    part = pairs.among(finite)
    return fit_mapping(ScoredPairs(part.scores, shares[finite], part.queries), "isotonic", settings)


def agreement(common: pd.DataFrame, seed: int = 0) -> tuple[Estimate, Estimate, Estimate]:
    """Pearson's and Spearman's correlation of two judgments of each pair, and Pearson's without the ratings' noise.

    Parameters
    ----------
    common : query_id, judgment, judgment_other, and standard_error, standard_error_other where known

    Returns
    -------
    Three estimates, 95 % intervals from resampling whole queries. The last divides by the square root of both
    reliabilities, each one less the mean squared standard error over the variance of the judgments (Spearman 1904);
    it is held at 1 where noise would carry it beyond.
    """
    query = pd.factorize(common["query_id"])[0]
    counts = query_counts(int(query.max()) + 1, RESAMPLES, seed)
    times = np.column_stack([np.ones(len(counts)), counts])[query]
    x, y = (common[name].to_numpy(dtype=float) for name in ("judgment", "judgment_other"))
    rank_x, rank_y = (common[name].rank().to_numpy() for name in ("judgment", "judgment_other"))
    errors = [
        common[name].to_numpy(dtype=float) ** 2 if name in common else np.full(len(common), np.nan)
        for name in ("standard_error", "standard_error_other")
    ]
    noise_free = np.minimum(_correlations(x, y, times, noise=errors), 1.0)
    return _estimate(_correlations(x, y, times)), _estimate(_correlations(rank_x, rank_y, times)), _estimate(noise_free)


def _correlations(
    x: np.ndarray, y: np.ndarray, times: np.ndarray, noise: Sequence[np.ndarray] | None = None
) -> np.ndarray:
    """Pearson's correlation for each column of `times` [pairs, replicates], `noise` taken from both variances."""
    n = times.sum(axis=0)
    mean_x, mean_y = (x @ times) / n, (y @ times) / n
    noise_x, noise_y = ((each @ times) / n for each in noise) if noise is not None else (0.0, 0.0)
    variance_x = (x**2 @ times) / n - mean_x**2 - noise_x
    variance_y = (y**2 @ times) / n - mean_y**2 - noise_y
    covariance = ((x * y) @ times) / n - mean_x * mean_y
    with np.errstate(invalid="ignore", divide="ignore"):
        # NaN where nothing but noise is left
        result: np.ndarray = covariance / np.sqrt(variance_x * np.where(variance_y > 0, variance_y, np.nan))
    return result


def _estimate(values: np.ndarray) -> Estimate:
    """The first value, with an interval from the others."""
    if not np.isfinite(values[0]):
        return Estimate.missing("judgments do not vary beyond their noise, or their standard errors are not known")
    others = values[1:]
    return Estimate.of(float(values[0]), *percentile_interval(others[np.isfinite(others)]))
