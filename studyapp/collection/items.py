"""collection.csv: the pictures and texts that a study is about, and which of them may ask and which may answer."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from relstudy.common.checked import Checked
from relstudy.common.errors import RelstudyError
from relstudy.common.tables import read_table

IMAGE_TYPES = {
    b"\xff\xd8\xff": "image/jpeg",
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}


def image_type(head: bytes) -> str | None:
    """The media type by the file's first bytes; None for anything but JPEG, PNG, GIF and WebP."""
    for magic, media_type in IMAGE_TYPES.items():
        if head.startswith(magic):
            return media_type
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    return None


def can_be_shown(path: Path) -> bool:
    """True if a file's first bytes are those of a picture that browsers show; what cannot be read is no such file."""
    try:
        with path.open("rb") as handle:
            return image_type(handle.read(16)) is not None
    except OSError:
        return False


if TYPE_CHECKING:
    from PIL import Image

KINDS = ("image", "text")
ROLES = ("both", "query", "result")
LONGEST_SIDE = 256


@dataclass(frozen=True)
class Item:
    """A picture or a text.

    Parameters
    ----------
    id : unique in the collection
    kind : image or text
    path : the picture's file, inside the study's folder; None for a text
    text : the text itself; may be empty for a picture
    title : shown with it
    keywords : lower case, for the keyword system
    role : "query" (asks only), "result" (answers only) or "both"
    """

    id: str
    kind: str
    path: Path | None = None
    text: str = ""
    title: str = ""
    keywords: frozenset[str] = field(default_factory=frozenset)
    role: str = "both"

    @property
    def words(self) -> frozenset[str]:
        """The keywords; for a text without any, the words of its title and text."""
        return self.keywords if self.keywords or self.kind == "image" else tokens(f"{self.title} {self.text}")


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
        """Read FOLDER/collection.csv; see `Collection.of`."""
        return cls.of(read_table(Path(folder) / "collection.csv"), folder)

    @classmethod
    def of(cls, table: Checked, folder: str | Path) -> Collection:
        """The items of a table, with pictures in `folder`.

        `item_id` is required. `kind` is image or text (default: image where `path` is filled, else text). A picture
        needs `path`, relative to the folder and staying inside it; a text needs `text` or `title`. `keywords` are
        separated by commas, semicolons or bars, or else by blanks. `role` is query, result or both; where it is
        empty, texts in a collection that holds pictures are queries only, everything else is both.

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
        columns = {
            name: frame[name].astype("str").str.strip() if name in frame else None
            for name in ("path", "text", "title", "keywords", "kind", "role")
        }
        values = {name: [""] * number if column is None else list(column) for name, column in columns.items()}
        ids = table.texts("item_id")
        table.add(ids.duplicated().to_numpy(), "item_id", "each item may stand there once")
        kinds = [
            kind.lower() or ("image" if path else "text")
            for kind, path in zip(values["kind"], values["path"], strict=True)
        ]
        if columns["kind"] is not None:
            table.add(np.array([kind not in KINDS for kind in kinds], bool), "kind", "image or text is allowed")
        if columns["role"] is not None:
            table.add(
                np.array([role not in (*ROLES, "") for role in values["role"]], bool),
                "role",
                "query, result or both is allowed, or empty",
            )
        root = folder.resolve()
        is_image = np.array([kind == "image" for kind in kinds], bool)
        if columns["path"] is None:
            if is_image.any():
                table.require("path")
        else:
            inside = np.array([_inside(root, path) for path in values["path"]], bool)
            there = np.array([(root / path).is_file() for path in values["path"]], bool)
            table.add(is_image & ~inside, "path", f"a path that stays inside the study's folder {folder} is allowed")
            table.add(is_image & inside & ~there, "path", f"a picture's file is needed there, seen from {folder}")
            shown = [
                not ok or can_be_shown(root / path) for path, ok in zip(values["path"], is_image & there, strict=True)
            ]
            table.add(~np.array(shown, bool), "path", "a picture that browsers show is needed: JPEG, PNG, GIF or WebP")
        silent = np.array(
            [
                kind == "text" and not text and not title
                for kind, text, title in zip(kinds, values["text"], values["title"], strict=True)
            ],
            bool,
        )
        if silent.any():
            table.add(silent, "item_id", "this text needs a value in column text or title")
        table.raise_faults()
        if number == 0:
            raise RelstudyError(f"{table.file}: there is no item; at least a query and a result are needed")
        text_role = "query" if is_image.any() else "both"
        unsaid = [kind == "text" and not role for kind, role in zip(kinds, values["role"], strict=True)]
        return cls(
            (
                Item(
                    id=item_id,
                    kind=kind,
                    path=folder / path if kind == "image" else None,
                    text=text,
                    title=title,
                    keywords=split_keywords(keywords),
                    role=role or ("both" if kind == "image" else text_role),
                )
                for item_id, kind, path, text, title, keywords, role in zip(
                    ids,
                    kinds,
                    values["path"],
                    values["text"],
                    values["title"],
                    values["keywords"],
                    values["role"],
                    strict=True,
                )
            ),
            folder,
            sum(unsaid) if is_image.any() else 0,
        )

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Item]:
        return iter(self.items)

    def __getitem__(self, item_id: str) -> Item:
        return self.items[self.position(item_id)]

    def __contains__(self, item_id: object) -> bool:
        return item_id in self._positions

    def position(self, item_id: str) -> int:
        """The item's position in the file, counted from 0."""
        try:
            return self._positions[item_id]
        except KeyError:
            raise RelstudyError(f"collection.csv: there is no item {item_id!r}") from None

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
        """Items that may ask: pictures for query by image, texts for query by text."""
        return [item for item in self.items if item.kind == paradigm and item.role != "result"]

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
            "queries": {kind: len(self.queries(kind)) for kind in KINDS},
            "results": {kind: sum(item.kind == kind and item.role != "query" for item in self.items) for kind in KINDS},
            "assumed_queries": self.assumed_queries,
        }

    def paradigms(self) -> tuple[str, ...]:
        """The ways of asking that this collection allows, of image and text."""
        return tuple(kind for kind in KINDS if self.queries(kind) and len(self.results(kind)) > 1)

    def picture(self, position: int, longest: int = LONGEST_SIDE) -> Image.Image:
        """The picture at that position as RGB, its longer side at most `longest` pixels; transparency on white.

        Raises
        ------
        RelstudyError
            when the item is no picture or its file cannot be decoded
        """
        item = self.items[position]
        if item.path is None:
            raise RelstudyError(f"item {item.id!r} is a text; a picture is needed")
        return read_picture(item.path, longest)

    @cached_property
    def fingerprint(self) -> str:
        """A short hash of everything a system can see: ids, texts, keywords, and what is in the pictures' files.

        A copy of a study has the fingerprint of the study.
        """
        digest = hashlib.sha256()
        for item in self.items:
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


def read_picture(path: Path, longest: int = LONGEST_SIDE) -> Image.Image:
    """A picture's file as RGB, its longer side at most `longest` pixels; transparency on white."""
    from PIL import Image

    try:
        with Image.open(path) as image:
            image.draft("RGB", (longest, longest))
            if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
                layer = image.convert("RGBA")
                flat = Image.new("RGB", image.size, "white")
                flat.paste(layer, mask=layer.getchannel("A"))
            else:
                flat = image.convert("RGB")
            if max(flat.size) > longest:
                flat.thumbnail((longest, longest), Image.Resampling.BILINEAR)
            return flat
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise RelstudyError(f"{path}: this picture cannot be decoded ({error})") from None


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


def _inside(root: Path, path: str) -> bool:
    # resolve() follows links, so that a link cannot lead out either
    if not path or Path(path).is_absolute() or "\x00" in path:
        return False
    return (root / path).resolve().is_relative_to(root)
