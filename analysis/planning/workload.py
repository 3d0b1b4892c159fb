"""The workload of a study: ratings, base block included, raters and cost; and the certainty of its size."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import optimize, special

from relstudy.common.errors import RelstudyError
from relstudy.common.option_words import option


@dataclass(frozen=True)
class Workload:
    """Ratings and raters of a study.

    Parameters
    ----------
    unique, base : ratings of unique pairs, and of the base block, which every rater rates whole
    raters : people
    cost : of all ratings, in the currency of the cost per rating
    """

    unique: int
    base: int
    raters: int
    cost: float

    @property
    def ratings(self) -> int:
        """All ratings."""
        return self.unique + self.base


def workload(
    pairs: int, each: int, base: int, per_rater: int, cost_per_rating: float = 0.0, people: int | None = None
) -> Workload:
    """The workload of so many pairs, rated by `each` raters who give `per_rater` ratings, `base` of them on the base
    block.

    Parameters
    ----------
    people : how many rate, where that is stated; None: as many as it takes

    Raises
    ------
    RelstudyError
        where the base block leaves a rater no rating for unique pairs

    Examples
    --------
    >>> load = workload(2000, 1, base=100, per_rater=300)
    >>> load.raters, load.ratings
    (10, 3000)
    """
    if base >= per_rater:
        raise RelstudyError(
            f"a base block of {base} pairs leaves nothing of {per_rater} ratings per rater for unique pairs; lower "
            f"{option('base')} or raise {option('ratings_per_rater')}"
        )
    unique = pairs * each
    raters = max(-(-unique // (per_rater - base)), each) if people is None else people
    return Workload(unique, raters * base, raters, (unique + raters * base) * cost_per_rating)


@dataclass(frozen=True)
class Steepness:
    """The a in power = Phi(a sqrt(queries) - z): the difference over its standard deviation at one query.

    Parameters
    ----------
    value : estimate, at least 0
    simulated : variance of the estimate by the number of simulated studies
    piloted : variance by the number of queries of the pilot, 0 where nothing was piloted
    """

    value: float
    simulated: float
    piloted: float = 0.0

    @classmethod
    def of_pilot(cls, value: float, simulated: float, queries: int, *, stated: bool) -> Steepness:
        """With what so many pilot queries leave uncertain of the spread, and of the difference unless it is stated.

        A mean over n has variance 1 / n in units of its standard deviation, and that a relative variance of 1 / (2 n).
        """
        return cls(value, simulated, (value**2 / 2 + (0.0 if stated else 1.0)) / queries)

    def of_stated(self, factor: float, pilot: int | None) -> Steepness:
        """That of a stated difference, so many times the simulated one; of the pilot, where studies rest on one, the
        spread alone stays uncertain."""
        value, simulated = self.value * factor, self.simulated * factor**2
        if pilot is None:
            return Steepness(value, simulated)
        return Steepness.of_pilot(value, simulated, pilot, stated=True)

    def power(self, queries: np.ndarray | float, alpha: float) -> np.ndarray:
        """Chance to find the difference, averaged over what the pilot leaves uncertain.

        The assurance of O'Hagan, Stevens and Campbell 2005.

        Examples
        --------
        >>> [round(float(Steepness(0.3, 0.0, piloted).power(87.2, 0.05)), 3) for piloted in (0.0, 0.02)]
        [0.8, 0.694]
        """
        size = np.asarray(queries, dtype=float)
        reach = (self.value * np.sqrt(size) + special.ndtri(alpha / 2)) / np.sqrt(1 + size * self.piloted)
        return np.asarray(special.ndtr(reach))

    def queries(self, power: float, alpha: float, most: int) -> int | None:
        """The least number of queries with that power, None above `most`."""
        if self.value <= 0 or self.power(most, alpha) < power:
            return None
        return int(np.ceil(optimize.brentq(lambda n: float(self.power(n, alpha)) - power, 1e-6, most)))

    def interval(self, power: float, alpha: float, most: int) -> tuple[int | None, int | None]:
        """95 % interval of the number of queries that truly has that power; None: more than `most`."""
        reach = 1.96 * np.sqrt(self.simulated + self.piloted)
        ends = (Steepness(max(self.value + sign * reach, 0.0), 0.0) for sign in (1.0, -1.0))
        low, high = (end.queries(power, alpha, most) for end in ends)
        return low, high
