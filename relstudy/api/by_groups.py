"""The parts of a study that a column tells apart, each by itself: `calibrate_by` and `fit_by`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd

from relstudy.api.calibrating import CalibratedPanel, calibrate
from relstudy.api.fitting import Mappings, fitted, stated_options
from relstudy.api.inputs import Columns, Missing, Source, Values, judgments_of, refuse_unknown, scores_of, table_of
from relstudy.calibration.interfaces import joined_tables, pairs_asked_alike, read_interfaces, side_by_side
from relstudy.common.arguments import check_arguments
from relstudy.common.checked import Checked
from relstudy.common.errors import RelstudyError, UnknownName
from relstudy.common.file_names import file_names
from relstudy.common.groups import groups_of
from relstudy.common.reading import Reading
from relstudy.common.shown import Shown
from relstudy.mapping.systems import by_group

T = TypeVar("T")


def named(parts: Mapping[str, T], name: str, what: str) -> T:
    """The part of this name; refused where there is none."""
    if name not in parts:
        raise UnknownName(f"there is no {what} {name!r}; there are: {', '.join(parts)}")
    return parts[name]


@dataclass(frozen=True, eq=False, repr=False)
class CalibratedParts(Shown, Mapping[str, CalibratedPanel]):
    """Parts of a ratings table, each calibrated by itself, by the value of a column.

    Parameters
    ----------
    column : whose values tell them apart
    parts : value -> the part's calibration
    """

    column: str
    parts: Mapping[str, CalibratedPanel]

    def __getitem__(self, name: str) -> CalibratedPanel:
        return named(self.parts, name, "part")

    def __iter__(self) -> Iterator[str]:
        return iter(self.parts)

    def __len__(self) -> int:
        return len(self.parts)

    @cached_property
    def _summary(self) -> dict[str, Any]:
        summaries = {name: part.summary() for name, part in self.parts.items()}
        return {"by": self.column, "parts": summaries, "side_by_side": side_by_side(self._calibrations(), summaries)}

    def summary(self) -> dict[str, Any]:
        """Everything that `relstudy calibrate --by --json` prints."""
        return self._summary

    @property
    def table(self) -> pd.DataFrame:
        """The parts side by side, a row each.

        scale, raters, pairs, ratings; variance within a pair in units of the squared range of the scale and correlation
        with the others, each before and after; seconds per rating.
        """
        rows = []
        for name, figures in self.summary()["side_by_side"].items():
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
            where their scales differ, or a pair was rated in several parts; `join` puts scales on one
        """
        together = joined_tables(self._calibrations(), self.column)
        if isinstance(together, str):
            raise RelstudyError(f"the parts do not stand in one table: {together}; rs.join puts scales on one")
        return together["judgments"]

    def _calibrations(self) -> dict[str, Any]:
        return {name: part.calibration for name, part in self.parts.items()}

    def heading(self) -> str:
        """How many parts, and by what."""
        return f"{len(self)} parts by {self.column}, each calibrated by itself: {', '.join(self)}"

    def overview(self) -> pd.DataFrame:
        """The parts side by side."""
        return self.table

    def remarks(self) -> Sequence[str]:
        """What a person should know of each part."""
        return [f"{name}: {note}" for name, part in self.parts.items() for note in part.remarks()]


