"""The many-facet Rasch model of graded ratings (Rasch 1960; Andrich 1978; Linacre 1989).

log(P(rating k) / P(rating k - 1)) = theta_i - delta_j - eta_s - tau_k: the worth of pair i less the severity of rater
j, less that of what else a rating is of (a session, a day), less the step from one rating to the next, in logits.
Worths are normal about the mean of their query, where queries are a facet, else about one mean, and summed out on a
grid; the rest has greatest likelihood (marginal maximum likelihood: Bock and Aitkin 1981).
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.sparse import csr_array, hstack
from scipy.special import logsumexp

from relstudy.calibration.methods.by_category import ByCategory, categories_of, on_the_scale
from relstudy.calibration.panel import QUERY, Facet, Panel
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import listed_some, span

NODES, WIDE_NODES = np.linspace(-5, 5, 201), np.linspace(-9, 9, 361)
"""Of worths in spreads of a query's worths; wide where queries' means are apart."""
FARTHEST_QUERY = 4.0
"""Most spreads of a query's mean: that of a query whose ratings are all one end of the scale has no top."""
FARTHEST = 12.0
"""Most logits of a severity: the likelihood of a rater who gives one end of the scale alone has no top."""
MISFIT = (0.5, 1.5)
"""Mean squares between these are productive for measurement (Linacre 2002)."""
ENOUGH = 10
"""With fewer ratings beside others' a mean square says nothing."""
STEP = 1e-4
"""Of differences of the gradient, in logits."""
NEAR = 300.0
"""Logits times categories whose exponential is far from the largest float, with the steps between categories."""
ROWS_AT_ONCE, CELLS_AT_ONCE = 20_000, 500
MOST_LEVELS = 2_000
"""Of raters and facets together: whether they are told apart is seen by a matrix of that size."""


def rasch(panel: Panel) -> ByCategory:
    """Each rating as the worth to expect of its pair, by the severity of its rater, and of its session.

    Columns of the raters: `severity` in logits, mean 0; `severity_error`, its standard error; and the mean squares
    `infit` and `outfit` beside what the other raters' ratings of the same pairs lead to expect, near 1 where a rater is
    as consistent as the model says. Columns of the judgments: the pair's `worth` by all its ratings and `worth_error`,
    both in logits. Of the panel's facets, a table with the same columns.

    Raises
    ------
    RelstudyError
        if there are fewer than 2 or more than 20 distinct ratings, or the ratings do not tell facets apart

    Examples
    --------
    >>> from relstudy.calibration.simulation import simulate_panel
    >>> simulated = simulate_panel(8, 10, 60, seed=1)
    >>> severity = rasch(simulated.panel).of_raters["severity"]
    >>> bool(np.corrcoef(severity, simulated.leniency)[0, 1] < -0.9)
    True
    """
    decided = panel.decided()
    categories, code = categories_of(decided, "rasch")
    likelihood = Rasch(decided, code, len(categories))
    values = likelihood.mode()
    severity, steps, spread, effects = likelihood.parameters(values)
    logs = likelihood.logs(severity, steps, spread, effects)
    posterior = likelihood.posterior(logs, effects)
    worth = spread * (posterior @ likelihood.nodes)
    middle = severity[decided.by_rater() > 0].mean()
    left = np.maximum(spread**2 * (posterior @ likelihood.nodes**2) - worth**2, 0.0)
    errors = _severity_errors(likelihood, values, logs, posterior, left)
    square, expected = _surprise(decided, likelihood.cell, code, logs, posterior)

    def measured(name: str, codes: np.ndarray, number: int) -> dict[str, np.ndarray]:
        """Standard errors and mean squares of a facet's levels, from its level of each rating."""
        return {"severity_error": errors[name], **_mean_squares(codes, number, square, expected)}

    of_raters = {"severity": severity - middle, **measured("rater_id", decided.rater, decided.n_raters)}
    tables = []
    for name, facet in decided.facets.items():
        number = len(facet.levels)
        if name == QUERY:
            own = (1 - left / spread**2) / spread**2
            sums = np.bincount(likelihood.query, own, number)
            columns = {
                "worth": spread * effects[name],
                "worth_error": 1 / np.sqrt(np.maximum(sums, 1e-300)),
            }
            columns |= _mean_squares(facet.code, number, square, expected)
        else:
            columns = {"severity": effects[name], **measured(name, facet.code, number)}
        ratings = np.bincount(facet.code, minlength=number)
        columns = {each: np.where(ratings > 0, values, np.nan) for each, values in columns.items()}
        tables.append(pd.DataFrame({"facet": name, "level": facet.levels.astype("str"), "ratings": ratings, **columns}))
    scores = likelihood.scores(severity, steps, spread, effects)
    return ByCategory(
        "rasch",
        categories,
        on_the_scale(decided, code, scores, likelihood.place),
        of_raters,
        {"worth": worth - middle, "worth_error": np.sqrt(left)},
        " ".join([_note(decided, of_raters, spread), *map(_facet_note, tables)]),
        facets=tuple(likelihood.row_facets),
        of_facets=pd.concat(tables, ignore_index=True) if tables else None,
    )


