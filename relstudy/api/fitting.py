"""From scores and judgments to mappings: `fit`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import pandas as pd

from relstudy.api.calibrating import CalibratedPanel
from relstudy.api.inputs import ScoredSystems, folder_of, judgments_of, scores_of
from relstudy.common.charts.figures import figure_of
from relstudy.common.options.argument_checks import check_arguments
from relstudy.common.options.declaration import fields_given
from relstudy.common.options.python_arguments import takes_options
from relstudy.common.results.result import FolderResult
from relstudy.common.runtime.errors import UnknownName
from relstudy.common.runtime.files import file_names, together
from relstudy.common.runtime.wording import count_of
from relstudy.common.tables.formats.dataframe_libraries import Source
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR
from relstudy.common.tables.meaning.reading import Reading, ReadingChanges
from relstudy.common.tables.meaning.reading_options import ReadingOptions
from relstudy.common.tables.meaning.study_folder import judgments_in, scores_in
from relstudy.mapping.fitted import FittedMapping
from relstudy.mapping.options import FitChanges, FitOptions
from relstudy.mapping.plots import mapping_figure
from relstudy.mapping.scores.coverage import covering
from relstudy.mapping.scores.score_files import refuse_absent
from relstudy.mapping.scores.vectors import Similarity, VectorChanges
from relstudy.mapping.systems import SystemFit, fit_systems, fits_as_json
from relstudy.mapping.vector_options import VectorOptions

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from relstudy.calibration.tables.judgments import Judgments
    from relstudy.common.results.estimates import Estimate
    from relstudy.mapping.scores.score_table import ScoreTable


@dataclass(frozen=True, eq=False, repr=False)
class Mappings(FolderResult, Mapping[str, FittedMapping]):
    """One fitted mapping a system, by the system's name.

    Parameters
    ----------
    fits : each system's methods, and the pairs they were fitted to
    notes : what a person should know, one sentence each
    """

    saved_as = "mappings"
    fits: tuple[SystemFit, ...]
    notes: tuple[str, ...] = ()

    def __getitem__(self, system: str) -> FittedMapping:
        return self._of(system).choice.mapping

    def __iter__(self) -> Iterator[str]:
        return iter([fit.choice.system for fit in self.fits])

    def __len__(self) -> int:
        return len(self.fits)

    @property
    def table(self) -> pd.DataFrame:
        """One row per system and method: correlation out of fold and root mean squared error, each with its 95 %
        interval, correlation in sample, and whether the method is the system's best."""
        rows = []
        for fit in self.fits:
            for method, score in fit.choice.methods.items():
                row: dict[str, Any] = {"system": fit.choice.system, "method": method}
                row |= _interval("out_of_fold", score.out_of_fold) | _interval("rmse", score.rmse)
                rows.append(row | {"in_sample": score.in_sample.value, "best": method == fit.choice.best})
        return pd.DataFrame(rows)

    @property
    def best(self) -> dict[str, str]:
        """System -> the method with the greatest correlation out of fold, which is the one in the mapping."""
        return {fit.choice.system: fit.choice.best for fit in self.fits}

    def as_json(self) -> dict[str, Any]:
        """Everything that `relstudy fit --json` prints."""
        return fits_as_json(self.fits, self.notes)

    def plot(self, system: str | None = None) -> Figure:
        """Pairs, mapping and band of one system; the first one if none is named.

        Examples
        --------
        >>> pairs = {"query_id": list("aabb"), "result_id": list("wxyz")}
        >>> scores = pd.DataFrame({**pairs, "new": [1, 2, 1, 2]})
        >>> judgments = pd.DataFrame({**pairs, "judgment": [1, 5, 1, 5]})
        >>> len(fit(scores, judgments, method="isotonic").plot("new").axes)
        1
        """
        check_arguments(Mappings.plot, locals())
        fit = self.fits[0] if system is None else self._of(system)
        return figure_of(lambda: mapping_figure(fit.choice.mapping, fit.pairs["score"], fit.pairs["judgment"]))

    def _write_tables(self, folder: Path) -> None:
        write_mappings(self, folder)

    def _of(self, system: str) -> SystemFit:
        for fit in self.fits:
            if fit.choice.system == system:
                return fit
        raise UnknownName(f"there is no mapping of a system {system!r}; there are: {', '.join(self)}")

    def heading(self) -> str:
        """The number of systems, and the method of each."""
        best = ", ".join(f"{system} {method}" for system, method in list(self.best.items())[:6])
        return f"Mappings of {count_of(len(self), 'system')}: {best}{' ...' if len(self) > 6 else ''}"

    def overview(self) -> pd.DataFrame:
        """The methods by their figures out of fold."""
        return self.table[["system", "method", "out_of_fold", "out_of_fold_low", "out_of_fold_high", "rmse", "best"]]

    def remarks(self) -> Sequence[str]:
        """Notes, one sentence each."""
        return self.notes


