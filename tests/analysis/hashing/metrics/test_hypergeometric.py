"""Cuts through ties at the sizes that people have: exact, and without waiting."""

from __future__ import annotations

import tracemalloc
from decimal import Decimal, localcontext
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relstudy.analysis.hashing.counting.counts import CountTable
from relstudy.analysis.hashing.metrics.average_precision import average_precision
from relstudy.analysis.hashing.metrics.first_ranks import hit_probability
from relstudy.analysis.hashing.metrics.mean_average_precision import mean_average_precision

EXACT = 1e-12
"""What the figures promise."""


def exact_no_hit(n: int, m: int, t: int) -> float:
    with localcontext() as context:
        context.prec = 50
        product = Decimal(1)
        for i in range(min(m, t)):
            product *= 1 - Decimal(max(m, t)) / (n - i)
        return float(product)


@pytest.mark.parametrize(
    ("n", "m", "t"),
    [
        (4, 1, 1),
        (10**9, 1, 5 * 10**8),
        (10**9, 40, 10**7),
        (10**9, 600, 3 * 10**6),
        (10**9, 30_000, 30_000),
        (10**9, 10_000, 10**6),
        (59_000, 513, 700),
        (5_000, 700, 900),
        (1_000, 500, 500),
    ],
)
def test_the_probability_of_no_hit_is_exact_from_4_codes_to_a_billion(n: int, m: int, t: int) -> None:
    table = CountTable(np.array([[n]]), np.array([[m]]))
    assert 1 - hit_probability(table, t)[0] == pytest.approx(exact_no_hit(n, m, t), abs=EXACT)


def value(before: list[int], hits: list[int], group: tuple[int, int], inside: int, tie: str) -> float:
    """Sum of precisions over hits, by ranks: whole groups without ties, then t codes of which `inside` are relevant."""
    t, n_before, n_hits = group[0], sum(before), sum(hits)
    added = sum(Fraction(sum(hits[: i + 1]), sum(before[: i + 1])) for i, hit in enumerate(hits) if hit)
    if tie == "expected":
        for rank in range(1, t + 1):
            chance = Fraction(inside, t)
            others = Fraction(inside - 1, t - 1) * (rank - 1) if t > 1 else Fraction(0)
            added += chance * (n_hits + 1 + others) / (n_before + rank)
    else:
        first = 1 if tie == "optimistic" else t - inside + 1
        added += sum(Fraction(n_hits + i + 1, n_before + first + i) for i in range(inside))
    return float(added / (n_hits + inside)) if n_hits + inside else 0.0


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.lists(st.booleans(), max_size=6), st.integers(1, 40), st.data())
def test_average_precision_over_hits_is_that_of_every_number_of_hits(first: list[bool], n: int, data) -> None:
    m = data.draw(st.integers(0, n))
    t = data.draw(st.integers(1, n))
    hits = [int(hit) for hit in first]
    table = CountTable(np.array([[*[1] * len(hits), n]]), np.array([[*hits, m]]))
    if not sum(hits) + m:
        return
    numbers = range(max(0, t - (n - m)), min(t, m) + 1)
    each = {
        tie: [value([1] * len(hits), hits, (t, n), j, tie) for j in numbers]
        for tie in ("pessimistic", "expected", "optimistic")
    }
    chance = [comb(m, j) * comb(n - m, t - j) / comb(n, t) for j in numbers]
    expected = {
        "pessimistic": min(each["pessimistic"]),
        "expected": sum(p * v for p, v in zip(chance, each["expected"], strict=True)),
        "optimistic": max(each["optimistic"]),
    }
    for tie, exact in expected.items():
        ours = average_precision(table, tie, len(hits) + t, "hits")[0]  # type: ignore[arg-type]
        assert ours == pytest.approx(exact, abs=EXACT), tie


def test_a_group_of_many_codes_is_as_exact() -> None:
    n, m, t, before, hits = 40_000, 3_000, 11_000, 500, 90
    table = CountTable(np.array([[before, n]]), np.array([[hits, m]]))
    ours = {
        tie: average_precision(table, tie, before + t, "hits")[0] for tie in ("pessimistic", "expected", "optimistic")
    }
    j = np.arange(0, m + 1)
    log = np.array(
        [float(np.log(float(m - i)) + np.log(t - i) - np.log(i + 1.0) - np.log(n - m - t + i + 1.0)) for i in range(m)]
    )
    weight = np.r_[0.0, np.cumsum(log)]
    weight = np.exp(weight - weight.max())
    precision = (
        average_precision(CountTable(np.array([[before]]), np.array([[hits]])), "expected", None, "hits")[0] * hits
    )
    harmonic = (1 / np.arange(before + 1, before + t + 1)).sum()
    slope = (j - 1) / (t - 1)
    added = j / t * (slope * t + (hits + 1 - slope * (before + 1)) * harmonic)
    direct = (weight * (precision + added) / (hits + j)).sum() / weight.sum()
    assert ours["expected"] == pytest.approx(direct, abs=1e-11)  # the logarithms above are good to 1e-11
    assert ours["pessimistic"] < ours["expected"] < ours["optimistic"]


def test_a_cut_through_thousands_of_ties_holds_few_numbers_at_once() -> None:
    """Every number of hits tried one by one took 588 MB and 59 s; evidence/benchmarks/hashing.py says what it takes."""
    rng = np.random.default_rng(0)
    share = np.array([comb(8, d) for d in range(9)]) / 256
    total = rng.multinomial(59_000, share, size=1000)
    table = CountTable(total, rng.binomial(total, 0.1))
    for k in (5_000, 25_000):
        tracemalloc.start()
        figures = mean_average_precision(table, k, "hits")
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert figures.pessimistic < figures.expected < figures.optimistic
        assert most < 50e6, k  # bytes; 13e6 when written
