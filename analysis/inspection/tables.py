"""Tables: whose export one is, which column is which, and the command that reads it.

A table is read by what cannot be otherwise, in this order: a column that names a rater makes ratings; columns of people
make a panel; a column with a grade's name, and none called alike, makes judgments; numbers beside pairs that stand once
are scores. Where two of these fit, both are shown and neither is chosen.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from relstudy.analysis.inspection.answers import MOST_WORDS, Answers, answers_of_columns, read_answers
from relstudy.analysis.inspection.column_roles import (
    NAMES,
    NO_ANSWER,
    PEOPLE,
    RATING_USES,
    SCORE_USES,
    SYSTEMS,
    UNKNOWN,
    WEAK,
    WITHOUT_REPEATS,
    calibrate_command,
    described,
    inspect_ratings,
    paired,
    remarks,
    roles_of,
    siblings,
    stated_options,
    to_run,
    underscored,
)
from relstudy.analysis.inspection.finding import ColumnRole, Inspection
from relstudy.analysis.inspection.preferences import couple_of, preferences_of
from relstudy.analysis.inspection.tools import inspect_choices, inspect_export
from relstudy.analysis.inspection.unnamed import inspect_unnamed
from relstudy.calibration.tables.rating_rows import alike_note
from relstudy.common.options.option_wording import list_entry
from relstudy.common.runtime.wording import count_of, listed, listed_some, quoted
from relstudy.common.tables.checked_table import Checked
from relstudy.common.tables.column_names import plain_name, under_own_names
from relstudy.common.tables.formats.file_kind import file_part
from relstudy.common.tables.formats.json_records import NO, YES
from relstudy.common.tables.formats.survey_and_annotation_tools import BEIR, tool_of
from relstudy.common.tables.formats.table_files import read_table
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR
from relstudy.common.tables.meaning.logged_cells import a_row_an_entry, read_cells, without_lists
from relstudy.common.tables.meaning.results_columns import is_results, known_columns, may_be_results, model_columns
from relstudy.common.tables.meaning.scales import SCALE_COLUMNS
from relstudy.common.tables.meaning.summary_rows import is_total, totals
from relstudy.common.tables.meaning.vote_counts import vote_columns
from relstudy.mapping.scores.wide import is_no_system

NOT_A_RATERS = (*WEAK, "gold", "gold_label", "gold_score", "human", "mos", "dmos", "answer", "response", "choice")
"""Names of ratings that hold something else where a rater's ratings stand under another."""
MEAN = re.compile(r"(?i)(^|[_ .-])(mean|avg|average|mos)([_ .-]|$)")
COUNT_OF_PEOPLE = re.compile(
    r"(?i)(n|num|number|count)([_ .-]?of)?[_ .-](raters?|ratings?|votes?|annotat(or|ion)s?|judges?|workers?|people)|"
    r"(raters?|ratings?|votes?|annotat(or|ion)s?|judges?|workers?)[_ .-]?(n|count)|n"
)
ITEM = re.compile(
    r"(?i)(d|docs?|docid|document|item|res|results?|hit|img|image|pic|picture|photo|video|page|passage|product|answer|"
    r"output)[ _.-]?\d+"
)
"""Numbered names of columns that may be results rather than people."""
A_ROW_EACH = "If they are results, write a row for each with its name (DataFrame.melt does), and inspect that"
MOST_READINGS = 5
CAMEL = re.compile("(?<=[a-z0-9])(?=[A-Z])")
COORDINATES = {"x", "y", "z", "w", "h", "x1", "x2", "y1", "y2"}
"""Ends of names of columns that hold where something is."""
WITHOUT_TOTALS = "TABLE_WITHOUT_TOTALS"
"""In place of a table whose totals a person must take out."""


def inspect_table(table: Checked) -> Inspection:
    """The inspection of a table, whose cells are text, under the names of the file."""
    known = tool_of({str(name).casefold() for name in table.frame})
    inspection = _inspected(table, table.tool or (known.name if known else ""))
    return replace(_asked_of_totals(table, inspection), notes=(*table.notes, *inspection.notes))


def _asked_of_totals(table: Checked, inspection: Inspection) -> Inspection:
    """The inspection; where rows read like totals of others it asks, with a draft for a table without them."""
    readings = tuple(_asked_of_totals(table, each) for each in inspection.readings)
    columns = {each.role: each.column for each in inspection.columns if each.column in table.frame}
    raters = [columns["rater_id"]] if "rater_id" in columns else []
    # an item that is its own query stands in no block of others
    apart = columns.get("query_id") not in (None, columns.get("result_id"))
    within = {"rater_id": [], "query_id": raters, "result_id": [*raters, columns["query_id"]] if apart else raters}
    questions = [
        f"{listed(names)} in {columns[role]} {'reads like a total' if len(names) == 1 else 'read like totals'} of "
        f"other rows and not like a {role.removesuffix('_id')}: if so, take "
        f"{'its' if len(names) == 1 else 'their'} rows out and name the table without them"
        for role in ("rater_id", "result_id", "query_id")
        if role in columns
        and (role != "query_id" or apart)
        and (names := totals(table.frame, columns[role], role, within[role]))
    ]
    if not questions:
        return replace(inspection, readings=readings)
    command, file = inspection.command or inspection.draft, quoted(table.file)
    draft = None if command is None else command.replace(file, WITHOUT_TOTALS, 1)
    return replace(
        inspection, readings=readings, questions=(*inspection.questions, *questions), command=None, draft=draft
    )


