"""The kinds of items, and the files that browsers show or play, told by their first bytes."""

from __future__ import annotations

from pathlib import Path

IMAGE_TYPES = {
    b"\xff\xd8\xff": "image/jpeg",
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}
KINDS = ("image", "text", "html", "markdown", "card", "audio", "video")
PARADIGMS = ("image", "text")
"""The ways of asking: by a picture, and by anything else."""
PLAYED = ("audio", "video")
SOUNDS = (".mp3", ".wav", ".flac", ".m4a", ".oga", ".ogg", ".weba")
"""Endings of sounds, for containers that hold either."""
HEAD = 64
"""Bytes of a file's beginning that say what it is."""


def paradigm_of(kind: str) -> str:
    """The way in which a query of this kind asks.

    Examples
    --------
    >>> paradigm_of("image"), paradigm_of("text"), paradigm_of("card")
    ('image', 'text', 'text')
    """
    return "image" if kind == "image" else "text"


def image_type(head: bytes) -> str | None:
    """The media type by the file's first bytes; None for anything but JPEG, PNG, GIF and WebP."""
    for magic, media_type in IMAGE_TYPES.items():
        if head.startswith(magic):
            return media_type
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    return None


def played_type(head: bytes, kind: str) -> str | None:
    """The media type of a sound or a film by its first bytes; None for what browsers do not play.

    Known are MP4 and WebM for both, and MP3, Ogg, WAV and FLAC for sounds (Ogg for films, too).

    Examples
    --------
    >>> played_type(b"\\0\\0\\0\\x20ftypisom", "video"), played_type(b"ID3\\x04", "audio"), played_type(b"ID3", "video")
    ('video/mp4', 'audio/mpeg', None)
    """
    if head[4:8] == b"ftyp":
        return f"{kind}/mp4"
    if head.startswith(b"\x1aE\xdf\xa3") and b"webm" in head:
        return f"{kind}/webm"
    if head.startswith(b"OggS"):
        return f"{kind}/ogg"
    if kind != "audio":
        return None
    if head.startswith(b"ID3") or (len(head) > 1 and head[0] == 0xFF and head[1] & 0xE6 == 0xE2):
        return "audio/mpeg"
    if head[:4] == b"RIFF" and head[8:12] == b"WAVE":
        return "audio/wav"
    return "audio/flac" if head.startswith(b"fLaC") else None


def media_type(head: bytes, kind: str) -> str | None:
    """The media type of an item by its first bytes; None for what browsers neither show nor play."""
    return played_type(head, kind) if kind in PLAYED else image_type(head)


def begins_captions(head: bytes) -> bool:
    """True for the first bytes of captions in WebVTT."""
    return head.removeprefix(b"\xef\xbb\xbf")[:6] == b"WEBVTT"


def head_of(path: Path) -> bytes:
    """The first bytes of a file; none where it cannot be read."""
    try:
        with path.open("rb") as handle:
            return handle.read(HEAD)
    except OSError:
        return b""


def can_be_shown(path: Path) -> bool:
    """True if a file's first bytes are those of a picture that browsers show."""
    return image_type(head_of(path)) is not None


def shown_kind(path: Path) -> str | None:
    """The kind of item that a file is: image, audio or video; None for what browsers neither show nor play."""
    head = head_of(path)
    if image_type(head) is not None:
        return "image"
    kind = "audio" if path.suffix.lower() in SOUNDS else "video"
    return kind if played_type(head, kind) is not None else None
