"""Every number in the text of docs/evidence/paper.md is printed by its script; test_docs runs the script itself."""

from __future__ import annotations

import re

from tests.docs.test_docs import blocks
from tests.places import ROOT

PAGE, PRINTED = "docs/evidence/paper.md", "docs/evidence/differences.md"
PRINTED_IN_SOURCES = {".07", ".15", ".17", ".03"}
"""Figures that the sources print, quoted as theirs."""


def test_every_decimal_of_the_text_is_printed_by_the_script() -> None:
    page = (ROOT / PAGE).read_text(encoding="utf-8")
    printed = next(body for kind, body in blocks(PRINTED) if kind == "text")
    text = re.sub(r"```.*?```", "", page, flags=re.DOTALL)
    decimals = re.findall(r"(?<![\w.])0?\.\d+\b", text)
    assert len(decimals) > 10
    assert [each for each in decimals if each.lstrip("0") not in printed and each not in PRINTED_IN_SOURCES] == []


def test_the_counts_of_pairs_in_the_text_are_printed_by_the_script() -> None:
    page = (ROOT / PAGE).read_text(encoding="utf-8")
    printed = next(body for kind, body in blocks(PRINTED) if kind == "text")
    line = next(line for line in page.splitlines() if "design effect of their queries" in line)
    counts = re.findall(r"\b\d{3}\b", line)
    assert counts and all(f" {count}" in printed for count in counts)
