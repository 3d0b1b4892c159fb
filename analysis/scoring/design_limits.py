"""Limits by the design of the judged pairs: figures that it cannot estimate have no interval, whatever was drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from relstudy.analysis.indices.registry import limited_figures
from relstudy.analysis.resampling.bootstrap import BootstrapStatistic
from relstudy.common.runtime.wording import capital, listed
from relstudy.common.sampling.design_reach import REACH, beyond_reach, design_reach
from relstudy.common.sampling.response_rates import DRAWN
from relstudy.common.tables.meaning.pairs_table import INSIDE


@dataclass(frozen=True)
class DesignLimits:
    """The design that judged pairs were drawn by, as far as judgments carry it.

    Parameters
    ----------
    reach : see `relstudy.common.sampling.design_reach`; NaN where unknown
    drawn : how many pairs were drawn; None where unknown, or where all of them are judged
    judged : how many are judged, those outside a pool included
    pool : whether the pairs were drawn from a pool
    undecided : how many pairs were seen and nobody could decide them
    """

    reach: float = float("nan")
    drawn: int | None = None
    judged: int = 0
    pool: bool = False
    undecided: int = 0

    @classmethod
    def of(cls, frame: pd.DataFrame, left_out: int = 0, undecided: int = 0) -> DesignLimits:
        """From a table of judgments.

        Parameters
        ----------
        left_out : judged pairs from outside the pool, which are not in the table
        undecided : how many pairs were seen and nobody could decide them
        """
        drawn = pd.to_numeric(frame[DRAWN], errors="coerce").max() if DRAWN in frame else float("nan")
        number = None if np.isnan(drawn) else int(drawn)
        return cls(design_reach(frame), number, len(frame) + left_out, "pool" in frame, undecided)

    @property
    def withheld(self) -> str | None:
        """The reason why figures over the whole population have no interval, as a phrase; None where they have one."""
        return beyond_reach(self.reach, 1.0 if self.drawn is None else min(1.0, self.judged / self.drawn))

    def limited(self, figure: BootstrapStatistic) -> BootstrapStatistic:
        """A figure that rests on all that is relevant in the population, without an interval where the design cannot
        estimate it."""
        reason = self.withheld
        return figure if reason is None else replace(figure, withheld=reason)

    def notes(self) -> list[str]:
        """Notes, one sentence each."""
        notes = []
        missing = 0 if self.drawn is None else self.drawn - self.judged
        if missing > 0 and missing != self.undecided:  # else they are the undecided ones, of which another note speaks
            are = "is" if missing == 1 else "are"
            of_these = f", {self.undecided} of them undecided" if 0 < self.undecided < missing else ""
            rest = "the figures take the judged ones for all"
            notes.append(f"{missing} of {self.drawn} pairs drawn {are} not judged{of_these}; {rest}.")
        if self.withheld is not None:
            figures = listed(limited_figures())
            notes.append(f"{capital(figures)} have no interval and no test: {self.withheld}.")
        if self.pool:
            notes.append(
                "The pairs were drawn from a pool of what systems rank highest: figures speak of the pool, and a "
                "system that took no part in it is ranked by its order within the pool."
            )
        return notes

    def columns(self) -> dict[str, Any]:
        """The columns of a table of judgments from which `of` gives the same again."""
        known = {REACH: None if np.isnan(self.reach) else self.reach, DRAWN: self.drawn}
        columns = {name: value for name, value in known.items() if value is not None}
        return {**columns, "pool": INSIDE} if self.pool else columns

    def as_json(self) -> dict[str, Any]:
        """As plain JSON."""
        return {
            "reach": None if np.isnan(self.reach) else self.reach,
            "drawn": self.drawn,
            "judged": self.judged,
            "pool": self.pool,
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any] | None) -> DesignLimits:
        """From what `as_json` gives; nothing known from None."""
        if content is None:
            return cls()
        reach = content["reach"]
        drawn = content["drawn"]
        return cls(
            float("nan") if reach is None else float(reach),
            None if drawn is None else int(drawn),
            int(content["judged"]),
            bool(content["pool"]),
        )
