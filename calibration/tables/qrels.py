"""TREC qrels: a line is query, iteration, result and grade. In sampled qrels the fifth field is the probability that
the pair was drawn, as in TREC's legal track; prels are query, result, grade, method and that probability. Stratified
qrels, as for infAP, name the whole pool: query, 0, result, stratum, and a grade that is below 0 where the pair was not
drawn."""

from __future__ import annotations

import io
import os

import numpy as np
import pandas as pd

from relstudy.common.runtime.compression import read_bytes
from relstudy.common.runtime.errors import Fault, RelstudyError, TableError
from relstudy.common.runtime.files import decoded
from relstudy.common.runtime.wording import count_of, listed_some
from relstudy.common.tables.checked_table import Checked
from relstudy.common.tables.formats.file_kind import COMMENT, GRADE, QrelsForm, qrels_form
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
FORMS: dict[QrelsForm, tuple[str, ...]] = {"qrels": QRELS, "sampled qrels": SAMPLED, "prels": PRELS}
DATASET = "irds:"
"""The prefix of the id of a data set of ir_datasets, as for PyTerrier."""


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
    form = FORMS[qrels_form(" ".join(rows[0][1]) if rows else "") or "qrels"]
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


def _name_strata(last: list[str]) -> bool:
    """True where the last of five fields are grades: whole numbers, of which some are no probability.

    Examples
    --------
    >>> _name_strata(["1", "0", "-1"]), _name_strata(["1", "0.5"]), _name_strata(["1", "1"])
    (True, False, False)
    """
    whole = all(GRADE.fullmatch(each) for each in last)
    return whole and any(int(each) != 1 for each in last)


def without_negative(table: Checked, reading: Reading) -> tuple[Checked, pd.DataFrame | None]:
    """The grades from 0, and those below 0 of unstated meaning, which are taken for unjudged pairs; a note counts them.

    The latter (query_id, result_id, judgment) are None if there are none.
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
        f"{count_of(int(negative.sum()), 'grade')} below 0 taken as unjudged pairs, and left out; "
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
