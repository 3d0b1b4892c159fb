"""The scoring run of a study's folder: `relstudy score` keeps it there, and `relstudy report` shows it.

Kept beside it is what it rests on: the bytes of every file, the options, the code. Where any of these is another, the
folder is scored again, and what changed is said.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from functools import cache, cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from relstudy.analysis.interim_looks import Looks
from relstudy.analysis.pipeline import ScoringRun, decided, score_tables, with_left_out
from relstudy.analysis.scoring.candidate import Candidate
from relstudy.analysis.scoring.groups import Grouping, Groups
from relstudy.analysis.scoring.judged_pairs import JudgedPairs
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.scoring.results import ScoreResult
from relstudy.analysis.scoring.saved import SavedComparison, is_saved_as, read_comparison
from relstudy.analysis.verdict.within_groups import groups_of_run
from relstudy.calibration.tables.decision import LookPlan
from relstudy.calibration.tables.judgments import Judgments
from relstudy.calibration.tables.study_tables import JUDGMENTS, InputFile, StudyTables, read_study_tables
from relstudy.common.results.serialization import read_content, read_kept, write_kept
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import listed_some
from relstudy.common.tables.formats.table_files import read_table
from relstudy.common.tables.meaning.study_folder import score_files
from relstudy.mapping.fitted import FittedMapping, mapping_files, read_mappings
from relstudy.mapping.scores.coverage import covering
from relstudy.mapping.scores.score_files import read_scores
from relstudy.mapping.scores.score_table import ScoreTable

COMPARISON, KEPT = "comparison.json", "scored.json"
PACKAGES = ("relstudy", "numpy", "scipy", "pandas", "scikit-learn")
PARTS = ("analysis", "calibration", "mapping", "common")
"""Folders whose code makes the figures."""
NAMED = 3


@dataclass(frozen=True)
class RunInputs:
    """The inputs of a scoring run.

    Parameters
    ----------
    files : SHA-256 of each file, by its name in the study's folder
    options : every choice, as plain JSON
    reading : how the tables were read where that was stated, else ""
    code : hash of the code and of the versions of what it is made with
    comparison : SHA-256 of the study's comparison.json where it is of this very run, else ""
    """

    files: dict[str, str]
    options: dict[str, Any]
    reading: str
    code: str
    comparison: str = ""

    @classmethod
    def of(
        cls, files: Iterable[InputFile], options: ScoringOptions, cut: float, reading: str = "", comparison: str = ""
    ) -> RunInputs:
        """Those of a run with some options on some files; a threshold that nobody stated is the judgments' own cut."""
        stated: dict[str, Any] = {"directions": dict(options.directions)}
        stated |= {"threshold": cut if options.threshold is None else options.threshold}
        chosen = json.loads(json.dumps(asdict(options) | stated, default=list))
        return cls({file.name: file.sha256 for file in files}, chosen, reading, code_hash(), comparison)

    def differences(self, other: RunInputs) -> list[str]:
        """Differences from the other inputs, as phrases; none where the same run would come of both."""
        phrases = []
        names = {*self.files, *other.files} - {COMPARISON}
        changed = sorted(name for name in names if self.files.get(name) != other.files.get(name))
        if changed:
            phrases.append(f"{listed_some(changed, NAMED)} changed")
        if self.files.get(COMPARISON) != other.files.get(COMPARISON):
            phrases.append(f"the run that is kept is not that of {COMPARISON}")
        options = [name for name, value in self.options.items() if value != other.options.get(name)]
        options += ["how tables are read"] if self.reading != other.reading else []
        if options:
            phrases.append(f"it was made with other options ({', '.join(options)})")
        if self.code != other.code:
            phrases.append("it was made by another version")
        return phrases


@dataclass(frozen=True, eq=False)
class KeptRun:
    """A scoring run without the study's tables, which are read again.

    Parameters
    ----------
    inputs : what it rests on
    result, candidates, within : as `ScoringRun` has them
    """

    inputs: RunInputs
    result: ScoreResult
    candidates: tuple[Candidate, ...]
    within: Groups | None = None

    def without_comparison(self) -> KeptRun:
        """The same if there is no comparison.json any more."""
        return replace(self, inputs=replace(self.inputs, comparison=""))


@cache
def code_hash() -> str:
    """A hash of the code that makes figures, and of the versions of the packages that it rests on."""
    root = Path(__file__).parent.parent
    held = hashlib.sha256("".join(version(name) for name in PACKAGES).encode())
    for part in PARTS:
        for path in sorted((root / part).rglob("*.py")):
            held.update(path.read_bytes())
    return held.hexdigest()


