"""The demo's collection: pictures rendered from a seed, with keywords that name part of what they show."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd

from relstudy.common.runtime.files import replacing
from relstudy.common.tables.formats.table_files import write_table
from relstudy.studyapp.rendered.pictures.latent import Scene, draw_scenes
from relstudy.studyapp.rendered.pictures.scenes import paint
from relstudy.studyapp.rendered.truth import WISHES, closeness, to_scale, wish_closeness

FEWEST_WORDS = 3
# Starting two processes takes as long as painting so many pictures.
WORTH_PROCESSES = 100

_PLACE_WORDS = {
    "mountains": ("mountains", "peak", "rock", "valley"),
    "lake": ("lake", "water", "shore", "mountains"),
    "forest": ("forest", "trees", "wood"),
    "hills": ("hills", "grass", "country", "field"),
    "meadow": ("meadow", "grass", "flowers", "field"),
    "desert": ("desert", "sand", "dunes", "dry"),
    "winter": ("winter", "snow", "cold", "trees"),
    "city": ("city", "buildings", "skyline", "street"),
    "sea": ("sea", "water", "waves", "coast"),
    "beach": ("beach", "sand", "sea", "water"),
    "reef": ("reef", "water", "diving", "ocean"),
    "window": ("window", "room", "home", "curtain"),
}
_THING_WORDS = {
    "cabin": ("cabin", "house"),
    "house": ("house", "farm"),
    "sailboat": ("boat", "sail"),
    "sheep": ("sheep", "animal", "flock"),
    "horse": ("horse", "animal"),
    "deer": ("deer", "animal", "wildlife"),
    "camel": ("camel", "animal"),
    "cat": ("cat", "animal", "pet"),
    "fish": ("fish", "animal", "school"),
    "whale": ("whale", "animal"),
    "birds": ("birds", "animal", "flight"),
    "palm": ("palm", "tree"),
    "flowers": ("flowers", "plant"),
    "coral": ("coral", "plant"),
    "cactus": ("cactus", "plant"),
}
_HOUR_WORDS = {
    "dawn": ("dawn", "morning"),
    "day": ("day", "sunny"),
    "sunset": ("sunset", "evening", "sky"),
    "dusk": ("dusk", "evening"),
    "night": ("night", "moon", "stars"),
}
_WEATHER_WORDS = {"clear": ("sky",), "fair": ("clouds",), "cloudy": ("clouds", "grey"), "misty": ("mist",)}
_STRAY_WORDS = ("nature", "view", "travel", "outdoor", "landscape", "holiday", "calm", "scenery", "light", "colour")


@dataclass(frozen=True)
class DemoCollection:
    """The collection with everything that only its maker knows.

    Parameters
    ----------
    scenes : latent parameters, one a picture
    items : collection.csv (pictures first, then text queries)
    truth : true relevance on 1 to 5 of every picture (column) for every item that asks (row) as the query; shape
        (items that ask, pictures)
    """

    scenes: tuple[Scene, ...]
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
        return DemoCollection(self.scenes, items.assign(**more), self.truth[len(prints) :])

    def relevance(self, query_ids: Sequence[str], result_ids: Sequence[str]) -> np.ndarray:
        """True relevance of pairs, on 1 to 5."""
        row = {item: i for i, item in enumerate(self.query_ids)}
        column = {item: i for i, item in enumerate(self.picture_ids)}
        return self.truth[[row[item] for item in query_ids], [column[item] for item in result_ids]]


def make_collection(count: int, seed: int = 0, wishes: int = 0) -> DemoCollection:
    """Draw a collection without painting it.

    Parameters
    ----------
    count : number of pictures
    seed : the same seed gives the same collection
    wishes : number of text queries

    Examples
    --------
    >>> small = make_collection(12, seed=3, wishes=2)
    >>> small.truth.shape, float(small.truth.max()) <= 5
    ((14, 12), True)
    """
    scenes = tuple(draw_scenes(count, seed))
    rows = [
        {
            "item_id": f"pic{number + 1:04d}",
            "kind": "image",
            "path": f"pictures/pic{number + 1:04d}.jpg",
            "text": "",
            "title": f"Picture {number + 1}",
            "keywords": ";".join(_keywords(scene)),
        }
        for number, scene in enumerate(scenes)
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
    return DemoCollection(scenes, pd.DataFrame(rows), truth)


def write_collection(
    collection: DemoCollection, folder: Path, *, workers: int = 1, done: Callable[[int], None] | None = None
) -> None:
    """Paint every picture into FOLDER/pictures and write FOLDER/collection.csv.

    Parameters
    ----------
    workers : processes to paint with, where there are pictures enough to be worth their start
    done : called with the number of pictures painted since the last call
    """
    pictures = folder / "pictures"
    pictures.mkdir(parents=True, exist_ok=True)
    jobs = [
        (scene, folder / path)
        for scene, path in zip(collection.scenes, collection.items["path"][: len(collection.scenes)], strict=True)
    ]
    for count in _painted(jobs, workers):
        if done is not None:
            done(count)
    write_table(collection.items, folder / "collection.csv")


def _painted(jobs: list[tuple[Scene, Path]], workers: int) -> Iterator[int]:
    batches = [jobs[start : start + 16] for start in range(0, len(jobs), 16)]
    if workers <= 1 or len(jobs) < WORTH_PROCESSES:
        yield from map(_paint_batch, batches)
        return
    # fresh processes: a fork of a process with threads (a progress bar has one) may hang
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        yield from pool.map(_paint_batch, batches)


def _paint_batch(jobs: list[tuple[Scene, Path]]) -> int:
    for scene, path in jobs:
        picture = paint(scene)
        with replacing(path) as beside:
            picture.save(beside, format="JPEG", quality=86)
    return len(jobs)


def _keywords(scene: Scene) -> list[str]:
    """Words for part of the scene: each true word is kept with some luck, and a stray word comes in."""
    rng = np.random.default_rng([scene.seed, 1])
    words: list[str] = []

    def some(candidates: Sequence[str], first: float, further: float) -> None:
        for position, word in enumerate(candidates):
            if rng.random() < (first if position == 0 else further):
                words.append(word)

    some(_PLACE_WORDS[scene.place], 0.78, 0.35)
    for thing, weight in scene.things.items():
        some(_THING_WORDS.get(thing, (thing,)), 0.84 if weight == 1 else 0.35, 0.4)
    some(_HOUR_WORDS[scene.hour], 0.45, 0.25)
    some(_WEATHER_WORDS[scene.weather], 0.3, 0.2)
    words += [str(word) for word in rng.choice(_STRAY_WORDS, size=int(rng.integers(0, 3)), replace=False)]
    # A single word would match every picture that has it in full, by the overlap over the smaller set.
    for word in (_PLACE_WORDS[scene.place][0], _HOUR_WORDS[scene.hour][0], _STRAY_WORDS[0]):
        if len(set(words)) < FEWEST_WORDS:
            words.append(word)
    return sorted(set(words))


_PRINTS = (("20 × 13 cm", 24), ("30 × 20 cm", 39), ("60 × 40 cm", 89))


def _print_of(scene: Scene) -> dict[str, str]:
    """Title, size, price and stock of a print of the scene, and what it shows in words."""
    rng = np.random.default_rng([scene.seed, 2])
    size, price = _PRINTS[int(rng.integers(len(_PRINTS)))]
    shown = f"{_PLACE_WORDS[scene.place][0]} at {_HOUR_WORDS[scene.hour][0]}"
    return {
        "title": f"{shown.capitalize()}, print",
        "size": size,
        "price": f"{price + int(rng.integers(0, 10))}.00 €",
        "stock": str(int(rng.integers(0, 40))),
        "alt": f"A painted picture: {shown}",
    }
