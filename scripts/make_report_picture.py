"""Make docs/report.png: the first screen of the report of data/example, as Chromium shows it.

python scripts/make_report_picture.py [CHROMIUM]
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from click.testing import CliRunner
from PIL import Image
from playwright.sync_api import sync_playwright

from relstudy.analysis.commands.report import report

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "report.png"
WIDTH, HEIGHT = 1200, 1330


def main(chromium: str) -> None:
    """Write the report, open it, take its picture, and keep that small."""
    with tempfile.TemporaryDirectory() as place:
        page = Path(place) / "index.html"
        arguments = [str(ROOT / "data" / "example"), "--out", str(page)]
        CliRunner().invoke(report, arguments, catch_exceptions=False)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            tab = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
            tab.goto(page.as_uri())
            tab.screenshot(path=str(PICTURE))
            browser.close()
    with Image.open(PICTURE) as picture:
        small = picture.convert("RGB").quantize(128, dither=Image.Dither.NONE)
    small.save(PICTURE, optimize=True)
    print(f"{PICTURE.relative_to(ROOT)}: {PICTURE.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "/usr/bin/chromium")
