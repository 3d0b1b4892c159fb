"""The order effect: found where it is, and not where it is not."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from relstudy.calibration.order_effect import place_effect

SIZE = 4


def simulated(rng: np.random.Generator, falls: float, raters: int = 12, base: int = 10, own: int = 10) -> pd.DataFrame:
    """Ratings on 1-5, rounded and cut off at the ends, that fall by so much from the first place of a page to the
    last."""
    shared, rows = rng.normal(3, 0.8, (base, SIZE)), []
    for rater, lenient in enumerate(rng.normal(0, 0.4, raters)):
        for page in range(base + own):
            quality = shared[page] if page < base else rng.normal(3, 0.8, SIZE)
            query = f"q{page}" if page < base else f"q{rater}-{page}"
            for place, result in enumerate(rng.permutation(SIZE), start=1):
                meant = quality[result] + lenient + rng.normal(0, 0.5) - falls * (place - 1) / (SIZE - 1)
                rows.append(
                    (f"r{rater}", "main", page, place, query, f"x{result}", float(np.clip(np.rint(meant), 1, 5)))
                )
    names = ["rater_id", "study_block", "position", "place", "query_id", "result_id", "rating"]
    return pd.DataFrame(rows, columns=names)


def test_three_tenths_of_a_point_are_found_and_nothing_is_not() -> None:
    falling = place_effect(simulated(np.random.default_rng(1), 0.3))
    level = place_effect(simulated(np.random.default_rng(1), 0.0))
    assert falling is not None and falling.is_found and falling.last.value is not None
    assert -0.45 < falling.last.value < -0.15  # two standard errors of .07 about the truth, which the ends cut to .28
    assert level is not None and not level.is_found
    first, last = falling.places[1].value, falling.places[SIZE].value
    assert first is not None and last is not None and first > 0 > last


@pytest.mark.slow
def test_intervals_hold_the_effect_as_often_as_they_say() -> None:
    truth = _true_fall(0.3)
    rng = np.random.default_rng(5)
    held, found, false = 0, 0, 0
    for _ in range(60):
        effect, none = place_effect(simulated(rng, 0.3)), place_effect(simulated(rng, 0.0))
        assert effect is not None and none is not None and effect.last.low is not None and effect.last.high is not None
        held += effect.last.low <= -truth <= effect.last.high
        found += effect.is_found
        false += none.is_found
    assert held >= 51  # 57 of 60 are expected; fewer than 51 come once in 200 runs
    assert found >= 48  # 91 of 100 were
    assert false <= 9


def _true_fall(falls: float) -> float:
    """The mean fall of a rating once it is rounded and cut off at the ends of the scale."""
    rng = np.random.default_rng(0)
    meant = rng.normal(3, np.sqrt(0.8**2 + 0.4**2 + 0.5**2), 1_000_000)
    first, last = (np.clip(np.rint(meant - fall), 1, 5).mean() for fall in (0.0, falls))
    return float(first - last)


def test_a_table_without_places_or_with_one_result_a_page_has_no_order_effect() -> None:
    frame = simulated(np.random.default_rng(1), 0.3)
    assert place_effect(frame.drop(columns="place")) is None
    assert place_effect(frame[frame["place"] == 1]) is None


def test_two_raters_get_a_figure_and_the_reason_why_it_has_no_interval() -> None:
    effect = place_effect(simulated(np.random.default_rng(1), 0.3, raters=2))
    assert effect is not None and effect.last.value is not None
    assert effect.last.low is None and effect.last.reason == "3 raters are needed for an interval"


def test_an_undecided_result_leaves_the_places_of_the_others_as_they_were() -> None:
    frame = simulated(np.random.default_rng(1), 0.3)
    frame.loc[frame["place"] == 2, "rating"] = np.nan
    effect = place_effect(frame)
    assert effect is not None and sorted(effect.places) == [1, 3, 4]
