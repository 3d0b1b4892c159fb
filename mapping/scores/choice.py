"""Choice of the systems of a score table to read."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from relstudy.common.errors import RelstudyError
from relstudy.mapping.scores.score_table import ScoreTable


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
