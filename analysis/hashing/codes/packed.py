"""Binary codes, packed 64 bits to a word: what everything else works on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from relstudy.common.runtime.errors import RelstudyError


@dataclass(frozen=True)
class Codes:
    """Binary codes, packed 64 bits to a word.

    Parameters
    ----------
    columns : uint64, shape (words, codes); `columns[w, j]` holds bits 64 w to 64 w + 63 of code j, unused ones are zero
    bits : code length Q, at least 1

    Examples
    --------
    >>> codes = Codes.from_bits(np.array([[1, 0, 1], [0, 0, 1]], dtype=bool))
    >>> len(codes), codes.bits, codes.columns.shape
    (2, 3, (1, 2))
    >>> codes.distances(codes).tolist()
    [[0, 1], [1, 0]]
    """

    columns: np.ndarray
    bits: int

    def __post_init__(self) -> None:
        words = -(-self.bits // 64)
        if self.bits < 1 or self.columns.dtype != np.uint64 or self.columns.ndim != 2 or len(self.columns) != words:
            raise RelstudyError(
                f"codes of {self.bits} bits need uint64 of the shape ({max(words, 1)}, codes), not "
                f"{self.columns.dtype} of {self.columns.shape}"
            )
        within = _columns(np.packbits(np.ones((1, self.bits), dtype=bool), axis=1), 1)[-1, 0]
        if int(np.bitwise_or.reduce(self.columns[-1], initial=0) & ~within):
            raise RelstudyError(f"a bit beyond the {self.bits} of these codes is set, which would count in distances")

    def __repr__(self) -> str:
        return f"Codes({len(self)} codes of {self.bits} bits)"

    def __len__(self) -> int:
        return int(self.columns.shape[1])

    @classmethod
    def from_bits(cls, bits: np.ndarray) -> Codes:
        """From a bool array of shape (codes, bits).

        Examples
        --------
        >>> codes = Codes.from_bits(np.array([[1, 0, 1], [0, 0, 1]], dtype=bool))
        >>> len(codes), codes.bits
        (2, 3)
        """
        rows, width = bits.shape
        return cls(_columns(np.packbits(bits, axis=1), rows), width)

    @classmethod
    def from_packed(cls, packed: np.ndarray, bits: int | None = None) -> Codes:
        """From uint8 of shape (codes, bytes) as `numpy.packbits` packs them; `bits` where the last byte is not full.

        Examples
        --------
        >>> Codes.from_packed(np.array([[0b10100000]], dtype=np.uint8), bits=3).unpacked().tolist()
        [[True, False, True]]
        """
        rows, width = packed.shape
        return cls(_columns(np.asarray(packed), rows), 8 * width if bits is None else bits)

    @classmethod
    def from_signs(cls, values: np.ndarray) -> Codes:
        """From real values of shape (codes, bits): 1 where positive, 0 elsewhere (so sign(0) is never half a bit).

        Examples
        --------
        >>> Codes.from_signs(np.array([[0.3, 0.0, -2.0]])).unpacked().tolist()
        [[True, False, False]]
        """
        return cls.from_bits(np.asarray(values) > 0)

    def take(self, rows: np.ndarray | slice) -> Codes:
        """The codes at `rows`.

        Examples
        --------
        >>> codes = Codes.from_bits(np.array([[1, 0, 1], [0, 0, 1]], dtype=bool))
        >>> codes.take(slice(1, 2)).unpacked().tolist()
        [[False, False, True]]
        """
        return Codes(np.ascontiguousarray(self.columns[:, rows]), self.bits)

    def rows(self) -> np.ndarray:
        """uint64 of shape (codes, words), contiguous.

        Examples
        --------
        >>> codes = Codes.from_bits(np.array([[1, 0, 1], [0, 0, 1]], dtype=bool))
        >>> codes.rows().shape
        (2, 1)
        """
        return np.ascontiguousarray(self.columns.T)

    def unpacked(self) -> np.ndarray:
        """bool of shape (codes, bits).

        Examples
        --------
        >>> codes = Codes.from_bits(np.array([[1, 0, 1], [0, 0, 1]], dtype=bool))
        >>> codes.unpacked().astype(int).tolist()
        [[1, 0, 1], [0, 0, 1]]
        """
        octets = self.rows().astype("<u8", copy=False).view(np.uint8)
        return np.unpackbits(octets, axis=1, count=self.bits).astype(bool)

    def distances_from(self, query: np.ndarray) -> np.ndarray:
        """Distances from one code, uint64 (words,), to each of these: uint16 (codes,).

        Examples
        --------
        >>> codes = Codes.from_bits(np.array([[1, 0, 1], [0, 0, 1]], dtype=bool))
        >>> codes.distances_from(codes.rows()[0]).tolist()
        [0, 1]
        """
        distance = np.bitwise_count(self.columns[0] ^ query[0]).astype(np.uint16)
        for word, part in zip(self.columns[1:], query[1:], strict=True):
            distance += np.bitwise_count(word ^ part)
        return distance

    def distances(self, others: Codes) -> np.ndarray:
        """All Hamming distances, int64 of shape (self, others). For small sets: this is an N x M matrix.

        Examples
        --------
        >>> codes = Codes.from_bits(np.array([[1, 0, 1], [0, 0, 1]], dtype=bool))
        >>> codes.distances(codes).tolist()
        [[0, 1], [1, 0]]
        """
        together = np.zeros((len(self), len(others)), dtype=np.int64)
        for word, other_word in zip(self.columns, others.columns, strict=True):
            together += np.bitwise_count(word[:, None] ^ other_word[None, :])
        return together


def check_lengths(queries: Codes, database: Codes) -> None:
    """Refuse codes that differ in length."""
    if queries.bits != database.bits:
        raise RelstudyError(
            f"query codes have {queries.bits} bits and database codes {database.bits}; they must be equal"
        )


def _columns(octets: np.ndarray, rows: int) -> np.ndarray:
    words = max(1, -(-octets.shape[1] // 8))
    padded = np.zeros((rows, 8 * words), dtype=np.uint8)
    padded[:, : octets.shape[1]] = octets
    return np.ascontiguousarray(padded.view("<u8").astype(np.uint64, copy=False).T)
