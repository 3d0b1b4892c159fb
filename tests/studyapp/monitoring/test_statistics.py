"""The figures of the admin pages, against plain counting and the oracle packages."""

from __future__ import annotations

from collections.abc import Sequence

import krippendorff
import numpy as np
import pandas as pd
import pytest

from relstudy.studyapp.config.study import Study
from relstudy.studyapp.monitoring.statistics import SECONDS, StudyStatistics, statistics_of

STUDY = Study.parse(
    """
[study]
id = "x"
title = "x"

[[blocks]]
name = "first"
pairs = "base"

[[blocks]]
name = "second"
pairs = "base"
scale = "binary"

[[blocks]]
name = "rest"
pairs = "unique"
"""
)
START = 1_772_355_600.0


def _table(rows: Sequence[tuple[str, str, str, float | None, str]], minutes: float = 1.0) -> pd.DataFrame:
    """Rows of rater, pair, study block, rating, source; one after the other in time."""
    scales = {"first": "1-5", "second": "binary", "rest": "1-5"}
    return pd.DataFrame(
        [
            {
                "rater_id": rater,
                "pair_id": pair,
                "query_id": f"q{pair}",
                "result_id": f"r{pair}",
                "scale": scales[block],
                "rating": np.nan if rating is None else rating,
                "seconds": float(place % 7),
                "block": "unique" if block == "rest" else "base",
                "at": START + 60 * minutes * place,
                "study_block": block,
                "source": source,
            }
            for place, (rater, pair, block, rating, source) in enumerate(rows)
        ]
    )


def _panel(raters: int = 4, pairs: int = 12, seed: int = 0) -> list[tuple[str, str, str, float | None, str]]:
    generator = np.random.default_rng(seed)
    truth = generator.integers(1, 6, pairs)
    rows: list[tuple[str, str, str, float | None, str]] = []
    for rater in range(raters):
        for pair in range(pairs):
            noisy = float(np.clip(truth[pair] + generator.integers(-1, 2), 1, 5))
            rows.append((f"R{rater}", f"p{pair}", "first", None if pair == rater else noisy, "keywords"))
    return rows


def test_the_uniformity_error_by_source_is_equation_5_4() -> None:
    rows = [("R0", f"p{place}", "rest", float(value), "colour") for place, value in enumerate([1, 1, 1, 1, 2, 5])]
    rows += [("R0", "p9", "rest", 3.0, "keywords"), ("R0", "p10", "rest", None, "keywords")]
    found = {use.source: use for use in statistics_of(_table(rows), STUDY).sources}
    shares = np.array([4, 1, 0, 0, 1]) / 6
    assert found["colour"].error == pytest.approx(np.abs(shares - 0.2).mean())
    assert found["colour"].ratings == 6
    assert found["keywords"].error == pytest.approx((0.8 + 4 * 0.2) / 5)
    assert found["keywords"].ratings == 1, "undecided is not a value of the scale"
    assert found[""].ratings == 7


@pytest.mark.parametrize("joined", ["colour;keywords", "colour; keywords"])
def test_a_pair_of_two_sources_counts_for_both_and_once_for_all(joined: str) -> None:
    rows = [("R0", "p0", "rest", 1.0, joined), ("R0", "p1", "rest", 2.0, "colour")]
    found = {use.source: use.ratings for use in statistics_of(_table(rows), STUDY).sources}
    assert found == {"": 2, "colour": 2, "keywords": 1}


def test_a_plus_is_part_of_a_systems_name() -> None:
    rows = [("R0", "p0", "rest", 1.0, "bm25+rm3"), ("R0", "p1", "rest", 2.0, "bm25")]
    assert {use.source: use.ratings for use in statistics_of(_table(rows), STUDY).sources} == {
        "": 2,
        "bm25": 1,
        "bm25+rm3": 1,
    }


