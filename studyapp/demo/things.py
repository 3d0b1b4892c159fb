"""Animals and objects as shapes: one unit is the thing's height or so, its feet stand at y = 0, y grows downwards."""

from __future__ import annotations

import numpy as np

from studyapp.demo.light import Light
from studyapp.demo.paint import Canvas, Colour, Shape, colour, mix


def horse() -> Shape:
    """A horse seen from its left, walking."""
    return (
        Shape()
        .curve((-0.50, -0.80), (-0.20, -0.78), (0.12, -0.80), (0.34, -0.86), (0.40, -0.62), (0.24, -0.48),
               (-0.10, -0.44), (-0.38, -0.48), (-0.56, -0.62))
        .curve((0.18, -0.80), (0.36, -1.06), (0.50, -1.24), (0.62, -1.20), (0.58, -0.98), (0.46, -0.72), (0.34, -0.58))
        .curve((0.47, -1.26), (0.60, -1.27), (0.80, -1.02), (0.82, -0.93), (0.74, -0.90), (0.60, -1.00), (0.50, -1.08))
        .polygon((0.49, -1.22), (0.53, -1.38), (0.58, -1.24))
        .limb(0.30, -0.56, 0.11, 0.36, -0.28, 0.055).limb(0.36, -0.28, 0.05, 0.33, -0.03, 0.045)
        .limb(0.20, -0.54, 0.10, 0.13, -0.28, 0.05).limb(0.13, -0.28, 0.05, 0.05, -0.05, 0.045)
        .limb(-0.42, -0.58, 0.14, -0.47, -0.32, 0.06).limb(-0.47, -0.32, 0.055, -0.41, -0.03, 0.045)
        .limb(-0.34, -0.54, 0.13, -0.32, -0.30, 0.055).limb(-0.32, -0.30, 0.05, -0.29, -0.03, 0.045)
        .curve((-0.52, -0.80), (-0.64, -0.74), (-0.72, -0.44), (-0.66, -0.26), (-0.62, -0.44), (-0.54, -0.64))
    )  # fmt: skip


def mane() -> Shape:
    """The horse's mane and tail, to be drawn over it in another colour."""
    return (
        Shape()
        .curve((0.50, -1.30), (0.44, -1.22), (0.30, -1.02), (0.18, -0.80), (0.26, -0.80), (0.40, -1.00), (0.54, -1.22))
        .curve((-0.52, -0.80), (-0.64, -0.75), (-0.73, -0.44), (-0.66, -0.24), (-0.62, -0.44), (-0.55, -0.66))
    )


def grazer(neck: tuple[float, float], head: tuple[float, float], *, hump: bool = False) -> Shape:
    """A long-legged grazer, built of limbs; `neck` and `head` say where neck and head end."""
    shape = Shape().curve(
        (-0.46, -0.74),
        (-0.2, -0.80),
        (0.1, -0.78),
        (0.36, -0.80),
        (0.38, -0.58),
        (0.1, -0.48),
        (-0.3, -0.48),
        (-0.5, -0.58),
    )
    if hump:
        shape.curve((-0.34, -0.72), (-0.14, -1.04), (0.02, -1.06), (0.2, -0.72))
    shape.limb(0.28, -0.70, 0.13, neck[0], neck[1], 0.065)
    shape.limb(neck[0], neck[1], 0.085, head[0], head[1], 0.045)
    for hip, foot in ((0.30, 0.33), (0.20, 0.16), (-0.40, -0.42), (-0.31, -0.27)):
        shape.limb(hip, -0.55, 0.085, (hip + foot) / 2 + 0.01, -0.28, 0.042)
        shape.limb((hip + foot) / 2 + 0.01, -0.28, 0.038, foot, -0.03, 0.032)
    return shape


