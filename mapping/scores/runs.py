"""Read a TREC run: `query Q0 result rank score system`, separated by blanks or tabs; a line that begins with # is a
comment."""

from __future__ import annotations

import numpy as np
import pandas as pd

from relstudy.common.runtime.errors import Fault, TableError
from relstudy.common.runtime.files import decoded
from relstudy.common.runtime.wording import count_of
from relstudy.common.tables.formats.file_kind import COMMENT
from relstudy.common.tables.formats.file_kind import RUN_FIELDS as FIELDS


def parse_run(content: bytes, file: str) -> pd.DataFrame:
    """A run as a table query_id, result_id, rank (text), score, system (and row, where lines may be empty or comments);
    every score finite.

    A regular file (six fields in every row) goes through pyarrow's reader; anything else is read line by line,
    where each fault can be named with its row. A system's name may have blanks in it (`_systems`).

    Raises
    ------
    TableError
        naming each row that lacks a field or whose score is not a finite number
    RelstudyError
        naming the first byte that is not UTF-8 or is 0, be it in a field that nothing reads
    """
    if not content.isascii() or b"\0" in content:
        decoded(content, file, "run")
    frame = _parse_regular(content)
    return _parse_lines(content, file) if frame is None else frame


def rank_notes(frame: pd.DataFrame) -> list[str]:
    """Where a run's ranks say another order than its scores, a sentence a system; scores count, as for trec_eval.

    Examples
    --------
    >>> rows = {"query_id": ["q", "q"], "rank": ["1", "2"], "score": [0.1, 0.4], "system": ["a", "a"]}
    >>> rank_notes(pd.DataFrame(rows))
    ['a: its ranks contradict its scores in 1 of 1 query; the scores count, a higher one is better, as for trec_eval']
    """
    written, texts = pd.factorize(frame["rank"])
    rank = pd.to_numeric(pd.Series(texts, dtype="str"), errors="coerce").to_numpy(dtype=float)[written]
    system, names = pd.factorize(frame["system"])
    query, queries = pd.factorize(frame["query_id"])
    # one list a system and query, by rank
    key = system.astype(np.int64) * len(queries) + query
    order = np.lexsort((rank, key))
    order = order[np.isfinite(rank[order])]
    key, score = key[order], frame["score"].to_numpy(dtype=float)[order]
    later = (np.diff(key) == 0) & (np.diff(rank[order]) > 0)
    step = np.diff(score)
    lists, of_list = np.unique(key, return_inverse=True)

    def any_of(steps: np.ndarray) -> np.ndarray:
        found: np.ndarray = np.bincount(of_list[1:], steps, len(lists)) > 0
        return found

    against = any_of(later & (step > 0))
    # where all scores are equal, the ranks alone hold an order
    level = any_of(later) & ~any_of((np.diff(key) == 0) & (step != 0))
    notes = []
    for what, found in (
        ("its ranks contradict its scores", against),
        ("all scores are equal, and ranks are not,", level),
    ):
        for number, name in enumerate(names):
            of_system = lists // len(queries) == number
            if (found & of_system).any():
                of = f"{int((found & of_system).sum()):,} of {count_of(int(of_system.sum()), 'query', 'queries')}"
                notes.append(f"{name}: {what} in {of}; the scores count, a higher one is better, as for trec_eval")
    return notes


def _parse_regular(content: bytes) -> pd.DataFrame | None:
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import csv

    content = content.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").replace(b"\t", b" ")
    while b"  " in content:
        content = content.replace(b"  ", b" ")
    content = content.replace(b" \n", b"\n").replace(b"\n ", b"\n")
    if b"\n\n" in content or content[:1] in (b"", b" ", b"\n", b"#") or b"\n#" in content:
        return None
    try:
        table = csv.read_csv(
            pa.BufferReader(content),
            read_options=csv.ReadOptions(column_names=list(FIELDS), block_size=8 << 20),
            parse_options=csv.ParseOptions(delimiter=" ", quote_char=False),
            convert_options=csv.ConvertOptions(
                include_columns=["query_id", "result_id", "rank", "score", "system"],
                column_types={
                    "query_id": pa.dictionary(pa.int32(), pa.string()),
                    "result_id": pa.string(),
                    "rank": pa.dictionary(pa.int32(), pa.string()),
                    "score": pa.float64(),
                    "system": pa.dictionary(pa.int32(), pa.string()),
                },
                null_values=[],
                strings_can_be_null=False,
            ),
        )
    except pa.ArrowInvalid:
        return None
    if not pc.all(pc.is_finite(table["score"])).as_py():
        return None
    frame: pd.DataFrame = table.to_pandas()
    return frame


def _parse_lines(content: bytes, file: str) -> pd.DataFrame:
    text = decoded(content, file, "run")
    faults: list[Fault] = []
    short: dict[int, list[int]] = {}
    rows: list[tuple[str, str, str, float, str, str, int]] = []
    for number, line in enumerate(text.split("\n"), start=1):
        fields = line.split()
        if not fields or fields[0].startswith(COMMENT):
            continue
        if len(fields) < len(FIELDS):
            short.setdefault(len(fields), []).append(number)
            continue
        if fields[2] == FIELDS[1] != fields[1]:
            faults.append(Fault(file, number, "query_id", " ".join(fields[:2]), "no blank is allowed in it"))
            continue
        score = _number(fields[4])
        if score is None or not np.isfinite(score):
            faults.append(Fault(file, number, "score", fields[4], "a finite number is allowed"))
            continue
        rows.append((fields[0], fields[2], fields[3], score, fields[5], " ".join(fields[5:]), number))
    for count, numbers in short.items():
        allowed = f"a run has six fields a row ({' '.join(FIELDS)}), not {count}"
        faults.append(Fault(file, numbers[0], None, None, allowed, len(numbers)))
    if faults:
        raise TableError(sorted(faults, key=lambda fault: fault.row or 0))
    frame = pd.DataFrame(rows, columns=["query_id", "result_id", "rank", "score", "system", "name", "row"])
    return frame.assign(system=_systems(frame)).drop(columns="name")


def _systems(frame: pd.DataFrame) -> pd.Series:
    """The system of each row: all that follows the score, where that names one; else its first word, as trec_eval has
    it, and what follows is a remark.

    Parameters
    ----------
    frame : query_id, result_id, system (the first word), name (all of it)

    Examples
    --------
    >>> rows = {"query_id": ["q", "q"], "result_id": ["a", "b"], "system": ["my", "my"]}
    >>> _systems(pd.DataFrame(rows | {"name": ["my run", "my run"]})).tolist()
    ['my run', 'my run']
    >>> _systems(pd.DataFrame(rows | {"name": ["my .2s", "my .3s"]})).tolist()
    ['my', 'my']
    """
    names = frame.groupby("system")["name"].nunique()
    several = frame["system"].isin(names.index[names > 1])
    # of several systems whose names begin alike each has its own score of a pair; remarks stand on rows of one system
    repeated = frame[several].duplicated(["system", "query_id", "result_id"])
    remarks = several & ~frame["system"].isin(frame.loc[repeated.index[repeated], "system"])
    return frame["name"].mask(remarks, frame["system"])


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
