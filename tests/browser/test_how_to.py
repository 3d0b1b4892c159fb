"""The how-to pages on shops, answers and films, as a new user goes through them: by commands and in a browser."""

from __future__ import annotations

import base64
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner
from playwright.sync_api import Page, expect

from relstudy.studyapp.cli import main
from tests.browser.sessions import serve
from tests.places import ROOT
from tests.studyapp.items import write_sound

BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILMED = """async () => {
  const canvas = document.createElement("canvas");
  canvas.width = 160; canvas.height = 90;
  const pen = canvas.getContext("2d"), parts = [];
  const recorder = new MediaRecorder(canvas.captureStream(25), { mimeType: "video/webm" });
  recorder.ondataavailable = (event) => parts.push(event.data);
  const ended = new Promise((resolve) => { recorder.onstop = resolve; });
  recorder.start();
  for (let k = 0; k < 25; k += 1) {
    pen.fillStyle = `hsl(${k * 14} 80% 50%)`;
    pen.fillRect(0, 0, 160, 90);
    await new Promise((resolve) => setTimeout(resolve, 40));
  }
  recorder.stop();
  await ended;
  const bytes = new Uint8Array(await new Blob(parts).arrayBuffer());
  return btoa(String.fromCharCode(...bytes));
}"""


def run(text: str, folder: Path) -> None:
    """Run a block of a page: commands of relstudy in this process, everything else by the shell."""
    shell: list[str] = []
    heredoc = False
    for line in text.splitlines():
        if not heredoc and line.startswith("relstudy "):
            _shell(shell, folder)
            shell = []
            done = CliRunner().invoke(main, line.split()[1:])
            assert done.exit_code == 0, f"{line}\n{done.output}"
        else:
            shell.append(line)
            heredoc = line != "END" and (heredoc or line.endswith("<<'END'"))
    _shell(shell, folder)


def _shell(lines: list[str], folder: Path) -> None:
    if lines:
        script = "\n".join(lines).replace("python - ", f"{sys.executable} - ")
        subprocess.run(["bash", "-e", "-c", script], cwd=folder, check=True)


def steps(page: str) -> tuple[list[str], list[str]]:
    """The blocks before the study is served, and those after."""
    blocks = BLOCK.findall((ROOT / "docs" / "how-to" / page).read_text(encoding="utf-8"))
    served = next(k for k, block in enumerate(blocks) if "relstudy serve" in block)
    assert all(line.startswith("relstudy serve ") for line in blocks[served].splitlines())
    return blocks[:served], blocks[served + 1 :]


def take_part(page: Page, base: str, rate: Callable[[Page], None]) -> int:
    """One person's way through a study that is open to all; how many pages it had."""
    page.goto(base)
    page.get_by_role("checkbox").check()
    for _ in range(2):
        page.locator("form button.primary").click()
    page.wait_for_url("**/rate/1")
    pages = 0
    while "/rate/" in page.url:
        before = page.url
        rate(page)
        page.locator("form button.primary").click()
        page.wait_for_function("before => location.href !== before", arg=before)
        page.wait_for_load_state("networkidle")
        pages += 1
        assert pages < 30
    return pages


def answer(page: Page, lean: int) -> None:
    """Answer every question of the page that has a scale: by what stands there, shifted by a person's lean."""
    for number, fieldset in enumerate(page.locator("form.rating fieldset[data-ask]").all()):
        labels = fieldset.locator(".steps label")
        labels.nth((number * 2 + lean + len(page.url)) % labels.count()).click()


@pytest.fixture
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
def test_a_shop(in_folder: Path, new_page: Callable[..., Page]) -> None:
    before, after = steps("shop.md")
    for block in before:
        run(block, in_folder)
    with serve(in_folder / "my-shop") as served:
        for lean in range(3):
            page = new_page()
            seen: list[str] = []

            def rate(page: Page, lean: int = lean, seen: list[str] = seen) -> None:
                seen.append(page.content())
                answer(page, lean)
                page.locator("textarea").first.fill(f"I am number {lean}")

            assert take_part(page, served.base, rate) == 6
            whole = "".join(seen)
            assert "189.00 €" in whole and "Made by" in whole and "Something to wear outside" in whole
            assert "0.41" not in whole and "margin" not in whole and "pictures/" not in whole
    for block in after:
        run(block, in_folder)
    report = in_folder / "my-shop" / "report"
    assert "The questions together" in (report / "index.html").read_text()
    assert (report / "questions" / "look" / "index.html").is_file()
    words = pd.read_csv(in_folder / "my-shop" / "questions" / "why" / "ratings.csv")["words"]
    assert set(words) == {f"I am number {lean}" for lean in range(3)}


@pytest.mark.slow
def test_answers_with_cited_passages(in_folder: Path, new_page: Callable[..., Page]) -> None:
    before, after = steps("answers.md")
    for block in before:
        run(block, in_folder)
    with serve(in_folder / "my-answers") as served:
        for lean in range(2):
            seen: list[str] = []

            def rate(page: Page, lean: int = lean, seen: list[str] = seen) -> None:
                seen.append(page.content())
                answer(page, lean)

            assert take_part(new_page(), served.base, rate) == 6
            whole = "".join(seen)
            assert "<b>scattered</b>" in whole and "<li>" in whole and "<strong>rest</strong>" in whole
            assert (
                "that air is blue is wrong" in whole and "<mark>Molecules scatter light of short wavelengths" in whole
            )
    for block in after:
        run(block, in_folder)
    support = pd.read_csv(in_folder / "my-answers" / "support.csv")
    assert len(support) == 8 and set(support["scale_high"]) == {2}
    assert len(pd.read_csv(in_folder / "my-answers" / "judgments.csv")) == 4


@pytest.mark.slow
def test_short_films(in_folder: Path, new_page: Callable[..., Page]) -> None:
    before, after = steps("films.md")
    films = in_folder / "my-films" / "films"
    films.mkdir(parents=True)
    film = base64.b64decode(new_page().evaluate(FILMED))
    for name in ("v1", "v2"):
        (films / f"{name}.webm").write_bytes(film)
    write_sound(films / "s1.wav")
    for block in before:
        run(block, in_folder)
    answers: list[Any] = []
    with serve(in_folder / "my-films") as served:
        for lean in range(2):
            page = new_page()
            page.on("response", lambda response: answers.append((response.status, response.request.resource_type)))

            def rate(page: Page, lean: int = lean) -> None:
                answer(page, lean)
                page.locator("form button.primary").click()
                expect(page.get_by_role("alert")).to_contain_text("Please play every sound and film to its end first.")
                page.locator("[data-media]").evaluate("media => { media.muted = true; return media.play(); }")
                page.wait_for_function("() => 'done' in document.querySelector('[data-media]').dataset")

            assert take_part(page, served.base, rate) == 6
    assert {status for status, kind in answers if kind == "media"} == {206}
    for block in after:
        run(block, in_folder)
    assert len(pd.read_csv(in_folder / "my-films" / "judgments.csv")) == 6
