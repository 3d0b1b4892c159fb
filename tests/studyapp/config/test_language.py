"""Languages: every shipped file is whole, and a study's own is refused where it is not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.config import language
from relstudy.studyapp.config.language import names_for_raters, read_language, shipped, shipped_language
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.config.texts import ENGLISH

FILES = Path(language.__file__ or "").parent / "languages"
TOML = """
[study]
id = "words"
title = "Words"
languages = ["de", "ar"]
[scales.fair]
values = [0, 1]
labels = { 0 = "no", 1 = "yes" }
[[blocks]]
name = "all"
scale = "fair"
question = "Does it fit?"
[[questions]]
id = "age"
text = "How old are you?"
"""


@pytest.mark.parametrize("code", [code for code in shipped() if code != "en"])
def test_a_shipped_language_has_every_text_that_raters_see_and_no_other(code: str) -> None:
    found = shipped_language(code)
    assert found is not None
    assert list(found.texts) == list(names_for_raters())
    assert all(text.strip() for text in found.texts.values())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: re.sub(r'"rate.next" = .*\n', "", text), "these texts are missing under [texts]: rate.next"),
        (lambda text: text + '"rate.nxt" = "Weiter"\n', "'rate.nxt' is unknown"),
        (lambda text: text + '"admin.close" = "Schluss"\n', "'admin.close' is unknown"),
        (
            lambda text: text.replace("Seite {page} von {pages}", "Seite {page}"),
            "rate.progress must hold {page}, {pages}",
        ),
        (lambda text: text.replace("Seite {page} von", "Seite {Seite} von"), "rate.progress must hold {page}, {pages}"),
        (lambda text: text.replace('"ltr"', '"down"'), "direction = 'down'; ltr or rtl is allowed"),
        (lambda text: text.replace('"Deutsch"', "Deutsch"), "this is not TOML in UTF-8"),
    ],
)
def test_a_language_file_that_lacks_a_name_or_has_a_wrong_one_is_refused(
    tmp_path: Path, change: object, message: str
) -> None:
    assert callable(change)
    text = (FILES / "de.toml").read_text(encoding="utf-8")
    assert change(text) != text
    (tmp_path / "xx.toml").write_text(change(text), encoding="utf-8")
    with pytest.raises(RelstudyError) as refused:
        read_language(tmp_path / "xx.toml")
    assert message in str(refused.value)


def test_a_studys_file_translates_its_words_and_changes_single_texts_of_a_shipped_language(tmp_path: Path) -> None:
    (tmp_path / "languages").mkdir()
    (tmp_path / "languages" / "de.toml").write_text(
        '[texts]\n"rate.next" = "Nächste"\n[study]\ntitle = "Wörter"\n[blocks]\nall = "Passt es?"\n'
        '[questions]\nage = "Wie alt sind Sie?"\n[labels.fair]\n1 = "ja"\n',
        encoding="utf-8",
    )
    study = Study.parse(TOML, folder=tmp_path)
    assert [(each.code, each.name, each.direction) for each in study.languages] == [
        ("en", "English", "ltr"),
        ("de", "Deutsch", "ltr"),
        ("ar", "العربية", "rtl"),
    ]
    german = study.in_language(study.languages[1])
    block = german.blocks[0]
    assert (german.language, german.title, block.question, german.questions[0].text) == (
        "de",
        "Wörter",
        "Passt es?",
        "Wie alt sind Sie?",
    )
    assert block.scale.labels == {0: "nein", 1: "ja"} and block.scale.values == study.blocks[0].scale.values
    assert (german.texts["rate.next"], german.texts["rate.back"]) == ("Nächste", "Zurück")
    assert study.in_language(study.languages[0]).blocks == study.blocks


def test_a_language_that_nobody_wrote_is_refused_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(RelstudyError, match=r"languages.*fr\.toml: file not found, and the program has ar, de"):
        Study.parse(TOML.replace('"de", "ar"', '"fr"'), folder=tmp_path)


def test_a_study_in_german_has_the_german_texts_and_its_own_in_their_place(tmp_path: Path) -> None:
    toml = '[study]\nid = "a"\ntitle = "A"\nlanguage = "de"\n[texts]\n"rate.back" = "Retour"\n'
    study = Study.parse(toml, folder=tmp_path)
    own = study.in_language(study.languages[0])
    assert (own.texts["rate.next"], own.texts["rate.back"]) == ("Weiter", "Retour")
    assert "admin.close" not in own.texts and "admin.close" in ENGLISH


def test_a_study_in_a_language_that_is_not_shipped_keeps_english_texts_where_it_has_none(tmp_path: Path) -> None:
    study = Study.parse('[study]\nid = "a"\ntitle = "A"\nlanguage = "fi"\n', folder=tmp_path)
    assert study.in_language(study.languages[0]).texts == {}
