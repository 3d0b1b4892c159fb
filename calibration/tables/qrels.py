"""TREC qrels: a line is query, iteration, result and grade. In sampled qrels the fifth field is the probability that
the pair was drawn, as in TREC's legal track; prels are query, result, grade, method and that probability. Stratified
qrels, as for infAP, name the whole pool: query, 0, result, stratum, and a grade that is below 0 where the pair was not
drawn."""

from __future__ import annotations

import io
import itertools
import os
import re
from collections.abc import Iterable

import numpy as np
import pandas as pd

from relstudy.common.runtime.compression import BROKEN, open_text, read_bytes, unpacked_name
from relstudy.common.runtime.errors import Fault, RelstudyError, TableError
from relstudy.common.runtime.files import decoded
from relstudy.common.runtime.wording import count_of, listed_some
from relstudy.common.tables.checked_table import Checked
from relstudy.common.tables.meaning.reading import Reading

PROBABILITY = "inclusion_probability"
QRELS = ("query_id", "iteration", "result_id", "judgment")
SAMPLED = (*QRELS, PROBABILITY)
PRELS = ("query_id", "result_id", "judgment", "method", PROBABILITY)
STRATIFIED = ("query_id", "iteration", "result_id", "stratum", "judgment")
KEPT = ("query_id", "result_id", "judgment", "stratum", PROBABILITY)
LINES = {
    QRELS: "a TREC qrels line has four fields: query, 0, result, judgment",
    SAMPLED: "a line of sampled qrels has five fields: query, 0, result, judgment, probability",
    PRELS: "a prels line has five fields: query, result, judgment, method, probability",
    STRATIFIED: "a line of stratified qrels has five fields: query, 0, result, stratum, judgment",
}
"""The columns of a line of each form."""
COMMENT = "#"
DATASET = "irds:"
"""The prefix of the id of a data set of ir_datasets, as for PyTerrier."""
NUMBER = re.compile(r"-?[\d.]+")
ENOUGH = 1000
"""Lines by which a file is known."""
GRADE = re.compile(r"-?\d+")
DECIMAL = re.compile(r"[01]?\.?\d*(e-?\d+)?", re.IGNORECASE)


def is_qrels(path: str | os.PathLike[str]) -> bool:
    """True for a file of TREC qrels, sampled ones, or prels: no table by its ending, and their fields without a comma
    in the first line that is neither empty nor a comment."""
    file = os.fspath(path)
    if unpacked_name(file).endswith((".csv", ".parquet")) or not os.path.isfile(file):
        return False
    try:
        with open_text(file, "utf-8-sig", errors="replace") as handle:
            lines = [_first(handle), *itertools.islice(handle, ENOUGH)]
    except BROKEN:
        return False  # whoever reads it says why it cannot be read
    form = _form(lines[0])
    return form is not None and not (form is QRELS and _are_votes(lines))


def _are_votes(lines: list[str]) -> bool:
    """True where the second field is a name and the same first and third come again with another grade: several people
    rated them.

    Examples
    --------
    >>> _are_votes(["1 q1-d1 ann 0", "1 q1-d2 ann 1"]), _are_votes(["q1 0 d1 0", "q1 0 d1 1"])
    (True, False)
    """
    grades: dict[tuple[str, str], str] = {}
    rows = [fields for line in lines if len(fields := line.split()) == len(QRELS)]
    named = any(not NUMBER.fullmatch(field) and field != "Q0" for _, field, _, _ in rows)
    return named and any(grades.setdefault((query, result), grade) != grade for query, _, result, grade in rows)


def read_qrels(path: str | os.PathLike[str]) -> Checked:
    """The lines as a table query_id, result_id, judgment of text, and inclusion_probability of sampled qrels and prels;
    of stratified ones with stratum, the share of it that was judged being the probability.

    Raises
    ------
    TableError
        naming each line that has not the fields of the first
    """
    file = os.fspath(path)
    lines = io.StringIO(decoded(read_bytes(file), file, "qrels"), newline=None)
    given = [(number, line.split()) for number, line in enumerate(lines, start=1) if line.strip()]
    rows = [(number, fields) for number, fields in given if not fields[0].startswith(COMMENT)]
    form = _form(" ".join(rows[0][1]) if rows else "") or QRELS
    if form is SAMPLED and _name_strata([fields[-1] for _, fields in rows if len(fields) == len(SAMPLED)]):
        form = STRATIFIED
    faults = [
        Fault(file, number, None, " ".join(fields), LINES[form]) for number, fields in rows if len(fields) != len(form)
    ]
    if faults:
        raise TableError(faults)
    frame = pd.DataFrame([fields for _, fields in rows], columns=list(form))
    if form is STRATIFIED:
        drawn = pd.to_numeric(frame["judgment"], errors="coerce").ge(0)
        share = drawn.groupby([frame["query_id"], frame["stratum"]]).transform("mean")
        frame[PROBABILITY] = share.map(repr)
    field = frame.get("iteration")
    table = Checked(frame[[name for name in KEPT if name in frame]], file, np.array([number for number, _ in rows]))
    comments = len(given) - len(rows)
    if comments:
        table.notes = (*table.notes, f"{count_of(comments, 'line')} beginning with {COMMENT} passed over")
    if field is not None and field.nunique() > 1:
        shown = listed_some(list(dict.fromkeys(field)))
        said = f"the second field is not read, though it varies ({shown}), as where it names subtopics or queries"
        table.notes = (*table.notes, said)
    if form is STRATIFIED:
        said = "read as stratified qrels: the fourth field is the stratum, whose share judged is the probability"
        table.notes = (*table.notes, said)
    elif form is not QRELS:
        kind = "prels" if form is PRELS else "sampled qrels"
        table.notes = (*table.notes, f"read as {kind}: the fifth field is the probability that the pair was drawn")
    return table


