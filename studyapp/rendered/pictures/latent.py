"""Content of a demo picture before it is painted: place, hour, weather, things and composition.

These are the latent parameters from which the picture is rendered, its keywords are drawn and the true relevance of
any two pictures follows (`relstudy.studyapp.rendered.truth`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from relstudy.studyapp.rendered.pictures.light import HOURS

# What may stand in each place, and how often each thing is the picture's subject.
THINGS: dict[str, dict[str, float]] = {
    "mountains": {"cabin": 2, "deer": 2, "balloon": 1.5, "birds": 1.5, "": 3},
    "lake": {"sailboat": 3, "cabin": 2, "birds": 2, "deer": 1, "": 2},
    "forest": {"deer": 3, "cabin": 2, "birds": 1, "": 3},
    "hills": {"sheep": 3, "horse": 3, "windmill": 2, "house": 2, "balloon": 2, "": 1},
    "meadow": {"horse": 3, "sheep": 2, "house": 1.5, "windmill": 1.5, "birds": 1, "": 2},
    "desert": {"camel": 3, "cactus": 3, "balloon": 1.5, "": 2},
    "winter": {"cabin": 3, "deer": 3, "birds": 1, "": 2},
    "city": {"balloon": 1, "birds": 2, "cat": 2, "sailboat": 1.5, "": 4},
    "sea": {"sailboat": 5, "lighthouse": 3, "whale": 2, "birds": 2, "": 2},
    "beach": {"palm": 4, "sailboat": 3, "umbrella": 2, "birds": 1, "": 1},
    "reef": {"fish": 6, "coral": 2, "": 0.5},
    "window": {"cat": 5, "flowers": 2},
}
PLACES = tuple(THINGS)
# What may stand further off, behind the subject.
_FAR_THINGS = ("birds", "balloon", "sailboat", "house", "cabin", "windmill", "sheep", "palm", "lighthouse", "coral")
_PLACE_SHARE = np.array([1.2, 1.0, 1.0, 1.2, 1.0, 1.0, 0.9, 1.4, 1.3, 1.0, 0.8, 0.8])
_HOUR_SHARE = np.array([0.16, 0.34, 0.22, 0.13, 0.15])
WEATHERS = ("clear", "fair", "cloudy", "misty")
_WEATHER_SHARE = np.array([0.32, 0.40, 0.16, 0.12])


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


def draw_scenes(count: int, seed: int) -> list[Scene]:
    """Draw latent scenes; the first n of a larger collection are the collection of n.

    >>> draw_scenes(3, 7) == draw_scenes(5, 7)[:3]
    True
    """
    return [_draw_scene(np.random.default_rng([seed, index])) for index in range(count)]


def _draw_scene(rng: np.random.Generator) -> Scene:
    place = PLACES[int(rng.choice(len(PLACES), p=_PLACE_SHARE / _PLACE_SHARE.sum()))]
    names = list(THINGS[place])
    weights = np.array([THINGS[place][name] for name in names])
    subject = names[int(rng.choice(len(names), p=weights / weights.sum()))]
    others = [name for name in names if name not in ("", subject)]
    extras = tuple(sorted(name for name in others if rng.random() < 0.16 and name in _FAR_THINGS))
    hour = HOURS[int(rng.choice(len(HOURS), p=_HOUR_SHARE))]
    weather = WEATHERS[int(rng.choice(len(WEATHERS), p=_WEATHER_SHARE))]
    return Scene(
        place=place,
        hour=hour,
        weather=weather,
        subject=subject,
        extras=extras,
        horizon=float(rng.uniform(0.40, 0.62)),
        side=float(np.sign(rng.uniform(-1, 1)) * rng.uniform(0.15, 0.75)),
        crowd=float(rng.uniform(0, 1)),
        sun_side=float(rng.uniform(-0.8, 0.8)),
        seed=int(rng.integers(2**31)),
    )