def deer() -> Shape:
    """A deer with antlers."""
    shape = grazer((0.50, -1.10), (0.70, -1.06))
    for x in (0.0, 0.07):
        shape.limb(0.47 + x, -1.16, 0.022, 0.38 + x, -1.42, 0.016).limb(0.38 + x, -1.42, 0.016, 0.46 + x, -1.60, 0.01)
        shape.limb(0.41 + x, -1.34, 0.016, 0.54 + x, -1.46, 0.01).limb(0.38 + x, -1.42, 0.014, 0.28 + x, -1.54, 0.01)
    return shape.limb(-0.48, -0.70, 0.05, -0.54, -0.62, 0.03)


def camel() -> Shape:
    """A camel with one hump."""
    shape = grazer((0.62, -0.98), (0.84, -1.02), hump=True)
    return shape.limb(-0.47, -0.68, 0.03, -0.54, -0.42, 0.02)


def sheep_fleece() -> Shape:
    """A sheep's fleece."""
    shape = Shape().ellipse(0, -0.55, 0.50, 0.32)
    for angle in np.linspace(0, 2 * np.pi, 12, endpoint=False):
        shape.ellipse(0.44 * float(np.cos(angle)), -0.55 + 0.26 * float(np.sin(angle)), 0.15, 0.13)
    return shape


def sheep_limbs() -> Shape:
    """A sheep's legs and head, drawn under and over the fleece."""
    shape = Shape()
    for x in (-0.30, -0.18, 0.18, 0.30):
        shape.limb(x, -0.34, 0.05, x, -0.02, 0.04)
    return shape.limb(0.50, -0.74, 0.13, 0.68, -0.58, 0.09).limb(0.44, -0.80, 0.04, 0.32, -0.74, 0.03)


def cat() -> Shape:
    """A cat sitting with its back to us, tail to the right."""
    return (
        Shape()
        .curve((-0.26, 0.0), (-0.32, -0.22), (-0.24, -0.50), (-0.13, -0.66), (0.13, -0.66), (0.24, -0.50), (0.32, -0.22),
               (0.26, 0.0), (0.0, 0.03))
        .ellipse(0, -0.80, 0.215, 0.19)
        .polygon((-0.205, -0.84), (-0.19, -1.10), (-0.04, -0.95))
        .polygon((0.205, -0.84), (0.19, -1.10), (0.04, -0.95))
        .limb(0.20, -0.06, 0.07, 0.44, -0.03, 0.06).limb(0.44, -0.03, 0.06, 0.54, -0.16, 0.05)
        .limb(0.54, -0.16, 0.05, 0.50, -0.30, 0.04)
    )  # fmt: skip


def gull(lift: float) -> Shape:
    """A bird in flight seen from afar, wings up by `lift`."""
    return (
        Shape()
        .curve((0, 0.07), (-0.28, -lift), (-0.62, -lift * 0.72), (-1, -lift * 0.1), (-0.6, -lift * 0.50), (-0.28, -lift * 0.66),
               (0, -0.07), (0.28, -lift * 0.66), (0.6, -lift * 0.50), (1, -lift * 0.1), (0.62, -lift * 0.72), (0.28, -lift))
        .ellipse(0, 0.0, 0.10, 0.11)
    )  # fmt: skip


def fish() -> Shape:
    """A fish swimming to the right, centred on the origin."""
    return (
        Shape()
        .curve((1.0, 0.0), (0.62, -0.36), (0.1, -0.46), (-0.45, -0.22), (-0.74, -0.07), (-0.74, 0.07), (-0.45, 0.22),
               (0.1, 0.44), (0.62, 0.34))
        .curve((-0.62, 0.0), (-0.92, -0.30), (-1.22, -0.42), (-1.06, 0.0), (-1.22, 0.42), (-0.92, 0.30))
        .curve((0.36, -0.36), (0.0, -0.74), (-0.36, -0.62), (-0.30, -0.22))
    )  # fmt: skip


