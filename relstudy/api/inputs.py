"""What the public functions take: a path, or a DataFrame with the same columns."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from relstudy.calibration.judgments import Judgments, judgments_in, read_judgments
from relstudy.common.arguments import shown
from relstudy.common.checked import Checked
from relstudy.common.errors import RelstudyError
from relstudy.common.headers import plain_name
from relstudy.common.option_words import PythonWords
from relstudy.common.plain_names import refuse_controls
from relstudy.common.probabilities import PAIR
from relstudy.common.reading import PLAIN, Reading
from relstudy.common.tables import read_table
from relstudy.mapping.scores.choice import SystemChoice
from relstudy.mapping.scores.score_table import ScoreTable
from relstudy.mapping.scores.table import check_scores, read_scores

Source = str | os.PathLike[str] | pd.DataFrame
Columns = Mapping[str, str]
Values = Mapping[str, float]
Missing = str | float | Sequence[str | float]


IDS = ("rater_id", "query_id", "result_id", "system")
"""What a DataFrame's index may hold in place of a column, as grouping and pivoting leave it."""


class CheckedFrame(Checked):
    """A DataFrame to be checked like a file's table; its rows are counted from 0, as `iloc` counts them.

    Ids that are levels of its index are taken as columns.
    """

    header = None

    def __init__(self, frame: pd.DataFrame, name: str) -> None:
        if frame.columns.nlevels > 1:
            raise RelstudyError(
                f"{name}: its columns have {frame.columns.nlevels} levels, as {frame.columns[-1]!r} has; one is needed "
                "(frame.columns.droplevel takes a level away)"
            )
        doubled = frame.columns[frame.columns.duplicated()]
        if len(doubled):
            raise RelstudyError(f"{name}: column {doubled[0]!r} stands there more than once; column names must differ")
        ids = {plain_name(level): level for level in IDS}
        flat = frame.reset_index(drop=True)
        self.left: list[str] = []
        for number, level in enumerate(frame.index.names):
            taken = ids.get(plain_name(level))
            if taken is None or taken in flat:
                self.left += [] if level is None or taken is not None else [str(level)]
            else:
                values = pd.Series(frame.index.get_level_values(number))
                flat.insert(flat.shape[1] - frame.shape[1], taken, values)
        super().__init__(flat, name, np.arange(len(frame)))
        self.words = PythonWords()

    def require(self, *columns: str, way_out: Callable[[str], str] | None = None) -> None:
        super().require(*columns, way_out=way_out or (lambda _: "columns={...} renames"))

    def contents(self) -> str:
        index = f"; in its index: {', '.join(self.left)}" if self.left else ""
        return f"the DataFrame has: {self.columns_shown()}{index}"


def path_or_frame(source: Any, name: str) -> Any:
    """The source itself; refused where it is neither a path nor a DataFrame."""
    if isinstance(source, str | os.PathLike | pd.DataFrame):
        return source
    way_out = "; its method to_pandas() gives one" if hasattr(source, "to_pandas") else ""
    raise RelstudyError(f"{name}: a path or a pandas DataFrame is needed, not {shown(source)}{way_out}")


def table_of(source: Source, name: str, columns: Columns | None = None) -> Checked:
    """A file's table or a DataFrame, with columns renamed from `columns` (theirs: ours), to be checked.

    Parameters
    ----------
    name : what the table is, for messages about a DataFrame, such as "the ratings"
    """
    path_or_frame(source, name)
    table = CheckedFrame(source, name) if isinstance(source, pd.DataFrame) else read_table(source)
    refuse_unknown(table, columns)
    table.frame = table.frame.rename(columns=dict(columns or {}))
    return table


