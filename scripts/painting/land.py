"""Scenes on dry land: mountains, forest, hills, meadow, desert, winter."""

from __future__ import annotations

import numpy as np

from scripts.painting import outlines, terrain, things
from scripts.painting.paint import Shape, colour, mix, smooth, wave
from scripts.painting.setting import (
    GREENS,
    Setting,
    far_range,
    far_things,
    kept_clear,
    on_the_ground,
    sky,
)


def mountains(s: Setting) -> None:
    """Snowy peaks over a wood and a meadow."""
    rng = s.canvas.rng
    sky(s)
    far_range(s, 3, 128, 0.52)
    terrain.mist(s.canvas, s.light, s.horizon + 20 * s.unit, 14 * s.unit, 0.42)
    wood = terrain.rolling(s.canvas, s.horizon + 46 * s.unit, 26 * s.unit, 2)
    terrain.tree_line(s.canvas, s.light, wood, 22 * s.unit, 0.34)
    ground = terrain.rolling(s.canvas, s.horizon + 76 * s.unit, 20 * s.unit, 1.6)
    terrain.grass_layer(s.canvas, s.light, ground, GREENS[int(rng.integers(len(GREENS)))], 0.08, False)
    on_the_ground(s, ground)
    terrain.near_firs(
        s.canvas, s.light, s.canvas.height * 0.99, 74 * s.unit, 5 + int(6 * s.scene.crowd), clear=kept_clear(s)
    )


def forest(s: Setting) -> None:
    """Firs in mist, with beams of light."""
    rng = s.canvas.rng
    sky(s)
    for layer in range(4):
        near = layer / 3
        foot = terrain.rolling(s.canvas, s.horizon + (4 + 42 * near) * s.unit, (34 - 16 * near) * s.unit, 2 + layer)
        terrain.tree_line(s.canvas, s.light, foot, (34 + 26 * near) * s.unit, 0.74 - 0.52 * near)
        if layer < 3:
            terrain.mist(s.canvas, s.light, s.horizon + (18 + 34 * near) * s.unit, 13 * s.unit, 0.34)
    ground = terrain.rolling(s.canvas, s.horizon + 74 * s.unit, 10 * s.unit, 1.4)
    terrain.grass_layer(s.canvas, s.light, ground, ("#5d7f3a", "#6c7d36", "#7c8240")[int(rng.integers(3))], 0.05, False)
    _beams(s)
    on_the_ground(s, ground)
    terrain.near_firs(
        s.canvas, s.light, s.canvas.height * 1.02, 150 * s.unit, 6 + int(6 * s.scene.crowd), clear=kept_clear(s)
    )


def _beams(s: Setting) -> None:
    if s.light.dark:
        return
    angle = np.arctan2(s.canvas.x - s.sun_x, s.canvas.y - s.horizon * 0.1 + 60)
    rays = np.interp(angle, np.linspace(-1.4, 1.4, 60), s.canvas.rng.uniform(0, 1, 60) ** 2)
    fade = smooth(s.canvas.y, s.horizon * 0.5, s.horizon) * (1 - smooth(s.canvas.y, s.horizon, s.canvas.height))
    s.canvas.blend((0.26 * rays * fade).astype(np.float32), s.light.sun)


def hills(s: Setting) -> None:
    """Green hills with trees and fields."""
    rng = s.canvas.rng
    sky(s)
    layers = 4
    ground = np.full(s.canvas.width, s.horizon)
    for layer in range(layers):
        near = layer / (layers - 1)
        ground = terrain.rolling(
            s.canvas, s.horizon + (8 + 74 * near**1.2) * s.unit, (30 + 8 * near) * s.unit, 2.8 - 1.3 * near
        )
        far = 0.72 - 0.68 * near
        terrain.grass_layer(
            s.canvas, s.light, ground, GREENS[int(rng.integers(len(GREENS)))], far, bool(rng.random() < 0.4)
        )
        for _ in range(int(rng.integers(3, 8) * (0.5 + s.scene.crowd)) if layer < layers - 1 else 0):
            x = rng.uniform(0, s.canvas.width - 1)
            things.tree(
                s.canvas,
                s.light,
                x,
                ground[int(x)] + 3 * s.unit,
                (10 + 15 * near) * rng.uniform(0.8, 1.3) * s.unit,
                far,
            )
        if layer == 1:
            far_things(s, ground, 0.42)
    on_the_ground(s, ground)


def meadow(s: Setting) -> None:
    """Flowers up to the front."""
    rng = s.canvas.rng
    sky(s)
    far_line = terrain.rolling(s.canvas, s.horizon + 4 * s.unit, 26 * s.unit, 2.4)
    terrain.grass_layer(s.canvas, s.light, far_line, "#6f9a58", 0.62, False)
    for x in rng.uniform(0, s.canvas.width - 1, 9):
        things.tree(s.canvas, s.light, x, s.horizon + 9 * s.unit, rng.uniform(17, 30) * s.unit, 0.34)
    ground = terrain.rolling(s.canvas, s.horizon + 14 * s.unit, 8 * s.unit, 1.3)
    terrain.grass_layer(s.canvas, s.light, ground, ("#7faa45", "#8fb04a", "#6c9a44")[int(rng.integers(3))], 0.10, False)
    far_things(s, ground, 0.2)
    _flowers(s, ground, 240, 0.0, 0.55)
    on_the_ground(s, ground + 0.52 * (s.canvas.height - ground))
    _flowers(s, ground, 150, 0.55, 1.05)


