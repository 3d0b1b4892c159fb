"""Several questions about each result: asked, kept, given back, exported, and never against a rater."""

from __future__ import annotations

import json
from collections.abc import Callable

import pandas as pd
import pytest
import sqlalchemy as sa
from click.testing import CliRunner

from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.assignment.eligibility import read_outcome
from relstudy.studyapp.assignment.enrolment import read_raters
from relstudy.studyapp.assignment.synchronisation import prepare
from relstudy.studyapp.cli import main
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.tables import ratings
from relstudy.studyapp.monitoring.changes import changes_after
from relstudy.studyapp.monitoring.export import ratings_table
from relstudy.studyapp.monitoring.status import study_status
from relstudy.studyapp.web.admin.access import set_password
from tests.studyapp.browse import Browser, joined
from tests.studyapp.statements import statements_of_a_page
from tests.studyapp.studies import TOML, Made

ASKS = """
not_shown = true

[[blocks.questions]]
id = "trust"
text = "Would you trust it?"
scale = "binary"

[[blocks.questions]]
id = "why"
text = "Why?"
"""
BASE_ONLY = TOML.replace('pairs = "base"\n', f'pairs = "base"\n{ASKS.split("[[")[0]}').replace(
    '\n[[blocks]]\nname = "unique"', f'\n[[{"[[".join(ASKS.split("[[")[1:])}\n[[blocks]]\nname = "unique"'
)
MORE = BASE_ONLY + "".join(f"[[{part}" for part in ASKS.split("[[")[1:])
MakeStudy = Callable[..., Made]


def answered(browser: Browser, main: str = "4", trust: str = "1", why: str = "") -> dict[str, str]:
    """The form of the page, filled in alike for every result."""
    form = browser.page.form(browser.address)
    fields = dict(form.fields)
    for name in form.choices:
        fields[name] = trust if name.endswith("-trust") else main
    for number in range(1, 5):
        if f"rating-{number}-trust" in form.choices:
            fields[f"rating-{number}-why"] = why
    return fields


@pytest.mark.slow
def test_answers_to_several_questions_are_kept_shown_again_and_changed_as_one_revision(make_study: MakeStudy) -> None:
    made = make_study(MORE)
    browser = joined(made.app)
    first = browser.address
    browser.post(first, answered(browser, why="  too blue  "))
    assert browser.status == 200
    page = browser.get(first)
    form = page.form(first)
    assert form.fields["rating-1"] == "4" and form.fields["rating-1-trust"] == "1"
    assert "too blue" in browser.html
    rows = made.rows()
    browser.post(first, {**answered(browser, why="too blue"), "rating-1-trust": "0"})
    assert made.rows() == rows + 1  # the one result whose answer is another
    browser.get(first)
    browser.post(first, {**answered(browser, why="too blue"), "rating-1-trust": "0"})
    assert made.rows() == rows + 1  # the same once more changes nothing
    study = Study.load(made.folder)
    table = ratings_table(made.store, study, question=study.result_questions["trust"])
    assert sorted(table["rating"]) == [0.0, 1.0, 1.0, 1.0]
    assert set(table["scale"]) == {"binary"} and set(table["scale_high"]) == {1.0}
    words = ratings_table(made.store, study, question=study.result_questions["why"])
    assert words["words"].tolist() == ["too blue"] * 4 and words["rating"].tolist() == [4.0] * 4
    assert "further" not in ratings_table(made.store, study)
    event = changes_after(made.store, "start").events[-1]
    assert event["further"] == {"trust": 0.0, "why": "too blue"}


@pytest.mark.slow
def test_what_is_refused_loses_nothing_that_was_typed(make_local: MakeStudy) -> None:
    browser = joined(make_local(MORE).app)
    fields = answered(browser, why="<b>because</b> & so")
    del fields["rating-2-trust"]
    fields["rating-3"] = ""
    browser.post(browser.address, fields)
    assert browser.status == 422
    form = browser.page.form(browser.address)
    html = browser.html
    assert html.count("&lt;b&gt;because&lt;/b&gt; &amp; so") == 4
    assert [form.fields.get(f"rating-{n}") for n in (1, 2, 3, 4)] == ["4", "4", None, "4"]
    assert [form.fields.get(f"rating-{n}-trust") for n in (1, 2, 3, 4)] == ["1", None, "1", "1"]
    assert "Please answer every question" in browser.page.text and "Please rate every result" in browser.page.text
    assert html.count('class="result lacking"') == 2
    browser.post(browser.address, {**answered(browser), "rating-1-why": "x" * 4001})
    assert browser.status == 422 and "At most 4000 signs" in browser.page.text


