"""Scenes of the city and of a room with a view."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from scripts.painting import outlines, terrain, things
from scripts.painting.light import paint_sky, paint_water
from scripts.painting.paint import Shape, colour, mix, smooth
from scripts.painting.setting import GREENS, Setting, sky


def city(s: Setting) -> None:
    """A skyline, by a river, by a park, or seen from a roof."""
    rng = s.canvas.rng
    river = s.scene.subject == "sailboat" or s.scene.crowd < 0.45
    cat = s.scene.subject == "cat"
    base = s.horizon + (28 if river else 64) * s.unit
    sky(s)
    terrain.skyline(s.canvas, s.light, base, 128 * s.unit, 0.70, 0.9)
    terrain.mist(s.canvas, s.light, base - 30 * s.unit, 30 * s.unit, 0.35)
    terrain.skyline(s.canvas, s.light, base, 104 * s.unit, 0.40, 0.8)
    terrain.mist(s.canvas, s.light, base - 12 * s.unit, 18 * s.unit, 0.28)
    terrain.skyline(s.canvas, s.light, base + (0 if river else 20 * s.unit), 72 * s.unit, 0.10, s.scene.crowd)
    if s.light.dark:
        s.canvas.add_light(s.canvas.width / 2, base, 130 * s.unit, colour("#ffb066"), 0.20)
    if river:
        paint_water(s.canvas, s.light, base, "#35566b", s.sun_x, 0.80, 0.74)
        if s.scene.subject == "sailboat":
            things.sailboat(
                s.canvas,
                s.light,
                s.subject_x,
                base + 0.58 * (s.canvas.height - base),
                60 * s.unit,
                0.0,
                flip=s.scene.side > 0,
            )
    elif not cat:
        street = np.full(s.canvas.width, base + 14 * s.unit)
        s.canvas.land(street, s.light.on("#6c7a5a", 0.1), s.light.on("#3f4a40"), 50 * s.unit)
        for x in np.arange(6, s.canvas.width, 21 * s.unit):
            things.tree(
                s.canvas,
                s.light,
                float(x + rng.uniform(-4, 4)),
                base + rng.uniform(19, 26) * s.unit,
                rng.uniform(20, 30) * s.unit,
                0.04,
            )
    if cat:
        roof = np.full(s.canvas.width, s.canvas.height - 34 * s.unit)
        tiles = s.light.on("#9a5444")
        s.canvas.land(roof, tiles, tiles * 0.6, 34 * s.unit)
        for row in range(3):
            y = s.canvas.height - (28 - 12 * row) * s.unit
            for x in np.arange(-8 if row % 2 else 0, s.canvas.width, 16 * s.unit):
                s.canvas.draw(
                    Shape().ellipse(0, 0, 7.4, 5.5),
                    float(x),
                    y,
                    s.unit,
                    tiles * (0.86 - 0.12 * row),
                    under=tiles * (0.62 - 0.1 * row),
                )
        sitting_cat(s, s.canvas.height - 31 * s.unit, 84 * s.unit)


def sitting_cat(s: Setting, y: float, size: float) -> None:
    """A cat that looks away from us."""
    rng = s.canvas.rng
    coats = ("#4a3f3c", "#d08a4a", "#8a8f98", "#efe6da", "#6b4c3a")
    coat = s.light.on(coats[int(rng.integers(len(coats)))])
    coat = mix(coat, s.light.haze, 0.10)
    s.canvas.draw(Shape().ellipse(0.05, 0.0, 0.5, 0.05), s.subject_x, y, size, coat * 0.3, opacity=0.4)
    s.canvas.draw(outlines.cat(), s.subject_x, y, size, coat, under=coat * 0.66, flip=s.scene.side > 0,
                  rim=mix(coat, s.light.sun, 0.65), light=s.scene.sun_side)  # fmt: skip


def window(s: Setting) -> None:
    """A sill, and a view."""
    rng = s.canvas.rng
    height, width = s.canvas.height, s.canvas.width
    view = s._replace(horizon=height * 0.52)
    paint_sky(s.canvas, s.light, view.horizon, s.scene.weather, s.sun_x, 0.6)
    if s.scene.crowd > 0.5:
        terrain.skyline(s.canvas, s.light, height * 0.74, 92 * s.unit, 0.45, 0.8)
    else:
        for layer in range(3):
            hill = terrain.rolling(s.canvas, height * (0.52 + 0.09 * layer), 24 * s.unit, 2.4)
            terrain.grass_layer(s.canvas, s.light, hill, GREENS[int(rng.integers(6))], 0.5 - 0.2 * layer, False)
    wall = colour(("#7d8f9a", "#b98f78", "#9aa38a", "#c2a98a", "#86799a")[int(rng.integers(5))])
    inside = {"dawn": 0.72, "day": 0.82, "sunset": 0.62, "dusk": 0.5, "night": 0.42}[s.scene.hour]
    warm = colour("#ffd9a8") if s.light.dark else colour("#fff2e0")
    plaster, wood = wall * inside * warm, colour("#f2eadc") * inside * warm
    sill = height * 0.80
    left, right, top = 0.13 * width, 0.87 * width, 0.08 * height
    outside = np.ones((height, width), dtype=np.float32)
    outside[round(top) : round(sill), round(left) : round(right)] = 0
    s.canvas.blend(outside, mix(plaster, plaster * 0.72, smooth(s.canvas.y * np.ones_like(s.canvas.x), 0, height)))
    bar = 7 * s.unit
    for x0, x1, y0, y1 in ((left, right, top, top + bar), (left, left + bar, top, sill),
                           (right - bar, right, top, sill),
                           (width / 2 - bar / 2, width / 2 + bar / 2, top, sill),
                           (left, right, height * 0.36, height * 0.36 + bar * 0.7)):  # fmt: skip
        s.canvas.draw(Shape().polygon((x0, y0), (x1, y0), (x1, y1), (x0, y1)), 0, 0, 1.0, wood, under=wood * 0.88)
    drape = colour(("#b8505a", "#4f7a8a", "#c7a04f", "#6f8a5a", "#f0e2d0")[int(rng.integers(5))]) * inside * warm
    folds = 0.82 + 0.18 * np.sin(s.canvas.x / (4.2 * s.unit)) * np.ones((height, 1), dtype=np.float32)
    for edge in (0.0, 1.0):
        inner = (0.20 - 0.06 * np.cos(s.canvas.y / height * np.pi)) * width
        mask = np.clip(inner - (s.canvas.x if edge == 0 else width - s.canvas.x) + 0.5, 0, 1).astype(np.float32)
        s.canvas.blend(mask, (drape * folds[..., None]).astype(np.float32))
    s.canvas.draw(
        Shape().polygon((0, sill), (width, sill), (width, sill + 16 * s.unit), (0, sill + 16 * s.unit)),
        0,
        0,
        1.0,
        wood,
        under=wood * 0.8,
    )
    s.canvas.draw(
        Shape().polygon(
            (0, sill + 16 * s.unit), (width, sill + 16 * s.unit), (width, sill + 21 * s.unit), (0, sill + 21 * s.unit)
        ),
        0,
        0,
        1.0,
        plaster * 0.5,
        opacity=0.6,
    )
    room = s._replace(light=replace(s.light, power=max(inside, 0.5), tint=warm))
    pot_x = width * (0.5 - 0.20 * np.sign(s.scene.side)) if s.scene.subject == "cat" else s.subject_x
    if s.scene.subject == "flowers" or s.scene.crowd > 0.4:
        _pot(room, float(pot_x), sill + 8 * s.unit, (64 if s.scene.subject == "flowers" else 44) * s.unit)
    if s.scene.subject == "cat":
        room = room._replace(subject_x=width * (0.5 + 0.16 * np.sign(s.scene.side)))
        sitting_cat(room, sill + 10 * s.unit, 104 * s.unit)


def _pot(s: Setting, x: float, y: float, size: float) -> None:
    rng = s.canvas.rng
    clay = s.light.on(("#c8744a", "#5f8a9a", "#e8dcc8")[int(rng.integers(3))])
    petals = ("#e8413c", "#f6c945", "#d86fb0", "#f4f0ff", "#8a6fd8")
    petal = s.light.on(petals[int(rng.integers(5))])
    for _ in range(9):
        tip_x, tip_y = rng.normal(0, 0.26), -0.55 - 0.55 * rng.random()
        s.canvas.draw(Shape().limb(0, -0.4, 0.018, tip_x, tip_y, 0.014), x, y, size, s.light.on("#3f6f38"))
        leaf = Shape().curve(
            (tip_x * 0.5, tip_y * 0.6),
            (tip_x * 0.5 + 0.14, tip_y * 0.6 - 0.09),
            (tip_x * 0.5 + 0.2, tip_y * 0.6 + 0.03),
        )
        s.canvas.draw(leaf, x, y, size, s.light.on("#5f9a4a"), flip=bool(rng.random() < 0.5))
        bloom = Shape()
        for angle in np.linspace(0, 2 * np.pi, 6, endpoint=False):
            bloom.ellipse(tip_x + 0.07 * float(np.cos(angle)), tip_y + 0.07 * float(np.sin(angle)), 0.06, 0.06)
        s.canvas.draw(bloom, x, y, size, petal, under=petal * 0.8)
        s.canvas.disc(x + tip_x * size, y + tip_y * size, 0.045 * size, s.light.on("#f7d060"))
    s.canvas.draw(
        Shape().polygon((-0.24, -0.42), (0.24, -0.42), (0.17, 0), (-0.17, 0)), x, y, size, clay, under=clay * 0.7
    )
    s.canvas.draw(
        Shape().polygon((-0.27, -0.46), (0.27, -0.46), (0.27, -0.37), (-0.27, -0.37)),
        x,
        y,
        size,
        clay * 1.08,
        under=clay * 0.86,
    )
