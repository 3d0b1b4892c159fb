"""Draw a study again: a draw that people have rated in is kept, and servers go on with the new one."""

from __future__ import annotations

import contextlib
import secrets
import shutil
from pathlib import Path

import sqlalchemy as sa

from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.assignment.draw_state import clear_draw, has_ratings, study_has_ratings
from relstudy.studyapp.assignment.synchronisation import StudyFiles, serve_files
from relstudy.studyapp.assignment.versions import hold_versions, read_head
from relstudy.studyapp.collection.lists import LISTS
from relstudy.studyapp.database.backup import copy_database
from relstudy.studyapp.database.settings import read_setting, write_setting
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.sampling.written_draw import PAIRS, SERVED, STAGE, complete_draw, nobody_draws

DRAWN_FILES = (
    *(PAIRS, "design.json", "pool.csv", "pool.parquet", LISTS),
    *("ratings.csv", "ratings.json", "judgments.csv", "judgments-careless.csv", "raters.csv", "calibrated.csv"),
    "comparison.json",
)
BESIDE = ".earlier"
"""The folder in which an earlier draw is kept until all of it is there."""
DRAWN = "drawn"
"""The setting that names the draw which the database was given last, as SERVED in that draw's stage does."""


def keep_earlier_draw(folder: Path, new_pairs: Path) -> Path:
    """Keep the study as it is in FOLDER/earlier-N, then clear its draw; where it is kept.

    Where people have rated in its database, every server goes on with the new draw from the moment in which the old one
    is cleared, and raters begin again.

    Parameters
    ----------
    folder : the study
    new_pairs : the pairs of the new draw, in its stage

    Raises
    ------
    RelstudyError
        where study.toml does not go with the new draw, or the database is another study's; then nothing is changed
    """
    number = 1
    while (kept := folder / f"earlier-{number}").exists():
        number += 1
    beside = folder / BESIDE
    shutil.rmtree(beside, ignore_errors=True)  # of a command that was stopped
    beside.mkdir()
    # All of it is in both places before any of it goes: a command that is stopped in between takes nothing along.
    with contextlib.ExitStack() as undo:
        undo.callback(shutil.rmtree, beside, ignore_errors=True)
        for name in DRAWN_FILES:
            if (folder / name).is_file():
                shutil.copy2(folder / name, beside / name)
        if (folder / "rounds").is_dir():
            shutil.copytree(folder / "rounds", beside / "rounds")
        if study_has_ratings(folder):
            _begin_anew(folder, new_pairs, kept, undo)
        else:
            beside.rename(kept)
        undo.pop_all()
    _remove_kept(folder, kept)
    return kept


def _begin_anew(folder: Path, new_pairs: Path, kept: Path, undo: contextlib.ExitStack) -> None:
    """Copy the database, and serve the new draw in place of what it holds; from the last step on nothing is undone."""
    with Store.of_study(folder) as store:
        store.migrate()
        files = StudyFiles(folder, new_pairs)
        files.require_practice_apart()
        with store.write() as connection:
            hold_versions(connection)  # an answer that came between the copy and the end would be in neither
            copy_database(store, folder / BESIDE / "study.db")
            (folder / BESIDE).rename(kept)
            undo.callback(shutil.rmtree, kept, ignore_errors=True)
            clear_draw(connection)
            serve_files(connection, store, files)
            _note(connection, new_pairs, kept.name)
            undo.pop_all()


def serve_new_draw(folder: Path, new_pairs: Path) -> None:
    """Have servers go on with a new draw in place of one that nobody has rated in, if it was ever served.

    Raises
    ------
    RelstudyError
        where somebody has rated by now, or for the reasons of `keep_earlier_draw`; then nothing is changed
    """
    if not ((folder / "study.toml").is_file() and (folder / PAIRS).is_file()):
        return
    with Store.of_study(folder) as store:
        if store.is_missing or not sa.inspect(store.engine).has_table("versions"):
            return
        store.migrate()
        with store.read() as connection:
            if not read_head(connection).version:
                return
        files = StudyFiles(folder, new_pairs)
        files.require_practice_apart()
        with store.write() as connection:
            hold_versions(connection)
            if has_ratings(connection):
                raise RelstudyError(f"{folder}: somebody has rated while pairs were drawn; nothing was written")
            serve_files(connection, store, files)
            _note(connection, new_pairs, "")


def _note(connection: sa.Connection, new_pairs: Path, kept: str) -> None:
    """Note in the database, and beside the new pairs, that it has this draw; `kept` names where the earlier one is."""
    name = secrets.token_hex(8)
    new_pairs.with_name(SERVED).write_text(f"{name} {kept}", encoding="utf-8")
    write_setting(connection, DRAWN, name)


def complete_new_draw(folder: Path) -> None:
    """Put a draw into place that servers have, and whose command was stopped before its files were there."""
    note = folder / STAGE / SERVED
    if not note.is_file():
        return
    with contextlib.suppress(RelstudyError), nobody_draws(folder):  # whose command is at work completes it itself
        if not note.is_file():
            return
        name, _, kept = note.read_text(encoding="utf-8").partition(" ")
        with Store.of_study(folder) as store:
            if store.is_missing:
                return
            with store.read_one() as connection:
                if read_setting(connection, DRAWN) != name:
                    return
        if (folder / STAGE / PAIRS).exists():
            if kept:
                _remove_kept(folder, folder / kept)
            else:
                (folder / LISTS).unlink(missing_ok=True)
        complete_draw(folder, is_decided=True)


def _remove_kept(folder: Path, kept: Path) -> None:
    """Remove from a study what is kept of its earlier draw."""
    for name in DRAWN_FILES:
        if (kept / name).exists():
            (folder / name).unlink(missing_ok=True)
    shutil.rmtree(folder / "rounds", ignore_errors=True)
