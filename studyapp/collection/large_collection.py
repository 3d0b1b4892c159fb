"""Collections that nobody wants in memory: read in a stream, of which ids, kinds and roles alone are held.

A draw needs to know how many items may answer, where an id stands, and the whole of the few items that were drawn:
these are read in a second pass.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from relstudy.common.runtime.errors import Fault, RelstudyError, TableError
from relstudy.common.tables.checked_table import Checked
from relstudy.common.tables.meaning.study_folder import COLLECTION
from relstudy.studyapp.collection.items import COLUMNS, FILES, ROLES, Collection, Item, split_keywords
from relstudy.studyapp.collection.kinds import KINDS, PARADIGMS, paradigm_of
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.config.study_parts import CollectionSettings

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

ENDINGS = (".parquet", ".jsonl", ".jsonl.gz", ".ndjson", ".ndjson.gz", ".csv", ".csv.gz", ".tsv", ".tsv.gz")
IN_STUDY = ("collection.parquet", "collection.jsonl", "collection.jsonl.gz", "collection.csv.gz", "collection")
"""A study's collection by these names is read in a stream, too."""
LARGE = 64 << 20
"""A collection.csv of more bytes is read in a stream."""
NAMES = {
    "item_id": ("item_id", "doc_id", "docno", "_id", "id"),
    "text": ("text", "contents", "body", "passage"),
    "path": ("path", "image", "file"),
}
"""Names of columns in collections of others, the first that is there: ir_datasets, BEIR and Pyserini."""
HELD = ("item_id", *COLUMNS, *(name for names in NAMES.values() for name in names))
"""Columns that mean something; the others are looked at for the items that were drawn, which may be cards."""
ROWS_AT_ONCE = 1 << 16
BYTES_AT_ONCE = 1 << 24


def open_collection(folder: Path) -> Collection:
    """The collection that pairs of the study in `folder` are drawn from.

    It is what [collection] of study.toml names, else FOLDER/collection.csv; of these, any that is large or not one CSV
    file is read in a stream.

    Raises
    ------
    RelstudyError
        if there is none
    """
    study = Study.load(folder) if (folder / "study.toml").is_file() else None
    settings = CollectionSettings() if study is None else study.collection
    if settings.path:
        source = folder / settings.path
        if not source.exists():
            raise RelstudyError(f"{folder / 'study.toml'}: [collection] path leads to {source}, and nothing is there")
        return LargeCollection(source, folder, settings)
    plain = folder / COLLECTION
    if not plain.is_file():
        source = next((folder / name for name in IN_STUDY if (folder / name).exists()), plain)
        if source is not plain:
            return LargeCollection(source, folder, settings)
    elif settings != CollectionSettings() or plain.stat().st_size > LARGE:
        return LargeCollection(plain, folder, settings)
    return Collection.whole(folder)