def write_mappings(mappings: Mapping[str, FittedMapping], folder: Path) -> None:
    """Write NAME.json for each system, as `relstudy fit -o` does."""
    with together():
        for system, file in file_names(list(mappings)).items():
            mappings[system].write(folder / f"{file}.json")


def _interval(name: str, estimate: Estimate) -> dict[str, float | None]:
    return {name: estimate.value, f"{name}_low": estimate.low, f"{name}_high": estimate.high}


class FitReadingChanges(FitChanges, ReadingChanges, total=False):
    """How systems are fitted, and how their tables are read."""


class FitVectorChanges(FitReadingChanges, VectorChanges, total=False):
    """Vectors among these tables."""


@takes_options(FitOptions, ReadingOptions, VectorOptions)
def fit(
    scores: ScoredSystems,
    judgments: Source | CalibratedPanel | None = None,
    *,
    options: FitOptions | None = None,
    only: Sequence[str] | None = None,
    leave_out: Sequence[str] = (),
    **changes: Unpack[FitVectorChanges],
) -> Mappings:
    """Map each system's scores to the judgments by a monotone function, as `relstudy fit` does.

    Parameters
    ----------
    scores : a path (table or TREC run), a DataFrame (long: system, query_id, result_id, score; wide: query_id,
        result_id, a column per system), or a table of one system under each system's name; or a study's folder, whose
        scores/ and judgments.csv are then taken
    judgments : a path, a DataFrame with query_id, result_id and judgment, or what `calibrate` gives
    options : the choices behind a fit, for several calls; single ones are given by their names, as below
    only, leave_out : systems to fit, or not to fit
    changes : the fields of `FitOptions`, `ReadingOptions` and `VectorOptions`, each by its name; None leaves one as it
        is

    Returns
    -------
    Mappings: `mappings["name"].predict(scores)` gives judgments; `.table`, `.best`, `.plot()`, `.save(folder)`

    Raises
    ------
    RelstudyError
        where a table has faults, or a system has no judged pair

    Examples
    --------
    >>> pairs = {"query_id": list("aabb"), "result_id": list("wxyz")}
    >>> scores = pd.DataFrame({**pairs, "new": [1, 2, 1, 2]})
    >>> judgments = pd.DataFrame({**pairs, "judgment": [1, 5, 1, 5]})
    >>> fit(scores, judgments, method="isotonic")["new"].predict([1.5]).tolist()
    [3.0]
    """
    check_arguments(fit, locals())
    folder = folder_of(scores)
    if folder is not None:
        scores = scores_in(folder)
        judgments = judgments_in(folder) if judgments is None else judgments
    elif judgments is None and isinstance(scores, str | os.PathLike):
        refuse_absent([os.fspath(scores)])
    reading = Reading.stated(changes).among_several()
    judged, judgments_name = judgments_of(judgments, reading)
    table, scores_name = scores_of(
        scores,
        reading,
        tuple(leave_out),
        None if only is None else tuple(only),
        Similarity(**fields_given(VectorOptions, changes)),
        judged.frame[PAIR].astype("str"),
    )
    reading.refuse_unfound()
    table = table.by_study(judged.own_ids)
    if folder is not None:
        [(_, table)] = covering([("", table)], judged, folder)
    chosen = replace(options or FitOptions(), **fields_given(FitOptions, changes))
    return fitted(table, judged, chosen, (scores_name, judgments_name))


def fitted(scores: ScoreTable, judged: Judgments, options: FitOptions, names: tuple[str, str]) -> Mappings:
    """Mappings from tables that were read; `names` are what messages call scores and judgments."""
    fits, notes = fit_systems(scores, judged, options, files=names)
    return Mappings(tuple(fits), (*scores.notes, *judged.notes, *notes))
