"""What is asked of `score`, by the command and by the function alike: both read their tables and run this."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from relstudy.analysis.interim_looks import Looks
from relstudy.analysis.judges.table import JudgeTable, pairs_to_score
from relstudy.analysis.pipeline import ScoringRun, score_tables, with_tests
from relstudy.analysis.scoring.groups import Grouping
from relstudy.analysis.scoring.options import ScoringOptions, TestOptions, options_over
from relstudy.analysis.scoring.saved import SavedComparison
from relstudy.calibration.tables.study_tables import StudyTables
from relstudy.common.options.option_wording import option
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.checked_table import Checked
from relstudy.common.tables.meaning.reading import Reading
from relstudy.mapping.fitted import FittedMapping
from relstudy.mapping.scores.coverage import covering
from relstudy.mapping.scores.score_table import ScoreTable


def refuse_what_does_not_go_together(
    *, judgments: bool, against: bool, ratings: bool, judge: bool, by: bool, apart: bool, pairs: bool = False
) -> None:
    """Refuse choices that make no sense without another, or beside it, before any file is read.

    Raises
    ------
    RelstudyError
        naming both choices as the caller makes them
    """
    needs = option("judgments")
    refused = {
        f"{option('apart', True)} goes with {option('by')}": apart and not by,
        f"{option('pairs')} goes with {option('by')}": pairs and not by,
        f"{option('by')} takes a column of the judgments, so {needs} is needed": by and not judgments,
        f"{option('ratings')} goes with {needs}; a saved comparison keeps what it needs of the ratings": (
            ratings and (against or not judgments)
        ),
        f"{option('judge')} needs the scores of all systems, which a saved comparison does not keep": judge and against,
    }
    sentence = next((each for each, holds in refused.items() if holds), None)
    if sentence is not None:
        raise RelstudyError(sentence)


@dataclass(frozen=True)
class ScoreRequest:
    """Systems to score against judgments.

    Parameters
    ----------
    study : the judgments, with what belongs to them
    systems : gives what each table of scores is called, and its scores, for the pairs that are needed (query_id,
        result_id as text)
    reading : how tables are read
    stated : the fields of `ScoringOptions` that were stated
    saved : a comparison among whose systems these are placed
    judge : an automatic judge's grades of many more pairs
    fitted : mappings by system
    by, apart, pairs : the column of groups, whether each has its own mappings, and the pairs that may hold the column
    tests : the fields of `TestOptions` that were stated
    folder : the study's that the systems are of, of which those with too few judged pairs are left out; or None
    """

    study: StudyTables
    systems: Callable[[pd.DataFrame], Sequence[tuple[str, ScoreTable]]]
    reading: Reading
    stated: Mapping[str, Any]
    saved: SavedComparison | None = None
    judge: JudgeTable | None = None
    fitted: Mapping[str, FittedMapping] = field(default_factory=dict)
    by: str | None = None
    apart: bool = False
    pairs: Checked | None = None
    tests: Mapping[str, Any] = field(default_factory=dict)
    folder: Path | None = None

    @cached_property
    def looks(self) -> Looks | None:
        """The looks at the study; None where its study.toml, if there is one, plans none."""
        if self.saved is not None:
            return None
        return Looks.beside(self.study) if self.folder is None else Looks.of(self.study, self.folder)

    @property
    def options(self) -> ScoringOptions:
        """The options stated over the defaults, or over those of the saved comparison, at the level of this look.

        Raises
        ------
        RelstudyError
            where the saved comparison, or planned looks, need another
        """
        saved = self.saved
        options = options_over(ScoringOptions(), self.stated) if saved is None else saved.options_with(self.stated)
        return options if self.looks is None else self.looks.at_their_level(options)

    def run(self) -> ScoringRun:
        """Read the systems, score them, and count this as a look at the study.

        Raises
        ------
        RelstudyError
            where a table has faults, a system scores too few of the judged pairs, or an option is not allowed
        """
        options = self.options
        tables = self.systems(pairs_to_score(self.study.judgments.frame, self.judge))
        if self.folder is not None:
            tables = covering(tables, self.study.judgments, self.folder, options.low_coverage)
        self.reading.refuse_unfound()
        groups = None if self.by is None else Grouping.of(self.study, self.by, apart=self.apart, pairs=self.pairs)
        run = score_tables(
            self.study, tables, options, fitted=self.fitted, stated=self.stated.get("directions", ()),
            saved=self.saved, judge=self.judge, grouping=groups,
        )  # fmt: skip
        run = with_tests(run, TestOptions(**self.tests)) if self.tests else run
        return run if self.looks is None else self.looks.recorded(run)
