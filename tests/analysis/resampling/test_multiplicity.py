"""Statements corrected together: against the rule worked one by one, and on systems that are all equal."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

import relstudy as rs
from relstudy.analysis.resampling.multiplicity import family_corrected, holm
from tests.simulations import simulation


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
@settings(max_examples=60, deadline=None)
def test_holm_equals_the_step_down_rule_worked_one_by_one(values: list[float]) -> None:
    corrected = holm(values)
    order = sorted(range(len(values)), key=lambda k: values[k])
    running = 0.0
    for step, k in enumerate(order):
        running = max(running, min(1.0, values[k] * (len(values) - step)))
        assert corrected[k] == pytest.approx(running)


def test_holm_leaves_undefined_tests_out_of_the_count() -> None:
    corrected = holm([0.02, float("nan"), 0.5])
    assert corrected[0] == pytest.approx(0.04)
    assert np.isnan(corrected[1])


def test_the_step_down_rule_is_that_of_its_source_worked_one_by_one() -> None:
    """Westfall and Young 1993, algorithm 4.1: from the smallest p on, successive maxima over what is left."""
    random = np.random.default_rng(0)
    drawn = random.normal(size=(6, 400)) + random.normal(size=400)
    drawn /= drawn.std(axis=1, keepdims=True)
    p = np.array([0.04, 0.002, 0.3, 0.04, 0.011, 0.9])
    left, before, expected = set(range(6)), 0.0, np.empty(6)
    for one in np.argsort(p, kind="stable"):
        bound = special.ndtri(1 - p[one] / 2)
        reached = sum(max(abs(drawn[k, b]) for k in left) >= bound for b in range(400))
        before = max(before, p[one], (1 + reached) / 401)
        expected[one] = before
        left.remove(one)
    np.testing.assert_allclose(family_corrected(p, drawn), np.minimum(expected, holm(p)), atol=1e-12)


def test_one_statement_is_not_corrected_and_a_missing_one_does_not_count() -> None:
    drawn = np.random.default_rng(1).normal(size=(3, 200))
    assert family_corrected([0.03], drawn[:1]).tolist() == [0.03]
    found = family_corrected([0.03, np.nan, 0.5], drawn)
    assert np.isnan(found[1]) and found[0] == family_corrected([0.03, 0.5], drawn[[0, 2]])[0]
    assert np.isnan(family_corrected([np.nan], drawn[:1])).all()


def test_what_is_surely_different_stays_so_whatever_the_number_of_replicates() -> None:
    """A share of 100 replicates is at least 1 %; Holm's bound is not."""
    drawn = np.random.default_rng(2).normal(size=(20, 100))
    found = family_corrected([1e-9] + [0.5] * 19, drawn)
    assert found[0] == pytest.approx(20e-9)


def test_families_are_the_index_that_decides_all_others_and_all_groups() -> None:
    random = np.random.default_rng(3)
    pairs = {"query_id": np.repeat([f"q{k}" for k in range(24)], 6), "result_id": np.tile(list("uvwxyz"), 24)}
    worth = random.normal(size=144)
    judgments = pd.DataFrame({**pairs, "judgment": np.clip(np.round(3 + worth), 1, 5), "inclusion_probability": 0.5})
    judgments["kind"] = np.repeat(["one", "two"], 72)
    scores = pd.DataFrame(pairs).assign(**{name: worth + random.normal(size=144) for name in "abc"})
    found = rs.score(scores, judgments, by="kind", method="none", measures=[], replicates=100, threshold=3)
    primary = found.result.primary.name
    for each in found.result.comparisons:
        assert each.family == ("primary" if each.index == primary else "secondary")
        assert each.p_family is not None and each.p_value is not None and each.p_family >= each.p_value - 1e-12
    groups = [each for part in found.run.within.results.values() for each in part.comparisons]
    assert {each.family for each in groups} == {"groups"} and len(groups) == 24
    assert "The 24 differences within groups are one family" in " ".join(found.run.within.notes())
    smallest = min(groups, key=lambda each: each.p_value)
    alone = found.run.within.results[
        next(name for name, part in found.run.within.results.items() if smallest in part.comparisons)
    ]
    # more statements than those of its own group and index count
    assert smallest.p_family > holm([e.p_value for e in alone.comparisons if e.index == smallest.index]).min() - 1e-12


@pytest.mark.slow
@pytest.mark.parametrize(("systems", "queries", "groups"), [(6, 60, 1), (6, 160, 8)])
def test_among_equal_systems_hardly_anything_is_called_more_than_chance(
    systems: int, queries: int, groups: int
) -> None:
    """A small version of `python evidence/coverage.py families`."""
    script = simulation("families")
    studies = 25
    said = [script.study(systems, queries, groups, np.random.default_rng([7, k])) for k in range(studies)]
    for family in said[0]:
        single, _, one = np.mean([each[family] for each in said], axis=0)
        # 5 % of 25 studies: six or more come by chance in 1 of 800; single tests say something in most
        assert one <= 5 / studies, family
        assert single > one
