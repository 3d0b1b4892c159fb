"""Labels and ids of the items behind the codes."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, TypeAlias

import numpy as np

from relstudy.analysis.hashing.codes.packed import Codes
from relstudy.analysis.hashing.options import Separator
from relstudy.common.options.argument_checks import check_arguments
from relstudy.common.options.option_wording import either
from relstudy.common.runtime.errors import Fault, RelstudyError, TableError
from relstudy.common.runtime.wording import count_of
from relstudy.common.tables.formats.array_files import load_array, plain_array, row_blocks, text_lines
from relstudy.common.tables.formats.file_kind import is_array_name

_VALUE = re.compile(r"[+-]?1(\.0*)?|-?0(\.0*)?")
"""0, 1 or -1, as numpy.savetxt and others write them."""
MOST_SHOWN = 1000
"""Items whose labels are looked at for how they are written."""
_LARGEST = 2.0**53
"""Whole numbers beyond this size are not all floats."""


@dataclass(frozen=True)
class Labels:
    """Class labels of items: one class each, or a set of labels each.

    Parameters
    ----------
    classes : whole numbers of shape (items,), or None for label sets
    masks : uint64 of shape (label words, items), one bit a label; None for single classes
    names : the class of number 0, 1, ... where classes were texts
    """

    classes: np.ndarray | None = None
    masks: np.ndarray | None = None
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if (self.classes is None) == (self.masks is None) or not (
            _is_array(self.classes, 1, "iu") if self.masks is None else _is_array(self.masks, 2, "u")
        ):
            raise RelstudyError(
                "Labels hold classes, whole numbers of shape (items,), or masks, uint64 of shape (words, items); "
                "functions take arrays and lists of labels as they are"
            )

    def __len__(self) -> int:
        array = self.classes if self.classes is not None else self.masks
        assert array is not None
        return int(array.shape[-1])

    def as_array(self) -> np.ndarray:
        """Classes (items,), or bool (items, labels): a column per label, unused ones at the end.

        Examples
        --------
        >>> Labels(classes=np.array([3, 1])).as_array().tolist()
        [3, 1]
        """
        if self.classes is not None:
            return np.asarray(self.classes)
        assert self.masks is not None
        return Codes(self.masks, 64 * len(self.masks)).unpacked()

    @property
    def single(self) -> bool:
        """True where every item has exactly one class."""
        return self.classes is not None


def _is_array(part: object, axes: int, kinds: str) -> bool:
    return isinstance(part, np.ndarray) and part.ndim == axes and part.dtype.kind in kinds


def read_labels(
    *paths: str | os.PathLike[str], separator: Separator = "auto", notes: list[str] | None = None
) -> list[Labels]:
    """Read the labels of several files over one vocabulary.

    Parameters
    ----------
    paths : the queries' labels, then the database's: array files of shape (items,) or (items, 1) (classes) or
        (items, labels) of 0/1; or text, one item per line, an empty line for an item without any label
    separator : of labels in text; `auto` is the comma where any line of these files has one, else blanks
    notes : a list to which what was assumed is appended, with the option that says otherwise

    Returns
    -------
    One a file; all single-class or all label sets: two items are relevant to each other when they share a label.

    Raises
    ------
    RelstudyError
        for other arrays, files of two kinds, and where no label of the first file stands in any other

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
    ...     _ = file.write("dog\\ncat\\ndog\\n"), file.flush()
    ...     len(read_labels(file.name)[0])
    3
    """
    check_arguments(read_labels, locals())
    notes = [] if notes is None else notes
    files = [os.fspath(path) for path in paths]
    if not files:
        raise RelstudyError("no file of labels is named")
    texts = {path: text_lines(path) for path in files if not is_array_name(path)}
    columns = _columns_of_texts(texts, notes) or _classes_beside_ids(texts, notes) if separator == "auto" else {}
    split = _splitter({} if columns else texts, separator, notes)
    raw = [
        columns[path]
        if path in columns
        else [split(line) for line in texts[path]]
        if path in texts
        else classes_or_columns(load_array(path), path, notes)
        for path in files
    ]
    labels = one_vocabulary(raw, files)
    _tell_of_none(raw, labels, files, notes)
    _tell_of_all(labels, files, notes)
    _tell_of_likely_errors(raw, files, notes)
    _check_shared(raw, labels, files)
    return labels


def labels_of(*arrays: Any, names: Sequence[str], notes: list[str] | None = None) -> list[Labels]:
    """Labels of several arrays over one vocabulary, as `read_labels` takes them from files."""
    notes = [] if notes is None else notes
    raw = [classes_or_columns(plain_array(array, name), name, notes) for array, name in zip(arrays, names, strict=True)]
    labels = one_vocabulary(raw, names)
    _tell_of_none(raw, labels, names, notes)
    _tell_of_all(labels, names, notes)
    _tell_of_likely_errors(raw, names, notes)
    _check_shared(raw, labels, names)
    return labels


Raw: TypeAlias = "np.ndarray | list[tuple[str, ...]]"


def one_vocabulary(raw: Sequence[Raw], paths: Sequence[str]) -> list[Labels]:
    """Labels of which the same name or number is the same label in all of them."""
    hot = [isinstance(part, np.ndarray) and part.ndim == 2 for part in raw]
    if all(hot):
        return _from_columns(paths, [np.asarray(part) for part in raw])
    if any(hot):
        raise RelstudyError(
            f"{paths[hot.index(True)]} holds a 0/1 column per label and {paths[hot.index(False)]} names labels; "
            "all label files must be of one kind"
        )
    if all(isinstance(part, np.ndarray) and part.dtype.kind != "U" for part in raw):
        return [Labels(classes=np.asarray(part)) for part in raw]
    return _from_names([_names_of(part) if isinstance(part, np.ndarray) else part for part in raw])


def _names_of(part: np.ndarray) -> list[tuple[str, ...]]:
    """Each item's label, without the blanks around it; none where the text is empty, as of an empty line in a file."""
    names = [str(name).strip() for name in part]
    return [(name,) if name else () for name in names]


