"""One answer to what a file is, whoever asks."""

from __future__ import annotations

import gzip
import os
import threading
from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat

from relstudy.common.tables.formats.array_files import load_array
from relstudy.common.tables.formats.file_kind import file_kind
from tests.commands import relstudy, succeeds

KINDS = {
    "qrels": ("q1 0 d1 2\n", "# a remark\n\nq1\tQ0\td1\t1\n", "q1 0 d1 1 0.25\n", "q1 d1 1 2 0.25\n"),
    "run": ("q1 Q0 d1 1 0.5 bm25\n", "q1 0 d1 1 9.25 my run\n"),
    "feature vectors": ("2 qid:1 1:0.5 2:3 # d7\n",),
    "codes": ("01010101\n11010101\n", "1 -1 1 1\n-1 -1 1 1\n", "dead\nbeef\n"),
    "label columns": ("a.jpg 0 1 0 0\nb.jpg 1 0 0 0\n",),
    "json": ('[{"a": 1}]', ' {"a": 1}\n{"a": 2}\n'),
    "table": ("query,result\n", "", "[a],[b]\n1,2\n", "1 q1-d1 ann 0\n1 q1-d2 ann 1\n"),
}


@pytest.mark.parametrize(("kind", "content"), [(kind, each) for kind, several in KINDS.items() for each in several])
def test_a_text_is_known_by_its_first_lines(kind: str, content: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(content)
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(content.encode()))
    (tmp_path / "marked.txt").write_bytes(b"\xef\xbb\xbf" + content.encode())
    assert [file_kind(tmp_path / name) for name in ("a.txt", "a.txt.gz", "marked.txt")] == [kind] * 3


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("five.run", "q1 d1 1 0.5 bm25\n", "run"),
        ("judged.trec", "q1 0 d1 2\n", "qrels"),
        ("scores.run", "system,query_id\n", "table"),
        ("qrels.csv", "q1 0 d1 2\n", "table"),
        ("labels.npz:train", "", "array"),
        ("book.ods:June", "", "workbook"),
        ("a.parquet", "q1 0 d1 2\n", "parquet"),
        ("page.xls", "<html>", "table"),
    ],
)
def test_a_name_tells_where_the_lines_do_not(name: str, content: str, kind: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content)
    assert file_kind(tmp_path / name) == kind


def test_a_line_that_is_cut_decides_nothing(tmp_path: Path) -> None:
    (tmp_path / "codes.txt").write_text("01010101\n" * 8000)
    assert file_kind(tmp_path / "codes.txt") == "codes"


def test_a_long_word_takes_no_time(tmp_path: Path) -> None:
    """A pattern that could be read in many ways took two minutes of 60,000 letters; the test would not end."""
    (tmp_path / "a.txt").write_text("z" * 60_000 + "\n" + "z" * 5_000 + "\n")
    assert file_kind(tmp_path / "a.txt") == "table"


def test_a_pipe_is_left_to_its_reader(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert file_kind(pipe) == "table"
    writer = threading.Thread(target=lambda: pipe.write_text("whole"))
    writer.start()
    assert pipe.read_text() == "whole"
    writer.join()


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("calibrate", "a.qrels", "-o", "out"), "TREC qrels"),
        (("score", "a.qrels", "-j", "a.qrels"), "TREC qrels"),
        (("score", "a.run", "-j", "a.run"), "a TREC run"),
        (("preferences", "a.run", "-o", "out"), "a TREC run"),
        (("fit", "a.run", "-j", "codes.txt", "-o", "out"), "hash codes"),
    ],
)
def test_a_file_in_the_place_of_another_is_named_for_what_it_is(
    words: tuple[str, ...], what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.qrels").write_text("q1 0 d1 1\nq1 0 d2 0\nq2 0 d1 2\n")
    Path("a.run").write_text("q1 Q0 d1 1 3.5 s\nq1 Q0 d2 2 2.5 s\nq2 Q0 d1 1 1.5 s\n")
    Path("codes.txt").write_text("01010101\n" * 9)
    refused = relstudy(*words)
    assert refused.exit_code == 1 and f"this is {what}" in refused.output and not Path("out").exists()


def test_columns_by_number_read_what_looks_like_qrels(tmp_path: Path) -> None:
    (tmp_path / "votes.txt").write_text("20001 ann d1 2\n20001 bob d1 3\n20002 ann d1 0\n")
    words = ("calibrate", tmp_path / "votes.txt", "-o", tmp_path / "out", "--columns")
    assert succeeds(*words, "1=query_id,2=rater_id,3=result_id,4=rating").exit_code == 0


@pytest.mark.parametrize("ending", [".NPY", ".NPZ", ".MAT", ".FVECS"])
def test_an_array_is_known_whatever_case_its_ending_has(ending: str, tmp_path: Path) -> None:
    array, path = np.arange(6, dtype="<f4").reshape(2, 3), tmp_path / f"A{ending}"
    with path.open("wb") as file:
        if ending == ".NPY":
            np.save(file, array)
        elif ending == ".NPZ":
            np.savez(file, codes=array)
        elif ending == ".MAT":
            savemat(file, {"codes": array})
        else:
            file.write(b"".join(np.int32(3).tobytes() + row.tobytes() for row in array))
    assert file_kind(path) == "array"
    assert load_array(str(path)).tolist() == array.tolist()
