"""Tables of simulated studies: does an interval cover what it estimates, does a test reject as often as it says?

    python evidence/coverage.py                      what there is
    python evidence/coverage.py NAME [--help]        one table

Each table is a module of evidence/simulations, with a world of its own whose truth is known. Seeds are fixed, so a
table can be printed again; docs/ shows what these print.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

FOLDER = Path(__file__).with_name("simulations")


def tables() -> dict[str, str]:
    """What can be printed: a module's name and the first line of its docstring."""
    lines = {}
    for path in sorted(FOLDER.glob("[!_]*.py")):
        first = path.read_text(encoding="utf-8").split("\n", 1)[0]
        lines[path.stem] = first.strip('" ')
    return lines


def main() -> None:
    known = tables()
    if len(sys.argv) < 2 or sys.argv[1] not in known:
        print(__doc__)
        for name, line in known.items():
            print(f"    {name:<18}{line}")
        sys.exit(0 if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help") else 2)
    sys.path[0] = str(FOLDER)  # instead of this script's own folder, where it would hide the library of its name
    importlib.import_module(sys.argv[1]).main(sys.argv[2:])


if __name__ == "__main__":
    main()
elif __name__ == "coverage":
    # Python looks into a script's own folder first. A script beside this one that imports numba, which asks for the
    # library of this name, would get this file; it gets the library.
    sys.path.remove(str(Path(__file__).parent))
    del sys.modules[__name__]
    importlib.import_module(__name__)
