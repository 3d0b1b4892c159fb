"""Everything an archive holds, put together from a study's folder and database, and written to disk."""

from __future__ import annotations

import csv
import io
import json
import re
import tempfile
import tomllib
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.files import replacing, whole_files
from relstudy.common.runtime.wording import count_of
from relstudy.common.tables.meaning.study_folder import score_files
from relstudy.studyapp.archive.metadata import citation, croissant, versions
from relstudy.studyapp.archive.options import ArchiveOptions
from relstudy.studyapp.archive.tables import (
    NOT_KEPT,
    ArchivedTable,
    NewCodes,
    archived,
    folder_tables,
    question_tables,
    score_tables,
)
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.config.texts import Texts

if TYPE_CHECKING:
    from relstudy.analysis.scoring.options import ScoringOptions

KEPT: dict[str, tuple[str, ...]] = {
    "study": ("id", "title", "language", "consent", "instructions", "thanks"),
    "entry": (
        "rules",
        "id_parameter",
        "keep_parameters",
        "group_parameter",
        "code_needs_decided",
        "failed_checks_allowed",
        "joins_per_address",
    ),
}
"""Of these tables, the settings that are kept."""
WHOLE = (
    *("handout", "scales", "display", "blocks", "practice", "qualification", "attention", "screening", "groups"),
    *("limits", "questions", "texts", "analysis"),
)
"""Tables that are kept as they are. Whatever is neither here nor above is left out, so that nothing slips through."""
NO_PASSPHRASE = "left out"


def public_settings(study: Study) -> tuple[str, tuple[str, ...]]:
    """The text of a study.toml without secrets and addresses, and the names of the settings that were left out."""
    kept: dict[str, Any] = {}
    left_out: list[str] = []
    for table, content in tomllib.loads(study.text).items():
        if table in WHOLE:
            kept[table] = content
        elif table in KEPT:
            kept[table] = {name: value for name, value in content.items() if name in KEPT[table]}
            left_out += [f"{table}.{name}" for name in content if name not in KEPT[table]]
        else:
            left_out.append(table)
    if "passphrase" in kept.get("entry", {}).get("rules", ()):
        kept["entry"]["passphrase"] = NO_PASSPHRASE
    return as_toml(kept), tuple(left_out)


def as_toml(data: dict[str, Any]) -> str:
    """Plain data as TOML: tables, lists of tables, and values on one line.

    Examples
    --------
    >>> print(as_toml({"a": {"b": "x\\ny", "c": {"1": 2.0}}, "d": [{"e": [True]}]}).strip())
    [a]
    b = "x\\ny"
    c = {"1" = 2.0}
    <BLANKLINE>
    [[d]]
    e = [true]
    """
    lines: list[str] = []
    for name, content in data.items():
        for entry in content if isinstance(content, list) else [content]:
            lines.append(f"[[{_key(name)}]]" if isinstance(content, list) else f"[{_key(name)}]")
            lines += [f"{_key(key)} = {_value(value)}" for key, value in entry.items()]
            lines.append("")
    return "\n".join(lines)


def _key(name: str) -> str:
    plain = name.isascii() and name.replace("_", "a").replace("-", "a").isalnum() and not name[0].isdigit()
    return name if plain else _text(name)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    return "{" + ", ".join(f"{_key(key)} = {_value(entry)}" for key, entry in value.items()) + "}"


def _text(text: str) -> str:
    """A basic string; control characters by their number."""
    short = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    return (
        '"' + "".join(short.get(c) or (f"\\u{ord(c):04x}" if ord(c) < 32 or ord(c) == 127 else c) for c in text) + '"'
    )


COMPARISON = "comparison.json"
NEVER = (
    "raters' codes as the study has them, ids of platforms, kept parameters, personal links, completion codes",
    "answers to the exit questions, and what raters wrote about results",
    "when a rater came, and when a rating was given",
    "names of networks and machines",
    "items of the collection: the tables have their ids, and they may belong to others",
)
"""Files that no archive holds."""


@dataclass(frozen=True, eq=False)
class Archive:
    """The files of an archive by their names in it, and what a person should know.

    Parameters
    ----------
    files : name -> content
    rows : how many rows each table has
    left_out : what is not in it, one phrase each
    notes : sentences
    """

    files: Mapping[str, bytes]
    rows: Mapping[str, int]
    left_out: tuple[str, ...]
    notes: tuple[str, ...] = ()


