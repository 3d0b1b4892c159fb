"""Compile functions of arrays and numbers to machine code: the one place that decides when, and where it is kept."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np

F = TypeVar("F", bound=Callable[..., Any])
FEW = 2000
"""With fewer pairs numpy is done before numba has been imported and has compiled a walk."""
FEW_KEPT = 1000
"""With fewer pairs numpy is done before numba has been imported and what it compiled has been read."""
SOME, MANY = 40_000, 200_000
"""In a process, so many pairs take numpy as long as to read one walk's machine code, and as long as to compile it."""


def compiled(function: F) -> F:
    """Compile a function when it is first called, without Python's lock; division by zero gives inf or NaN as in numpy.

    The machine code is kept in the folder that NUMBA_CACHE_DIR names, else beside the source, else in the user's cache
    folder. Where none of them may be written (a locked-down installation), the function is compiled once a process.
    """
    return _compiled(function, parallel=False)


def compiled_for_all_cores(function: F) -> F:
    """As `compiled`; the passes of a loop over `numba.prange` are shared out among the cores."""
    return _compiled(function, parallel=True)


def compiled_for_many(function: F) -> F:
    """Compile a walk over pairs where they are `FEW` or more, or once this process has walked `MANY` (`SOME`, if the
    code is kept from before); up to then the same lines are run by Python.

    The first argument has the pairs along its last axis. Loops over what lies side by side (replicates) are written
    `for b in lanes(width)`: machine code takes one `b` after another, and Python all of them at once, since its only
    `b` is a slice. Both do the same arithmetic on each, so that the digits are the same.
    """
    lock = threading.RLock()
    walked = 0

    kept = functools.cache(lambda: _is_beside(function))

    @functools.cache
    def compiled_once() -> F:
        return compiled(function)

    def machine() -> F:
        with lock:
            return compiled_once()

    @functools.wraps(function)
    def walk(*given: Any) -> Any:
        nonlocal walked
        pairs = np.shape(given[0])[-1]
        walked += pairs
        if pairs >= FEW or walked >= MANY or (walked >= SOME and is_kept(machine())) or (pairs >= FEW_KEPT and kept()):
            return machine()(*given)
        with np.errstate(all="ignore"):
            return function(*given)

    walk.machine = machine  # type: ignore[attr-defined]
    return cast(F, walk)


def lanes(width: int) -> Iterable[Any]:
    """What a loop over `width` places side by side runs over: one slice of them all, and `range` where compiled."""
    return (slice(width),)


def choose(where: Any, one: Any, other: Any) -> Any:
    """`one` in the lanes in which `where` is true, else `other`; both are computed."""
    return np.where(where, one, other)


def lanes_where(where: Any) -> Any:
    """In how many of the lanes `where` is true."""
    return np.count_nonzero(where)


@functools.cache
def _numba() -> Any:
    """numba, which has been told what `lanes`, `choose` and `lanes_where` are."""
    import numba
    from numba.extending import overload

    overload(lanes, inline="always")(lambda width: lambda width: range(width))
    overload(choose)(lambda where, one, other: lambda where, one, other: one if where else other)
    overload(lanes_where, inline="always")(lambda where: lambda where: int(where))
    return numba


def _is_beside(function: Callable[..., Any]) -> bool:
    """True where machine code of a function is kept beside its source: numba need not be imported to know."""
    source = Path(function.__code__.co_filename)
    return any((source.parent / "__pycache__").glob(f"{source.stem}.{function.__name__}-*.nbi"))


def is_kept(function: Any) -> bool:
    """True where machine code of a compiled function is in a cache, of this version of it or another."""
    place = getattr(getattr(function, "_cache", None), "cache_path", None)
    return place is not None and any(Path(place).glob(f"*.{function.__name__}-*.nbi"))


def _compiled(function: F, parallel: bool) -> F:
    numba = _numba()
    options = {"nogil": True, "error_model": "numpy", "parallel": parallel}
    try:
        return cast(F, numba.njit(cache=True, **options)(function))
    except RuntimeError:
        # numba: "no locator available". Anything else that is wrong is wrong without a cache too, and raised here.
        return cast(F, numba.njit(**options)(function))
