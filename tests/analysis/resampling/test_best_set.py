"""The best set and intervals of ranks: two systems by their interval, several by simulation with known truth."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from relstudy.analysis.resampling.best_set import PairedStatistics, Ranks, ranks_of


def paired_of(values: np.ndarray, replicates: int = 300, seed: int = 0) -> PairedStatistics:
    """From a value of each system and query, float [systems, queries]."""
    systems, queries = values.shape
    counts = np.random.default_rng(seed).multinomial(queries, np.full(queries, 1 / queries), replicates) / queries
    first, second = np.triu_indices(systems, 1)
    difference = values[first] - values[second]
    error = difference.std(axis=1, ddof=1) / np.sqrt(queries)
    freedom = np.full(len(first), queries - 1.0)
    return PairedStatistics.of(difference.mean(axis=1), error, freedom, difference @ counts.T, queries)


def drawn(random: np.random.Generator, truth: list[float], queries: int) -> np.ndarray:
    """Skewed values by system and query: systems share half of what makes a query easy or hard."""
    shared = random.standard_exponential((1, queries)) - 1
    own = random.standard_exponential((len(truth), queries)) - 1
    return np.asarray(truth)[:, None] + np.sqrt(0.5) * (shared + own)


@pytest.mark.parametrize("gap", [0.0, 0.1, 0.2, 0.3, 0.5])
def test_two_systems_are_told_apart_where_the_paired_interval_leaves_out_zero(gap: float) -> None:
    for seed in range(20):
        values = drawn(np.random.default_rng(seed), [gap, 0.0], 40)
        ranks = ranks_of(paired_of(values))
        low, high = stats.ttest_rel(*values).confidence_interval(0.95)
        first_ahead, second_ahead = low > 0, high < 0
        assert ranks.best.tolist() == [not second_ahead, not first_ahead]
        assert ranks.better.tolist() == [[False, second_ahead], [first_ahead, False]]
        assert (ranks.low[0] == ranks.high[0]) == (first_ahead or second_ahead)


def test_whether_two_systems_are_told_apart_does_not_depend_on_the_company() -> None:
    values = drawn(np.random.default_rng(4), [0.4, 0.1, 0.0, -0.6, -0.8], 60)
    together = ranks_of(paired_of(values)).better
    for a in range(5):
        for b in range(a + 1, 5):
            alone = ranks_of(paired_of(values[[a, b]])).better
            assert together[np.ix_([a, b], [a, b])].tolist() == alone.tolist()


def test_systems_that_are_far_behind_do_not_widen_the_best_set() -> None:
    values = drawn(np.random.default_rng(4), [0.5, 0.1, 0.0], 60)
    beside = drawn(np.random.default_rng(9), [-4.0] * 20, 60)
    alone, accompanied = ranks_of(paired_of(values)), ranks_of(paired_of(np.concatenate([values, beside])))
    assert accompanied.best[:3].tolist() == alone.best.tolist()
    assert accompanied.low[:3].tolist() == alone.low.tolist()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("truth", "queries"), [([0.3, 0.0, -1.0], 30), ([0.3] + [0.0] * 5, 60), ([0.3, 0.2, 0.1, 0.0, -0.1], 60)]
)
def test_the_true_best_is_lost_and_ranks_miss_the_truth_in_few_studies(truth: list[float], queries: int) -> None:
    random, studies = np.random.default_rng(11), 200
    lost = missed = 0
    for _ in range(studies):
        ranks: Ranks = ranks_of(paired_of(drawn(random, truth, queries)))
        lost += not ranks.best[0]
        true = np.array([1 + sum(other > each for other in truth) for each in truth])
        last = np.array([sum(other >= each for other in truth) for each in truth])
        missed += int(((ranks.low > last) | (ranks.high < true))[0])
    # 2.5 and 5 % are asked; two standard errors of 200 studies are 2.2 and 3.1 points
    assert lost <= 0.047 * studies
    assert missed <= 0.081 * studies


def test_the_bound_is_never_above_that_of_bonferroni() -> None:
    """Replicates with tails far heavier than the normal ones: their largest says nothing that Bonferroni does not."""
    values = np.random.default_rng(2).normal(size=(4, 40)) + np.array([[0.75], [0.0], [0.0], [0.0]])
    paired = paired_of(values)
    heavy = np.random.default_rng(3).standard_t(2.2, paired.replicates.shape)
    heavy = replace(paired, replicates=(heavy - np.swapaxes(heavy, 0, 1)) / np.sqrt(2))
    bonferroni = stats.t.ppf(1 - 0.025 / 3, 39)
    out = (np.nan_to_num(paired.statistic, nan=-9).max(axis=1) > bonferroni).tolist()
    assert any(out)
    assert (~ranks_of(heavy).best).tolist() == out


def test_how_far_the_number_of_replicates_leaves_a_margin_open_is_how_far_seeds_differ() -> None:
    """In units of the differences' own bootstrap errors, as in a study whose jackknife is smaller."""
    values = drawn(np.random.default_rng(5), [0.5, 0.05, 0.0, -0.1], 80)
    first, second = np.triu_indices(4, 1)
    difference, margins, errors = values[first] - values[second], [], []
    for seed in range(60):
        counts = np.random.default_rng(seed).multinomial(80, np.full(80, 1 / 80), 400) / 80
        found = difference @ counts.T
        paired = PairedStatistics.of(
            difference.mean(axis=1), found.std(axis=1), np.full(6, 79.0), found, 80, np.sqrt(2 / 400)
        )
        nearest = max(paired.near_the_bound(0.95, within=np.inf), key=lambda each: each.system == 1)
        margins.append(nearest.lag - nearest.bound)
        errors.append(nearest.error)
    # sixty seeds leave a tenth of chance in a standard deviation, and values are not normal
    assert np.mean(errors) == pytest.approx(np.std(margins), rel=0.35)


