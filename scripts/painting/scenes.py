"""Paint a scene: the twelve places, each from the horizon forward."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from PIL import Image

from scripts.painting import land, terrain, town, waters
from scripts.painting.latent import Scene
from scripts.painting.light import light_of
from scripts.painting.paint import Canvas
from scripts.painting.setting import Setting, in_the_air

_PAINTERS: dict[str, Callable[[Setting], None]] = {
    "mountains": land.mountains,
    "lake": waters.lake,
    "forest": land.forest,
    "hills": land.hills,
    "meadow": land.meadow,
    "desert": land.desert,
    "winter": land.winter,
    "city": town.city,
    "sea": waters.sea,
    "beach": waters.beach,
    "reef": waters.reef,
    "window": town.window,
}


def paint(scene: Scene, width: int = 384, height: int = 256) -> Image.Image:
    """Render a scene.

    Parameters
    ----------
    scene : latent parameters; the same scene gives the same picture
    width, height : pixels; brushes scale with the height
    """
    rng = np.random.default_rng(scene.seed)
    canvas = Canvas(width, height, rng)
    setting = Setting(
        canvas=canvas,
        light=light_of(scene.hour, rng),
        scene=scene,
        horizon=scene.horizon * height,
        sun_x=(0.5 + 0.42 * scene.sun_side) * width,
        subject_x=(0.5 + 0.36 * scene.side) * width,
    )
    _PAINTERS[scene.place](setting)
    in_the_air(setting)
    if scene.weather == "misty" and scene.place not in ("reef", "window"):
        terrain.mist(canvas, setting.light, setting.horizon + 6 * setting.unit, 20 * setting.unit, 0.5)
    return canvas.picture()
