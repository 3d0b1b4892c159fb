"""The workload of a study: ratings, base block included, raters and cost; and the certainty of its size."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from relstudy.common.options.option_wording import option
from relstudy.common.runtime.errors import RelstudyError

LEAST = 1e-6
"""Queries, above none, from which power is looked for."""


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
    spread : variance by what a pilot leaves uncertain of the standard deviation, in squares of the value
    mean : variance by what it leaves uncertain of the difference; both 0 where nothing was piloted
    each : units of the variance that come with a query; a study has one degree of freedom less than units. Endless
        where simulated studies were tested, whose powers hold what theirs are
    """

    value: float
    simulated: float = 0.0
    spread: float = 0.0
    mean: float = 0.0
    each: float = np.inf

    @classmethod
    def of_pilot(cls, difference: float, error: float, freedom: float, queries: int, *, stated: bool) -> Steepness:
        """Of a difference with the standard error of so many pilot queries, and the degrees of freedom of that; with
        what the pilot leaves uncertain of the spread, and of the difference unless it is stated.

        A mean over n has variance 1 / n in units of its standard deviation, and that a relative variance of half of one
        over its degrees of freedom.

        Examples
        --------
        >>> many, few = (Steepness.of_pilot(0.1, 0.06, freedom, 40, stated=True) for freedom in (39, 6))
        >>> many.queries(0.8, 0.05, 20_000), few.queries(0.8, 0.05, 20_000)
        (119, 151)
        """
        mean = 0.0 if stated else 1 / queries
        value, each = abs(difference) / (error * np.sqrt(queries)), (freedom + 1) / queries
        return cls(float(value), spread=1 / (2 * freedom), mean=mean, each=each)

    def of_stated(self, factor: float) -> Steepness:
        """That of a stated difference, so many times the one that this is of."""
        return replace(self, value=self.value * factor, simulated=self.simulated * factor**2, mean=0.0)

    @property
    def piloted(self) -> float:
        """Variance by what a pilot leaves uncertain."""
        return self.value**2 * self.spread + self.mean

    def power(self, queries: np.ndarray | float, alpha: float) -> np.ndarray:
        """Chance to find the difference, averaged over what the pilot leaves uncertain.

        The assurance of O'Hagan, Stevens and Campbell 2005.

        Examples
        --------
        >>> [round(float(Steepness(0.3, mean=mean).power(87.2, 0.05)), 3) for mean in (0.0, 0.02)]
        [0.8, 0.694]
        >>> Steepness(0.3).power([0, 1e9], 0.05).round(3).tolist()
        [0.025, 1.0]
        """
        size = np.asarray(queries, dtype=float)
        freedom = np.maximum(np.maximum(size, LEAST) * self.each - 1, 1.0)
        reach = self.value * np.sqrt(size) + special.stdtrit(freedom, alpha / 2)
        return np.asarray(special.stdtr(freedom, reach / np.sqrt(1 + size * self.piloted)))

    def queries(self, power: float, alpha: float, most: int) -> int | None:
        """The least number of queries with that power, None above `most`.

        Examples
        --------
        >>> [Steepness(value, each=each).queries(0.8, 0.05, 20_000) for value, each in ((0.25, 1), (0.25, 0.1), (0, 1))]
        [128, 146, None]
        """
        few, enough = max(int(np.ceil(2 / self.each)) - 1, 0), most  # a test takes two units
        if self.value <= 0 or few >= most or self.power(most, alpha) < power:
            return None
        while enough - few > 1:
            middle = (few + enough) // 2
            few, enough = (few, middle) if self.power(middle, alpha) >= power else (middle, enough)
        return enough

    def interval(self, power: float, alpha: float, most: int) -> tuple[int | None, int | None]:
        """95 % interval of the number of queries that truly has that power; None: more than `most`."""
        reach = 1.96 * np.sqrt(self.simulated + self.piloted)
        ends = (Steepness(max(self.value + sign * reach, 0.0), each=self.each) for sign in (1.0, -1.0))
        low, high = (end.queries(power, alpha, most) for end in ends)
        return low, high
