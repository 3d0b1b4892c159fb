"""A study's queries and results: their texts, and small pictures of them."""

from __future__ import annotations

import base64
import html
import io
import re
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import pandas as pd

THUMBNAIL = 132
"""Pixels of the longer side."""


@dataclass(frozen=True)
class Items:
    """Queries and results: collection.csv by item_id, and the folder that its paths start from."""

    folder: Path
    table: pd.DataFrame

    def text(self, item: str) -> str:
        """The title or the text of an item, else its id."""
        if item in self.table.index:
            for column in ("text", "title"):
                if column in self.table and (said := str(self.table.at[item, column]).strip()):
                    if "kind" in self.table and str(self.table.at[item, "kind"]).strip() == "html":
                        said = " ".join(html.unescape(re.sub(r"<[^>]*>", " ", said)).split())
                    return said if len(said) <= 80 else f"{said[:78].rstrip()} …"
        return item

    def picture(self, item: str) -> Path | None:
        """The file of an item's picture; None where there is none inside the folder."""
        path = str(self.table.at[item, "path"]).strip() if item in self.table.index and "path" in self.table else ""
        file = self.folder / path
        inside = path and file.is_file() and file.resolve().is_relative_to(self.folder.resolve())
        return file if inside else None

    def thumbnail(self, item: str) -> str:
        """A small picture as a data: address; empty where the item has none that can be read."""
        file = self.picture(item)
        if file is None:
            return ""
        return thumbnail_of(file, THUMBNAIL)


def thumbnail_of(picture: Path | BinaryIO, side: int) -> str:
    """A picture as a small JPEG in a data: address, at most `side` high and wide; empty where it cannot be read."""
    from PIL import Image

    try:
        with Image.open(picture) as opened:
            small = opened.convert("RGB")
            small.thumbnail((side, side))
    except (OSError, ValueError, Image.DecompressionBombError):
        return ""  # the page says less, and the rest of it is as true
    content = io.BytesIO()
    small.save(content, "JPEG", quality=72)
    return f"data:image/jpeg;base64,{base64.b64encode(content.getvalue()).decode()}"