def _flowers(s: Setting, ground: np.ndarray, count: int, start: float, end: float) -> None:
    rng = s.canvas.rng
    kinds = (("#e8413c", "#f0605a", "#d62f3a"), ("#f6c945", "#ffe07a", "#ffffff"), ("#8a5fc0", "#a98be0", "#c7b2f0"),
             ("#f08ab0", "#ffd0e0", "#ffffff"), ("#4f74d8", "#f6c945", "#f5f5ff"))[int(rng.integers(5))]  # fmt: skip
    near = np.sort(start + (end - start) * rng.random(count) ** 0.7)
    for t in near:
        x = rng.uniform(0, s.canvas.width - 1)
        y = ground[int(x)] + t**1.25 * (s.canvas.height - ground[int(x)])
        size = (1.0 + 4.6 * t**1.4) * s.unit * rng.uniform(0.7, 1.2)
        petal = s.light.on(kinds[int(rng.integers(3))], 0.25 * (1 - t))
        stem = s.light.on("#3f6a2c", 0.1)
        if t > 0.25:
            s.canvas.draw(Shape().limb(0, 0, 0.13, 0.3, 2.6, 0.10), x, y, size, stem)
        flower = Shape()
        for petal_at in np.linspace(0, 2 * np.pi, 5, endpoint=False) + rng.uniform(0, 1):
            flower.ellipse(0.55 * float(np.cos(petal_at)), 0.42 * float(np.sin(petal_at)), 0.55, 0.48)
        s.canvas.draw(flower, x, y, size, petal, under=petal * 0.78)
        if size > 2:
            s.canvas.disc(x, y, 0.36 * size, s.light.on("#f7c948"))


def desert(s: Setting) -> None:
    """Dunes."""
    rng = s.canvas.rng
    sky(s)
    sand = ("#e0a55c", "#d98f52", "#e6bd7c", "#d8a070")[int(rng.integers(4))]
    if rng.random() < 0.45:
        mesa = s.horizon - np.clip(26 * wave(rng, s.canvas.width, 5, 2) * 3, 0, 30) * s.unit * rng.uniform(0.6, 1)
        s.canvas.land(mesa, s.light.on("#b0664a", 0.55), s.light.on("#a8604a", 0.72), 40 * s.unit)
    ground = np.full(s.canvas.width, s.horizon)
    for layer in range(4):
        near = layer / 3
        ground = terrain.rolling(
            s.canvas, s.horizon + (9 + 76 * near**1.15) * s.unit, (26 + 22 * near) * s.unit, 2.8 - 1.2 * near
        )
        terrain.dune_layer(s.canvas, s.light, ground, sand, 0.60 - 0.56 * near, s.sun_x)
    on_the_ground(s, ground)
    if s.scene.subject == "cactus" or s.scene.crowd > 0.8:
        for _ in range(3):
            x = rng.uniform(0.05, 0.95) * s.canvas.width
            green = s.light.on("#5f7f4a", 0.25)
            y = ground[int(x)] + 4 * s.unit
            s.canvas.draw(
                outlines.cactus(),
                x,
                y,
                rng.uniform(15, 24) * s.unit,
                green,
                under=green * 0.7,
                flip=bool(rng.random() < 0.5),
            )


def winter(s: Setting) -> None:
    """Snow."""
    rng = s.canvas.rng
    sky(s)
    if s.scene.crowd > 0.35:
        far_range(s, 2, 84, 0.9)
    ground = np.full(s.canvas.width, s.horizon)
    for layer in range(3):
        near = layer / 2
        ground = terrain.rolling(
            s.canvas, s.horizon + (14 + 66 * near) * s.unit, (22 - 4 * near) * s.unit, 2.4 - 0.9 * near
        )
        if layer < 2:
            terrain.tree_line(
                s.canvas, s.light, ground + 3 * s.unit, (20 + 22 * near) * s.unit, 0.58 - 0.3 * near, snow=True
            )
        power = mix(s.light.on("#ffffff", 0.35 * (1 - near)), s.light.haze, 0.10)
        s.canvas.land(ground, mix(power, s.light.sun, 0.16), s.light.on("#b4c6dd", 0.2 * (1 - near)), 64 * s.unit)
    on_the_ground(s, ground, snow=True)
    terrain.near_firs(
        s.canvas,
        s.light,
        s.canvas.height,
        92 * s.unit,
        4 + int(5 * s.scene.crowd),
        clear=kept_clear(s),
        snow=True,
    )
    if s.scene.weather in ("cloudy", "misty"):
        for x, y, r in zip(
            rng.uniform(0, s.canvas.width, 150),
            rng.uniform(0, s.canvas.height, 150),
            rng.exponential(0.8, 150),
            strict=True,
        ):
            s.canvas.disc(float(x), float(y), (0.5 + min(r, 2.0)) * s.unit, colour("#ffffff"), 0.75)