def keep_run(run: ScoringRun, folder: Path, files: Iterable[InputFile], reading: str = "") -> str | None:
    """Keep a run in the study's folder for `relstudy report`; why it is not kept, in a sentence, else None.

    Parameters
    ----------
    files : every file that it rests on
    reading : how the tables were read where that was stated, else ""
    """
    comparison = folder / COMPARISON
    from_comparison = comparison.is_file() and is_saved_as(run.pairs, run.candidates, run.result.options, comparison)
    of_comparison = InputFile.of(comparison).sha256 if from_comparison else ""
    behind = [file for file in files if not from_comparison or file.name != COMPARISON]
    inputs = RunInputs.of(behind, run.result.options, run.pairs.cut(), reading, of_comparison)
    try:
        kept = KeptRun(inputs, run.result, tuple(run.candidates), run.within)
        write_kept(kept, "scoring run", folder / KEPT)
    except RelstudyError as error:
        return f"The run is not kept for `relstudy report`, which will score again: {error}."
    return None


@dataclass(frozen=True, eq=False)
class StudyFolder:
    """A study's folder as it is scored.

    Parameters
    ----------
    folder : holds judgments.csv and scores/, and what else belongs to them
    study : judgments with the tables beside them
    comparison : comparison.json, where `relstudy score --save` wrote it for these very judgments; else None, as where
        it is of the run that is kept
    kept : the run that is kept, or None
    """

    folder: Path
    study: StudyTables
    comparison: SavedComparison | None = None
    kept: KeptRun | None = None

    @property
    def options(self) -> ScoringOptions:
        """The choices of the scoring run: those of the comparison, else the defaults."""
        if self.comparison is not None:
            return self.comparison.options
        if self.kept is not None and self.kept.inputs.comparison:
            return self.kept.result.options
        return ScoringOptions()

    @cached_property
    def files(self) -> tuple[InputFile, ...]:
        """Every file behind the figures."""
        paths = [*score_files(self.folder), *mapping_files(self.folder / "mappings")]
        paths += [] if self.comparison is None else [self.folder / COMPARISON]
        return (*self.study.files, *(InputFile.of(path, self.folder) for path in paths))

    def with_queries(self, queries: Path) -> StudyFolder:
        """The same with a table of queries, which is one of the files behind the figures then."""
        table, file = read_table(queries), InputFile.of(queries, self.folder)
        return replace(self, study=self.study.with_table_of_queries(table, file))

    @cached_property
    def mappings(self) -> dict[str, FittedMapping]:
        """The fitted mappings by system."""
        folder = self.folder / "mappings"
        return read_mappings(folder) if mapping_files(folder) else {}

    def scores(self, low_coverage: bool = False) -> list[tuple[str, ScoreTable]]:
        """The score tables, by their files' names; a note names each system that is left out.

        Parameters
        ----------
        low_coverage : whether systems that score under half of the judged pairs are kept

        Raises
        ------
        RelstudyError
            if there is no score table, or no system scores enough of the judged pairs
        """
        files = score_files(self.folder)
        place = self.folder / "scores"
        if not files:
            raise RelstudyError(f"{place}: there is no score table; the report needs at least one system's scores")
        tables = [(file.name, read_scores(file)) for file in files]
        return covering(tables, self.study.judgments, self.folder, low_coverage)


def read_study_folder(folder: Path, judgments: Path | None = None, ratings: Path | None = None) -> StudyFolder:
    """Read a study's folder, its scores and mappings when they are asked for.

    Parameters
    ----------
    judgments : another judgments table than the folder's
    ratings : the calibrated ratings behind the judgments; None takes calibrated.csv beside them, if it is there

    Raises
    ------
    RelstudyError
        when the folder or the judgments are absent, or a table has faults
    """
    if not folder.is_dir():
        raise RelstudyError(f"{folder}: there is no such folder; the report needs a study's folder")
    file = judgments or folder / JUDGMENTS
    if not file.is_file():
        raise RelstudyError(f"{file}: file not found; run `relstudy calibrate` first")
    study = read_study_tables(file, ratings=ratings, folder=folder, own=True)
    kept = _read_kept_run(folder / KEPT)
    path = folder / COMPARISON
    if not path.is_file():
        return StudyFolder(folder, study, kept=None if kept is None else kept.without_comparison())
    if kept is not None and kept.inputs.comparison == InputFile.of(path).sha256:
        return StudyFolder(folder, study, kept=kept)
    comparison = read_comparison(path)
    if comparison.is_of(study.judgments):
        study = replace(study, judgments=comparison.complete(study.judgments))
        return StudyFolder(folder, study, comparison, kept)
    note = (
        f"{COMPARISON} was made with other judgments, so it has no part in this page; "
        "`relstudy score --save` writes it again."
    )
    noted = replace(study.judgments, notes=(*study.judgments.notes, note))
    return StudyFolder(folder, replace(study, judgments=noted), kept=kept)


