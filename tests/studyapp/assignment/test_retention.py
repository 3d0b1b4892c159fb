"""What says who the raters are goes when its time has passed; the ratings stay."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest
import sqlalchemy as sa

from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.assignment.erasure import retention_notes
from relstudy.studyapp.assignment.invitations import invite
from relstudy.studyapp.assignment.versions import write_state
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.tables import raters
from relstudy.studyapp.monitoring.export import people_table, ratings_table
from tests.commands import relstudy
from tests.studyapp.browse import Browser, joined
from tests.studyapp.studies import TOML, Made
from tests.studyapp.web.rater.test_ending import QUESTIONS
from tests.studyapp.web.rater.test_entry import with_entry

PEOPLE = with_entry('rules = ["crowd", "personal"]\nid_parameter = "who"\nkeep_parameters = ["batch"]\n') + QUESTIONS


def kept_until(day: date) -> str:
    return PEOPLE.replace('id = "test"', f'id = "test"\nkeep_until = {day}')


def rated(made: Made) -> Browser:
    browser = joined(made.app, "/join?who=Jane-Doe&batch=secret-batch")
    browser.rate_all()
    browser.send(browser.page.form(), **{"question-eyes": "full", "question-say": "I am Jane"})
    return browser


@pytest.mark.slow
def test_all_people_are_forgotten_and_every_rating_stays(make_local: Callable[..., Made]) -> None:
    made = make_local(kept_until(date(2020, 1, 31)))
    browser, study = rated(made), Study.load(made.folder)
    link = invite(made.store, study, 1)[0].path
    before = ratings_table(made.store, study)
    command = f"relstudy admin erase {made.folder} --all-people"
    assert command in relstudy("admin", "status", made.folder).stdout
    assert relstudy("doctor", made.folder).exit_code == 1 and command in relstudy("doctor", made.folder).stdout
    refused = relstudy("forget", made.folder, "--all-people", "--yes")
    assert refused.exit_code and "close the study first" in refused.output
    with made.store.write() as connection:
        write_state(connection, "closed")
    done = relstudy("forget", made.folder, "--all-people", "--yes")
    assert done.exit_code == 0 and "what said who 2 raters are is deleted" in done.output
    assert before["question_eyes"].eq("full").all() and len(before) == 16
    assert ratings_table(made.store, study).equals(before.assign(question_eyes=""))
    with made.store.read() as connection:
        rows = str(connection.execute(sa.select(raters)).mappings().all())
    assert "full" not in rows
    for word in ("Jane", "secret-batch"):
        assert word not in rows
        assert word.encode() not in (made.folder / "study.db").read_bytes()
    assert people_table(made.store, study)["completion_code"].tolist() == ["", ""]
    made.app.extensions["relstudy"].set_state("open")
    for address in ("/thanks", link):
        browser.get(address)
        assert browser.status in (403, 404), address
    assert "--all-people" not in relstudy("admin", "status", made.folder).stdout
    assert "ok" in next(line for line in relstudy("doctor", made.folder).stdout.splitlines() if "people:" in line)


@pytest.mark.parametrize(("now", "says"), [("2030-06-30T23:59:59+00:00", False), ("2030-07-01T02:00:00+02:00", True)])
def test_it_is_said_from_the_day_after_in_utc(
    make_local: Callable[..., Made], monkeypatch: pytest.MonkeyPatch, now: str, says: bool
) -> None:
    clock = SimpleNamespace(now=datetime.fromisoformat(now).astimezone)
    monkeypatch.setattr("relstudy.studyapp.assignment.erasure.datetime", clock)
    made = make_local(kept_until(date(2030, 6, 30)))
    invite(made.store, Study.load(made.folder), 1)
    with made.store.read() as connection:
        notes = list(retention_notes(connection, Study.load(made.folder), Path("my study")))
    assert (
        notes
        == [
            "what says who 1 rater is was to be kept until 2030-06-30, which has passed; "
            "`relstudy admin erase 'my study' --all-people` takes it out of the database"
        ]
        * says
    )


def test_forget_takes_one_rater_or_all(make_local: Callable[..., Made]) -> None:
    made = make_local(PEOPLE)
    for wrong in (["forget", made.folder], ["forget", made.folder, "R1", "--all-people"]):
        assert relstudy(*wrong).exit_code == 2


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ('keep_until = "2027-01-31"', "line 4, study.keep_until: '2027-01-31' is not allowed; a day is allowed"),
        ("keep_until = 2027-01-31T10:00:00Z", "line 4, study.keep_until: .*a day is allowed, without quotes"),
        ('withdrawal = "maybe"', "line 4, study.withdrawal: 'maybe' is not allowed; one of no, delete, keep"),
    ],
)
def test_a_setting_that_cannot_be_is_told_with_its_line(setting: str, told: str) -> None:
    with pytest.raises(RelstudyError, match=told):
        Study.parse(TOML.replace('id = "test"', f'id = "test"\n{setting}'))
