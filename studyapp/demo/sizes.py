"""Sizes of the demo, and the systems that take part."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass, replace

# In the order of preference; those that need the extra come last, and only where it is installed.
CORE_SYSTEMS = ("keywords", "colour")
EXTRA_SYSTEMS = ("gift-texture", "simplicity")
# Scored after the fact, for the paper's comparison of all variants (table 5.7) and of colour against texture (5.10).
# Those of GIFT rest on features that gift-texture has computed already; the concept models segment every picture.
GIFT_VARIANTS = ("gift", "gift-colour")
# Those that chose the pairs of Shirahatti and Barnard 2005.
PAPER_SYSTEMS = ("gift", "simplicity", "romm-calib", "keywords")
# A fifth of the paper's pairs are queries by text, of one word and of two; the demo's collection has so many.
PAPER_WISHES = 16
CONCEPT_VARIANTS = ("romm-all", "romm-test", "rwmm-all", "rwmm-test")


SHOP_QUERIES = 16


@dataclass(frozen=True)
class Size:
    """Size of a demo.

    Parameters
    ----------
    images : pictures in the collection
    wishes : queries by text
    queries, results : drawn for the sample, and results for each
    base : pairs that everyone rates
    ratings_per_pair : k of the unique pairs
    raters : of the panel
    variants : systems that choose no pairs and are scored against the judgments of the others' pairs
    choosing : systems that choose the pairs; empty for those that are installed
    rounds : of pairs and raters, each later one shaped by the mappings of those before; 1 or 2
    paper : whether the paper's tables are written, for which the base pairs are rated on other scales, too
    cards : whether the pictures are shown as a shop's cards, which words ask for
    """

    images: int = 320
    wishes: int = 0
    queries: int = 100
    results: int = 20
    base: int = 60
    ratings_per_pair: int = 3
    raters: int = 12
    variants: tuple[str, ...] = GIFT_VARIANTS
    choosing: tuple[str, ...] = ()
    rounds: int = 1
    paper: bool = False
    cards: bool = False

    def as_a_shop(self) -> Size:
        """Cards that words ask for, with fewer queries than by picture, and two questions about each."""
        systems = ("keywords", *(("bm25",) if importlib.util.find_spec("bm25s") else ()))
        asked = replace(self, wishes=SHOP_QUERIES, queries=SHOP_QUERIES, results=24, base=40)
        return replace(asked, cards=True, variants=(), choosing=systems)

    def as_in_the_paper(self) -> Size:
        """With the four systems that chose the paper's pairs, its six others, two rounds, and the paper's tables.

        Queries by text are asked, too; of the four systems only keywords answers them, as in the paper.
        """
        others = ("gift-colour", "gift-texture", *CONCEPT_VARIANTS)
        wishes = max(self.wishes, PAPER_WISHES)
        return replace(self, wishes=wishes, choosing=PAPER_SYSTEMS, variants=others, rounds=2, paper=True)


SIZES = {
    "small": Size(),
    "full": Size(
        images=1000,
        wishes=16,
        queries=160,
        results=24,
        base=100,
        raters=16,
        variants=(*GIFT_VARIANTS, *CONCEPT_VARIANTS),
    ),
}


def available_systems() -> tuple[str, ...]:
    """The core's two systems, and two more where the extra `relstudy[systems]` is installed."""
    return (*CORE_SYSTEMS, *available(EXTRA_SYSTEMS))


def available(names: Sequence[str]) -> tuple[str, ...]:
    """These systems where the extra `relstudy[systems]` is installed, else none."""
    return tuple(names) if all(importlib.util.find_spec(module) for module in ("skimage", "pywt")) else ()