def _inspected(table: Checked, tool: str) -> Inspection:
    if table.has_no_header:
        return inspect_unnamed(table)
    recognised = preferences_of(table, tool) or inspect_export(table, tool) or _relstudy_table(table)
    if recognised is not None:
        return recognised
    if not tool and is_results(without_lists(table.frame)):
        return _results(table)
    if lists := _lists_by_people(table):
        table = a_row_an_entry(table, list(lists.values()))
        roles = {**roles_of(table.frame.drop(columns=list(lists.values()))), **lists}
        return inspect_ratings(table, roles, tool, why="its lists hold answers")
    roles = roles_of(table.frame)
    if not tool and (votes := vote_columns(table.frame)):
        return _votes(table, roles, list(votes))
    readings = [] if not {*PAIR, "rater_id"} & set(roles) else _readings(table, roles, tool)
    if readings:
        return Inspection.of_several(table.file, readings, f"a table of {count_of(len(table.frame), 'row')}")
    found = _headless(table) or _codes(table) or _panel_of_unnamed(table)
    if found is None and not tool and may_be_results(without_lists(table.frame)):
        return _results(table)
    return found or _unknown(table, tool, roles)


def _lists_by_people(table: Checked) -> dict[str, str]:
    """A column of lists of people and one of as long lists of their answers, by relstudy's names; else none."""
    found: dict[str, str] = {}
    lengths = []
    for name in map(str, table.frame):
        values = read_cells(table.frame[name])
        if values is None or not all(isinstance(value, list) for value in values):
            continue
        entries = pd.Series([entry for value in values for entry in value], dtype=object)
        is_number = pd.to_numeric(entries, errors="coerce").notna()
        are_people = PEOPLE.search(name) is not None
        if len(entries) and (are_people or is_number.all()):
            found["rater_id" if are_people else "rating"] = name
            lengths.append([len(value) for value in values])
    return found if len(found) == len(lengths) == 2 and lengths[0] == lengths[1] else {}


def _votes(table: Checked, roles: dict[str, str], votes: list[str]) -> Inspection:
    """Counts of the people who gave each answer."""
    texts = [name for name in map(str, table.frame) if name not in votes and not NO_ANSWER.search(name)]
    words = [name for name in texts if pd.to_numeric(table.frame[name], errors="coerce").isna().all()]
    named = {ours: roles.get(ours, words[at] if at < len(words) else UNKNOWN) for at, ours in enumerate(PAIR)}
    known = UNKNOWN not in named.values() and not table.frame.duplicated(list(named.values())).any()
    entries = [list_entry(f"{ours}={theirs}") for ours, theirs in named.items() if ours != theirs]
    stated = f" --columns {shlex.quote(','.join(entries))}" if entries else ""
    command = f"relstudy score SCORES -j {quoted(table.file)}{stated}"
    sure = known and set(PAIR) <= set(roles)
    return Inspection(
        table.file,
        "votes",
        f"votes as counts: {count_of(len(table.frame), 'row')}, {', '.join(votes)}",
        described(named, "by its name" if sure else "a column of texts"),
        ("a row's judgment is its mean vote, with a standard error by the spread and the number of its votes",),
        SCORE_USES,
        command if sure else None,
        () if sure else ("which columns name the query and the result?",),
        None if sure else command,
    )


def _panel_of_unnamed(table: Checked) -> Inspection | None:
    """Numbered columns of answers beside columns that may name items or people, or None."""
    frame = table.frame
    answers = _answer_columns(frame, {})
    numbers = [name for name in answers if name.isdigit()]
    alike = _panel(frame, max([numbers, *siblings(answers).values()], key=len, default=[]))
    if len(alike) < 2:
        return None
    others = [name for name in map(str, frame) if name not in alike and not frame[name].duplicated().any()]
    readings = [_wide(table, {"result_id": name}, alike) for name in others[:2]]
    readings += [_wide(table, {"rater_id": name}, alike) for name in others[:2]]
    if not readings:
        return None
    return Inspection.of_several(table.file, readings, f"a table of {count_of(len(frame), 'row')}")


def _results(table: Checked) -> Inspection:
    """A table of what systems gave, which nobody rated yet."""
    frame = without_lists(table.frame)
    known = known_columns(list(frame))
    return Inspection(
        table.file,
        "results",
        f"a table of {count_of(len(frame), 'result')} or answers without ratings",
        tuple(ColumnRole(str(name), role, "by its name") for role, name in known.items()),
        uses=("people rate what each system gave, and the systems are compared by it",),
        command=f"relstudy ask {quoted(table.file)}",
    )


