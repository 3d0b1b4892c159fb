"""Judgments as collections for learning to rank keep them: a grade, a query, features, and the document in a remark."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from relstudy.common.runtime.compression import open_text
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.checked_table import Checked
from relstudy.common.tables.formats.file_kind import FEATURES

NAMED = re.compile(r"docid\s*=\s*(\S+)")
QUERY = re.compile(r"#\s*qid:(\S+?):\s*(.+)")
"""A remark that gives a query's text."""


def read_feature_vectors(file: str) -> Checked:
    """The judgments of such a file.

    Raises
    ------
    RelstudyError
        where a line is none of them, or names no document
    """
    texts: dict[str, str] = {}
    rows: list[tuple[str, str, str]] = []
    places: list[int] = []
    with open_text(file, "utf-8-sig", errors="replace") as lines:
        for number, line in enumerate(lines, start=1):
            line = line.strip()
            asked = QUERY.fullmatch(line)
            if asked is not None:
                texts[asked[1]] = asked[2].partition("#")[0].strip()
            if not line or line.startswith("#"):
                continue
            found = FEATURES.fullmatch(line)
            if found is None:
                raise RelstudyError(f"{file}, line {number}: a grade, qid: and features are needed, as in the others")
            remark = found[3] or ""
            named = NAMED.search(remark)
            document = named[1] if named else next(iter(remark.split()), "")
            if not document:
                raise RelstudyError(
                    f"{file}, line {number}: no document is named, so these grades belong to no results that a system "
                    "finds; they are needed after #, as in '# docid = d7'"
                )
            rows.append((found[2], document, found[1]))
            places.append(number)
    frame = pd.DataFrame(rows, columns=["query_id", "result_id", "rating"], dtype="str")
    if frame["query_id"].isin(list(texts)).all():
        frame["query_id"] = frame["query_id"].map(texts)
    table = Checked(frame, file, np.array(places))
    table.notes = ("judgments with features, as for learning to rank: the features are passed over",)
    return table
