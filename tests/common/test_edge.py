"""The edge that every stage shares: tables, faults, estimates, console, figures."""

from __future__ import annotations

import errno
import json
import os
import re
from pathlib import Path

import click
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from relstudy.common.charts import figures
from relstudy.common.results.estimates import Estimate
from relstudy.common.runtime.console import fail, print_json, print_table, progress, say
from relstudy.common.runtime.errors import Fault, RelstudyError, TableError
from relstudy.common.runtime.files import read_json, replacing, write_json, write_text
from relstudy.common.tables.checked_table import Checked
from relstudy.common.tables.formats.table_files import pair_keys, read_table, write_table


def written(tmp_path: Path, content: bytes, name: str = "t.csv") -> Path:
    path = tmp_path / name
    path.write_bytes(content)
    return path


def refusal(path: Path, *required: str) -> str:
    with pytest.raises(RelstudyError) as caught:
        read_table(path, *required)
    return str(caught.value).replace(str(path), "FILE")


# Reading


def test_rows_keep_the_numbers_that_a_spreadsheet_shows_past_blank_lines(tmp_path: Path) -> None:
    table = read_table(written(tmp_path, b"a,b\n1,2\n\n  \n,\n3,x\n\n"))
    assert table.frame.to_numpy().tolist() == [["1", "2"], ["3", "x"]]
    table.numbers("b")
    with pytest.raises(TableError, match=r"row 6, column b: 'x' is not allowed; a number is allowed"):
        table.raise_faults()


def test_a_row_with_a_field_too_few_or_too_many_is_named(tmp_path: Path) -> None:
    message = refusal(written(tmp_path, b"a,b,c\n1,2,3\n4,5\n6,7,8,9\n"))
    assert message.splitlines() == [
        "FILE, row 3: '4,5' is not allowed; this row has 2 fields, and the header has 3; they must be equally many",
        "FILE, row 4: '6,7,8,9' is not allowed; this row has 4 fields, and the header has 3; they must be equally many",
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "FILE: the file is empty; a header row is needed"),
        (b"\xef\xbb\xbf\n \n", "FILE: the file is empty; a header row is needed"),
        (b"\na,b\n1,2\n", "FILE, row 1: this row is blank; the header row must come first"),
        (
            "q,d\nschön,d1\n".encode("cp1252"),
            "FILE, line 2: not UTF-8 (...'schön,d1'); save the table as UTF-8 (in Excel: CSV UTF-8), or run: iconv -f "
            "windows-1252 -t utf-8 FILE > NEW",
        ),
        (b"PK\x03\x04\x00\x00", "FILE: this is not a text file; a CSV table in UTF-8 is needed"),
    ],
)
def test_a_file_that_is_no_table_says_what_is_wrong(tmp_path: Path, content: bytes, message: str) -> None:
    assert refusal(written(tmp_path, content)) == message


SWALLOWED = b'a,"b,c\n' + b"1,2,3\n" * 40_000


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a" * 200_000, "FILE, row 1: a name of over 131,072 characters; a quotation mark may not be closed"),
        (SWALLOWED, "FILE, row 1: a name of over 131,072 characters; a quotation mark may not be closed"),
        (
            b"# A title\n" + SWALLOWED,
            "FILE, row 2: a name of over 131,072 characters; a quotation mark may not be closed",
        ),
        (b"#\n" * 5 + b"\n", "FILE, row 6: this row is blank; the header row must come first"),
    ],
)
def test_a_header_that_does_not_end_is_one_sentence(tmp_path: Path, content: bytes, message: str) -> None:
    assert refusal(written(tmp_path, content)) == message


def test_a_line_that_does_not_end_is_not_read_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relstudy.common.tables.formats.csv_files.MOST_LINE", 1000)
    message = "FILE, row 2: this row has over 1,000 characters, as no table's has; a quotation mark may not be closed"
    assert refusal(written(tmp_path, b"a title\n" + b"a," * 2000 + b"b\n")) == message
    below = written(tmp_path, b"a,b\n" + b"1,2\n" * 20 + b'1,"' + b"a\n" * 1000)
    message = (
        "FILE, below row 1: a row has over 1,000 characters, as no table's has; a quotation mark may not be closed"
    )
    assert refusal(below) == message


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "jsonl", "parquet"])
def test_a_table_of_more_columns_than_anything_has_is_refused_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    monkeypatch.setattr("relstudy.common.tables.checked_table.MOST_COLUMNS", 3)
    path = tmp_path / f"t.{ending}"
    frame = pd.DataFrame({name: [1] for name in "abcd"})
    if ending == "parquet":
        frame.to_parquet(path)
    elif ending == "jsonl":
        frame.to_json(path, orient="records", lines=True)
    else:
        frame.to_csv(path, index=False)
    assert refusal(path) == "FILE: this table has 4 columns, and up to 3 are read; keep those that are needed"


