"""The files that results come from: tables, TREC runs with the texts of their documents, folders of files.

A run holds ids alone, and a folder the names of its files; tables beside them give the texts of documents and queries.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pandas as pd

from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.files import read_json
from relstudy.common.runtime.wording import count_of, listed
from relstudy.common.tables.formats.file_kind import file_kind
from relstudy.common.tables.formats.table_files import read_table
from relstudy.common.tables.meaning.logged_cells import without_lists
from relstudy.common.tables.meaning.results_columns import known_columns, model_columns
from relstudy.mapping.scores.score_files import read_scores
from relstudy.studyapp.collection.kinds import shown_kind
from relstudy.studyapp.collection.search_responses import responses

DEPTH = 10
"""Results of a query that are taken of a run."""
SHOWN = ("title", "text", "image")
FILES = {"image": "picture", "video": "film", "audio": "sound"}
"""What the files of a folder are called, by their kind."""
BY_LINE = "(line)"
"""The name of the column of a text file's lines."""


@dataclass(frozen=True, eq=False)
class Source:
    """Results of one file, or of several that belong together.

    Parameters
    ----------
    name : of the system, where no column names it
    frame : one row a result
    taken : what roles were taken from, in words, where no column says it
    files : picture, film or sound, where each result is one of a folder; "" otherwise
    """

    name: str
    frame: pd.DataFrame
    taken: Mapping[str, str] = field(default_factory=dict)
    files: str = ""


def read_sources(sources: Sequence[Path | pd.DataFrame]) -> list[Source]:
    """Read files, folders and frames, and join those that belong together.

    Raises
    ------
    RelstudyError
        where a run has no table of its documents, or one lacks documents; where a folder holds nothing that is shown
    """
    runs = [each for each in sources if isinstance(each, Path) and not each.is_dir() and file_kind(each) == "run"]
    folders = [each for each in sources if isinstance(each, Path) and each.is_dir()]
    others = [each for each in sources if not isinstance(each, Path) or each not in (*runs, *folders)]
    alone = len(sources) == 1
    tables = [_table(each, number, alone=alone) for number, each in enumerate(others, 1)]
    if runs and folders:
        raise RelstudyError(f"{runs[0]} is a run and {folders[0]} a folder of files; make a study of each")
    if runs:
        return [_of_runs(runs, tables)]
    if folders:
        return [_of_folders(folders, tables)]
    return _with_texts(tables)


def _table(source: Path | pd.DataFrame, number: int, *, alone: bool) -> Source:
    if isinstance(source, pd.DataFrame):
        return Source(f"system {number}", without_lists(source.reset_index(drop=True)))
    if source.suffix == ".json":
        found = list(responses(read_json(source)))
        if found:
            return Source(source.stem, pd.DataFrame(found))
    if source.suffix == ".txt" and not alone and (lines := _lines(source)):
        return Source(source.stem, pd.DataFrame({BY_LINE: [str(row + 1) for row in range(len(lines))], "query": lines}))
    return Source(source.stem, without_lists(read_table(source).frame.reset_index(drop=True)))


def _lines(file: Path) -> list[str]:
    """The lines of a text that is no table: queries, one a line; none where a sign parts every line alike."""
    try:
        lines = [line.strip() for line in file.read_text(encoding="utf-8-sig").splitlines() if line.strip()]
    except (UnicodeDecodeError, OSError):
        return []  # the reader of tables says what is wrong
    if not lines or any(sign in lines[0] and len({line.count(sign) for line in lines}) == 1 for sign in "\t;|,"):
        return []
    names = [name.strip().strip('"') for name in re.split(r"[,;\t|]", lines[0])]
    return [] if known_columns(names) else lines