def make_archive(study: Study, ratings: pd.DataFrame, secret: bytes, options: ArchiveOptions) -> Archive:
    """A study as one anonymised set of files, the same for the same study, day and versions.

    Parameters
    ----------
    study : as it is served
    ratings : one row per rating, as `relstudy export` gives them
    secret : of the study, which the new codes of raters are drawn by
    options : what a person says of the archive; a column of the study's own is left out without its meaning

    Raises
    ------
    RelstudyError
        where the tables of the folder do not go with the ratings
    """
    folder, meanings = study.folder, dict(options.columns)
    codes = NewCodes(ratings["rater_id"].astype("str"), secret)
    tables = [
        archived("ratings", ratings, codes, meanings),
        *folder_tables(folder, codes, meanings),
        *question_tables(folder, codes, meanings),
        *score_tables(folder),
    ]
    settings, settings_left_out = public_settings(study)
    files = {table.path: table.content for table in tables}
    files |= {f"mappings/{file.name}": file.read_bytes() for file in whole_files(folder / "mappings", "*.json")}
    files |= _figures(folder, codes)
    files["study.toml"] = settings.encode()
    files["consent.txt"] = f"{(study.consent or Texts(study.texts)('consent.default')).strip()}\n".encode()
    files["versions.json"] = _json(versions())
    files["columns.csv"] = _dictionary(tables)
    notes = []
    try:
        comparison, systems = _comparison(files, _options_of(folder))
        files |= comparison
        notes.append(f"{COMPARISON} holds every system in scores/: {', '.join(systems)}.")
    except RelstudyError as error:
        notes.append(f"There is no {COMPARISON} for `relstudy score NEW --against`: {error}.")
    if missing := options.missing():
        notes.append(f"Croissant requires what only you can say: {', '.join(missing)}.")
    left_out = (*NEVER, *_left_out(tables, settings_left_out))
    description = f"Ratings of how well results match queries, by {len(codes.new)} people: {study.title}"
    files["CITATION.cff"] = citation(study.title, options).encode()
    files["croissant.json"] = _json(croissant(study.title, description, options, tables))
    files["README.md"] = _readme(study, tables, files, left_out).encode()
    rows = {table.path: table.content.count(b"\n") - 1 for table in tables if table.path.endswith(".csv")}
    return Archive(dict(sorted(files.items())), rows, left_out, tuple(notes))


def _left_out(tables: list[ArchivedTable], settings: tuple[str, ...]) -> list[str]:
    """Sentences for the files of this study that its archive leaves out."""
    phrases = []
    for table in tables:
        columns = [name for name in table.left_out if name not in NOT_KEPT]
        if columns:
            phrases.append(
                f"of {table.path}: {', '.join(columns)} (say what a column means with --column NAME=MEANING)"
            )
    if settings:
        phrases.append(f"of study.toml: {', '.join(settings)}")
    return phrases


def _json(value: object) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()


def _dictionary(tables: list[ArchivedTable]) -> bytes:
    """columns.csv: the meaning of every column of every table."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["table", "column", "type", "meaning"])
    for table in tables:
        for column, meaning in table.meanings.items():
            writer.writerow([table.path, column, table.kinds.get(column, "Text").lower(), meaning])
    return text.getvalue().encode()


def _figures(folder: Path, codes: NewCodes) -> dict[str, bytes]:
    """The pictures of the report and of the calibration, where they are there."""
    figures = {file.name: file.read_text(encoding="utf-8") for file in whole_files(folder / "figures", "*.svg")}
    page = folder / "report" / "index.html"
    if page.is_file():
        pictures = re.findall(r"<svg class=\"figure\".*?</svg>", page.read_text(encoding="utf-8"), re.DOTALL)
        for number, picture in enumerate(pictures, start=1):
            label = re.search(r'aria-label="([^",.:;\[]*)', picture)
            name = re.sub(r"\W+", "-", label[1].lower() if label else "").strip("-")[:50]
            figures[f"report-{number:02d}-{name}.svg"] = picture
    return {f"figures/{name}": f"{codes.in_text(text)}\n".encode() for name, text in figures.items()}


def _options_of(folder: Path) -> ScoringOptions:
    """The choices by which the study's systems were compared last, else the defaults."""
    from relstudy.analysis.scoring.options import ScoringOptions
    from relstudy.analysis.study_run import read_study_folder

    return read_study_folder(folder).options if (folder / "judgments.csv").is_file() else ScoringOptions()


