"""A collection from folders of pictures and texts, as people have them: each file is an item."""

from __future__ import annotations

import codecs
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from relstudy.common.runtime.console import progress
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.files import replacing
from relstudy.common.runtime.wording import count_of, listed_some
from relstudy.common.tables.formats.table_files import write_table
from relstudy.studyapp.collection.kinds import can_be_shown

TEXTS = (".txt", ".md")
TO_CONVERT = (".tif", ".tiff", ".bmp")
"""Endings of pictures that browsers do not show."""
ORIENTATION = 0x0112
"""The EXIF tag that says how a camera was held."""
PICTURES = "pictures"
"""The folder of a study that holds the pictures taken from elsewhere."""


@dataclass(frozen=True)
class Found:
    """Pictures and texts found in some folders.

    Parameters
    ----------
    pictures : files that browsers show
    to_convert : pictures in other formats
    texts : files of text
    others : how many files are neither
    """

    pictures: tuple[Path, ...]
    to_convert: tuple[Path, ...]
    texts: tuple[Path, ...]
    others: int

    @classmethod
    def among(cls, sources: Iterable[Path]) -> Found:
        """The files of these folders and those below, by name; hidden ones are passed over.

        Raises
        ------
        RelstudyError
            where a folder is not there
        """
        files: list[Path] = []
        for source in sources:
            if not source.exists():
                raise RelstudyError(f"{source}: no such file or folder")
            below = sorted(source.rglob("*")) if source.is_dir() else [source]
            files += [path for path in below if path.is_file() and not _is_hidden(path, source)]
        pictures = [path for path in files if can_be_shown(path)]
        rest = [path for path in files if path not in set(pictures)]
        to_convert = [path for path in rest if path.suffix.lower() in TO_CONVERT]
        texts = [path for path in rest if path.suffix.lower() in TEXTS]
        others = len(rest) - len(to_convert) - len(texts)
        return cls(tuple(pictures), tuple(to_convert), tuple(texts), others)

    def sentence(self) -> str:
        """The number of each, in words."""
        parts = [
            count_of(len(files), *words)
            for files, words in (
                (self.pictures, ("picture",)),
                (self.to_convert, ("picture to convert", "pictures to convert")),
                (self.texts, ("text",)),
            )
            if files
        ]
        return " and ".join(parts) or "no picture and no text"


def _is_hidden(path: Path, source: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(source if source.is_dir() else source.parent).parts)


def make_collection(
    sources: Sequence[Path], folder: Path, *, convert: bool = False, searches: Sequence[str] = ()
) -> tuple[str, ...]:
    """Write collection.csv of what lies in some folders; pictures from outside the study are copied into it.

    A picture that its camera held sideways is turned, and one in a format that browsers do not show is converted to
    PNG; what was given is left as it is. A text is read as UTF-8, else as Windows-1252; its title is its first line
    where that is a heading, else the file's name.

    Parameters
    ----------
    sources : folders, or single files
    folder : the study's
    convert : whether pictures may be converted
    searches : what people search for among the items, which are then results alone; none: items are also queries

    Returns
    -------
    What a person should know, one sentence each

    Raises
    ------
    RelstudyError
        if there is nothing to ask about, a picture would have to be converted and may not, or cannot be read;
        nothing is written then
    """
    found = Found.among(sources)
    if found.to_convert and not convert:
        raise RelstudyError(
            f"{listed_some([path.name for path in found.to_convert])}: browsers do not show these; --convert makes PNG "
            "files of them in the study, and leaves them as they are"
        )
    pictures = sorted((*found.pictures, *found.to_convert))
    if not pictures and not found.texts:
        raise RelstudyError(f"{', '.join(map(str, sources))}: there is no picture and no text (.txt, .md)")
    names = _names((*pictures, *found.texts))
    texts, notes = _texts(found.texts)
    rows = []
    turned = 0
    for path in progress(pictures, "taking in"):
        placed, was_turned = _placed(path, folder, names[path])
        turned += was_turned
        rows.append({"item_id": names[path], "kind": "image", "path": placed, "text": "", "title": ""})
    for path, (title, text) in zip(found.texts, texts, strict=True):
        rows.append({"item_id": names[path], "kind": "text", "path": "", "text": text, "title": title})
    table = pd.DataFrame(rows).assign(keywords="", role="result" if searches else "")
    asked = {f"search-{number:0{len(str(len(searches)))}d}": text for number, text in enumerate(searches, 1)}
    if doubled := asked.keys() & set(names.values()):
        raise RelstudyError(f"{min(doubled)} is the name of an item, and of a search; rename the item")
    of_searches = pd.DataFrame({"item_id": list(asked), "kind": "text", "text": list(asked.values()), "role": "query"})
    write_table(
        pd.concat([of_searches, table]).fillna("") if searches else table.drop(columns="role"),
        folder / "collection.csv",
    )
    if found.to_convert:
        notes.append(f"{count_of(len(found.to_convert), 'picture')} converted to PNG")
    if turned:
        notes.append(f"{count_of(turned, 'picture')} turned as the camera was held (EXIF)")
    if found.others:
        notes.append(f"{count_of(found.others, 'file')} passed over, being no picture and no text")
    return tuple(notes)