def _unknown(table: Checked, tool: str, roles: dict[str, str]) -> Inspection:
    named = {ours: theirs for ours, theirs in roles.items() if ours in ("rater_id", *PAIR, "rating")}
    answers = _answer_columns(table.frame, roles)
    grades = [name for name, each in answers.items() if each.are_grades and not each.unordered]
    grades = [named["rating"]] if "rating" in named else grades
    lacking = [ours for ours in ("rater_id", *PAIR) if ours not in named]
    others = [str(name) for name in table.frame if name not in (*named.values(), *grades)]
    names_what = "that names no raters, queries or results that are known by their names"
    if named:
        names_of_columns = ", ".join(f"{theirs} ({ours})" for ours, theirs in named.items())
        without = "queries or results" if "rating" in named else "answers or scores"
        names_what = f"that names {names_of_columns}, and no {without} that are known by their names"
    inspection = Inspection(
        table.file,
        tool or "unknown",
        f"a table of {count_of(len(table.frame), 'row')} {names_what}",
        (),
        (f"its columns are {table.columns_shown()}", *_lists(table.frame), *_unrated(table, tool, roles)),
        questions=("which column is which, and who rated, if anybody did?",),
    )
    couple = couple_of(table.frame)
    if couple is not None:
        said = f"rows hold two items, {listed(couple)}"
        said += ": relstudy calibrate preferences reads which of them each person chose"
        return replace(inspection, notes=(*inspection.notes, said))
    of_systems = None if {"rater_id", "rating"} & set(named) else _asked_of_systems(table, named, answers)
    if of_systems is not None:
        return of_systems
    as_ratings = replace(inspection, kind=tool or "ratings")
    if len(grades) == 1 and len(others) >= len(lacking):
        read = answers.get(grades[0]) or read_answers(table.frame[grades[0]], grades[0])
        assert read is not None
        drafted = {**dict.fromkeys(("rater_id", *PAIR), UNKNOWN), **named, "rating": grades[0]}
        of_one = replace(as_ratings, questions=(_which(others, lacking, grades[0]),))
        return to_run(of_one, calibrate_command(table, drafted, read), read)
    panel = [] if named else _panel(table.frame, grades)
    if panel and others:
        asked = f"are {listed_some(panel)} one person's answers in a row, and which of {listed_some(others)} names who?"
        together = answers_of_columns(table.frame, panel)
        assert together is not None
        command = calibrate_command(table, {"rater_id": UNKNOWN}, together, panel)
        return to_run(replace(as_ratings, questions=(asked,)), command, together)
    if "rater_id" in named and len(grades) > 1 and others:
        asked = (
            f"which of {listed_some(grades)} is the rating, and which of {listed_some(others)} names what was rated?"
        )
        drafted = {"rater_id": named["rater_id"], "result_id": UNKNOWN, "rating": "COLUMN"}
        stated = ",".join(list_entry(f"{ours}={theirs}") for ours, theirs in drafted.items() if ours != theirs)
        draft = f"relstudy calibrate {quoted(table.file)} -o out --columns {shlex.quote(stated)}"
        return replace(as_ratings, questions=(asked,), draft=draft)
    entries = [
        f"{ours}={named.get(ours, UNKNOWN)}" for ours in ("rater_id", *PAIR, "rating") if named.get(ours) != ours
    ]
    stated = shlex.quote(",".join(map(list_entry, entries)))
    return replace(inspection, draft=f"relstudy calibrate {quoted(table.file)} -o out --columns {stated}")


def _unrated(table: Checked, tool: str, roles: dict[str, str]) -> list[str]:
    """What to do with a table of queries and texts that names no raters, if nobody has rated the texts yet."""
    frame = without_lists(table.frame)
    known = known_columns(list(frame))
    if tool or "rater_id" in roles or "query" not in known:
        return []
    if not ({"answer", "text", "title", "image"} & known.keys() or model_columns(frame, known)):
        return []
    return [f"if it is not rated yet, start a study with relstudy ask {quoted(table.file)}"]


def _asked_of_systems(table: Checked, named: dict[str, str], answers: dict[str, Answers]) -> Inspection | None:
    """Scores by their columns' names, in a table whose queries or results only a person can name; else None."""
    decimals = [name for name, each in answers.items() if not (_are_words(each) or (each.are_grades and each.whole))]
    systems = _systems(table.frame, named, decimals)
    lacking = [ours for ours in PAIR if ours not in named]
    others = [str(name) for name in table.frame if name not in (*named.values(), *systems, *decimals)]
    if not systems or not lacking or len(others) < len(lacking):
        return None
    scored = [name for name in map(str, table.frame) if name in (*systems, *decimals)]
    found = _scores(table, {**dict.fromkeys(PAIR, UNKNOWN), **named}, scored)
    asked = f"{_whose(others, lacking)}?"
    return replace(found, notes=(), questions=(asked,), command=None, draft=found.command)


