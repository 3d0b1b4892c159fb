"""Mappings fitted to the pairs of each selecting system by themselves, and to all pairs (section 5.5)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from relstudy.analysis.report.paper.study import PaperStudy
from relstudy.analysis.resampling.bootstrap import BootstrapStatistic
from relstudy.analysis.scoring.results import SystemScore
from relstudy.mapping.cross_fitting import CrossFit, around_training_means, cross_fit
from relstudy.mapping.fitted import FittedMapping
from relstudy.mapping.scored_pairs import FitSettings, ScoredPairs, fit_mapping

FEWEST_PAIRS = 20
"""A correlation over fewer pairs of one selecting system is not shown."""

METHODS = {
    "bagged": "Least squares (4.1)",
    "correlation": "Correlation (4.2)",
    "bayes": "Bayesian (4.3)",
    "local-bagged": "Correlation (4.2), local search",
    "bayes-conjugate": "Bayesian (4.3), levels",
    "ogive": "Bayesian (4.3), ogive",
}
"""The paper's three methods, by the names of those that compute them."""
STANDARD = ("bagged", "correlation", "bayes")
"""The average of monotone least-squares fits over the bootstrap (Eq. 4.8), the smooth family of greatest correlation,
the average of steps over their posterior."""
OF_THE_PAPER = ("bagged", "local-bagged", "bayes-conjugate")
"""The paper's own: Eq. 4.8 likewise, a local optimiser's optima averaged over the bootstrap, levels with conjugate
priors (Eq. 4.11 to 4.13)."""
OGIVE = "ogive"
"""The paper's cubic ogives (Eq. 4.10), sampled: half a minute of a processor a fit, where others take about two
seconds."""


def methods_of(own: bool, ogive: bool = False) -> tuple[str, ...]:
    """The methods of a page: the paper's own, with its ogives in place of levels, or what stands for them."""
    if not own:
        return STANDARD
    return (*OF_THE_PAPER[:-1], OGIVE) if ogive else OF_THE_PAPER


APART = {"correlation": 0.04, "bayes": 0.01}
"""The most a method's correlations lie from those of the paper's own, rounded up (evidence/differences.py, two
systems of data/example)."""


def methods_note(methods: Sequence[str]) -> str:
    """Stand-ins for the paper's own methods, and the distances of their figures, as sentences.

    Examples
    --------
    >>> methods_note(["bagged"])
    "The methods are the paper's own."
    """
    if not {"correlation", "bayes"} & set(methods):
        return "The methods are the paper's own."
    return (
        "The paper's local optimiser (4.2) is replaced by the smooth monotone family of greatest correlation, found "
        "exactly; its levels with conjugate priors (4.3) by steps with ordered levels, summed exactly. "
        f"On the example study the figures lie at most {APART['correlation']:.2f} (4.2) and {APART['bayes']:.2f} (4.3) "
        "from those by the paper's own methods, which --paper-methods takes."
    )


def figure_number(method: str) -> str:
    """The number of the paper's figure of mappings by a method.

    Examples
    --------
    >>> figure_number("bagged"), figure_number("local-bagged"), figure_number("ogive")
    ('4.2', '4.3', '4.4')
    """
    section = METHODS[method].partition("(4.")[2][0]
    return f"4.{int(section) + 1}"


ALL = "All"


@dataclass(frozen=True, eq=False)
class SelectionFit:
    """One method fitted to one system's scores of the pairs of one selection.

    Parameters
    ----------
    used : bool [judged pairs], the pairs it is fitted to
    mapping : the fit to all of them
    in_sample, out_of_fold : mapped scores of these pairs, float [pairs used]
    noise : of the fits out of fold (`fits_noise`)
    """

    used: np.ndarray
    mapping: FittedMapping
    in_sample: np.ndarray
    out_of_fold: np.ndarray
    noise: float

    def printed(self, study: PaperStudy) -> BootstrapStatistic:
        """Correlation of mapped scores with the judgments they were fitted to, which is what the paper prints."""
        return self._pearson(study, self.in_sample)

    def honest(self, study: PaperStudy) -> BootstrapStatistic:
        """Correlation out of fold, by query."""
        return self._pearson(study, self.out_of_fold).widened(1 + self.noise)

    def _pearson(self, study: PaperStudy, mapped: np.ndarray) -> BootstrapStatistic:
        return study.pearson(np.flatnonzero(self.used), mapped, study.pairs.judgment[self.used])


Fits = Mapping[str, Mapping[str, Mapping[str, SelectionFit]]]
"""By system, method and selection; `ALL` is all pairs."""


def fits_of(
    study: PaperStudy,
    jobs: Iterable[tuple[SystemScore, str]],
    methods: Sequence[str] = STANDARD,
    seconds: dict[str, float] | None = None,
) -> dict[str, dict[str, dict[str, SelectionFit]]]:
    """Every method fitted to each selection by itself, for each job: a system and the selection.

    Parameters
    ----------
    methods : names among METHODS
    seconds : the time that each method took is added to it
    """
    fits: dict[str, dict[str, dict[str, SelectionFit]]] = {}
    for system, selection in jobs:
        scored = np.isfinite(system.pair_scores)
        used = scored if selection == ALL else scored & study.selections[selection]
        by_method = fits.setdefault(system.name, {method: {} for method in methods})
        for method in methods:
            started = perf_counter()
            by_method[method][selection] = _fit(study, system, used, method)
            if seconds is not None:
                seconds[method] = seconds.get(method, 0.0) + perf_counter() - started
    return fits


def jobs_of(study: PaperStudy) -> list[tuple[SystemScore, str]]:
    """The fits to make: each system to all pairs, and those that chose pairs to each selection as well."""
    jobs = [(system, ALL) for system in study.systems if _queries(study, np.isfinite(system.pair_scores)) > 1]
    for system in study.systems:
        for name, chosen in study.selections.items():
            used = chosen & np.isfinite(system.pair_scores)
            if system.name in study.selecting and used.sum() >= FEWEST_PAIRS and _queries(study, used) > 1:
                jobs.append((system, name))
    return jobs


def _queries(study: PaperStudy, used: np.ndarray) -> int:
    return len(np.unique(study.pairs.query[used]))


def _fit(study: PaperStudy, system: SystemScore, used: np.ndarray, method: str) -> SelectionFit:
    options = study.result.options
    binds = system.direction.binds
    direction = ("higher" if system.direction.higher else "lower") if binds else "auto"
    settings = FitSettings(options.folds, options.seed, direction)
    pairs = ScoredPairs(
        system.pair_scores[used],
        study.pairs.judgment[used],
        study.pairs.query_id[used].astype(str),
        system=system.name,
    )
    mapping = fit_mapping(pairs, method, settings)
    crossed: CrossFit = cross_fit(pairs, method, settings)
    around = around_training_means(crossed.predictions, pairs, settings)
    return SelectionFit(used, mapping, mapping.predict(pairs.scores), around, crossed.noise)
