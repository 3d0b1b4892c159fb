"""The light of an hour of the day: palettes, skies, clouds, and what water makes of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scripts.painting.paint import Canvas, Colour, cloud, colour, mix, smooth

# Per hour: sky from top to horizon; haze; the light on things; sun or moon; the colour of clouds' lit side.
_PALETTES: dict[str, list[tuple[tuple[str, ...], str, str, str, str]]] = {
    "dawn": [
        (("#5f86bd", "#a9b4dc", "#f0cdd0", "#fde6c4"), "#eed3cf", "#ffe6da", "#fff3d6", "#ffe3d8"),
        (("#46659f", "#98a0d4", "#f4b8b4", "#ffdcae"), "#eab9b4", "#ffdccb", "#ffedc4", "#ffd2c4"),
        (("#6fa3b8", "#b5cfcb", "#f3e2bd", "#ffecc0"), "#e6dcc2", "#fff0d8", "#fff6d8", "#fff0d6"),
    ],
    "day": [
        (("#2c78c8", "#62a8e4", "#a9d5f1", "#e4f3f5"), "#c6e0ee", "#fffdf2", "#fffbe6", "#ffffff"),
        (("#3d94cd", "#7cc0e0", "#c4e6ee", "#f2f9f1"), "#d2e8e8", "#fffef0", "#fffde8", "#ffffff"),
        (("#4672b4", "#86aeda", "#c5d9ec", "#eef2f2"), "#cfdbe6", "#fafaf5", "#fffbe8", "#fbfbfb"),
    ],
    "sunset": [
        (("#34457f", "#8b5390", "#ea6f62", "#fdc466"), "#ea9470", "#ffc49a", "#fff0b8", "#ffb08a"),
        (("#2b5077", "#7d6590", "#f08f52", "#ffda78"), "#ec9f68", "#ffcf9c", "#fff4c0", "#ffc28a"),
        (("#5a2c6c", "#bf486e", "#f98a5e", "#ffd590"), "#e77f70", "#ffbd9c", "#ffeebc", "#ff9f8c"),
    ],
    "dusk": [
        (("#161f4a", "#3a3f80", "#80609c", "#e09c92"), "#74608f", "#b9a6c8", "#fdf3dc", "#b48ab0"),
        (("#12294c", "#275580", "#6a92a8", "#e8cca4"), "#5f8096", "#a9bcc4", "#fdf6de", "#b9c4c0"),
        (("#241b46", "#51397c", "#a3608f", "#f0a787"), "#805a8c", "#c3a3bb", "#fff0d8", "#cf8fa0"),
    ],
    "night": [
        (("#060b22", "#0e1a3e", "#1d3062", "#3a5084"), "#2b3f6c", "#7488b8", "#f6f4e2", "#3c4f80"),
        (("#06141f", "#0c2c3d", "#16495a", "#2e6f78"), "#22535f", "#6d9aa8", "#f4f6e6", "#2f6470"),
        (("#0d0a24", "#1d1645", "#352a68", "#5b4a88"), "#43376f", "#8a80b4", "#f8f2e6", "#55477f"),
    ],
}
_POWER = {"dawn": 0.86, "day": 1.0, "sunset": 0.74, "dusk": 0.60, "night": 0.54}


@dataclass(frozen=True)
class Light:
    """One hour's light: colours as sRGB triples, power as a factor on what things reflect."""

    hour: str
    sky: tuple[Colour, ...]
    haze: Colour
    tint: Colour
    sun: Colour
    cloud: Colour
    power: float

    def on(self, paint: str | Colour, far: float = 0.0) -> Colour:
        """Colour of a thing in this light, `far` (0 near, 1 lost in haze) away."""
        base = colour(paint) if isinstance(paint, str) else paint
        lit = base * self.tint * self.power
        return mix(lit.astype(np.float32), self.haze, far)

    @property
    def dark(self) -> bool:
        """True if windows are lit and stars are out."""
        return self.hour in ("dusk", "night")


