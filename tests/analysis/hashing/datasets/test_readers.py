"""Published data sets, read from files made here by the formats' own definitions."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat
from sklearn.decomposition import PCA

from relstudy.analysis.hashing.datasets.dataset_arrays import TABLE_3_1, unit_length
from relstudy.analysis.hashing.datasets.readers import READERS
from relstudy.analysis.hashing.truth.relevance import load_truth
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.formats.array_files import load_array
from tests.commands import succeeds

RNG = np.random.default_rng(5)


def vecs(path: Path, rows: list[list[float]], number: str) -> None:
    """Length as little-endian int, then the numbers."""
    path.write_bytes(b"".join(struct.pack(f"<i{len(row)}{number}", len(row), *row) for row in rows))


@pytest.mark.parametrize(("ending", "number"), [("fvecs", "f"), ("ivecs", "i"), ("bvecs", "B")])
def test_vectors_of_the_sift_formats_are_what_was_packed(tmp_path: Path, ending: str, number: str) -> None:
    vecs(tmp_path / f"x.{ending}", [[1, 2, 3], [4, 5, 200]], number)
    array = load_array(str(tmp_path / f"x.{ending}"))
    assert array.tolist() == [[1, 2, 3], [4, 5, 200]]


@pytest.mark.parametrize(
    ("octets", "sentence"),
    [
        (b"", "0 bytes are no whole number of vectors of 0 numbers"),
        (struct.pack("<i2f", 2, 1, 2)[:-1], "11 bytes are no whole number of vectors of 2 numbers"),
        (struct.pack("<i2fi2f", 2, 1, 2, 1, 1, 2), r"vector 1 \(counted from 0\): its length is 1, the first one's 2"),
    ],
)
def test_broken_vectors_are_refused_in_a_sentence(tmp_path: Path, octets: bytes, sentence: str) -> None:
    (tmp_path / "x.fvecs").write_bytes(octets)
    with pytest.raises(RelstudyError, match=sentence):
        load_array(str(tmp_path / "x.fvecs"))


def test_sift1m_gives_its_parts_and_its_neighbours(tmp_path: Path) -> None:
    for part, rows in (("base", 5), ("learn", 3), ("query", 2)):
        vecs(tmp_path / f"sift_{part}.fvecs", RNG.integers(0, 9, (rows, 4)).tolist(), "f")
    vecs(tmp_path / "sift_groundtruth.ivecs", [[4, 0], [1, 2]], "i")
    out = tmp_path / "out"
    result = succeeds("hash", "data", "sift1m", tmp_path, "-o", out)
    assert load_truth(out / "truth.npz").of(0).tolist() == [0, 4]
    assert np.load(out / "base.npy").shape == (5, 4)
    assert "1,000,000" in result.output  # what table 3.1 prints, beside what is here
    vecs(tmp_path / "sift_groundtruth.ivecs", [[4, 0], [1, 5]], "i")
    with pytest.raises(RelstudyError, match="rows of the 5 base vectors for 2 queries"):
        READERS["sift1m"](str(tmp_path))


def test_labelme_is_the_array_gist_of_its_file(tmp_path: Path) -> None:
    savemat(tmp_path / "LabelMe_gist.mat", {"gist": np.eye(3, 4), "img": np.zeros((2, 2, 3, 3))})
    assert READERS["labelme"](str(tmp_path)).arrays["vectors"].tolist() == np.eye(3, 4).tolist()


def cifar(path: Path, labels: np.ndarray, pictures: np.ndarray) -> None:
    """Labels, then 1,024 red, 1,024 green and 1,024 blue bytes, row by row."""
    path.write_bytes(
        np.concatenate([labels, pictures.transpose(0, 3, 1, 2).reshape(len(labels), -1)], axis=1).tobytes()
    )


def test_cifar_100_has_classes_in_superclasses_and_pictures_upright(tmp_path: Path) -> None:
    pictures = RNG.integers(0, 256, (3, 32, 32, 3), dtype=np.uint8)
    coarse_and_fine = np.array([[0, 4], [19, 99], [0, 5]], dtype=np.uint8)
    for part in ("train", "test"):
        cifar(tmp_path / f"{part}.bin", coarse_and_fine, pictures)
    data = READERS["cifar-100"](str(tmp_path))
    assert (data.arrays["train_pictures"] == pictures).all()
    assert data.arrays["test_labels"].tolist() == [4, 99, 5]
    assert data.arrays["test_superclasses"].tolist() == [0, 19, 0]
    cifar(tmp_path / "test.bin", np.array([[0, 4], [1, 4], [0, 5]], dtype=np.uint8), pictures)
    with pytest.raises(RelstudyError, match="class 4 of the test part is in two superclasses"):
        READERS["cifar-100"](str(tmp_path))


def test_cifar_10_joins_its_batches_and_refuses_a_class_it_does_not_have(tmp_path: Path) -> None:
    picture = RNG.integers(0, 256, (1, 32, 32, 3), dtype=np.uint8)
    for name, label in [*((f"data_batch_{n}.bin", n) for n in range(1, 6)), ("test_batch.bin", 9)]:
        cifar(tmp_path / name, np.array([[label]], dtype=np.uint8), picture)
    data = READERS["cifar-10"](str(tmp_path))
    assert data.arrays["train_labels"].tolist() == [1, 2, 3, 4, 5]
    assert data.statistics()["labels_per_image"] == 1
    cifar(tmp_path / "test_batch.bin", np.array([[10]], dtype=np.uint8), picture)
    with pytest.raises(RelstudyError, match=r"row 0 \(counted from 0\): 10 is none of the 10 labels"):
        READERS["cifar-10"](str(tmp_path))


@pytest.fixture
def nus_wide(tmp_path: Path) -> Path:
    (tmp_path / "AllLabels").mkdir()
    for concept, labels in {"sky": "1\n1\n0\n1\n", "dog": "0\n1\n0\n0\n"}.items():
        (tmp_path / "AllLabels" / f"Labels_{concept}.txt").write_text(labels)
    (tmp_path / "BoW_int.dat").write_text("3 4 \n0 5 \n0 0 \n8 6 \n")
    (tmp_path / "Final_Tag_List.txt").write_text("blue\nbark\nfar\n")
    (tmp_path / "All_Tags.txt").write_text("11 blue  far\n12 bark blue blue other\n13 \n14 far\n")
    return tmp_path


def test_nus_wide_has_a_column_a_concept_and_descriptors_of_length_one(nus_wide: Path) -> None:
    out = nus_wide / "out"
    result = succeeds("hash", "data", "nus-wide", nus_wide, "-o", out, "--json")
    assert np.load(out / "labels.npy").tolist() == [[False, True], [True, True], [False, False], [False, True]]
    assert np.load(out / "vectors.npy") == pytest.approx(np.array([[0.6, 0.8], [0, 1], [0, 0], [0.8, 0.6]]))
    told = json.loads(result.stdout)
    assert told["statistics"] | {"labels_per_image": 1, "images_per_label": 2} == told["statistics"]
    assert told["table_3_1"]["images_per_label"] == TABLE_3_1["nus-wide"][3]


def test_the_tags_of_nus_wide_become_principal_components_of_all_pictures(nus_wide: Path) -> None:
    data = READERS["nus-wide-tags"](str(nus_wide))
    table = np.array([[1, 0, 1], [1, 1, 0], [0, 0, 0], [0, 0, 1]])
    oracle = PCA(3).fit_transform(table)[[0, 1, 3]]  # the third picture has none of the concepts
    ours = data.arrays["tags"]
    assert ours @ ours.T == pytest.approx(oracle @ oracle.T, abs=1e-6)  # a component's sign is free; 32-bit floats


def test_wiki_pairs_pictures_with_texts(tmp_path: Path) -> None:
    views = {"I_tr": np.eye(2, 3), "T_tr": np.ones((2, 2)), "I_te": np.eye(2, 3), "T_te": np.ones((2, 2))}
    savemat(tmp_path / "raw_features.mat", views)
    (tmp_path / "trainset_txt_img_cat.list").write_text("a\tb\t3\nc\td\t10\n")
    (tmp_path / "testset_txt_img_cat.list").write_text("e\tf\t1\n")
    with pytest.raises(RelstudyError, match="has 2 rows in I_te, the list has 1"):
        READERS["wiki"](str(tmp_path))
    (tmp_path / "testset_txt_img_cat.list").write_text("e\tf\t1\ng\th\t2\n")
    data = READERS["wiki"](str(tmp_path))
    assert data.arrays["train_labels"].tolist() == [3, 10]
    assert data.arrays["train_texts"].shape == (2, 2)


def test_vectors_of_length_one() -> None:
    vectors = np.array([[3.0, 4.0], [0.0, 0.0], [1e200, 1e200], [1e-200, 0.0]])
    lengths = np.linalg.norm(unit_length(vectors), axis=1)
    assert lengths == pytest.approx([1, 0, 1, 1])


@pytest.mark.parametrize(
    ("option", "lengths"), [("--unit-length", [1, 1]), ("--no-unit-length", [5, 13]), ("", [5, 13])]
)
def test_the_option_for_vectors_of_length_one_is_off_but_for_nus_wide(
    tmp_path: Path, option: str, lengths: list[float]
) -> None:
    np.save(tmp_path / "mine.npy", np.array([[3.0, 4.0], [5.0, 12.0]]))
    words = ["hash", "data", "vectors", str(tmp_path / "mine.npy"), "-o", str(tmp_path / "out"), *option.split()]
    succeeds(*words)
    [written] = (tmp_path / "out").glob("*.npy")
    assert np.linalg.norm(np.load(written), axis=1) == pytest.approx(lengths)


def test_a_missing_file_is_named() -> None:
    with pytest.raises(RelstudyError, match=r"no file LabelMe_gist.mat in this folder"):
        READERS["labelme"]("nowhere")
