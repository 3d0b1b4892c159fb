"""Tables: whose export one is, which column is which, and the command that reads it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable

import pandas as pd

from relstudy.analysis.inspection.answers import Answers, read_answers
from relstudy.analysis.inspection.finding import ColumnRole, Inspection
from relstudy.common.scales import SCALE_COLUMNS
from relstudy.common.tables import Checked

NAMES = {
    "rater_id": (
        *(
            "rater_id",
            "rater",
            "raterid",
            "worker",
            "workerid",
            "worker_id",
            "annotator",
            "annotator_id",
            "annotatorid",
        ),
        *("user", "user_id", "username", "participant", "participant_id", "prolific_pid", "prolific_id", "subject"),
        *("subject_id", "judge", "judge_id", "assessor", "assessor_id", "coder", "evaluator", "completed_by"),
    ),
    "query_id": ("query_id", "query", "queryid", "qid", "q", "topic", "topic_id", "prompt", "prompt_id", "input.query"),
    "result_id": (
        *("result_id", "result", "docid", "doc_id", "doc", "document", "document_id", "item", "item_id", "itemid"),
        *("image", "image_id", "video", "video_id", "passage", "passage_id", "product_id", "instance_id", "stimulus"),
        *("stimulus_id", "url", "input.result", "input.document", "input.image_url", "input.image", "input.docid"),
    ),
    "rating": (
        *("rating", "label", "grade", "relevance", "rel", "answer", "response", "choice", "overall_score", "quality"),
        *("sentiment", "similarity", "value", "score"),
    ),
}
NO_RATER = re.compile(
    r"(final|mean|avg|average|median|mos|sd|std|var|total|count|consensus|majority|scale|block|rank|position|round|"
    r"repetition|seconds|duration|time|age|index|idx|row|id|.*_id$)(?![a-z])",
    re.IGNORECASE,
)
"""Names of columns that are no rater's: summaries, and how a row came about."""
RATING_USES = ("judgments on one scale", "rater profiles", "agreement (alpha, ICC, kappa)", "a noise-free comparison")
SCORE_USES = ("correlation with judgments", "average precision", "normalised rank", "a mapping onto people's scale")


def inspect_table(table: Checked) -> Inspection:
    """What a table is.

    Parameters
    ----------
    table : as text, with the header of the file
    """
    frame = table.frame
    names = {str(name).casefold() for name in frame.columns}
    if {"participant id", "submission id"} <= names or {"participant id", "completion code"} <= names:
        return _prolific(table)
    if {"responseid", "finished"} <= names:
        return _qualtrics(table)
    if {"assignmentid", "workerid"} <= names:
        return _mturk(table)
    by_relstudy = _relstudy_table(table)
    if by_relstudy is not None:
        return by_relstudy
    roles = _roles(frame)
    tool = _tool(names)
    if "rating" in roles and "rater_id" in roles and ("result_id" in roles or "query_id" in roles):
        return _ratings(table, roles, tool)
    wide = [] if {"rater_id", "rating"} <= set(roles) else _wide_raters(frame, roles)
    if wide and {"query_id", "result_id", "rater_id"} & set(roles):
        return _wide(table, roles, wide)
    if {"query_id", "result_id"} <= set(roles) and "rating" in roles:
        return _judgments(table, roles, tool)
    if {"query", "docid", "rank"} <= names:
        return Inspection(
            table.file,
            "Quepid snapshot",
            "a snapshot of Quepid: results by rank, without scores or ratings",
            _described(roles, "named so"),
            ("a score table or a TREC run is needed to score a system; ranks alone can be written as a run",),
        )
    if {"query_id", "result_id"} <= set(roles):
        return _scores(table, roles)
    return _codes(table) or Inspection(
        table.file,
        "unknown",
        f"a table of {len(frame)} rows that names no raters, queries or results that are known by their names",
        (),
        (f"its columns are {', '.join(map(str, frame.columns))}",),
        (),
        f"relstudy calibrate {shlex.quote(table.file)} -o out --columns "
        "rater_id=NAME,query_id=NAME,result_id=NAME,rating=NAME",
    )


