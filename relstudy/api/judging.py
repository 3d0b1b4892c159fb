"""Automatic judges beside people: `judge` and `mean_judge`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

import pandas as pd

from relstudy.analysis.judges.check import JudgeCheck, check_judge_against
from relstudy.analysis.judges.several import mean_of_judges
from relstudy.analysis.judges.table import JudgeTable, read_judge
from relstudy.analysis.scoring.candidate import Candidate
from relstudy.analysis.scoring.judged_pairs import JudgedPairs
from relstudy.analysis.scoring.options import BootstrapChanges, ScoringOptions
from relstudy.analysis.scoring.systems import candidates_of
from relstudy.api.calibrating import CalibratedPanel
from relstudy.api.inputs import ScoredSystems, scores_of, study_tables_of
from relstudy.common.charts.figures import SERIES, drawing, figure_of, svg
from relstudy.common.options.argument_checks import check_arguments
from relstudy.common.options.declaration import fields_given
from relstudy.common.options.python_arguments import takes_options
from relstudy.common.results.result import Result
from relstudy.common.tables.formats.dataframe_libraries import Source, path_or_frame
from relstudy.common.tables.meaning.reading import Columns, Reading

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def grades_picture(judge: str, grades: pd.DataFrame) -> str:
    """The relevant share of each grade's judged pairs as dots of an area by their number; SVG text."""
    judged = grades[grades["judged"] > 0]
    with drawing(5.2, 3.4) as figure:
        axes = figure.subplots()
        area = 400 * judged["judged"] / max(judged["judged"].max(), 1)
        axes.scatter(judged["grade"], judged["relevant_share"], s=area, color=SERIES[0], alpha=0.8)
        axes.set(xlabel=f"grade of {judge}", ylabel="share relevant, by people", ylim=(-0.05, 1.05))
        return svg(figure, f"Share of relevant pairs by grade of {judge}")


@dataclass(frozen=True, eq=False, repr=False)
class CheckedJudge(Result):
    """A judge held against people's judgments.

    Parameters
    ----------
    check : the figures with their intervals
    notes : how judgments and scores were read, one sentence each
    """

    saved_as = "judge check"
    check: JudgeCheck
    notes: tuple[str, ...] = ()

    @property
    def table(self) -> pd.DataFrame:
        """One row a grade: pairs, those judged, and what people say of them."""
        return self.check.grades

    @property
    def expected(self) -> pd.DataFrame:
        """One row an index: the width of its interval with the judge against people alone, and how many more judged
        pairs would make it as short."""
        return self.check.expected

    @property
    def systems(self) -> pd.DataFrame:
        """One row a system: by how much the judge favours it (bias, with its interval), and their rank correlation
        beyond what people explain of both; empty without systems."""
        rows = []
        for name, partial in self.check.circular.items():
            bias = self.check.bias.get(name)
            ends = {} if bias is None else {"bias": bias.value, "bias_low": bias.low, "bias_high": bias.high}
            rows.append({"system": name, **ends, "beyond_people": partial})
        return pd.DataFrame(rows)

    def as_json(self) -> dict[str, Any]:
        """Everything that `relstudy judge check --json` prints of the judge and the systems."""
        return self.check.as_json()

    def plot(self) -> Figure:
        """By grade, the share of pairs that people call relevant; a dot is the larger, the more pairs were judged.

        Examples
        --------
        >>> pairs = {"query_id": list("aabb"), "result_id": list("wxyz")}
        >>> judgments = pd.DataFrame({**pairs, "judgment": [5, 1, 4, 2], "inclusion_probability": 0.5})
        >>> checked = judge(pd.DataFrame({**pairs, "rating": [1, 0, 1, 0]}), judgments, name="llm", replicates=50)
        >>> checked.plot().axes[0].get_xlabel()
        'grade of llm'
        """
        return figure_of(lambda: grades_picture(self.check.judge.name, self.check.grades))

    def _tables(self) -> Mapping[str, pd.DataFrame]:
        further = {"Systems:": self.systems, "Intervals with its help:": self.expected}
        return {"Grades:": self.table} | {title: table for title, table in further.items() if len(table)}

    def heading(self) -> str:
        """The judge, and the share of people's judgments that it explains."""
        squared = self.check.explained["r_squared"]
        return f"Judge {self.check.judge.name}: explains {squared} of the variance of people's judgments"

    def overview(self) -> pd.DataFrame:
        """The table of grades."""
        return self.check.grades

    def remarks(self) -> Sequence[str]:
        """Warnings, and how the tables were read."""
        return (*self.check.warnings, *self.notes)


