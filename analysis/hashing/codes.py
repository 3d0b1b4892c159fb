"""Binary codes and labels: what a file may hold, and the packed form that everything else works on."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from calibration.errors import Fault, RelstudyError, TableError

Format = Literal["auto", "bits", "packed", "hex"]

_CHECK_ROWS = 1 << 16


@dataclass(frozen=True)
class Codes:
    """Binary codes, packed 64 bits to a word.

    Parameters
    ----------
    columns : uint64, shape (words, codes); word w of code j is `columns[w, j]`, unused high bits are zero
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

    def __len__(self) -> int:
        return int(self.columns.shape[1])

    @classmethod
    def from_bits(cls, bits: np.ndarray) -> Codes:
        """From a bool array of shape (codes, bits)."""
        rows, width = bits.shape
        return cls(_columns(np.packbits(bits, axis=1, bitorder="little"), rows), width)

    @classmethod
    def from_packed(cls, packed: np.ndarray) -> Codes:
        """From uint8 of shape (codes, bytes), eight bits to a byte."""
        rows, width = packed.shape
        return cls(_columns(np.asarray(packed), rows), 8 * width)

    @classmethod
    def from_signs(cls, values: np.ndarray) -> Codes:
        """From real values of shape (codes, bits): 1 where positive, 0 elsewhere (so sign(0) is never half a bit)."""
        return cls.from_bits(np.asarray(values) > 0)

    def take(self, rows: np.ndarray | slice) -> Codes:
        """The codes at `rows`."""
        return Codes(np.ascontiguousarray(self.columns[:, rows]), self.bits)

    def rows(self) -> np.ndarray:
        """uint64 of shape (codes, words), contiguous."""
        return np.ascontiguousarray(self.columns.T)

    def unpacked(self) -> np.ndarray:
        """bool of shape (codes, bits)."""
        octets = self.rows().view(np.uint8)
        return np.unpackbits(octets, axis=1, bitorder="little", count=self.bits).astype(bool)

    def distances(self, others: Codes) -> np.ndarray:
        """All Hamming distances, int64 of shape (self, others). For small sets: this is an N x M matrix."""
        together = np.zeros((len(self), len(others)), dtype=np.int64)
        for mine, theirs in zip(self.columns, others.columns, strict=True):
            together += np.bitwise_count(mine[:, None] ^ theirs[None, :])
        return together


