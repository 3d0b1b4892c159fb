"""CSV files as people have them: other separators, comments before the header, Excel's encodings, tools' habits.

Everything that was decided about a file is one of its table's notes.
"""

from __future__ import annotations

import csv as csv_module
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, TextIO

import numpy as np
import pandas as pd

from relstudy.common.options.option_wording import either
from relstudy.common.runtime.compression import MAGIC, is_packed, open_binary, open_text
from relstudy.common.runtime.damaged_files import NO_JSON
from relstudy.common.runtime.errors import Fault, RelstudyError, TableError
from relstudy.common.runtime.wording import count_of, listed
from relstudy.common.tables.checked_table import Checked, refuse_many_columns
from relstudy.common.tables.column_names import plain_name
from relstudy.common.tables.formats.json_records import cell_text, unwrapped
from relstudy.common.tables.formats.survey_and_annotation_tools import LABEL_STUDIO
from relstudy.common.tables.number_texts import (
    COMMA_THOUSANDS,
    DECIMAL_COMMA,
    DECIMAL_POINT,
    THOUSANDS,
    UNGROUPED,
    is_number,
)

SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "vertical bars", " ": "blanks"}
"""Separators besides the comma, where the header has no comma."""
BLANKS = " "
"""Any number of them, where nothing else parts the fields and these are aligned."""
IDS = ("queryid", "resultid", "raterid", "pairid")
"""Plain names of columns whose commas belong to ids."""
HEADER_WORDS = {
    *("query", "queryid", "qid", "result", "resultid", "document", "docid", "docno", "item", "image", "system", "rank"),
    *("rater", "raterid", "worker", "annotator", "rating", "grade", "score", "label", "relevance", "judgment"),
}
"""Plain names by one of which a row is known for a header."""
NO_NAME = "\x00unnamed"
"""Beginning of the names of columns that have none, while they are read."""
SPREADSHEETS = (".numbers",)
OLD_OFFICE, WEB_PAGE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", (b"<html", b"<!doctype", b"<table")
"""How files of Excel before 2007 begin, and the pages that some tools name .xls."""
IMPORT_ID = '{"ImportId":'
MOST_LINE = 1 << 26
"""Characters of a row that are read at a time."""
MOST_TITLES = 5
"""Lines of a title above the header."""
REVIEW = ["Approve", "Reject"]
"""Columns for a requester's marks, which MTurk names in its header and leaves out of its rows."""


@dataclass(frozen=True)
class Layout:
    """Layout of a file's text.

    Parameters
    ----------
    names : of the columns: the header as it stands, but for columns that have no name or another's
    skipped : lines before the header
    separator : between fields
    encoding : of the file; text in UTF-16 is read again as UTF-8
    notes : what a person should be told, as sentences
    renamed : whether names are others than the file's
    header : whether the first row that was not passed over names the columns; else it holds values
    """

    names: list[str]
    skipped: int
    separator: str
    encoding: str
    notes: tuple[str, ...]
    renamed: bool = False
    header: bool = True


def read_csv(file: str, *, header: bool = True) -> Checked:
    """Read a CSV file as text; see `tables.read_table`."""
    layout = _layout(file, header)
    frame, numbers = _rows(file, layout)
    frame.columns = pd.Index([name.strip() for name in layout.names[: frame.shape[1]]])
    frame = _without_unnamed(file, frame, numbers)
    if layout.separator == "|" and len(frame) and frame.iloc[0].str.strip().str.fullmatch(":?-+:?").all():
        frame, numbers = frame.iloc[1:].reset_index(drop=True), numbers[1:]  # the rule below a table's header
    empty = np.ones(len(frame), dtype=bool)
    for name in frame:
        empty &= (frame[name].str.strip() == "").to_numpy(dtype=bool)
        if not empty.any():
            break
    if empty.any() and frame.shape[1] > 1:
        frame, numbers = frame[~empty].reset_index(drop=True), numbers[~empty]
    table = Checked(frame, file, numbers)
    table.notes = layout.notes
    table.header = 1 if layout.header else None
    if layout.separator in SEPARATORS:
        _read_decimal_commas(table, layout.separator == ";")
    return _tidied(table)


def _without_unnamed(file: str, frame: pd.DataFrame, numbers: np.ndarray) -> pd.DataFrame:
    """The rows without columns behind the last name, which must be empty."""
    unnamed = [name for name in frame if str(name).startswith(NO_NAME)]
    for name in unnamed:
        filled = (frame[name].str.strip() != "").to_numpy(dtype=bool)
        if filled.any():
            row = numbers[int(filled.argmax())]
            raise RelstudyError(
                f"{file}, row 1: {len(unnamed)} columns have no name, and row {row} has something in one of them; the "
                "header row must come first and name it"
            )
    return frame.drop(columns=unnamed)


