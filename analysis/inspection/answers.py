"""A column of answers: which texts are no answer, which words stand for which numbers, which scale they are on."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pandas as pd

from relstudy.common.known_scale import odd_values, scale_of_values
from relstudy.common.scales import Scale

MISSING = (
    *("na", "n/a", "nan", "null", "none", "-", "--", ".", "?", "nil", "missing", "undecided", "skip", "skipped"),
    *("don't know", "dont know", "can't say", "cannot say", "no answer", "unrateable", "not applicable"),
)
WORDS = (
    r"not at all|irrelevant|\bnot?\b|\bbad\b|off.?topic|poor|false|none of|unrelated|0$",
    r"marginal|slightly|partly|partial|somewhat|maybe|fair|related|neutral|mixed",
    r"highly|very|perfect|excellent|fully|exact|great|dedicated",
)
"""Words of low, middling and high answers; what bears none of them and no number stands between the last two."""
FILLED = "★⭐*"
STARS = re.compile("[★⭐*\ufe0f]*[☆✩\ufe0f]*")
"""Stars that count, and those that show how many there might be."""
MOST_WORDS = 12


@dataclass(frozen=True)
class Answers:
    """What a column of answers holds.

    Parameters
    ----------
    missing : texts that stand for no answer, as written
    odd : numbers that look like marks for no answer, as written
    words : numbers by words; empty where answers are numbers
    sure : whether the words' numbers were told by the words
    scale : the scale of the rest; None without any
    count : how many answers there are
    """

    missing: tuple[str, ...]
    odd: tuple[str, ...]
    words: dict[str, float]
    sure: bool
    scale: Scale | None
    count: int


def read_answers(column: pd.Series) -> Answers | None:
    """The answers in a column; None where it holds none: too many different words, lists, or nothing at all."""
    texts = column.astype("str").mask(column.isna(), "").str.strip()
    texts = texts[texts != ""]
    plain = texts.str.casefold()
    missing = tuple(dict.fromkeys(texts[plain.isin(MISSING)]))
    texts = texts[~plain.isin(MISSING)]
    # a list or an object is no word
    if texts.empty or texts.str.match(r"[\[{].*[\]}]$").any():
        return None
    numbers = pd.to_numeric(texts, errors="coerce")
    if numbers.notna().all() and np.isfinite(numbers).all():
        values = numbers.to_numpy(dtype=float)
        odd = odd_values(values)
        rest = values[~np.isin(values, odd)]
        shown = tuple(f"{value:g}" for value in odd)
        return Answers(missing, shown, {}, True, scale_of_values(rest, "ratings").scale, len(rest))
    different = list(dict.fromkeys(texts))
    if len(different) > MOST_WORDS:
        return None
    words, sure = _numbers_of(different)
    return Answers(missing, (), words, sure, scale_of_values(list(words.values()), "ratings").scale, len(texts))


def _numbers_of(texts: list[str]) -> tuple[dict[str, float], bool]:
    """Numbers for words: the number a text begins with ("4 stars", "3,5", "3/5"), its stars, else by its words."""
    leading = [re.match(r"\s*(?:scale_)?(-?\d+(?:[.,]\d+)?)\b(?!\s*[|/-]\s*\d)", text) for text in texts]
    if all(leading):
        return {t: float(m[1].replace(",", ".")) for t, m in zip(texts, leading, strict=True) if m}, True
    if all(STARS.fullmatch(text) for text in texts):
        return {text: float(sum(text.count(star) for star in FILLED)) for text in texts}, True
    of_a_whole = [re.fullmatch(r"(\d+(?:[.,]\d+)?)\s*/\s*(\d+)", text) for text in texts]
    if all(of_a_whole) and len({match[2] for match in of_a_whole if match}) == 1:
        return {match[0]: float(match[1].replace(",", ".")) for match in of_a_whole if match}, True
    levels = [_level(text) for text in texts]
    order = sorted(set(levels))
    numbers = {text: float(order.index(level)) for text, level in zip(texts, levels, strict=True)}
    return numbers, len(order) == len({text.casefold() for text in texts})


def _level(text: str) -> float:
    plain = text.casefold()
    if "agree" in plain:
        is_strong = re.search(r"strongly|totally|completely|fully", plain) is not None
        is_against = re.search(r"disagree|do not|don't", plain) is not None
        return 1.0 if "nor" in plain.split() else (0.5 - is_strong / 2) if is_against else 2.0 + is_strong
    for level, words in ((0.0, WORDS[0]), (3.0, WORDS[2]), (1.0, WORDS[1])):
        if re.search(words, plain):
            return level
    return 2.0
