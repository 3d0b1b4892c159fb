"""How public layouts of tables are read: docs/evidence/layouts.md.

    python scripts/layouts.py > docs/evidence/layouts.md

Each table is made (tests/analysis/inspection/corpus.py), inspected, and read by the command that `relstudy inspect`
prints, and what comes out is held against what the table holds.
"""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from pathlib import Path

from relstudy.analysis.inspection.files import inspect_file
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import count_of
from tests.analysis.inspection.corpus import LAYOUTS
from tests.analysis.inspection.layouts import Layout
from tests.analysis.inspection.printed import kind_of, rows_by

HEAD = """# Tables that people arrive with

What `relstudy inspect` says of tables in the layouts of other tools and data sets, and what the command gives that it
prints. All tables hold the same few answers. *Right*: the printed command reads every row as it was meant.
*Asked*: only a person can tell, and no command is printed as the one (of several readings each has its own). *Refused*:
nothing can be read from it, and a sentence says why. `python scripts/layouts.py` prints this page.
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


def main() -> None:
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
