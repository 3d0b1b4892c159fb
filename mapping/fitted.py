"""A fitted mapping: knots and values, kept as JSON and applied with numpy alone."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from relstudy.common.charts.figures import SERIES, drawing, figure_of, svg
from relstudy.common.options.argument_checks import check_arguments, shown
from relstudy.common.results.result import Result
from relstudy.common.results.serialization import MAPPING
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.files import read_json, whole_files, write_json
from relstudy.common.runtime.wording import percent
from relstudy.mapping.saved_predictions import OutOfFold

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

VERSION = 1
OUT_OF_BOUNDS = ("clip", "raise")


@dataclass(frozen=True, eq=False, repr=False)
class FittedMapping(Result, of_commands=True):
    """A monotone function from a system's scores to the human scale, linear between its knots.

    Parameters
    ----------
    knots : scores, shape (k,), k >= 1, strictly ascending, finite
    values : mapped scores at the knots, shape (k,), in the unit of the judgments; non-descending where
        `increasing`, else non-ascending
    increasing : whether a higher score means a better match
    out_of_bounds : "clip" (constant outside the fitted range) or "raise"
    method : how it was fitted: isotonic, bagged, correlation, bayes, ...
    system : the system whose scores it maps
    low, high : ends of the pointwise band at the knots, shape (k,), or None where the method has none
    band : share of the posterior or of the bootstrap fits inside the band
    meta : anything else worth keeping, plain JSON
    out_of_fold : predictions out of fold of the pairs it was fitted to, or None where none were kept

    Examples
    --------
    >>> mapping = FittedMapping([0.0, 1.0], [1.0, 5.0])
    >>> mapping.predict([-1.0, 0.5, 2.0]).tolist()
    [1.0, 3.0, 5.0]
    >>> FittedMapping.from_json(mapping.to_json()) == mapping
    True
    """

    saved_as = "mapping"
    knots: np.ndarray
    values: np.ndarray
    increasing: bool = True
    out_of_bounds: str = "clip"
    method: str = ""
    system: str = ""
    low: np.ndarray | None = None
    high: np.ndarray | None = None
    band: float = 0.9
    meta: Mapping[str, Any] = field(default_factory=dict)
    out_of_fold: OutOfFold | None = None

    def __post_init__(self) -> None:
        for name in ("knots", "values", "low", "high"):
            given = getattr(self, name)
            if given is not None:
                object.__setattr__(self, name, _frozen(given))
        object.__setattr__(self, "increasing", bool(self.increasing))
        self._check()

    def _check(self) -> None:
        if self.knots.ndim != 1 or len(self.knots) == 0:
            raise RelstudyError("a mapping needs at least one knot, as a list of numbers")
        for name in ("values", "low", "high"):
            given = getattr(self, name)
            if given is not None and given.shape != self.knots.shape:
                raise RelstudyError(f"a mapping needs as many {name} as knots: {len(self.knots)}, not {given.size}")
        for name in ("knots", "values", "low", "high"):
            given = getattr(self, name)
            if given is not None and not np.isfinite(given).all():
                raise RelstudyError(f"a mapping's {name} must be finite numbers")
        if (np.diff(self.knots) <= 0).any():
            raise RelstudyError("a mapping's knots must ascend strictly")
        steps = np.diff(self.values) if self.increasing else -np.diff(self.values)
        if (steps < 0).any():
            direction = "never fall" if self.increasing else "never rise"
            raise RelstudyError(f"a mapping with increasing = {self.increasing} needs values that {direction}")
        if self.out_of_bounds not in OUT_OF_BOUNDS:
            raise RelstudyError(f"out_of_bounds is 'clip' or 'raise', not {self.out_of_bounds!r}")

    @property
    def constant(self) -> bool:
        """True where every score is mapped to one value, so that no correlation exists."""
        return bool(self.values[0] == self.values[-1])

    def predict(self, scores: ArrayLike) -> np.ndarray:
        """Mapped scores, same shape as `scores`.

        Raises
        ------
        RelstudyError
            for a score that is not a finite number, or is outside the fitted range where out_of_bounds = "raise"

        Examples
        --------
        >>> mapping = FittedMapping([0.0, 1.0], [1.0, 5.0], low=[0.5, 4.0], high=[1.5, 6.0], system="new")
        >>> mapping.predict([0.25, 9.0]).tolist()
        [2.0, 5.0]
        """
        return self._interpolate(scores, self.values)

    def predict_band(self, scores: ArrayLike) -> tuple[np.ndarray, np.ndarray] | None:
        """Both ends of the pointwise band at `scores`, or None where the method gave none.

        Examples
        --------
        >>> mapping = FittedMapping([0.0, 1.0], [1.0, 5.0], low=[0.5, 4.0], high=[1.5, 6.0], system="new")
        >>> [ends.tolist() for ends in mapping.predict_band([0.0])]
        [[0.5], [1.5]]
        """
        if self.low is None or self.high is None:
            return None
        return self._interpolate(scores, self.low), self._interpolate(scores, self.high)

    def _interpolate(self, scores: ArrayLike, values: np.ndarray) -> np.ndarray:
        try:
            given = np.asarray(scores, dtype=float)
        except (TypeError, ValueError) as error:
            raise RelstudyError(f"{shown(scores)} cannot be mapped{self._of()}: scores must be numbers") from error
        lowest, highest = self.knots[0], self.knots[-1]
        if not np.isfinite(given).all():
            wrong = given[~np.isfinite(given)].flat[0]
            raise RelstudyError(f"the score {wrong} cannot be mapped{self._of()}: scores must be finite numbers")
        if self.out_of_bounds == "raise" and ((given < lowest) | (given > highest)).any():
            wrong = given[(given < lowest) | (given > highest)].flat[0]
            raise RelstudyError(
                f"the score {wrong} is outside the range {lowest:g} to {highest:g} that the mapping{self._of()} was "
                "fitted on; use out_of_bounds = 'clip' to carry its ends outward"
            )
        mapped = np.asarray(np.interp(given, self.knots, values))
        # rounding inside one interval can pass the knot at its end, which would break monotony
        left = np.clip(np.searchsorted(self.knots, given, side="right") - 1, 0, len(values) - 1)
        right = np.minimum(left + 1, len(values) - 1)
        inside = given >= lowest
        bounded = np.clip(mapped, np.minimum(values[left], values[right]), np.maximum(values[left], values[right]))
        return np.where(inside, bounded, mapped)

    def _of(self) -> str:
        return f" of system {self.system!r}" if self.system else ""

    @property
    def table(self) -> pd.DataFrame:
        """One row per knot: score, judgment (the mapped score), and judgment_low and judgment_high, the ends of the
        band, if any."""
        columns = {"score": self.knots, "judgment": self.values}
        if self.low is not None and self.high is not None:
            columns |= {"judgment_low": self.low, "judgment_high": self.high}
        return pd.DataFrame(columns)

    def as_json(self) -> dict[str, Any]:
        """The mapping as plain JSON, as `to_json` gives it.

        Examples
        --------
        >>> FittedMapping([0.0, 1.0], [1.0, 5.0], system="new").as_json()["system"]
        'new'
        """
        return self.to_json()

    def plot(self) -> Figure:
        """The mapping, with its band where it has one.

        Examples
        --------
        >>> FittedMapping([0.0, 1.0], [1.0, 5.0], system="new").plot().axes[0].get_xlabel()
        'score of new'
        """
        return figure_of(lambda: curve_figure(self))

    def heading(self) -> str:
        """System, method, range of scores and range of judgments, in a line."""
        rise = "rising" if self.increasing else "falling"
        fitted_by = f" by {self.method}" if self.method else ""
        return (
            f"Mapping{self._of()}{fitted_by}: scores from {self.knots[0]:g} to {self.knots[-1]:g} to judgments from "
            f"{self.values.min():g} to {self.values.max():g}, {rise}, {len(self.knots)} knots"
        )

    def overview(self) -> pd.DataFrame:
        """The knots."""
        return self.table

    def _keep(self, path: Path) -> None:
        self.write(path)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON; every number survives the round trip exactly.

        Examples
        --------
        >>> mapping = FittedMapping([0.0, 1.0], [1.0, 5.0], low=[0.5, 4.0], high=[1.5, 6.0], system="new")
        >>> mapping.to_json()["knots"]
        [0.0, 1.0]
        """
        content: dict[str, Any] = {
            "kind": MAPPING,
            "version": VERSION,
            "system": self.system,
            "method": self.method,
            "increasing": self.increasing,
            "out_of_bounds": self.out_of_bounds,
            "knots": self.knots.tolist(),
            "values": self.values.tolist(),
            "low": None if self.low is None else self.low.tolist(),
            "high": None if self.high is None else self.high.tolist(),
            "band": self.band,
            "meta": dict(self.meta),
        }
        if self.out_of_fold is not None:
            content["out_of_fold"] = self.out_of_fold.to_json()
        return content

    @classmethod
    def from_json(cls, content: Any, file: str = "the mapping") -> FittedMapping:
        """From what `to_json` gave; `file` is named in the error when that is not what it is.

        Examples
        --------
        >>> mapping = FittedMapping([0.0, 1.0], [1.0, 5.0], low=[0.5, 4.0], high=[1.5, 6.0], system="new")
        >>> FittedMapping.from_json(mapping.to_json()).system
        'new'
        """
        if not isinstance(content, dict) or content.get("kind") != MAPPING:
            raise RelstudyError(f'{file}: this is not a fitted mapping; "kind": "{MAPPING}" is needed')
        if content.get("version") != VERSION:
            raise RelstudyError(
                f"{file}: version {content.get('version')!r} of a fitted mapping is not known; {VERSION} is"
            )
        missing = [name for name in ("knots", "values", "increasing") if name not in content]
        if missing:
            raise RelstudyError(f"{file}: a fitted mapping needs {', '.join(missing)}")
        names = ("knots", "values", "increasing", "out_of_bounds", "method", "system", "low", "high", "band", "meta")
        kinds = {"system": str, "method": str, "out_of_bounds": str, "meta": dict, "increasing": bool}
        wrong = [name for name, kind in kinds.items() if name in content and not isinstance(content[name], kind)]
        band = content.get("band", 0.9)
        if not isinstance(band, int | float) or isinstance(band, bool) or not 0 <= band <= 1:
            wrong.append("band")
        if wrong:
            raise RelstudyError(f"{file}: {wrong[0]} is damaged ({content[wrong[0]]!r}); fit the mapping again")
        kept = content.get("out_of_fold")
        try:
            predictions = None if kept is None else OutOfFold.from_json(kept)
            return cls(**{name: content[name] for name in names if name in content}, out_of_fold=predictions)
        except RelstudyError as error:
            raise RelstudyError(f"{file}: {error}") from None
        except (KeyError, AttributeError) as error:
            raise RelstudyError(f"{file}: out_of_fold is damaged ({error}); fit the mapping again") from None
        except (TypeError, ValueError) as error:
            raise RelstudyError(f"{file}: knots, values and bands must be lists of numbers ({error})") from None

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the mapping as JSON.

        Examples
        --------
        >>> import tempfile
        >>> mapping = FittedMapping([0.0, 1.0], [1.0, 5.0], low=[0.5, 4.0], high=[1.5, 6.0], system="new")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     mapping.write(f"{folder}/new.json")
        ...     FittedMapping.read(f"{folder}/new.json") == mapping
        True
        """
        write_json(self.to_json(), path)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> FittedMapping:
        """Read what `write` wrote.

        Examples
        --------
        >>> import tempfile
        >>> mapping = FittedMapping([0.0, 1.0], [1.0, 5.0], low=[0.5, 4.0], high=[1.5, 6.0], system="new")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     mapping.write(f"{folder}/new.json")
        ...     FittedMapping.read(f"{folder}/new.json") == mapping
        True
        """
        return cls.from_json(read_json(path), os.fspath(path))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FittedMapping) and self.to_json() == other.to_json()

    __hash__ = None  # type: ignore[assignment]


def curve_figure(mapping: FittedMapping) -> str:
    """A mapping, with its band where it has one, as SVG."""
    with drawing() as figure:
        axes = figure.add_subplot()
        draw_curve(axes, mapping, mapping.knots)
        axes.set_title("Judgment by score")
        return svg(figure, f"The mapping of the scores of {mapping.system or 'one system'} to judgments")


def draw_curve(axes: Axes, mapping: FittedMapping, scores: np.ndarray) -> None:
    """Draw what scores are mapped to, with the band if there is one; ends are carried outward."""
    if mapping.low is not None and mapping.high is not None:
        low, high = np.interp(scores, mapping.knots, mapping.low), np.interp(scores, mapping.knots, mapping.high)
        label = f"{percent(mapping.band)} band"
        axes.fill_between(scores, low, high, color=SERIES[0], alpha=0.22, linewidth=0, label=label, zorder=2)
    mapped = np.interp(scores, mapping.knots, mapping.values)
    axes.plot(scores, mapped, color=SERIES[0], linewidth=2, label=mapping.method, zorder=3)
    axes.set_xlabel(f"score{f' of {mapping.system}' if mapping.system else ''}")
    axes.set_ylabel("judgment")


def _frozen(numbers: ArrayLike) -> np.ndarray:
    array = np.array(numbers, dtype=float)
    array.flags.writeable = False
    return array


def drop_inner_knots(knots: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Leave out knots inside a flat stretch; the function stays the same.

    Examples
    --------
    >>> [a.tolist() for a in drop_inner_knots(np.arange(5.0), np.array([1.0, 1.0, 1.0, 2.0, 2.0]))]
    [[0.0, 2.0, 3.0, 4.0], [1.0, 1.0, 2.0, 2.0]]
    """
    keep = np.ones(len(knots), dtype=bool)
    keep[1:-1] = (values[1:-1] != values[:-2]) | (values[1:-1] != values[2:])
    return knots[keep], values[keep]


