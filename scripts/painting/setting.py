"""Common parts of all scenes: the setting, the sky, far ranges, and the things that stand in them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scripts.painting import outlines, terrain, things
from scripts.painting.latent import Scene
from scripts.painting.light import Light, aurora, paint_sky
from scripts.painting.paint import Canvas, mix

GREENS = ("#6f9f3f", "#7fae4c", "#5f9347", "#93a84a", "#86b255", "#b0a24a")


class Setting(NamedTuple):
    """Setting of a scene: the canvas, the light, the latent scene, and the places of horizon, sun and subject."""

    canvas: Canvas
    light: Light
    scene: Scene
    horizon: float
    sun_x: float
    subject_x: float

    @property
    def unit(self) -> float:
        """Pixels per 1/256 of the picture's height."""
        return self.canvas.height / 256


def sky(s: Setting, low: float = 0.12, high: float = 0.5) -> None:
    """Sky, sun and clouds of the scene; northern lights on some cold nights."""
    rng = s.canvas.rng
    height = {"dawn": rng.uniform(low, 0.3), "day": rng.uniform(0.5, 0.85), "sunset": rng.uniform(low * 0.6, 0.26)}.get(
        s.light.hour, rng.uniform(0.5, 0.82)
    )
    paint_sky(s.canvas, s.light, s.horizon, s.scene.weather, s.sun_x, height)
    if s.light.hour == "night" and s.scene.place in ("winter", "lake", "mountains") and s.scene.crowd > 0.5:
        aurora(s.canvas, s.horizon)


def in_the_air(s: Setting) -> None:
    """Balloons and birds."""
    if s.scene.place in ("reef", "window"):
        return
    rng = s.canvas.rng
    width = s.canvas.width
    if s.scene.subject == "balloon":
        size = rng.uniform(54, 78) * s.unit
        things.air_balloon(s.canvas, s.light, s.subject_x, s.horizon * rng.uniform(0.42, 0.58), size)
        for _ in range(int(rng.integers(0, 4))):
            x = width * (0.5 - 0.36 * np.sign(s.scene.side) * rng.uniform(0.1, 1.1))
            things.air_balloon(s.canvas, s.light, x, s.horizon * rng.uniform(0.25, 0.7), rng.uniform(14, 26) * s.unit)
    elif "balloon" in s.scene.extras:
        things.air_balloon(
            s.canvas, s.light, width * rng.uniform(0.15, 0.85), s.horizon * 0.45, rng.uniform(18, 26) * s.unit
        )
    if s.scene.subject == "birds":
        things.birds(
            s.canvas, s.light, s.subject_x, s.horizon * 0.36, rng.uniform(11, 15) * s.unit, int(rng.integers(5, 10))
        )
    elif "birds" in s.scene.extras:
        things.birds(
            s.canvas, s.light, width * rng.uniform(0.25, 0.75), s.horizon * 0.35, 6.5 * s.unit, int(rng.integers(3, 6))
        )


def far_range(s: Setting, layers: int, height: float, snow: float) -> None:
    """A mountain range in layers, paler the further away."""
    rocks = ("#6b7488", "#75706f", "#6d7f86", "#8a7468")
    rock = rocks[int(s.canvas.rng.integers(len(rocks)))]
    for layer in range(layers):
        near = (layer + 1) / layers
        far = 0.78 - 0.55 * near
        base = s.horizon + (6 + 16 * near) * s.unit
        line = terrain.peaks(s.canvas, base, height * (1.12 - 0.38 * near) * s.unit, 1.0)
        terrain.mountain_layer(s.canvas, s.light, line, rock, far, s.sun_x, snow * (1.1 - 0.45 * near))


def kept_clear(s: Setting) -> float | None:
    """The column that firs in front must not hide, or None."""
    return s.subject_x if s.scene.subject in ("deer", "cabin") else None


def far_things(s: Setting, ground: np.ndarray, far: float) -> None:
    """The scene's smaller things, at some distance."""
    rng = s.canvas.rng
    opposite = s.canvas.width * (0.5 - 0.30 * np.sign(s.scene.side))
    for name in s.scene.extras:
        x = float(np.clip(opposite + rng.normal(0, 26) * s.unit, 10, s.canvas.width - 10))
        y = float(ground[int(x)])
        if name in ("house", "cabin"):
            things.house(s.canvas, s.light, x, y + 2 * s.unit, 17 * s.unit, far)
        elif name == "windmill":
            things.windmill(s.canvas, s.light, x, y + 3 * s.unit, 42 * s.unit, far)
        elif name == "sheep":
            spots = [(x + rng.normal(0, 24) * s.unit, y + rng.uniform(9, 16) * s.unit, 7 * s.unit) for _ in range(6)]
            things.flock(s.canvas, s.light, spots, far)


def on_the_ground(s: Setting, ground: np.ndarray, *, snow: bool = False) -> None:
    """The scene's subject, where it stands on the ground."""
    rng = s.canvas.rng
    x = s.subject_x
    y = float(ground[int(np.clip(x, 0, s.canvas.width - 1))]) + 10 * s.unit
    y = min(y, s.canvas.height - 10 * s.unit)
    name = s.scene.subject
    flip = s.scene.side > 0
    if name in ("house", "cabin"):
        things.house(s.canvas, s.light, x, y, 50 * s.unit, 0.02, snow=snow)
    elif name == "windmill":
        things.windmill(s.canvas, s.light, x, y, 104 * s.unit, 0.02)
    elif name == "sheep":
        spots = [(x, y + 9 * s.unit, 38 * s.unit)]
        for _ in range(3 + int(5 * s.scene.crowd)):
            step = rng.uniform(0, 1)
            spots.append((x + rng.normal(0, 88) * s.unit, y + (step * 26 - 8) * s.unit, (19 + 15 * step) * s.unit))
        things.flock(s.canvas, s.light, spots, 0.02)
    elif name in ("horse", "deer", "camel"):
        size = {"horse": 60, "deer": 46, "camel": 60}[name] * s.unit
        if s.scene.crowd > 0.5:
            aside = x - np.sign(s.scene.side) * 74 * s.unit
            second = things.Animal(name, aside, y - 5 * s.unit, size * 0.74, 0.08, flip)
            things.stand(s.canvas, s.light, second, s.scene.sun_side)
        things.stand(s.canvas, s.light, things.Animal(name, x, y, size, 0.02, flip), s.scene.sun_side)
    elif name == "cactus":
        green = s.light.on("#5a8a4c")
        s.canvas.draw(outlines.cactus(), x, y + 8 * s.unit, 92 * s.unit, mix(green, s.light.sun, 0.12),
                      under=green * 0.6, flip=flip,
                      rim=mix(green, s.light.sun, 0.5), light=s.scene.sun_side)  # fmt: skip
