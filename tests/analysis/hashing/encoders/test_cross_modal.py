"""Two kinds of descriptors in one space: against scikit-learn's CCA, and what is found across kinds."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.cross_decomposition import CCA

from relstudy.analysis.hashing.encoders.cross_modal import CrossModal
from relstudy.common.runtime.errors import RelstudyError
from tests.commands import succeeds


@pytest.fixture(scope="module")
def views() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(8)
    shared = rng.standard_normal((300, 3))
    return tuple(shared @ rng.standard_normal((3, d)) + 0.5 * rng.standard_normal((300, d)) + 2 for d in (6, 4))


def test_canonical_correlations_are_scikit_learns(views) -> None:
    encoder = CrossModal(3, ridge=0).fit(*views)
    oracle = CCA(3, max_iter=5000, tol=1e-12).fit(*views)
    first, second = oracle.transform(*views)
    wanted = [np.corrcoef(a, b)[0, 1] for a, b in zip(first.T, second.T, strict=True)]
    assert encoder.correlations_ == pytest.approx(wanted, abs=1e-6)  # scikit-learn's iterates to a tolerance
    ours = encoder.first.project(views[0])
    assert [abs(np.corrcoef(a, b)[0, 1]) for a, b in zip(ours.T, first.T, strict=True)] == pytest.approx(
        [1] * 3, abs=1e-5
    )


def test_an_items_two_codes_lie_nearer_than_those_of_strangers(views) -> None:
    first, second = (view[:200] for view in views)
    codes = CrossModal(3).fit(first, second).encode(views[0][200:], views[1][200:])
    distances = codes[0].distances(codes[1])
    assert np.diag(distances).mean() < 0.4 * distances.mean()
    shuffled = CrossModal(3).fit(first, second[::-1]).encode(views[0][200:], views[1][200:])
    strangers = shuffled[0].distances(shuffled[1])
    assert np.diag(strangers).mean() > 0.7 * strangers.mean()


def test_items_that_do_not_pair_and_too_many_bits_are_refused(views) -> None:
    with pytest.raises(RelstudyError, match="300 and 299 descriptors: each item needs one of both kinds"):
        CrossModal(2).fit(views[0], views[1][1:])
    with pytest.raises(RelstudyError, match="the shorter descriptor has 4"):
        CrossModal(5).fit(*views)


def test_the_command_writes_codes_of_both_kinds(views, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, view in zip(("a.npy", "b.npy"), views, strict=True):
        np.save(name, view)
    arguments = "hash cross-modal --bits 3 --train a.npy b.npy --encode-first a.npy ca.npy --encode-second b.npy cb.npy"
    result = succeeds(*arguments.split(), "--json")
    assert len(json.loads(result.stdout)["canonical_correlations"]) == 3
    assert (np.load("ca.npy") == np.load("cb.npy")).mean() > 0.8
