"""Every word of the interface stands in one table, is used somewhere, and can be replaced in study.toml."""

from __future__ import annotations

import re

import pytest

from relstudy.calibration.rater_profiles import FLAGS
from relstudy.studyapp.config.outcomes import OUTCOMES
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.config.texts import ENGLISH
from tests.places import ROOT

GERMAN = (ROOT / "tests" / "browser" / "german.toml").read_text(encoding="utf-8")
HERE = ROOT / "studyapp"


def test_the_german_study_replaces_every_text_and_keeps_its_blanks() -> None:
    texts = Study.parse(GERMAN).texts
    assert set(texts) == set(ENGLISH)
    for key, text in texts.items():
        assert set(re.findall(r"\{\w+\}", text)) == set(re.findall(r"\{\w+\}", ENGLISH[key])), key


def test_every_text_is_in_use() -> None:
    code = "".join(path.read_text(encoding="utf-8") for path in HERE.rglob("*") if path.suffix in {".py", ".html"})
    code = code.replace((HERE / "config" / "texts.py").read_text(encoding="utf-8"), "")
    made = (
        "admin.tab.",
        "admin.bar.",
        "admin.way.",
        "admin.state.",
        "admin.rater.",
        "admin.role.",
        "admin.flag.",
        "admin.outcome.",
        "admin.limit.",
        "admin.left.",
        "admin.aside.",
        "admin.back.",
        "instructions.default.",
        "preview.",
        "scale.",
        "withdraw.text.",
        "consent.stored.withdrawal.",
        *(f"{name}." for name in OUTCOMES),
        "refused.",
        "error.",
    )
    unused = [key for key in ENGLISH if f"{key}'" not in code and f'{key}"' not in code and not key.startswith(made)]
    assert unused == []


@pytest.mark.parametrize("flag", sorted(FLAGS))
def test_every_flag_has_a_text(flag: str) -> None:
    assert f"admin.flag.{flag.replace(' ', '-')}" in ENGLISH
