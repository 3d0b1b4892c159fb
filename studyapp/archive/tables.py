"""The tables of a study as an archive holds them: known columns, new codes for raters, no exact times."""

from __future__ import annotations

import hashlib
import hmac
import io
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pandas as pd

from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.formats.table_files import read_table
from relstudy.common.tables.meaning.study_folder import QUESTIONS, score_files
from relstudy.studyapp.archive.meanings import MEANINGS, meaning_of


class NewCodes:
    """New codes of raters: rater-01 and so on, the same each time, which do not reveal the old ones.

    Parameters
    ----------
    raters : their codes in the study
    secret : the study's own; who does not have it cannot compute the order

    Examples
    --------
    >>> codes = NewCodes(["RA", "RB"], b"secret")
    >>> sorted(codes.new.values())
    ['rater-1', 'rater-2']
    """

    def __init__(self, raters: Iterable[str], secret: bytes) -> None:
        def place(rater: str) -> bytes:
            return hmac.new(secret, b"archive:" + rater.encode(), hashlib.sha256).digest()

        ordered = sorted(set(raters), key=place)
        width = len(str(len(ordered)))
        self.new = {rater: f"rater-{number:0{width}d}" for number, rater in enumerate(ordered, start=1)}

    def renamed(self, table: pd.DataFrame, name: str) -> pd.DataFrame:
        """A table with the new codes, in the order of these: the order of its rows said who came first.

        Raises
        ------
        RelstudyError
            where it holds a rater whom the ratings do not: one who was removed since, or of another study
        """
        codes = table["rater_id"].astype("str")
        unknown = sorted(set(codes) - self.new.keys())
        if unknown:
            raise RelstudyError(
                f"{name}: rater {unknown[0]} is not among the ratings (removed since, or of another study); run "
                "`relstudy export` and `relstudy calibrate` again, then make the archive"
            )
        renamed = table.assign(rater_id=codes.map(self.new))
        order = [column for column in ("rater_id", "query_id", "result_id", "study_block") if column in renamed]
        return renamed.sort_values(order, kind="stable").reset_index(drop=True)

    def in_text(self, text: str) -> str:
        """A text (of a figure) with the new codes in place of the old ones."""
        if not self.new:
            return text
        names = "|".join(sorted(map(re.escape, self.new), key=len, reverse=True))
        return re.sub(rf"(?<!\w)(?:{names})(?!\w)", lambda match: self.new[match[0]], text)


OF_FOLDER = ("pairs", "lists", "judgments", "calibrated", "raters", "pool", "looks")
"""Tables of the folder, beside the ratings."""
NOT_KEPT = ("rated_at",)
WORDS = "words"
"""The column of what raters wrote."""


@dataclass(frozen=True, eq=False)
class ArchivedTable:
    """A table of the archive.

    Parameters
    ----------
    path : in the archive
    meanings : by column; empty for a file that has none (a TREC run)
    content : its bytes
    kinds : the type of each column: Text, Float or Integer
    left_out : columns that are not in it
    """

    path: str
    meanings: dict[str, str]
    content: bytes
    kinds: dict[str, str] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()


def archived(kind: str, frame: pd.DataFrame, codes: NewCodes, described: dict[str, str]) -> ArchivedTable:
    """One table as it goes into the archive; columns whose meaning nobody knows are left out.

    Parameters
    ----------
    described : meanings of columns that are the study's own, by name
    """
    columns = [str(name) for name in frame.columns]
    meanings = {name: meaning_of(kind, name) or described.get(name) for name in columns}
    kept = {name: meaning for name, meaning in meanings.items() if meaning is not None and name not in NOT_KEPT}
    left_out = tuple(name for name in columns if name not in kept)
    table = frame[list(kept)]
    if "rater_id" in table:
        table = codes.renamed(table, f"{kind}.csv")
    content = table.to_csv(index=False, lineterminator="\n").encode()
    return ArchivedTable(f"{kind}.csv", kept, content, _kinds(content), left_out)


def folder_tables(folder: Path, codes: NewCodes, described: dict[str, str]) -> list[ArchivedTable]:
    """The tables of the folder that are there."""
    tables = []
    for kind in OF_FOLDER:
        file = next((f for e in (".csv", ".parquet") if (f := folder / f"{kind}{e}").is_file()), None)
        if file is not None:
            tables.append(archived(kind, read_table(file).frame, codes, described))
    return tables


def question_tables(folder: Path, codes: NewCodes, described: dict[str, str]) -> list[ArchivedTable]:
    """The tables of further questions that are there; what raters wrote in words is not part of them."""
    tables = []
    for of_question in sorted(path for path in (folder / QUESTIONS).glob("*") if path.is_dir()):
        for kind in ("ratings", "judgments"):
            if (of_question / f"{kind}.csv").is_file():
                frame = read_table(of_question / f"{kind}.csv").frame
                if WORDS not in frame:
                    table = archived(kind, frame, codes, described)
                    tables.append(replace(table, path=f"{QUESTIONS}/{of_question.name}/{kind}.csv"))
    return tables


def score_tables(folder: Path) -> list[ArchivedTable]:
    """The systems' scores as they stand: they hold nothing about people."""
    return [_scores(file) for file in score_files(folder)]


def _scores(file: Path) -> ArchivedTable:
    content, path = file.read_bytes(), f"scores/{file.name}"
    if file.suffix in (".parquet", ".csv"):
        names = [str(name) for name in read_table(file).frame.columns]
    else:
        return ArchivedTable(path, {}, content)
    meanings = {name: MEANINGS["scores"].get(name, f"the scores of the system {name}") for name in names}
    return ArchivedTable(path, meanings, content, _kinds(content) if file.suffix == ".csv" else {})


def _kinds(content: bytes) -> dict[str, str]:
    """Croissant data type of each column."""
    read = pd.read_csv(io.BytesIO(content), low_memory=False)
    names = {"i": "Integer", "u": "Integer", "f": "Float"}
    kinds = {str(name): names.get(read[name].dtype.kind, "Text") for name in read}
    return {name: "Text" if name.endswith("_id") else kind for name, kind in kinds.items()}
