"""AUPRC against mAP (Moran 2016, section 3.6.5): where they disagree, and that one of its sentences says too much."""

from __future__ import annotations

import pytest

from evidence.auprc_and_map import no_common_radius, skewed


def test_auprc_and_map_order_two_systems_differently_where_queries_have_unequally_many_relevant() -> None:
    figures = skewed()
    assert figures["balanced, A"] == pytest.approx(figures["balanced, B"])
    assert figures["skewed, A"][0] > figures["skewed, B"][0]
    assert figures["skewed, A"][1] < figures["skewed, B"][1]
    # 1,000 of 1,050 relevant items at precision 1, the others in the whole database: 1,050 of 20,000.
    assert figures["skewed, A"][0] == pytest.approx(1000 / 1050 + 50 / 1050 * 1050 / 20_000)


def test_auprc_differs_from_map_with_equally_many_relevant_too_where_no_radius_suits_all_queries() -> None:
    figures = no_common_radius()
    assert figures["one radius suits all"] == pytest.approx((1, 1))
    area, mean = figures["it does not"]
    assert mean == pytest.approx(1)
    # 500 of 1,000 relevant at precision 1; the others at radius 3, which holds 10,000 of ten queries and 500 of ten.
    assert area == pytest.approx(0.5 + 0.5 * 1000 / 10_500)
