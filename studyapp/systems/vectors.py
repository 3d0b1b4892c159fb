"""Any system that turns items into vectors or binary codes: numbers from a file, compared by similarity or distance."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Self

import numpy as np

from relstudy.common.runtime.damaged_files import DAMAGED_ARRAYS
from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.collection.items import Collection, Item
from relstudy.studyapp.systems.base import Progress, silent

MEASURES = ("cosine", "dot", "l2", "hamming")


class Vectors:
    """Similarity of vectors; one query costs O(items x dimensions).

    Items of the collection without a vector are not scored; ids outside the collection are refused.

    Parameters
    ----------
    vectors : FILE.npy, float [items, dimensions]; beside it FILE.ids.txt with one item id per line, in the same order
    measure : cosine, dot (inner product), l2 (minus the Euclidean distance), or hamming (minus the number of bits that
        differ; codes are 0 and 1, -1 and 1, bool, or uint8 with eight bits to a byte)
    """

    def __init__(self, vectors: Path, measure: str = "cosine") -> None:
        if measure not in MEASURES:
            raise RelstudyError(f"unknown similarity {measure!r}; choose {' or '.join(MEASURES)}")
        self._file = vectors
        self._measure = measure
        self.name = f"vectors-{vectors.stem}" + ("" if measure == "cosine" else f"-{measure}")

    @classmethod
    def parse(cls, text: str, folder: Path) -> Vectors:
        """From FILE.npy or FILE.npy:MEASURE, FILE absolute or seen from `folder`.

        >>> Vectors.parse("clip.npy:dot", Path(".")).name
        'vectors-clip-dot'
        """
        file, colon, measure = text.rpartition(":")
        if not colon or measure not in MEASURES:
            file, measure = text, "cosine"
        path = next((p for p in (folder / file, folder / "scores" / file) if p.is_file()), Path(file))
        return cls(path, measure)

    def fit(self, collection: Collection, progress: Progress = silent) -> Self:
        vectors = self._read()
        beside = self._file.with_suffix(".ids.txt")
        try:
            ids = beside.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            raise RelstudyError(
                f"{beside}: file not found; one item id per line is needed, in the vectors' order"
            ) from None
        except (OSError, UnicodeDecodeError) as error:
            raise RelstudyError(f"{beside}: cannot be read ({error})") from None
        if len(ids) != len(vectors):
            raise RelstudyError(
                f"{beside}: {len(ids)} ids for the {len(vectors)} vectors of {self._file}; one each is needed"
            )
        for row, name in enumerate(ids, start=1):
            if name not in collection:
                raise RelstudyError(f"{beside}, line {row}: {name!r} is not in collection.csv")
        doubles = [name for name, times in Counter(ids).items() if times > 1]
        if doubles:
            raise RelstudyError(f"{beside}: {doubles[0]!r} appears there more than once; one vector an item is allowed")
        if self._measure == "cosine":
            lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
            vectors = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
        self._vectors = vectors
        self._rows = {name: row for row, name in enumerate(ids)}
        self._positions = np.array([collection.position(name) for name in ids], dtype=np.int64)
        self._size = len(collection)
        return self

    def score(self, query: Item) -> np.ndarray | None:
        row = self._rows.get(query.id)
        if row is None:
            return None
        vector = self._vectors[row]
        if self._measure == "hamming":
            similarity = -np.count_nonzero(self._vectors != vector, axis=1).astype(float)
        elif self._measure == "l2":
            similarity = -np.linalg.norm(self._vectors - vector, axis=1)
        else:
            similarity = self._vectors @ vector
        scores = np.full(self._size, np.nan)
        scores[self._positions] = similarity
        return scores

    def _read(self) -> np.ndarray:
        try:
            vectors = np.load(self._file, allow_pickle=False)
        except FileNotFoundError:
            raise RelstudyError(f"{self._file}: file not found") from None
        except (OSError, *DAMAGED_ARRAYS) as error:
            raise RelstudyError(
                f"{self._file}: this is not a plain NumPy array ({str(error).partition(chr(10))[0]})"
            ) from None
        if not isinstance(vectors, np.ndarray) or vectors.ndim != 2 or vectors.dtype.kind not in "fiub":
            raise RelstudyError(f"{self._file}: an array of numbers with one row per item is needed")
        if self._measure == "hamming":
            return self._bits(vectors)
        if vectors.dtype != np.float32:
            vectors = vectors.astype(np.float64)
        if not np.isfinite(vectors).all():
            row = int(np.flatnonzero(~np.isfinite(vectors).all(axis=1))[0])
            raise RelstudyError(f"{self._file}, row {row}: a vector holds a value that is not a finite number")
        return vectors

    def _bits(self, codes: np.ndarray) -> np.ndarray:
        """Codes of two values, one bit each; bytes of other values are unpacked."""
        values = np.unique(codes)
        if codes.dtype == np.uint8 and values.max(initial=0) > 1:
            return np.unpackbits(codes, axis=1)
        if not any(set(values.tolist()) <= allowed for allowed in ({0, 1}, {-1, 1})):
            raise RelstudyError(
                f"{self._file}: codes of 0 and 1, of -1 and 1, or bytes of eight bits (uint8) are needed"
            )
        return codes > 0