def test_without_a_standard_error_nothing_is_said() -> None:
    nothing = np.full(1, np.nan)
    ranks = ranks_of(PairedStatistics.of(nothing, nothing, nothing, np.full((1, 50), np.nan), 10))
    assert (ranks.low.tolist(), ranks.high.tolist(), ranks.best.tolist()) == ([1, 1], [2, 2], [True, True])
    assert not ranks.better.any()


@pytest.mark.real_data
@pytest.mark.parametrize("truth", [[0.3, 0.0], [0.3, 0.0, -1.0], [0.3] + [0.0] * 5, [0.3] + [0.0] * 4 + [-0.5] * 15])
def test_the_set_is_that_of_a_prototype_on_the_same_studies_and_draws(truth: list[float], shared_data: Path) -> None:
    """The prototype takes a quantile of the replicates as its bound; here Student's t goes beside it, and it steps down
    no further. So systems near the bound part."""
    prototype: dict = {}
    source = (shared_data.parent / "oracles" / "best_set.py").read_text(encoding="utf-8")
    exec(source.partition("\nfor n in ")[0], prototype)  # what follows prints its tables
    queries, studies, first, second = 100, 30, *np.triu_indices(len(truth), 1)
    same = own = its = 0
    for seed in range(studies):
        values = prototype["draw"](np.random.default_rng(seed), queries, truth)
        found = prototype["rules"](np.random.default_rng([seed, 1]), values, 400)["sets"]
        drawn = np.random.default_rng([seed, 1]).multinomial(queries, np.full(queries, 1 / queries), 400) / queries
        apart = values[0][:, first] - values[0][:, second]
        error, freedom = apart.std(axis=0, ddof=1) / np.sqrt(queries), np.full(len(first), queries - 1.0)
        paired = PairedStatistics.of(apart.mean(axis=0), error, freedom, (drawn @ apart).T, queries)
        best = set(np.flatnonzero(ranks_of(paired, 0.90).best).tolist())  # its bound is that of one side, 95 %
        same, own, its = same + (best == found), own + len(best), its + len(found)
    assert same >= 0.85 * studies
    assert own == pytest.approx(its, rel=0.06)


def test_p_is_the_share_of_replicates_whose_largest_statistic_is_as_large_step_by_step() -> None:
    """By hand, rival by rival, on a row whose rivals differ; the p of one rival alone is that of its t test."""
    random = np.random.default_rng(8)
    values = random.normal(size=(5, 40)) + np.array([[0.0], [0.35], [0.3], [0.5], [-0.1]])
    paired = paired_of(values, replicates=2000)
    p = paired.p_above()
    given, drawn = paired.statistic[0], paired.replicates[0]
    left, running = [k for k in range(1, 5) if given[k] > -paired.clearly_behind], 0.0
    while left:
        first = max(left, key=lambda k: given[k])
        tail = float(stats.t.sf(given[first], 39))
        largest = drawn[left].max(axis=0)
        share = (1 + (largest >= stats.norm.isf(tail)).sum()) / 2001
        running = max(running, min(max(share, tail), tail * len(left)))
        assert p[0, first] == pytest.approx(min(2 * running, 1))
        left.remove(first)
    alone = paired_of(values[[0, 3]], replicates=2000).p_above()[0, 1]
    assert alone == pytest.approx(stats.ttest_rel(values[3], values[0]).pvalue)


def test_p_beside_the_leader_and_the_best_set_say_the_same() -> None:
    random = np.random.default_rng(9)
    for _ in range(30):
        paired = paired_of(random.normal(size=(6, 60)) + 0.1 * np.arange(6)[:, None])
        ranks = ranks_of(paired)
        out = (ranks.p < 0.05).any(axis=1)
        assert (out == ~ranks.best).all()