class LargeCollection(Collection):
    """A collection on disk, with the interface of one in memory; a query drawn from it knows its id and kind alone.

    Parameters
    ----------
    source : a file (Parquet, CSV or records a line, packed or not), or a folder of such; in a folder, files whose names
        begin with "queries" hold items that only ask
    folder : the study
    settings : where its pictures are

    Raises
    ------
    RelstudyError
        where a file cannot be read, or a column is missing
    TableError
        where an id is empty or stands twice, or a kind or role is none

    Notes
    -----
    Some 45 bytes an item are held: its id, a hash by which it is found, its kind and its role.
    """

    def __init__(self, source: Path, folder: Path, settings: CollectionSettings | None = None) -> None:
        self.source, self.folder = source, folder
        self.settings = CollectionSettings() if settings is None else settings
        self.files = _files_of(source)
        self._read()

    def _read(self) -> None:
        import pandas as pd
        import pyarrow as pa

        ids: list[pa.Array] = []
        hashes, kinds, roles = [], [], []
        faults: list[Fault] = []
        before = 0
        for batch in self._batches(("item_id", "kind", "path", "role")):
            names = batch["item_id"]
            ids.append(names)
            hashes.append(pd.util.hash_array(names.to_numpy(zero_copy_only=False), categorize=False))
            kind, role = self._kind_of(batch), _codes(batch["role"], ("", *ROLES))
            kinds.append(kind)
            roles.append(role)
            for what, wrong, allowed in (
                ("item_id", names.to_numpy(zero_copy_only=False) == "", "a value is required"),
                ("kind", kind < 0, f"one of {', '.join(KINDS)} is allowed"),
                ("role", role < 0, "query, result or both is allowed, or empty"),
            ):
                for at in np.flatnonzero(wrong)[: TableError.SHOWN]:
                    faults.append(Fault(str(self.source), int(before + at) + 2, what, batch[what][at].as_py(), allowed))
            before += len(names)
        if len(faults):
            raise TableError(faults[: TableError.SHOWN], max(len(faults) - TableError.SHOWN, 0))
        if not before:
            raise RelstudyError(f"{self.source} is empty: add at least one query and one result")
        self._ids = pa.chunked_array(ids, pa.string())
        self._starts = np.concatenate([[0], np.cumsum([len(part) for part in ids])])
        self.id_hashes = np.concatenate(hashes)
        self._order = np.argsort(self.id_hashes, kind="stable")
        self._sorted = self.id_hashes[self._order]
        self._kinds = np.concatenate(kinds)
        given = np.concatenate(roles)
        unsaid = given == 0
        texts = self._kinds == KINDS.index("text")
        others = not texts.all()
        assumed = dict.fromkeys(KINDS, "result") | {"image": "both", "text": "query" if others else "both"}
        by_kind = np.array([ROLES.index(assumed[kind]) for kind in KINDS])
        self._roles = np.where(unsaid, by_kind[self._kinds], given - 1).astype(np.int8)
        self.assumed_queries = int((texts & unsaid).sum()) if others else 0
        self._refuse_twice()

    def _kind_of(self, batch: dict[str, pa.Array]) -> np.ndarray:
        """Numbers of the kinds in KINDS, -1 for another word; where none is said, by the path."""
        said = _codes(batch["kind"], ("", *KINDS))
        pictured = np.asarray(batch["path"].to_numpy(zero_copy_only=False) != "") | bool(self.settings.pictures)
        assumed = np.where(pictured, KINDS.index("image"), KINDS.index("text"))
        return np.where(said == 0, assumed, np.where(said > 0, said - 1, -1)).astype(np.int8)

    def _refuse_twice(self) -> None:
        alike = np.flatnonzero(self._sorted[1:] == self._sorted[:-1])
        if not len(alike):
            return
        first, second = self.ids[self._order[alike]], self.ids[self._order[alike + 1]]
        twice = np.flatnonzero(first == second)
        faults = [
            Fault(
                str(self.source), int(self._order[alike[at] + 1]) + 2, "item_id", first[at], "it may appear there once"
            )
            for at in twice[: TableError.SHOWN]
        ]
        if faults:
            raise TableError(faults, len(twice) - len(faults))

    def _batches(self, names: Sequence[str] | None) -> Iterator[dict[str, pa.Array]]:
        """The columns of this collection in parts, as text, "" if there is none; None for all that it has."""
        for file in self.files:
            yield from _batches_of(file, names, asks=self.source.is_dir() and file.name.startswith("queries"))

    def __len__(self) -> int:
        return len(self.id_hashes)

    @cached_property
    def items(self) -> tuple[Item, ...]:  # type: ignore[override]
        """All items, whole and in memory: what built-in systems compute from.

        Raises
        ------
        TableError
            where pictures are not in a folder, or not inside it
        """
        table = Checked(self.rows(np.arange(len(self))), str(self.source))
        return Collection.of(table, self.root).items

    def named(self, item_id: str, path: str) -> str:
        """Path of an item's picture, seen from the root of the pictures."""
        return path or self.settings.pictures.replace("{id}", item_id)

    @property
    def root(self) -> Path:
        """Folder or archive that pictures' paths start from: as stated, else where the collection is."""
        folder = Path(self.folder or ".")
        if self.settings.root:
            return folder / self.settings.root
        return self.source if self.source.is_dir() else self.source.parent

    def __getitem__(self, item_id: str) -> Item:
        return self.light(self.position(item_id))

    def light(self, position: int) -> Item:
        """The item at a position, with its id, kind and role alone."""
        kind, role = KINDS[self._kinds[position]], ROLES[self._roles[position]]
        return Item(str(self.ids[position]), kind, role=role)

    def with_words(self) -> Iterator[Item]:
        """All items; of a collection of texts, one after the other and with nothing but id, role and words."""
        if self._more_than_texts:
            yield from self.items
            return
        at = 0
        for part in self._words.to_batches():
            for words in part.to_pylist():
                yield self._worded(at, words)
                at += 1

    def asking(self, query: Item) -> Item:
        at = self.position(query.id)
        return self.items[at] if self._more_than_texts else self._worded(at, self._words.slice(at, 1).to_pylist()[0])

    @cached_property
    def _more_than_texts(self) -> bool:
        return bool((self._kinds != KINDS.index("text")).any())

    def _worded(self, position: int, words: dict[str, str]) -> Item:
        keywords = split_keywords(words["keywords"])
        return replace(self.light(position), title=words["title"], text=words["text"], keywords=keywords)

    @cached_property
    def _words(self) -> pa.Table:
        import pyarrow as pa

        return pa.concat_tables(pa.table(batch) for batch in self._batches(("title", "text", "keywords")))

    def __contains__(self, item_id: object) -> bool:
        return isinstance(item_id, str) and bool(self.positions([item_id])[0] >= 0)

    def position(self, item_id: str) -> int:
        """The item's position, counted from 0 through all files."""
        at = int(self.positions([item_id])[0])
        if at < 0:
            raise RelstudyError(f"{self.source}: there is no item {item_id!r}")
        return at

    def positions(self, item_ids: Sequence[str] | np.ndarray) -> np.ndarray:
        """Positions of some items, int64, or -1."""
        import pandas as pd

        names = np.asarray(item_ids, dtype=object)
        wanted = pd.util.hash_array(names, categorize=False)
        at = np.searchsorted(self._sorted, wanted)
        found = np.full(len(names), -1, dtype=np.int64)
        left = np.arange(len(names))
        while len(left):  # once, but for ids of one hash
            left = left[at[left] < len(self)]
            left = left[self._sorted[at[left]] == wanted[left]]
            rows = self._order[at[left]]
            same = np.asarray(self.ids[rows] == names[left], dtype=bool)
            found[left[same]] = rows[same]
            left = left[~same]
            at[left] += 1
        return found

    @cached_property
    def ids(self) -> Any:
        """Ids in the order of the files, which are had by their positions as those of an array are."""
        return _Ids(self._ids)

    @cached_property
    def has_images(self) -> bool:
        return bool((self._kinds == KINDS.index("image")).any())

    def queries(self, paradigm: str) -> Any:
        """Items that may ask, made as they are asked for."""
        asks = np.array([paradigm_of(kind) == paradigm for kind in KINDS])
        return _Queries(self, np.flatnonzero(asks[self._kinds] & (self._roles != ROLES.index("result"))))

    @cached_property
    def _results(self) -> dict[str, np.ndarray]:
        answering = np.flatnonzero(self._roles != ROLES.index("query"))
        pictures = answering[self._kinds[answering] == KINDS.index("image")]
        return {"image": pictures, "text": answering}

    def roles(self) -> dict[str, Any]:
        """As `Collection.roles` has them."""
        answers = np.bincount(self._kinds[self._roles != ROLES.index("query")], minlength=len(KINDS))
        there = np.bincount(self._kinds, minlength=len(KINDS))
        return {
            "queries": {kind: len(self.queries(kind)) for kind in PARADIGMS},
            "results": {
                kind: int(answers[number]) for number, kind in enumerate(KINDS) if kind in PARADIGMS or there[number]
            },
            "assumed_queries": self.assumed_queries,
        }

    def rows(self, positions: np.ndarray) -> pd.DataFrame:
        """The columns of some items (positions ascending), read in a second pass: kind and role said, `path` as `named`
        has it."""
        import pandas as pd

        parts, before = [], 0
        for batch in self._batches(None):
            number = len(batch["item_id"])
            start, stop = np.searchsorted(positions, [before, before + number])
            inside = positions[start:stop]
            if len(inside):
                taken = {name: column.take(inside - before).to_pylist() for name, column in batch.items()}
                parts.append(pd.DataFrame(taken))
            before += number
        frame = pd.concat(parts, ignore_index=True).fillna("").astype("str")
        kinds = [KINDS[at] for at in self._kinds[positions]]
        roles = [ROLES[at] for at in self._roles[positions]]
        paths = zip(frame["item_id"], frame["path"], kinds, strict=True)
        frame["path"] = [self.named(name, path) if kind in FILES else "" for name, path, kind in paths]
        return frame.assign(kind=kinds, role=roles)


