"""Each published data set by its name; LabelMe, SIFT1M, Wiki and vectors of one's own need no more than a file."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from relstudy.analysis.hashing.codes.arrays import load_array, text_lines
from relstudy.analysis.hashing.datasets.cifar import read_cifar_10, read_cifar_100
from relstudy.analysis.hashing.datasets.nus_wide import read_nus_wide, read_nus_wide_tags
from relstudy.analysis.hashing.datasets.published import Published, one_file
from relstudy.analysis.hashing.truth.relevance import ListedTruth
from relstudy.common.errors import RelstudyError


def read_labelme(folder: str) -> Published:
    """LabelMe_gist.mat, whose array `gist` has a descriptor of 512 numbers a picture (Torralba et al. 2008)."""
    vectors = load_array(f"{one_file(folder, 'LabelMe_gist.mat')}:gist")
    return Published({"vectors": vectors}, len(vectors), vectors.shape[1])


def read_sift1m(folder: str) -> Published:
    """sift_base.fvecs, sift_learn.fvecs, sift_query.fvecs and sift_groundtruth.ivecs (Jegou, Douze and Schmid 2011).

    The truth lists the base vectors that the last file names for each query.
    """
    parts = {part: load_array(str(one_file(folder, f"sift_{part}.fvecs"))) for part in ("base", "learn", "query")}
    listed = load_array(str(one_file(folder, "sift_groundtruth.ivecs")))
    base, queries = len(parts["base"]), len(parts["query"])
    if len(listed) != queries or listed.min() < 0 or listed.max() >= base:
        raise RelstudyError(
            f"{folder}: sift_groundtruth.ivecs must list rows of the {base} base vectors for {queries} queries"
        )
    truth = ListedTruth.from_lists(list(listed), base, f"{listed.shape[1]} nearest neighbours as published")
    return Published(parts, base, parts["base"].shape[1], truth=truth)


def read_wiki(folder: str) -> Published:
    """Wikipedia articles (Rasiwasia et al. 2010): raw_features.mat and the lists of their categories.

    I_tr, T_tr, I_te and T_te hold a row an article, of the picture and of the text; trainset_txt_img_cat.list and
    testset_txt_img_cat.list name text, picture and category.
    """
    file = one_file(folder, "raw_features.mat")
    arrays: dict[str, np.ndarray] = {}
    for part, short in (("train", "tr"), ("test", "te")):
        lines = [line.split() for line in text_lines(str(one_file(folder, f"{part}set_txt_img_cat.list"))) if line]
        if not all(len(line) == 3 and line[2].isdigit() for line in lines):
            raise RelstudyError(f"{folder}: a line of {part}set_txt_img_cat.list is no text, picture and category")
        arrays[f"{part}_labels"] = np.array([int(line[2]) for line in lines])
        for name, view in (("pictures", "I"), ("texts", "T")):
            arrays[f"{part}_{name}"] = vectors = load_array(f"{file}:{view}_{short}")
            if len(vectors) != len(lines):
                raise RelstudyError(f"{file} has {len(vectors)} rows in {view}_{short}, the list has {len(lines)}")
    labels = np.concatenate([arrays["train_labels"], arrays["test_labels"]])
    return Published(arrays, len(labels), arrays["train_pictures"].shape[1], labels)


def read_vectors(file: str) -> Published:
    """One file of vectors: .npy, .npz or .mat, .fvecs or .bvecs."""
    vectors = load_array(file)
    if vectors.ndim != 2 or 0 in vectors.shape or vectors.dtype.kind not in "fiu":
        raise RelstudyError(f"{file}: vectors need numbers in the shape (items, D), this array has {vectors.shape}")
    return Published({"vectors": vectors}, len(vectors), vectors.shape[1])


READERS: dict[str, Callable[[str], Published]] = {
    "labelme": read_labelme,
    "cifar-10": read_cifar_10,
    "cifar-100": read_cifar_100,
    "nus-wide": read_nus_wide,
    "nus-wide-tags": read_nus_wide_tags,
    "sift1m": read_sift1m,
    "wiki": read_wiki,
    "vectors": read_vectors,
}
UNIT_LENGTH = ("nus-wide", "nus-wide-tags")
"""Whose descriptors Moran (2016, section 3.2) scales to length one."""
DESCRIPTORS = ("vectors", "base", "learn", "query", "train_pictures", "test_pictures")
"""The arrays that hold descriptors, which can be scaled, where they have two axes."""
