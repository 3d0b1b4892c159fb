"""Where in a TOML file a key stands, so that an error can name the line."""

from __future__ import annotations

import re

Path = tuple[str | int, ...]

_HEADER = re.compile(r"^\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(#.*)?$")
_KEY = re.compile(r"""^\s*((?:"[^"]*"|'[^']*'|[A-Za-z0-9_-]+)(?:\s*\.\s*(?:"[^"]*"|'[^']*'|[A-Za-z0-9_-]+))*)\s*=""")
_PART = re.compile(r""""([^"]*)"|'([^']*)'|([A-Za-z0-9_-]+)""")


def line_numbers(text: str) -> dict[Path, int]:
    """Line (from 1) of every table header and key of a TOML text that parses.

    Keys of inline tables stand on the line of the key that holds them and are not listed.

    Examples
    --------
    >>> line_numbers('[study]\\ntitle = "a"\\n[[blocks]]\\nscale = "1-5"\\n')
    {('study',): 1, ('study', 'title'): 2, ('blocks', 0): 3, ('blocks', 0, 'scale'): 4}
    """
    lines: dict[Path, int] = {}
    counts: dict[Path, int] = {}
    table: Path = ()
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


def nearest_line(lines: dict[Path, int], path: Path) -> int | None:
    """The line of a path, or of the closest thing around it that has one."""
    for length in range(len(path), 0, -1):
        if path[:length] in lines:
            return lines[path[:length]]
    return None


def _parts(dotted: str) -> Path:
    return tuple(a or b or c for a, b, c in _PART.findall(dotted))


def _resolve(name: Path, counts: dict[Path, int]) -> Path:
    """The path of a header, with the number of the latest entry for each array of tables on the way."""
    path: Path = ()
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