class _Ids:
    """Ids in Arrow's memory, indexed as an object array is."""

    def __init__(self, ids: pa.ChunkedArray) -> None:
        self.ids = ids.combine_chunks() if ids.num_chunks > 1 else ids.chunk(0)

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: np.ndarray) -> np.ndarray: ...
    def __getitem__(self, at: int | np.ndarray) -> str | np.ndarray:
        if isinstance(at, int | np.integer):
            return str(self.ids[int(at)].as_py())
        return np.asarray(self.ids.take(np.asarray(at)).to_numpy(zero_copy_only=False), dtype=object)


class _Queries(Sequence[Item]):
    """Items at some positions (int64, ascending) of a large collection, made as they are asked for."""

    def __init__(self, collection: LargeCollection, positions: np.ndarray) -> None:
        self.collection, self.at = collection, positions

    def __len__(self) -> int:
        return len(self.at)

    @overload
    def __getitem__(self, number: int) -> Item: ...
    @overload
    def __getitem__(self, number: slice) -> list[Item]: ...
    def __getitem__(self, number: int | slice) -> Item | list[Item]:
        if isinstance(number, slice):
            return [self.collection.light(int(each)) for each in self.at[number]]
        return self.collection.light(int(self.at[number]))

    def __contains__(self, item: object) -> bool:
        if not isinstance(item, Item):
            return False
        position = int(self.collection.positions([item.id])[0])
        at = int(np.searchsorted(self.at, position))
        return at < len(self.at) and int(self.at[at]) == position