def whale() -> Shape:
    """A whale's back and fluke above the water line y = 0."""
    return (
        Shape()
        .curve((-1.0, 0.02), (-0.7, -0.26), (-0.2, -0.40), (0.35, -0.30), (0.8, 0.02))
        .curve((1.04, 0.02), (1.10, -0.24), (0.92, -0.52), (1.16, -0.44), (1.40, -0.56), (1.24, -0.24), (1.22, 0.02))
    )


def hull() -> Shape:
    """A sailing boat's hull, water line at y = 0."""
    return Shape().curve((-0.42, -0.12), (0, -0.09), (0.48, -0.15), (0.36, 0.02), (0, 0.05), (-0.34, 0.02))


def sails() -> Shape:
    """Main sail and jib, full of wind."""
    return (
        Shape()
        .curve((0.02, -1.30), (-0.05, -0.8), (-0.38, -0.22), (-0.1, -0.19), (0.02, -0.20), (0.03, -0.7))
        .curve((0.07, -1.16), (0.24, -0.72), (0.46, -0.24), (0.28, -0.20), (0.08, -0.22), (0.08, -0.7))
    )


def balloon() -> Shape:
    """A hot-air balloon's envelope, centred on the origin."""
    return Shape().curve((0, -0.62), (0.38, -0.50), (0.56, -0.12), (0.42, 0.26), (0.14, 0.62), (-0.14, 0.62), (-0.42, 0.26),
                         (-0.56, -0.12), (-0.38, -0.50))  # fmt: skip


def palm_leaves() -> Shape:
    """The crown of a palm, centred on the origin."""
    shape = Shape()
    for angle, length in (
        (-2.75, 0.62),
        (-2.25, 0.6),
        (-1.2, 0.52),
        (-0.75, 0.6),
        (-0.25, 0.64),
        (0.35, 0.5),
        (2.85, 0.52),
    ):
        dx, dy = float(np.cos(angle)), float(np.sin(angle))
        shape.curve(
            (0, 0), (dx * length * 0.45 - dy * 0.03, dy * length * 0.62 - 0.07), (dx * length * 0.85, dy * length * 0.72 + 0.04),
            (dx * length, dy * length * 0.6 + 0.22), (dx * length * 0.72, dy * length * 0.62 + 0.10), (dx * length * 0.4, dy * length * 0.46 + 0.03)
        )  # fmt: skip
    return shape


def palm_trunk(lean: float) -> Shape:
    """A palm's trunk from the ground to (lean, -1)."""
    shape = Shape()
    t = np.linspace(0, 1, 7)
    xs, ys, rs = lean * t**1.8, -t, 0.05 - 0.024 * t
    for i in range(6):
        shape.limb(float(xs[i]), float(ys[i]), float(rs[i]), float(xs[i + 1]), float(ys[i + 1]), float(rs[i + 1]))
    return shape


def pine(rng: np.random.Generator) -> Shape:
    """A fir, one unit high."""
    shape = Shape().polygon((-0.03, 0), (-0.02, -0.2), (0.02, -0.2), (0.03, 0))
    tiers = int(rng.integers(5, 8))
    for tier in range(tiers):
        low = -0.08 - 0.80 * tier / tiers
        high = low - 1.0 / tiers - 0.10
        wide = 0.27 * (1 - tier / tiers) ** 0.9 + 0.035
        left, right = wide * rng.uniform(0.85, 1.1), wide * rng.uniform(0.85, 1.1)
        shape.polygon((-left, low + 0.02), (-left * 0.45, low - 0.035), (0, max(high, -1.0)), (right * 0.45, low - 0.035),
                      (right, low + 0.02), (right * 0.3, low - 0.01), (-left * 0.3, low - 0.01))  # fmt: skip
    return shape


def crown(rng: np.random.Generator) -> Shape:
    """A broadleaf tree's crown, one unit high with its trunk."""
    shape = Shape().ellipse(0, -0.66, 0.28, 0.26)
    for angle in np.linspace(0, 2 * np.pi, 9, endpoint=False):
        far = rng.uniform(0.16, 0.24)
        shape.ellipse(
            far * 1.15 * float(np.cos(angle)),
            -0.66 + far * float(np.sin(angle)),
            rng.uniform(0.11, 0.16),
            rng.uniform(0.1, 0.15),
        )
    return shape


