"""Animals and objects in colour and light, where a scene puts them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scripts.painting.light import Light
from scripts.painting.outlines import (
    balloon,
    camel,
    crown,
    deer,
    gull,
    horse,
    hull,
    mane,
    pine,
    sails,
    sheep_fleece,
    sheep_limbs,
)
from scripts.painting.paint import Canvas, Colour, Shape, colour, mix


def tree(canvas: Canvas, light: Light, x: float, y: float, size: float, far: float) -> None:
    """A broadleaf tree in a green of its own."""
    leaves = ("#4f8a3c", "#6b9a3f", "#3f7a48", "#86a042")
    leaf = light.on(leaves[int(canvas.rng.integers(len(leaves)))], far)
    canvas.draw(Shape().limb(0, 0, 0.045, 0, -0.5, 0.03), x, y, size, light.on("#5b4230", far))
    canvas.draw(crown(canvas.rng), x, y, size, mix(leaf, light.on("#fff3b0", far), 0.22), under=leaf * 0.62)


def fir(canvas: Canvas, light: Light, x: float, y: float, size: float, far: float, *, snow: bool = False) -> None:
    """A fir; with snow on its branches in winter."""
    top = light.on("#dfe9f2" if snow else "#4d7a58", far)
    bottom = light.on("#4a6a72" if snow else "#1d4036", far)
    canvas.draw(pine(canvas.rng), x, y, size, top, under=bottom)


def house(canvas: Canvas, light: Light, x: float, y: float, size: float, far: float, *, snow: bool = False) -> None:
    """A small house with a gable roof; its windows are lit when it is dark."""
    rng = canvas.rng
    walls = ("#f3ead8", "#e8d2b0", "#d9b48a", "#c98f6a", "#f6f1e6")[int(rng.integers(5))]
    roof = "#eef3f8" if snow else ("#b5523c", "#a6452f", "#8c5a44", "#6d5a58")[int(rng.integers(4))]
    wall = light.on(walls, far)
    canvas.draw(
        Shape().polygon((-0.55, 0), (-0.55, -0.52), (0.55, -0.52), (0.55, 0)), x, y, size, wall, under=wall * 0.82
    )
    canvas.draw(
        Shape().polygon((0.2, -0.9), (0.2, -1.14), (0.33, -1.14), (0.33, -0.8)), x, y, size, light.on("#8a6a58", far)
    )
    canvas.draw(
        Shape().polygon((-0.68, -0.48), (-0.40, -1.0), (0.40, -1.0), (0.68, -0.48)), x, y, size,
        mix(light.on(roof, far), light.on("#ffffff", far), 0.12), under=light.on(roof, far) * 0.8
    )  # fmt: skip
    pane = colour("#ffd884") if light.dark else light.on("#5d7f95", far)
    for px in (-0.32, 0.30):
        canvas.draw(
            Shape().polygon((px - 0.1, -0.36), (px + 0.1, -0.36), (px + 0.1, -0.16), (px - 0.1, -0.16)),
            x,
            y,
            size,
            pane,
        )
    canvas.draw(
        Shape().polygon((-0.08, 0), (-0.08, -0.32), (0.09, -0.32), (0.09, 0)), x, y, size, light.on("#6a4a3a", far)
    )
    if light.dark:
        canvas.add_light(x - 0.32 * size, y - 0.26 * size, 0.5 * size, colour("#ffb65c"), 0.5)
        canvas.add_light(x + 0.30 * size, y - 0.26 * size, 0.5 * size, colour("#ffb65c"), 0.5)


def windmill(canvas: Canvas, light: Light, x: float, y: float, size: float, far: float) -> None:
    """A windmill with four sails."""
    wall = light.on("#efe6d6", far)
    canvas.draw(
        Shape().polygon((-0.17, 0), (-0.11, -0.68), (0.11, -0.68), (0.17, 0)), x, y, size, wall, under=wall * 0.78
    )
    canvas.draw(
        Shape().curve((-0.14, -0.66), (0, -0.88), (0.14, -0.66), (0, -0.63)), x, y, size, light.on("#8f4b3a", far)
    )
    arms = Shape()
    turn = canvas.rng.uniform(0, np.pi / 2)
    for quarter in range(4):
        a = turn + quarter * np.pi / 2
        dx, dy = float(np.cos(a)), float(np.sin(a))
        arms.limb(0, -0.70, 0.02, dx * 0.55, -0.70 + dy * 0.55, 0.012)
        arms.polygon((dx * 0.14, -0.70 + dy * 0.14), (dx * 0.55, -0.70 + dy * 0.55),
                     (dx * 0.55 - dy * 0.12, -0.70 + dy * 0.55 + dx * 0.12),
                     (dx * 0.16 - dy * 0.1, -0.70 + dy * 0.16 + dx * 0.1))  # fmt: skip
    canvas.draw(arms, x, y, size, light.on("#6b5647", far))


def lighthouse(canvas: Canvas, light: Light, x: float, y: float, size: float) -> None:
    """A banded lighthouse on a rock, its lamp lit when it is dark."""
    canvas.draw(Shape().curve((-0.55, 0.06), (-0.42, -0.12), (-0.12, -0.2), (0.2, -0.18), (0.46, -0.1),
                              (0.62, 0.06)), x, y, size,
                light.on("#8a7f78"), under=light.on("#4a4448"))  # fmt: skip
    for band in range(5):
        low, high = -0.14 - 0.15 * band, -0.14 - 0.15 * (band + 1)
        a, b = 0.15 - 0.012 * band, 0.15 - 0.012 * (band + 1)
        paint = light.on("#f6f1ea" if band % 2 else "#c8473c")
        canvas.draw(Shape().polygon((-a, low), (-b, high), (b, high), (a, low)), x, y, size, paint)
    canvas.draw(
        Shape().polygon((-0.12, -0.89), (-0.12, -0.92), (0.12, -0.92), (0.12, -0.89)), x, y, size, light.on("#4a4448")
    )
    lamp = colour("#fff0b0") if light.dark or light.hour == "sunset" else light.on("#dbe9ee")
    canvas.draw(Shape().polygon((-0.06, -0.92), (-0.06, -1.04), (0.06, -1.04), (0.06, -0.92)), x, y, size, lamp)
    canvas.draw(Shape().curve((-0.08, -1.04), (0, -1.16), (0.08, -1.04)), x, y, size, light.on("#b23c34"))
    if light.dark:
        canvas.add_light(x, y - 0.98 * size, 0.30 * size, colour("#ffe9a0"), 0.95)
        beam = Shape().polygon((0, -0.98), (2.6, -1.30), (2.6, -0.86))
        canvas.draw(beam, x, y, size, colour("#fff2c0"), opacity=0.16)
        canvas.draw(beam, x, y, size, colour("#fff2c0"), flip=True, opacity=0.10)


def sailboat(canvas: Canvas, light: Light, x: float, y: float, size: float, far: float, *, flip: bool = False) -> None:
    """A sailing boat and its reflection."""
    rng = canvas.rng
    sail = light.on(("#fffaf0", "#f7ead0", "#f3d9c0", "#e86f51", "#f2c14e")[int(rng.integers(5))], far * 0.7)
    body = light.on(("#7a3b2e", "#2f4a66", "#8a6a48", "#3c3f4a")[int(rng.integers(4))], far)
    for ripple in range(4):
        dy = (0.10 + 0.16 * ripple) * size
        canvas.draw(Shape().ellipse(0, 0, 0.36 - 0.07 * ripple, 0.035),
                    x + rng.uniform(-0.04, 0.04) * size, y + dy, size, sail,
                    opacity=0.34 - 0.07 * ripple)  # fmt: skip
    canvas.draw(Shape().limb(0.045, -1.34, 0.012, 0.045, -0.1, 0.018), x, y, size, body, flip=flip)
    canvas.draw(sails(), x, y, size, sail, flip=flip, under=sail * 0.84)
    canvas.draw(hull(), x, y, size, body, flip=flip, under=body * 0.7)


def air_balloon(canvas: Canvas, light: Light, x: float, y: float, size: float) -> None:
    """A striped hot-air balloon with its basket."""
    rng = canvas.rng
    one, two = (
        ("#e4573d", "#f6d365"),
        ("#2f6f9f", "#f4efe2"),
        ("#7a4fa3", "#f29e4c"),
        ("#2a9d8f", "#f4e285"),
        ("#d64161", "#fbe8d3"),
    )[int(rng.integers(5))]
    bright = max(light.power, 0.62)
    first, second = colour(one) * light.tint * bright, colour(two) * light.tint * bright
    for dx in (-0.11, 0.11):
        canvas.draw(Shape().limb(dx, 0.56, 0.008, dx * 0.6, 0.86, 0.008), x, y, size, light.on("#4a3a2e"))
    canvas.draw(
        Shape().polygon((-0.09, 0.84), (0.09, 0.84), (0.075, 0.98), (-0.075, 0.98)), x, y, size, light.on("#8a5f3a")
    )
    mask, top, left = canvas.stamp(balloon(), x, y, size)
    columns = (np.arange(mask.shape[1]) + left - x) / (0.56 * size)
    rows = (np.arange(mask.shape[0]) + top - y) / size
    across = np.clip(columns[None, :] / np.maximum(np.cos(np.clip(rows, -0.6, 0.7) * 1.25), 0.15)[:, None], -1, 1)
    stripe = np.clip(6 * np.sin(np.arcsin(across) * 4.5) + 0.5, 0, 1).astype(np.float32)
    body = mix(first.astype(np.float32), second.astype(np.float32), stripe)
    shade = (1.10 - 0.42 * np.clip(across * 0.5 + 0.5 + 0.25 * rows[:, None], 0, 1)).astype(np.float32)
    canvas.blend(mask, body * shade[..., None], top, left)


def birds(canvas: Canvas, light: Light, x: float, y: float, size: float, count: int, ink: Colour | None = None) -> None:
    """A loose flight of birds."""
    rng = canvas.rng
    paint = ink if ink is not None else light.on("#39414f", 0.12)
    for i in range(count):
        side = (i + 1) // 2 * (1 if i % 2 else -1)
        canvas.draw(gull(rng.uniform(0.25, 0.62)), x + side * size * rng.uniform(1.5, 2.2),
                    y + abs(side) * size * rng.uniform(0.4, 1.1),
                    size * rng.uniform(0.75, 1.1), paint, flip=bool(rng.random() < 0.5))  # fmt: skip


def flock(canvas: Canvas, light: Light, spots: list[tuple[float, float, float]], far: float) -> None:
    """Sheep at (x, y, size), the nearest last."""
    for x, y, size in sorted(spots, key=lambda spot: spot[1]):
        flip = bool(canvas.rng.random() < 0.5)
        dark = light.on("#3a3330", far)
        canvas.draw(Shape().ellipse(0, 0.0, 0.55, 0.07), x, y, size, light.on("#24381f", far), opacity=0.35)
        canvas.draw(sheep_limbs(), x, y, size, dark, flip=flip)
        wool = light.on("#fbf6ea", far)
        canvas.draw(sheep_fleece(), x, y, size, wool, flip=flip, under=wool * 0.74)
        canvas.draw(
            Shape().limb(0.50, -0.74, 0.13, 0.68, -0.58, 0.09).limb(0.46, -0.82, 0.04, 0.34, -0.76, 0.03),
            x,
            y,
            size,
            dark,
            flip=flip,
        )


@dataclass(frozen=True)
class Animal:
    """A horse, deer or camel: where its feet are and how large it is, in pixels; how far off, 0 to 1."""

    kind: str
    x: float
    y: float
    size: float
    far: float
    flip: bool


def stand(canvas: Canvas, light: Light, animal: Animal, sun_side: float) -> None:
    """An animal standing, its edge lit from `sun_side` (-1 left, 1 right)."""
    rng = canvas.rng
    x, y, size, far, flip = animal.x, animal.y, animal.size, animal.far, animal.flip
    coats = {
        "horse": ("#7a4a2c", "#5a3826", "#a06a3c", "#d8cbb8", "#3b2c26"),
        "deer": ("#8f5f38", "#a8713f"),
        "camel": ("#c79a5e", "#b98a52"),
    }[animal.kind]
    coat = light.on(coats[int(rng.integers(len(coats)))], far)
    canvas.draw(Shape().ellipse(0, 0.0, 0.6, 0.06), x, y, size, light.on("#20241c", far), opacity=0.35)
    shape = {"horse": horse, "deer": deer, "camel": camel}[animal.kind]()
    canvas.draw(shape, x, y, size, coat, under=coat * 0.62, flip=flip, rim=mix(coat, light.sun, 0.5), light=sun_side)
    if animal.kind == "horse":
        canvas.draw(mane(), x, y, size, coat * 0.45, flip=flip)