def mapping_files(path: str | os.PathLike[str]) -> list[Path]:
    """The files that `read_mappings` reads, in order of name; none where the folder is absent or holds none."""
    given = Path(path)
    return whole_files(given, "*.json") if given.is_dir() else [given] if given.is_file() else []


def read_mappings(path: str | os.PathLike[str]) -> dict[str, FittedMapping]:
    """Fitted mappings, by the name of their system.

    Parameters
    ----------
    path : a folder of NAME.json, as `relstudy fit` writes it, or one such file; NAME stands for the system where the
        mapping itself names none

    Raises
    ------
    RelstudyError
        if there is none, a file is not one, or two are of one system

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     FittedMapping(np.array([0.0, 1.0]), np.array([1.0, 5.0]), system="bm25").write(f"{folder}/bm25.json")
    ...     read_mappings(folder)["bm25"].predict([0.5]).tolist()
    [3.0]
    """
    check_arguments(read_mappings, locals())
    files = mapping_files(path)
    if not files:
        raise RelstudyError(f"{os.fspath(path)}: there is no mapping (NAME.json) here; `relstudy fit` writes them")
    mappings: dict[str, FittedMapping] = {}
    for file in files:
        mapping = FittedMapping.read(file)
        if not mapping.system:
            mapping = replace(mapping, system=file.stem)
        if mapping.system in mappings:
            raise RelstudyError(f"{file}: a second mapping of system {mapping.system!r}; keep one of them")
        mappings[mapping.system] = mapping
    return mappings
