"""Paint the example pictures, and write data/pictures: each picture, what it shows, and its keywords.

    python -m scripts.painting.make_pictures

A thousand pictures take some minutes. They are drawn from seed 0, so that they come out the same.
"""

from __future__ import annotations

import csv
import io
import zipfile
from dataclasses import astuple, fields
from pathlib import Path

from relstudy.common.runtime.console import progress
from relstudy.studyapp.example_pictures.collection import PICTURES
from relstudy.studyapp.example_pictures.truth import Scene
from scripts.painting.latent import draw_scenes, keywords
from scripts.painting.scenes import paint

TARGET = Path(__file__).resolve().parents[2] / "data" / "pictures"
MADE = (2026, 1, 1, 0, 0, 0)


def as_webp(scene: Scene) -> bytes:
    """The painted scene in some five kB."""
    held = io.BytesIO()
    paint(scene).save(held, "WEBP", quality=60, method=6)
    return held.getvalue()


def main() -> None:
    """Write pictures.zip and scenes.csv."""
    scenes = draw_scenes(PICTURES, 0)
    TARGET.mkdir(parents=True, exist_ok=True)
    with (
        zipfile.ZipFile(TARGET / "pictures.zip", "w") as pictures,
        open(TARGET / "scenes.csv", "w", encoding="utf-8", newline="") as file,
    ):
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["file", *(field.name for field in fields(Scene)), "keywords"])
        for number, scene in enumerate(progress(scenes, "painting", PICTURES), start=1):
            name = f"{number:04d}.webp"
            pictures.writestr(zipfile.ZipInfo(name, MADE), as_webp(scene))
            shown = [";".join(value) if isinstance(value, tuple) else value for value in astuple(scene)]
            table.writerow([name, *shown, ";".join(keywords(scene))])


if __name__ == "__main__":
    main()
