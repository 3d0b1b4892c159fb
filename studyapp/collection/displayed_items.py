"""Items as raters see them, found by an opaque key: no name from a request ever becomes a path."""

from __future__ import annotations

import functools
import hashlib
import hmac
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.collection.items import Collection, Item
from relstudy.studyapp.collection.kinds import PLAYED
from relstudy.studyapp.collection.lists import LISTS, read_lists
from relstudy.studyapp.collection.markup import clean_html, html_of_markdown
from relstudy.studyapp.config.study_parts import PICTURE, Display

TURNED = 5
"""From this EXIF orientation on a picture lies on its side."""


@dataclass(frozen=True)
class CardField:
    """One line of a card: `look` is title, price or plain."""

    label: str
    value: str
    look: str = "plain"


@dataclass(frozen=True, eq=False)
class DisplayedItem:
    """One thing of the collection, with what raters see of it; the same only as itself.

    Parameters
    ----------
    key : opaque
    path : the file of a picture, a sound, a film or a card's picture
    more : what else is shown of it: alt, fields (of a card), captions (a file), description, narrative, highlights,
        members (ids of the results in a list)
    """

    id: str
    key: str
    kind: str
    title: str
    text: str
    path: Path | None
    role: str
    more: Mapping[str, Any] = field(default_factory=dict)

    @functools.cached_property
    def look(self) -> str:
        """A short hash of what a rater sees; of a file, of its name."""
        shown = "\x1f".join((self.kind, self.title, self.text, "" if self.path is None else self.path.name))
        shown += f"\x1f{json.dumps(self.more, sort_keys=True, default=str)}" if self.more else ""
        return hashlib.sha256(shown.encode()).hexdigest()[:16]

    @property
    def fields(self) -> tuple[CardField, ...]:
        """The lines of a card."""
        return tuple(CardField(*line) for line in self.more.get("fields", ()))

    @property
    def members(self) -> tuple[str, ...]:
        """Ids of the results in a list, best first."""
        return tuple(self.more.get("members", ()))

    @property
    def captions(self) -> Path | None:
        """The file of captions."""
        return self.more.get("captions")

    @functools.cached_property
    def html(self) -> str:
        """Its text as harmless html; empty for what is no html."""
        if self.kind == "markdown":
            return clean_html(html_of_markdown(self.text))
        return clean_html(self.text) if self.kind == "html" else ""

    @functools.cached_property
    def size(self) -> tuple[int, int] | None:
        """Width and height of its picture as it is shown, so that a page can leave room for it; None where unknown."""
        if self.path is None or self.kind in PLAYED:
            return None
        from PIL import Image

        try:
            with Image.open(self.path) as picture:
                width, height = picture.size
                is_turned = picture.getexif().get(0x0112, 1) >= TURNED
        except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
            return None
        return (height, width) if is_turned else (width, height)


def item_key(secret: bytes, item_id: str) -> str:
    """The key under which raters see an item; says nothing about it.

    Examples
    --------
    >>> len(item_key(b"0" * 32, "sunset"))
    20
    """
    return hmac.new(secret, b"item:" + item_id.encode(), hashlib.sha256).hexdigest()[:20]


def card_fields(item: Item, displays: Mapping[str, Display]) -> tuple[list[CardField], bool]:
    """The lines of a card, and whether its picture is shown: what its display lists, and nothing else.

    Raises
    ------
    RelstudyError
        where no display says what is shown, or it lists a column that there is not
    """
    display = displays.get(item.display) if item.display else next(iter(displays.values()), None)
    if display is None or (not item.display and len(displays) > 1):
        which = f"no [display.{item.display}]" if item.display else "several" if displays else "no [display.NAME]"
        raise RelstudyError(
            f"collection.csv: item {item.id!r} is a card, and study.toml has {which}"
            + (" displays; the column display names one of them" if which == "several" else "")
            + ("" if which == "several" else "; its fields say which columns are shown")
        )
    lines = []
    for name in display.fields:
        if name == PICTURE:
            continue
        if name not in item.columns:
            lists = f"study.toml: [display.{display.name}] lists {name}"
            raise RelstudyError(f"{lists}, which is not a column of collection.csv")
        value = item.columns[name].strip()
        look = "title" if name == "title" else "price" if name == display.price else "plain"
        if value:
            lines.append(CardField(display.labels.get(name, ""), value, look))
    return lines, PICTURE in display.fields


