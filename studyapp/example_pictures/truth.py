"""What example pictures show, and their true relevance to one another: a perfectly fair and patient rater's rating.

Truth is a smooth function of the latent parameters: what is in front counts most, then the place, then hour and
weather, then composition. Keywords name only part of it and colours follow only part of it, so no system can be
perfect, and each system can be good at something.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

# How much each place has of: high land, trees, water, grass, sand, buildings, snow, indoors, under water.
_PLACE_TRAITS = {
    "mountains": (1.0, 0.4, 0.0, 0.3, 0.0, 0.0, 0.4, 0.0, 0.0),
    "lake": (0.6, 0.4, 0.9, 0.1, 0.0, 0.0, 0.2, 0.0, 0.0),
    "forest": (0.1, 1.0, 0.0, 0.3, 0.0, 0.0, 0.0, 0.0, 0.0),
    "hills": (0.4, 0.3, 0.0, 1.0, 0.0, 0.1, 0.0, 0.0, 0.0),
    "meadow": (0.1, 0.3, 0.0, 1.0, 0.0, 0.1, 0.0, 0.0, 0.0),
    "desert": (0.3, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0),
    "winter": (0.4, 0.5, 0.0, 0.1, 0.0, 0.0, 1.0, 0.0, 0.0),
    "city": (0.0, 0.1, 0.3, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0),
    "sea": (0.0, 0.0, 1.0, 0.0, 0.1, 0.0, 0.0, 0.0, 0.0),
    "beach": (0.0, 0.1, 0.8, 0.0, 0.7, 0.0, 0.0, 0.0, 0.0),
    "reef": (0.0, 0.0, 0.2, 0.0, 0.1, 0.0, 0.0, 0.0, 1.0),
    "window": (0.0, 0.0, 0.0, 0.2, 0.0, 0.3, 0.0, 1.0, 0.0),
}
# Things of one family resemble each other a little.
_FAMILIES = (
    ("horse", "deer", "camel", "sheep", "cat"),
    ("house", "cabin", "windmill", "lighthouse"),
    ("sailboat", "lighthouse", "whale"),
    ("fish", "whale", "coral"),
    ("palm", "cactus", "flowers", "coral"),
    ("birds", "balloon"),
    ("palm", "umbrella"),
)
_IN_FAMILY = 0.35
THING_NAMES = tuple(sorted({name for family in _FAMILIES for name in family}))
PLACES = tuple(_PLACE_TRAITS)
WEATHERS = ("clear", "fair", "cloudy", "misty")
_HOUR_AT = {"dawn": 0.0, "day": 1.0, "sunset": 2.0, "dusk": 2.7, "night": 3.6}
HOURS = tuple(_HOUR_AT)

WEIGHTS = {"things": 0.44, "place": 0.32, "mood": 0.17, "composition": 0.07}
_MIDDLE, _WIDTH = 0.555, 0.12


@dataclass(frozen=True)
class Scene:
    """One picture's latent parameters.

    Parameters
    ----------
    place, hour, weather : what and when, as words
    subject : the thing in front, or "" for a bare view
    extras : smaller things further off
    horizon : share of the picture above the horizon, 0.35 to 0.65
    side : where the subject stands, -1 left to 1 right
    crowd : how full the picture is, 0 to 1
    sun_side : where the light comes from, -1 left to 1 right
    seed : of the brushes
    """

    place: str
    hour: str
    weather: str
    subject: str
    extras: tuple[str, ...]
    horizon: float
    side: float
    crowd: float
    sun_side: float
    seed: int

    @property
    def things(self) -> dict[str, float]:
        """Visible things, each with its weight in the eye: 1 for the subject, 0.4 for an extra."""
        seen = dict.fromkeys(self.extras, 0.4)
        if self.subject:
            seen[self.subject] = 1.0
        return seen


@dataclass(frozen=True)
class Wish:
    """A text query as latent parameters; what is None doesn't matter."""

    text: str
    keywords: tuple[str, ...]
    place: str | None = None
    thing: str | None = None
    hours: tuple[str, ...] = ()


WISHES = (
    Wish("sailing boats at sunset", ("boat", "sunset"), thing="sailboat", hours=("sunset",)),
    Wish("a city at night", ("city", "night"), place="city", hours=("night", "dusk")),
    Wish("snowy mountains by day", ("mountains", "snow"), place="mountains", hours=("day",)),
    Wish("sheep on green hills", ("sheep", "hills"), place="hills", thing="sheep"),
    Wish("a cat looking out", ("cat",), thing="cat"),
    Wish("fish in clear water", ("fish", "water"), place="reef", thing="fish"),
    Wish("palms on a beach", ("palm", "beach"), place="beach", thing="palm"),
    Wish("horses in a meadow", ("horse", "meadow"), place="meadow", thing="horse"),
    Wish("desert under a wide sky", ("desert", "sand"), place="desert"),
    Wish("a deer in the forest", ("deer", "forest"), place="forest", thing="deer"),
    Wish("balloons in the morning", ("balloon", "morning"), thing="balloon", hours=("dawn", "day")),
    Wish("a lit cabin in winter", ("cabin", "winter", "night"), place="winter", thing="cabin", hours=("dusk", "night")),
    Wish("a lighthouse by the sea", ("lighthouse", "sea"), place="sea", thing="lighthouse"),
    Wish("windmills", ("windmill",), thing="windmill"),
    Wish("a quiet lake between mountains", ("lake", "mountains"), place="lake"),
    Wish("flowers in bloom", ("flowers", "bloom"), place="meadow"),
)


