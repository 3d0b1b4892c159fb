"""The errors a person is meant to read: what is wrong, where, and what is allowed."""

from __future__ import annotations

from dataclasses import dataclass


class RelstudyError(Exception):
    """Something the person at the keyboard can mend. The message is one clear sentence."""

    @property
    def lines(self) -> list[str]:
        """The message's lines; a line break in any of them is a name's."""
        return [str(self)]


class SeveralErrors(RelstudyError):
    """Several things to mend, each a line of the message."""

    def __init__(self, *lines: str) -> None:
        super().__init__(*lines)

    @property
    def lines(self) -> list[str]:
        """The message's lines; a line break in any of them is a name's."""
        return [str(line) for line in self.args]

    def __str__(self) -> str:
        return "\n".join(self.lines)


class UnknownName(RelstudyError, KeyError):
    """A result holds nothing by this name; `in` and `.get()` take it for the KeyError that it is."""

    __str__ = Exception.__str__


class NotHere(RelstudyError, AttributeError):
    """A result has nothing under this name; `hasattr()` and what lists members take it for the AttributeError it is."""


@dataclass(frozen=True)
class Fault:
    """One wrong value in a table.

    Parameters
    ----------
    file : path as the person gave it
    row : row as a spreadsheet counts it (the header is row 1), or None when the whole table is meant
    column : column name, or None when the whole row is meant
    value : the offending value, or None when it is missing altogether
    allowed : what would have been right, as a noun phrase
    count : in how many rows the same value stands in this column, of which `row` is the first
    """

    file: str
    row: int | None
    column: str | None
    value: object
    allowed: str
    count: int = 1

    def __str__(self) -> str:
        where = [self.file]
        if self.row is not None:
            where.append(f"row {self.row}" if self.count == 1 else f"row {self.row} and {self.count - 1} more")
        if self.column is not None:
            where.append(f"column {self.column}")
        refused = "" if self.value is None else f" {_shown(self.value)} is not allowed;"
        return f"{', '.join(where)}:{refused} {self.allowed}"


def _shown(value: object) -> str:
    text = repr(str(value))
    return text if len(text) <= 80 else text[:76] + "...'"


class TableError(RelstudyError):
    """A table has faults; all are listed together, the first 20 in full.

    Parameters
    ----------
    faults : the faults, or at least the first 20 of them
    more : how many further faults were counted and not kept
    """

    SHOWN = 20

    def __init__(self, faults: list[Fault], more: int = 0) -> None:
        self.faults = faults
        self.count = sum(fault.count for fault in faults) + more
        lines = [str(fault) for fault in faults[: self.SHOWN]]
        if len(faults) > self.SHOWN or more:
            left = self.count - sum(fault.count for fault in faults[: self.SHOWN])
            lines.append(f"... and {left} more fault{'s' * (left > 1)}")
        super().__init__("\n".join(lines))
        self._lines = lines

    @property
    def lines(self) -> list[str]:
        """The message's lines: a fault each."""
        return self._lines

    def __reduce__(self) -> tuple[type[TableError], tuple[list[Fault], int]]:
        # Another process raises it whole: an exception is otherwise rebuilt from its message.
        return type(self), (self.faults, self.count - sum(fault.count for fault in self.faults))