@takes_options(ScoringOptions)
def judge(
    table: Source,
    judgments: Source | CalibratedPanel,
    scores: ScoredSystems | None = None,
    *,
    name: str | None = None,
    columns: Columns | None = None,
    **changes: Unpack[BootstrapChanges],
) -> CheckedJudge:
    """Hold an automatic judge against people's judgments, as `relstudy judge check` does.

    Parameters
    ----------
    table : what the judge said: query_id, result_id, rating (empty where it gave no answer), status optional
    judgments : a path, a DataFrame with query_id, result_id and judgment, or what `calibrate` gives
    scores : systems that the judge may favour, with a score for every pair that it was given
    name : of the judge; default: the file's
    columns : names of the columns of `table` to ours
    changes : of the bootstrap over queries

    Raises
    ------
    RelstudyError
        where a table has faults, the judge was given none of the judged pairs, or a system lacks scores

    Examples
    --------
    >>> pairs = {"query_id": list("aabb"), "result_id": list("wxyz")}
    >>> judgments = pd.DataFrame({**pairs, "judgment": [5, 1, 4, 2], "inclusion_probability": 0.5})
    >>> checked = judge(pd.DataFrame({**pairs, "rating": [1, 0, 1, 0]}), judgments, replicates=50)
    >>> checked.table[["grade", "relevant_share"]].values.tolist()
    [['0', 0.0], ['1', 1.0]]
    """
    check_arguments(judge, locals())
    options = ScoringOptions(method="none", measures=(), **fields_given(ScoringOptions, changes))
    judged = study_tables_of(judgments).judgments
    pairs = JudgedPairs.of(judged)
    candidates: list[Candidate] = []
    by_system: dict[str, pd.DataFrame] = {}
    notes = list(judged.all_notes)
    if scores is not None:
        scored, file = scores_of(scores)
        candidates, _ = candidates_of([(file, scored)], pairs, options)
        notes += scored.notes
        by_system = dict(scored.by_system())
    ratings = judgments.ratings if isinstance(judgments, CalibratedPanel) else None
    said = _table(table, name, columns)
    check = check_judge_against(pairs, candidates, by_system, said, options, ratings)
    return CheckedJudge(check, tuple(notes))


def mean_judge(
    tables: Mapping[str, Source], judgments: Source | CalibratedPanel, *, best: int | None = None
) -> pd.DataFrame:
    """Several automatic judges as one, as `relstudy judge --mean-of` makes it: a table for `score(..., judge=table)`.

    Parameters
    ----------
    tables : each judge's table by its name (query_id, result_id, rating; empty where it gave no answer)
    judgments : a path, a DataFrame with query_id, result_id and judgment, or what `calibrate` gives
    best : take the mean of so many, those that explain people's judgments best; default: of all

    Returns
    -------
    DataFrame[query_id, result_id, rating (0 to 1), status] of the pairs that all judges in it were given; `.attrs`
    holds these under "members", the one that explains most first

    Raises
    ------
    RelstudyError
        where a table has faults, there are fewer than two judges or than `best`, or they have no pair in common

    Examples
    --------
    >>> pairs = {"query_id": list("aabb"), "result_id": list("wxyz")}
    >>> judgments = pd.DataFrame({**pairs, "judgment": [5, 1, 4, 2], "inclusion_probability": 0.5})
    >>> grades = {"one": [3, 0, 3, 0], "two": [7, 9, 7, 9], "three": [1, 1, 0, 0]}
    >>> tables = {name: pd.DataFrame({**pairs, "rating": each}) for name, each in grades.items()}
    >>> mean = mean_judge(tables, judgments, best=2)
    >>> mean["rating"].tolist(), [each["judge"] for each in mean.attrs["members"]]
    ([0.75, 0.25, 0.75, 0.25], ['one', 'two'])
    """
    check_arguments(mean_judge, locals())
    pairs = JudgedPairs.of(study_tables_of(judgments).judgments)
    mean, members = mean_of_judges([_table(table, name, None) for name, table in tables.items()], pairs, best)
    mean.attrs["members"] = members
    return mean


def _table(table: Source, name: str | None, columns: Columns | None) -> JudgeTable:
    return read_judge(path_or_frame(table, "the judge"), name, Reading.stated({"columns": columns}))
