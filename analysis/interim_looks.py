"""Looks at a study's answer while ratings come in: kept in looks.csv, and held to bounds where the study plans them.

How much of the information is there at a look is told by the answers that the study wants and has, pair by pair. This
is near the inverse variance and not the same: docs/looks.md says what the difference does to the error.
"""

from __future__ import annotations

import contextlib
import hashlib
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd
from scipy.special import ndtri

from relstudy.analysis.pipeline import ScoringRun
from relstudy.analysis.resampling.group_sequential import next_bound
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.verdict.facts import Look
from relstudy.calibration.tables.blocks import BLOCKS
from relstudy.calibration.tables.decision import LookPlan
from relstudy.calibration.tables.study_tables import StudyTables
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.formats.table_files import read_table
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR

LOOKS = "looks.csv"
LOG = ("at", "state", "ratings", "fraction", "bound")
"""When, a hash of the pairs and of how many rated each, how many ratings there were; where looks are planned, the share
of the answers that the study wants, and the bound of the statistic in standard errors."""


@dataclass(frozen=True)
class Looks:
    """The looks at a study, this one included.

    Parameters
    ----------
    log : the file that keeps them
    rows : those that it keeps, columns `LOG`, one row a state of the ratings
    state : of the ratings now
    ratings : behind the judgments now; None where their table does not say
    planned : this look, where looks are planned; None otherwise
    """

    log: Path
    rows: pd.DataFrame
    state: str
    ratings: int | None
    planned: Look | None

    @classmethod
    def of(cls, study: StudyTables, folder: Path) -> Looks:
        """The looks at a study's folder. Each state of the ratings is one look, however they were calibrated.

        Raises
        ------
        RelstudyError
            where looks.csv cannot be read
        """
        log, frame = folder / LOOKS, study.judgments.frame
        rows = pd.DataFrame(columns=LOG)
        if log.is_file() and log.stat().st_size > 0:
            rows = read_table(log, *LOG[:3]).frame.reindex(columns=LOG).drop_duplicates("state")
        for name in LOG[2:]:
            numbers = pd.to_numeric(rows[name], errors="coerce")
            rows[name] = numbers.where((numbers >= 0) & (numbers < float("inf")))  # else by hand: as if it were empty
        rows["bound"] = rows["bound"].where(rows["bound"] > 0)
        rows = rows[rows["ratings"] > 0].reset_index(drop=True)
        known = [name for name in (*PAIR, "n_ratings") if name in frame]
        state = hashlib.sha256(frame[known].sort_values(known).to_csv(index=False).encode()).hexdigest()[:16]
        given = pd.to_numeric(frame["n_ratings"], errors="coerce").sum() if "n_ratings" in frame else len(frame)
        return cls(log, rows, state, int(given), _planned(study, rows, state, int(given)))

    @classmethod
    def beside(cls, study: StudyTables) -> Looks | None:
        """The looks of the study.toml beside the judgments, whatever was named to score; None where it plans none.

        Raises
        ------
        RelstudyError
            where looks.csv cannot be read
        """
        plan = study.decision.looks
        return None if plan is None else cls.of(study, plan.folder)

    def at_their_level(self, options: ScoringOptions) -> ScoringOptions:
        """The options with the level of this look, so that every interval is a repeated confidence interval (Jennison
        and Turnbull 1989); themselves where no looks are planned.

        Raises
        ------
        RelstudyError
            where another level is stated than the plan's
        """
        look = self.planned
        if look is None:
            return options
        if options.level not in (ScoringOptions().level, look.level, round(1 - look.error, 6)):
            raise RelstudyError(
                f"the level of intervals follows from looks.error of study.toml while looks are planned there, so it "
                f"cannot be {options.level:g}"
            )
        return replace(options, level=look.level)

    def recorded(self, run: ScoringRun, *, even_blind: bool = False) -> ScoringRun:
        """The run with the looks at its study; this one is kept if it is new and the study is still rated.

        Raises
        ------
        RelstudyError
            where the study withholds figures yet (looks.blind), unless `even_blind`; the look is kept then, too
        """
        rows = self.rows
        if run.facts.drawn is None and self.planned is None and rows.empty:
            return run
        if self.state not in set(rows["state"]):
            now = datetime.now(UTC).isoformat(timespec="seconds")
            share, bound = (
                (None, None) if self.planned is None else (self.planned.fractions[-1], self.planned.bounds[-1])
            )
            new = pd.DataFrame([[now, self.state, self.ratings, share, bound]], columns=LOG)
            rows = new if rows.empty else pd.concat([rows, new], ignore_index=True)
            # in one piece, so that two commands at once lose no look; a folder that may not be written to keeps none
            with contextlib.suppress(OSError), self.log.open("a", newline="", encoding="utf-8") as file:
                file.write(new.to_csv(index=False, header=file.tell() == 0))
        looked = replace(run, look=self.planned, looks=tuple(rows["ratings"].astype(int)))
        withheld = None if self.planned is None else self.planned.withheld(looked.verdict.settled)
        if withheld is not None and not even_blind:
            raise RelstudyError(withheld)
        return looked


def _planned(study: StudyTables, rows: pd.DataFrame, state: str, ratings: int) -> Look | None:
    """This look with its bound; None where none are planned, or how far the study is cannot be told."""
    plan = study.decision.looks
    progress = None if plan is None else _answers(study, plan)
    if plan is None or progress is None:
        return None
    answers, wanted = progress
    now = answers / wanted
    here = rows["state"] == state
    before = rows[: int(here.argmax()) if here.any() else len(rows)]
    # looks of before the plan had no bound of their own, and were tested as if each were alone
    bounds = before["bound"].fillna(float(ndtri(1 - plan.error / 2))).tolist()
    # of looks of before the plan, and of before a further round whose answers are wanted too
    by_ratings = now * (before["ratings"] / max(ratings, 1)).clip(upper=1.0)
    fractions = before["fraction"].where(before["fraction"] <= now, by_ratings).cummax().tolist()
    kept = rows.loc[here, "bound"].dropna()
    bound = float(kept.iloc[0]) if len(kept) else next_bound([*fractions, now], bounds, plan.error, plan.rule)
    return Look(
        plan.planned,
        answers,
        wanted,
        plan.error,
        plan.rule,
        (*fractions, now),
        (*bounds, bound),
        plan.blind,
        study.closed,
    )


def _answers(study: StudyTables, plan: LookPlan) -> tuple[int, int] | None:
    """The answers that pairs outside the base block have and are to have, undecided ones among them; None where there
    are no such pairs, or what was answered is not known."""
    if study.drawn is None or study.rated is None:
        return None
    drawn, rated = study.drawn.frame, study.rated.frame
    if "block" not in drawn or not {*PAIR} <= {*rated}:
        return None
    wanted = drawn.loc[drawn["block"].astype("str") != BLOCKS[0], [*PAIR]].astype("str").drop_duplicates()
    if wanted.empty:
        return None
    given = pd.MultiIndex.from_frame(rated[[*PAIR]].astype("str")).value_counts()
    have = given.reindex(pd.MultiIndex.from_frame(wanted)).fillna(0).clip(upper=plan.ratings_per_pair)
    return int(have.sum()), plan.ratings_per_pair * len(wanted)
