"""A column of answers: which texts are no answer, which words stand for which numbers, which scale they are on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from relstudy.common.tables.meaning.reading import percentages, signed_in_part
from relstudy.common.tables.meaning.scale_detection import odd_values, scale_of_values
from relstudy.common.tables.meaning.scales import Scale
from relstudy.common.tables.number_texts import COMMA_THOUSANDS, UNGROUPED

MISSING = (
    *("na", "n/a", "nan", "null", "none", "-", "--", ".", "?", "nil", "missing", "undecided", "skip", "skipped"),
    *("don't know", "dont know", "can't say", "cannot say", "no answer", "unrateable", "not applicable"),
    *("k. a.", "k.a.", "ka", "keine angabe", "keine antwort", "weiß nicht", "weiss nicht", "w. n.", "w.n."),
    *("unentschieden", "unklar", "entfällt", "fehlt", "nicht beurteilbar", "kann ich nicht sagen", "n. v.", "n.v."),
    *("nsp", "ne sait pas", "sans réponse", "sans avis", "je ne sais pas", "s.o.", "non applicable", "n.d.", "nd"),
    *("ns/nc", "no sabe", "no contesta", "sin respuesta", "non so", "niet van toepassing", "weet niet"),
    *("#n/a", "#nv", "<na>", "n.a."),
    *("not sure", "unsure", "cannot tell", "can't tell", "i don't know", "prefer not to say"),
)
ORDERS: tuple[dict[str, float], ...] = (
    {"bad": 1, "poor": 2, "fair": 3, "good": 4, "excellent": 5},
    {"bad": 0, "fair": 1, "good": 2, "excellent": 3, "perfect": 4},
    {
        "very annoying": 1,
        "annoying": 2,
        "slightly annoying": 3,
        "perceptible but not annoying": 4,
        "perceptible, but not annoying": 4,
        "imperceptible": 5,
    },
    {
        "much worse": -3,
        "worse": -2,
        "slightly worse": -1,
        "the same": 0,
        "about the same": 0,
        "slightly better": 1,
        "better": 2,
        "much better": 3,
    },
    {"very dissatisfied": 1, "dissatisfied": 2, "neutral": 3, "satisfied": 4, "very satisfied": 5},
    {"never": 0, "rarely": 1, "sometimes": 2, "often": 3, "always": 4},
    {"not at all": 0, "slightly": 1, "moderately": 2, "very": 3, "extremely": 4},
    {"low": 0, "medium": 1, "high": 2},
    {"irrelevant": 0, "complement": 0.01, "substitute": 0.1, "exact": 1},
    {"thumbs down": 0, "thumbs up": 1},
    {"👎": 0, "👍": 1},
)
"""Answers whose order is published: quality and degradation of ITU-T P.910, comparison, satisfaction, frequency, and
the labels of the ESCI benchmark with its gains. A column may lack some of them."""
LETTERS = {"e": 1, "s": 0.1, "c": 0.01, "i": 0}
"""The same labels of ESCI by their letters, which mean that only where all four, or a column called so, hold them."""
WORDS = (
    r"not at all|irrelevant|\bnot?\b|\bbad\b|off.?topic|poor|false|none of|unrelated|reject|0$|\b(non|dis|un|mis|in).?"
    r"(relevant|similar|useful|match|correct|accept|appropriate|acceptable)",
    r"marginal|slightly|partly|\bok(ay)?\b|partial|somewhat|maybe|fair|related|neutral|mixed",
    r"relevant|good|yes|true|similar|match|useful|correct|accept|appropriate",
    r"highly|very|perfect|excellent|fully|exact|great|dedicated",
)
"""Words of low, middling, high and highest answers; one that bears none of them has no order that is known."""
GOOD = re.compile(
    r"(?i)excellent|perfect|\bgood|\bbest\b|(?<!nicht )\bgut\b|ausgezeichnet|hervorragend|\bbon\b|excelente|\bbueno|"
    r"ottimo|buono|(?<!dis)(?<!not )\bagree|stimme (voll|eher )?zu|(highly|very|perfectly) relevant|best match|"
    r"sehr relevant"
)
BAD = re.compile(
    r"(?i)\bbad\b|\bpoor\b|worst|terrible|awful|\bir?relevant|not relevant|nicht|schlecht|mangelhaft|ungenügend|"
    r"mauvais|insuffisant|\bmal[oa]\b|pessimo|disagree|pas d"
)
"""Words beside numbers that say which end of a scale is the better one."""
DATE = re.compile(
    r"(?i)\d[.\s-]*\s*(jan|feb|mar|mär|mrz|apr|may|mai|jun|jul|aug|sep|o[ck]t|nov|de[cz])[a-zä]*\b|"
    r"^(jan|feb|mar|mär|mrz|apr|may|mai|jun|jul|aug|sep|o[ck]t|nov|de[cz])[a-z]*[.\s-]+\d|"
    r"\d{1,4}[./-]\d{1,2}[./-]\d{2,4}"
)
"""What a spreadsheet makes of 3.5 or 3-5: 03. Mai, 5-Mar, 03.05.2024."""
NEITHER = ("o", "O", "0", "±", "+/-", "+-")
SIGNS = re.compile(rf"\++|-+|{'|'.join(map(re.escape, NEITHER))}")
"""A scale of plus and minus, with something between."""
FILLED = "★⭐*"
STARS = re.compile("[★⭐*\ufe0f]*[☆✩\ufe0f]*")
"""Stars that count, and those that show how many there might be."""
OF = r"(?:/|of|out of|von|aus|sur|de|su)"
"""Between a number and what it is out of."""
GRADE = r"(?:scale_|(?:grade|level|score|rating|relevance|l)[ _-]?)"
"""Before the number of a grade."""
MOST_WORDS = 12
FILE = r"(?i)^https?://|\.(?:png|jpe?g|gif|webp|svg|bmp|tiff?|wav|mp3|ogg|mp4|webm|avi|txt|html?|pdf)$"


@dataclass(frozen=True)
class Answers:
    """The answers of a column.

    Parameters
    ----------
    missing : texts that stand for no answer, as written
    odd : numbers that look like marks for no answer, as written
    words : numbers by words; empty where answers are numbers
    scale : the scale of the rest; None without any, or where words have no known order
    count : how many answers there are
    different : how many different ones
    unordered : words whose order nothing tells, as written
    whole : whether they are words or whole numbers
    signed_in_part : an answer with a percent sign and one without, where both are there
    """

    missing: tuple[str, ...]
    odd: tuple[str, ...]
    words: dict[str, float]
    scale: Scale | None
    count: int
    different: int = 0
    unordered: tuple[str, ...] = ()
    whole: bool = True
    signed_in_part: tuple[str, str] | None = None

    @property
    def are_grades(self) -> bool:
        """True where they are a few whole numbers or words, as people's answers are and scores of systems seldom."""
        return bool(self.words or self.unordered) or self.different <= MOST_GRADES


