"""Shares and intervals are written in one way, whichever command or page shows them."""

from __future__ import annotations

import re

import pytest

from tests.places import ROOT

SOURCES = [
    file
    for folder in ("analysis", "calibration", "mapping", "studyapp", "relstudy/common", "relstudy/api")
    for file in sorted((ROOT / folder).rglob("*.py"))
]
EXCEPT = {"latex.py": "papers put intervals in brackets", "tables.py": "of LaTeX", "estimates.py": "for notebooks"}


@pytest.mark.parametrize(
    ("pattern", "instead"),
    [
        (r":[+,]?\.\d%\}", "relstudy.common.runtime.wording.percent"),
        (r"\[\{[\w.\[\]']+:[+.\d]*f\}, \{", "relstudy.common.runtime.wording.span"),
        (r"\blow:\+?\.[1-9]f\} to \{[\w.\[\]']*high", "relstudy.common.runtime.wording.span"),
        (r"\{[^{}]*:\+\.\d+f\}", "relstudy.common.runtime.wording.number"),
    ],
)
def test_no_module_writes_shares_or_intervals_in_a_way_of_its_own(pattern: str, instead: str) -> None:
    assert re.search(pattern, "{share:.0%} [{low:.3f}, {high:.3f}] {low:.3f} to {high:.3f} {lead:+.2f}")
    found = [
        f"{file.relative_to(ROOT)}: {match[0]}"
        for file in SOURCES
        if file.name not in EXCEPT
        for match in re.finditer(pattern, file.read_text(encoding="utf-8"))
    ]
    assert found == [], f"use {instead}"
