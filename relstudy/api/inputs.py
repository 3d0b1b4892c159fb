"""Inputs of the public functions: a path, or a DataFrame with the same columns."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from relstudy.calibration.pipeline import Calibration
from relstudy.calibration.tables.judgments import Judgments, judgments_in, qrels_in, read_judgments
from relstudy.calibration.tables.study_tables import (
    StudyTables,
    judgments_with_ratings,
    read_study_tables,
    with_proposers,
)
from relstudy.common.options.argument_checks import shown
from relstudy.common.options.option_wording import PythonWords
from relstudy.common.runtime.control_characters import refuse_controls
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.checked_table import Checked
from relstudy.common.tables.column_names import plain_name
from relstudy.common.tables.formats.dataframe_libraries import (
    Nested,
    Source,
    frame_of_nested,
    frame_of_records,
    is_nested,
    path_or_frame,
)
from relstudy.common.tables.formats.table_files import read_table
from relstudy.common.tables.meaning.reading import PLAIN, Columns, Reading
from relstudy.common.tables.meaning.reading_options import renamings
from relstudy.mapping.scores.score_files import check_run, check_scores, read_score_files, read_scores
from relstudy.mapping.scores.score_table import ScoreTable, SystemChoice
from relstudy.mapping.scores.vectors import Similarity, are_vectors

Records = Sequence[tuple[Any, ...]]
"""With named fields, as ir_measures' qrels and runs are."""
Scored = Source | Nested | Records
ScoredSystems = (
    Source
    | Records
    | Sequence[str | os.PathLike[str]]
    | np.ndarray
    | Mapping[str, Scored | np.ndarray | Mapping[str, float]]
)
"""Scores of systems: a table, or a run by query and result, or vectors, or one of these under each system's name, or
paths as commands take them.

One type for all dicts, so that a type checker knows `{"new": "new.run", "old": frame}`; of two it takes neither.
"""

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
            raise RelstudyError(f"{name}: column {doubled[0]!r} appears there more than once; column names must differ")
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


def folder_of(source: Any) -> Path | None:
    """The study's folder, where it is given in place of its tables."""
    # Path.is_dir takes "" for the folder one is in, and has an error of its own for a text of a thousand letters
    return Path(source) if isinstance(source, str | os.PathLike) and os.path.isdir(source) else None


def table_of(source: Source, name: str) -> Checked:
    """A file's table or a DataFrame, to be checked.

    Parameters
    ----------
    name : what the table is, for messages about a DataFrame, such as "the ratings"
    """
    given = path_or_frame(source, name)
    return CheckedFrame(given, name) if isinstance(given, pd.DataFrame) else read_table(given)


def refuse_taken(table: Checked, columns: Columns) -> None:
    """Refuse names (theirs: ours) of columns of ours that the table has already."""
    for _, theirs, ours in renamings(columns):
        if theirs in table.frame and ours in table.frame and ours not in columns:
            raise RelstudyError(
                f"{table.file}: {theirs!r} cannot be taken for {ours!r}, since there is a column {ours!r}"
            )


def unread(source: Any, reading: Reading) -> None:
    """Refuse what is said about how a table is to be read, if there is no table to read."""
    # names of columns may be those of another table
    if reading.tells_answers or (reading and reading.found is None):
        given = "none is given" if source is None else f"a {type(source).__name__} was read already"
        raise RelstudyError(f"columns, values, scale and missing say how a table is read, and {given}")


def judgments_of(judgments: Any, reading: Reading = PLAIN) -> tuple[Judgments, str]:
    """Judgments from a path (TREC qrels too), a DataFrame, or a result that holds them; and what to call them."""
    if is_nested(judgments):
        nested = CheckedFrame(frame_of_nested(judgments, "judgment"), "the judgments")
        return qrels_in(nested, reading), nested.file
    held = getattr(judgments, "judgments", None)
    if isinstance(held, pd.DataFrame):
        unread(judgments, reading)
    source = path_or_frame(judgments if held is None else held, "the judgments")
    if isinstance(source, str | os.PathLike):
        return read_judgments(source, reading), os.fspath(source)
    table = table_of(source, "the judgments")
    return judgments_in(table, reading), table.file


