"""Reading settings out of parsed TOML: each fault is noted with its line, and all are raised together."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date, datetime
from typing import Any

from relstudy.common.runtime.errors import SeveralErrors
from relstudy.common.runtime.wording import count_of

Keys = tuple[str | int, ...]
"""The way to a setting: names of tables and keys, and places in lists of tables."""

_HEADER = re.compile(r"^\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(#.*)?$")
_KEY = re.compile(r"""^\s*((?:"[^"]*"|'[^']*'|[A-Za-z0-9_-]+)(?:\s*\.\s*(?:"[^"]*"|'[^']*'|[A-Za-z0-9_-]+))*)\s*=""")
_PART = re.compile(r""""([^"]*)"|'([^']*)'|([A-Za-z0-9_-]+)""")


def line_numbers(text: str) -> dict[Keys, int]:
    """Line (from 1) of every table header and key of a TOML text that parses.

    Keys of inline tables stand on the line of the key that holds them and are not listed.

    Examples
    --------
    >>> line_numbers('[study]\\ntitle = "a"\\n[[blocks]]\\nscale = "1-5"\\n')
    {('study',): 1, ('study', 'title'): 2, ('blocks', 0): 3, ('blocks', 0, 'scale'): 4}
    """
    lines: dict[Keys, int] = {}
    counts: dict[Keys, int] = {}
    table: Keys = ()
    quote: str | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        if quote is not None:
            quote = _still_open(line, quote)
            continue
        if header := _HEADER.match(line):
            name = _resolve(_parts(header[2]), counts)
            if header[1] == "[[":
                index = counts.get(name, 0)
                counts[name] = index + 1
                name = (*name, index)
            table = name
            lines.setdefault(table, number)
        elif key := _KEY.match(line):
            lines.setdefault((*table, *_parts(key[1])), number)
            quote = _still_open(line[key.end() :], None)
    return lines


def nearest_line(lines: dict[Keys, int], path: Keys) -> int | None:
    """The line of a path, or of the closest thing around it that has one."""
    for length in range(len(path), 0, -1):
        if path[:length] in lines:
            return lines[path[:length]]
    return None


def _parts(dotted: str) -> Keys:
    return tuple(a or b or c for a, b, c in _PART.findall(dotted))


def _resolve(name: Keys, counts: dict[Keys, int]) -> Keys:
    """The path of a header, with the number of the latest entry for each array of tables on the way."""
    path: Keys = ()
    for position, part in enumerate(name):
        path = (*path, part)
        if position < len(name) - 1 and path in counts:
            path = (*path, counts[path] - 1)
    return path


def _still_open(line: str, quote: str | None) -> str | None:
    """The triple quote that a multi-line text is still inside of at the end of the line."""
    position = 0
    while True:
        if quote is None:
            opening = re.compile(r'"""|\'\'\'').search(line, position)
            if opening is None:
                return None
            quote, position = opening[0], opening.end()
        else:
            end = line.find(quote, position)
            if end < 0:
                return quote
            quote, position = None, end + 3


ID = r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}"
NAME = r"[^\x00-\x1f]{1,80}"
LANGUAGE = r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*"
URL = r"https?://[^\s\"'<>]+"
PUBLIC = r"https?://[^\s\"'<>/?#]+(/(?!\.\.?(/|$))[A-Za-z0-9._~-]+)*/?"
PARAMETER = r"[A-Za-z0-9_.-]{1,64}"
VARIABLE = r"[A-Z_][A-Z0-9_]{0,63}"
PATTERNS = {
    ID: "letters, digits, - and _ (at most 64)",
    NAME: "a name of at most 80 characters on one line",
    LANGUAGE: 'a language code such as "en" or "de-AT"',
    URL: "an address that begins with https:// (or http://)",
    PUBLIC: "an address that begins with https:// (or http://), with a path of letters, digits, . _ ~ and - at most",
    PARAMETER: "letters, digits, dot, - and _",
}