def test_agreement_grows_to_the_alpha_of_the_krippendorff_package() -> None:
    rows = _panel()
    growth = statistics_of(_table(rows), STUDY).agreement[0]
    assert growth.ratings[-1] == len(rows)
    assert list(growth.ratings) == sorted(set(growth.ratings))
    for mark, alpha in zip(growth.ratings, growth.alpha, strict=True):
        wide = pd.DataFrame(rows[:mark], columns=["rater", "pair", "block", "rating", "source"]).pivot(
            index="rater", columns="pair", values="rating"
        )
        if alpha is not None:
            expected = krippendorff.alpha(reliability_data=wide.to_numpy(float), level_of_measurement="ordinal")
            assert alpha == pytest.approx(expected), mark
    assert growth.alpha[-1] is not None


def test_agreement_before_a_second_rater_has_no_number() -> None:
    growth = statistics_of(_table(_panel(raters=1)), STUDY).agreement[0]
    assert set(growth.alpha) == {None}
    assert growth.reason


def test_each_scale_has_its_own_agreement_and_unique_pairs_have_none() -> None:
    rows = _panel(raters=2)
    rows += [(rater, f"p{pair}", "second", float(pair % 2), "colour") for rater in ("R0", "R1") for pair in range(6)]
    rows += [("R0", "u1", "rest", 5.0, "colour"), ("R1", "u1", "rest", 1.0, "colour")]
    growth = {line.scale: line for line in statistics_of(_table(rows), STUDY).agreement}
    assert set(growth) == {"1-5", "binary"}
    assert growth["binary"].alpha[-1] == pytest.approx(1.0)
    assert growth["1-5"].ratings[-1] == 24


def test_running_counts_end_at_the_number_of_ratings_and_never_fall() -> None:
    found = statistics_of(_table(_panel()), STUDY)
    counts = found.growth_of_blocks["first"]
    assert counts[-1] == 48
    assert list(counts) == sorted(counts)
    assert found.growth_of_blocks["rest"][-1] == 0
    assert found.times[0] == pytest.approx(START)
    assert sum(sum(rater.spark) for rater in found.raters.values()) == 48


def test_every_rating_is_in_one_stretch_of_time() -> None:
    table = _table(_panel())
    found = statistics_of(table, STUDY)
    assert sum(found.seconds["first"]) == len(table)
    for place, (low, high) in enumerate(zip(SECONDS, [*SECONDS[1:], np.inf], strict=True)):
        inside = (table["seconds"] >= low) & (table["seconds"] < high)
        assert found.seconds["first"][place] == inside.sum()


def test_raters_worth_a_look_are_named_and_the_others_are_not() -> None:
    rows = _panel(raters=5, pairs=20)
    truth = {pair: rating for rater, pair, _, rating, _ in rows if rater == "R4" and rating is not None}
    rows += [("flat", pair, "first", 3.0, "keywords") for pair in truth]
    rows += [("upside down", pair, "first", 6.0 - rating, "keywords") for pair, rating in truth.items()]
    flags = {name: view.flags for name, view in statistics_of(_table(rows), STUDY).raters.items()}
    assert flags["flat"] == ("constant",)
    assert "reversed" in flags["upside down"]
    assert all(flags[f"R{rater}"] == () for rater in range(4))


def test_a_few_equal_ratings_are_no_pattern() -> None:
    rows = _panel(raters=3)
    rows += [("new", f"p{pair}", "first", 3.0, "keywords") for pair in range(5)]
    assert statistics_of(_table(rows), STUDY).raters["new"].flags == ()


def test_a_single_rating_is_enough_for_every_figure() -> None:
    found = statistics_of(_table([("R0", "p0", "first", 4.0, "")]), STUDY)
    assert found.raters["R0"].spark == (1,)
    assert found.sources[0].ratings == 1
    assert [use.source for use in found.sources] == [""]


def test_only_undecided_ratings_give_no_error_and_no_agreement() -> None:
    found = statistics_of(_table([("R0", "p0", "first", None, "a"), ("R1", "p0", "first", None, "a")]), STUDY)
    assert {use.error for use in found.sources} == {None}
    assert found.agreement[0].alpha[-1] is None


def test_nothing_rated_is_an_empty_insight() -> None:
    assert StudyStatistics().as_json()["sources"] == ()
