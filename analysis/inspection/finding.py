"""What an inspection has to say: what a file is, what its columns mean and why, what can be done with it."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from typing import Any

from relstudy.common.shown import WIDTH


@dataclass(frozen=True)
class ColumnRole:
    """What a column was taken for.

    Parameters
    ----------
    column : its name in the file
    role : relstudy's name for it, such as rater_id, or "left out"
    why : the reason, as a phrase
    """

    column: str
    role: str
    why: str


@dataclass(frozen=True)
class Inspection:
    """What a file is, and what can be done with it.

    Parameters
    ----------
    file : the path as it was given
    kind : ratings, wide raters, judgments, scores, pairs, collection, run, qrels, codes, or the tool whose export it is
    sentence : the same in words
    columns : what each column was taken for
    notes : what was seen and needs a person's eye, one sentence each
    uses : what can be computed from it
    command : the command to run next; None where there is none
    """

    file: str
    kind: str
    sentence: str
    columns: tuple[ColumnRole, ...] = ()
    notes: tuple[str, ...] = ()
    uses: tuple[str, ...] = field(default=())
    command: str | None = None

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
        }

    def _lines(self) -> list[str]:
        """What there is to say, a thing a line."""
        lines = [f"{self.file}: {self.sentence}"]
        lines += [f"  {each.column} -> {each.role}: {each.why}" for each in self.columns]
        lines += self.notes
        return [*lines, f"can be computed: {', '.join(self.uses)}"] if self.uses else lines

    def _next(self) -> list[str]:
        """The command to run, in one line, to be copied."""
        return ["next:", f"  {self.command}"] if self.command else []

    def __str__(self) -> str:
        return "\n".join([*self._lines(), *self._next()])

    def __repr__(self) -> str:
        wrapped = [part for line in self._lines() for part in textwrap.wrap(line, WIDTH, subsequent_indent="    ")]
        return "\n".join([*wrapped, *self._next()])