@pytest.mark.slow
def test_what_could_not_be_shown_is_neither_undecided_nor_against_the_rater(make_study: MakeStudy) -> None:
    toml = MORE.replace('rules = ["personal", "open"]', 'rules = ["open"]\nfailed_checks_allowed = 0').replace(
        'name = "unique"\npairs = "unique"', 'name = "unique"\npairs = "unique"\nnot_shown = true'
    )
    toml += '\n[[attention]]\nblock = "base"\nquery_id = "q0"\nresult_id = "q7"\nexpected = [1]\n'
    made = make_study(toml)
    browser = joined(made.app)
    while browser.address.startswith("/rate"):
        browser.post(browser.address, answered(browser, "not_shown", ""))
        assert browser.status == 200, browser.page.text
    study = Study.load(made.folder)
    with made.store.read() as connection:
        (rater,) = read_raters(connection)
        assert read_outcome(connection, study, rater) == "completed"
    status = study_status(made.store, study)
    assert status.people[0].undecided == 0 and status.people[0].could_not_be_shown == status.people[0].ratings > 0
    assert status.people[0].checks == 0 and all(block.undecided == 0 for block in status.blocks)
    table = ratings_table(made.store, study)
    assert table["rating"].isna().all() and set(table["not_shown"]) == {1} and set(table["passed"]) == {""}
    set_password(made.folder, "correct horse battery")
    admin = Browser(made.app)
    admin.get("/admin/")
    admin.send(admin.page.form(), password="correct horse battery")
    shown = admin.get("/admin/").text
    many = sum(block.could_not_be_shown for block in status.blocks)
    assert many > 0 and f"0 undecided, {many} could not be shown" in shown, shown[:600]
    # somebody else is asked about a page of which nothing was seen
    assert any(block.pages_open for block in status.blocks if block.pairs == "unique")


def test_undecided_about_everything_costs_the_code_still(make_local: MakeStudy) -> None:
    made = make_local(MORE)
    browser = joined(made.app)
    while browser.address.startswith("/rate"):
        browser.post(browser.address, answered(browser, "undecided", "undecided"))
    study = Study.load(made.folder)
    with made.store.read() as connection:
        assert read_outcome(connection, study, read_raters(connection)[0]) == "undecided"


def test_not_shown_is_no_answer_where_the_study_does_not_offer_it(make_local: MakeStudy) -> None:
    browser = joined(make_local(TOML).app)
    browser.post(browser.address, answered(browser, "not_shown"))
    assert browser.status == 422


@pytest.mark.slow
def test_a_page_of_several_questions_takes_no_more_statements(make_local: MakeStudy) -> None:
    made, more = make_local(TOML), make_local(MORE)
    at_once, apart = statements_of_a_page(joined(made.app), made.store)
    browser = joined(more.app)
    browser.filled = lambda value="3": answered(browser)  # type: ignore[method-assign]
    at_once_more, apart_more = statements_of_a_page(browser, more.store)
    assert (len(at_once_more), len(apart_more)) == (len(at_once), len(apart))