def _whose(columns: Sequence[str], roles: Sequence[str]) -> str:
    """The question which of these columns have these roles, without its mark."""
    what = listed([role.removesuffix("_id") for role in roles])
    return f"which of {listed_some(columns)} name{'s' * (len(roles) == 1)} the {what}"


def _which(columns: Sequence[str], roles: Sequence[str], rating: str) -> str:
    """The question which of these columns have these roles, and whether that of the answers is found."""
    return f"{_whose(columns, roles)}, and are the answers in {rating}?"


def _lists(frame: pd.DataFrame) -> list[str]:
    """Columns of lists, as a sentence that says what to do with them, or none."""
    texts = {str(name): frame[name].astype("str").str.strip() for name in frame}
    names = [name for name, text in texts.items() if text.str.fullmatch(r"\[.+,.+\]").all() and len(text)]
    if not names:
        return []
    verb = "holds" if len(names) == 1 else "hold"
    return [f"{listed(names)} {verb} lists: write a row for each of their entries (DataFrame.explode does)"]


def _readings(table: Checked, roles: dict[str, str], tool: str) -> list[Inspection]:
    """Every reading that fits a table which names raters or items; none where nothing in it is an answer or a score."""
    frame = table.frame
    answers = _answer_columns(frame, roles)
    grade = roles.get("rating")
    if "rater_id" in roles:
        return _readings_by_rater(table, roles, tool, answers)
    shown = _shown(frame, answers)
    if shown.issuperset(answers):
        answers = {}  # only what results are called and say
    family = [] if grade is None else next((each for each in siblings(frame).values() if grade in each), [])
    people = _panel(frame, [name for name in answers if PEOPLE.search(name) or name in family])
    strong = grade is not None and (underscored(grade) not in WEAK or tool == BEIR.name) and grade not in people
    if strong:
        judged = _judgments(table, roles, tool)
        if people:
            return [judged, _wide(table, roles, people)]
        # grades beside a system's name may be what it was given, or what it gives
        key = [roles[name] for name in (*PAIR, "system") if name in roles]
        by_system = (
            len(key) == 3
            and not frame.drop_duplicates().duplicated(key).any()
            and not _are_words(answers.get(str(grade)))
        )
        return [judged, _long_scores(table, roles, str(grade))] if by_system else [judged]
    if people:
        return [_wide(table, roles, people)]
    mean = None if grade else _mean_of_people(frame)
    if mean is not None:
        return [_judgments(table, {**roles, "rating": mean}, tool)]
    if not set(PAIR) <= set(roles):
        alike = _panel(frame, [name for name in answers if not SYSTEMS.search(name)])
        return [_wide(table, roles, alike)] if alike and _is_numbered(alike) else _one_item(table, roles, tool, alike)
    return _readings_of_pairs(table, roles, tool, answers)


def _shown(frame: pd.DataFrame, answers: dict[str, Answers]) -> set[str]:
    """The columns of words that hold what a query or a result says: a title beside a text or a picture, a text beside a
    title, or one of which nearly every row has another."""
    known = known_columns(list(frame))
    beside = {"query": {"query"}, "title": {"text", "image"}, "text": {"title"}}
    return {
        str(known[role])
        for role, others in beside.items()
        if role in known
        and (each := answers.get(str(known[role]))) is not None
        and each.unordered
        and (others & known.keys() or each.different >= 0.9 * each.count)
    }


def _are_words(answers: Answers | None) -> bool:
    """True where a column's answers are words, or it has none."""
    return answers is None or bool(answers.words or answers.unordered)


def _readings_by_rater(
    table: Checked, roles: dict[str, str], tool: str, answers: dict[str, Answers]
) -> list[Inspection]:
    """A rater in every row: one rating a row, or one person a row with a column for each item."""
    frame = table.frame
    has_item = bool(set(PAIR) & set(roles))
    if has_item and "rating" in roles:
        known = set(NAMES["rating"]).difference(NOT_A_RATERS)
        grades = [name for name, each in answers.items() if each.are_grades and not each.unordered]
        rated = list(dict.fromkeys([roles["rating"], *(name for name in grades if underscored(name) in known)]))
        out = [name for name in grades if name not in rated]
        if out:  # a column of words beside numbers is a remark, or what was shown
            are_words = _are_words(read_answers(frame[roles["rating"]], roles["rating"]))
            out = [name for name in out if _are_words(answers[name]) == are_words]
        notes = [f"left out: {', '.join(out)}"] if out else []
        readings = [inspect_ratings(table, {**roles, "rating": name}, tool) for name in rated]
        return [replace(each, notes=(*notes, *each.notes)) for each in readings]
    if set(PAIR) <= set(roles) and (marked := _marked(frame, roles)):
        return [inspect_choices(table, roles, tool, marked)]
    if has_item:
        grades = [name for name, each in answers.items() if each.are_grades]
        only = "the only column that holds answers"
        why = only if len(grades) == 1 else "one of several columns that hold answers"
        return [inspect_ratings(table, {**roles, "rating": name}, tool, why=why) for name in grades[:MOST_READINGS]]
    if "rating" in roles or frame[roles["rater_id"]].duplicated().any():
        return []
    families = [kept for names in siblings(answers).values() if (kept := _panel(frame, names))]
    if len(families) != 1:
        families = [kept for kept in [_panel(frame, list(answers)), *families] if kept]
    return [_wide(table, roles, names) for names in families[:MOST_READINGS]]


