"""Land in layers: peaks, hills, dunes, woods and skylines, paler the further away."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scripts.painting.light import Light
from scripts.painting.paint import Canvas, Shape, cloud, colour, mix, smooth, wave
from scripts.painting.things import fir


def peaks(canvas: Canvas, base: float, height: float, rough: float) -> np.ndarray:
    """A jagged ridge: tents of random height with noise on their slopes (one y per column)."""
    rng, width = canvas.rng, canvas.width
    x = np.arange(width)
    line = np.full(width, 0.12 * height)
    for _ in range(int(rng.integers(4, 7))):
        top = height * rng.uniform(0.45, 1.0)
        at = rng.uniform(-0.05, 1.05) * width
        slope = rng.uniform(0.55, 1.05)
        bend = x + 7 * wave(rng, width, 8, 3)
        line = np.maximum(line, top - slope * np.abs(bend - at) ** 0.94)
    return np.asarray(base - line - rough * height * 0.10 * wave(rng, width, 12, 5, 0.6))


def mountain_layer(
    canvas: Canvas, light: Light, line: np.ndarray, rock: str, far: float, sun_x: float, snow: float
) -> None:
    """Rock below a ridge with lit and shaded faces, and snow above a broken line.

    Parameters
    ----------
    snow : share of the height under the highest peak that snow covers, 0 for none
    """
    rng = canvas.rng
    mask, top = canvas.below(line)
    if not mask.size:
        return
    depth = canvas.y[top:] - line[None, :]
    grain = cloud(rng, mask.shape, (7, 9), 4, 0.6)
    slope = np.convolve(np.pad(np.gradient(line), 4, mode="edge"), np.ones(9) / 9, mode="valid")
    towards = np.clip((sun_x - canvas.x) / (0.16 * canvas.width), -1, 1)
    # A face keeps its slope down the flank: look the slope up at the ridge, wandering a little sideways.
    at = np.clip(canvas.x + grain * (5 + 0.42 * np.clip(depth, 0, 90)), 0, canvas.width - 1).astype(int)
    lit = smooth(slope[at] * towards + grain * 0.22, -0.55, 0.55)
    stone = mix(light.on(colour(rock) * 0.62, far), light.on(mix(colour(rock), light.sun, 0.30), far), lit)
    if snow > 0:
        highest = line.min()
        edge = highest + snow * (canvas.height * 0.62 - highest) + 15 * grain + 9 * (1 - lit)
        cap = smooth(edge - canvas.y[top:], -2.5, 3.5)
        white = mix(light.on("#9db2d0", far), light.on("#ffffff", far * 0.75), lit)
        stone = mix(stone, white, cap.astype(np.float32))
    mist = smooth(depth, 0.25 * canvas.height, 0.62 * canvas.height) * 0.55
    canvas.blend(mask, mix(stone, light.haze, mist.astype(np.float32)), top)


def rolling(canvas: Canvas, base: float, height: float, bumps: float) -> np.ndarray:
    """A smooth ridge of hills or dunes (one y per column)."""
    return np.asarray(base - height * (0.5 + 0.5 * wave(canvas.rng, canvas.width, bumps, 2, 0.3)))


def grass_layer(canvas: Canvas, light: Light, line: np.ndarray, green: str, far: float, furrows: bool) -> None:
    """A hill of grass or crops: lit at its crest, softly mottled, with furrows when it is a field."""
    rng = canvas.rng
    mask, top = canvas.below(line)
    if not mask.size:
        return
    depth = canvas.y[top:] - line[None, :]
    crest = light.on(mix(colour(green), colour("#fff2a8"), 0.36), far)
    foot = light.on(colour(green) * 0.60, far * 0.8)
    paint = mix(crest, foot, np.clip(depth / (0.26 * canvas.height), 0, 1) ** 0.75)
    mottle = cloud(rng, mask.shape, (10, 7), 3, 0.6) * 0.07
    if furrows:
        lean = rng.uniform(-0.8, 0.8)
        rows = np.sin(
            (canvas.x + lean * depth + 4 * mottle) * rng.uniform(0.35, 0.6) + 0.02 * np.maximum(depth, 0) ** 1.2
        )
        mottle = mottle + 0.06 * rows
    canvas.blend(mask, np.clip(paint * (1 + mottle[..., None]), 0, 1).astype(np.float32), top)


def dune_layer(canvas: Canvas, light: Light, line: np.ndarray, sand: str, far: float, sun_x: float) -> None:
    """A dune: the face towards the sun is bright, a sharp edge runs down from its crest, ripples cross it."""
    rng = canvas.rng
    mask, top = canvas.below(line)
    if not mask.size:
        return
    depth = canvas.y[top:] - line[None, :]
    slope = np.gradient(line)
    side = 1.0 if sun_x < canvas.width / 2 else -1.0
    bend = 22 * wave(rng, canvas.width, 3, 2)
    at = np.clip(canvas.x + side * 0.75 * depth + bend[None, :] * depth / 90, 0, canvas.width - 1).astype(int)
    lit = smooth(-slope[at] * side, -0.14, 0.14)
    bright = light.on(mix(colour(sand), colour("#fff0c8"), 0.35), far)
    shade = light.on(mix(colour(sand), colour("#7a4a5e"), 0.45) * 0.86, far)
    fade = smooth(depth, 0.10 * canvas.height, 0.42 * canvas.height) * 0.45
    paint = mix(shade, bright, lit * (1 - fade) + 0.55 * fade)
    ripple = np.sin((canvas.y[top:] * 0.9 + 3.0 * cloud(rng, mask.shape, (4, 5), 2) * 6 + 0.12 * canvas.x) * 0.9)
    paint = paint * (1 + 0.028 * (1 - far) * ripple[..., None])
    canvas.blend(mask, np.clip(paint, 0, 1).astype(np.float32), top)


def tree_line(canvas: Canvas, light: Light, base: np.ndarray, size: float, far: float, *, snow: bool = False) -> None:
    """A far wood of firs along a line: one silhouette."""
    rng = canvas.rng
    line = base.copy()
    x = np.arange(canvas.width)
    at = 0.0
    while at < canvas.width:
        tall = size * rng.uniform(0.55, 1.1)
        wide = tall * rng.uniform(0.20, 0.30)
        foot = base[min(int(at), canvas.width - 1)]
        saw = 0.05 * tall * np.abs(((np.abs(x - at) / wide * 5) % 1) - 0.5)
        line = np.minimum(line, np.where(np.abs(x - at) < wide, foot - tall * (1 - np.abs(x - at) / wide) + saw, line))
        at += wide * rng.uniform(0.5, 1.2)
    top = light.on("#c3d2dc" if snow else "#3f6b52", far)
    canvas.land(line, top, light.on("#5a7682" if snow else "#1c3a34", far), size * 1.2)


def near_firs(
    canvas: Canvas,
    light: Light,
    edge: float,
    size: float,
    count: int,
    *,
    clear: float | None = None,
    snow: bool = False,
) -> None:
    """Firs standing around `edge` (row), denser towards both sides, the nearest last; `clear` (column) stays free."""
    rng = canvas.rng
    spots = []
    for _ in range(count):
        side = rng.choice([-1, 1])
        x = canvas.width * (0.5 + side * (0.16 + 0.40 * rng.random() ** 0.8))
        foot, tall = edge + rng.uniform(-0.02, 0.07) * canvas.height, size * rng.uniform(0.6, 1.15)
        if clear is None or abs(x - clear) > 0.14 * canvas.width:
            spots.append((foot, x, tall))
    for foot, x, tall in sorted(spots):
        fir(canvas, light, x, foot, tall, 0.0, snow=snow)


def mist(canvas: Canvas, light: Light, row: float, thick: float, strength: float) -> None:
    """A band of mist, drifting."""
    drift = wave(canvas.rng, canvas.width, 2.5, 3) * thick * 0.5
    band = np.exp(-(((canvas.y - row - drift[None, :]) / thick) ** 2)) * strength
    canvas.blend(band.astype(np.float32), light.haze)


def skyline(canvas: Canvas, light: Light, base: float, height: float, far: float, dense: float) -> None:
    """A row of buildings with windows, on a common foot line."""
    rng = canvas.rng
    unit = canvas.height / 256
    x = -10.0
    bodies = ("#6f7f95", "#8a8f9c", "#a58f80", "#5f6f86", "#b59f88", "#7d6f78", "#93a3ae", "#a8735e")
    peak = rng.uniform(0.25, 0.75) * canvas.width
    while x < canvas.width:
        wide = rng.uniform(15, 34) * unit * (1.15 - 0.3 * far)
        bell = 0.50 + 0.50 * np.exp(-(((x - peak) / (0.30 * canvas.width)) ** 2))
        tall = height * bell * rng.uniform(0.55, 1.0)
        _building(canvas, light, _Building(x, base, wide, tall, far), bodies[int(rng.integers(len(bodies)))])
        x += wide * rng.uniform(0.80, 1.25 if dense > 0.5 else 1.5)


@dataclass(frozen=True)
class _Building:
    """A building's left edge and foot line, its width and height in pixels, and how far off it is, 0 to 1."""

    left: float
    foot: float
    wide: float
    tall: float
    far: float


