"""Tables that belong together are of one run, also where the disk is full on the way."""

from __future__ import annotations

import contextlib
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.files import together, write_text
from tests.commands import relstudy, succeeds
from tests.places import ROOT

EXAMPLE = ROOT / "data" / "example"


@contextlib.contextmanager
def room_for(size: int) -> Iterator[None]:
    """No file may be larger, in bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_files_are_put_into_place_when_the_block_ends_well(tmp_path: Path) -> None:
    write_text("old", tmp_path / "a")
    with together():
        write_text("new", tmp_path / "a")
        with together():
            write_text("new", tmp_path / "b")
        assert (tmp_path / "a").read_text() == "old" and not (tmp_path / "b").exists()
    assert contents(tmp_path) == {"a": b"new", "b": b"new"}
    write_text("alone", tmp_path / "a")
    assert contents(tmp_path) == {"a": b"alone", "b": b"new"}


def test_none_is_where_one_cannot_be_written(tmp_path: Path) -> None:
    write_text("old", tmp_path / "a")
    with pytest.raises(RelstudyError, match=r"b: cannot be written \(File too large\)"), room_for(10), together():
        write_text("new", tmp_path / "a")
        write_text("longer than there is room", tmp_path / "b")
    assert contents(tmp_path) == {"a": b"old"}


def test_none_is_where_a_folder_has_come_in_between(tmp_path: Path) -> None:
    write_text("old", tmp_path / "a")
    with pytest.raises(RelstudyError, match="b: this is a folder"), together():
        write_text("new", tmp_path / "a")
        write_text("new", tmp_path / "b")
        (tmp_path / "b").mkdir()
    assert contents(tmp_path) == {"a": b"old"}


SCORES = EXAMPLE / "scores"
JUDGED = ("-j", EXAMPLE / "judgments.csv")


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ("calibrate", EXAMPLE / "ratings.csv", "--pairs", EXAMPLE / "pairs.csv"),
        ("calibrate", EXAMPLE / "ratings.csv", "--pairs", EXAMPLE / "pairs.csv", "--by", "source"),
        ("score", SCORES / "gift.csv", *JUDGED, "--replicates", 50),
        ("fit", SCORES / "gift.csv", SCORES / "keywords.csv", *JUDGED, "--method", "isotonic"),
        ("fit", SCORES / "gift.csv", *JUDGED, "--method", "isotonic", "--by", "source"),
    ],
    ids=lambda words: words[0],
)
def test_a_full_disk_leaves_the_tables_of_an_earlier_run_as_they_were(
    tmp_path: Path, words: tuple[object, ...]
) -> None:
    succeeds(*words, "-o", tmp_path)
    sizes = sorted(len(content) for content in contents(tmp_path).values())
    for name, content in contents(tmp_path).items():
        # an earlier run's table has the columns by which the command knows it
        (tmp_path / name).write_bytes(content.partition(b"\n")[0] + b"\nof an earlier run")
    earlier = contents(tmp_path)
    with room_for(sum(sizes[-2:]) // 2):  # the largest has no room
        done = relstudy(*words, "-o", tmp_path)
    assert done.exit_code == 1 and "cannot be written (File too large)" in done.output
    assert contents(tmp_path) == earlier
