"""Read and write the plain tables that the stages meet in.

Every table is CSV by default and Parquet by file ending. A table is read as text first, so that a wrong value
can be quoted exactly as it stands in the file; columns then become numbers through `Checked`. Writing goes beside the
target and renames, so nothing is ever half-written.
"""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd

from relstudy.common.runtime.compression import BROKEN, read_bytes, refuse_devices
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.files import decoded, replacing
from relstudy.common.tables.checked_table import Checked
from relstudy.common.tables.column_names import plain_name
from relstudy.common.tables.formats.csv_files import IDS, read_csv
from relstudy.common.tables.formats.feature_vectors import read_feature_vectors
from relstudy.common.tables.formats.file_kind import Kind, file_kind
from relstudy.common.tables.formats.json_files import read_records
from relstudy.common.tables.formats.overwriting import Erased, keep_or_refuse
from relstudy.common.tables.formats.parquet_limits import refuse_swelling_parquet
from relstudy.common.tables.formats.workbook_sheets import read_workbook

ROWS_AT_ONCE = 100_000
"""Rows that are in memory as text at a time when a table is written."""
NO_TABLES: dict[Kind, str] = {
    "qrels": "TREC qrels, judgments of pairs without a rater's name",
    "run": "a TREC run, a system's scores",
    "codes": "hash codes",
    "label columns": "a list of items with a column for each label",
}
SPECIAL = r"[\",\r\n]"
"""Characters for which a field of CSV stands in quotes."""


def read_table(path: str | os.PathLike[str] | Checked, *required: str, header: bool = True) -> Checked:
    """Read a CSV, Parquet or JSON file as text.

    Parameters
    ----------
    path : the file; Parquet when it ends in .parquet, a workbook when it ends in .xlsx, .xls, .xlsb or .ods (with
        `:SHEET` where several sheets hold tables), records of JSON by its ending or its beginning, judgments for
        learning to rank, else CSV (UTF-8 or UTF-16; separated by commas, semicolons or tabs);
        records and CSV may be packed (.gz, .bz2, .xz, .zst). Blank lines are passed over, and rows keep the numbers a
        spreadsheet shows. A table that is in memory already is given back
    required : column names without which the table is refused
    header : False where a person says that the first row holds values; columns are then called column 1, column 2, ...,
        as they are where the first row tells so itself

    Raises
    ------
    RelstudyError
        when the file is absent, empty, not UTF-8, or has a column name twice
    TableError
        when rows have more or fewer fields than the header, or a required column is absent
    """
    if isinstance(path, Checked):
        path.require(*required)
        return path
    file = os.fspath(path)
    try:
        checked = _read(file, header)
    except FileNotFoundError:
        raise RelstudyError(f"{file}: file not found") from None
    except IsADirectoryError:
        raise RelstudyError(f"{file}: this is a folder; a table is needed") from None
    except PermissionError:
        raise RelstudyError(f"{file}: this file may not be read") from None
    except UnicodeDecodeError as error:
        decoded(read_bytes(file), file, "table")  # says which line it is
        raise RelstudyError(f"{file}: cannot be read as a table ({error})") from None
    except (*BROKEN, ValueError, NotImplementedError) as error:
        raise RelstudyError(f"{file}: cannot be read as a table ({str(error).splitlines()[0]})") from None
    checked.require(*required)
    return checked


def _read(file: str, header: bool) -> Checked:
    kind = file_kind(file)
    if kind == "parquet":
        refuse_devices(file)
        refuse_swelling_parquet(file)
        frame = _without_nesting(pd.read_parquet(file))
        # ids that pandas wrote as columns, and would read as an index
        levels = [name for name in frame.index.names if plain_name(name) in (*IDS, "system")]
        return Checked(frame.reset_index(levels) if levels else frame, file)
    if kind == "workbook":
        return read_workbook(file, header=header)
    if kind == "json":
        return read_records(file).table(file)
    if kind == "feature vectors":
        return read_feature_vectors(file)
    table = read_csv(file, header=header)
    table.no_table = NO_TABLES.get(kind, "")
    return table


