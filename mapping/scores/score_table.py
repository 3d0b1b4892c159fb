"""Scores of systems with what is known of them: which of them are better, which are runs, what a person should know."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import pandas as pd

from relstudy.calibration.tables.own_ids import OwnIds
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import listed
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR

COLUMNS = ["system", "query_id", "result_id", "score"]


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Each system's score of each query-result pair, and the facts known of these scores.

    Parameters
    ----------
    frame : DataFrame[system, query_id, result_id (text), score (float64, finite)], no pair twice in one system
    directions : "higher" or "lower" by system, where it is known which scores are better: of a TREC run, and where
        the table says so. What is said of systems without rows here is left out
    runs : systems of a TREC run, whose results are all that these retrieved; those without rows here are left out
    notes : what a person should know of how the scores were read, one sentence each

    Examples
    --------
    >>> frame = pd.DataFrame({"system": ["a", "b"], "query_id": "q", "result_id": "x", "score": [0.5, 2.0]})
    >>> table = ScoreTable(frame, {"a": "higher", "b": "lower"}, runs=("a",))
    >>> table.only(["b"]).directions, table.only(["b"]).runs
    ({'b': 'lower'}, ())
    """

    frame: pd.DataFrame
    directions: Mapping[str, str] = field(default_factory=dict)
    runs: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        systems = set(self.systems) if self.directions or self.runs else set()
        directions = {name: direction for name, direction in self.directions.items() if name in systems}
        object.__setattr__(self, "directions", directions)
        object.__setattr__(self, "runs", tuple(name for name in self.runs if name in systems))

    @classmethod
    def of(cls, scores: ScoreTable | pd.DataFrame) -> ScoreTable:
        """The scores themselves, or those of a DataFrame of the same columns, of which nothing more is known."""
        return scores if isinstance(scores, ScoreTable) else cls(scores)

    @classmethod
    def joined(cls, tables: Iterable[ScoreTable]) -> ScoreTable:
        """The rows of several tables, of different systems, with what is known of each."""
        parts = list(tables)
        return cls(
            pd.concat([part.frame for part in parts], ignore_index=True),
            {name: direction for part in parts for name, direction in part.directions.items()},
            tuple(name for part in parts for name in part.runs),
            tuple(note for part in parts for note in part.notes),
        )

    def __len__(self) -> int:
        return len(self.frame)

    @cached_property
    def systems(self) -> list[str]:
        """The systems, in the order of the table."""
        return [str(name) for name in self.frame["system"].unique()]

    def rows(self, system: str) -> pd.DataFrame:
        """The rows of one system; none where it is not there."""
        return self.frame[self.frame["system"] == system]

    def by_system(self) -> Iterable[tuple[str, pd.DataFrame]]:
        """Each system with its rows, in the order of the table."""
        return ((str(name), rows) for name, rows in self.frame.groupby("system", sort=False))

    def only(self, systems: Collection[str]) -> ScoreTable:
        """The rows of these systems."""
        kept = self.frame[self.frame["system"].isin(list(systems))].reset_index(drop=True)
        return replace(self, frame=kept)

    def counts(self, pairs: pd.DataFrame) -> dict[str, int]:
        """How many of some pairs (query_id, result_id) each system scores."""
        wanted = pd.MultiIndex.from_frame(pairs[PAIR].astype("str"))
        inside = pd.MultiIndex.from_frame(self.frame[PAIR]).isin(wanted)
        found = self.frame.loc[inside, "system"].value_counts()
        return {system: int(found.get(system, 0)) for system in self.systems}

    def with_notes(self, notes: Iterable[str]) -> ScoreTable:
        """The same scores with more to know, said first."""
        return replace(self, notes=(*notes, *self.notes))

    def by_study(self, own_ids: OwnIds | None) -> ScoreTable:
        """By the study's ids, where scores come by those of the table that it was made of; a note says so."""
        if own_ids is None:
            return self
        found = {name: own_ids.of_study(rows) for name, rows in self.by_system()}
        named = [name for name, rows in found.items() if rows is not None]
        if not named:
            return self
        rows = [self.rows(name) if rows is None else rows for name, rows in found.items()]
        note = "ids are those of the table that the study was made of; answers.csv has the study's"
        return replace(self, frame=pd.concat(rows, ignore_index=True)).with_notes([f"{listed(named)}: {note}"])

    def named(self, name: str, file: str) -> ScoreTable:
        """The one system of this table by another name.

        Parameters
        ----------
        file : what messages call the table

        Raises
        ------
        RelstudyError
            where the table holds several systems
        """
        if len(self.systems) != 1:
            raise RelstudyError(
                f"{name}: one system is needed under a name, and {file} holds {len(self.systems)}: "
                f"{', '.join(self.systems)}; pass the table itself to take them all"
            )
        return ScoreTable(
            self.frame.assign(system=name),
            dict.fromkeys([name], *self.directions.values()) if self.directions else {},
            (name,) * len(self.runs),
            tuple(f"{name}: {note}" for note in self.notes),
        )


@dataclass(frozen=True)
class SystemChoice:
    """The systems to read, and those to leave out.

    Parameters
    ----------
    file : what messages call the table
    leave_out : systems (in a wide table: columns) not to read
    only : systems (columns) to read, all others left out; None reads all

    Examples
    --------
    >>> [SystemChoice("scores.csv", {"bm25"}).takes(name) for name in ("bm25", "new")]
    [False, True]
    """

    file: str
    leave_out: Collection[str] = ()
    only: Collection[str] | None = None

    @property
    def everything(self) -> bool:
        """True where no system is left out."""
        return not self.leave_out and self.only is None

    def takes(self, system: str) -> bool:
        """True where a system of this name is read."""
        return system not in self.leave_out and (self.only is None or system in self.only)

    def check(self, systems: Iterable[object]) -> None:
        """Refuse names that are not among these systems."""
        have = {str(name) for name in systems}
        unknown = sorted({*self.leave_out, *(self.only or ())} - have)
        if unknown:
            raise RelstudyError(
                f"{self.file}: there is no system {unknown[0]!r} to choose or leave out; there are: "
                f"{', '.join(sorted(have))}"
            )

    def of(self, table: ScoreTable) -> ScoreTable:
        """The chosen systems of a table.

        Raises
        ------
        RelstudyError
            where a name is none of the table's systems, or no system is left
        """
        self.check(table.systems)
        kept = table if self.everything else table.only([name for name in table.systems if self.takes(name)])
        self.refuse_none(len(kept))
        return kept

    def refuse_none(self, rows: int) -> None:
        """Refuse a choice that leaves no row."""
        if not rows:
            raise RelstudyError(f"{self.file}: no score is left; a system with at least one scored pair is needed")
