"""Inputs of a page beside the scoring run: the plain tables of a study's folder, and the hash of each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from relstudy.analysis.report.collection import Items
from relstudy.calibration.panel import Panel
from relstudy.calibration.reliability.intraclass import Icc, intraclass
from relstudy.calibration.tables.judgments import Judgments
from relstudy.calibration.tables.ratings import Ratings, read_ratings
from relstudy.calibration.tables.study_tables import InputFile, StudyTables
from relstudy.common.runtime.files import read_toml
from relstudy.common.tables.formats.table_files import read_table
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR
from relstudy.common.tables.meaning.study_folder import COLLECTION, items_file

NO_TITLE = "Systems compared with people's judgments"
"""The title of a page without a study's folder."""
TABLES = {
    "raters.csv": ("rater_id",),
    "truth/recovered.csv": ("quantity", "system", "true", "recovered"),
    COLLECTION: ("item_id",),
}
"""Tables that a page alone reads, with the columns that they need."""


@dataclass(frozen=True, eq=False)
class PageTables:
    """Tables of a page beside the figures; each part is left out where it is not known.

    Parameters
    ----------
    study : judgments with what belongs to them
    title : what the study calls itself, else its folder's name
    raters : as the file holds them, as text
    truth : estimates beside their true values, where the study was simulated and these are known
    items : what queries and results are, as collection.csv says
    folder : the study's, if any
    files : every file read, in order of name
    """

    study: StudyTables
    title: str = NO_TITLE
    raters: pd.DataFrame | None = None
    truth: pd.DataFrame | None = None
    items: Items | None = None
    folder: Path | None = None
    files: tuple[InputFile, ...] = ()

    @property
    def judgments(self) -> Judgments:
        """The judgments."""
        return self.study.judgments

    @property
    def pairs(self) -> pd.DataFrame | None:
        """The pairs as they were drawn, where that is known."""
        return self.study.pairs

    @cached_property
    def ratings(self) -> Ratings | None:
        """The ratings without those of raters who were set aside, with a column `calibrated` (float) where it is known.

        Raises
        ------
        TableError
            where the table of ratings has faults
        """
        table = self.study.rated
        if table is None:
            return None
        ratings = read_ratings(table.without_faults(), trust_raters=True)
        if "calibrated" in ratings.frame:
            ratings.frame["calibrated"] = pd.to_numeric(ratings.frame["calibrated"], errors="coerce")
        return ratings

    @cached_property
    def panels(self) -> tuple[Panel, Panel | None]:
        """`panels` of the ratings, which must be there."""
        assert self.ratings is not None
        return panels(self.ratings)

    @cached_property
    def agreement(self) -> list[Icc]:
        """Intraclass correlations of the ratings as given and, where these are known, as calibrated."""
        return [intraclass(panel) for panel in self.panels if panel is not None]

    @property
    def ratings_each(self) -> np.ndarray | None:
        """The number of ratings behind each judgment, float [pairs], NaN where unknown; None without the column."""
        if "n_ratings" not in self.judgments.frame:
            return None
        return pd.to_numeric(self.judgments.frame["n_ratings"], errors="coerce").to_numpy(dtype=float)

    def pair_column(self, name: str) -> np.ndarray | None:
        """A column of pairs.csv laid beside the judgments, text [pairs], empty where unknown; None without it."""
        if self.pairs is None or name not in self.pairs:
            return None
        columns = self.pairs.drop_duplicates(PAIR)[[*PAIR, name]]
        beside = self.judgments.frame[PAIR].merge(columns, on=PAIR, how="left", validate="many_to_one")[name]
        return beside.fillna("").astype(str).to_numpy(dtype=object)


def page_tables(study: StudyTables, folder: Path | None = None, read: Iterable[InputFile] = ()) -> PageTables:
    """The tables of judgments and, if any, of a study's folder.

    Parameters
    ----------
    read : other files that were read, for the list of them

    Raises
    ------
    RelstudyError
        where a table of the folder has faults
    """
    files = [*study.files, *read]
    if folder is None:
        return PageTables(study, files=_in_order(files))
    paths = {name: items_file(folder) if name == COLLECTION else folder / name for name in TABLES}
    there = {name: path for name, path in paths.items() if path.is_file()}
    found = {name: read_table(path, *TABLES[name]).frame.astype(str) for name, path in there.items()}
    toml = folder / "study.toml"
    files += [InputFile.of(path, folder) for path in (*there.values(), toml) if path.is_file()]
    items = items_of(folder, found.get(COLLECTION))
    raters, truth = found.get("raters.csv"), found.get("truth/recovered.csv")
    return PageTables(study, _title(folder), raters, truth, items, folder, _in_order(files))


def items_of(folder: Path, collection: pd.DataFrame | None) -> Items | None:
    """Queries and results of a study; None where it has no collection.csv."""
    return None if collection is None else Items(folder, collection.drop_duplicates("item_id").set_index("item_id"))


def read_items(folder: Path) -> Items | None:
    """Queries and results of the study in `folder`; None where it has no collection.csv.

    Raises
    ------
    RelstudyError
        where collection.csv has faults
    """
    path = items_file(folder)
    return items_of(folder, read_table(path, *TABLES[COLLECTION]).frame.astype(str) if path.is_file() else None)


def _in_order(files: Iterable[InputFile]) -> tuple[InputFile, ...]:
    return tuple(sorted(dict.fromkeys(files), key=lambda file: file.name))


def _title(folder: Path) -> str:
    path = folder / "study.toml"
    named = folder.resolve().name.replace("-", " ").replace("_", " ")
    if not path.is_file():
        return named
    content = read_toml(path)
    for part in (content.get("study"), content):
        if isinstance(part, dict) and isinstance(part.get("title"), str) and part["title"].strip():
            return str(part["title"]).strip()
    return named


def with_source_and_round(ratings: Ratings, pairs: pd.DataFrame) -> pd.DataFrame:
    """The ratings (query_id, result_id, rating) of pairs that were drawn, with the source and round of their pair."""
    drawn = pairs.drop_duplicates(PAIR)[[*PAIR, "source", "round"]]
    return ratings.frame[[*PAIR, "rating"]].merge(drawn, on=PAIR, how="inner", validate="many_to_one")


def panels(ratings: Ratings) -> tuple[Panel, Panel | None]:
    """The ratings as they were given, and as calibrated (None where that is not known)."""
    frame = ratings.frame
    given = Panel.from_frame(frame, ratings.scale.scale.low, ratings.scale.scale.high)
    if "calibrated" not in frame:
        return given, None
    return given, given.with_rating(frame["calibrated"].to_numpy(dtype=float))