def _layout(file: str, is_named: bool) -> Layout:
    """The header and what comes before it; refuses what cannot be a table.

    Parameters
    ----------
    is_named : False where a person says that there is no header
    """
    with open_binary(file) as handle:
        start = handle.read(1 << 16)
    is_utf_16 = start[:2] in (b"\xff\xfe", b"\xfe\xff") and start[2:4] != b"\0\0"  # which begins UTF-32
    encoding = "utf-16" if is_utf_16 else "utf-8-sig"
    if not start.strip(b"\xef\xbb\xbf \r\n\t"):
        raise RelstudyError(f"{file}: the file is empty; a header row is needed")
    if start[:2] == b"PK" and (b"[Content_Types].xml" in start or file.lower().endswith(SPREADSHEETS)):
        raise RelstudyError(f"{file}: this is a spreadsheet; save the sheet as CSV (UTF-8)")
    if start.startswith(OLD_OFFICE) or start.lstrip(b"\xef\xbb\xbf \r\n\t")[:9].lower().startswith(WEB_PAGE):
        raise RelstudyError(f"{file}: this is a spreadsheet or a web page; save the sheet as CSV (UTF-8)")
    packed = next((names for magic, names in MAGIC.items() if start.startswith(magic)), None)
    if packed is not None:
        raise RelstudyError(f"{file}: this file is packed by {packed[0]}; let its name end in {packed[1]}")
    if encoding != "utf-16" and b"\x00" in start:
        raise RelstudyError(f"{file}: this is not a text file; a CSV table in UTF-8 is needed")
    notes = ["the file is in UTF-16, as Excel and Qualtrics write it"] if encoding == "utf-16" else []
    with open_text(file, encoding) as opened:
        text = _Lines(file, opened)
        lines, skipped, separator = _before_header(text)
        lines += list(islice(text, MOST_TITLES + 1 - len(lines)))
        try:
            above, title = (0, "") if skipped else _titles(lines, separator)
        except csv_module.Error:
            raise RelstudyError(_long_name(file, 1)) from None
        lines, skipped = lines[above:], skipped + above
        header = skipped + 1
        if skipped:
            said = f": {title}" if title else ""
            notes.append(f"{skipped} line{'s' * (skipped > 1)} before the header passed over{said}")
        separator = separator or _separator(lines)
        try:
            names = next(_fields(chain(lines, text), separator), [])
        except csv_module.Error:
            raise RelstudyError(_long_name(file, header)) from None
    refuse_many_columns(file, len(names))
    stripped = [name.strip() for name in names]
    if not any(stripped):
        raise RelstudyError(f"{file}, row {header}: this row is blank; the header row must come first")
    doubled = sorted(name for name, count in Counter(stripped).items() if count > 1 and name)
    values = _values_in(stripped, doubled, _sample(lines[1:], separator))
    if values or not is_named:
        how = either("--columns 1=query_id,2..4=rating", "columns={'1': 'query_id', '2..4': 'rating'}")
        said = (
            f"no header: row {header} holds values{values and f' ({values})'}, so {count_of(len(names), 'column')} by"
        )
        notes.append(f"{said} {SEPARATORS.get(separator, 'commas')} named by number: {how}")
        names = [f"column {number}" for number in range(1, len(names) + 1)]
        return Layout(names, skipped, separator, encoding, tuple(notes), True, header=False)
    unnamed = 0 if not any(stripped) else len(names) - max(number for number, name in enumerate(stripped, 1) if name)
    if unnamed > 1:  # a spreadsheet's empty columns, which are looked at once they are read
        stripped = stripped[:-unnamed]
        names[-unnamed:] = [f"{NO_NAME}{number}" for number in range(unnamed)]
    nameless = stripped.count("")
    if nameless > 1:
        raise RelstudyError(
            f"{file}, row {header}: {nameless} columns have no name; one header row that names each must come first"
        )
    if nameless:
        names[stripped.index("")] = f"column {stripped.index('') + 1}"
        notes.append(f"a column without a name is called column {stripped.index('') + 1}")
    for name in doubled:
        places = [number for number, each in enumerate(stripped) if each == name]
        for count, number in enumerate(places, 1):
            names[number] = f"{name} ({count})"
        called = listed([f"{name} ({count})" for count in range(1, len(places) + 1)])
        notes.append(f"{name!r} names {len(places)} columns, which are called {called}")
    if separator in SEPARATORS:
        notes.append(f"fields are separated by {SEPARATORS[separator]}")
    return Layout(names, skipped, separator, encoding, tuple(notes), bool(nameless or doubled))


