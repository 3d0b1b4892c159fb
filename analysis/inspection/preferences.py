"""Answers of others to which of two is better: two items a row, and which of them a person preferred."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from relstudy.analysis.inspection.answers import read_answers
from relstudy.analysis.inspection.column_roles import NAMES, NO_ANSWER, PEOPLE, described, roles_of, underscored
from relstudy.analysis.inspection.finding import ColumnRole, Inspection
from relstudy.common.options.option_wording import list_entry
from relstudy.common.runtime.wording import count_of, quoted
from relstudy.common.tables.checked_table import Checked
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR
from relstudy.common.tables.meaning.pairs_table import OTHER

YES_OR_NO = ("0", "1")
SIDES = (("a", "b"), ("1", "2"), YES_OR_NO, ("left", "right"), ("first", "second"))
"""Ends of the names of the two items' columns, and of answers that name them."""
WORDS = tuple(each for each in SIDES if not each[0].isdigit())
"""Of answers, whatever the columns are called."""
SHORT = {"left": {"l"}, "right": {"r"}}
EQUAL = re.compile(
    r"(?i)s|t|tie|ties|tied|same|equal|both|neither|draw|none|0|tie \(.*\)|both.?(bad|good)|no preference"
)

ITEMS = re.compile(r"(?i)(^|[_ .-])(id|item|doc|document|result|response|answer|output|image|img|video|stimulus)")
"""Names of columns whose numbers are ids."""


def preferences_of(table: Checked, tool: str = "") -> Inspection | None:
    """The inspection of a table of preferences; None where no column says which of two items is better."""
    frame = table.frame
    names = [name for name in map(str, frame) if underscored(name) not in NAMES["rater_id"]]
    for ends in SIDES:
        for one, other in _couples(list(map(str, frame)), ends):
            if not _holds_items(frame, one, other):
                continue
            answers = [name for name in names if name not in (one, other)]
            for name in answers:
                values = _values(frame[name], (one, other), [ends])
                if values is not None:
                    return _inspected(table, tool, one, other, [name], values)
            shares = _shares(frame, (one, other), ends)
            if shares is not None:
                return _inspected(table, tool, one, other, [shares[0]], shares[1])
            people = [name for name in answers if _leans(frame[name])]
            if len(people) > 1:
                return _of_signs(table, one, other, people)
            numbered = [name for name in answers if _numbers_sides(frame[name])]
            named = {name: values for name in answers if (values := _values(frame[name], (one, other), WORDS))}
            # grades of a query and a result that are named are no answers to which is better
            if len({*people, *numbered, *named}) != 1 or set(PAIR) <= set(roles_of(frame)):
                continue
            for name, values in named.items():
                return _inspected(table, tool, one, other, [name], values)
            return _of_signs(table, one, other, people) if people else _of_numbers(table, one, other, numbered[0])
    return None


def couple_of(frame: pd.DataFrame) -> tuple[str, str] | None:
    """Two columns that hold an item each, of which one may be better, or None."""
    names = list(map(str, frame))
    couples = (couple for ends in SIDES for couple in _couples(names, ends))
    return next((couple for couple in couples if _holds_items(frame, *couple) and not _are_raters(frame, couple)), None)


def _are_raters(frame: pd.DataFrame, couple: tuple[str, str]) -> bool:
    """True for columns that are called as people are, and hold a few words, as their answers are."""
    return all(map(PEOPLE.search, couple)) and all(read_answers(frame[name]) is not None for name in couple)


def _shares(frame: pd.DataFrame, couple: tuple[str, str], ends: tuple[str, str]) -> tuple[str, dict[str, float]] | None:
    """The column of the first item's share, and -1, 0 or 1 for its values, where each item has a column of 0, .5 or 1
    that add up to 1; else None."""
    for one, other in _couples(list(map(str, frame)), ends, of_items=False):
        if one in couple:
            continue
        first, second = (pd.to_numeric(frame[name], errors="coerce") for name in (one, other))
        if first.isin([0, 0.5, 1]).all() and (first + second == 1).all() and {0, 1} <= set(first):
            return one, {text: 1 - 2 * float(text) for text in dict.fromkeys(frame[one].astype("str").str.strip())}
    return None


def _leans(column: pd.Series) -> bool:
    """True where a column's answers lean to one of two sides: -1 to 1 or -2 to 2, both signs among them."""
    values = set(pd.to_numeric(column, errors="coerce").dropna())
    return values <= {-2.0, -1.0, 0.0, 1.0, 2.0} and bool(values) and min(values) < 0 < max(values)


def _numbers_sides(column: pd.Series) -> bool:
    """True where a column's answers are 1 and 2, and perhaps 0 or 3 for neither."""
    values = set(pd.to_numeric(column, errors="coerce").dropna())
    return values in ({1.0, 2.0}, {0.0, 1.0, 2.0}, {1.0, 2.0, 3.0}) and not NO_ANSWER.search(str(column.name))


def _of_numbers(table: Checked, one: str, other: str, answer: str) -> Inspection:
    """Preferences as 1 and 2, which may number the two items, or be grades of what is in the row."""
    texts = sorted({text for text in table.frame[answer].astype("str").str.strip() if text}, key=float)
    found = _inspected(
        table, "", one, other, [answer], {text: {1.0: -1.0, 2.0: 1.0}.get(float(text), 0.0) for text in texts}
    )
    asked = (*found.questions, f"does 1 in {answer} mean that {one} is better, and 2 that {other} is?")
    return replace(found, questions=asked, command=None, draft=found.command or found.draft)


