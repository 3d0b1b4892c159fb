"""The table of a judge: one grade, or none, for every pair that the judge was given."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from relstudy.analysis.scoring.candidate import Candidate, worse_than_all
from relstudy.calibration.tables.qrels import read_qrels
from relstudy.common.options.argument_checks import shown
from relstudy.common.options.option_wording import option
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.files import read_json
from relstudy.common.runtime.wording import capital, in_words, listed_some
from relstudy.common.tables.checked_table import Checked, stripped
from relstudy.common.tables.formats.file_kind import file_kind
from relstudy.common.tables.formats.table_files import read_table
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR
from relstudy.common.tables.meaning.reading import PLAIN, Reading

OK, NOT_ASKED = "ok", "not_asked"
STATUSES = (OK, "refused", "unparsed", "off_scale", "error", NOT_ASKED)
"""Outcomes of a pair: a grade; the judge would not say; no grade could be read; one that the scale does not hold;
no answer came; it was not asked yet."""
MOST_MODELS = 4
"""Named in a sentence."""
COLUMNS = [*PAIR, "rating", "status", "confidence", "seconds", "cost", "model"]


@dataclass(frozen=True, eq=False)
class JudgeTable:
    """A judge's answers to the pairs that it was given.

    Parameters
    ----------
    name : the judge
    query_id, result_id : text [pairs], each pair once
    rating : float [pairs], a grade or a score, NaN if there is no answer
    status : text [pairs], one of STATUSES; "ok" exactly if there is a rating
    probability : float [pairs], in (0, 1], with which the pair was chosen to be given to the judge
    left_out : how many queries are left out, since the judge's prompt was tuned on them
    model : text [pairs], which model answered, empty where that is not known; None where it is known of no pair
    asked : the model that was asked for; empty where that is not known
    """

    name: str
    query_id: np.ndarray
    result_id: np.ndarray
    rating: np.ndarray
    status: np.ndarray
    probability: np.ndarray
    left_out: int = 0
    model: np.ndarray | None = None
    asked: str = ""

    def __len__(self) -> int:
        return len(self.rating)

    @property
    def answered(self) -> np.ndarray:
        """True if there is a rating, bool [pairs]."""
        return np.isfinite(self.rating)

    @property
    def models(self) -> Counter[str]:
        """How many answers each model gave, where that is known."""
        return Counter() if self.model is None else Counter(each for each in self.model[self.answered] if each)

    def notes(self) -> list[str]:
        """Which model answered, where it is not the one that was asked for, or not one alone; a sentence."""
        return notes_on_models(self.name, self.asked, self.models)

    @cached_property
    def ids(self) -> pd.MultiIndex:
        """The pairs' query_id and result_id."""
        return pd.MultiIndex.from_arrays([self.query_id, self.result_id], names=PAIR)

    @cached_property
    def queries(self) -> tuple[np.ndarray, pd.Index]:
        """Each pair's number among the queries, int64 [pairs], and the queries in their order."""
        codes, names = pd.factorize(self.query_id)
        return codes.astype(np.int64), pd.Index(names)

    def rows_of(self, query_id: np.ndarray, result_id: np.ndarray) -> np.ndarray:
        """Each given pair's row of this table, int64, -1 where the judge was not given it."""
        if len(query_id) == len(self) and (query_id == self.query_id).all() and (result_id == self.result_id).all():
            return np.arange(len(self))  # the same pairs in the same order, which takes no index
        rows: np.ndarray = self.ids.get_indexer(pd.MultiIndex.from_arrays([query_id, result_id])).astype(np.int64)
        return rows

    def scores_of(self, scores: pd.DataFrame, candidate: Candidate) -> np.ndarray:
        """A system's scores of these pairs, float [pairs], as they are.

        Parameters
        ----------
        scores : query_id, result_id, score of this system

        Raises
        ------
        RelstudyError
            where it has no score for some of them, unless its policy ranks such results last
        """
        row = self.rows_of(scores["query_id"].to_numpy(dtype=object), scores["result_id"].to_numpy(dtype=object))
        values, missing = np.full(len(self), np.nan), np.ones(len(self), dtype=bool)
        values[row[row >= 0]] = scores["score"].to_numpy(dtype=float)[row >= 0]
        missing[row[row >= 0]] = False
        if not missing.any():
            return values
        first = int(np.flatnonzero(missing)[0])
        if candidate.coverage.policy != "worst":
            raise RelstudyError(
                f"system {candidate.name!r} has no score for {int(missing.sum())} of the {len(missing)} pairs that the "
                f"judge {self.name} was given, such as ({self.query_id[first]}, {self.result_id[first]}); its table "
                f"must hold them all ({option('policy', 'worst')} ranks those that it does not return last)"
            )
        given_scores = np.r_[candidate.given[np.isfinite(candidate.given)], values[~missing]]
        worst = worse_than_all(given_scores, candidate.direction.higher)
        return np.where(missing, worst, values)

    def without(self, queries: Collection[str]) -> JudgeTable:
        """The table without some queries, those that a prompt was tuned on."""
        kept = ~np.isin(self.query_id.astype(str), list(queries))
        if kept.all():
            return self
        names = ("query_id", "result_id", "rating", "status", "probability")
        left_out = len(np.unique(self.query_id[~kept]))
        model = None if self.model is None else self.model[kept]
        return replace(self, **{name: getattr(self, name)[kept] for name in names}, left_out=left_out, model=model)

    def as_json(self) -> dict[str, Any]:
        """Numbers of rows, answers, queries, and rows by status."""
        counts = Counter(self.status.tolist())
        return {
            "name": self.name,
            "rows": len(self),
            "answered": int(self.answered.sum()),
            "queries": len(self.queries[1]),
            "status": {status: counts[status] for status in STATUSES if counts[status]},
        }


