"""A table of results or answers, as search and question-answering teams have it: what each system gave for each query.

Read are long tables (one row a query, system and result), wide ones (a column of answers for each model), JSON lines of
prompts and completions, JSON of search responses, TREC runs with their documents, and folders of pictures, films
or sounds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from relstudy.common.options.option_wording import option
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import count_of, listed, listed_some
from relstudy.common.tables.meaning.logged_cells import read_cells
from relstudy.common.tables.meaning.results_columns import ROLES, known_columns, model_columns
from relstudy.common.tables.meaning.summary_rows import is_total
from relstudy.studyapp.collection.fetched_pictures import fetch_pictures
from relstudy.studyapp.collection.results_sources import Source, read_sources

LONGEST = 100_000
"""Characters of one answer that a page can show."""
NEEDED = "a table of results has a query a row and what raters see of each result"


class MissingRoleError(RelstudyError):
    """No column is known by its name for something that a study needs.

    Parameters
    ----------
    name : of the table
    role : the role that is lacking, of `ROLES`
    what : the same in words
    frame : the table
    otherwise : another way out, in words
    """

    def __init__(self, name: str, role: str, what: str, frame: pd.DataFrame, otherwise: str = "") -> None:
        self.name, self.role, self.what, self.columns = name, role, what, [str(each) for each in frame]
        self.first = [str(value) for value in frame.iloc[0]] if len(frame) else [""] * len(self.columns)
        super().__init__(
            f"{name}: no column holds {what} ({listed(self.columns)}); {NEEDED}: "
            f"{option('columns', f'{role}=COLUMN')} names it{otherwise}"
        )


@dataclass(frozen=True, eq=False)
class ResultsTable:
    """What each system gave for each query.

    Parameters
    ----------
    rows : system, query (text), key (of the result: its id, else its content), title, text, image, place (int from 1,
        best first) of each result
    taken : what each role was taken from, in words
    answers : True where each query has one result a system
    files : picture, film, sound or file, where these are files of folders; "" otherwise
    models : columns that hold a model's answers each; empty if answers are in one column
    unused : columns that are taken for nothing
    """

    rows: pd.DataFrame
    taken: Mapping[str, str]
    answers: bool
    files: str = ""
    models: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()

    @property
    def systems(self) -> list[str]:
        """The systems, in the order in which they come."""
        return list(dict.fromkeys(self.rows["system"]))

    def sentences(self) -> list[str]:
        """What was taken for what, a line each, and what was not."""
        word = (self.files or "answer") if self.answers else "result"
        queries = self.rows["query"].nunique()
        return [
            f"query:   {self.taken['query']}, {count_of(queries, 'query', 'queries')}",
            f"system:  {self.taken['system']}: {listed(self.systems)}",
            f"result:  {self.taken['result']}, {count_of(len(self.rows), word)}",
            f"order:   {self.taken['order']}",
            f"raters see: {self.taken['shown']}; never the system",
            *self.doubts(),
            *self.way_out(),
        ]

    def way_out(self) -> list[str]:
        """How to name the columns of answers, where some column is not used."""
        if not (self.unused and self.models):
            return []
        named = ",".join(f"answer={name}" for name in (*self.unused[:1], *self.models))
        return [f"If one of these holds a model's answers, name every column that does: {option('columns', named)}"]

    def doubts(self) -> list[str]:
        """What may have been misread, a sentence each."""
        found = [f"Not used: {listed_some(self.unused)}."] if self.unused and self.models else []
        if len(self.systems) == 1:
            found.append(f"There is one system, {self.systems[0]}: nothing is compared.")
        first = str(self.rows["query"].iloc[0])
        if self.rows["query"].str.fullmatch(r"[\w.-]*\d+").all():
            found.append(f"Raters see ids as queries, such as {first}: give a table of the queries' texts, too.")
        return found


def read_results(
    sources: Sequence[Path | pd.DataFrame], columns: Mapping[str, str] | None = None, fetched: Path | None = None
) -> ResultsTable:
    """Read results from files, or tables in memory.

    Parameters
    ----------
    sources : files or frames, one without a column for the system is a system's, by its name; TREC runs with tables of
        their documents' and queries' texts; folders, one a system, whose files of one name are of one query
    columns : roles by column (`ROLES`), for columns with other names
    fetched : a folder to which pictures are fetched that addresses on the web name; None: such pictures are refused

    Raises
    ------
    RelstudyError
        where the query or the results are not found, with the option that names them; for a row without a query, the
        same result twice, and an answer too long for a page
    """
    tables = [_table_of(source, dict(columns or {})) for source in read_sources(sources)]
    rows = pd.concat([table.rows for table in tables], ignore_index=True)
    addressed = rows["image"].str.match(r"https?://")
    if fetched is not None and addressed.any():
        names = fetch_pictures(rows.loc[addressed, "image"].tolist(), fetched)
        rows.loc[addressed, "image"] = [str(fetched / names[each]) for each in rows.loc[addressed, "image"]]
    _check(rows, len(sources))
    return replace(tables[-1], rows=rows, answers=all(table.answers for table in tables), files=tables[0].files)


def _table_of(source: Source, columns: dict[str, str]) -> ResultsTable:
    name, frame = source.name, source.frame
    of_models = [column for column, role in columns.items() if role == "answer"]
    if len(of_models) > 1:
        _refuse_absent(frame, of_models)
        columns = {column: role for column, role in columns.items() if role != "answer"}
    known = _known(frame, columns)
    if "query" not in known or known["query"] in of_models:
        known.pop("query", None)
        other = known.get("query_id")
        if other is None:
            raise MissingRoleError(name, "query", "the query", frame)
        known["query"] = other
    wide = [] if {"answer", "text", "title", "image"} & known.keys() else model_columns(frame, known)
    if len(of_models) > 1:
        wide, known = of_models, {role: name for role, name in known.items() if name not in of_models}
    elif "system" in known:  # the other text is what that system gave
        known |= {"answer": wide[0]} if len(wide) == 1 else {}
        wide = []
    unused = tuple(str(each) for each in frame if each not in known.values() and each not in wide)
    if wide:
        kept = dict.fromkeys(known[role] for role in known if role != "score")
        frame = frame.melt(list(kept), wide, "\0system", "\0answer")
        known |= {"system": "\0system", "answer": "\0answer"}
    if not {"answer", "text", "title", "image"} & known.keys():
        otherwise = (
            ", or give a table of its documents, too"
            if "result" in known
            else f"; {option('columns', 'answer=A,answer=B')} names two that hold a model's answers each"
        )
        raise MissingRoleError(name, "text", "what raters are to see", frame, otherwise)

    def texts(role: str) -> pd.Series:
        if role not in known:
            return pd.Series("", index=frame.index, dtype=object)
        return frame[known[role]].map(_text).str.strip()

    query = texts("query")
    system = texts("system") if "system" in known else pd.Series(name, index=frame.index)
    text = texts("answer") if "answer" in known else texts("text")
    if "sources" in known:
        text = text + frame[known["sources"]].map(_sources)
    if "price" in known:
        text = (text + "\n\n" + texts("price")).str.strip()
    rows = pd.DataFrame(
        {
            "system": system, "query": query, "title": texts("title"), "text": text, "image": texts("image"),
            "own_query": texts("query_id"), "own_result": "" if wide else texts("result"),
        }
    )  # fmt: skip
    shown = (rows[["title", "text", "image"]] != "").any(axis=1)  # a query with no result may have a row of its own
    rows, frame = rows[shown], frame[shown]
    content, own = rows["title"] + "\0" + rows["text"] + "\0" + rows["image"], rows["own_result"]
    one_content = not pd.DataFrame({"own": own, "content": content}).drop_duplicates().duplicated("own").any()
    named = "result" in known and (own != "").all() and one_content  # an id that several contents share is not theirs
    rows["key"] = own if named else content
    rows["own_result"] = own if named else ""
    order, words = _order(frame, known, rows)
    rows["place"] = order.groupby([rows["system"], rows["query"]]).rank(method="first").astype(int)
    one_each = not rows.duplicated(["system", "query"]).any() and (
        "answer" in known or bool(wide) or bool(source.files)
    )
    seen = [role for role in ("title", "answer", "text", "image", "price", "sources") if role in known]
    taken = {
        "query": _column(known["query"]),
        "system": f"the columns {listed([str(each) for each in wide])}"
        if wide
        else _column(known["system"])
        if "system" in known
        else "the file's name",
        "result": _column(known["result"]) if named else "the content",
        "order": f"one {source.files or 'answer'} a query and system" if one_each else words,
        "shown": "the answers" if wide else listed([str(known[role]) for role in seen]),
    }
    return ResultsTable(
        rows.reset_index(drop=True), taken | dict(source.taken), one_each, source.files,
        tuple(str(each) for each in wide), unused,
    )  # fmt: skip


def _known(frame: pd.DataFrame, columns: dict[str, str]) -> dict[str, Any]:
    """The frame's column of each role."""
    _refuse_absent(frame, columns)
    wrong = [role for role in columns.values() if role not in ROLES]
    if wrong:
        raise RelstudyError(f"unknown role {wrong[0]!r}; choose {', '.join(ROLES)}")
    known = known_columns([name for name in frame if name not in columns])
    return known | {role: name for name, role in columns.items()}