def _files_of(source: Path) -> list[Path]:
    """The file itself, or the files of a folder that can be read, by name."""
    if not source.is_dir():
        if not source.name.endswith(ENDINGS):
            raise RelstudyError(f"{source}: a collection's name ends in {', '.join(ENDINGS)}, or is a folder of such")
        return [source]
    files = sorted(path for path in source.rglob("*") if path.name.endswith(ENDINGS) and not path.name.startswith("."))
    if not files:
        raise RelstudyError(f"{source}: there is no file in this folder whose name ends in {', '.join(ENDINGS)}")
    return files


def _batches_of(file: Path, names: Sequence[str] | None, asks: bool) -> Iterator[dict[str, pa.Array]]:
    """A file's columns in parts, as text, or "".

    Parameters
    ----------
    names : of columns; None for those that mean something and every other that is text or a number
    asks : whether its items only ask
    """
    import pyarrow as pa

    try:
        for batch in _parts(file, names):
            wanted = ("item_id", *COLUMNS) if names is None else names
            columns = {name: _column(batch, name, file) for name in wanted}
            if names is None:
                columns |= {name: _as_text(batch.column(name)) for name in batch.schema.names if name not in HELD}
            if asks and "role" in columns:
                columns["role"] = pa.array(["query"] * batch.num_rows, pa.string())
            yield columns
    except (pa.ArrowException, OSError, EOFError, UnicodeDecodeError) as error:
        raise RelstudyError(f"{file}: cannot be read as a collection ({str(error).splitlines()[0]})") from None