def _comparison(files: Mapping[str, bytes], options: ScoringOptions) -> tuple[dict[str, bytes], list[str]]:
    """The saved comparison that `relstudy score NEW --against` reads, made of the archive's own tables; its systems."""
    from relstudy.analysis.pipeline import score_tables as scored
    from relstudy.calibration.tables.study_tables import read_study_tables
    from relstudy.mapping.fitted import read_mappings
    from relstudy.mapping.scores.score_files import read_scores

    if "judgments.csv" not in files:
        raise RelstudyError("there are no judgments yet (`relstudy calibrate` writes them)")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _unpack(files, folder)
        file = folder / "judgments.csv"
        scores = [(path.name, read_scores(path)) for path in score_files(folder)]
        if not scores:
            raise RelstudyError("there are no scores of systems (`relstudy sample` keeps them in scores/)")
        fitted = read_mappings(folder / "mappings") if (folder / "mappings").is_dir() else {}
        run = scored(read_study_tables(file), scores, options, fitted=fitted)
        run.save(str(folder / COMPARISON))
        return {COMPARISON: (folder / COMPARISON).read_bytes()}, [candidate.name for candidate in run.candidates]


def _unpack(files: Mapping[str, bytes], folder: Path) -> None:
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)


_WHAT: Mapping[str, str] = {
    "study.toml": "the questions, raters and settings (`relstudy` serves it)",
    "consent.txt": "what raters agreed to",
    "columns.csv": "the meaning of every column of every table",
    "versions.json": "the versions of relstudy, Python and libraries that made the archive",
    "croissant.json": "the tables as Croissant metadata",
    "CITATION.cff": "how to cite these data",
    COMPARISON: "the systems scored so far, for `relstudy score NEW --against`",
}


def _columns(table: ArchivedTable) -> str:
    return count_of(len(table.meanings), "column") if table.meanings else "no named columns"


def _readme(study: Study, tables: list[ArchivedTable], files: Mapping[str, bytes], left_out: tuple[str, ...]) -> str:
    archived_paths = {table.path for table in tables}
    lines = [f"# {study.title}", "", "An anonymised archive of a rating study, made by `relstudy admin archive`.", ""]
    lines += [f"- `{table.path}`: table, {_columns(table)}" for table in tables]
    lines += [f"- `{path}`: {_WHAT[path]}" for path in sorted(files) if path in _WHAT]
    for folder, what in (("mappings", "fitted mappings"), ("figures", "figures")):
        if count := sum(path.startswith(f"{folder}/") and path not in archived_paths for path in files):
            lines.append(f"- `{folder}/`: {count} {what}")
    lines += ["", "## Not in it", "", *(f"- {phrase}" for phrase in left_out)]
    if COMPARISON in files:
        lines += ["", "## A new system among these", "", "    relstudy score new.run --against ARCHIVE", ""]
    return "\n".join(lines).rstrip() + "\n"


EPOCH = (1980, 1, 1, 0, 0, 0)


def write_archive(files: Mapping[str, bytes], target: Path) -> None:
    """Write the files as a zip, where the target ends in .zip, else into a new or empty folder.

    Raises
    ------
    RelstudyError
        where the folder holds something already
    """
    if target.suffix == ".zip":
        with replacing(target) as beside, zipfile.ZipFile(beside, "w", zipfile.ZIP_DEFLATED) as archive:
            for path, content in sorted(files.items()):
                entry = zipfile.ZipInfo(path, EPOCH)
                entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
                archive.writestr(entry, content)
        return
    if target.is_file():
        raise RelstudyError(f"{target}: this is a file; name a new folder, or a file that ends in .zip")
    if target.is_dir() and any(target.iterdir()):
        raise RelstudyError(f"{target}: this folder is not empty; name a new one, so that nothing else gets in")
    _unpack(files, target)
