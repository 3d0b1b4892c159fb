"""The result of an inspection: kind of file, meaning of its columns and why, and possible next steps."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from relstudy.common.results.display import WIDTH
from relstudy.common.results.result import Result


@dataclass(frozen=True)
class ColumnRole:
    """A column and the role that it was given.

    Parameters
    ----------
    column : its name in the file
    role : relstudy's name for it, such as rater_id, or "left out"
    why : the reason, as a phrase
    """

    column: str
    role: str
    why: str


@dataclass(frozen=True, repr=False)
class Inspection(Result):
    """The kind of a file, and possible next steps.

    Parameters
    ----------
    file : the path as it was given
    kind : ratings, wide raters, judgments, scores, pairs, collection, run, qrels, codes, or the tool whose export it is
    sentence : the same in words
    columns : what each column was taken for
    notes : what was seen and needs a person's eye, one sentence each
    uses : what can be computed from it
    command : the command to run next, which runs as it stands, or None
    questions : what only a person can tell, one sentence each
    draft : if there are questions, the command with what is to be filled in in capitals
    readings : where several readings fit, each of them, with its own command
    """

    saved_as = "inspection"
    file: str
    kind: str
    sentence: str
    columns: tuple[ColumnRole, ...] = ()
    notes: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    command: str | None = None
    questions: tuple[str, ...] = ()
    draft: str | None = None
    readings: tuple[Inspection, ...] = ()

    @classmethod
    def of_several(cls, file: str, readings: Sequence[Inspection], what: str, notes: Sequence[str] = ()) -> Inspection:
        """Several readings of one table, none of which is chosen; the reading itself if there is one.

        Parameters
        ----------
        what : the table, in words, such as "a table of 12 rows"
        notes : on the table, before those of a reading

        Examples
        --------
        >>> ratings = Inspection("stars.csv", "ratings", "12 ratings")
        >>> scores = Inspection("stars.csv", "scores", "12 scores of one system")
        >>> Inspection.of_several("stars.csv", [ratings, scores], "a table of 12 rows").sentence
        'a table of 12 rows that can be read in 2 ways; choose one'
        >>> Inspection.of_several("stars.csv", [ratings], "a table of 12 rows").kind
        'ratings'
        """
        if len(readings) == 1:
            return replace(readings[0], notes=(*notes, *readings[0].notes))
        return cls(
            file,
            "several readings",
            f"{what} that can be read in {len(readings)} ways; choose one",
            notes=tuple(notes),
            questions=("which of these is it?",),
            readings=tuple(readings),
        )

    def as_json(self) -> dict[str, Any]:
        """Plain JSON."""
        return {
            "file": self.file,
            "kind": self.kind,
            "sentence": self.sentence,
            "columns": [vars(column) for column in self.columns],
            "notes": list(self.notes),
            "uses": list(self.uses),
            "command": self.command,
            "questions": list(self.questions),
            "draft": self.draft,
            "readings": [reading.as_json() for reading in self.readings],
        }

    @property
    def table(self) -> pd.DataFrame:
        """One row a column of the file: its name, relstudy's name for it (role), and the reason."""
        return pd.DataFrame([vars(each) for each in self.columns], columns=["column", "role", "why"])

    def heading(self) -> str:
        """The file, and what it is."""
        return f"{self.file}: {self.sentence}"

    def overview(self) -> pd.DataFrame:
        """The role that each column was given."""
        return self.table

    def remarks(self) -> list[str]:
        """Oddities, possible figures, and the command to run next."""
        uses = [f"can be computed: {', '.join(self.uses)}"] if self.uses else []
        return [*self.notes, *uses, *([f"next: {self.command}"] if self.command else [])]

    def brief(self) -> list[str]:
        """The file's kind, its columns' meanings, and the notes, one a line.

        Examples
        --------
        >>> column = ColumnRole("stars", "rating", "by its name")
        >>> Inspection("stars.csv", "ratings", "12 ratings by 3 raters", (column,)).brief()
        ['stars.csv: 12 ratings by 3 raters', '   stars -> rating']
        """
        return [self.heading(), *self._remarks()]

    def _lines(self) -> list[str]:
        """The findings, one a line."""
        lines = [self.heading(), *(f"  {each.column} -> {each.role}: {each.why}" for each in self.columns)]
        lines += [*self.notes, *self.questions]
        return [*lines, f"can be computed: {', '.join(self.uses)}"] if self.uses else lines

    def _next(self, lead: str = "next") -> list[str]:
        """The command to run, in one line, to be copied; of several readings, each with its own."""
        if self.readings:
            return [
                line
                for number, reading in enumerate(self.readings, start=1)
                for line in (f"{number}. {reading.sentence}", *reading._remarks(), *reading._next("   if so"))
            ]
        if self.command:
            return [f"{lead}:", f"  {self.command}"]
        return [f"{lead}, with the words in capitals filled in:", f"  {self.draft}"] if self.draft else []

    def _remarks(self) -> list[str]:
        """Columns and notes of one reading among several."""
        roles = ", ".join(f"{each.column} -> {each.role}" for each in self.columns)
        return [f"   {line}" for line in (roles, *self.notes, *self.questions) if line]

    def __str__(self) -> str:
        return "\n".join([*self._lines(), *self._next()])

    def __repr__(self) -> str:
        wrapped = [part for line in self._lines() for part in textwrap.wrap(line, WIDTH, subsequent_indent="    ")]
        return "\n".join([*wrapped, *self._next()])