def _with_texts(tables: Sequence[Source]) -> list[Source]:
    """Tables that hold ids alone of their results or queries, with the texts that others hold of these."""
    used: set[str] = set()
    found = []
    for table in tables:
        known, frame, taken = known_columns(list(table.frame)), table.frame, dict(table.taken)
        others = [each for each in tables if each is not table]
        if "query" not in known and "query_id" in known:
            asked = _holding(others, frame[known["query_id"]], of_queries=True)
            if asked is not None:
                texts, said = _queries(_ids(frame[known["query_id"]]), asked, "")
                frame, taken["query"] = frame.assign(query=texts), said
                used.add(asked.name)
        if "result" in known and not {*SHOWN, "answer"} & known.keys() and not model_columns(frame, known):
            documents = _holding(others, frame[known["result"]], of_queries=False)
            if documents is not None:
                rows = documents.rows.reindex(_ids(frame[known["result"]]))
                lacking = rows[documents.rows.columns[0]].isna().to_numpy()
                if lacking.any():
                    absent = frame[known["result"]][lacking]
                    raise RelstudyError(
                        f"{documents.name} lacks {count_of(absent.nunique(), 'document')} of {table.name}, such as "
                        f"{absent.iloc[0]!r}"
                    )
                frame = frame.assign(**{str(role): rows[role].to_numpy() for role in rows})
                taken["result"] = f"column {known['result']}, from {documents.name}"
                used.add(documents.name)
        found.append(replace(table, frame=frame, taken=taken))
    return [each for each in found if each.name not in used]


def _ids(column: pd.Series) -> pd.Series:
    return column.astype(str).str.strip()


def _holding(tables: Sequence[Source], ids: pd.Series, *, of_queries: bool) -> _Texts | None:
    """The texts, among tables, that cover most of some ids; None where none has any."""
    texts = []
    for each in tables:
        with contextlib.suppress(RelstudyError):
            texts.append(_Texts.of(each))
    best = max(
        (each for each in texts if each.of_queries == of_queries), key=lambda each: each.covers(_ids(ids)), default=None
    )
    return best if best is not None and best.covers(_ids(ids)) else None


@dataclass(frozen=True, eq=False)
class _Texts:
    """Texts by id: of documents, or of queries."""

    name: str
    of_queries: bool
    rows: pd.DataFrame
    by_line: bool = False

    @classmethod
    def of(cls, table: Source) -> _Texts:
        frame = table.frame
        if BY_LINE in frame:
            return cls(table.name, True, frame.set_index(BY_LINE), True)
        known = known_columns(list(frame))
        if not known and len(frame.columns) == 2:  # an id and a text a line, without a header
            first = pd.DataFrame([list(map(str, frame.columns))], columns=["id", "text"])
            frame = pd.concat([first, frame.set_axis(["id", "text"], axis=1)], ignore_index=True)
            known = {"result": "id", "text": "text"}
        id = known.get("query_id", known.get("result")) if "query" in known else known.get("result")
        given = [role for role in (*SHOWN, "query") if role in known]
        if id is None or not given:
            raise RelstudyError(
                f"{table.name}: neither documents nor queries ({listed([str(each) for each in frame])}); an id and a "
                "title or text are needed"
            )
        rows = pd.DataFrame({role: frame[known[role]].fillna("").astype(str).str.strip() for role in given})
        rows.index = pd.Index(frame[id].astype(str).str.strip())
        return cls(table.name, "query" in known, rows[~rows.index.duplicated()])

    def covers(self, ids: pd.Series) -> float:
        """Share of the ids that it has."""
        return float(self._named(ids).isin(self.rows.index).mean())

    def texts_of(self, ids: pd.Series, column: str) -> np.ndarray:
        """The text of each id, NaN without one."""
        found: np.ndarray = self.rows[column].reindex(self._named(ids)).to_numpy()
        return found

    def _named(self, ids: pd.Series) -> pd.Series:
        """Ids as the texts are named: of lines by their numbers, from 0 where that is one of them, else from 1."""
        if not self.by_line:
            return ids
        numbers = pd.to_numeric(ids, errors="coerce")
        return (numbers + bool((numbers == 0).any())).map(lambda number: f"{number:.0f}")