def light_of(hour: str, rng: np.random.Generator) -> Light:
    """One of the hour's palettes, shifted a little so that no two skies are the same."""
    palettes = _PALETTES[hour]
    sky, haze, tint, sun, lit = palettes[int(rng.integers(len(palettes)))]
    shift = rng.normal(0, 0.018, 3).astype(np.float32)
    return Light(
        hour=hour,
        sky=tuple(np.clip(colour(code) + shift, 0, 1) for code in sky),
        haze=np.clip(colour(haze) + shift, 0, 1),
        tint=colour(tint),
        sun=colour(sun),
        cloud=colour(lit),
        power=_POWER[hour],
    )


def paint_sky(canvas: Canvas, light: Light, horizon: float, weather: str, sun_x: float, sun_height: float) -> None:
    """Sky down to the horizon with sun or moon, its glow, stars and clouds.

    Parameters
    ----------
    horizon : row of the horizon
    sun_x : column of the sun or moon
    sun_height : 0 at the horizon, 1 at the top
    """
    rng = canvas.rng
    unit = canvas.height / 256
    canvas.gradient(light.sky, -0.05 * horizon, horizon)
    sun_y = horizon * (1 - sun_height)
    if light.hour == "night":
        _stars(canvas, horizon, 150)
    elif light.hour == "dusk":
        _stars(canvas, horizon * 0.6, 45)
    veil = 0.45 if weather in ("cloudy", "misty") else 1.0
    if light.dark:
        canvas.add_light(sun_x, sun_y, 60 * unit, light.sun, 0.26 * veil)
        canvas.add_light(sun_x, sun_y, 22 * unit, light.sun, 0.38 * veil)
        _moon(canvas, light, sun_x, sun_y, 9.5 * unit)
    else:
        wide = {"dawn": 0.42, "day": 0.30, "sunset": 0.58}[light.hour]
        canvas.add_light(sun_x, sun_y, 130 * unit, light.sun, wide * veil)
        canvas.add_light(sun_x, sun_y, 42 * unit, light.sun, 0.75 * veil)
        canvas.disc(sun_x, sun_y, (13 if light.hour == "day" else 16) * unit, light.sun, 0.96 * max(veil, 0.6))
    if weather != "clear":
        _clouds(canvas, light, horizon, weather, sun_x)
    elif rng.random() < 0.75:
        _wisps(canvas, light, horizon)


def aurora(canvas: Canvas, horizon: float) -> None:
    """Curtains of green and violet light."""
    rng = canvas.rng
    for _ in range(int(rng.integers(2, 4))):
        base = horizon * rng.uniform(0.35, 0.75) + 26 * np.interp(
            canvas.x[0], np.linspace(0, canvas.width, 9), rng.uniform(-1, 1, 9)
        )
        rays = 0.55 + 0.45 * np.interp(canvas.x[0], np.linspace(0, canvas.width, 70), rng.uniform(-1, 1, 70))
        above = base[None, :] - canvas.y
        height = rng.uniform(50, 95) * canvas.height / 256
        strength = np.where(above > 0, np.exp(-above / height), np.exp(-((above / 5) ** 2))) * rays[None, :]
        tone = mix(colour("#4dffb0"), colour("#9b6cff"), np.clip(above / (2 * height), 0, 1).astype(np.float32))
        fade = smooth(horizon - canvas.y, 0, 30)
        glow = (0.42 * strength * fade).astype(np.float32)[..., None] * tone
        canvas.rgb += glow * (1 - np.clip(canvas.rgb, 0, 1))


def _stars(canvas: Canvas, bottom: float, count: int) -> None:
    rng = canvas.rng
    for x, y, size in zip(
        rng.uniform(0, canvas.width, count),
        bottom * rng.uniform(0, 1, count) ** 1.4,
        rng.exponential(0.35, count),
        strict=True,
    ):
        canvas.add_light(float(x), float(y), 0.55 + min(size, 1.3) * 0.55, colour("#fffdf0"), 0.35 + min(size, 1) * 0.6)


def _moon(canvas: Canvas, light: Light, x: float, y: float, radius: float) -> None:
    canvas.disc(x, y, radius, light.sun)
    grey = mix(light.sun, light.sky[2], 0.22)
    for dx, dy, size in ((-0.3, -0.2, 0.24), (0.25, 0.15, 0.3), (-0.1, 0.45, 0.16), (0.4, -0.4, 0.13)):
        canvas.disc(x + dx * radius, y + dy * radius, size * radius, grey, 0.55)


