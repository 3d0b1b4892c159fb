"""A refused command leaves nothing behind, and no command writes over a table that it did not make."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from relstudy.common.tables.formats.table_files import write_table
from tests.commands import relstudy, succeeds
from tests.places import ROOT
from tests.studyapp.studies import write_study

EXAMPLE = ROOT / "data" / "example"
FOREIGN = "name,wage\nsomebody,12\n"


@pytest.fixture
def example(tmp_path: Path) -> Path:
    return Path(shutil.copytree(EXAMPLE, tmp_path / "ex"))


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_server_that_is_refused_leaves_nothing_and_export_then_writes_nothing(example):
    before = contents(example)

    refused = relstudy("serve", example, "--port", 0)

    assert refused.exit_code == 1 and "pictures/" in refused.output
    assert contents(example) == before
    assert relstudy("export", example).exit_code == 1
    assert contents(example) == before


def test_a_database_without_a_study_is_no_study(example):
    from relstudy.studyapp.database.store import Store

    Store.of_study(example).migrate()
    before = (example / "ratings.csv").read_bytes()

    refused = relstudy("export", example)

    assert refused.exit_code == 1 and "holds no study" in refused.output
    assert (example / "ratings.csv").read_bytes() == before


@pytest.fixture
def served(tmp_path: Path) -> Path:
    """A study whose database holds its pages and no rating."""
    from relstudy.studyapp.web.starting import take_over

    folder = write_study(tmp_path / "study")
    take_over(folder)
    return folder


def test_export_keeps_a_table_with_more_rows_unless_told_and_then_beside(served):
    succeeds("export", served)
    empty = (served / "ratings.csv").read_text()
    more = empty + "R1,p0-0" + "," * (empty.count(",") - 1) + "\n"
    (served / "ratings.csv").write_text(more)

    refused = relstudy("export", served)
    assert refused.exit_code == 1 and "this table has 1 row, and the new one 0" in refused.output
    assert (served / "ratings.csv").read_text() == more

    succeeds("export", served, "--overwrite")
    assert (served / "ratings.csv").read_text() == empty
    assert (served / "ratings.old-1.csv").read_text() == more


def test_export_keeps_answers_of_people_whom_it_does_not_know(tmp_path):
    from relstudy.common.tables.formats.overwriting import guarded

    old, new = (
        pd.DataFrame({"rater_id": ["A"], "rating": [1]}),
        pd.DataFrame({"rater_id": ["B", "C"], "rating": [1, 2]}),
    )
    for ending in ("csv", "parquet"):
        write_table(old, tmp_path / f"r.{ending}")
        with guarded(), pytest.raises(Exception, match="answers of 'A'"):
            write_table(new, tmp_path / f"r.{ending}", answers=lambda person: False)
        with guarded():
            write_table(new, tmp_path / f"r.{ending}", answers=lambda person: person == "A")  # A was erased
        write_table(
            old, tmp_path / f"r.{ending}", answers=lambda person: False
        )  # a function in Python writes where it is asked to


def _join(out: Path) -> list[object]:
    scores = EXAMPLE / "judgments.csv"
    return ["join", f"a={scores}", f"b={scores}", "-o", out]


WRITERS: dict[str, tuple[str, Callable[[Path, Path], list[object]]]] = {
    "calibrate": ("judgments.csv", lambda out, _: ["calibrate", EXAMPLE / "ratings.csv", "-o", out]),
    "calibrate's raters": ("raters.csv", lambda out, _: ["calibrate", EXAMPLE / "ratings.csv", "-o", out]),
    "join": ("judgments.csv", lambda out, _: _join(out)),
    "score": (
        "scores.csv",
        lambda out, _: ["score", EXAMPLE / "scores/gift.csv", "-j", EXAMPLE / "judgments.csv", "-o", out],
    ),
    "export": ("mine.csv", lambda out, study: ["export", study, "-o", out / "mine.csv"]),
    "export's people": ("people.csv", lambda out, study: ["export", study, "--people", out / "people.csv"]),
    "invite": ("links.csv", lambda out, study: ["invite", study, "-n", 2, "-o", out / "links.csv"]),
}


@pytest.mark.slow
@pytest.mark.parametrize("writer", WRITERS)
def test_a_table_that_a_command_did_not_write_is_refused_or_kept(writer, served, tmp_path):
    name, words = WRITERS[writer]
    out = tmp_path / "out"
    out.mkdir()
    (out / name).write_text(FOREIGN)

    refused = relstudy(*words(out, served))
    assert refused.exit_code == 1, refused.output
    assert name in refused.output and "--overwrite" in refused.output
    assert (out / name).read_text() == FOREIGN
    assert [path.name for path in out.iterdir()] == [name]

    succeeds(*words(out, served), "--overwrite")
    assert (out / name).read_text() != FOREIGN
    assert (out / f"{Path(name).stem}.old-1.csv").read_text() == FOREIGN


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_a_file_is_no_wider_than_the_umask_and_than_it_was(tmp_path, monkeypatch):
    from relstudy.common.runtime import files

    monkeypatch.setattr(files, "UMASK", 0o077)
    path = tmp_path / "ratings.csv"
    write_table(pd.DataFrame({"a": [1]}), path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600

    monkeypatch.setattr(files, "UMASK", 0o022)
    write_table(pd.DataFrame({"a": [2]}), path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
