"""Pictures as people see them, and what a page shows that it holds itself."""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from relstudy.common.runtime.errors import RelstudyError

if TYPE_CHECKING:
    from PIL import Image


def read_picture(file: Path | BinaryIO, longest: int) -> Image.Image:
    """A picture as RGB, its longer side at most `longest` pixels; transparency on white.

    Raises
    ------
    RelstudyError
        where it cannot be decoded
    """
    from PIL import Image

    try:
        with Image.open(file) as image:
            image.draft("RGB", (longest, longest))
            if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
                layer = image.convert("RGBA")
                flat = Image.new("RGB", image.size, "white")
                flat.paste(layer, mask=layer.getchannel("A"))
            else:
                flat = image.convert("RGB")
            if max(flat.size) > longest:
                flat.thumbnail((longest, longest), Image.Resampling.BILINEAR)
            return flat
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise RelstudyError(f"{file}: this picture cannot be decoded ({error})") from None


def pixels_of(file: Path) -> int:
    """How many pixels a picture says that it has, without decoding it.

    Raises
    ------
    RelstudyError
        where it is no picture
    """
    from PIL import Image

    try:
        with Image.open(file) as image:
            return image.width * image.height
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise RelstudyError(f"{file}: this picture cannot be decoded ({error})") from None


def thumbnail_of(file: Path | BinaryIO, longest: int) -> str:
    """A picture as a small JPEG in a data: address; empty where it cannot be decoded."""
    content = io.BytesIO()
    try:
        read_picture(file, longest).save(content, "JPEG", quality=72)
    except RelstudyError:
        return ""  # the page says less, and the rest of it is as true
    return data_address(content.getvalue(), "image/jpeg")


def data_address(content: bytes, media_type: str) -> str:
    """A data: address that holds its content.

    Examples
    --------
    >>> data_address(b"a,b", "text/csv;charset=utf-8")
    'data:text/csv;charset=utf-8;base64,YSxi'
    """
    return f"data:{media_type};base64,{base64.b64encode(content).decode()}"
