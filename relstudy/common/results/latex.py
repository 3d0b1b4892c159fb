"""A table for a paper: what LaTeX needs to set it, and nothing that LaTeX would take for a command."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

ROOMY = 12
"""A heading of more letters than this stands in two lines."""


@dataclass(frozen=True)
class LatexCell:
    """A cell as plain text: what it says, its interval in the line below, whether it stands out, and a raised mark."""

    text: str
    interval: str = ""
    bold: bool = False
    mark: str = ""


def latex_table(
    caption: str, label: str, headings: Sequence[str], alignment: str, rows: Sequence[Sequence[LatexCell]]
) -> str:
    """A floating table in booktabs' style that shrinks to the width of the text where it is wider.

    Parameters
    ----------
    caption, headings : plain text
    label : letters, digits and hyphens
    alignment : "l" or "r" a column
    rows : a cell per column; intervals stand below their numbers, which keeps columns narrow

    Returns
    -------
    LaTeX source; comments at its head name the packages it needs, and the engine where names need another than pdfLaTeX
    """
    body = [_heading(headings, alignment), r"\midrule"]
    for number, row in enumerate(rows):
        body += [r"\addlinespace[3pt]"] if number and any(cell.interval for cell in row) else []
        body.append(" & ".join(_value(cell) for cell in row) + r" \\")
        if any(cell.interval for cell in row):
            body.append(" & ".join(_interval(cell) for cell in row) + r" \\")
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{latex_text(caption)}}}",
        rf"\label{{tab:{label}}}",
        r"\smallskip",  # plain classes leave no room between a caption and the rule below it
        r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
        rf"\begin{{tabular}}{{@{{}}{alignment}@{{}}}}",
        r"\toprule",
        *body,
        r"\bottomrule",
        r"\end{tabular}}",
        r"\end{table}",
    ]
    return "\n".join([*_needs("\n".join(lines)), *lines]) + "\n"


def _heading(headings: Sequence[str], alignment: str) -> str:
    cells = []
    for name, side in zip(headings, alignment, strict=True):
        first, second = _two_lines(name)
        cells.append(
            rf"\shortstack[{side}]{{{latex_text(first)}\\{latex_text(second)}}}" if second else latex_text(first)
        )
    return " & ".join(cells) + r" \\"


def _two_lines(name: str) -> tuple[str, str]:
    """A long heading cut at the blank nearest to its middle.

    Examples
    --------
    >>> _two_lines("Average precision"), _two_lines("Kendall")
    (('Average', 'precision'), ('Kendall', ''))
    """
    blanks = [position for position, letter in enumerate(name) if letter == " "]
    if len(name) <= ROOMY or not blanks:
        return name, ""
    middle = min(blanks, key=lambda position: abs(2 * position - len(name)))
    return name[:middle], name[middle + 1 :]


def _value(cell: LatexCell) -> str:
    text = latex_text(cell.text)
    raised = rf"$^{{\mathrm{{{cell.mark}}}}}$" if cell.mark else ""
    return (rf"\textbf{{{text}}}" if cell.bold else text) + raised


def _interval(cell: LatexCell) -> str:
    return rf"\scriptsize {latex_text(cell.interval)}" if cell.interval else ""


_WRITTEN = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{mark: "\\" + mark for mark in "&%$#_"},
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"{\char34}",
    "`": r"\textasciigrave{}",
    # at the start of a row these would be options of the row before; hyphens in a row would become a dash
    "[": "{[}",
    "*": "{*}",
    "--": "-{}-",
    "–": "--",
    "—": "---",
    "\u202f": r"\,",
    "\u00a0": "~",
    "−": "$-$",
    "±": r"$\pm$",
    "×": r"$\times$",
    "·": r"$\cdot$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "≠": r"$\neq$",
    "≈": r"$\approx$",
    "→": r"$\rightarrow$",
    "←": r"$\leftarrow$",
    "∞": r"$\infty$",
    "√": r"$\surd$",
    "⁻": r"$^{-}$",
    "⁺": r"$^{+}$",
    **{power: f"$^{number}$" for number, power in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")},
    **{index: f"$_{number}$" for number, index in enumerate("₀₁₂₃₄₅₆₇₈₉")},
}
_GREEK = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho varsigma sigma tau upsilon phi "
    "chi psi "
    "omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega mu"
)
_WRITTEN |= {
    letter: rf"$\{name}$" for letter, name in zip("αβγδεζηθικλμνξπρςστυφχψωΓΔΘΛΞΠΣΥΦΨΩµ", _GREEK.split(), strict=True)
}
_MARKS = re.compile("|".join(re.escape(mark) for mark in sorted(_WRITTEN, key=len, reverse=True)))


def latex_text(text: str) -> str:
    """Text with every character that LaTeX would take as a command written out, in one line.

    Greek letters and common signs become mathematics; other letters stay as they are (see `latex_table`).

    Examples
    --------
    >>> print(latex_text("R&D_50%, σ ≤ 1"))
    R\\&D\\_50\\%, $\\sigma$ $\\leq$ 1
    """
    plain = " ".join(unicodedata.normalize("NFC", text).split(" "))
    plain = "".join(" " if unicodedata.category(letter) in ("Cc", "Zl", "Zp") else letter for letter in plain)
    return _MARKS.sub(lambda match: _WRITTEN[match[0]], plain)


_NOT_IN_T1 = set("ĦħĸĿŀŉŦŧſ")
_ALSO_IN_T1 = set("‐‑‒―‖‘’‚“”„†‡•…‰‹›€™")


def _needs(source: str) -> list[str]:
    """Comments on what a document must load for this table."""
    needed = [r"% needs \usepackage{booktabs} and \usepackage{graphicx}"]
    letters = sorted({letter for letter in source if ord(letter) > 126})
    foreign = [a for a in letters if (ord(a) > 0x17F and a not in _ALSO_IN_T1) or a in _NOT_IN_T1]
    if foreign:
        shown = "".join(foreign[:10])
        needed.append(f"% needs XeLaTeX or LuaLaTeX and a font that has {shown}{' and more' if foreign[10:] else ''}")
    elif letters:
        needed.append(r"% needs \usepackage[T1]{fontenc} with pdfLaTeX")
    return needed
