"""Items as raters see them, found by an opaque key: no name from a request ever becomes a path."""

from __future__ import annotations

import functools
import hashlib
import hmac
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from relstudy.common.errors import RelstudyError
from relstudy.studyapp.collection.items import Collection


@dataclass(frozen=True)
class DisplayedItem:
    """One thing of the collection: a picture, or a text with a title."""

    id: str
    key: str
    kind: str
    title: str
    text: str
    path: Path | None
    role: str

    @functools.cached_property
    def look(self) -> str:
        """A short hash of what a rater sees; of a picture, of its file's name."""
        shown = "\x1f".join((self.kind, self.title, self.text, "" if self.path is None else self.path.name))
        return hashlib.sha256(shown.encode()).hexdigest()[:16]


def item_key(secret: bytes, item_id: str) -> str:
    """The key under which raters see an item; says nothing about it.

    Examples
    --------
    >>> len(item_key(b"0" * 32, "sunset"))
    20
    """
    return hmac.new(secret, b"item:" + item_id.encode(), hashlib.sha256).hexdigest()[:20]


class DisplayedItems:
    """The collection's items that a study shows."""

    def __init__(self, items: Iterable[DisplayedItem]) -> None:
        self.by_id = {item.id: item for item in items}
        self.by_key = {item.key: item for item in self.by_id.values()}

    @classmethod
    def load(cls, folder: Path, secret: bytes) -> DisplayedItems:
        """Read FOLDER/collection.csv."""
        return cls(
            DisplayedItem(item.id, item_key(secret, item.id), item.kind, item.title, item.text, item.path, item.role)
            for item in Collection.load(folder)
        )

    @classmethod
    def of_rows(cls, rows: Iterable[list[str]], folder: Path, secret: bytes) -> DisplayedItems:
        """The items of `rows`, with their pictures in `folder`."""
        return cls(
            DisplayedItem(item_id, item_key(secret, item_id), kind, title, text, folder / path if path else None, role)
            for item_id, kind, title, text, path, role in rows
        )

    def rows(self, folder: Path, item_ids: Iterable[str]) -> dict[str, list[str]]:
        """Rows that are stored of these items, by id: id, kind, title, text, path in `folder`, role."""
        return {
            item.id: [
                *(item.id, item.kind, item.title, item.text),
                *("" if item.path is None else item.path.relative_to(folder).as_posix(), item.role),
            ]
            for item in (self.by_id[item_id] for item_id in item_ids if item_id in self.by_id)
        }

    def __getitem__(self, item_id: str) -> DisplayedItem:
        return self.by_id[item_id]

    def require(self, item_ids: Iterable[str], what: str) -> None:
        """Refuse ids that the collection does not have."""
        unknown = sorted({item_id for item_id in item_ids if item_id not in self.by_id})
        if unknown:
            shown = ", ".join(unknown[:5]) + (f" and {len(unknown) - 5} more" if len(unknown) > 5 else "")
            raise RelstudyError(f"{what}: not in collection.csv: {shown}")