def _first(lines: Iterable[str]) -> str:
    """The first line that is neither empty nor a comment; empty where there is none."""
    return next((line for line in lines if line.strip() and not line.lstrip().startswith(COMMENT)), "")


def _name_strata(last: list[str]) -> bool:
    """True where the last of five fields are grades: whole numbers, of which some are no probability.

    Examples
    --------
    >>> _name_strata(["1", "0", "-1"]), _name_strata(["1", "0.5"]), _name_strata(["1", "1"])
    (True, False, False)
    """
    whole = all(GRADE.fullmatch(each) for each in last)
    return whole and any(int(each) != 1 for each in last)


def _form(line: str) -> tuple[str, ...] | None:
    """The names of a line's fields; None where it is not a line of qrels.

    Examples
    --------
    >>> _form("q1 0 d1 2") == QRELS, _form("q1 0 d1 1 0.25") == SAMPLED, _form("q1 d1 1 2 0.25") == PRELS
    (True, True, True)
    >>> _form("query\\tdocument\\trater 1"), _form("query document rater grade")
    (None, None)
    """
    fields = line.split()
    if "," in line:
        return None
    if len(fields) == 4:
        # the header of a table that is separated by tabs may have four words too, and the last may be a number
        of_words = "\t" in line and " " in line.strip()
        is_grade = NUMBER.fullmatch(fields[3]) and not of_words
        return QRELS if NUMBER.fullmatch(fields[1]) or fields[1] == "Q0" or is_grade else None
    if len(fields) != 5 or not NUMBER.fullmatch(fields[3]):
        return None
    if fields[1] in ("0", "Q0") and (DECIMAL.fullmatch(fields[4]) or GRADE.fullmatch(fields[4])):
        return SAMPLED  # or stratified, which the whole file tells
    if not DECIMAL.fullmatch(fields[4]):
        return None
    return PRELS if NUMBER.fullmatch(fields[2]) else None


def without_negative(table: Checked, reading: Reading) -> tuple[Checked, pd.DataFrame | None]:
    """The grades from 0, and those below 0 of unstated meaning, which are taken for unjudged pairs; a note counts them.

    The latter (query_id, result_id, judgment) are None where there are none.
    """
    texts = table.frame["judgment"]
    grades = pd.to_numeric(texts, errors="coerce").to_numpy(dtype=float)
    negative = (grades < 0) & ~reading.mentions(texts)
    if not negative.any() or negative.all():
        return table, None
    rest = table.where(~negative)
    low, high = grades[negative].min(), max(float(np.nanmax(grades)), 1.0)
    rest.notes = (
        *table.notes,
        f"{count_of(int(negative.sum()), 'grade')} below 0 taken for pairs that nobody judged, and left out; "
        f"{table.words.scale(f'{low:g}-{high:g}')} counts them as grades",
    )
    return rest, table.frame[negative].assign(judgment=grades[negative]).reset_index(drop=True)


def is_dataset(path: str | os.PathLike[str]) -> bool:
    """True where the qrels are those of a data set, `irds:ID`."""
    return os.fspath(path).startswith(DATASET)


def dataset_qrels(path: str | os.PathLike[str]) -> Checked:
    """The qrels of a data set that ir_datasets has, `irds:ID`, as `read_qrels` gives those of a file.

    Raises
    ------
    RelstudyError
        where ir_datasets is not installed, knows no such data set, cannot get it, or it has no qrels
    """
    name = os.fspath(path)
    try:
        import ir_datasets
    except ImportError:
        raise RelstudyError(f"{name}: ir_datasets is needed, which pip install 'relstudy[datasets]' brings") from None
    try:
        dataset = ir_datasets.load(name.removeprefix(DATASET))
    except KeyError:
        raise RelstudyError(f"{name}: ir_datasets knows no data set of this id") from None
    if not dataset.has_qrels():
        raise RelstudyError(f"{name}: this data set has no qrels")
    try:
        rows = [(each.query_id, each.doc_id, str(each.relevance)) for each in dataset.qrels_iter()]
    except OSError as error:
        raise RelstudyError(f"{name}: its qrels cannot be had ({error})") from None
    except RuntimeError as error:  # no address could be reached, and its second argument is all that was tried
        raise RelstudyError(f"{name}: its qrels cannot be had ({error.args[0]})") from None
    table = Checked(pd.DataFrame(rows, columns=["query_id", "result_id", "judgment"]), name)
    table.notes = (*table.notes, f"read as qrels of ir_datasets, {name.removeprefix(DATASET)}")
    return table