class TomlChecker:
    """Takes values out of tables; a wrong value is noted as a fault, and the default is returned instead.

    Parameters
    ----------
    file : the name used in faults
    lines : by path of keys, the line (`relstudy.studyapp.config.toml_checker.line_numbers`)
    """

    SHOWN = 20

    def __init__(self, file: str, lines: dict[Keys, int]) -> None:
        self.file = file
        self.lines = lines
        self.faults: list[str] = []

    def fault(self, path: Keys, value: object, allowed: str) -> None:
        """Note that a setting's value is wrong, or (value None) that it is missing or unknown; and what is allowed."""
        line = nearest_line(self.lines, path)
        position = f"{self.file}, line {line}" if line else self.file
        name = ".".join(str(part) for part in path if not isinstance(part, int))
        wrong_value = "" if value is None else f" {value!r} is not allowed;"
        self.faults.append(f"{position}, {name}:{wrong_value} {allowed}")

    def keys(self, table: dict[str, Any], path: Keys, allowed: Iterable[str]) -> None:
        """Note every setting of the table that is none of those allowed."""
        allowed = tuple(allowed)
        for key in table:
            if key not in allowed:
                unknown = (
                    "unknown setting; choose"
                    if path
                    else "must stand below the line of its section, such as [study]; sections are"
                )
                self.fault((*path, key), None, f"{unknown} {', '.join(allowed)}")

    def text(self, table: dict[str, Any], path: Keys, key: str, default: str | None, pattern: str = "") -> str:
        """A text; required where the default is None, and of a pattern of `PATTERNS` where one is named."""
        value = table.get(key, default)
        if value is None:
            self.fault((*path, key), None, "a text is required")
            return ""
        if not isinstance(value, str):
            self.fault((*path, key), value, "a text in quotes is allowed")
            return default or ""
        if pattern and value and not re.fullmatch(pattern, value):
            self.fault((*path, key), value, f"allowed is {PATTERNS[pattern]}")
        return value.strip()

    def number(self, table: dict[str, Any], path: Keys, key: str, default: float, low: float, high: float) -> float:
        """A number from `low` to `high`, ends included."""
        value = table.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            self.fault((*path, key), value, f"a number from {low:g} to {high:g} is allowed")
            return default
        return value

    def whole(self, table: dict[str, Any], path: Keys, key: str, default: int, low: int, high: int) -> int:
        """A whole number from `low` to `high`, ends included."""
        value = table.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            self.fault((*path, key), value, f"a whole number from {low} to {high} is allowed")
            return default
        return value

    def yes(self, table: dict[str, Any], path: Keys, key: str, default: bool) -> bool:
        """The yes or no under `key`; anything else is a fault, and `default` is taken."""
        value = table.get(key, default)
        if not isinstance(value, bool):
            self.fault((*path, key), value, "true or false is allowed")
            return default
        return value

    def day(self, table: dict[str, Any], path: Keys, key: str) -> date | None:
        """A day, such as 2027-01-31; None where it is absent."""
        value = table.get(key)
        if value is not None and (not isinstance(value, date) or isinstance(value, datetime)):
            self.fault((*path, key), str(value), "a day is allowed, without quotes, such as 2027-01-31")
            return None
        return value

    def one_of(self, table: dict[str, Any], path: Keys, key: str, default: str, allowed: Iterable[str]) -> str:
        """One of the texts that are allowed."""
        allowed = tuple(allowed)
        value = table.get(key, default)
        if value not in allowed:
            self.fault((*path, key), value, f"one of {', '.join(allowed)} is allowed")
            return default
        return str(value)

    def texts(self, table: dict[str, Any], path: Keys, key: str) -> tuple[str, ...]:
        """A list of texts, none of them empty."""
        value = table.get(key, [])
        if not isinstance(value, list) or not all(isinstance(entry, str) and entry.strip() for entry in value):
            self.fault((*path, key), value, 'a list of texts is allowed, such as ["a", "b"]')
            return ()
        return tuple(entry.strip() for entry in value)

    def table(self, data: dict[str, Any], path: Keys, key: str) -> dict[str, Any]:
        """A table; empty where it is absent."""
        value = data.get(key, {})
        if not isinstance(value, dict):
            self.fault((*path, key), value, f"a table is needed: [{'.'.join(map(str, (*path, key)))}]")
            return {}
        return value

    def tables(self, data: dict[str, Any], key: str) -> list[dict[str, Any]]:
        """A list of tables; empty where it is absent."""
        value = data.get(key, [])
        if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
            self.fault((key,), value, f"a list of tables is needed: [[{key}]]")
            return []
        return value

    def raise_faults(self) -> None:
        """Raise what was found, if anything: the first faults in full."""
        if self.faults:
            shown = self.faults[: self.SHOWN]
            if len(self.faults) > self.SHOWN:
                shown.append(f"... and {count_of(len(self.faults) - self.SHOWN, 'more fault')}")
            raise SeveralErrors(*shown)