def read_searches(path: Path) -> tuple[str, ...]:
    """The searches in a text file, one a line; empty lines are passed over.

    Raises
    ------
    RelstudyError
        if the file is not UTF-8, or holds no search
    """
    if not path.is_file():
        raise RelstudyError(f"{path}: file not found")
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise RelstudyError(f"{path}: not valid UTF-8; save it as UTF-8, one search a line") from None
    if any("\0" in line for line in lines):
        raise RelstudyError(f"{path}: not a text file; write one search on each line")
    searches = tuple(dict.fromkeys(line.strip() for line in lines if line.strip()))
    if not searches:
        raise RelstudyError(f"{path}: no search found; write one on each line")
    return searches


def _names(paths: Sequence[Path]) -> dict[Path, str]:
    """An id for each file: its name without ending; with the folders above it where two are called alike."""
    names = {path: path.stem for path in paths}
    for depth in range(1, max((len(path.parts) for path in paths), default=1)):
        taken = pd.Series(list(names.values())).value_counts()
        doubled = [path for path, name in names.items() if taken[name] > 1]
        if not doubled:
            return names
        for path in doubled:
            above = path.parts[-1 - depth : -1]
            names[path] = "-".join((*above, path.stem))
    return {path: path.name if list(names.values()).count(name) > 1 else name for path, name in names.items()}


def _placed(path: Path, folder: Path, name: str) -> tuple[str, bool]:
    """Where the study has the picture, seen from its folder, and whether it was turned."""
    from PIL import Image, ImageOps

    inside = path.resolve().is_relative_to(folder.resolve())
    try:
        with Image.open(path) as image:
            is_turned = image.getexif().get(ORIENTATION, 1) != 1
            converts = not can_be_shown(path)
            if not is_turned and not converts:
                if inside:
                    return path.resolve().relative_to(folder.resolve()).as_posix(), False
                target = folder / PICTURES / f"{name}{path.suffix.lower()}"
                with replacing(target) as beside:
                    shutil.copyfile(path, beside)
                return target.relative_to(folder).as_posix(), False
            upright = ImageOps.exif_transpose(image)
            is_photo = image.format == "JPEG"
            target = folder / PICTURES / f"{name}{'.jpg' if is_photo else '.png'}"
            with replacing(target) as beside:
                if is_photo:
                    upright.convert("RGB").save(beside, format="JPEG", quality=95)
                else:
                    mode = upright.mode if upright.mode in ("L", "LA", "RGB", "RGBA", "P", "1") else "RGB"
                    upright.convert(mode).save(beside, format="PNG")
            return target.relative_to(folder).as_posix(), is_turned
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise RelstudyError(f"{path}: this picture cannot be decoded ({error})") from None


def _texts(paths: Sequence[Path]) -> tuple[list[tuple[str, str]], list[str]]:
    """Title and text of each file, and which were in Windows-1252."""
    texts: list[tuple[str, str]] = []
    old: list[str] = []
    for path in paths:
        content = path.read_bytes()
        marked = "utf-16" if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig"
        try:
            text = content.decode(marked)
        except UnicodeDecodeError:
            text = content.decode("cp1252", errors="replace")
            old.append(path.name)
        text = text.replace("\r\n", "\n").strip()
        first, _, rest = text.partition("\n")
        heading = first.lstrip("#").strip() if first.startswith("#") and path.suffix.lower() == ".md" else ""
        if not text:
            raise RelstudyError(f"{path}: this text is empty")
        if "\0" in text:
            raise RelstudyError(f"{path}: this is not text in UTF-8, UTF-16 or Windows-1252")
        texts.append((heading or path.stem, rest.strip() if heading and rest.strip() else text))
    notes = [f"{listed_some(old)} read as Windows-1252, since not in UTF-8"] if old else []
    return texts, notes
