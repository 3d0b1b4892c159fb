"""Methods of every result of a public function: one table, one summary, LaTeX, and a row by its name."""

from __future__ import annotations

import html
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from relstudy.common.options.argument_checks import check_arguments
from relstudy.common.options.option_wording import members_called_in_python
from relstudy.common.results.display import Shown, has_named_rows, result_as_html, result_as_text
from relstudy.common.results.latex import LatexCell, latex_table
from relstudy.common.results.serialization import write_kept
from relstudy.common.runtime.errors import RelstudyError, UnknownName
from relstudy.common.runtime.wording import listed_some, span

LOW, HIGH = "_low", "_high"
"""Endings of the columns that hold the ends of an interval."""
ENDING = ".relstudy"
"""Of a result's file beside tables in a folder."""
SUMMARY_ROWS = 60
MOST_NAMES = 12


class Summary(dict[str, Any]):
    """Every figure by the names that the command prints with `--json`; printed, and in a notebook, it is text.

    Parameters
    ----------
    figures : plain JSON
    text, page : the same in words and tables, as text and as HTML
    """

    def __init__(self, figures: Mapping[str, Any], text: str, page: str = "") -> None:
        super().__init__(figures)
        self.text = text
        self.page = page or f"<pre>{html.escape(text)}</pre>"

    def __repr__(self) -> str:
        return self.text

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return self.page


class Result(Shown):
    """A result: `.table`, `.summary()`, `.to_latex()`, `.save(path)` and `result[name]`.

    What its methods say names arguments, unless commands call them, too (`class Ratings(Result, of_commands=True)`).
    """

    def __init_subclass__(cls, *, of_commands: bool = False, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        if not of_commands:
            members_called_in_python(cls)

    @property
    def table(self) -> pd.DataFrame:
        """The figures, a row each."""
        raise NotImplementedError

    def as_json(self) -> dict[str, Any]:
        """Every figure, as plain JSON.

        Examples
        --------
        >>> import pandas as pd
        >>> import relstudy as rs
        >>> people = {"rater_id": list("aabb"), "query_id": "q", "result_id": list("xyxy"), "rating": [1, 5, 2, 4]}
        >>> panel = rs.calibrate(pd.DataFrame(people), scale="1-5")
        >>> panel.as_json()["raters"]
        2
        """
        raise NotImplementedError

    def summary(self) -> Summary:
        """Every figure: printed, it is text; `summary()["notes"]` gives what the command prints with `--json`.

        Examples
        --------
        >>> import pandas as pd
        >>> import relstudy as rs
        >>> people = {"rater_id": list("aabb"), "query_id": "q", "result_id": list("xyxy"), "rating": [1, 5, 2, 4]}
        >>> panel = rs.calibrate(pd.DataFrame(people), scale="1-5")
        >>> summary = panel.summary()
        >>> summary["ratings"] == len(panel.ratings), str(summary).startswith("2 raters")
        (True, True)
        """
        return self._summary_of(self.as_json())

    def _summary_of(self, figures: Mapping[str, Any]) -> Summary:
        tables = self._tables()
        return Summary(
            figures,
            result_as_text(self.heading(), tables, self.remarks(), SUMMARY_ROWS),
            result_as_html(self.heading(), tables, self.remarks(), SUMMARY_ROWS),
        )

    def _tables(self) -> Mapping[str, pd.DataFrame]:
        """The tables of the summary by what they show."""
        return {"": self.overview()}

    def to_latex(self) -> str:
        """The table for a paper: booktabs, an interval below its number.

        Examples
        --------
        >>> import pandas as pd
        >>> import relstudy as rs
        >>> people = {"rater_id": list("aabb"), "query_id": "q", "result_id": list("xyxy"), "rating": [1, 5, 2, 4]}
        >>> panel = rs.calibrate(pd.DataFrame(people), scale="1-5")
        >>> "toprule" in panel.to_latex()
        True
        """
        return frame_as_latex(self.table, self.heading(), self.saved_as.replace(" ", "-"))

    saved_as: ClassVar[str]
    """Name of such a result in its file."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Keep the result in a file (JSON), from which `relstudy.read` gives it back.

        Parameters
        ----------
        path : of the file, or, where a command writes a folder of tables of such a result, of the folder: it gets these
            tables and the file beside them

        Examples
        --------
        >>> import tempfile
        >>> import pandas as pd
        >>> import relstudy as rs
        >>> people = {"rater_id": list("aabb"), "query_id": "q", "result_id": list("xyxy"), "rating": [1, 5, 2, 4]}
        >>> panel = rs.calibrate(pd.DataFrame(people), scale="1-5")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     panel.save(folder)
        ...     rs.read(folder).table.equals(panel.table)
        True
        """
        check_arguments(type(self).save, locals())
        self._keep(Path(path))

    def _keep(self, path: Path) -> None:
        write_kept(self, self.saved_as, path)

    def __getitem__(self, name: str) -> Any:
        rows, names = self.table, self._names()
        of_that_name = np.array([each == str(name) for each in names], dtype=bool)
        if not of_that_name.any():
            raise UnknownName(f"there is no {name!r} here; there are: {listed_some(names, MOST_NAMES)}")
        found = rows[of_that_name]
        return found.iloc[0].rename(str(name)) if len(found) == 1 else found

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def _names(self) -> list[str]:
        return [str(name) for name in names_of_rows(self.table)]

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)


