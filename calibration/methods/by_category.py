"""Methods that give each rater's categories values of their own, where other methods give each rater a line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from relstudy.calibration.methods.linear import Lines
from relstudy.calibration.panel import Panel
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import listed_some

MOST_CATEGORIES = 20
FLAT = 1e-6
"""Of ratings' spread: values that spread less are all alike, and nothing stretches them."""
ROUNDED = 1e-9
"""Of ratings' range: searches end there."""
ROUNDS = 2000
CLOSE = 1e-9


@dataclass(frozen=True)
class ByCategory:
    """A fitted method of categories.

    Parameters
    ----------
    method : its name
    categories : the K distinct ratings, ascending
    scores : calibrated value of each category by each rater, float array (R, K); with facets by each rater and level of
        these, (R times levels, K)
    of_raters, of_pairs : further columns of the tables of raters and judgments, by name; arrays (R) and (P)
    note : what the model found, as a sentence; empty for nothing
    facets : the panel's facets that a value depends on
    of_facets : one row a level of every facet: its columns; None without facets
    """

    method: str
    categories: np.ndarray
    scores: np.ndarray
    of_raters: dict[str, np.ndarray] = field(default_factory=dict)
    of_pairs: dict[str, np.ndarray] = field(default_factory=dict)
    note: str = ""
    facets: tuple[str, ...] = ()
    of_facets: pd.DataFrame | None = None

    def calibrated(self, panel: Panel) -> np.ndarray:
        """The panel's ratings on the common scale, float array (N); undecided stays NaN.

        A rating that is none of the categories takes its place between its neighbours.
        """
        category_position = np.interp(panel.rating, self.categories, np.arange(len(self.categories)))
        below = np.nan_to_num(np.floor(category_position)).astype(int)
        above = np.minimum(below + 1, len(self.categories) - 1)
        place = panel.rater
        for name in self.facets:
            place = place * len(panel.facets[name].levels) + panel.facets[name].code
        low, high = self.scores[place, below], self.scores[place, above]
        return np.asarray(low + (category_position - below) * (high - low))

    def lines(self, panel: Panel) -> Lines:
        """The least-squares line of each rater's calibrated values on their ratings, to read beside other methods."""
        part = panel.decided()
        values = self.calibrated(part)
        mean_in, mean_out = part.rater_means(part.rating), part.rater_means(values)
        x = part.rating - mean_in[part.rater]
        square = part.by_rater(x * x)
        usable = square > 1e-9
        slope = np.where(usable, part.by_rater(x * values) / np.where(usable, square, 1.0), 1.0)
        return Lines(self.method, slope, mean_out - slope * mean_in)


def categories_of(decided: Panel, method: str) -> tuple[np.ndarray, np.ndarray]:
    """The K distinct ratings, ascending, and each rating's number among them, int array (N).

    Raises
    ------
    RelstudyError
        if there are fewer than 2 or more than 20
    """
    categories, code = np.unique(decided.rating, return_inverse=True)
    if not 2 <= len(categories) <= MOST_CATEGORIES:
        raise RelstudyError(
            f"the {method} method takes 2 to {MOST_CATEGORIES} distinct ratings, and these have {len(categories)}"
        )
    return categories, code


def on_the_scale(decided: Panel, code: np.ndarray, values: np.ndarray, place: np.ndarray | None = None) -> np.ndarray:
    """Values of categories by rater (R, K) in rating units: one line gives all calibrated ratings the mean of the raw
    ones and, on average, the spread of a rater's. `place` is the row of each rating; None: its rater's."""
    raw = values[decided.rater if place is None else place, code]
    wanted, there = _typical_spread(decided, decided.rating), _typical_spread(decided, raw)
    spread = wanted / there if there > FLAT * wanted else 1.0
    found = decided.rating.mean() + spread * (values - raw.mean())
    step = ROUNDED * np.ptp(decided.rating)
    return np.asarray(np.round(found / step) * step)  # what differs by rounding alone is the same


def _typical_spread(panel: Panel, values: np.ndarray) -> float:
    """Geometric mean over raters of the spread of their values."""
    centred = values - panel.rater_means(values)[panel.rater]
    spread = np.sqrt(panel.rater_means(centred * centred))
    spread = spread[spread > 1e-9]
    return float(np.exp(np.log(spread).mean())) if len(spread) else 0.0