def _refuse_absent(frame: pd.DataFrame, columns: Iterable[str]) -> None:
    absent = [name for name in columns if name not in frame]
    if absent:
        raise RelstudyError(
            f"{option('columns', absent[0])}: there is no such column ({listed([str(name) for name in frame])})"
        )


def _order(frame: pd.DataFrame, known: Mapping[str, Any], rows: pd.DataFrame) -> tuple[pd.Series, str]:
    """Lower is better, and where it is from."""
    for role, sign in (("rank", 1), ("score", -1)):
        if role in known:
            values = pd.to_numeric(frame[known[role]], errors="coerce")
            if values.notna().all():
                return sign * values, f"{_column(known[role])}, {'best first' if sign > 0 else 'highest first'}"
    return pd.Series(np.arange(len(rows)), index=rows.index), "as the rows stand"


def _column(name: object) -> str:
    return f"column {name}"


def _text(value: Any) -> str:
    if isinstance(value, list | tuple | np.ndarray):
        return "\n\n".join(_text(each) for each in value)
    if value is None or value is pd.NA or (isinstance(value, float) and np.isnan(value)):
        return ""
    is_whole = isinstance(value, float) and value.is_integer()  # as it was, beside a cell that is empty
    return f"{value:.0f}" if is_whole else str(value)


