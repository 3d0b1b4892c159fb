"""relstudy admin doctor names what is wrong, and the command that mends it."""

from __future__ import annotations

import json
import shutil
from collections import namedtuple
from collections.abc import Callable
from pathlib import Path

import pytest

from relstudy.studyapp.web.starting import note_address, take_over
from tests.commands import relstudy
from tests.studyapp.studies import TOML, Made, write_study


def states(folder: Path, code: int = 0) -> dict[str, str]:
    done = relstudy("doctor", folder, "--json")
    assert done.exit_code == code, done.output
    return {finding["what"]: finding["state"] for finding in json.loads(done.stdout)}


@pytest.mark.slow
def test_a_healthy_study_has_nothing_wrong(make_study: Callable[..., Made], monkeypatch: pytest.MonkeyPatch) -> None:
    made = make_study()
    monkeypatch.setenv("DATABASE_URL", made.store.url.render_as_string(hide_password=False))
    seen = states(made.folder)
    assert "wrong" not in seen.values() and seen["database"] == seen["files"] == "ok"
    assert ("clock" in seen) is not made.store.is_sqlite


@pytest.mark.slow
def test_what_is_wrong_is_named_with_what_mends_it(
    make_local: Callable[..., Made], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make_local()
    (made.folder / "secret.key").chmod(0o644)
    pairs = made.folder / "pairs.csv"
    pairs.write_text("\n".join(pairs.read_text().splitlines()[:-1]) + "\n")
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(10**9, 10**9, 10**6))
    done = relstudy("doctor", made.folder)
    assert done.exit_code == 1
    for line in (
        "wrong  permissions: secret.key can be read by others",
        f"-> chmod 600 {made.folder / 'secret.key'}",
        "wrong  disk: 0.0 GB free",
        "mind   files: they are not what is served: 1 pair leaves the study (p7-3)",
        f"-> relstudy admin change {made.folder}",
    ):
        assert line in done.stdout, done.stdout
    pairs.write_text("pair_id,query_id,result_id\nx,q0,nobody\n")
    assert states(made.folder, 1)["files"] == "wrong"
    made.store.dispose()  # which empties the -wal into the file
    (made.folder / "study.db").write_bytes(b"no database at all" * 100)
    assert states(made.folder, 1)["database"] == "wrong"
    (made.folder / "study.toml").write_text("[study]\n")
    assert states(made.folder, 1) == {"study.toml": "wrong"}


def test_the_database_of_another_study_and_one_not_made_yet_are_told(
    tmp_path: Path, make_local: Callable[..., Made], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make_local()
    other = write_study(tmp_path / "other", TOML.replace('id = "test"', 'id = "other"'))
    assert states(other)["database"] == "mind" and not (other / "study.db").exists()
    monkeypatch.setenv("DATABASE_URL", str(made.store.url))
    assert states(other, 1)["database"] == "wrong"
    monkeypatch.setenv("DATABASE_URL", "nonsense")
    assert states(other, 1)["database"] == "wrong"


def test_outcomes_that_lead_nobody_back_to_the_platform_are_named(tmp_path: Path) -> None:
    way = 'rules = ["prolific"]\ncompletion_url = "https://x.org/{code}"\n[entry.outcomes]\nfull = "A"\nclosed = "B"\n'
    folder = write_study(tmp_path / "study", TOML.replace('rules = ["personal", "open"]\n', way))
    for command in ("doctor", "invite"):
        done = relstudy(command, folder)
        assert "no_consent, set_aside, undecided or paused" in done.stdout, done.stdout


def test_damaged_accounts_are_said_by_doctor_and_at_the_start_and_raters_are_served(
    make_local: Callable[..., Made], capsys: pytest.CaptureFixture[str]
) -> None:
    made = make_local()
    (made.folder / "accounts.json").write_text('{"a": 1', encoding="ascii")
    done = relstudy("doctor", made.folder)
    assert done.exit_code == 1 and "accounts.json: this is not a list of accounts" in done.output
    note_address(made.folder, take_over(made.folder), "http://127.0.0.1:8000")
    assert "nobody can open the researcher's pages" in capsys.readouterr().out


@pytest.mark.slow
def test_an_empty_database_is_no_wrong_one(tmp_path: Path) -> None:
    """A database without tables, as before the first start, was called wrong, to be restored from a backup."""
    folder = write_study(tmp_path / "fresh")
    (folder / "study.db").touch(0o600)
    assert states(folder)["database"] == "mind"


def test_a_study_that_is_over_is_said_to_be(make_local: Callable[..., Made], tmp_path: Path) -> None:
    """`nobody has served the study yet` was said of a folder that holds its ratings."""
    made = make_local()
    assert "it is over" not in relstudy("doctor", made.folder).stdout
    assert relstudy("admin", "status", made.folder, "--close").exit_code == 0
    assert "ok     study: it is over: it was closed" in relstudy("doctor", made.folder).stdout
    folder = write_study(tmp_path / "rated", TOML)
    (folder / "ratings.csv").write_text("rater_id,query_id,result_id,rating\n")
    said = relstudy("doctor", folder).stdout
    assert "ratings.csv holds its ratings" in said and "nobody has served" not in said
