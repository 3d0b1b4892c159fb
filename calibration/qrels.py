"""TREC qrels: four fields a line, query, iteration, result and grade."""

from __future__ import annotations

import io
import os
import re

import numpy as np
import pandas as pd

from relstudy.common.checked import Checked
from relstudy.common.errors import Fault, TableError
from relstudy.common.packed import BROKEN, open_text, read_bytes, unpacked_name
from relstudy.common.reading import Reading
from relstudy.common.utf8 import decoded
from relstudy.common.wording import count_of


def is_qrels(path: str | os.PathLike[str]) -> bool:
    """Whether a file is TREC qrels: no table by its ending, and four fields without a comma in its first line."""
    file = os.fspath(path)
    if unpacked_name(file).endswith((".csv", ".parquet")) or not os.path.isfile(file):
        return False
    try:
        with open_text(file, "utf-8-sig", errors="replace") as handle:
            line = handle.readline()
    except BROKEN:
        return False  # whoever reads it says why it cannot be read
    fields = line.split()
    # the header of a table that is separated by tabs may have four names too
    return "," not in line and len(fields) == 4 and any(re.fullmatch(r"-?[\d.]+|Q0", fields[at]) for at in (1, 3))


def read_qrels(path: str | os.PathLike[str]) -> Checked:
    """The lines as a table query_id, result_id, judgment of text; TableError names each that has not four fields."""
    file = os.fspath(path)
    lines = io.StringIO(decoded(read_bytes(file), file, "qrels"), newline=None)
    rows = [(number, line.split()) for number, line in enumerate(lines, start=1) if line.strip()]
    allowed = "a TREC qrels line has four fields: query, 0, result, judgment"
    faults = [Fault(file, number, None, " ".join(fields), allowed) for number, fields in rows if len(fields) != 4]
    if faults:
        raise TableError(faults)
    columns = ["query_id", "iteration", "result_id", "judgment"]
    frame = pd.DataFrame([fields for _, fields in rows], columns=columns).drop(columns="iteration")
    return Checked(frame, file, np.array([number for number, _ in rows]))


def without_negative(table: Checked, reading: Reading) -> tuple[Checked, pd.DataFrame | None]:
    """The grades from 0, and those below of which nobody says what they mean: they are taken for pairs that nobody
    judged, and a note tells. The latter (query_id, result_id, judgment) are None where there are none."""
    texts = table.frame["judgment"]
    grades = pd.to_numeric(texts, errors="coerce").to_numpy(dtype=float)
    negative = (grades < 0) & ~reading.mentions(texts)
    if not negative.any() or negative.all():
        return table, None
    rest = table.among(table.frame[~negative].reset_index(drop=True), table.rows[~negative])
    low, high = grades[negative].min(), max(float(np.nanmax(grades)), 1.0)
    rest.notes = (
        *table.notes,
        f"{count_of(int(negative.sum()), 'grade')} below 0 taken for pairs that nobody judged, and left out; "
        f"{table.words.scale(f'{low:g}-{high:g}')} counts them as grades",
    )
    return rest, table.frame[negative].assign(judgment=grades[negative]).reset_index(drop=True)
