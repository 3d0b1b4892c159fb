"""The items as a judge is given them: what people are shown, as words and pictures."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from relstudy.common.errors import RelstudyError
from relstudy.studyapp.collection.displayed import card_fields
from relstudy.studyapp.collection.items import Collection, Item
from relstudy.studyapp.collection.kinds import PLAYED
from relstudy.studyapp.config.study import Study

_TIMES = re.compile(r"^(\d+:)?\d+:\d+\.\d+\s+-->")


def as_judged(collection: Collection, study: Study) -> Collection:
    """The collection with html as its words, cards as their listed fields, and sounds and films as what is said there.

    A judge is asked in words and pictures, so of a sound or a film it gets title, transcript and captions.
    """
    items = [_as_judged(item, study) for item in collection]
    return Collection(items, collection.folder, collection.assumed_queries)


def require_words(collection: Collection, item_ids: Iterable[str]) -> None:
    """Refuse sounds and films of which nothing can be read.

    Raises
    ------
    RelstudyError
        naming the first, and how many there are
    """
    silent = [name for name in item_ids if (item := collection[name]).kind in PLAYED and not item.text]
    if silent:
        raise RelstudyError(
            f"collection.csv: a judge gets of a sound or a film what is said in it, and {len(silent)} of them have "
            f"neither a transcript (column text) nor captions, such as {silent[0]!r}"
        )


def _as_judged(item: Item, study: Study) -> Item:
    if item.kind in ("html", "markdown"):
        return replace(item, text=item.plain)
    if item.kind == "card":
        lines, has_picture = card_fields(item, study.displays)
        text = "\n".join(f"{line.label}: {line.value}" if line.label else line.value for line in lines)
        return replace(item, title="", text=text, path=item.path if has_picture else None)
    if item.kind in PLAYED:
        said = [item.text, "" if item.captions is None else captions_read(item.captions)]
        return replace(item, path=None, text="\n".join(each for each in said if each))
    return item


def captions_read(path: Path) -> str:
    """The words of a file of captions, without their times.

    Raises
    ------
    RelstudyError
        where it cannot be read
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise RelstudyError(f"{path}: cannot be read as captions ({error})") from None
    blocks = re.split(r"\n\s*\n", "\n".join(lines))
    said = []
    for block in blocks:
        of_block = block.splitlines()
        times = next((k for k, line in enumerate(of_block) if _TIMES.match(line.strip())), None)
        if times is not None:
            said += [re.sub(r"<[^>]*>", "", line).strip() for line in of_block[times + 1 :]]
    return " ".join(line for line in said if line)
