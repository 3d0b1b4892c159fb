"""Public layouts of tables that something has happened to: inspect ends well, and so does the command it prints."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.inspection.corpus import LAYOUTS
from tests.analysis.inspection.layouts import Layout
from tests.fuzz.ending import changed, fuzzed, keeping, mutations, printed, run
from tests.fuzz.excerpts import Excerpt
from tests.fuzz.mutations import Mutation

pytestmark = pytest.mark.slow

SEPARATORS = {".tsv": "\t", ".csv": ","}


def separator(layout: Layout) -> str:
    """What parts the fields of its first line."""
    own = SEPARATORS[Path(layout.file).suffix]
    first = layout.text.split("\n", 1)[0]
    return own if own in first or ";" not in first else ";"


TABLES = [
    (layout, Excerpt(layout.file, layout.text.encode(), separator(layout), "title" in layout.name))
    for layout in LAYOUTS
    if Path(layout.file).suffix in SEPARATORS and not layout.name.startswith(("TREC", "MS MARCO", "WANDS"))
]
"""Layouts with a header, whose fields are separated as their ending says, or by semicolons."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("layouts")


@given(st.integers(0, len(TABLES) - 1), mutations())
@fuzzed(1.0)
def test_a_layout_that_something_happened_to(folder: Path, which: int, changes: list[Mutation]) -> None:
    layout, excerpt = TABLES[which]
    path = folder / layout.file
    path.write_bytes(changed(excerpt, changes))
    done = run("inspect", path, "--json")
    if done.exit_code == 1:
        assert layout.says == "refused" or not keeping(excerpt, changes), done.stderr
        return
    finding = printed(done)
    assert not (finding["command"] and finding["readings"]), "several readings, and one of them chosen"
    if keeping(excerpt, changes) and layout.says == "right":
        assert finding["command"] is not None or finding["readings"], finding["sentence"]
    for reading in (finding, *finding["readings"]):
        words = shlex.split(reading["command"] or "")
        if words[:2] == ["relstudy", "calibrate"]:
            out = folder / "out"
            shutil.rmtree(out, ignore_errors=True)
            words[words.index("-o") + 1] = str(out)
            run(*words[1:], *([] if words[2] == "preferences" else ["--method", "none"]), out=out)