def _relstudy_table(table: Checked) -> Inspection | None:
    """Tables of relstudy's own, by their columns."""
    columns, file = set(table.frame.columns), shlex.quote(table.file)
    kinds: tuple[tuple[set[str], str, str, tuple[str, ...], str], ...] = (
        ({"query_id", "result_id", "judgment"}, "judgments", "judgments, one a pair", SCORE_USES,
         f"relstudy score SCORES -j {file}"),
        ({"system", "query_id", "result_id", "score"}, "scores", "scores of systems, one row a score", SCORE_USES,
         f"relstudy score {file} -j judgments.csv"),
        ({"pair_id", "query_id", "result_id", "source"}, "pairs", "the pairs of a study", (), "relstudy serve STUDY"),
        ({"item_id", "kind"}, "collection", "the items of a study", (), "relstudy sample STUDY"),
    )  # fmt: skip
    if {"rater_id", "query_id", "result_id", "rating"} <= columns:
        return None
    for needed, kind, sentence, uses, command in kinds:
        if needed <= columns:
            roles = tuple(ColumnRole(name, name, "relstudy's own name") for name in table.frame if name in needed)
            return Inspection(table.file, kind, f"{sentence} ({len(table.frame)} rows)", roles, (), uses, command)
    return None


def _codes(table: Checked) -> Inspection | None:
    """A table with a column of hash codes; None where there is none."""
    for name in table.frame:
        texts = table.frame[name].astype("str").str.strip()
        if len(texts) and texts.str.fullmatch(r"[0-9a-fA-F]{8,}").all() and texts.str.len().nunique() == 1:
            bits = 4 * len(texts.iloc[0])
            role = ColumnRole(str(name), "codes", f"{len(texts[0])} hexadecimal digits in every row")
            note = f"write the column {name} alone, one code a line, for relstudy hash count"
            return Inspection(
                table.file,
                "codes",
                f"{len(texts)} codes of {bits} bits in a table",
                (role,),
                (note,),
                ("Hamming metrics",),
            )
    return None


def _tool(names: set[str]) -> str:
    if {"annotation_id", "annotator"} <= names:
        return "Label Studio"
    if "instance_id" in names and "user" in names:
        return "Potato"
    if {"query", "docid", "rating"} <= names:
        return "Quepid"
    return ""


def _roles(frame: pd.DataFrame) -> dict[str, str]:
    """Columns by relstudy's names, the first known name that the table has."""
    plain = {str(name).casefold().strip().replace(" ", "_"): str(name) for name in frame.columns}
    roles: dict[str, str] = {}
    for ours, names in NAMES.items():
        for name in names:
            if name in plain and plain[name] not in roles.values():
                if ours == "rating" and read_answers(frame[plain[name]]) is None:
                    continue
                roles[ours] = plain[name]
                break
    if {"rater_id", "rating"} <= set(roles) and not {"query_id", "result_id"} & set(roles) and "id" in plain:
        roles["result_id"] = plain["id"]
    return roles


def _described(roles: dict[str, str], why: str) -> tuple[ColumnRole, ...]:
    return tuple(
        ColumnRole(theirs, ours, "relstudy's own name" if theirs == ours else why) for ours, theirs in roles.items()
    )


def _ratings(table: Checked, roles: dict[str, str], tool: str, notes: Iterable[str] = ()) -> Inspection:
    answers = read_answers(table.frame[roles["rating"]])
    assert answers is not None
    raters = table.frame[roles["rater_id"]].nunique()
    for one, other in (("query_id", "result_id"), ("result_id", "query_id")):
        if one in roles and other not in roles:
            roles = {**roles, other: roles[one]}
    sentence = f"{answers.count} ratings by {raters} raters" + (f", exported from {tool}" if tool else "")
    return Inspection(
        table.file,
        tool or "ratings",
        sentence,
        _described(roles, "by its name, and what stands in it"),
        (*notes, *_remarks(answers)),
        RATING_USES[:3],
        _calibrate(table, roles, answers),
    )


