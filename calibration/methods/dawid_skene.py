"""Raters' error rates by category, and each pair's class, by maximum likelihood (Dawid and Skene 1979).

A pair is of class t with probability p_t, and rater j answers k with probability pi_jtk; expectation and maximisation
alternate from the shares of answers (their equations 2.3 to 2.5 and 3.1).
"""

from __future__ import annotations

import numpy as np

from relstudy.calibration.methods.by_category import ByCategory, Votes, by_class, categories_of, settled
from relstudy.calibration.panel import Panel

LEAST = 1e-10
"""Chance of an answer that a rater never gave: no logarithm of 0, and no digit that is shown."""


def dawid_skene(panel: Panel) -> ByCategory:
    """Each rating as the category to expect of its pair, by the error rates of its rater.

    Raises
    ------
    RelstudyError
        if there are fewer than 2 or more than 20 distinct ratings

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"rater_id": list("abc") * 4, "pair_id": list("pppqqqrrrsss"),
    ...                       "rating": [1, 1, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0]})
    >>> fitted = dawid_skene(Panel.from_frame(frame))
    >>> fitted.of_raters["accuracy"].round(2).tolist(), fitted.of_pairs["consensus"].tolist()
    ([1.0, 1.0, 0.5], [1.0, 0.0, 1.0, 0.0])
    """
    decided = panel.decided()
    categories, code = categories_of(decided, "dawid-skene")
    votes = Votes.of(decided, code, len(categories))
    classes = settled(votes.shares, lambda classes: votes.classes(*_maximised(votes, classes)))
    chances, prior = _maximised(votes, classes)
    accuracy = np.einsum("jtt,t->j", chances, prior)
    return by_class("dawid-skene", decided, code, (classes, chances, prior), {"accuracy": accuracy})


def _maximised(votes: Votes, classes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Error rates (R, K answers, K classes) and shares of classes (K); rates of who saw none of a class are alike."""
    expected = votes.expected(classes)
    total = expected.sum(axis=1, keepdims=True)
    chances = np.where(total > 0, expected / np.where(total > 0, total, 1.0), 1 / len(classes[0]))
    rated = np.asarray(votes.counts.sum(axis=1)).ravel() > 0
    return np.maximum(chances, LEAST), classes[rated].mean(axis=0)