def read_judge(
    source: str | os.PathLike[str] | pd.DataFrame | JudgeTable, name: str | None = None, reading: Reading = PLAIN
) -> JudgeTable:
    """Read a judge's table.

    Parameters
    ----------
    source : a file (where NAME.json beside it says that the prompt was tuned on some queries, without these) or a
        DataFrame, with query_id, result_id and rating (empty if there is no answer; in a file the only further
        column may have another name), or TREC qrels; status and
        inclusion_probability (that with which the pair was given to the judge) optional
    name : of the judge; None takes the file's
    reading : which column is which, and numbers for words

    Raises
    ------
    RelstudyError
        when the file cannot be read, or the judge answered nothing
    TableError
        with every fault: missing columns or ids, ratings that are no numbers, a status that there is not, a rating
        without the status "ok" or the other way round, a pair that appears there twice, a probability outside (0, 1]

    Examples
    --------
    >>> frame = pd.DataFrame({"query_id": ["q", "q"], "result_id": ["x", "y"], "rating": [3, None]})
    >>> read_judge(frame).as_json()["status"]
    {'ok': 1, 'error': 1}
    """
    if isinstance(source, JudgeTable):
        return source
    if isinstance(source, pd.DataFrame):
        table = Checked(source.reset_index(drop=True), "the judge")
        return check_judge(_stated(table, reading), name or "judge")
    if not isinstance(source, str | os.PathLike):
        raise RelstudyError(f"the judge: a path or a pandas DataFrame is needed, not {shown(source)}")
    judge = check_judge(_stated(judge_rows(source), reading), name or Path(source).stem)
    description = Path(source).with_suffix(".json")
    said = read_json(description) if description.is_file() else {}
    asked = said.get("model")
    return replace(judge, asked=asked if isinstance(asked, str) else "").without(said.get("tuned_on", []))