def calibrate_by(
    ratings: Source,
    column: str,
    *,
    pairs: str | os.PathLike[str] | None = None,
    columns: Columns | None = None,
    values: Values | None = None,
    scale: str | None = None,
    missing: Missing | None = None,
    base_column: str | None = None,
    trust_raters: bool = False,
    with_set_aside: bool = False,
    **options: Any,
) -> CalibratedParts:
    """Calibrate the parts of a ratings table that a column tells apart, as `relstudy calibrate --by` does.

    Parameters
    ----------
    ratings : what `read_ratings` takes; its parts may be on different scales
    column : of the ratings, or of the pairs, such as "scale" or "paradigm"
    pairs : path of a pairs table, for columns that the ratings lack and for inclusion probabilities
    columns, values, scale, missing, base_column, trust_raters, with_set_aside : as in `read_ratings`
    options : method, handed_out, clip, force and weigh_raters, as in `calibrate`

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
    table = table_of(ratings, "the ratings")
    refuse_unknown(table, columns)
    path = None if pairs is None else Path(pairs)
    read = read_interfaces(
        table,
        column,
        base_column=base_column,
        trust_raters=trust_raters,
        with_set_aside=with_set_aside,
        reading=Reading.given(columns, values, scale, missing),
        pairs=path,
    )
    parts = {name: calibrate(part, **options) for name, part in read.items()}
    if path is not None:
        parts = {
            name: CalibratedPanel(part.calibration.with_probabilities(pairs_asked_alike(path, part.judgments)))
            for name, part in parts.items()
        }
    return CalibratedParts(column, parts)


@dataclass(frozen=True, eq=False, repr=False)
class MappingGroups(Shown, Mapping[str, Mappings]):
    """Mappings fitted to each group of judged pairs by itself.

    Parameters
    ----------
    column : whose values tell the groups apart
    groups : value -> the group's mappings
    """

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

    def summary(self) -> dict[str, Any]:
        """Everything that `relstudy fit --by --json` prints."""
        return {"by": {"column": self.column, "groups": {name: each.summary() for name, each in self.groups.items()}}}

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write NAME.json for each system to a folder for each group, as `relstudy fit --by -o` does."""
        check_arguments(MappingGroups.save, locals())
        for name, file in file_names(list(self)).items():
            self[name].save(Path(folder) / file)

    def heading(self) -> str:
        """How many groups, and by what."""
        return f"Mappings of {len(self)} groups by {self.column}: {', '.join(self)}"

    def overview(self) -> pd.DataFrame:
        """The methods by their figures out of fold."""
        return self.table[[self.column, "system", "method", "out_of_fold", "rmse", "best"]]

    def remarks(self) -> Sequence[str]:
        """What a person should know of each group."""
        return [f"{name}: {note}" for name, each in self.groups.items() for note in each.notes]


def fit_by(
    scores: Source | Mapping[str, Source],
    judgments: Source | CalibratedPanel,
    column: str,
    *,
    pairs: Source | None = None,
    only: Sequence[str] | None = None,
    leave_out: Sequence[str] = (),
    columns: Columns | None = None,
    values: Values | None = None,
    scale: str | None = None,
    missing: Missing | None = None,
    **options: Any,
) -> MappingGroups:
    """Fit each group of judged pairs by itself, as `relstudy fit --by` does.

    Parameters
    ----------
    scores, judgments, only, leave_out, columns, values, scale, missing : as in `fit`
    column : of the judgments, or of the pairs, such as "paradigm"
    pairs : a pairs table (path or DataFrame), for columns that the judgments lack; by default the pairs.csv beside the
        judgments' file
    options : method, folds, seed, weights and direction, as in `fit`

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
    table, scores_name = scores_of(scores, columns, tuple(leave_out), None if only is None else tuple(only))
    judged, judgments_name = judgments_of(judgments, Reading.given(None, values, scale, missing))
    beside: Path | Checked | None = None if pairs is None else table_of(pairs, "the pairs")
    if beside is None and isinstance(judgments, str | os.PathLike):
        beside = Path(judgments).parent / "pairs.csv"
    stated = stated_options(**options)
    groups = {}
    values_of = groups_of(judged.frame, column, beside, option="by")
    for name, (scored, part) in by_group(table, judged, values_of).items():
        absent = set(table.systems) - set(scored.systems)
        here = {system: value for system, value in stated.directions.items() if system not in absent}
        groups[name] = fitted(scored, part, replace(stated, directions=here), (scores_name, judgments_name))
    return MappingGroups(column, groups)