def _of_signs(table: Checked, one: str, other: str, people: list[str]) -> Inspection:
    """Preferences whose sign says which is better, with a column for each person or one for all."""
    texts = sorted({text for name in people for text in table.frame[name].astype("str").str.strip() if text}, key=float)
    values = {text: float(np.sign(float(text))) for text in texts}
    found = _inspected(table, "", one, other, people, values)
    strong = any(abs(float(text)) > 1 for text in texts)
    notes = ("how much better is not kept: -2 and -1 are one answer, and 1 and 2",) if strong else ()
    what = f"answers of {count_of(len(people), 'person', 'people')} to which of two is better, a column each"
    what = what if len(people) > 1 else found.sentence
    asked = (*found.questions, f"do answers below 0 mean that {one} is better? Else turn the signs of --values")
    draft = found.command or found.draft
    return replace(found, sentence=what, notes=(*notes, *found.notes), questions=asked, command=None, draft=draft)


def _couples(names: list[str], ends: tuple[str, str], *, of_items: bool = True) -> list[tuple[str, str]]:
    """Columns called alike but for which of the two they are; those of items have no name of a measure or an answer."""
    found = []
    for name in names:
        match = re.fullmatch(rf"(?i)(.*?)([ _.-]?)({ends[0]})", name) or re.fullmatch(rf"(?i)()()({ends[0]}.+)", name)
        alone = match is not None and not match[1] and match[3].casefold() == ends[0]
        if match is None or (alone and ends[0] != "left"):
            continue
        other = re.sub(rf"(?i){ends[0]}$", ends[1], name) if match[1] else re.sub(rf"(?i)^{ends[0]}", ends[1], name)
        partner = next((each for each in names if each.casefold() == other.casefold() and each != name), None)
        measured = re.search(r"(?i)(time|score|count|rating|label)s?[ _.-]?$", match[1])
        if partner is not None and not (of_items and measured):
            found.append((name, partner))
    inside = [(name, re.fullmatch(rf"(?i)(.+[_ .-]){ends[0]}([_ .-].+)", name)) for name in names]
    partners = [(name, f"{match[1]}{ends[1]}{match[2]}") for name, match in inside if match]
    return [*found, *((name, other) for name, other in partners if other in names)]


def _values(column: pd.Series, couple: tuple[str, str], sides: Sequence[tuple[str, str]]) -> dict[str, float] | None:
    """-1 for the first item, 1 for the second, 0 for neither, by the answers as written; None where they do not say."""
    texts = list(dict.fromkeys(column.astype("str").str.strip()))
    texts = [text for text in texts if text]
    if not 2 <= len(texts) <= 4 or (all(map(str.isdigit, texts)) and NO_ANSWER.search(str(column.name))):
        return None
    names = [
        {underscored(couple[side])} | {form for each in sides for form in (each[side], *SHORT.get(each[side], ()))}
        for side in (0, 1)
    ]
    if YES_OR_NO in sides:  # which may as well say whether the two belong together
        names = [{underscored(name)} for name in couple]
    worth = {}
    for text in texts:
        side = [number for number, known in enumerate(names) if underscored(text) in known]
        if side:
            worth[text] = (-1.0, 1.0)[side[0]]
        elif EQUAL.fullmatch(text):
            worth[text] = 0.0
        else:
            return None
    return worth if {-1.0, 1.0} <= set(worth.values()) else None


def _holds_items(frame: pd.DataFrame, one: str, other: str) -> bool:
    """True where the two columns hold items, which differ in a row: texts, or ids by their names."""
    first, second = (frame[name].astype("str").str.strip() for name in (one, other))
    are_texts = pd.to_numeric(pd.concat([first, second]), errors="coerce").isna().mean() > 0.5
    return bool((first != second).mean() > 0.9) and bool(are_texts or ITEMS.search(one))


def _inspected(
    table: Checked, tool: str, one: str, other: str, answers: Sequence[str], values: dict[str, float]
) -> Inspection:
    """The inspection of preferences; of several columns of answers each is a person's."""
    roles = roles_of(table.frame.drop(columns=[one, other, *answers]))
    judge = next((str(name) for name in table.frame if underscored(str(name)) in NAMES["rater_id"]), "NAME")
    query = roles.get("query_id", "NAME")
    named = {"rater_id": judge, "query_id": query, "result_id": one, OTHER: other}
    if len(answers) > 1:
        judge, named = "", {ours: theirs for ours, theirs in named.items() if ours != "rater_id"}
    entries = [
        list_entry(f"{ours}={theirs}")
        for ours, theirs in (*named.items(), *(("rating", answer) for answer in answers))
        if ours != theirs
    ]
    numbers = ",".join(list_entry(f"{text}={number:g}") for text, number in values.items())
    command = (
        f"relstudy calibrate preferences {quoted(table.file)} -o out --columns {shlex.quote(','.join(entries))} "
        f"--values {shlex.quote(numbers)}"
    )
    asked = [what for what, column in (("who answered", judge), ("which query a row is of", query)) if column == "NAME"]
    rows = len(table.frame)
    return Inspection(
        table.file,
        "preferences",
        f"{count_of(rows, 'answer')} to which of two is better" + (f", exported from {tool}" if tool else ""),
        (
            *described(named, "by its name and its values"),
            *(ColumnRole(answer, "rating", "by its values") for answer in answers),
        ),
        (f"{one} is taken for the one on the left",),
        ("judgments of results from preferences, with raters' lean to a side taken out",),
        None if asked else command,
        tuple(f"{what}: which column says so?" for what in asked),
        command if asked else None,
    )
