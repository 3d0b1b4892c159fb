"""study.toml: what it can say, and what it is told when it says something else."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.meaning.scales import SCALES, Scale
from relstudy.studyapp.config.starter import starter_toml
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.config.toml_checker import line_numbers

HEAD = '[study]\nid = "t"\ntitle = "t"\n'


def faults(text: str) -> str:
    with pytest.raises(RelstudyError) as refused:
        Study.parse(text)
    return str(refused.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "study: add the section [study], with id and title"),
        ("[study]\nid = 'a b'\ntitle = 't'", "line 2, study.id: 'a b' is not allowed; allowed is letters, digits"),
        ("[study]\nid = 'a'", "study.title: a text is required"),
        (HEAD + "titel = 'x'", "line 4, study.titel: unknown setting; choose id, title"),
        (HEAD + "url = 'study.org'", "line 4, study.url: 'study.org' is not allowed; allowed is an address"),
        (HEAD + "paused = 1", "line 4, study.paused: 1 is not allowed; true or false is allowed"),
        (HEAD + "[handout]\nlease_minutes = 0", "line 5, handout.lease_minutes: 0 is not allowed; a number from 0.01"),
        (HEAD + "[handout]\nseed = 1.5", "line 5, handout.seed: 1.5 is not allowed; a whole number"),
        (HEAD + "[entry]\nrules = 'open'", "line 5, entry.rules: 'open' is not allowed; a list of texts"),
        (
            HEAD + "[[examples]]\nquery_id = 'q'\nresult_id = 'r'\nrating = 9",
            "examples.rating: 9 is not allowed; a value of the scale 1-5 is needed",
        ),
        (
            HEAD + "[[blocks]]\nask = 'which'\n[[examples]]\nquery_id = 'q'\nresult_id = 'r'\nrating = 1",
            "examples: only blocks that ask for ratings have examples",
        ),
        (HEAD + "[entry]\nrules = ['opne']", "entry.rules: 'opne' is not allowed; any of personal, open, passphrase"),
        (HEAD + "[entry]\nrules = ['passphrase']", "goes with a passphrase of at least 8 characters"),
        (HEAD + "[entry]\nrules = ['passphrase']\npassphrase = 'short'", "line 6, entry.passphrase: 'short'"),
        (HEAD + "[entry]\nrules = ['open', 'passphrase']\npassphrase = 'long enough'", "exclude each other"),
        (HEAD + "[entry]\nrules = ['crowd']", "needs the name of the URL parameter for the person"),
        (
            HEAD + "[[blocks]]\nscale = '1-7'",
            "line 5, blocks.scale: '1-7' is not allowed; one of 1-5, binary, yes-no, 1-9",
        ),
        (HEAD + "[[blocks]]\nname = 'a'\n[[blocks]]\nname = 'a'", "line 7, blocks.name: 'a' is not allowed; another"),
        (
            HEAD + "[[blocks]]\npairs = 'base'\nratings_per_pair = 2",
            "line 6, blocks.ratings_per_pair: 2 is not allowed; only",
        ),
        (HEAD + "[[blocks]]\nresults_per_page = true", "blocks.results_per_page: True is not allowed; a whole number"),
        (HEAD + "[scales.x]\nvalues = [3, 1]", "line 5, scales.x.values: [3, 1] is not allowed; two to 21 ascending"),
        (
            HEAD + "[scales.x]\nvalues = [1, 2]\nlabels = {3 = 'c'}",
            "a text for one of the values [1, 2] is allowed, not for 3",
        ),
        (HEAD + "[[practice]]\nquery_id = 'q'\nresult_id = 'r'\nexpected = [9]", "each one of 1, 2, 3, 4, 5"),
        (HEAD + "[[questions]]\nid = 'a'\ntext = 't'\nkind = 'choice'", "go with a list of choices"),
        (HEAD + "[texts]\n'rate.nxt' = 'x'", "line 5, texts.rate.nxt: there is no such text"),
        ("[study\n", "this is not TOML"),
    ],
)
def test_a_wrong_value_is_told_with_line_value_and_what_is_allowed(text: str, message: str) -> None:
    assert message in faults(text)


def test_all_faults_are_listed_together_the_first_twenty_in_full() -> None:
    text = HEAD + "".join(f"[[blocks]]\nname = 'b{n}'\nmore = -{n + 1}\n" for n in range(25))
    lines = faults(text).splitlines()
    assert len(lines) == 21 and lines[-1] == "... and 5 more faults"
    assert lines[3].startswith("study.toml, line 15, blocks.more: -4 is not allowed")


@pytest.mark.parametrize(
    "text",
    [
        '[study]\nid = "t"\ntitle = "t"\nlanguage = 5\n',
        '[study]\nid = "t"\ntitle = "t"\nlanguages = "de"\n',
        HEAD + "[entry]\ncompletion_url = 5\n",
    ],
)
def test_a_wrong_value_is_told_once(text: str) -> None:
    assert len(faults(text).splitlines()) == 1


def test_a_missing_file_says_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(RelstudyError, match=r"file not found; `relstudy new"):
        Study.load(tmp_path)


def test_the_starter_with_every_comment_taken_away_is_a_valid_study() -> None:
    plain = starter_toml("x")
    assert Study.parse(plain).blocks[0].results_per_page == 4
    kept = []
    for line in plain.splitlines():
        bare = line.removeprefix("# ")
        setting = (bare.startswith(("[", '"')) and bare != '"""') or (
            " = " in bare and bare.split(" = ")[0].isidentifier()
        )
        kept.append(bare if line.startswith("# ") and setting else line)
    text = "\n".join(kept).replace('rules = ["personal", "open"]', 'rules = ["personal", "passphrase", "crowd"]')
    text = text.replace('consent = """', "").replace('instructions = """', "").replace('thanks = """', "")
    study = Study.parse(text)
    assert [block.name for block in study.blocks] == ["base", "unique", "words-base", "words-unique"]
    assert study.practice and study.attention and study.questions and study.texts == {"rate.next": "Go on"}


