"""LaTeX source: what a table says, and that no name in it is taken for a command."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relstudy.analysis.report.tables import Column, Table
from relstudy.common.results.estimates import Estimate
from relstudy.common.results.latex import LatexCell, latex_table, latex_text

BOOKTABS = r"% needs \usepackage{booktabs} and \usepackage{graphicx}"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        (
            r"\input{/etc/passwd} 50% $x_1$ a&b #1 ~ ^",
            r"\textbackslash{}input\{/etc/passwd\} 50\% \$x\_1\$ a\&b \#1 \textasciitilde{} \textasciicircum{}",
        ),
        ('bm25--v2 `x` "y" a|b', r"bm25-{}-v2 \textasciigrave{}x\textasciigrave{} {\char34}y{\char34} a\textbar{}b"),
        ("p < .05 > q", r"p \textless{} .05 \textgreater{} q"),
        ("[old] *new*", "{[}old] {*}new{*}"),
        ("−0.5 ± 1–2 ≤ σΩ µ x²", r"$-$0.5 $\pm$ 1--2 $\leq$ $\sigma$$\Omega$ $\mu$ x$^2$"),
        ("one\nline\twith\r\n breaks\u2028", "one line with   breaks "),
        ("Gro\u0308ße", "Größe"),
    ],
)
def test_text_is_written_so_that_latex_prints_it_as_it_stands(text: str, written: str) -> None:
    assert latex_text(text) == written


@pytest.mark.slow
@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=40))
@settings(max_examples=300)
def test_no_text_leaves_a_command_a_brace_open_or_a_comment(text: str) -> None:
    written = latex_text(text)
    known = r"\\(?:[&%$#_{},]|textbackslash\{\}|text(?:asciitilde|asciicircum|less|greater|bar|asciigrave)\{\}|char34)"
    bare = re.sub(r"\$[^$]*\$|-\{\}-|~", "", re.sub(known, "", written))
    assert not set(bare) & set('\\&%$#_^~"`<>|\n\r'), written
    unescaped = re.sub(r"\\[{}]", "", written)
    assert unescaped.count("{") == unescaped.count("}")
    assert not re.search(r"(?<!\{)[\[*]", written)


def test_a_table_has_as_many_columns_as_it_declares_whatever_the_cells_hold() -> None:
    rows = [["a_b & c", Estimate(-0.5, -0.6, -0.4), "x > y"], ["{}", Estimate.missing("no"), "±"]]
    text = Table("odd-name", "100 % of _all_.", [Column("System"), Column("r"), Column("said")], rows).latex()
    assert r"\begin{tabular}{@{}lrl@{}}" in text
    lines = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert [line.replace(r"\&", "").count("&") for line in lines] == [2, 2, 2, 2]
    assert r"\caption{100 \% of \_all\_.}" in text


def test_an_interval_stands_below_its_number_and_only_where_there_is_one() -> None:
    rows = [["a", Estimate(-0.5, -0.6, -0.4), 3], ["b", 0.25, 4]]
    text = Table("t", "Two.", [Column("s"), Column("r"), Column("n")], rows, best=(("r", "max"),)).latex()
    body = text.split("\\midrule\n")[1].split("\n\\bottomrule")[0].splitlines()
    assert body == [r"a & $-$0.50 & 3 \\", r" & \scriptsize {[}$-$0.60, $-$0.40] &  \\", r"b & \textbf{0.25} & 4 \\"]


def test_rows_with_intervals_stand_a_little_apart() -> None:
    rows = [[LatexCell("a"), LatexCell("1", "[0, 2]")], [LatexCell("b"), LatexCell("2", "[1, 3]")]]
    assert latex_table("Two.", "t", ["s", "r"], "lr", rows).count(r"\addlinespace") == 1


def test_long_headings_stand_in_two_lines_on_the_side_of_their_column() -> None:
    text = latex_table("One.", "t", ["System", "Average precision"], "lr", [[LatexCell("a"), LatexCell("1")]])
    assert r"System & \shortstack[r]{Average\\precision}" in text


def test_a_table_says_what_it_needs_to_be_set() -> None:
    def needs(name: str) -> list[str]:
        text = latex_table("One.", "t", ["System", "r"], "lr", [[LatexCell(name), LatexCell("1")]])
        return [line for line in text.splitlines() if line.startswith("%")]

    assert needs("plain σ ≤ 1") == [BOOKTABS]
    assert needs("naïve «système»") == [BOOKTABS, r"% needs \usepackage[T1]{fontenc} with pdfLaTeX"]
    assert needs("日本語 ő") == [BOOKTABS, "% needs XeLaTeX or LuaLaTeX and a font that has 日本語"]
    letters = "абвгдежзийк"
    assert needs(letters)[1] == f"% needs XeLaTeX or LuaLaTeX and a font that has {letters[:10]} and more"
