"""Whenever the command that writes a draw is stopped, its files are of one draw."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from relstudy.studyapp.sampling.sampling_design import DESIGN, Design
from relstudy.studyapp.sampling.written_draw import POOLS, STAGE, complete_draw, written_draw
from tests.commands import relstudy


class Killed(BaseException):
    """The program ends here, and takes nothing back."""


def held(folder: Path) -> list[str | None]:
    """Which draw the pairs, the pool and the design are of; None where file not found."""
    files = [folder / name for name in ("pairs.csv", *POOLS, DESIGN)]
    return [("old" if "old" in file.read_text() else "new") if file.exists() else None for file in files]


@pytest.mark.parametrize("pool", [True, False])
def test_the_files_are_of_one_draw_wherever_its_writing_was_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pool: bool
) -> None:
    move, unlink = shutil.move, Path.unlink
    pairs = pd.DataFrame({"pair_id": ["new"]})
    old, new = ["old", None, "old", "old"], ["new", "new" if pool else None, None, "new"]
    for stop in range(7):
        folder, steps = tmp_path / str(stop), iter(range(7))
        folder.mkdir()
        for name in ("pairs.csv", POOLS[1], DESIGN):
            (folder / name).write_text("old")

        def step(does: Any, *given: Any, stop: int = stop, steps: Any = steps, **options: Any) -> None:
            if next(steps) == stop:
                raise Killed
            does(*given, **options)

        with contextlib.suppress(Killed), written_draw(folder, pairs, pairs if pool else None, Design(())):
            monkeypatch.setattr(shutil, "move", lambda *given: step(move, *given))
            monkeypatch.setattr(Path, "unlink", lambda path, **options: step(unlink, path, **options))
        monkeypatch.undo()
        assert complete_draw(folder) == (0 < stop < 5), stop  # of five steps in all
        assert held(folder) == (new if stop else old) and not (folder / STAGE).exists(), stop


def test_a_draw_that_cannot_be_written_whole_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "pairs.csv").write_text("old")
    with pytest.raises(ZeroDivisionError), written_draw(tmp_path, pd.DataFrame({"pair_id": ["new"]}), None, Design(())):
        raise ZeroDivisionError  # what comes between: keeping the study as it was
    assert [path.name for path in tmp_path.iterdir()] == ["pairs.csv"]


@pytest.mark.slow
def test_a_round_that_is_put_into_place_late_is_told_and_none_is_drawn_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object, **__: object) -> None:
        raise Killed

    pairs = pd.DataFrame({"pair_id": ["new"]})
    with contextlib.suppress(Killed), written_draw(tmp_path, pairs, None, Design(())):
        monkeypatch.setattr(Path, "unlink", killed)
    monkeypatch.undo()
    told = relstudy("sample", tmp_path, "--next", "--judge", "model")
    assert told.exit_code == 1 and "in place now; nothing further was drawn" in told.output
    assert (tmp_path / DESIGN).exists() and not (tmp_path / STAGE).exists()
