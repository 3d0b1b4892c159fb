"""A contact sheet of demo pictures, which the documentation shows.

python -m scripts.painting.sheet docs/assets/demo-pictures.jpg
"""

from __future__ import annotations

from pathlib import Path

import click
from PIL import Image

from relstudy.studyapp.example_pictures.truth import PLACES
from scripts.painting.latent import draw_scenes
from scripts.painting.scenes import paint

GAP = 6


def contact_sheet(rows: int = 4, seed: int = 0, width: int = 256, height: int = 171) -> Image.Image:
    """Pictures of every place in turn, six in a row.

    Parameters
    ----------
    rows : rows of six pictures
    seed : of the collection
    width, height : of each picture
    """
    wanted = 6 * rows
    scenes = draw_scenes(60 * rows, seed)
    by_place = {place: [scene for scene in scenes if scene.place == place] for place in PLACES}
    chosen = [by_place[PLACES[number % len(PLACES)]][number // len(PLACES)] for number in range(wanted)]
    sheet = Image.new("RGB", (6 * (width + GAP) - GAP, rows * (height + GAP) - GAP), "white")
    for number, scene in enumerate(chosen):
        picture = paint(scene).resize((width, height), Image.Resampling.LANCZOS)
        sheet.paste(picture, ((number % 6) * (width + GAP), (number // 6) * (height + GAP)))
    return sheet


@click.command()
@click.argument("out", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--rows", default=4, show_default=True, type=click.IntRange(1, 50), help="Rows of six pictures.")
@click.option("--seed", default=0, show_default=True, help="Random seed of the collection.")
def main(out: Path, rows: int, seed: int) -> None:
    """Write a contact sheet of the demo's pictures."""
    contact_sheet(rows, seed).save(out, quality=88)


if __name__ == "__main__":
    main()
