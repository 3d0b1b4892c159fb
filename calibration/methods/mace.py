"""Raters who know the class of a pair or else guess (MACE: Hovy, Berg-Kirkpatrick, Vaswani and Hovy 2013).

Rater j gives a pair's class with probability theta_j, and otherwise an answer of their own strategy xi_j. Fitted by
variational Bayes with the paper's priors: Beta(.5, .5) on theta, Dirichlet(10) on xi, classes alike beforehand.
"""

from __future__ import annotations

import numpy as np
from scipy.special import digamma

from relstudy.calibration.methods.by_category import ByCategory, Votes, by_class, categories_of, settled
from relstudy.calibration.panel import Panel

PRIOR_KNOWS = 0.5
PRIOR_STRATEGY = 10.0


def mace(panel: Panel) -> ByCategory:
    """Each rating as the category to expect of its pair, by its rater's chance to know and strategy of guessing.

    Raises
    ------
    RelstudyError
        if there are fewer than 2 or more than 20 distinct ratings

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"rater_id": list("abc") * 4, "pair_id": list("pppqqqrrrsss"),
    ...                       "rating": [1, 1, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0]})
    >>> fitted = mace(Panel.from_frame(frame))
    >>> fitted.of_raters["competence"].round(2).tolist()
    [0.88, 0.88, 0.19]
    """
    decided = panel.decided()
    categories, code = categories_of(decided, "mace")
    votes = Votes.of(decided, code, len(categories))
    size = len(categories)
    prior = np.full(size, 1 / size)
    knows = np.full(votes.shape[0], 0.5)
    strategy = np.full(votes.shape, 1 / size)
    state = [knows, 1 - knows, strategy]

    def step(classes: np.ndarray) -> np.ndarray:
        state[:] = _maximised(votes.expected(classes), state)
        return votes.classes(_chances(state), prior)

    classes = settled(votes.classes(_chances(state), prior), step)
    knew, guessed = _counted(votes.expected(classes), state)
    competence = (knew + PRIOR_KNOWS) / (knew + guessed.sum(axis=1) + 2 * PRIOR_KNOWS)
    strategy = guessed + PRIOR_STRATEGY
    strategy = strategy / strategy.sum(axis=1, keepdims=True)
    chances = _chances([competence, 1 - competence, strategy])
    return by_class("mace", decided, code, (classes, chances, prior), {"competence": competence})


def _chances(state: list[np.ndarray]) -> np.ndarray:
    """Of each answer by each rater for each class, float array (R, K, K)."""
    knows, guesses, strategy = state
    return np.asarray((guesses[:, None] * strategy)[:, :, None] + knows[:, None, None] * np.eye(strategy.shape[1]))


def _counted(expected: np.ndarray, state: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Expected counts of what each rater knew (R), and guessed of each answer (R, K)."""
    guessed = (1 - _knew(state)) * expected
    return expected.sum(axis=(1, 2)) - guessed.sum(axis=(1, 2)), guessed.sum(axis=2)


def _knew(state: list[np.ndarray]) -> np.ndarray:
    """The chance that an answer to a pair of a class was known, not guessed, float array (R, K, K)."""
    knows = state[0]
    return np.asarray(knows[:, None, None] * np.eye(state[2].shape[1]) / _chances(state))


def _maximised(expected: np.ndarray, state: list[np.ndarray]) -> list[np.ndarray]:
    """The parameters as variational Bayes weighs them: exponentials of expected logarithms."""
    knew, guessed = _counted(expected, state)
    often = guessed.sum(axis=1)
    both = digamma(knew + often + 2 * PRIOR_KNOWS)
    of_strategy = digamma(guessed + PRIOR_STRATEGY) - digamma(often + PRIOR_STRATEGY * guessed.shape[1])[:, None]
    knows = np.exp(digamma(knew + PRIOR_KNOWS) - both)
    return [knows, np.exp(digamma(often + PRIOR_KNOWS) - both), np.exp(of_strategy)]
