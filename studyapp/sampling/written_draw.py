"""A draw on disk: pairs.csv, the pool and design.json are of one draw, whenever the command that writes them stops.

A further round's probabilities rest on all three: pairs of a round that the design does not know would count twice.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.file_lock import Held, locked
from relstudy.common.tables.formats.table_files import write_table
from relstudy.common.tables.meaning.pairs_table import write_pairs
from relstudy.studyapp.sampling.sampling_design import DESIGN, Design
from relstudy.studyapp.sampling.saved_scores import CSV_ROWS

STAGE = ".drawing"  # the folder beside them in which a draw is written whole, before its first file is moved
SERVED = "served"  # stands in the stage of a draw that the database has, or is about to have
PAIRS = "pairs.csv"
POOLS = ("pool.csv", "pool.parquet")
NO_POOL = "pool.none"  # stands in the stage for a draw without a pool, with which an earlier one's goes


@contextlib.contextmanager
def written_draw(folder: Path, pairs: pd.DataFrame, pool: pd.DataFrame | None, design: Design) -> Iterator[Path]:
    """Write a draw, and put it into place when the block ends well; what the block does comes between.

    Gives the file of the pairs where it stands until then. The pool is FOLDER/pool.csv, or .parquet from 250,000 rows.
    """
    stage = folder / STAGE
    with nobody_draws(folder):
        shutil.rmtree(stage, ignore_errors=True)
        try:
            stage.mkdir()
        except OSError as error:
            raise RelstudyError(f"{folder}: cannot be written ({error.strerror})") from None
        try:
            write_pairs(pairs, stage / PAIRS)
            if pool is None:
                (stage / NO_POOL).touch()
            else:
                write_table(pool, stage / POOLS[len(pool) > CSV_ROWS])
            design.save(stage)
            yield stage / PAIRS
        except BaseException:
            if not (stage / SERVED).exists():  # else the next command, or start of a server, completes it
                shutil.rmtree(stage, ignore_errors=True)
            raise
        _put_into_place(stage, folder)


@contextlib.contextmanager
def nobody_draws(folder: Path) -> Iterator[None]:
    """A stretch in which no other command writes a draw of this study.

    Raises
    ------
    RelstudyError
        where one does
    """
    try:
        with locked(folder):
            yield
    except Held:
        raise RelstudyError(
            f"{folder}: another command writes a draw of this study; nothing was written by this one"
        ) from None


def complete_draw(folder: Path, *, is_decided: bool = False) -> bool:
    """See to a draw whose command was stopped; whether it is in place now. Of one that nothing was moved of nothing
    stays, unless it `is_decided` that it is the study's."""
    stage = folder / STAGE
    began = (stage / DESIGN).exists() and (is_decided or not (stage / PAIRS).exists())
    if began:
        _put_into_place(stage, folder)
    shutil.rmtree(stage, ignore_errors=True)
    return began


def _put_into_place(stage: Path, folder: Path) -> None:
    """The pairs first: with them gone from the stage, the rest follows however often this is stopped."""
    for name in (PAIRS, *POOLS, NO_POOL, DESIGN):
        if not (stage / name).exists():
            continue
        if name in (*POOLS, NO_POOL):
            for other in POOLS:
                (folder / other).unlink(missing_ok=True)
        if name == NO_POOL:
            (stage / name).unlink()
        else:
            shutil.move(stage / name, os.path.realpath(folder / name))  # a link stays one
    shutil.rmtree(stage)
