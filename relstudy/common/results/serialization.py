"""Results in files: dataclasses as JSON, read back by the types of their fields, so that no file names a class to make.

Numbers survive exactly: arrays stand in the file as their bytes, packed. A checksum tells damage from a file of another
version, whose fields are others.
"""

from __future__ import annotations

import base64
import dataclasses
import functools
import hashlib
import json
import math
import os
import types
import zlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from enum import Enum
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import numpy as np
import pandas as pd

from relstudy.common.runtime.compression import swells
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.files import read_json, replacing

T = TypeVar("T")
VERSION = 1
KIND = "relstudy {}"
COMPARISON, MAPPING = KIND.format("comparison"), KIND.format("mapping")
NOT_KEPT = {"not kept": True}
"""Metadata of a field that no file holds: what can be read again where it came from."""
PLAIN = frozenset({str, int, bool, type(None)})
"""Types whose values JSON has as they are."""
NUMBERS = "biuf"
"""Kinds of NumPy's types that are kept as bytes."""
PACKED, AS_IT_IS, SEEN = 1, 0, 256
"""How hard arrays are packed. Replicates hardly get smaller, which their first entries show: mostly different ones."""
DEEP = 4
"""Lists and mappings in one another whose entries are pieces of a file's text: down to those of one system."""
FLAT = 10_000
"""Numbers or texts that are one piece."""
FLOAT, PAIRS, ARRAY, FRAME = "@float", "@pairs", "@array", "@frame"
"""Keys of what JSON has no form for: a number that is not finite, a mapping by what is not text, an array, a table."""


def write_kept(value: Any, kind: str, path: str | os.PathLike[str], beside: Mapping[str, Any] | None = None) -> None:
    """Write a dataclass to a file.

    Parameters
    ----------
    value : a dataclass whose fields are plain values, arrays, tables, and dataclasses of these
    kind : what it is, in a word or two
    beside : further entries of the file
    """
    content = {"kind": KIND.format(kind), "version": VERSION, **(beside or {}), "result": kept(value)}
    content["checksum"] = checksum(content)
    with replacing(path) as place, place.open("w", encoding="utf-8") as file:
        file.writelines(_pieces(content, json.JSONEncoder(allow_nan=False, ensure_ascii=False)))
        file.write("\n")


def read_kept(content: Mapping[str, Any], form: type[T], file: str) -> T:
    """The result that `write_kept` wrote, from the file's content; `form` is the class that it is of.

    Raises
    ------
    RelstudyError
        where the file is damaged, or of a version whose results hold something else
    """
    if content.get("checksum") != checksum(content):
        raise RelstudyError(f"{file}: it was changed since it was saved, or is damaged; save the result again")
    try:
        return cast(T, restored(form, content["result"]))
    except (KeyError, TypeError, ValueError, AttributeError, zlib.error, RelstudyError) as error:
        raise RelstudyError(f"{file}: another version of relstudy saved it ({error}); save the result again") from None


def checksum(content: Mapping[str, Any]) -> str:
    """Of everything in a file but its own entry."""
    held = {name: value for name, value in content.items() if name != "checksum"}
    made = hashlib.sha256()
    for piece in _pieces(held, json.JSONEncoder(sort_keys=True)):
        made.update(piece.encode())
    return made.hexdigest()


def _pieces(value: Any, encoder: json.JSONEncoder, depth: int = DEEP) -> Iterator[str]:
    """The text that an encoder makes of a value, in pieces, so that no large file is in memory as a whole."""
    if depth == 0 or not isinstance(value, dict | list) or not value or _is_flat(value):
        yield encoder.encode(value)
        return
    opening, names = ("[", range(len(value))) if isinstance(value, list) else ("{", value)
    for name in sorted(names) if encoder.sort_keys else names:
        yield opening
        if isinstance(value, dict):
            yield f"{encoder.encode(name)}: "
        yield from _pieces(value[name], encoder, depth - 1)
        opening = ", "
    yield "]" if isinstance(value, list) else "}"


