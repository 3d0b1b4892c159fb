"""Moments as tables write them: ISO 8601, day.month.year, seconds since 1970, English and German months, time zones.

A column is read as a whole, since one cell may tell what another means: 13/02/2024 says that 03/04/2024 is the third of
April. What nothing tells is left as it stands, with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd

from relstudy.common.runtime.wording import count_of, listed
from relstudy.common.tables.checked_table import stripped

NAMES = (
    *("jan januar january jänner", "feb februar february", "mar mär mrz march märz", "apr april", "may mai"),
    *("jun june juni", "jul july juli", "aug august", "sep sept september", "oct okt october oktober"),
    *("nov november", "dec dez december dezember"),
)
MONTHS = {name: number for number, names in enumerate(NAMES, start=1) for name in names.split()}
TITLES = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September", "October"),
    *("November", "December"),
)
ZONES = {
    "": "",
    "z": "Z",
    "utc": "Z",
    "gmt": "Z",
    "cet": "+01:00",
    "mez": "+01:00",
    "cest": "+02:00",
    "mesz": "+02:00",
    "est": "-05:00",
    "edt": "-04:00",
    "pst": "-08:00",
    "pdt": "-07:00",
}
"""Zones by names that mean one thing, as ISO 8601 has them."""
TIME = (
    r"(?P<hour>\d{1,2})[:.](?P<minute>\d{2})(?:[:.](?P<second>\d{2})(?:[.,](?P<part>\d{1,9}))?)?"
    r"(?:\s*(?P<half>[ap])\.?m\.?)?(?:\s*uhr)?"
)
ZONE = r"(?:\s*(?P<zone>z|(?:utc|gmt)?[+-]\d{2}:?\d{2}|[a-z]{3,4})(?:\s*\([^)]*\))?)?"
LATER = rf"(?:(?:,?\s+|t)(?:um\s+|at\s+)?{TIME}{ZONE})?"
WEEKDAY, MONTH = r"(?:[a-zä]{2,10}\.?,?\s+)?", r"(?P<month>[a-zä]{3,9})\.?"
NUMBERED = re.compile(rf"(?P<one>\d{{1,2}})(?P<mark>[./-])(?P<other>\d{{1,2}})(?P=mark)(?P<year>\d{{4}}){LATER}")
NAMED = tuple(
    map(
        re.compile,
        (
            rf"{WEEKDAY}(?P<day>\d{{1,2}})(?:\.|st|nd|rd|th)?[\s-]+{MONTH},?[\s-]+(?P<year>\d{{4}}){LATER}",
            rf"{WEEKDAY}{MONTH}\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<year>\d{{4}}){LATER}",
            rf"{WEEKDAY}{MONTH}\s+(?P<day>\d{{1,2}})\s+{TIME}{ZONE}\s+(?P<year>\d{{4}})",
        ),
    )
)
PLAIN = r"\d{4}-(0[1-9]|1[0-2])-([0-2]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|\+00:00)"
UNITS = {"seconds": 1, "milliseconds": 10**3, "microseconds": 10**6, "nanoseconds": 10**9}
"""Units of time since 1970, and how many a second has."""
EARLIEST, LATEST = 10**9, 5 * 10**9
"""Seconds since 1970 that a number is read as: from 2001 to 2128."""
DAY_FIRST, MONTH_FIRST, IN_WORDS = "day, month, year", "month, day, year", "with the month in words"


@dataclass(frozen=True)
class Moments:
    """A column of moments.

    Parameters
    ----------
    texts : in ISO 8601 where they are read, else as they stand
    read : the rows that are read, by how they are written (a phrase), bool arrays (N); without those in ISO 8601
    unread : the rows that are not read, by the reason (a phrase), bool arrays (N)
    """

    texts: pd.Series
    read: dict[str, np.ndarray]
    unread: dict[str, np.ndarray]

    def notes(self, name: str, written: pd.Series, rows: np.ndarray) -> list[str]:
        """How the column is read where it is not ISO 8601, and what of it is not: a sentence each, with the first row.

        Parameters
        ----------
        name : of the column
        written : its cells as they stood
        rows : number of each row
        """

        def first(marked: np.ndarray) -> tuple[str, str, int]:
            place = int(np.flatnonzero(marked)[0])
            return str(written.iloc[place]).strip(), str(self.texts.iloc[place]), int(rows[place])

        how = []
        for form, marked in self.read.items():
            cell, iso, row = first(marked)
            how.append(f"{int(marked.sum()):,} as {form} (row {row}: {cell} is {iso})")
        notes = [f"{name} is read {listed(how)}"] if how else []
        for why, marked in self.unread.items():
            cell, _, row = first(marked)
            count = int(marked.sum())
            has = "it has" if count == 1 else "they have"
            notes.append(
                f"{name} of {count_of(count, 'rating')} is not read as a time, so {has} no place in a session: "
                f"{cell!r} in row {row} {why}"
            )
        return notes


def read_moments(column: pd.Series) -> Moments:
    """The moments of a column.

    Examples
    --------
    >>> read_moments(pd.Series(["13.02.2024 09:10", "1707815400"])).texts.tolist()
    ['2024-02-13T09:10', '2024-02-13T09:10:00Z']
    >>> list(read_moments(pd.Series(["03/04/2024"])).unread)
    ['may be 3 April or 4 March, and no other row settles it']
    """
    if column.dtype.kind == "M" or is_plain(column):
        return Moments(column, {}, {})
    texts = stripped(column)
    rows = np.flatnonzero((texts != "").to_numpy(dtype=bool) & ~is_iso(texts))
    if not len(rows):
        return Moments(column, {}, {})
    code, values = pd.factorize(texts.iloc[rows])
    made = _read_all([str(value) for value in values])
    read: dict[str, np.ndarray] = {}
    unread: dict[str, np.ndarray] = {}
    found = texts.to_numpy(dtype=object).copy()
    for place, (iso, form) in enumerate(made):
        there = rows[code == place]
        into = read if iso else unread
        into.setdefault(form, np.zeros(len(texts), dtype=bool))[there] = True
        if iso:
            found[there] = iso
    return Moments(pd.Series(found, index=column.index, dtype=texts.dtype), read, unread)


def is_plain(column: pd.Series) -> bool:
    """True where all cells are moments as this app writes them: to the second or finer, and in UTC."""
    return bool(column.dtype.kind not in "fiubM" and column.astype("str").str.fullmatch(PLAIN).all())


def is_iso(texts: pd.Series) -> np.ndarray:
    """Whether texts are moments in ISO 8601, bool array (N); digits without a mark are a date where they are eight.

    Examples
    --------
    >>> is_iso(pd.Series(["2024-02-13T09:10+02:00", "20240213", "2024", "17"])).tolist()
    [True, True, False, False]
    """
    read = pd.to_datetime(texts, errors="coerce", utc=True, format="ISO8601").notna()
    return np.asarray(read & ~(texts.str.fullmatch(r"\d+") & (texts.str.len() != 8)), dtype=bool)


def _read_all(texts: Sequence[str]) -> list[tuple[str, str]]:
    """Each text in ISO 8601 and how it is written; "" and the reason where it is not read."""
    read = [_in_digits(text) or _of_named_month(text) for text in texts]
    numbered = [None if known else NUMBERED.fullmatch(text.casefold()) for known, text in zip(read, texts, strict=True)]
    first = {mark: _is_day_first([each for each in numbered if each and each["mark"] == mark]) for mark in "./-"}
    found = []
    for known, match in zip(read, numbered, strict=True):
        if known or match is None:
            found.append(known or ("", "is not a time that is known"))
            continue
        one, other, by_day = int(match["one"]), int(match["other"]), first[match["mark"]]
        if by_day is None and one <= 12 and other <= 12 and one != other:
            found.append(("", "AMBIGUOUS"))
            continue
        by_day = one > 12 if by_day is None and one != other else by_day is not False
        iso = _iso(match, *((other, one) if by_day else (one, other)))
        found.append((iso, DAY_FIRST if by_day else MONTH_FIRST) if iso else ("", "is not a time that is known"))
    either = next((match for match, each in zip(numbered, found, strict=True) if each[1] == "AMBIGUOUS"), None)
    if either is None:
        return found
    one, other = int(either["one"]), int(either["other"])
    why = f"may be {one} {TITLES[other - 1]} or {other} {TITLES[one - 1]}, and no other row settles it"
    return [(iso, why if form == "AMBIGUOUS" else form) for iso, form in found]


def _is_day_first(matches: Sequence[re.Match[str]]) -> bool | None:
    """True where days come before months, as numbers above 12 tell, else points between them; None where none does."""
    day, month = (any(int(match[part]) > 12 for match in matches) for part in ("one", "other"))
    if day != month:
        return day
    return True if not day and matches and matches[0]["mark"] == "." else None


def _in_digits(text: str) -> tuple[str, str] | None:
    """From year to second without a mark, or as time since 1970."""
    if re.fullmatch(r"(19|20)\d{10}(\d\d)?", text):
        try:
            return datetime.strptime(text, "%Y%m%d%H%M%S"[: len(text) - 2]).isoformat(), "digits from year to second"
        except ValueError:
            pass
    match = re.fullmatch(r"(\d{10,19})(?:\.(\d{1,9}))?", text)
    for unit, each in UNITS.items() if match else ():
        seconds, part = divmod(int(match[1]), each)  # type: ignore[index]
        if EARLIEST <= seconds < LATEST:
            part = 10**6 * part // each if each > 1 else int(f"{match[2] or '':0<6.6}")  # type: ignore[index]
            moment = datetime.fromtimestamp(seconds, UTC) + timedelta(microseconds=part)
            return moment.isoformat().replace("+00:00", "Z"), f"{unit} since 1970"
    return None


def _of_named_month(text: str) -> tuple[str, str] | None:
    for form in NAMED:
        match = form.fullmatch(text.casefold())
        if match and match["month"] in MONTHS:
            iso = _iso(match, MONTHS[match["month"]], int(match["day"]))
            return (iso, IN_WORDS) if iso else None
    return None


def _iso(match: re.Match[str], month: int, day: int) -> str:
    """What was matched, in ISO 8601; "" if there is no such moment."""
    date = f"{match['year']}-{month:02}-{day:02}"
    zone = (match["zone"] or "").removeprefix("utc").removeprefix("gmt") or (match["zone"] or "")
    zone = zone if zone[:1] in ("+", "-") else ZONES.get(zone, "?")
    hour = int(match["hour"] or 0)
    if match["half"]:
        hour = hour % 12 + 12 * (match["half"] == "p") if 1 <= hour <= 12 else 99
    second = f":{match['second']}" if match["second"] else ""
    part = f".{match['part'][:6]}" if match["part"] else ""
    try:
        datetime.fromisoformat(f"{date}T{hour:02}:{match['minute'] or '00'}{second}{part:0<{7 if part else 0}}{zone}")
    except ValueError:
        return ""
    return f"{date}T{hour:02}:{match['minute']}{second}{part}{zone}" if match["hour"] else date
