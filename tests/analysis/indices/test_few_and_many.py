"""Few pairs are walked by numpy and many by machine code, of the same lines: the digits are the same."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from relstudy.analysis.indices import correlation, kernels, leave_query_out, pairwise_accuracy, reweighted
from relstudy.analysis.judges import retrieval_cutoffs
from relstudy.analysis.resampling.draws import LeftOut
from relstudy.common.runtime import compiled

WALKS = {
    name: each
    for module in (kernels, reweighted, pairwise_accuracy, leave_query_out, retrieval_cutoffs)
    for name, each in vars(module).items()
    if hasattr(each, "machine")
}
REPLICATES = 40


def given(pairs: int, levels: int, shares: bool, seed: int) -> dict[str, tuple[object, ...]]:
    """Arguments of each walk, of made pairs in order of their score, of which `levels` differ."""
    random = np.random.default_rng(seed)
    queries = 1 + pairs // 4
    query = np.r_[np.arange(queries), random.integers(0, queries, pairs)][:pairs]
    query = np.unique(query, return_inverse=True)[1]
    times = np.ascontiguousarray(random.multinomial(queries, np.full(queries, 1 / queries), REPLICATES).T, dtype=float)
    end = correlation.group_ends(np.sort(random.integers(0, levels, pairs)))
    level = np.unique(random.integers(0, levels, pairs), return_inverse=True)[1]
    number = level.max() + 1
    weight = random.exponential(size=pairs) + 0.5
    own = np.minimum(weight, 1.0)
    relevant = np.where(random.random(pairs) < 0.4, random.random(pairs) if shares else 1.0, 0.0)
    mass = (random.random((pairs, REPLICATES)) * (random.random((pairs, REPLICATES)) < 0.9)).astype(np.float32)
    hits = (mass * (relevant[:, None] * random.random((pairs, REPLICATES)))).astype(np.float32)
    order = random.permutation(pairs)
    part = (3, REPLICATES - 5)
    ranked = kernels.ranks_by_level.__wrapped__(query, level, number, weight, times)
    gain = weight[:, None] * hits.astype(float)
    miss = weight[:, None] * (mass - hits)
    by_query = np.sort(query), end | correlation.group_ends(np.sort(query))
    first = random.integers(0, pairs + 1, (4, part[1] - part[0]))
    left_out = LeftOut.of(query, random.random(queries))
    arguments: dict[str, tuple[object, ...]] = {
        "sums": (random.normal(size=(3, queries)), times, *part),
        "sums_by_bin": (query, level, number, weight, relevant, times, *part),
        "retrieval": (query, end, weight, own, relevant, times, *part),
        "ranks_by_level": (query, level, number, weight, times),
        "spearman": (query, end, level, ranked, weight, times),
        "concordance": (end, level, number, weight),
        "_retrieval_by_replicate": (order, end, weight, own, mass, hits),
        "_sums_by_bin": (level, number, weight, mass),
        "_couples": (*by_query, gain, miss, queries),
        "_couples_under_raters": (order, *by_query, weight, mass, hits),
        "_scores_at_shares": (np.sort(weight)[::-1].copy(), query, weight, times, np.array([0.1, 0.5, 0.9]), *part),
        "_sums_of_first": (query, weight, relevant, times, first, np.argsort(first, axis=None), *part),
    }
    if left_out is not None:
        mine = np.argsort(query, kind="stable")
        start = np.searchsorted(query[mine], np.arange(left_out.queries + 1))
        kept = left_out.kept[query]
        group = np.cumsum(end) - end
        rest = (mine, start, left_out.dropped, 0, left_out.queries)
        arguments["_without"] = (query, group, weight * kept, own * kept, relevant, *rest)
    return arguments


def test_concordance_of_each_pair_is_what_comparing_all_pairs_gives() -> None:
    random = np.random.default_rng(4)
    score, level = np.sort(random.integers(0, 9, 40)), np.unique(random.integers(0, 7, 40), return_inverse=True)[1]
    weight = random.exponential(size=40) + 0.5
    alike = np.sign(score[:, None] - score) * np.sign(level[:, None] - level)
    found = kernels.concordance(correlation.group_ends(score), level, int(level.max()) + 1, weight)
    np.testing.assert_allclose(found, alike @ weight, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", WALKS)
def test_numpy_and_machine_code_give_the_same_digits(name: str) -> None:
    tried = 0
    for pairs, levels in ((1, 1), (2, 1), (7, 3), (7, 1), (60, 9), (301, 4), (301, 1000)):
        for shares in (False, True):
            for seed in range(3):
                arguments = given(pairs, levels, shares, seed).get(name)
                if arguments is None:
                    continue
                tried += 1
                with np.errstate(all="ignore"):
                    few = WALKS[name].__wrapped__(*arguments)  # type: ignore[attr-defined]
                many = WALKS[name].machine()(*arguments)  # type: ignore[attr-defined]
                for one, other in zip(*(x if isinstance(x, tuple) else (x,) for x in (few, many)), strict=True):
                    assert one.dtype == other.dtype
                    np.testing.assert_array_equal(one, other)
    assert tried >= 30


@pytest.fixture
def walk(monkeypatch: pytest.MonkeyPatch) -> Callable[[np.ndarray], str]:
    monkeypatch.setattr(compiled, "compiled", lambda function: lambda *given: "machine code")

    @compiled.compiled_for_many
    def walk(columns: np.ndarray) -> str:
        return "numpy"

    return walk


def test_the_number_of_pairs_says_who_walks_them(
    walk: Callable[[np.ndarray], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled, "is_kept", lambda function: False)
    assert walk(np.zeros((9, compiled.FEW - 1))) == "numpy"
    assert walk(np.zeros((2, compiled.FEW))) == "machine code"
    turns = [walk(np.zeros(1000)) for _ in range(compiled.MANY // 1000)]
    assert turns == ["numpy"] * (len(turns) - 4) + ["machine code"] * 4  # 3,999 were walked above


def test_what_was_compiled_before_is_read_sooner(
    walk: Callable[[np.ndarray], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled, "is_kept", lambda function: True)
    turns = [walk(np.zeros(1000)) for _ in range(compiled.SOME // 1000)]
    assert turns == ["numpy"] * (len(turns) - 1) + ["machine code"]