@dataclass(frozen=True)
class Votes:
    """Answers of R raters on P pairs as counts of each rater's category: a sparse product sums over a pair's answers.

    Parameters
    ----------
    counts : (P, R * K)
    shape : (R, K)
    """

    counts: csr_array
    shape: tuple[int, int]

    @classmethod
    def of(cls, decided: Panel, code: np.ndarray, categories: int) -> Votes:
        cells = (np.ones(len(code)), (decided.pair, decided.rater * categories + code))
        shape = (decided.n_raters, categories)
        return cls(csr_array(cells, shape=(decided.n_pairs, shape[0] * categories)), shape)

    @property
    def shares(self) -> np.ndarray:
        """Each pair's share of answers in a category, float array (P, K); alike if there is none."""
        raters, categories = self.shape
        total = self.counts @ np.tile(np.eye(categories), (raters, 1))
        number = total.sum(axis=1, keepdims=True)
        return np.asarray(np.where(number > 0, total / np.maximum(number, 1), 1 / categories))

    def classes(self, chances: np.ndarray, prior: np.ndarray) -> np.ndarray:
        """The probability that each pair is of each class, float array (P, K).

        Parameters
        ----------
        chances : of answer k by rater j for a pair of class t, not 0, float array (R, K, K)
        prior : of each class, float array (K)
        """
        logs = self.counts @ np.log(chances).reshape(-1, len(prior)) + np.log(np.maximum(prior, 1e-300))
        values = np.exp(logs - logs.max(axis=1, keepdims=True))
        return np.asarray(values / values.sum(axis=1, keepdims=True))

    def expected(self, classes: np.ndarray) -> np.ndarray:
        """Counts of each rater's answers to pairs of each class, float array (R, K, K)."""
        return np.asarray((self.counts.T @ classes).reshape(*self.shape, classes.shape[1]))


def settled(classes: np.ndarray, step: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Classes (P, K) after as many steps of expectation and maximisation as move any of them by 1e-9 or more."""
    for _ in range(ROUNDS):
        before, classes = classes, step(classes)
        if np.abs(classes - before).max(initial=0.0) < CLOSE:
            break
    return classes


def expected_class(chances: np.ndarray, prior: np.ndarray, categories: np.ndarray) -> np.ndarray:
    """The expected true category of a pair of which one rater gave one answer, float array (R, K).

    Parameters
    ----------
    chances, prior : as for `Votes.classes`

    Examples
    --------
    >>> right = np.array([[[0.9, 0.1], [0.1, 0.9]]])
    >>> expected_class(right, np.array([0.5, 0.5]), np.array([0.0, 1.0])).round(2).tolist()
    [[0.1, 0.9]]
    """
    joint = chances * prior
    return np.asarray(joint @ categories / joint.sum(axis=2))


def by_class(
    method: str,
    decided: Panel,
    code: np.ndarray,
    fitted: tuple[np.ndarray, np.ndarray, np.ndarray],
    of_raters: dict[str, np.ndarray],
    of_pairs: dict[str, np.ndarray] | None = None,
) -> ByCategory:
    """A method of classes without an order, from its fitted classes (P, K), chances (R, K, K) and prior (K).

    A rating counts as the category that is to be expected of a pair given this rating alone. The judgments get the
    likeliest category of each pair by all of its ratings (`consensus`), and its probability.

    Parameters
    ----------
    of_raters : further columns of the table of raters, of which the first is how often a rater is right
    """
    classes, chances, prior = fitted
    categories = np.unique(decided.rating)
    likeliest = classes.argmax(axis=1)
    name, right = next(iter(of_raters.items()))
    rated = np.flatnonzero(decided.by_rater() > 0)
    order = rated[np.argsort(right[rated], kind="stable")]
    lowest = listed_some([str(decided.raters[each]) for each in order[:3]])
    ends = f"from {right[order[0]]:.2f} to {right[order[-1]]:.2f}, lowest of {lowest}"
    ordered = "" if len(categories) == 2 else f"The {len(categories)} ratings are taken as classes without an order. "
    return ByCategory(
        method,
        categories,
        on_the_scale(decided, code, expected_class(chances, prior, categories)),
        of_raters,
        {"consensus": categories[likeliest], "consensus_probability": classes.max(axis=1), **(of_pairs or {})},
        f"{ordered}Column {name} of raters.csv is {ends}; consensus in judgments.csv is each pair's likeliest rating.",
    )