def _fields(lines: Iterable[str], separator: str) -> Iterator[list[str]]:
    """The fields of each line."""
    return map(str.split, lines) if separator == BLANKS else csv_module.reader(lines, delimiter=separator)


def _sample(lines: list[str], separator: str) -> list[list[str]]:
    """The fields of the first rows; none where a row does not end within these lines."""
    try:
        return [[field.strip() for field in row] for row in _fields(lines, separator) if row]
    except csv_module.Error:
        return []


def _values_in(names: list[str], doubled: list[str], rows: list[list[str]]) -> str:
    """The values in a row that might name columns and does not, as a phrase; else empty.

    Those are a number that comes twice, two decimals, a decimal above decimals, or a number at the beginning above
    numbers, but for numbers that rise in even steps, or beside a word that names a column in most tables.

    Examples
    --------
    >>> _values_in(["0001", "d1", "L1"], [], [["0001", "d2", "L0"]]), _values_in(["query", "d1"], [], [["q", "d2"]])
    ('0001', '')
    """
    if _are_levels(names) or names in (list(map(str, range(start, len(names) + start))) for start in (0, 1)):
        return ""
    measured = [name for name in names if re.fullmatch(DECIMAL_POINT, name)]
    if doubled and is_number(doubled[0]):
        return f"{doubled[0]} twice"
    if len(measured) > 1:
        return " and ".join(measured[:2])
    if HEADER_WORDS & set(map(plain_name, names)):
        return ""
    first = [name for place, name in enumerate(names) if name in measured or (place == 0 and is_number(name))]
    even = [row for row in rows if len(row) == len(names)]
    below = [name for name in first if even and all(is_number(row[names.index(name)]) for row in even)]
    return below[0] if below else ""


def _separator(lines: list[str]) -> str:
    """What stands between the fields of the first lines: no comma where the header has none, or where commas stand
    within fields that another sign parts alike in each line."""
    header, filled = lines[0], [line for line in lines if line.strip()]
    for each in (name for name in SEPARATORS if name != BLANKS):
        even = len(filled) > 1 and len({line.count(each) for line in filled}) == 1
        if each in header and ("," not in header or (even and len({line.count(",") for line in filled}) > 1)):
            return each
    return BLANKS if "," not in header and _are_aligned([line.split() for line in filled]) else ","


def _are_aligned(rows: list[list[str]]) -> bool:
    """True where rows have three fields or more, all equally many, without quotes, and one of them holds numbers."""
    if len(rows) < 3 or len({len(row) for row in rows}) > 1 or len(rows[0]) < 3:
        return False
    quoted = any('"' in field for row in rows for field in row)
    return not quoted and any(all(map(is_number, column)) for column in zip(*rows[1:], strict=True))


def _are_levels(names: list[str]) -> bool:
    """True where names that are numbers rise in even steps, as the values of a scale do, or numbered columns."""
    numbers = [float(name) for name in names if is_number(name)]
    steps = np.diff(numbers)
    return len(numbers) > 2 and bool((steps > 0).all()) and bool(np.allclose(steps, steps[0]))


def _titles(lines: list[str], separator: str | None) -> tuple[int, str]:
    """How many of the first lines are a title above the header, as spreadsheets write one, and its words.

    A title is one field with a space in it; below it, after blank lines at most, comes a row of three different names
    or more that are no numbers.
    """
    filled: list[list[str]] = []
    names: list[str] = []
    for line in lines:
        row = next(csv_module.reader([line], delimiter=separator or _separator([line])), [])
        names = [cell.strip() for cell in row]
        filled.append([cell for cell in names if cell])
        if len(filled[-1]) > 1:
            break
    above = len(filled) - 1
    if not above or len(filled[-1]) < 2 or len(filled[0]) != 1 or " " not in filled[0][0]:
        return 0, ""
    is_header = len(names) > 2 and "" not in names and len(set(names)) == len(names)
    if not is_header or any(re.fullmatch(DECIMAL_COMMA.replace(",", "[.,]"), name) for name in names):
        return 0, ""
    return above, " / ".join(cells[0] for cells in filled[:above] if cells)


def _long_name(file: str, row: int) -> str:
    """The sentence on a header of which a name does not end."""
    most = csv_module.field_size_limit()
    return f"{file}, row {row}: a name of over {most:,} characters; a quotation mark may not be closed"


