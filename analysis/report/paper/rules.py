"""The rules by which a claim holds or does not: the same for the paper's printed numbers and for a study."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from relstudy.common.results.estimates import Estimate

HOLDS, FAILS, UNTOLD = "holds", "does not hold", "is undecided"
NEAR = 0.05
"""Correlations whose difference certainly is below this are comparable."""
AT_RANDOM = (0.505, 0.535)
"""What rounds to the paper's .51 to .53 on random ranks."""


@dataclass(frozen=True)
class Evidence:
    """What a claim is judged by.

    Parameters
    ----------
    what : the figures in words, or what lacks
    figures : each with its interval; empty where something lacks
    """

    what: str
    figures: tuple[Estimate, ...] = ()


@dataclass(frozen=True)
class Finding:
    """What comes of a claim.

    Parameters
    ----------
    verdict : HOLDS, FAILS or UNTOLD
    why : the figures in words, or what lacks
    figure : the one that decides, with its interval, or None
    """

    verdict: str
    why: str
    figure: Estimate | None = None


Rule = Callable[[Estimate], str]
"""The verdict on one figure that has an interval."""


def above(figure: Estimate) -> str:
    """A claim that a figure is above 0.

    Examples
    --------
    >>> above(Estimate(0.2, 0.1, 0.3)), above(Estimate(0.2, -0.1, 0.5)), above(Estimate(-0.2, -0.3, -0.1))
    ('holds', 'is undecided', 'does not hold')
    """
    low, high = figure.ends or (-1, 1)
    return HOLDS if low > 0 else FAILS if high < 0 else UNTOLD


def near(figure: Estimate) -> str:
    """A claim that two figures are comparable, by their difference: it holds where that certainly is below NEAR."""
    low, high = figure.ends or (-1, 1)
    return HOLDS if low > -NEAR and high < NEAR else FAILS if figure.excludes_zero else UNTOLD


def within_errors(figure: Estimate) -> str:
    """A claim that two figures agree within their errors, by their difference."""
    return FAILS if figure.excludes_zero else HOLDS


def alike(tau: Estimate) -> str:
    """A claim that two orders are the same, by Kendall's tau."""
    if (tau.value or 0.0) > 1 - 1e-9:
        return HOLDS
    return FAILS if (tau.ends or (0, 1))[1] < 1 - 1e-9 else UNTOLD


def at_random(figure: Estimate) -> str:
    """A claim that a figure is .51 to .53."""
    (low, high), (least, most) = figure.ends or (0, 1), AT_RANDOM
    return HOLDS if least <= low and high < most else FAILS if high < least or low >= most else UNTOLD


def judged(rules: Rule | Sequence[Rule], evidence: Evidence) -> Finding:
    """A claim that all figures bear out, or that one refutes.

    Parameters
    ----------
    rules : one for all figures, or one for each

    Examples
    --------
    >>> judged(above, Evidence("a minus b", (Estimate(0.2, 0.1, 0.3), Estimate(0.1, -0.1, 0.3)))).verdict
    'is undecided'
    """
    if not evidence.figures:
        return Finding(UNTOLD, evidence.what)
    each = [rules] * len(evidence.figures) if callable(rules) else list(rules)
    lacking = next((figure for figure in evidence.figures if figure.ends is None), None)
    if lacking is not None:
        return Finding(UNTOLD, f"{evidence.what}: {lacking.reason or 'no interval'}", lacking)
    verdicts = [rule(figure) for rule, figure in zip(each, evidence.figures, strict=True)]
    verdict = next((one for one in (FAILS, UNTOLD) if one in verdicts), HOLDS)
    return Finding(verdict, evidence.what, evidence.figures[verdicts.index(verdict)])


def by_most(evidence: Evidence) -> Finding:
    """A claim that orders are mostly the same: more than half of the taus say so, or say that they are not."""
    return _of_taus(evidence, lambda same, other, all_of: (same > all_of / 2, other > all_of / 2))


def varied(evidence: Evidence) -> Finding:
    """A claim that orders vary: some tau certainly is below 1, or all are 1."""
    return _of_taus(evidence, lambda same, other, all_of: (other > 0, same == all_of))


def _of_taus(evidence: Evidence, holds_or_fails: Callable[[int, int, int], tuple[bool, bool]]) -> Finding:
    if not evidence.figures:
        return Finding(UNTOLD, evidence.what)
    verdicts = [alike(tau) for tau in evidence.figures]
    same, other = verdicts.count(HOLDS), verdicts.count(FAILS)
    holds, fails = holds_or_fails(same, other, len(verdicts))
    least = min(evidence.figures, key=lambda tau: tau.value or 0.0)
    why = f"the order is the same in {same} of {len(verdicts)} and certainly another in {other}; {evidence.what}"
    return Finding(HOLDS if holds else FAILS if fails else UNTOLD, why, least)
