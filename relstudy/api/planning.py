"""How large a study must be: `plan`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from relstudy.analysis.planning.picture import power_curve
from relstudy.analysis.planning.power import PlanOptions, plan_study
from relstudy.analysis.planning.sources import Assumptions, Pilot, assumed_studies, piloted_studies
from relstudy.analysis.planning.study_plan import StudyPlan
from relstudy.api.calibrating import CalibratedPanel, read_ratings
from relstudy.api.inputs import Columns, Missing, Source, Values, judgments_of, scores_of, unread
from relstudy.calibration.components import Variances
from relstudy.calibration.ratings import Ratings
from relstudy.common.arguments import check_arguments
from relstudy.common.errors import RelstudyError
from relstudy.common.figures import figure_of
from relstudy.common.reading import Reading
from relstudy.common.shown import Shown

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Shown):
    """How many queries, pairs, ratings and raters tell two systems apart.

    Parameters
    ----------
    study_plan : the answer and the simulated points
    variances : the standard deviations behind it; None where a pilot's queries were redrawn
    notes : what a person should know of the pilot, one sentence each
    """

    study_plan: StudyPlan
    variances: Variances | None = None
    notes: tuple[str, ...] = ()

    @property
    def queries(self) -> int | None:
        """Queries needed; None where no study of up to 20,000 is enough."""
        return self.study_plan.queries

    @property
    def raters(self) -> int | None:
        """Raters needed; None where no study is large enough."""
        return self.study_plan.raters

    @property
    def table(self) -> pd.DataFrame:
        """One row a simulated size: queries, power, its standard error, simulated studies."""
        return pd.DataFrame([point.as_json() for point in self.study_plan.points])

    def summary(self) -> dict[str, Any]:
        """Everything that `relstudy plan --json` prints."""
        variances = {} if self.variances is None else {"variances": self.variances.as_json()}
        return {**self.study_plan.as_json(), **variances, "notes": list(self.notes)}

    def plot(self) -> Figure:
        """Power against the number of queries."""
        return figure_of(lambda: power_curve(self.study_plan))

    def heading(self) -> str:
        """The answer in words."""
        return self.study_plan.sentence()

    def overview(self) -> pd.DataFrame:
        """The simulated sizes."""
        return self.table

    def remarks(self) -> Sequence[str]:
        """What a person should know of the pilot."""
        return self.notes


def plan(
    pilot: CalibratedPanel | Ratings | Source | None = None,
    *,
    scores: Source | Mapping[str, Source] | None = None,
    systems: Sequence[str] | None = None,
    index: str = "pearson",
    power: float = 0.8,
    alpha: float = 0.05,
    correlations: tuple[float, float] = (0.5, 0.4),
    alike: float = 0.3,
    query_sd: float = 0.4,
    result_sd: float = 1.0,
    noise: float = 0.8,
    results: int = 20,
    ratings_each: int = 1,
    ratings_per_rater: int = 300,
    base: int = 100,
    cost_per_rating: float = 0.0,
    difference: float | None = None,
    relevant_share: float = 0.2,
    weight_spread: float = 0.0,
    threshold: float | None = None,
    studies: int = 200,
    seed: int = 0,
    columns: Columns | None = None,
    values: Values | None = None,
    scale: str | None = None,
    missing: Missing | None = None,
) -> Plan:
    """Find how many queries, pairs and raters tell two systems apart, as `relstudy plan` does.

    Studies are simulated and tested as `score` would test them. Without `pilot`, variances are as stated. With a
    pilot's ratings they are estimated. With a pilot's judgments and `scores`, whole queries are redrawn.

    Parameters
    ----------
    pilot : ratings (what `read_ratings` takes or gives), or, with `scores`, judgments or what `calibrate` gives
    scores : the two systems' scores on the pilot's pairs, as in `fit`
    systems : which two systems of `scores`; needed where it holds more
    index : pearson, average_precision or normalised_rank
    power, alpha : chance to find the difference, and of a false alarm (two-sided), between 0 and 1
    correlations : of each system with true relevance, between -1 and 1
    alike : correlation of the two systems' errors, between -1 and 1
    query_sd, result_sd : spread of queries' mean relevance, and of results within a query; without a pilot
    noise : spread of one rating around a pair's true relevance; without a pilot
    results, ratings_each, ratings_per_rater : judged results per query, ratings per pair, ratings a person gives
    base : of a person's ratings, those on the base block, which everyone rates whole
    cost_per_rating : what a rating costs, 0 where that does not matter
    difference : with `scores`, the difference of the index to plan for; None takes the pilot's own
    relevant_share, weight_spread : share of judged pairs that are relevant; coefficient of variation of design weights
    threshold : with `scores`, a pair is relevant above this judgment; None takes shares, else the cut of the scale
    studies : simulated studies at each size, at least 20
    seed : of the simulation
    columns : names of the columns of `pilot` (or, with `scores`, of the scores) to ours
    values, scale, missing : numbers for words ({"partly": 1}), the scale ("0-100") and what stands for no value
        (["NA", "-"]) in the pilot, as --values, --scale and --missing have it

    Raises
    ------
    RelstudyError
        where a value is not allowed, or the pilot cannot tell noise from relevance

    Examples
    --------
    >>> plan(correlations=(0.7, 0.2), results=10, studies=20).queries < 40
    True
    """
    check_arguments(plan, locals())
    if studies < 20 or results < 1 or ratings_each < 1 or ratings_per_rater < 1:
        raise RelstudyError("at least 20 studies, and one result, rating per pair and rating a person are needed")
    if len(correlations) != 2 or (systems is not None and len(systems) != 2):
        raise RelstudyError("two systems are compared, so two correlations (or two names of systems) are needed")
    options = PlanOptions(index, power, alpha, studies, seed, ratings_per_rater, base, cost_per_rating, difference)
    variances = None
    notes: tuple[str, ...] = ()
    stated: dict[str, Any] = {"values": values, "scale": scale, "missing": missing}
    if scores is not None:
        if pilot is None:
            raise RelstudyError("scores go with a pilot's judgments; pass them as the pilot")
        judgments, judgments_name = judgments_of(pilot, Reading.given(**stated))
        table, scores_name = scores_of(scores, columns)
        source: Any = piloted_studies(
            Pilot(judgments, table, systems, (scores_name, judgments_name)), index, threshold, ratings_each
        )
        notes = source.notes
    else:
        read = _ratings(pilot, {**stated, "columns": columns})
        ratings = None if read is None else read.frame
        notes = () if read is None else (read.scale.sentence(), *read.notes)
        assumptions = Assumptions(
            correlations, alike, query_sd, result_sd, noise, results, ratings_each, ratings_per_rater, base,
            relevant_share, weight_spread,
        )  # fmt: skip
        source = assumed_studies(assumptions, ratings)
        variances = source.variances
    return Plan(plan_study(source, options), variances, notes)


def _ratings(pilot: CalibratedPanel | Ratings | Source | None, stated: dict[str, Any]) -> Ratings | None:
    if pilot is not None and not isinstance(pilot, CalibratedPanel | Ratings):
        return read_ratings(pilot, **stated)
    unread(pilot, Reading.given(**stated))
    return pilot.calibration.ratings if isinstance(pilot, CalibratedPanel) else pilot
