"""What a program that was killed had not written to its end is nobody's file."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

import pytest

from relstudy.analysis.judges.study import judge_file
from relstudy.api.reading import read
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.files import replacing, whole_files
from relstudy.common.tables.meaning.study_folder import score_files
from relstudy.mapping.fitted import FittedMapping, mapping_files, read_mappings


def leave_half(path: Path, text: str) -> None:
    """Leave what a writer leaves that is killed in the middle."""
    with contextlib.suppress(KeyError), replacing(path) as beside:
        raise KeyError
    beside.write_text(text)


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("mappings/a.json", lambda folder: mapping_files(folder / "mappings")),
        ("scores/a.csv", score_files),
        ("figures/a.svg", lambda folder: whole_files(folder / "figures", "*.svg")),
        ("judges/a.csv", lambda folder: whole_files(folder / "judges", "*.csv")),
    ],
)
def test_a_file_that_was_not_written_to_its_end_is_no_file_of_the_study(
    tmp_path: Path, name: str, files: Callable[[Path], list[Path]]
) -> None:
    assert files(tmp_path) == []
    leave_half(tmp_path / name, "ha")
    assert len(list(tmp_path.rglob("*.*"))) == 1 and files(tmp_path) == []
    (tmp_path / name).write_text("whole")
    assert files(tmp_path) == [tmp_path / name]


def test_what_is_beside_a_half_written_file_is_read(tmp_path: Path) -> None:
    FittedMapping([0, 1], [1, 5]).write(tmp_path / "gift.json")
    leave_half(tmp_path / "gift.json", '{"knots"')
    assert set(read_mappings(tmp_path)) == {"gift"}
    leave_half(tmp_path / "judges/big.csv", "query_id,")
    with pytest.raises(RelstudyError, match="no such judge; `relstudy judge` makes one"):
        judge_file(tmp_path, "other")
    leave_half(tmp_path / "scored.relstudy", "{")
    with pytest.raises(RelstudyError, match="no result's save"):
        read(tmp_path)
