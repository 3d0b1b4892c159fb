"""Every command on a study folder, run as a person runs it."""

from __future__ import annotations

import errno
import json
import stat
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from sqlalchemy.exc import OperationalError

from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.meaning.pair_assignment import HandOut
from relstudy.studyapp.assignment.enrolment import enrol, record_exit_answers
from relstudy.studyapp.assignment.invitations import invite
from relstudy.studyapp.assignment.synchronisation import prepare
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.backup import copy_database
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.monitoring.export import people_table
from relstudy.studyapp.web.app import create_app
from tests.commands import relstudy, succeeds
from tests.places import EXAMPLE
from tests.studyapp.browse import Browser, joined
from tests.studyapp.serving import serving
from tests.studyapp.studies import TOML, Made, write_study


@pytest.fixture(autouse=True)
def _own_database(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DATABASE_URL", raising=False)


@pytest.mark.slow
def test_new_writes_a_study_that_loads_and_never_writes_over_one(tmp_path: Path) -> None:
    folder = tmp_path / "my study"
    succeeds("new", folder, "--pictures", "3")
    study = Study.load(folder)
    assert study.id == "my-study" and [block.name for block in study.blocks] == ["base", "unique"]
    assert len(pd.read_csv(folder / "collection.csv")) == 3
    assert len(list((folder / "pictures").iterdir())) == 3
    (folder / "study.toml").write_text("mine")
    again = relstudy("new", folder)
    assert again.exit_code == 1 and "is there already" in again.output
    assert (folder / "study.toml").read_text() == "mine"


@pytest.mark.slow
def test_invite_makes_links_that_let_people_in_and_keeps_the_file_private(tmp_path: Path) -> None:
    folder = write_study(tmp_path / "s")
    links = tmp_path / "links.csv"
    succeeds("admin", "invite", folder, "-n", "3", "--url", "https://study.example.org/", "-o", links)
    table = pd.read_csv(links)
    assert list(table.columns) == ["rater_id", "link", "completion_code"] and len(table) == 3
    assert stat.S_IMODE(links.stat().st_mode) == 0o600
    browser = joined(create_app(folder), table["link"][0].removeprefix("https://study.example.org"))
    assert browser.address == "/rate/1"
    shown = json.loads(relstudy("admin", "invite", folder, "-n", "1", "--json").stdout)
    assert shown["open"] == "http://localhost:8000/" and shown["personal"][0]["link"].startswith(
        "http://localhost:8000/"
    )


def test_only_a_platforms_own_id_is_given_out_as_one(make_local: Callable[..., Made]) -> None:
    made = make_local(TOML.replace('"open"', '"crowd"').replace("[entry]", '[entry]\nid_parameter = "worker"'))
    invite(made.store, Study.load(made.folder), 1)
    Browser(made.app).join("/join?worker=w-17")
    table = people_table(made.store, Study.load(made.folder))
    assert list(zip(table["entry"], table["platform_id"], strict=True)) == [("personal", ""), ("crowd", "w-17")]


@pytest.mark.slow
def test_status_counts_and_pauses_and_reopens(make_local: Callable[..., Made]) -> None:
    made = make_local()
    browser = joined(made.app)
    browser.rate_all(lambda name, number: "undecided" if number == 1 else "4")
    shown = json.loads(relstudy("admin", "status", made.folder, "--json").stdout)
    assert shown["raters"] == shown["finished"] == 1 and shown["ratings"] == 16
    unique = next(block for block in shown["blocks"] if block["name"] == "unique")
    assert (unique["pages_done"], unique["pages_wanted"], unique["undecided"]) == (2, 6, 2)
    assert unique["distribution"] == {"1": 0, "2": 0, "3": 0, "4": 6, "5": 0}
    assert unique["uniformity_error"] == pytest.approx(0.32), "(4 * .2 + .8) / 5"
    text = relstudy("admin", "status", made.folder, "--raters").stdout
    lines = text.splitlines()
    assert lines[:2] == [
        "A test study: open",
        "1 rater: 1 finished. 2 of 6 pages of unique pairs are rated (33 %): 16 ratings, 4 undecided.",
    ]
    header = next(line for line in lines if line.startswith("block"))
    assert "undecided" in header
    for nothing in ("with raters", "overdue", "beyond k", "seconds", "checks"):  # a program rated, all at once
        assert nothing not in text
    assert lines[-1] == f"Next: relstudy export {made.folder}, which takes what there is so far"
    paused = relstudy("admin", "status", made.folder, "--pause").stdout
    assert paused.startswith("A test study: paused")
    assert paused.endswith(f"relstudy admin status {made.folder} --reopen\n")
    newcomer = Browser(made.app)
    made.app.extensions["relstudy"]._state = (0.0, "")
    newcomer.get("/")
    assert newcomer.status == 503
    assert relstudy("admin", "status", made.folder, "--reopen").stdout.startswith("A test study: open")


@pytest.mark.slow
def test_export_writes_the_contract_says_how_pairs_were_handed_out_and_reads_back_into_calibration(
    make_local: Callable[..., Made],
) -> None:
    made = make_local(TOML + '\n[[questions]]\nid = "age"\ntext = "Age?"\nkind = "number"\n')
    browser = joined(made.app)
    browser.rate_all(lambda name, number: "undecided" if number == 1 else str(number))
    browser.send(browser.page.form(), **{"question-age": "41"})
    people = made.folder / "people.csv"
    done = succeeds("export", made.folder, "--json", "--people", people)
    told = json.loads(done.stdout)
    assert told["ratings"] == 16 and told["undecided"] == 4 and told["blocks"] == {"base": 8, "unique": 8}
    assert "at random over the whole pool" in told["handed_out"]
    assert json.loads((made.folder / "ratings.json").read_text()) == told
    table = pd.read_csv(made.folder / "ratings.csv")
    contract = ["rater_id", "pair_id", "query_id", "result_id", "scale", "rating", "seconds", "block", "rated_at"]
    assert list(table.columns)[:9] == contract
    # 12 of the 32 pairs that were drawn with .25 have a rating that is not undecided
    assert set(table["inclusion_probability"]) == {0.25 * 12 / 32} and table["query_probability"].isna().all()
    assert set(table["scale"]) == {"1-5"} and table["seconds"].between(0, 60).all()
    assert set(table.loc[table["block"] == "unique", "handed_out"]) == {HandOut.RANDOM.value}
    assert table.loc[table["block"] == "base", "handed_out"].isna().all(), "everyone rates the base block"
    assert pd.read_csv(people)[["question_age", "entry"]].to_numpy().tolist() == [[41, "open"]]
    from relstudy.calibration.tables.ratings import read_ratings

    ratings = read_ratings(made.folder / "ratings.csv")
    assert len(ratings.frame) == 16 and ratings.handed_out is HandOut.RANDOM


@pytest.mark.slow
def test_the_probability_of_the_query_comes_with_the_ratings(make_local: Callable[..., Made]) -> None:
    made = make_local()
    pairs = pd.read_csv(made.folder / "pairs.csv")
    pairs.assign(query_probability=0.5).to_csv(made.folder / "pairs.csv", index=False)
    prepare(made.folder, made.store)
    browser = joined(made.app)
    browser.rate_all(lambda name, number: str(number))
    assert "16 of 32 sampled pairs are not judged (" in relstudy("export", made.folder).stdout
    table = pd.read_csv(made.folder / "ratings.csv")
    assert set(table["query_probability"]) == {0.5}
    assert set(table["inclusion_probability"]) == {0.25 * 16 / 32}, "16 of 32 pairs drawn are judged"


@pytest.mark.slow
def test_a_further_rounds_probabilities_are_exported_before_anyone_serves_again(
    make_local: Callable[..., Made],
) -> None:
    made = make_local()
    browser = joined(made.app)
    browser.rate_all(lambda name, number: str(number))
    pairs = pd.read_csv(made.folder / "pairs.csv")
    # as `relstudy sample --from-mappings` leaves it; the last pair was taken out by hand
    combined = pairs.assign(inclusion_probability=0.4, query_probability=0.5, source="another")[:-1]
    combined.to_csv(made.folder / "pairs.csv", index=False)
    succeeds("export", made.folder)
    table = pd.read_csv(made.folder / "ratings.csv")
    gone = table["pair_id"] == pairs["pair_id"].iloc[-1]
    assert set(table.loc[~gone, "source"]) == {"another"}
    # 16 of the 31 pairs are judged
    assert table.loc[~gone, "inclusion_probability"].to_numpy() == pytest.approx(0.4 * 16 / 31, rel=1e-12)
    assert set(table.loc[gone, "inclusion_probability"]) <= {0.25}, "as it was when the pair was in the study"
    (made.folder / "pairs.csv").write_text("pair_id,query_id,result_id\np0-0,q0,r3\n")
    refused = relstudy("export", made.folder)
    assert refused.exit_code == 1 and "pair 'p0-0' is query 'q0', result 'r3'" in refused.output


@pytest.mark.slow
def test_the_same_base_block_on_two_scales_exports_both_and_one_at_a_time(make_local: Callable[..., Made]) -> None:
    """Shirahatti and Barnard 2005, section 5.3: binary and 1-9 over the same base block."""
    blocks = "".join(
        f'[[blocks]]\nname = "{name}"\npairs = "base"\nscale = "{scale}"\nresults_per_page = 2\n'
        for name, scale in (("yes or no", "binary"), ("one to nine", "1-9"))
    )
    made = make_local(TOML[: TOML.index("[[blocks]]")] + blocks)
    browser = joined(made.app)
    assert browser.rate_all(lambda name, number: "1") == 8
    succeeds("export", made.folder)
    table = pd.read_csv(made.folder / "ratings.csv")
    assert table.groupby("scale").size().to_dict() == {"1-9": 8, "binary": 8}
    assert set(table["block"]) == {"base"}
    assert set(table[table["scale"] == "binary"]["pair_id"]) == set(table[table["scale"] == "1-9"]["pair_id"])
    nine = made.folder / "nine.csv"
    succeeds("export", made.folder, "--scale", "1-9", "-o", nine)
    assert set(pd.read_csv(nine)["scale"]) == {"1-9"} and not pd.read_csv(nine).duplicated("pair_id").any()
    refused = relstudy("export", made.folder, "--scale", "1-7")
    assert refused.exit_code == 1 and "this study has binary, 1-9" in refused.output


@pytest.mark.slow
def test_text_queries_with_documents_and_images_are_shown_and_rated(make_local: Callable[..., Made]) -> None:
    made = make_local()
    folder = made.folder.parent / "words"
    write_study(
        folder,
        TOML.replace(
            'name = "unique"\npairs = "unique"\nresults_per_page = 4',
            'name = "unique"\npairs = "unique"\nparadigm = "text"\nscale = "1-9"',
        ),
        base_queries=1,
    )
    (folder / "pairs.csv").write_text(
        "pair_id,query_id,result_id,paradigm,block\n"
        "b,q0,r0,image,base\nt1,words,essay,text,unique\nt2,words,r1,text,unique\n"
    )
    prepare(folder)
    browser = joined(create_app(folder))
    browser.rate()
    texts = []
    while browser.address.startswith("/rate"):
        texts.append(browser.page.text)
        assert "green hills" in texts[-1] and "average match" in texts[-1]
        browser.rate(lambda name, number: "9")
    assert len(texts) == 2 and any("Hills are high." in text and "On hills" in text for text in texts)
    succeeds("export", folder)
    table = pd.read_csv(folder / "ratings.csv").set_index("pair_id")
    assert table.loc[["t1", "t2"], "rating"].tolist() == [9, 9] and table.loc["t1", "scale"] == "1-9"


@pytest.mark.slow
def test_backup_and_forget_work_on_a_study_in_use(make_local: Callable[..., Made], tmp_path: Path) -> None:
    made = make_local()
    browser = joined(made.app)
    browser.rate()
    target = tmp_path / "safe.db"
    done = relstudy("backup", made.folder, "-o", target)
    assert done.exit_code == 0 and "4 ratings" in done.output and target.exists()
    before = target.read_bytes()
    assert relstudy("backup", made.folder, "-o", target, typed="n\n").exit_code == 1 and target.read_bytes() == before
    succeeds("backup", made.folder, "-o", target, "--yes")
    relstudy("export", made.folder)
    rater = pd.read_csv(made.folder / "ratings.csv")["rater_id"][0]
    assert relstudy("forget", made.folder, rater, typed="n\n").exit_code == 1
    succeeds("forget", made.folder, rater, "--yes")
    relstudy("export", made.folder)
    assert len(pd.read_csv(made.folder / "ratings.csv")) == 0
    again = relstudy("forget", made.folder, rater, "--yes")
    assert again.exit_code == 0 and "nothing of it is left" in again.output
    nobody = relstudy("forget", made.folder, "RNOBODY", "--yes")
    assert nobody.exit_code == 1 and "there is no rater 'RNOBODY'" in nobody.output


@pytest.mark.parametrize("command", ["status", "export", "backup"])
def test_a_folder_where_nothing_was_served_yet_is_told_so(tmp_path: Path, command: str) -> None:
    folder = write_study(tmp_path / "s")
    done = relstudy(command, folder)
    assert done.exit_code == 1 and "relstudy serve" in done.output and not (folder / "study.db").exists()
    missing = relstudy(command, tmp_path / "nowhere")
    assert missing.exit_code == 1 and "file not found" in missing.output


def test_serve_refuses_a_faulty_study_with_every_fault_and_no_traceback(tmp_path: Path) -> None:
    folder = write_study(
        tmp_path / "s", TOML.replace('pairs = "base"', 'pairs = "bass"').replace("more = 4", "more = -4")
    )
    done = relstudy("serve", folder, "--port", "0")
    assert done.exit_code == 1
    assert "line 12, blocks.pairs: 'bass' is not allowed; one of base, unique is allowed" in done.output
    assert "line 20, blocks.more: -4 is not allowed" in done.output and "Traceback" not in done.output


@pytest.mark.slow
def test_pairs_that_the_collection_lacks_are_refused_by_row(tmp_path: Path) -> None:
    folder = write_study(tmp_path / "s")
    text = (folder / "pairs.csv").read_text().replace("p0-1,q0,r1", "p0-1,q0,zz").replace("0.25,base", "1.25,base", 1)
    (folder / "pairs.csv").write_text(text)
    done = relstudy("serve", folder, "--port", "0")
    assert done.exit_code == 1
    assert "row 2, column inclusion_probability: '1.25' is not allowed" in done.output
    assert "row 3, column result_id: 'zz' is not allowed; the id of an item in collection.csv is needed" in done.output


@pytest.mark.slow
@pytest.mark.server
def test_the_server_serves_pages_and_prints_the_one_time_link_only_until_a_password_is_set(tmp_path: Path) -> None:
    from relstudy.studyapp.web.admin.access import set_password

    folder = write_study(tmp_path / "s")
    with serving(folder, workers=2) as address, urllib.request.urlopen(address) as answer:
        page = answer.read().decode()
    assert "A test study" in page and "Taking part" in page
    assert "Choose the admin password, once, at http" in (folder / "serve.err").read_text()
    (folder / "serve.err").unlink()
    set_password(folder, "correct horse battery")
    with serving(folder):
        pass
    assert "Choose the admin password" not in (folder / "serve.err").read_text()


def test_a_port_in_use_is_told_in_one_sentence(tmp_path: Path) -> None:
    import socket

    folder = write_study(tmp_path / "s")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = relstudy("serve", folder, "--port", taken.getsockname()[1])
    assert done.exit_code == 1 and "choose another --port" in done.output


@pytest.mark.slow
def test_a_second_rater_can_be_given_what_the_first_has_done(make_local: Callable[..., Made]) -> None:
    """The complaint: a second annotator cannot be given the first one's items without a paid edition."""
    one_each = TOML.replace("pairs_per_rater = 8", 'pairs_per_rater = "all"')
    made = make_local(one_each)
    first = joined(made.app)
    assert first.rate_all() == 2 + 6
    (made.folder / "study.toml").write_text(one_each + "ratings_per_pair = 2\n")
    prepare(made.folder, made.store)
    second = joined(create_app(made.folder, store=made.store))
    assert second.rate_all() == 2 + 6
    relstudy("export", made.folder)
    counts = pd.read_csv(made.folder / "ratings.csv").groupby("pair_id")["rater_id"].nunique()
    assert (counts == 2).all()


@pytest.mark.slow
def test_personal_links_stop_working_when_the_rule_is_taken_away(make_local: Callable[..., Made]) -> None:
    made = make_local()
    path = invite(made.store, Study.load(made.folder), 1)[0].path
    (made.folder / "study.toml").write_text(TOML.replace('["personal", "open"]', '["open"]'))
    succeeds("change", made.folder, "--yes")
    browser = Browser(made.app)
    browser.get(path)
    assert browser.status == 404
    assert relstudy("admin", "invite", made.folder, "-n", "1").exit_code == 1


@pytest.mark.parametrize("command", [["export"], ["status"], ["backup"], ["forget", "R1", "--yes"]])
def test_a_database_of_another_study_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    first = write_study(tmp_path / "first")
    second = write_study(tmp_path / "second", TOML.replace('id = "test"', 'id = "other"'))
    monkeypatch.setenv("DATABASE_URL", f"sqlite:///{first / 'study.db'}")
    prepare(first)
    answer = relstudy(command[0], second, *command[1:])
    assert answer.exit_code == 1 and "holds the study 'test', and this folder's is 'other'" in answer.output
    assert not (second / "ratings.csv").exists()


@pytest.mark.slow
def test_the_table_of_people_is_for_its_owner_only_and_holds_no_formula(tmp_path: Path) -> None:
    folder = write_study(tmp_path / "s", TOML + '[[questions]]\nid = "say"\ntext = "?"\n')
    people = tmp_path / "people.csv"
    store = Store.of_study(folder)
    prepare(folder, store)
    with store.write() as connection:
        rater = enrol(connection, Study.load(folder), "open", "somebody", {}, 0.0)
        record_exit_answers(connection, rater, {"say": "=HYPERLINK(A1)"}, 1.0)
    store.dispose()
    people.write_text("left from before")
    people.chmod(0o644)
    succeeds("export", folder, "--people", people, "--overwrite")
    assert stat.S_IMODE(people.stat().st_mode) == 0o600
    assert pd.read_csv(people)["question_say"].tolist() == ["'=HYPERLINK(A1)"]


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (OSError(errno.EROFS, "Read-only file system", "s/study.serving"), "s/study.serving: Read-only file system"),
        (PermissionError(errno.EACCES, "Permission denied", "s/x"), "s/x: Permission denied"),
        (OperationalError("BEGIN", {}, Exception("database is locked")), "the database is busy or away; try again"),
        (OperationalError("COMMIT", {}, Exception("database or disk is full")), "the disk under the database is full"),
        (
            OperationalError("x", {}, Exception("attempt to write a readonly database")),
            "the database cannot be written",
        ),
        (
            OperationalError("BEGIN", {}, OSError(errno.EROFS, "Read-only", "s/study.db.lock")),
            "s/study.db.lock: Read-only",
        ),
        (OSError(errno.ENAMETOOLONG, "File name too long", "xxx"), "xxx: File name too long"),
        (MemoryError("Unable to allocate 29.8 GiB"), "this takes more memory than there is; smaller numbers or tables"),
    ],
    ids=["read-only", "permission", "locked", "full", "read-only database", "read-only lock", "a long name", "memory"],
)
def test_what_a_disk_or_a_database_refuses_is_a_sentence_of_every_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, told: str
) -> None:
    def refuse(*_: object) -> None:
        raise error

    monkeypatch.setattr(Study, "load", refuse)
    done = relstudy("admin", "status", tmp_path)
    assert done.exit_code == 1 and done.output.startswith(f"relstudy: {told}") and done.output.count("\n") == 1


def test_a_programs_own_fault_stays_a_traceback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(Study, "load")
    assert isinstance(relstudy("admin", "status", tmp_path).exception, AttributeError)


def test_a_backup_that_finds_no_room_or_damage_is_a_sentence_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "study.db").write_bytes(b"garbage" * 1000)
    with pytest.raises(RelstudyError, match=r"cannot be copied \(file is not a database\); nothing was kept"):
        copy_database(Store(f"sqlite:///{tmp_path / 'study.db'}"), tmp_path / "safe.db")
    assert [path.name for path in tmp_path.iterdir()] == ["study.db"]


@pytest.mark.parametrize("name", ["--out", "--output", "-o"])
def test_where_a_command_writes_has_one_name_with_any_spelling(tmp_path, name):
    succeeds("calibrate", EXAMPLE / "ratings.csv", name, tmp_path / "calibrated")
    succeeds("fit", EXAMPLE / "scores" / "gift.csv", "-j", EXAMPLE / "judgments.csv", name, tmp_path / "mappings")
    assert (tmp_path / "calibrated" / "judgments.csv").exists() and (tmp_path / "mappings" / "gift.json").exists()
