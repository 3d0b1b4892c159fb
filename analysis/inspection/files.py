"""Any file or folder: an array, JSON, a TREC run or qrels, codes in text, or a table."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from relstudy.analysis.inspection.column_roles import SCORE_USES
from relstudy.analysis.inspection.finding import Inspection
from relstudy.analysis.inspection.tables import inspect_table
from relstudy.calibration.tables.judgments import read_judgments
from relstudy.common.results.serialization import COMPARISON, MAPPING
from relstudy.common.runtime.by_name import load
from relstudy.common.runtime.compression import read_bytes, unpacked_name
from relstudy.common.runtime.damaged_files import NO_JSON
from relstudy.common.runtime.wording import count_of, listed, listed_some, quoted
from relstudy.common.tables.formats.file_kind import Kind, file_kind
from relstudy.common.tables.formats.table_files import read_table
from relstudy.common.tables.formats.workbook_sheets import SeveralSheets
from relstudy.mapping.scores.score_files import read_scores


def inspect_file(path: str | os.PathLike[str]) -> Inspection:
    """Inspect a file: its kind, the meaning of each column and why, possible figures, and the command to run next.

    Parameters
    ----------
    path : a table (CSV, Parquet, a workbook or FILE.xlsx:SHEET), a TREC run or qrels, codes, labels or vectors (.npy,
        .npz, .mat, text), or the export of another tool; or a folder of pictures, texts and tables

    Raises
    ------
    RelstudyError
        when the file cannot be read, or is not a table that can be told columns from
    """
    file = os.fspath(path)
    if os.path.isdir(file):
        return inspect_folder(file)
    saved = _saved(file)
    if saved is not None:
        return saved
    described = DESCRIBED.get(file_kind(file))
    if described is not None:
        inspection: Inspection = (load(described) if isinstance(described, str) else described)(file)
        return inspection
    try:
        return inspect_table(read_table(file))
    except SeveralSheets as several:
        return _sheets(several)


def _sheets(several: SeveralSheets) -> Inspection:
    """A workbook of several tables, with the command for each."""
    readings = [
        Inspection(several.file, "sheet", f"the sheet {name}", command=f"relstudy inspect {quoted(sheet)}")
        for name, sheet in several.paths.items()
    ]
    return Inspection(
        several.file,
        "workbook",
        f"a workbook in which {count_of(len(readings), 'sheet')} hold tables",
        questions=("which of them is it?",),
        readings=tuple(readings),
    )


def _run(file: str) -> Inspection:
    scores = read_scores(file)
    systems = ", ".join(scores.systems[:5])
    queries = count_of(scores.frame["query_id"].nunique(), "query", "queries")
    sentence = f"a TREC run of {systems}: {count_of(len(scores), 'result')} of {queries}"
    command = f"relstudy score {quoted(file)} -j judgments.csv"
    return Inspection(file, "run", sentence, notes=scores.notes, uses=SCORE_USES, command=command)


def _qrels(file: str) -> Inspection:
    judgments = read_judgments(file)
    grades = judgments.frame["judgment"].value_counts().sort_index()
    counted = ", ".join(f"{count} of grade {grade:g}" for grade, count in grades.items())
    queries = count_of(judgments.frame["query_id"].nunique(), "query", "queries")
    sentence = f"TREC qrels: {count_of(len(judgments), 'judgment')} of {queries} ({counted})"
    return Inspection(
        file,
        "qrels",
        sentence,
        notes=(judgments.scale.sentence(), *judgments.notes),
        uses=SCORE_USES[:3],
        command=f"relstudy score SCORES -j {quoted(file)}",
    )


def _saved(file: str) -> Inspection | None:
    """The inspection of a file that `relstudy score --save`, `relstudy fit` or a result's save() wrote; None for
    another."""
    if file_kind(file) != "json" or not os.path.isfile(file):
        return None
    try:
        content = json.loads(read_bytes(file).decode("utf-8-sig"))
    except NO_JSON:
        return None
    kind = str(content.get("kind", "")) if isinstance(content, dict) else ""
    if not kind.startswith("relstudy"):
        return None
    if kind == COMPARISON:
        command = f"relstudy score SCORES --against {quoted(file)}"
        return Inspection(file, "saved comparison", f"a {kind}", command=command)
    if kind == MAPPING:
        command = f"relstudy score SCORES --judgments judgments.csv --mappings {quoted(file)}"
        return Inspection(file, "mapping", f"a {kind} of system {content.get('system', '')}", command=command)
    return Inspection(file, "saved result", f"a {kind}; relstudy.read gives it back in Python")


HASHING = "relstudy.analysis.hashing.inspected"
DESCRIBED: dict[Kind, Callable[[str], Inspection] | str] = {
    "array": f"{HASHING}:inspect_array",
    "qrels": _qrels,
    "run": _run,
    "codes": f"{HASHING}:inspect_codes",
    "label columns": f"{HASHING}:inspect_label_columns",
}
"""What says what a file is that is no table, or where it is."""
KINDS = {
    "picture": (".jpg", ".jpeg", ".png", ".gif", ".webp", ".tif", ".tiff", ".bmp"),
    "text": (".txt", ".md"),
    "table": (".csv", ".tsv", ".parquet", ".json", ".jsonl", ".ndjson", ".run", ".trec", ".qrels"),
    "array": (".npy", ".npz", ".mat", ".fvecs", ".ivecs", ".bvecs"),
}
"""Endings of the names of files, by what these hold."""
CONVERTED = (".tif", ".tiff", ".bmp")
"""Pictures that browsers do not show."""
TABLES = ("collection.csv", "pairs.csv", "ratings.csv", "judgments.csv")
MOST_FILES = 200_000


def inspect_folder(folder: str) -> Inspection:
    """The contents of a folder and those below, by the files' names, and the command that goes on with it."""
    root = Path(folder)
    files = [path for path in sorted(root.rglob("*"))[:MOST_FILES] if path.is_file() and not path.name.startswith(".")]
    if (root / "study.toml").is_file():
        there = [name for name in TABLES if (root / name).is_file()]
        sentence = (
            f"a study of relstudy, with {listed(there)}" if there else "a study of relstudy, without a collection"
        )
        return Inspection(folder, "study", sentence, command=f"relstudy admin status {quoted(folder)}")
    by_kind: dict[str, list[Path]] = {kind: [] for kind in KINDS}
    for path in files:
        ending = Path(unpacked_name(path)).suffix.lower()
        kind = next((kind for kind, endings in KINDS.items() if ending in endings), None)
        if kind is not None:
            by_kind[kind].append(path)
    counted = Counter({kind: len(paths) for kind, paths in by_kind.items() if paths})
    if not counted:
        return Inspection(folder, "folder", f"a folder of {count_of(len(files), 'file')}, which relstudy does not read")
    sentence = f"a folder of {listed([count_of(number, kind) for kind, number in counted.items()])}"
    tables = [str(path) for path in (*by_kind["table"], *by_kind["array"])]
    notes = (f"relstudy inspect FILE says what each table is: {listed_some(tables)}",) if tables else ()
    if by_kind["picture"] or (by_kind["text"] and not tables):
        strange = [path.name for path in by_kind["picture"] if path.suffix.lower() in CONVERTED]
        if strange:
            notes = (f"{listed_some(strange)}: made PNG in the study, since browsers do not show such", *notes)
        converts = " --convert" if strange else ""
        return Inspection(
            folder,
            "collection",
            f"{sentence}; `relstudy new` makes a study of it",
            notes=notes,
            uses=("a study in which people rate them",),
            command=f"relstudy new my-study --from {quoted(folder)}{converts}",
        )
    return Inspection(
        folder,
        "folder",
        sentence,
        notes=notes,
        command=f"relstudy inspect {quoted(tables[0])}" if tables else None,
    )
