"""Tables: whose export one is, which column is which, and the command that reads it."""

from __future__ import annotations

import shlex
from dataclasses import replace

import pandas as pd

from relstudy.analysis.inspection.answers import read_answers
from relstudy.analysis.inspection.columns import (
    NO_RATER,
    RATING_USES,
    SCORE_USES,
    calibrate_command,
    described,
    inspect_ratings,
    remarks,
    roles_of,
    stated_options,
)
from relstudy.analysis.inspection.finding import ColumnRole, Inspection
from relstudy.analysis.inspection.tools import inspect_export, tool_of
from relstudy.common.checked import Checked
from relstudy.common.headers import plain_name, under_own_names
from relstudy.common.scales import SCALE_COLUMNS
from relstudy.common.wording import count_of
from relstudy.mapping.scores.wide import is_no_system


def inspect_table(table: Checked, tool: str = "") -> Inspection:
    """What a table is.

    Parameters
    ----------
    table : as text, with the header of the file
    tool : whose export it is, where that is known already
    """
    inspection = _inspected(table, tool or tool_of({str(name).casefold() for name in table.frame}))
    return replace(inspection, notes=(*table.notes, *inspection.notes))


def _inspected(table: Checked, tool: str) -> Inspection:
    frame = table.frame
    known = inspect_export(table, tool) or _relstudy_table(table)
    if known is not None:
        return known
    roles = roles_of(frame)
    if "rating" in roles and "rater_id" in roles and ("result_id" in roles or "query_id" in roles):
        return inspect_ratings(table, roles, tool)
    wide = [] if {"rater_id", "rating"} <= set(roles) else _wide_raters(frame, roles)
    if wide and {"query_id", "result_id", "rater_id"} & set(roles):
        return _wide(table, roles, wide)
    if {"query_id", "result_id"} <= set(roles) and "rating" in roles:
        return _judgments(table, roles, tool)
    if {"query_id", "result_id"} <= set(roles):
        return _scores(table, roles)
    return (
        _headless(table)
        or _codes(table)
        or Inspection(
            table.file,
            tool or "unknown",
            f"a table of {len(frame)} rows that names no raters, queries or results that are known by their names",
            (),
            (f"its columns are {', '.join(map(str, frame.columns))}",),
            (),
            f"relstudy calibrate {shlex.quote(table.file)} -o out --columns "
            "rater_id=NAME,query_id=NAME,result_id=NAME,rating=NAME",
        )
    )


def _relstudy_table(table: Checked) -> Inspection | None:
    """Tables of relstudy's own, by their columns."""
    file = shlex.quote(table.file)
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
            return Inspection(table.file, kind, f"{sentence} ({len(table.frame)} rows)", roles, (), uses, command)
    return None


def _headless(table: Checked) -> Inspection | None:
    """A table whose first row holds values; None where it names the columns."""
    frame = table.frame
    stand_below = [str(name) for name in frame if (frame[name].astype("str").str.strip() == str(name)).any()]
    if len(stand_below) < 2:
        return None
    shown = ", ".join(stand_below[:3])
    return Inspection(
        table.file,
        "unknown",
        f"a table of {len(frame) + 1} rows without a header: {shown} are in the first row and again below",
        (),
        ("write the names of the columns as its first row, such as rater_id,query_id,result_id,rating",),
    )


def _codes(table: Checked) -> Inspection | None:
    """A table with a column of hash codes; None where there is none."""
    for name in table.frame:
        texts = table.frame[name].astype("str").str.strip()
        if len(texts) and texts.str.fullmatch(r"[0-9a-fA-F]{8,}").all() and texts.str.len().nunique() == 1:
            bits = 4 * len(texts.iloc[0])
            role = ColumnRole(str(name), "codes", f"{len(texts[0])} hexadecimal digits in every row")
            note = f"write the column {name} alone, one code per line, for relstudy hash count"
            return Inspection(
                table.file,
                "codes",
                f"{len(texts)} codes of {bits} bits in a table",
                (role,),
                (note,),
                ("Hamming metrics",),
            )
    return None