@pytest.mark.slow
def test_the_export_of_a_question_goes_through_calibration_as_it_is(make_local: MakeStudy) -> None:
    made = make_local(MORE)
    for person in range(4):
        browser = joined(made.app)
        turn = 0
        while browser.address.startswith("/rate"):
            fields = answered(browser, str(1 + (turn + person) % 5), str((turn + person) % 2))
            if person == 0 and turn == 0:
                fields["rating-1"] = "not_shown"
            browser.post(browser.address, fields)
            turn += 1
    runner = CliRunner()
    folder = str(made.folder)
    told = runner.invoke(main, ["export", folder])
    assert told.exit_code == 0 and "--question ID, of trust, why" in told.output
    assert "1 could not be shown" in told.output
    told = runner.invoke(main, ["export", folder, "--question", "trust", "--json"])
    counts = json.loads(told.output)
    assert counts["question"] == "trust" and counts["scales"] == ["binary"] and counts["not_shown"] == 1
    ratings_file = made.folder / "questions" / "trust" / "ratings.csv"
    assert pd.read_csv(ratings_file)["study_block"].unique().tolist() == ["base", "unique"]
    out = made.folder / "questions" / "trust"
    done = runner.invoke(main, ["calibrate", str(ratings_file), "-o", str(out)])
    assert done.exit_code == 0, done.output
    assert "1 result could not be shown to its rater" in done.output
    judgments = pd.read_csv(out / "judgments.csv")
    assert judgments["scale_high"].unique().tolist() == [1.0] and len(judgments) > 8
    assert "base block incomplete" not in pd.read_csv(out / "raters.csv")["flags"].astype("str").str.cat()
    wrong = runner.invoke(main, ["export", folder, "--question", "mood"])
    assert wrong.exit_code == 1 and "no block asks the further question 'mood'; there are trust, why" in wrong.output


@pytest.mark.slow
def test_a_question_that_has_answers_stays_with_its_scale_and_a_new_one_may_come(make_local: MakeStudy) -> None:
    made = make_local(MORE)
    browser = joined(made.app)
    browser.post(browser.address, answered(browser))
    file = made.folder / "study.toml"
    file.write_text(MORE.replace('scale = "binary"', 'scale = "1-9"'))
    with pytest.raises(RelstudyError, match="with answers to 'trust'; put it back"):
        prepare(made.folder, made.store)
    file.write_text(MORE.replace('id = "why"', 'id = "mood"'))
    with pytest.raises(RelstudyError, match="with answers to 'why'"):
        prepare(made.folder, made.store)
    file.write_text(MORE + '\n[[blocks.questions]]\nid = "mood"\ntext = "Mood?"\n')
    assert len(prepare(made.folder, made.store).blocks[1].questions) >= 1


@pytest.mark.slow
def test_practice_expects_answers_to_further_questions_too(make_local: MakeStudy) -> None:
    practice = (
        '\n[[practice]]\nblock = "base"\nquery_id = "q0"\nresult_id = "q7"\nexpected = [4]\nalso = { trust = [1] }\n'
    )
    told = _practised(make_local(MORE + practice), trust="0")
    assert told.page.text.count("Expected") == 2 and "Would you trust it?" in told.page.text
    made = make_local(MORE + practice + "[qualification]\npass_mark = 1\n")
    for trust, page in (("0", "Thank you for trying"), ("1", "Page")):
        assert page in _practised(made, trust).get("/rate").text


def _practised(made: Made, trust: str) -> Browser:
    browser = joined(made.app)
    form = browser.page.form(browser.address)
    browser.post(browser.address, {**form.fields, "rating-1": "4", "rating-1-trust": trust})
    return browser


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (('id = "trust"', 'id = "not_shown"'), "this id is taken"),
        (('id = "why"', 'id = "trust"'), "another question of the block has this id"),
        (('scale = "binary"', 'scale = "stars"'), "one of 1-5, binary, yes-no, 1-9 is allowed"),
        (('id = "why"', 'id = "why"\nkind = "long"'), "unknown setting; choose id, text, scale, required"),
    ],
)
def test_faults_of_questions_name_their_line(change: tuple[str, str], said: str) -> None:
    with pytest.raises(RelstudyError, match=said) as refused:
        Study.parse(MORE.replace(*change))
    assert "study.toml, line " in str(refused.value) and "blocks.questions" in str(refused.value)


def test_one_question_has_one_scale_in_all_blocks() -> None:
    other = '[[blocks.questions]]\nid = "trust"\ntext = "Trust?"\nscale = "1-5"\n'
    with pytest.raises(RelstudyError, match="'trust' has another scale in another block"):
        Study.parse(BASE_ONLY + other)


def test_old_ratings_have_nothing_further(make_study: MakeStudy) -> None:
    made = make_study(TOML)
    browser = joined(made.app)
    browser.rate()
    with made.store.read() as connection:
        assert connection.execute(sa.select(ratings.c.further)).scalars().all() == [None] * 4
    (made.folder / "study.toml").write_text(MORE)
    prepare(made.folder, made.store)
    study = Study.load(made.folder)
    assert ratings_table(made.store, study, question=study.result_questions["trust"]).empty