def test_scales_of_any_values_take_exactly_their_values() -> None:
    study = Study.parse(HEAD + "[scales.half]\nvalues = [-0.5, 0, 2.5]\nundecided = false\n[[blocks]]\nscale = 'half'")
    scale = study.blocks[0].scale
    assert [scale.parse(text) for text in ("-0.5", "0", "2.5")] == [-0.5, 0, 2.5]
    for text in ("undecided", "1", "", "2.50", "nan", "-0"):
        with pytest.raises(ValueError):
            scale.parse(text)


@pytest.mark.slow
@given(st.text(max_size=12))
@settings(max_examples=100, deadline=None)
def test_nothing_but_a_value_of_the_scale_or_undecided_is_ever_a_rating(text: str) -> None:
    scale: Scale = SCALES["1-9"]
    allowed = {str(value): float(value) for value in range(1, 10)} | {"undecided": None}
    if text in allowed:
        assert scale.parse(text) == allowed[text]
    else:
        with pytest.raises(ValueError):
            scale.parse(text)


names = st.text("abc_-", min_size=1, max_size=5)
values = st.one_of(st.integers(), st.booleans(), st.text(max_size=8), st.lists(st.integers(), max_size=3))


@pytest.mark.slow
@given(st.dictionaries(names, st.dictionaries(names, values, max_size=4), max_size=4), st.data())
@settings(max_examples=60, deadline=None)
def test_any_toml_is_either_a_study_or_told_its_faults_never_a_traceback(
    extra: dict[str, dict[str, object]], data: st.DataObject
) -> None:
    import json

    table_names = st.sampled_from(["study", "handout", "entry", "scales", "blocks", "practice", "questions", "texts"])
    lines = [HEAD]
    for name, table in extra.items():
        header = data.draw(st.one_of(st.just(name), table_names))
        lines.append(f"[[{header}]]" if data.draw(st.booleans()) else f"[{header}]")
        lines += [f'"{key}" = {json.dumps(value)}' for key, value in table.items()]
    try:
        Study.parse("\n".join(lines))
    except RelstudyError as error:
        assert str(error)


def test_lines_are_found_behind_texts_of_several_lines_and_in_nested_tables() -> None:
    text = 'a = """\n[no]\nb = 1\n"""\nc = 1\n[t]\nd = 2 # x\n[[u]]\n"e f" = 3\n[[u]]\n[u.v]\ng = 4\n'
    assert line_numbers(text) == {
        ("a",): 1,
        ("c",): 5,
        ("t",): 6,
        ("t", "d"): 7,
        ("u", 0): 8,
        ("u", 0, "e f"): 9,
        ("u", 1): 10,
        ("u", 1, "v"): 11,
        ("u", 1, "v", "g"): 12,
    }
