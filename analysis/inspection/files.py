"""Any file: an array, JSON, a TREC run or qrels, codes in text, or a table."""

from __future__ import annotations

import json
import os
import re
import shlex
from typing import Any

import numpy as np
import pandas as pd

from relstudy.analysis.hashing.codes.arrays import is_array_file, load_array
from relstudy.analysis.hashing.codes.code_files import CodeFile
from relstudy.analysis.inspection.finding import Inspection
from relstudy.analysis.inspection.tables import RATING_USES, SCORE_USES, inspect_table
from relstudy.calibration.judgments import is_qrels, read_judgments
from relstudy.common.errors import RelstudyError
from relstudy.common.tables import Checked, read_table
from relstudy.mapping.scores.runs import looks_like_run
from relstudy.mapping.scores.table import read_scores

LOOKED_AT = 1 << 16
CODE_USES = ("Hamming metrics", "a score table for judged pairs")


def inspect_file(path: str | os.PathLike[str]) -> Inspection:
    """What a file is, which column means what and why, what can be computed, and the command to run next.

    Parameters
    ----------
    path : a table (CSV, Parquet), a TREC run or qrels, codes, labels or vectors (.npy, .npz, .mat, text), or the export
        of another tool

    Raises
    ------
    RelstudyError
        when the file cannot be read, or is no table that can be told columns from
    """
    file = os.fspath(path)
    if file.endswith(".parquet"):
        return inspect_table(read_table(file))
    start = _start(file)
    if is_array_file(file):
        return _array(file)
    if start.lstrip()[:1] in ("{", "["):
        return _json(file, start)
    if is_qrels(file):
        return _qrels(file)
    if looks_like_run(start.encode()):
        return _run(file)
    lines = [line.strip() for line in start.splitlines()[:200] if line.strip()]
    if len(lines) > 1 and all(re.fullmatch(r"[01]{8,}|[0-9a-fA-F]{4,}|[01]( [01])+", line) for line in lines[:-1]):
        return _codes(file)
    return _table(file, lines)


def _start(file: str) -> str:
    try:
        with open(file, "rb") as handle:
            content = handle.read(LOOKED_AT)
    except FileNotFoundError:
        raise RelstudyError(f"{file}: there is no such file") from None
    except IsADirectoryError:
        raise RelstudyError(f"{file}: this is a folder; a file is needed") from None
    except OSError as error:
        raise RelstudyError(f"{file}: cannot be read ({error.strerror})") from None
    if not content.strip():
        raise RelstudyError(f"{file}: the file is empty")
    return content.decode("utf-8-sig", errors="replace")


def _table(file: str, lines: list[str]) -> Inspection:
    """A CSV table, or one that becomes one when its separator or its preamble is changed."""
    comments = next((number for number, line in enumerate(lines) if not line.startswith("#")), 0)
    header = lines[comments] if lines else ""
    separator = next((each for each in ("\t", ";") if each in header and "," not in header), ",")
    if separator == "," and not comments:
        return inspect_table(read_table(file))
    try:
        frame = pd.read_csv(file, sep=separator, comment="#" if comments else None, dtype="str", keep_default_na=False)
    except (ValueError, UnicodeDecodeError) as error:
        raise RelstudyError(f"{file}: cannot be read as a table ({str(error).splitlines()[0]})") from None
    inspection = inspect_table(Checked(frame, file))
    called = {"\t": "tabs", ";": "semicolons"}.get(separator)
    notes = [f"{comments} lines of comments come before the header: remove them first"] if comments else []
    notes += [f"fields are separated by {called}: save the table with commas first"] if called else []
    return Inspection(
        inspection.file,
        inspection.kind,
        inspection.sentence,
        inspection.columns,
        (*notes, *inspection.notes),
        inspection.uses,
        None if inspection.command is None else f"{inspection.command}  # once the table is saved so",
    )


def _run(file: str) -> Inspection:
    scores = read_scores(file)
    systems = ", ".join(map(str, scores["system"].unique()[:5]))
    sentence = f"a TREC run of {systems}: {len(scores)} results of {scores['query_id'].nunique()} queries"
    command = f"relstudy score {shlex.quote(file)} -j judgments.csv"
    return Inspection(file, "run", sentence, uses=SCORE_USES, command=command)