def _marked(frame: pd.DataFrame, roles: dict[str, str]) -> list[str]:
    """Columns of which each row has marked one, and whose names are answers that tell their order; else none."""
    texts = (
        frame.drop(columns=list(roles.values())).astype("str").apply(lambda column: column.str.strip().str.casefold())
    )
    are_marks = texts.isin(["", "0", *NO, *YES]).all()
    marks = texts.loc[:, are_marks].isin(YES)
    names = [str(name) for name in marks if marks[name].any()]
    answers = read_answers(pd.Series(names, dtype="str"))
    ordered = answers is not None and not answers.unordered and answers.count == len(names) > 1
    return names if ordered and (marks[names].sum(axis=1) == 1).all() else []


def _mean_of_people(frame: pd.DataFrame) -> str | None:
    """The one column of means where another counts the people behind each; else None."""
    if not any(COUNT_OF_PEOPLE.fullmatch(str(name)) for name in frame):
        return None
    means = [str(name) for name in frame if MEAN.search(str(name))]
    return means[0] if len(means) == 1 and pd.to_numeric(frame[means[0]], errors="coerce").notna().all() else None


def _one_item(table: Checked, roles: dict[str, str], tool: str, alike: list[str]) -> list[Inspection]:
    """Items without queries, or queries alone, beside columns of answers whose names tell nothing."""
    if "rating" in roles:
        return [_judgments(table, roles, tool), _scores(table, roles, [roles["rating"]])]
    return [_wide(table, roles, alike), _scores(table, roles, alike)] if alike else []


def _readings_of_pairs(
    table: Checked, roles: dict[str, str], tool: str, answers: dict[str, Answers]
) -> list[Inspection]:
    """Query, result and numbers that no name gives to people."""
    frame = table.frame
    numbers = [name for name, each in answers.items() if not (each.words or each.unordered)]
    systems = _systems(frame, roles, numbers)
    weak = roles.get("rating")
    once = frame.drop_duplicates()  # a row that comes again says nothing new
    twice = bool(once.duplicated([roles[name] for name in PAIR]).any())
    alike = _panel(frame, list(answers))
    if _have_their_mean(frame, alike):
        return [_wide(table, roles, alike)]
    if "system" in roles:
        of_systems = [weak] if weak else systems or numbers
        key = [roles[name] for name in (*PAIR, "system")]
        if not once.duplicated(key).any():
            return [_long_scores(table, roles, name) for name in of_systems[:MOST_READINGS]]
    if weak is not None:
        read = _judgments(table, roles, tool)
        ranked = any(underscored(str(name)) in ("rank", "position") for name in frame)
        if twice:
            return [read]
        scores = _scores(table, roles, [weak, *(name for name in systems if name != weak)])
        return [scores] if ranked else [read, scores]
    if twice:
        return [_judgments(table, {**roles, "rating": name}, tool) for name in list(answers)[:MOST_READINGS]]
    under_own_names = all(roles[name] == name for name in PAIR)
    fractions = [
        name for name in numbers if name not in systems and not (answers[name].are_grades and answers[name].whole)
    ]
    # decimal numbers beside a system's scores may be another's
    others = fractions if under_own_names else [name for name in fractions if systems and not answers[name].whole]
    scored = [name for name in map(str, frame) if name in systems or name in others]
    if scored and (under_own_names or not others):
        return [_scores(table, roles, scored)]
    if scored:
        found = _scores(table, roles, scored, named=True)
        what = "is it a system's scores" if len(others) == 1 else "are they systems' scores"
        asked = f"{listed_some(others)}: {what}? Leave what is not out of --columns"
        draft = found.command or found.draft
        return [replace(found, questions=(*found.questions, asked), command=None, draft=draft)]
    readings = [_wide(table, roles, alike)] if alike else []
    readings += [_scores(table, roles, numbers)] if numbers else []
    if len(answers) == 1:
        readings.insert(0, _judgments(table, {**roles, "rating": next(iter(answers))}, tool))
    elif answers:
        readings.append(_one_of_them(table, roles, list(answers)))
    return readings


def _answer_columns(frame: pd.DataFrame, roles: dict[str, str]) -> dict[str, Answers]:
    """Columns that may hold answers or scores, by name; a column that says the same of every row is nobody's."""
    found = {}
    for name in _may_hold_answers(frame, roles):
        answers = read_answers(frame[name], name)
        if answers is not None and not (answers.different < 2 and len(frame) >= 10):
            found[name] = answers
    return found


