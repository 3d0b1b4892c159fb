"""docs/evidence/sources.md: every item of the sources, and that what a row names is evidence of what the row says.

A name that exists proves nothing. So each test that a row names asserts something of what the row is about; each option
is given in a test; each script is run by a test, or prints what stands in a document; each figure of a row stands in
such a place; and the page of the paper's tables has each table and figure that it is named for.
"""

from __future__ import annotations

import ast
import re
import shutil
from functools import cache
from pathlib import Path

import pytest

from relstudy.analysis.report.paper.page import paper_page
from relstudy.analysis.report.paper.reading import paper_study
from relstudy.analysis.report.rendering import html_of
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.study_run import read_study_folder, score_study
from tests.analysis.report.pages import quietly, tables_of
from tests.commands import command_named
from tests.places import EXAMPLE, ROOT

PAGE = (ROOT / "docs" / "evidence" / "sources.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.splitlines()
    if line.startswith("|") and not re.match(r"\| place \||\|---", line)
]
STATES = re.compile(r"done|partly: .+")
LESS = {"the", "and", "with", "for", "not", "each", "all", "its", "are", "from", "one", "two", "other", "has", "which"}
"""Words that every test has."""
FIGURE = re.compile(r"(?<![\w.])-?0?(\.\d+)\b")


@cache
def sources() -> dict[str, str]:
    """The source of every test by name, with what decorates it."""
    found = {}
    for file in (ROOT / "tests").rglob("test_*.py"):
        for part in file.read_text(encoding="utf-8").split("\n\n\n"):  # as ruff sets functions apart
            if test := re.search(r"^def (test_\w+)", part, re.MULTILINE):
                found[test[1]] = part
    return found


@cache
def all_tests() -> str:
    """The text of all tests but this one."""
    here = Path(__file__).name
    files = (file for file in (ROOT / "tests").rglob("*.py") if file.name != here)
    return "\n".join(file.read_text(encoding="utf-8") for file in files)


@cache
def options_given() -> set[str]:
    """The options that tests give, by their name on the command line or in Python."""
    in_python = re.findall(r"\b(\w+)(?:=|\": )", all_tests())
    return {*re.findall(r"--[\w-]+", all_tests()), *("--" + name.replace("_", "-") for name in in_python)}


@cache
def documents() -> str:
    """The text of every document but the page itself."""
    files = (file for file in (ROOT / "docs").rglob("*.md") if file.name != "sources.md")
    return "\n".join(file.read_text(encoding="utf-8") for file in files)


def named(row: list[str], kind: str) -> list[str]:
    """What a row names of a kind: "test_", "relstudy " or "python "."""
    return [name for name in re.findall(r"`([^`]+)`", row[3]) if name.startswith(kind)]


def names(kind: str) -> list[tuple[list[str], str]]:
    """Each row with each name of a kind that it has."""
    return [(row, name) for row in ROWS for name in named(row, kind)]


def stems(text: str) -> set[str]:
    """The beginnings of a text's words, in small letters."""
    words = (word.lower() for word in re.findall(r"[A-Za-z]{3,}", text.replace("_", " ")))
    return {word[:5] for word in words if word not in LESS}


def asserts(source: str) -> bool:
    """Whether a test can fail: it asserts, expects an error, or calls a check of its own."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Assert) or (
            isinstance(node, ast.Call) and re.search(r"assert|raises|refus|check", ast.unparse(node.func))
        ):
            return True
    return False


def test_every_item_has_five_cells_and_a_state() -> None:
    sizes = [part.count("\n| ") - 1 for part in PAGE.split("\n## ")[1:]]
    assert sizes == [86, 26, 17, 17] and len(ROWS) == 146
    for row in ROWS:
        assert len(row) == 5 and STATES.fullmatch(row[4]), row
        assert named(row, "test_") or named(row, "relstudy ") or named(row, "python "), row


def test_an_item_that_is_not_done_says_why_it_cannot_be_had() -> None:
    for row in ROWS:
        if row[4] != "done":
            assert re.search(r"not at hand|may not be handed on|take days|hours|is not named", row[4]), row


def test_the_tests_of_a_row_assert_something_of_what_it_is_about() -> None:
    for row, name in names("test_"):
        assert name in sources(), name
        assert asserts(sources()[name]), f"{name} cannot fail"
        assert stems(f"{row[1]} {row[2]}") & stems(sources()[name]), f"{name} has no word of {row[:3]}"


def test_the_commands_of_a_row_have_its_options_and_a_test_gives_them() -> None:
    for _, name in names("relstudy "):
        words = name.split()[1:]
        options = [word for word in words if word.startswith("--")]
        command = command_named([word for word in words if not word.startswith("--")])
        known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
        assert set(options) <= known, name
        assert set(options) <= options_given(), f"no test gives an option of {name}"


def test_the_scripts_of_a_row_run_in_a_test_or_print_what_a_document_shows() -> None:
    for _, name in names("python "):
        file = ROOT / name.split()[1]
        assert file.is_file(), name
        assert re.search(rf"\b{file.stem}\b", all_tests()) or name in documents(), f"nothing runs {name}"


def test_the_figures_of_a_row_stand_in_its_tests_or_in_a_document() -> None:
    for row in ROWS:
        evidence = "".join(sources()[name] for name in named(row, "test_")) + documents()
        for figure in FIGURE.findall(f"{row[1]} {row[2]}"):
            assert figure in evidence, (figure, row)


@pytest.mark.slow
def test_the_page_has_each_table_and_figure_under_its_number(tmp_path: Path) -> None:
    """Those that rows name `relstudy report --paper-tables` for; what the example cannot show, the page says."""
    study = Path(shutil.copytree(EXAMPLE, tmp_path / "study", ignore=shutil.ignore_patterns("gift-*")))
    wanted = set()
    for row in ROWS:
        if any("--paper" in name for name in named(row, "relstudy ")):
            wanted |= {f"{kind} {number}" for kind, number in re.findall(r"(table|figure) (\d\.\d+)", row[0])}
    assert {"figure 2.2", "figure 4.2", "figure 4.7", "figure 5.3", "table 5.2", "table 5.7"} <= wanted
    run = score_study(read_study_folder(study), ScoringOptions(replicates=20, folds=2))
    page = html_of(paper_page(paper_study(run, tables_of(study)), [], quietly, ("bagged", "correlation", "bayes")))
    for name in wanted:
        shown = rf"{name.capitalize()}(:| needs| with)" if name != "figure 4.5" else "figure 4.5"
        assert re.search(shown, page), name


def test_the_checks_find_a_row_that_proves_nothing() -> None:
    """A test of another thing, and one that cannot fail, are no evidence."""
    assert not asserts("def test_nothing():\n    x = 1\n")
    assert not stems("normalised rank") & stems("def test_colour():\n    assert blue != red\n")
    assert asserts("def test_it():\n    with pytest.raises(ValueError):\n        f()\n")