def _columns(octets: np.ndarray, rows: int) -> np.ndarray:
    words = max(1, -(-octets.shape[1] // 8))
    padded = np.zeros((rows, 8 * words), dtype=np.uint8)
    padded[:, : octets.shape[1]] = octets
    return np.ascontiguousarray(padded.view("<u8").astype(np.uint64, copy=False).T)


def read_codes(path: str | os.PathLike[str], form: Format = "auto", rows: slice = slice(None)) -> Codes:
    """Read codes from .npy (memory-mapped) or from a text file of hexadecimal codes, one a line.

    Parameters
    ----------
    path : .npy holding shape (codes, bits) of bool, 0/1 or -1/+1 numbers, or shape (codes, bytes) of packed uint8;
        any other ending is read as text
    form : `auto` takes uint8 as packed unless all its values are 0 or 1; say `bits` or `packed` to settle it
    rows : which rows to read; what the file holds is settled by the whole file

    Raises
    ------
    RelstudyError, TableError
        for a pickle, a wrong shape, NaN, a zero among -1/+1 codes, any other value, codes of different lengths
    """
    file = os.fspath(path)
    if form == "hex" or (form == "auto" and not file.endswith(".npy")):
        return _read_hex(file).take(rows)
    array = _code_array(file)
    packed = array.dtype == np.uint8 and (form == "packed" or (form == "auto" and _largest(array) > 1))
    if form == "packed" and not packed:
        raise RelstudyError(f"{file}: packed codes must be uint8, this array is {array.dtype}")
    if packed:
        return Codes.from_packed(array[rows])
    return Codes.from_bits(_as_bits(array, file, rows))


def code_form(path: str | os.PathLike[str], form: Format = "auto") -> tuple[Format, int]:
    """What a code file holds, settled once so that its parts can be read alone, and how many codes there are."""
    file = os.fspath(path)
    if form == "hex" or (form == "auto" and not file.endswith(".npy")):
        return "hex", len(_text_lines(file))
    array = _code_array(file)
    if form == "auto":
        form = "packed" if array.dtype == np.uint8 and _largest(array) > 1 else "bits"
    return form, len(array)


def _code_array(file: str) -> np.ndarray:
    array = load_array(file)
    if array.ndim != 2 or 0 in array.shape:
        raise RelstudyError(f"{file}: codes need the shape (codes, bits), this array has {array.shape}")
    return array


def load_array(file: str, mmap: bool = True) -> np.ndarray:
    """Load a .npy file without ever unpickling, or say in one sentence why that can't be done."""
    try:
        loaded = np.load(file, mmap_mode="r" if mmap else None, allow_pickle=False)
    except FileNotFoundError:
        raise RelstudyError(f"{file}: there is no such file") from None
    except (ValueError, EOFError) as error:
        if "pickle" in str(error).lower() or "object" in str(error).lower():
            raise RelstudyError(
                f"{file}: pickled data is never loaded; save a plain numeric array with numpy.save"
            ) from None
        raise RelstudyError(f"{file}: this is not a .npy array ({error})") from None
    except OSError as error:
        raise RelstudyError(f"{file}: cannot be read ({error.strerror or error})") from None
    if not isinstance(loaded, np.ndarray):
        raise RelstudyError(f"{file}: a single .npy array is needed, not an archive")
    return loaded


def _largest(array: np.ndarray) -> int:
    return max(int(array[start : start + _CHECK_ROWS].max()) for start in range(0, len(array), _CHECK_ROWS))


def _as_bits(array: np.ndarray, file: str, rows: slice) -> np.ndarray:
    if array.dtype == bool:
        return np.asarray(array[rows])
    if array.dtype.kind not in "iuf":
        raise RelstudyError(f"{file}: codes must be bool, 0/1, -1/+1 or packed uint8, this array is {array.dtype}")
    signed = any(bool((array[i : i + _CHECK_ROWS] < 0).any()) for i in range(0, len(array), _CHECK_ROWS))
    low, allowed = (-1, "-1 or +1 is allowed, as elsewhere in this file") if signed else (0, "0 or 1 is allowed")
    first, last, _ = rows.indices(len(array))
    bits = np.empty((last - first, array.shape[1]), dtype=bool)
    faults: list[Fault] = []
    for start in range(first, last, _CHECK_ROWS):
        block = array[start : min(start + _CHECK_ROWS, last)]
        wrong = (block != low) & (block != 1)
        for row, column in np.argwhere(wrong)[: TableError.SHOWN + 1 - len(faults)]:
            faults.append(Fault(file, int(start + row), f"{int(column)} (counted from 0)", block[row, column], allowed))
        bits[start - first : start - first + len(block)] = block > 0
    if faults:
        raise TableError(faults)
    return bits


def _read_hex(file: str) -> Codes:
    lines = _text_lines(file)
    if not lines:
        raise RelstudyError(f"{file}: the file is empty; one hexadecimal code a line is needed")
    width = len(lines[0])
    faults = []
    for row, line in enumerate(lines, start=1):
        if len(line) != width:
            allowed = f"{width} hexadecimal digits are allowed, as in row 1"
        elif width % 2 or not all(digit in "0123456789abcdefABCDEF" for digit in line) or not line:
            allowed = "an even number of hexadecimal digits is allowed"
        else:
            continue
        faults.append(Fault(file, row, None, line, allowed))
    if faults:
        raise TableError(faults)
    octets = np.frombuffer(bytes.fromhex("".join(lines)), dtype=np.uint8)
    return Codes.from_packed(octets.reshape(len(lines), width // 2))


def _text_lines(file: str) -> list[str]:
    try:
        text = Path(file).read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise RelstudyError(f"{file}: there is no such file") from None
    except UnicodeDecodeError:
        raise RelstudyError(f"{file}: this is neither .npy nor UTF-8 text") from None
    except OSError as error:
        raise RelstudyError(f"{file}: cannot be read ({error.strerror})") from None
    return [line.strip() for line in text.splitlines()]


@dataclass(frozen=True)
class Labels:
    """Class labels of items: one class each, or a set of labels each.

    Parameters
    ----------
    classes : whole numbers of shape (items,), or None for label sets
    masks : uint64 of shape (label words, items), bit b of word w set for label 64 w + b; None for single classes
    """

    classes: np.ndarray | None = None
    masks: np.ndarray | None = None

    def __len__(self) -> int:
        array = self.classes if self.classes is not None else self.masks
        assert array is not None
        return int(array.shape[-1])

    @property
    def single(self) -> bool:
        """Whether every item has exactly one class."""
        return self.classes is not None


def read_labels(query_path: str, database_path: str) -> tuple[Labels, Labels]:
    """Read the labels of queries and database over one vocabulary.

    Parameters
    ----------
    query_path, database_path : .npy of shape (items,) (classes) or (items, labels) of 0/1; or text, one item a line,
        several labels separated by spaces or commas, an empty line for an item without any

    Returns
    -------
    The two, both single-class or both label sets: two items are relevant to each other when they share a label.
    """
    raw = [_raw_labels(path) for path in (query_path, database_path)]
    kinds = [isinstance(part, np.ndarray) and part.ndim == 2 for part in raw]
    if kinds[0] != kinds[1] and any(isinstance(part, np.ndarray) for part in raw):
        raise RelstudyError(f"{query_path} and {database_path}: both must be classes, or both 0/1 arrays of labels")
    if kinds[0]:
        first, second = np.asarray(raw[0], dtype=bool), np.asarray(raw[1], dtype=bool)
        if first.shape[1] != second.shape[1]:
            raise RelstudyError(
                f"{query_path} has {first.shape[1]} label columns and {database_path} has {second.shape[1]}; "
                "they must be equal"
            )
        return Labels(masks=mask_words(first)), Labels(masks=mask_words(second))
    if all(isinstance(part, np.ndarray) and part.dtype.kind in "iu" for part in raw):
        return Labels(classes=raw[0]), Labels(classes=raw[1])  # type: ignore[arg-type]
    sets = [[(str(x),) for x in part] if isinstance(part, np.ndarray) else part for part in raw]
    index = {name: i for i, name in enumerate(sorted({x for part in sets for names in part for x in names}))}
    if all(len(names) == 1 for part in sets for names in part):
        coded = [np.array([index[names[0]] for names in part], dtype=np.int64) for part in sets]
        return Labels(classes=coded[0]), Labels(classes=coded[1])
    hot = []
    for part in sets:
        table = np.zeros((len(part), max(1, len(index))), dtype=bool)
        for row, names in enumerate(part):
            table[row, [index[name] for name in names]] = True
        hot.append(mask_words(table))
    return Labels(masks=hot[0]), Labels(masks=hot[1])


def mask_words(table: np.ndarray) -> np.ndarray:
    """Label sets as bit masks: bool (items, labels) to uint64 (words, items)."""
    return Codes.from_bits(table).columns


def _raw_labels(path: str) -> np.ndarray | list[tuple[str, ...]]:
    if not path.endswith(".npy"):
        return [tuple(sorted(set(line.replace(",", " ").split()))) for line in _text_lines(path)]
    array = load_array(path)
    if array.dtype.kind not in "iubUS" and not (array.dtype.kind == "f" and bool(np.all(array == np.round(array)))):
        raise RelstudyError(
            f"{path}: labels must be whole numbers or text, this array is {array.dtype} with other values"
        )
    if array.ndim == 1:
        return array.astype(np.int64) if array.dtype.kind in "bf" else array
    if array.ndim == 2 and bool(np.isin(array, (0, 1)).all()):
        return array
    raise RelstudyError(
        f"{path}: labels need the shape (items,) or (items, labels) of 0/1, this array has {array.shape}"
    )


def read_ids(path: str) -> list[str]:
    """Ids of codes, one a line, none empty or twice."""
    names = _text_lines(path)
    faults = [Fault(path, row, None, "", "an id is required") for row, name in enumerate(names, 1) if not name]
    seen: set[str] = set()
    for row, name in enumerate(names, 1):
        if name in seen:
            faults.append(Fault(path, row, None, name, "ids must differ; this one stands above"))
        seen.add(name)
    if faults:
        raise TableError(faults)
    return names


def same_length(codes: Codes, labels: Labels, code_path: str, label_path: str) -> None:
    """Refuse labels that do not match their codes one to one."""
    if len(codes) != len(labels):
        raise RelstudyError(
            f"{label_path} has {len(labels)} labels for the {len(codes)} codes of {code_path}; one each is needed"
        )
