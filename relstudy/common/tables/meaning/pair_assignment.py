"""Facts of a ratings table that several stages share: how pairs were handed out, and what no person's seconds are."""

from __future__ import annotations

from enum import StrEnum


class HandOut(StrEnum):
    """Hand-out of unique pairs to raters; pairs of the base block go to everyone, so nothing is recorded of them.

    RANDOM : drawn at random over the pool, so that raters' pairs differ by chance alone
    FIXED : in any other way: by file order, by topic, by the rater's group or choice
    """

    RANDOM = "random"
    FIXED = "fixed"


EARLIER_WORDS: dict[str, HandOut | None] = {"at random over the pool": HandOut.RANDOM, "to everyone": None}
"""Words that exports wrote before they wrote the values; None on pairs of the base block."""

LEAST_SECONDS = 0.3
"""Nobody reads a query and its results in less: a shorter median is a program's, and says nothing of a person."""