def _judgments(table: Checked, roles: dict[str, str], tool: str) -> Inspection:
    answers = read_answers(table.frame[roles["rating"]])
    assert answers is not None
    stated = stated_options({ours: (theirs,) for ours, theirs in roles.items() if ours != theirs}, answers, table)
    return Inspection(
        table.file,
        tool or "judgments",
        f"{answers.count} judgments without raters" + (f", exported from {tool}" if tool else ""),
        described(roles, "by its name and its values"),
        ("without a rater's name there is no one to calibrate: judgments are means", *remarks(answers)),
        SCORE_USES,
        " ".join(["relstudy score SCORES -j", shlex.quote(table.file), *stated]),
    )


def _wide_raters(frame: pd.DataFrame, roles: dict[str, str]) -> list[str]:
    """Columns that hold ratings on one scale, one column per rater or an item; none where there are fewer than two."""
    taken = {theirs for ours, theirs in roles.items() if ours != "rating"}
    columns: dict[bool, list[str]] = {True: [], False: []}
    for name in frame.columns:
        if name in taken or NO_RATER.match(str(name)) or name in SCALE_COLUMNS:
            continue
        answers = read_answers(frame[name])
        if answers is None or answers.scale is None or (answers.words and not answers.sure):
            continue
        columns[bool(answers.words)].append(str(name))
    # a column of remarks beside columns of numbers is no rater's
    raters = columns[False] if len(columns[False]) > 1 else columns[True]
    if len(raters) < 2:
        return []
    together = pd.concat([frame[name] for name in raters], ignore_index=True).astype("str").str.strip()
    return raters if together[together != ""].nunique() <= 25 and read_answers(together) is not None else []


def _wide(table: Checked, roles: dict[str, str], columns: list[str]) -> Inspection:
    roles = {ours: theirs for ours, theirs in roles.items() if ours != "rating"}
    by_item = "rater_id" in roles and "result_id" not in roles and "query_id" not in roles
    if not by_item:
        roles.pop("rater_id", None)
    for one, other in (("query_id", "result_id"), ("result_id", "query_id")):
        if not by_item and one in roles and other not in roles:
            roles[other] = roles[one]
    answers = read_answers(pd.concat([table.frame[name] for name in columns], ignore_index=True))
    assert answers is not None
    other, each = ("item", "rater") if by_item else ("rater", "pair")
    why = f"its values are on the scale of the other columns, so it is taken for one {other}'s"
    columns_read = (*described(roles, "by its name"), *(ColumnRole(name, "rating", why) for name in columns))
    notes = [f"every {other} must be the same {'thing' if by_item else 'person'} in all rows; a slot is no {other}"]
    kept = {*columns, *roles.values()}
    out = [str(name) for name in table.frame if name not in kept]
    notes += [f"left out: {', '.join(out)}"] if out else []
    return Inspection(
        table.file,
        "wide raters",
        f"a panel with one row a {each} and one column a {other}: {len(columns)} {other}s, {len(table.frame)} rows, "
        f"{answers.count} ratings",
        columns_read,
        (*notes, *remarks(answers)),
        RATING_USES[:3],
        calibrate_command(table, roles, answers, columns),
    )


def _scores(table: Checked, roles: dict[str, str]) -> Inspection:
    taken = set(roles.values())
    systems = [
        str(name)
        for name in table.frame
        if name not in taken
        and not is_no_system(name)
        and pd.to_numeric(table.frame[name], errors="coerce").notna().any()
    ]
    renamed = [
        f"{theirs} must be called {ours}" for ours, theirs in roles.items() if plain_name(ours) != plain_name(theirs)
    ]
    columns = (
        *described(roles, "by its name"),
        *(ColumnRole(name, "a system's scores", "numbers on no common scale") for name in systems),
    )
    file = shlex.quote(table.file)
    return Inspection(
        table.file,
        "scores" if systems else "unknown",
        f"scores of {count_of(len(systems), 'system')} for {count_of(len(table.frame), 'pair')}"
        if systems
        else "pairs without any number",
        columns,
        tuple(renamed),
        SCORE_USES if systems else (),
        f"relstudy score {file} -j judgments.csv" if systems and not renamed else None,
    )