class Rasch:
    """The likelihood of N ratings of P pairs by R raters on K categories, pairs' worths summed out.

    Ratings of one rater and one level of each other facet but queries are a cell, C of them; a query moves the mean of
    its pairs' worths and no cell.

    Parameters
    ----------
    decided : the ratings
    code : the category of each, int array (N)
    """

    def __init__(self, decided: Panel, code: np.ndarray, categories: int) -> None:
        self.panel, self.categories = decided, categories
        self.row_facets: dict[str, Facet] = {name: facet for name, facet in decided.facets.items() if name != QUERY}
        self.place = decided.rater
        for facet in self.row_facets.values():
            self.place = self.place * len(facet.levels) + facet.code
        seen, first, self.cell = np.unique(self.place, return_index=True, return_inverse=True)
        self.of_cell = {"rater_id": decided.rater[first]}
        self.of_cell |= {name: facet.code[first] for name, facet in self.row_facets.items()}
        self.present = {name: np.unique(facet.code) for name, facet in decided.facets.items()}
        self.query = np.zeros(decided.n_pairs, dtype=int)
        self.queries = 1
        if QUERY in decided.facets:
            facet = decided.facets[QUERY]
            self.query[decided.pair] = facet.code
            self.queries = len(facet.levels)
        self.nodes = NODES if self.queries == 1 else WIDE_NODES
        ones = np.ones(len(code))
        shape = (decided.n_pairs, len(seen))
        self.rated = csr_array((ones, (decided.pair, self.cell)), shape=shape)
        cells = (ones, (decided.pair, self.cell * categories + code))
        self.counts = csr_array(cells, shape=(shape[0], shape[1] * categories))
        self.code = code
        self.total = np.bincount(decided.pair, code, decided.n_pairs)
        self.given = np.bincount(self.cell, code, len(seen))
        self.beyond = np.bincount(code, minlength=categories)[::-1].cumsum()[::-1][1:]
        self.refuse_mixed()

    def refuse_mixed(self) -> None:
        """Refuse facets of which a level differs from others alone as raters, or levels of other facets, do."""
        decided = self.panel
        sizes = [decided.n_raters, *(len(facet.levels) for facet in decided.facets.values())]
        if len(sizes) == 1:
            return
        if sum(sizes) > MOST_LEVELS:
            raise RelstudyError(f"raters and facets have {sum(sizes):,} levels; the rasch method takes {MOST_LEVELS:,}")
        codes = [decided.rater, *(facet.code for facet in decided.facets.values())]
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        rows = np.tile(np.arange(len(decided.rating)), len(codes))
        places = np.concatenate([start + code for start, code in zip(starts, codes, strict=True)])
        design = csr_array((np.ones(len(rows)), (rows, places)), shape=(len(decided.rating), sum(sizes)))
        seen = int(np.count_nonzero(decided.by_rater())) + sum(map(len, self.present.values()))
        if np.linalg.matrix_rank((design.T @ design).toarray(), hermitian=True) < seen - len(decided.facets):
            raise RelstudyError(
                f"the ratings do not separate {', '.join(('rater_id', *decided.facets))}: some levels of one "
                "go with "
                "certain levels of another throughout, so leave one of them out"
            )

    def logs(
        self, severity: np.ndarray, steps: np.ndarray, spread: float, effects: dict[str, np.ndarray]
    ) -> np.ndarray:
        """log P(category k in a cell | worth at each node), float array (C, K, nodes)."""
        return self._logs(self.hard(severity, effects), steps, spread)

    def hard(self, severity: np.ndarray, effects: dict[str, np.ndarray]) -> np.ndarray:
        """The severity of each cell, float array (C)."""
        hard = severity[self.of_cell["rater_id"]]
        for name in self.row_facets:
            hard = hard + effects[name][self.of_cell[name]]
        return hard

    def _logs(self, hard: np.ndarray, steps: np.ndarray, spread: float) -> np.ndarray:
        number = np.arange(self.categories)
        until = np.concatenate([[0.0], np.cumsum(steps)])
        x = number[:, None] * (spread * self.nodes - hard[:, None])[:, None, :] - until[:, None]
        return np.asarray(x - logsumexp(x, axis=1, keepdims=True))

    def scores(
        self, severity: np.ndarray, steps: np.ndarray, spread: float, effects: dict[str, np.ndarray]
    ) -> np.ndarray:
        """The worth to expect of a pair, of whatever query, of which one rating is known, float array (places, K)."""
        hard = severity
        for name in self.row_facets:
            hard = (hard[:, None] + effects[name]).ravel()
        share = np.bincount(self.query, minlength=self.queries) / len(self.query)
        prior = logsumexp(self.prior(effects), axis=0, b=share[:, None])
        found = []
        for start in range(0, len(hard), CELLS_AT_ONCE):
            joint = self._logs(hard[start : start + CELLS_AT_ONCE], steps, spread) + prior
            weights = np.exp(joint - joint.max(axis=2, keepdims=True))
            found.append(spread * (weights @ self.nodes) / weights.sum(axis=2))
        return np.concatenate(found)

    def prior(self, effects: dict[str, np.ndarray]) -> np.ndarray:
        """log P(node) of a pair of each query, float array (Q, nodes)."""
        mean = effects.get(QUERY, np.zeros(1))
        logs = -((self.nodes - mean[:, None]) ** 2) / 2
        return np.asarray(logs - logsumexp(logs, axis=1, keepdims=True))

    def posterior(self, logs: np.ndarray, effects: dict[str, np.ndarray]) -> np.ndarray:
        """The chance of each node for each pair by its ratings, float array (P, nodes)."""
        joint = self.counts @ logs.reshape(-1, len(self.nodes)) + self.prior(effects)[self.query]
        return np.asarray(np.exp(joint - logsumexp(joint, axis=1, keepdims=True)))

    def negative(self, values: np.ndarray) -> tuple[float, np.ndarray]:
        """Less the log likelihood, and its gradient by what `parameters` takes."""
        severity, steps, spread, effects = self.parameters(values)
        hard, until = self.hard(severity, effects), np.concatenate([[0.0], np.cumsum(steps)])
        sums = Sums(spread * self.nodes - hard[:, None], until)
        prior = self.prior(effects)
        known = np.bincount(self.panel.pair, self.code * hard[self.cell] + until[self.code], self.panel.n_pairs)
        joint = self.total[:, None] * (spread * self.nodes) - known[:, None] - self.rated @ sums.log
        joint += prior[self.query]
        total = logsumexp(joint, axis=1, keepdims=True)
        posterior = np.exp(joint - total)
        by_category = sums.expected(self.rated.T @ posterior, self.nodes)
        number = np.arange(self.categories)
        by_cell = self.given - number @ by_category[:, 0]
        gradient = [np.bincount(self.of_cell["rater_id"], by_cell, len(severity))]
        for name, facet in self.panel.facets.items():
            if name == QUERY:
                drawn = posterior @ self.nodes - (np.exp(prior) @ self.nodes)[self.query]
                by_level = -np.bincount(self.query, drawn, self.queries)
            else:
                by_level = np.bincount(self.of_cell[name], by_cell, len(facet.levels))
            by_level = by_level[self.present[name]]
            gradient.append(by_level[:-1] - by_level[-1])
        by_step = self.beyond - by_category[::-1, 0].sum(axis=1).cumsum()[::-1][1:]
        by_spread = float(self.total @ (posterior @ self.nodes) - (number @ by_category[:, 1]).sum())
        return -float(total.sum()), np.concatenate([*gradient, by_step[:-1] - by_step[-1], [-spread * by_spread]])

    def parameters(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, float, dict[str, np.ndarray]]:
        """Severities (R), steps (K - 1, which add up to 0), the spread of worths, and the levels of each facet, which
        add up to 0, too (queries' in spreads; 0 without ratings), from what is searched over: the same without the last
        of each sum, and the logarithm of the spread; steps come after facets."""
        start = self.panel.n_raters
        severity, effects = values[:start], {}
        for name, facet in self.panel.facets.items():
            present = self.present[name]
            free = values[start : start + len(present) - 1]
            effects[name] = np.zeros(len(facet.levels))
            effects[name][present] = np.append(free, -free.sum())
            start += len(free)
        free = values[start:-1]
        return severity, np.append(free, -free.sum()), float(np.exp(values[-1])), effects

    def mode(self) -> np.ndarray:
        """What `parameters` takes, of greatest likelihood."""
        bounds = [(-FARTHEST, FARTHEST)] * self.panel.n_raters
        for name, present in self.present.items():
            most = FARTHEST_QUERY if name == QUERY else FARTHEST
            bounds += [(-most, most)] * (len(present) - 1)
        bounds += [*[(-FARTHEST, FARTHEST)] * (self.categories - 2), (np.log(0.01), np.log(20.0))]
        options = {"maxiter": 1000, "ftol": 1e-12, "gtol": 1e-5}
        start = np.zeros(len(bounds))
        return np.asarray(minimize(self.negative, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options).x)


