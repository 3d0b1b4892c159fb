"""Which of two results is better: answers to couples in, a judgment of each result out.

A judgment is the chance that people prefer the result to an average one of its query's, on a scale from 0 to 1. It says
nothing of how good the query's results are as a whole; `relstudy join` sets that by the pairs that were also rated.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from relstudy.calibration.blocks import is_couple, rows_aside
from relstudy.calibration.judgments import Judgments, write_judgments
from relstudy.calibration.methods.preference import EQUAL, LEFT, RIGHT, Couples, Preferences, fit_preferences
from relstudy.calibration.set_aside import without_set_aside
from relstudy.common.errors import RelstudyError
from relstudy.common.estimates import Estimate
from relstudy.common.headers import under_own_names
from relstudy.common.pairs_table import OTHER
from relstudy.common.scales import KnownScale, Scale
from relstudy.common.tables import read_table, write_table
from relstudy.common.wording import count_of

SCALE = Scale("preferred", (0.0, 1.0), continuous=True)
NORMAL = 1.959963984540054
SIDE = "left"
"""Column of which result stood on the left."""


@dataclass(frozen=True, eq=False)
class PreferenceStudy:
    """Judgments from couples.

    Parameters
    ----------
    judgments : one row a result: query_id, result_id, judgment (0 to 1), standard_error, n_ratings (couples it was in),
        and log_odds of being preferred with log_odds_error, mean 0 in each query
    raters : one row a rater: rater_id, n_ratings, equal (share of them), lean (to the left) and tie, in log odds
    fitted : the model
    undecided : answers that were left open
    notes : on how the table was read, as sentences
    """

    judgments: Judgments
    raters: pd.DataFrame
    fitted: Preferences
    undecided: int
    notes: tuple[str, ...]

    @property
    def lean(self) -> Estimate:
        """The panel's lean to the left, in log odds, with its 95 % interval."""
        mean, reach = self.fitted.mean_lean, NORMAL * self.fitted.lean_error
        return Estimate(mean, mean - reach, mean + reach)

    def as_json(self) -> dict[str, Any]:
        """Sizes, spreads, the panel's lean, and notes."""
        return {
            "results": len(self.judgments),
            "queries": int(self.judgments.frame["query_id"].nunique()),
            "raters": len(self.raters),
            "answers": int(self.raters["n_ratings"].sum()),
            "undecided": self.undecided,
            "lean": self.lean.as_json(),
            "spreads": dict(zip(("quality", "lean", "tie"), self.fitted.spreads, strict=True)),
            "notes": list(self.notes),
        }

    def write(self, folder: Path) -> list[Path]:
        """Write judgments.csv and raters.csv; gives the files."""
        write_judgments(self.judgments, folder / "judgments.csv")
        write_table(self.raters, folder / "raters.csv")
        return [folder / "judgments.csv", folder / "raters.csv"]


def read_preferences(path: str | os.PathLike[str]) -> PreferenceStudy:
    """Judgments from a table of couples.

    Parameters
    ----------
    path : a table with rater_id, query_id, result_id, other_id, left (the one of them that stood on the left) and
        rating: -1 the left one is better, 0 neither, 1 the right one, empty undecided. Rows without other_id, of
        checks, repeats and practice, and of raters who were set aside are left out

    Raises
    ------
    TableError
        with every fault of the table
    RelstudyError
        where nothing is left

    Examples
    --------
    >>> import tempfile
    >>> rows = "rater_id,query_id,result_id,other_id,left,rating\\na,q,x,y,x,-1\\nb,q,x,y,y,1\\na,q,y,z,y,0\\n"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "which.csv"
    ...     _ = file.write_text(rows)
    ...     found = read_preferences(file)
    >>> frame = found.judgments.frame
    >>> bool(frame["judgment"].iloc[0] > 0.5), frame["n_ratings"].tolist()
    (True, [2, 3, 1])
    """
    table = under_own_names(read_table(path), ("rater_id", "query_id", "result_id", OTHER, SIDE, "rating", "block"))
    table.require("rater_id", "query_id", "result_id", OTHER, SIDE, "rating")
    table = without_set_aside(table)
    chosen = is_couple(table) & ~rows_aside(table)
    table = table.among(table.frame[chosen].reset_index(drop=True), table.rows[chosen])
    if table.frame.empty:
        raise RelstudyError(f"{table.file}: no row has an other_id, so nobody said which of two results is better")
    text = {name: table.texts(name) for name in ("rater_id", "query_id", "result_id", OTHER, SIDE)}
    first, second, left = (np.asarray(text[name], dtype=object) for name in ("result_id", OTHER, SIDE))
    answer = table.numbers("rating", low=LEFT, high=RIGHT, empty=True)
    table.add(np.isfinite(answer) & ~np.isin(answer, (LEFT, EQUAL, RIGHT)), "rating", "-1, 0 or 1 is allowed")
    table.add(first == second, OTHER, "another result than result_id is needed")
    table.add((left != first) & (left != second), SIDE, "result_id or other_id is allowed: what stood on the left")
    table.raise_faults()
    right = np.where(left == first, second, first)
    decided = np.isfinite(answer)
    if not decided.any():
        raise RelstudyError(f"{table.file}: every answer is empty (undecided)")
    query = np.asarray(text["query_id"], dtype=object)
    ends = pd.MultiIndex.from_arrays([np.r_[query, query], np.r_[left, right]])
    codes, results = pd.factorize(ends)
    names = pd.MultiIndex.from_tuples(results, names=["query_id", "result_id"]).to_frame(index=False)
    rater, raters = pd.factorize(np.asarray(text["rater_id"], dtype=object)[decided])
    left_code, right_code = codes[: len(query)][decided], codes[len(query) :][decided]
    given = answer[decided].astype(int)
    fitted = fit_preferences(
        Couples(rater, left_code, right_code, given, pd.factorize(names["query_id"])[0], len(raters))
    )
    preferred = fitted.preferred
    frame = names.assign(
        judgment=preferred,
        n_ratings=np.bincount(np.r_[left_code, right_code], minlength=len(names)),
        standard_error=fitted.standard_error * preferred * (1 - preferred),
        log_odds=fitted.quality,
        log_odds_error=fitted.standard_error,
        **SCALE.columns(),
    )
    seen = frame["n_ratings"] > 0
    known = KnownScale(SCALE, "named", "the chance of being preferred to an average result of the query")
    of_raters = pd.DataFrame(
        {
            "rater_id": raters,
            "n_ratings": np.bincount(rater),
            "equal": np.bincount(rater, given == EQUAL) / np.bincount(rater),
            "lean": fitted.lean,
            "tie": fitted.tie,
        }
    )
    alone = int((~seen).sum())
    notes = [*table.notes]
    if alone:
        notes.append(f"{count_of(alone, 'result')} had no decided answer and no judgment")
    kept = frame[seen].reset_index(drop=True)
    return PreferenceStudy(Judgments(kept, known), of_raters, fitted, int((~decided).sum()), tuple(notes))