def _qrels(file: str) -> Inspection:
    judgments = read_judgments(file)
    grades = judgments.frame["judgment"].value_counts().sort_index()
    counted = ", ".join(f"{count} of grade {grade:g}" for grade, count in grades.items())
    sentence = f"TREC qrels: {len(judgments)} judgments of {judgments.frame['query_id'].nunique()} queries ({counted})"
    return Inspection(
        file,
        "qrels",
        sentence,
        notes=(judgments.scale.sentence(),),
        uses=SCORE_USES[:3],
        command=f"relstudy score SCORES -j {shlex.quote(file)}",
    )


def _codes(file: str) -> Inspection:
    codes = CodeFile.of(file)
    quoted = shlex.quote(file)
    return Inspection(
        file,
        "codes",
        f"{codes.codes} codes of {codes.bits} bits, written as {codes.form}",
        notes=codes.notes,
        uses=CODE_USES,
        command=f"relstudy hash count --queries {quoted} --database {quoted} --query-labels LABELS "
        "--database-labels LABELS -o counts.npz",
    )


def _array(file: str) -> Inspection:
    array: np.ndarray = load_array(file)
    if array.ndim == 2 and array.dtype.kind == "f" and not np.isin(array[:100], (-1, 0, 1)).all():
        sentence = f"{len(array)} vectors of {array.shape[1]} numbers"
        command = f"relstudy score {shlex.quote(file)} -j judgments.csv --ids IDS"
        return Inspection(file, "vectors", sentence, uses=SCORE_USES, command=command)
    if array.ndim == 1:
        different = len(np.unique(array))
        return Inspection(file, "labels", f"{len(array)} labels, {different} different ones", uses=("a ground truth",))
    return _codes(file)


def _json(file: str, start: str) -> Inspection:
    """Exports in JSON: whose they are, and which table to export instead."""
    first = start.lstrip().splitlines()[0]
    try:
        one = json.loads(first)
    except json.JSONDecodeError:
        one = None
    if isinstance(one, dict) and len(start.splitlines()) > 1:
        tool = "Argilla" if "responses" in one else "doccano" if {"label", "labels"} & set(one) else "JSON lines"
        return _foreign(
            file, tool, f"one record a line, of {', '.join(one)}", "export it as CSV with one row a rater and item"
        )
    try:
        with open(file, encoding="utf-8-sig") as handle:
            content = json.load(handle)
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise RelstudyError(f"{file}: this is not JSON ({error})") from None
    if isinstance(content, list) and content and isinstance(content[0], dict) and "annotations" in content[0]:
        return _label_studio(file, content)
    keys = set(content) if isinstance(content, dict) else set()
    if keys and str(content.get("kind", "")).startswith("relstudy"):
        return Inspection(
            file,
            "saved comparison",
            f"a {content['kind']}",
            command=f"relstudy score SCORES --against {shlex.quote(file)}",
        )
    if "topics" in keys and "index" in keys:
        return _foreign(file, "RRE", "ratings for the Rated Ranking Evaluator", "write them as TREC qrels")
    if {"instance_id_to_label_to_value", "instance_id_to_behavioral_data"} & keys:
        return _foreign(file, "Potato", "one rater's state", "take the CSV or TSV of its annotation_output folder")
    return _foreign(file, "JSON", "of no form that is known", "a table (CSV) is needed")


def _label_studio(file: str, tasks: list[dict[str, Any]]) -> Inspection:
    annotations = [each for task in tasks for each in task.get("annotations", [])]
    raters = {str(each.get("completed_by")) for each in annotations}
    controls = {str(result.get("from_name")) for each in annotations for result in each.get("result", [])}
    what = (
        f"{len(annotations)} annotations of {len(tasks)} tasks by {len(raters)} annotators "
        f"(controls: {', '.join(sorted(controls)) or 'none'})"
    )
    return _foreign(file, "Label Studio", what, "export it as CSV: one row an annotation, with the column annotator")


def _foreign(file: str, tool: str, what: str, instead: str) -> Inspection:
    is_known_tool = tool not in ("JSON", "JSON lines")
    uses = RATING_USES[:3] if is_known_tool else ()
    return Inspection(
        file,
        tool,
        f"JSON{f' of {tool}' if is_known_tool else ''}: {what}",
        (),
        (f"relstudy reads tables: {instead}",),
        uses,
    )
