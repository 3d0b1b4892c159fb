"""For the documentation's pages: formulas are typeset, pictures follow the page's light and dark, options are listed.

A hook of MkDocs (mkdocs.yml). A comment `<!-- options: MODULE CLASS ... -->` becomes a table of the options that these
dataclasses declare. A formula stands between dollars, as GitHub reads it, too; matplotlib sets it as SVG, so
that a page needs neither a script nor a font that the reader may not have. A picture `NAME.svg` that
`relstudy.common.figures` drew is put into the page, where the colours of `assets/site.css` reach it; of `NAME.png` with
a `NAME-dark.png` beside it the page shows the one that suits.
"""

from __future__ import annotations

import html
import re
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from matplotlib.font_manager import FontProperties
from matplotlib.path import Path as Outline
from matplotlib.textpath import TextToPath

from relstudy.common.arguments import needed
from relstudy.common.kinds import without_none
from relstudy.common.options import declared_in

OPTIONS = re.compile(r"<!-- options: (\S+) ([\w ]+?) -->")
FORMULA = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.DOTALL)
PICTURE = re.compile(r'<img alt="([^"]*)" src="([^"]+\.(?:svg|png|jpg))"[^>]*/?>')
STEPS = {Outline.MOVETO: "M", Outline.LINETO: "L", Outline.CURVE3: "Q", Outline.CURVE4: "C", Outline.CLOSEPOLY: "Z"}
SIZE = TextToPath.FONT_SCALE
"""Units of a formula's drawing in one em."""


def on_page_markdown(text: str, **_: Any) -> str:
    """The page with a table in place of each comment that names dataclasses of options."""
    return OPTIONS.sub(
        lambda match: option_table(*(getattr(import_module(match[1]), name) for name in match[2].split())), text
    )


def option_table(*options: type) -> str:
    """The options that dataclasses declare as a table in Markdown."""
    lines = ["| command | Python | takes | default | what it decides |", "|---|---|---|---|---|"]
    for name, each in declared_in(*options).items():
        flags = " ".join(f"`{flag}`" for flag in each.flags)
        takes = needed(without_none(each.kind), each.said.limits).replace("'", "`")
        lines.append(f"| {flags} | `{name}` | {takes} | {each.default_words()} | {each.said.sentence} |")
    return "\n".join(lines)


def on_page_content(text: str, *, page: Any, config: Any, **_: Any) -> str:
    """The page's HTML with formulas and pictures as described above."""
    folder = Path(config["docs_dir"]) / Path(page.file.src_uri).parent
    text = FORMULA.sub(lambda match: typeset(html.unescape(match[3]), display=match[2] == "["), text)
    return PICTURE.sub(lambda match: _picture(match, folder), text)


@cache
def typeset(latex: str, *, display: bool) -> str:
    """A formula as SVG, in the letters' colour and size; `display`: on a line of its own.

    Raises
    ------
    ValueError
        when matplotlib does not know a command of it, with the place
    """
    latex = " ".join(latex.split())
    letters = FontProperties(size=SIZE, math_fontfamily="dejavusans")
    formula = "$" + (latex.replace(r"\frac", r"\dfrac") if display else latex) + "$"
    setter = TextToPath()  # its own size and resolution, so that the second line finds the first one's work
    width, height, depth, *_ = setter.mathtext_parser.parse(formula, setter.DPI, letters)
    outline = Outline(*setter.get_text_path(letters, formula, ismath=True))
    drawn = "".join(
        STEPS[code]
        + ("" if code == Outline.CLOSEPOLY else " ".join(f"{x:.1f},{-y:.1f}" for x, y in points.reshape(-1, 2)))
        for points, code in outline.iter_segments(simplify=False, curves=True)
    )
    box = f'viewBox="0 {-(height - depth):.1f} {width:.1f} {height:.1f}"'
    style = f"width: {width / SIZE:.3f}em; vertical-align: {-depth / SIZE:.3f}em"
    kind = "formula display" if display else "formula"
    label = html.escape(latex, quote=True)
    return f'<svg class="{kind}" role="img" aria-label="{label}" {box} style="{style}"><path d="{drawn}"/></svg>'


def _picture(match: re.Match[str], folder: Path) -> str:
    alternative, source = match[1], match[2]
    file = folder / source
    if not file.is_file():
        return match[0]  # MkDocs has warned of it, with the page's name
    if file.suffix == ".svg":
        drawn = file.read_text(encoding="utf-8")
        # its own colours are for a file that stands alone; in a page they would win over the theme's
        return re.sub(r"<style>.*?</style>", "", drawn, count=1, flags=re.DOTALL)
    if not file.with_stem(f"{file.stem}-dark").is_file():
        return match[0]
    dark = source.removesuffix(file.suffix) + f"-dark{file.suffix}"
    return (
        f'<img alt="{alternative}" src="{source}" class="only-light">'
        f'<img alt="{alternative}" src="{dark}" class="only-dark">'
    )
