"""Files looked into: results that their `save` wrote (`read`), and tables from elsewhere (`inspect`)."""

from __future__ import annotations

import os
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from relstudy.analysis.inspection.files import inspect_file
from relstudy.analysis.inspection.finding import Inspection
from relstudy.analysis.inspection.tables import inspect_table
from relstudy.analysis.pipeline import run_of_comparison
from relstudy.analysis.scoring.saved import read_comparison
from relstudy.api.inputs import table_of
from relstudy.api.scores import Scores
from relstudy.common.options.argument_checks import check_arguments
from relstudy.common.results.result import ENDING, Result
from relstudy.common.results.serialization import KIND, MAPPING, VERSION, read_content, read_kept
from relstudy.common.runtime.by_name import load
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.files import whole_files
from relstudy.common.tables.formats.dataframe_libraries import Source, path_or_frame
from relstudy.mapping.fitted import FittedMapping

__all__ = ["Inspection", "inspect", "read"]

NAME = "the DataFrame"

CLASSES = {
    "ratings": "relstudy.calibration.tables.ratings:Ratings",
    "panel": "relstudy.api.calibrating:CalibratedPanel",
    "parts": "relstudy.api.by_groups:CalibratedParts",
    "joined judgments": "relstudy.api.joining:JoinedJudgments",
    "mappings": "relstudy.api.fitting:Mappings",
    "mapping groups": "relstudy.api.by_groups:MappingGroups",
    "comparison": "relstudy.api.scores:Scores",
    "preferences": "relstudy.api.comparing:Preferences",
    "couples": "relstudy.api.comparing:Couples",
    "generalizability": "relstudy.calibration.reliability.generalizability:Generalizability",
    "plan": "relstudy.api.planning:Plan",
    "judge check": "relstudy.api.judging:CheckedJudge",
    "sample": "relstudy.api.sampling:Sample",
    "inspection": "relstudy.analysis.inspection.finding:Inspection",
    "hash evaluation": "relstudy.analysis.hashing.notebook_results:Evaluation",
    "hash comparison": "relstudy.analysis.hashing.notebook_results:Comparison",
}
"""The class of each kind of result, by what its file says that it holds."""


def read(path: str | os.PathLike[str]) -> Any:
    """A result that its `save` wrote, with the same figures.

    Also reads a fitted mapping (NAME.json), a comparison of `relstudy score --save`, and count tables and encoders of
    `rs.hashing`. What another version of relstudy saved may be refused: the tables beside it are for the years.

    Parameters
    ----------
    path : of the file, or of the folder, where the result was saved to one

    Returns
    -------
    What was saved: a `CalibratedPanel`, `Scores`, `Plan`, ...

    Raises
    ------
    RelstudyError
        if there is no such file, it holds something else, or is damaged

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> import relstudy as rs
    >>> people = {"rater_id": list("aabb"), "query_id": "q", "result_id": list("xyxy"), "rating": [1, 5, 2, 4]}
    >>> panel = rs.calibrate(pd.DataFrame(people), scale="1-5")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     panel.save(folder)
    ...     read(folder).table.equals(panel.table)
    True
    """
    check_arguments(read, locals())
    file = os.fspath(_in_folder(Path(path)) if Path(path).is_dir() else path)
    if file.endswith(".npz"):
        return load("relstudy.analysis.hashing.saved:load_saved")(file)
    content = read_content(file)
    if content.get("kind") == MAPPING:
        return FittedMapping.from_json(content, file)
    kind = next((name for name in CLASSES if content.get("kind") == KIND.format(name)), None)
    if kind is None:
        raise RelstudyError(f"{file}: not a file that a result's save() wrote; rs.inspect describes a table")
    if kind == "comparison" and "result" not in content:
        return Scores(run_of_comparison(read_comparison(file)))
    if kind != "comparison" and content.get("version") != VERSION:
        raise RelstudyError(f"{file}: version {content.get('version')!r} of a saved {kind} is not known; {VERSION} is")
    form: type[Result] = load(CLASSES[kind])
    return read_kept(content, form, file)


def _in_folder(folder: Path) -> Path:
    """The one file of a result in a folder."""
    files = whole_files(folder, f"*{ENDING}")
    if len(files) != 1:
        names = ", ".join(file.name for file in files)
        what = f"several results are saved here: {names}; name one of these files" if files else (
            f"no result's save() wrote here (NAME{ENDING}); rs.read_mappings reads what `relstudy fit` wrote"
        )  # fmt: skip
        raise RelstudyError(f"{folder}: {what}")
    return files[0]


def inspect(source: Source) -> Inspection:
    """Inspect a file or a DataFrame: its kind, the meaning of each column and why, possible figures, and the next step.

    Parameters
    ----------
    source : a path (a table, a TREC run or qrels, codes, labels or vectors, or another tool's export), or a DataFrame

    Returns
    -------
    Inspection, which prints as `relstudy inspect` does, in a console wrapped to 80 columns

    Raises
    ------
    RelstudyError
        when the file cannot be read, or is not a table that can be told columns from

    Examples
    --------
    >>> import pandas as pd
    >>> ratings = {"worker": list("aabb"), "query": list("qqqq"), "doc": list("xyxy"), "rating": [1, 5, 2, 4]}
    >>> answers = pd.DataFrame(ratings)
    >>> {each.column: each.role for each in inspect(answers).columns}["worker"]
    'rater_id'
    """
    given = path_or_frame(source, "the source")
    if not isinstance(given, pd.DataFrame):
        return inspect_file(given)
    as_text = given.astype("str").where(given.notna(), "")
    return _of_a_file_to_be(inspect_table(table_of(as_text, NAME)))


def _of_a_file_to_be(inspection: Inspection) -> Inspection:
    """The inspection of a DataFrame, which has no file that a command could be given: FILE stands for where it will be
    saved."""

    def renamed(command: str | None) -> str | None:
        return command and command.replace(shlex.quote(NAME), "FILE")

    return replace(
        inspection,
        command=renamed(inspection.command),
        draft=renamed(inspection.draft),
        readings=tuple(_of_a_file_to_be(reading) for reading in inspection.readings),
    )
