"""What is installed: one name, everything under it, and nothing that a folder of the user's can stand in the way of."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from tests.places import EXAMPLE, ROOT

pytestmark = pytest.mark.slow

FOLDERS = ("analysis", "calibration", "mapping", "studyapp")
CODE = (*FOLDERS, "relstudy/api", "relstudy/common", "evidence", "scripts", "tests")
NOT_IN_CODE = ("__pycache__", ".pyc")

WAY = f"""
from pathlib import Path
import relstudy as rs
panel = rs.calibrate({str(EXAMPLE / "ratings.csv")!r})
assert len(panel.judgments) > 100, panel
assert rs.fit({str(EXAMPLE / "scores" / "keywords.csv")!r}, panel, method="isotonic").best == {{"keywords": "isotonic"}}
print(Path(rs.__file__).parent)
"""


def run(*command: str | Path, cwd: Path) -> str:
    """Standard output of a command that must end well, without what points Python at this checkout."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def build(source: Path, target: Path, kind: str) -> Path:
    run(sys.executable, "-m", "hatchling", "build", "-d", target, "-t", kind, cwd=source)
    [made] = target.glob("*.whl" if kind == "wheel" else "*.tar.gz")
    return made


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(ROOT, tmp_path_factory.mktemp("wheel"), "wheel")


@pytest.fixture(scope="session")
def wheel_of_sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sdist")
    with tarfile.open(build(ROOT, folder, "sdist")) as sdist:
        sdist.extractall(folder / "unpacked", filter="data")
    [source] = (folder / "unpacked").iterdir()
    return build(source, folder / "again", "wheel")


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment that holds the wheel, and sees what the tests' own environment holds besides."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, symlinks=True)
    python = folder / "bin" / "python"
    install = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-index", "--no-deps"]
    run(*install, "--disable-pip-version-check", wheel, cwd=folder)
    [site] = folder.glob("lib/python*/site-packages")
    # After the wheel, which pip would take for installed otherwise. Behind `site` on the path, and a .pth file that is
    # found through another is not read, so that nothing leads from here to the checkout.
    (site / "dependencies.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    return python


@pytest.fixture
def crowded(tmp_path: Path) -> Path:
    """A folder as researchers have them: its own analysis.py, calibration/, mapping.py and studyapp/."""
    for name in ("analysis.py", "mapping.py"):
        (tmp_path / name).write_text("raise ImportError('this is the module of the folder')\n")
    for name in ("calibration", "studyapp"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise ImportError('this is the package of the folder')\n")
    return tmp_path


def names(archive: Path) -> set[str]:
    with zipfile.ZipFile(archive) as wheel:
        return set(wheel.namelist())


def test_nothing_but_relstudy_lands_at_the_top(wheel: Path) -> None:
    assert {name.split("/")[0] for name in names(wheel)} == {"relstudy", "relstudy-0.1.0.dist-info"}


def test_the_wheel_holds_every_file_of_the_packages(wheel: Path) -> None:
    expected = {
        f"relstudy/{path.relative_to(ROOT).as_posix().removeprefix('relstudy/')}"
        for top in (*FOLDERS, "relstudy/api", "relstudy/common")
        for path in (ROOT / top).rglob("*")
        if path.is_file() and not any(part.endswith(NOT_IN_CODE) for part in path.parts)
    }
    expected |= {path.relative_to(ROOT).as_posix() for path in (ROOT / "relstudy").glob("*.*") if path.is_file()}
    assert "relstudy/py.typed" in expected
    assert {name.rsplit(".")[-1] for name in expected} >= {"html", "css", "js", "svg", "mako"}
    assert expected - names(wheel) == set()


@pytest.mark.slow
def test_the_wheel_made_from_the_sdist_is_the_same(wheel: Path, wheel_of_sdist: Path) -> None:
    assert names(wheel_of_sdist) == names(wheel)
    with zipfile.ZipFile(wheel) as one, zipfile.ZipFile(wheel_of_sdist) as other:
        differing = [name for name in one.namelist() if one.read(name) != other.read(name)]
    assert differing == []


@pytest.mark.slow
def test_the_command_runs_beside_folders_of_the_same_names(installed: Path, crowded: Path) -> None:
    mapped = ["fit", EXAMPLE / "scores" / "keywords.csv", "-j", EXAMPLE / "judgments.csv", "--method", "isotonic"]
    printed = json.loads(run(installed, "-m", "relstudy", *mapped, "-o", crowded / "out", "--json", cwd=crowded))
    assert printed["systems"]["keywords"]["best"] == "isotonic"
    run(installed.parent / "relstudy", "new", "my-study", "--pictures", "4", cwd=crowded)
    assert (crowded / "my-study" / "study.toml").is_file()


@pytest.mark.slow
def test_the_api_runs_in_a_notebook_beside_folders_of_the_same_names(installed: Path, crowded: Path) -> None:
    notebook = f"""
import nbformat
from nbclient import NotebookClient
cells = [nbformat.v4.new_code_cell({WAY!r})]
done = NotebookClient(nbformat.v4.new_notebook(cells=cells), kernel_name="python3", timeout=120,
                      resources={{"metadata": {{"path": {str(crowded)!r}}}}}).execute()
print(done.cells[0].outputs[0].text)
"""
    where = run(installed, "-P", "-c", notebook, cwd=crowded).strip()
    assert Path(where).is_relative_to(installed.parent.parent)


@pytest.mark.slow
def test_every_import_goes_through_relstudy() -> None:
    astray = []
    near = re.compile(rf"\b(?:from|import)\s.*(?<![.\w])(?:{'|'.join(FOLDERS)})\b")  # parsing all would take seconds
    for path in sorted(path for top in CODE for path in (ROOT / top).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if near.search(text.replace("\\\n", "")) else ():
            modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                modules = [node.module or ""]
            astray += [f"{path.relative_to(ROOT)}: {name}" for name in modules if name.split(".")[0] in FOLDERS]
    assert astray == []


def test_a_checkout_without_links_builds_the_same_wheel_and_runs(wheel: Path, tmp_path: Path) -> None:
    """Where links are not kept (Windows), each is a file that holds its target; such a wheel had no studyapp."""
    source = tmp_path / "checkout"
    tracked = run("git", "ls-files", cwd=ROOT).split("\n")[:-1]
    for name in tracked:
        target = source / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_symlink():
            target.write_text(os.readlink(ROOT / name))
        else:
            target.write_bytes((ROOT / name).read_bytes())
    assert (source / "relstudy" / "analysis").is_file()

    made = build(source, tmp_path / "wheel", "wheel")

    assert sorted(zipfile.ZipFile(made).namelist()) == sorted(zipfile.ZipFile(wheel).namelist())
    where = "import relstudy.studyapp.cli as command; print(command.__file__)"
    assert run(sys.executable, "-c", where, cwd=source).strip() == str(source / "studyapp" / "cli.py")
