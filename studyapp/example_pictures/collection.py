"""A collection of example pictures, with keywords that name part of what they show.

The pictures were painted once, by scripts/painting, and lie in data/pictures with what each shows.
"""

from __future__ import annotations

import csv
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from relstudy.common.runtime.files import replacing
from relstudy.common.tables.formats.table_files import write_table
from relstudy.studyapp.example_pictures.truth import WISHES, Scene, closeness, to_scale, wish_closeness

PICTURES = 1_000
"""Number of pictures that there are."""


@dataclass(frozen=True)
class DemoCollection:
    """The collection with everything that only its maker knows.

    Parameters
    ----------
    scenes : latent parameters, one a picture
    files : each picture's name in data/pictures
    items : collection.csv (pictures first, then text queries)
    truth : true relevance on 1 to 5 of every picture (column) for every item that asks (row) as the query; shape
        (items that ask, pictures)
    """

    scenes: tuple[Scene, ...]
    files: tuple[str, ...]
    items: pd.DataFrame
    truth: np.ndarray

    @property
    def picture_ids(self) -> list[str]:
        """Ids of the pictures, in the order of the truth's columns."""
        return self.items.loc[self.items["kind"].isin(["image", "card"]), "item_id"].tolist()

    @property
    def query_ids(self) -> list[str]:
        """Ids of the items that ask, in the order of the truth's rows."""
        return self.items.loc[self.items["kind"] != "card", "item_id"].tolist()

    @property
    def ids(self) -> list[str]:
        """Ids of all items."""
        return self.items["item_id"].tolist()

    def as_cards(self) -> DemoCollection:
        """The pictures as prints in a shop, which only words ask for; `stock` is a column that no rater is to see.

        Examples
        --------
        >>> shop = make_collection(12, seed=3, wishes=2).as_cards()
        >>> shop.truth.shape, shop.items["kind"].value_counts().to_dict(), shop.items["price"][0].endswith(" €")
        ((2, 12), {'card': 12, 'text': 2}, True)
        """
        prints = [_print_of(scene) for scene in self.scenes]
        asks = len(self.items) - len(prints)
        nothing = dict.fromkeys(prints[0], "")
        items = self.items.assign(kind=["card"] * len(prints) + ["text"] * asks)
        more = pd.DataFrame(prints + [nothing] * asks)
        return DemoCollection(self.scenes, self.files, items.assign(**more), self.truth[len(prints) :])

    def relevance(self, query_ids: Sequence[str], result_ids: Sequence[str]) -> np.ndarray:
        """True relevance of pairs, on 1 to 5."""
        row = {item: i for i, item in enumerate(self.query_ids)}
        column = {item: i for i, item in enumerate(self.picture_ids)}
        return self.truth[[row[item] for item in query_ids], [column[item] for item in result_ids]]


def make_collection(count: int, seed: int = 0, wishes: int = 0) -> DemoCollection:
    """Choose a collection without writing it.

    Parameters
    ----------
    count : number of pictures, 1,000 at most
    seed : the same seed gives the same collection, and the first pictures of a larger one are the smaller one
    wishes : number of text queries

    Examples
    --------
    >>> small = make_collection(12, seed=3, wishes=2)
    >>> small.truth.shape, float(small.truth.max()) <= 5
    ((14, 12), True)
    """
    if count > PICTURES:
        raise ValueError(f"there are {PICTURES:,} example pictures, not {count:,}")
    order = np.random.default_rng(seed).permutation(PICTURES) if seed else np.arange(PICTURES)
    chosen = [_all_pictures()[number] for number in order[:count]]
    scenes = tuple(scene for _, scene, _ in chosen)
    rows = [
        {
            "item_id": f"pic{number + 1:04d}",
            "kind": "image",
            "path": f"pictures/pic{number + 1:04d}.webp",
            "text": "",
            "title": f"Picture {number + 1}",
            "keywords": keywords,
        }
        for number, (_, _, keywords) in enumerate(chosen)
    ]
    rows += [
        {
            "item_id": f"text{number + 1:02d}",
            "kind": "text",
            "path": "",
            "text": wish.text,
            "title": "",
            "keywords": ";".join(wish.keywords),
        }
        for number, wish in enumerate(WISHES[:wishes])
    ]
    truth = to_scale(closeness(scenes))
    if wishes:
        truth = np.vstack([truth, to_scale(wish_closeness(WISHES[:wishes], scenes))])
    return DemoCollection(scenes, tuple(file for file, _, _ in chosen), pd.DataFrame(rows), truth)


def write_collection(collection: DemoCollection, folder: Path, *, done: Callable[[int], None] | None = None) -> None:
    """Write every picture into FOLDER/pictures, and FOLDER/collection.csv.

    Parameters
    ----------
    done : called with the number of pictures written since the last call
    """
    (folder / "pictures").mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(_folder() / "pictures.zip") as pictures:
        for file, path in zip(collection.files, collection.items["path"], strict=False):
            with replacing(folder / path) as beside:
                beside.write_bytes(pictures.read(file))
            if done is not None:
                done(1)
    write_table(collection.items, folder / "collection.csv")


def _folder() -> Path:
    """data/pictures, which lies beside this file once relstudy is installed."""
    packaged = Path(__file__).with_name("pictures")
    return packaged if packaged.is_dir() else Path(__file__).resolve().parents[2] / "data" / "pictures"


@cache
def _all_pictures() -> list[tuple[str, Scene, str]]:
    """File, content and keywords of every picture."""
    with open(_folder() / "scenes.csv", encoding="utf-8", newline="") as file:
        return [
            (
                row["file"],
                Scene(
                    place=row["place"],
                    hour=row["hour"],
                    weather=row["weather"],
                    subject=row["subject"],
                    extras=tuple(filter(None, row["extras"].split(";"))),
                    horizon=float(row["horizon"]),
                    side=float(row["side"]),
                    crowd=float(row["crowd"]),
                    sun_side=float(row["sun_side"]),
                    seed=int(row["seed"]),
                ),
                row["keywords"],
            )
            for row in csv.DictReader(file)
        ]


_PRINTS = (("20 × 13 cm", 24), ("30 × 20 cm", 39), ("60 × 40 cm", 89))


def _print_of(scene: Scene) -> dict[str, str]:
    """Title, size, price and stock of a print of the scene, and what it shows in words."""
    rng = np.random.default_rng([scene.seed, 2])
    size, price = _PRINTS[int(rng.integers(len(_PRINTS)))]
    shown = f"{scene.place} at {scene.hour}"
    return {
        "title": f"{shown.capitalize()}, print",
        "size": size,
        "price": f"{price + int(rng.integers(0, 10))}.00 €",
        "stock": str(int(rng.integers(0, 40))),
        "alt": f"A painted picture: {shown}",
    }
