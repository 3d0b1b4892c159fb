"""Folds by query: pairs of one query never stand on both sides."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from relstudy.common.runtime.errors import RelstudyError


def folds_by_group(groups: ArrayLike, folds: int, seed: int = 0) -> np.ndarray:
    """The fold of each pair, 0 to folds - 1; whole groups, shuffled by seed, sizes equal to within one group.

    Parameters
    ----------
    groups : group (query) of each pair, shape (n,); the assignment does not depend on the order of the pairs
    folds : number of folds; if there are fewer groups, each group is a fold

    Examples
    --------
    >>> fold = folds_by_group(["a", "a", "b", "c"], 3)
    >>> sorted(set(fold.tolist())), bool(fold[0] == fold[1])
    ([0, 1, 2], True)
    """
    if folds < 2:
        raise RelstudyError(f"cross-validation needs at least 2 folds, not {folds}")
    names, inverse = np.unique(np.asarray(groups), return_inverse=True)
    fold_of = np.empty(len(names), dtype=int)
    fold_of[np.random.default_rng(seed).permutation(len(names))] = np.arange(len(names)) % folds
    return np.asarray(fold_of[inverse])
