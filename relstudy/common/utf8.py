"""Text files as UTF-8: a byte that is none is refused, since an id that changed on the way matches nothing."""

from __future__ import annotations

from relstudy.common.errors import RelstudyError


def decoded(content: bytes, file: str, what: str) -> str:
    """The text of a file, without the mark that some editors write before it.

    Parameters
    ----------
    content : all of it
    file : its name, for the message
    what : what to call it there: run, table

    Raises
    ------
    RelstudyError
        naming the first byte that is not UTF-8
    """
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RelstudyError(f"{file}: byte {error.start} is not UTF-8; save the {what} as UTF-8") from None