def _of_runs(runs: Sequence[Path], tables: Sequence[Source]) -> Source:
    """Runs, with the texts of their documents and queries."""
    parts = []
    for run in runs:
        scores = read_scores(run).frame
        rank = scores.groupby(["system", "query_id"])["score"].rank(method="first", ascending=False)
        parts.append(scores.assign(rank=rank.astype(int))[rank <= DEPTH])
    rows = pd.concat(parts, ignore_index=True)
    texts = [_Texts.of(each) for each in tables]
    results, queries = rows["result_id"], rows["query_id"].drop_duplicates()
    of_documents = sorted(
        (each for each in texts if not each.of_queries),
        key=lambda each: (-each.covers(results), -len(each.rows)),
    )
    if not of_documents or not of_documents[0].covers(results):
        beside = f" ({listed([each.name for each in texts])} has none of their ids)" if texts else ""
        raise RelstudyError(
            f"{runs[0]}: a run holds ids alone{beside}; give a table of its documents, too: an id, a title or a text"
        )
    documents = of_documents[0]
    absent = results[~results.isin(documents.rows.index)]
    if len(absent):
        raise RelstudyError(
            f"{documents.name} lacks {count_of(absent.nunique(), 'document')} of the first {DEPTH} results, such as "
            f"{absent.iloc[0]!r}"
        )
    asked = max((each for each in texts if each is not documents), key=lambda each: each.covers(queries), default=None)
    for role in documents.rows:
        rows[role] = documents.rows[role].reindex(results).to_numpy()
    rows["query"], said = _queries(rows["query_id"], asked, "the ids of the queries")
    taken = {"query": said, "system": "the runs' tags", "result": f"the first {DEPTH} a query, from {documents.name}"}
    return Source("run", rows.drop(columns=["score"]), taken)


def _of_folders(folders: Sequence[Path], tables: Sequence[Source]) -> Source:
    """A picture, film or sound of each folder for each query: the files of one name."""
    rows = [
        (folder.resolve().name, path.stem, str(path.resolve()), kind)
        for folder in folders
        for path in sorted(folder.iterdir())
        if path.is_file() and not path.name.startswith(".") and (kind := shown_kind(path))
    ]
    frame = pd.DataFrame(rows, columns=["system", "stem", "image", "kind"])
    empty = [str(folder) for folder in folders if folder.resolve().name not in set(frame["system"])]
    if empty:
        formats = "JPEG, PNG, GIF, WebP, MP4, WebM, Ogg, MP3, WAV, FLAC"
        raise RelstudyError(f"{empty[0]}: no pictures, films or sounds in this folder ({formats})")
    if frame["system"].nunique() < len(folders):
        raise RelstudyError(f"two folders are called {folders[-1].resolve().name!r}; a folder's name is its system's")
    again = frame[frame.duplicated(["system", "stem"])]
    if len(again):
        raise RelstudyError(f"{again['system'].iloc[0]}: two files are called {again['stem'].iloc[0]!r}")
    if len(folders) > 1 and not frame["stem"].duplicated().any():
        raise RelstudyError(
            f"{listed([str(each) for each in folders])}: no two files have the same name, which is their query"
        )
    texts = [_Texts.of(each) for each in tables]
    frame["query"], said = _queries(
        frame["stem"], texts[0] if texts else None, "the files' names", lambda name: name.replace("_", " ")
    )
    kinds = frame["kind"].unique()
    files = FILES[str(kinds[0])] if len(kinds) == 1 else "file"
    taken = {"query": said, "system": "the folder"}
    return Source("files", frame[["system", "query", "image"]], taken, files)


def _queries(
    ids: pd.Series, texts: _Texts | None, otherwise: str, plain: Callable[[str], str] = str
) -> tuple[pd.Series, str]:
    """The text of each query, and where it is from; those that have none are shown by their ids."""
    if texts is None or not texts.covers(ids):
        return ids.map(plain), otherwise
    column = next(role for role in ("query", "text", "title") if role in texts.rows)
    found = texts.texts_of(ids, column)
    lacking = pd.isna(found)
    if lacking.any():
        number = count_of(ids[lacking].nunique(), "query", "queries")
        raise RelstudyError(f"{texts.name} lacks {number}, such as {ids[lacking].iloc[0]!r}")
    said = f"line by line of {texts.name}" if texts.by_line else f"texts of {texts.name}"
    return pd.Series(found, index=ids.index), said
