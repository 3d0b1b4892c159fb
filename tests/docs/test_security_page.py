"""docs/security.md names only tests that exist."""

from __future__ import annotations

import re

from tests.places import ROOT


def test_each_row_names_a_test_that_exists() -> None:
    page = (ROOT / "docs/security.md").read_text()
    named = re.findall(r"`([\w/]+\.py)::(\w+)`", page)
    assert len(named) >= 15
    for file, test in named:
        assert f"def {test}(" in (ROOT / "tests/studyapp/web" / file).read_text(), (file, test)
