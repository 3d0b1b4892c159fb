"""Scripts find libraries and not one another, whatever their files are called."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.places import ROOT


@pytest.mark.slow
def test_a_script_that_imports_numba_gets_the_library_coverage_and_not_the_script_of_that_name() -> None:
    code = f"import sys; sys.path[0] = {str(ROOT / 'scripts')!r}; import numba, coverage; print(coverage.types.Tracer)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_the_command_of_simulated_tables_names_each_with_its_first_line() -> None:
    script = [sys.executable, ROOT / "scripts" / "coverage.py"]
    listed = subprocess.run(script, capture_output=True, text=True, timeout=60)
    assert listed.returncode == 0, listed.stderr
    modules = [path.stem for path in (ROOT / "scripts" / "simulations").glob("[!_]*.py")]
    assert modules
    assert [name for name in modules if f"\n    {name} " not in listed.stdout] == []
    assert subprocess.run([*script, "nonsense"], capture_output=True, timeout=60).returncode == 2