def _sources(value: Any) -> str:
    """The sources of an answer, numbered as its citations are."""
    read = read_cells(pd.Series([value], dtype=object)) if isinstance(value, str) else None
    value = value if read is None else read[0]
    parts = value if isinstance(value, list | tuple | np.ndarray) else [value]
    shown = [_text(part.get("text", part) if isinstance(part, dict) else part).strip() for part in parts]
    lines = [f"[{number}] {text}" for number, text in enumerate(shown, 1) if text]
    return "\n\nSources:\n\n" + "\n\n".join(lines) if lines else ""


def _check(rows: pd.DataFrame, files: int) -> None:
    if rows.empty:
        raise RelstudyError(f"no result to show: every row is empty; {NEEDED}")
    for what in ("query", "system"):
        nameless = np.flatnonzero((rows[what] == "").to_numpy())
        if len(nameless):
            raise RelstudyError(
                f"row {nameless[0] + 2}: a result without a {what}; fill in its {what}, or leave the row out"
            )
    figures = pd.to_numeric(rows["text"], errors="coerce").notna() & (rows["title"] + rows["image"] == "")
    sums = np.flatnonzero((rows["query"].map(is_total) & figures).to_numpy())
    if len(sums):
        raise RelstudyError(f"row {sums[0] + 2}: {rows['query'].iloc[sums[0]]} sums other rows up; leave it out")
    long = rows["text"].str.len() > LONGEST
    if long.any():
        row = int(np.flatnonzero(long.to_numpy())[0])
        raise RelstudyError(
            f"row {row + 2}: {int(rows['text'].str.len().iloc[row]):,} characters; a page shows {LONGEST:,}"
        )
    again = rows.duplicated(["system", "query", "key"])
    if again.any():
        one = rows[again].iloc[0]
        raise RelstudyError(
            f"{one['system']!r} has the same result twice for the query {one['query'][:60]!r}; leave one out"
        )
    addressed = rows["image"].str.match(r"https?://")
    if addressed.any():
        raise RelstudyError(
            f"{count_of(int(addressed.sum()), 'picture')} named by an address on the web; {option('fetch', True)} "
            "fetches them, or save them beside the table and name their files"
        )
