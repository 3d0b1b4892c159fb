"""Ratings whose answers have a column each, which says whether that answer was chosen."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from fnmatch import fnmatchcase

import pandas as pd

from relstudy.analysis.inspection.answers import read_answers
from relstudy.analysis.inspection.columns import RATING_USES, calibrate_command, described, remarks, to_run
from relstudy.analysis.inspection.finding import Inspection
from relstudy.common.checked import Checked
from relstudy.common.reading import Reading
from relstudy.common.records import NO, YES


def labels_of(frame: pd.DataFrame, names: list[str]) -> dict[str, list[str]]:
    """Columns that say yes or no to one label each, by what their names share."""
    groups: dict[str, list[str]] = {}
    for name in names:
        match = re.fullmatch(r"(.+?(?::::|\.))([^.:]+)", name)
        if match:
            groups.setdefault(match[1], []).append(name)
    return {
        shared: columns
        for shared, columns in groups.items()
        if len(columns) > 1 and all(_says_whether(frame[name], name.removeprefix(shared)) for name in columns)
    }


def _says_whether(column: pd.Series, label: str) -> bool:
    texts = column.astype("str").mask(column.isna(), "").str.strip().str.casefold()
    number = re.sub(r"\D", "", label)
    return bool(texts.isin(["", *YES, *NO, "0", label.casefold(), number or "true"]).all())


def choices_made(
    table: Checked, roles: dict[str, str], tool: str, labels: dict[str, list[str]], notes: Iterable[str] = ()
) -> Inspection:
    """Ratings whose answers have a column each."""
    readings = [_choice(table, roles, tool, shared, columns) for shared, columns in labels.items()]
    several = Inspection.of_several(table.file, readings, f"an export of {tool} with {len(labels)} questions")
    return replace(several, notes=(*notes, *several.notes))


def _choice(table: Checked, roles: dict[str, str], tool: str, shared: str, columns: list[str]) -> Inspection:
    """The ratings that one question gives."""
    pattern = f"{shared}*"
    matching = [str(name) for name in table.frame if fnmatchcase(str(name), pattern)]
    chosen = (pattern,) if matching == columns else tuple(columns)
    named = {ours: (theirs,) for ours, theirs in roles.items() if ours != "rating"} | {"rating": chosen}
    read = Reading(named).apply(table)
    several = {str(fault.value) for fault in read.faults}
    answers = read_answers(read.frame["rating"].mask(read.frame["rating"].isin(several), ""))
    notes = [f"each answer has a column that says whether it was chosen: {', '.join(columns)}"]
    if several:
        notes.append(f"some rows have chosen several answers ({', '.join(sorted(several))}): keep one of them in each")
    if answers is None:
        return Inspection(table.file, tool, f"an export of {tool} without an answer", (), tuple(notes))
    raters = table.frame[roles["rater_id"]].nunique()
    roles = {**{ours: theirs for ours, theirs in roles.items() if ours != "rating"}, "rating": ", ".join(chosen)}
    inspection = Inspection(
        table.file,
        tool,
        f"{answers.count} ratings by {raters} raters, exported from {tool}",
        described(roles, "by its name and its values"),
        (*notes, *remarks(answers)),
        RATING_USES[:3],
    )
    return to_run(inspection, calibrate_command(table, roles, answers, chosen), answers)
