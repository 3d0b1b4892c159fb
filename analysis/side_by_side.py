"""Systems compared side by side: how often people prefer the answers, or the first results, of one to another's.

Half of the ties count for each. A share's interval is for raters and queries like these, since both are crossed
(Cameron, Gelbach and Miller 2011). A system may be the best unless another is preferred to it at a level that is
divided among its rivals (Bonferroni).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from relstudy.calibration.preferences import CoupleAnswers, read_couples, systems_preferred
from relstudy.common.results.estimates import Estimate
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import count_of, listed, percent, span
from relstudy.common.tables.formats.table_files import read_table

LISTS = "lists.csv"


@dataclass(frozen=True, eq=False)
class SideBySide:
    """Systems by the share of comparisons that they win.

    Parameters
    ----------
    what : "answers" or "first results"
    names : systems, most preferred first
    shares : of each, the mean over its rivals of the share in which it is preferred, 0 to 1
    couples : one row for every two systems: system, other, preferred (0 to 1), preferred_low, preferred_high, answers,
        queries, note, as `systems_preferred` has them, with the preferred one first
    best : systems that may be the best
    ahead : systems that each is ahead of, by the interval of the two alone
    ties : share of the answers that call the two equal
    left : share of the other answers that say the left one, where one half is expected
    undecided : answers that were left open
    raters, queries : numbers of them
    """

    what: str
    names: tuple[str, ...]
    shares: tuple[float, ...]
    couples: pd.DataFrame
    best: tuple[str, ...]
    ahead: dict[str, tuple[str, ...]]
    ties: float
    left: float
    undecided: int
    raters: int
    queries: int

    @property
    def headline(self) -> str:
        """Which system to use, in a sentence."""
        lead = self.names[0]
        out = [name for name in self.names if name not in self.best]
        rest = [name for name in self.best if name != lead]
        if not out:
            return f"These comparisons do not show whose {self.what} people prefer: {listed(self.names)}."
        if rest:
            return f"Use {lead}. {listed(rest)} cannot quite be ruled out as equally good; {listed(out)} can."
        return f"Use {lead}: people prefer its {self.what} to those of {listed(out)}."

    def sentences(self) -> list[str]:
        """The answer and what it rests on."""
        number = int(self.couples["answers"].sum())
        said = [
            self.headline,
            f"Decided by {count_of(number, 'comparison')} by {count_of(self.raters, 'rater')} on "
            f"{count_of(self.queries, 'query', 'queries')}; half of the ties count for each. 95 % intervals are for "
            "raters and queries like these.",
            f"Called equal: {percent(self.ties)} of the answers. Of the others {percent(self.left)} say the left one, "
            "which is either system by chance. Results that are the same are not compared.",
        ]
        said += [f"No interval: {note}." for note in dict.fromkeys(self.couples["note"]) if note]
        if self.undecided:
            said.append(f"{count_of(self.undecided, 'answer')} left undecided, and left out.")
        return said

    def rows(self) -> list[list[Any]]:
        """Preferred system, the other, share, answers and queries, for a table."""
        return [
            [row["system"], row["other"], _estimate(row), int(row["answers"]), int(row["queries"])]
            for row in self.couples.to_dict("records")
        ]

    def text_rows(self) -> tuple[list[list[str]], list[str]]:
        """Rows of text and their header, for a terminal."""
        rows = []
        for system, other, share, answers, queries in self.rows():
            ends = span(share.low, share.high, ".2f")
            rows.append([system, other, f"{share.value:.2f}", ends, str(answers), str(queries)])
        return rows, ["system", "over", "preferred", "95 %", "answers", "queries"]

    def as_json(self) -> dict[str, Any]:
        """Plain JSON."""
        return {
            "systems": {name: {"preferred": share} for name, share in zip(self.names, self.shares, strict=True)},
            "couples": [
                {"system": one, "other": other, "preferred": share.as_json(), "answers": answers, "queries": queries}
                for one, other, share, answers, queries in self.rows()
            ],
            "ties": self.ties,
            "left": self.left,
            "undecided": self.undecided,
            "verdict": {
                "headline": self.headline,
                "primary": "share of comparisons in which it is preferred",
                "best": list(self.best),
                "ranks": [{"system": name, "ahead_of": list(self.ahead[name])} for name in self.names],
            },
        }


def _estimate(row: dict[Any, Any]) -> Estimate:
    ends = float(row["preferred_low"]), float(row["preferred_high"])
    if np.isnan(ends[0]):
        return Estimate(float(row["preferred"]), reason=row["note"])
    return Estimate(float(row["preferred"]), *ends)


def compare_side_by_side(answers: CoupleAnswers, gave: pd.DataFrame, what: str = "answers") -> SideBySide:
    """Compare systems by the answers to which of two is better.

    Parameters
    ----------
    answers : as `read_couples` reads them
    gave : system, query_id, result_id: whose answer, or list, a result is; it may be that of several systems
    what : the systems give, in a word

    Raises
    ------
    RelstudyError
        where no couple is of two systems

    Examples
    --------
    >>> first = np.array(["x1", "x2", "x3"], dtype=object)
    >>> second, query, rater = np.array([["y1", "y2", "y3"], ["1", "2", "3"], ["a", "b", "c"]], dtype=object)
    >>> answer = np.array([-1.0, -1.0, 0.0])
    >>> answers = CoupleAnswers("t", rater, query, first, second, first, answer, [], np.ones(3), ())
    >>> gave = pd.DataFrame({"system": list("xxxyyy"), "query_id": list("123") * 2, "result_id": [*first, *second]})
    >>> found = compare_side_by_side(answers, gave)
    >>> found.names, round(found.shares[0], 2), found.left
    (('x', 'y'), 0.83, 1.0)
    """
    decided = np.isfinite(answers.answer)
    rows = pd.DataFrame(
        {
            "query_id": answers.query, "result_id": answers.first, "other_id": answers.second, "wins": answers.wins,
            "weight": answers.weight, "rater": answers.rater, "answer": answers.answer, "left": answers.left,
        }
    )[decided]  # fmt: skip
    of = gave[["system", "query_id", "result_id"]].drop_duplicates()
    both = rows.merge(of, on=["query_id", "result_id"]).merge(
        of.rename(columns={"result_id": "other_id", "system": "other"}), on=["query_id", "other_id"]
    )
    both = both[both["system"] != both["other"]]
    if both.empty:
        raise RelstudyError(f"{answers.file}: no couple is of two systems' {what} as the study's tables have them")
    systems = list(zip(both["system"], both["other"], strict=True))
    rater, query = (pd.factorize(both[name])[0] for name in ("rater", "query_id"))

    def shares(level: float) -> pd.DataFrame:
        wins, weight = both["wins"].to_numpy(float), both["weight"].to_numpy(float)
        table = systems_preferred(systems, wins, weight, rater, query, level)
        return _preferred_first(table[table["other"].isin(set(of["system"]))], level)

    table = shares(0.95)
    number = len({*table["system"], *table["other"]})
    mean: dict[str, list[float]] = {}
    for system, other, share in table[["system", "other", "preferred"]].values.tolist():
        mean.setdefault(system, []).append(share)
        mean.setdefault(other, []).append(1 - share)
    names = sorted(mean, key=lambda name: (-np.mean(mean[name]), name))
    strict = table if number < 3 else shares(1 - 0.05 / (number - 1))
    beaten = set(strict["other"][strict["preferred_low"] > 0.5])
    sure = table[table["preferred_low"] > 0.5]
    ahead = {name: tuple(sure["other"][sure["system"] == name]) for name in names}
    sided = rows[rows["answer"] != 0]
    return SideBySide(
        what, tuple(names), tuple(float(np.mean(mean[name])) for name in names), table,
        tuple(name for name in names if name not in beaten), ahead,
        float((rows["answer"] == 0).mean()), float((sided["answer"] < 0).mean()) if len(sided) else 0.5,
        int((~decided).sum()), rows["rater"].nunique(), rows["query_id"].nunique(),
    )  # fmt: skip


def _preferred_first(table: pd.DataFrame, level: float) -> pd.DataFrame:
    """The table with the preferred system of each row in `system`, most decided first.

    Where every answer says the same, the interval is Clopper and Pearson's of as many queries.
    """
    turned = table["preferred"] < 0.5
    found = table.assign(
        system=table["system"].where(~turned, table["other"]), other=table["other"].where(~turned, table["system"]),
        preferred=table["preferred"].where(~turned, 1 - table["preferred"]),
        preferred_low=table["preferred_low"].where(~turned, 1 - table["preferred_high"]),
        preferred_high=table["preferred_high"].where(~turned, 1 - table["preferred_low"]),
    )  # fmt: skip
    alike = (found["preferred"] == 1) & (found["note"] == "")
    found.loc[alike, "preferred_low"] = ((1 - level) / 2) ** (1 / found.loc[alike, "queries"])
    found.loc[alike, "preferred_high"] = 1.0
    return found.sort_values("preferred", ascending=False, kind="stable").reset_index(drop=True)


def side_by_side_of_study(folder: Path, ratings: Path) -> SideBySide:
    """`compare_side_by_side` of a study's folder.

    Parameters
    ----------
    ratings : as `relstudy export` wrote them
    """
    lists = (folder / LISTS).is_file()
    if lists:
        gave = read_table(folder / LISTS, "list_id", "query_id", "system").frame
        gave = gave.assign(result_id=gave["list_id"])
    else:
        gave = read_table(folder / "answers.csv", "system", "query_id", "result_id").frame
    what = "first results" if lists else "answers"
    return compare_side_by_side(read_couples(ratings, lists), gave, what)
