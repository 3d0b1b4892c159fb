"""Labels of the shipped scales are in the language that raters read; those of a study's own stay."""

from __future__ import annotations

from relstudy.studyapp.config.language import shipped_language
from relstudy.studyapp.config.study import Study

TOML = """
[scales.1-9]
labels = { 1 = "nothing at all", 9 = "good match" }
[[blocks]]
name = "a"
[[blocks.questions]]
id = "trust"
text = "Would you trust it?"
scale = "yes-no"
[[blocks]]
name = "b"
pairs = "base"
scale = "1-9"
"""


def test_labels_of_shipped_scales_are_translated_and_others_kept() -> None:
    german = shipped_language("de")
    assert german is not None
    study = Study.parse('[study]\nid = "s"\ntitle = "S"\n[entry]\nrules = ["open"]\n' + TOML)
    read = study.in_language(german)
    trust = read.blocks[0].questions[0].scale
    assert read.blocks[0].scale.labels == {1: "passt nicht", 5: "passt gut"}
    assert trust is not None and trust.labels == {0: "nein", 1: "ja"} and trust.name == "yes-no"
    assert read.blocks[1].scale.labels == {1: "nothing at all", 5: "passt zum Teil", 9: "passt gut"}
    assert study.blocks[0].questions[0].scale is not None
    assert study.blocks[0].questions[0].scale.labels == {0: "no", 1: "yes"}