def _building(canvas: Canvas, light: Light, building: _Building, body: str) -> None:
    rng = canvas.rng
    unit = canvas.height / 256
    wide, tall, far = building.wide, building.tall, building.far
    wall = light.on(body, far)
    style = rng.random()
    shape = Shape().polygon((0, 0), (0, -tall), (wide, -tall), (wide, 0))
    if style < 0.22:
        shape.polygon(
            (0.18 * wide, -tall), (0.18 * wide, -tall * 1.10), (0.82 * wide, -tall * 1.10), (0.82 * wide, -tall)
        )
        shape.polygon(
            (0.36 * wide, -tall), (0.36 * wide, -tall * 1.17), (0.64 * wide, -tall * 1.17), (0.64 * wide, -tall)
        )
    elif style < 0.36:
        shape.polygon((0, -tall + 0.5), (wide / 2, -tall - 0.7 * wide), (wide, -tall + 0.5))
    elif style < 0.46:
        shape.curve((0, -tall + 1), (0.2 * wide, -tall - 0.36 * wide), (0.5 * wide, -tall - 0.5 * wide),
                    (0.8 * wide, -tall - 0.36 * wide), (wide, -tall + 1))  # fmt: skip
    elif style < 0.62:
        shape.limb(wide / 2, -tall, 1.0 * unit, wide / 2, -tall - rng.uniform(10, 24) * unit, 0.4 * unit)
    canvas.draw(
        shape,
        building.left,
        building.foot,
        1.0,
        mix(wall, light.haze, 0.10),
        under=wall * (0.80 + 0.12 * far),
    )
    canvas.draw(Shape().polygon((wide * 0.72, 0), (wide * 0.72, -tall), (wide, -tall), (wide, 0)),
                building.left, building.foot, 1.0, wall * 0.72,
                opacity=0.45 * (1 - 0.6 * far))  # fmt: skip
    if far > 0.55:
        return
    _windows(canvas, light, building, wall)


