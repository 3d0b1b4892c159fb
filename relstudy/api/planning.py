"""The size that a study needs: `plan`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import pandas as pd

from relstudy.analysis.planning.options import Assumptions, PlanChanges, PlanOptions, passed_over
from relstudy.analysis.planning.picture import power_curve
from relstudy.analysis.planning.power import plan_study
from relstudy.analysis.planning.sources import Pilot, assumed_studies, piloted_studies
from relstudy.analysis.planning.study_design import as_stated, design_of_study
from relstudy.analysis.planning.study_plan import StudyPlan
from relstudy.api.calibrating import CalibratedPanel, ratings_given
from relstudy.api.inputs import ScoredSystems, scores_of, study_tables_of, unread
from relstudy.calibration.reliability.variance_components import Variances
from relstudy.calibration.tables.decision import Decision
from relstudy.calibration.tables.ratings import Ratings
from relstudy.common.charts.figures import figure_of
from relstudy.common.options.argument_checks import check_arguments
from relstudy.common.options.declaration import fields_given
from relstudy.common.options.python_arguments import takes_options
from relstudy.common.results.result import Result
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.formats.dataframe_libraries import Source
from relstudy.common.tables.meaning.reading import Reading, ReadingChanges
from relstudy.common.tables.meaning.reading_options import ReadingOptions

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Result):
    """The queries, pairs, ratings and raters that tell two systems apart.

    Parameters
    ----------
    study_plan : the answer and the simulated points
    variances : the standard deviations behind it; None where a pilot's queries were redrawn
    notes : what a person should know of the pilot, one sentence each
    """

    saved_as = "plan"
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

    def as_json(self) -> dict[str, Any]:
        """Everything that `relstudy plan --json` prints."""
        variances: dict[str, Any] = {} if self.variances is None else {"variances": self.variances.as_json()}
        if self.variances is not None and self.variances.study is not None:
            variances["generalizability"] = self.variances.study.as_json()
        return {**self.study_plan.as_json(), **variances, "notes": list(self.notes)}

    def plot(self) -> Figure:
        """Power against the number of queries.

        Examples
        --------
        >>> figure = plan(correlations=(0.9, 0.1), results=8, studies=20).plot()
        >>> figure.axes[0].get_ylabel()
        'power'
        """
        return figure_of(lambda: power_curve(self.study_plan))

    def heading(self) -> str:
        """The answer in words."""
        return self.study_plan.sentence()

    def overview(self) -> pd.DataFrame:
        """The simulated sizes."""
        return self.table

    def remarks(self) -> Sequence[str]:
        """The verdict's power, what is cheapest, and what a person should know of the pilot."""
        study = None if self.variances is None else self.variances.study
        return [*self.study_plan.sentences(), *([] if study is None else [study.sentence()]), *self.notes]


class PlanReadingChanges(PlanChanges, ReadingChanges, total=False):
    """What is planned for, and how a pilot's tables are read."""


@takes_options(PlanOptions, Assumptions, ReadingOptions)
def plan(
    pilot: CalibratedPanel | Ratings | Source | None = None,
    *,
    study: str | os.PathLike[str] | None = None,
    scores: ScoredSystems | None = None,
    systems: Sequence[str] | None = None,
    **changes: Unpack[PlanReadingChanges],
) -> Plan:
    """Find how many queries, pairs and raters tell two systems apart, as `relstudy plan` does.

    Studies are simulated from the draw of pairs to the verdict, as `sample`, `calibrate` and `score` would have it.
    Without `pilot`, variances are as stated. With a pilot's ratings they are estimated. With a pilot's judgments and
    `scores`, whole queries are redrawn.

    Parameters
    ----------
    pilot : ratings (what `read_ratings` takes or gives), or, with `scores`, judgments or what `calibrate` gives
    study : a study's folder, whose design is planned for; what is stated beside it goes before it
    scores : the two systems' scores on the pilot's pairs, as in `fit`
    systems : which two systems of `scores`; needed where it holds more
    changes : the fields of `PlanOptions` and `Assumptions`, and those of `ReadingOptions` for the pilot's tables, each
        by its name; None leaves one as it is

    Raises
    ------
    RelstudyError
        where a value is not allowed, or the pilot cannot tell noise from relevance

    Examples
    --------
    >>> plan(correlations=(0.9, 0.1), results=8, studies=20).queries < 20
    True
    """
    check_arguments(plan, locals())
    if systems is not None and len(systems) != 2:
        raise RelstudyError("two systems are compared, so two names of systems are needed")
    idle = passed_over(dict(changes), redrawn=scores is not None, rated=scores is None and pilot is not None)
    design = None if study is None else design_of_study(Path(study))
    given: dict[str, Any] = dict(changes) if design is None else design.under(dict(changes))
    options = PlanOptions(**fields_given(PlanOptions, given))
    assumptions = Assumptions(**fields_given(Assumptions, given))
    variances = None
    decision, notes = Decision(), tuple[str, ...]()
    if scores is not None:
        if study is not None:
            raise RelstudyError("a pilot's judgments hold its design; leave out the study")
        if pilot is None:
            raise RelstudyError("scores go with a pilot's judgments; pass them as the pilot")
        reading = Reading.stated(changes).among_several()
        pilots = study_tables_of(pilot, reading=reading)
        table, scores_name = scores_of(scores, reading)
        reading.refuse_unfound()
        judgments_name = os.fspath(pilot) if isinstance(pilot, str | os.PathLike) else "the judgments"
        piloted = Pilot(pilots, table, systems, (scores_name, judgments_name))
        source: Any = piloted_studies(piloted, options, assumptions.ratings_each)
        decision, notes = Decision(source.decides, pilots.decision.matters), source.notes
    else:
        read = _ratings(pilot, changes)
        notes = () if read is None else (read.scale.sentence(), *read.notes)
        source, variances = assumed_studies(assumptions, read, options.raters)
    made = plan_study(source, options)
    if design is not None:
        notes = (design.note, *notes)
    return Plan(as_stated(made, decision, design), variances, (*idle, *notes))


def _ratings(pilot: CalibratedPanel | Ratings | Source | None, changes: Mapping[str, Any]) -> Ratings | None:
    if pilot is not None and not isinstance(pilot, CalibratedPanel | Ratings):
        return ratings_given(pilot, changes)
    unread(pilot, Reading.stated(changes))
    return pilot.calibration.ratings if isinstance(pilot, CalibratedPanel) else pilot
