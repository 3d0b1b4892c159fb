"""The size of a Parquet file in memory, before it is unpacked: a value that stands in every row takes hardly a byte."""

from __future__ import annotations

from typing import Any

import numpy as np

from relstudy.common.runtime.compression import is_swollen, refuse_swelling
from relstudy.common.tables.checked_table import refuse_many_columns


def refuse_swelling_parquet(file: str) -> None:
    """Refuse a file that is far larger in memory, or has too many columns.

    Raises
    ------
    RelstudyError
        where it has, or holds more than is read of such a file (`packed.is_swollen`)
    """
    import pyarrow.parquet as pq

    stored = pq.read_metadata(file)
    refuse_many_columns(file, stored.num_columns)
    groups = [stored.row_group(number) for number in range(stored.num_row_groups)]
    chunks = [group.column(place) for group in groups for place in range(group.num_columns)]
    values = sum(chunk.num_values for chunk in chunks)
    refuse_swelling(file, max(8 * values, sum(chunk.total_uncompressed_size for chunk in chunks)))
    texts = [chunk for chunk in chunks if _by_dictionary(chunk)]
    if is_swollen(file, sum(chunk.num_values * chunk.total_uncompressed_size for chunk in texts)):
        with pq.ParquetFile(file, read_dictionary=[chunk.path_in_schema for chunk in texts]) as opened:
            _refuse_swelling_texts(file, opened, sorted({chunk.path_in_schema for chunk in texts}))


def _by_dictionary(chunk: Any) -> bool:
    """True for a part of a column whose texts are stored once each, and in its rows by number."""
    return chunk.physical_type == "BYTE_ARRAY" and bool({"RLE_DICTIONARY", "PLAIN_DICTIONARY"} & {*chunk.encodings})


def _refuse_swelling_texts(file: str, opened: Any, paths: list[str]) -> None:
    """Refuse by the texts of columns that are stored once each, which stay so here.

    Their rows are counted where the longest text in each of them would be too much, or they are within lists: the first
    row of a group has all texts of a column, but not of its lists.
    """
    numbers, size = range(opened.num_row_groups), 0
    if not any("." in path for path in paths):
        for number in numbers:
            for first in opened.iter_batches(batch_size=1, row_groups=[number], columns=paths):
                longest = sum(int(_lengths(column.dictionary).max(initial=0)) for column in first.columns)
                size += opened.metadata.row_group(number).num_rows * longest
                break
        if not is_swollen(file, size):
            return
    size = 0
    for number in numbers:
        columns = opened.read_row_group(number, columns=paths).columns
        size += sum(_size_of_texts(part) for column in columns for part in column.chunks)
        refuse_swelling(file, size)


def _lengths(texts: Any) -> np.ndarray:
    """Bytes of each text of an Arrow array, int64 [texts]."""
    import pyarrow.compute as pc

    return np.asarray(pc.binary_length(texts).fill_null(0), dtype=np.int64)


def _size_of_texts(array: Any) -> int:
    """Bytes of the texts in all rows of an Arrow array that holds each of them once, also within lists and objects."""
    import pyarrow as pa

    if isinstance(array, pa.StructArray):
        return sum(map(_size_of_texts, array.flatten()))
    if isinstance(array, pa.MapArray):
        return _size_of_texts(array.keys) + _size_of_texts(array.items)
    if isinstance(array, pa.ListArray | pa.LargeListArray | pa.FixedSizeListArray):
        return _size_of_texts(array.flatten())
    if not isinstance(array, pa.DictionaryArray):
        return int(array.nbytes)
    often = np.bincount(array.indices.drop_null(), minlength=len(array.dictionary))
    return int(often @ _lengths(array.dictionary))
