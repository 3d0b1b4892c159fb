"""The answer while people rate: computed beside them, shown to researchers, and acted on where the study says so."""

from __future__ import annotations

import html
import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
import zipfile
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from relstudy.analysis.verdict.facts import Look
from relstudy.calibration.tables.decision import LookPlan
from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.assignment.enrolment import read_raters
from relstudy.studyapp.assignment.erasure import forget
from relstudy.studyapp.assignment.synchronisation import prepare
from relstudy.studyapp.assignment.versions import read_state
from relstudy.studyapp.commands import answer
from relstudy.studyapp.commands.answer import _next_round, compute_answer
from relstudy.studyapp.config.accounts import make_token
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.monitoring.audit_log import read_entries
from relstudy.studyapp.monitoring.saved_answer import ANSWER, KeptAnswer, begin, computing, is_computing, results_of
from relstudy.studyapp.web import answering
from relstudy.studyapp.web.admin.access import set_password
from relstudy.studyapp.web.app import create_app
from tests.commands import relstudy, succeeds
from tests.studyapp.browse import Browser
from tests.studyapp.live_study import TOML, made, rated

PASSWORD = "a long enough password"
pytestmark = pytest.mark.slow


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return made(tmp_path / "live")


@pytest.fixture(autouse=True)
def short_report(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer's own page in place of the whole report, but where it is read: it takes longer than all else."""
    if "whole_report" not in request.node.name:
        monkeypatch.setattr(answer, "_report", lambda run, folder, _: answer._page(run, folder))


def looks(folder: Path) -> pd.DataFrame:
    return pd.read_csv(folder / "looks.csv")


def signed_in(folder: Path) -> Browser:
    set_password(folder, PASSWORD)
    browser = Browser(create_app(folder))
    browser.log_in(PASSWORD)
    return browser


def test_it_says_the_same_as_the_commands_and_counts_the_same_ratings_once(folder):
    rated(folder, 2)
    found = json.loads(succeeds("admin", "status", folder, "--answer", "--json").stdout)["answer"]
    assert found["headline"].startswith("You can stop at look 1 of 4. Use good") and found["settled"]
    assert found["look"]["answers"] == 168 and found["ratings"] == 2 * (18 + 84)
    for command in ("export", "calibrate"):
        succeeds(command, folder)
    scored = json.loads(succeeds("score", folder, "--json").stdout)["verdict"]
    assert scored["headline"] == found["headline"] and scored["looks"] == found["sentences"][0]
    assert succeeds("admin", "status", folder, "--answer").output.splitlines()[0] == found["headline"]
    assert len(looks(folder)) == 1
    kept = {"answer.json", "index.html", "results.zip", "running"}
    assert {path.name for path in (folder / ANSWER).iterdir()} == kept


def test_each_answer_keeps_how_wide_its_interval_was_and_the_end_is_said(folder):
    for _ in range(3):
        rated(folder, 1)
        found = compute_answer(folder)
    ratings, widths = zip(*found.widths, strict=True)
    assert ratings == (102, 204, 306) and all(0 < width < 1 for width in widths)
    # all answers are in; whom raters are handed which pages is drawn anew, and with three of them decides the rest
    assert not found.headline.startswith(("So far", "You can stop", "No answer"))
    assert looks(folder)["ratings"].tolist() == [102, 204, 306]


def test_what_it_takes_to_go_on_is_said_where_the_answer_is(tmp_path):
    folder = made(tmp_path / "live", alike=True)
    rated(folder, 1)
    found = compute_answer(folder)
    look = found.look or {}
    assert found.to_go == look["wanted"] - look["answers"] > 0
    said = f"{found.to_go:,} answers remain until the planned end"
    page = signed_in(folder).get("/admin/answer").text
    if found.hours is None:
        assert f"{said}." in page
    timed = replace(found, seconds=7.2)
    timed.write(folder)
    assert timed.hours == pytest.approx(found.to_go * 0.002)
    assert f"{said}: about {timed.hours:,.1f} hours" in signed_in(folder).get("/admin/answer").text
    assert replace(found, settled=True).to_go == 0
    assert said in succeeds("admin", "status", folder, "--answer").output


def test_where_a_judge_is_least_sure_the_next_pairs_tell_most(tmp_path):
    """The sentence is there while answers are to come and a judge has graded; its command runs as it is printed."""
    folder, draw = tmp_path / "live", np.random.default_rng(5)
    (folder / "scores").mkdir(parents=True)
    (folder / "judges").mkdir()
    grades = draw.permutation(np.tile([1, 2, 2, 3, 4, 5], 6))
    names = [f"i{number:02}" for number in range(len(grades))]
    texts = [f"This is of grade {grade}." for grade in grades]
    pd.DataFrame({"item_id": names, "kind": "text", "text": texts}).to_csv(folder / "collection.csv", index=False)
    every = [(query, result) for query in names for result in names if query != result]
    pairs = pd.DataFrame(every, columns=["query_id", "result_id"])
    truth = pairs["result_id"].map(dict(zip(names, grades, strict=True)))
    one = truth + draw.normal(0, 2, len(pairs))
    for name, score in (("one", one), ("two", one + draw.normal(0, 1, len(pairs)))):
        scores = pairs.assign(system=name, score=score)
        scores.to_csv(folder / "scores" / f"{name}.csv", index=False)
    judge = (truth + draw.normal(0, 1, len(pairs))).round().clip(1, 5)
    pairs.assign(rating=judge).to_csv(folder / "judges" / "model.csv", index=False)
    blocks = TOML.format(each=84).split("[[blocks]]")
    (folder / "study.toml").write_text("[[blocks]]".join([blocks[0], blocks[2]]).replace("same_query", "pearson"))
    succeeds("sample", folder, "--systems", "one.csv,two.csv", "--text-queries", 24, "--results", 7, "--base", 0)
    prepare(folder, Store.of_study(folder))
    rated(folder, 2)

    found = compute_answer(folder)
    said = re.fullmatch(
        r"The next (\d+) pairs are worth most where judge model is least sure: by score --judge, expect an interval of "
        r"\w+ ([\d.]+) wide, against ([\d.]+) with pairs drawn as before. Draw them with:",
        found.next_round[0],
    )
    assert said is not None, found
    assert int(said[1]) == np.ceil((found.look or {})["wanted"] / 4) and float(said[2]) < float(said[3])
    printed, page = (
        succeeds("admin", "status", folder, "--answer").output,
        html.unescape(signed_in(folder).get("/admin/answer").text),
    )
    assert all(line in printed and line in page for line in found.next_round)
    (folder / "judges" / "model.csv").unlink()
    by_mappings = compute_answer(folder).next_round
    assert by_mappings[0].startswith(
        "No judge of this study can say which pairs are most informative. A round by mappings"
    )
    pairs.assign(rating=judge).to_csv(folder / "judges" / "model.csv", index=False)
    before = pd.read_csv(folder / "pairs.csv")
    # a round by mappings also draws pairs that are there already
    for (_, *commands), fewest in ((found.next_round, int(said[1]) - 10), (by_mappings, 1)):
        for command in commands:
            succeeds(*shlex.split(command.removeprefix("relstudy ")))
        after = pd.read_csv(folder / "pairs.csv")
        assert len(before) + fewest <= len(after) <= len(before) + int(said[1]) + 10
        assert set(after["query_id"]) == set(before["query_id"])
        before = after


@pytest.mark.parametrize(("answers", "pairs"), [(0, 50), (120, 40), (180, 10)])
def test_the_next_round_is_no_larger_than_what_remains(tmp_path, answers, pairs):
    (tmp_path / "design.json").touch()
    every = pd.DataFrame([(f"q{q}", f"r{r}") for q in range(5) for r in range(12)], columns=["query_id", "result_id"])
    every.assign(paradigm="text").to_csv(tmp_path / "pairs.csv", index=False)
    every.assign(judgment=3.0).to_csv(tmp_path / "judgments.csv", index=False)
    look = Look(2, answers, 200, 0.05, "obrien-fleming", (0.5,), (2.8,))
    run = SimpleNamespace(look=look, verdict=SimpleNamespace(settled=False))
    said = _next_round(run, LookPlan(2, ratings_per_pair=2), tmp_path, tmp_path / "judgments.csv")
    assert f"--results {pairs // 5} " in said[-1]


def test_before_there_are_ratings_it_says_so(folder):
    found = compute_answer(folder)
    assert found.headline == "No answer yet: nobody has rated anything." and not (folder / "looks.csv").exists()
    rated(folder, 1)
    (folder / "scores" / "bad.csv").write_text("system,query_id\nbad,q\n")
    said = compute_answer(folder).headline
    assert said.startswith("No answer yet: ") and "bad.csv" in said and str(folder) not in said


def test_a_blind_study_withholds_figures_until_it_can_stop(tmp_path):
    folder = made(tmp_path / "live", looks="blind = true\n", alike=True)
    rated(folder, 1)
    found = compute_answer(folder)
    withheld = (
        "Figures are withheld until the study can stop (looks.blind): look 1 of 4, 33 % of the answers wanted are in."
    )
    assert found.headline == withheld and found.hidden and found.widths == ()
    written = "".join(path.read_text() for path in (folder / ANSWER).iterdir())
    assert "good" not in written and not (folder / ANSWER / "index.html").exists()
    for command in ("export", "calibrate"):
        succeeds(command, folder)
    for command in ("score", "report"):
        refused = relstudy(command, folder)
        assert refused.exit_code == 1 and withheld in refused.output and "good" not in refused.output
    assert signed_in(folder).client.get("/admin/answer/page").status_code == 404
    rated(folder, 2)
    assert "good" in compute_answer(folder).headline


def test_where_study_toml_says_so_the_study_pauses_at_a_bound(tmp_path):
    even = made(tmp_path / "even", looks='on_bound = "pause"\n', alike=True)
    folder = made(tmp_path / "live", looks='on_bound = "pause"\n')
    for each in (even, folder):
        rated(each, 2)
        compute_answer(each)
    with Store.of_study(even).read() as connection:
        assert read_state(connection) == "open"
    store = Store.of_study(folder)
    with store.read() as connection:
        assert read_state(connection) == "paused"
    assert "paused at look 1 (looks.on_bound)" in {entry.about for entry in read_entries(store)}
    succeeds("admin", "status", folder, "--reopen")
    compute_answer(folder)  # whoever reopened the study knew the answer
    with store.read() as connection:
        assert read_state(connection) == "open"


def test_it_is_computed_once_at_a_time(folder):
    rated(folder, 1)
    with computing(folder) as free:
        assert free and is_computing(folder)
        with pytest.raises(RelstudyError, match="being computed by another process"):
            compute_answer(folder)
    assert not is_computing(folder)
    begin(folder)
    assert is_computing(folder)  # a process that was just started has not locked anything yet


def test_a_kill_at_any_moment_loses_no_look_and_counts_none_twice(folder):
    rated(folder, 1)
    command = [sys.executable, "-m", "relstudy", "admin", "status", str(folder), "--answer", "--json"]
    for seconds in (0.5, 1.0, 1.5, 2.0, 2.5, 3.0):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(seconds)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    found = compute_answer(folder)
    assert looks(folder)["ratings"].tolist() == [102] and (found.look or {})["number"] == 1
    assert not (folder / ANSWER / "work").exists()


def test_researchers_see_it_and_editors_have_it_computed(folder, monkeypatch):
    started: list[Path] = []
    monkeypatch.setattr("relstudy.studyapp.web.admin.answer.start_computing", started.append)
    rated(folder, 2)
    browser = signed_in(folder)
    assert "No answer has been computed yet" in browser.get("/admin/answer").text
    browser.send(browser.page.form("/admin/answer"))
    assert started == [folder] and browser.address == "/admin/answer"
    compute_answer(folder)
    page = browser.get("/admin/answer")
    assert "Look 1 of 4: 67 % of the answers wanted are in" in page.text
    shown = browser.client.get("/admin/answer/page")
    assert "Use good" in shown.get_data(as_text=True)
    assert "sandbox" in shown.headers["Content-Security-Policy"] and "allow-scripts" not in str(shown.headers)
    assert shown.headers["X-Frame-Options"] == "SAMEORIGIN"
    browser.send(next(form for form in page.forms if form.fields.get("state") == "closed"))
    assert "closed at look 1" in {entry.about for entry in read_entries(Store.of_study(folder))}
    assert Browser(create_app(folder)).get("/admin/answer/page").form("/admin/login")


def test_the_whole_report_that_is_offered_goes_with_a_rater_who_is_erased(folder):
    """It was offered with the rater's code until somebody computed the next answer."""

    def holding() -> set[str]:
        texts = [path.read_bytes() for path in (folder / ANSWER).iterdir() if path.suffix != ".zip"]
        with zipfile.ZipFile(results_of(folder)) as packed:
            texts += map(packed.read, packed.namelist())
        return {code for code in codes if any(code.encode() in text for text in texts)}

    rated(folder, 3)
    with Store.of_study(folder).read() as connection:
        codes = [rater.rater_id for rater in read_raters(connection)]
    compute_answer(folder)
    assert holding() == set(codes)
    done = succeeds("admin", "erase", folder, codes[0], "--yes")
    assert "Warning" not in done.output and not results_of(folder).exists()
    assert signed_in(folder).client.get("/admin/answer/results.zip").status_code == 404
    compute_answer(folder)
    assert holding() == set(codes[1:])


def test_somebody_erased_while_the_whole_report_is_made_is_in_none(folder, monkeypatch):
    rated(folder, 2)
    with Store.of_study(folder).read() as connection:
        code = read_raters(connection)[0].rater_id
    written = answer._write_results

    def erased_meanwhile(*given: Any) -> None:
        written(*given)
        forget(Store.of_study(folder), folder, code)

    monkeypatch.setattr(answer, "_write_results", erased_meanwhile)
    compute_answer(folder)
    assert not results_of(folder).exists()


def test_the_whole_report_and_the_judgments_are_downloaded(folder):
    visitor = signed_in(folder)
    assert visitor.client.get("/admin/answer/results.zip").status_code == 404
    rated(folder, 2)
    found = compute_answer(folder)
    sent = visitor.client.get("/admin/answer/results.zip")
    assert sent.mimetype == "application/zip" and "results.zip" in sent.headers["Content-Disposition"]
    with zipfile.ZipFile(io.BytesIO(sent.get_data())) as results:
        names = set(results.namelist())
        page = results.read("report/index.html").decode()
        judgments = pd.read_csv(io.BytesIO(results.read("judgments.csv")))
    assert found.headline in html.unescape(page) and len(judgments) > 50
    assert "report/tables/systems.csv" in names
    assert not any("rater_id" in str(column) for column in judgments)
    assert Browser(create_app(folder)).get("/admin/answer/results.zip").form("/admin/login")


def test_a_report_that_cannot_be_written_takes_no_answer_away(folder, monkeypatch):
    def refuse(*_):
        raise RelstudyError("collection.csv, row 3: no such picture")

    monkeypatch.setattr("relstudy.studyapp.commands.answer._report", refuse)
    rated(folder, 2)
    found = compute_answer(folder)
    assert found.headline.startswith("You can stop at look 1 of 4. Use good")
    assert found.sentences[-1] == "The report cannot be written: collection.csv, row 3: no such picture"
    assert {path.name for path in (folder / ANSWER).iterdir()} == {"answer.json", "index.html", "running"}


def test_while_it_is_computed_the_page_asks_again_by_itself(folder):
    browser = signed_in(folder)
    with computing(folder):
        page = browser.get("/admin/answer")
        assert browser.response is not None and browser.response.headers["Refresh"] == "3"
        assert "is being computed" in page.text and not [form for form in page.forms if form.action == "/admin/answer"]


def test_programs_read_it_with_a_token(folder):
    client = create_app(folder).test_client()
    headers = {"Authorization": f"Bearer {make_token(folder, 'script', 'viewer')}"}
    assert client.get("/api/answer", headers=headers).status_code == 404
    rated(folder, 1)
    compute_answer(folder)
    found = client.get("/api/answer", headers=headers).get_json()
    assert found["look"]["number"] == 1 and client.get("/api/answer").status_code == 401
    compute_answer(folder)  # the same again is no event
    feed = client.get("/api/ratings?after=start", headers=headers).text.splitlines()
    told = [json.loads(line) for line in feed if '"answer"' in line]
    assert [set(each) for each in told] == [{"event", "cursor"}]


def test_a_planned_look_is_computed_when_its_answers_are_in(folder, monkeypatch):
    started: list[Path] = []
    monkeypatch.setattr(answering, "start_computing", started.append)
    watcher = answering.PlannedLooks(folder)
    assert not watcher.look() and started == []
    rated(folder, 1)
    assert watcher.look() and started == [folder]
    compute_answer(folder)
    assert not watcher.look()
    rated(folder, 1)
    assert watcher.look()
    assert not watcher.look()  # nothing came in since, so nothing is counted
    succeeds("admin", "status", folder, "--close")
    assert watcher.look()
    found = compute_answer(folder)
    assert not watcher.look()
    assert found.headline.startswith(f"Closed at look {found.look['number']} of 4: ") and not found.to_go
    assert ", and the study is closed. " in found.sentences[0] and "Go on" not in " ".join(found.sentences)
    for command in ("export", "calibrate", "score"):
        said = succeeds(command, folder).output
    assert found.headline in " ".join(said.split()), "as the commands say it"
    plain = (folder / "study.toml").read_text().partition("[looks]")[0]
    (folder / "study.toml").write_text(plain)
    assert not watcher.look()


def test_a_process_of_its_own_computes_it(folder, monkeypatch):
    rated(folder, 1)
    start = subprocess.Popen
    at_once = "import os; os.nice = lambda step: 0; from relstudy.studyapp.cli import main; main()"  # tests have no end
    monkeypatch.setattr(subprocess, "Popen", lambda words, **how: start([words[0], "-c", at_once, *words[3:]], **how))
    answering.start_computing(folder)
    assert is_computing(folder)
    until = time.monotonic() + 300
    while KeptAnswer.of(folder) is None and time.monotonic() < until:
        time.sleep(0.1)
    found = KeptAnswer.of(folder)
    assert found is not None and found.ratings == 102


def test_an_answer_written_by_hand_is_none(folder):
    (folder / ANSWER).mkdir()
    for content in ("", "[]", "{}", '{"at": 1, "nonsense": 2}'):
        (folder / ANSWER / "answer.json").write_text(content)
        assert KeptAnswer.of(folder) is None


def test_each_planned_look_comes_once():
    plan = LookPlan(4)
    kept = KeptAnswer(at="", ratings=1, headline="", look={"fraction": 0.5})
    assert [answering.is_due(plan, share, kept) for share in (0.5, 0.74, 0.75, 1.0)] == [False, False, True, True]


def test_a_study_without_bounds_cannot_withhold_figures_until_one(tmp_path):
    folder = made(tmp_path / "live")
    toml = folder / "study.toml"
    for setting in ("blind = true", 'on_bound = "pause"'):
        toml.write_text(toml.read_text().partition("[looks]")[0] + f'[looks]\nrule = "none"\n{setting}\n')
        for words in (("doctor", folder), ("status", folder, "--answer")):
            assert "need a rule" in relstudy(*words).output