def _clouds(canvas: Canvas, light: Light, horizon: float, weather: str, sun_x: float) -> None:
    rng = canvas.rng
    rows = max(int(horizon), 8)
    field = cloud(rng, (rows, canvas.width), (3.2, 2.6), 5, 0.52)
    cover = {"cloudy": -0.02, "misty": 0.05}.get(weather, 0.25)
    mask = smooth(field, cover, cover + 0.5)
    # Light comes from above: where the field falls towards the top, the cloud is lit.
    lit = np.clip(0.5 + 2.6 * (field - np.roll(field, -max(2, canvas.height // 40), axis=0)), 0, 1)
    shade = mix(light.sky[1], light.haze, 0.55)
    near_sun = np.exp(-(((canvas.x - sun_x) / (0.35 * canvas.width)) ** 2))
    body = mix(mix(shade, light.cloud, lit.astype(np.float32)), light.sun, (0.35 * near_sun * lit).astype(np.float32))
    thin = np.linspace(1, 0.35, rows, dtype=np.float32)[:, None]
    canvas.blend(mask * thin * 0.9, body)


def _wisps(canvas: Canvas, light: Light, horizon: float) -> None:
    rng = canvas.rng
    rows = max(int(horizon), 8)
    field = cloud(rng, (rows, canvas.width), (9, 1.6), 4, 0.55)
    mask = smooth(field, 0.22, 0.95) * 0.55
    fade = smooth(np.linspace(0, 1, rows), 0.05, 0.4)[:, None]
    canvas.blend((mask * fade).astype(np.float32), light.cloud)


def paint_water(
    canvas: Canvas, light: Light, line: float, deep: str, sun_x: float, calm: float = 0.6, clearness: float = 0.62
) -> None:
    """Water from a straight shore down: the mirrored picture, broken by ripples, and the sun's path.

    Parameters
    ----------
    line : row where the water begins; everything above must be painted already
    deep : the water's own colour
    calm : 0 rough, 1 a mirror
    """
    rng = canvas.rng
    top = round(line)
    rows = canvas.height - top
    if rows <= 2:
        return
    depth = (np.arange(rows, dtype=np.float32) + 0.5) / rows
    stretch = np.clip(top - 1 - np.arange(rows) * min(1.0, 0.96 * top / rows), 0, top - 1)
    rough = (1 - calm) * 16 + 2.5
    ripple = cloud(rng, (rows, canvas.width), (rows / 5, 4), 3, 0.6)
    # Far ripples look finer and flatter than near ones.
    shift = ripple * (0.25 + depth[:, None]) * rough
    source_y = np.clip(stretch[:, None] + shift * 0.8, 0, top - 1).astype(int)
    source_x = np.clip(canvas.x + shift * 1.2, 0, canvas.width - 1).astype(int)
    mirrored = canvas.rgb[source_y, source_x]
    unlit = mix(light.on(deep), light.on(deep) * 0.55, depth[:, None] * np.ones((1, canvas.width), dtype=np.float32))
    share = clearness * (1 - 0.55 * depth[:, None]) * np.ones((1, canvas.width), dtype=np.float32)
    water = mix(unlit, mirrored, share)
    glint = smooth(ripple, 0.25, 0.9) * (0.15 + 0.25 * depth[:, None])
    water = mix(water, mix(light.sky[3], light.sun, 0.3), glint.astype(np.float32) * 0.5)
    shadow = smooth(-ripple, 0.3, 1.0) * 0.22
    water = water * (1 - shadow[..., None])
    spread = (12 + 46 * depth[:, None]) * canvas.width / 384
    path = np.exp(-(((canvas.x - sun_x) / spread) ** 2)) * smooth(ripple, -0.15, 0.55)
    fade = {"day": 0.45, "dawn": 0.6, "sunset": 0.9, "dusk": 0.55, "night": 0.6}[light.hour]
    water = mix(water, light.sun, (fade * path).astype(np.float32))
    edge = np.clip(canvas.y[top:] - line + 0.5, 0, 1) * np.ones((1, canvas.width), dtype=np.float32)
    canvas.blend(edge, water.astype(np.float32), top)
    canvas.blend(
        np.exp(-(((canvas.y[top : top + 6] - line) / 2.2) ** 2)) * 0.25 * np.ones((1, canvas.width)), light.haze, top
    )