def _may_hold_answers(frame: pd.DataFrame, roles: dict[str, str]) -> list[str]:
    """The columns whose names do not say that they hold neither answers nor scores."""
    taken = {theirs for ours, theirs in roles.items() if ours != "rating"}
    names = [name for name in map(str, frame) if name not in taken and name not in SCALE_COLUMNS]
    return [
        name
        for name in names
        if not (is_no_system(name) or is_total(name))
        and (not NO_ANSWER.search(CAMEL.sub("_", name)) or (PEOPLE.search(name) and not _is_summary(name)))
    ]


def _systems(frame: pd.DataFrame, roles: dict[str, str], numbers: Sequence[str]) -> list[str]:
    """The columns of systems by their names: of these numbers, and those with cells that `relstudy score` refuses."""
    named = [name for name in _may_hold_answers(frame, roles) if SYSTEMS.search(name)]
    return [name for name in named if name in numbers or _are_faulty(frame[name])]


def _are_faulty(column: pd.Series) -> bool:
    """True where at least half of the filled cells are finite numbers, and some are not."""
    texts = column.astype("str").mask(column.isna(), "").str.strip()
    share = np.isfinite(pd.to_numeric(texts[texts != ""], errors="coerce")).mean()
    return bool(0.5 <= share < 1)


def _is_summary(name: str) -> bool:
    """True where a name that may be a person's says that it sums people up, or identifies them."""
    return (
        re.search(r"(?i)mean|avg|average|median|final|consensus|majority|count|total|std|sd|id$|age|gender", name)
        is not None
    )


def _panel(frame: pd.DataFrame, names: Sequence[str]) -> list[str]:
    """Columns that hold answers on one scale, one column a rater or an item; none if there are fewer than two."""
    columns: dict[bool, list[str]] = {True: [], False: []}
    for name in names:
        answers = read_answers(frame[name], name)
        a_persons = answers is not None and bool(answers.unordered) and PEOPLE.search(name) is not None
        if answers is not None and (answers.scale is not None or answers.signed_in_part or a_persons):
            columns[bool(answers.words or answers.unordered)].append(name)
    # a column of remarks beside columns of numbers is not a rater's
    raters = columns[False] if len(columns[False]) > 1 else columns[True]
    if len(raters) < 2:
        return []
    together = pd.concat([frame[name] for name in raters], ignore_index=True).astype("str").str.strip()
    if {re.split(r"[ _.-]", name)[-1].casefold() for name in raters} <= COORDINATES:
        return []
    people = _is_numbered(raters) and all(map(PEOPLE.search, raters))  # on a slider they give many different answers
    few = people or together[together != ""].nunique() <= 25
    return raters if few and read_answers(together) is not None else []


def _have_their_mean(frame: pd.DataFrame, names: Sequence[str]) -> bool:
    """True where another column holds the mean of these, rounded: then they are people's answers to one thing."""
    if len(names) < 3:
        return False
    numbers = frame[list(names)].apply(pd.to_numeric, errors="coerce")
    mean = numbers.where(numbers >= 0).mean(axis=1)  # a negative mark is not an answer
    others = (pd.to_numeric(frame[name], errors="coerce") for name in frame if name not in names)
    return any(bool(((mean - other).abs() < 0.051).all()) for other in others)


def _is_numbered(names: Sequence[str]) -> bool:
    """True where the columns are all called alike but for a number, letter or bracket."""
    return any(len(each) == len(names) for each in siblings(names).values())


def _relstudy_table(table: Checked) -> Inspection | None:
    """Tables of relstudy's own, by their columns."""
    file = quoted(table.file)
    kinds: tuple[tuple[set[str], str, str, tuple[str, ...], str], ...] = (
        ({"query_id", "result_id", "judgment"}, "judgments", "judgments, one a pair", SCORE_USES,
         f"relstudy score SCORES -j {file}"),
        ({"system", "query_id", "result_id", "score"}, "scores", "scores of systems, one row a score", SCORE_USES,
         f"relstudy score {file} -j judgments.csv"),
        ({"pair_id", "query_id", "result_id", "source"}, "pairs", "the pairs of a study", (), "relstudy serve STUDY"),
        ({"item_id", "kind"}, "collection", "the items of a study", (), "relstudy sample STUDY"),
    )  # fmt: skip
    if {"rater_id", "query_id", "result_id", "rating"} <= set(table.frame.columns):
        return None
    for needed, kind, sentence, uses, command in kinds:
        named = under_own_names(table, needed)
        if needed <= set(named.frame.columns):
            theirs = {ours: named.labels.get(ours, ours) for ours in map(str, named.frame) if ours in needed}
            roles = described(theirs, "relstudy's own name, nearly")
            sized = f"{sentence} ({count_of(len(table.frame), 'row')})"
            return Inspection(table.file, kind, sized, roles, (), uses, command)
    return None