def _columns_of_texts(texts: dict[str, list[str]], notes: list[str]) -> dict[str, np.ndarray]:
    """The texts as a 0/1 column a label, bool [items, labels], where all of them are: as the list files of deep-hashing
    repositories, in which a path may come first. Read as names, every item would have the label "0"."""
    tables = {path: table for path, lines in texts.items() if (table := _columns_of_lines(lines)) is not None}
    if not texts or len(tables) < len(texts) or len({table.shape[1] for table in tables.values()}) > 1:
        return {}
    path, table = next(iter(tables.items()))
    way_out = either("--label-separator line", "separator='line'")
    notes.append(
        f"{path}: {table.shape[1]} columns of 0 and 1 are taken for a label each; {way_out} takes each line for one"
    )
    return tables


def _classes_beside_ids(texts: dict[str, list[str]], notes: list[str]) -> dict[str, Raw]:
    """Each text's classes where all have an id and a class in every line, ids that differ and classes that do not. Read
    as labels, an id that is a number would be one that items share."""
    found: dict[str, Raw] = {}
    for path, lines in texts.items():
        rows = [[cell.strip() for cell in re.split(r"[,\s]+", line.strip())] for line in lines]
        if len(rows) < 3 or any(len(row) != 2 for row in rows):
            return {}
        numbered = [row[1].lstrip("-").isdigit() for row in rows]
        rows = rows[1:] if not numbered[0] and all(numbered[1:]) else rows
        ids, classes = zip(*rows, strict=True)
        if len({*ids}) < len(ids) or len({*classes}) == len(classes) or {*ids} <= {*classes}:
            return {}
        found[path] = [(each,) for each in classes]
    if found:
        between = "comma" if any("," in line for lines in texts.values() for line in lines) else "space"
        way_out = either(f"--label-separator {between}", f"separator='{between}'")
        notes.append(
            f"{next(iter(found))}: two columns are taken for an id and a class; {way_out} takes both for labels"
        )
    return found


def _columns_of_lines(lines: list[str]) -> np.ndarray | None:
    """bool [items, labels] of lines of 0/1 or -1/+1; None for anything else. A line with one value twice is not a list
    of labels, so columns are told from names."""
    rows = [re.split(r"[,\s]+", line.strip()) for line in lines]
    if rows and all(len(row) > 2 and _VALUE.fullmatch(row[0]) is None for row in rows):
        rows = [row[1:] for row in rows]  # a picture's path
    if not rows or len({len(row) for row in rows}) > 1 or not any(len(set(row)) < len(row) for row in rows):
        return None
    if not all(_VALUE.fullmatch(cell) for row in rows for cell in row):
        return None
    values = np.array(rows, dtype=float)
    return values > 0 if len(np.unique(values)) > 1 else None


