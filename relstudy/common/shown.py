"""How a result shows itself in a console and in a notebook: a heading, a table that fits a screen, and what to know."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from relstudy.common.terminal import shown_safely

if TYPE_CHECKING:
    import pandas as pd

WIDTH = 80
"""Columns of a console that nobody widened."""
ROWS = 6
COLUMNS = 8
NOTES = 5


class Shown:
    """A result with a heading, a table and notes."""

    def heading(self) -> str:
        """What this is, in a line."""
        raise NotImplementedError

    def overview(self) -> pd.DataFrame:
        """The rows and columns worth seeing first."""
        raise NotImplementedError

    def remarks(self) -> Sequence[str]:
        """What a person should know, one sentence each."""
        return ()

    def __repr__(self) -> str:
        table = self.overview()
        text = table.to_string(
            max_rows=ROWS,
            max_cols=COLUMNS,
            line_width=WIDTH,
            index=False,
            na_rep="–",
            float_format=_short,
            max_colwidth=40,
        )
        more = [f"... {len(table)} rows"] if len(table) > ROWS else []
        lines = [*textwrap.wrap(self.heading(), WIDTH), text, *more]
        for remark in _few(self.remarks()):
            lines += textwrap.wrap(remark, WIDTH, initial_indent="- ", subsequent_indent="  ")
        return shown_safely("\n".join(lines))

    def _repr_html_(self) -> str:
        table = self.overview()
        body = table.to_html(
            max_rows=ROWS,
            max_cols=COLUMNS,
            index=False,
            border=0,
            na_rep="–",
            float_format=_short,
            show_dimensions=False,
        )
        more = f"<p>{len(table)} rows</p>" if len(table) > ROWS else ""
        remarks = "".join(f"<li>{html.escape(remark)}</li>" for remark in _few(self.remarks()))
        notes = f"<ul>{remarks}</ul>" if remarks else ""
        return f"<div><p><strong>{html.escape(self.heading())}</strong></p>{body}{more}{notes}</div>"


def _short(value: float) -> str:
    return f"{value:.4g}"


def _few(remarks: Sequence[str]) -> list[str]:
    left = len(remarks) - NOTES
    return [*remarks[:NOTES], *([f"and {left} more"] if left > 0 else [])]
