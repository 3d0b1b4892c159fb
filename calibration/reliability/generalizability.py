"""Generalizability: where a table's values vary, by restricted maximum likelihood, and how far means of them can be
relied upon (Cronbach, Gleser, Nanda and Rajaratnam 1972; Brennan 2001).

What is measured (results that people rate, or systems) is crossed with what it is measured by (raters, or queries), and
may lie within groups (queries). Two coefficients of a mean of n values: E rho^2 of an order, in which what raises all
alike does no harm; Phi of the values themselves, in which it does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import ceil
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from scipy.special import fdtri, gdtrix

from relstudy.calibration.panel import Panel
from relstudy.common.charts.figures import MUTED, SERIES, drawing, figure_of, svg
from relstudy.common.results.estimates import Estimate
from relstudy.common.results.result import Result
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import listed, percent, sentence, span

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_CONDITIONS = 200
"""Raters of a table: of more so many at random, for the matrices are of that size."""
MOST_WORK = 10_000_000
"""Groups times the cube of the most raters that one has: of more, so many whole groups at random."""
LEAST_WORK = 25
"""A group is as much work as one of so many raters, however few it has."""
MOST_COUPLES = 2_000_000
"""Of values of one object: of more, so many whole groups or objects at random."""
LEAST_FREEDOM = 2.0
"""Below so many degrees of freedom of what a coefficient rests on, its interval does not hold what it promises."""
UNDIVIDED = "the values do not separate worth and error"
LEAST_SHARE = 1e-6
"""Of the variance of all values: less noise than this is none."""
MOST_STEPS, MOST_DAMPED, NEAR = 200, 20, 1e-9
"""Steps in search of the greatest likelihood, how often each is shortened, and the deviance that it must gain."""
DISTINCT = 1e-6
"""Of the information on combinations of variances: with less than this share of the most, there is none; differences of
gradients are good to about 1e-7."""
LEAST_LEVELS = 20
"""Of a source: of fewer, the fourth cumulant of a sample says nothing and widens intervals at random."""
Coefficient = Literal["erho2", "phi"]
TARGETS = (0.8, 0.9, 0.95)
TITLES: dict[Coefficient, str] = {"erho2": "Eρ²", "phi": "Φ"}
WORDS = {"result_id": "pair", "rater_id": "rater", "query_id": "query", "system": "system"}
"""Names of columns in sentences."""


class Layout:
    """Values of P objects by R conditions, objects perhaps within Q groups; the likelihood of their variances.

    Objects are summed out in closed form, and so are the groups, in stacks [Q, m, m] of the m conditions that a group
    has at most; what is left is of the size of R.

    Parameters
    ----------
    value : float array (N)
    thing, condition : of each value, int arrays (N), codes from 0
    group : of each object, int array (P); None for none
    """

    def __init__(
        self, value: np.ndarray, thing: np.ndarray, condition: np.ndarray, group: np.ndarray | None = None
    ) -> None:
        self.unit = float(value.std()) or 1.0
        self.value = (value - value.mean()) / self.unit
        self.thing = thing
        self.size = np.bincount(thing)
        self.conditions = int(condition.max()) + 1
        self.grouped = group is not None
        group_of = np.zeros(len(self.size), dtype=int) if group is None else group
        cell, self.cell = np.unique(group_of[thing] * self.conditions + condition, return_inverse=True)
        self.of_cell = cell % self.conditions
        groups, first, count = np.unique(cell // self.conditions, return_index=True, return_counts=True)
        slot = np.arange(len(cell)) - np.repeat(first, count)
        self.shape = len(groups), int(count.max())
        self.place = np.repeat(np.arange(len(groups)), count), slot
        order = np.argsort(thing, kind="stable")
        starts = np.concatenate([[0], np.cumsum(self.size)])
        left = np.repeat(order, self.size[thing[order]])
        within = np.arange(len(left)) - np.repeat(np.cumsum(self.size[thing[order]]), self.size[thing[order]])
        right = order[starts[thing[left] + 1] + within]
        place = self.place[0] * self.shape[1] + slot
        couple = place[self.cell[left]] * self.shape[1] + slot[self.cell[right]]
        # what a couple weighs depends on its object by the number of its values alone
        self.sizes, which = np.unique(self.size, return_inverse=True)
        keys, self.often = np.unique(couple * len(self.sizes) + which[thing[left]], return_counts=True)
        self.couple, self.of_couple = keys // len(self.sizes), keys % len(self.sizes)
        self.alone = np.zeros((self.shape[0], self.shape[1]))
        self.alone[self.place] = np.bincount(self.cell)
        number = np.zeros(self.shape, dtype=int)
        number[self.place] = self.of_cell
        self.flat = (number[:, :, None] * self.conditions + number[:, None, :]).ravel()

    def parts(
        self, variances: np.ndarray, curvature: list[np.ndarray] | None = None
    ) -> tuple[float, float, np.ndarray]:
        """The log determinants of the restricted likelihood, the weighted sum of squares, and their gradients (2, 5);
        infinite where none.

        With P = V^-1 less its part along the mean and V_j = Z_j Z_j' of source j, the derivatives are tr(P V_j) and
        -|Z_j' P y|^2 (Patterson and Thompson 1971).

        Parameters
        ----------
        variances : of one value, objects, conditions, groups, and conditions by group
        curvature : a list that takes the average information, y' P V_j P V_k P y, float [5, 5], which is near the
            second derivative of the deviance (Gilmour, Thompson and Cullis 1995); None saves its computation
        """
        none = np.inf, np.inf, np.zeros((2, 5))
        one, of_thing, of_condition, of_group, of_cell = variances
        by_thing = one + self.size * of_thing
        if one <= 0 or (by_thing <= 0).any():
            return none
        _, most = self.shape
        precision = (self.alone[:, :, None] * np.eye(most) - self._couples(of_thing, one, of_thing, 1)) / one
        spread = of_cell * np.eye(most) + of_group
        inner = np.eye(most) + precision @ spread
        sign, log = np.linalg.slogdet(inner)
        if not (sign > 0).all():
            return none
        inverse = np.linalg.inv(inner)
        seen = inverse @ precision
        joint = self._by_condition(seen)
        outer = np.eye(self.conditions) + of_condition * joint
        outer_sign, outer_log = np.linalg.slogdet(outer)
        if outer_sign <= 0:
            return none
        back = np.linalg.inv(outer)

        def weighted(values: np.ndarray) -> np.ndarray:
            """V^-1 times values."""
            weight = of_thing / by_thing
            rows, slots = self.place
            right = np.zeros(self.shape)
            right[rows, slots] = np.bincount(self.cell, values - (weight * np.bincount(self.thing, values))[self.thing])
            left = (inverse @ right[:, :, None] / one)[:, :, 0]
            effect = np.zeros(self.shape)
            effect[rows, slots] = (back @ np.bincount(self.of_cell, left[rows, slots], self.conditions))[self.of_cell]
            summed = left - of_condition * (seen @ effect[:, :, None])[:, :, 0]
            whole = np.bincount(self.of_cell, summed[rows, slots], self.conditions)
            moved = (summed @ spread)[rows, slots] + of_condition * whole[self.of_cell]
            rest = values - moved[self.cell]
            return (rest - (weight * np.bincount(self.thing, rest))[self.thing]) / one

        of_mean = weighted(np.ones(len(self.value)))
        information = float(of_mean.sum())
        if information <= 0:
            return none
        freed = weighted(self.value)
        freed -= of_mean * (freed.sum() / information)
        if curvature is not None:
            moved = self._spread(freed)
            again = np.array([weighted(each) for each in moved])
            again -= np.outer(again.sum(axis=1) / information, of_mean)
            curvature.append(moved @ again.T)
        logs = float(((self.size - 1) * np.log(one) + np.log(by_thing)).sum() + np.log(information))
        traces = self._traces(variances, by_thing, inverse, seen, joint, back)
        gradient = np.array([traces - self._squares(of_mean) / information, -self._squares(freed)])
        return logs + float(log.sum() + outer_log), float(self.value @ freed), gradient

    def _couples(self, share: float, one: float, of_thing: float, power: int) -> np.ndarray:
        """Couples of cells [Q, m, m], each couple of values of an object of n weighing share / (one + n of_thing)."""
        groups, most = self.shape
        each = self.often * (share / (one + self.sizes * of_thing) ** power)[self.of_couple]
        return np.bincount(self.couple, each, groups * most * most).reshape(groups, most, most)

    def _by_condition(self, stack: np.ndarray) -> np.ndarray:
        """A stack [Q, m, m] summed over the groups, [R, R]."""
        return np.bincount(self.flat, stack.ravel(), self.conditions**2).reshape(self.conditions, self.conditions)

    def _traces(
        self,
        variances: np.ndarray,
        by_thing: np.ndarray,
        inverse: np.ndarray,
        seen: np.ndarray,
        joint: np.ndarray,
        back: np.ndarray,
    ) -> np.ndarray:
        """tr(V^-1 Z_j Z_j') of each source, by Woodbury's identity; of single values by tr(V^-1 V) = N."""
        one, of_thing, of_condition, of_group, of_cell = variances
        rows, slots = self.place
        squared = self._couples(1.0, one, of_thing, 2)
        spread = of_cell * np.eye(self.shape[1]) + of_group
        whole = seen.sum(axis=2)
        of_groups = np.zeros((self.shape[0], self.conditions))
        of_groups[rows, self.of_cell] = whole[rows, slots]

        def less(stack: np.ndarray) -> float:
            return of_condition * float(np.sum(back * self._by_condition(stack).T))

        things = float((self.size / by_thing).sum() - np.sum((spread @ inverse) * squared))
        others = [
            things - less(inverse @ squared @ inverse.transpose(0, 2, 1)),
            float(np.sum(joint * back.T)),
            float(whole.sum() - of_condition * np.sum((of_groups @ back) * of_groups)),
            float(np.trace(seen, axis1=1, axis2=2).sum()) - less(seen @ seen),
        ]
        return np.array([(len(self.value) - variances[1:] @ others) / one, *others])

    def _spread(self, values: np.ndarray) -> np.ndarray:
        """Z_j Z_j' times values of each source, float [5, N]."""
        kinds = (self.thing, self.of_cell[self.cell], self.place[0][self.cell], self.cell)
        return np.array([values, *(np.bincount(kind, values)[kind] for kind in kinds)])

    def _squares(self, values: np.ndarray) -> np.ndarray:
        """The squared lengths of values summed by each source."""
        cells = np.bincount(self.cell, values)
        sums = (
            values,
            np.bincount(self.thing, values),
            np.bincount(self.of_cell, cells),
            np.bincount(self.place[0], cells),
            cells,
        )
        return np.array([each @ each for each in sums])

    def free(self) -> np.ndarray:
        """Which of the five variances these values tell apart, bool array (5)."""
        several = np.bincount(self.cell).max() > 1
        within = self.grouped and self.shape[0] > 1
        return np.array([True, True, self.conditions > 1, within, within and several])

    def _likeliest(self, free: np.ndarray) -> np.ndarray:
        """The free variances of greatest restricted likelihood, none below 0, by steps of the average information.

        Steps are damped where they lead too far (Marquardt 1963); a variance stays at 0 while the slope leads below.
        """
        lowest, noise = np.zeros(len(free)), free == 0
        found = wanted = np.full(len(free), 1 / len(free))
        last, damping = np.inf, 0.0
        curvature, slope = np.eye(len(free)), np.zeros(len(free))
        variances, cancelled = np.zeros(5), 0.0
        for _ in range(MOST_STEPS):
            information = list[np.ndarray]()
            variances[free] = wanted
            logs, squares, gradient = self.parts(variances, information)
            sums_cancel = squares < 0 or (bool(information) and (np.diag(information[0])[free] < 0).any())
            if sums_cancel:
                cancelled = max(cancelled, float(wanted[0]))
            if not sums_cancel and logs + squares <= last:
                found, last, slope = wanted, logs + squares, gradient.sum(axis=0)[free]
                curvature, damping = information[0][np.ix_(free, free)], damping / 10
            else:
                damping = max(4 * damping, 1e-3)
            lowest[noise] = np.maximum(found[noise] / 10, LEAST_SHARE)  # no step takes all noise away
            moved = np.flatnonzero((found > lowest) | (slope < 0))
            for _ in range(MOST_DAMPED):  # what is kept from going below 0 may turn a step uphill, but not a short one
                damped = curvature[np.ix_(moved, moved)] * (1 + damping * np.eye(len(moved)))
                wanted = found.copy()
                wanted[moved] += np.linalg.lstsq(damped, -slope[moved], rcond=None)[0]
                wanted = np.maximum(wanted, lowest)
                if -slope @ (wanted - found) >= NEAR:
                    break
                damping = max(4 * damping, 1e-3)
            else:
                break
        # where sums cancel there is less noise than they can tell from none
        return np.where(noise & (found <= 10 * cancelled), LEAST_SHARE, found)

    def fit(self) -> tuple[np.ndarray, np.ndarray]:
        """The variances (5) of greatest restricted likelihood, and the covariance of their estimates.

        None is below 0: where one would be, it is 0, and the others are as without it (Thompson 1962).

        The information expected of the values is less half the second derivative of the log determinants, so that it is
        there where a variance is 0, too.
        """
        free = np.flatnonzero(self.free())
        variances = np.zeros(5)

        found = self._likeliest(free)
        found[found < 2 * LEAST_SHARE] = LEAST_SHARE * (np.arange(len(found)) == 0)[found < 2 * LEAST_SHARE]
        steps = 1e-3 * np.maximum(found, found[0] * len(self.value) ** -0.5)

        def slopes(place: int, step: float) -> np.ndarray:
            variances[free] = found
            variances[free[place]] += step
            return self.parts(variances)[2][0][free]

        second = np.array([(slopes(k, step) - slopes(k, -step)) / (2 * step) for k, step in enumerate(steps)])
        information = -(second + second.T) / 4
        variances = np.zeros(5)
        variances[free] = np.where(found > LEAST_SHARE, found, 0.0)
        covariance = np.zeros((5, 5))
        if np.isfinite(information).all():  # else nothing is known of the errors, and no interval is given
            # in units of its own, so that what the values cannot tell apart is left out and no rounding of it inverted
            scale = np.sqrt(np.abs(np.diag(information)))
            scale = np.outer(scale, scale)
            scale[scale == 0] = 1.0
            inverse = np.linalg.pinv(information / scale, rcond=DISTINCT, hermitian=True)
            covariance[np.ix_(free, free)] = inverse / scale
        return variances * self.unit**2, covariance * self.unit**4


def beyond_normal(
    value: np.ndarray, thing: np.ndarray, condition: np.ndarray, group: np.ndarray | None = None
) -> np.ndarray:
    """How much more the five estimates of variances vary than those of normal values do, float array (5).

    The mean square of n independent effects varies by 2 sigma^4 / (n - 1) + kappa / n, with kappa their fourth
    cumulant, which is 0 of normal ones and large where few lie far out (Fisher 1929); so does a source's estimated
    variance (Tukey 1956). Kappa is Fisher's k-statistic of single values about their objects' means, of objects' means
    (about their groups'), of groups' and of conditions', 0 where it is below that or there are fewer than 20.

    Parameters
    ----------
    value, thing, condition, group : as for `Layout`
    """
    of_condition = np.bincount(condition, value) / np.bincount(condition)
    size = np.bincount(thing)
    freed = value - of_condition[condition]
    mean = np.bincount(thing, freed) / size
    left = value - (np.bincount(thing, value) / size)[thing]
    more = np.zeros(5)
    more[0] = _cumulant_within(freed, thing)
    if group is None:
        more[1] = _cumulant(mean)
    else:
        more[1] = _cumulant_within(mean, group)
        more[3] = _cumulant(np.bincount(group, mean) / np.bincount(group))
    more[2] = _cumulant(np.bincount(condition, left) / np.bincount(condition))
    return more


def _cumulant_within(values: np.ndarray, group: np.ndarray) -> float:
    """The same of values about their groups' means, of those in groups of two and more.

    What is left of one of n, stretched to their variance, has (n^2 - 3 n + 3) / (n (n - 1)) of their fourth cumulant.
    The estimated variance has the squares' sum over their degrees of freedom, of which one of n has 1 - 1 / n.
    """
    size = np.bincount(group)
    some = size[group] > 1
    if not some.any():
        return 0.0
    n = size[group][some]
    own = (n - 1) / n
    left = (values - (np.bincount(group, values) / size)[group])[some] / np.sqrt(own)
    share = float(np.mean((n * n - 3 * n + 3) / (n * (n - 1.0))))
    return _cumulant(left) / share * len(n) * float(own @ own) / float(own.sum()) ** 2


def _cumulant(values: np.ndarray) -> float:
    """Fisher's k-statistic of the fourth cumulant over the number of values; 0 where it is below, or they are few."""
    n = len(values)
    if n < LEAST_LEVELS:
        return 0.0
    square = (values - values.mean()) ** 2
    over = (n + 1) * float(np.mean(square**2)) - 3 * (n - 1) * float(np.mean(square)) ** 2
    return max(n * over / ((n - 1) * (n - 2) * (n - 3)), 0.0)


@dataclass(frozen=True, eq=False, repr=False)
class Generalizability(Result, of_commands=True):
    """Variance components and what follows from them: of ratings, or of systems' figures by query.

    Parameters
    ----------
    names : of what is measured, what it is measured by, and the groups; "" for no groups
    variances : of one value, objects, conditions, groups, and conditions by group, float array (5)
    covariance : of these estimates
    sizes : numbers of objects, conditions, groups and values
    each : mean number of values of an object
    notes : on what was read, as sentences
    measure : what the values are of; empty for ratings
    beyond : what of the variances of these estimates is not that of normal values (`beyond_normal`), float array (5)
    ratings : the same of the ratings behind the judgments that systems are measured by, or None
    """

    saved_as = "generalizability"
    names: tuple[str, str, str]
    variances: np.ndarray
    covariance: np.ndarray
    sizes: tuple[int, int, int, int]
    each: float
    notes: tuple[str, ...] = ()
    measure: str = ""
    beyond: np.ndarray = field(default_factory=lambda: np.zeros(5))
    ratings: Generalizability | None = None

    @property
    def _places(self) -> dict[str, int]:
        """The sources by name, and the place of each among the five."""
        thing, by, group = (WORDS.get(name, name) for name in self.names)
        grouped = {group: 3} if group else {}
        crossed = {f"{by} x {group}": 4} if group else {}
        return {**grouped, thing: 1, by: 2, **crossed, "rest": 0}

    @cached_property
    def components(self) -> dict[str, float]:
        """Variance by source: groups, objects, conditions, conditions by group, and one value (with what is left)."""
        return {source: float(self.variances[place]) for source, place in self._places.items()}

    @property
    def _parts(self) -> dict[str, Generalizability]:
        """This study, and that of the ratings behind it, by what stands before their names."""
        return {"": self} if self.ratings is None else {"": self, "ratings: ": self.ratings}

    @property
    def table(self) -> pd.DataFrame:
        """One row a source: its variance, the standard error of that, and its share of the variance of one value.

        Of systems whose judgments are made of ratings, the ratings' sources follow, as "ratings: rater"; their shares
        are of the variance of one rating.
        """
        rows: list[dict[str, object]] = []
        for before, study in self._parts.items():
            total = sum(study.components.values())
            for source, place in study._places.items():
                variance, error = study.variances[place], np.sqrt(max(study.covariance[place, place], 0.0))
                row = {"variance": float(variance), "error": float(error), "share": float(variance / total)}
                rows.append({"source": before + source, **row})
        return pd.DataFrame(rows)

    @property
    def coefficients(self) -> pd.DataFrame:
        """E rho^2 and Phi of means as they are, with their intervals, and how many values reach .8, .9 and .95."""
        rows: list[dict[str, object]] = []
        for before, study in self._parts.items():
            for which, title in TITLES.items():
                found = study.coefficient(which)
                ends = {"value": found.value, "value_low": found.low, "value_high": found.high}
                row = {"coefficient": before + title, "of": study.each, **ends}
                reach = {f"for {target:g}": study.needed(which, target)[0] for target in TARGETS}
                rows.append({**row, **reach})
        return pd.DataFrame(rows)

    def heading(self) -> str:
        """The shares of the sources in a line."""
        return self._shares(self.measure or "Ratings")

    def _shares(self, what: str) -> str:
        total = sum(self.components.values())
        shares = [f"{source} {percent(each / total)}" for source, each in self.components.items()]
        return f"{what} {'vary' if what == 'Ratings' else 'varies'} by {listed(shares)}."

    def overview(self) -> pd.DataFrame:
        """The sources."""
        return self.table

    def remarks(self) -> list[str]:
        """What means can be relied upon for, and what a person should know."""
        notes = [sentence(note) for study in self._parts.values() for note in study.notes]
        behind = [] if self.ratings is None else [self.ratings.heading(), self.ratings.sentence()]
        return [self.sentence(), *behind, *notes]

    def _tables(self) -> Mapping[str, pd.DataFrame]:
        return {"": self.table, "What means can be relied upon for:": self.coefficients}

    def plot(self) -> Figure:
        """Both coefficients against the number of values in a mean, with their intervals, and where means are now.

        Examples
        --------
        >>> values = {"bm25": (0.2, 0.4, 0.1), "new": (0.5, 0.6, 0.5), "old": (0.4, 0.6, 0.3)}
        >>> rows = [(system, query, ap) for system, each in values.items() for query, ap in enumerate(each)]
        >>> table = pd.DataFrame(rows, columns=["system", "query_id", "ap"])
        >>> generalizability(table, "ap", ["system"], "query_id").plot().axes[0].get_xlabel()
        'queries a system'
        """
        return figure_of(self._curves)

    def _curves(self) -> str:
        parts = list(self._parts.values())
        with drawing(3.4 * len(parts) + 1.0, 3.2) as figure:
            for ax, study in zip(np.atleast_1d(figure.subplots(1, len(parts), sharey=True)), parts, strict=True):
                number = np.linspace(1, max(2 * study.each, 10), 60)
                for which, colour in zip(TITLES, SERIES, strict=False):
                    found = [study.coefficient(which, each) for each in number]
                    ax.plot(number, [each.value for each in found], color=colour, label=TITLES[which])
                    if found[0].low is not None:
                        ends = np.array([(each.low, each.high) for each in found], dtype=float).T
                        ax.fill_between(number, *ends, color=colour, alpha=0.15, linewidth=0)
                ax.axvline(study.each, color=MUTED, linewidth=0.8, linestyle="--")
                ax.set(xlim=(0, number[-1]), ylim=(0, 1.03), title=study.measure or "ratings")
                ax.set_xlabel(f"{study._plural(1)} a {WORDS.get(study.names[0], study.names[0])}")
                ax.legend(loc="lower right")
            figure.axes[0].set_ylabel("coefficient")
            return svg(figure, " ".join([self.heading(), *self.remarks()]))

    def _plural(self, place: int) -> str:
        word = WORDS.get(self.names[place], self.names[place])
        return word.replace("query", "querie") + "s"

    @property
    def _sources(self) -> np.ndarray:
        """Which of the five make the worth of an object, the error of an order, and what raises all alike; (3, 5)."""
        return np.array([[0, 1, 0, 1, 0], [1, 0, 0, 0, 1], [0, 0, 1, 0, 0]], dtype=float)

    def coefficient(self, which: Coefficient, number: float | None = None, level: float = 0.95) -> Estimate:
        """E rho^2 or Phi of a mean of so many values (of as many as there are), with an interval.

        Intervals are those of a balanced crossed table of normal values (Feldt 1965 for E rho^2; Arteaga, Jeyaratnam
        and Franklin 1982 for Phi) on mean squares that the variances stand for: sums of them that vary independently by
        the restricted likelihood, with the degrees of freedom of Satterthwaite (1946). On balanced tables these are the
        mean squares themselves.

        Parameters
        ----------
        which : "erho2" or "phi"
        number : of values in the mean
        level : of the interval

        Examples
        --------
        >>> values = {"bm25": (0.2, 0.4, 0.1), "new": (0.5, 0.6, 0.5), "old": (0.4, 0.6, 0.3)}
        >>> rows = [(system, query, ap) for system, each in values.items() for query, ap in enumerate(each)]
        >>> table = pd.DataFrame(rows, columns=["system", "query", "ap"])
        >>> round(generalizability(table, "ap", ["system"], "query").coefficient("phi", 10).value, 3)
        0.93
        """
        if which not in TITLES:
            raise RelstudyError(f"{which!r} is not a coefficient; there are: {', '.join(TITLES)}")
        number = self.each if number is None else number
        if not number > 0 or not 0 < level < 1:
            raise RelstudyError(
                f"a mean of more than 0 values and a level between 0 and 1 are needed, not {number:g}, {level:g}"
            )
        worth, error, common = self._sources @ self.variances
        wrong = error + (common if which == "phi" else 0.0)
        if worth + wrong <= 0:
            return Estimate.missing("every value is the same")
        value = number * worth / (number * worth + wrong)
        ends = self._ends(which, (1 - level) / 2)
        if not isinstance(ends, str) and not np.isfinite(ends).all():  # nothing is left of one of them
            ends = UNDIVIDED
        if isinstance(ends, str):
            return Estimate(float(value), reason=ends)
        low, high = (max(number * each / (1 + number * each), 0.0) for each in ends)
        return Estimate(float(value), min(float(low), float(value)), max(float(high), float(value)))

    def _ends(self, which: Coefficient, beyond: float) -> tuple[float, float] | str:
        """The ends of worth over the error of one value; the reason if there are none."""
        sources, parts = self._sources, self._sources @ self.variances
        wrong = parts[1]
        plain = self.covariance.copy()  # too few are so by what the table is, and not by how far its noise lies out
        plain[0, 0] -= self.beyond[0]

        def mixed(place: int, by: np.ndarray, over: np.ndarray) -> tuple[float, float, float]:
            """How often worth (0) or what raises all alike (2) goes into a mean square that varies independently of the
            error by one covariance; that mean square, and its degrees of freedom over another (0 if there is none).
            """
            errors = sources[1] @ by @ sources.T
            if errors[place] >= 0:
                return 0.0, wrong, 0.0
            often = -errors[1] / errors[place]
            weights = often * sources[place] + sources[1]
            square = often * parts[place] + wrong
            return float(often), float(square), float(2 * square**2 / (weights @ over @ weights))

        worth_error, error, _ = sources[1] @ self.covariance @ sources.T
        if not (worth_error < 0 < error) or wrong <= 0:
            return UNDIVIDED
        of_rest = 2 * wrong**2 / error
        if min(mixed(0, plain, plain)[2], of_rest) < LEAST_FREEDOM:
            return f"too few {self._plural(0)} do not show how others would differ"
        each, between, of_things = mixed(0, self.covariance, self.covariance)
        if which == "erho2":
            ratios = (between / wrong / fdtri(of_things, of_rest, tail) for tail in (1 - beyond, beyond))
            low, high = ((ratio - 1) / each for ratio in ratios)
            return low, high
        across, conditions, of_conditions = mixed(2, plain, self.covariance)
        if mixed(2, plain, plain)[2] < LEAST_FREEDOM:
            return f"too few {self._plural(1)} do not show how others would differ"
        found = []
        for tail in (1 - beyond, beyond):
            whole = float(gdtrix(1.0, of_things / 2, tail)) / (of_things / 2)  # F with endless freedom below
            rest, of_both = fdtri(of_things, of_rest, tail), fdtri(of_things, of_conditions, tail)
            above = between**2 - whole * between * wrong + (whole - rest) * rest * wrong**2
            below = (across - 1) * whole * between * wrong + of_both * between * conditions
            share = above / below
            single = across * share / (across * share + each)
            found.append(single / (1 - single))
        return found[0], found[1]

    def needed(self, which: Coefficient, target: float) -> tuple[int | None, int | None, int | None]:
        """How many values a mean needs to reach a coefficient: by the estimate, and by its interval's ends.

        None where none are enough, or the end is not known.

        Parameters
        ----------
        target : above 0 and below 1

        Examples
        --------
        >>> values = {"bm25": (0.2, 0.4, 0.1), "new": (0.5, 0.6, 0.5), "old": (0.4, 0.6, 0.3)}
        >>> rows = [(system, query, ap) for system, each in values.items() for query, ap in enumerate(each)]
        >>> table = pd.DataFrame(rows, columns=["system", "query", "ap"])
        >>> generalizability(table, "ap", ["system"], "query").needed("phi", 0.9)[0]
        7
        """
        if not 0 < target < 1:
            raise RelstudyError(f"a coefficient between 0 and 1 is aimed at, not {target:g}")
        single = self.coefficient(which, 1.0)
        odds = target / (1 - target)

        def number(value: float | None) -> int | None:
            return None if value is None or value <= 0 else max(ceil(odds * (1 - value) / value - 1e-9), 1)

        return number(single.value), number(single.high), number(single.low)

    def sentence(self, target: float | None = None) -> str:
        """The coefficients of means as they are, and how many values reach a target, as a sentence.

        Parameters
        ----------
        target : .8 of ratings, .95 of systems, if None

        Examples
        --------
        >>> values = {"bm25": (0.2, 0.4, 0.1), "new": (0.5, 0.6, 0.5), "old": (0.4, 0.6, 0.3)}
        >>> rows = [(system, query, ap) for system, each in values.items() for query, ap in enumerate(each)]
        >>> table = pd.DataFrame(rows, columns=["system", "query", "ap"])
        >>> generalizability(table, "ap", ["system"], "query").sentence(0.9)[:56]
        'A mean of 3 queries a system has, for an order, Eρ² 0.95'
        """
        target = (0.95 if self.measure else 0.8) if target is None else target
        thing = WORDS.get(self.names[0], self.names[0])
        parts = []
        for which in ("erho2", "phi"):
            found = self.coefficient(which)
            between = "" if found.low is None else f" ({span(found.low, found.high, '.2f')})"
            number, few, many = self.needed(which, target)
            most = "more than any" if many is None else f"{many:,}"
            ends = "" if few is None or few == many else f" ({few:,} to {most})"
            takes = f"{target:g} takes {number:,}{ends}" if number is not None else f"{target:g} is out of reach"
            parts.append(f"{TITLES[which]} {found.value:.2f}{between}, and {takes}" if found.value is not None else "")
        return (
            f"A mean of {self.each:.3g} {self._plural(1)} a {thing} has, for an order, {parts[0]}; for the values "
            f"themselves, {parts[1]}."
        )

    def as_json(self) -> dict[str, Any]:
        """Variances by source, and both coefficients."""
        behind = {} if self.ratings is None else {"ratings": self.ratings.as_json()}
        return {
            **({"measure": self.measure} if self.measure else {}),
            "variances": self.components,
            "sizes": dict(zip(("objects", "conditions", "groups", "values"), self.sizes, strict=True)),
            "each": self.each,
            "erho2": self.coefficient("erho2").as_json(),
            "phi": self.coefficient("phi").as_json(),
            "sentence": self.sentence(),
            "notes": list(self.notes),
            **behind,
        }


def generalizability(
    table: pd.DataFrame, value: str, of: list[str], by: str, within: str | None = None, seed: int = 0
) -> Generalizability:
    """Variance components of a table's values, and how far their means can be relied upon.

    Parameters
    ----------
    table : one value a row; rows without one are left out
    value : the column of values
    of : the columns that together name what is measured
    by : the column of what it is measured by
    within : a column of groups of what is measured; None for none
    seed : of the draw of whole groups (or objects) if there are too many for one table

    Raises
    ------
    RelstudyError
        if there are fewer than two of either, no two values of one object, or no noise

    Examples
    --------
    >>> values = {"bm25": (0.2, 0.4, 0.1), "new": (0.5, 0.6, 0.5), "old": (0.4, 0.6, 0.3)}
    >>> rows = [(system, query, ap) for system, each in values.items() for query, ap in enumerate(each)]
    >>> study = generalizability(pd.DataFrame(rows, columns=["system", "query", "ap"]), "ap", ["system"], "query")
    >>> round(study.coefficient("erho2").value, 3), round(study.coefficient("phi").value, 3)
    (0.952, 0.8)
    """
    table = table[np.isfinite(table[value].to_numpy(dtype=float))]
    thing, _ = pd.factorize(pd.MultiIndex.from_frame(table[of]) if len(of) > 1 else table[of[0]])
    condition, _ = pd.factorize(table[by])
    group = None if within is None else pd.factorize(table[within])[0]
    values = table[value].to_numpy(dtype=float)
    return study_of(values, (thing, condition, group), (of[-1], by, within or ""), seed)


def study_of(
    values: np.ndarray,
    codes: tuple[np.ndarray, np.ndarray, np.ndarray | None],
    names: tuple[str, str, str],
    seed: int = 0,
) -> Generalizability:
    """The same of values with the codes of their object, condition and group (None for none), int arrays (N)."""
    thing, condition = (np.unique(each, return_inverse=True)[1] for each in codes[:2])
    size = np.bincount(thing) if len(thing) else np.zeros(0, dtype=int)
    group = None
    if codes[2] is not None and len(thing):
        group = np.zeros(len(size), dtype=int)
        group[thing] = np.unique(codes[2], return_inverse=True)[1]
    groups = 0 if group is None else int(group.max()) + 1
    if group is None or groups < 2 or np.bincount(group).max() < 2:
        group, groups = None, 0
    name, by = (WORDS.get(each, each) for each in names[:2])
    if len(size) < 2 or condition.max() < 1:
        raise RelstudyError(f"at least two of {name} and {by} are needed to see where values vary")
    if size.max() < 2 or np.ptp(values) == 0:
        raise RelstudyError(f"noise cannot be estimated from what is measured: a {name} with several values is needed")
    apart = values - (np.bincount(thing, values) / size)[thing]
    if np.abs(apart).max() < 1e-9 * np.ptp(values):
        raise RelstudyError(f"values of one {name} never differ, so that noise cannot be estimated from it")
    each = 1 / float(np.mean(1 / size))
    swapped = group is None and condition.max() >= len(size)  # each is crossed with the other, and the fewer are summed
    if swapped:
        thing, condition = condition, thing
    kept = _few_enough(thing, condition, group, seed)
    notes: tuple[str, ...] = ()
    if not kept.all():
        some = f"{int(kept.sum()):,} of {len(kept):,} values"
        notes = (f"variances are of {some}, taken at random as whole {name}s and {by}s",)
        left, thing = np.unique(thing[kept], return_inverse=True)
        values, condition = values[kept], np.unique(condition[kept], return_inverse=True)[1]
        if group is not None:
            group = np.unique(group[left], return_inverse=True)[1]
            groups = int(group.max()) + 1
    variances, covariance = Layout(values, thing, condition, group).fit()
    if variances[0] == 0:  # the likelihood has no top: it rises for ever as the noise goes to 0
        where = f", {by} and {WORDS.get(names[2], names[2])}" if groups else f" and {by}"
        raise RelstudyError(
            f"{name}{where} explain every value to its last digit, so that noise cannot be estimated from them"
        )
    beyond = beyond_normal(values, thing, condition, group) * (np.diag(covariance) > 0)
    covariance += np.diag(beyond)
    if swapped:
        order = [0, 2, 1, 3, 4]
        variances, covariance, beyond = variances[order], covariance[np.ix_(order, order)], beyond[order]
        thing, condition = condition, thing
    sizes = int(thing.max()) + 1, int(condition.max()) + 1, groups, len(values)
    return Generalizability(
        (*names[:2], names[2] if groups else ""), variances, covariance, sizes, each, notes, beyond=beyond
    )


def of_panel(panel: Panel) -> Generalizability:
    """Of ratings: pairs within queries, rated by raters; raises as `generalizability` does."""
    decided = panel.decided()
    known = "query_id" in panel.pairs
    query = pd.factorize(panel.pairs["query_id"])[0][decided.pair] if known else None
    codes = (decided.pair, decided.rater, query)
    return study_of(decided.rating, codes, ("result_id", "rater_id", "query_id"))


def _few_enough(thing: np.ndarray, condition: np.ndarray, group: np.ndarray | None, seed: int) -> np.ndarray:
    """Rows of so few conditions, and whole groups or objects, that they are soon computed, bool array (N)."""
    random = np.random.default_rng(seed)
    kept = np.ones(len(thing), dtype=bool)
    if condition.max() >= MOST_CONDITIONS:
        kept = (random.permutation(condition.max() + 1) < MOST_CONDITIONS)[condition]
    several = np.bincount(thing[kept], minlength=thing.max() + 1)
    couples = np.bincount(thing if group is None else group[thing], kept * several[thing])
    shares = [MOST_COUPLES / max(couples.sum(), 1)]
    if group is not None:
        cells = np.unique(group[thing[kept]] * (condition.max() + 1) + condition[kept]) // (condition.max() + 1)
        most = int(np.bincount(cells).max())
        shares.append(max(MOST_WORK / max(most, LEAST_WORK) ** 3, 2) / len(couples))
    if min(shares) >= 1:
        return kept
    order = random.permutation(len(couples))
    chosen = np.zeros(len(couples), dtype=bool)
    chosen[order[: max(int(min(shares) * len(couples)), 2)]] = True
    return kept & chosen[thing if group is None else group[thing]]
