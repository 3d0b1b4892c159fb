"""Deep encoders learn, repeat themselves, stop early, go on where they were, and are saved whole."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("jax")
from relstudy.analysis.hashing.encoders.deep import encoders
from relstudy.analysis.hashing.encoders.deep.encoders import DEEP_ENCODERS, DSH, MDSH, DispersedDSH
from relstudy.analysis.hashing.encoders.deep.items import Standard
from relstudy.analysis.hashing.encoders.deep.network import new_weights, outputs_of
from relstudy.analysis.hashing.encoders.deep.training import Epoch
from relstudy.analysis.hashing.encoders.saved import load_encoder, save_encoder
from relstudy.common.runtime.errors import RelstudyError

pytestmark = pytest.mark.slow

RNG = np.random.default_rng(4)
LABELS = RNG.integers(0, 3, 240)
VECTORS = (RNG.standard_normal((3, 8)) * 2)[LABELS] + RNG.standard_normal((240, 8))


def _apart(encoder: encoders.DeepEncoder) -> tuple[float, float]:
    """Mean Hamming distance within and between classes."""
    codes = encoder.encode(VECTORS)
    distances, same = codes.distances(codes), LABELS[:, None] == LABELS[None]
    return float(distances[same].mean()), float(distances[~same].mean())


@pytest.mark.parametrize("name", DEEP_ENCODERS)
def test_items_of_a_class_come_to_lie_closer_than_others(name: str) -> None:
    within, between = _apart(DEEP_ENCODERS[name](12, epochs=30, batch=60).fit(VECTORS, LABELS))
    assert within < 0.6 * between  # a random code has both at about 6 bits


def test_dispersed_codes_of_a_class_differ_and_m_dsh_keeps_them_m_bits_apart() -> None:
    dsh, dispersed = (kind(12, epochs=60, batch=60).fit(VECTORS, LABELS) for kind in (DSH, DispersedDSH))
    assert _apart(dispersed)[0] > _apart(dsh)[0]
    near, far = (MDSH(32, epochs=60, batch=60, shift=m).fit(VECTORS, LABELS) for m in (0, 8))
    assert _apart(far)[0] > _apart(near)[0] + 2


def test_a_code_depends_on_the_seed_and_the_training_data_alone() -> None:
    first, second, other = (MDSH(8, seed=seed, epochs=3, batch=50).fit(VECTORS, LABELS) for seed in (5, 5, 6))
    together = first.encode(np.vstack([VECTORS[:30], 50 * VECTORS])).unpacked()[:30]
    assert (second.encode(VECTORS[:30]).unpacked() == together).all()
    assert (other.encode(VECTORS[:30]).unpacked() != together).any()


def test_names_of_classes_learn_as_their_numbers_do() -> None:
    words = np.array(["ant", "bee", "cat"])[LABELS]
    by_number, by_word = (DSH(8, epochs=2).fit(VECTORS, labels).project(VECTORS) for labels in (LABELS, words))
    assert (by_number == by_word).all()


def test_superclasses_hold_classes_together() -> None:
    superclasses = np.minimum(LABELS, 1)
    both = np.stack([LABELS, superclasses], axis=1)
    encoder = DispersedDSH(24, epochs=60, batch=60).fit(VECTORS, both)
    codes = encoder.encode(VECTORS)
    distances = codes.distances(codes)
    akin = (superclasses[:, None] == superclasses[None]) & (LABELS[:, None] != LABELS[None])
    strange = superclasses[:, None] != superclasses[None]
    assert distances[akin].mean() < 0.7 * distances[strange].mean()


def test_pictures_go_through_three_convolutions() -> None:
    colours = np.array([[200, 30, 30], [30, 200, 30]])
    labels = np.arange(80) % 2
    pictures = np.random.default_rng(0).integers(-20, 20, (80, 16, 24, 3)) + colours[labels][:, None, None]
    encoder = DSH(8, epochs=8, batch=40).fit(pictures.astype(np.uint8), labels)
    assert {name for name in encoder.weights_ if name.startswith("convolution")} >= {
        f"convolution_{i}" for i in range(3)
    }
    distances = encoder.encode(pictures.astype(np.uint8)).distances(encoder.encode(pictures.astype(np.uint8)))
    same = labels[:, None] == labels[None]
    assert distances[same].mean() < 0.2 * distances[~same].mean()  # two plain colours: as easy as it gets


def test_the_convolutions_and_pools_are_those_written_out() -> None:
    """One output of each layer by loops over a picture of 8 x 8."""
    weights = {name: np.asarray(values, dtype=float) for name, values in new_weights((8, 8, 3), 5, 4, 0).items()}
    values = np.random.default_rng(2).standard_normal((1, 8, 8, 3))
    ours = np.asarray(outputs_of({n: w.astype(np.float32) for n, w in weights.items()}, values.astype(np.float32)))
    layer = values[0]
    for number, pool in enumerate((np.max, np.mean, np.mean)):
        kernel = weights[f"convolution_{number}"]
        padded = np.pad(layer, ((2, 2), (2, 2), (0, 0)))
        height, width = layer.shape[:2]
        out = np.array(
            [[(padded[i : i + 5, j : j + 5, :, None] * kernel).sum(axis=(0, 1, 2)) for j in range(width)]
             for i in range(height)]
        )  # fmt: skip
        out = np.maximum(out + weights[f"convolution_{number}_offset"], 0)
        layer = pool(out.reshape(height // 2, 2, width // 2, 2, -1), axis=(1, 3))
    hidden = np.maximum(layer.ravel() @ weights["hidden"] + weights["hidden_offset"], 0)
    assert ours[0] == pytest.approx(hidden @ weights["code"] + weights["code_offset"], abs=1e-4)  # 32-bit sums


def test_learning_stops_early_and_keeps_the_best_held_out_epoch() -> None:
    seen: list[Epoch] = []
    noise = np.random.default_rng(1).integers(0, 3, 240)  # nothing to learn: the held-out loss soon rises
    DSH(8, epochs=200, batch=50, patience=3, watch=seen.append).fit(VECTORS, noise)
    assert len(seen) < 60
    losses = [epoch.held_out for epoch in seen]
    assert np.argmin(losses) == len(seen) - 1 - 3
    assert [epoch.number for epoch in seen] == list(range(1, len(seen) + 1))


def test_without_a_held_out_part_the_loss_on_all_items_judges_the_epochs() -> None:
    seen: list[Epoch] = []
    DSH(8, epochs=3, batch=240, hold_out=False, watch=seen.append).fit(VECTORS, LABELS)  # one step needs all of them
    assert [(epoch.held_out, epoch.judged == epoch.loss) for epoch in seen] == [(None, True)] * 3


def test_an_interrupted_run_goes_on_to_the_same_codes(tmp_path: Path) -> None:
    straight = DSH(8, epochs=6, batch=50).fit(VECTORS, LABELS).project(VECTORS)

    class PulledPlug(Exception):
        pass

    def pull(epoch: Epoch) -> None:
        if epoch.number == 3:
            raise PulledPlug

    begun = DSH(8, epochs=6, batch=50, watch=pull, checkpoint=tmp_path / "c.npz")
    with pytest.raises(PulledPlug):
        begun.fit(VECTORS, LABELS)
    seen: list[Epoch] = []
    resumed = DSH(8, epochs=6, batch=50, watch=seen.append, checkpoint=tmp_path / "c.npz").fit(VECTORS, LABELS)
    assert [epoch.number for epoch in seen] == [4, 5, 6]
    assert (resumed.project(VECTORS) == straight).all()
    assert not list(tmp_path.iterdir())


def test_a_run_begun_with_other_settings_is_not_gone_on_with(tmp_path: Path) -> None:
    def pull(epoch: Epoch) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        DSH(8, epochs=6, watch=pull, checkpoint=tmp_path / "c.npz").fit(VECTORS, LABELS)
    with pytest.raises(RelstudyError, match="was begun with other settings or data"):
        DSH(8, epochs=7, checkpoint=tmp_path / "c.npz").fit(VECTORS, LABELS)


@pytest.mark.parametrize("name", DEEP_ENCODERS)
def test_a_saved_encoder_encodes_as_it_did(name: str, tmp_path: Path) -> None:
    encoder = DEEP_ENCODERS[name](9, seed=2, epochs=2).fit(VECTORS, LABELS)
    save_encoder(encoder, tmp_path / "e.npz")
    again = load_encoder(tmp_path / "e.npz", deep=True)
    assert again == encoder
    assert (again.project(VECTORS) == encoder.project(VECTORS)).all()


def test_other_files_are_not_taken_for_encoders(tmp_path: Path) -> None:
    with pytest.raises(RelstudyError, match="file not found"):
        load_encoder(tmp_path / "none.npz", deep=True)
    (tmp_path / "text.npz").write_text("hello")
    np.savez(tmp_path / "other.npz", header=np.array("[1]"))
    np.savez(tmp_path / "pickled.npz", header=np.array([{}], dtype=object))
    for name in ("text", "other", "pickled"):
        with pytest.raises(RelstudyError, match="this is not a deep encoder"):
            load_encoder(tmp_path / f"{name}.npz", deep=True)
    save_encoder(DSH(4, epochs=1).fit(VECTORS, LABELS), tmp_path / "good.npz")
    with np.load(tmp_path / "good.npz") as good:
        arrays = dict(good)
    newer = np.array(str(arrays["header"]).replace('"version": 1', '"version": 2'))
    np.savez(tmp_path / "newer.npz", **{**arrays, "header": newer})
    with pytest.raises(RelstudyError, match="version 2 of the deep encoder is not known here"):
        load_encoder(tmp_path / "newer.npz", deep=True)
    np.savez(tmp_path / "nan.npz", **{**arrays, "mean": arrays["mean"] * np.float32(np.nan)})
    with pytest.raises(RelstudyError, match="holds finite 32-bit numbers"):
        load_encoder(tmp_path / "nan.npz", deep=True)
    np.savez(tmp_path / "cut.npz", **{name: array for name, array in arrays.items() if name != "weights_code"})
    with pytest.raises(RelstudyError, match="this is not a deep encoder"):
        load_encoder(tmp_path / "cut.npz", deep=True)


def test_standardising_in_blocks_is_the_mean_and_deviation_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relstudy.analysis.hashing.encoders.deep.items.ROWS", 7)
    vectors = np.c_[VECTORS, np.full(240, 3.0)]
    standard = Standard.of(vectors)
    assert standard.mean == pytest.approx(vectors.mean(axis=0), rel=1e-6)  # float32
    assert standard.scale == pytest.approx(np.r_[VECTORS.std(axis=0), 1.0], rel=1e-6)


def test_what_cannot_be_learned_from_or_encoded_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RelstudyError, match="DSH learns from labels"):
        DSH(8).fit(VECTORS)
    with pytest.raises(RelstudyError, match="3 labels do not fit 240 training vectors"):
        DSH(8).fit(VECTORS, np.arange(3))
    with pytest.raises(RelstudyError, match=r"learns from one class for each item, not from \(240, 2\)"):
        DSH(8).fit(VECTORS, np.stack([LABELS, LABELS], axis=1))
    with pytest.raises(RelstudyError, match=r"a class, or a class and a superclass, for each item, not \(240, 3\)"):
        DispersedDSH(8).fit(VECTORS, np.zeros((240, 3)))
    with pytest.raises(RelstudyError, match="finite numbers whose squares can be added up"):
        DSH(8).fit(VECTORS * 1e200, LABELS)
    with pytest.raises(RelstudyError, match=r"sides that 8 divides; this array has \(240, 10, 10, 3\)"):
        DSH(8).fit(np.zeros((240, 10, 10, 3)), LABELS)
    with pytest.raises(RelstudyError, match="the loss is no longer a number in epoch"):
        DSH(8, learning_rate=1e30).fit(VECTORS, LABELS)
    fitted = DSH(8, epochs=1).fit(VECTORS, LABELS)
    with pytest.raises(RelstudyError, match=r"items of the shape \(n, 8\) are needed, this array has \(5, 3\)"):
        fitted.encode(np.ones((5, 3)))
    monkeypatch.setattr(encoders, "find_spec", lambda name: None)
    with pytest.raises(RelstudyError, match=r"deep encoders need JAX and optax: pip install 'relstudy\[deep\]'"):
        DSH(8).fit(VECTORS, LABELS)


def test_vectors_that_are_all_equal_still_get_codes() -> None:
    encoder = DSH(4, epochs=2).fit(np.ones((20, 5)), np.arange(20) % 2)
    assert len(np.unique(encoder.encode(np.ones((3, 5))).columns)) == 1


def test_a_hash_layer_alone_is_learned_on_features_and_kept(tmp_path: Path) -> None:
    """hidden = 0: what Jiang, Li and Li (2019, Eq. 4) put in place of a trained network's last layer."""
    encoder = MDSH(8, hidden=0, epochs=30, batch=60, shift=0).fit(VECTORS, LABELS)
    assert set(encoder.weights_) == {"code", "code_offset"}
    layer = encoder.standard_(VECTORS) @ encoder.weights_["code"] + encoder.weights_["code_offset"]
    assert encoder.project(VECTORS) == pytest.approx(layer, abs=1e-4)  # 32-bit sums
    distances = encoder.encode(VECTORS).distances(encoder.encode(VECTORS))
    same = LABELS[:, None] == LABELS[None]
    assert distances[same].mean() < 0.4 * distances[~same].mean()
    save_encoder(encoder, tmp_path / "e.npz")
    assert (load_encoder(tmp_path / "e.npz", deep=True).project(VECTORS) == encoder.project(VECTORS)).all()