def notes_on_models(judge: str, asked: str, models: Mapping[str, int]) -> list[str]:
    """Which model answered, where it is not the one that was asked for, or not one alone; a sentence.

    Parameters
    ----------
    judge, asked : names of the judge, and of the model that was asked for (empty: not known)
    models : how many answers each model gave

    Examples
    --------
    >>> notes_on_models("j", "m", {"m": 5}), notes_on_models("j", "m", {"m-2": 5})
    ([], ['Judge j asked for model m, and m-2 answered.'])
    """
    if len(models) > 1:
        each = listed_some([f"{model} ({many:,})" for model, many in Counter(models).most_common()], MOST_MODELS)
        return [f"{capital(in_words(len(models)))} models answered for judge {judge}: {each}; their grades may differ."]
    return [
        f"Judge {judge} asked for model {asked}, and {each} answered." for each in models if asked and each != asked
    ]


def pairs_to_score(judged: pd.DataFrame, judge: JudgeTable | None) -> pd.DataFrame:
    """The pairs that a system is needed for, query_id and result_id as text: those judged, and those that the judge was
    given."""
    pairs = judged[PAIR].astype("str")
    if judge is None:
        return pairs
    given = pd.DataFrame({"query_id": judge.query_id, "result_id": judge.result_id})
    return pd.concat([pairs, given], ignore_index=True).drop_duplicates(PAIR)


def _stated(table: Checked, reading: Reading) -> Checked:
    """The table as a person says it is to be read; the scale, gains and items are those of people's judgments."""
    of_answers = replace(reading, scale=None, gains={}, items={})
    return of_answers.apply(table, ("rating",), kind="judge")


def judge_rows(path: str | os.PathLike[str]) -> Checked:
    """The rows of a judge's file: a table, whose only further column is its rating if none is called so, or qrels."""
    table = read_qrels(path) if file_kind(path) == "qrels" else read_table(path)
    have = set(map(str, table.frame.columns))
    others = sorted(have - {*COLUMNS, "inclusion_probability"})
    if "rating" not in have and set(PAIR) <= have and len(others) == 1:
        table.frame = table.frame.rename(columns={others[0]: "rating"})
        table.labels["rating"] = others[0]
    return table


def check_judge(table: Checked, name: str) -> JudgeTable:
    """Check a table that is already in memory; see `read_judge`."""
    table.require(*PAIR, "rating")
    if table.frame["rating"].dtype == bool:
        table.frame = table.frame.assign(rating=table.frame["rating"].astype(float))
    ids = pd.DataFrame({column: table.texts(column) for column in PAIR})
    rating = table.numbers("rating", empty=True)
    status = _statuses(table, rating)
    probability = np.ones(len(ids))
    if "inclusion_probability" in table.frame:
        probability = table.numbers("inclusion_probability", low=0, high=1, low_open=True)
    table.add(ids.duplicated(), "result_id", "this pair appears there twice; a judge says one thing of a pair")
    table.raise_faults()
    if not np.isfinite(rating).any():
        raise RelstudyError(f"{table.file}: the judge answered for none of the {len(ids)} pairs")
    query_id, result_id = (ids[column].to_numpy(dtype=object) for column in PAIR)
    model = stripped(table.frame["model"]).to_numpy(dtype=object) if "model" in table.frame else None
    return JudgeTable(name, query_id, result_id, rating, status, probability, model=model)


def _statuses(table: Checked, rating: np.ndarray) -> np.ndarray:
    """The column status; where it is absent or empty, a row with a rating is ok and one without is an error."""
    answered = np.isfinite(rating)
    default = np.where(answered, OK, "error").astype(object)
    if "status" not in table.frame:
        return default
    words = stripped(table.frame["status"])
    table.add(~words.isin([*STATUSES, ""]), "status", f"{', '.join(STATUSES[:-1])} or {STATUSES[-1]} is allowed")
    is_status = words.isin(STATUSES).to_numpy(dtype=bool)
    table.add(
        is_status & ((words == OK).to_numpy(dtype=bool) != answered),
        "status",
        "ok goes with a rating, all else without",
    )
    status: np.ndarray = np.where(words == "", default, words.to_numpy(dtype=object))
    return status
