"""docs/sources.md: every item of the sources, and that what it names to show an item is there."""

from __future__ import annotations

import re
from functools import cache

import click
import pytest

from relstudy.studyapp.cli import main
from tests.places import ROOT

PAGE = (ROOT / "docs" / "sources.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.splitlines()
    if line.startswith("|") and not re.match(r"\| place \||\|---", line)
]
STATES = re.compile(r"done|(partly|missing)(: .+)?")


@cache
def names_of_tests() -> frozenset[str]:
    files = (ROOT / "tests").rglob("test_*.py")
    return frozenset(name for file in files for name in re.findall(r"^def (test_\w+)", file.read_text(), re.MULTILINE))


def command_named(words: list[str]) -> click.Command:
    """The command of `relstudy ...` without its options."""
    found: click.Command = main
    for word in words:
        assert isinstance(found, click.Group), word
        inner = found.get_command(click.Context(found), word)
        assert inner is not None, word
        found = inner
    return found


def test_every_item_has_five_cells_and_a_state() -> None:
    sizes = [part.count("\n| ") - 1 for part in PAGE.split("\n## ")[1:]]
    assert sizes == [86, 26, 17, 17] and len(ROWS) == 146
    for row in ROWS:
        assert len(row) == 5 and STATES.fullmatch(row[4]), row


def test_what_is_done_names_a_test_or_a_command() -> None:
    for row in ROWS:
        if row[4].startswith(("done", "partly")):
            assert re.search(r"`(test_|relstudy |python )", row[3]), row


@pytest.mark.parametrize("number", range(len(ROWS)))
def test_what_an_item_names_is_there(number: int) -> None:
    for name in re.findall(r"`([^`]+)`", ROWS[number][3]):
        if name.startswith("python "):
            assert (ROOT / name.split()[1]).is_file(), name
        elif name.startswith("relstudy "):
            words = name.split()[1:]
            options = [word for word in words if word.startswith("--")]
            command = command_named([word for word in words if not word.startswith("--")])
            known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
            assert set(options) <= known, name
        else:
            assert name in names_of_tests(), name


def test_an_item_that_is_not_done_says_what_lacks() -> None:
    open_items = [row for row in ROWS if row[4] != "done"]
    assert [row[0] for row in open_items] == ["figure 4.3", "figure 4.4", "tables 5.3-5.6", "Eq. 5.6"]
    assert all(row[4].startswith("partly: ") for row in open_items)