def release_unused() -> None:
    """Give back the memory that reading took and what was read does not need, which Arrow keeps for the next table."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()


def _without_nesting(frame: pd.DataFrame) -> pd.DataFrame:
    """The table with lists and objects in its cells as JSON, which is how a table of records has them."""
    for name in [name for name, kind in frame.dtypes.items() if kind.kind == "O" and isinstance(kind, np.dtype)]:
        cells = frame[name]
        if cells.map(lambda cell: isinstance(cell, np.ndarray | list | dict)).any():
            frame[name] = cells.map(_as_json).astype("str")
    return frame


def _as_json(cell: object) -> str:
    def plain(value: Any) -> Any:
        return value.tolist() if isinstance(value, np.ndarray) else str(value)

    return "" if cell is None else json.dumps(cell, ensure_ascii=False, default=plain)


def write_table(
    frame: pd.DataFrame, path: str | os.PathLike[str], *, private: bool = False, answers: Erased | None = None
) -> None:
    """Write a table as CSV, or as Parquet when the path ends in .parquet.

    Parameters
    ----------
    private : only the file's owner may read it
    answers : of a table of what people answered, whose answers were erased: a command does not replace a table that has
        more (`overwriting`)
    """
    write_parts([frame], path, private=private, answers=answers)


def write_parts(
    parts: Iterable[pd.DataFrame], path: str | os.PathLike[str], *, private: bool = False, answers: Erased | None = None
) -> None:
    """Write a table of which one part is in memory at a time; at least one, all of the same columns and types."""
    with replacing(path, 0o600 if private else None) as beside:
        if beside.suffix == ".parquet":
            _write_parquet(parts, beside)
        else:
            with open(beside, "wb") as file:
                write_csv(parts, file)
        keep_or_refuse(Path(path), beside, answers=answers)


def write_csv(parts: Iterable[pd.DataFrame], file: IO[bytes]) -> None:
    """Write the parts of a table as one CSV into an open file."""
    for number, frame in enumerate(parts):
        if not number:
            frame.iloc[:0].to_csv(file, index=False, lineterminator="\n")
        for start in range(0, len(frame), ROWS_AT_ONCE):
            rows = frame.iloc[start : start + ROWS_AT_ONCE]
            lines = _plain_lines(rows)
            if lines is None:
                rows.to_csv(file, index=False, header=False, lineterminator="\n")
            else:
                file.write(lines)


def _write_parquet(parts: Iterable[pd.DataFrame], path: Path) -> None:
    import pyarrow.parquet as pq

    tables = _gathered(parts)
    first = next(tables)
    with pq.ParquetWriter(path, first.schema) as writer:
        for table in itertools.chain([first], tables):
            writer.write_table(table.cast(first.schema))


def _gathered(parts: Iterable[pd.DataFrame]) -> Iterator[Any]:
    """Parts as Arrow's tables of ROWS_AT_ONCE rows or more, but for the last one; each is a group in Parquet."""
    import pyarrow as pa

    waiting: list[Any] = []
    for frame in parts:
        waiting.append(pa.Table.from_pandas(frame, preserve_index=False))
        if sum(map(len, waiting)) >= ROWS_AT_ONCE:
            yield pa.concat_tables(waiting).combine_chunks()
            waiting = []
    if waiting:
        yield pa.concat_tables(waiting).combine_chunks()


def _plain_lines(rows: pd.DataFrame) -> memoryview | None:
    """Rows as lines of CSV, the bytes that pandas writes; None where a value needs quotes or is of another type."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if rows.shape[1] < 2 or not rows.columns.is_unique:
        return None
    columns = [_plain_texts(rows.iloc[:, place]) for place in range(rows.shape[1])]
    if any(texts is None for texts in columns):
        return None
    lines = pc.binary_join_element_wise(*columns, pa.scalar(",", pa.large_string()))
    lines = pc.binary_join_element_wise(lines, pa.scalar("", pa.large_string()), pa.scalar("\n", pa.large_string()))
    return memoryview(lines.buffers()[2] or b"")


def _plain_texts(column: pd.Series) -> Any:
    """A column's values as Arrow's large strings, "" where missing; None where one needs quotes or is of another type.

    Numbers are written once for each distinct value, and as Python writes them, since Arrow writes some otherwise.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.dtype
    if isinstance(kind, pd.StringDtype):
        texts = pa.array(column, type=pa.large_string(), from_pandas=True)
        texts = texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts
        return None if pc.any(pc.match_substring_regex(texts, SPECIAL)).as_py() else texts.fill_null("")
    if isinstance(kind, pd.Int64Dtype):
        return pa.array(column, pa.int64()).cast(pa.large_string()).fill_null("")
    if not isinstance(kind, np.dtype) or kind.kind not in "biuf" or (kind.kind == "f" and kind.itemsize != 8):
        return None
    numbers = column.to_numpy()
    if kind.kind == "f":  # by their bits, for -0.0 is written otherwise than 0.0
        code, bits = pd.factorize(np.ascontiguousarray(numbers).view(np.int64))
        values = bits.view(float)
    else:
        code, values = pd.factorize(numbers)
    written = pa.array(["" if value != value else repr(value) for value in values.tolist()], pa.large_string())
    return written.take(pa.array(code))


def pair_keys(frame: pd.DataFrame) -> pd.MultiIndex:
    """The rows' (query_id, result_id) as an index, for joining tables."""
    return pd.MultiIndex.from_frame(frame[["query_id", "result_id"]])
