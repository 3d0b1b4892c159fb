"""What `relstudy.score` gives: how much of what people value each system captures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from relstudy.analysis.pipeline import ScoringRun
from relstudy.analysis.report import pictures
from relstudy.analysis.report.best_few import precision_recall_picture
from relstudy.analysis.report.scored import scores_table
from relstudy.analysis.scoring.compared import BETTER, INDICES
from relstudy.analysis.scoring.results import ScoreResult
from relstudy.analysis.verdict.verdict import Verdict
from relstudy.common.arguments import check_arguments
from relstudy.common.errors import RelstudyError
from relstudy.common.figures import figure_of
from relstudy.common.shown import Shown
from relstudy.common.wording import count_of, span

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLES = {"pearson": "Correlation", "average_precision": "Average precision", "normalised_rank": "Normalised rank"}


@dataclass(frozen=True, eq=False, repr=False)
class Scores(Shown):
    """How much of what people value each system captures.

    Parameters
    ----------
    run : the scoring run, as the command has it
    """

    run: ScoringRun

    @property
    def result(self) -> ScoreResult:
        """The figures with their bootstrap replicates."""
        return self.run.result

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know, one sentence each."""
        return (*self.run.result.notes, *self.run.places)

    @property
    def verdict(self) -> Verdict:
        """Who leads, who is tied with whom, how good they are, what is not known and what would settle it, by people's
        ratings alone: printed, it is sentences; `.standings` has ranks with ties, `.as_json()` everything."""
        return self.run.verdict

    @property
    def table(self) -> pd.DataFrame:
        """One row per system: raw and mapped correlations, average precision, normalised rank and graded measures, each
        with the ends of its interval (_low, _high), pairs scored, and the mapping."""
        return self.result.table()

    @property
    def groups(self) -> pd.DataFrame:
        """The rows of `.table` within each group of judged pairs, under the column that `by` named; empty without."""
        within = self.run.within
        if within is None:
            return pd.DataFrame()
        tables = {name: part.table() for name, part in within.results.items()}
        parts = [part.assign(**{within.column: name})[[within.column, *part]] for name, part in tables.items()]
        return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()

    @property
    def comparisons(self) -> pd.DataFrame:
        """One row per pair of systems and index: difference (first minus second) with its interval, p-value, p-value
        after Holm's correction, and which is better."""
        rows = []
        for each in self.result.comparisons:
            row = each.as_json()
            difference = row.pop("difference")
            ends = {"difference_low": difference["low"], "difference_high": difference["high"]}
            rows.append({**row, "difference": difference["value"], **ends})
        names = ["first", "second", "index", "difference", "difference_low", "difference_high", "p_value", "p_holm"]
        return pd.DataFrame(rows, columns=[*names, "better", "pairs"])

    @property
    def curves(self) -> pd.DataFrame:
        """Precision and recall by threshold, for each system."""
        curves = [each.curve.assign(system=each.name) for each in self.result.systems]
        return pd.concat(curves, ignore_index=True)[["system", "threshold", "precision", "recall"]]

    @property
    def per_query(self) -> pd.DataFrame:
        """One row per system and query: pairs, relevant pairs, average precision, normalised rank, correlation; NaN
        where a query does not define it."""
        return self.result.per_query

    @property
    def conventions(self) -> dict[str, Any]:
        """Every choice behind the numbers, by name."""
        return dict(self.result.conventions)

    def summary(self) -> dict[str, Any]:
        """Everything that `relstudy score --json` prints."""
        return self.run.as_json()

    @property
    def assisted(self) -> pd.DataFrame:
        """With a judge, one row per system and index: the figure and its ends with the judge's help, of people alone
        (people_), how much of the judge's corrections was taken (lambda_), and the widths' ratio."""
        if self.run.assisted is None:
            raise RelstudyError("there is no judge: score(..., judge=table) takes one")
        return self.run.assisted.table()

    def plot(self, kind: str = "precision-recall") -> Figure:
        """A picture of the result.

        Parameters
        ----------
        kind : "precision-recall", or one index with its intervals: "pearson", "average_precision", "normalised_rank"
        """
        check_arguments(Scores.plot, locals())
        if kind == "precision-recall":
            picture = precision_recall_picture(self.result)
            if picture is None:
                raise RelstudyError("there is no precision-recall curve: no pair is relevant, or weights are not known")
            return figure_of(picture)
        if kind not in INDICES:
            raise RelstudyError(
                f"there is no picture {kind!r} of scores; there are: precision-recall, {', '.join(INDICES)}"
            )
        estimates = {each.name: each.estimate(kind) for each in self.result.systems}
        panel = pictures.Panel(f"{TITLES[kind]} ({BETTER[kind]} is better)", estimates)
        return figure_of(lambda: pictures.intervals([panel]))

    def to_latex(self) -> str:
        """The table of systems for a paper: booktabs, an interval below its number."""
        return scores_table(self.result).latex()

    def heading(self) -> str:
        """How many systems against how many judgments."""
        numbers = self.result.pairs
        systems = count_of(len(self.result.systems), "system")
        return (
            f"{systems} against {numbers['judged']:,} judged pairs of {numbers['queries']:,} queries, "
            f"{numbers['relevant']:,.6g} relevant ({self.result.conventions['relevant']})"
        )

    def overview(self) -> pd.DataFrame:
        """The three indices by which systems are compared, with their intervals."""
        rows = []
        for system in self.result.systems:
            row: dict[str, Any] = {"system": system.name}
            for index in INDICES:
                estimate = system.estimate(index)
                ends = "" if estimate.low is None else f" ({span(estimate.low, estimate.high)})"
                row[TITLES[index].lower()] = "–" if estimate.value is None else f"{estimate.value:.3f}{ends}"
            rows.append(row)
        return pd.DataFrame(rows)

    def remarks(self) -> Sequence[str]:
        """The verdict's headline, and what a person should know."""
        return [self.verdict.headline, *self.notes]
