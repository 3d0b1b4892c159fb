"""Make docs/report.png: the first screen of the report of data/example, as Chromium shows it, in light and dark.

    python scripts/make_report_picture.py [CHROMIUM]

Beside it docs/assets/report-annotated.png, the same with the numbers that docs/read-the-report.md explains.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from click.testing import CliRunner
from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from relstudy.analysis.commands.report import report

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
WIDTH = 820
"""Pixels: near the width at which a page of the documentation shows the picture, so that its words can be read."""
MARKS = {
    "1": (".banner", "left"),
    "2": (".answer .headline", "left"),
    "3": (".cards > div:first-child", "left"),
    "4": (".overview tbody tr:nth-child(1) .rank", "left"),
    "5": (".overview tbody tr:nth-child(2) .range", "right"),
    "6": (".overview thead .mark", "above"),
}
"""What docs/read-the-report.md explains, by its number: where it is on the page, and the side that the number is on."""
DRAW = """(marks) => Object.entries(marks).map(([number, [place, side]]) => {
  const box = document.querySelector(place)?.getBoundingClientRect();
  if (!box) return place;
  const left = side === "left" ? Math.max(2, box.left - 24) : side === "right" ? box.right + 5 : box.left - 4;
  const top = scrollY + (side === "above" ? box.top - 18 : box.top + box.height / 2 - 10);
  const mark = document.createElement("b");
  mark.textContent = number;
  mark.style.cssText = `position: absolute; left: ${left}px; top: ${top}px; width: 20px; height: 20px; z-index: 9;
    background: #b3305a; color: white; border-radius: 50%; font: bold 13px/20px sans-serif; text-align: center`;
  document.body.append(mark);
}).filter(Boolean)"""


def main(chromium: str) -> None:
    """Write the report, open it, and take its pictures."""
    with tempfile.TemporaryDirectory() as place:
        page = write_report(Path(place), replicates=1000)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            for scheme, ending in (("light", ""), ("dark", "-dark")):
                take(browser, page, DOCS / f"report{ending}.png", scheme)
                take(browser, page, DOCS / "assets" / f"report-annotated{ending}.png", scheme, annotated=True)
            browser.close()


def write_report(folder: Path, replicates: int) -> Path:
    """The report of data/example; its address."""
    page = folder / "index.html"
    arguments = [str(ROOT / "data" / "example"), "--out", str(page), "--replicates", str(replicates)]
    CliRunner().invoke(report, arguments, catch_exceptions=False)
    return page


def take(browser: Browser, page: Path, picture: Path, scheme: str, *, annotated: bool = False) -> None:
    """The page down to the picture of all systems; with `annotated` the numbers of MARKS are on it.

    Raises
    ------
    LookupError
        when a place of MARKS is not on the page any more
    """
    tab = browser.new_page(
        viewport={"width": WIDTH, "height": 1200}, color_scheme="dark" if scheme == "dark" else "light"
    )
    tab.goto(page.as_uri())
    tab.add_style_tag(content="nav[aria-label='On this page'], .above { display: none }")
    if annotated and (missing := tab.evaluate(DRAW, MARKS)):
        raise LookupError(f"the report has no {', '.join(missing)}: docs/read-the-report.md explains it")
    box = tab.locator("figure.overview").bounding_box()
    assert box is not None
    tab.screenshot(path=picture, clip={"x": 0, "y": 0, "width": WIDTH, "height": box["y"] + box["height"] + 12})
    tab.close()
    with Image.open(picture) as taken:
        small = taken.convert("RGB").quantize(128, dither=Image.Dither.NONE)
    small.save(picture, optimize=True)
    print(f"{picture.name}: {picture.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "/usr/bin/chromium")
