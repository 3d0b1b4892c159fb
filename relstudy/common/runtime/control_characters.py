"""Reject names with control or bidirectional characters."""

from __future__ import annotations

import re
from collections.abc import Iterable

from relstudy.common.runtime.errors import RelstudyError

CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
"""Control characters, line separators, and those that override the direction of writing (Unicode UAX 9)."""

BREAKS = re.compile("[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
"""Where something may show a new line."""
UNSEEN = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")
"""Characters of no width, by which two names differ that look the same."""


def without_breaks(text: str) -> str:
    """A text that may name somebody's file or id, as the one line that it is to be: its line breaks are written out.

    Examples
    --------
    >>> print(without_breaks("wrote a" + chr(10) + "relstudy: all is well"))
    wrote a\\nrelstudy: all is well
    """
    return BREAKS.sub(lambda sign: ascii(sign[0])[1:-1], text)


def without_controls(text: str) -> str:
    """A text of another machine with its control characters written out, to stand in a message.

    Examples
    --------
    >>> print(without_controls("busy" + chr(27) + "[2J"))
    busy\\x1b[2J
    """
    return CONTROLS.sub(lambda sign: ascii(sign[0])[1:-1], text)


def with_unseen(name: str) -> str:
    """A name with the characters that nobody sees in it written out, to stand in a message.

    Examples
    --------
    >>> print(with_unseen("a" + chr(0x200B)))
    a\\u200b
    """
    return UNSEEN.sub(lambda sign: ascii(sign[0])[1:-1], name)


def refuse_controls(names: Iterable[object], file: str, what: str) -> None:
    """Refuse names with control characters: A<U+202E>B is shown as another name, and an escape code may hide a line.

    Parameters
    ----------
    what : what the names are of, for the message, such as "a system"

    Raises
    ------
    RelstudyError
        quoting the first such name with the character written out

    Examples
    --------
    >>> refuse_controls(["bm25", "بحث", "a b"], "scores.csv", "a system")
    """
    for name in names:
        if CONTROLS.search(str(name)):
            raise RelstudyError(f"{file}: the name of {what} may hold no control character, and {str(name)!r} does")
