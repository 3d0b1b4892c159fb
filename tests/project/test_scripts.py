"""Scripts find libraries and not one another, whatever their files are called."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from evidence.beside_peers import REASONS, SAME
from tests.places import ROOT

FILES = sorted(path for folder in ("evidence", "scripts") for path in (ROOT / folder).rglob("*.py"))


@pytest.mark.slow
def test_a_script_that_imports_numba_gets_the_library_coverage_and_not_the_script_of_that_name() -> None:
    code = f"import sys; sys.path[0] = {str(ROOT / 'evidence')!r}; import numba, coverage; print(coverage.types.Tracer)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_the_command_of_simulated_tables_names_each_with_its_first_line() -> None:
    script = [sys.executable, ROOT / "evidence" / "coverage.py"]
    listed = subprocess.run(script, capture_output=True, text=True, timeout=60)
    assert listed.returncode == 0, listed.stderr
    modules = [path.stem for path in (ROOT / "evidence" / "simulations").glob("[!_]*.py")]
    assert modules
    assert [name for name in modules if f"\n    {name} " not in listed.stdout] == []
    assert subprocess.run([*script, "nonsense"], capture_output=True, timeout=60).returncode == 2


@pytest.mark.slow
def test_every_script_finds_what_it_imports() -> None:
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in FILES]
    assert len(names) > 90
    code = (
        "import importlib, sys; sys.path.append('evidence/simulations'); [*map(importlib.import_module, sys.argv[1:])]"
    )
    done = subprocess.run([sys.executable, "-c", code, *names], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


def test_figures_beside_other_libraries_differ_for_the_reasons_that_the_script_gives() -> None:
    page = (ROOT / "docs" / "evidence" / "peers.md").read_text(encoding="utf-8")
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if line[:1] == "|"]
    rows = [(library, what, float(apart), why) for library, _, what, _, _, _, apart, why in lines[2:]]
    assert {library for library, *_ in rows} >= {"ir_measures", "ranx", "sureal", "crowd-kit"}
    for library, what, apart, why in rows:
        given = [reason for whose, figure, reason in REASONS if whose == library and what.startswith(figure)]
        assert why == (given[0] if apart >= SAME else "")
    # a search that has not ended is no reason: both of them stand at the top to a millionth
    assert max(apart for library, _, apart, _ in rows if library == "crowd-kit") < 1e-5


def test_the_packages_of_an_installation_are_weighed() -> None:
    command = [sys.executable, ROOT / "evidence" / "install_size.py", "--least", "100"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert re.match(r"\d+ packages, [\d,]+ MB\n", printed) and re.search(r"\| pyarrow \| \d{3} \| relstudy \|", printed)
