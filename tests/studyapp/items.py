"""A study of items of every kind, harmless or hostile, and the files that they need."""

from __future__ import annotations

import csv
import wave
from pathlib import Path

import numpy as np
from PIL import Image

TOML = """
[study]
id = "items"
title = "Items"

[entry]
rules = ["personal", "open"]

[display.product]
fields = ["picture", "title", "maker", "price"]
labels = { maker = "Made by" }
price = "price"

[[blocks]]
name = "items"
pairs = "base"
paradigm = "text"
results_per_page = 2
not_shown = true
question = "How well does each result match?"
"""
LONG = " ".join(f"Sentence {k} of a long passage about boats on a lake." for k in range(80))
RESULTS = "abcdefgh"


def write_sound(path: Path, seconds: float = 0.5, hertz: float = 440.0) -> None:
    """A tone as a WAV file."""
    rate = 8000
    samples = 9000 * np.sin(2 * np.pi * hertz * np.arange(int(rate * seconds)) / rate)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(samples.astype("<i2").tobytes())


def write_film(path: Path, size: int = 4000) -> None:
    """The beginning of a film in MP4, and noise after it: nothing plays it, and it is sent like one that plays."""
    path.write_bytes(b"\0\0\0\x20ftypisom" + bytes(range(256)) * (size // 256))


def write_items(folder: Path, toml: str = TOML, hostile: str = "", film: bytes | None = None) -> Path:
    """A study with a query "boats" whose results are of every kind; `hostile` stands in every text of theirs."""
    (folder / "media").mkdir(parents=True)
    Image.new("RGB", (120, 80), (40, 90, 160)).save(folder / "media" / "boat.png")
    write_sound(folder / "media" / "sea.wav")
    write_film(folder / "media" / "sea.mp4")
    if film is not None:
        (folder / "media" / "sea.mp4").write_bytes(film)
    (folder / "media" / "sea.vtt").write_text(f"WEBVTT\n\n00:00.000 --> 00:02.000\nThe sea. {hostile}\n")
    columns = (
        *("item_id", "kind", "role", "path", "title", "text", "alt", "captions", "description", "narrative"),
        *("maker", "price", "system", "score"),
    )
    secret = {"system": "SECRETSYSTEM", "score": "0.98765"}
    card = {"path": "media/boat.png", "maker": f"Fjord & Sons {hostile}", "price": f"1 299 € {hostile}", **secret}
    rows: list[dict[str, str]] = [
        {"item_id": "q", "kind": "text", "text": f"boats on a lake {hostile}", "role": "query",
         "description": f"Small boats, still water. {hostile}", "narrative": "Ships on the sea are not meant."},
        {"item_id": "a", "kind": "card", "title": f"Rowing boat {hostile}", "alt": "A blue rowing boat", **card},
        {"item_id": "h", "kind": "card", "title": "Oar", "maker": "", "price": "49 €", **secret},
        {"item_id": "b", "kind": "html", "title": "Lakes",
         "text": f"<h1>Lakes</h1><p>A <b>boat</b> on the lake.</p><ul><li>calm</li></ul>{hostile}<p>Last words.</p>"},
        {"item_id": "c", "kind": "markdown", "title": "Boats",
         "text": f"## Boats\n\n*Small* boats.\n\n{hostile}\n\nEnd."},
        {"item_id": "d", "kind": "audio", "path": "media/sea.wav", "title": f"Waves {hostile}",
         "text": f"Waves. {hostile}"},
        {"item_id": "e", "kind": "video", "path": "media/sea.mp4", "title": "The sea", "captions": "media/sea.vtt"},
        {"item_id": "f", "kind": "text", "role": "result", "title": f"A passage {hostile}",
         "text": f"{LONG} {hostile}"},
        {"item_id": "g", "kind": "image", "path": "media/boat.png", "role": "result", "alt": f'Blue " {hostile}'},
    ]  # fmt: skip
    with (folder / "collection.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, restval="")
        writer.writeheader()
        writer.writerows(rows)
    pairs = [f"p-{name},q,{name},text,some,1,0.5,base" for name in RESULTS]
    header = "pair_id,query_id,result_id,paradigm,source,rank,inclusion_probability,block"
    (folder / "pairs.csv").write_text("\n".join([header, *pairs]) + "\n", encoding="utf-8")
    (folder / "study.toml").write_text(toml, encoding="utf-8")
    return folder
