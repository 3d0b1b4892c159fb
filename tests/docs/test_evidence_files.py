"""docs/evidence/index.md names each file of evidence/, and the page that it links to names the file."""

from __future__ import annotations

import re

from tests.places import ROOT

FOLDER, PAGE = ROOT / "evidence", ROOT / "docs" / "evidence" / "index.md"
FILES = {path.relative_to(FOLDER).as_posix() for kind in ("*.py", "*.c") for path in FOLDER.rglob(kind)}
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.read_text(encoding="utf-8").split("\n## Files\n")[1].splitlines()
    if line.startswith("| `")
]


def test_every_file_has_one_row_and_every_row_a_file() -> None:
    assert sorted(row[0].strip("`") for row in ROWS) == sorted(FILES)


def test_a_row_says_what_the_file_proves_and_where_its_table_is_or_what_it_is_part_of() -> None:
    for file, proves, _, tables in ROWS:
        whole = re.findall(r"part of `(.+?)`", proves)
        assert proves and bool(tables) != bool(whole), file
        assert FILES.issuperset(whole), file


def test_the_page_of_a_row_names_the_file() -> None:
    for file, _, _, tables in ROWS:
        name = file.strip("`").removeprefix("simulations/")
        shown = f"coverage.py {name.removesuffix('.py')}" if "simulations" in file else f"evidence/{name}"
        for page in re.findall(r"\]\((.+?)\)", tables):
            text = " ".join((PAGE.parent / page).read_text(encoding="utf-8").split())
            assert re.search(rf"{re.escape(shown)}\b", text), (file, page)
