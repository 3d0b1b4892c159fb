"""A study's queries and results: their texts, and small pictures of them."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from relstudy.common.charts.pictures import thumbnail_of

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
        """The file of an item's picture; None if there is none inside the folder."""
        path = str(self.table.at[item, "path"]).strip() if item in self.table.index and "path" in self.table else ""
        file = self.folder / path
        inside = path and file.is_file() and file.resolve().is_relative_to(self.folder.resolve())
        return file if inside else None

    def thumbnail(self, item: str) -> str:
        """A small picture as a data: address; empty where the item has none that can be read."""
        file = self.picture(item)
        return "" if file is None else thumbnail_of(file, THUMBNAIL)
