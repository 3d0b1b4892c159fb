"""Small studies to test with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from flask import Flask
from PIL import Image

from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.monitoring.export import ratings_table

TOML = """
[study]
id = "test"
title = "A test study"
contact = "lab@example.org"

[entry]
rules = ["personal", "open"]

[[blocks]]
name = "base"
pairs = "base"
results_per_page = 4

[[blocks]]
name = "unique"
pairs = "unique"
results_per_page = 4
pairs_per_rater = 8
more = 4
"""


@dataclass
class Made:
    """A study folder with its database brought up to date, and its app."""

    folder: Path
    store: Store
    app: Flask

    def rows(self) -> int:
        """How many ratings are kept, each change counted."""
        return len(ratings_table(self.store, Study.load(self.folder), history=True))


def write_study(
    folder: Path, toml: str = TOML, *, base_queries: int = 2, unique_queries: int = 6, results: int = 4
) -> Path:
    """A study folder: pictures q0.. with results r0.., two text items, and pairs for both blocks."""
    folder.mkdir(parents=True, exist_ok=True)
    pictures = folder / "pictures"
    pictures.mkdir(exist_ok=True)
    items = ["item_id,kind,path,title,text"]
    pairs = ["pair_id,query_id,result_id,paradigm,source,rank,inclusion_probability,block"]
    names = [f"q{i}" for i in range(base_queries + unique_queries)] + [f"r{i}" for i in range(results)]
    for number, name in enumerate(names):
        Image.new("RGB", (8, 8), (number * 9 % 256, 80, 160)).save(pictures / f"{name}.png")
        items.append(f"{name},image,pictures/{name}.png,,")
    items.append("words,text,,,green hills")
    items.append("essay,text,,On hills,Hills are high.")
    for query in range(base_queries + unique_queries):
        block = "base" if query < base_queries else "unique"
        for result in range(results):
            pairs.append(f"p{query}-{result},q{query},r{result},image,secret-system,{result + 1},0.25,{block}")
    (folder / "collection.csv").write_text("\n".join(items) + "\n", encoding="utf-8")
    (folder / "pairs.csv").write_text("\n".join(pairs) + "\n", encoding="utf-8")
    (folder / "study.toml").write_text(toml, encoding="utf-8")
    return folder
