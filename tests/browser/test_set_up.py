"""From nothing but pictures to another person's first page, in the browser alone."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from axe_playwright_python.sync_playwright import Axe

from tests.places import ROOT

PASSWORD = "a long enough password"
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"]}


def test_ones_own_pictures_become_a_study_by_keys_and_buttons(tmp_path: Path, new_page: Callable[..., Any]) -> None:
    studies = tmp_path / "studies"
    holiday = tmp_path / "holiday.zip"
    with zipfile.ZipFile(ROOT / "data" / "pictures" / "pictures.zip") as source, zipfile.ZipFile(holiday, "w") as own:
        for name in source.namelist()[:24]:
            own.writestr(f"holiday/{name}", source.read(name))
    command = [sys.executable, "-m", "relstudy", "start", str(studies), "--port", "0", "--no-browser"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        assert server.stdout is not None
        link = next(found[0] for line in server.stdout if (found := re.search(r"http://\S+/start/\S+", line)))
        page = new_page(360, 740, color_scheme="dark")
        page.goto(link)
        page.focus("input[name=template]")
        for _ in range(6):
            page.keyboard.press("ArrowDown")
        assert page.is_checked("input[value=items]")
        page.set_input_files("#files", holiday)
        for step in ("systems", "question", "raters", "check"):
            page.focus("main button.primary")
            page.keyboard.press("Enter")
            page.wait_for_url(f"**/start/{step}")
            assert not Axe().run(page, options=RULES).response["violations"], step
            assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"), step
        assert page.evaluate("[...document.images].length >= 6 && [...document.images].every(i => i.naturalWidth > 20)")
        page.click("button:has-text('Open the study')")
        for field in page.locator("input[type=password]").all():
            field.fill(PASSWORD)
        page.click("main button.primary")
        page.wait_for_url("**/holiday/admin/**")

        other = new_page(390, 844)
        other.goto(link.partition("/start/")[0] + "/holiday/")
        while "/rate" not in other.url:
            for box in other.locator("main input[type=checkbox][required]").all():
                box.check()
            other.click("main button.primary")
        assert other.locator("[data-item]").count() >= 2
    finally:
        server.terminate()
        server.wait()
