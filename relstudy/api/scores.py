"""The result of `relstudy.score`: each system's share of what people value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack

import pandas as pd

from relstudy.analysis.indices.registry import index_of
from relstudy.analysis.pipeline import ScoringRun
from relstudy.analysis.report import pictures
from relstudy.analysis.report.best_few import measures_table, precision_recall_picture
from relstudy.analysis.report.score_sections import correlations_table, scores_table
from relstudy.analysis.report.significance_sections import differences_by_query
from relstudy.analysis.scoring.measure_tests import between_systems, measure_tests
from relstudy.analysis.scoring.options import TestChanges, TestOptions
from relstudy.analysis.scoring.results import ScoreResult
from relstudy.analysis.scoring.saved import comparison_json
from relstudy.analysis.verdict.verdict import Verdict
from relstudy.calibration.reliability.generalizability import Generalizability
from relstudy.calibration.tables.study_tables import StudyTables
from relstudy.common.charts.figures import figure_of
from relstudy.common.options.argument_checks import check_arguments
from relstudy.common.options.declaration import fields_given
from relstudy.common.options.python_arguments import takes_options
from relstudy.common.results.result import Result
from relstudy.common.results.serialization import write_kept
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import count_of, tenths, with_ends

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False, repr=False)
class Scores(Result):
    """Each system's share of what people value.

    Parameters
    ----------
    run : the scoring run, as the command has it
    """

    saved_as = "comparison"
    run: ScoringRun

    @property
    def result(self) -> ScoreResult:
        """The figures with their bootstrap replicates."""
        return self.run.result

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes, one sentence each."""
        return (*self.run.result.notes, *self.run.places)

    @property
    def verdict(self) -> Verdict:
        """Leaders, ties, quality, gaps and the ratings that would settle it, by people's
        ratings alone: printed, it is sentences; `.standings` has ranks with ties, `.as_json()` everything."""
        return self.run.verdict

    @property
    def table(self) -> pd.DataFrame:
        """One row per system: raw and mapped correlations, every index of the run and the measures, each
        with the ends of its interval (_low, _high), pairs scored, and the mapping."""
        return self.result.table()

    @property
    def groups(self) -> pd.DataFrame:
        """The rows of `.table` within each group of judged pairs, under the column that `by` named; empty without."""
        return pd.DataFrame() if self.run.within is None else self.run.within.table()

    @property
    def comparisons(self) -> pd.DataFrame:
        """One row per pair of systems and index: difference (first minus second) with its interval, p-value, p-value
        corrected over its family, and which is better."""
        names = ["first", "second", "index", "difference", "difference_low", "difference_high", "p_value", "p_family"]
        return pd.DataFrame([each.row for each in self.result.comparisons], columns=[*names, "better", "pairs"])

    @property
    def group_comparisons(self) -> pd.DataFrame:
        """The rows of `.comparisons` within each group, under the column that `by` named, p corrected over all of
        them; empty without."""
        return pd.DataFrame() if self.run.within is None else self.run.within.differences()

    @property
    def left_out(self) -> pd.DataFrame:
        """With `pool_depth`, one row per measure and system: its figure with all judgments and without those that it
        alone brought into the pool, its rank by either, and how many these are; empty without."""
        return pd.DataFrame() if self.run.left_out is None else self.run.left_out.table()

    @property
    def curves(self) -> pd.DataFrame:
        """Precision and recall by threshold, for each system."""
        curves = [each.curve.assign(system=each.name) for each in self.result.systems]
        return pd.concat(curves, ignore_index=True)[["system", "threshold", "precision", "recall"]]

    @property
    def per_query(self) -> pd.DataFrame:
        """One row per system and query: pairs, relevant pairs, and a column for each index and measure; NaN where a
        query does not define it."""
        return self.result.per_query

    def generalizability(self, measure: str) -> Generalizability:
        """Where a measure or index varies, and how far a mean of queries can be relied upon to tell systems apart.

        Queries that it is not defined in for every system have no part. Where the ratings behind the judgments are
        known, where these vary follows in the same table: by query, pair, rater and rater x query.

        Parameters
        ----------
        measure : a measure or index that has a column in `.per_query`; "condensed " and "estimated " before it may be
            left out

        Raises
        ------
        RelstudyError
            if there is no such measure, or there are fewer than two systems or queries

        Examples
        --------
        >>> judged = pd.DataFrame([(f"q{q}", f"d{d}", (q + d) % 3) for q in range(6) for d in range(5)])
        >>> judged.columns = ["query_id", "doc_id", "relevance"]
        >>> runs = {n: judged[["query_id", "doc_id"]].assign(score=judged.index * n % 7) for n in (1, 2)}
        >>> from relstudy import score
        >>> study = score(runs, judged, measures=["AP"], method="none").generalizability("AP")
        >>> list(study.components), study.needed("erho2", 0.9)[0] is None or study.needed("erho2", 0.9)[0] > 0
        (['system', 'query', 'rest'], True)
        """
        check_arguments(Scores.generalizability, locals())
        return between_systems(self.result, measure, self.run.study.judgments.ratings)

    @property
    def conventions(self) -> dict[str, Any]:
        """Every choice behind the numbers, by name."""
        return dict(self.result.conventions)

    def as_json(self) -> dict[str, Any]:
        """Everything that `relstudy score --json` prints."""
        return self.run.as_json()

    def _tables(self) -> Mapping[str, pd.DataFrame]:
        rows = []
        for each in self.result.comparisons:
            index = index_of(each.index)
            ends = {"measure": index.term, "difference": index.shown_difference(each.difference).value}
            tests = {"p": each.p_value, "p (family)": each.p_family, "better": each.better}
            rows.append({"first": each.first, "second": each.second, **ends, **tests})
        return {"": self.overview()} | ({"First minus second:": pd.DataFrame(rows)} if rows else {})

    @property
    def assisted(self) -> pd.DataFrame:
        """With a judge, one row per system and index: the figure and its ends with the judge's help, of people alone
        (people_), how much of the judge's corrections was taken (lambda_), and the widths' ratio; empty without."""
        return pd.DataFrame() if self.run.assisted is None else self.run.assisted.table()

    def plot(self, kind: str = "precision-recall") -> Figure:
        """A picture of the result.

        Parameters
        ----------
        kind : "precision-recall"; "differences", by query, of the first systems from the best in the index that
            decides; or the name of an index, which is then shown with its intervals

        Examples
        --------
        >>> import relstudy as rs
        >>> pairs = {"query_id": list("aabb"), "result_id": list("wxyz")}
        >>> judgments = pd.DataFrame({**pairs, "judgment": [5, 1, 4, 2], "inclusion_probability": 0.5})
        >>> new = pd.DataFrame({**pairs, "new": [0.9, 0.2, 0.4, 0.3]})
        >>> figure = rs.score(new, judgments, threshold=3, replicates=50).plot("average_precision")
        >>> len(figure.axes)
        1
        """
        check_arguments(Scores.plot, locals())
        if kind == "precision-recall":
            picture = precision_recall_picture(self.result)
            if picture is None:
                raise RelstudyError("there is no precision-recall curve: no pair is relevant, or weights are not known")
            return figure_of(picture)
        if kind == "differences":
            primary = self.result.primary.index
            base, drawn = differences_by_query(self.result, primary)
            return figure_of(lambda: pictures.by_query(f"{primary.term} less that of {base}", drawn))
        index = self.result.index_called(kind)
        if index is None:
            names = ", ".join(("precision-recall", "differences", *(index.name for index in self.result.indices)))
            raise RelstudyError(f"there is no picture {kind!r} of scores; there are: {names}")
        better = "higher" if index.shown_better == "max" else "lower"
        estimates = {each.name: each.shown(index) for each in self.result.systems}
        panel = pictures.Panel(f"{index.title} ({better} is better)", estimates)
        return figure_of(lambda: pictures.intervals([panel]))

    @takes_options(TestOptions)
    def tests(self, **changes: Unpack[TestChanges]) -> pd.DataFrame:
        """Tests of every measure: every two systems, or all against a baseline.

        Parameters
        ----------
        changes : the fields of `TestOptions`, each by its name; None leaves one as it is

        Returns
        -------
        DataFrame[measure, first, second, difference (first minus second) with its ends, queries, wins, ties, losses, p
        of the paired t test, of random signs and of a bootstrap, p_corrected, test (that it is of), effect,
        p_equivalent, chance_above]; how they were made stands in its `attrs["sentence"]`

        Examples
        --------
        >>> import relstudy as rs
        >>> qrels = {f"q{n}": {"x": 1, "y": 0} for n in range(6)}
        >>> good, poor = ({query: {"x": x, "y": 1 - x} for query in qrels} for x in (0.9, 0.1))
        >>> poor["q0"] = good["q0"]
        >>> result = rs.score({"good": good, "poor": poor}, qrels, measures=["RR"], method="none", replicates=20)
        >>> result.tests(test="randomisation")[["wins", "ties", "p_randomisation"]].values.tolist()
        [[5.0, 1.0, 0.0625]]
        """
        tests = measure_tests(self.result, TestOptions(**fields_given(TestOptions, changes)))
        table = tests.table()
        table.attrs["sentence"] = tests.sentence()
        return table

    @takes_options(TestOptions)
    def to_latex(self, marks: Literal["letters", "stars"] | None = None, **changes: Unpack[TestChanges]) -> str:
        """The tables of systems, correlations and measures for a paper: booktabs, an interval below its number.

        Parameters
        ----------
        marks : raised in the table of measures: letters that those systems share which are not told apart, or stars of
            those that differ from the baseline
        changes : the fields of `TestOptions`, each by its name; None leaves one as it is
        """
        stated = fields_given(TestOptions, changes)
        if stated and marks is None:
            raise RelstudyError("tests have a part in the LaTeX table where `marks` says so: letters or stars")
        tests = None if marks is None else measure_tests(self.result, TestOptions(**stated))
        tables = [
            scores_table(self.result),
            correlations_table(self.result),
            measures_table(self.result, tests, marks),
        ]
        return "\n".join(table.latex() for table in tables if table is not None)

    def _keep(self, path: Path) -> None:
        run = self.run
        comparison = comparison_json(run.pairs, list(run.candidates), run.result.options)
        # the files beside the judgments have had their part in the figures, and stay where they are
        alone = replace(run, study=StudyTables(run.study.judgments))
        write_kept(replace(self, run=alone), self.saved_as, path, beside=comparison)

    def heading(self) -> str:
        """The numbers of systems and of judgments."""
        numbers = self.result.pairs
        systems = count_of(len(self.result.systems), "system")
        pairs, queries = count_of(numbers["judged"], "judged pair"), count_of(numbers["queries"], "query", "queries")
        return (
            f"{systems} against {pairs} of {queries}, "
            f"{tenths(numbers['relevant'])} relevant ({self.result.conventions['relevant']})"
        )

    def overview(self) -> pd.DataFrame:
        """The indices that every run has, with their intervals, as readers are shown them."""
        rows = []
        for system in self.result.systems:
            row: dict[str, Any] = {"system": system.name}
            for index in self.result.own_indices:
                estimate = system.shown(index)
                row[index.term] = with_ends(estimate.value, estimate.low, estimate.high)
            rows.append(row)
        return pd.DataFrame(rows)

    def remarks(self) -> Sequence[str]:
        """The verdict's headline, and what a person should know."""
        return [self.verdict.headline, *self.notes]