def _headless(table: Checked) -> Inspection | None:
    """A table whose first row holds values; None where it names the columns."""
    frame = table.frame
    stand_below = [str(name) for name in frame if (frame[name].astype("str").str.strip() == str(name)).any()]
    numbered = [name for name in stand_below if name.isdigit()] == [str(n) for n in range(1, len(stand_below) + 1)]
    if len(stand_below) < 2 or (numbered and len(stand_below) < frame.shape[1]):
        return None
    if not file_part(table.file).is_file():
        return None
    shown = ", ".join(stand_below[:3])
    inspection = inspect_unnamed(read_table(table.file, header=False))
    return replace(inspection, notes=(f"{shown} are in the first row and again below", *inspection.notes))


def _codes(table: Checked) -> Inspection | None:
    """A table with a column of hash codes, all but few of which differ, as people's ids do not; None if there is
    none."""
    for name in table.frame:
        texts = table.frame[name].astype("str").str.strip()
        same_length = len(texts) > 0 and texts.str.len().nunique() == 1
        if not same_length or 2 * texts.nunique() <= len(texts) or texts.str.fullmatch(r"\d*").all():
            continue
        if texts.str.fullmatch(r"[0-9a-fA-F]{8,}").all():
            bits = 4 * len(texts.iloc[0])
            role = ColumnRole(str(name), "codes", f"{len(texts[0])} hexadecimal digits in every row")
            note = f"write the column {name} alone, one code per line, for relstudy hash count"
            return Inspection(
                table.file,
                "codes",
                f"{count_of(len(texts), 'code')} of {bits} bits in a table",
                (role,),
                (note,),
                ("Hamming metrics",),
            )
    return None


def _judgments(table: Checked, roles: dict[str, str], tool: str) -> Inspection:
    judges = _tell_rows_apart(table.frame, roles)
    roles = {ours: theirs for ours, theirs in roles.items() if ours in (*PAIR, "rating")}
    if len(judges) == 1:
        asked = f"pairs are repeated with different {judges[0]}: does that column name the judge?"
        found = inspect_ratings(table, {"rater_id": judges[0], **roles}, tool)
        questions, draft = (asked, *found.questions), found.command or found.draft
        return replace(found, questions=questions, command=None, draft=draft)
    roles, whys, questions = paired(table.frame, roles, roles["rating"])
    answers = read_answers(table.frame[roles["rating"]], roles["rating"])
    assert answers is not None
    stated = stated_options({ours: (theirs,) for ours, theirs in roles.items() if ours != theirs}, answers, table)
    inspection = Inspection(
        table.file,
        tool or "judgments",
        f"{count_of(answers.count, 'judgment')} without raters" + (f", exported from {tool}" if tool else ""),
        described(roles, "by its name and its values", whys),
        (
            "there is no column of raters, so nothing is calibrated: a pair's judgment is its mean",
            *_left_out(table, roles.values()),
            *remarks(answers),
        ),
        SCORE_USES,
        questions=questions,
    )
    return to_run(inspection, " ".join(["relstudy score SCORES -j", quoted(table.file), *stated]), answers)


def _tell_rows_apart(frame: pd.DataFrame, roles: dict[str, str]) -> list[str]:
    """The columns of few texts, called as judges are, that each tell the rows of one pair apart; none where no pair is
    repeated, or a system does it."""
    if not set(PAIR) <= set(roles) or "system" in roles:
        return []
    pair, once = [roles[name] for name in PAIR], frame.drop_duplicates()
    if not once.duplicated(pair).any():
        return []
    others = [name for name in map(str, frame) if name not in roles.values() and not NO_ANSWER.search(name)]
    return [
        name
        for name in others
        if PEOPLE.search(name)
        and once[name].nunique() <= MOST_WORDS
        and pd.to_numeric(once[name], errors="coerce").isna().all()
        and (once[name].astype("str").str.strip() != "").all()
        and not once.duplicated([*pair, name]).any()
    ]


def _one_of_them(table: Checked, roles: dict[str, str], columns: Sequence[str]) -> Inspection:
    """Judgments in one of several columns, which only a person can name."""
    named = [list_entry(f"{ours}={roles[ours]}") for ours in PAIR if roles[ours] != ours]
    stated = shlex.quote(",".join([*named, "rating=COLUMN"]))
    return Inspection(
        table.file,
        "judgments",
        f"judgments in one of {', '.join(columns)}",
        described({ours: roles[ours] for ours in PAIR}, "by its name"),
        questions=("which of the columns holds them?",),
        draft=f"relstudy score SCORES -j {quoted(table.file)} --columns {stated}",
    )


def _left_out(table: Checked, kept: Iterable[str]) -> list[str]:
    out = [str(name) for name in table.frame if name not in set(kept)]
    return [f"left out: {', '.join(out)}"] if out else []