def _windows(canvas: Canvas, light: Light, building: _Building, wall: np.ndarray) -> None:
    rng = canvas.rng
    unit = canvas.height / 256
    step_x, step_y = 5.2 * unit, 6.4 * unit
    columns, rows = int((building.wide - 4 * unit) // step_x), int((building.tall - 5 * unit) // step_y)
    if columns < 1 or rows < 1:
        return
    left = building.left + (building.wide - columns * step_x) / 2 + 0.2 * step_x
    glow = [colour(code) for code in ("#ffd27a", "#ffe7ad", "#ffb85c", "#cfe6ff")]
    pane = mix(wall * 0.62, light.sky[1], 0.28)
    shine = mix(wall, light.sun, 0.55)
    lit_share = {"night": 0.62, "dusk": 0.5, "sunset": 0.14, "dawn": 0.10, "day": 0.0}[light.hour]
    on = rng.random((rows, columns))
    for row in range(rows):
        y = round(building.foot - building.tall + 5 * unit + row * step_y)
        for column in range(columns):
            px = round(left + column * step_x)
            if y >= canvas.height - 2 or px < 0 or px >= canvas.width - 2 or y < 0:
                continue
            if on[row, column] < lit_share:
                paint = mix(glow[int(on[row, column] * 997) % 4], light.haze, building.far * 0.6)
            elif light.dark:
                paint = wall * 0.72
            else:
                paint = shine if (on[row, column] * 13) % 1 < 0.16 else pane
            patch = canvas.rgb[y : y + round(3.4 * unit), px : px + round(2.8 * unit)]
            patch += (paint - patch) * (0.92 - 0.5 * building.far)
