"""`relstudy.ask`: a study from a table of results or answers."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from relstudy.common.options.argument_checks import check_arguments
from relstudy.studyapp.collection.asked_study import Asked, make_study
from relstudy.studyapp.collection.results_table import read_results

__all__ = ["Asked", "ask"]


def ask(
    results: pd.DataFrame | str | os.PathLike[str] | Sequence[pd.DataFrame | str | os.PathLike[str]],
    folder: str | os.PathLike[str],
    *,
    questions: Sequence[str] = (),
    scale: str = "1-5",
    raters: int | None = None,
    side_by_side: bool = False,
    columns: Mapping[str, str] | None = None,
    fetch: bool = False,
    seed: int = 0,
) -> Asked:
    """Make a study's folder of a table of results or answers; `relstudy serve FOLDER` then puts it before people.

    Parameters
    ----------
    results : a table, or several: one row a query, system and result, or a question with a column of answers a model
    folder : of the study; one that was made so is added to
    questions : asked of each result; none: by what the table holds
    scale : of the questions: "1-5", "binary", "yes-no" or "1-9"
    raters : people expected, who share the pairs; None: up to 60 pairs each
    side_by_side : ask which of two models' answers, or of two systems' first five results, is better
    columns : roles by column, for columns with other names (query, system, answer, text, title, image, result, rank)
    fetch : fetch the pictures that the table names by addresses on the web
    seed : of the queries drawn, if there are many

    Returns
    -------
    The size of the study

    Raises
    ------
    RelstudyError
        where the query or the results are not found, a row has no query, or a result comes twice

    Examples
    --------
    >>> import tempfile
    >>> frame = pd.DataFrame({"question": ["a?", "a?"], "model": ["x", "y"], "answer": ["Yes.", "No."]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(ask(frame, folder).sentence())
    2 pairs to rate, 0 of them by everyone
    """
    check_arguments(ask, locals())
    several = [results] if isinstance(results, pd.DataFrame | str | os.PathLike) else list(results)
    sources = [each if isinstance(each, pd.DataFrame) else Path(each) for each in several]
    first = next((each.parent for each in sources if isinstance(each, Path)), Path())
    with tempfile.TemporaryDirectory(prefix="relstudy-") as fetched:
        table = read_results(sources, columns, Path(fetched) if fetch else None)
        return make_study(
            table, Path(folder), questions=questions, scale=scale, raters=raters, side_by_side=side_by_side, seed=seed,
            beside=first,
        )  # fmt: skip