def test_a_long_text_in_the_first_rows_is_read(tmp_path: Path) -> None:
    table = read_table(written(tmp_path, b"a,b\n1," + b"x" * 200_000 + b"\n"))
    assert table.frame["b"].str.len().tolist() == [200_000]


def test_absent_files_and_folders_are_named(tmp_path: Path) -> None:
    assert refusal(tmp_path / "none.csv").endswith("file not found")
    assert refusal(tmp_path / "none.parquet").endswith("file not found")
    assert "this is a folder; a table is needed" in refusal(tmp_path)
    assert "cannot be read as a table" in refusal(written(tmp_path, b"not parquet", "t.parquet"))


def test_a_file_that_may_not_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*_: object, **__: object) -> None:
        raise PermissionError

    path = written(tmp_path, b"a\n1\n")
    # Root, who runs the tests in a container, may read everything.
    monkeypatch.setattr("builtins.open", forbidden)
    assert refusal(path) == "FILE: this file may not be read"


def test_byte_order_marks_windows_line_ends_quotes_and_newlines_in_fields_are_read(tmp_path: Path) -> None:
    table = read_table(written(tmp_path, b'\xef\xbb\xbf a ,b\r\n"x, ""y""\r\nz",2\r\n'), "a")
    assert table.frame["a"].tolist() == ['x, "y"\r\nz']
    assert table.numbers("b").tolist() == [2.0]


def test_ids_are_text_whatever_they_look_like(tmp_path: Path) -> None:
    table = read_table(written(tmp_path, b"id\n007\n1e5\nNA\nnull\n123456789012345678901234567890\nTrue\n"))
    expected = ["007", "1e5", "NA", "null", "123456789012345678901234567890", "True"]
    assert table.texts("id").tolist() == expected
    table.raise_faults()


