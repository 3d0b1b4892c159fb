"""Compile a function of arrays and numbers to machine code."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., object])


def compiled(function: F) -> F:
    """Compile once and keep it on disk; where no folder may be written (a locked-down installation), once a process."""
    options = {"nogil": True, "error_model": "numpy"}
    try:
        return cast(F, numba.njit(cache=True, **options)(function))
    except RuntimeError:
        return cast(F, numba.njit(**options)(function))
