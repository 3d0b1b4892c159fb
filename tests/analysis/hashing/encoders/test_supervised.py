"""Encoders that learn from labels: better than those that don't, also from several labels per item."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import average_precision_score

from relstudy.analysis.hashing.counting.counts import count
from relstudy.analysis.hashing.encoders import ENCODERS
from relstudy.analysis.hashing.encoders.graph import GRH, Neighbourhood, _average_precision
from relstudy.analysis.hashing.metrics.average_precision import average_precision
from relstudy.analysis.hashing.truth.labels import Labels, mask_words
from relstudy.analysis.hashing.truth.relevance import LabelTruth
from relstudy.analysis.hashing.truth.splits import improved_split
from relstudy.common.runtime.errors import RelstudyError
from tests.commands import relstudy, succeeds


@pytest.fixture(scope="module")
def several() -> tuple[np.ndarray, np.ndarray]:
    """Vectors that are sums of their labels' directions, beside louder noise; one or two of twelve an item."""
    rng = np.random.default_rng(1)
    labels = np.zeros((300, 12), dtype=bool)
    for row in labels:
        row[rng.choice(12, rng.integers(1, 3), replace=False)] = True
    vectors = np.hstack([labels @ (2 * rng.standard_normal((12, 12))), 3 * rng.standard_normal((300, 12))])
    vectors[:, :12] += rng.standard_normal((300, 12))
    return vectors, labels


def test_the_mean_over_neighbours_is_that_of_the_whole_graph(several) -> None:
    labels = several[1].copy()
    labels[7] = False
    bits = np.random.default_rng(2).choice([-1.0, 1.0], (300, 5))
    for given in (labels, np.arange(300) % 7):
        table = given.astype(float) if given.ndim == 2 else np.eye(7)[given]
        graph = (table @ table.T > 0).astype(float)
        expected = graph @ bits / np.maximum(graph.sum(axis=1), 1)[:, None]
        np.testing.assert_allclose(Neighbourhood.of(given).mean(bits), expected, atol=1e-12)


@pytest.mark.parametrize("name", ["ksh", "grh"])
def test_several_labels_an_item_are_learned_from(several, name: str) -> None:
    vectors, labels = several
    sets = Labels(masks=mask_words(labels[200:]))
    score = {}
    for each in ("itq", name):
        codes = ENCODERS[each](8).fit(vectors[:200], labels[:200]).encode(vectors[200:])
        score[each] = average_precision(count(codes, codes, LabelTruth.by(sets, sets), engine="numpy")).mean()
    assert score[name] > score["itq"] + 0.01


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ksh", "grh"])
def test_labels_as_the_truth_takes_them_are_labels_to_learn_from(several, name: str) -> None:
    """`Encoder.fit(vectors, Labels)` was a TypeError."""
    vectors, labels = several
    classes = np.arange(len(vectors)) % 7
    for given, plain in ((Labels(masks=mask_words(labels)), labels), (Labels(classes=classes), classes)):
        one, other = (ENCODERS[name](6).fit(vectors, each).encode(vectors) for each in (given, plain))
        np.testing.assert_array_equal(one.columns, other.columns)


def test_bits_that_do_not_change_are_not_learned_again(several, monkeypatch: pytest.MonkeyPatch) -> None:
    fitted: list[int] = []
    refit = GRH._refit
    monkeypatch.setattr(GRH, "_refit", lambda self, *parts: (fitted.append(len(parts[2])), refit(self, *parts))[1])
    classes = several[1].argmax(axis=1)
    codes = GRH(8, rounds=6, alpha=0.9).fit(several[0], classes).encode(several[0])
    assert fitted[0] == 8
    assert sum(fitted) < 6 * 8
    assert (codes.columns == GRH(8, rounds=12, alpha=0.9).fit(several[0], classes).encode(several[0]).columns).all()


@pytest.mark.slow
def test_alpha_is_chosen_on_a_held_out_part_and_said(several) -> None:
    vectors, labels = several
    helped = GRH(8).fit(vectors, labels)
    assert helped.alpha_ > 0.6
    assert len(helped.held_out_) == 5
    assert f"alpha {helped.alpha_:g}, the smallest whose mAP on held-out training items" in helped.choice()
    # Labels that the vectors know nothing of are no reason to leave ITQ's bits.
    unrelated = np.random.default_rng(0).integers(0, 10, 300)
    kept = GRH(8).fit(vectors, unrelated)
    assert kept.alpha_ == 0.6
    assert GRH(8, alpha=0.9).fit(vectors, labels).choice() == "alpha 0.9, as given"
    assert GRH(2).fit(vectors[:2], np.array([0, 1])).alpha_ == 0.6  # too few to hold any out


def test_the_map_that_chooses_alpha_is_scikit_learns() -> None:
    rng = np.random.default_rng(8)
    queries, database, relevant = rng.random((9, 6)) < 0.5, rng.random((40, 6)) < 0.5, rng.random((9, 40)) < 0.1
    relevant[3] = False  # left out
    near = np.where(queries, 1, -1) @ np.where(database, 1, -1).T
    pairs = zip(relevant, near, strict=True)
    expected = [average_precision_score(wanted, score) for wanted, score in pairs if wanted.any()]
    assert _average_precision(queries, database, relevant) == pytest.approx(expected, abs=1e-14)  # sums of 40 numbers


def test_alpha_is_an_option_and_has_its_range(tmp_path: Path, several) -> None:
    np.save(tmp_path / "x.npy", several[0])
    np.save(tmp_path / "y.npy", several[1])
    common = ["--bits", "8", "--train", str(tmp_path / "x.npy"), "--encode", str(tmp_path / "x.npy")]
    labels = ["--train-labels", str(tmp_path / "y.npy")]
    codes = []
    for alpha in ("0.1", "1"):
        words = ["hash", "encode", "grh", *common, str(tmp_path / "c.npy"), *labels, "--alpha", alpha]
        succeeds(*words)
        codes.append(np.load(tmp_path / "c.npy"))
    assert (codes[0] != codes[1]).any()
    wrong = relstudy("hash", "encode", "itq", *common, tmp_path / "c.npy", "--alpha", "0.5")
    assert (wrong.exit_code, "--alpha is of grh" in wrong.stderr) == (2, True)
    with pytest.raises(RelstudyError, match="alpha of GRH: a number from 0 to 1 is needed, not"):
        GRH(8, alpha=1.5)


def test_a_split_shares_out_several_labels(several) -> None:
    labels = several[1]
    sizes = {"test_queries": 60, "test_database": 60, "validation_queries": 60, "validation_database": 60}
    split = improved_split(300, sizes, labels=labels)
    rare = labels[:, labels.sum(axis=0).argmin()]
    for part in split.PARTS:
        # The rarest label is dealt out in turn, so each part has a fifth of it, give or take one.
        assert abs(rare[getattr(split, part)].sum() - rare.sum() / 5) <= 1
