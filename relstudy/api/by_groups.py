"""The parts of a study that a column tells apart, each by itself: `calibrate_by` and `fit_by`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

import pandas as pd

from relstudy.api.calibrating import CalibrateChanges, CalibratedPanel, calibrate
from relstudy.api.fitting import FitReadingChanges, Mappings, fitted, write_mappings
from relstudy.api.inputs import ScoredSystems, folder_of, judgments_of, refuse_taken, scores_of, table_of
from relstudy.calibration.interfaces import joined_tables, pairs_asked_alike, read_interfaces, side_by_side, write_parts
from relstudy.calibration.options import CalibrationOptions, RatingsOptions
from relstudy.calibration.tables.study_tables import pairs_beside
from relstudy.common.options.argument_checks import check_arguments
from relstudy.common.options.declaration import fields_given
from relstudy.common.options.python_arguments import takes_options
from relstudy.common.results.result import FolderResult
from relstudy.common.runtime.errors import NotHere, UnknownName
from relstudy.common.runtime.files import file_names, together
from relstudy.common.runtime.wording import count_of
from relstudy.common.tables.checked_table import Checked
from relstudy.common.tables.formats.dataframe_libraries import Source
from relstudy.common.tables.meaning.group_columns import groups_of
from relstudy.common.tables.meaning.reading import Reading
from relstudy.common.tables.meaning.reading_options import ReadingOptions
from relstudy.common.tables.meaning.study_folder import ratings_in
from relstudy.mapping.options import FitOptions
from relstudy.mapping.systems import by_group

if TYPE_CHECKING:
    from matplotlib.figure import Figure

T = TypeVar("T")


def named(parts: Mapping[str, T], name: str, what: str) -> T:
    """The part of this name; refused if there is none."""
    if name not in parts:
        raise UnknownName(f"there is no {what} {name!r}; there are: {', '.join(parts)}")
    return parts[name]


@dataclass(frozen=True, eq=False, repr=False)
class CalibratedParts(FolderResult, Mapping[str, CalibratedPanel]):
    """Parts of a ratings table, each calibrated by itself, by the value of a column.

    Parameters
    ----------
    column : whose values tell them apart
    parts : value -> the part's calibration
    """

    saved_as = "parts"
    column: str
    parts: Mapping[str, CalibratedPanel]

    def __getitem__(self, name: str) -> CalibratedPanel:
        return named(self.parts, name, "part")

    def __iter__(self) -> Iterator[str]:
        return iter(self.parts)

    def __len__(self) -> int:
        return len(self.parts)

    @cached_property
    def _figures(self) -> dict[str, Any]:
        figures = {name: part.as_json() for name, part in self.parts.items()}
        return {"by": self.column, "parts": figures, "side_by_side": side_by_side(self._calibrations(), figures)}

    def as_json(self) -> dict[str, Any]:
        """Everything that `relstudy calibrate --by --json` prints."""
        return self._figures

    @property
    def table(self) -> pd.DataFrame:
        """The parts side by side, a row each.

        scale, raters, pairs, ratings; variance within a pair in units of the squared range of the scale and correlation
        with the others, each before and after; seconds per rating.
        """
        rows = []
        for name, figures in self.as_json()["side_by_side"].items():
            row = {self.column: name, **{key: figures[key] for key in ("scale", "raters", "pairs", "ratings")}}
            for key in ("standardised_variance", "leave_one_out_correlation"):
                row |= {f"{key}_{part}": figures[key][part]["value"] for part in ("before", "after")}
            times = figures["seconds_per_rating"]
            rows.append(row | {"seconds_per_rating": None if times is None else times["value"]})
        return pd.DataFrame(rows)

    @property
    def judgments(self) -> pd.DataFrame:
        """All parts' judgments in one table, the column saying which part a row is of.

        Raises
        ------
        RelstudyError
            where their scales differ, or a pair was rated in several parts; `rs.join` puts scales on one
        """
        if isinstance(self._together, str):
            raise NotHere(f"the parts do not fit in one table: {self._together}; rs.join puts scales on one")
        return self._together["judgments"]

    @cached_property
    def _together(self) -> dict[str, pd.DataFrame] | str:
        return joined_tables(self._calibrations(), self.column)

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if name != "judgments" or isinstance(self._together, dict)]

    def plot(self, part: str | None = None, kind: str = "raters") -> Figure:
        """A picture of one part, as `CalibratedPanel.plot` draws it; of the first one if none is named.

        Examples
        --------
        >>> frame = pd.DataFrame({"rater_id": list("abab"), "query_id": "q", "result_id": list("xxyy"),
        ...                       "rating": [1, 3, 2, 4], "paradigm": ["image", "image", "text", "text"]})
        >>> figure = calibrate_by(frame, "paradigm", method="mean").plot("text", kind="rater-lines")
        >>> len(figure.axes)
        1
        """
        check_arguments(CalibratedParts.plot, locals())
        return self[next(iter(self)) if part is None else part].plot(kind)

    def _write_tables(self, folder: Path) -> None:
        write_parts(self._calibrations(), self.column, folder)

    def _calibrations(self) -> dict[str, Any]:
        return {name: part.calibration for name, part in self.parts.items()}

    def heading(self) -> str:
        """The number of parts, and their column."""
        return f"{count_of(len(self), 'part')} by {self.column}, each calibrated by itself: {', '.join(self)}"

    def overview(self) -> pd.DataFrame:
        """The parts side by side."""
        return self.table

    def remarks(self) -> Sequence[str]:
        """Notes on each part."""
        return [f"{name}: {note}" for name, part in self.parts.items() for note in part.remarks()]


@takes_options(CalibrationOptions, ReadingOptions, RatingsOptions)
def calibrate_by(
    ratings: Source,
    column: str,
    *,
    pairs: str | os.PathLike[str] | None = None,
    **changes: Unpack[CalibrateChanges],
) -> CalibratedParts:
    """Calibrate the parts of a ratings table that a column tells apart, as `relstudy calibrate --by` does.

    Parameters
    ----------
    ratings : what `read_ratings` takes, or a study's folder; its parts may be on different scales
    column : of the ratings, or of the pairs, such as "scale" or "paradigm"
    pairs : path of a pairs table, for columns that the ratings lack and for inclusion probabilities
    changes : as in `calibrate`

    Returns
    -------
    CalibratedParts: `parts["image"]` is what `calibrate` gives; `.table` has them side by side

    Raises
    ------
    RelstudyError
        where no table has the column, or a part has faults

    Examples
    --------
    >>> frame = pd.DataFrame({"rater_id": list("abab"), "query_id": "q", "result_id": list("xxyy"),
    ...                       "rating": [1, 3, 2, 4], "paradigm": ["image", "image", "text", "text"]})
    >>> parts = calibrate_by(frame, "paradigm", method="mean")
    >>> list(parts), parts["text"].judgments["judgment"].tolist()
    (['image', 'text'], [3.0])
    """
    check_arguments(calibrate_by, locals())
    folder = folder_of(ratings)
    if folder is not None:
        ratings, drawn = ratings_in(folder)
        pairs = drawn if pairs is None else pairs
    table = table_of(ratings, "the ratings")
    refuse_taken(table, changes.get("columns") or {})
    path = None if pairs is None else Path(pairs)
    read = read_interfaces(
        table,
        column,
        RatingsOptions(**fields_given(RatingsOptions, changes)),
        reading=Reading.stated(changes),
        pairs=path,
    )
    options = CalibrationOptions(**fields_given(CalibrationOptions, changes))
    parts = {name: calibrate(part, options=options) for name, part in read.items()}
    if path is not None:
        parts = {
            name: CalibratedPanel(part.calibration.with_probabilities(pairs_asked_alike(path, part.judgments)))
            for name, part in parts.items()
        }
    return CalibratedParts(column, parts)


@dataclass(frozen=True, eq=False, repr=False)
class MappingGroups(FolderResult, Mapping[str, Mappings]):
    """Mappings fitted to each group of judged pairs by itself.

    Parameters
    ----------
    column : whose values tell the groups apart
    groups : value -> the group's mappings
    """

    saved_as = "mapping groups"
    column: str
    groups: Mapping[str, Mappings]

    def __getitem__(self, name: str) -> Mappings:
        return named(self.groups, name, "group")

    def __iter__(self) -> Iterator[str]:
        return iter(self.groups)

    def __len__(self) -> int:
        return len(self.groups)

    @property
    def table(self) -> pd.DataFrame:
        """One row a group, system and method, as in `Mappings.table`."""
        tables = [each.table.assign(**{self.column: name}) for name, each in self.groups.items()]
        whole = pd.concat(tables, ignore_index=True)
        return whole[[self.column, *(name for name in whole if name != self.column)]]

    def as_json(self) -> dict[str, Any]:
        """Everything that `relstudy fit --by --json` prints."""
        return {"by": {"column": self.column, "groups": {name: each.as_json() for name, each in self.groups.items()}}}

    def plot(self, group: str | None = None, system: str | None = None) -> Figure:
        """Pairs, mapping and band of one group's system; of the first ones if none are named.

        Examples
        --------
        >>> pairs = {"query_id": list("aabb"), "result_id": list("wxyz")}
        >>> scores = pd.DataFrame({**pairs, "new": [1, 2, 1, 2]})
        >>> judgments = pd.DataFrame({**pairs, "judgment": [1, 5, 2, 4], "part": ["one", "one", "two", "two"]})
        >>> len(fit_by(scores, judgments, "part", method="isotonic").plot("two", "new").axes)
        1
        """
        check_arguments(MappingGroups.plot, locals())
        return self[next(iter(self)) if group is None else group].plot(system)

    def _write_tables(self, folder: Path) -> None:
        with together():
            for name, file in file_names(list(self)).items():
                write_mappings(self[name], folder / file)

    def heading(self) -> str:
        """The number of groups, and their column."""
        return f"Mappings of {count_of(len(self), 'group')} by {self.column}: {', '.join(self)}"

    def overview(self) -> pd.DataFrame:
        """The methods by their figures out of fold."""
        return self.table[[self.column, "system", "method", "out_of_fold", "rmse", "best"]]

    def remarks(self) -> Sequence[str]:
        """Notes on each group."""
        return [f"{name}: {note}" for name, each in self.groups.items() for note in each.notes]


@takes_options(FitOptions, ReadingOptions)
def fit_by(
    scores: ScoredSystems,
    judgments: Source | CalibratedPanel,
    column: str,
    *,
    pairs: Source | None = None,
    only: Sequence[str] | None = None,
    leave_out: Sequence[str] = (),
    **changes: Unpack[FitReadingChanges],
) -> MappingGroups:
    """Fit each group of judged pairs by itself, as `relstudy fit --by` does.

    Parameters
    ----------
    scores, judgments, only, leave_out : as in `fit`
    column : of the judgments, or of the pairs, such as "paradigm"
    pairs : a pairs table (path or DataFrame), for columns that the judgments lack; by default the pairs.csv beside the
        judgments' file
    changes : as in `fit`

    Returns
    -------
    MappingGroups: `groups["image"]["name"].predict(scores)`; `.table`, `.save(folder)`

    Raises
    ------
    RelstudyError
        where no table has the column, or a table has faults

    Examples
    --------
    >>> pairs = {"query_id": list("aabb"), "result_id": list("wxyz")}
    >>> scores = pd.DataFrame({**pairs, "new": [1, 2, 1, 2]})
    >>> judgments = pd.DataFrame({**pairs, "judgment": [1, 5, 2, 4], "part": ["one", "one", "two", "two"]})
    >>> groups = fit_by(scores, judgments, "part", method="isotonic")
    >>> [groups[part]["new"].predict([1.5]).tolist() for part in groups]
    [[3.0], [3.0]]
    """
    check_arguments(fit_by, locals())
    reading = Reading.stated(changes).among_several()
    table, scores_name = scores_of(scores, reading, tuple(leave_out), None if only is None else tuple(only))
    judged, judgments_name = judgments_of(judgments, reading)
    reading.refuse_unfound()
    beside: Path | Checked | None = None if pairs is None else table_of(pairs, "the pairs")
    if beside is None and isinstance(judgments, str | os.PathLike):
        beside = pairs_beside(judgments)
    stated = FitOptions(**fields_given(FitOptions, changes))
    groups = {}
    values_of = groups_of(judged.frame, column, beside)
    for name, (scored, part) in by_group(table.by_study(judged.own_ids), judged, values_of).items():
        absent = set(table.systems) - set(scored.systems)
        of_group = {system: value for system, value in stated.directions.items() if system not in absent}
        groups[name] = fitted(scored, part, replace(stated, directions=of_group), (scores_name, judgments_name))
    return MappingGroups(column, groups)
