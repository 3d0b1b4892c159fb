"""`relstudy sample --overwrite` beside a server that goes on: what raters meet who are at work meanwhile."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import sqlalchemy as sa
from click.testing import Result

from relstudy.studyapp.assignment import redrawn_study
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.database.tables import pairs, raters
from relstudy.studyapp.monitoring.export import ratings_table
from relstudy.studyapp.sampling import first_round, written_draw
from relstudy.studyapp.web.starting import take_over
from tests.commands import relstudy, succeeds
from tests.studyapp.browse import joined
from tests.studyapp.studies import TOML, Made

pytestmark = pytest.mark.slow
NO_BASE = TOML.replace('[[blocks]]\nname = "base"\npairs = "base"\nresults_per_page = 4\n', "")
SIZES = ("--queries", 8, "--results", 4, "--base", 8, "--systems", "colour")


def again(made: Made) -> Result:
    """`relstudy sample --overwrite` of a study."""
    return relstudy("sample", made.folder, *SIZES, "--overwrite")


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
    assert "raters begin again" in again(made).output
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
    example = '[[examples]]\nquery_id = "q0"\nresult_id = "q1"\nrating = 1\n'
    every_pair = ("--queries", 12, "--results", 11, "--base", 8, "--systems", "colour")
    for known, why in ((practice, "practise on another pair"), (example, "which people rate; choose another")):
        toml.write_text(f"{TOML}{known}", encoding="utf-8")
        refused = relstudy("sample", made.folder, *every_pair, "--overwrite")
        assert refused.exit_code == 1 and why in refused.output, refused.output
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
    refused = again(made)
    assert refused.exit_code == 1 and "holds the study 'another'" in refused.output
    assert other.rows() == before and not list(made.folder.glob("earlier-*"))


def test_a_study_that_nobody_has_rated_goes_on_with_a_new_draw_and_one_rated_meanwhile_with_its_own(
    make_study: Callable[..., Made], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make_study()
    monkeypatch.setenv("DATABASE_URL", made.store.url.render_as_string(hide_password=False))
    browser = joined(made.app)
    assert "earlier" not in again(made).output
    browser.get("/rate")
    browser.send(browser.page.form())
    drawn = (made.folder / "pairs.csv").read_bytes()
    draw = first_round.draw_sample

    def slowly(*given: Any) -> first_round.Sample:
        browser.rate()
        return draw(*given)

    monkeypatch.setattr(first_round, "draw_sample", slowly)
    refused = relstudy("sample", made.folder, *SIZES)
    assert refused.exit_code == 1 and "somebody has rated while pairs were drawn" in refused.output
    assert (made.folder / "pairs.csv").read_bytes() == drawn
    assert browser.rate_all() > 0 and browser.address == "/thanks"
    assert set(ratings_table(made.store, Study.load(made.folder))["pair_id"]) <= set(
        pd.read_csv(made.folder / "pairs.csv")["pair_id"]
    )


STEPS = (
    "shutil.copy2",
    "kept.copy_database",
    "kept.clear_draw",
    "kept._remove_kept",
    "written._put_into_place",
    "shutil.move",
)


@pytest.mark.parametrize("step", STEPS)
def test_wherever_the_command_is_killed_nothing_is_half_kept_and_the_files_are_of_the_draw_that_is_served(
    make_local: Callable[..., Made], step: str
) -> None:
    made = make_local()
    joined(made.app).rate()
    (made.folder / "judgments.csv").write_text("of the earlier draw", encoding="utf-8")
    before, old = made.rows(), (made.folder / "pairs.csv").read_bytes()
    program = f"""
import os, shutil, sys
import relstudy.studyapp.assignment.redrawn_study as kept, relstudy.studyapp.sampling.written_draw as written
from relstudy.studyapp.cli import main
{step} = lambda *given, **options: os.kill(os.getpid(), 9)
main(sys.argv[1:])
"""
    words = ["sample", str(made.folder), *map(str, SIZES), "--overwrite"]
    killed = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, timeout=300)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    is_anew = made.rows() == 0
    assert is_anew == (STEPS.index(step) > 2)
    for kept in made.folder.glob("earlier-*"):
        with Store(kept / "study.db") as copy:
            assert len(ratings_table(copy, Study.load(made.folder), history=True)) == before
        assert (kept / "judgments.csv").read_text(encoding="utf-8") == "of the earlier draw"
    take_over(made.folder)
    assert ((made.folder / "pairs.csv").read_bytes() != old) == is_anew
    assert (made.folder / "judgments.csv").exists() != is_anew
    assert joined(made.app).rate_all() > 0
    succeeds("export", made.folder)


def test_a_command_that_is_stopped_once_its_draw_is_served_leaves_it_to_be_put_into_place(
    make_local: Callable[..., Made], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make_local()
    joined(made.app).rate()
    old = (made.folder / "pairs.csv").read_bytes()

    def stop(*_: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as stopped:
        stopped.setattr(redrawn_study, "_remove_kept", stop)
        assert again(made).exit_code != 0
    assert made.rows() == 0
    take_over(made.folder)
    assert (made.folder / "pairs.csv").read_bytes() != old
    assert joined(made.app).rate_all() > 0
    succeeds("export", made.folder)


def test_lists_of_a_draw_that_nobody_rated_do_not_outlive_it_where_the_command_was_stopped(
    make_local: Callable[..., Made], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make_local()
    joined(made.app)
    lists = made.folder / "lists.csv"
    lists.write_text("list_id,query_id,system,rank,result_id\n", encoding="utf-8")

    def stop(*_: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as stopped:
        stopped.setattr(written_draw, "_put_into_place", stop)
        assert again(made).exit_code != 0
    assert lists.exists()
    take_over(made.folder)
    assert not lists.exists() and joined(made.app).rate_all() > 0


def test_two_commands_do_not_write_a_draw_of_one_study_at_a_time(
    make_local: Callable[..., Made], monkeypatch: pytest.MonkeyPatch
) -> None:
    made, others = make_local(), []
    take = written_draw._put_into_place

    def put(*given: Path) -> None:
        others.append(again(made))
        others.append(relstudy("sample", made.folder, "--from-mappings", "--preview"))
        take(*given)

    monkeypatch.setattr(written_draw, "_put_into_place", put)
    assert again(made).exit_code == 0
    for other in others:  # a preview of a further round took the draw away that the first was about to put into place
        assert other.exit_code == 1 and "another command writes a draw of this study" in other.output
    assert joined(made.app).rate_all() > 0