MOST_GRADES = 11


def read_answers(column: pd.Series, name: str = "") -> Answers | None:
    """The answers in a column; None where it holds none: too many different words, lists, or nothing at all.

    Parameters
    ----------
    column : its cells, of any type
    name : what the column is called, where that may tell what its words mean
    """
    texts = column.astype("str").mask(column.isna(), "").str.strip()
    texts = texts[texts != ""]
    plain = texts.str.casefold()
    absent = plain.isin(MISSING)
    if texts.str.fullmatch(r"\++").any():
        absent &= ~texts.str.fullmatch(r"-+")  # the other end of a scale of plus and minus
    missing = tuple(dict.fromkeys(texts[absent]))
    texts = texts[~absent]
    # a list, an object or a file is not a word
    if texts.empty or texts.str.match(r"[\[{].*[\]}]$").any() or texts.str.contains(FILE).all():
        return None
    numbers = pd.to_numeric(texts, errors="coerce")
    if numbers.notna().all() and np.isfinite(numbers).all():
        values = numbers.to_numpy(dtype=float)
        odd = odd_values(values)
        rest = values[~np.isin(values, odd)]
        shown = tuple(f"{value:g}" for value in odd)
        scale, whole = scale_of_values(rest, "ratings").scale, bool((rest % 1 == 0).all())
        return Answers(missing, shown, {}, scale, len(rest), len(np.unique(rest)), whole=whole)
    signed = percentages(texts)
    if signed is not None:
        shares = signed.astype(float)
        ends = [0.0, 100.0] if shares.between(0, 100).all() else shares.tolist()
        whole = bool((shares % 1 == 0).all())
        of_shares = scale_of_values(ends, "ratings").scale
        return Answers(missing, (), {}, of_shares, len(shares), shares.nunique(), whole=whole)
    different = list(dict.fromkeys(texts))
    apart = signed_in_part(texts)
    if apart is not None:
        shown = texts.iloc[apart[0]], texts.iloc[apart[1]]
        return Answers(missing, (), {}, None, len(texts), len(different), signed_in_part=shown)
    if len(different) > MOST_WORDS:
        return None
    found = _numbers_of(different, name)
    if found is None:
        return Answers(missing, (), {}, None, len(texts), len(different), tuple(different))
    words, own_scale = found
    of_words = own_scale or scale_of_values(list(words.values()), "ratings").scale
    return Answers(missing, (), words, of_words, len(texts), len(different))