def _splitter(texts: dict[str, list[str]], separator: Separator, notes: list[str]) -> Callable[[str], tuple[str, ...]]:
    if separator == "auto":
        commas = any("," in line for lines in texts.values() for line in lines)
        separator = "comma" if commas else "space"
        between = "," if commas else None
        mixed = [(path, line) for path, lines in texts.items() for line in lines if len(line.split(between)) > 1]
        if mixed:
            path, line = mixed[0]
            way_out = either("--label-separator line", "separator='line'")
            notes.append(
                f"{path}: {'commas' if commas else 'blanks'} separate labels, so {line!r} is "
                f"{len(line.split(between))} labels; {way_out} takes each line for one label"
            )
    if separator == "line":
        return lambda line: (line,) if line else ()
    between = "," if separator == "comma" else None
    return lambda line: tuple(sorted({part.strip() for part in line.split(between)} - {""}))


def _tell_of_none(raw: Sequence[Raw], labels: list[Labels], names: Sequence[str], notes: list[str]) -> None:
    """Note the items that have no label, and a class -1, which elsewhere may mean that there is none."""
    for part, known, name in zip(raw, labels, names, strict=True):
        if known.masks is not None:
            without = int((known.masks == 0).all(axis=0).sum())
            if without:
                what = f"{count_of(without, 'row')} of zeros"
                if not isinstance(part, np.ndarray) or part.dtype.kind == "U":
                    what = count_of(without, "empty text" if isinstance(part, np.ndarray) else "empty line")
                notes.append(f"{name}: {what}: an item without any label is relevant to nothing")
        elif not isinstance(part, np.ndarray) or part.dtype.kind == "U":
            continue
        elif (below := int(sum((block < 0).sum() for _, block in row_blocks(part)))) > 0:
            least = min(int(block.min()) for _, block in row_blocks(part))
            notes.append(f"{name}: class {least} of {count_of(below, 'item')} is taken for a class like any other")


def _tell_of_all(labels: list[Labels], names: Sequence[str], notes: list[str]) -> None:
    """Note where every item shares a label, so that every pair is relevant and every mean average precision is 1."""
    if all(known.classes is not None for known in labels):
        alike = len({int(each) for known in labels for each in np.unique(np.asarray(known.classes))[:2]}) == 1
    else:
        masks = [known.masks for known in labels if known.masks is not None]
        alike = bool(np.bitwise_and.reduce([np.bitwise_and.reduce(each, axis=1) for each in masks]).any())
    if alike:
        notes.append(
            f"{names[0]}: one label is on every item, so every pair is relevant; check how the labels are read"
        )


def _tell_of_likely_errors(raw: Sequence[Raw], names: Sequence[str], notes: list[str]) -> None:
    """Note classes that count from 0 in one part and from 1 in another, and texts of 0 and 1 that are one label."""
    first, *others = [_ends(part) for part in raw]
    for name, end in zip(names[1:], others, strict=True):
        if first and end and {first[0], end[0]} == {0, 1} and first[1] - first[0] == end[1] - end[0]:
            notes.append(
                f"{names[0]} counts classes from {first[0]} to {first[1]} and {name} from {end[0]} to {end[1]}: if "
                "they are the same classes, every figure is wrong; number them the same way"
            )
    for part, name in zip(raw, names, strict=True):
        words = {word for row in part[:MOST_SHOWN] for word in row} if isinstance(part, list) else set()
        if words and all(len(word) > 2 and {*word} <= {"0", "1"} for word in words):
            notes.append(
                f"{name}: each text of 0 and 1 is taken for one class; blanks between them make each digit a label"
            )


def _ends(part: Raw) -> tuple[int, int] | None:
    """The least and the largest class; None where classes are no whole numbers from 0."""
    if isinstance(part, np.ndarray) and part.dtype.kind != "U":
        if part.ndim > 1 or not len(part):
            return None
        blocks = [(int(block.min()), int(block.max())) for _, block in row_blocks(part)]
        return min(low for low, _ in blocks), max(high for _, high in blocks)
    words = {word for row in part for word in row} if isinstance(part, list) else set(np.unique(part).tolist())
    numbers = [int(word) for word in words if word.isascii() and word.isdigit()]
    return (min(numbers), max(numbers)) if numbers and len(numbers) == len(words) else None


def _check_shared(raw: Sequence[Raw], labels: list[Labels], paths: Sequence[str]) -> None:
    queries, *database = labels
    if not database or any(_share(queries, part) for part in database):
        return
    shown = [f"{path} ({_some(part)})" for path, part in zip(paths, raw, strict=True)]
    raise RelstudyError(
        f"no label of {shown[0]} occurs in {', '.join(shown[1:])}; no code would be relevant to any query: the labels "
        "must be written the same way"
    )