def _is_flat(value: dict[str, Any] | list[Any]) -> bool:
    """True for a few numbers or texts, by the first of them."""
    first = next(iter(value.values())) if isinstance(value, dict) else value[0]
    return len(value) <= FLAT and not isinstance(first, dict | list)


def read_content(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The entries of a file in JSON, which says under `kind` what it holds; empty where it holds a list, or a value."""
    content = read_json(path)
    return content if isinstance(content, dict) else {}


def kept(value: Any) -> Any:
    """A value as plain JSON.

    Examples
    --------
    >>> restored(dict[str, np.ndarray], kept({"a": np.array([1.5, np.nan])}))
    {'a': array([1.5, nan])}
    """
    if type(value) in PLAIN:
        return value
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, np.generic):
        value = value.item()
    if value is pd.NA:
        return None
    if isinstance(value, float) and not math.isfinite(value):
        return {FLOAT: str(value)}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Path | date):
        return str(value)
    if isinstance(value, pd.DataFrame):
        return _kept_frame(value)
    if isinstance(value, np.ndarray | pd.Index):
        return _kept_array(np.asarray(value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {each.name: kept(getattr(value, each.name)) for each in _fields(type(value))}
    if isinstance(value, Mapping):
        if all(isinstance(name, str) for name in value):
            return {str(name): kept(each) for name, each in value.items()}
        return {PAIRS: [[kept(name), kept(each)] for name, each in value.items()]}
    if isinstance(value, Sequence):
        return [kept(each) for each in value]
    raise TypeError(f"a {type(value).__name__} cannot be kept in a file")


@functools.cache
def _fields(form: type) -> list[dataclasses.Field[Any]]:
    """The fields of a dataclass that are kept: all that it is made of, but for those with `NOT_KEPT` and a default."""
    return [each for each in dataclasses.fields(form) if each.init and not each.metadata.get("not kept")]


def _kept_array(array: np.ndarray) -> dict[str, Any]:
    if array.dtype.kind in NUMBERS:
        first = array.ravel()[:SEEN]
        level = AS_IT_IS if array.dtype.kind == "f" and len(np.unique(first)) > SEEN // 2 else PACKED
        packed = base64.b64encode(zlib.compress(np.ascontiguousarray(array).tobytes(), level)).decode()
        return {ARRAY: array.dtype.str, "shape": list(array.shape), "bytes": packed}
    values = array.ravel().tolist()
    if not {type(each) for each in values} <= PLAIN:
        values = [kept(each) for each in values]
    return {ARRAY: "object", "shape": list(array.shape), "values": values}


def _kept_frame(frame: pd.DataFrame) -> dict[str, Any]:
    columns = []
    for number, name in enumerate(frame.columns):
        values = frame.iloc[:, number]
        columns.append({"name": kept(name), "dtype": str(values.dtype), "values": _kept_array(_plain(values))})
    index = None if isinstance(frame.index, pd.RangeIndex) and frame.index.equals(pd.RangeIndex(len(frame))) else {
        "name": frame.index.name, "dtype": str(frame.index.dtype), "values": _kept_array(_plain(frame.index)),
    }  # fmt: skip
    return {FRAME: columns, "rows": len(frame), "index": index}


def _plain(values: pd.Series | pd.Index) -> np.ndarray:
    """Values of any type as an array: numbers as they are, all else as objects."""
    array = values.to_numpy() if isinstance(values.dtype, np.dtype) else values.astype(object).to_numpy()
    return array if array.dtype.kind in NUMBERS else np.asarray(array, dtype=object)


def restored(form: Any, value: Any) -> Any:
    """A value of a type, from what `kept` made of it.

    Raises
    ------
    TypeError, ValueError, KeyError
        where it is of another type, or fields are missing or too many
    """
    if form is Any or form is object:
        return _restored_plain(value)
    origin, arguments = get_origin(form), get_args(form)
    if origin in (Union, types.UnionType):
        return _restored_union(arguments, value)
    if origin is Literal:
        return value
    if origin is tuple:
        forms = arguments[:1] * len(_is(list, value)) if arguments[1:] == (Ellipsis,) else arguments
        return tuple(restored(each, part) for each, part in zip(forms, value, strict=True))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        pairs = value[PAIRS] if PAIRS in _is(dict, value) else value.items()
        return {restored(arguments[0], name): restored(arguments[1], each) for name, each in pairs}
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return [restored(arguments[0], each) for each in _is(list, value)]
    if form is np.ndarray or origin is np.ndarray:
        return _restored_array(value)
    if form is pd.DataFrame:
        return _restored_frame(value)
    if form is pd.Index:
        return pd.Index(_restored_array(value))
    if dataclasses.is_dataclass(form):
        return _restored_dataclass(cast(Any, form), value)
    if form is float:
        return _number(value)
    if form is date:
        return date.fromisoformat(value)
    if isinstance(form, type) and issubclass(form, Enum | Path):
        return form(value)
    if form in (str, int, bool) and type(value) is form:
        return value
    raise TypeError(f"{value!r} is no {form}")


def _is(form: type[T], value: Any) -> T:
    """The value, which must be of this type."""
    if not isinstance(value, form):
        raise TypeError(f"{value!r} is no {form.__name__}")
    return value


def _restored_dataclass(form: Any, value: Any) -> Any:
    hints = get_type_hints(form)
    names = {each.name for each in _fields(form)}
    if not isinstance(value, dict) or not set(value) <= names:
        raise ValueError(f"a {form.__name__} holds {', '.join(sorted(names))}")
    return form(**{name: restored(hints[name], each) for name, each in value.items()})


def _restored_union(forms: Sequence[Any], value: Any) -> Any:
    if value is None and type(None) in forms:
        return None
    faults = []
    for form in forms:
        if form is not type(None):
            try:
                return restored(form, value)
            except (TypeError, ValueError, KeyError, AttributeError) as error:
                faults.append(str(error))
    raise TypeError("; ".join(faults))


def _number(value: Any) -> float:
    if isinstance(value, dict):
        return float(value[FLOAT])
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{value!r} is not a number")
    return value


def _restored_plain(value: Any) -> Any:
    """JSON as it is, but for what it has no form for."""
    if isinstance(value, list):
        return [_restored_plain(each) for each in value]
    if not isinstance(value, dict):
        return value
    if FLOAT in value:
        return float(value[FLOAT])
    if ARRAY in value:
        return _restored_array(value)
    if FRAME in value:
        return _restored_frame(value)
    if PAIRS in value:
        return {_restored_plain(name): _restored_plain(each) for name, each in value[PAIRS]}
    return {name: _restored_plain(each) for name, each in value.items()}


def _restored_array(value: Any) -> np.ndarray:
    shape = tuple(value["shape"])
    size = math.prod(shape)
    if "bytes" in value:
        form = np.dtype(value[ARRAY])
        if swells(size * form.itemsize, len(value["bytes"])):
            raise ValueError(f"{size:,} numbers in {len(value['bytes']):,} bytes")
        # no more than the shape asks for, however much a small file would unpack to
        most = size * form.itemsize + 1
        unpacked = zlib.decompressobj().decompress(base64.b64decode(value["bytes"], validate=True), most)
        return np.frombuffer(unpacked, dtype=form).reshape(shape).copy()
    if len(value["values"]) != size:
        raise ValueError(f"{len(value['values']):,} values for {size:,}")
    array = np.empty(size, dtype=object)
    array[:] = [_restored_plain(each) for each in value["values"]]
    return array.reshape(shape)


def _restored_frame(value: Any) -> pd.DataFrame:
    index = value["index"]
    rows = pd.RangeIndex(value["rows"])
    labels = rows if index is None else pd.Index(
        _restored_array(index["values"]), dtype=index["dtype"], name=index["name"]
    )  # fmt: skip
    columns = [
        pd.Series(_restored_array(each["values"]), index=labels, dtype=each["dtype"], name=each["name"])
        for each in value[FRAME]
    ]
    return pd.concat(columns, axis=1) if columns else pd.DataFrame(index=labels)
