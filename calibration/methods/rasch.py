"""The many-facet Rasch model of graded ratings (Rasch 1960; Andrich 1978; Linacre 1989).

log(P(rating k) / P(rating k - 1)) = theta_i - delta_j - tau_k: the worth of pair i less the severity of rater j and the
step from one rating to the next, in logits. Worths are normal and summed out on a grid; severities, steps and the
spread of worths have greatest likelihood (marginal maximum likelihood: Bock and Aitkin 1981).
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.special import logsumexp

from relstudy.calibration.methods.by_category import ByCategory, categories_of, on_the_scale
from relstudy.calibration.panel import Panel
from relstudy.common.wording import listed_some, span

NODES = np.linspace(-5, 5, 201)
LOG_WEIGHTS = -(NODES**2) / 2 - logsumexp(-(NODES**2) / 2)
FARTHEST = 12.0
"""Most logits of a severity: the likelihood of a rater who gives one end of the scale alone has no top."""
MISFIT = (0.5, 1.5)
"""Mean squares between these are productive for measurement (Linacre 2002)."""
ENOUGH = 10
"""With fewer ratings beside others' a mean square says nothing."""
ROWS_AT_ONCE = 20_000


def rasch(panel: Panel) -> ByCategory:
    """Each rating as the worth to expect of its pair, by the severity of its rater.

    Columns of the raters: `severity` in logits, mean 0; `severity_error`, its standard error with worths known
    as far as ratings tell; and the mean squares `infit` and `outfit` beside what the other raters' ratings of the same
    pairs lead to expect, near 1 where a rater is as consistent as the model says. Columns of the judgments: the pair's
    `worth` by all its ratings and `worth_error`, both in logits.

    Raises
    ------
    RelstudyError
        where there are fewer than 2 or more than 20 distinct ratings

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
    severity, steps, spread = likelihood.mode()
    logs = likelihood.logs(severity, steps, spread)
    posterior = likelihood.posterior(logs)
    joint = logs + LOG_WEIGHTS
    weights = np.exp(joint - joint.max(axis=2, keepdims=True))
    scores = spread * (weights @ NODES) / weights.sum(axis=2)
    worth = spread * (posterior @ NODES)
    middle = severity[decided.by_rater() > 0].mean()
    error = np.sqrt(np.maximum(spread**2 * (posterior @ NODES**2) - worth**2, 0.0))
    _, variance = _moments(logs)
    information = ((likelihood.rated.T @ posterior) * variance).sum(axis=1)
    of_raters = {
        "severity": severity - middle,
        "severity_error": np.where(information > 0, 1 / np.sqrt(np.where(information > 0, information, 1.0)), np.nan),
        **_fit(decided, code, logs, posterior),
    }
    return ByCategory(
        "rasch",
        categories,
        on_the_scale(decided, code, scores),
        of_raters,
        {"worth": worth - middle, "worth_error": error},
        _note(decided, of_raters, spread),
    )


class Rasch:
    """The likelihood of N ratings of P pairs by R raters on K categories, pairs' worths summed out.

    Parameters
    ----------
    decided : the ratings
    code : the category of each, int array (N)
    """

    def __init__(self, decided: Panel, code: np.ndarray, categories: int) -> None:
        ones = np.ones(len(code))
        shape = (decided.n_pairs, decided.n_raters)
        self.panel, self.categories = decided, categories
        self.rated = csr_array((ones, (decided.pair, decided.rater)), shape=shape)
        cells = (ones, (decided.pair, decided.rater * categories + code))
        self.counts = csr_array(cells, shape=(shape[0], shape[1] * categories))
        self.given = decided.by_rater(code)
        self.beyond = np.bincount(code, minlength=categories)[::-1].cumsum()[::-1][1:]

    def logs(self, severity: np.ndarray, steps: np.ndarray, spread: float) -> np.ndarray:
        """log P(category k by rater j | worth at each node), float array (R, K, nodes)."""
        number = np.arange(self.categories)
        until = np.concatenate([[0.0], np.cumsum(steps)])
        x = number[:, None] * (spread * NODES - severity[:, None])[:, None, :] - until[:, None]
        return np.asarray(x - logsumexp(x, axis=1, keepdims=True))

    def posterior(self, logs: np.ndarray) -> np.ndarray:
        """The chance of each node for each pair by its ratings, float array (P, nodes)."""
        joint = self.counts @ logs.reshape(-1, len(NODES)) + LOG_WEIGHTS
        return np.asarray(np.exp(joint - logsumexp(joint, axis=1, keepdims=True)))

    def negative(self, values: np.ndarray) -> tuple[float, np.ndarray]:
        """Less the log likelihood, and its gradient by severities, all steps but the last, and the log spread."""
        severity, steps, spread = self.parameters(values)
        logs = self.logs(severity, steps, spread)
        joint = self.counts @ logs.reshape(-1, len(NODES)) + LOG_WEIGHTS
        total = logsumexp(joint, axis=1, keepdims=True)
        mass = self.rated.T @ np.exp(joint - total)
        chance = np.exp(logs)
        mean = np.arange(self.categories) @ chance.reshape(len(logs), self.categories, -1)
        at_least = chance[:, ::-1].cumsum(axis=1)[:, ::-1][:, 1:]
        by_severity = self.given - (mass * mean).sum(axis=1)
        by_step = self.beyond - np.einsum("jz,jkz->k", mass, at_least)
        number = self.counts @ np.tile(np.arange(self.categories, dtype=float), len(logs))
        by_spread = float(np.sum((number[:, None] * np.exp(joint - total)) @ NODES) - np.sum((mass * mean) @ NODES))
        gradient = np.concatenate([by_severity, by_step[:-1] - by_step[-1], [-spread * by_spread]])
        return -float(total.sum()), gradient

    def parameters(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """Severities (R), steps (K - 1, which add up to 0) and the spread of worths, from what is searched over."""
        raters = self.panel.n_raters
        free = values[raters:-1]
        return values[:raters], np.append(free, -free.sum()), float(np.exp(values[-1]))

    def mode(self) -> tuple[np.ndarray, np.ndarray, float]:
        """The parameters of greatest likelihood."""
        raters = self.panel.n_raters
        start = np.zeros(raters + self.categories - 1)
        bounds = [*[(-FARTHEST, FARTHEST)] * (raters + self.categories - 2), (np.log(0.01), np.log(20.0))]
        options = {"maxiter": 1000, "ftol": 1e-12, "gtol": 1e-5}
        return self.parameters(
            minimize(self.negative, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options).x
        )


def _moments(logs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of a rater's rating at each node, float arrays (R, nodes)."""
    number = np.arange(logs.shape[1])
    mean = np.einsum("k,jkz->jz", number, np.exp(logs))
    return mean, np.einsum("k,jkz->jz", number**2, np.exp(logs)) - mean**2