def _parts(file: Path, names: Sequence[str] | None) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    if file.name.endswith(".parquet"):
        import pyarrow.parquet as pq

        with pq.ParquetFile(file, memory_map=True) as parquet:
            wanted = {each for name in names or () for each in NAMES.get(name, (name,))}
            columns = [
                each.name
                for each in parquet.schema_arrow
                if each.name in wanted or (names is None and (each.name in HELD or not pa.types.is_nested(each.type)))
            ]
            yield from parquet.iter_batches(ROWS_AT_ONCE, columns=columns)
        return
    with pa.input_stream(str(file), compression="detect") as stream:
        if ".csv" in file.name or ".tsv" in file.name:
            from pyarrow import csv

            head = _first_line(file)
            tabs = "\t" in head and "," not in head
            yield from csv.open_csv(
                stream,
                csv.ReadOptions(block_size=BYTES_AT_ONCE),
                csv.ParseOptions(newlines_in_values=True, delimiter="\t" if tabs else ","),
                csv.ConvertOptions(column_types=dict.fromkeys(HELD, pa.string()), strings_can_be_null=False),
            )
            return
        yield from _records(stream)


def _first_line(file: Path) -> str:
    import pyarrow as pa

    with pa.input_stream(str(file), compression="detect") as stream:
        return bytes(stream.read(1 << 16)).split(b"\n")[0].decode("utf-8", "replace")


def _records(stream: pa.NativeFile) -> Iterator[pa.RecordBatch]:
    """Records a line, one part of the file after the other; a number for an id is taken as it is written."""
    import io
    import json

    import pyarrow as pa

    lines = io.TextIOWrapper(stream, encoding="utf-8-sig")
    while part := list(islice(lines, ROWS_AT_ONCE)):
        try:
            records = [json.loads(line) for line in part if line.strip()]
        except json.JSONDecodeError as error:
            raise pa.ArrowInvalid(f"a line is not a record: {error}") from None
        held = dict.fromkeys(name for each in records for name in each)
        columns = {name: [_text(each.get(name)) for each in records] for name in held}
        yield pa.RecordBatch.from_pydict({name: pa.array(values, pa.string()) for name, values in columns.items()})


def _text(value: object) -> str:
    if value is None:
        return ""
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _column(batch: pa.RecordBatch, name: str, file: Path) -> pa.Array:
    """A column by one of its names, as text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    there = set(batch.schema.names)
    called = next((each for each in NAMES.get(name, (name,)) if each in there), None)
    if called is None and name == "item_id":
        wanted = ", ".join(NAMES["item_id"])
        raise RelstudyError(f"{file}: a column of ids is needed, by one of the names {wanted}; it has {sorted(there)}")
    if called is None:
        return pa.array([""] * batch.num_rows, pa.string())
    return pc.utf8_trim_whitespace(_as_text(batch.column(called)))


def _as_text(column: pa.Array) -> pa.Array:
    """A column as text, entries of a list joined by commas, "" where it is empty."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_list(column.type):
        column = pc.binary_join(column, ", ")
    return pc.fill_null(column.cast(pa.string()), "")


def _codes(words: pa.Array, allowed: Sequence[str]) -> np.ndarray:
    """Places of words among those that are allowed, whatever their case, int64; -1 for any other."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found = pc.index_in(pc.utf8_lower(words), pa.array(list(allowed), pa.string()))
    return np.asarray(pc.fill_null(found, -1).to_numpy(zero_copy_only=False), dtype=np.int64)
