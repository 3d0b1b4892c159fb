"""The packages that an installation of relstudy brings, and which of them are large.

    python evidence/install_size.py [--least MB]

Counts the files of each distribution that relstudy needs without an extra, in the environment it runs in.
"""

from __future__ import annotations

import argparse
from importlib.metadata import Distribution, PackageNotFoundError, distribution

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


def needed(name: str) -> dict[str, set[str]]:
    """Distributions that one needs without an extra, by what needs them."""
    by: dict[str, set[str]] = {}
    waiting = [canonicalize_name(name)]
    while waiting:
        parent = waiting.pop()
        for line in _distribution(parent).requires or [] if _distribution(parent) else []:
            requirement = Requirement(line)
            child = canonicalize_name(requirement.name)
            if (requirement.marker and not requirement.marker.evaluate({"extra": ""})) or not _distribution(child):
                continue
            if child not in by:
                waiting.append(child)
            by.setdefault(child, set()).add(parent)
    return by


def _distribution(name: str) -> Distribution | None:
    try:
        return distribution(name)
    except PackageNotFoundError:
        return None


def megabytes(name: str) -> float:
    """Bytes of a distribution's files, in MB."""
    found = _distribution(name)
    files = [] if found is None else found.files or []
    return sum(path.stat().st_size for file in files if (path := file.locate()).is_file()) / 1e6


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--least", type=float, default=30, metavar="MB")
    least = parser.parse_args().least
    by = needed("relstudy")
    sizes = {name: megabytes(name) for name in by}
    print(f"{len(sizes)} packages, {sum(sizes.values()):,.0f} MB\n")
    print("| package | MB | needed by |")
    print("|---|---|---|")
    for name in sorted(sizes, key=lambda each: -sizes[each]):
        if sizes[name] >= least:
            print(f"| {name} | {sizes[name]:.0f} | {', '.join(sorted(by[name]))} |")


if __name__ == "__main__":
    main()
