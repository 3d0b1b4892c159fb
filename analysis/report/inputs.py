"""What the report reads: the plain tables of a study's folder, and the hash of each."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from relstudy.analysis.report.collection import Items
from relstudy.analysis.scoring.candidate import LEAST_COVERAGE
from relstudy.analysis.scoring.judged import JudgedPairs
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.scoring.outside import Pool
from relstudy.analysis.scoring.proposers import with_proposers
from relstudy.analysis.scoring.rated import BESIDE, judgments_with_ratings
from relstudy.analysis.scoring.saved import SavedComparison, read_comparison, with_what_was_saved
from relstudy.calibration.judgments import Judgments, read_judgments
from relstudy.calibration.ratings import Ratings, read_ratings
from relstudy.common.checked import Checked
from relstudy.common.errors import RelstudyError
from relstudy.common.groups import groups_of
from relstudy.common.pairs_table import read_pairs
from relstudy.common.probabilities import PAIR
from relstudy.common.study_folder import notes_on_scores, score_files
from relstudy.common.tables import read_table
from relstudy.mapping.fitted import FittedMapping, mapping_files, read_mappings
from relstudy.mapping.scores.score_table import ScoreTable
from relstudy.mapping.scores.table import read_scores


@dataclass(frozen=True)
class InputFile:
    """One file that was read.

    Parameters
    ----------
    name : path inside the study's folder
    sha256 : hash of its bytes, hexadecimal
    size : bytes
    """

    name: str
    sha256: str
    size: int


@dataclass(frozen=True)
class StudyTables:
    """A study's tables.

    Parameters
    ----------
    title : what the study calls itself, else its folder's name
    judgments : as `read_judgments` gives them
    scores : of the judged pairs, or of all pairs where judgments are TREC qrels
    mappings : fitted mappings by system
    ratings : the ratings, with a column `calibrated` (float) where it is known; None where there are none
    raters : as the file holds them, as text; None where there is none
    pairs : as `read_pairs` gives them; None where there are none
    files : every file read, in order of name
    notes : what a person should know, one sentence each
    truth : estimates beside their true values, where the study was simulated and these are known; else None
    items : what queries and results are, as collection.csv says; None without it
    pool : the results that pairs could be drawn from, where there was a pool; else None
    whole_scores : where there was a pool, every score table whole, what lies outside included; else what it has of the
        pairs that people saw, where they could not decide some
    comparison : comparison.json, where `relstudy score --save` wrote it for these very judgments; else None
    """

    title: str
    judgments: Judgments
    scores: ScoreTable
    mappings: Mapping[str, FittedMapping]
    ratings: Ratings | None
    raters: pd.DataFrame | None
    pairs: pd.DataFrame | None
    files: tuple[InputFile, ...]
    notes: tuple[str, ...] = ()
    truth: pd.DataFrame | None = None
    comparison: SavedComparison | None = None
    items: Items | None = None
    pool: Pool | None = None
    whole_scores: tuple[pd.DataFrame, ...] = ()

    @property
    def ratings_each(self) -> np.ndarray | None:
        """How many ratings each judgment is of, float [pairs], NaN where unknown; None without the column."""
        if "n_ratings" not in self.judgments.frame:
            return None
        return pd.to_numeric(self.judgments.frame["n_ratings"], errors="coerce").to_numpy(dtype=float)

    @property
    def options(self) -> ScoringOptions:
        """The choices of the scoring run: those of the comparison, else the defaults."""
        return ScoringOptions() if self.comparison is None else self.comparison.options

    def pair_column(self, name: str) -> np.ndarray | None:
        """A column of pairs.csv laid beside the judgments, text [pairs], empty where unknown; None without it."""
        if self.pairs is None or name not in self.pairs:
            return None
        columns = self.pairs.drop_duplicates(PAIR)[[*PAIR, name]]
        beside = self.judgments.frame[PAIR].merge(columns, on=PAIR, how="left", validate="many_to_one")[name]
        return beside.fillna("").astype(str).to_numpy(dtype=object)

    def groups(self, column: str) -> np.ndarray:
        """The value of a column of the judgments, else of pairs.csv, for each judged pair, text [pairs]."""
        frame = self.judgments.frame
        values = None if column in frame else self.pair_column(column)
        return groups_of(frame if values is None else frame.assign(**{column: values}), column)


def read_study(
    folder: Path, judgments: Path | None = None, low_coverage: bool = False, ratings_file: Path | None = None
) -> StudyTables:
    """Read what a study's folder holds.

    Parameters
    ----------
    folder : holds judgments.csv and scores/; raters.csv, calibrated.csv (or ratings.csv), pairs.csv, mappings/,
        study.toml and truth/recovered.csv are used where they are
    judgments : another judgments table
    low_coverage : whether systems that score under half of the judged pairs are kept
    ratings_file : the calibrated ratings behind the judgments; None takes calibrated.csv beside them, if it is there

    Raises
    ------
    RelstudyError
        when the folder, the judgments or the scores are absent, or a table has faults
    """
    if not folder.is_dir():
        raise RelstudyError(f"{folder}: there is no such folder; the report needs a study's folder")
    reader = _Reader(folder)
    file = reader.needed(judgments or folder / "judgments.csv", "`relstudy calibrate` writes it")
    rated = reader.rated()
    beside = None
    if rated is not None and Path(rated.file) == file.parent / BESIDE:
        beside = rated.among(rated.frame, rated.rows)  # its faults are told with the ratings
    judged = judgments_with_ratings(read_judgments(file), file, ratings_file, beside=beside)
    pairs = reader.pairs()
    judged = with_proposers(judged, pairs=pairs)
    ratings = None if rated is None else _ratings(rated)
    if judged.scale.how == "values" and ratings is not None:
        judged = replace(judged, scale=ratings.scale)
    notes = list(judged.notes)
    comparison = reader.comparison(judged, notes)
    allowed = low_coverage or (comparison is not None and comparison.options.low_coverage)
    scores = reader.scores(judged, notes, 0.0 if allowed else LEAST_COVERAGE)
    if comparison is not None:
        judged = with_what_was_saved(judged, comparison)
    items = reader.items()
    return StudyTables(
        title=reader.title(),
        judgments=judged,
        scores=scores,
        mappings=reader.mappings(set(scores.systems)),
        ratings=ratings,
        raters=reader.table("raters.csv", "rater_id"),
        pairs=pairs,
        files=tuple(sorted(reader.files, key=lambda file: file.name)),
        notes=tuple(notes),
        truth=reader.table("truth/recovered.csv", "quantity", "system", "true", "recovered"),
        comparison=comparison,
        items=items,
        pool=reader.pool,
        whole_scores=tuple(reader.whole),
    )


def _ratings(table: Checked) -> Ratings:
    """The ratings without those of raters who were set aside, their calibrated values as numbers."""
    ratings = read_ratings(table, trust_raters=True)
    if "calibrated" in ratings.frame:
        ratings.frame["calibrated"] = pd.to_numeric(ratings.frame["calibrated"], errors="coerce")
    return ratings


class _Reader:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files: list[InputFile] = []
        self.pool = Pool.beside(folder / "judgments.csv")
        self.whole: list[pd.DataFrame] = []

    def note(self, path: Path) -> Path:
        content = path.read_bytes()
        inside = path.is_relative_to(self.folder)
        name = path.relative_to(self.folder).as_posix() if inside else path.name
        self.files.append(InputFile(name, hashlib.sha256(content).hexdigest(), len(content)))
        return path

    def needed(self, path: Path, how: str) -> Path:
        if not path.is_file():
            raise RelstudyError(f"{path}: there is no such file; {how}")
        return self.note(path)

    def table(self, name: str, *columns: str) -> pd.DataFrame | None:
        path = self.folder / name
        return read_table(self.note(path), *columns).frame.astype(str) if path.is_file() else None

    def items(self) -> Items | None:
        table = self.table("collection.csv", "item_id")
        if table is None:
            return None
        return Items(self.folder, table.drop_duplicates("item_id").set_index("item_id"))

    def pairs(self) -> pd.DataFrame | None:
        path = self.folder / "pairs.csv"
        return read_pairs(self.note(path)) if path.is_file() else None

    def title(self) -> str:
        path = self.folder / "study.toml"
        named = self.folder.resolve().name.replace("-", " ").replace("_", " ")
        if not path.is_file():
            return named
        try:
            content = tomllib.loads(self.note(path).read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise RelstudyError(f"{path}: {error}") from None
        for part in (content.get("study"), content):
            if isinstance(part, dict) and isinstance(part.get("title"), str) and part["title"].strip():
                return str(part["title"]).strip()
        return named

    def rated(self) -> Checked | None:
        """The table of the ratings, calibrated if there is one, before it is checked."""
        for name in (BESIDE, "ratings.csv"):
            path = self.folder / name
            if path.is_file():
                return read_table(self.note(path))
        return None

    def comparison(self, judged: Judgments, notes: list[str]) -> SavedComparison | None:
        path = self.folder / "comparison.json"
        if not path.is_file():
            return None
        comparison = read_comparison(path)
        if comparison.pairs.fingerprint != JudgedPairs.of(judged).fingerprint:
            notes.append(
                "comparison.json was made with other judgments, so it has no part in this page; "
                "`relstudy score --save` writes it anew."
            )
            return None
        self.note(path)
        notes.append("Options and mapped scores are those of comparison.json, except where you stated others.")
        return comparison

    def scores(self, judgments: Judgments, notes: list[str], least: float) -> ScoreTable:
        folder = self.folder / "scores"
        files = score_files(self.folder)
        if not files:
            raise RelstudyError(f"{folder}: there is no score table; the report needs at least one system's scores")
        parts: list[ScoreTable] = []
        seen: dict[str, str] = {}
        judged = judgments.frame
        wanted = pd.MultiIndex.from_frame(judged[PAIR])
        blank = None if judgments.undecided is None else pd.MultiIndex.from_frame(judgments.undecided[PAIR])
        counts: dict[str, int] = {}
        for file in files:
            table = read_scores(self.note(file))
            for system in table.systems:
                if system in seen:
                    raise RelstudyError(f"{file}: a system named {system!r} was already read from {seen[system]}")
                seen[system] = file.name
            frame = table.frame
            if self.pool is not None:
                self.whole.append(frame)
            pairs = pd.MultiIndex.from_frame(frame[PAIR])
            of_pairs = pairs.isin(wanted)
            if self.pool is None and blank is not None and len(blank):
                self.whole.append(frame[of_pairs | pairs.isin(blank)])
            counts |= {str(name): int(count) for name, count in frame.loc[of_pairs, "system"].value_counts().items()}
            # a run is measured whole
            parts.append(table if judgments.qrels else replace(table, frame=frame[of_pairs]))
        scores = ScoreTable.joined(parts)
        notes += [*notes_on_scores(self.folder), *scores.notes]
        kept = []
        for system in seen:
            count = counts.get(system, 0)
            if count and (count >= least * len(judged) or system in scores.runs):
                kept.append(system)
            else:
                notes.append(
                    f"{system} is left out: it scores {count} of {len(judged)} judged pairs, less than half of them."
                )
        if not kept:
            raise RelstudyError(
                f"{folder}: no system scores half of the {len(judged)} judged pairs; check that query_id and result_id "
                "are written alike in the scores and in the judgments"
            )
        return scores.only(kept)

    def mappings(self, systems: set[str]) -> dict[str, FittedMapping]:
        files = mapping_files(self.folder / "mappings")
        for file in files:
            self.note(file)
        every = read_mappings(self.folder / "mappings") if files else {}
        return {name: mapping for name, mapping in every.items() if name in systems}
