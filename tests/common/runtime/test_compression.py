"""Packed tables, runs and records are read whichever way they were packed."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from relstudy.analysis.inspection.files import inspect_file
from relstudy.calibration.tables.judgments import read_judgments
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.formats.array_files import load_array
from relstudy.common.tables.formats.table_files import read_table
from relstudy.mapping.scores.score_files import read_scores


def streamed(content: bytes) -> bytes:
    """Zstandard as its command line writes it: a stream, whose size is not told at its beginning."""
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as out:
        out.write(content)
    return bytes(sink.getvalue().to_pybytes())


PACKERS = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, ".zst": streamed}
packed = pytest.mark.parametrize(("ending", "pack"), PACKERS.items(), ids=list(PACKERS))


RUN, QRELS = b"q Q0 x 1 0.5 a\n", b"q 0 x 1\nq 0 y 0\n"
SCORES = {"s.csv": b"query_id,result_id,a\nq,x,0.5\n", "b.run": RUN}
SCORES["r.jsonl"] = b'{"query_id": "q", "result_id": "x", "a": 0.5}\n'
Pack = Callable[[bytes], bytes]


@packed
def test_packed_tables_records_runs_and_qrels_are_read_and_recognised(tmp_path: Path, ending: str, pack: Pack) -> None:
    for name, content in (SCORES | {"qrels": QRELS}).items():
        (tmp_path / f"{name}{ending}").write_bytes(pack(content))
    for name in SCORES:
        assert read_scores(tmp_path / f"{name}{ending}").frame.to_numpy().tolist() == [["a", "q", "x", 0.5]]
    assert read_judgments(tmp_path / f"qrels{ending}").qrels
    kinds = {"s.csv": "scores", "b.run": "run", "qrels": "qrels"}
    assert {name: inspect_file(tmp_path / f"{name}{ending}").kind for name in kinds} == kinds


@packed
@pytest.mark.parametrize("cut", [12, 4])
@pytest.mark.parametrize("name", ["s.csv", "qrels", "a.run"])
def test_a_packed_file_that_was_cut_off_is_one_sentence(
    tmp_path: Path, name: str, cut: int, ending: str, pack: Pack
) -> None:
    path = tmp_path / f"{name}{ending}"
    path.write_bytes(pack((QRELS if name == "qrels" else RUN) * 50)[:-cut])
    for read in (read_scores, read_judgments, inspect_file):
        with pytest.raises(RelstudyError, match="cannot be read"):
            read(path)


@pytest.mark.parametrize(("name", "line"), [("s.csv", b"query_id,result_id,a\n"), ("j.jsonl", b"{}\n"), ("a.run", RUN)])
@pytest.mark.parametrize("read", [read_scores, read_judgments])
def test_a_small_packed_file_of_gigabytes_is_refused(
    tmp_path: Path, name: str, line: bytes, read: Callable[[Path], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("relstudy.common.runtime.compression.MOST_UNPACKED", 1 << 20)
    path = tmp_path / f"{name}.gz"
    path.write_bytes(gzip.compress(line * (1 << 19)))
    with pytest.raises(RelstudyError, match=r"gz: this holds over .* GiB; unpack it first"):
        read(path)


@packed
def test_a_packed_file_without_its_ending_is_told_it(tmp_path: Path, ending: str, pack: Pack) -> None:
    path = tmp_path / "s.csv"
    path.write_bytes(pack(b"query_id,result_id,a\nq,x,0.5\n"))
    with pytest.raises(RelstudyError, match=rf"this file is packed by \w+; let its name end in \{ending}"):
        read_table(path)


@pytest.mark.slow
@packed
def test_a_small_file_that_swells_is_refused_before_it_takes_minutes(
    ending: str, pack: Pack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("relstudy.common.runtime.compression.SMALL", 1 << 20)
    file = tmp_path / f"bomb.csv{ending}"
    file.write_bytes(pack(b"rater_id,query_id,result_id,rating\n" + b"r,q,d,1\n" * 500_000))
    with pytest.raises(RelstudyError, match="swells to over 200 times its size"):
        read_table(str(file), "rater_id")


def test_columns_and_arrays_that_swell_are_refused_before_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("relstudy.common.runtime.compression.MOST_UNPACKED", 1 << 20)
    columns = {name: pa.array(["a"] * 2_000_000).dictionary_encode() for name in ("rater_id", "query_id")}
    pq.write_table(pa.table(columns), tmp_path / "bomb.parquet", compression="zstd")
    monkeypatch.setattr("pandas.read_parquet", lambda *_: pytest.fail("it was read"))
    with pytest.raises(RelstudyError, match=r"bomb\.parquet: this swells to 0\.0 GiB, over 200 times"):
        read_table(tmp_path / "bomb.parquet", "rater_id")
    np.savez_compressed(tmp_path / "bomb.npz", codes=np.zeros(4_000_000, dtype=np.uint8))
    with pytest.raises(RelstudyError, match=r"bomb\.npz: this swells to"):
        load_array(str(tmp_path / "bomb.npz"))


def test_columns_of_lists_or_objects_in_parquet_are_text_as_those_of_json_are(tmp_path: Path) -> None:
    columns = {
        "query_id": pa.array([["a", "b"], None]),
        "rating": pa.array([{"v": 3}, {"v": 4}]),
        "n": pa.array([1, 2]),
    }
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    frame = read_table(tmp_path / "t.parquet").frame
    assert frame["query_id"].tolist() == ['["a", "b"]', ""]
    assert frame["rating"].tolist() == ['{"v": 3}', '{"v": 4}']
    of_texts = pa.Table.from_pandas(pd.DataFrame({"query_id": ["a", "b"]})).schema.metadata
    pq.write_table(pa.table(columns).replace_schema_metadata(of_texts), tmp_path / "t.parquet")
    with pytest.raises(RelstudyError, match=r"t\.parquet: cannot be read as a table \(Unsupported cast"):
        read_table(tmp_path / "t.parquet")


def test_lists_that_swell_are_refused_before_they_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relstudy.common.runtime.compression.MOST_UNPACKED", 1 << 20)
    monkeypatch.setattr("pandas.read_parquet", lambda *_: pytest.fail("it was read"))
    zeros = pa.LargeListArray.from_arrays(pa.array([0, 2_000_000]), pa.array(np.zeros(2_000_000, dtype=np.int8)))
    pq.write_table(pa.table({"a": zeros}), tmp_path / "bomb.parquet", compression="zstd")
    with pytest.raises(RelstudyError, match="this swells to"):
        read_table(tmp_path / "bomb.parquet")


LONG = pa.array(["x" * 30_000])
REPEATED = pa.DictionaryArray.from_arrays(pa.array([0] * 1000, pa.int32()), LONG)


@pytest.mark.parametrize(
    "column",
    [
        REPEATED,
        pa.ListArray.from_arrays(pa.array([0, 400, 1000], pa.int32()), REPEATED.dictionary_decode()),
        pa.StructArray.from_arrays([REPEATED.dictionary_decode()], ["text"]),
    ],
    ids=["texts", "lists", "objects"],
)
def test_a_long_text_that_a_dictionary_repeats_is_refused_before_it_is_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, column: pa.Array
) -> None:
    """It was counted as eight bytes: 36 kB became 30 GB."""
    monkeypatch.setattr("relstudy.common.runtime.compression.MOST_UNPACKED", 1 << 20)
    file = tmp_path / "bomb.parquet"
    pq.write_table(pa.table({"query_id": column}), file)
    monkeypatch.setattr("pandas.read_parquet", lambda *_: pytest.fail("it was read"))
    with pytest.raises(RelstudyError, match=r"bomb\.parquet: this swells to 0\.0 GiB"):
        read_table(file)


def test_a_long_text_that_is_compressed_is_refused_by_the_size_that_parquet_states(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("relstudy.common.runtime.compression.MOST_UNPACKED", 1 << 20)
    file = tmp_path / "bomb.parquet"
    pq.write_table(pa.table({"a": REPEATED.dictionary_decode()}), file, use_dictionary=False, compression="zstd")
    monkeypatch.setattr("pandas.read_parquet", lambda *_: pytest.fail("it was read"))
    with pytest.raises(RelstudyError, match="this swells to"):
        read_table(file)


MAPS = pa.array([[("k", "v")]] * 5000, pa.map_(pa.string(), pa.string()))


@pytest.mark.parametrize("others", [{}, {"maps": MAPS}, {"long": ["x" * 3000, *["y"] * 4999]}], ids=", ".join)
def test_texts_of_a_dictionary_are_read_where_they_do_not_swell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, others: dict[str, Any]
) -> None:
    monkeypatch.setattr("relstudy.common.runtime.compression.MOST_UNPACKED", 600_000)
    monkeypatch.setattr("relstudy.common.runtime.compression.MOST_RATIO", 1)
    names = [f"result {number % 50}" for number in range(5000)]
    pq.write_table(pa.table({"result_id": names, **others}), tmp_path / "t.parquet")
    assert read_table(tmp_path / "t.parquet").frame["result_id"].tolist() == names
