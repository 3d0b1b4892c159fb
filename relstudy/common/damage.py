"""What the readers of Python and NumPy raise where a file is damaged, beside OSError, of which each makes its own."""

from __future__ import annotations

import lzma
import tokenize
import zipfile
import zlib

NO_JSON = (ValueError, RecursionError)
"""Of a text: it is no JSON, it is no text, a number has thousands of digits, or it is nested without end."""
DAMAGED_ZIP = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, RuntimeError, ValueError)
"""Of a zip file: damage of its list, of what is compressed, an encrypted entry, a compression that is not known."""
DAMAGED_ARRAYS = (
    *DAMAGED_ZIP,
    *(KeyError, AttributeError, TypeError, OverflowError, MemoryError, SyntaxError, tokenize.TokenError),
)
"""Of a file of arrays (.npy, .npz, .mat): its header is Python's text."""
