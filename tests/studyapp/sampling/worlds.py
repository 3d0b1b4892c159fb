"""Small collections with known truth and systems of known strength, for the tests of sampling."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from relstudy.studyapp.collection.items import Collection, Item, split_keywords
from relstudy.studyapp.example_pictures.collection import make_collection
from relstudy.studyapp.sampling.population import ScoredItems
from relstudy.studyapp.sampling.sources import BuiltInSource
from relstudy.studyapp.systems.keywords import Keywords


@dataclass(frozen=True, eq=False)
class MatrixSource:
    """A system whose scores for every pair are written down."""

    name: str
    collection: Collection
    scores: np.ndarray
    stamp: str = "fixed"

    def scored(self, query: Item) -> ScoredItems:
        return ScoredItems(self.scores[self.collection.position(query.id)])


def demo_world(count: int, strengths: dict[str, float], seed: int = 0):
    """The demo's items (not painted), their truth [queries, items], keyword overlap, and noisy copies of the truth."""
    demo = make_collection(count, seed)
    items = [
        Item(row.item_id, "image", keywords=split_keywords(row.keywords)) for row in demo.items.itertuples(index=False)
    ]
    collection = Collection(items)
    rng = np.random.default_rng(seed)
    truth = demo.truth
    latent = (truth - truth.mean()) / truth.std()
    sources = [BuiltInSource("keywords", "fixed", Keywords().fit(collection), collection)]
    for name, strength in strengths.items():
        noise = rng.standard_normal(truth.shape)
        sources.append(MatrixSource(name, collection, strength * latent + np.sqrt(1 - strength**2) * noise))
    return demo, collection, sources


def noise_world(count: int, systems: int, seed: int = 0, dtype=np.float64):
    """Items without content and systems that score at random."""
    collection = Collection([Item(f"i{number}", "image") for number in range(count)])
    rng = np.random.default_rng(seed)
    sources = [
        MatrixSource(f"s{number}", collection, rng.standard_normal((count, count), dtype=dtype))
        for number in range(systems)
    ]
    return collection, sources