def answers_of_columns(frame: pd.DataFrame, names: Sequence[str]) -> Answers | None:
    """The answers in several columns together, as `read_answers` has those of one."""
    return read_answers(pd.concat([frame[name] for name in names], ignore_index=True))


def _numbers_of(texts: list[str], name: str) -> tuple[dict[str, float], Scale | None] | None:
    """Numbers for words: the number a text begins with ("4 stars", "3,5", "3/5", "Grade 2"), its stars, else by words.

    Also the scale, where the words have one of their own; None in place of both where the words tell no order.
    """
    if any(map(DATE.search, texts)) or _may_be_thousands(texts):
        return None
    leading = [
        re.match(rf"(?i)\s*{GRADE}?(-?\d+(?:[.,]\d+)?)\b(?!\s*(?:[|;&+-]|,\s|{OF})\s*\d)", text) for text in texts
    ]
    numbers = [float(match[1].replace(",", ".")) for match in leading if match]
    if len(numbers) == len(texts):
        return None if _falls(texts, numbers) else (dict(zip(texts, numbers, strict=True)), None)
    if all(SIGNS.fullmatch(text) for text in texts) and any("+" in text for text in texts):
        return {text: float(text.count("+") - text.count("-")) if text not in NEITHER else 0.0 for text in texts}, None
    if all(STARS.fullmatch(text) for text in texts):
        return {text: float(sum(text.count(star) for star in FILLED)) for text in texts}, None
    of_a_whole = [re.fullmatch(rf"(\d+(?:[.,]\d+)?)\s*{OF}\s*(\d+)", text.casefold()) for text in texts]
    numbers = [float(match[1].replace(",", ".")) for match in of_a_whole if match]
    if len(numbers) == len(texts) and len({match[2] for match in of_a_whole if match}) == 1:
        return dict(zip(texts, numbers, strict=True)), None
    plain = {text: " ".join(text.casefold().replace("_", " ").split()) for text in texts}
    found = set(plain.values())
    is_esci = "esci" in name.casefold() or found == set(LETTERS)
    for order in (LETTERS, *ORDERS) if is_esci else ORDERS:
        # two words of five may be the ends of a scale of their own
        if found <= set(order) and len(found) >= min(3, len(order)):
            values = sorted(set(order.values()))
            scale = Scale(",".join(f"{value:g}" for value in values), tuple(values))
            even = Scale.between(values[0], values[-1])
            return {text: float(order[plain[text]]) for text in texts}, even if even.values == scale.values else scale
    levels = {text: level for text in texts if (level := _level(text)) is not None}
    order_of_levels = sorted(set(levels.values()))
    if len(levels) < len(texts) or len(order_of_levels) != len({text.casefold() for text in texts}):
        return None
    return {text: float(order_of_levels.index(level)) for text, level in levels.items()}, None


def _may_be_thousands(texts: list[str]) -> bool:
    """True where all that has a comma may have it before hundreds, and the rest no decimals."""
    commas = [text for text in texts if "," in text]
    return bool(commas) and all(re.fullmatch(COMMA_THOUSANDS if "," in text else UNGROUPED, text) for text in texts)


def _falls(texts: list[str], numbers: list[float]) -> bool:
    """True where words beside numbers are the better the lower the number, as German grades: "1 (sehr gut)"."""
    good, bad = ([n for text, n in zip(texts, numbers, strict=True) if words.search(text)] for words in (GOOD, BAD))
    both = set(good) & set(bad)
    good, bad = ([number for number in each if number not in both] for each in (good, bad))
    return bool(good and bad) and max(good) < min(bad)


def _level(text: str) -> float | None:
    """The place of an answer among others by its words, from 0 (low) to 3; None where it bears none of them."""
    plain = text.casefold()
    if "agree" in plain:
        is_strong = re.search(r"strongly|totally|completely|fully", plain) is not None
        is_against = re.search(r"disagree|do not|don't", plain) is not None
        return 1.0 if "nor" in plain.split() else (0.5 - is_strong / 2) if is_against else 2.0 + is_strong
    # "not relevant" and "highly relevant" hold the word of a middling answer, too
    return next((float(level) for level in (0, 3, 1, 2) if re.search(WORDS[level], plain)), None)
