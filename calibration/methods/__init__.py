"""Calibration methods by name. Nothing else is imported here, so that a command's help waits for nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Method = Literal[
    "pooled", "crossed", "shrunk", "zscore", "mean", "none", "p910", "p913",
    "ordinal", "rasch", "dawid-skene", "glad", "mace",
]  # fmt: skip


@dataclass(frozen=True)
class MethodEntry:
    """A method as it is chosen by name.

    Parameters
    ----------
    function : "module:function" in this package, from a Panel to `Lines`, or to another `Fitted` method
    sentence : its description in help and docs
    weighs_raters : whether ratings weigh less, the noisier their rater is, by default; else means are plain ones
    needs_random : whether it takes a rater's pairs for a random draw of all pairs
    gives_lines : whether its function gives `Lines`
    """

    function: str
    sentence: str
    weighs_raters: bool = False
    needs_random: bool = False
    gives_lines: bool = True


METHODS: dict[str, MethodEntry] = {
    "pooled": MethodEntry(
        "shrinkage:pooled", "all ratings, when pairs were assigned at random.", weighs_raters=True, needs_random=True
    ),
    "crossed": MethodEntry(
        "crossed:crossed", "the pairs that raters share, however these were assigned.", weighs_raters=True
    ),
    "shrunk": MethodEntry("shrinkage:shrunk", "the base block, moments shrunk.", weighs_raters=True),
    "zscore": MethodEntry("linear:zscore", "the base block at face value (Eq. 2.1)."),
    "mean": MethodEntry("linear:mean", "offsets only."),
    "none": MethodEntry("linear:none", ""),
    "p910": MethodEntry("itu:p910", "bias and inconsistency of ITU-T P.910, annex E.", weighs_raters=True),
    "p913": MethodEntry("itu:p913", "bias removal of ITU-T P.913, 12.4."),
    "ordinal": MethodEntry(
        "ordinal_model:fit_ordinal",
        "a cumulative-link model in PyMC (seconds; random assignment, as pooled).",
        weighs_raters=True,
        needs_random=True,
        gives_lines=False,
    ),
    "rasch": MethodEntry(
        "rasch:rasch",
        "the many-facet Rasch model of graded ratings (random assignment, as pooled).",
        needs_random=True,
        gives_lines=False,
    ),
    "dawid-skene": MethodEntry("dawid_skene:dawid_skene", "error rates by category, of classes.", gives_lines=False),
    "glad": MethodEntry("glad:glad", "raters' ability and pairs' difficulty, of classes.", gives_lines=False),
    "mace": MethodEntry("mace:mace", "raters who know or guess, of classes.", gives_lines=False),
}
WEIGHTED = tuple(name for name, entry in METHODS.items() if entry.weighs_raters)
NEED_RANDOM = tuple(name for name, entry in METHODS.items() if entry.needs_random)


def methods_named(names: Sequence[str]) -> list[str]:
    """Methods by their names; "all" stands for all but ordinal, which takes a minute.

    Examples
    --------
    >>> methods_named(["mean", "p913"]), "ordinal" in methods_named(["all"])
    (['mean', 'p913'], False)
    """
    return [name for name in METHODS if name != "ordinal"] if "all" in names else list(names)


def described() -> str:
    """All methods with their sentences, for help.

    Examples
    --------
    >>> described().partition(" crossed:")[0]
    'pooled: all ratings, when pairs were assigned at random.'
    """
    return " ".join(f"{name}: {entry.sentence}" if entry.sentence else f"{name}." for name, entry in METHODS.items())
