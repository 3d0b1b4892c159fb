"""[limits] of study.toml: when nobody new is taken in."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from relstudy.studyapp.config.toml_checker import TomlChecker


@dataclass(frozen=True)
class Limits:
    """When a study takes nobody new.

    Parameters
    ----------
    raters : how many may have finished or be at work; None: any number
    ratings : how many may be stored; None: any number
    deadline : seconds since 1970; None: none
    place_hours : how long after their last page a rater still counts as at work
    """

    raters: int | None = None
    ratings: int | None = None
    deadline: float | None = None
    place_hours: float = 24.0


def read_limits(check: TomlChecker, data: dict[str, Any]) -> Limits:
    """The table [limits] of study.toml; faults are left with `check`."""
    path = ("limits",)
    check.keys(data, path, ("raters", "ratings", "deadline", "place_hours"))
    counts = {
        name: check.whole(data, path, name, 1, 1, 1_000_000_000) if name in data else None
        for name in ("raters", "ratings")
    }
    return Limits(
        **counts,
        deadline=_read_moment(check, data, "deadline"),
        place_hours=check.number(data, path, "place_hours", 24, 0.01, 100_000),
    )


def _read_moment(check: TomlChecker, data: dict[str, Any], key: str) -> float | None:
    value = data.get(key)
    if value is None:
        return None
    if not isinstance(value, datetime) or value.tzinfo is None:
        allowed = "a time with its offset is allowed, without quotes, such as 2027-01-31T12:00:00Z"
        check.fault(("limits", key), str(value), allowed)
        return None
    return value.astimezone(UTC).timestamp()
