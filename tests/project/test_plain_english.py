"""Idioms that users had to read twice stay out of what the program says."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.places import ROOT

ROOMS = ("analysis", "calibration", "mapping", "studyapp", "relstudy/common", "relstudy/api")
IDIOMS = {
    "X is no Y": r"(?<![Tt]here )\bis no (?!(longer|less|more|secret|reason|use|html|spread|need)\b)\w",
    "anew": r"\banew\b",
    "by lot": r"\bby lot\b",
    "Mind:": r"\bMind:",
    "mend": r"\bmends?\b",
    "good above poor": r"[Gg]ood above poor",
    "so many": r"\bso many\b",
    "held against": r"\bh[eo]ld against\b",
    "told, tells": r"\b(told|tells?)\b(?! (the people who run|its owner))",
    "stands": r"\bst(ands|ood)\b",
    "who as a noun": r"\b(to|for|of|by|from) who (does|is|has|did|was|takes?|answers?)\b",
    "where there is": r"\bwhere there (is|are)\b",
}
ANSWERED = {"analysis/inspection/answers.py", "studyapp/config/texts.py", "studyapp/config/starter.py"}
ASKED = {"studyapp/judging/prompt.py"}
KEPT = {
    "good above poor": {"analysis/indices/registry.py"}, "anew": {"analysis/scoring/mapping_used.py"},
    "told, tells": ANSWERED | ASKED | {"studyapp/web/preview.py"}, "stands": ASKED,
}  # fmt: skip
"""Where an idiom stays: names that requirements may use, a value in the JSON of saved comparisons, "cannot tell" as an
answer, a question to raters, a page's name, and prompts, whose answers belong to their words."""


@pytest.fixture(scope="module")
def messages() -> list[tuple[str, int, str]]:
    """Each string that the program may say, with its module and line."""
    files = [path for room in ROOMS for kind in ("*.py", "*.html") for path in sorted((ROOT / room).rglob(kind))]
    return [(path.relative_to(ROOT).as_posix(), *each) for path in files for each in said(path)]


def said(path: Path) -> Iterator[tuple[int, str]]:
    """The strings of a module that are not docstrings, with their lines; of a template its text."""
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".html":
        yield 1, re.sub(r"<[^>]+>|\{[%{#].*?[%}#]\}", " ", source, flags=re.DOTALL)
        return
    tree = ast.parse(source)
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in alone
            and " " in node.value
        ):
            yield node.lineno, node.value


@pytest.mark.parametrize("idiom", IDIOMS)
def test_no_message_holds_an_idiom(idiom: str, messages: list[tuple[str, int, str]]) -> None:
    kept = KEPT.get(idiom, ())
    found = [each for each in messages if each[0] not in kept and re.search(IDIOMS[idiom], each[2])]
    assert found == []
