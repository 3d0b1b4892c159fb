"""Public layouts: what inspect says of each, and what the command that it prints reads from it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from evidence import layouts as script
from relstudy.analysis.inspection.files import inspect_file
from tests.analysis.inspection.corpus import LAYOUTS
from tests.analysis.inspection.layouts import Layout
from tests.analysis.inspection.printed import kind_of, rows_by
from tests.commands import relstudy, succeeds
from tests.places import ROOT

BY_NAME = {layout.name: layout for layout in LAYOUTS}


@pytest.fixture
def written(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Layout, Path]:
    layout = BY_NAME[request.param]
    path = tmp_path / layout.file
    path.write_bytes(layout.text.encode())
    return layout, path


def named(says: str) -> pytest.MarkDecorator:
    """The layouts of which inspect is to say so."""
    return pytest.mark.parametrize(
        "written", [each.name for each in LAYOUTS if each.says == says], indirect=True, ids=str
    )


def test_there_are_a_hundred_and_fifty_layouts_of_different_names() -> None:
    assert len(BY_NAME) == len(LAYOUTS) >= 150


@named("right")
def test_a_table_that_tells_what_it_is_is_read_rightly_by_the_printed_command(written: tuple[Layout, Path]) -> None:
    layout, path = written
    command = inspect_file(path).command
    assert command is not None, inspect_file(path)
    assert kind_of(command) == layout.kind, inspect_file(path)
    rows = rows_by(command)
    assert len(rows) == layout.count
    assert rows[: len(layout.first)] == list(layout.first)


@named("asked")
def test_where_only_a_person_can_tell_no_command_is_printed_as_the_one(written: tuple[Layout, Path]) -> None:
    layout, path = written
    inspection = inspect_file(path)
    assert inspection.command is None
    assert inspection.questions
    several = inspection.readings or (inspection,)
    commands = [reading.command or reading.draft or "" for reading in several]
    assert [kind_of(command) for command in commands] == layout.kind.split()
    for reading in several:
        assert reading.command is None or rows_by(reading.command), "each command that is whole reads its table"
    shown = succeeds("inspect", path)
    assert all(command in shown.stdout for command in commands)
    assert "next:\n" not in shown.stdout, "none of them is the next one"


Printed = Callable[..., str]


@pytest.fixture
def printed_by_script(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Printed:
    """What evidence/layouts.py prints, called with some words."""

    def printed(*words: str) -> str:
        monkeypatch.chdir(ROOT)  # the script leaves it, and the next test is to begin where this one did
        monkeypatch.setattr("sys.argv", ["layouts.py", *words])
        script.main()
        return capsys.readouterr().out

    return printed


@pytest.mark.slow
def test_what_happens_on_the_way_changes_no_meaning(printed_by_script: Printed) -> None:
    rows = [line.split(" | ") for line in printed_by_script("--changed", "--each", "30").splitlines() if " | " in line]
    assert len(rows) > 15 and rows[0][-1] == "another meaning |"
    assert [row[0] for row in rows[1:] if row[-1] != "0 |"] == []


@pytest.mark.slow
def test_the_page_of_layouts_is_what_its_script_prints_and_names_none_wrong(printed_by_script: Printed) -> None:
    """Of each table the page has what inspect says of it now."""
    page = (ROOT / "docs" / "evidence" / "layouts.md").read_text(encoding="utf-8")
    done = printed_by_script()
    assert page.startswith(done)
    assert ", wrong 0." in done


@named("refused")
def test_what_cannot_be_read_gets_no_command(written: tuple[Layout, Path]) -> None:
    _, path = written
    shown = relstudy("inspect", path)
    assert "next:\n" not in shown.stdout
    assert shown.exit_code == 0 or "relstudy" not in shown.stdout
