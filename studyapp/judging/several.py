"""The mean of a study's judges, as one more judge of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from relstudy.analysis.judges.several import mean_of_judges
from relstudy.analysis.judges.study import judge_file
from relstudy.analysis.judges.table import read_judge
from relstudy.analysis.scoring.judged import JudgedPairs
from relstudy.analysis.scoring.rated import judgments_with_ratings
from relstudy.calibration.judgments import read_judgments
from relstudy.common.errors import RelstudyError
from relstudy.common.files import read_json
from relstudy.common.study_folder import table_in
from relstudy.studyapp.judging.results import FOLDER, judge_files, write_judge


def mean_of_study(
    folder: Path, name: str, mean_of: Sequence[str], best: int | None, date: str
) -> tuple[dict[str, Any], int]:
    """Write the judge `name`, the mean of others of the study in `folder`.

    Parameters
    ----------
    mean_of : names of the judges to choose from; none takes all of the study that are no means themselves
    best : how many to take, those that explain people's judgments best; None takes all

    Returns
    -------
    What judges/NAME.json says, and how many judges there were to choose from

    Raises
    ------
    RelstudyError
        where there is no such judge, there are too few, or judges/NAME.csv holds a judge that is no mean
    """
    path, *_ = judge_files(folder, name)
    if path.is_file() and not _is_mean(path):
        raise RelstudyError(f"{path} holds a judge that is no mean of others; give the mean another --judge")
    names = list(dict.fromkeys(mean_of)) or sorted(
        each.stem for each in (folder / FOLDER).glob("*.csv") if not _is_mean(each)
    )
    if name in names:
        raise RelstudyError(f"--mean-of {name}: a judge has no part in a mean of its own name")
    judges = [read_judge(judge_file(folder, each), each) for each in names]
    file = table_in(folder, "judgments.csv", "relstudy calibrate")
    pairs = JudgedPairs.of(judgments_with_ratings(read_judgments(file), file))
    mean = mean_of_judges(judges, pairs, best)
    said = {"mean_of": [each.as_json() for each in mean.members], "date": date}
    return write_judge(folder, name, mean.table, said), mean.among


def _is_mean(path: Path) -> bool:
    description = path.with_suffix(".json")
    return description.is_file() and "mean_of" in read_json(description)