def _judgments(table: Checked, roles: dict[str, str], tool: str) -> Inspection:
    answers = read_answers(table.frame[roles["rating"]])
    assert answers is not None
    stated = _options({ours: (theirs,) for ours, theirs in roles.items() if ours != theirs}, answers, table)
    return Inspection(
        table.file,
        tool or "judgments",
        f"{answers.count} judgments without raters" + (f", exported from {tool}" if tool else ""),
        _described(roles, "by its name, and what stands in it"),
        ("without a rater's name there is no one to calibrate: judgments are means", *_remarks(answers)),
        SCORE_USES,
        " ".join(["relstudy score SCORES -j", shlex.quote(table.file), *stated]),
    )


def _wide_raters(frame: pd.DataFrame, roles: dict[str, str]) -> list[str]:
    """Columns that hold ratings on one scale, one column a rater or an item; none where there are fewer than two."""
    taken = {theirs for ours, theirs in roles.items() if ours != "rating"}
    columns, values, kinds = [], set(), set()
    for name in frame.columns:
        if name in taken or NO_RATER.match(str(name)) or name in SCALE_COLUMNS:
            continue
        answers = read_answers(frame[name])
        if answers is None or answers.scale is None or (answers.words and not answers.sure):
            continue
        column = frame[name].astype("str").str.strip()
        columns.append(str(name))
        values |= set(column[column != ""])
        kinds.add(bool(answers.words))
    if len(columns) < 2 or len(values) > 25 or len(kinds) > 1:
        return []
    together = pd.concat([frame[name] for name in columns], ignore_index=True)
    return columns if read_answers(together) is not None else []


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
    described = (*_described(roles, "by its name"), *(ColumnRole(name, "rating", why) for name in columns))
    notes = [f"every {other} must be the same {'thing' if by_item else 'person'} in all rows; a slot is no {other}"]
    kept = {*columns, *roles.values()}
    out = [str(name) for name in table.frame if name not in kept]
    notes += [f"left out: {', '.join(out)}"] if out else []
    return Inspection(
        table.file,
        "wide raters",
        f"a panel with one row a {each} and one column a {other}: {len(columns)} {other}s, {len(table.frame)} rows, "
        f"{answers.count} ratings",
        described,
        (*notes, *_remarks(answers)),
        RATING_USES[:3],
        _calibrate(table, roles, answers, columns),
    )


def _scores(table: Checked, roles: dict[str, str]) -> Inspection:
    taken = set(roles.values())
    systems = [
        str(name)
        for name in table.frame
        if name not in taken and pd.to_numeric(table.frame[name], errors="coerce").notna().any()
    ]
    renamed = [f"{theirs} must be called {ours}" for ours, theirs in roles.items() if ours != theirs]
    columns = (
        *_described(roles, "by its name"),
        *(ColumnRole(name, "a system's scores", "numbers on no common scale") for name in systems),
    )
    file = shlex.quote(table.file)
    return Inspection(
        table.file,
        "scores" if systems else "unknown",
        f"scores of {len(systems)} systems for {len(table.frame)} pairs" if systems else "pairs without any number",
        columns,
        tuple(renamed),
        SCORE_USES if systems else (),
        f"relstudy score {file} -j judgments.csv" if systems and not renamed else None,
    )


def _remarks(answers: Answers) -> list[str]:
    notes = []
    if answers.missing:
        notes.append(f"taken for no answer: {', '.join(map(repr, answers.missing))}")
    for value in answers.odd:
        notes.append(
            f"{value} stands far from all other ratings: is it no answer? The command below says so with --missing; if "
            "it is a rating, leave that out and state the --scale"
        )
    if answers.words and not answers.sure:
        notes.append("the words do not tell their order: check the numbers in --values before you run the command")
    return notes


def _calibrate(table: Checked, roles: dict[str, str], answers: Answers, columns: Iterable[str] = ()) -> str:
    named: dict[str, tuple[str, ...]] = {ours: (theirs,) for ours, theirs in roles.items() if ours != theirs}
    if columns:
        named["rating"] = tuple(columns)
    stated = _options(named, answers, table)
    return " ".join(["relstudy calibrate", shlex.quote(table.file), "-o out", *stated])