def _place_likeness() -> np.ndarray:
    traits = np.array([_PLACE_TRAITS[place] for place in PLACES])
    unit = traits / np.linalg.norm(traits, axis=1, keepdims=True)
    likeness = 0.75 * (unit @ unit.T) ** 1.3
    np.fill_diagonal(likeness, 1.0)
    return likeness


def _thing_likeness() -> np.ndarray:
    likeness = np.eye(len(THING_NAMES))
    for family in _FAMILIES:
        at = [THING_NAMES.index(name) for name in family]
        likeness[np.ix_(at, at)] = np.maximum(likeness[np.ix_(at, at)], _IN_FAMILY)
    return likeness


def _hour_likeness() -> np.ndarray:
    at = np.array([_HOUR_AT[hour] for hour in HOURS])
    return np.asarray(np.exp(-(((at[:, None] - at[None, :]) / 1.1) ** 2)))


def _codes(scenes: Sequence[Scene]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    places = np.array([PLACES.index(scene.place) for scene in scenes])
    hours = np.array([HOURS.index(scene.hour) for scene in scenes])
    weathers = np.array([WEATHERS.index(scene.weather) for scene in scenes])
    seen = np.zeros((len(scenes), len(THING_NAMES)))
    for row, scene in enumerate(scenes):
        for name, weight in scene.things.items():
            seen[row, THING_NAMES.index(name)] = weight
    return places, hours, weathers, seen


def _things_in_common(seen: np.ndarray) -> np.ndarray:
    """Weighted overlap from 0 to 1 of every two views, kin counting in part; two empty ones have none in common to
    compare (NaN)."""
    kin = _thing_likeness()
    # What the best partner of each thing of one view in the other counts, for each weight that a thing can have.
    best = np.zeros((len(seen), len(seen)))
    for weight in np.unique(seen[seen > 0]):
        partner = (np.minimum(weight, seen)[:, None, :] * kin).max(axis=2)
        best += (seen == weight).astype(float) @ partner.T
    size = seen.sum(1)[:, None] + seen.sum(1)[None, :]
    overlap = np.full_like(best, np.nan)
    return np.divide(best + best.T, size, out=overlap, where=size > 0)


def to_scale(closeness: np.ndarray, low: float = 1.0, high: float = 5.0) -> np.ndarray:
    """Closeness from 0 to 1 as relevance from `low` to `high`, by a logistic curve: most pairs are poor matches."""

    def curve(u: np.ndarray) -> np.ndarray:
        return np.asarray(1 / (1 + np.exp(-(u - _MIDDLE) / _WIDTH)))

    share = (curve(closeness) - curve(np.zeros(1))) / (curve(np.ones(1)) - curve(np.zeros(1)))
    return np.asarray(low + (high - low) * share)


def closeness(scenes: Sequence[Scene]) -> np.ndarray:
    """Closeness of every picture to every other, 0 to 1, symmetric; shape (n, n)."""
    places, hours, weathers, seen = _codes(scenes)
    settings = _place_likeness()[np.ix_(places, places)]
    mood = 0.8 * _hour_likeness()[np.ix_(hours, hours)] + 0.2 * (weathers[:, None] == weathers[None, :])
    layout = np.array([[scene.horizon * 6, scene.side, scene.crowd] for scene in scenes])
    apart = ((layout[:, None, :] - layout[None, :, :]) ** 2).sum(2)
    things = _things_in_common(seen)
    things = np.where(np.isnan(things), settings, things)
    return np.asarray(
        WEIGHTS["things"] * things
        + WEIGHTS["place"] * settings
        + WEIGHTS["mood"] * mood
        + WEIGHTS["composition"] * np.exp(-apart / 1.5)
    )


def wish_closeness(wishes: Sequence[Wish], scenes: Sequence[Scene]) -> np.ndarray:
    """Degree to which every picture fulfils every text query, 0 to 1; shape (wishes, pictures)."""
    places, hours, _, seen = _codes(scenes)
    kin, place_kin, hour_kin = _thing_likeness(), _place_likeness(), _hour_likeness()
    rows = []
    for wish in wishes:
        parts: list[tuple[float, np.ndarray]] = []
        if wish.thing:
            parts.append((0.5, (seen * kin[THING_NAMES.index(wish.thing)]).max(axis=1)))
        if wish.place:
            parts.append((0.36, place_kin[PLACES.index(wish.place)][places]))
        if wish.hours:
            wanted = [HOURS.index(hour) for hour in wish.hours]
            parts.append((0.22, hour_kin[wanted].max(axis=0)[hours]))
        total = sum(weight for weight, _ in parts)
        rows.append(sum((weight * values for weight, values in parts), np.zeros(len(scenes))) / total)
    return np.array(rows).reshape(len(wishes), len(scenes))
