"""Files that cannot be read: what Python and NumPy raise for damaged ones, beside OSError, and files of tensors."""

from __future__ import annotations

import lzma
import tokenize
import zipfile
import zlib

from relstudy.common.runtime.errors import RelstudyError

NO_JSON = (ValueError, RecursionError)
"""Of a text: it is no JSON, it is not text, a number has thousands of digits, or it is nested without end."""
DAMAGED_ZIP = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, RuntimeError, ValueError)
"""Of a zip file: damage of its list, of what is compressed, an encrypted entry, a compression that is not known."""
DAMAGED_ARRAYS = (
    *DAMAGED_ZIP,
    *(KeyError, AttributeError, TypeError, OverflowError, MemoryError, SyntaxError, tokenize.TokenError),
)
"""Of a file of arrays (.npy, .npz, .mat): its header is Python's text."""


TENSORS = (".pt", ".pth", ".safetensors")
"""Endings of the names of files of tensors."""


def refuse_tensors(path: str) -> None:
    """Refuse a file of tensors, which torch writes as a pickle that may run anything; say the line that saves numbers.

    Examples
    --------
    >>> refuse_tensors("vectors.npy")
    """
    if not path.lower().endswith(TENSORS):
        return
    load = f"torch.load({path!r}, weights_only=True)"
    if path.lower().endswith(".safetensors"):
        load = f"safetensors.torch.load_file({path!r})['NAME']"
    saved = path.rsplit(".", 1)[0]
    raise RelstudyError(
        f"{path}: this is a file of tensors, and pickled data is never loaded; in Python, "
        f"numpy.save({saved + '.npy'!r}, {load}.cpu().numpy()) writes what can be read"
    )