def refuse_unknown(table: Checked, columns: Columns | None) -> None:
    """Refuse names (theirs: ours) of columns that the table does not have, or of ours that it has already."""
    for theirs, ours in (columns or {}).items():
        if theirs not in table.frame:
            have = table.columns_shown()
            raise RelstudyError(f"{table.file}: there is no column {theirs!r} to take for {ours!r}; there are: {have}")
        if ours in table.frame and ours not in (columns or {}):
            raise RelstudyError(
                f"{table.file}: {theirs!r} cannot be taken for {ours!r}, since there is a column {ours!r}"
            )


def unread(source: Any, reading: Reading) -> None:
    """Refuse what is said about how a table is to be read, where there is no table to read."""
    if reading:
        given = "none is given" if source is None else f"a {type(source).__name__} was read already"
        raise RelstudyError(f"columns, values, scale and missing say how a table is read, and {given}")


def judgments_of(judgments: Any, reading: Reading = PLAIN) -> tuple[Judgments, str]:
    """Judgments from a path (TREC qrels too), a DataFrame, or a result that holds them; and what to call them."""
    held = getattr(judgments, "judgments", None)
    if isinstance(held, pd.DataFrame):
        unread(judgments, reading)
    source = path_or_frame(judgments if held is None else held, "the judgments")
    if isinstance(source, str | os.PathLike):
        return read_judgments(source, reading), os.fspath(source)
    table = table_of(source, "the judgments")
    return judgments_in(table, reading), table.file


def judgments_and_ratings(judgments: Any, ratings: Source | None = None, reading: Reading = PLAIN) -> Judgments:
    """Judgments with the calibrated ratings behind them (those given, those they hold, or those beside their file), and
    with the systems that proposed their pairs, where that is known."""
    from relstudy.analysis.scoring.proposers import with_proposers
    from relstudy.analysis.scoring.rated import judgments_with_ratings, read_calibrated, with_ratings

    judged, _ = judgments_of(judgments, reading)
    judged = with_proposers(judged, judgments if isinstance(judgments, str | os.PathLike) else None)
    if isinstance(getattr(judgments, "judgments", None), pd.DataFrame) and ratings is None:
        ratings = judgments.ratings
    if isinstance(ratings, pd.DataFrame):
        missing = [name for name in (*PAIR, "calibrated") if name not in ratings]
        if missing:
            raise RelstudyError(f"the ratings: the column {missing[0]} is needed; calibrate gives such ratings")
        return with_ratings(judged, ratings, "the ratings")
    if ratings is not None:
        path = path_or_frame(ratings, "the ratings")
        return with_ratings(judged, read_calibrated(path), os.fspath(path))
    return judgments_with_ratings(judged, judgments) if isinstance(judgments, str | os.PathLike) else judged


def scores_of(
    scores: Source | Mapping[str, Source],
    columns: Columns | None = None,
    leave_out: tuple[str, ...] = (),
    only: tuple[str, ...] | None = None,
) -> tuple[ScoreTable, str]:
    """A score table from a path, a DataFrame, or one of either for each system's name; and what to call it."""
    if isinstance(scores, Mapping):
        if not scores:
            raise RelstudyError("the scores: there is no system; a table for each system's name is needed")
        refuse_controls(scores, "the scores", "a system")
        names = [str(name) for name in scores]
        again = next((name for place, name in enumerate(names) if name in names[:place]), None)
        if again is not None:
            raise RelstudyError(f"the scores: two systems are named {again!r}; systems need different names")
        joined = ScoreTable.joined(_one_system(str(name), source, columns) for name, source in scores.items())
        return SystemChoice("the scores", leave_out, only).of(joined), "the scores"
    if isinstance(scores, pd.DataFrame) or columns is not None:
        table = table_of(scores, "the scores", columns)
        return check_scores(table, leave_out=leave_out, only=only), table.file
    path_or_frame(scores, "the scores")
    return read_scores(scores, leave_out=leave_out, only=only), os.fspath(scores)


def _one_system(name: str, source: Source, columns: Columns | None) -> ScoreTable:
    table, file = scores_of(source, columns)
    return table.named(name, file)
