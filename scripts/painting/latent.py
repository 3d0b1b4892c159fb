"""Content of a demo picture before it is painted: place, hour, weather, things and composition.

These are the latent parameters from which the picture is painted, its keywords are drawn and the true relevance of
any two pictures follows (`relstudy.studyapp.example_pictures.truth`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from relstudy.studyapp.example_pictures.truth import HOURS, PLACES, WEATHERS, Scene

FEWEST_WORDS = 3
_PLACE_WORDS = {
    "mountains": ("mountains", "peak", "rock", "valley"),
    "lake": ("lake", "water", "shore", "mountains"),
    "forest": ("forest", "trees", "wood"),
    "hills": ("hills", "grass", "country", "field"),
    "meadow": ("meadow", "grass", "flowers", "field"),
    "desert": ("desert", "sand", "dunes", "dry"),
    "winter": ("winter", "snow", "cold", "trees"),
    "city": ("city", "buildings", "skyline", "street"),
    "sea": ("sea", "water", "waves", "coast"),
    "beach": ("beach", "sand", "sea", "water"),
    "reef": ("reef", "water", "diving", "ocean"),
    "window": ("window", "room", "home", "curtain"),
}
_THING_WORDS = {
    "cabin": ("cabin", "house"),
    "house": ("house", "farm"),
    "sailboat": ("boat", "sail"),
    "sheep": ("sheep", "animal", "flock"),
    "horse": ("horse", "animal"),
    "deer": ("deer", "animal", "wildlife"),
    "camel": ("camel", "animal"),
    "cat": ("cat", "animal", "pet"),
    "fish": ("fish", "animal", "school"),
    "whale": ("whale", "animal"),
    "birds": ("birds", "animal", "flight"),
    "palm": ("palm", "tree"),
    "flowers": ("flowers", "plant"),
    "coral": ("coral", "plant"),
    "cactus": ("cactus", "plant"),
}
_HOUR_WORDS = {
    "dawn": ("dawn", "morning"),
    "day": ("day", "sunny"),
    "sunset": ("sunset", "evening", "sky"),
    "dusk": ("dusk", "evening"),
    "night": ("night", "moon", "stars"),
}
_WEATHER_WORDS = {"clear": ("sky",), "fair": ("clouds",), "cloudy": ("clouds", "grey"), "misty": ("mist",)}
_STRAY_WORDS = ("nature", "view", "travel", "outdoor", "landscape", "holiday", "calm", "scenery", "light", "colour")

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
# What may stand further off, behind the subject.
_FAR_THINGS = ("birds", "balloon", "sailboat", "house", "cabin", "windmill", "sheep", "palm", "lighthouse", "coral")
_PLACE_SHARE = np.array([1.2, 1.0, 1.0, 1.2, 1.0, 1.0, 0.9, 1.4, 1.3, 1.0, 0.8, 0.8])
_HOUR_SHARE = np.array([0.16, 0.34, 0.22, 0.13, 0.15])
_WEATHER_SHARE = np.array([0.32, 0.40, 0.16, 0.12])


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


def keywords(scene: Scene) -> list[str]:
    """Words for part of the scene: each true word is kept with some luck, and a stray word comes in."""
    rng = np.random.default_rng([scene.seed, 1])
    words: list[str] = []

    def some(candidates: Sequence[str], first: float, further: float) -> None:
        for position, word in enumerate(candidates):
            if rng.random() < (first if position == 0 else further):
                words.append(word)

    some(_PLACE_WORDS[scene.place], 0.78, 0.35)
    for thing, weight in scene.things.items():
        some(_THING_WORDS.get(thing, (thing,)), 0.84 if weight == 1 else 0.35, 0.4)
    some(_HOUR_WORDS[scene.hour], 0.45, 0.25)
    some(_WEATHER_WORDS[scene.weather], 0.3, 0.2)
    words += [str(word) for word in rng.choice(_STRAY_WORDS, size=int(rng.integers(0, 3)), replace=False)]
    # A single word would match every picture that has it in full, by the overlap over the smaller set.
    for word in (_PLACE_WORDS[scene.place][0], _HOUR_WORDS[scene.hour][0], _STRAY_WORDS[0]):
        if len(set(words)) < FEWEST_WORDS:
            words.append(word)
    return sorted(set(words))