def test_ids_that_pandas_wrote_as_an_index_of_parquet_are_columns(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    frame = pd.DataFrame({"query_id": ["q"], "Result ID": ["x"], "row": [7], "score": [0.5]})
    frame.set_index(["query_id", "Result ID", "row"]).to_parquet(path)
    assert sorted(read_table(path).frame) == ["Result ID", "query_id", "score"]


def test_parquet_ids_that_are_numbers_or_missing_are_read_as_a_person_would(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pd.DataFrame({"a": [1, 2, 3], "b": [1.0, np.nan, 3.0], "c": ["x", None, "z"]}).to_parquet(path)
    table = read_table(path)
    assert table.texts("a").tolist() == ["1", "2", "3"]
    assert table.texts("b").tolist() == ["1", "", "3"]
    table.texts("c")
    with pytest.raises(TableError) as caught:
        table.raise_faults()
    assert [(fault.row, fault.column, fault.value) for fault in caught.value.faults] == [(3, "b", ""), (3, "c", "")]


@pytest.mark.parametrize("text", ["inf", "-inf", "nan", "1_000", "0x10", "1e999", "4,5", "four", "--1"])
def test_what_is_no_finite_number_is_a_fault(tmp_path: Path, text: str) -> None:
    table = Checked(pd.DataFrame({"x": ["1", text]}), "t.csv")
    table.numbers("x")
    with pytest.raises(TableError, match="row 3, column x"):
        table.raise_faults()


@pytest.mark.parametrize(
    ("options", "allowed"),
    [
        ({"low": 0, "high": 1}, "a number from 0 to 1 is allowed"),
        ({"low": 0, "high": 1, "low_open": True}, "a number above 0 and at most 1 is allowed"),
        ({"low": 1, "whole": True}, "a whole number at least 1 is allowed"),
        ({"high": 3, "empty": True}, "a number at most 3 is allowed, or empty"),
    ],
)
def test_bounds_are_stated_in_the_fault(options: dict, allowed: str) -> None:  # type: ignore[type-arg]
    table = Checked(pd.DataFrame({"x": ["0.5", "-1", "7"]}), "t.csv")
    table.numbers("x", **options)
    assert table.faults
    assert {fault.allowed for fault in table.faults} == {allowed}


def test_numbers_already_numeric_are_checked_alike() -> None:
    table = Checked(pd.DataFrame({"x": [1.0, np.nan, np.inf]}), "t.parquet")
    values = table.numbers("x")
    assert values[0] == 1
    assert [fault.row for fault in table.faults] == [3, 4]


@pytest.mark.slow
def test_a_million_faults_are_counted_without_being_kept() -> None:
    table = Checked(pd.DataFrame({"x": np.char.add("bad", np.arange(1_000_000).astype(str))}), "t.csv")
    table.numbers("x")
    assert len(table.faults) == 20
    with pytest.raises(TableError) as caught:
        table.raise_faults()
    assert caught.value.count == 1_000_000
    assert str(caught.value).endswith("... and 999980 more faults")


@pytest.mark.slow
@given(
    st.lists(
        st.tuples(st.text(min_size=1, max_size=8), st.floats(allow_nan=False, allow_infinity=False)),
        min_size=1,
        max_size=8,
    )
)
@settings(max_examples=60, deadline=None)
def test_what_is_written_is_read_back_exactly(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, float]]
) -> None:
    # Text is stripped on reading and carriage returns and NUL are not text a table can keep.
    rows = [(re.sub(r"[\r\x00]", "", name).strip() or "x", number) for name, number in rows]
    rows = [(name, number) for name, number in rows if name.isprintable()] or [("x", 0.0)]
    path = tmp_path_factory.mktemp("round") / "t.csv"
    write_table(pd.DataFrame(rows, columns=["name", "number"]), path)
    table = read_table(path, "name", "number")
    assert table.texts("name").tolist() == [name for name, _ in rows]
    assert table.numbers("number").tolist() == [number for _, number in rows]
    table.raise_faults()


# Writing


def test_a_write_that_fails_leaves_the_old_file_and_nothing_beside_it(tmp_path: Path) -> None:
    path = written(tmp_path, b"old")
    with pytest.raises(ZeroDivisionError), replacing(path) as beside:
        beside.write_text("new")
        raise ZeroDivisionError
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_folders_are_made_and_a_folder_or_a_file_in_the_way_is_named(tmp_path: Path) -> None:
    write_text("hello", tmp_path / "new" / "deeper" / "t.txt")
    assert (tmp_path / "new" / "deeper" / "t.txt").read_text() == "hello"
    with pytest.raises(RelstudyError, match="this is a folder; a file cannot be written over it"):
        write_text("x", tmp_path / "new")
    with pytest.raises(RelstudyError, match="cannot be written"):
        write_text("x", tmp_path / "new" / "deeper" / "t.txt" / "below.txt")


