"""Compile functions of arrays and numbers to machine code: the one place that decides how, and what without a cache."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Compile a function when it is first called, without Python's lock; division by zero gives inf or NaN as in numpy.

    The machine code is kept in the folder that NUMBA_CACHE_DIR names, else beside the source, else in the user's cache
    folder. Where none of them may be written (a locked-down installation), the function is compiled once a process.
    """
    return _compiled(function, parallel=False)


def compiled_for_all_cores(function: F) -> F:
    """As `compiled`; the passes of a loop over `numba.prange` are shared out among the cores."""
    return _compiled(function, parallel=True)


def is_kept(function: Any) -> bool:
    """True where machine code of a compiled function is in a cache, of this version of it or another."""
    place = getattr(getattr(function, "_cache", None), "cache_path", None)
    return place is not None and any(Path(place).glob(f"*.{function.__name__}-*.nbi"))


def _compiled(function: F, parallel: bool) -> F:
    options = {"nogil": True, "error_model": "numpy", "parallel": parallel}
    try:
        return cast(F, numba.njit(cache=True, **options)(function))
    except RuntimeError:
        # numba: "no locator available". Anything else that is wrong is wrong without a cache too, and raised here.
        return cast(F, numba.njit(**options)(function))
