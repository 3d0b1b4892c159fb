"""Brushes: soft noise, gradients, glows, antialiased shapes and ridges on a picture held as floats.

Positions are in pixels of the picture (x to the right, y down); colours are sRGB triples from 0 to 1. Everything
random comes from the Generator passed in, so a picture is a function of its seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from PIL import Image, ImageDraw

Colour: TypeAlias = np.ndarray
Points: TypeAlias = Sequence[tuple[float, float]]
Primitive: TypeAlias = tuple[str, tuple[float, ...]]

FINER = 3


def colour(code: str) -> Colour:
    """A colour from its hexadecimal code.

    >>> colour("#ff0080").round(2).tolist()
    [1.0, 0.0, 0.5]
    """
    return np.array([int(code[i : i + 2], 16) / 255 for i in (1, 3, 5)], dtype=np.float32)


def mix(first: Colour, second: Colour, share: float | np.ndarray) -> Colour:
    """`first` where `share` is 0, `second` where it is 1."""
    if isinstance(share, np.ndarray) and share.ndim:
        share = share[..., None]
    return (first + (second - first) * share).astype(np.float32)


def smooth(values: np.ndarray, low: float, high: float) -> np.ndarray:
    """0 below `low`, 1 above `high`, smooth between."""
    t = np.clip((values - low) / (high - low), 0, 1)
    return np.asarray(t * t * (3 - 2 * t), dtype=np.float32)


def wave(rng: np.random.Generator, width: int, bumps: float, octaves: int = 4, keep: float = 0.5) -> np.ndarray:
    """One-dimensional soft noise, about -1 to 1, with `bumps` bumps across the width in its lowest octave."""
    total = np.zeros(width)
    size = 0.0
    for octave in range(octaves):
        knots = rng.uniform(-1, 1, int(np.ceil(bumps * 2**octave)) + 3)
        at = np.linspace(0, bumps * 2**octave, width) + 0.5
        left = at.astype(int)
        t = at - left
        t = t * t * (3 - 2 * t)
        total += keep**octave * (knots[left] * (1 - t) + knots[left + 1] * t)
        size += keep**octave
    return total / size * 1.4


def cloud(
    rng: np.random.Generator,
    shape: tuple[int, int],
    cells: tuple[float, float],
    octaves: int = 4,
    keep: float = 0.5,
) -> np.ndarray:
    """Two-dimensional soft noise, about -1 to 1; `cells` is the number of bumps down and across."""
    height, width = shape
    total = np.zeros(shape, dtype=np.float32)
    size = 0.0
    for octave in range(octaves):
        down = min(height, max(2, round(cells[0] * 2**octave)) + 1)
        across = min(width, max(2, round(cells[1] * 2**octave)) + 1)
        grid = Image.fromarray(rng.uniform(-1, 1, (down, across)).astype(np.float32))
        total += keep**octave * np.asarray(grid.resize((width, height), Image.Resampling.BICUBIC))
        size += keep**octave
    return np.asarray(total / size * 1.5, dtype=np.float32)


class Shape:
    """Polygons, ellipses and tapering limbs in their own unit coordinates, to be placed, scaled and mirrored.

    Examples
    --------
    >>> Shape().ellipse(0, 0, 1, 0.5).limb(0, 0, 0.2, 1, 1, 0.1).bounds()
    (-1.0, -0.5, 1.1, 1.1)
    """

    def __init__(self) -> None:
        self.parts: list[Primitive] = []

    def polygon(self, *points: tuple[float, float]) -> Shape:
        """Add a polygon."""
        self.parts.append(("polygon", tuple(value for point in points for value in point)))
        return self

    def curve(self, *points: tuple[float, float]) -> Shape:
        """Add a smooth closed outline through the points (Catmull-Rom)."""
        p = np.array(points, dtype=float)
        before, after, beyond = np.roll(p, 1, 0), np.roll(p, -1, 0), np.roll(p, -2, 0)
        t = np.linspace(0, 1, 8, endpoint=False)[:, None, None]
        path = 0.5 * (
            2 * p
            + (after - before) * t
            + (2 * before - 5 * p + 4 * after - beyond) * t**2
            + (3 * p - before - 3 * after + beyond) * t**3
        )
        path = path.transpose(1, 0, 2).reshape(-1, 2)
        self.parts.append(("polygon", tuple(path.ravel().tolist())))
        return self

    def ellipse(self, x: float, y: float, rx: float, ry: float) -> Shape:
        """Add an ellipse."""
        self.parts.append(("ellipse", (x, y, rx, ry)))
        return self

    def limb(self, x0: float, y0: float, r0: float, x1: float, y1: float, r1: float) -> Shape:
        """Add a tapering limb: the hull of a circle of radius r0 and one of radius r1."""
        self.parts.append(("limb", (x0, y0, r0, x1, y1, r1)))
        return self

    def bounds(self) -> tuple[float, float, float, float]:
        """Left, top, right and bottom."""
        xs: list[float] = []
        ys: list[float] = []
        for name, v in self.parts:
            if name == "polygon":
                xs.extend(v[0::2])
                ys.extend(v[1::2])
            elif name == "ellipse":
                xs.extend((v[0] - v[2], v[0] + v[2]))
                ys.extend((v[1] - v[3], v[1] + v[3]))
            else:
                xs.extend((v[0] - v[2], v[0] + v[2], v[3] - v[5], v[3] + v[5]))
                ys.extend((v[1] - v[2], v[1] + v[2], v[4] - v[5], v[4] + v[5]))
        return float(min(xs)), float(min(ys)), float(max(xs)), float(max(ys))


def _limb_outline(v: Sequence[float]) -> list[tuple[float, float]]:
    x0, y0, r0, x1, y1, r1 = v
    angle = np.arctan2(y1 - y0, x1 - x0)
    first = angle + np.linspace(np.pi / 2, 3 * np.pi / 2, 9)
    last = angle + np.linspace(-np.pi / 2, np.pi / 2, 9)
    xs = np.concatenate([x0 + r0 * np.cos(first), x1 + r1 * np.cos(last)])
    ys = np.concatenate([y0 + r0 * np.sin(first), y1 + r1 * np.sin(last)])
    return list(zip(xs.tolist(), ys.tolist(), strict=True))


class Canvas:
    """A picture under way.

    Parameters
    ----------
    width, height : pixels
    rng : the picture's own Generator
    """

    def __init__(self, width: int, height: int, rng: np.random.Generator) -> None:
        self.width = width
        self.height = height
        self.rng = rng
        self.rgb = np.zeros((height, width, 3), dtype=np.float32)
        self.x = np.arange(width, dtype=np.float32)[None, :]
        self.y = np.arange(height, dtype=np.float32)[:, None]

    def gradient(self, stops: Sequence[Colour], top: float = 0, bottom: float | None = None) -> None:
        """Fill the whole picture from `top` to `bottom` with evenly spaced colours."""
        bottom = self.height if bottom is None else bottom
        at = np.clip((np.arange(self.height) - top) / max(bottom - top, 1), 0, 1)
        marks = np.linspace(0, 1, len(stops))
        rows = np.stack([np.interp(at, marks, [stop[c] for stop in stops]) for c in range(3)], axis=1)
        kernel = np.ones(15) / 15
        padded = np.pad(rows, ((7, 7), (0, 0)), mode="edge")
        rows = np.stack([np.convolve(padded[:, c], kernel, mode="valid") for c in range(3)], axis=1)
        self.rgb[:] = rows[:, None, :].astype(np.float32)

    def blend(self, mask: np.ndarray, paint: Colour, top: int = 0, left: int = 0) -> None:
        """Lay `paint` (one colour, or one a pixel) over the picture where `mask` (0 to 1) says so."""
        height, width = mask.shape
        y0, x0 = max(top, 0), max(left, 0)
        y1, x1 = min(top + height, self.height), min(left + width, self.width)
        if y1 <= y0 or x1 <= x0:
            return
        cut = (slice(y0 - top, y1 - top), slice(x0 - left, x1 - left))
        part = self.rgb[y0:y1, x0:x1]
        over = paint[cut] if paint.ndim == 3 else paint
        part += (over - part) * mask[cut][..., None]

    def add_light(self, x: float, y: float, radius: float, paint: Colour, strength: float = 1.0) -> None:
        """A soft round glow, added the way light adds (screen)."""
        reach = radius * 3.2
        y0, y1 = int(max(0, y - reach)), int(min(self.height, y + reach + 1))
        x0, x1 = int(max(0, x - reach)), int(min(self.width, x + reach + 1))
        if y1 <= y0 or x1 <= x0:
            return
        far = ((self.y[y0:y1] - y) ** 2 + (self.x[:, x0:x1] - x) ** 2) / radius**2
        light = (strength * np.exp(-far))[..., None] * paint
        part = self.rgb[y0:y1, x0:x1]
        part += light * (1 - np.clip(part, 0, 1))

    def disc(self, x: float, y: float, radius: float, paint: Colour, opacity: float = 1.0) -> None:
        """An antialiased disc."""
        y0, y1 = int(max(0, y - radius - 2)), int(min(self.height, y + radius + 3))
        x0, x1 = int(max(0, x - radius - 2)), int(min(self.width, x + radius + 3))
        if y1 <= y0 or x1 <= x0:
            return
        far = np.sqrt((self.y[y0:y1] - y) ** 2 + (self.x[:, x0:x1] - x) ** 2)
        self.blend(np.clip(radius - far + 0.5, 0, 1) * opacity, paint, y0, x0)

    def below(self, line: np.ndarray) -> tuple[np.ndarray, int]:
        """The antialiased mask of what lies below a line (one y per column), and its first row."""
        top = int(max(0, np.floor(line.min()) - 1))
        if top >= self.height:
            return np.zeros((0, self.width), dtype=np.float32), top
        return np.clip(self.y[top:] - line[None, :] + 0.5, 0, 1).astype(np.float32), top

    def land(self, line: np.ndarray, upper: Colour, lower: Colour, depth: float) -> tuple[np.ndarray, int]:
        """Ground below a line, from `upper` at the line to `lower` at `depth` pixels under it."""
        mask, top = self.below(line)
        if mask.size:
            share = np.clip((self.y[top:] - line[None, :]) / depth, 0, 1)
            self.blend(mask, mix(upper, lower, share), top)
        return mask, top

    def stamp(
        self, shape: Shape, x: float, y: float, size: float, *, flip: bool = False
    ) -> tuple[np.ndarray, int, int]:
        """The antialiased mask of a shape placed at (x, y) and scaled; its first row and column."""
        left, top, right, bottom = shape.bounds()
        if flip:
            left, right = -right, -left
        x0, y0 = int(np.floor(x + left * size)) - 1, int(np.floor(y + top * size)) - 1
        x1, y1 = int(np.ceil(x + right * size)) + 2, int(np.ceil(y + bottom * size)) + 2
        fine = Image.new("L", ((x1 - x0) * FINER, (y1 - y0) * FINER), 0)
        pen = ImageDraw.Draw(fine)
        sign = -1 if flip else 1

        def at(px: float, py: float) -> tuple[float, float]:
            return ((x + sign * px * size - x0) * FINER, (y + py * size - y0) * FINER)

        for name, v in shape.parts:
            if name == "ellipse":
                (ax, ay), (bx, by) = at(v[0] - v[2], v[1] - v[3]), at(v[0] + v[2], v[1] + v[3])
                pen.ellipse((min(ax, bx), min(ay, by), max(ax, bx), max(ay, by)), fill=255)
            else:
                outline = _limb_outline(v) if name == "limb" else list(zip(v[0::2], v[1::2], strict=True))
                pen.polygon([at(px, py) for px, py in outline], fill=255)
        return np.asarray(fine.reduce(FINER), dtype=np.float32) / 255, y0, x0

    def draw(
        self,
        shape: Shape,
        x: float,
        y: float,
        size: float,
        paint: Colour,
        *,
        flip: bool = False,
        under: Colour | None = None,
        rim: Colour | None = None,
        light: float = -1.0,
        opacity: float = 1.0,
    ) -> None:
        """Draw a shape; `under` shades its lower half, `rim` lights the edge towards `light` (-1 left, 1 right)."""
        mask, top, left = self.stamp(shape, x, y, size, flip=flip)
        if not mask.size:
            return
        fill: Colour = paint
        if under is not None:
            share = np.linspace(0, 1, mask.shape[0], dtype=np.float32)[:, None] * np.ones_like(mask)
            fill = mix(paint, under, share)
        self.blend(mask * opacity, fill, top, left)
        if rim is not None:
            step = max(1, round(size * 0.022))
            moved = np.zeros_like(mask)
            shift = step if light < 0 else -step
            source = np.roll(mask, shift, axis=1)
            moved[step:] = source[:-step] if step < len(mask) else 0
            self.blend(np.clip(mask - moved, 0, 1) * 0.75 * opacity, rim, top, left)

    def picture(self, vignette: float = 0.16) -> Image.Image:
        """The finished picture: corners a little darker, dithered, 8 bits."""
        far = ((self.x / self.width - 0.5) ** 2 + (self.y / self.height - 0.5) ** 2) * 2
        done = self.rgb * (1 - vignette * far**1.2)[..., None]
        done = done + self.rng.uniform(-0.5, 0.5, (self.height, self.width, 1)).astype(np.float32) * 0.012
        return Image.fromarray((np.clip(done, 0, 1) * 255 + 0.5).astype(np.uint8))
