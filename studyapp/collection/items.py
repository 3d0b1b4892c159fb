"""collection.csv: the pictures and texts that a study is about, and which of them may ask and which may answer."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from relstudy.common.charts.pictures import read_picture
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.checked_table import Checked
from relstudy.common.tables.formats.table_files import read_table
from relstudy.common.tables.meaning.study_folder import COLLECTION, items_file
from relstudy.studyapp.collection.kinds import (
    KINDS,
    PARADIGMS,
    PLAYED,
    begins_captions,
    head_of,
    media_type,
    paradigm_of,
)
from relstudy.studyapp.collection.markup import html_of_markdown, plain_text

if TYPE_CHECKING:
    from PIL import Image

ROLES = ("both", "query", "result")
COLUMNS = (
    *("path", "text", "title", "keywords", "kind", "role", "alt", "captions", "description", "narrative"),
    *("highlights", "display"),
)
FILES = ("image", "card", *PLAYED)
"""Kinds with a file; that of a card is its picture, and need not be."""
MOST_ABSENT = 3
"""Files that are not there and are named each; more are counted."""
LONGEST_SIDE = 256


@dataclass(frozen=True)
class Item:
    """A picture, a text, a card, a sound or a film.

    Parameters
    ----------
    id : unique in the collection
    kind : one of KINDS
    path : the file of a picture, a sound, a film or a card's picture, inside the study's folder; None without one
    text : the text itself, or its html or markdown; the transcript of a sound or a film; may be empty for a picture
    title : shown with it
    keywords : lower case, for the keyword system
    role : "query" (asks only), "result" (answers only) or "both"
    alt : what a picture shows, for who does not see it
    captions : the captions' file of a sound or a film
    description, narrative : what a query is after, in a sentence and at length; no system sees them
    highlights : begins and ends of what is marked in a text
    display : which [display.NAME] of study.toml shows a card; empty: the only one
    columns : everything that collection.csv says of it, by column
    """

    id: str
    kind: str
    path: Path | None = None
    text: str = ""
    title: str = ""
    keywords: frozenset[str] = field(default_factory=frozenset)
    role: str = "both"
    alt: str = ""
    captions: Path | None = None
    description: str = ""
    narrative: str = ""
    highlights: tuple[tuple[int, int], ...] = ()
    display: str = ""
    columns: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)

    @property
    def paradigm(self) -> str:
        """The way in which it asks: image or text."""
        return paradigm_of(self.kind)

    @property
    def plain(self) -> str:
        """Its text without any markup.

        Examples
        --------
        >>> Item("a", "html", text="<p>a <b>lake</b></p>").plain, Item("b", "markdown", text="a *lake*").plain
        ('a lake', 'a lake')
        """
        if self.kind not in ("html", "markdown"):
            return self.text
        return plain_text(self.text if self.kind == "html" else html_of_markdown(self.text))

    @property
    def words(self) -> frozenset[str]:
        """The keywords; for what is not a picture and has none, the words of its title and text."""
        return self.keywords if self.keywords or self.kind == "image" else tokens(f"{self.title} {self.plain}")


class Collection:
    """The items of a study, in the order of the file.

    Examples
    --------
    >>> sky = Item("sky", "image", keywords=split_keywords("blue, sky"))
    >>> collection = Collection([sky, Item("q1", "text", text="a blue sky", role="query")])
    >>> collection.position("q1"), [item.id for item in collection.queries("text")]
    (1, ['q1'])
    >>> collection.results("text").tolist()
    [0]
    """

    def __init__(self, items: Iterable[Item], folder: Path | None = None, assumed_queries: int = 0) -> None:
        """`assumed_queries`: how many texts were taken for queries only because they stand beside pictures."""
        self.items = tuple(items)
        self.folder = folder
        self.assumed_queries = assumed_queries
        self._positions = {item.id: position for position, item in enumerate(self.items)}

    @classmethod
    def load(cls, folder: str | Path) -> Collection:
        """The items that a study shows, those that `sample` copied to FOLDER/items.parquet, else FOLDER/collection.csv;
        see `Collection.of`."""
        return Collection.of(read_table(items_file(Path(folder))), folder)

    @classmethod
    def whole(cls, folder: str | Path) -> Collection:
        """Read FOLDER/collection.csv; see `Collection.of`."""
        return Collection.of(read_table(Path(folder) / COLLECTION), folder)

    @classmethod
    def of(cls, table: Checked, folder: str | Path) -> Collection:
        """The items of a table, with pictures in `folder`.

        `item_id` is required. `kind` is one of KINDS (default: image where `path` is filled, else text). A picture, a
        sound and a film need `path`, relative to the folder and staying inside it, which a card may have for its
        picture; what is read needs `text` or `title`, a card `title`. `keywords` are separated by commas, semicolons
        or bars, or else by blanks. `role` is query, result or both; where it is empty, texts in a collection that
        holds anything else are queries only, pictures are both, and everything else is results only. `alt`,
        `captions`, `description`, `narrative`, `highlights` ("12-30 41-50") and `display` may be there.

        Raises
        ------
        RelstudyError
            when the file cannot be read
        TableError
            listing every wrong value with its row
        """
        folder = Path(folder)
        table.require("item_id")
        frame = table.frame.fillna("")
        number = len(frame)
        values = {
            name: list(frame[name].astype("str").str.strip()) if name in frame else [""] * number for name in COLUMNS
        }
        ids = table.texts("item_id")
        table.add(ids.duplicated(), "item_id", "each item may appear there once")
        kinds = [
            kind.lower() or ("image" if path else "text")
            for kind, path in zip(values["kind"], values["path"], strict=True)
        ]
        spans = [_spans(said, text) for said, text in zip(values["highlights"], values["text"], strict=True)]
        table.add([kind not in KINDS for kind in kinds], "kind", f"one of {', '.join(KINDS)} is allowed")
        roles_allowed = "query, result or both is allowed, or empty"
        table.add([role not in (*ROLES, "") for role in values["role"]], "role", roles_allowed)
        _check_files(table, folder, kinds, values)
        silent = [
            kind in ("text", "html", "markdown") and not text and not title
            for kind, text, title in zip(kinds, values["text"], values["title"], strict=True)
        ]
        table.add(silent, "item_id", "this text needs a value in column text or title")
        untitled = [kind == "card" and not title for kind, title in zip(kinds, values["title"], strict=True)]
        table.add(untitled, "item_id", "this card needs a value in column title")
        unread = [span is None for span in spans]
        table.add(unread, "highlights", "begins and ends in the text are allowed, such as 12-30 41-50")
        table.raise_faults()
        if number == 0:
            raise RelstudyError(f"{table.file} is empty: add at least one query and one result")
        others = {kind for kind in kinds if kind != "text"}
        roles = dict.fromkeys(KINDS, "result") | {"image": "both", "text": "query" if others else "both"}
        unsaid = [kind == "text" and not role for kind, role in zip(kinds, values["role"], strict=True)]
        names = [str(name) for name in frame.columns]
        rows = frame.astype("str").itertuples(index=False, name=None)
        return cls(
            (
                Item(
                    id=item_id,
                    kind=kinds[k],
                    path=folder / values["path"][k] if kinds[k] in FILES and values["path"][k] else None,
                    text=values["text"][k],
                    title=values["title"][k],
                    keywords=split_keywords(values["keywords"][k]),
                    role=values["role"][k] or roles[kinds[k]],
                    alt=values["alt"][k],
                    captions=folder / values["captions"][k] if values["captions"][k] else None,
                    description=values["description"][k],
                    narrative=values["narrative"][k],
                    highlights=spans[k] or (),
                    display=values["display"][k],
                    columns=dict(zip(names, row, strict=True)) if kinds[k] == "card" else {},
                )
                for k, (item_id, row) in enumerate(zip(ids, rows, strict=True))
            ),
            folder,
            sum(unsaid) if others else 0,
        )

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Item]:
        return iter(self.items)

    def __getitem__(self, item_id: str) -> Item:
        return self.items[self.position(item_id)]

    def with_words(self) -> Iterator[Item]:
        """All items in their order, with their words at least."""
        return iter(self.items)

    def asking(self, query: Item) -> Item:
        """The query with all that a system may compare by."""
        return query

    def __contains__(self, item_id: object) -> bool:
        return item_id in self._positions

    def position(self, item_id: str) -> int:
        """The item's position in the file, counted from 0."""
        try:
            return self._positions[item_id]
        except KeyError:
            raise RelstudyError(f"collection.csv: there is no item {item_id!r}") from None

    def positions(self, item_ids: Sequence[str] | np.ndarray) -> np.ndarray:
        """Positions of some items, int64, or -1."""
        return np.fromiter((self._positions.get(each, -1) for each in item_ids), np.int64, len(item_ids))

    @cached_property
    def ids(self) -> np.ndarray:
        """Ids in the order of the file, object [items]."""
        return np.array([item.id for item in self.items], dtype=object)

    @cached_property
    def id_hashes(self) -> np.ndarray:
        """A number for each id that says nothing of its place in the file, uint64 [items]."""
        import pandas as pd

        return np.asarray(pd.util.hash_array(self.ids), dtype=np.uint64)

    @cached_property
    def has_images(self) -> bool:
        return any(item.kind == "image" for item in self.items)

    def queries(self, paradigm: str) -> list[Item]:
        """Items that may ask: pictures for query by image, everything else for query by text."""
        return [item for item in self.items if item.paradigm == paradigm and item.role != "result"]

    def results(self, paradigm: str) -> np.ndarray:
        """Positions of the items that may answer, int64. A picture is answered by pictures; a text by anything."""
        return self._results[paradigm]

    @cached_property
    def _results(self) -> dict[str, np.ndarray]:
        answering = [(position, item.kind) for position, item in enumerate(self.items) if item.role != "query"]
        return {
            "image": np.array([position for position, kind in answering if kind == "image"], dtype=np.int64),
            "text": np.array([position for position, _ in answering], dtype=np.int64),
        }

    def roles(self) -> dict[str, Any]:
        """Numbers of pictures and texts that may ask and may answer, and of texts that were only taken for queries."""
        return {
            "queries": {kind: len(self.queries(kind)) for kind in PARADIGMS},
            "results": {
                kind: sum(item.kind == kind and item.role != "query" for item in self.items)
                for kind in KINDS
                if kind in PARADIGMS or any(item.kind == kind for item in self.items)
            },
            "assumed_queries": self.assumed_queries,
        }

    def paradigms(self) -> tuple[str, ...]:
        """The ways of asking that this collection allows, of image and text."""
        return tuple(kind for kind in PARADIGMS if self.queries(kind) and len(self.results(kind)) > 1)

    def picture(self, position: int, longest: int = LONGEST_SIDE) -> Image.Image:
        """The picture at that position as RGB, its longer side at most `longest` pixels; transparency on white.

        Raises
        ------
        RelstudyError
            when the item is not a picture or its file cannot be decoded
        """
        item = self.items[position]
        if item.path is None or item.kind in PLAYED:
            raise RelstudyError(f"item {item.id!r} is of kind {item.kind}; a picture is needed")
        return read_picture(item.path, longest)

    @cached_property
    def fingerprint(self) -> str:
        """A short hash of everything a system can see: ids, texts, keywords, and what is in the pictures' files.

        A copy of a study has the fingerprint of the study.
        """
        digest = hashlib.sha256()
        for item in self.with_words():
            digest.update("\x1f".join((item.id, item.kind, item.text, item.title, *sorted(item.keywords))).encode())
            if item.path is not None:
                stat = item.path.stat()
                digest.update(b"\x1e" + _content_hash(item.path, stat.st_size, stat.st_mtime_ns))
            digest.update(b"\x1d")
        return digest.hexdigest()[:16]


