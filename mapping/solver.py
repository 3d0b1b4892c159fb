"""Solves problems set up in cvxpy, at tolerances tight enough that a fit agrees with the closed forms."""

from __future__ import annotations

import warnings
from typing import Any

TOLERANCES = (1e-14, 1e-12, 1e-10, 1e-8)
"""Clarabel's default of 1e-8 on the gap leaves fitted values off in the third digit; the tightest reached is used."""

STEPS: tuple[dict[str, Any], ...] = ({}, {"rho": 10.0}, {"adaptive_rho": False, "rho": 1.0})
"""OSQP's step sizes, tried in turn: where a constraint holds with no force, one of them may never settle."""


def cvxpy() -> Any:
    """The library, imported only when a problem is set up: it takes a second."""
    import cvxpy as library

    return library


def solve(problem: Any) -> None:
    """Solve with Clarabel at the tightest tolerance that it reaches.

    Raises
    ------
    ArithmeticError
        where no tolerance is reached, or the problem has no solution
    """
    cp = cvxpy()
    for tolerance in TOLERANCES:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            problem.solve(
                solver=cp.CLARABEL,
                tol_gap_abs=tolerance,
                tol_gap_rel=tolerance,
                tol_feas=tolerance,
                max_iter=300,
            )
        if problem.status == cp.OPTIMAL:
            return
        if problem.status in (cp.INFEASIBLE, cp.UNBOUNDED):
            break
    raise ArithmeticError(f"the solver ended with status {problem.status}")


def solve_quadratic(problem: Any) -> None:
    """Solve a quadratic program with OSQP, whose last step solves for the active constraints exactly.

    Interior points give the values only to the root of the gap (1e-6 at 1e-12) where a constraint is on the brink.

    Raises
    ------
    ArithmeticError
        where the problem has no solution
    """
    cp = cvxpy()
    for step in STEPS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            problem.solve(solver=cp.OSQP, eps_abs=1e-9, eps_rel=1e-9, max_iter=200_000, **step)
        if problem.status != cp.OPTIMAL_INACCURATE:
            break
    if problem.status != cp.OPTIMAL:
        raise ArithmeticError(f"the solver ended with status {problem.status}")
