"""The figures of the documentation are those that the script draws, and formulas need nothing from outside."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scripts import draw_figures
from scripts.figures.coverage import design_rows
from scripts.site_pages import on_page_content, typeset
from tests.places import ROOT

ASSETS = ROOT / "docs" / "assets"


def drawn(svg: str) -> tuple[list[str], int]:
    """The words of a picture, and how many marks it has; not their places, which differ between releases."""
    return re.findall(r"<text[^>]*>([^<]*)", svg), svg.count("<use")


def test_coverage_is_read_from_the_table_that_the_command_printed() -> None:
    rows = design_rows(100)
    assert len(rows) == 10 and rows["precision at 2%"] == [99.7, 95.7, 94.7, 92.7]


@pytest.mark.slow
@pytest.mark.laid_out
@pytest.mark.parametrize("name", draw_figures.FIGURES)
def test_a_figure_is_what_the_script_draws_from_the_pages_of_today(name: str, tmp_path: Path) -> None:
    draw_figures.main([name, "--out", str(tmp_path)])
    kept = (ASSETS / f"{name}.svg").read_text(encoding="utf-8")
    assert drawn((tmp_path / f"{name}.svg").read_text(encoding="utf-8")) == drawn(kept)


def test_every_figure_of_the_script_is_on_a_page() -> None:
    pages = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs").rglob("*.md"))
    assert [name for name in draw_figures.FIGURES if f"assets/{name}.svg)" not in pages] == []


def test_a_formula_is_drawn_on_the_line_of_its_letters_and_can_be_read_aloud() -> None:
    shown = typeset(r"\frac{n_q}{N_q}", display=False)
    assert 'role="img" aria-label="\\frac{n_q}{N_q}"' in shown and "vertical-align: -0." in shown
    assert shown.count("Z") >= 5  # n, q, N, q, and the bar between them
    with pytest.raises(ValueError, match="Unknown symbol"):
        typeset(r"\nonsense", display=True)


def test_pictures_follow_the_theme_of_the_page(tmp_path: Path) -> None:
    (tmp_path / "drawn.svg").write_text("<svg><style>svg{--ink:#000}</style><path/></svg>")
    for name in ("screen.png", "screen-dark.png", "alone.jpg"):
        (tmp_path / name).touch()

    class Page:
        class file:
            src_uri = "page.md"

    shown = "".join(f'<img alt="A" src="{name}" />' for name in ("drawn.svg", "screen.png", "alone.jpg"))
    html = on_page_content(shown, page=Page, config={"docs_dir": str(tmp_path)})
    assert html.startswith("<svg><path/></svg>")
    assert 'src="screen.png" class="only-light"' in html and 'src="screen-dark.png" class="only-dark"' in html
    assert '<img alt="A" src="alone.jpg" />' in html
