"""The items of a large collection that a draw needs, copied into the study: nothing else of it is looked at again."""

from __future__ import annotations

import contextlib
import hashlib
import tarfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path, PurePosixPath

import numpy as np
import pandas as pd

from relstudy.common.runtime.errors import Fault, RelstudyError, TableError
from relstudy.common.runtime.files import replacing
from relstudy.common.tables.checked_table import Checked
from relstudy.common.tables.formats.table_files import write_table
from relstudy.common.tables.meaning.study_folder import ITEMS
from relstudy.studyapp.collection.items import Collection
from relstudy.studyapp.collection.kinds import HEAD, begins_captions, media_type
from relstudy.studyapp.collection.large_collection import LargeCollection
from relstudy.studyapp.config.study import Study

FILES_OF_ITEMS = "items"
"""Folder in the study for the pictures, sounds and films of the items that were drawn."""
LARGEST = 1 << 30
"""Bytes of a file that is copied."""


def copy_items(collection: LargeCollection, ids: Iterable[str], folder: Path) -> int:
    """Write FOLDER/items.parquet, with the pictures that it names beside it; how many items it holds.

    Raises
    ------
    TableError
        listing pictures that are not there, or that browsers do not show
    """
    found = collection.positions(list(ids))
    frame = collection.rows(np.unique(found[found >= 0]))
    if (frame[["path", "captions"]] != "").any(axis=None):
        _copy_files(frame, collection, folder)
    Collection.of(Checked(frame, str(collection.source)), folder)  # whose faults are said now, not when it is served
    write_table(frame, folder / ITEMS)
    return len(frame)


def _copy_files(frame: pd.DataFrame, collection: LargeCollection, folder: Path) -> None:
    """Copy the files that items name into the study, and put their places there into the table."""
    faults: list[Fault] = []
    with _opened(collection.root) as read:
        for name, what in (("path", "a file that browsers show or play"), ("captions", "a file of captions in WebVTT")):
            wanted = frame[name] != ""
            taken = zip(*(frame.loc[wanted, each] for each in ("item_id", "kind", name)), strict=True)
            places = []
            for item_id, kind, path in taken:
                content = read(path) if _is_plain(path) else b""
                head = content[:HEAD]
                if not (begins_captions(head) if name == "captions" else media_type(head, kind)):
                    allowed = f"item {item_id!r}: {what} is needed there, in {collection.root}"
                    faults.append(Fault(str(collection.source), None, name, path, allowed))
                places.append("" if faults else _kept(content, str(item_id), path, folder))
            frame.loc[wanted, name] = places
    if faults:
        raise TableError(faults[: TableError.SHOWN], max(len(faults) - TableError.SHOWN, 0))


def _kept(content: bytes, item_id: str, path: str, folder: Path) -> str:
    """Writes an item's file into the study; its path there, which says nothing of where it was."""
    (folder / FILES_OF_ITEMS).mkdir(exist_ok=True)
    name = hashlib.sha256(item_id.encode()).hexdigest()[:20]
    place = f"{FILES_OF_ITEMS}/{name}{PurePosixPath(path).suffix.lower()}"
    with replacing(folder / place) as beside:
        beside.write_bytes(content)
    return place


def items_needed(folder: Path, pairs: pd.DataFrame) -> list[str]:
    """Ids of the items of some pairs, of those that the study has by now, and of those that study.toml names."""
    ids = [*pairs["query_id"], *pairs["result_id"]]
    if (folder / ITEMS).is_file():
        ids += pd.read_parquet(folder / ITEMS, columns=["item_id"])["item_id"].tolist()
    if (folder / "study.toml").is_file():
        study = Study.load(folder)
        ids += study.named_items
    return list(dict.fromkeys(map(str, ids)))


def _is_plain(path: str) -> bool:
    """True for a path that goes down from where it starts."""
    parts = PurePosixPath(path).parts
    return bool(parts) and not PurePosixPath(path).is_absolute() and ".." not in parts


@contextlib.contextmanager
def _opened(root: Path) -> Iterator[Callable[[str], bytes]]:
    """A reader of a picture's bytes by its path: from a folder, links followed, or a tar or zip file; none where
    it is not there, or too large."""
    if root.is_dir():
        inside = root.absolute()

        def from_folder(path: str) -> bytes:
            file = inside / path
            return file.read_bytes() if file.is_file() and file.stat().st_size <= LARGEST else b""

        yield from_folder
    elif root.is_file() and zipfile.is_zipfile(root):
        with zipfile.ZipFile(root) as packed:
            names = {PurePosixPath(each.filename).as_posix(): each for each in packed.infolist()}

            def from_zip(path: str) -> bytes:
                found = names.get(PurePosixPath(path).as_posix())
                return packed.read(found) if found is not None and found.file_size <= LARGEST else b""

            yield from_zip
    elif root.is_file() and tarfile.is_tarfile(root):
        with tarfile.open(root) as archive:
            members = {PurePosixPath(each.name).as_posix(): each for each in archive if each.isfile()}

            def from_tar(path: str) -> bytes:
                found = members.get(PurePosixPath(path).as_posix())
                held = None if found is None or found.size > LARGEST else archive.extractfile(found)
                return b"" if held is None else held.read()

            yield from_tar
    else:
        raise RelstudyError(f"{root}: pictures are looked for there, and it is not a folder, zip or tar file")
