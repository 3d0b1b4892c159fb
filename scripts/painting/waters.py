"""Scenes by, on and under water: lake, sea, beach, reef."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scripts.painting import outlines, terrain, things
from scripts.painting.light import paint_water
from scripts.painting.paint import Shape, cloud, colour, mix, wave
from scripts.painting.setting import Setting, far_range, kept_clear, on_the_ground, sky


def lake(s: Setting) -> None:
    """Still water before mountains."""
    sky(s)
    far_range(s, 2, 104, 0.45)
    shore = np.full(s.canvas.width, s.horizon + 6 * s.unit) - np.abs(6 * s.unit * wave(s.canvas.rng, s.canvas.width, 3))
    terrain.tree_line(s.canvas, s.light, shore, 19 * s.unit, 0.30)
    if "cabin" in s.scene.extras:
        things.house(s.canvas, s.light, s.canvas.width * 0.3, s.horizon + 7 * s.unit, 15 * s.unit, 0.1)
    if s.scene.subject == "cabin":
        things.house(s.canvas, s.light, s.subject_x, s.horizon + 9 * s.unit, 36 * s.unit, 0.03)
    paint_water(s.canvas, s.light, s.horizon + 8 * s.unit, "#2d5f73", s.sun_x, 0.86, 0.78)
    if "sailboat" in s.scene.extras:
        things.sailboat(s.canvas, s.light, s.canvas.width * 0.62, s.horizon + 22 * s.unit, 15 * s.unit, 0.2)
    if s.scene.subject == "sailboat":
        things.sailboat(
            s.canvas, s.light, s.subject_x, s.horizon + 58 * s.unit, 62 * s.unit, 0.0, flip=s.scene.side > 0
        )
    bank = s.canvas.height * (0.97 + 0.10 * np.cos(np.linspace(0, 2 * np.pi, s.canvas.width))) - 12 * s.unit
    terrain.grass_layer(
        s.canvas, s.light, bank + 3 * s.unit * wave(s.canvas.rng, s.canvas.width, 9), "#5c7a3c", 0.0, False
    )
    if s.scene.subject == "deer":
        on_the_ground(s, bank)
    terrain.near_firs(s.canvas, s.light, s.canvas.height, 84 * s.unit, 3 + int(4 * s.scene.crowd), clear=kept_clear(s))


def sea(s: Setting) -> None:
    """Open water."""
    rng = s.canvas.rng
    sky(s, 0.10)
    if rng.random() < 0.45:
        isle = s.horizon - np.clip(wave(rng, s.canvas.width, 2.5, 4) * 34 - 8, 0, 40) * s.unit
        s.canvas.land(isle, s.light.on("#5c7266", 0.6), s.light.on("#5c7266", 0.72), 20 * s.unit)
    deep = ("#1f5f86", "#1d6f86", "#27587f", "#2a7f8a")[int(rng.integers(4))]
    paint_water(s.canvas, s.light, s.horizon, deep, s.sun_x, 0.45, 0.58)
    _waves(s)
    if "sailboat" in s.scene.extras:
        for _ in range(2):
            x = rng.uniform(0.1, 0.9) * s.canvas.width
            things.sailboat(
                s.canvas, s.light, x, s.horizon + rng.uniform(5, 14) * s.unit, rng.uniform(12, 19) * s.unit, 0.3
            )
    if s.scene.subject == "lighthouse":
        things.lighthouse(s.canvas, s.light, s.subject_x, s.horizon + 34 * s.unit, 118 * s.unit)
    elif "lighthouse" in s.scene.extras:
        things.lighthouse(
            s.canvas,
            s.light,
            s.canvas.width * (0.5 - 0.36 * np.sign(s.scene.side)),
            s.horizon + 6 * s.unit,
            40 * s.unit,
        )
    if s.scene.subject == "sailboat":
        things.sailboat(
            s.canvas, s.light, s.subject_x, s.horizon + 46 * s.unit, 74 * s.unit, 0.0, flip=s.scene.side > 0
        )
    if s.scene.subject == "whale":
        skin = s.light.on("#33475c")
        y = s.horizon + 44 * s.unit
        s.canvas.draw(
            outlines.whale(),
            s.subject_x,
            y,
            44 * s.unit,
            mix(skin, s.light.sun, 0.14),
            under=skin * 0.7,
            flip=s.scene.side > 0,
        )
        for spread in (-0.28, 0.0, 0.28):
            spray = Shape().curve((0, 0), (spread - 0.05, -0.5), (spread * 2, -0.62), (spread + 0.05, -0.4))
            s.canvas.draw(
                spray,
                s.subject_x - 12 * s.unit * np.sign(-s.scene.side),
                y - 15 * s.unit,
                44 * s.unit,
                colour("#ffffff"),
                opacity=0.5,
            )
        foam = Shape().ellipse(0.1, 0.03, 1.4, 0.05)
        s.canvas.draw(
            foam,
            s.subject_x,
            y,
            44 * s.unit,
            mix(s.light.haze, colour("#ffffff"), 0.4),
            opacity=0.6,
            flip=s.scene.side > 0,
        )


def _waves(s: Setting) -> None:
    rng = s.canvas.rng
    rows = s.canvas.height - s.horizon
    for t in np.linspace(0.12, 0.95, 11):
        y = s.horizon + t**1.5 * rows
        size = (3 + 17 * t) * s.unit
        crest = Shape()
        for _ in range(int(rng.integers(2, 6))):
            x, wide = rng.uniform(0, s.canvas.width) / size, rng.uniform(1.2, 3.2)
            crest.curve((x - wide, 0.05), (x, -0.10), (x + wide, 0.05), (x, -0.01))
        foam = mix(s.light.on("#ffffff"), s.light.haze, 0.35)
        s.canvas.draw(crest, 0, y, size, foam, opacity=0.30 + 0.25 * float(t))


def beach(s: Setting) -> None:
    """Sand, surf and palms."""
    rng = s.canvas.rng
    sky(s, 0.10)
    if rng.random() < 0.5:
        isle = s.horizon - np.clip(wave(rng, s.canvas.width, 2.2, 4) * 40 - 10, 0, 44) * s.unit
        s.canvas.land(isle, s.light.on("#4f7a56", 0.5), s.light.on("#4f7a56", 0.66), 26 * s.unit)
    paint_water(
        s.canvas, s.light, s.horizon, ("#1f94a0", "#2aa0b4", "#2486a6")[int(rng.integers(3))], s.sun_x, 0.6, 0.42
    )
    _waves(s)
    lean = np.sign(s.scene.side) * rng.uniform(18, 38)
    curve = (
        s.horizon
        + (0.50 * (s.canvas.height - s.horizon))
        + s.unit * (-lean * np.linspace(-1, 1, s.canvas.width) + 8 * wave(rng, s.canvas.width, 2, 2))
    )
    sand = colour(("#ecd5a4", "#f0dfba", "#e2c592")[int(rng.integers(3))])
    for offset, paint_, opacity in ((-13, "#bfeee8", 0.35), (-7, "#ffffff", 0.55), (-2, "#c8a878", 0.75)):
        mask, top = s.canvas.below(curve + offset * s.unit + 2.2 * s.unit * wave(rng, s.canvas.width, 14, 2))
        s.canvas.blend(mask * opacity, s.light.on(paint_), top)
    mask, top = s.canvas.land(curve + 4 * s.unit, s.light.on(sand), s.light.on(sand * 0.80), 90 * s.unit)
    if mask.size:
        grain = cloud(rng, mask.shape, (26, 12), 2) * 0.05
        s.canvas.rgb[top:] *= 1 + (mask * grain)[..., None]
    if "sailboat" in s.scene.extras or s.scene.subject == "sailboat":
        big = s.scene.subject == "sailboat"
        x = s.subject_x if big else s.canvas.width * 0.35
        things.sailboat(
            s.canvas, s.light, x, s.horizon + (18 if big else 7) * s.unit, (62 if big else 17) * s.unit, 0.05
        )
    if s.scene.subject == "umbrella":
        _umbrella(s)
    if s.scene.subject == "palm" or "palm" in s.scene.extras:
        edge = s.canvas.width * (0.5 + 0.40 * np.sign(s.scene.side))
        for i in range(2 if s.scene.crowd > 0.4 else 1):
            _palm(
                s,
                edge + i * rng.uniform(-46, -26) * s.unit * np.sign(s.scene.side),
                s.canvas.height,
                rng.uniform(120, 165) * s.unit,
            )


def _palm(s: Setting, x: float, y: float, size: float) -> None:
    lean = -0.32 * np.sign(s.scene.side) * s.canvas.rng.uniform(0.5, 1.1)
    bark = s.light.on("#8a6a48")
    s.canvas.draw(outlines.palm_trunk(lean), x, y, size, mix(bark, s.light.sun, 0.12), under=bark * 0.7)
    top_x, top_y = x + lean * size, y - size
    s.canvas.draw(
        outlines.palm_leaves(), top_x, top_y, size * 0.62, s.light.on("#3c7a44"), under=s.light.on("#1f4f34"), flip=True
    )
    s.canvas.draw(outlines.palm_leaves(), top_x, top_y, size * 0.58, s.light.on("#5f9f4a"), under=s.light.on("#2f6a3c"))
    for dx, dy in ((-0.03, 0.05), (0.035, 0.055), (0.0, 0.075)):
        s.canvas.disc(top_x + dx * size, top_y + dy * size, 0.028 * size, s.light.on("#6b4a2c"))


def _umbrella(s: Setting) -> None:
    y, size = s.canvas.height * 0.93, 66 * s.unit
    one, two = (("#e4573d", "#fff4e0"), ("#2f6f9f", "#fdf6e6"), ("#f2b53c", "#fffaf0"))[int(s.canvas.rng.integers(3))]
    s.canvas.draw(Shape().ellipse(0.12, 0.0, 0.75, 0.06), s.subject_x, y, size, s.light.on("#6a5636"), opacity=0.4)
    s.canvas.draw(Shape().limb(0, 0, 0.02, 0.06, -1.0, 0.02), s.subject_x, y, size, s.light.on("#f6efe2"))
    dome = Shape().curve(
        (-0.72, -0.70), (-0.5, -0.98), (0.06, -1.16), (0.6, -0.94), (0.80, -0.64), (0.3, -0.72), (-0.2, -0.75)
    )
    s.canvas.draw(dome, s.subject_x, y, size, s.light.on(one), under=s.light.on(one) * 0.84)
    for a, b in ((-0.42, -0.14), (0.22, 0.50)):
        gore = Shape().curve((0.06, -1.15), (a, -0.90), (a, -0.74), (b, -0.73), (b, -0.92))
        s.canvas.draw(gore, s.subject_x, y, size, s.light.on(two), under=s.light.on(two) * 0.86)
    s.canvas.draw(
        Shape().polygon((0.3, 0.02), (0.42, -0.06), (1.15, -0.02), (1.05, 0.08)),
        s.subject_x,
        y,
        size,
        s.light.on(two),
        under=s.light.on(one),
    )


def reef(s: Setting) -> None:
    """Under water."""
    rng = s.canvas.rng
    sea = {"dawn": ("#8fd6d0", "#2f8fa0", "#0f4f6f"), "day": ("#9be8e6", "#2a9fc4", "#0d4f86"),
           "sunset": ("#f0c79a", "#4f8f9f", "#1f4468"),
           "dusk": ("#7a8fc0", "#31558f", "#121f52"), "night": ("#2f5f8f", "#143a68",
                                                                "#06142f")}[s.scene.hour]  # fmt: skip
    shift = rng.normal(0, 0.03, 3).astype(np.float32)
    s.canvas.gradient([np.clip(colour(code) + shift, 0, 1) for code in sea])
    angle = np.arctan2(s.canvas.x - s.sun_x, s.canvas.y + 90 * s.unit)
    rays = np.interp(angle, np.linspace(-1.5, 1.5, 80), rng.uniform(0, 1, 80) ** 2)
    s.canvas.blend((0.42 * rays * np.exp(-s.canvas.y / (0.62 * s.canvas.height))).astype(np.float32), colour("#f2fff8"))
    power = {"dawn": 0.85, "day": 1.0, "sunset": 0.8, "dusk": 0.62, "night": 0.45}[s.scene.hour]
    water = colour(sea[1])
    for layer in range(3):
        far = 0.72 - 0.34 * layer
        floor = s.canvas.height - (44 - 15 * layer) * s.unit - 12 * s.unit * wave(rng, s.canvas.width, 2 + layer, 3)
        bed = colour("#d8c79a") * power
        s.canvas.land(floor, mix(bed, water, far), mix(bed * 0.6, water, far), 60 * s.unit)
        count = int((3 + 4 * s.scene.crowd) * (1.7 if s.scene.subject == "coral" or "coral" in s.scene.extras else 1))
        for _ in range(count):
            x = rng.uniform(0, s.canvas.width - 1)
            _coral(
                s,
                float(x),
                float(floor[int(x)]) + 6 * s.unit,
                rng.uniform(20, 44) * s.unit * (0.6 + 0.35 * layer),
                far,
                power,
                water,
            )
    _school(s, power, water)
    for _ in range(14):
        s.canvas.disc(
            rng.uniform(0, s.canvas.width),
            rng.uniform(0, s.canvas.height),
            rng.uniform(0.8, 2.6) * s.unit,
            colour("#f4ffff"),
            0.35,
        )


def _coral(s: Setting, x: float, y: float, size: float, far: float, power: float, water: np.ndarray) -> None:
    rng = s.canvas.rng
    codes = ("#f2697a", "#f59b5c", "#b86fd0", "#f6c35a", "#5fc9a0", "#ef86b0")
    paint_ = mix(colour(codes[int(rng.integers(len(codes)))]) * power, water, far)
    shape = Shape()
    if rng.random() < 0.5:
        for angle in np.linspace(-2.4, -0.75, int(rng.integers(5, 8))):
            dx, dy = float(np.cos(angle)), float(np.sin(angle))
            shape.limb(0, 0, 0.075, dx * 0.5, dy * 0.55, 0.06)
            for turn in (-0.45, 0.4):
                ex, ey = float(np.cos(angle + turn)), float(np.sin(angle + turn))
                shape.limb(dx * 0.5, dy * 0.55, 0.055, dx * 0.5 + ex * 0.4, dy * 0.55 + ey * 0.42, 0.04)
    else:
        for i in range(4):
            sway = 0.16 * (1 if i % 2 else -1)
            shape.curve(
                (0.14 * i - 0.25, 0),
                (0.14 * i - 0.25 + sway, -0.5),
                (0.14 * i - 0.21, -1.0),
                (0.14 * i - 0.10 + sway, -0.5),
                (0.14 * i - 0.15, 0),
            )
        paint_ = mix(colour("#4f9f5a") * power, water, far)
    s.canvas.draw(shape, x, y, size, paint_, under=paint_ * 0.62)


def _school(s: Setting, power: float, water: np.ndarray) -> None:
    rng = s.canvas.rng
    codes = (
        ("#ff9a3c", "#fff4e0"),
        ("#ffd84a", "#2f4fa0"),
        ("#5fb8f0", "#f6f6ff"),
        ("#f06a8a", "#ffe0b8"),
        ("#9a7fe0", "#ffd27a"),
    )
    body, stripes = codes[int(rng.integers(len(codes)))]
    kind = _FishKind(colour(body) * power, colour(stripes) * power, water, max(power, 0.6), s.scene.side > 0)
    many = s.scene.subject == "fish"
    if many and s.scene.crowd > 0.45:
        for _ in range(int(10 + 16 * s.scene.crowd)):
            x = s.subject_x + rng.normal(0, 0.17) * s.canvas.width
            _one_fish(
                s,
                x,
                s.canvas.height * (0.45 + rng.normal(0, 0.13)),
                rng.uniform(8, 15) * s.unit,
                0.18,
                kind,
            )
    if many:
        sizes = (34, 22) if s.scene.crowd <= 0.45 else (24,)
        for size in sizes:
            x = s.subject_x + (0 if size == sizes[0] else -np.sign(s.scene.side) * 0.26 * s.canvas.width)
            _one_fish(
                s,
                x,
                s.canvas.height * rng.uniform(0.32, 0.6),
                size * rng.uniform(0.95, 1.2) * s.unit,
                0.0,
                kind,
            )
    else:
        for _ in range(5):
            _one_fish(
                s,
                rng.uniform(0, s.canvas.width),
                s.canvas.height * rng.uniform(0.2, 0.6),
                rng.uniform(4, 7) * s.unit,
                0.45,
                kind,
            )


@dataclass(frozen=True)
class _FishKind:
    """Common look of a picture's fish: colours in the reef's light, the water they fade into, their direction."""

    body: np.ndarray
    stripes: np.ndarray
    water: np.ndarray
    eye_light: float
    flip: bool


def _one_fish(s: Setting, x: float, y: float, size: float, far: float, kind: _FishKind) -> None:
    body = mix(kind.body, kind.water, far)
    band = mix(kind.stripes, kind.water, far)
    s.canvas.draw(outlines.fish(), x, y, size, mix(body, colour("#ffffff"), 0.18), under=body * 0.72, flip=kind.flip)
    for at in (0.38, -0.20):
        stripe = Shape().curve(
            (at + 0.09, -0.37), (at + 0.15, 0), (at + 0.09, 0.36), (at - 0.09, 0.33), (at - 0.05, 0), (at - 0.09, -0.36)
        )
        s.canvas.draw(stripe, x, y, size, band, flip=kind.flip, opacity=0.9)
    eye = x + (-0.70 if kind.flip else 0.70) * size
    s.canvas.disc(eye, y - 0.06 * size, 0.105 * size, colour("#ffffff") * kind.eye_light)
    s.canvas.disc(eye, y - 0.06 * size, 0.06 * size, colour("#1a1f2a"))