def _fit(decided: Panel, code: np.ndarray, logs: np.ndarray, posterior: np.ndarray) -> dict[str, np.ndarray]:
    """Infit and outfit of each rater, float arrays (R); NaN with fewer than ten ratings beside others'.

    A rating is held against what the pair's other ratings lead to expect, so that both are 1 in expectation; where all
    ratings of a pair make its worth, they would lie below 1, the fewer ratings a pair has.
    """
    mean, variance = _moments(logs)
    several = np.flatnonzero(decided.by_pair()[decided.pair] > 1)
    square, expected = np.empty(len(several)), np.empty(len(several))
    for start in range(0, len(several), ROWS_AT_ONCE):
        rows = several[start : start + ROWS_AT_ONCE]
        rater = decided.rater[rows]
        others = posterior[decided.pair[rows]] * np.exp(-logs[rater, code[rows]])
        others /= others.sum(axis=1, keepdims=True)
        foreseen = (others * mean[rater]).sum(axis=1)
        within = (others * (variance[rater] + mean[rater] ** 2)).sum(axis=1) - foreseen**2
        square[start : start + ROWS_AT_ONCE] = (code[rows] - foreseen) ** 2
        expected[start : start + ROWS_AT_ONCE] = np.maximum(within, 1e-12)
    rater, raters = decided.rater[several], decided.n_raters
    n = np.bincount(rater, minlength=raters)
    enough = n >= ENOUGH
    sums = [np.bincount(rater, values, raters) for values in (square, expected, square / expected)]
    infit, outfit = sums[0] / np.where(enough, sums[1], 1.0), sums[2] / np.maximum(n, 1)
    return {"infit": np.where(enough, infit, np.nan), "outfit": np.where(enough, outfit, np.nan)}


def _note(decided: Panel, of_raters: dict[str, np.ndarray], spread: float) -> str:
    rated = decided.by_rater() > 0
    severity = of_raters["severity"][rated]
    error = of_raters["severity_error"][rated]
    out = rated & ((of_raters["infit"] < MISFIT[0]) | (of_raters["infit"] > MISFIT[1]))
    names = [str(each) for each in decided.raters[out]]
    misfit = f"outside them: {listed_some(names)}" if names else "nobody outside them"
    ends = span(float(severity.min()), float(severity.max()), "+.2f")
    return (
        f"Severities of raters lie from {ends} logits (standard errors "
        f"{np.nanmin(error):.2f} to {np.nanmax(error):.2f}), worths of pairs spread by {spread:.2f}; infit mean "
        f"squares of {MISFIT[0]} to {MISFIT[1]} are productive, {misfit}."
    )
