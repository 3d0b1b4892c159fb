"""An automatic judge as one more rater: on the common scale, and marked; never in the judgments."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from relstudy.calibration.ratings import Ratings
from relstudy.common.errors import RelstudyError
from relstudy.common.probabilities import PAIR
from relstudy.common.tables import read_table

MARK = "judge:"
"""What a judge's rater_id begins with."""


def with_judge(ratings: Ratings, path: Path) -> Ratings:
    """The ratings with those that a judge gave the pairs which people rated; its other pairs are left out.

    Parameters
    ----------
    ratings : of people
    path : the judge's table: query_id, result_id, rating (empty where it gave no answer: undecided); its name is the
        judge's

    Raises
    ------
    RelstudyError
        where the judge answered for none of these pairs, a grade is off the people's scale, or a rater has its name
    TableError
        with every fault of the table
    """
    table = read_table(path)
    table.require(*PAIR, "rating")
    scale = ratings.scale.scale
    given = pd.DataFrame({column: table.texts(column) for column in PAIR})
    given["rating"] = table.numbers("rating", empty=True)
    table.add(given.duplicated(PAIR), "result_id", "this pair stands there twice; a judge says one thing of a pair")
    table.raise_faults()
    name = f"{MARK}{path.stem}"
    people = ratings.frame
    if (people["rater_id"] == name).any():
        raise RelstudyError(f"a rater is called {name!r}, as the judge would be; rename the judge's file")
    of_pair = [column for column in people if column not in ("rater_id", "rating", "calibrated", "weight", "seconds")]
    rows = people[of_pair].drop_duplicates(PAIR).merge(given, on=PAIR).assign(rater_id=name)
    answered = rows["rating"].dropna()
    if answered.empty:
        raise RelstudyError(f"{path}: the judge answered for none of the pairs that people rated")
    off = ~answered.between(scale.low, scale.high)
    if off.any():
        raise RelstudyError(
            f"{path}: {int(off.sum())} grades, such as {answered[off].iloc[0]:g}, are off the scale {scale.name} that "
            "people rated on; a rater's would not be"
        )
    pairs = int((~people.duplicated(PAIR)).sum())
    note = (
        f"Judge {path.stem} is one more rater, {name}, of {len(answered):,} of the {pairs:,} pairs that people rated: "
        "it has a part in the common scale and in figures of agreement, and none in judgments.csv and calibrated.csv."
    )
    frame = pd.concat([people, rows.reindex(columns=people.columns)], ignore_index=True)
    frame["base"] = np.asarray(frame["base"], dtype=bool)
    return replace(ratings, frame=frame, notes=(*ratings.notes, note), judges=(*ratings.judges, name))
