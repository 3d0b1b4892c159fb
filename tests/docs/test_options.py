"""The page of options is made from the declarations, and leaves none out."""

from __future__ import annotations

import importlib
import pkgutil
import re

import click
import pytest

import relstudy
from relstudy.common.options.command_options import DeclaredOption
from relstudy.common.options.declaration import CommandOptions, declared
from relstudy.studyapp.cli import main
from scripts.site_pages import commands_of, on_page_markdown, option_table
from tests.places import ROOT

PAGE = (ROOT / "docs" / "reference" / "options.md").read_text(encoding="utf-8")
DECLARING = [
    name
    for _, name, _ in pkgutil.walk_packages(relstudy.__path__, "relstudy.")
    if name.endswith(("options", ".cluster")) and name != "relstudy.common.options.declaration"
]


def declaring() -> set[str]:
    """The dataclasses with declared options, by the modules that hold them."""
    found = set()
    for name in DECLARING:
        for value in vars(importlib.import_module(name)).values():
            has_fields = isinstance(value, type) and hasattr(value, "__dataclass_fields__")
            if has_fields and value.__module__ == name and not issubclass(value, CommandOptions):
                found |= {f"{name} {value.__name__}"} if declared(value) else set()
    return found


def test_every_dataclass_of_options_has_its_table_on_the_page() -> None:
    named = re.findall(r"<!-- options: (\S+) ([\w ]+?) -->", PAGE)
    assert len(DECLARING) >= 5
    assert {f"{module} {each}" for module, classes in named for each in classes.split()} == declaring()


def test_the_page_says_of_each_option_what_its_declaration_says() -> None:
    made = on_page_markdown(PAGE)
    assert "<!-- options" not in made
    for name in declaring():
        module, each = name.split()
        for option in declared(getattr(importlib.import_module(module), each)):
            assert f"`{option.argument}`" in made
            assert all(f"`{flag}`" in made for flag in option.flags)


@pytest.mark.parametrize("name", ["ScoringOptions", "CalibrationOptions", "FitOptions"])
def test_a_table_has_a_row_an_option_with_limits_and_default(name: str) -> None:
    table = option_table(getattr(relstudy, name))
    assert len(table.splitlines()) == 2 + len(declared(getattr(relstudy, name)))
    if name == "FitOptions":
        assert "| `--folds` | `folds` | a whole number from 2 | 10 | Folds, whole queries each. |" in table


WITH_A_FUNCTION = {"sample", "calibrate", "calibrate join", "fit", "score", "judge check", "report", "plan"}
"""Commands whose choices are arguments in Python, too; the files that they read and write are in their help alone."""
SWITCHES = {"overwrite", "as_json", "yes", "dry_run", "back", "all_people"}
"""Of how a command prints and asks, and those that say what a command is to do."""


def test_every_choice_of_a_command_is_declared_and_on_the_page() -> None:
    made = on_page_markdown(PAGE)
    for path, command in commands_of(main, click.Context(main)):
        options = [each for each in command.params if isinstance(each, click.Option)]
        if path not in WITH_A_FUNCTION | {"admin backup"}:
            assert {each.name for each in options if not isinstance(each, DeclaredOption)} <= SWITCHES, path
        for each in options:
            if isinstance(each, DeclaredOption):
                assert " ".join(f"`{flag}`" for flag in each.declaration.flags) in made, (path, each.name)
