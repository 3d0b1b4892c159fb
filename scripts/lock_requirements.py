"""Write deploy/requirements.txt: every package of the deployed app, pinned with the hash of its file.

    python scripts/lock_requirements.py            resolve again, and write (needs the network)
    python scripts/lock_requirements.py --check    whether the pins still meet pyproject.toml (no network)

The pins are wheels for Linux on x86-64 with the Python of deploy/Dockerfile. pip resolves them; `--require-hashes` then
refuses any other file.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "deploy" / "requirements.txt"
EXTRAS = ("postgresql", "systems")
PLATFORMS = ("manylinux_2_28_x86_64", "manylinux2014_x86_64", "manylinux_2_17_x86_64")
HEAD = "# Made by scripts/lock_requirements.py: wheels for Linux on x86-64, Python {python}.\n"


def python_of_image() -> str:
    """The Python version of deploy/Dockerfile, such as 3.12."""
    found = re.search(r"^ARG BASE=python:(\d+\.\d+)", (ROOT / "deploy" / "Dockerfile").read_text(), re.MULTILINE)
    assert found is not None
    return found[1]


def wanted() -> list[Requirement]:
    """What the deployed app asks for by pyproject.toml, and what builds it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras = [text for extra in EXTRAS for text in project["project"]["optional-dependencies"][extra]]
    return [
        Requirement(text)
        for text in (*project["project"]["dependencies"], *extras, *project["build-system"]["requires"])
    ]


def pinned() -> dict[str, str]:
    """The version of each package in the file, by its normalised name."""
    lines = re.findall(r"^(\S+)==(\S+) \\\n +--hash=sha256:[0-9a-f]{64}$", LOCK.read_text(), re.MULTILINE)
    return {canonicalize_name(name): version for name, version in lines}


def faults() -> list[str]:
    """Requirements that the pins do not meet, one sentence each."""
    pins = pinned()
    found = []
    for requirement in wanted():
        version = pins.get(canonicalize_name(requirement.name))
        if version is None:
            found.append(f"{requirement.name} has no pin")
        elif not requirement.specifier.contains(version, prereleases=True):
            found.append(f"{requirement.name} {version} is not {requirement.specifier}")
    return found


def resolve() -> str:
    """The lines of the file, as pip resolves the requirements now."""
    python = python_of_image()
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        subprocess.run(
            [
                *(sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed"),
                *("--report", str(report), "--target", folder, "--only-binary=:all:"),
                *("--python-version", python, "--implementation", "cp"),
                *(part for platform in PLATFORMS for part in ("--platform", platform)),
                *map(str, wanted()),
            ],
            check=True,
        )
        installed = json.loads(report.read_text())["install"]
    lines = [
        f"{canonicalize_name(each['metadata']['name'])}=={each['metadata']['version']} \\\n"
        f"    --hash=sha256:{each['download_info']['archive_info']['hashes']['sha256']}\n"
        for each in installed
    ]
    return HEAD.format(python=python) + "".join(sorted(lines))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    if not parser.parse_args().check:
        LOCK.write_text(resolve())
    found = faults()
    print("\n".join(found) or f"{len(pinned())} pins meet pyproject.toml")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