class FolderResult(Result):
    """A result whose tables a command writes to a folder: `save` writes these, and a file of the whole beside them."""

    def _keep(self, path: Path) -> None:
        if path.is_file():
            raise RelstudyError(f"{path}: this is a file; a {self.saved_as} is saved to a folder")
        self._write_tables(path)
        write_kept(self, self.saved_as, path / f"{self.saved_as.replace(' ', '-')}{ENDING}")

    def _write_tables(self, folder: Path) -> None:
        """The files that the command writes."""
        raise NotImplementedError


def names_of_rows(frame: pd.DataFrame) -> pd.Series | pd.Index:
    """Name of the things that a table's rows are of: its index, or its first column where the index only counts.

    Examples
    --------
    >>> list(names_of_rows(pd.DataFrame({"system": ["a", "b"], "r": [0.1, 0.2]})))
    ['a', 'b']
    """
    return frame.index if has_named_rows(frame) or not frame.shape[1] else frame.iloc[:, 0]


def frame_as_latex(frame: pd.DataFrame, caption: str, label: str = "table") -> str:
    """A table for a paper; columns NAME_low and NAME_high stand as an interval below the number of NAME.

    Parameters
    ----------
    frame : columns of text and numbers; an index that does more than count is its first column
    caption : plain text
    label : letters, digits and hyphens

    Examples
    --------
    >>> frame = pd.DataFrame({"system": ["a_1"], "r": [0.5], "r_low": [0.4], "r_high": [0.6]})
    >>> print(frame_as_latex(frame, "One system."))  # doctest: +ELLIPSIS
    % needs ...
    a\\_1 & 0.500 \\\\
     & \\scriptsize 0.400 to 0.600 \\\\
    ...
    """
    if has_named_rows(frame):
        frame = frame.reset_index(names=frame.index.name or "")
    ends = {name for name in frame if str(name).endswith((LOW, HIGH)) and str(name).rsplit("_", 1)[0] in frame}
    shown = [name for name in frame if name not in ends]
    alignment = "".join("r" if pd.api.types.is_numeric_dtype(frame[name]) else "l" for name in shown)
    rows = [[_cell(row, name) for name in shown] for row in frame.to_dict("records")]
    headings = [str(name).replace("_", " ") for name in shown]
    return latex_table(caption, label, headings, alignment, rows)


def _cell(row: Mapping[Any, Any], name: Any) -> LatexCell:
    low, high = row.get(f"{name}{LOW}"), row.get(f"{name}{HIGH}")
    interval = "" if pd.isna(low) or pd.isna(high) else span(float(low), float(high))
    return LatexCell(_text(row[name]), interval)


def _text(value: Any) -> str:
    if value is None or value is pd.NA or (isinstance(value, float) and np.isnan(value)):
        return "–"
    if isinstance(value, float):
        return f"{value:,.0f}" if value.is_integer() and abs(value) >= 1 else f"{value:.3f}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
