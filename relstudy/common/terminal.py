"""Text and styles that commands write to a terminal.

Names of files and ids are other people's, and a terminal obeys what stands in them: an escape code in a file's name
cleared the screen or hid the lines before it.
"""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Iterator
from typing import Any, TextIO

from relstudy.common.plain_names import CONTROLS, without_controls

STYLE = re.compile(r"(\x1b\[(?:[0-2]|[39][0-7])m|[\n\t])")
"""Bold, dim and the usual colours, their end, new lines and tabs."""


class PlainTerminal:
    """A terminal's stream in which control characters are written out, but for those of `STYLE`.

    Parameters
    ----------
    beneath : the stream itself, for progress bars, which move the cursor
    """

    def __init__(self, beneath: TextIO) -> None:
        self.beneath = beneath

    def __getattr__(self, name: str) -> Any:
        return getattr(self.beneath, name)

    def write(self, text: str) -> int:
        """Write text; gives the number of its characters."""
        self.beneath.write(shown_safely(text) if CONTROLS.search(text) else text)
        return len(text)

    def writelines(self, lines: Iterator[str]) -> None:
        """Write each of the lines."""
        for line in lines:
            self.write(line)


def shown_safely(text: str) -> str:
    """A text with its control characters written out, but for styles, new lines and tabs.

    Examples
    --------
    >>> shown_safely("a" + chr(27) + "[2Jb" + chr(27) + "[1mc") == "a" + chr(92) + "x1b[2Jb" + chr(27) + "[1mc"
    True
    """
    parts = STYLE.split(text)
    return "".join(part if number % 2 else without_controls(part) for number, part in enumerate(parts))


@contextlib.contextmanager
def plain_terminal() -> Iterator[None]:
    """Standard output and error as `PlainTerminal` where they are terminals; pipes and files get every byte."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (PlainTerminal(stream) if stream and stream.isatty() else stream for stream in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def for_bars() -> TextIO:
    """Where progress bars go: standard error, as it is."""
    stream: TextIO = getattr(sys.stderr, "beneath", sys.stderr)
    return stream