@lru_cache(maxsize=100_000)
def _content_hash(path: Path, _size: int, _changed_at: int) -> bytes:
    """Hash of a file's content, kept as long as the file's size and time stay the same."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").digest()


def split_keywords(text: str) -> frozenset[str]:
    """Keywords as a set, lower case.

    >>> sorted(split_keywords("Sky, green grass")), sorted(split_keywords("sky grass"))
    (['green grass', 'sky'], ['grass', 'sky'])
    """
    pattern = r"[,;|]" if re.search(r"[,;|]", text) else r"\s+"
    return frozenset(word.strip().lower() for word in re.split(pattern, text) if word.strip())


def tokens(text: str) -> frozenset[str]:
    """The words of a text, lower case.

    >>> sorted(tokens("A blue sky, the sea"))
    ['a', 'blue', 'sea', 'sky', 'the']
    """
    return frozenset(re.findall(r"\w+", text.lower()))


def _check_files(table: Checked, folder: Path, kinds: list[str], values: Mapping[str, list[str]]) -> None:
    """Note every file that is absent, leads out of the folder, or is nothing that browsers show or play."""
    root, paths = folder.resolve(), values["path"]
    if "path" in table.frame:
        played = np.array([kind in PLAYED for kind in kinds], bool)
        has_file = np.array(
            [kind in FILES and (kind != "card" or path != "") for kind, path in zip(kinds, paths, strict=True)], bool
        )
        inside = np.array([_inside(root, path) for path in paths], bool)
        there = np.array([ok and os.path.isfile(root / path) for path, ok in zip(paths, inside, strict=True)], bool)
        table.add(has_file & ~inside, "path", f"a path that stays inside the study's folder {folder} is allowed")
        for of_kind, what, several in (
            (~played, "picture", "pictures"),
            (played, "sound's or a film", "sounds and films"),
        ):
            asked = of_kind & has_file & inside
            absent = np.flatnonzero(asked & ~there)
            if len(absent) > MOST_ABSENT:
                first = f"the first, of row {table.row(int(absent[0]))}, is {paths[absent[0]]!r}"
                table.fault("path", f"{len(absent):,} of {asked.sum():,} {several} are not in {folder}; {first}")
            else:
                table.add(asked & ~there, "path", f"a {what}'s file is needed there, seen from {folder}")
        shown = [
            not ok or media_type(head_of(root / path), kind) is not None
            for path, kind, ok in zip(paths, kinds, has_file & there, strict=True)
        ]
        wrong = ~np.array(shown, bool)
        table.add(wrong & ~played, "path", "a picture that browsers show is needed: JPEG, PNG, GIF or WebP")
        table.add(wrong & played, "path", "a sound or a film that browsers play is needed: MP4, WebM, Ogg, MP3, WAV")
    elif any(kind in ("image", *PLAYED) for kind in kinds):
        table.require("path")
    faulty = [
        path != "" and not (_inside(root, path) and begins_captions(head_of(root / path)))
        for path in values["captions"]
    ]
    table.add(faulty, "captions", f"a file of captions in WebVTT is needed, inside {folder}")


def _spans(said: str, text: str) -> tuple[tuple[int, int], ...] | None:
    """Begins and ends as they are written; None where they are none of the text."""
    found = tuple((int(a), int(b)) for a, b in re.findall(r"(?<![\d-])(\d{1,9})-(\d{1,9})(?![\d-])", said))
    left = re.sub(r"(?<![\d-])\d{1,9}-\d{1,9}(?![\d-])", "", said).strip(" ,;")
    return None if left or any(not a < b <= len(text) for a, b in found) else found


def _inside(root: Path, path: str) -> bool:
    # realpath follows links, so that a link cannot lead out either; of a loop of links it makes no error
    if not path or Path(path).is_absolute() or "\x00" in path:
        return False
    return Path(os.path.realpath(root / path)).is_relative_to(root)