def _read_kept_run(path: Path) -> KeptRun | None:
    """The run that is kept; None if there is none, or none that can be read."""
    if not path.is_file():
        return None
    try:
        return read_kept(read_content(path), KeptRun, str(path))
    except RelstudyError:
        return None


def run_of_study(
    scored: StudyFolder, options: ScoringOptions, *, stated: Iterable[str] = (), by: str | None = None
) -> tuple[ScoringRun, str]:
    """The scoring run of a study's folder: the one kept there where nothing changed, else a new one, which is kept.

    Parameters
    ----------
    stated : systems whose direction the options state ("*" for all)
    by : a column of the judgments or the pairs: also score each group of pairs, with mappings of its own

    Returns
    -------
    The run, and where it is from, in a sentence

    Raises
    ------
    RelstudyError
        if there are no scores, or an option is not allowed
    """
    looks = Looks.of(scored.study, scored.folder)
    options = looks.at_their_level(decided(options, scored.study.decision))
    differences = ["no saved run found"]
    if scored.kept is not None:
        differences = RunInputs.of(scored.files, options, scored.study.judgments.scale.scale.cut).differences(
            scored.kept.inputs
        )
        differences += [] if _in_order(scored.kept.result, scored.study.judgments) else ["its pairs have another order"]
    if scored.kept is not None and not differences:
        run = _run_again(scored, scored.kept, options, by)
        return looks.recorded(
            run
        ), f"The figures are those that `relstudy score` kept in {KEPT}: nothing they rest on changed."
    run = score_study(scored, options, stated=stated, by=by)
    whose = f" with options and mapped scores of {COMPARISON}" if scored.comparison is not None else ""
    refused = keep_run(run, scored.folder, scored.files)
    came = refused or f"The run is kept in {scored.folder / KEPT}."
    return looks.recorded(run), f"Recomputed{whose}: {'; '.join(differences)}. {came}"


def answer_of_study(folder: Path, judgments: Path) -> tuple[ScoringRun, LookPlan | None]:
    """The scoring run of a study that is still rated, and the looks that it plans; it is a look, and nothing else is
    kept of it.

    Parameters
    ----------
    judgments : of the ratings so far
    """
    scored = read_study_folder(folder, judgments)
    looks = Looks.of(scored.study, folder)
    options = looks.at_their_level(decided(scored.options, scored.study.decision))
    return looks.recorded(score_study(scored, options), even_blind=True), scored.study.decision.looks


def _in_order(result: ScoreResult, judgments: Judgments) -> bool:
    """True where a result is of these judgments, row by row."""
    pairs = JudgedPairs.of(judgments)
    return np.array_equal(pairs.query_id, result.query_id) and np.array_equal(pairs.result_id, result.result_id)


def _run_again(scored: StudyFolder, kept: KeptRun, options: ScoringOptions, by: str | None) -> ScoringRun:
    """The run that is kept, with the study's tables."""
    study, within = scored.study.with_queries(scored.study.queries, options.query_weights), kept.within
    pairs = JudgedPairs.of(study.judgments, study.pool)
    if by is None:
        within = None
    elif within is None or (within.column, within.apart) != (by, True):
        grouping = Grouping.of(scored.study, by, apart=True)
        within = groups_of_run(pairs, list(kept.candidates), grouping, kept.result)
    run = ScoringRun(study, kept.result, list(kept.candidates), pairs, within=within)
    tables = scored.scores(options.low_coverage) if options.pool_depth is not None else []
    return with_left_out(run, {name: rows for _, table in tables for name, rows in table.by_system()})


def score_study(
    scored: StudyFolder, options: ScoringOptions, *, stated: Iterable[str] = (), by: str | None = None
) -> ScoringRun:
    """The scoring run of a study's folder.

    Parameters
    ----------
    stated : systems whose direction the options state ("*" for all)
    by : a column of the judgments or the pairs: also score each group of pairs, with mappings of its own

    Raises
    ------
    RelstudyError
        if there are no scores, or an option is not allowed
    """
    grouping = None if by is None else Grouping.of(scored.study, by, apart=True)
    return score_tables(
        scored.study, scored.scores(options.low_coverage), options, fitted=scored.mappings, stated=stated,
        before=scored.comparison, grouping=grouping,
    )  # fmt: skip