class _Lines:
    """The lines of a text; RelstudyError where one has over MOST_LINE characters, before more of it is read."""

    def __init__(self, file: str, text: TextIO) -> None:
        self.file, self.text, self.row = file, text, 0

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        line = self.text.readline(MOST_LINE + 1)
        if not line:
            raise StopIteration
        self.row += 1
        if len(line) > MOST_LINE:
            raise RelstudyError(_long_row(self.file, f"row {self.row}: this row"))
        return line


def _long_row(file: str, which: str) -> str:
    """The sentence on a row of more than MOST_LINE characters."""
    return f"{file}, {which} has over {MOST_LINE:,} characters, as no table's has; a quotation mark may not be closed"


def _before_header(text: Iterator[str]) -> tuple[list[str], int, str | None]:
    """The first lines from the header on, how many were passed over, and the separator where Excel's `sep=` names it.

    Lines that start with # are passed over, but for one that is as wide as the row below it: that is the header.
    """
    line, skipped = next(text, ""), 0
    stated = re.fullmatch(r"sep=(.)", line.strip("\r\n \ufeff"))
    if stated:
        return [next(text, "")], 1, stated[1]
    comment = line
    while line.startswith("#"):
        line, skipped = next(text, ""), skipped + 1
    if skipped == 1 and comment.count(",") == line.count(",") > 0:
        return [comment, line], 0, None
    return [line], skipped, None


def _rows(file: str, layout: Layout) -> tuple[pd.DataFrame, np.ndarray]:
    """The rows below the header and their numbers in the file."""
    frame, ragged, more, blank = _parsed(file, layout, layout.names)
    short = len(layout.names) - len(REVIEW)
    if ragged and layout.names[-2:] == REVIEW and frame.empty:
        # MTurk's rows end before the columns for the requester's marks
        frame, ragged, more, blank = _parsed(file, layout, layout.names[:short])
    if ragged:
        raise TableError(ragged, more)
    first = 1 + layout.header + layout.skipped
    rows = np.arange(first, first + len(frame) + len(blank))
    return frame, np.setdiff1d(rows, blank) if blank else rows


def _parsed(file: str, layout: Layout, names: list[str]) -> tuple[pd.DataFrame, list[Fault], int, list[int]]:
    """Rows with as many fields as there are names; faults of the others, how many more there are, and blank lines."""
    import pyarrow as pa
    from pyarrow import csv

    blank: list[int] = []
    ragged: list[Fault] = []
    more = 0

    def odd_row(row: Any) -> str:
        nonlocal more
        if not row.text.strip():
            blank.append(row.number)
        elif len(ragged) < TableError.SHOWN:
            fields = f"{row.actual_columns} field{'s' * (row.actual_columns != 1)}"
            allowed = f"this row has {fields}, and the header has {row.expected_columns}; they must be equally many"
            ragged.append(Fault(file, row.number, None, row.text, allowed))
        else:
            more += 1
        return "skip"

    source: Any = file
    if layout.encoding == "utf-16":
        with open_text(file, "utf-16") as text:
            source = pa.BufferReader(text.read().encode("utf-8"))
    elif is_packed(file):
        with open_binary(file) as handle:
            source = pa.BufferReader(handle.read())
    elif layout.separator == BLANKS:
        with open_text(file, layout.encoding) as text:
            lines = ("\t".join(line.split()) for line in text)
            source = pa.BufferReader("\n".join([*lines, ""]).encode("utf-8"))
    from_file = names == layout.names and not layout.renamed and not names[-1].startswith(NO_NAME)
    read = csv.ReadOptions(
        # rows have numbers only when read in one go
        use_threads=False,
        block_size=MOST_LINE,
        skip_rows=layout.skipped + (layout.header and not from_file),
        column_names=None if from_file else [name.strip() for name in names],
    )
    convert = csv.ConvertOptions(
        column_types=dict.fromkeys((*names, *map(str.strip, names)), "string"),
        strings_can_be_null=False,
        quoted_strings_can_be_null=False,
    )
    plain = {
        "delimiter": "\t" if layout.separator == BLANKS else layout.separator,
        "newlines_in_values": True,
        "ignore_empty_lines": False,
    }
    try:
        table = csv.read_csv(source, read, csv.ParseOptions(**plain), convert)
    except pa.ArrowInvalid:
        # A row is odd, there are blank lines, or a header alone has no line end. The handler is given a row's text, and
        # that must be UTF-8.
        with open_binary(file) as handle:
            content = handle.read()
        decoded = content.decode("utf-16" if layout.encoding == "utf-16" else "utf-8")
        if layout.encoding == "utf-16":
            content = decoded.encode("utf-8")
        source = pa.BufferReader(content if content.endswith((b"\n", b"\r")) else content + b"\n")
        try:
            table = csv.read_csv(source, read, csv.ParseOptions(**plain, invalid_row_handler=odd_row), convert)
        except pa.ArrowInvalid as error:
            if "straddl" not in str(error):
                raise
            raise RelstudyError(_long_row(file, f"below row {layout.skipped + 1}: a row")) from None
    return table.to_pandas(), ragged, more, blank


