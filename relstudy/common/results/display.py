"""Display of a result in a console and in a notebook: a heading, a table that fits a screen, and notes."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from relstudy.common.runtime.terminal import shown_safely

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
        """The result in a line.

        Examples
        --------
        >>> import pandas as pd
        >>> import relstudy as rs
        >>> people = {"rater_id": list("aabb"), "query_id": "q", "result_id": list("xyxy"), "rating": [1, 5, 2, 4]}
        >>> panel = rs.calibrate(pd.DataFrame(people), scale="1-5")
        >>> panel.heading()[:8]
        '2 raters'
        """
        raise NotImplementedError

    def overview(self) -> pd.DataFrame:
        """The rows and columns worth seeing first.

        Examples
        --------
        >>> import pandas as pd
        >>> import relstudy as rs
        >>> people = {"rater_id": list("aabb"), "query_id": "q", "result_id": list("xyxy"), "rating": [1, 5, 2, 4]}
        >>> panel = rs.calibrate(pd.DataFrame(people), scale="1-5")
        >>> list(panel.overview())
        ['query_id', 'result_id', 'judgment', 'n_ratings', 'standard_error', 'inclusion_probability']
        """
        raise NotImplementedError

    def remarks(self) -> Sequence[str]:
        """Notes, one sentence each.

        Examples
        --------
        >>> import numpy as np
        >>> import relstudy as rs
        >>> counts = rs.hashing.CountTable(np.array([[2, 4, 4]]), np.array([[2, 2, 1]]))
        >>> rs.hashing.compare({"itq": counts}).remarks()[-1][:11]
        'conventions'
        """
        return ()

    def __repr__(self) -> str:
        return result_as_text(self.heading(), {"": self.overview()}, _few(self.remarks()))

    def _repr_html_(self) -> str:
        return result_as_html(self.heading(), {"": self.overview()}, _few(self.remarks()))


def result_as_text(
    heading: str, tables: Mapping[str, pd.DataFrame], remarks: Sequence[str], most_rows: int = ROWS
) -> str:
    """A heading, tables of at most so many rows, each under what it shows, and remarks, for a console."""
    lines = textwrap.wrap(heading, WIDTH)
    for title, table in tables.items():
        lines += ["", title] if title else []
        text = table.to_string(
            max_rows=most_rows,
            max_cols=COLUMNS,
            line_width=WIDTH,
            index=has_named_rows(table),
            na_rep="–",
            float_format=_short,
            max_colwidth=40,
        )
        lines += [text, *([f"... {len(table)} rows"] if len(table) > most_rows else [])]
    for remark in remarks:
        lines += textwrap.wrap(remark, WIDTH, initial_indent="- ", subsequent_indent="  ")
    return shown_safely("\n".join(lines))


def result_as_html(
    heading: str, tables: Mapping[str, pd.DataFrame], remarks: Sequence[str], most_rows: int = ROWS
) -> str:
    """The same for a notebook."""
    parts = []
    for title, table in tables.items():
        body = table.to_html(
            max_rows=most_rows,
            max_cols=COLUMNS,
            index=has_named_rows(table),
            border=0,
            na_rep="–",
            float_format=_short,
            show_dimensions=False,
        )
        more = f"<p>{len(table)} rows</p>" if len(table) > most_rows else ""
        parts.append((f"<p>{html.escape(title)}</p>" if title else "") + body + more)
    said = "".join(f"<li>{html.escape(remark)}</li>" for remark in remarks)
    notes = f"<ul>{said}</ul>" if said else ""
    return f"<div><p><strong>{html.escape(heading)}</strong></p>{''.join(parts)}{notes}</div>"


def has_named_rows(table: pd.DataFrame) -> bool:
    """True where the index of a table does more than count its rows."""
    return type(table.index).__name__ != "RangeIndex" or table.index.name is not None


def _short(value: float) -> str:
    return f"{value:.4g}"


def _few(remarks: Sequence[str]) -> list[str]:
    left = len(remarks) - NOTES
    return [*remarks[:NOTES], *([f"and {left} more"] if left > 0 else [])]
