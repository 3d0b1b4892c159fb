"""Text and styles that commands write to a terminal: the one door.

Names of files and ids are other people's, and a terminal obeys what stands in them: an escape code in a file's name
cleared the screen or hid the lines before it, and a colour made what follows it unreadable.
"""

from __future__ import annotations

import contextlib
import re
import sys
import traceback
from collections.abc import Iterator
from types import TracebackType
from typing import Any, NoReturn, TextIO

from relstudy.common.runtime.control_characters import CONTROLS, without_controls

STYLE = re.compile(r"(\x1b\[[0-2]m|[\n\t])")
"""Bold, dim and their end, which hide nothing, new lines and tabs. A colour may be the ground's."""


class PlainTerminal:
    """A terminal's stream in which control characters are written out, but for those of `STYLE`, and so is what the
    stream's encoding does not have.

    It has no `buffer`: click takes the bytes beneath a stream in ASCII, and would write past this door.

    Parameters
    ----------
    beneath : the stream itself, for progress bars, which move the cursor
    """

    def __init__(self, beneath: TextIO) -> None:
        self.beneath = beneath

    def __getattr__(self, name: str) -> Any:
        if name == "buffer":
            raise AttributeError(name)
        return getattr(self.beneath, name)

    def detach(self) -> NoReturn:
        """Refused, as is `buffer`."""
        raise AttributeError("detach")

    def write(self, text: str) -> int:
        """Write text; gives the number of its characters."""
        shown = shown_safely(text) if CONTROLS.search(text) else text
        encoding = getattr(self.beneath, "encoding", None)
        if encoding and not shown.isascii():
            shown = shown.encode(encoding, "backslashreplace").decode(encoding)
        self.beneath.write(shown)
        return len(text)

    def writelines(self, lines: Iterator[str]) -> None:
        """Write each of the lines."""
        for line in lines:
            self.write(line)


def shown_safely(text: str) -> str:
    """A text with its control characters written out, but for bold and dim, new lines and tabs.

    Examples
    --------
    >>> shown_safely("a" + chr(27) + "[30mb" + chr(27) + "[1mc") == "a" + chr(92) + "x1b[30mb" + chr(27) + "[1mc"
    True
    """
    parts = STYLE.split(text)
    return "".join(part if number % 2 else without_controls(part) for number, part in enumerate(parts))


@contextlib.contextmanager
def plain_terminal() -> Iterator[None]:
    """Standard output and error as `PlainTerminal` where they are terminals; pipes and files get what they got.

    The traceback of an error that goes through the block passes the same door, though it is printed after it.
    """
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (PlainTerminal(stream) if stream and stream.isatty() else stream for stream in before)
    try:
        yield
    except Exception:
        if isinstance(sys.stderr, PlainTerminal):
            sys.excepthook = _print_plainly
        raise
    finally:
        sys.stdout, sys.stderr = before


def _print_plainly(kind: type[BaseException], error: BaseException, where: TracebackType | None) -> None:
    """A traceback without the escape codes of the names in it; Python's `sys.excepthook`."""
    traceback.print_exception(kind, error, where, file=PlainTerminal(sys.stderr))


def for_bars() -> TextIO:
    """Where progress bars go: standard error, as it is."""
    stream: TextIO = getattr(sys.stderr, "beneath", sys.stderr)
    return stream
