"""BM25 over titles, texts and keywords, by the library bm25s."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd

from relstudy.common.runtime.damaged_files import DAMAGED_ARRAYS, NO_JSON
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.files import write_json
from relstudy.common.tables.formats.table_files import write_table
from relstudy.studyapp.collection.items import Collection, Item
from relstudy.studyapp.collection.large_collection import LargeCollection
from relstudy.studyapp.systems.base import Progress, extra, index_folder, silent

WORTH_KEEPING = 10_000
"""Fewer items are indexed in less time than it takes to see whether they have changed."""
AT_ONCE = 10_000
"""Items between one step of the progress bar and the next."""
IDS = "ids.parquet"
"""The file of an index that names its items, where their collection is not in the study's folder."""
SEAL = "whole.json"
"""The file of an index that says what the others hold."""


class BM25:
    """BM25 in Lucene's form (k1 = 1.5, b = 0.75), English stop words left out; one look-up a word of the query.

    Source: Robertson and Zaragoza 2009, section 3.
    """

    name = "bm25"
    by_all_items = True
    notes: tuple[str, ...] = ()
    _shown: slice | np.ndarray = slice(None)
    """Positions of the items that are scored."""

    def fit(self, collection: Collection, progress: Progress = silent) -> Self:
        """Index the collection, or map the index into memory that an earlier fit to the same one has kept."""
        self._library = extra("bm25s")
        self._size = len(collection)
        elsewhere = isinstance(collection, LargeCollection)
        if collection.folder is None or (self._size < WORTH_KEEPING and not elsewhere):
            self._index = self._build(collection, progress)
            return self
        beside = index_folder(collection.folder)
        kept = beside / f"bm25-{collection.fingerprint}-{self._library.__version__}"
        if (index := self._read(kept)) is not None:
            self._index = index
            return self
        others = [each for each in beside.glob("bm25-*") if each.is_dir()]
        if kept in others:
            self.notes = ("The index that bm25 had kept was not whole: it was made again.",)
        elif others:
            self.notes = ("The collection has changed since bm25 indexed it: it was indexed again.",)
        self._index = self._build(collection, progress)
        for each in others:
            shutil.rmtree(each, ignore_errors=True)
        beside.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".bm25-", dir=beside, ignore_cleanup_errors=True) as unfinished:
            Path(unfinished).chmod(0o755)
            self._index.save(unfinished, show_progress=False)
            if elsewhere:
                write_table(pd.DataFrame({"item_id": collection.ids[np.arange(self._size)]}), Path(unfinished) / IDS)
            _seal(Path(unfinished))
            with contextlib.suppress(OSError):  # another process was first
                Path(unfinished).rename(kept)
        return self

    def kept(self, shown: Collection) -> Self | None:
        """The index of a collection elsewhere from which the items shown were drawn, as `fit` has kept it: it scores
        these items as it would all. None if there is none that is whole and holds them all."""
        self._library = extra("bm25s")
        for folder in sorted(index_folder(shown.folder or Path()).glob("bm25-*")):
            if not (folder / IDS).is_file():
                continue
            ids = pd.Index(pd.read_parquet(folder / IDS)["item_id"]) if _is_whole(folder) else pd.Index([])
            positions = ids.get_indexer(pd.Index(shown.ids))
            self._size = len(ids)
            if len(ids) and (positions >= 0).all() and (index := self._read(folder)) is not None:
                self._index, self._shown = index, positions
                return self
        return None

    def _build(self, collection: Collection, progress: Progress) -> Any:
        tokens: list[list[str]] = []
        items = collection.with_words()
        for _ in progress(range(-(-self._size // AT_ONCE)), f"Indexing for {self.name}", -(-self._size // AT_ONCE)):
            tokens += self._tokens([_text(item) for item in itertools.islice(items, AT_ONCE)])
        if not any(tokens):
            raise RelstudyError("system bm25 needs words, and no item of the collection has a title, text or keyword")
        index = self._library.BM25()
        index.index(tokens, show_progress=False)
        return index

    def _read(self, kept: Path) -> Any:
        """The index that is kept; None if there is none, or one that is not whole."""
        if not _is_whole(kept):
            return None
        try:
            index = self._library.BM25.load(kept, mmap=True, show_progress=False)
        except (OSError, KeyError, *DAMAGED_ARRAYS):
            return None
        return index if index.scores["num_docs"] == self._size else None

    def score(self, query: Item) -> np.ndarray | None:
        words = [word for word in self._tokens([_text(query)])[0] if word in self._index.vocab_dict]
        if not words:
            return None
        return np.asarray(self._index.get_scores(words), dtype=np.float64)[: self._size][self._shown]

    def _tokens(self, texts: list[str]) -> list[list[str]]:
        tokens: Any = self._library.tokenize(texts, stopwords="en", return_ids=False, show_progress=False)
        return list(tokens)


def _digests(folder: Path) -> dict[str, str]:
    """SHA-256 of each file of an index."""
    digests = {}
    for path in sorted(folder.iterdir()):
        if path.name != SEAL:
            with open(path, "rb") as file:
                digests[path.name] = hashlib.file_digest(file, "sha256").hexdigest()
    return digests


def _seal(folder: Path) -> None:
    """Note what an index consists of, once it is on the disk: after a power cut a file may be there and hold zeros."""
    write_json(_digests(folder), folder / SEAL)
    for path in folder.iterdir():
        with open(path, "rb") as file:
            os.fsync(file.fileno())


def _is_whole(folder: Path) -> bool:
    """True if an index is as it was sealed."""
    try:
        return bool(json.loads((folder / SEAL).read_text(encoding="utf-8")) == _digests(folder))
    except (OSError, *NO_JSON):
        return False


def _text(item: Item) -> str:
    return " ".join((item.title, item.plain, *sorted(item.keywords)))