class Sums:
    """Sums over the K categories of exp(k x - until_k), for many x; none of them is too large for a float.

    They are polynomials in exp(x), so that one exponential a place does for all categories: where each rating is a cell
    of its own, as sessions make them, exponentials are most of the work. Where x is far from 0 they are polynomials in
    exp(-x) above it.

    Parameters
    ----------
    x : float array (C, nodes)
    until : float array (K), the first 0
    """

    def __init__(self, x: np.ndarray, until: np.ndarray) -> None:
        is_near = (len(until) - 1) * np.abs(x).max() < NEAR
        self.above = np.zeros((1, 1), dtype=bool) if is_near else x > 0
        self.base = np.exp(np.where(self.above, -x, x))
        least = until.min()
        self.weights = np.exp(least - until)
        self.sum = np.full(x.shape, self.weights[-1])
        self.sum[np.broadcast_to(self.above, x.shape)] = self.weights[0]
        for low, high in zip(self.weights[-2::-1], self.weights[1:], strict=True):
            self.sum *= self.base
            self.sum += np.where(self.above, high, low)
        self.log = np.log(self.sum) + (len(until) - 1) * np.where(self.above, x, 0.0) - least

    def expected(self, mass: np.ndarray, nodes: np.ndarray) -> np.ndarray:
        """The mass of each category in each cell, and the same times the nodes, float array (K, 2, C)."""
        share = mass / self.sum
        sides = np.column_stack([np.ones_like(nodes), nodes])
        found = np.zeros((len(self.weights), 2, len(mass)))
        powers = range(len(self.weights))
        for above, order in ((False, powers), (True, powers[::-1])) if self.above.any() else ((False, powers),):
            part = np.where(self.above == above, share, 0.0)
            for category in order:
                found[category] += (part @ sides).T
                part *= self.base
        return found * self.weights[:, None, None]


