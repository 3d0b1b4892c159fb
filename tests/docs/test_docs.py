"""The documentation builds without a broken link, needs nothing from outside, and its commands run."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from glob import glob
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path
from typing import Any

import click
import nbformat
import pytest
from click.testing import CliRunner
from nbclient import NotebookClient

import relstudy as rs
from relstudy.studyapp.cli import main
from tests.commands import command_named
from tests.docs.strangers import FILES
from tests.places import ROOT

DOCS = ROOT / "docs"
PAGES = sorted(path.relative_to(ROOT).as_posix() for path in [*DOCS.rglob("*.md"), ROOT / "README.md"])
RUN = [
    "docs/tutorial.md",
    "docs/how-to/run-rating-sessions.md",
    "docs/how-to/calibrate-and-fit.md",
    "docs/how-to/score-a-new-system.md",
    "docs/report.md",
    "docs/evidence/differences.md",
    "docs/hashing.md",
    *FILES,
]
FENCE = re.compile(r"^( *)```([a-z]*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)

STATEMENTS = re.compile(r"^(?:python - <<'END'\n[\s\S]*?\nEND|(?:.*\\\n)*.+)$", re.MULTILINE)


def blocks(page: str) -> list[tuple[str, str]]:
    """Kind and text of every fenced block of a page, without its indent."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [(kind, re.sub(rf"^{indent}", "", body, flags=re.MULTILINE)) for indent, kind, body in FENCE.findall(text)]


def commands(page: str) -> Iterator[list[str]]:
    """Every command line of a page that starts with relstudy, in a block of any kind, continued lines joined."""
    text = (ROOT / page).read_text(encoding="utf-8")
    inside = [body for _, body in blocks(page)]
    inside += re.findall(r"(?:^(?: {4}|\t).*\n)+", text, flags=re.MULTILINE)
    for body in inside:
        for line in body.replace("\\\n", " ").splitlines():
            line = line.strip().removeprefix("$ ").split(" # ")[0].split("   #")[0]
            if re.match(r"relstudy [a-z]", line):
                # up to a pipe or a redirection, which stand outside of quotes
                yield shlex.split(re.split(r'[|>](?=(?:[^"]*"[^"]*")*[^"]*$)', line)[0])


@pytest.mark.parametrize("page", PAGES)
def test_every_row_of_a_table_stands_under_its_head(page: str) -> None:
    lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
    heads = [n for n, line in enumerate(lines) if line.startswith("|") and not lines[n - 1].startswith("|")]
    assert [lines[n] for n in heads if not re.match(r"\|[-: |]+\|$", lines[n + 1])] == []


