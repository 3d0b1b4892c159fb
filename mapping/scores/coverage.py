"""Which systems of a study score enough of its judged pairs: `score`, `fit` and `report` take the same."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from relstudy.calibration.tables.judgments import Judgments
from relstudy.common.options.option_wording import option
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import LEFT_OUT, listed_some
from relstudy.common.tables.meaning.study_folder import notes_on_scores
from relstudy.mapping.scores.score_table import ScoreTable

LEAST_COVERAGE = 0.5
"""A system that scores a smaller share of the judged pairs is refused unless `ScoringOptions.low_coverage`."""


def covering(
    tables: Sequence[tuple[str, ScoreTable]], judgments: Judgments, folder: Path, low_coverage: bool = False
) -> list[tuple[str, ScoreTable]]:
    """A study's score tables with the systems that score enough of the judged pairs; notes name the others.

    A system that was added to a study has no judged result before its own are rated.

    Parameters
    ----------
    folder : the study's, which the tables are from
    low_coverage : whether systems that score under half of the judged pairs are kept

    Raises
    ------
    RelstudyError
        if no system scores enough of them
    """
    least = 0.0 if low_coverage else LEAST_COVERAGE * len(judgments)
    kept: list[tuple[str, ScoreTable]] = []
    few: dict[str, int] = {}
    for file, named in tables:
        table = named.by_study(judgments.own_ids)
        enough = []
        for system, count in table.counts(judgments.frame).items():
            if count and (count >= least or system in table.runs):
                enough.append(system)
            else:
                few[system] = count
        if enough:
            kept.append((file, table if len(enough) == len(table.systems) else table.only(enough)))
    if not kept:
        most = max(few.values())
        why = (
            f"under half of the {len(judgments)} judged pairs are scored by {listed_some(list(few))} (at most {most}); "
            f"let score take them all the same ({option('allow_low_coverage', True)}), and read the result with care"
            if most
            else f"no system scores any of the {len(judgments)} judged pairs; check that query_id and result_id are "
            "written the same way in the scores and in the judgments"
        )
        raise RelstudyError(f"{folder / 'scores'}: {why}")
    notes = notes_on_scores(folder)
    part = [f"{system} ({count})" for system, count in few.items() if count]
    if part:
        notes.append(
            f"{LEFT_OUT}, since under half of the {len(judgments)} judged pairs are scored: {', '.join(part)}."
        )
    none = [system for system, count in few.items() if not count]
    if none:
        notes.append(
            f"{LEFT_OUT}, since none of the {len(judgments)} judged pairs is scored: {', '.join(none)}. Nobody has "
            "judged these results yet, or their ids differ."
        )
    (file, first), *others = kept
    return [(file, first.with_notes(notes)), *others]
