"""A study that is drawn anew though people have rated: the earlier draw is kept, and the new one is served at once."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

from relstudy.studyapp.assignment.new_draw import clear_draw, study_has_ratings
from relstudy.studyapp.assignment.synchronisation import StudyFiles, serve_files
from relstudy.studyapp.assignment.versions import hold_versions
from relstudy.studyapp.collection.lists import LISTS
from relstudy.studyapp.database.backup import copy_database
from relstudy.studyapp.database.store import Store

DRAWN_FILES = (
    *("pairs.csv", "design.json", "pool.csv", "pool.parquet", LISTS),
    *("ratings.csv", "ratings.json", "judgments.csv", "judgments-careless.csv", "raters.csv", "calibrated.csv"),
    "comparison.json",
)


def keep_earlier_draw(folder: Path, new_pairs: Path) -> Path:
    """Keep the study as it is in FOLDER/earlier-N, then clear its draw; where it is kept.

    Where people have rated in its database, every server goes on with the new draw from the moment in which the old one
    is cleared, and raters begin again.

    Parameters
    ----------
    folder : the study
    new_pairs : the pairs of the new draw

    Raises
    ------
    RelstudyError
        where study.toml does not go with the new draw, or the database is another study's; then nothing is changed
    """
    number = 1
    while (kept := folder / f"earlier-{number}").exists():
        number += 1
    kept.mkdir()
    names = [name for name in DRAWN_FILES if (folder / name).is_file()]
    # All of it is in both places before any of it goes: a command that is stopped in between takes nothing along.
    with contextlib.ExitStack() as undo:
        undo.callback(shutil.rmtree, kept, ignore_errors=True)
        for name in names:
            shutil.copy2(folder / name, kept / name)
        if (folder / "rounds").is_dir():
            shutil.copytree(folder / "rounds", kept / "rounds")
        if study_has_ratings(folder):
            _begin_anew(folder, new_pairs, kept / "study.db", undo)
        undo.pop_all()
    for name in names:
        (folder / name).unlink()
    shutil.rmtree(folder / "rounds", ignore_errors=True)
    return kept


def _begin_anew(folder: Path, new_pairs: Path, copy: Path, undo: contextlib.ExitStack) -> None:
    """Copy the database, and serve the new draw in place of what it holds; from the last step on nothing is undone."""
    with Store.of_study(folder) as store:
        store.migrate()
        files = StudyFiles(folder, new_pairs)
        files.require_practice_apart()
        with store.write() as connection:
            hold_versions(connection)  # an answer that came between the copy and the end would be in neither
            copy_database(store, copy)
            clear_draw(connection)
            serve_files(connection, store, files)
            undo.pop_all()
