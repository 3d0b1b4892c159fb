"""From judgments on several scales to judgments on one: `join`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import pandas as pd

from relstudy.analysis.linking import joined
from relstudy.api.inputs import judgments_of, table_of
from relstudy.common.charts.figures import figure_of
from relstudy.common.options.argument_checks import check_arguments
from relstudy.common.options.declaration import fields_given
from relstudy.common.options.python_arguments import takes_options
from relstudy.common.results.result import FolderResult
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import count_of
from relstudy.common.tables.formats.dataframe_libraries import Source
from relstudy.mapping.fitted import FittedMapping
from relstudy.mapping.options import FitOptions, FoldChanges
from relstudy.mapping.plots import mapping_figure
from relstudy.mapping.scored_pairs import FitSettings

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False, repr=False)
class JoinedJudgments(FolderResult):
    """Judgments of several interfaces on the scale of the first.

    Parameters
    ----------
    result : judgments, links and notes as the command holds them
    """

    saved_as = "joined judgments"
    result: joined.Joined

    @property
    def judgments(self) -> pd.DataFrame:
        """One row per pair: what `relstudy calibrate join` writes to judgments.csv. `interface` names the table that a
        judgment is from, `judgment_given` is what it was there, on its own scale."""
        return self.result.judgments.frame

    @property
    def mappings(self) -> dict[str, FittedMapping]:
        """Interface -> the monotone map from its scale to the first's."""
        return {name: link.mapping for name, link in self.result.links.items()}

    @property
    def table(self) -> pd.DataFrame:
        """One row per interface but the first: common pairs, correlations with the first, errors of its map."""
        figures = ("pearson", "spearman", "without_noise", "out_of_fold", "error", "stretched")
        rows = []
        for name, link in self.result.links.items():
            row: dict[str, Any] = {"interface": name, "pairs": link.pairs, "queries": link.queries}
            for figure in figures:
                estimate = getattr(link, figure)
                row |= {figure: estimate.value, f"{figure}_low": estimate.low, f"{figure}_high": estimate.high}
            rows.append(row | {"method": link.choice.best})
        return pd.DataFrame(rows)

    def as_json(self) -> dict[str, Any]:
        """Everything that `relstudy calibrate join --json` prints."""
        return self.result.as_json()

    def _tables(self) -> Mapping[str, pd.DataFrame]:
        return {"": self.table}

    def plot(self, interface: str | None = None) -> Figure:
        """The map from one interface's scale to the first's, over the pairs judged on both; the first map if none is
        named.

        Examples
        --------
        >>> import numpy as np
        >>> ids = {"query_id": [f"q{i % 6}" for i in range(24)], "result_id": [f"x{i}" for i in range(24)]}
        >>> stars = pd.DataFrame({**ids, "judgment": np.arange(24) % 5 + 1.0})
        >>> nine = stars.assign(judgment=2 * stars["judgment"] - 1, scale_low=1, scale_high=9)
        >>> len(join({"stars": stars, "nine": nine}).plot("nine").axes)
        1
        """
        check_arguments(JoinedJudgments.plot, locals())
        names = list(self.result.links)
        if interface is not None and interface not in names:
            raise RelstudyError(f"there is no map of {interface!r}; there are: {', '.join(names)}")
        link = self.result.links[interface or names[0]]
        return figure_of(lambda: mapping_figure(link.mapping, link.common.scores, link.common.judgments))

    def _write_tables(self, folder: Path) -> None:
        self.result.write(folder)

    def heading(self) -> str:
        """The number of judgments, and their scale."""
        return f"{count_of(len(self.judgments), 'judgment')} on the scale {self.result.judgments.scale.scale.name}"

    def overview(self) -> pd.DataFrame:
        """The judgments."""
        names = ["query_id", "result_id", "judgment", "interface", "judgment_given", "inclusion_probability"]
        return self.judgments[names]

    def remarks(self) -> Sequence[str]:
        """Notes, one sentence each."""
        return self.result.notes


@takes_options(FitOptions)
def join(
    judgments: Mapping[str, Any], *, pairs: Source | None = None, **changes: Unpack[FoldChanges]
) -> JoinedJudgments:
    """Put judgments given on different scales on the scale of the first, as `relstudy calibrate join` does.

    Parameters
    ----------
    judgments : name -> judgments (what `calibrate` gives, a path or a DataFrame), at least two; the first gives the
        scale, and every other needs 20 pairs of 5 queries in common with it
    pairs : the pairs table (path or DataFrame) that all of them were drawn by, for inclusion probabilities
    changes : of the maps and their check

    Raises
    ------
    RelstudyError
        where a table has faults, or two have too few pairs in common

    Examples
    --------
    >>> import numpy as np
    >>> ids = {"query_id": [f"q{i % 6}" for i in range(24)], "result_id": [f"x{i}" for i in range(24)]}
    >>> stars = pd.DataFrame({**ids, "judgment": np.arange(24) % 5 + 1.0})
    >>> nine = stars.assign(judgment=2 * stars["judgment"] - 1, scale_low=1, scale_high=9)
    >>> round(float(join({"stars": stars, "nine": nine}).mappings["nine"].predict(7.0)), 1)
    4.0
    """
    check_arguments(join, locals())
    options = FitOptions(**fields_given(FitOptions, changes))
    read = {name: judgments_of(source)[0] for name, source in judgments.items()}
    table = None if pairs is None else table_of(pairs, "the pairs")
    return JoinedJudgments(joined.join_judgments(read, table, FitSettings(options.folds, options.seed, "higher")))