def _share(queries: Labels, database: Labels) -> bool:
    if queries.classes is not None:
        names = np.unique(queries.classes)
        return any(bool(np.isin(block, names).any()) for _, block in row_blocks(np.asarray(database.classes)))
    assert queries.masks is not None and database.masks is not None
    used = [np.bitwise_or.reduce(masks, axis=1) for masks in (queries.masks, database.masks)]
    return bool((used[0] & used[1]).any())


def _some(part: Raw) -> str:
    if isinstance(part, np.ndarray):
        if part.ndim == 2:
            return f"{part.shape[1]} columns"
        names = [str(name) for name in dict.fromkeys(part[:MOST_SHOWN].tolist())]
    else:
        names = list(dict.fromkeys(name for labels in part[:MOST_SHOWN] for name in labels))
    return ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")


def mask_words(table: np.ndarray) -> np.ndarray:
    """Label sets as bit masks: bool (items, labels) to uint64 (words, items)."""
    return Codes.from_bits(table).columns


def read_ids(path: str) -> list[str]:
    """Ids of codes, one a line, none empty or twice."""
    names = text_lines(path)
    faults = [Fault(path, row, None, "", "an id is required") for row, name in enumerate(names, 1) if not name]
    seen: set[str] = set()
    for row, name in enumerate(names, 1):
        if name in seen:
            faults.append(Fault(path, row, None, name, "ids must differ; this one appears above"))
        seen.add(name)
    if faults:
        raise TableError(faults)
    return names


def classes_or_columns(array: np.ndarray, name: str, notes: list[str]) -> np.ndarray:
    """Classes of shape (items,), or a 0/1 column per label; anything else is refused."""
    if array.ndim == 2 and array.shape[1] == 1:
        notes.append(f"{name} has one column: it is taken for one class an item, not for a label that some items have")
        array = array[:, 0]
    if array.ndim == 2:
        return array
    if array.ndim != 1:
        raise RelstudyError(f"{name}: labels need the shape (items,) or (items, labels), this array has {array.shape}")
    if array.dtype.kind in "iU":
        return array
    if array.dtype.kind in "buf":
        wrong = np.flatnonzero(~((array == np.round(array)) & (np.abs(array) <= _LARGEST)))
        if not len(wrong):
            return array.astype(np.int64)
    else:
        wrong = np.flatnonzero([not isinstance(each, str | Integral) for each in array])
    what = f"this array is {array.dtype}"
    if len(wrong):
        what = f"item {wrong[0]} (counted from 0) is {array[wrong[0]]}"
    raise RelstudyError(f"{name}: labels must be whole numbers up to 2^53 or text; {what}")


def _from_columns(paths: Sequence[str], tables: list[np.ndarray]) -> list[Labels]:
    width = tables[0].shape[1]
    for path, table in zip(paths, tables, strict=True):
        if table.shape[1] != width:
            raise RelstudyError(
                f"{paths[0]} has {width} label columns and {path} has {table.shape[1]}; they must be equal"
            )
    return [Labels(masks=_masks_of_columns(path, table)) for path, table in zip(paths, tables, strict=True)]


def _masks_of_columns(path: str, table: np.ndarray) -> np.ndarray:
    words = []
    if not len(table):
        raise RelstudyError(f"{path}: there are no labels")
    for _, block in row_blocks(table):
        if block.dtype.kind not in "biuf" or not bool(np.isin(block, (0, 1)).all()):
            raise RelstudyError(
                f"{path}: an array of labels of shape (items, labels) holds 0 and 1 only; "
                "classes need the shape (items,)"
            )
        words.append(mask_words(block != 0))
    return np.concatenate(words, axis=1)


def _from_names(sets: list[list[tuple[str, ...]]]) -> list[Labels]:
    index = {name: i for i, name in enumerate(sorted({x for part in sets for names in part for x in names}))}
    if all(len(names) == 1 for part in sets for names in part):
        classes = [np.array([index[names[0]] for names in part], dtype=np.int64) for part in sets]
        return [Labels(classes=each, names=tuple(index)) for each in classes]
    return [Labels(masks=_masks_of_names(part, index)) for part in sets]


def _masks_of_names(part: list[tuple[str, ...]], index: dict[str, int]) -> np.ndarray:
    owner = np.repeat(np.arange(len(part)), [len(names) for names in part])
    label = np.array([index[name] for names in part for name in names], dtype=np.uint64)
    masks = np.zeros((max(1, -(-len(index) // 64)), len(part)), dtype=np.uint64)
    np.bitwise_or.at(masks, (label // 64, owner), np.uint64(1) << label % 64)
    return masks
