"""How public layouts of tables are read: docs/evidence/layouts.md.

    (python evidence/layouts.py; python evidence/layouts.py --changed) > docs/evidence/layouts.md

`--changed` prints what becomes of each where something happens to it on its way, with `--each 8` of every eighth.

Each table is made (tests/analysis/inspection/corpus.py), inspected, and read by the command that `relstudy inspect`
prints, and what comes out is held against what the table holds.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import io
import os
import tempfile
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

from relstudy.analysis.inspection.files import inspect_file
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import count_of
from tests.analysis.inspection.corpus import LAYOUTS
from tests.analysis.inspection.layouts import Layout
from tests.analysis.inspection.printed import kind_of, rows_by
from tests.fuzz.mutations import KEEPING

SEPARATORS = {".csv": ",", ".tsv": "\t"}

HEAD = """# Tables that people arrive with

What `relstudy inspect` says of tables in the layouts of other tools and data sets, and what the command gives that it
prints. All tables hold the same few answers. *Right*: the printed command reads every row as it was meant.
*Asked*: only a person can tell, and no command is printed as the one (of several readings each has its own). *Refused*:
nothing can be read from it, and a sentence says why. `python evidence/layouts.py` prints this page.
"""


def given(layout: Layout, path: Path) -> tuple[str, str]:
    """What inspect says of a table, and whether its command reads it right, asks, is refused, or is wrong."""
    try:
        finding = inspect_file(path)
    except RelstudyError as error:
        return str(error).removeprefix(f"{path.name}: "), "refused"
    if finding.command is not None:
        rows = rows_by(finding.command) if layout.says == "right" else []
        is_right = kind_of(finding.command) == layout.kind and len(rows) == layout.count
        return finding.sentence, "right" if is_right and rows[: len(layout.first)] == list(layout.first) else "wrong"
    return finding.sentence, "asked" if finding.questions and finding.kind != "unknown" else "refused"


def expected(layout: Layout) -> str:
    """What is right to say of the table."""
    if layout.says == "right":
        return count_of(layout.count, layout.kind.rstrip("s"))
    return "nothing" if layout.says == "refused" else " or ".join(layout.kind.split())


def changes() -> dict[str, Callable[[bytes, str], bytes]]:
    """What happens to tables, by name."""

    def by_rows(change: Callable[[list[list[str]]], list[list[str]]], to: str = "") -> Callable[[bytes, str], bytes]:
        def apply(content: bytes, separator: str) -> bytes:
            rows = list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""), delimiter=separator))
            written = io.StringIO(newline="")
            csv.writer(written, delimiter=to or separator, lineterminator="\n").writerows(change(rows))
            return written.getvalue().encode()

        return apply

    return {
        **{name: partial(lambda change, content, separator: change(content, separator, 3, 1), change)
           for name, change in KEEPING.items()},
        "an index column": by_rows(lambda rows: [[str(n - 1) if n else "", *row] for n, row in enumerate(rows)]),
        "no header": by_rows(lambda rows: rows[1:]),
        "semicolons": by_rows(lambda rows: rows, ";"),
        "a row of totals": by_rows(lambda rows: [*rows, ["Total", *[""] * (len(rows[0]) - 2), "42"]]),
        "Windows-1252": lambda content, _: content.decode("utf-8-sig").encode("cp1252", "replace"),
        "UTF-16": lambda content, _: content.decode("utf-8-sig").encode("utf-16"),
    }  # fmt: skip


def meaning(layout: Layout) -> set[str]:
    """The rows that the command of a table reads before anything happens to it."""
    path = Path(layout.file)
    path.write_bytes(layout.text.encode())
    return {str(row) for row in rows_by(inspect_file(path).command or "")}


def after(change: Callable[[bytes, str], bytes], layout: Layout, separator: str, before: set[str]) -> str:
    """What becomes of a table that tells what it is."""
    path = Path(layout.file)
    path.write_bytes(change(layout.text.encode(), separator))
    try:
        finding = inspect_file(path)
        if finding.command is None:
            return "asked" if finding.questions or finding.readings else "refused"
        return "as before" if {str(row) for row in rows_by(finding.command)} == before else "another meaning"
    except RelstudyError:
        return "refused"


def print_changed(each: int) -> None:
    """The outcomes of tables with a header, by what happened to them."""
    outcomes = ("as before", "asked", "refused", "another meaning")
    tables = [
        (layout, SEPARATORS[Path(layout.file).suffix]) for layout in LAYOUTS
        if layout.says == "right" and Path(layout.file).suffix in SEPARATORS and "title" not in layout.name
        and not layout.name.startswith(("TREC", "MS MARCO", "WANDS"))
    ][::each]  # fmt: skip
    known = [(*table, meaning(table[0])) for table in tables]
    print(f"\n## What happens on the way\n\n{len(tables)} of the tables that are right, each changed in one way.\n")
    print(f"| change | {' | '.join(outcomes)} |\n|---|{'---|' * len(outcomes)}")
    for name, change in changes().items():
        counted = Counter(after(change, *table) for table in known)
        print(f"| {name} | {' | '.join(str(counted[each]) for each in outcomes)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--changed", action="store_true")
    parser.add_argument("--each", type=int, default=1)
    asked = parser.parse_args()
    if asked.changed:
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            print_changed(asked.each)
        return
    counted: Counter[str] = Counter()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for layout in LAYOUTS:
            Path(layout.file).write_bytes(layout.text.encode())
            says, outcome = given(layout, Path(layout.file))
            counted[outcome if outcome == layout.says else "wrong"] += 1
            cells = (layout.name, f"`{layout.file}`", expected(layout), says, outcome)
            rows.append(f"| {' | '.join(each.replace('|', '/') for each in cells)} |")
    print(HEAD)
    outcomes = ("right", "asked", "refused", "wrong")
    print(f"{len(LAYOUTS)} layouts: {', '.join(f'{each} {counted[each]}' for each in outcomes)}.\n")
    print("| layout | file | holds | `relstudy inspect` says | its command |\n|---|---|---|---|---|")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
