"""Classes among codes, and codes of two kinds of descriptors, from arrays, for `rs.hashing`."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pandas as pd

from relstudy.analysis.hashing.codes.arrays import plain_array
from relstudy.analysis.hashing.codes.code_arrays import codes_of
from relstudy.analysis.hashing.codes.packed import Codes
from relstudy.analysis.hashing.encoders.cross_modal import CrossModal
from relstudy.analysis.hashing.metrics import class_distances as measured
from relstudy.analysis.hashing.truth.labels import Labels, labels_of
from relstudy.common.arguments import check_arguments


def class_distances(codes: Codes | np.ndarray, labels: Labels | np.ndarray | list[str]) -> pd.DataFrame:
    """How far codes of a class lie apart and how near others come (Ding, Li and Li 2018, Eq. 7 and 8).

    Parameters
    ----------
    codes : n of them, as `count` takes them
    labels : one class for each

    Returns
    -------
    One row a class, which is the index: points, codes, diameter (h_s), nearest (h_d), perfect (share of points with an
    average precision of 1), apart (whether h_s < h_d)

    Raises
    ------
    RelstudyError
        where there are not as many labels as codes, or no labels

    Examples
    --------
    >>> class_distances(np.array([[0, 0, 0], [0, 0, 1], [1, 1, 1]]), ["dog", "dog", "cat"]).diameter.to_dict()
    {'cat': 0, 'dog': 1}
    """
    check_arguments(class_distances, locals())
    read = codes if isinstance(codes, Codes) else codes_of(plain_array(codes, "codes"), "codes")
    known = labels if isinstance(labels, Labels) else labels_of(labels, names=("labels",))[0]
    named = () if isinstance(labels, Labels) or known.classes is None else np.unique(np.asarray(labels)).tolist()
    rows = [{**asdict(each), "apart": each.apart} for each in measured.class_distances(read, known, named)]
    return pd.DataFrame(rows).set_index("name")


def cross_modal(first: np.ndarray, second: np.ndarray, bits: int) -> CrossModal:
    """Codes for two kinds of descriptors of the same items, learned together, as `relstudy hash cross-modal` does.

    Parameters
    ----------
    first, second : descriptors (n, D1) and (n, D2)
    bits : code length, at most the smaller of D1 and D2

    Returns
    -------
    CrossModal: `.first.encode(vectors)` and `.second.encode(vectors)` give codes that can be counted with one another

    Raises
    ------
    RelstudyError
        where items, bits or numbers do not fit: as many items of both kinds, bits from 1 to the shorter descriptor

    Examples
    --------
    >>> vectors = np.random.default_rng(0).standard_normal((50, 4))
    >>> encoder = cross_modal(vectors, vectors[:, ::-1], bits=2)
    >>> bool((encoder.first.encode(vectors).columns == encoder.second.encode(vectors[:, ::-1]).columns).all())
    True
    """
    check_arguments(cross_modal, locals())
    return CrossModal(bits).fit(first, second)