def _moments(logs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of a cell's rating at each node, float arrays (C, nodes)."""
    number = np.arange(logs.shape[1])
    mean = np.einsum("k,jkz->jz", number, np.exp(logs))
    return mean, np.einsum("k,jkz->jz", number**2, np.exp(logs)) - mean**2


def _severity_errors(
    likelihood: Rasch, values: np.ndarray, logs: np.ndarray, posterior: np.ndarray, left: np.ndarray
) -> dict[str, np.ndarray]:
    """Standard errors of raters' severities and of the levels of each facet, less their mean, float arrays by facet;
    NaN without ratings.

    The information of all ratings if worths were known, less what goes into finding them (Louis 1982, JRSS B 44, Eq.
    3.2, to first order in a worth): two raters of the same pairs share the error of these pairs' worths. That of steps
    and of the spread of worths comes from differences of the gradient. Queries' means are taken as known.

    Parameters
    ----------
    values : the parameters of greatest likelihood, as `Rasch.parameters` takes them
    left : posterior variance of each pair's worth, float array (P)
    """
    panel = likelihood.panel
    rows, (_, variance) = np.arange(len(panel.pair)), _moments(logs)
    known = np.empty(len(rows))
    for start in range(0, len(rows), ROWS_AT_ONCE):
        part = rows[start : start + ROWS_AT_ONCE]
        known[part] = np.einsum("nz,nz->n", posterior[panel.pair[part]], variance[likelihood.cell[part]])
    raters = panel.n_raters
    levels = {"rater_id": (np.arange(raters), np.eye(raters), panel.rater)}  # parameters, levels by these, of ratings
    at = raters
    for name, facet in panel.facets.items():
        number = len(likelihood.present[name])
        if name != QUERY:
            by_free = np.zeros((len(facet.levels), number - 1))
            by_free[likelihood.present[name]] = np.vstack([np.eye(number - 1), -np.ones(number - 1)])
            levels[name] = (np.arange(at, at + number - 1), by_free, facet.code)
        at += number - 1
    free = np.concatenate([which for which, *_ in levels.values()])
    hard = hstack([csr_array(by_free)[code] for _, by_free, code in levels.values()], format="csr")
    shared = csr_array((known * np.sqrt(left[panel.pair]), (panel.pair, rows)), shape=(len(left), len(rows))) @ hard
    information = np.zeros((len(values), len(values)))
    information[np.ix_(free, free)] = (hard.T @ (hard * known[:, None]) - shared.T @ shared).toarray()
    for place in range(at, len(values)):
        step = STEP * np.eye(len(values))[place]
        column = (likelihood.negative(values + step)[1] - likelihood.negative(values - step)[1]) / (2 * STEP)
        information[:, place] = information[place] = column
    used = np.concatenate([free[information[free, free] > 0], np.arange(at, len(values))])
    if np.linalg.eigvalsh(information[np.ix_(used, used)])[0] <= 0:  # steps or a spread at the end of what is allowed
        used = used[used < at]
    covariance = np.zeros_like(information)
    covariance[np.ix_(used, used)] = np.linalg.pinv(information[np.ix_(used, used)], hermitian=True)
    inside = (panel.by_rater() > 0) & (np.abs(values[:raters]) < FARTHEST - 0.01)
    levels["rater_id"][1][:, inside] -= 1 / max(int(inside.sum()), 1)
    errors = {}
    for name, (which, by_free, code) in levels.items():
        spread = np.einsum("lf,fg,lg->l", by_free, covariance[np.ix_(which, which)], by_free, optimize=True)
        rated = np.bincount(code, minlength=len(by_free)) > 0
        errors[name] = np.where(rated, np.sqrt(np.maximum(spread, 0.0)), np.nan)
    return errors


def _surprise(
    decided: Panel, cell: np.ndarray, code: np.ndarray, logs: np.ndarray, posterior: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Squared distance of each rating from what the pair's other ratings lead to expect, and the square expected, float
    arrays (N); NaN if there is no other.

    So held, mean squares are 1 in expectation; where all ratings of a pair make its worth, they would lie below 1, the
    fewer ratings a pair has.
    """
    mean, variance = _moments(logs)
    several = np.flatnonzero(decided.by_pair()[decided.pair] > 1)
    square, expected = np.full(len(code), np.nan), np.full(len(code), np.nan)
    for start in range(0, len(several), ROWS_AT_ONCE):
        rows = several[start : start + ROWS_AT_ONCE]
        of_row = cell[rows]
        others = posterior[decided.pair[rows]] * np.exp(-logs[of_row, code[rows]])
        others /= others.sum(axis=1, keepdims=True)
        foreseen = (others * mean[of_row]).sum(axis=1)
        within = (others * (variance[of_row] + mean[of_row] ** 2)).sum(axis=1) - foreseen**2
        square[rows] = (code[rows] - foreseen) ** 2
        expected[rows] = np.maximum(within, 1e-12)
    return square, expected


def _mean_squares(codes: np.ndarray, number: int, square: np.ndarray, expected: np.ndarray) -> dict[str, np.ndarray]:
    """Infit and outfit of each level of a facet, float arrays; NaN with fewer than ten ratings beside others'.

    Parameters
    ----------
    codes, number : each rating's level, int array (N), and how many there are
    square, expected : from `_surprise`
    """
    known = ~np.isnan(square)
    level, square, expected = codes[known], square[known], expected[known]
    n = np.bincount(level, minlength=number)
    sums = [np.bincount(level, values, number) for values in (square, expected, square / expected)]
    infit, outfit = sums[0] / np.where(n, np.maximum(sums[1], 1e-300), 1.0), sums[2] / np.maximum(n, 1)
    return {"infit": np.where(n >= ENOUGH, infit, np.nan), "outfit": np.where(n >= ENOUGH, outfit, np.nan)}


def _outside(names: pd.Index, infit: np.ndarray) -> str:
    """The names outside what is productive, as a phrase."""
    out = (infit < MISFIT[0]) | (infit > MISFIT[1])
    return f"outside them: {listed_some([str(each) for each in names[out]])}" if out.any() else "nobody outside them"


def _note(decided: Panel, of_raters: dict[str, np.ndarray], spread: float) -> str:
    rated = decided.by_rater() > 0
    severity = of_raters["severity"][rated]
    error = of_raters["severity_error"][rated]
    ends = span(float(severity.min()), float(severity.max()), "+.2f")
    return (
        f"Severities of raters lie from {ends} logits (standard errors "
        f"{np.nanmin(error):.2f} to {np.nanmax(error):.2f}), worths of pairs spread by {spread:.2f}; infit mean "
        f"squares of {MISFIT[0]} to {MISFIT[1]} are productive, "
        f"{_outside(decided.raters[rated], of_raters['infit'][rated])}."
    )


def _facet_note(table: pd.DataFrame) -> str:
    """A facet in a sentence."""
    name = table["facet"].iloc[0]
    what = "worth" if "worth" in table else "severity"
    values, error = table[what], table[f"{what}_error"]
    out = _outside(pd.Index(table["level"]), table["infit"].to_numpy()).replace("nobody", "none")
    ends = span(float(values.min()), float(values.max()), "+.2f")
    return (
        f"By {name} {what} lies from {ends} logits (standard errors "
        f"{error.min():.2f} to {error.max():.2f}); of mean squares, {out}."
    )
