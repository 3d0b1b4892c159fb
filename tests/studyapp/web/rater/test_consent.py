"""What people agree to names what is stored of them, and it is kept which text it was."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from relstudy.studyapp.assignment.invitations import invite
from relstudy.studyapp.assignment.synchronisation import change_study
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.tables import metadata
from relstudy.studyapp.monitoring.export import people_table
from tests.studyapp.browse import Browser
from tests.studyapp.studies import TOML, Made
from tests.studyapp.web.rater.test_entry import with_entry
from tests.studyapp.web.rater.test_screening import SCREENING


def edit(folder: Path, old: str, new: str) -> None:
    file = folder / "study.toml"
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


def test_the_standard_text_names_what_is_stored_for_each_way_in(make_local: Callable[..., Made]) -> None:
    rules = 'rules = ["open", "personal", "crowd"]\nid_parameter = "who"\nkeep_parameters = ["batch"]\n'
    made = make_local(with_entry(rules) + SCREENING + '[[questions]]\nid = "a"\ntext = "?"\n')
    link = invite(made.store, Study.load(made.folder), 1)[0].path
    for way, said in (
        ("/", "A cookie"),
        (link, "Your personal link is stored as a code"),
        ("/join?who=p&batch=b", "sends with you (who and batch)"),
    ):
        browser = Browser(made.app)
        browser.get(way)
        assert browser.address == "/consent" and said in browser.page.text
        assert "not kept if you cannot" in browser.page.text and "questions at the end" in browser.page.text


@pytest.mark.slow
def test_the_version_and_the_hash_of_the_text_are_kept_with_the_consent(make_local: Callable[..., Made]) -> None:
    made = make_local(TOML.replace('id = "test"', 'id = "test"\nconsent = "One\\nline.\\n\\nAnother."'))
    Browser(made.app).join()
    edit(made.folder, "Another.", "One more.")
    change_study(made.folder, made.store)
    Browser(made.app).join()
    people = people_table(made.store, Study.load(made.folder))
    assert people["consent_version"].tolist() == [1, 2]
    texts = ("One line.\n\nAnother.", "One line.\n\nOne more.")
    assert people["consent_sha256"].tolist() == [hashlib.sha256(text.encode()).hexdigest() for text in texts]


@pytest.mark.slow
def test_nobody_agrees_to_a_text_that_was_changed_while_they_read(make_local: Callable[..., Made]) -> None:
    made = make_local()
    browser = Browser(made.app)
    browser.get("/")
    edit(made.folder, 'id = "test"', 'id = "test"\nconsent = "Another text."')
    change_study(made.folder, made.store)
    browser.send(browser.page.form(), agree="yes")
    assert (
        browser.status == 409 and "Another text." in browser.page.text and "changed while you read" in browser.page.text
    )
    assert len(people_table(made.store, Study.load(made.folder))) == 0
    browser.consent()
    assert browser.address == "/rate/1"


def test_the_standard_text_forgets_no_column_that_is_kept_of_a_rater() -> None:
    """A new column of raters needs a sentence in the standard consent text, or a place among those that need none."""
    named = {"entry", "identity", "parameters", "screening", "answers", "answered_at"}  # and the times:
    named |= {"created_at", "consented_at", "started_at", "finished_at"}
    ours = {"id", "rater_id", "session_key", "seed", "completion_code", "locked_to", "extra_pages", "outcome"}
    ours |= {"practice_retries", "rater_group", "consent_version", "consent_sha256", "turned_away"}
    assert {column.name for column in metadata.tables["raters"].columns} == named | ours
