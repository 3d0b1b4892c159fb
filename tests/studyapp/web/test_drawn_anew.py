"""`relstudy sample --overwrite` beside a server that goes on: what raters meet who are at work meanwhile."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import pytest
import sqlalchemy as sa
from click.testing import Result

from relstudy.studyapp.database.tables import pairs, raters
from tests.commands import relstudy
from tests.studyapp.browse import joined
from tests.studyapp.studies import TOML, Made

pytestmark = pytest.mark.slow
NO_BASE = TOML.replace('[[blocks]]\nname = "base"\npairs = "base"\nresults_per_page = 4\n', "")


def anew(made: Made) -> Result:
    """`relstudy sample --overwrite` of a study."""
    sizes = ("--queries", 8, "--results", 4, "--base", 8, "--systems", "colour")
    return relstudy("sample", made.folder, *sizes, "--overwrite")


@pytest.mark.parametrize("toml", [TOML, NO_BASE])
def test_raters_at_work_begin_the_new_draw_and_no_server_is_started_again(
    make_study: Callable[..., Made], monkeypatch: pytest.MonkeyPatch, toml: str
) -> None:
    made = make_study(toml)
    sends, looks, begins = (joined(made.app) for _ in range(3))
    for browser in (sends, looks):
        browser.rate()
    form, address = sends.filled("4"), sends.address
    before = made.rows()
    monkeypatch.setenv("DATABASE_URL", made.store.url.render_as_string(hide_password=False))
    assert "raters begin again" in anew(made).output
    sends.post(address, form)
    assert sends.status == 400, "of the page that is gone nothing is told to be saved"
    for browser in (sends, looks, begins):
        browser.get("/rate")
        assert (browser.status, browser.address) == (200, "/instructions")
        browser.send(browser.page.form())
        assert (browser.status, browser.address) == (200, "/rate/1")
        assert browser.rate_all() >= 2 and browser.address == "/thanks"
    new = pd.read_csv(made.folder / "pairs.csv").set_index("pair_id")
    with made.store.read() as connection:
        stored = connection.execute(sa.select(pairs)).all()
        assert connection.execute(sa.select(sa.func.count(raters.c.finished_at))).scalar_one() == 3
    assert {row.pair_id: row.result_id for row in stored} == new["result_id"].to_dict()
    assert before > 0 and made.rows() > before


def test_a_new_draw_that_cannot_be_served_leaves_the_study_and_its_draw_as_they_are(
    make_local: Callable[..., Made],
) -> None:
    made = make_local()
    browser = joined(made.app)
    browser.rate()
    before, drawn = made.rows(), (made.folder / "pairs.csv").read_bytes()
    toml = made.folder / "study.toml"
    practice = '[[practice]]\nblock = "base"\nquery_id = "q0"\nresult_id = "q1"\nexpected = [1]\n'
    toml.write_text(f"{TOML}{practice}", encoding="utf-8")
    every_pair = ("--queries", 12, "--results", 11, "--base", 8, "--systems", "colour")
    refused = relstudy("sample", made.folder, *every_pair, "--overwrite")
    assert refused.exit_code == 1 and "practise on another pair" in refused.output, refused.output
    assert made.rows() == before and (made.folder / "pairs.csv").read_bytes() == drawn
    assert not list(made.folder.glob("earlier-*")) and not (made.folder / ".drawing").exists()
    browser.rate()
    assert browser.status == 200 and made.rows() > before


def test_a_database_of_another_study_is_not_cleared(
    make_local: Callable[..., Made], monkeypatch: pytest.MonkeyPatch
) -> None:
    made, other = make_local(), make_local(TOML.replace('id = "test"', 'id = "another"'))
    joined(other.app).rate()
    before = other.rows()
    monkeypatch.setenv("DATABASE_URL", other.store.url.render_as_string(hide_password=False))
    refused = anew(made)
    assert refused.exit_code == 1 and "holds the study 'another'" in refused.output
    assert other.rows() == before and not list(made.folder.glob("earlier-*"))