def _displayed(item: Item, secret: bytes, displays: Mapping[str, Display]) -> DisplayedItem:
    more: dict[str, Any] = {
        "alt": item.alt,
        "captions": item.captions,
        "description": item.description,
        "narrative": item.narrative,
        "highlights": [list(span) for span in item.highlights],
    }
    title, text, path = item.title, item.text, item.path
    if item.kind == "card":
        lines, has_picture = card_fields(item, displays)
        more["fields"] = [[line.label, line.value, line.look] for line in lines]
        titles = [line.value for line in lines if line.look == "title"]
        title, text, path = "".join(titles), "", path if has_picture else None
    more = {name: value for name, value in more.items() if value}
    return DisplayedItem(item.id, item_key(secret, item.id), item.kind, title, text, path, item.role, more)


class DisplayedItems:
    """The collection's items that a study shows, and the lists of them that it compares (kind "list")."""

    def __init__(self, items: Iterable[DisplayedItem]) -> None:
        self.by_id = {item.id: item for item in items}
        self.by_key = {item.key: item for item in self.by_id.values()}

    @classmethod
    def load(cls, folder: Path, secret: bytes, displays: Mapping[str, Display] | None = None) -> DisplayedItems:
        """Read FOLDER/collection.csv and lists.csv; `displays` say what is shown of cards."""
        items = {item.id: _displayed(item, secret, displays or {}) for item in Collection.load(folder)}
        for each in read_lists(folder).values():
            if each.id in items or not items.keys() >= set(each.results):
                raise RelstudyError(
                    f"{folder / LISTS}: list {each.id!r} needs its own id, and results that collection.csv has"
                )
            more = {"members": list(each.results)}
            items[each.id] = DisplayedItem(each.id, item_key(secret, each.id), "list", "", "", None, "result", more)
        return cls(items.values())

    @classmethod
    def of_rows(cls, rows: Iterable[list[Any]], folder: Path, secret: bytes) -> DisplayedItems:
        """The items of `rows`, with their files in `folder`."""
        return cls(
            DisplayedItem(
                item_id,
                item_key(secret, item_id),
                kind,
                title,
                text,
                folder / path if path else None,
                role,
                _with_path(more[0], folder) if more else {},
            )
            for item_id, kind, title, text, path, role, *more in rows
        )

    def rows(self, folder: Path, item_ids: Iterable[str]) -> dict[str, list[Any]]:
        """Rows that are stored of these items, by id: id, kind, title, text, path in `folder`, role and, if there is
        more to be shown, that."""
        return {
            item.id: [
                *(item.id, item.kind, item.title, item.text, _within(folder, item.path), item.role),
                *([{**item.more, **_captions(folder, item)}] if item.more else []),
            ]
            for item in (self.by_id[item_id] for item_id in item_ids if item_id in self.by_id)
        }

    def __getitem__(self, item_id: str) -> DisplayedItem:
        return self.by_id[item_id]

    def whole(self, item_ids: Iterable[str]) -> list[str]:
        """The ids, and those of what the lists among them hold, each once."""
        both = ((item_id, *(self.by_id[item_id].members if item_id in self.by_id else ())) for item_id in item_ids)
        return list(dict.fromkeys(name for names in both for name in names))

    def require(self, item_ids: Iterable[str], what: str) -> None:
        """Refuse ids that the collection does not have."""
        unknown = sorted({item_id for item_id in item_ids if item_id not in self.by_id})
        if unknown:
            shown = ", ".join(unknown[:5]) + (f" and {len(unknown) - 5} more" if len(unknown) > 5 else "")
            raise RelstudyError(f"{what}: not in collection.csv: {shown}")


def _within(folder: Path, path: Path | None) -> str:
    return "" if path is None else path.relative_to(folder).as_posix()


def _captions(folder: Path, item: DisplayedItem) -> dict[str, str]:
    return {"captions": _within(folder, item.captions)} if item.captions is not None else {}


def _with_path(more: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    return {**more, **({"captions": folder / more["captions"]} if "captions" in more else {})}
