"""Types of options that several commands take."""

from __future__ import annotations

import math
from typing import Any

import click

MOST_REPLICATES = 1_000_000
"""Of a bootstrap or a simulation; more of them say nothing more, and take any memory."""


class Finite(click.types.FloatParamType):
    """A number that is not nan and not infinite."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number, or click's refusal."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is no number to reckon with.", param, ctx)
        return number


class FiniteRange(Finite, click.FloatRange):
    """A finite number within bounds; click's own range lets nan through, which is neither below nor above any."""