def study_tables_of(
    judgments: Any, ratings: Source | None = None, reading: Reading = PLAIN, folder: Path | None = None
) -> StudyTables:
    """Judgments with the ratings behind them (those given, those they hold, or those beside their file), and with the
    systems that proposed their pairs, the pairs as they were drawn and the pool, where these are known."""
    given = None if ratings is None else path_or_frame(ratings, "the ratings")
    if isinstance(judgments, str | os.PathLike):
        return read_study_tables(judgments, reading, given, folder=folder)
    judged, _ = judgments_of(judgments, reading)
    judged = with_proposers(judged)
    if given is None and isinstance(getattr(judgments, "judgments", None), pd.DataFrame):
        given = judgments.ratings
    panel = getattr(judgments, "calibration", None)
    if isinstance(panel, Calibration):
        judged = replace(judged, careless=panel.judgments.careless)
    return StudyTables(judged if given is None else judgments_with_ratings(judged, given))


def scores_of(
    scores: ScoredSystems,
    reading: Reading = PLAIN,
    leave_out: tuple[str, ...] = (),
    only: tuple[str, ...] | None = None,
    similarity: Similarity | None = None,
    pairs: pd.DataFrame | None = None,
) -> tuple[ScoreTable, str]:
    """A score table from a path, a DataFrame, or one of either for each system's name; and what to call it.

    Vectors (a path of .npy, or an array) score `pairs` by `similarity`.
    """
    if similarity is not None:
        similarity.refuse_without_vectors(list(scores.values()) if isinstance(scores, Mapping) else [scores])
        if pairs is not None and isinstance(scores, str | os.PathLike | np.ndarray) and are_vectors(scores):
            file = "the vectors" if isinstance(scores, np.ndarray) else os.fspath(scores)
            return SystemChoice(file, leave_out, only).of(similarity.scores(scores, pairs)), file
    if is_nested(scores):
        nested = CheckedFrame(frame_of_nested(scores, "score"), "the scores")
        return check_run(nested, leave_out=leave_out, only=only), nested.file
    if isinstance(scores, Mapping):
        if not scores:
            raise RelstudyError("the scores: there is no system; a table for each system's name is needed")
        refuse_controls(scores, "the scores", "a system")
        given: Mapping[str, Any] = scores
        names = [str(name) for name in scores]
        again = next((name for place, name in enumerate(names) if name in names[:place]), None)
        if again is not None:
            raise RelstudyError(f"the scores: two systems are named {again!r}; systems need different names")
        joined = ScoreTable.joined(
            _one_system(str(name), source, reading, similarity, pairs) for name, source in given.items()
        )
        return SystemChoice("the scores", leave_out, only).of(joined), "the scores"
    if isinstance(scores, list | tuple) and scores and all(isinstance(each, str | os.PathLike) for each in scores):
        paths = [os.fspath(each) for each in scores if isinstance(each, str | os.PathLike)]
        several = read_score_files(
            paths, leave_out=leave_out, only=only, reading=reading, similarity=similarity, pairs=pairs
        )
        return several, "the scores"
    if isinstance(scores, list | tuple) and frame_of_records(scores) is None:
        raise RelstudyError(
            "the scores: a path or a pandas DataFrame is needed, or one for each system's name, as "
            f"{{'new': 'new.run'}}, not {shown(scores)}"
        )
    source = path_or_frame(scores, "the scores")
    if isinstance(source, pd.DataFrame):
        table = table_of(source, "the scores")
        return check_scores(table, leave_out=leave_out, only=only, reading=reading), table.file
    return read_scores(source, leave_out=leave_out, only=only, reading=reading), os.fspath(source)


def _one_system(
    name: str, source: Any, reading: Reading, similarity: Similarity | None, pairs: pd.DataFrame | None
) -> ScoreTable:
    if similarity is not None and pairs is not None and are_vectors(source):
        return similarity.scores(source, pairs, name)
    table, file = scores_of(source, reading)
    return table.named(name, file)
