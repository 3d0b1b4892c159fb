"""What a file is, from its name and its first lines: every command asks here, so that all of them agree."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from relstudy.common.runtime.compression import BROKEN, open_binary, unpacked_name
from relstudy.common.runtime.damaged_files import TENSORS
from relstudy.common.tables.number_texts import is_number

Kind: TypeAlias = Literal[
    "array", "parquet", "workbook", "json", "qrels", "run", "feature vectors", "codes", "label columns", "table"
]
QrelsForm: TypeAlias = Literal["qrels", "sampled qrels", "prels"]
LOOKED_AT = 1 << 16
"""Bytes by which a file is known."""
COMMENT = "#"
RUN_ENDINGS = (".run", ".trec")
RUN_FIELDS = ("query_id", "Q0", "result_id", "rank", "score", "system")
VECTORS = (".fvecs", ".ivecs", ".bvecs")
WORKBOOKS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
JSON = (".json", ".jsonl", ".ndjson")
IN_ARRAYS = re.compile(r"(?P<file>.+\.(?i:npz|mat))(?::(?P<name>[^:/\\]+))?")
"""A file of several arrays, and the name of one of them."""
IN_WORKBOOK = re.compile(rf"(?i)(?P<file>.+(?:{'|'.join(map(re.escape, WORKBOOKS))})):(?P<name>[^/\\]+)")
"""A workbook, and the name of one of its sheets."""
JSON_START = re.compile(r'\s*(?:\{\s*["}]|\[\s*[\[{"\d\]-])')
FEATURES = re.compile(r"(-?\d+(?:\.\d+)?)\s+qid:(\S+)(?:\s+[^\s:#]+:[^\s#]+)*\s*(?:#\s*(.*))?")
"""A line of judgments for learning to rank: a grade, a query, features, and a remark."""
CODE = re.compile(r"[01]{8,}|[0-9a-fA-F]{4,}|[01]( [01])+")
"""A line of codes: digits of a bit, or hexadecimal ones."""
SIGNS = re.compile(r"[+-]?1(\s+[+-]?1)+")
"""A line of codes: a sign for each bit."""
NUMBER = re.compile(r"-?[\d.]+")
GRADE = re.compile(r"-?\d+")
DECIMAL = re.compile(r"[01]?\.?\d*(e-?\d+)?", re.IGNORECASE)


def file_kind(path: str | os.PathLike[str]) -> Kind:
    """What a file is: by its name, or the first lines of a regular file; a pipe, which can be read once, is a table."""
    file = os.fspath(path)
    named = kind_of_name(file)
    if named is not None or not os.path.isfile(file):
        return named or "table"
    try:
        with open_binary(file) as content:
            return kind_of(file, content.read(LOOKED_AT))
    except BROKEN:
        return "table"  # whoever reads it says why it cannot be read


def kind_of_name(file: str) -> Kind | None:
    """What a file is if its name alone tells; else None.

    Examples
    --------
    >>> kind_of_name("codes.npz:train"), kind_of_name("ratings.csv"), kind_of_name("study.xlsx:June")
    ('array', None, 'workbook')
    """
    if is_array_name(file):
        return "array"
    if file.lower().endswith(".parquet"):
        return "parquet"
    if IN_WORKBOOK.fullmatch(file):
        return "workbook"
    return "json" if unpacked_name(file).lower().endswith(JSON) else None


def is_array_name(file: str) -> bool:
    """True where a name means an array (.npy, .npz, .mat, FILE.npz:NAME, .fvecs and its relatives) and not text."""
    return file.lower().endswith((".npy", *TENSORS, *VECTORS)) or IN_ARRAYS.fullmatch(file) is not None


def file_part(path: str | os.PathLike[str]) -> Path:
    """The file of FILE.npz:NAME or FILE.xlsx:SHEET; of any other path, itself."""
    file = os.fspath(path)
    match = IN_ARRAYS.fullmatch(file) or IN_WORKBOOK.fullmatch(file)
    return Path(match["file"] if match else file)


def kind_of(file: str, start: bytes) -> Kind:
    """What a file is, by its name and the bytes it begins with.

    Examples
    --------
    >>> kind_of("a.txt", b"q1 Q0 d1 1 0.5 bm25"), kind_of("a.txt", b"q1 0 d1 2"), kind_of("a.csv", b"query_id,score")
    ('run', 'qrels', 'table')
    """
    named = kind_of_name(file)
    if named is not None:
        return named
    name = unpacked_name(file).lower()
    if name.endswith(WORKBOOKS) and start[:4] in (b"PK\x03\x04", b"\xd0\xcf\x11\xe0"):
        return "workbook"
    text = start[:LOOKED_AT].decode("utf-8-sig", errors="replace")
    if JSON_START.match(text):
        return "json"
    lines = [line for each in text.splitlines() if (line := each.strip())]
    if len(start) >= LOOKED_AT and len(lines) > 1:
        del lines[-1]  # which may be cut
    filled = [line for line in lines if not line.startswith(COMMENT)]
    first = filled[0] if filled else ""
    if name.endswith(RUN_ENDINGS[:1]) and "," not in first:
        return "run"
    if len(lines) > 1 and (all(map(SIGNS.fullmatch, lines)) or all(map(_has_label_columns, lines))):
        return "codes" if SIGNS.fullmatch(first) else "label columns"
    if not name.endswith(".csv"):
        form = qrels_form(first)
        if form is not None and not (form == "qrels" and _are_votes(filled)):
            return "qrels"
    if is_run_line(first) or (name.endswith(RUN_ENDINGS) and "," not in first):
        return "run"
    if not name.endswith((".csv", ".tsv")) and FEATURES.fullmatch(first):
        return "feature vectors"
    if len(lines) > 1 and all(map(CODE.fullmatch, lines)):
        return "codes"
    return "table"


def is_run_line(line: str) -> bool:
    """True for six fields or more, the fifth a number, and the fourth a number too or else the second Q0.

    That tells a result from a header that ends in "remark 3".

    Examples
    --------
    >>> is_run_line("q1 Q0 d1 1 0.5 bm25"), is_run_line("system,query_id,result_id,score")
    (True, False)
    >>> is_run_line("query-id\\tcorpus-id\\tscore\\tremark 1\\tremark 2"), is_run_line("0 0 1 1 1 0 1 0")
    (False, False)
    """
    fields = line.split()
    if len(fields) < len(RUN_FIELDS) or not is_number(fields[4]):
        return False
    if fields[1] == RUN_FIELDS[1]:
        return True
    # numbers to the end are codes, labels or ratings, and no system's name
    return is_number(fields[3]) and not all(map(is_number, fields[5:]))


def qrels_form(line: str) -> QrelsForm | None:
    """The form of qrels that a line has; None where it is none. Stratified qrels look like sampled ones.

    Examples
    --------
    >>> qrels_form("q1 0 d1 2"), qrels_form("q1 0 d1 1 0.25"), qrels_form("q1 d1 1 2 0.25")
    ('qrels', 'sampled qrels', 'prels')
    >>> qrels_form("query\\tdocument\\trater 1"), qrels_form("query document rater grade")
    (None, None)
    """
    fields = line.split()
    if "," in line:
        return None
    if len(fields) == 4:
        # the header of a table that is separated by tabs may have four words too, and the last may be a number
        of_words = "\t" in line and " " in line.strip()
        is_grade = NUMBER.fullmatch(fields[3]) and not of_words
        return "qrels" if NUMBER.fullmatch(fields[1]) or fields[1] == "Q0" or is_grade else None
    if len(fields) != 5 or not NUMBER.fullmatch(fields[3]):
        return None
    if fields[1] in ("0", "Q0") and (DECIMAL.fullmatch(fields[4]) or GRADE.fullmatch(fields[4])):
        return "sampled qrels"
    return "prels" if DECIMAL.fullmatch(fields[4]) and NUMBER.fullmatch(fields[2]) else None


def _has_label_columns(line: str) -> bool:
    """True for a line of a list file of deep hashing: an item's path, and a mark for each label.

    Examples
    --------
    >>> _has_label_columns("a.jpg 0 1 0"), _has_label_columns("7 0 1 0"), _has_label_columns("a.jpg 0 1")
    (True, False, False)
    """
    path, *marks = line.split()
    return len(marks) > 2 and bool(set(path) - set("0123456789.,-")) and set(marks) <= {"-1", "0", "1", "-0"}


def _are_votes(lines: Sequence[str]) -> bool:
    """True where the second field is a name and the same first and third come again with another grade: several people
    rated them.

    Examples
    --------
    >>> _are_votes(["1 q1-d1 ann 0", "1 q1-d2 ann 1"]), _are_votes(["q1 0 d1 0", "q1 0 d1 1"])
    (True, False)
    """
    grades: dict[tuple[str, str], str] = {}
    rows = [fields for line in lines if len(fields := line.split()) == 4]
    named = any(not NUMBER.fullmatch(field) and field != "Q0" for _, field, _, _ in rows)
    return named and any(grades.setdefault((query, result), grade) != grade for query, _, result, grade in rows)
