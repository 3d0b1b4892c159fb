"""Baselines on scikit-learn's digits: the order the literature reports, and only training data learned from."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.linalg import orthogonal_procrustes
from sklearn.decomposition import PCA

from relstudy.analysis.hashing.codes.packed import Codes
from relstudy.analysis.hashing.demonstration import baselines, extended, extension_tables
from relstudy.analysis.hashing.encoders import ENCODERS, base
from relstudy.analysis.hashing.encoders.projections import ITQ, LSH
from relstudy.analysis.hashing.encoders.spherical import _inside
from relstudy.analysis.hashing.metrics.health import code_health
from relstudy.analysis.hashing.metrics.lgap import UniqueCodes
from relstudy.common.runtime.errors import RelstudyError
from tests.commands import succeeds


@pytest.fixture(scope="module")
def figures() -> dict[str, dict[str, float]]:
    return baselines(encoders=ENCODERS)


@pytest.mark.slow
def test_itq_is_above_pca_hashing_and_lsh_and_supervised_codes_far_above(figures) -> None:
    assert figures["itq"]["mAP"] > figures["lsh"]["mAP"] + 0.1
    assert figures["lsh"]["mAP"] > figures["pcah"]["mAP"] + 0.1
    assert figures["itq"]["mAP"] > figures["pca-rr"]["mAP"] + 0.05
    assert figures["ksh"]["mAP"] > figures["itq"]["mAP"] + 0.2
    assert figures["grh"]["mAP"] > figures["itq"]["mAP"]


@pytest.mark.slow
def test_every_encoder_is_far_above_chance(figures) -> None:
    # Ten balanced classes: a random ranking has a mean average precision of about 0.1.
    assert all(row["mAP"] > 0.2 for row in figures.values())


@pytest.mark.slow
def test_higher_average_precision_comes_with_poorer_utilisation_as_ding_li_and_li_find(figures) -> None:
    unsupervised = [name for name in ENCODERS if not ENCODERS[name].supervised]
    for name in ("ksh", "grh"):
        assert figures[name]["mAP"] > max(figures[other]["mAP"] for other in unsupervised)
        assert figures[name]["utilisation"] < min(figures[other]["utilisation"] for other in unsupervised)


@pytest.mark.parametrize("name", ENCODERS)
def test_a_code_depends_on_the_seed_and_the_training_data_alone(name: str) -> None:
    rng = np.random.default_rng(1)
    training, labels, fresh = rng.standard_normal((120, 10)), rng.integers(0, 3, 120), rng.standard_normal((30, 10))
    first, second = (ENCODERS[name](8, seed=5).fit(training, labels) for _ in range(2))
    together = first.encode(np.vstack([fresh, 50 * fresh])).unpacked()[:30]
    assert (second.encode(fresh).unpacked() == together).all()
    assert first.encode(fresh).bits == 8


@pytest.mark.slow
@pytest.mark.parametrize("name", ["lsh", "sh", "sklsh", "spherical", "ksh", "grh"])
def test_codes_may_be_longer_than_the_vectors(name: str) -> None:
    rng = np.random.default_rng(2)
    encoder = ENCODERS[name](24).fit(rng.standard_normal((100, 6)), rng.integers(0, 3, 100))
    assert encoder.encode(rng.standard_normal((5, 6))).bits == 24


def test_principal_directions_cannot_outnumber_the_vectors_numbers() -> None:
    with pytest.raises(RelstudyError, match="need vectors of at least 24 numbers"):
        ITQ(24).fit(np.random.default_rng(0).standard_normal((50, 6)))


def test_the_quantisation_loss_of_itq_never_rises() -> None:
    encoder = ITQ(8).fit(np.random.default_rng(3).standard_normal((300, 12)))
    assert (np.diff(encoder.losses_) <= 1e-9).all()  # rounding of sums of a few thousand squares


def test_a_random_hyperplane_separates_two_vectors_with_probability_angle_over_pi() -> None:
    vectors = np.array([[1.0, 0.0], [np.cos(0.9), np.sin(0.9)]])
    mirrored = np.vstack([vectors, -vectors])
    distance = LSH(20_000).fit(mirrored).encode(vectors)
    share = distance.distances(distance)[0, 1] / 20_000
    assert share == pytest.approx(0.9 / np.pi, abs=0.014)  # four binomial standard errors at 20,000 bits


def test_each_hypersphere_holds_half_of_the_training_data() -> None:
    vectors = np.random.default_rng(4).standard_normal((400, 8))
    encoder = ENCODERS["spherical"](6).fit(vectors)
    assert np.allclose(encoder.encode(vectors).unpacked().mean(axis=0), 0.5, atol=0.01)
    inside, _ = _inside(vectors, encoder.pivots_)
    shared = inside.T.astype(float) @ inside / 400
    assert np.abs(shared[np.triu_indices(6, 1)] - 0.25).mean() < 0.03  # the stopping rule is 10 % of a quarter


@pytest.fixture(scope="module")
def cloud() -> np.ndarray:
    rng = np.random.default_rng(12)
    return rng.standard_normal((500, 9)) @ rng.standard_normal((9, 9)) + rng.standard_normal(9)


def test_pcah_is_the_sign_of_scikit_learns_principal_components(cloud) -> None:
    oracle = Codes.from_signs(PCA(5).fit(cloud[:400]).transform(cloud))
    ours = ENCODERS["pcah"](5).fit(cloud[:400]).encode(cloud)
    # A component's sign is a convention; distances do not hang on it.
    assert (ours.distances(ours) == oracle.distances(oracle)).all()


def test_pca_rr_turns_the_principal_components_rigidly(cloud) -> None:
    components = PCA(5).fit(cloud).transform(cloud)
    turned = ENCODERS["pca-rr"](5, seed=3).fit(cloud).project(cloud)
    assert np.allclose(turned @ turned.T, components @ components.T, atol=1e-8)
    assert not np.allclose(np.abs(turned), np.abs(components), atol=0.1)


def test_itq_ends_where_its_rotation_is_the_procrustes_solution_for_its_own_codes(cloud) -> None:
    encoder = ITQ(4, iterations=500).fit(cloud)
    turned = encoder.project(cloud)
    components = PCA(4).fit(cloud).transform(cloud)
    rotation, _ = orthogonal_procrustes(components, np.where(turned > 0, 1.0, -1.0))
    assert np.allclose(components @ rotation, turned, atol=1e-8)


def test_spectral_hashing_takes_the_smoothest_sines_of_a_box() -> None:
    """A box of 4 by 1.1: the smallest (k / w) are 1/4, 2/4, 3/4 along the first side, 1/1.1 along the second, 4/4."""
    first, second = (np.linspace(0, width, 41) for width in (4.0, 1.1))
    box = np.array([(x, y) for x in first for y in second])
    encoder = ENCODERS["sh"](5).fit(box)
    sines = [np.sin(np.pi / 2 + k * np.pi / width * box[:, side]) for k, width, side in
             ((1, 4, 0), (2, 4, 0), (3, 4, 0), (1, 1.1, 1), (4, 4, 0))]  # fmt: skip
    for ours, oracle in zip(encoder.project(box).T, sines, strict=True):
        same = np.abs(ours - oracle).max() < 1e-9
        mirrored = np.abs(ours + oracle).max() < 1e-9  # an odd mode seen from the box's other end
        assert same or mirrored


@pytest.mark.parametrize("apart", [0.3, 1.0, 4.0])
def test_sklsh_bits_differ_with_the_probability_of_raginsky_and_lazebnik(apart: float) -> None:
    """P = 8/pi^2 sum over m of (1 - K(m u)) / (4 m^2 - 1) for the Gaussian kernel K of width w."""
    bits, width = 20_000, 1.5
    encoder = ENCODERS["sklsh"](bits, width=width).fit(np.eye(3))
    pair = encoder.encode(np.array([[0.2, 0.1, 0.4], [0.2 + apart, 0.1, 0.4]]))
    m = np.arange(1, 2000)
    chance = 8 / np.pi**2 * ((1 - np.exp(-((m * apart) ** 2) / (2 * width**2))) / (4 * m**2 - 1)).sum()
    share = pair.distances(pair)[0, 1] / bits
    assert share == pytest.approx(chance, abs=4 * np.sqrt(chance * (1 - chance) / bits))  # four standard errors


@pytest.fixture(scope="module")
def classes() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 4, 240)
    return rng.standard_normal((4, 8))[labels] * 1.5 + rng.standard_normal((240, 8)), labels


def test_ksh_fits_inner_products_of_codes_to_shared_classes_better_than_any_unsupervised_code(classes) -> None:
    vectors, labels = classes
    wanted = np.where(labels[:, None] == labels[None], 1.0, -1.0)

    def misfit(name: str) -> float:
        signs = np.where(ENCODERS[name](8).fit(vectors, labels).encode(vectors).unpacked(), 1.0, -1.0)
        return float(((signs @ signs.T / 8 - wanted) ** 2).mean())

    assert misfit("ksh") < 0.6 * min(misfit(name) for name in ("lsh", "pcah", "itq", "sh", "spherical"))


def test_grh_smooths_over_classes_by_alpha(classes) -> None:
    """At alpha 0 the hyperplanes learn the first bits; at 1 every class votes, and its members agree."""
    vectors, labels = classes
    first = ITQ(8).fit(vectors).encode(vectors).unpacked()
    alone, voted = (ENCODERS["grh"](8, alpha=alpha, rounds=1).fit(vectors, labels) for alpha in (0.0, 1.0))
    assert (alone.encode(vectors).unpacked() == first).mean() > 0.97  # soft margins leave points near the planes
    votes = np.array([first[labels == label].mean(axis=0) > 0.5 for label in range(4)])
    assert (voted.encode(vectors).unpacked() == votes[labels]).mean() > 0.95


def test_encoders_refuse_what_they_cannot_learn_from_or_encode() -> None:
    with pytest.raises(RelstudyError, match="KSH learns from labels"):
        ENCODERS["ksh"](8).fit(np.eye(10))
    with pytest.raises(RelstudyError, match="3 labels do not fit 10 training vectors"):
        ENCODERS["ksh"](8).fit(np.eye(10), np.arange(3))
    with pytest.raises(RelstudyError, match=r"at least two vectors in the shape \(n, D\); this array has \(1, 4\)"):
        LSH(8).fit(np.ones((1, 4)))
    for bad in (np.nan, np.inf, 1e200):
        with pytest.raises(
            RelstudyError, match=r"row 0 .*finite numbers are|finite numbers whose squares can be added"
        ):
            LSH(8).fit(np.array([[1.0, bad], [0.0, 1.0]]))
    with pytest.raises(RelstudyError, match=r"shape \(n, 10\) are needed, this array has \(2, 3\)"):
        LSH(8).fit(np.eye(10)).encode(np.ones((2, 3)))


def test_vectors_are_encoded_in_blocks_that_change_nothing(monkeypatch) -> None:
    vectors = np.random.default_rng(0).standard_normal((50, 6))
    encoder = LSH(70).fit(vectors)
    whole = encoder.encode(vectors).columns
    monkeypatch.setattr(base, "BLOCK", 7)
    assert (encoder.encode(vectors).columns == whole).all()


@pytest.mark.parametrize("name", ENCODERS)
def test_vectors_that_are_all_equal_still_get_codes(name: str) -> None:
    encoder = ENCODERS[name](4).fit(np.ones((20, 5)), np.arange(20) % 2)
    assert len(np.unique(encoder.encode(np.ones((3, 5))).columns)) == 1


@pytest.mark.slow
def test_ranking_measures_do_not_see_the_same_extension_but_ramap_does() -> None:
    tables = extension_tables(8)
    lsh, same, different = tables["LSH"], tables["LSHSE s=8"], tables["LSHDE s=1"]
    assert same["precision"] == lsh["precision"]
    assert same["recall"] == lsh["recall"]
    for other in (same, different):  # the sums run over tables of other widths: equal but for rounding
        assert other["map_at_k"] == pytest.approx(lsh["map_at_k"], abs=1e-12)
    for radius in range(1, 9):
        assert lsh["ramap"][radius] > same["ramap"][radius] > different["ramap"][radius]


def test_extension_moves_every_distance_by_nothing_or_by_its_length() -> None:
    codes = Codes.from_bits(np.random.default_rng(5).random((20, 12)) < 0.5)
    plain = codes.distances(codes)
    for same, shift in ((True, 0), (False, 5)):
        first, second = extended(codes, codes, 5, same=same)
        assert (first.distances(second) == plain + shift).all()


def test_code_health_of_a_perfect_and_a_collapsed_code() -> None:
    perfect = code_health(UniqueCodes.of(Codes.from_bits(np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=bool))))
    assert (perfect.utilisation, perfect.collisions, perfect.entropy, perfect.bit_balance) == (1.0, 0, 2.0, 0.0)
    few = code_health(UniqueCodes.of(Codes.from_bits(np.eye(8, dtype=bool))))
    assert few.utilisation == 1.0  # eight points cannot use more than eight of the 256 codes
    collapsed = code_health(UniqueCodes.of(Codes.from_bits(np.zeros((4, 2), dtype=bool))))
    assert (collapsed.utilisation, collapsed.collisions, collapsed.entropy, collapsed.bit_balance) == (
        0.25,
        4,
        0.0,
        0.5,
    )


@pytest.mark.slow
def test_encode_count_compare_and_health_chain_on_the_command_line(tmp_path) -> None:
    rng = np.random.default_rng(6)
    centres = rng.standard_normal((3, 8))
    for name, size in (("train", 100), ("query", 20), ("base", 150)):
        labels = rng.integers(0, 3, size)
        np.save(tmp_path / f"{name}.npy", centres[labels] + 0.5 * rng.standard_normal((size, 8)))
        np.save(tmp_path / f"{name}_labels.npy", labels)

    def run(*arguments: object) -> str:
        result = succeeds("hash", *arguments)
        return result.stdout

    for name in ("lsh", "itq"):
        pairs = [
            part
            for file in ("query", "base")
            for part in ("--encode", tmp_path / f"{file}.npy", tmp_path / f"{name}_{file}.npy")
        ]
        run("encode", name, "--bits", 8, "--train", tmp_path / "train.npy", *pairs)
        run(
            *("count", "--queries", tmp_path / f"{name}_query.npy", "--database", tmp_path / f"{name}_base.npy"),
            *("--query-labels", tmp_path / "query_labels.npy", "--database-labels", tmp_path / "base_labels.npy"),
            *("-o", tmp_path / f"{name}.npz"),
        )
    result = json.loads(run("compare", tmp_path / "lsh.npz", tmp_path / "itq.npz", "--json"))
    difference = result["comparisons"][0]["map_difference"]
    first, second = (result["systems"][name]["map"]["expected"] for name in ("lsh", "itq"))
    assert difference["value"] == pytest.approx(first - second, abs=1e-12)
    assert difference["low"] <= difference["value"] <= difference["high"]
    more = ("--queries", tmp_path / "itq_query.npy", "--table", tmp_path / "itq.npz")
    health = json.loads(run("health", tmp_path / "itq_base.npy", *more, "--figure", tmp_path / "codes.svg", "--json"))
    assert health["points"] == 150
    assert 0 < health["mlgap_2_paper"] <= health["mlgap_2_attainable"] <= 1
    assert (tmp_path / "codes.svg").read_text().startswith("<svg")
    looked = json.loads(run("buckets", tmp_path / "itq.npz", "--bits", 4, "--tables", 2, "--json"))
    assert 0 < looked["precision"] <= 1
