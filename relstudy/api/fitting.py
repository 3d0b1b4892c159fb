"""From scores and judgments to mappings: `fit`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from relstudy.api.calibrating import CalibratedPanel
from relstudy.api.inputs import Columns, Missing, Source, Values, judgments_of, scores_of
from relstudy.common.arguments import check_arguments
from relstudy.common.errors import UnknownName
from relstudy.common.figures import figure_of
from relstudy.common.file_names import file_names
from relstudy.common.reading import Reading
from relstudy.common.shown import Shown
from relstudy.common.wording import count_of
from relstudy.mapping.fitted import FittedMapping
from relstudy.mapping.plots import mapping_figure
from relstudy.mapping.systems import FitOptions, SystemFit, fit_systems, fits_as_json

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from relstudy.calibration.judgments import Judgments
    from relstudy.common.estimates import Estimate
    from relstudy.mapping.scores.score_table import ScoreTable


@dataclass(frozen=True, eq=False, repr=False)
class Mappings(Shown, Mapping[str, FittedMapping]):
    """One fitted mapping a system, by the system's name.

    Parameters
    ----------
    fits : each system's methods, and the pairs they were fitted to
    notes : what a person should know, one sentence each
    """

    fits: tuple[SystemFit, ...]
    notes: tuple[str, ...] = ()

    def __getitem__(self, system: str) -> FittedMapping:
        return self._of(system).choice.mapping

    def __iter__(self) -> Iterator[str]:
        return iter([fit.choice.system for fit in self.fits])

    def __len__(self) -> int:
        return len(self.fits)

    @property
    def table(self) -> pd.DataFrame:
        """One row per system and method: correlation out of fold and root mean squared error, each with its 95 %
        interval, correlation in sample, and whether the method is the system's best."""
        rows = []
        for fit in self.fits:
            for method, score in fit.choice.methods.items():
                row: dict[str, Any] = {"system": fit.choice.system, "method": method}
                row |= _interval("out_of_fold", score.out_of_fold) | _interval("rmse", score.rmse)
                rows.append(row | {"in_sample": score.in_sample.value, "best": method == fit.choice.best})
        return pd.DataFrame(rows)

    @property
    def best(self) -> dict[str, str]:
        """System -> the method with the greatest correlation out of fold, which is the one in the mapping."""
        return {fit.choice.system: fit.choice.best for fit in self.fits}

    def summary(self) -> dict[str, Any]:
        """Everything that `relstudy fit --json` prints."""
        return fits_as_json(self.fits, self.notes)

    def plot(self, system: str | None = None) -> Figure:
        """Pairs, mapping and band of one system; the first one if none is named."""
        check_arguments(Mappings.plot, locals())
        fit = self.fits[0] if system is None else self._of(system)
        return figure_of(lambda: mapping_figure(fit.choice.mapping, fit.pairs["score"], fit.pairs["judgment"]))

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write NAME.json for each system, as `relstudy fit -o` does."""
        check_arguments(Mappings.save, locals())
        for system, file in file_names(list(self)).items():
            self[system].write(Path(folder) / f"{file}.json")

    def _of(self, system: str) -> SystemFit:
        for fit in self.fits:
            if fit.choice.system == system:
                return fit
        raise UnknownName(f"there is no mapping of a system {system!r}; there are: {', '.join(self)}")

    def heading(self) -> str:
        """How many systems, and which method each of them has."""
        best = ", ".join(f"{system} {method}" for system, method in list(self.best.items())[:6])
        return f"Mappings of {count_of(len(self), 'system')}: {best}{' ...' if len(self) > 6 else ''}"

    def overview(self) -> pd.DataFrame:
        """The methods by their figures out of fold."""
        return self.table[["system", "method", "out_of_fold", "out_of_fold_low", "out_of_fold_high", "rmse", "best"]]

    def remarks(self) -> Sequence[str]:
        """What a person should know."""
        return self.notes


def _interval(name: str, estimate: Estimate) -> dict[str, float | None]:
    return {name: estimate.value, f"{name}_low": estimate.low, f"{name}_high": estimate.high}


def fit(
    scores: Source | Mapping[str, Source],
    judgments: Source | CalibratedPanel,
    *,
    method: str = "best",
    folds: int = 10,
    seed: int = 0,
    weights: str = "equal",
    direction: str | Mapping[str, str] | None = None,
    only: Sequence[str] | None = None,
    leave_out: Sequence[str] = (),
    columns: Columns | None = None,
    values: Values | None = None,
    scale: str | None = None,
    missing: Missing | None = None,
) -> Mappings:
    """Map each system's scores to the judgments by a monotone function, as `relstudy fit` does.

    Parameters
    ----------
    scores : a path (table or TREC run), a DataFrame (long: system, query_id, result_id, score; wide: query_id,
        result_id, a column per system), or a table of one system under each system's name
    judgments : a path, a DataFrame with query_id, result_id and judgment, or what `calibrate` gives
    method : isotonic, bagged, correlation, bayes, or best: all four are compared out of fold; or one of the source's
        own ways: quadratic, quadratic-bagged, local, local-bagged, bayes-conjugate (or steps), bayes-sampler,
        bayes-pymc, ogive
    folds : folds of whole queries, at least 2
    seed : of folds and random methods
    weights : "equal", or "design": 1 / inclusion probability
    direction : which scores are better, "higher", "lower" or "auto" (default), for all systems or by system
    only, leave_out : systems to fit, or not to fit
    columns : names of the columns of `scores` to ours
    values, scale, missing : numbers for words ({"partly": 1}), the scale ("0-100") and what stands for no value
        (["NA", "-"]) in the judgments, as --values, --scale and --missing have it

    Returns
    -------
    Mappings: `mappings["name"].predict(scores)` gives judgments; `.table`, `.best`, `.plot()`, `.save(folder)`

    Raises
    ------
    RelstudyError
        where a table has faults, or a system has no judged pair

    Examples
    --------
    >>> pairs = {"query_id": list("aabb"), "result_id": list("wxyz")}
    >>> scores = pd.DataFrame({**pairs, "new": [1, 2, 1, 2]})
    >>> judgments = pd.DataFrame({**pairs, "judgment": [1, 5, 1, 5]})
    >>> fit(scores, judgments, method="isotonic")["new"].predict([1.5]).tolist()
    [3.0]
    """
    check_arguments(fit, locals())
    table, scores_name = scores_of(scores, columns, tuple(leave_out), None if only is None else tuple(only))
    judged, judgments_name = judgments_of(judgments, Reading.given(None, values, scale, missing))
    options = stated_options(method, folds, seed, weights, direction)
    return fitted(table, judged, options, (scores_name, judgments_name))


def stated_options(
    method: str = "best",
    folds: int = 10,
    seed: int = 0,
    weights: str = "equal",
    direction: str | Mapping[str, str] | None = None,
) -> FitOptions:
    """The choices behind a fit, as `fit` takes them."""
    return FitOptions(method, folds, seed, weights, {"*": direction} if isinstance(direction, str) else direction or {})


def fitted(scores: ScoreTable, judged: Judgments, options: FitOptions, names: tuple[str, str]) -> Mappings:
    """Mappings from tables that were read; `names` are what messages call scores and judgments."""
    fits, notes = fit_systems(scores, judged, options, files=names)
    return Mappings(tuple(fits), (*scores.notes, *judged.notes, *notes))
