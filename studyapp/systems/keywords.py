"""Keyword overlap over the smaller set (Shirahatti and Barnard 2005, Eq. 3.1 and 5.6)."""

from __future__ import annotations

from typing import Self

import numpy as np
import scipy.sparse as sparse

from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.collection.items import Collection, Item
from relstudy.studyapp.systems.base import Progress, silent


class Keywords:
    """|W_Q and W_R| / min(|W_Q|, |W_R|) over the keywords of query and result.

    A text query's words are its keywords where it has any, else the words of its title and text. An item without
    words scores 0. One query costs one sparse product, O(keywords in the collection).

    Examples
    --------
    >>> from relstudy.studyapp.collection.items import split_keywords
    >>> items = [Item(name, "image", keywords=split_keywords(words))
    ...          for name, words in [("a", "sky, sea"), ("b", "sky, grass, cow"), ("c", "city")]]
    >>> system = Keywords().fit(Collection(items))
    >>> system.score(items[0]).tolist()
    [1.0, 0.5, 0.0]
    """

    name = "keywords"

    def fit(self, collection: Collection, progress: Progress = silent) -> Self:
        words = [item.words for item in collection]
        vocabulary = {word: column for column, word in enumerate(sorted(frozenset().union(*words)))}
        if not vocabulary:
            raise RelstudyError("system keywords needs keywords, and no item of the collection has any")
        self._vocabulary = vocabulary
        self._sizes = np.array([len(entry) for entry in words], dtype=np.float64)
        starts = np.r_[0, np.cumsum(self._sizes)].astype(np.int64)
        columns = np.array([vocabulary[word] for entry in words for word in sorted(entry)], dtype=np.int64)
        self._matrix = sparse.csr_array(
            (np.ones(len(columns)), columns, starts), shape=(len(words), len(vocabulary))
        ).tocsc()
        return self

    def score(self, query: Item) -> np.ndarray | None:
        words = query.words
        if not words:
            return None
        columns = [self._vocabulary[word] for word in words if word in self._vocabulary]
        shared = np.zeros(len(self._sizes))
        for column in columns:
            rows = self._matrix.indices[self._matrix.indptr[column] : self._matrix.indptr[column + 1]]
            shared[rows] += 1
        smaller = np.minimum(self._sizes, len(words))
        return np.divide(shared, smaller, out=np.zeros_like(shared), where=smaller > 0)
