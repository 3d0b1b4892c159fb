"""For the documentation's pages: formulas are typeset, pictures follow the page's light and dark, options are listed.

A hook of MkDocs (mkdocs.yml). A comment `<!-- options: MODULE CLASS ... -->` becomes a table of the options that these
dataclasses declare, and `<!-- options of the other commands -->` the tables of commands that no function in Python
has for a twin. A formula stands between dollars, as GitHub reads it, too; matplotlib sets it as SVG, so that a page
needs neither a script nor a font that the reader may not have. A picture `NAME.svg` that `charts.figures` drew
is put into the page, where the colours of `assets/site.css` reach it; of `NAME.png` with a `NAME-dark.png` beside it
the page shows the one that suits.
"""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import click
from matplotlib.font_manager import FontProperties
from matplotlib.path import Path as Outline
from matplotlib.textpath import TextToPath

from relstudy.common.options.argument_checks import needed
from relstudy.common.options.command_options import DeclaredOption
from relstudy.common.options.declaration import EXAMPLE, Declared, declared_in
from relstudy.common.options.limits import without_none
from relstudy.studyapp.cli import main

OPTIONS = re.compile(r"<!-- options: (\S+) ([\w ]+?) -->")
OF_OTHER_COMMANDS = "<!-- options of the other commands -->"
FORMULA = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.DOTALL)
PICTURE = re.compile(r'<img alt="([^"]*)" src="([^"]+\.(?:svg|png|jpg))"[^>]*/?>')
STEPS = {Outline.MOVETO: "M", Outline.LINETO: "L", Outline.CURVE3: "Q", Outline.CURVE4: "C", Outline.CLOSEPOLY: "Z"}
SIZE = TextToPath.FONT_SCALE
"""Units of a formula's drawing in one em."""


def on_page_markdown(text: str, **_: Any) -> str:
    """The page with a table in place of each comment that names dataclasses of options, and in place of the comment on
    the other commands a table for each that has options which stand in none of these."""
    shown = [each for match in OPTIONS.finditer(text) for each in declared_in(*_dataclasses(match)).values()]
    text = OPTIONS.sub(lambda match: option_table(*_dataclasses(match)), text)
    return text.replace(OF_OTHER_COMMANDS, command_tables(shown)) if OF_OTHER_COMMANDS in text else text


def _dataclasses(match: re.Match[str]) -> list[type]:
    return [getattr(import_module(match[1]), name) for name in match[2].split()]


def command_tables(elsewhere: Collection[Declared]) -> str:
    """A heading and a table for each command with declared options that are not `elsewhere`, in the help's order."""
    parts = []
    for path, command in commands_of(main, click.Context(main)):
        declarations = [each.declaration for each in command.params if isinstance(each, DeclaredOption)]
        rows = [each for each in declarations if each not in elsewhere]
        if rows:
            lines = ["| option | takes | default | what it decides |", "|---|---|---|---|"]
            lines += [f"| {_flags(each)} | {_takes(each)} | {_default(each)} | {each.said.sentence} |" for each in rows]
            parts.append("\n".join([f"### relstudy {path}", "", *lines]))
    return "\n\n".join(parts)


def commands_of(group: click.Group, context: click.Context, path: str = "") -> Iterator[tuple[str, click.Command]]:
    """Each command with what is typed to call it, those of a group in its place."""
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from commands_of(command, context, f"{path}{name} ")
        elif command is not None:
            yield path + name, command


def _flags(each: Declared) -> str:
    return " ".join(f"`{flag}`" for flag in each.flags)


def _takes(each: Declared) -> str:
    return needed(without_none(each.kind), each.said.limits).replace("'", "`")


def _default(each: Declared) -> str:
    return "must be given" if each.required else each.default_words()


def _meaning(each: Declared) -> str:
    """What it decides, with each example as it is typed and, where that is another, as Python has it."""

    def both(example: re.Match[str]) -> str:
        value = each.from_text(example[1])
        return example[0] if value == example[1] else f"{example[0]} (`{value!r}`)"

    return each.said.sentence if each.said.typed is None else EXAMPLE.sub(both, each.said.sentence)


def option_table(*options: type) -> str:
    """The options that dataclasses declare as a table in Markdown."""
    lines = ["| command | Python | takes | default | what it decides |", "|---|---|---|---|---|"]
    for name, each in declared_in(*options).items():
        lines.append(f"| {_flags(each)} | `{name}` | {_takes(each)} | {_default(each)} | {_meaning(each)} |")
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
