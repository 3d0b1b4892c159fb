"""The page of options is made from the declarations, and leaves none out."""

from __future__ import annotations

import importlib
import pkgutil
import re

import pytest

import relstudy
from relstudy.common.options import declared
from scripts.site_pages import on_page_markdown, option_table
from tests.places import ROOT

PAGE = (ROOT / "docs" / "reference" / "options.md").read_text(encoding="utf-8")
DECLARING = [
    name
    for _, name, _ in pkgutil.walk_packages(relstudy.__path__, "relstudy.")
    if name.endswith(".options") and name != "relstudy.common.options"
]


def declaring() -> set[str]:
    """The dataclasses with declared options, by the modules that hold them."""
    found = set()
    for name in DECLARING:
        for value in vars(importlib.import_module(name)).values():
            if isinstance(value, type) and value.__module__ == name and hasattr(value, "__dataclass_fields__"):
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
