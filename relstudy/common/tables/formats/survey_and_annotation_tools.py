"""The tools whose exports are known: by which columns, and which of their rows are no answers."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

import pandas as pd

from relstudy.common.tables.formats.json_records import FLATTENED

TRIALS = ("1", "2", "9", "17")
"""Status of survey previews and tests, in a Qualtrics export of numbers."""


def _is_trial(texts: pd.Series) -> pd.Series:
    return texts.str.contains("preview|test|pretest|debug|admin") | texts.isin(TRIALS)


def _is_unfinished(texts: pd.Series) -> pd.Series:
    return texts.isin(["false", "0", "no"])


def _is_true(texts: pd.Series) -> pd.Series:
    return texts.isin(["true", "1", "yes"])


def _is_empty(texts: pd.Series) -> pd.Series:
    return texts == ""


@dataclass(frozen=True)
class Mark:
    """A column by which a tool marks rows that are no answers.

    Parameters
    ----------
    column : its name, in lower case
    is_none : which of its texts, in lower case, mark such a row
    what : what such a row is, after "2 responses"
    """

    column: str
    is_none: Callable[[pd.Series], pd.Series]
    what: str


@dataclass(frozen=True)
class Crowd:
    """The columns of a crowd platform's export, which has a row an assignment, in lower case.

    Parameters
    ----------
    shown, chosen : how the names of columns begin that were shown, and that were chosen
    worker, state : the columns of who worked, and of what became of it
    what : what such a file is
    """

    shown: str
    chosen: str
    worker: str
    state: str
    what: str


@dataclass(frozen=True)
class Tool:
    """A tool, and how its exports are known.

    Parameters
    ----------
    name : as people call it
    columns : sets of columns, in lower case, of which an export has one
    lacking : columns that no export of it has
    ending : how a column's name ends in every export
    alone : whether an export has no other columns
    marks : of rows that are no answers
    person : columns, of which an export has one, that name the person of a row of many answers
    crowd : of a crowd platform
    """

    name: str
    columns: tuple[frozenset[str], ...] = ()
    lacking: frozenset[str] = frozenset()
    ending: str = ""
    alone: bool = False
    marks: tuple[Mark, ...] = ()
    person: tuple[str, ...] = ()
    crowd: Crowd | None = None

    def wrote(self, names: Collection[str]) -> bool:
        """Whether a table with these columns, in lower case, is an export of it."""
        has = set(names)
        if self.ending and any(name.endswith(self.ending) for name in has):
            return True
        known = any(columns == has if self.alone else columns <= has for columns in self.columns)
        return known and not self.lacking & has


def _columns(*names: str) -> frozenset[str]:
    return frozenset(names)


NOT_FINISHED = "not finished"
BY_WAY_OF_TRIAL = "by way of trial"
PROLIFIC = Tool(
    "Prolific", (_columns("participant id", "submission id"), _columns("participant id", "completion code"))
)
QUALTRICS = Tool(
    "Qualtrics",
    (_columns("responseid", "finished"),),
    marks=(
        Mark("status", _is_trial, BY_WAY_OF_TRIAL),
        Mark("distributionchannel", _is_trial, BY_WAY_OF_TRIAL),
        Mark("finished", _is_unfinished, NOT_FINISHED),
    ),
    person=("responseid",),
)
MTURK = Tool(
    "MTurk",
    (_columns("assignmentid", "workerid"),),
    crowd=Crowd("input.", "answer.", "workerid", "assignmentstatus", "batch results"),
)
TOLOKA = Tool(
    "Toloka",
    (_columns("assignment:worker_id", "assignment:assignment_id"),),
    crowd=Crowd("input:", "output:", "assignment:worker_id", "assignment:status", "assignments"),
)
APPEN = Tool(
    "Appen",
    (_columns("_worker_id", "_unit_id"),),
    marks=(Mark("_golden", _is_true, "to test questions"), Mark("_tainted", _is_true, "thrown out by the vendor")),
)
LABEL_STUDIO = Tool("Label Studio", (_columns("annotation_id", "annotator"),))
POTATO = Tool("Potato", (_columns("instance_id", "user"), _columns("instance_id", "user_id")))
QUEPID = Tool(
    "Quepid",
    (_columns("query", "docid", "rating"), _columns("query", "docid", "rank")),
    lacking=_columns("qid", "score"),
)
BEIR = Tool("BEIR", (_columns("query-id", "corpus-id", "score"),), alone=True)
LIMESURVEY = Tool(
    "LimeSurvey",
    (_columns("submitdate", "lastpage"), _columns("date submitted", "last page")),
    marks=(Mark("submitdate", _is_empty, NOT_FINISHED), Mark("date submitted", _is_empty, NOT_FINISHED)),
    person=("id", "response id"),
)
ARGILLA = Tool("Argilla", ending=f"{FLATTENED}.users")
SOSCI = Tool(
    "SoSci Survey",
    (_columns("case", "questnnr", "mode"),),
    marks=(Mark("mode", _is_trial, BY_WAY_OF_TRIAL), Mark("finished", _is_unfinished, NOT_FINISHED)),
)

TOOLS = (PROLIFIC, QUALTRICS, MTURK, TOLOKA, APPEN, LABEL_STUDIO, POTATO, QUEPID, BEIR, LIMESURVEY, ARGILLA, SOSCI)


def tool_of(names: Collection[str]) -> Tool | None:
    """The tool that wrote a table with these columns, in lower case; None where it is not known."""
    return next((tool for tool in TOOLS if tool.wrote(names)), None)
