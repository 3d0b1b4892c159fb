"""Baselines on scikit-learn's digits: the order the literature reports, and only training data learned from."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

from analysis.hashing.codes import Codes
from analysis.hashing.digits import baselines, extension_tables
from analysis.hashing.encoders import ENCODERS, ITQ, LSH
from analysis.hashing.encoders.spherical import _inside
from analysis.hashing.extension import extended
from analysis.hashing.health import code_health
from analysis.hashing.lgap import UniqueCodes
from calibration.errors import RelstudyError
from studyapp.cli import main


@pytest.fixture(scope="module")
def figures() -> dict[str, dict[str, float]]:
    runs = [baselines(seed) for seed in range(3)]
    return {name: {key: float(np.mean([run[name][key] for run in runs])) for key in runs[0][name]} for name in ENCODERS}


@pytest.mark.slow
def test_itq_is_above_pca_hashing_and_lsh_and_supervised_codes_far_above(figures) -> None:
    assert figures["itq"]["mAP"] > figures["lsh"]["mAP"] > figures["pcah"]["mAP"]
    assert figures["itq"]["mAP"] > figures["pca-rr"]["mAP"]
    assert figures["ksh"]["mAP"] > figures["itq"]["mAP"] + 0.2
    assert figures["grh"]["mAP"] > figures["itq"]["mAP"]


@pytest.mark.slow
def test_every_encoder_is_far_above_chance(figures) -> None:
    # Ten balanced classes: a random ranking has a mean average precision of about 0.1.
    assert all(row["mAP"] > 0.2 for row in figures.values())


@pytest.mark.slow
def test_higher_average_precision_comes_with_poorer_utilisation_as_paper_001_finds(figures) -> None:
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


def test_supervised_encoders_ask_for_labels() -> None:
    with pytest.raises(RelstudyError, match="KSH learns from labels"):
        ENCODERS["ksh"](8).fit(np.eye(10))


def test_ranking_measures_do_not_see_the_same_extension_but_ramap_does() -> None:
    tables = extension_tables(8)
    lsh, same, different = tables["LSH"], tables["LSHSE s=8"], tables["LSHDE s=1"]
    assert same["precision"] == lsh["precision"]
    assert same["recall"] == lsh["recall"]
    assert same["map_at_k"] == lsh["map_at_k"] == different["map_at_k"]
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
    collapsed = code_health(UniqueCodes.of(Codes.from_bits(np.zeros((4, 2), dtype=bool))))
    assert (collapsed.utilisation, collapsed.collisions, collapsed.entropy, collapsed.bit_balance) == (
        0.25,
        4,
        0.0,
        0.5,
    )


def test_encode_count_compare_and_health_chain_on_the_command_line(tmp_path) -> None:
    rng = np.random.default_rng(6)
    centres = rng.standard_normal((3, 8))
    for name, size in (("train", 100), ("query", 20), ("base", 150)):
        labels = rng.integers(0, 3, size)
        np.save(tmp_path / f"{name}.npy", centres[labels] + 0.5 * rng.standard_normal((size, 8)))
        np.save(tmp_path / f"{name}_labels.npy", labels)

    def run(*arguments: object) -> str:
        result = CliRunner().invoke(main, ["hash", *map(str, arguments)])
        assert result.exit_code == 0, result.output
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
