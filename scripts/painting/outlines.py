"""Animals, plants and objects as outlines.

One unit is about the thing's height; its feet stand at y = 0, and y grows downwards.
"""

from __future__ import annotations

import numpy as np

from scripts.painting.paint import Shape


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
        .curve((-0.26, 0.0), (-0.32, -0.22), (-0.24, -0.50), (-0.13, -0.66), (0.13, -0.66), (0.24, -0.50),
               (0.32, -0.22),
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
        .curve((0, 0.07), (-0.28, -lift), (-0.62, -lift * 0.72), (-1, -lift * 0.1), (-0.6, -lift * 0.50),
               (-0.28, -lift * 0.66),
               (0, -0.07), (0.28, -lift * 0.66), (0.6, -lift * 0.50), (1, -lift * 0.1), (0.62, -lift * 0.72),
               (0.28, -lift))
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
    return Shape().curve((0, -0.62), (0.38, -0.50), (0.56, -0.12), (0.42, 0.26), (0.14, 0.62), (-0.14, 0.62),
                         (-0.42, 0.26),
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
            (0, 0), (dx * length * 0.45 - dy * 0.03, dy * length * 0.62 - 0.07),
            (dx * length * 0.85, dy * length * 0.72 + 0.04),
            (dx * length, dy * length * 0.6 + 0.22), (dx * length * 0.72, dy * length * 0.62 + 0.10),
            (dx * length * 0.4, dy * length * 0.46 + 0.03)
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
        shape.polygon((-left, low + 0.02), (-left * 0.45, low - 0.035), (0, max(high, -1.0)),
                      (right * 0.45, low - 0.035),
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
