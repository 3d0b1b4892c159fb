"""Which picture files a browser shows, told by their first bytes."""

from __future__ import annotations

from pathlib import Path

IMAGE_TYPES = {
    b"\xff\xd8\xff": "image/jpeg",
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}


def image_type(head: bytes) -> str | None:
    """The media type by the file's first bytes; None for anything but JPEG, PNG, GIF and WebP."""
    for magic, media_type in IMAGE_TYPES.items():
        if head.startswith(magic):
            return media_type
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    return None


def can_be_shown(path: Path) -> bool:
    """Whether a file's first bytes are those of a picture that browsers show; what cannot be read is no such file."""
    try:
        with path.open("rb") as handle:
            return image_type(handle.read(16)) is not None
    except OSError:
        return False