def _wide(table: Checked, roles: dict[str, str], columns: list[str]) -> Inspection:
    roles = {ours: theirs for ours, theirs in roles.items() if ours not in ("rating", "system")}
    by_item = "rater_id" in roles and "result_id" not in roles and "query_id" not in roles
    if not by_item:
        roles.pop("rater_id", None)
    whys: dict[str, str] = {}
    questions: tuple[str, ...] = ()
    if not by_item:
        roles, whys, questions = paired(table.frame.drop(columns=columns), roles)
        if all(ITEM.fullmatch(name) for name in columns):
            questions = (*questions, f"are {columns[0]} to {columns[-1]} raters? {A_ROW_EACH}")
    answers = answers_of_columns(table.frame, columns)
    assert answers is not None
    other, each = ("item", "rater") if by_item else ("rater", "pair")
    why = f"its values are on the scale of the other columns, so it is taken for one {other}'s"
    article = "an" if by_item else "a"
    columns_read = (*described(roles, "by its name", whys), *(ColumnRole(name, "rating", why) for name in columns))
    notes = [f"every {other} must be the same {'thing' if by_item else 'person'} in all rows; a slot is no {other}"]
    notes += _left_out(table, {*columns, *roles.values()})
    alike = None if by_item else alike_note(columns)
    notes += [] if alike is None else [alike]
    inspection = Inspection(
        table.file,
        "wide raters",
        f"a panel with one row a {each} and one column {article} {other}: {len(columns)} {other}s, "
        f"{count_of(len(table.frame), 'row')}, {count_of(answers.count, 'rating')}",
        columns_read,
        (*notes, *remarks(answers)),
        RATING_USES[:3],
        questions=questions,
    )
    inspection = to_run(inspection, calibrate_command(table, roles, answers, columns), answers)
    return inspection if by_item else _asked_of_repeats(table, roles, columns, inspection)


def _asked_of_repeats(table: Checked, roles: dict[str, str], columns: list[str], inspection: Inspection) -> Inspection:
    """The inspection of a panel; where a pair stands twice with other answers it asks which row counts."""
    names = [roles[name] for name in PAIR if roles.get(name) in table.frame]
    rows = table.frame[[*names, *columns]].astype("str").drop_duplicates()
    pairs = rows[rows.duplicated(names)][names].drop_duplicates().to_numpy().tolist()
    if not pairs:
        return inspection
    shown = listed_some([" and ".join(dict.fromkeys(pair)) for pair in pairs])
    asked = (
        f"{shown} stand{'s' * (len(pairs) == 1)} in several rows with other answers: which of them count? Take the "
        "others out and name the table without them"
    )
    command, file = inspection.command or inspection.draft, quoted(table.file)
    draft = None if command is None else command.replace(file, WITHOUT_REPEATS, 1)
    return replace(inspection, questions=(*inspection.questions, asked), command=None, draft=draft)


def _long_scores(table: Checked, roles: dict[str, str], score: str) -> Inspection:
    """One row a score, with a column that names the system."""
    roles = {**{ours: roles[ours] for ours in ("system", *PAIR)}, "score": score}
    return _of_scores(table, roles, [score])


def _scores(table: Checked, roles: dict[str, str], systems: Sequence[str], *, named: bool = False) -> Inspection:
    """One row a pair, with a column for each system; each is `named` in the command."""
    roles = {ours: theirs for ours, theirs in roles.items() if ours in PAIR}
    roles, whys, questions = paired(table.frame.drop(columns=list(systems)), roles)
    others = [
        str(name)
        for name in table.frame
        if name not in (*roles.values(), *systems)
        and not is_no_system(name)
        and pd.to_numeric(table.frame[name], errors="coerce").notna().mean() >= 0.5
    ]
    found = _of_scores(table, roles, systems, systems if others or named else (), whys)
    return replace(found, questions=questions, draft=found.command, command=None) if questions else found


def _of_scores(
    table: Checked,
    roles: dict[str, str],
    columns_of_scores: Sequence[str],
    chosen: Sequence[str] = (),
    whys: Mapping[str, str] | None = None,
) -> Inspection:
    """A table of scores in these columns, of which those `chosen` must be named to be read."""
    entries = [f"{ours}={theirs}" for ours, theirs in roles.items() if plain_name(ours) != plain_name(theirs)] + [
        f"score={name}" for name in chosen
    ]
    stated = f" --columns {shlex.quote(','.join(map(list_entry, entries)))}" if entries else ""
    columns = (
        *described(roles, "by its name", whys),
        *(
            ColumnRole(name, "a system's scores", "numbers on no common scale")
            for name in columns_of_scores
            if name not in roles.values()
        ),
    )
    count = table.frame[roles["system"]].nunique() if "system" in roles else len(columns_of_scores)
    each = "row" if "system" in roles else "pair"
    return Inspection(
        table.file,
        "scores",
        f"scores of {count_of(count, 'system')} for {count_of(len(table.frame), each)}",
        columns,
        tuple(_left_out(table, {*roles.values(), *columns_of_scores})),
        SCORE_USES,
        f"relstudy score {quoted(table.file)} -j judgments.csv{stated}",
    )