def _read_decimal_commas(table: Checked, semicolons: bool) -> None:
    """Decimal commas as points, in columns of numbers without a point; notes tell, and of points in other columns that
    may stand between thousands, if there are decimal commas, or semicolons and no other points."""
    read, grouped, commas = [], [], []
    for name in table.frame:
        texts = table.frame[name].str.strip()
        filled = texts[texts != ""]
        if not len(filled) or str(name).endswith("_id") or plain_name(name) in IDS:
            continue
        thousands = filled.str.fullmatch(THOUSANDS)
        semicolons &= not (filled.str.fullmatch(DECIMAL_POINT) & ~thousands).any()
        if thousands.any() and (thousands | filled.str.fullmatch(UNGROUPED)).all():
            grouped.append((str(name), filled[thousands].iloc[0]))
        numbers = filled.str.fullmatch(DECIMAL_COMMA)
        missing = ~numbers & ~filled.str.contains(r"\d")  # n/a and the like, which a reader takes or names
        if filled[numbers].str.contains(",").any() and (numbers | missing).all() and numbers.mean() >= 0.5:
            table.frame[name] = texts.mask(texts.str.fullmatch(DECIMAL_COMMA), texts.str.replace(",", "."))
            read.append(str(name))
            thousands = filled.str.fullmatch(COMMA_THOUSANDS)
            if (thousands | filled.str.fullmatch(UNGROUPED)).all():
                commas.append((str(name), filled[thousands].iloc[0]))
    if read:
        table.notes = (*table.notes, f"decimal commas are read as points in {', '.join(read)}")
    for name, number in grouped if read or semicolons else []:
        other = number.replace(".", "")
        table.notes = (
            *table.notes,
            f"{number} in {name} is read with a decimal point; if it is {other}, leave that out",
        )
    for name, number in commas:
        table.notes = (
            *table.notes,
            f"{number} in {name} is read as {number.replace(',', '.')}; if it is {number.replace(',', '')}, leave the "
            "commas out",
        )


def _tidied(table: Checked) -> Checked:
    """The table without what its tool writes besides: header rows, rows of no rating, answers wrapped in JSON."""
    frame = table.frame
    if len(frame) > 1 and frame.iloc[1].str.startswith(IMPORT_ID).any():
        table.wording = {str(name): str(frame[name].iloc[0]).strip() for name in frame}
        return _kept(table, np.arange(len(frame)) > 1, "rows 2 and 3 are Qualtrics' wording and ImportIds: passed over")
    names = set(frame.columns)
    if names == {"query", "docid", "rating"}:
        unrated = ((frame["docid"].str.strip() == "") & (frame["rating"].str.strip() == "")).to_numpy(dtype=bool)
        if unrated.any():
            count = int(unrated.sum())
            note = f"{count} quer{'ies' if count > 1 else 'y'} without any rating, as Quepid writes them: passed over"
            return _kept(table, ~unrated, note)
    if LABEL_STUDIO.wrote(names) or "Answer.taskAnswers" in names:
        _unwrap(table)
    return table


def _kept(table: Checked, kept: np.ndarray, note: str) -> Checked:
    fewer = table.where(kept)
    fewer.notes = (*table.notes, note)
    return fewer


def _unwrap(table: Checked) -> None:
    """Answers out of the JSON that Label Studio and MTurk's crowd elements put into a cell."""
    for name in list(table.frame):
        texts = table.frame[name].str.strip()
        filled = texts[texts != ""]
        if not len(filled) or not filled.str.startswith(("[{", "{")).all():
            continue
        try:
            values = [json.loads(text) if text else None for text in texts]
        except NO_JSON:
            continue
        single = [value[0] if isinstance(value, list) and len(value) == 1 else value for value in values]
        if name == "Answer.taskAnswers" and all(isinstance(value, dict) or value is None for value in single):
            questions = dict.fromkeys(question for value in single if value for question in value)
            for question in questions:
                answers = [unwrapped((value or {}).get(question)) for value in single]
                table.frame[f"Answer.{question}"] = [cell_text(answer) for answer in answers]
            table.notes = (*table.notes, f"Answer.taskAnswers holds the answers {', '.join(questions)}")
        elif name != "Answer.taskAnswers":
            table.frame[name] = [cell_text(unwrapped(value)) for value in values]
