"""BM25 over titles, texts and keywords, by the library bm25s."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from relstudy.common.errors import RelstudyError
from relstudy.studyapp.collection.items import Collection, Item
from relstudy.studyapp.systems.base import Progress, extra, silent


class BM25:
    """BM25 in Lucene's form (k1 = 1.5, b = 0.75), English stop words left out; one look-up a word of the query.

    Source: Robertson and Zaragoza 2009, section 3.
    """

    name = "bm25"

    def fit(self, collection: Collection, progress: Progress = silent) -> Self:
        self._library = extra("bm25s")
        tokens = self._tokens([_text(item) for item in collection])
        if not any(tokens):
            raise RelstudyError("system bm25 needs words, and no item of the collection has a title, text or keyword")
        self._index = self._library.BM25()
        self._index.index(tokens, show_progress=False)
        self._size = len(collection)
        return self

    def score(self, query: Item) -> np.ndarray | None:
        words = [word for word in self._tokens([_text(query)])[0] if word in self._index.vocab_dict]
        if not words:
            return None
        return np.asarray(self._index.get_scores(words), dtype=np.float64)[: self._size]

    def _tokens(self, texts: list[str]) -> list[list[str]]:
        tokens: Any = self._library.tokenize(texts, stopwords="en", return_ids=False, show_progress=False)
        return list(tokens)


def _text(item: Item) -> str:
    return " ".join((item.title, item.plain, *sorted(item.keywords)))
