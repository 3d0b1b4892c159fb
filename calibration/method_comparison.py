"""Methods held against one another on pairs that none of them had seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtr

from relstudy.calibration.methods import METHODS
from relstudy.calibration.pipeline import Calibration
from relstudy.calibration.reliability.two_way_intervals import Figure
from relstudy.calibration.reliability.within_pair_variance import Progress, out_of_sample, scored_rows
from relstudy.common.results.estimates import Estimate
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import listed

SMALL, CLEAR = 0.05, 2.0
"""A corrected p below this, and so many standard errors, put a method ahead."""


@dataclass(frozen=True)
class Beside:
    """Another method beside the one used, on pairs that neither had seen.

    Parameters
    ----------
    method : the other
    correlation : its leave-one-out correlation of single ratings; None: it cannot be used, as `reason` says
    difference, error : the used method's less the other's, with its standard error for raters and pairs like these
    p : two-sided, by Student's t, times the number of methods compared (Bonferroni)
    order, order_difference, order_error : the same of judgments by half of the raters beside the other half's ratings
        (`out_of_sample`), for these raters
    reason : why there are no figures
    """

    method: str
    correlation: float | None = None
    difference: float | None = None
    error: float | None = None
    p: float | None = None
    order: float | None = None
    order_difference: float | None = None
    order_error: float | None = None
    reason: str = ""

    def sentence(self, used: str) -> str:
        """What a person who uses the other method should know, where it is ahead; else empty."""
        if self.p is None or self.difference is None or self.p >= SMALL or self.difference >= 0:
            return ""
        ahead = f"Single ratings agree better with the others' of their pair after {self.method} than after {used}, by "
        ahead += f"{-self.difference:.4f} (standard error {self.error:.4f}; p {self.p:.2g}, corrected)"
        if self.order_difference is None or self.order_error is None:
            return f"{ahead}; of judgments that is not known."
        if self.order_difference + CLEAR * self.order_error < 0:
            return f"{ahead}; so does the order of pairs by its judgments, by {-self.order_difference:.4f}."
        less = self.order_difference - CLEAR * self.order_error > 0
        how = f"less, by {self.order_difference:.4f}," if less else "no more"
        return (
            f"{ahead}; but the order of pairs by its judgments agrees {how} with what the other half of the raters "
            "gave: what is gained lies in single ratings and not in their means."
        )


def beside_others(result: Calibration, methods: Sequence[str], progress: Progress = iter) -> list[Beside]:
    """The method used, and others, held against the same ratings of pairs that none had seen.

    Parameters
    ----------
    methods : the others, any of METHODS
    progress : wraps their numbers, to show how they go
    """
    panel, used = result.panel, result.choice.method
    names = [used, *dict.fromkeys(name for name in methods if name != used)]
    scored = scored_rows(panel)
    part = panel.keep(scored.rows)
    freedom = max(np.count_nonzero(part.by_rater()) - 1, 1)
    rows: list[Beside] = []
    figures: dict[str, tuple[Figure | Estimate, Figure | Estimate]] = {}
    for number in progress(range(len(names))):
        name = names[number]
        weighted = result.noise.share > 0 if name == used else None
        try:
            fitted_to = result.fitted_to if METHODS[name].gives_lines else panel
            figures[name] = one, order = out_of_sample(fitted_to, name, scored, weighted=weighted, given=panel.rating)
        except RelstudyError as error:
            rows.append(Beside(name, reason=str(error)))
            continue
        if isinstance(one, Estimate):
            rows.append(Beside(name, reason=one.reason or ""))
            continue
        row = Beside(name, one.value, order=None if isinstance(order, Estimate) else order.value)
        own, own_order = figures.get(used, (Estimate.missing(""), Estimate.missing("")))
        if name != used and not isinstance(own, Estimate):
            less = own.plus(one, -1.0)
            size = less.standard_error(part)
            p = 2 * float(stdtr(freedom, -abs(less.value) / size)) if size > 0 else None
            row = replace(row, difference=less.value, error=size, p=p)
        if name != used and isinstance(own_order, Figure) and isinstance(order, Figure):
            less = own_order.plus(order, -1.0)
            row = replace(row, order_difference=less.value, order_error=float(np.sqrt(less.by_pair @ less.by_pair)))
        rows.append(row)
    compared = sum(each.p is not None for each in rows)
    return [each if each.p is None else replace(each, p=min(each.p * compared, 1.0)) for each in rows]


def beside_sentences(result: Calibration, rows: Sequence[Beside]) -> list[str]:
    """What figures of methods side by side mean: why one has none, which is ahead, how many were compared."""
    used = result.choice.method
    ahead = [each.sentence(used) for each in rows]
    told = [f"{each.method}: {each.reason}." if each.reason else said for each, said in zip(rows, ahead, strict=True)]
    compared = sum(each.difference is not None for each in rows)
    if not compared:
        told.append(f"No other method was compared with {used}.")
    elif not any(ahead):
        told.append(f"No other method is ahead of {used} by more than chance, over {compared} compared.")
    by_category = [each.method for each in rows if not METHODS[each.method].gives_lines and not each.reason]
    if result.drift_is_out and by_category:
        told.append(f"Drift was left in the ratings for {listed(by_category)}, which take these as categories.")
    return [each for each in told if each]
