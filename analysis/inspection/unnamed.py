"""Tables without a header: what their columns may be, as a draft that a person confirms."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

import pandas as pd

from relstudy.analysis.inspection.answers import read_answers
from relstudy.analysis.inspection.column_roles import RATING_USES, SCORE_USES, are_fractions, stated_options, to_run
from relstudy.analysis.inspection.finding import ColumnRole, Inspection
from relstudy.common.runtime.wording import count_of, listed, quoted
from relstudy.common.tables.checked_table import Checked
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR

HIGHEST = 100
"""The end of the longest scale of people's answers."""
MOST_ANSWERS = 25
"""Different answers on one scale that several columns of people give at most."""


def inspect_unnamed(table: Checked) -> Inspection:
    """The inspection of a table whose columns have numbers for names."""
    frame = table.frame
    answers = {name: each for name in map(str, frame) if (each := read_answers(frame[name])) is not None}
    grades = [name for name, each in answers.items() if each.are_grades and each.whole and not each.unordered]
    panel = _panel(frame, [name for name in grades if not answers[name].words])
    ids = [name for name in map(str, frame) if name not in grades and not are_fractions(frame[name])]
    if len(panel) > 2 and len(ids) <= len(PAIR):
        return _drafted(table, dict(zip(ids, PAIR if len(ids) == 2 else PAIR[1:], strict=False)), panel)
    if not grades or grades[-1] == "column 1":
        what = f"a table of {count_of(len(frame), 'row')} without a header, in which no column holds answers"
        return Inspection(table.file, "unknown", what)
    others = [name for name in map(str, frame) if name != grades[-1]]
    return _drafted(table, dict(zip(others, PAIR, strict=True)) if len(others) == len(PAIR) else {}, grades[-1:])


def _panel(frame: pd.DataFrame, names: list[str]) -> list[str]:
    """The columns where they hold numbers on one scale, as several people give them; else none."""
    if len(names) < 2:
        return []
    together = pd.concat([frame[name] for name in names], ignore_index=True)
    read = read_answers(together)
    if read is None or read.scale is None or read.odd or together.nunique() > MOST_ANSWERS:
        return []
    return names if read.scale.high <= HIGHEST else []


def _drafted(table: Checked, ids: dict[str, str], columns: Sequence[str]) -> Inspection:
    """Ratings or judgments in these columns, of what `ids` say; where they say nothing, that is asked, too."""
    frame = table.frame
    several = len(columns) > 1
    answers = read_answers(pd.concat([frame[name] for name in columns]))
    assert answers is not None
    numbers = [int(name.split()[-1]) for name in columns]
    in_a_row = several and numbers == list(range(numbers[0], numbers[-1] + 1))
    rated = [f"{numbers[0]}..{numbers[-1]}"] if in_a_row else [str(number) for number in numbers]
    named = [f"{name.split()[-1]}={ours}" for name, ours in ids.items()]
    if not several and not ids:
        named = [f"COLUMN={ours}" for ours in ("rater_id", *PAIR)]
    stated = ",".join([*named, *(f"{number}=rating" for number in rated)])
    trusted = ["--trust-raters"] if several else []
    options = " ".join([f"--columns {shlex.quote(stated)}", *stated_options({}, answers, table), *trusted])
    by_people = several or not ids
    start = f"relstudy calibrate {quoted(table.file)} -o out" if by_people else _judged(table.file)
    roles = (*ids.items(), *((name, "rating") for name in columns))
    return to_run(
        Inspection(
            table.file,
            "ratings" if by_people else "judgments",
            f"a table of {count_of(len(frame), 'row')} without a header",
            tuple(ColumnRole(name, ours, "by what it holds") for name, ours in roles),
            uses=RATING_USES[:3] if by_people else SCORE_USES,
            questions=(_question(ids, columns),),
        ),
        f"{start} {options}",
        answers,
    )


def _judged(file: str) -> str:
    return f"relstudy score SCORES -j {quoted(file)}"


def _question(ids: dict[str, str], columns: Sequence[str]) -> str:
    """What a person has to confirm."""
    what = [re.sub("_id$", "", ours) for ours in ids.values()]
    if len(columns) > 1:
        item = f"does {listed(list(ids))} name" if len(ids) == 1 else f"do {listed(list(ids))} name"
        items = f"{item} what was rated" if ids else "is each row an item"
        return f"is each of {columns[0]} to {columns[-1]} one rater's in all rows, and {items}?"
    if not ids:
        return f"are the answers in {columns[0]}, and which columns name the rater, the query and the result?"
    return f"do {listed(list(ids))} name the {listed(what)}, and is {columns[0]} the grade?"