class Assets(HTMLParser):
    """What a page would fetch."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag in ("script", "img", "iframe", "source"):
            self.found.append(values.get("src") or "")
        if tag == "link" and values.get("rel") in ("stylesheet", "preload", "preconnect", "icon"):
            self.found.append(values.get("href") or "")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    # not --quiet: it hides the warnings from --strict, which then passes whatever is broken
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(build, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.mark.slow
def test_the_site_builds_strictly_so_no_internal_link_or_anchor_is_broken(site: Path) -> None:
    assert (site / "index.html").is_file()
    assert (site / "reference" / "api.html").is_file()


@pytest.mark.slow
def test_no_page_fetches_anything_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        fetched = Assets(page.read_text(encoding="utf-8")).found
        # a report holds all that it shows
        assert bool(fetched) != ("reports" in page.parts)
        assert not [address for address in fetched if re.match(r"(https?:)?//", address)], page.name
    for sheet in site.rglob("*.css"):
        assert not re.search(r"url\(['\"]?(https?:)?//", sheet.read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.browser
def test_a_page_opened_from_disk_shows_the_picture_of_its_theme_and_its_search_finds_words(
    chromium: Any, site: Path
) -> None:
    page = chromium.new_page()
    page.goto((site / "read-the-report.html").as_uri())
    assert [page.locator(f"img.only-{scheme}").is_visible() for scheme in ("light", "dark")] == [True, False]
    page.goto((site / "how-to" / "evaluate-codes.html").as_uri())
    page.locator("input.md-search__input").press_sequentially("monotone function")
    page.locator(".md-search-result__link[href*='theory.html']").first.wait_for(state="attached")
    page.close()


@pytest.mark.slow
def test_the_reference_documents_every_public_name_and_nothing_else(site: Path) -> None:
    page = (site / "reference" / "api.html").read_text(encoding="utf-8")
    documented = set(re.findall(r'id="relstudy\.(\w+)"', page))
    assert documented == set(rs.__all__) - {"__version__", "hashing"}
    hashing = (site / "reference" / "hashing.html").read_text(encoding="utf-8")
    assert 'id="relstudy.analysis.hashing.api.count"' in hashing
    assert sorted(path.name for path in (site / "reference").glob("*.html")) == [
        "api.html",
        "hashing.html",
        "options.html",
        "reading-tables.html",
        "study-toml.html",
    ]


@pytest.mark.slow
def test_the_notebook_runs_and_keeps_no_output() -> None:
    notebook = nbformat.read(DOCS / "notebook.ipynb", as_version=4)
    assert all(not cell.outputs for cell in notebook.cells if cell.cell_type == "code")
    for cell in notebook.cells:  # its plan finds a difference that takes few queries, in the same steps
        cell.source = cell.source.replace("correlations=(0.6, 0.5)", "correlations=(0.6, 0.4), power=0.4")
    kernel = {"kernel_name": "python3", "timeout": 300, "resources": {"metadata": {"path": str(ROOT)}}}
    done = NotebookClient(notebook, **kernel).execute()
    shown = [
        set(output.data)
        for cell in done.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if "data" in output
    ]
    assert sum("text/html" in kinds for kinds in shown) >= 5
    assert sum("image/png" in kinds for kinds in shown) == 3


@pytest.mark.parametrize("page", PAGES)
def test_every_command_on_the_page_exists_with_its_options(page: str) -> None:
    for words in commands(page):
        command = command_named(words[1:])
        options = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
        options |= set(command.get_help_option_names(click.Context(command))) | {"--help", "-h"}
        used = {re.split("=", word)[0] for word in words if re.match(r"--?[a-z]", word)}
        assert used <= options, f"{' '.join(words)}: unknown {used - options}"


@pytest.mark.slow
@pytest.mark.parametrize("page", RUN)
def test_the_commands_of_the_page_run_and_print_what_it_says(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DATABASE_URL", raising=False)
    for name in ("data", "evidence"):
        (tmp_path / name).symlink_to(ROOT / name)
    if page in FILES:
        FILES[page](tmp_path)
    monkeypatch.chdir(tmp_path)
    found = blocks(page)
    assert any(kind == "sh" for kind, _ in found)
    for (kind, body), (after, expected) in zip(found, [*found[1:], ("", "")], strict=True):
        if kind != "sh":
            continue
        printed = "".join(map(run_statement, STATEMENTS.findall(body)))
        if after == "text":
            assert printed == expected, body
    run_python(page)


def run_statement(statement: str) -> str:
    """What a line of a block prints, or the script that is given to Python there; both without another process."""
    if script := re.fullmatch(r"python - <<'END'\n(.*)\nEND", statement, flags=re.DOTALL):
        with redirect_stdout(StringIO()) as printed:
            exec(script[1], {"__name__": "__main__"})
        return printed.getvalue()
    line = statement.replace("\\\n", " ")
    return run_line(line) if line.startswith("relstudy ") else run_shell(line)


def run_line(line: str) -> str:
    """What a command prints, run in this process, which saves the start of another."""
    words = shlex.split(line, comments=True)
    if not set(words) & {"|", "&&", ";"}:
        words, target = (words[:-2], words[-1]) if words[-2:-1] == [">"] else (words, None)
        arguments = [each for word in words[1:] for each in (sorted(glob(word)) if "*" in word else []) or [word]]
        done = CliRunner().invoke(main, arguments)
        assert done.exit_code == 0, f"{line}\n{done.stderr}\n{done.exception!r}"
        if target is None:
            return done.stdout
        Path(target).write_text(done.stdout, encoding="utf-8")
        return ""
    return run_shell(line)


def run_shell(body: str) -> str:
    """What the lines of a block print, run by a shell."""
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    shell = subprocess.run(["sh", "-eu", "-c", body], env=environment, capture_output=True, text=True, timeout=300)
    assert shell.returncode == 0, f"{body}\n{shell.stderr}"
    return shell.stdout


def run_python(page: str) -> None:
    """The Python blocks of a page, one after the other in one session, in this process."""
    script = "\n".join(body for kind, body in blocks(page) if kind == "python")
    exec(compile(script, page, "exec"), {"__name__": "__main__"})


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [
        "docs/scoring.md",
        "docs/reference/api.md",
        "docs/how-to/work-in-a-notebook.md",
        "docs/how-to/coming-from-elsewhere.md",
        "docs/how-to/coming-from-panels.md",
    ],
)
def test_the_python_of_the_page_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data").symlink_to(ROOT / "data")
    monkeypatch.chdir(tmp_path)
    assert any(kind == "python" for kind, _ in blocks(page))
    run_python(page)