def cactus() -> Shape:
    """A saguaro, one unit high."""
    return (
        Shape()
        .limb(0, 0, 0.09, 0, -0.92, 0.08)
        .limb(0.0, -0.40, 0.055, 0.26, -0.42, 0.055).limb(0.26, -0.42, 0.055, 0.27, -0.74, 0.05)
        .limb(0.0, -0.28, 0.05, -0.23, -0.30, 0.05).limb(-0.23, -0.30, 0.05, -0.24, -0.56, 0.045)
    )  # fmt: skip


def _tree(canvas: Canvas, light: Light, x: float, y: float, size: float, far: float, leaf: str = "#4f8a3c") -> None:
    canvas.draw(Shape().limb(0, 0, 0.045, 0, -0.5, 0.03), x, y, size, light.on("#5b4230", far))
    leaf_colour = light.on(leaf, far)
    canvas.draw(
        crown(canvas.rng), x, y, size, mix(leaf_colour, light.on("#fff3b0", far), 0.22), under=leaf_colour * 0.62
    )


def tree(canvas: Canvas, light: Light, x: float, y: float, size: float, far: float) -> None:
    """A broadleaf tree in a green of its own."""
    leaves = ("#4f8a3c", "#6b9a3f", "#3f7a48", "#86a042")
    _tree(canvas, light, x, y, size, far, leaves[int(canvas.rng.integers(len(leaves)))])


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
        arms.polygon((dx * 0.14, -0.70 + dy * 0.14), (dx * 0.55, -0.70 + dy * 0.55), (dx * 0.55 - dy * 0.12, -0.70 + dy * 0.55 + dx * 0.12),
                     (dx * 0.16 - dy * 0.1, -0.70 + dy * 0.16 + dx * 0.1))  # fmt: skip
    canvas.draw(arms, x, y, size, light.on("#6b5647", far))


def lighthouse(canvas: Canvas, light: Light, x: float, y: float, size: float) -> None:
    """A banded lighthouse on a rock, its lamp lit when it is dark."""
    canvas.draw(Shape().curve((-0.55, 0.06), (-0.42, -0.12), (-0.12, -0.2), (0.2, -0.18), (0.46, -0.1), (0.62, 0.06)), x, y, size,
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
        canvas.draw(Shape().ellipse(0, 0, 0.36 - 0.07 * ripple, 0.035), x + rng.uniform(-0.04, 0.04) * size, y + dy, size, sail,
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
        canvas.draw(gull(rng.uniform(0.25, 0.62)), x + side * size * rng.uniform(1.5, 2.2), y + abs(side) * size * rng.uniform(0.4, 1.1),
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


def stand(
    canvas: Canvas, light: Light, kind: str, x: float, y: float, size: float, far: float, *, flip: bool, sun_side: float
) -> None:
    """A horse, deer or camel standing at (x, y)."""
    rng = canvas.rng
    coats = {
        "horse": ("#7a4a2c", "#5a3826", "#a06a3c", "#d8cbb8", "#3b2c26"),
        "deer": ("#8f5f38", "#a8713f"),
        "camel": ("#c79a5e", "#b98a52"),
    }[kind]
    coat = light.on(coats[int(rng.integers(len(coats)))], far)
    canvas.draw(Shape().ellipse(0, 0.0, 0.6, 0.06), x, y, size, light.on("#20241c", far), opacity=0.35)
    shape = {"horse": horse, "deer": deer, "camel": camel}[kind]()
    canvas.draw(shape, x, y, size, coat, under=coat * 0.62, flip=flip, rim=mix(coat, light.sun, 0.5), light=sun_side)
    if kind == "horse":
        canvas.draw(mane(), x, y, size, coat * 0.45, flip=flip)