def test_json_is_strict_both_ways(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    write_json({"ü": 1.5}, path)
    assert read_json(path) == {"ü": 1.5}
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json({"x": float("nan")}, path)
    assert read_json(path) == {"ü": 1.5}
    for text, message in (("{", "this is not JSON"), ('{"x": NaN}', "NaN is not a finite number")):
        path.write_text(text)
        with pytest.raises(RelstudyError, match=message):
            read_json(path)
    with pytest.raises(RelstudyError, match="file not found"):
        read_json(tmp_path / "none.json")


def test_pair_keys_join_tables_by_query_and_result() -> None:
    frame = pd.DataFrame({"query_id": ["q", "q"], "result_id": ["a", "b"], "x": [1, 2]})
    assert pair_keys(frame).tolist() == [("q", "a"), ("q", "b")]


# Faults and estimates


def test_a_fault_reads_as_one_sentence_and_cuts_long_values() -> None:
    assert str(Fault("t.csv", 3, "x", "7", "1 to 5 is allowed")) == (
        "t.csv, row 3, column x: '7' is not allowed; 1 to 5 is allowed"
    )
    assert str(Fault("t.csv", None, None, None, "a header is needed")) == "t.csv: a header is needed"
    assert len(str(Fault("t.csv", 1, "x", "y" * 10_000, "short is allowed"))) < 150


def test_one_fault_more_than_twenty_is_counted_in_the_singular() -> None:
    faults = [Fault("t", i, "x", "y", "z") for i in range(21)]
    assert str(TableError(faults)).endswith("... and 1 more fault")


def test_an_estimate_is_a_number_or_a_reason_and_never_nan() -> None:
    assert Estimate.of(0.5, 0.4, 0.6).as_json() == {"value": 0.5, "low": 0.4, "high": 0.6}
    assert Estimate.of(float("nan"), reason="flat").as_json() == {
        "value": None,
        "low": None,
        "high": None,
        "reason": "flat",
    }
    with pytest.raises(ValueError, match="needs a reason"):
        Estimate.of(float("inf"))
    assert str(Estimate(0.5)) == "0.5000"
    assert str(Estimate(0.5, 0.25, 0.75)) == "0.5000 [0.2500, 0.7500]"
    assert str(Estimate.missing("flat")) == "– (flat)"


# Console


def test_tables_align_text_to_the_left_and_numbers_to_the_right() -> None:
    @click.command()
    def show() -> None:
        print_table([["a", "1.5"], ["long", "–"]], ["name", "value"])

    assert CliRunner().invoke(show).output.splitlines() == ["name  value", "a       1.5", "long      –"]


def test_results_go_to_standard_output_and_notes_to_standard_error() -> None:
    @click.command()
    def show() -> None:
        say("a note")
        print_json({"x": 1})

    result = CliRunner().invoke(show)
    assert json.loads(result.stdout) == {"x": 1}
    assert result.stderr == "a note\n"


def test_a_failure_ends_with_exit_code_1_and_its_sentence() -> None:
    @click.command()
    def break_down() -> None:
        fail(RelstudyError("the file is empty"))

    result = CliRunner().invoke(break_down)
    assert (result.exit_code, result.stderr) == (1, "relstudy: the file is empty\n")


def test_progress_yields_what_it_is_given() -> None:
    assert list(progress([1, 2, 3], "counting")) == [1, 2, 3]


# Figures


def test_a_figure_follows_the_pages_colours_and_says_what_it_shows() -> None:
    with figures.drawing() as figure:
        ax = figure.subplots()
        ax.plot([0, 1], [0, 1], color=figures.SERIES[0])
        ax.set_xlabel("x < y & z")
        text = figures.svg(figure, 'A "line" & more')
    assert text.startswith('<svg class="figure" role="img" aria-label="A &quot;line&quot; &amp; more"')
    assert "<title>A &quot;line&quot; &amp; more</title>" in text
    assert "var(--series-1, #1f5fbf)" in text
    assert not re.search(r"(?<!, )#1b1e23", text)
    assert "<text" in text
    assert "<metadata>" not in text


@pytest.mark.slow
def test_a_figure_alone_carries_light_and_dark_and_is_the_same_every_time() -> None:
    def draw() -> str:
        with figures.drawing(3, 2) as figure:
            figure.subplots().plot([0, 1], [1, 0], "o")
            return figures.svg(figure, "points", alone=True)

    text = draw()
    assert "prefers-color-scheme:dark" in text
    assert text == draw()


def test_every_themed_colour_has_a_light_and_a_dark_value_of_its_own() -> None:
    drawn = [colours[0] for colours in figures.THEME.values()]
    assert len(set(drawn)) == len(drawn)
    assert all(light != dark for _, light, dark in figures.THEME.values())


def test_a_file_is_written_through_a_link_and_never_over_a_device(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    there, link, pipe = tmp_path / "there" / "t.csv", tmp_path / "link.csv", tmp_path / "pipe.csv"
    link.symlink_to(there)
    write_text("a\n", link)
    assert link.is_symlink()
    assert there.read_text() == "a\n"
    os.mkfifo(pipe)
    with pytest.raises(RelstudyError, match="this is a pipe or a device; a file's name is needed"):
        write_text("a\n", pipe)
    assert pipe.is_fifo()


def test_a_full_disk_is_a_sentence_and_leaves_nothing(tmp_path: Path) -> None:
    def full() -> None:
        with replacing(tmp_path / "t.csv"):
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(RelstudyError, match=r"t\.csv: cannot be written \(No space left on device\)"):
        full()
    assert not list(tmp_path.iterdir())