def _options(named: dict[str, tuple[str, ...]], answers: Answers, table: Checked) -> list[str]:
    options = []
    if named:
        entries = [_entry(f"{ours}={theirs}") for ours, several in named.items() for theirs in several]
        options.append(f"--columns {shlex.quote(','.join(entries))}")
    if answers.words:
        entries = [_entry(f"{text}={number:g}") for text, number in answers.words.items()]
        options.append(f"--values {shlex.quote(','.join(entries))}")
    if answers.scale is not None and "scale" not in table.frame and SCALE_COLUMNS[0] not in table.frame:
        options.append(f"--scale {answers.scale.low:g}-{answers.scale.high:g}")
    if answers.missing or answers.odd:
        options.append(f"--missing {shlex.quote(','.join(map(_entry, (*answers.missing, *answers.odd))))}")
    return options


def _entry(text: str) -> str:
    """An entry of a comma-separated list: in double quotes where it contains a comma or a quote."""
    return '"' + text.replace('"', '""') + '"' if "," in text or '"' in text else text


def _prolific(table: Checked) -> Inspection:
    status = next((name for name in table.frame if str(name).casefold() == "status"), None)
    counts = {} if status is None else table.frame[status].value_counts().to_dict()
    counted = ", ".join(f"{number} {name}" for name, number in counts.items())
    return Inspection(
        table.file,
        "Prolific",
        f"a demographic export of Prolific: {len(table.frame)} submissions" + (f" ({counted})" if counted else ""),
        (),
        ("it says who took part, and holds no ratings; compare its Participant id with the platform_id that "
         "relstudy export --people writes",),
    )  # fmt: skip


def _qualtrics(table: Checked) -> Inspection:
    imported = table.frame.astype("str").apply(lambda column: column.str.contains("ImportId")).to_numpy().any()
    notes = ["people answer in one row each, and loop-and-merge columns such as 1_Q3 are one item each"]
    if imported:
        notes.append("rows 2 and 3 are the wording and ImportIds: remove them before the table is read")
    items = [str(name) for name in table.frame if re.fullmatch(r"\d+_Q\w+", str(name))]
    command = None
    if items and not imported:
        entries = ",".join(["rater_id=ResponseId", *(f"rating={name}" for name in items)])
        command = f"relstudy calibrate {shlex.quote(table.file)} -o out --columns {shlex.quote(entries)}"
    columns = (ColumnRole("ResponseId", "rater_id", "one response is one person"),)
    return Inspection(
        table.file,
        "Qualtrics",
        f"an export of Qualtrics with {len(table.frame)} rows",
        columns,
        tuple(notes),
        (),
        command,
    )


def _mturk(table: Checked) -> Inspection:
    frame = table.frame
    names = [str(name) for name in frame]
    notes = []
    status = next((name for name in names if name.casefold() == "assignmentstatus"), None)
    rejected = 0 if status is None else int((frame[status].astype("str").str.casefold() == "rejected").sum())
    if rejected:
        notes.append(
            f"{rejected} rows have AssignmentStatus Rejected; they are still in the table, so remove them or not"
        )
    inputs = [name for name in names if name.casefold().startswith("input.")]
    answered = [
        name for name in names if name.casefold().startswith("answer.") and read_answers(frame[name]) is not None
    ]
    radios = [name for name in answered if frame[name].astype("str").str.casefold().isin(["true", "false", ""]).all()]
    roles = {"rater_id": next(name for name in names if name.casefold() == "workerid")}
    named_roles = _roles(frame)
    for ours, at in (("query_id", 0), ("result_id", -1)):
        if ours in named_roles:
            roles[ours] = named_roles[ours]
        elif inputs:
            roles[ours] = inputs[at]
    plain = [name for name in answered if name not in radios]
    if plain and "result_id" in roles:
        roles["rating"] = plain[0]
        if len(plain) > 1:
            notes.append(f"there are several answers ({', '.join(plain)}); the command takes {plain[0]}")
        return _ratings(table, roles, "MTurk", notes)
    if radios:
        notes.append(
            f"each choice has a column of true and false ({', '.join(radios[:4])}): make one column of them before "
            "the table is read"
        )
    return Inspection(
        table.file,
        "MTurk",
        f"batch results of MTurk: {len(frame)} assignments",
        _described(roles, "by its name"),
        tuple(notes),
    )
